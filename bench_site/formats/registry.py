"""The one list of formats: detection by content, never by a file's name, and reading."""

import hashlib
from collections.abc import Iterable
from typing import Any

from bench_site.formats import inferencex, sglang_serving, vllm_serve
from bench_site.formats.adapter import Adapter, Signature, has
from bench_site.formats.load import Document, load
from bench_site.formats.outcome import Nearest, Reading, ReadRun, Refused
from bench_site.formats.secrets import secret_paths

#: Order means nothing: two formats never claim one record (a test holds all files against all adapters).
ADAPTERS: tuple[Adapter, ...] = (vllm_serve.ADAPTER, sglang_serving.ADAPTER, inferencex.ADAPTER)

Claimed = tuple[int, Signature, dict[str, Any]]


def supported() -> tuple[str, ...]:
    """The titles of all formats, for messages and documentation."""
    return tuple(adapter.title for adapter in ADAPTERS)


def adapter_of(tool: str | None) -> Adapter | None:
    return next((adapter for adapter in ADAPTERS if adapter.tool == tool), None)


def read(data: bytes, *, sha256: str | None = None) -> Reading:
    """What the file holds; a refusal is a Reading too. Raises nothing for what is in ``data``.

    ``sha256``: the digest of the bytes as received, when ``data`` is the redacted copy; run ids derive from it.
    """
    try:
        document = load(data, sha256=sha256)
        return _read(document)
    except Refused as refused:
        return Reading(
            sha256=sha256 or _digest(data),
            size=len(data),
            verdict="refuse",
            reasons=[refused.refusal.detail],
            refusal=refused.refusal,
        )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read(document: Document) -> Reading:
    adapter, claimed, strangers = detect(document)
    runs, left_out = adapter.read(document, claimed)
    if not runs:
        raise Refused("refused-file", f"{adapter.title}: {left_out[0] if left_out else 'no result in it.'}")
    variants = sorted({signature.variant for _, signature, _ in claimed})
    reading = Reading(
        sha256=document.sha256,
        size=document.size,
        verdict="accept",
        reasons=[],
        tool=adapter.tool,
        title=adapter.title,
        format=f"{document.kind}, {' and '.join(variants)}",
        why=_why(claimed),
        runs=runs,
        secrets=secret_paths(document, adapter),
        notes=[*document.notes, *left_out],
    )
    reading.reasons = _reasons(runs)
    if strangers:
        reading.reasons.append(f"{strangers} records of the file are not results of this tool and were passed over.")
    if left_out:
        reading.reasons.append(f"{len(left_out)} records could not be kept: {left_out[0]}")
    if document.kind == "json-array-cut":
        reading.reasons.append("The file is cut off: what was written before is kept.")
    if reading.reasons:
        reading.verdict = "flag"
    return reading


def detect(document: Document) -> tuple[Adapter, list[Claimed], int]:
    """The one adapter that claims the document's records, those records, and how many it does not claim.

    Raises Refused when none does, or when the records are of several tools.
    """
    objects = document.objects()
    claims = {adapter.tool: claimed for adapter in ADAPTERS if (claimed := _claimed(adapter, objects))}
    if len(claims) > 1:
        tools = " and ".join(adapter.title for adapter in ADAPTERS if adapter.tool in claims)
        raise Refused("unknown-format", f"The file mixes records of {tools}. Send one file a tool.", None, supported())
    for adapter in ADAPTERS:
        if adapter.tool in claims:
            return adapter, claims[adapter.tool], len(objects) - len(claims[adapter.tool])
    raise _unknown(document, objects)


def _claimed(adapter: Adapter, objects: Iterable[Any]) -> list[Claimed]:
    found: list[Claimed] = []
    for row, record in enumerate(objects):
        if isinstance(record, dict):
            for signature in adapter.signatures:
                if matches(signature, record):
                    found.append((row, signature, record))
                    break
    return found


def matches(signature: Signature, record: dict[str, Any]) -> bool:
    return all(any(has(record, mark) for mark in marks) for marks in signature.needs) and not any(
        has(record, mark) for mark in signature.forbids
    )


def _unknown(document: Document, objects: list[Any]) -> Refused:
    first = next((record for record in objects if isinstance(record, dict)), None)
    if document.kind != "text" and first is None:
        what = "The file holds no JSON object."
    elif first is None:
        what = "The file is text of no known tool."
    else:
        keys = ", ".join(str(key)[:40] for key in list(first)[:8])
        what = f"No known tool writes such a file (its first keys: {keys})."
    nearest = _nearest(first) if first is not None else None
    detail = f"{what} Supported: {'; '.join(supported())}."
    if nearest:
        detail += (
            f" Nearest is {nearest.tool}: it has {', '.join(nearest.matched)}, but not {', '.join(nearest.missing)}."
        )
    return Refused("unknown-format", detail, nearest, supported())


def _nearest(record: dict[str, Any]) -> Nearest | None:
    """The signature most of whose marks are there, if any are."""
    best: tuple[float, Nearest] | None = None
    for adapter in ADAPTERS:
        for signature in adapter.signatures:
            there = [next((mark for mark in marks if has(record, mark)), None) for marks in signature.needs]
            matched = tuple(mark for mark in there if mark)
            missing = tuple(" or ".join(m[:3]) for m, mark in zip(signature.needs, there, strict=True) if not mark)
            part = len(matched) / len(there)
            unwanted = tuple(f"no {mark}" for mark in signature.forbids if has(record, mark))
            if matched and (best is None or part > best[0]):
                best = part, Nearest(adapter.title, matched, missing + unwanted)
    return best[1] if best else None


def _why(claimed: list[Claimed]) -> str:
    """Which keys gave the format away."""
    _, signature, record = claimed[0]
    marks = [next(mark for mark in marks if has(record, mark)) for marks in signature.needs]
    return f"it has {', '.join(marks)}"


def _reasons(runs: list[ReadRun]) -> list[str]:
    """What a person must be told before trusting the file: every finding once, with the run it is about."""
    found: list[str] = []
    for run in runs:
        for finding in run.findings:
            place = f"record {run.rows[finding.point or 0] + 1}: " if len(runs) > 1 or len(run.rows) > 1 else ""
            found.append(f"{place}{finding.message}")
    return list(dict.fromkeys(found))
