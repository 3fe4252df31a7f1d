"""Bytes become a document: one JSON value, a cut-off array, objects run together, JSON Lines, or text.

Foreign files are taken as they come (a BOM, CRLF, ``NaN`` and ``Infinity``, a few lines that are not JSON); what cannot
be read is a typed refusal, never another exception.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from bench_site.formats.outcome import Refused

#: A larger file is refused before it is decoded; the site's own limit on a received body is smaller or equal.
MAX_BYTES = 512 * 1024 * 1024
MAX_DEPTH = 100
MAX_RECORDS = 200_000
#: Starts of objects that turn out not to be JSON. Each costs up to a whole pass, so a hostile file must not have many.
_MAX_BROKEN = 50
#: An integer of more digits than any 64-bit count becomes a float: int() of a million digits takes minutes.
_MAX_DIGITS = 20

_NOT_TEXT = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"SQLite format 3": "SQLite",
    b"PAR1": "Parquet",
}
_SPACE = re.compile(r"\s*")

Kind = Literal["json", "json-array-cut", "json-concatenated", "json-lines", "text"]


@dataclass(frozen=True)
class Record:
    """One JSON value and where it stands in the text."""

    value: Any
    start: int
    end: int


@dataclass
class Document:
    """A loaded file. ``records`` is empty for text."""

    sha256: str
    size: int
    text: str
    kind: Kind
    records: list[Record] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def objects(self) -> list[Any]:
        """The file's records in order: the elements of one top-level array, or else its JSON values."""
        values = [record.value for record in self.records]
        if self.kind == "json" and isinstance(values[0], list):
            return values[0]
        return values


class _DuplicateKey(ValueError):
    pass


class _GaveUp(Exception):
    """The text has too little JSON in it to go on looking."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _DuplicateKey(key[:80])
            seen.add(key)
    return found


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, strict=False)


def load(data: bytes, *, sha256: str | None = None) -> Document:
    """The document in ``data``; raises Refused.

    ``sha256`` is the digest of the bytes as received, given when ``data`` is the redacted copy that was kept.
    """
    if len(data) > MAX_BYTES:
        raise Refused("too-large", f"The file has {len(data):,} bytes; at most {MAX_BYTES:,} are read.")
    digest = sha256 or hashlib.sha256(data).hexdigest()
    text = _decode(data)
    if not text.strip():
        raise Refused("empty", "The file is empty. Did the benchmark finish? Nothing was stored.")
    try:
        kind, records, notes = _parse(text)
    except _DuplicateKey as error:
        raise Refused(
            "duplicate-key", f"A JSON object names the key {str(error)!r} twice; keep one of the two."
        ) from None
    except RecursionError:
        raise Refused("too-deep", f"The JSON is nested more than {MAX_DEPTH} levels deep.") from None
    if len(records) > MAX_RECORDS:
        raise Refused("too-large", f"The file holds {len(records):,} records; at most {MAX_RECORDS:,} are read.")
    if any(_deeper_than(record.value, MAX_DEPTH) for record in records):
        raise Refused("too-deep", f"The JSON is nested more than {MAX_DEPTH} levels deep.")
    return Document(digest, len(data), text, kind, records, notes)


def _decode(data: bytes) -> str:
    for magic, name in _NOT_TEXT.items():
        if data.startswith(magic):
            raise Refused(
                "bad-encoding", f"The file is {name} data, not text. Unpack it and send the result file itself."
            )
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Refused(
            "bad-encoding", "The file is UTF-16 (PowerShell's `>` writes that). Save it as UTF-8 and send it again."
        )
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        raise Refused(
            "bad-encoding", f"The file is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}. Save it as UTF-8."
        ) from None
    if "\x00" in text:
        raise Refused("bad-encoding", f"The file has a NUL character at position {text.index(chr(0))}: it is not text.")
    return text


def _parse(text: str) -> tuple[Kind, list[Record], list[str]]:
    start = _skip(text, 0)
    looks_like_json = text[start] in "{["
    try:
        value, end = _DECODER.raw_decode(text, start)
        if _skip(text, end) == len(text):
            return "json", [Record(value, start, end)], []
        whole: json.JSONDecodeError | None = None
    except json.JSONDecodeError as error:
        whole = error
        if text[start] == "[" and (cut := _cut_array(text, start)):
            note = f"the array was cut off after {len(cut)} whole elements"
            return "json-array-cut", cut, [note]
    try:
        records, other = _many(text)
    except _GaveUp:
        records, other = [], 0
    if records and other <= max(3, len(records)):
        newline = all("\n" in text[a.end : b.start] for a, b in pairwise(records))
        notes = [f"{other} lines that are not JSON objects were passed over"] if other else []
        return ("json-lines" if newline else "json-concatenated"), records, notes
    if looks_like_json and whole is not None:
        raise Refused(
            "bad-json",
            f"The file is not valid JSON: {whole.msg} at line {whole.lineno}, column {whole.colno}."
            + (" It seems to be cut off." if _at_end(whole, text) else ""),
        )
    return "text", [], []


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _at_end(error: json.JSONDecodeError, text: str) -> bool:
    """Whether the decoder ran out of text rather than met something wrong."""
    return error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip()) - 16


def _cut_array(text: str, start: int) -> list[Record] | None:
    """The whole elements of an array whose end is missing (a killed tool), or None if it is broken otherwise."""
    found: list[Record] = []
    position = start + 1
    while True:
        position = _skip(text, position)
        if position < len(text) and text[position] == "," and found:
            position = _skip(text, position + 1)
        if position >= len(text):
            return found or None
        if text[position] != "{":
            return None
        try:
            value, end = _DECODER.raw_decode(text, position)
        except json.JSONDecodeError as error:
            return found if found and _at_end(error, text) else None
        found.append(Record(value, position, end))
        position = end


def _many(text: str) -> tuple[list[Record], int]:
    """All JSON objects that begin a line or follow one another, and how many other lines there are."""
    found: list[Record] = []
    other = broken = position = 0
    while (position := _skip(text, position)) < len(text):
        if text[position] == "," and found:
            position += 1
            continue
        if text[position] == "{":
            try:
                value, end = _DECODER.raw_decode(text, position)
            except json.JSONDecodeError:
                broken += 1
                if broken > _MAX_BROKEN:
                    raise _GaveUp from None
            else:
                found.append(Record(value, position, end))
                position = end
                continue
        other += 1
        if other > 1000 and other > len(found):
            raise _GaveUp
        newline = text.find("\n", position)
        if newline < 0:
            break
        position = newline + 1
    return found, other


def _deeper_than(value: Any, limit: int) -> bool:
    """Whether ``value`` nests deeper than ``limit``; walks without recursion."""
    level: list[Any] = [value]
    for _ in range(limit):
        level = [child for parent in level for child in _containers(parent)]
        if not level:
            return False
    return True


def _containers(value: Any) -> Iterator[Any]:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (child for child in children if isinstance(child, dict | list))
