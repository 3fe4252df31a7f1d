"""What an adapter is: a declaration the registry can detect by and list, and one function that reads."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from bench_site.formats.load import Document
from bench_site.formats.outcome import ReadRun

#: Marks of a format: each inner tuple holds keys of which at least one must be there. ``"metrics.tput_per_gpu"`` looks
#: into an object; ``"mean_ttft*"`` is any key that begins so.
Marks = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Signature:
    """One shape of a record that a tool writes. All ``needs`` must be there and no ``forbids``."""

    variant: str
    needs: Marks
    forbids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Adapter:
    """One tool's files.

    ``read`` gets the document and its records that carry a signature (place in the file, variant, object) and
    answers runs and, for records that it had to leave out, why. ``stamp`` says what a naive time in the file is.
    ``texts`` names keys that hold prompts or answers: they are removed like secrets, but for whether an answer was
    empty.
    """

    tool: str
    title: str
    produced_by: str
    signatures: tuple[Signature, ...]
    read: Callable[[Document, list[tuple[int, Signature, dict[str, Any]]]], tuple[list[ReadRun], list[str]]]
    stamp: Literal["start", "end"] = "start"
    secrets: tuple[str, ...] = ()
    texts: tuple[str, ...] = field(default=())


def has(record: dict[str, Any], mark: str) -> bool:
    """Whether ``record`` carries a mark."""
    key, dot, rest = mark.partition(".")
    if dot:
        inner = record.get(key)
        return isinstance(inner, dict) and has(inner, rest)
    if mark.endswith("*"):
        return any(name.startswith(mark[:-1]) for name in record)
    return key in record
