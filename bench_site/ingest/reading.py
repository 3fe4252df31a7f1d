"""Bytes become reports, or a problem that names every bad field.

Each document is read twice: by ``jiter``, which finds what a Report cannot see any more (a key named twice), and by
pydantic, strictly, from the JSON itself: ``"1"`` is no number here.
"""

import json
import re
from typing import Any

import jiter
from pydantic import TypeAdapter, ValidationError

from bench_site.ingest.refusals import Refusal, field_error, refuse
from bench_site.ingest.words import field_errors, json_path
from runners.contract import Report
from runners.contract.problems import FieldError

MAX_BATCH = 1_000

_BOM = b"\xef\xbb\xbf"
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_REPORTS = TypeAdapter(list[Report])


def read_report(data: bytes) -> Report:
    """The report in ``data``; raises Refusal."""
    text = _text(data)
    document = _document(text)
    try:
        return Report.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise _invalid(error, document) from None


def read_batch(data: bytes) -> list[Report | Refusal]:
    """The reports of ``{"reports": [...]}`` (or of a bare list), each on its own; raises Refusal for the whole."""
    text = _text(data)
    twice: list[list[FieldError]] | None = None
    try:
        document = _document(text)
    except _Twice as error:
        document, twice = error.document, error.by_item()
        if twice is None:
            raise
    items = _items(document)
    if twice is None:
        if reports := _all_at_once(text, document):
            return list(reports)
        twice = [[] for _ in items]
    return [_read_item(item, errors) for item, errors in zip(items, twice, strict=True)]


def is_report(data: bytes) -> bool:
    """Whether ``data`` means to be a report or a batch of them: has our own marks at its top level."""
    try:
        document = jiter.from_json(data.removeprefix(_BOM))
    except ValueError:
        return False
    if isinstance(document, dict):
        return (
            {"id", "points"} <= document.keys()
            or {"id", "schema_version"} <= document.keys()
            or (document.keys() == {"reports"} and isinstance(document["reports"], list))
        )
    return False


def _all_at_once(text: bytes, document: Any) -> list[Report] | None:
    """All reports if every one is right, which is the usual case; else None."""
    try:
        if isinstance(document, list):
            return _REPORTS.validate_json(text, strict=True)
        # The envelope has one key and its value is the list, so the list is what lies between the outer brackets.
        return _REPORTS.validate_json(text[text.index(b"[") : text.rindex(b"]") + 1], strict=True)
    except ValidationError:
        return None


def _read_item(item: Any, errors: list[FieldError]) -> Report | Refusal:
    if errors:
        return refuse("duplicate-key", _naming(errors, "a key is named twice"), errors)
    try:
        return Report.model_validate_json(json.dumps(item), strict=True)
    except ValidationError as error:
        return _invalid(error, item)


def _items(document: Any) -> list[Any]:
    if isinstance(document, dict) and list(document) == ["reports"]:
        document = document["reports"]
    if not isinstance(document, list):
        message = 'is not {"reports": [...]}'
        error = field_error("reports", "batch", message, document, "a list of reports, and no other key beside it")
        raise refuse("invalid-report", f"The batch {message}.", [error])
    if not 1 <= len(document) <= MAX_BATCH:
        allowed = f"1 to {MAX_BATCH:,} reports"
        error = field_error("reports", "batch", "has the wrong length", len(document), allowed)
        raise refuse("invalid-report", f"The batch has {len(document):,} reports; send {allowed}.", [error])
    return document


def _text(data: bytes) -> bytes:
    """``data`` as UTF-8 without its BOM."""
    if data.startswith(_WIDE) or (len(data) > 3 and data[1] == 0 and data[0] in b"{[ \n"):
        raise refuse("bad-encoding", "The body is UTF-16 or UTF-32 (PowerShell's `>` writes that), not UTF-8.")
    data = data.removeprefix(_BOM)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        detail = f"Byte {error.start} is 0x{data[error.start]:02x}, which cannot stand there in UTF-8."
        raise refuse("bad-encoding", detail) from None
    if not text or text.isspace():
        raise refuse("empty", "The body holds no JSON document.")
    return data


class _Twice(Refusal):
    """Some object names a key twice."""

    def __init__(self, document: Any, places: list[tuple[int | str, ...]]) -> None:
        self.document, self.places = document, places
        errors = [_named_twice(place) for place in places]
        super().__init__(refuse("duplicate-key", _naming(errors, "a key is named twice"), errors).problem)

    def by_item(self) -> list[list[FieldError]] | None:
        """The errors of each item of a batch; None if it is the envelope that is wrong."""
        items = self.document.get("reports") if isinstance(self.document, dict) else self.document
        start = 1 if isinstance(self.document, dict) else 0
        if not isinstance(items, list) or any(len(place) <= start + 1 for place in self.places):
            return None
        found: list[list[FieldError]] = [[] for _ in items]
        for place in self.places:
            index = place[start]
            assert isinstance(index, int)
            found[index].append(_named_twice(place[start + 1 :]))
        return found


def _named_twice(place: tuple[int | str, ...]) -> FieldError:
    return field_error(json_path(place), "duplicate-key", "is named twice in one object", None, "once")


def _document(text: bytes) -> Any:
    """The parsed JSON; raises Refusal for what is no JSON or too deep, _Twice for a key named twice."""
    try:
        return jiter.from_json(text, catch_duplicate_keys=True)
    except ValueError as error:
        said = str(error)
    if said.startswith("Detected duplicate key"):
        try:
            jiter.from_json(text)  # it stops at the first duplicate; what follows may still be broken
        except ValueError as error:
            raise _syntax(str(error), text) from None
        raise _Twice(*_with_duplicates(text)) from None
    raise _syntax(said, text)


def _syntax(said: str, text: bytes) -> Refusal:
    if said.startswith("recursion limit"):
        return refuse("too-deep", f"The JSON is nested too deeply ({said.split(' at ')[-1]}).")
    if "hex escape" in said and _SURROGATE.search(text):
        return refuse("bad-json", f"The document holds a lone surrogate, which is no character: {said}.")
    if said.startswith("number out of range"):
        return refuse("bad-json", f"A number has too many digits: {said}.")
    hint = " The document seems to be cut off." if said.startswith("EOF") else ""
    return refuse("bad-json", f"{said[:1].upper()}{said[1:]}.{hint}")


class _Object(dict[str, Any]):
    """A JSON object that remembers which of its keys came twice."""

    twice: tuple[str, ...] = ()


def _with_duplicates(text: bytes) -> tuple[Any, list[tuple[int | str, ...]]]:
    def gather(pairs: list[tuple[str, Any]]) -> _Object:
        made = _Object(pairs)
        if len(made) != len(pairs):
            keys = [key for key, _ in pairs]
            made.twice = tuple(key for key in made if keys.count(key) > 1)
        return made

    document = json.loads(text, object_pairs_hook=gather)  # valid and shallow: jiter has read it
    places: list[tuple[int | str, ...]] = []
    waiting: list[tuple[tuple[int | str, ...], Any]] = [((), document)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, _Object):
            places += [(*place, key) for key in value.twice]
            waiting += [((*place, key), child) for key, child in value.items() if isinstance(child, dict | list)]
        elif isinstance(value, list):
            waiting += [((*place, i), child) for i, child in enumerate(value) if isinstance(child, dict | list)]
    return document, sorted(places, key=str)


def _invalid(error: ValidationError, document: Any) -> Refusal:
    errors = field_errors(error.errors(include_url=False, include_input=False), document)
    return refuse("invalid-report", _naming(errors, "the report does not follow the contract"), errors)


def _naming(errors: list[FieldError], what: str) -> str:
    """One sentence that holds the first errors, for those who read nothing but ``detail``."""
    first = "; ".join(f"{e.path} {e.message}" + (f" (found {e.found[:60]})" if e.found else "") for e in errors[:3])
    more = f"; and {len(errors) - 3:,} more" if len(errors) > 3 else ""
    return f"{what[:1].upper()}{what[1:]}: {first}{more}."
