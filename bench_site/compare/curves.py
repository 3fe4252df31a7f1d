"""Curves to draw: which groups of very many, how they are joined, and what each curve is called."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta

import numpy as np
from django.utils.translation import gettext as _

from bench_site.compare.facets import workload_words
from bench_site.compare.facts import Facts, Floats, Mask
from bench_site.compare.ranking import Places, Standing
from bench_site.compare.selection import Selection
from bench_site.compare.shapes import ConfigurationView, Curve, Row
from bench_site.metrics import Direction, metric_named
from bench_site.runs.models.words import label
from runners.contract.vocabulary import AcceptanceSource, Evidence

MAX_CURVES = 60
MAX_POINTS = 500
#: A curve whose runs span more than this says so.
MAX_SPAN = timedelta(days=7)


def to_draw(facts: Facts, standing: Standing, selection: Selection, best: Sequence[int]) -> Places:
    """The places of the groups to draw: all, or of too many the frontier and the curves that come nearest to it.

    A thinned curve keeps its ends, its points on the frontier and, evenly, points between.
    """
    places = np.flatnonzero(standing.chart)
    if not len(places):
        return places
    keys, curve = np.unique(facts["curve"][places], return_inverse=True)
    if len(keys) <= MAX_CURVES and len(places) <= MAX_POINTS:
        return places
    first = np.isin(places, np.array(best, dtype=np.intp))
    # How well a point does on both axes together: the sum of the shares of points it beats on each.
    score = _share_beaten(facts[selection.x][places], selection.x) + _share_beaten(
        facts[selection.y][places], selection.y
    )
    nearest = np.zeros(len(keys))
    np.maximum.at(nearest, curve, np.where(first, score + 2, score))
    chosen = np.argsort(-nearest, kind="stable")[:MAX_CURVES]
    keep: Mask = np.isin(curve, chosen)
    budget = max(2, MAX_POINTS // min(len(keys), MAX_CURVES))
    x = facts[selection.x][places]
    for one in np.flatnonzero(np.bincount(curve[keep]) > budget):
        points = np.flatnonzero(curve == one)
        points = points[np.argsort(x[points], kind="stable")]
        even = np.unique(np.linspace(0, len(points) - 1, budget).round().astype(int))
        keep[points] = False
        keep[points[even]] = True
    return places[keep | first]


def _share_beaten(values: Floats, metric: str) -> Floats:
    order = np.argsort(values if metric_named(metric).direction is Direction.HIGHER else -values, kind="stable")
    share = np.empty(len(values))
    share[order] = np.arange(len(values)) / len(values)
    return share


def curves_of(rows: Iterable[Row]) -> list[Curve]:
    """The rows as curves by label, each in the order of its loads; no two have the same label."""
    by_key: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_key[row.curve].append(row)
    labels = _labels([members[0] for members in by_key.values()])
    curves = []
    for (key, members), text in zip(by_key.items(), labels, strict=True):
        members.sort(key=lambda row: (row.load_value is None, row.load_value or 0, row.group_id))
        first = members[0]
        curves.append(
            Curve(
                key, text, first.configuration.vendor, first.configuration.kernel,
                first.evidence != Evidence.MEASURED, members, _span(members),
            )
        )  # fmt: skip
    return sorted(curves, key=lambda curve: (curve.label, curve.key))


def _span(rows: Sequence[Row]) -> int:
    """Days between the first and the last run, 0 within the span that needs no word."""
    first = min((row.first_run_at for row in rows if row.first_run_at), default=None)
    last = max((row.last_run_at for row in rows if row.last_run_at), default=None)
    if first is None or last is None or last - first <= MAX_SPAN:
        return 0
    return (last - first).days


# ------------------------------------------------------------------------------------------------ labels


def machine_label(configuration: ConfigurationView) -> str:
    """The pools in one line: "H200 ×8", or "H200 ×8 + B200 ×4"."""
    return pools_words((pool.chip, pool.chips) for pool in configuration.pools) or _("unknown machine")


def pools_words(pools: Iterable[tuple[str, int | None]]) -> str:
    """Chips and their numbers in one line; pools of one chip share its name: "GB300 NVL72 ×26+16"."""
    numbers: dict[str, list[str]] = {}
    for chip, chips in pools:
        numbers.setdefault(chip or _("unknown chip"), []).append(f"{chips:,}" if chips else "?")
    return " + ".join(f"{chip} ×{'+'.join(each)}" if set(each) != {"?"} else chip for chip, each in numbers.items())


def origin_words(origin: str) -> str:
    """Where a series comes from: a machine, a source, or who uploaded it (see ``runs.identity``)."""
    who = origin.removeprefix("uploaded by ")
    return origin.removeprefix("machine:") if who == origin else _("uploaded by %s") % who


def speculative_label(configuration: ConfigurationView) -> str:
    """The speculative regime in a word or two."""
    return " ".join(speculation_parts(configuration, str))


def speculation_parts(configuration: ConfigurationView, drafted: Callable[[int], str]) -> list[str]:
    """What there is to say of the speculative regime; ``drafted`` words the number of drafted tokens."""
    if configuration.speculative == "none":
        return [_("no speculation")]
    if not configuration.speculative:
        return [_("speculation unknown")]
    parts = [method_words(configuration.speculative)]
    if configuration.draft_tokens:
        parts.append(drafted(configuration.draft_tokens))
    if configuration.acceptance_source == AcceptanceSource.SYNTHETIC:
        parts.append(_("synthetic acceptance"))
    return parts


def method_words(method: str) -> str:
    """A method of speculation as people write it: "MTP", "eagle3"; where a source says only that it is on, so."""
    if method == "on (method not stated)":
        return _("on (method not stated)")
    return method.upper() if len(method) < 5 else method


#: What may tell two curves apart, the most telling first.
PARTS: tuple[Callable[[Row], str], ...] = (
    lambda row: machine_label(row.configuration),
    lambda row: row.configuration.model,
    lambda row: row.configuration.engine,
    lambda row: label(row.configuration.kernel) if row.configuration.kernel != "unknown" else "",
    lambda row: speculative_label(row.configuration),
    lambda row: row.configuration.precision,
    lambda row: workload_words(row.workload),
    lambda row: row.engine_version,
    lambda row: "" if row.context_tokens is None else _("%d context") % row.context_tokens,
    lambda row: label(row.evidence),
    lambda row: origin_words(row.origin),
    lambda row: "+".join(f"{pool.role}×{pool.chips}" for pool in row.configuration.pools),
    lambda row: row.image.removeprefix("sha256:")[:24],
    lambda row: row.curve[:6],
)


def _labels(rows: Sequence[Row]) -> list[str]:
    """One text a row: the machine, then each part that tells apart what the parts before it do not."""
    texts: list[tuple[str, ...]] = [(PARTS[0](row),) for row in rows]
    for part in PARTS[1:]:
        told = len(set(texts))
        if told == len(rows):
            break
        longer = [(*text, part(row)) for text, row in zip(texts, rows, strict=True)]
        if len(set(longer)) > told:
            texts = longer
    return [" · ".join(word for word in text if word) for text in texts]
