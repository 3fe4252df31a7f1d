"""A selection becomes a comparison: the one verb behind the page, its chart, the CSV, the API and the command line.

Two phases. First, of every group that could matter, a few numbers as columns: they decide who is shown, who wins, what
is counted. Then everything about the groups that are really shown. The number of queries is the same for any selection.
"""

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from bench_site.compare import curves, facets, ranking
from bench_site.compare.books import Books, load_books
from bench_site.compare.catalogue import Catalogue, load_catalogue
from bench_site.compare.configurations import load_configurations
from bench_site.compare.differs import what_differs
from bench_site.compare.facts import load_facts
from bench_site.compare.rows import load_rows
from bench_site.compare.selection import UNKNOWN, Selection
from bench_site.compare.shapes import Comparison, Curve
from bench_site.compare.sources import attach_sources
from bench_site.compare.words import filter_words
from bench_site.runs.models.words import label


def compare(selection: Selection, *, chart: bool = True, sources: bool = False) -> Comparison:
    """Everything that is shown for ``selection``.

    Without ``chart`` there are no curves; with ``sources`` the rows know their runs: both for a CSV.
    """
    catalogue = load_catalogue()
    books = load_books(selection, catalogue)
    facts = load_facts(selection, catalogue, ranking.needed_metrics(selection))
    configurations = load_configurations(np.unique(facts["configuration"]).astype(int).tolist(), catalogue)
    standing = ranking.stand(facts, selection, catalogue, configurations, books)

    ordered = ranking.in_order(facts, standing, selection)
    size = selection.rows or max(len(ordered), 1)
    pages = max(1, -(-len(ordered) // size))
    listed = ordered[(selection.page - 1) * size :][:size]
    best = ranking.on_frontier(facts, standing, selection)
    drawn = curves.to_draw(facts, standing, selection, best) if chart else np.empty(0, np.intp)

    groups = facts["group"].astype(int)
    chosen = np.unique(np.concatenate([listed, drawn, np.array(best, dtype=np.intp)])).tolist()
    stored = load_rows([int(groups[place]) for place in chosen], configurations, catalogue.workloads, books.cost)
    # A group can vanish between the two phases, when its last run is deleted or amended: then it is not shown.
    found = {place: row for place in chosen if (row := stored.get(int(groups[place])))}
    for place, row in found.items():
        row.rank = None if np.isnan(standing.rank[place]) else int(standing.rank[place])
    frontier = [found[place] for place in best if place in found]
    for row in frontier:
        row.on_frontier = True
    rows = [found[place] for place in listed.tolist() if place in found]
    if sources:
        attach_sources(rows)
    replicates = facts["runs"][standing.table]
    lines = curves.curves_of(found[place] for place in drawn.tolist() if place in found)
    return Comparison(
        selection=selection,
        rows=rows,
        total_rows=len(ordered),
        curves=lines,
        frontier=frontier,
        options=facets.options(facts, standing.within, selection, catalogue, configurations),
        words=filter_words(selection, catalogue),
        left_out={reason: count for reason, count in standing.left_out.items() if count},
        book=books.chosen,
        books=books.books,
        utilisation=selection.utilisation,
        runs=(int(np.min(replicates)), int(np.max(replicates))) if len(replicates) else (0, 0),
        ranked_by=standing.ranked_by,
        rates=list(dict.fromkeys(rate for row in rows for rate in row.cost.rates)),
        differs=what_differs(rows),
        page=selection.page,
        pages=pages,
        notes=[
            *_about_names(selection, catalogue),
            *_about_rules(selection, standing, books),
            *_about_chart(lines, int(standing.chart.sum()), len(drawn), chart),
        ],
    )


def _about_names(selection: Selection, catalogue: Catalogue) -> list[str]:
    """Names in the URL that stand for nothing here."""
    notes = []
    for kind, values in (("chip", selection.chip), ("model", selection.model), ("machine", selection.machine)):
        for value in values:
            if value != UNKNOWN and catalogue.id_of(kind, value) is None:
                notes.append(_("Nothing here is called “%(name)s” (%(kind)s).") % {"name": value, "kind": _(kind)})
    for value, near in catalogue.workload_ids(selection.workload)[1].items():
        if near:
            notes.append(_("Several workloads begin with “%s”: ") % value + ", ".join(near[:5]))
        else:
            notes.append(_("No workload here is called “%s”.") % value)
    return notes


def _about_rules(selection: Selection, standing: ranking.Standing, books: Books) -> list[str]:
    notes = []
    if len(standing.loops) > 1:
        loops = ", ".join(label(one) for one in standing.loops)
        notes.append(
            _("Loads of different kinds (%s) are never ranked against each other; choose one to see a ranking.") % loops
        )
    if selection.run or selection.tag:
        notes.append(_("Figures are those of the replicate groups that the chosen runs belong to."))
    if books.chosen and books.prices is not None and not books.prices.prices:
        notes.append(_("No price is entered for the tier “%s”.") % books.chosen.tier)
    return notes


def _about_chart(lines: list[Curve], points: int, drawn: int, chart: bool) -> list[str]:
    notes = []
    if chart and drawn < points:
        notes.append(
            _("The chart draws %(drawn)d of %(points)d points: the frontier, and the curves nearest to it.")
            % {"drawn": drawn, "points": points}
        )
    if long := sum(1 for line in lines if line.spans_days):
        notes.append(
            ngettext(
                "The runs of %d curve span more than 7 days.", "The runs of %d curves span more than 7 days.", long
            )
            % long
        )
    return notes
