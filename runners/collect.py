"""What a person names on the command line, as things to send: reports, lists of reports, raw files of other tools.

Foreign files are not understood here, only told from our own reports; the site understands them, in one place.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import BinaryIO, Literal

#: A site takes at most 512 MiB of a body once it is decompressed; reading more into memory would be in vain.
MAX_BODY = 512 * 1024 * 1024
#: What is taken from a folder. An allow list, so that no key, checkpoint or .env beside the results is ever uploaded.
SUFFIXES = frozenset(
    ".json .jsonl .ndjson .csv .tsv .txt .log .out .md .yaml .yml .gz .tgz .zst .zip .tar".split()  # noqa: SIM905
)
#: Top-level names of our report. Other tools write a schema_version too (aiperf does), but none has two of these.
_OURS = frozenset({"id", "status", "evidence", "experiment", "source", "system", "model", "engine", "strategy"})
_OURS |= {"workload", "points", "verification"}

_LONGEST_NAME = 200

Kind = Literal["report", "reports", "file"]


class CollectError(Exception):
    """A path cannot be sent; the message says which and why."""


@dataclass(frozen=True)
class Given:
    """One file or standard input. ``bodies`` is the file itself, or each report of a list, byte for byte."""

    name: str
    kind: Kind
    bodies: list[bytes] = field(repr=False)
    #: Found by walking a folder rather than named.
    found: bool = False

    @property
    def filename(self) -> str:
        """Its name alone, printable: a path would tell the site how the sender's machine is organised."""
        name = "".join(letter if letter.isprintable() else "_" for letter in os.path.basename(self.name))
        return name[-_LONGEST_NAME:]


def _walk(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(where, name)
            if not name.startswith(".") and path.suffix.lower() in SUFFIXES and path.is_file() and path.stat().st_size:
                yield path


class Sources:
    """The files that the arguments mean, read one after the other as often as they are iterated over.

    Raises CollectError for a path that does not exist (when made) or cannot be read (when iterated over).
    """

    def __init__(self, named: list[str], *, stdin: BinaryIO | None = None) -> None:
        self._stdin = stdin
        self._typed: bytes | None = None
        # Named twice, or named and found in a folder as well: one file, and the name wins.
        self._paths: dict[str, bool] = {}
        for name in named:
            if name != "-" and os.path.isdir(name):
                for path in _walk(Path(name)):
                    self._paths.setdefault(str(path), True)
            elif name == "-" or os.path.exists(name):
                self._paths[name] = False
            else:
                raise CollectError(f"{name} does not exist")

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[Given]:
        for path, found in self._paths.items():
            name = "stdin" if path == "-" else path
            body = self._read(path, name)
            kind, bodies = sort_out(body)
            yield Given(name, kind, bodies, found)

    def _read(self, path: str, name: str) -> bytes:
        try:
            if path == "-":
                if self._typed is None and self._stdin is not None:
                    self._typed = self._stdin.read(MAX_BODY + 1)
                body = self._typed or b""
            else:
                with open(path, "rb") as file:
                    body = file.read(MAX_BODY + 1)
        except OSError as error:
            raise CollectError(f"{name} cannot be read: {error.strerror or error}") from None
        if len(body) > MAX_BODY:
            raise CollectError(f"{name} is larger than {MAX_BODY // 2**20} MiB, more than any site takes")
        if not body:
            raise CollectError(f"{name} is empty")
        return body


def sort_out(body: bytes) -> tuple[Kind, list[bytes]]:
    """What a body is. Reports keep their own bytes: NaN, doubled keys and the like are for the site to name."""
    if b'"schema_version"' not in body:  # spares parsing the usual large raw file
        return "file", [body]
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return "file", [body]
    try:
        if _is_report(json.loads(text)):
            return "report", [body]
        items = list(_items(text))
    except JSONDecodeError:
        # Not splitlines: a JSON string may hold U+2028 and other line ends that are none in JSONL.
        items = [line for line in text.split("\n") if line.strip()]
    except RecursionError:
        return "file", [body]
    try:
        if items and all(_is_report(json.loads(item)) for item in items):
            return "reports", [item.encode() for item in items]
    except (JSONDecodeError, RecursionError):
        pass
    return "file", [body]


def _is_report(value: object) -> bool:
    return isinstance(value, dict) and "schema_version" in value and len(_OURS & value.keys()) >= 2


def _items(text: str) -> Iterator[str]:
    """The source text of each item of a JSON list; nothing for anything else. ``text`` is known to be valid JSON."""
    decoder = JSONDecoder()
    at = _past_space(text, 0)
    if text[at] != "[":
        return
    at = _past_space(text, at + 1)
    while text[at] != "]":
        _, end = decoder.raw_decode(text, at)
        yield text[at:end]
        at = _past_space(text, end)
        if text[at] == ",":
            at = _past_space(text, at + 1)


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\n\r":
        at += 1
    return at
