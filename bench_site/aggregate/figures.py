"""A group's runs become its figures: plain values, no database, the same result in whatever order they come."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bench_site.metrics import HEADLINE, MEASURED
from bench_site.runs.models.words import Plausibility
from bench_site.stats import Summary, median, summarise
from runners.contract.vocabulary import VerificationStatus

#: Weakest first.
VERIFICATION = (VerificationStatus.FAILED, VerificationStatus.NOT_RUN, VerificationStatus.PASSED)
#: Worst first.
PLAUSIBILITY = (Plausibility.QUARANTINE, Plausibility.FLAG, Plausibility.ACCEPT)


@dataclass(frozen=True, slots=True)
class Sample:
    """One point of one run: its figures and which TPOT its interactivity comes from ("p50", "mean" or "").

    ``at`` is when the run started or, where that is unknown (``dated`` False), when it was received: good enough to say
    which is newer, and never shown as a start.
    """

    run: Any
    counts: bool
    at: datetime
    verification: str
    plausibility: str
    interactivity_from: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    dated: bool = True


def statistic_of(samples: Sequence[Sample]) -> dict[str, Any]:
    """The columns of a GroupStatistic for one group's points.

    Only points that count give figures. Without any, ``runs`` is 0, all figures are unknown, and the other columns
    describe the runs that were left out: a page shows why there is nothing. Raises ValueError without points.
    """
    if not samples:
        raise ValueError("a group without points has no statistic")
    counting = [sample for sample in samples if sample.counts]
    described = counting or samples
    runs = {sample.run for sample in counting}
    starts = [sample.at for sample in described if sample.dated]
    source, summaries = _summaries(counting)
    return {
        "runs": len(runs),
        "runs_left_out": len({sample.run for sample in samples} - runs),
        "first_run_at": min(starts, default=None),
        "last_run_at": max(starts, default=None),
        "verification": min((s.verification for s in described), key=[w.value for w in VERIFICATION].index),
        "plausibility": min((s.plausibility for s in described), key=[w.value for w in PLAUSIBILITY].index),
        "interactivity_from": source,
        **_headline(summaries),
        "figures": {name: [s.median, s.low, s.high, s.n] for name, s in summaries.items()},
    }


def _summaries(samples: Sequence[Sample]) -> tuple[str, dict[str, Summary]]:
    """Every metric over runs, one value a run: a run with several points here gives their median.

    Interactivity from p50 and from the mean is never mixed: where any run has the former, only such runs give it.
    """
    sources = {sample.interactivity_from for sample in samples}
    source = next((s for s in ("p50", "mean") if s in sources), "")
    values: dict[str, dict[Any, list[float]]] = {metric.name: {} for metric in MEASURED}
    for sample in samples:
        for name, value in sample.figures.items():
            if name != "interactivity" or sample.interactivity_from == source:
                values[name].setdefault(sample.run, []).append(value)
    found = {name: summarise([median(v) for v in by_run.values()]) for name, by_run in values.items()}
    return source, {name: summary for name, summary in found.items() if summary is not None}


def _headline(summaries: Mapping[str, Summary]) -> dict[str, float | None]:
    columns: dict[str, float | None] = {}
    for name, with_interval in HEADLINE.items():
        summary = summaries.get(name)
        columns[name] = summary.median if summary else None
        if with_interval:
            columns[f"{name}_low"] = summary.low if summary else None
            columns[f"{name}_high"] = summary.high if summary else None
    return columns


def last_of(samples: Sequence[Sample]) -> datetime:
    """When the newest run that a group's statistic describes started or, where that is unknown, was received."""
    return max(sample.at for sample in [sample for sample in samples if sample.counts] or samples)


def newest_of(statistics: Iterable[tuple[int, Mapping[str, Any], datetime]]) -> int | None:
    """The group that stands for its series: with runs that count before without, then the newest run; None of none.

    Each group comes with its statistic and ``last_of`` its samples.
    """
    ranked = [(bool(s["runs"]), last, group) for group, s, last in statistics]
    return max(ranked)[2] if ranked else None
