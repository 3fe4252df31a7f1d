"""Secrets in the free texts of a report: the contract has no field for one, but command lines carry them."""

from typing import Any

from bench_site.formats.secrets import REMOVED, is_secret_key, scrub_text
from runners.contract import Report

#: Where people and scripts paste command lines, addresses and error messages.
_TEXTS = (
    ("source", "command"), ("source", "url"), ("source", "name"), ("engine", "image"), ("error", "message"),
    ("system", "topology"), ("strategy", "detail"), ("verification", "against"), ("experiment", "name"),
)  # fmt: skip


def scrubbed(report: Report) -> tuple[Report, list[str]]:
    """``report`` without the secrets in its texts, and their paths; the same report gives the same answer."""
    changes: dict[str, dict[str, Any]] = {}
    removed: list[str] = []
    for part, name in _TEXTS:
        text = getattr(getattr(report, part), name, None)
        if text and (clean := scrub_text(text)) != text:
            changes.setdefault(part, {})[name] = clean
            removed.append(f"{part}.{name}")
    probe = [
        reading.model_copy(update={"value": _clean(reading.name, reading.value)})
        if isinstance(reading.value, str)
        else reading
        for reading in report.system.probe
    ]
    if probe != report.system.probe:
        changes.setdefault("system", {})["probe"] = probe
        removed.append("system.probe")
    software = {key: _clean(key, text) for key, text in report.system.software.items()}
    if software != report.system.software:
        changes.setdefault("system", {})["software"] = software
        removed += [f"system.software.{key}" for key, text in software.items() if text != report.system.software[key]]
    update: dict[str, Any] = {part: getattr(report, part).model_copy(update=fields) for part, fields in changes.items()}
    if report.notes and (clean := scrub_text(report.notes)) != report.notes:
        update["notes"] = clean
        removed.append("notes")
    return (report.model_copy(update=update) if update else report), removed


def _clean(key: str, text: str) -> str:
    return REMOVED if is_secret_key(key) and text != REMOVED else scrub_text(text)
