"""Who enters, who wins, what is drawn: rules of the comparison on columns of numbers.

Verification "failed" never enters. "not_run" enters, and its rows say so. Claimed, simulated, mock and quarantined
groups are shown where the selection includes them, and enter neither ranking nor frontier. Results of different loops
(closed, open ...) are never ranked against each other.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_site.compare.books import Books
from bench_site.compare.catalogue import Catalogue
from bench_site.compare.facts import BIT, EVIDENCE, PLAUSIBILITY, VERIFICATION, Facts, Floats, Mask
from bench_site.compare.selection import COST, COST_TOTAL, Selection
from bench_site.compare.shapes import ConfigurationView
from bench_site.metrics import Direction, metric_named
from bench_site.stats import frontier
from runners.contract.vocabulary import Evidence

Places = NDArray[np.intp]

#: Evidence that enters a ranking and a frontier; the rest is only shown.
RANKED = [EVIDENCE.index(word) for word in (Evidence.MEASURED, Evidence.PUBLISHED)]
QUARANTINE, FAILED = PLAUSIBILITY.index("quarantine"), VERIFICATION.index("failed")


def needed_metrics(selection: Selection) -> list[str]:
    """The statistics' columns that the rules look at."""
    names = ["interactivity", "ttft_p50", "output_tokens_per_s", "total_tokens_per_s", selection.x, selection.y]
    sort = selection.sort.removeprefix("-")
    return list(dict.fromkeys(names + ([sort] if sort and sort not in (COST, COST_TOTAL) else [])))


@dataclass(slots=True)
class Standing:
    """The groups as masks and columns; every array has one entry a group of ``facts``.

    ``within`` could be shown at all (by the rules and the limits on speed and first token); ``table`` are shown in the
    table, ``chart`` on the chart; ``enters`` the ranking and the frontier. ``rank`` is NaN where there is none;
    ``ranked_by`` the metric that it follows: cost, or y where no cost is known.
    """

    within: Mask
    table: Mask
    chart: Mask
    enters: Mask
    rank: Floats
    cost: Floats
    cost_total: Floats
    loops: list[str]
    left_out: dict[str, int]
    ranked_by: str = ""


def stand(
    facts: Facts,
    selection: Selection,
    catalogue: Catalogue,
    configurations: Mapping[int, ConfigurationView],
    books: Books,
) -> Standing:
    """Apply the rules."""
    runs, plausibility = facts["runs"] > 0, facts["plausibility"]
    counts = runs & (facts["verification"] != FAILED)
    usable = counts | (plausibility == QUARANTINE)
    early = np.ones(len(facts), bool) if selection.ttft is None else facts["ttft_p50"] <= selection.ttft
    fast = np.ones(len(facts), bool) if selection.per is None else facts["interactivity"] >= selection.per
    shown = facts.shown & usable
    x, y = facts[selection.x], facts[selection.y]
    table = shown & early & fast
    enters = counts & (plausibility != QUARANTINE) & np.isin(facts["evidence"], RANKED)
    chart = shown & early & ~np.isnan(x) & ~np.isnan(y)
    loops = sorted({catalogue.workloads[int(one)].loop for one in np.unique(facts["workload"][shown & enters])})
    cost, cost_total = _costs(facts, configurations, books)
    found = Standing(
        within=usable & early & fast,
        table=table,
        chart=chart,
        enters=enters,
        rank=np.full(len(facts), np.nan),
        cost=cost,
        cost_total=cost_total,
        loops=loops,
        left_out={},
    )
    if len(loops) < 2:
        candidates = np.flatnonzero(table & enters)
        priced = np.isfinite(cost[candidates]).any()
        key = cost[candidates] if priced else y[candidates] * _sign(selection.y)
        order = candidates[np.argsort(key, kind="stable")][: int(np.isfinite(key).sum())]
        found.rank[order] = np.arange(1, len(order) + 1)
        found.ranked_by = "" if not len(order) else COST if priced else selection.y
    misses = facts["misses"]
    found.left_out = {
        "quarantined": int(((misses == BIT["plausibility"]) & (plausibility == QUARANTINE)).sum())
        if not selection.plausibility
        else 0,
        "failed": int(((misses == BIT["verification"]) & (facts["verification"] == FAILED)).sum()),
        "retracted": int((facts.shown & ~usable).sum()),
        "later": int((shown & ~early).sum()),
        "slower": int((shown & early & ~fast).sum()),
        "not_ranked": int((table & ~enters).sum()),
        "no_x": int((table & np.isnan(x)).sum()),
        "no_y": int((table & ~np.isnan(x) & np.isnan(y)).sum()),
    }
    return found


def _costs(facts: Facts, configurations: Mapping[int, ConfigurationView], books: Books) -> tuple[Floats, Floats]:
    """Money per million output tokens, and per million tokens, to order by; NaN where unknown."""
    ids, place = np.unique(facts["configuration"], return_inverse=True)
    at_one = np.array([books.per_token_a_second(configurations[int(id_)]) for id_ in ids], dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        output, total = facts["output_tokens_per_s"], facts["total_tokens_per_s"]
        return (
            np.where(output > 0, at_one[place] / output, np.nan),
            np.where(total > 0, at_one[place] / total, np.nan),
        )


def in_order(facts: Facts, standing: Standing, selection: Selection) -> Places:
    """The table's groups in its order: by rank, then by y; or by what ``selection.sort`` names, unknown last."""
    places = np.flatnonzero(standing.table)
    y = facts[selection.y][places] * _sign(selection.y)
    keys = [standing.rank[places], y]
    if selection.sort:
        name = selection.sort.removeprefix("-")
        column = {COST: standing.cost, COST_TOTAL: standing.cost_total}.get(name)
        chosen = (facts[name] if column is None else column)[places]
        keys.insert(0, -chosen if selection.sort.startswith("-") else chosen)
    return places[np.lexsort([facts["group"][places], *reversed(keys)])]  # NaN sorts last, either way


def on_frontier(facts: Facts, standing: Standing, selection: Selection) -> list[int]:
    """The places of the groups that no other beats in x and y, x ascending; none across several loops."""
    if len(standing.loops) > 1:
        return []
    places = np.flatnonzero(standing.chart & standing.enters)
    x, y = facts[selection.x][places], facts[selection.y][places]
    places = places[_not_beaten_in_passing(x * _sign(selection.x), y * _sign(selection.y))]
    pairs = list(zip(facts[selection.x][places].tolist(), facts[selection.y][places].tolist(), strict=True))
    return [int(places[one]) for one in frontier(pairs, _direction(selection.x), _direction(selection.y))]


def _not_beaten_in_passing(x: Floats, y: Floats) -> Places:
    """The few points that a frontier (less is better in both) can be made of, so that thousands need not be sorted.

    Walking from the best x on, a point whose y is worse than one already seen is beaten by it.
    """
    order = np.lexsort([y, x])
    return np.sort(order[y[order] <= np.minimum.accumulate(y[order])])


def _direction(name: str) -> str:
    return metric_named(name).direction.value


def _sign(name: str) -> int:
    """What makes the better of two values the smaller one."""
    return -1 if metric_named(name).direction is Direction.HIGHER else 1
