"""A comparison in words: what was filtered, what was left out and why."""

from collections.abc import Callable

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from bench_site.compare.catalogue import Catalogue
from bench_site.compare.facets import chosen_values, option_label
from bench_site.compare.facts import FACETS
from bench_site.compare.selection import Selection


def facet_title(facet: str) -> str:
    """The name of a filter, translated."""
    return {
        "model": _("Model"),
        "workload": _("Workload"),
        "precision": _("Precision"),
        "chip": _("Chip"),
        "vendor": _("Vendor"),
        "engine": _("Engine"),
        "strategy": _("Kernel strategy"),
        "speculative": _("Speculative decoding"),
        "evidence": _("Evidence"),
        "verification": _("Verification"),
        "plausibility": _("Plausibility"),
        "load": _("Load"),
        "machine": _("Machine"),
        "context": _("Context, tokens"),
    }[facet]


def filter_words(selection: Selection, catalogue: Catalogue) -> list[str]:
    """One phrase a filter that is set: "Chip: H200 or MI355X"."""
    words = []
    for facet in FACETS:
        if chosen := chosen_values(facet, selection, catalogue):
            labels = [option_label(facet, value, catalogue) for value in chosen]
            words.append(_("%(filter)s: %(values)s") % {"filter": facet_title(facet), "values": _(" or ").join(labels)})
    if selection.tag:
        words.append(_("tagged %s") % _(" or ").join(selection.tag))
    if selection.run:
        words.append(ngettext("%d chosen run", "%d chosen runs", len(selection.run)) % len(selection.run))
    named = len(selection.series) + len(selection.group)
    if named:
        words.append(ngettext("%d chosen series or group", "%d chosen series or groups", named) % named)
    if selection.per is not None:
        words.append(_("at least %g tokens/s per user") % selection.per)
    if selection.ttft is not None:
        words.append(_("first token within %g s") % selection.ttft)
    return words


def left_out_words(left_out: dict[str, int]) -> list[str]:
    """One phrase a reason, in the order of ``left_out``."""
    return [LEFT_OUT[reason](count) for reason, count in left_out.items() if count]


#: A phrase a reason, made in the reader's language.
LEFT_OUT: dict[str, Callable[[int], str]] = {
    "quarantined": lambda n: ngettext(
        "%d group is quarantined and not shown", "%d groups are quarantined and not shown", n) % n,
    "failed": lambda n: ngettext(
        "%d group failed verification: it has no number", "%d groups failed verification: they have no numbers", n) % n,
    "retracted": lambda n: ngettext(
        "%d group has no run left that counts", "%d groups have no run left that counts", n) % n,
    "not_ranked": lambda n: ngettext(
        "%d group is claimed, simulated or mock: shown, but in no ranking and no frontier",
        "%d groups are claimed, simulated or mock: shown, but in no ranking and no frontier", n) % n,
    "slower": lambda n: ngettext(
        "%d group is slower for one user, or its speed is unknown",
        "%d groups are slower for one user, or their speed is unknown", n) % n,
    "later": lambda n: ngettext(
        "%d group gives its first token later, or it is unknown when",
        "%d groups give their first token later, or it is unknown when", n) % n,
    "no_x": lambda n: ngettext(
        "%d group is in the table only: it has no value for the chart's x axis",
        "%d groups are in the table only: they have no value for the chart's x axis", n) % n,
    "no_y": lambda n: ngettext(
        "%d group is in the table only: it has no value for the chart's y axis",
        "%d groups are in the table only: they have no value for the chart's y axis", n) % n,
}  # fmt: skip
