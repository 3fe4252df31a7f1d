"""What is not the same in all rows of a comparison: the facts that a reader must know before believing a difference."""

from collections.abc import Callable, Iterable

from django.utils.translation import gettext as _

from bench_site.compare.curves import machine_label, speculative_label
from bench_site.compare.shapes import Row
from bench_site.runs.models.words import label

FACTS: dict[str, Callable[[Row], str]] = {
    "model": lambda row: row.configuration.model,
    "machine": lambda row: machine_label(row.configuration),
    "engine": lambda row: row.configuration.engine,
    "engine_version": lambda row: row.engine_version,
    "image": lambda row: row.image,
    "precision": lambda row: row.configuration.precision,
    "strategy": lambda row: label(row.configuration.kernel),
    "speculative": lambda row: speculative_label(row.configuration),
    "workload": lambda row: row.workload.slug,
    "load": lambda row: row.workload.loop,
    "context": lambda row: "" if row.context_tokens is None else str(row.context_tokens),
    "evidence": lambda row: label(row.evidence),
    "verification": lambda row: label(row.verification),
    "origin": lambda row: row.origin.removeprefix("machine:"),
}


def what_differs(rows: Iterable[Row], besides: Iterable[str] = ()) -> dict[str, tuple[str, ...]]:
    """The facts with more than one value in ``rows``, each with its values sorted ("unknown" where not recorded).

    ``besides`` are facts that are meant to differ, such as the axis of the comparison.
    """
    chosen, skipped = list(rows), frozenset(besides)
    found = {}
    for name, read in FACTS.items():
        if name not in skipped and len(values := {read(row) for row in chosen}) > 1:
            found[name] = tuple(sorted(value or _("unknown") for value in values))
    return found
