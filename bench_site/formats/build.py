"""What the adapters share: distributions, model names, versions, and putting a run together."""

import re
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from bench_site.formats.fields import Fields, Notebook, clean
from bench_site.formats.load import Document
from bench_site.formats.missing import missing_facts
from bench_site.formats.outcome import ReadRun, Refused
from runners.contract.figures import Distribution, Point
from runners.contract.ids import file_run_id
from runners.contract.receipt import Finding
from runners.contract.report import Failure, Model, Report, Source
from runners.contract.types import MAX_NUMBER
from runners.contract.vocabulary import Evidence, Status

_STATISTICS = ("mean", "p50", "p90", "p95", "p99", "std", "min", "max")
_HUB_CACHE = re.compile(r"models--(.+?)(?:/snapshots/([0-9a-f]{6,64}))?(?:/|$)")
_LOCAL = re.compile(r"^(/|~|\.\.?/|[A-Za-z]:[\\/]|file:|s3://|gs://|hdfs://)")
#: An engine's own image carries its version in the tag; these stand in the image's path.
_ENGINE_IMAGES = ("vllm", "sglang", "tensorrt-llm", "rocm/atom")
_VERSION = re.compile(r"^v?(\d+\.\d+(?:\.\d+)*(?:(?:\.?(?:post|dev|rc)|rc|a|b)\d+)*)(?=$|[-_+])")


@dataclass
class Draft:
    """One record as an adapter understood it: one point, and the parts of the run it belongs to."""

    point: Point
    source: dict[str, Any]
    parts: dict[str, Any] = field(default_factory=dict)
    evidence: Evidence | None = None
    failure: Failure | None = None
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def flag(self, rule: str, message: str) -> None:
        self.findings.append(Finding(rule=rule, verdict="flag", point=0, message=message))


def statistic_keys(metric: str, unit: str) -> dict[str, tuple[str, ...]]:
    """Statistic -> the keys it may stand under in a client's result, e.g. p50 -> p50_ttft_ms, median_ttft_ms."""
    keys = {name: (f"{name}_{metric}{unit}",) for name in _STATISTICS}
    return keys | {"p50": (f"p50_{metric}{unit}", f"median_{metric}{unit}")}


def distribution(fields: Fields, keys: dict[str, tuple[str, ...]], *, scale: float) -> Distribution | None:
    """The distribution under ``keys``, times ``scale`` to seconds; None where nothing was measured.

    A mean or percentile of 0 is never a measured latency: alone it is dropped, and if all are 0 the whole is.
    """
    found: dict[str, Any] = {}
    zero: list[str] = []
    for name, candidates in keys.items():
        for key in candidates:
            value = fields.number(key, scale=scale)
            if value is None:
                continue
            if value == 0 and name != "std":
                zero.append(f"{fields.prefix}{key}")
            else:
                found[name] = value
                break
    if zero:
        fields.notes.say(f"{', '.join(zero)}: 0 means that it was not measured: left unknown")
    return Distribution(**found) if found.keys() - {"std"} else None


def model(text: str | None, notes: Notebook, **parts: Any) -> Model:
    """The model named by ``text``; of a path on the server only the model's own name is taken."""
    if text is None:
        return Model(**parts)
    name, revision = text, None
    if cached := _HUB_CACHE.search(text):
        name, revision = cached[1].replace("--", "/"), cached[2]
    elif _LOCAL.match(text):
        pieces = [piece for piece in re.split(r"[\\/]", text) if piece.strip(" .~")]
        name = pieces[-1] if pieces else text
    if name != text:
        notes.say(f"the model's name {name} is taken from a path on the server")
    return Model(name=clean(name)[:200] or None, revision=revision, **parts)


def precision_name(text: str | None) -> str | None:
    """The usual short name of a number format; "auto" says nothing."""
    word = (text or "").strip().lower().removeprefix("torch.")
    if word in ("", "auto", "none", "null", "default"):
        return None
    return {"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32", "float": "fp32"}.get(word, word)


def image_version(image: str | None) -> str | None:
    """The engine's version in the tag of its own image, e.g. 0.21.0 of vllm/vllm-openai:v0.21.0."""
    repository, colon, tag = (image or "").partition("@")[0].rpartition(":")
    if not colon or "/" in tag or not any(word in repository.lower() for word in _ENGINE_IMAGES):
        return None
    found = _VERSION.match(tag)
    return found[1] if found else None


def share(part: float | None, whole: float | None) -> float | None:
    """``part`` / ``whole``, or None where one is unknown, the whole is 0 or the result is no possible figure."""
    found = part / whole if part is not None and whole else None
    return found if found is not None and found <= MAX_NUMBER else None


def product(each: float | None, number: float | None) -> float | None:
    """``each`` x ``number``, or None where one is unknown or the result is no possible figure."""
    found = each * number if each is not None and number is not None else None
    return found if found is not None and found <= MAX_NUMBER else None


def failed_share(draft: Draft) -> None:
    """Flag a point of which more than 1 % failed: its latencies describe the survivors."""
    requests = draft.point.requests
    if requests.sent and requests.failed and requests.failed / requests.sent > 0.01 and requests.completed:
        draft.flag(
            "errors",
            f"{requests.failed:,} of {requests.sent:,} requests failed, so the latencies describe the "
            f"{requests.completed:,} that completed.",
        )


def all_failed(sent: int | None) -> Failure:
    many = f"All {sent:,} requests failed" if sent else "No request completed"
    return Failure(
        message=f"{many}; there is nothing to compare, only the fact that the run failed.", kind="all-failed"
    )


def assemble(
    document: Document, *, tool: str, variant: str, version: str | None, rows: list[int], drafts: list[Draft]
) -> ReadRun:
    """One run with one point a draft; raises Refused when the contract cannot hold it."""
    first = drafts[0]
    failure = first.failure
    points, findings, notes = [], [], []
    for place, draft in enumerate(drafts):
        points.append(draft.point.model_copy(update={"notes": draft.notes[:50]}))
        findings += [finding.model_copy(update={"point": place}) for finding in draft.findings]
        notes += [line for line in draft.notes if line not in notes]
    try:
        report = Report(
            id=file_run_id(document.sha256, rows[0]),
            status=Status.FAILED if failure else Status.COMPLETED,
            error=failure,
            evidence=first.evidence or Evidence.MEASURED,
            source=Source(
                tool=tool,
                version=version,
                format=variant,
                artifact_digest=f"sha256:{document.sha256}",
                **first.source,
            ),
            points=points,
            **first.parts,
        )
    except ValidationError as error:
        raise Refused("refused-file", f"record {rows[0] + 1} does not fit the report: {first_problem(error)}") from None
    return ReadRun(
        record=rows[0],
        report=report,
        evidence=first.evidence,
        missing=missing_facts(report, first.evidence),
        findings=findings,
        notes=notes,
        rows=rows,
    )


def first_problem(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False)[0]
    return f"{json_path(found['loc'])} {found['msg']}"


def json_path(steps: tuple[int | str, ...] | list[int | str]) -> str:
    """("points", 0, "load") as points[0].load."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")
