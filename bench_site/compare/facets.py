"""Options of the filters, each with how many groups it would show under the other filters."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from bench_site.compare.catalogue import Catalogue
from bench_site.compare.facts import EVIDENCE, FACETS, PLAUSIBILITY, VERIFICATION, Facts, Mask
from bench_site.compare.selection import NONE, UNKNOWN, Selection
from bench_site.compare.shapes import ConfigurationView, Option, WorkloadView
from bench_site.runs.models.words import label
from runners.contract.vocabulary import KernelStrategy, Loop

Counts = dict[str, int]
Label = Callable[[str], str]


def options(
    facts: Facts,
    within: Mask,
    selection: Selection,
    catalogue: Catalogue,
    configurations: Mapping[int, ConfigurationView],
) -> dict[str, list[Option]]:
    """For every facet its options; ``within`` are the groups that could be shown at all."""
    ids, place = np.unique(facts["configuration"], return_inverse=True)
    views = [configurations[int(id_)] for id_ in ids]
    found = {}
    for facet in FACETS:
        mask = facts.but_for(facet) & within
        if facet in BY_CONFIGURATION:
            times = np.bincount(place[mask], minlength=len(views)).tolist()
            counts = _by_configuration(BY_CONFIGURATION[facet], views, times)
        else:
            counts = _by_column(facet, facts, mask, catalogue)
        found[facet] = _options(facet, counts, selection, catalogue)
    return found


def _pools(part: str) -> Callable[[ConfigurationView], Iterable[str]]:
    def read(view: ConfigurationView) -> Iterable[str]:
        if len(view.pools) == 1:
            return (getattr(view.pools[0], part) or UNKNOWN,)
        return {getattr(pool, part) or UNKNOWN for pool in view.pools} or (UNKNOWN,)

    return read


def _speculative(view: ConfigurationView) -> Iterable[str]:
    if view.speculative in ("", NONE):
        return (view.speculative or UNKNOWN,)
    return ("on", view.speculative)


#: The values that a configuration has in each of these facets.
BY_CONFIGURATION: dict[str, Callable[[ConfigurationView], Iterable[str]]] = {
    "model": lambda view: (view.model_slug or UNKNOWN,),
    "precision": lambda view: (view.precision or UNKNOWN,),
    "chip": _pools("chip_slug"),
    "vendor": _pools("vendor"),
    "engine": lambda view: (view.engine or UNKNOWN,),
    "strategy": lambda view: (view.kernel,),
    "speculative": _speculative,
}


def _by_configuration(
    values: Callable[[ConfigurationView], Iterable[str]], views: list[ConfigurationView], times: list[int]
) -> Counts:
    counts: defaultdict[str, int] = defaultdict(int)
    for view, number in zip(views, times, strict=True):
        if number:
            for value in values(view):
                counts[value] += number
    return dict(counts)


def _by_column(facet: str, facts: Facts, mask: Mask, catalogue: Catalogue) -> Counts:
    column = facts["workload" if facet == "load" else facet][mask]
    if facet != "context":
        column = column[~np.isnan(column)]
    values, numbers = np.unique(column, return_counts=True)  # NaN is one value
    counts: Counts = {}
    for value, number in zip(values.tolist(), numbers.tolist(), strict=True):
        name = _word_of(facet, value, catalogue)
        counts[name] = counts.get(name, 0) + number
    return counts


def _word_of(facet: str, value: float, catalogue: Catalogue) -> str:
    if facet == "context":
        return NONE if np.isnan(value) else str(int(value))
    number = int(value)
    match facet:
        case "workload":
            return catalogue.workloads[number].slug
        case "load":
            return catalogue.workloads[number].loop
        case "machine":
            machine = catalogue.machines.get(number)
            return machine.name if machine else UNKNOWN
        case "evidence":
            return EVIDENCE[number]
        case "verification":
            return VERIFICATION[number]
        case _:
            return PLAUSIBILITY[number]


# ------------------------------------------------------------------------------------------------ words

#: The order of options whose words have one; others are listed by label.
ORDER: dict[str, list[str]] = {
    "evidence": EVIDENCE,
    "verification": VERIFICATION,
    "plausibility": PLAUSIBILITY,
    "strategy": [word.value for word in KernelStrategy],
    "load": [word.value for word in Loop],
    "speculative": [NONE, "on"],
}


def _options(facet: str, counts: Counts, selection: Selection, catalogue: Catalogue) -> list[Option]:
    chosen = chosen_values(facet, selection, catalogue)
    for value in chosen:
        counts.setdefault(value, 0)
    order = {word: at for at, word in enumerate(ORDER.get(facet, ()))}
    labels = {value: option_label(facet, value, catalogue) for value in counts}

    def key(value: str) -> tuple[Any, ...]:
        number = int(value) if facet == "context" and value != NONE else -1
        return value == UNKNOWN, order.get(value, len(order)), number, labels[value].casefold(), value

    return [Option(value, labels[value], counts[value], value in chosen) for value in sorted(counts, key=key)]


def chosen_values(facet: str, selection: Selection, catalogue: Catalogue) -> list[str]:
    """What ``selection`` asks of ``facet``, in the words of the options (aliases and short slugs resolved)."""
    values: tuple[Any, ...] = getattr(selection, facet)
    if facet == "context":
        return [NONE if value is None else str(value) for value in values]
    if facet == "workload":
        found, unclear = catalogue.workload_ids(values)
        return [catalogue.workloads[id_].slug for id_ in found] + list(unclear)
    if facet in ("chip", "model"):
        table = catalogue.chips if facet == "chip" else catalogue.models
        ids = {value: catalogue.id_of(facet, value) for value in values}
        return [table[id_].slug if id_ is not None else value for value, id_ in ids.items()]
    if facet == "vendor":
        names = {chip.vendor.casefold(): chip.vendor for chip in catalogue.chips.values()}
        return [names.get(value, value) for value in values]
    return list(values)


def option_label(facet: str, value: str, catalogue: Catalogue) -> str:
    """The value of a facet as people read it, translated."""
    if facet in ("chip", "model"):
        id_ = catalogue.id_of(facet, value)
        table = catalogue.chips if facet == "chip" else catalogue.models
        if id_ is not None:
            return table[id_].name
    if facet in ORDER and facet != "speculative":
        return _("failed verification") if value == "failed" else label(value)
    if value == UNKNOWN:
        return _("unknown")
    if facet == "speculative":
        return {NONE: _("off"), "on": _("on, any method")}.get(value, value)
    if facet == "context":
        return _("not recorded") if value == NONE else f"{int(value):,}"
    if facet == "workload":
        return workload_label(value, catalogue)
    return value


def workload_label(slug: str, catalogue: Catalogue) -> str:
    """The workload with this slug as people read it."""
    found = next((one for one in catalogue.workloads.values() if one.slug == slug), None)
    return slug if found is None else workload_words(found)


def workload_words(workload: WorkloadView) -> str:
    """A workload as people read it: "1,024 / 1,024, closed loop, random"."""
    lengths = (workload.input_tokens, workload.output_tokens)
    stated = any(n is not None for n in lengths)
    asked = " / ".join(_("any") if n is None else f"{n:,}" for n in lengths) if stated else _("lengths not stated")
    dataset = "" if len(workload.dataset) > 40 and " " not in workload.dataset else workload.dataset
    cached = {None: "", True: _("prefix cache on"), False: _("prefix cache off")}[workload.prefix_cache]
    words = [label(word) for word in (workload.kind, workload.loop) if word != UNKNOWN]
    return _(", ").join(part for part in (asked, *words, dataset, cached) if part and part != UNKNOWN)
