"""What is not the same in all rows of a comparison: the facts that a reader must know before believing a difference."""

from collections.abc import Callable, Iterable

from django.utils.translation import gettext as _

from bench_site.compare.curves import machine_label, origin_words, speculative_label
from bench_site.compare.facets import workload_words
from bench_site.compare.shapes import Row
from bench_site.runs.models.words import label

Fact = str | None
#: How a fact is read, and how its values are written for people.
FACTS: dict[str, tuple[Callable[[Row], Fact], Callable[[str], str]]] = {
    "model": (lambda row: row.configuration.model, str),
    "machine": (lambda row: machine_label(row.configuration), str),
    "engine": (lambda row: row.configuration.engine, str),
    "engine_version": (lambda row: row.engine_version, str),
    "image": (lambda row: row.image, str),
    "precision": (lambda row: row.configuration.precision, str),
    "strategy": (lambda row: row.configuration.kernel, label),
    "speculative": (lambda row: speculative_label(row.configuration), str),
    "workload": (lambda row: row.workload.slug, str),  # written with its words below
    "load": (lambda row: row.workload.loop, label),
    "context": (lambda row: None if row.context_tokens is None else str(row.context_tokens), str),
    "evidence": (lambda row: row.evidence, label),
    "verification": (lambda row: row.verification, label),
    "origin": (lambda row: row.origin, origin_words),
}


def what_differs(rows: Iterable[Row], besides: Iterable[str] = ()) -> dict[str, tuple[str, ...]]:
    """The facts with more than one value in ``rows``, each with its values sorted ("unknown" where not recorded).

    ``besides`` are facts that are meant to differ, such as the axis of the comparison.
    """
    chosen, skipped = list(rows), frozenset(besides)
    found = {}
    for name, (read, write) in FACTS.items():
        if name not in skipped and len(values := set(map(read, chosen))) > 1:
            if name == "workload":
                write = {row.workload.slug: workload_words(row.workload) for row in chosen}.__getitem__
            found[name] = tuple(sorted(write(value) if value else _("unknown") for value in values))
    return found
