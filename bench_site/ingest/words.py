"""pydantic's errors in our words: where (a JSON path), what was found, what is allowed.

Every wrong field is named once; the branches of a union are folded into one entry.
"""

import difflib
import functools
from collections.abc import Callable, Sequence
from typing import Any

from pydantic_core import ErrorDetails

from bench_site.ingest.refusals import field_error
from runners.contract.problems import FieldError
from runners.contract.schema import report_schema

#: More than this many are counted, not listed.
MAX_ERRORS = 500

_BOUNDS = {
    "greater_than_equal": ("ge", "is too small", "at least {}"),
    "greater_than": ("gt", "is too small", "more than {}"),
    "less_than_equal": ("le", "is too large", "at most {}"),
    "less_than": ("lt", "is too large", "less than {}"),
}
_KINDS = {
    "string_type": "a string",
    "int_type": "an integer, not quoted",
    "int_from_float": "an integer, without a fraction",
    "int_parsing": "an integer, not quoted",
    "float_type": "a number, not quoted",
    "float_parsing": "a number, not quoted",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "decimal_type": "a decimal number as a string",
    "decimal_parsing": "a decimal number as a string",
}

_NAMES = {str: "a string", bool: "a boolean", int: "an integer", float: "a number", list: "a list", dict: "an object"}

Step = int | str


def json_path(steps: Sequence[Step]) -> str:
    """``("points", 0, "load")`` as ``points[0].load``; the whole document is ``$``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".") or "$"


def field_errors(errors: list[ErrorDetails], document: Any) -> list[FieldError]:
    """``errors`` of one validation, each field once, in the order of the document."""
    found: dict[str, FieldError] = {}
    for error in errors[: 4 * MAX_ERRORS]:
        one = _field_error(error, document)
        known = found.setdefault(one.path, one)
        if known is not one and one.allowed and known.allowed and one.allowed not in known.allowed:
            known.allowed = f"{known.allowed}, or {one.allowed}"
    return list(found.values())[:MAX_ERRORS]


def _field_error(error: ErrorDetails, document: Any) -> FieldError:
    kind, context = error["type"], error.get("ctx", {})
    steps, value = _place(error["loc"], document)
    say: Callable[..., FieldError] = functools.partial(field_error, json_path(steps), kind)
    if kind == "missing":
        return say("is required and absent")
    if kind == "extra_forbidden":
        return say(_unknown_field(steps), value, "a field of the contract; see /api/v1/schema")
    if kind == "finite_number":
        return say("is NaN or infinite; leave it out when it is unknown", value, "a finite number")
    if kind in _BOUNDS:
        key, words, allowed = _BOUNDS[kind]
        return say(words, value, allowed.format(_bound(context.get(key))))
    if kind in _KINDS:
        return say(f"has the wrong type: {_kind_of(value)}", value, _KINDS[kind])
    if kind in ("literal_error", "enum"):
        return say("is none of the words allowed here", value, str(context.get("expected", "")).replace("'", '"'))
    if kind in ("string_too_short", "too_short"):
        return say("is too short", value, f"at least {context.get('min_length')}")
    if kind in ("string_too_long", "too_long"):
        what = "characters" if kind.startswith("string") else "entries"
        return say("is too long", value, f"at most {context.get('max_length'):,} {what}")
    if kind == "string_pattern_mismatch":
        return say("does not have the form required", value, f"the pattern {context.get('pattern')}")
    if kind.startswith("uuid"):
        return say("is not a UUID", value, "a UUIDv7 such as 01930000-0000-7000-8000-000000000001")
    if kind == "timezone_aware":
        return say("has no offset from UTC", value, "a time with its offset, such as 2026-10-07T14:00:00+08:00")
    if kind.startswith(("datetime", "date_")):
        return say("is not a time", value, "ISO 8601 with an offset, such as 2026-10-07T14:00:00+08:00")
    if kind.startswith("decimal"):
        return say("is not an amount that can be stored", value, "at most 12 digits before and 8 after the point")
    if kind == "value_error":
        return say(str(error["msg"]).removeprefix("Value error, "), value)
    return say(str(error["msg"]), value)


def _place(loc: tuple[Step, ...], document: Any) -> tuple[list[Step], Any]:
    """The part of ``loc`` that is a place in the document (the rest names branches of a union), and what is there."""
    steps: list[Step] = []
    value = document
    for position, step in enumerate(loc):
        there = step in value if isinstance(value, dict) else isinstance(value, list) and step in range(len(value))
        if there:
            value = value[step]
        elif isinstance(value, dict) and position == len(loc) - 1 and step != "[key]":
            return [*steps, step], None  # a missing field
        else:
            break
        steps.append(step)
    return steps, value


def _kind_of(value: Any) -> str:
    return _NAMES.get(type(value), "null")


def _bound(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)


def _unknown_field(steps: list[Step]) -> str:
    near = difflib.get_close_matches(str(steps[-1]), _fields_of(steps[:-1]), n=1)
    return "is no field of the contract" + (f"; did you mean {near[0]}?" if near else "")


def _fields_of(steps: Sequence[Step]) -> list[str]:
    """The names that the contract knows at a place, from its own JSON Schema."""
    schema = _schema()
    node: dict[str, Any] = schema
    for step in steps:
        node = _resolve(schema, node)
        node = node.get("items", {}) if isinstance(step, int) else node.get("properties", {}).get(step, {})
    return list(_resolve(schema, node).get("properties", {}))


def _resolve(schema: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    for branch in node.get("anyOf", []):
        if branch.get("type") != "null":
            node = branch
            break
    if "$ref" in node:
        node = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    return node


@functools.cache
def _schema() -> dict[str, Any]:
    return report_schema()
