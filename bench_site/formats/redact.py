"""Taking the secrets out of a file's bytes before they are stored."""

import json
from typing import Any

from bench_site.formats.adapter import Adapter
from bench_site.formats.load import Document, load
from bench_site.formats.outcome import Refused
from bench_site.formats.registry import adapter_of, detect
from bench_site.formats.secrets import REMOVED, find_secrets, scrub_text, show


def redact(data: bytes, tool: str | None = None) -> tuple[bytes, list[str]]:
    """``data`` with every secret and every answer replaced by "[removed]", and the paths that were.

    The same bytes give the same answer, and reading it gives the same runs. A file without secrets comes back byte for
    byte; of several records only those with a secret are written anew. ``tool`` names the adapter whose declared fields
    go too (default: the one that claims the file). A file that cannot be read at all comes back empty: nobody can say
    what is in it.
    """
    try:
        document = load(data)
    except Refused:
        return b"", ["the whole file: it cannot be read"]
    adapter = adapter_of(tool) or _claiming(document)
    pieces: list[str] = []
    removed: list[str] = []
    position = 0
    several = len(document.records) > 1
    for index, record in enumerate(document.records):
        pieces.append(_beside(document, document.text[position : record.start], last=False))
        original = document.text[record.start : record.end]
        places = list(find_secrets(record.value, adapter)) if isinstance(record.value, dict | list) else []
        for place in places:
            place.parent[place.key] = place.replacement
        pieces.append(_written(record.value, original) if places else original)
        removed += [show(place.path, index if several else None) for place in places]
        position = record.end
    pieces.append(_beside(document, document.text[position:], last=True))
    text = "".join(pieces)
    if text == document.text:
        return data, []
    if not removed or _beside_changed(document):
        removed.append("text beside the records")
    return text.encode("utf-8", "surrogatepass"), sorted(removed)


def _claiming(document: Document) -> Adapter | None:
    try:
        return detect(document)[0]
    except Refused:
        return None


def _beside_changed(document: Document) -> bool:
    ends = [0, *(record.end for record in document.records)]
    starts = [*(record.start for record in document.records), len(document.text)]
    parts = [document.text[end:start] for end, start in zip(ends, starts, strict=True)]
    return any(_beside(document, part, last=part is parts[-1]) != part for part in parts)


def _beside(document: Document, text: str, *, last: bool) -> str:
    """What stands between whole records, without secrets.

    In a text file secrets are cut out of the lines. Beside JSON records a line that is itself a piece of JSON goes as a
    whole, because what its keys belong to is not known; so does the last, unfinished element of a cut-off array.
    """
    if not text.strip():
        return text
    if document.kind == "json-array-cut" and last and "{" in text:
        return "\n"
    if not document.records:
        return scrub_text(text)
    lines = text.split("\n")
    return "\n".join(REMOVED if line.lstrip().startswith("{") or '":' in line else scrub_text(line) for line in lines)


def _written(value: Any, original: str) -> str:
    """``value`` as JSON, indented where the original was."""
    indent = 2 if "\n" in original else None
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates can only be written as escapes
        return json.dumps(value, indent=indent)
    return text
