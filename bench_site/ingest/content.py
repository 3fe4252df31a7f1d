"""What a report says, apart from how it was written: its digest, its stored form, and how two of them differ."""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any

import zstandard

from bench_site.ingest.refusals import field_error, shown
from bench_site.ingest.words import json_path
from runners.contract import Point, Report
from runners.contract.problems import FieldError

MAX_DIFFERENCES = 200

_COLUMNS = {"samples", "rounds"}
_WITHOUT_COLUMNS: Any = {"points": {"__all__": _COLUMNS}}


@dataclass(frozen=True, slots=True)
class Columns:
    """The samples and rounds of one point as JSON ``{"samples": {...}, "rounds": {...}}``; ``rows`` of the longer."""

    rows: int
    text: bytes

    def packed(self) -> bytes:
        """Compressed, as the table holds them."""
        return zstandard.ZstdCompressor(level=3).compress(self.text)


@dataclass(frozen=True, slots=True)
class Content:
    """A report ready to be compared and stored. ``report`` and ``points`` are JSON without samples and rounds."""

    sha256: str
    report: str
    points: list[str]
    columns: dict[int, Columns]


def normalised(report: Report) -> Report:
    """``report`` with what says the same written the same: times in UTC, software in the order of its names."""
    changes: dict[str, Any] = {}
    for name in ("started_at", "finished_at"):
        time: datetime | None = getattr(report, name)
        if time is not None and time.tzinfo is not UTC:
            changes[name] = time.astimezone(UTC)
    names = list(report.system.software)
    if names != sorted(names):
        software = dict(sorted(report.system.software.items()))
        changes["system"] = report.system.model_copy(update={"software": software})
    return report.model_copy(update=changes) if changes else report


def content_of(report: Report) -> Content:
    """The content of a normalised report.

    The digest is over all that the report says but its id. Nulls are left out: a later version of the contract, with
    more optional fields, must give an old report its old digest. (So a new field's default is null; a test holds it.)
    """
    columns = {i: found for i, point in enumerate(report.points) if (found := _columns_of(point))}
    text = report.model_dump_json(exclude_none=True, exclude=_WITHOUT_COLUMNS)
    digest = hashlib.sha256(text.replace(f'"id":"{report.id}",', "", 1).encode())
    for index, column in columns.items():
        digest.update(b"\0%d\0" % index + column.text)
    return Content(
        sha256=digest.hexdigest(),
        report=text,
        points=[point.model_dump_json(exclude_none=True, exclude=_COLUMNS) for point in report.points],
        columns=columns,
    )


def _columns_of(point: Point) -> Columns | None:
    if point.samples is None and point.rounds is None:
        return None
    rows = max((len(c) for part in (point.samples, point.rounds) if part for _, c in part if c is not None), default=0)
    return Columns(rows, point.model_dump_json(include=_COLUMNS, exclude_none=True).encode())


def unpacked(data: bytes) -> dict[str, Any]:
    """The ``samples`` and ``rounds`` that ``Columns.packed`` wrote."""
    with zstandard.ZstdDecompressor().stream_reader(data) as reader:
        found: dict[str, Any] = json.loads(reader.read())
    return found


def with_columns(report: dict[str, Any], packed: dict[int, bytes]) -> dict[str, Any]:
    """A stored report with its samples and rounds put back, by point index."""
    points = [
        {**point, **unpacked(packed[i])} if i in packed else point for i, point in enumerate(report.get("points", []))
    ]
    return {**report, "points": points}


def differences(sent: Content, stored: dict[str, Any], packed: dict[int, bytes]) -> list[FieldError]:
    """Every leaf in which ``sent`` differs from the stored report: ``found`` was sent, ``allowed`` is stored."""
    errors: list[FieldError] = []
    _compare((), _pruned(json.loads(sent.report)), _pruned(stored), errors)
    for index in sorted(sent.columns.keys() | packed.keys()):
        new = json.loads(sent.columns[index].text) if index in sent.columns else {}
        old = unpacked(packed[index]) if index in packed else {}
        for name in sorted(new.keys() | old.keys()):
            if new.get(name) != old.get(name):
                place = ("points", index, name)
                errors.append(_differs(place, _rows(new.get(name)), _rows(old.get(name))))
    return errors[:MAX_DIFFERENCES]


def _compare(place: tuple[int | str, ...], new: Any, old: Any, errors: list[FieldError]) -> None:
    if new == old or len(errors) >= MAX_DIFFERENCES:
        return
    # A part that only one side has is taken apart as well: its fields are what somebody said, not "an object".
    if (isinstance(new, dict) or new is None) and (isinstance(old, dict) or old is None):
        new, old = new or {}, old or {}
        for key in [*new, *(key for key in old if key not in new)]:
            _compare((*place, key), new.get(key), old.get(key), errors)
    elif _are_parts(new, old):
        for index, pair in enumerate(zip_longest(new or [], old or [])):
            _compare((*place, index), *pair, errors)
    else:
        errors.append(_differs(place, new, old))


def _are_parts(new: Any, old: Any) -> bool:
    """Whether these are lists to be compared entry by entry: as long as each other, or all of it new (or gone)."""
    given = [side for side in (new, old) if side is not None]
    if not all(isinstance(side, list) and any(isinstance(part, dict | list) for part in side) for side in given):
        return False
    return len(given) == 1 or len(new) == len(old)


def _differs(place: tuple[int | str, ...], new: Any, old: Any) -> FieldError:
    error = field_error(json_path(place), "differs", "differs from what is stored")
    error.found, error.allowed = _in_words(new), f"stored: {_in_words(old)}"
    return error


def _in_words(value: Any) -> str:
    if isinstance(value, list) and len(value) <= 5 and not any(isinstance(part, dict | list) for part in value):
        value = ", ".join(str(part) for part in value)
    return shown(value) or "unknown"


def _rows(columns: dict[str, list[Any]] | None) -> str | None:
    return f"{len(next(iter(columns.values()), []))} rows of {', '.join(columns)}" if columns else None


def _pruned(value: Any) -> Any:
    """Without nulls and empty containers: what two reports that say the same have in common."""
    if isinstance(value, dict):
        items = ((key, _pruned(child)) for key, child in value.items())
        return {key: child for key, child in items if child is not None and child != {} and child != []}
    return [_pruned(child) for child in value] if isinstance(value, list) else value
