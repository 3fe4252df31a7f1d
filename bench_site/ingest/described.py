"""The API in OpenAPI's words: bodies, parameters and answers, made from the contract's own models."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from bench_site.ingest.query import FILE_OPTIONS, OPTIONS
from runners.contract import Report
from runners.contract.context import Context
from runners.contract.problems import PROBLEMS, Problem
from runners.contract.receipt import BatchAnswer, Receipt, UploadAnswer

Described = dict[str, Any]

_REF = "#/components/schemas/{model}"


def components() -> Described:
    """Every schema that the document refers to, and how a caller says who they are."""
    models: list[type[BaseModel]] = [Report, Receipt, BatchAnswer, UploadAnswer, Problem]
    _, schemas = models_json_schema([(model, "validation") for model in models], ref_template=_REF)
    definitions: Described = dict(sorted(schemas["$defs"].items()))
    definitions["Batch"] = {
        "type": "object", "required": ["reports"], "additionalProperties": False,
        "properties": {"reports": {"type": "array", "minItems": 1, "maxItems": 1000, "items": _ref("Report")}},
    }  # fmt: skip
    definitions["StoredRun"] = _STORED_RUN
    definitions["Whoami"] = _WHOAMI
    bearer = {"type": "http", "scheme": "bearer", "description": "A token made under /account/."}
    return {"schemas": definitions, "securitySchemes": {"token": bearer}}


def _ref(name: str) -> Described:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(name: str, text: str) -> Described:
    return {"description": text, "content": {"application/json": {"schema": _ref(name)}}}


def _problems(*codes: str) -> Described:
    by_status: dict[str, list[str]] = {}
    for code in codes:
        by_status.setdefault(str(PROBLEMS[code][0]), []).append(code)
    return {
        status: {
            "description": "; ".join(f"`{code}`: {PROBLEMS[code][1]}" for code in found),
            "content": {"application/problem+json": {"schema": _ref("Problem")}},
        }
        for status, found in sorted(by_status.items())
    }


def _parameter(name: str, schema: Described, text: str) -> Described:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": text}


def _context_parameters() -> list[Described]:
    found = Context.model_json_schema()
    definitions = found.get("$defs", {})
    parameters = []
    for name, schema in found["properties"].items():
        branches = [branch for branch in schema.get("anyOf", [schema]) if branch.get("type") != "null"]
        plain = {k: v for k, v in (branches[0] if branches else {}).items() if k not in ("title", "default")}
        if "$ref" in plain:
            plain = {k: v for k, v in definitions[plain["$ref"].rsplit("/", 1)[-1]].items() if k in ("enum", "type")}
        option = f"--{name.replace('_', '-')}"
        parameters.append(_parameter(name, plain, f"As `fuseboard push {option}`: what the file lacks."))
    return parameters


_BODY_PROBLEMS = (
    "empty", "bad-encoding", "bad-json", "duplicate-key", "too-deep", "bad-compression", "incomplete", "bad-query",
    "not-signed-in", "forbidden", "length-required", "too-large", "unsupported-media", "busy",
)  # fmt: skip
_WRITES: Described = {"security": [{"token": []}]}


def _body(schema: Described, *media: str, text: str) -> Described:
    content = {kind: {"schema": schema} for kind in media}
    return {"required": True, "description": text, "content": content}


_ENCODINGS = (
    "Plain, or with `Content-Encoding: gzip` or `zstd`; at most 128 MiB as received and 512 MiB decompressed. "
    "A Content-Length is required."
)

REPORT: Described = {
    **_WRITES,
    "parameters": [_parameter(name, *OPTIONS[name]) for name in OPTIONS],
    "requestBody": _body(_ref("Report"), "application/json", text=f"One report. {_ENCODINGS}"),
    "responses": {
        "201": _json("Receipt", "Stored, and on disk."),
        "200": _json("Receipt", "The same content was stored already, or it was amended, or this was a dry run."),
        "202": _json("UploadAnswer", "Over 8 MiB: stored, and read by a task; ask again at `url`."),
        **_problems(*_BODY_PROBLEMS, "conflict", "gone", "invalid-report"),
    },
}
BATCH: Described = {
    **_WRITES,
    "parameters": [_parameter(name, *OPTIONS[name]) for name in OPTIONS],
    "requestBody": _body(_ref("Batch"), "application/json", text=f"Up to 1,000 reports. {_ENCODINGS}"),
    "responses": {
        "200": _json("BatchAnswer", "An item for each report, in the order sent, with the status it alone would have."),
        **_problems(*_BODY_PROBLEMS, "invalid-report"),
    },
}
_FILE = {"type": "string", "contentMediaType": "application/octet-stream"}
UPLOAD: Described = {
    **_WRITES,
    "parameters": [_parameter(name, *FILE_OPTIONS[name]) for name in FILE_OPTIONS] + _context_parameters(),
    "requestBody": _body(
        _FILE, "application/octet-stream", "application/json", "text/plain",
        text=f"A benchmark tool's result file, byte for byte. {_ENCODINGS}",
    ),
    "responses": {
        "201": _json("UploadAnswer", "Read, and at least one run stored."),
        "200": _json("UploadAnswer", "Read, and everything was stored already; or this was a dry run."),
        "202": _json("UploadAnswer", "Over 8 MiB: stored, and read by a task; ask again at `url`."),
        **_problems(
            *_BODY_PROBLEMS, "conflict", "gone", "invalid-report", "unknown-format", "refused-file", "missing-context"
        ),
    },
}  # fmt: skip
UPLOADED: Described = {
    **_WRITES,
    "responses": {
        "200": _json("UploadAnswer", "What became of the file."),
        **_problems("not-signed-in", "not-found", "busy"),
    },
}
RUN: Described = {
    "parameters": [
        _parameter("revision", {"type": "integer", "minimum": 1}, "An older revision; the newest by default."),
        _parameter("samples", {"type": "boolean", "default": False}, "With samples and rounds, which can be large."),
    ],
    "responses": {
        "200": _json("StoredRun", "The report as it was accepted. The ETag moves with every revision."),
        "304": {"description": "Nothing has changed since the ETag in If-None-Match."},
        **_problems("bad-query", "not-found", "gone", "busy"),
    },
}
RAW: Described = {
    "responses": {
        "200": {
            "description": "The bytes as they were received, secrets removed.",
            "content": {"application/octet-stream": {"schema": _FILE}},
        },
        **_problems("not-found", "gone", "busy"),
    },
}
WHOAMI: Described = {
    **_WRITES,
    "responses": {"200": _json("Whoami", "Whom the site takes the token for."), **_problems("not-signed-in", "busy")},
}
SCHEMA: Described = {
    "responses": {
        "200": {
            "description": "JSON Schema 2020-12 of one report.",
            "content": {"application/json": {"schema": {"type": "object"}}},
        }
    }
}

_TEXT = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_WHOAMI: Described = {
    "type": "object",
    "properties": {
        "user": _TEXT, "machine": _TEXT, "role": {"type": "string"},
        "scopes": {"type": "array", "items": {"type": "string"}}, "measures": {"type": "boolean"},
    },
}  # fmt: skip
_STORED_RUN: Described = {
    "type": "object",
    "properties": {
        "receipt": _ref("Receipt"),
        "report": _ref("Report"),
        "retracted": {
            "anyOf": [{"type": "object", "properties": {"at": {"type": "string"}, "reason": {"type": "string"}}},
                      {"type": "null"}],
        },
        "raw": {**_TEXT, "description": "Where the received bytes are."},
        "raw_record": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "Which record, from 0."},
        "removed": {"type": "array", "items": {"type": "string"}, "description": "Secret fields taken out of them."},
        "revisions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "number": {"type": "integer"}, "at": {"type": "string", "format": "date-time"}, "by": _TEXT,
                    "reason": _TEXT,
                },
            },
        },
    },
}  # fmt: skip
