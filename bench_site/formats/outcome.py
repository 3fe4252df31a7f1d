"""What came of reading a file: a ``Reading``, whose verdict is accept, flag or refuse."""

from dataclasses import dataclass, field
from typing import Literal

from runners.contract.figures import Point
from runners.contract.receipt import Finding, Missing
from runners.contract.report import Report
from runners.contract.vocabulary import Evidence

Verdict = Literal["accept", "flag", "refuse"]


@dataclass(frozen=True)
class Nearest:
    """The supported format that an unknown file resembles most: which of its marks are there and which are not."""

    tool: str
    matched: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Refusal:
    """Why nothing could be read. ``code`` is one of ``runners.contract.problems.PROBLEMS``."""

    code: str
    detail: str
    supported: tuple[str, ...] = ()
    nearest: Nearest | None = None


class Refused(Exception):
    """Raised inside this package only; ``registry.read`` turns it into a ``Reading``."""

    def __init__(self, code: str, detail: str, nearest: Nearest | None = None, supported: tuple[str, ...] = ()) -> None:
        super().__init__(detail)
        self.refusal = Refusal(code, detail, supported, nearest)


@dataclass
class ReadRun:
    """One run found in a file.

    ``report`` is complete but for what the file cannot say (``missing``). ``evidence`` is None when the file does
    not say who stands behind the figures: ``report.evidence`` then holds the contract's default, which whoever
    stores the run must settle. ``rows[i]`` is the place of ``report.points[i]`` among the file's records, counted
    from 0.
    """

    record: int
    report: Report
    evidence: Evidence | None
    missing: list[Missing]
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)


@dataclass
class Reading:
    """What one file holds. ``secrets`` are the paths that ``redact`` takes out before anything is stored."""

    sha256: str
    size: int
    verdict: Verdict
    reasons: list[str]
    tool: str | None = None
    title: str | None = None
    tool_version: str | None = None
    format: str | None = None
    why: str | None = None
    runs: list[ReadRun] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    refusal: Refusal | None = None

    def points(self) -> list[tuple[ReadRun, Point]]:
        """All points of all runs in the order of the file's records."""
        placed = [
            (row, run, point) for run in self.runs for row, point in zip(run.rows, run.report.points, strict=True)
        ]
        return [(run, point) for _, run, point in sorted(placed, key=lambda entry: entry[0])]
