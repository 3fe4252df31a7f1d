"""What the compare page says around its chart and table: headlines, the price line, empty states, addresses."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from bench_site.compare.books import tier_words
from bench_site.compare.curves import pools_words
from bench_site.compare.overview import NewestRun, Overview
from bench_site.compare.selection import COST, DEFAULT_ROWS, MAX_ROWS, BadSelection, BookChoice, Selection
from bench_site.compare.shapes import Comparison
from bench_site.compare.words import left_out_words
from bench_site.metrics import Direction, metric_named
from bench_site.present import figure, filters, table
from bench_site.present.looks import UNKNOWN as UNKNOWN_VENDOR
from bench_site.present.looks import VENDORS, kernel_word, vendor_token
from bench_site.present.metric_words import shown_metric
from bench_site.present.numbers import number
from bench_site.runs.models.words import label
from runners.contract.vocabulary import Evidence, KernelStrategy


@dataclass(frozen=True, slots=True)
class Empty:
    """What an empty result teaches: why, and the next command."""

    title: str
    why: str
    command: str = ""
    url: str = ""
    url_words: str = ""


#: What puts a first result of one's own here.
PUSH = "fuseboard push results.json --chip h200 --chips 8 --model my-model"


def fitting_workload(comparison: Comparison) -> str:
    """Where a model has nothing in the chosen workload: the workload that has most under the other filters, else ""."""
    selection: Selection = comparison.selection
    if comparison.total_rows or not (selection.model and selection.workload):
        return ""
    best = max(comparison.options.get("workload", []), key=lambda option: option.count, default=None)
    return best.value if best and best.count else ""


def compare_page(
    comparison: Comparison, overview: Overview, problems: BadSelection | None = None, site: str = ""
) -> dict[str, Any]:
    """The template context of ``comparison``; ``problems`` are the wrong parameters of its URL."""
    if comparison.book and comparison.selection.book is None:
        # Every address that the page gives names its book: a newer one must not change what was shared.
        chosen = BookChoice(comparison.book.tier, comparison.book.date)
        comparison.selection = comparison.selection.replace(book=chosen, page=comparison.selection.page)
    selection: Selection = comparison.selection
    query = selection.to_query()
    heads = table.heads(comparison)
    rows = table.Rows(comparison, [head.title for head in heads])
    context: dict[str, Any] = {
        "comparison": comparison,
        "problems": [str(error) for error in problems.errors] if problems else [],
        "form": filters.form(comparison, overview),
        "headline": filters.headline(comparison),
        "words": comparison.words[1:] if selection.model else comparison.words,  # the headline says the model
        "newest": _newest(overview.newest, selection),
        "push": PUSH if overview.claims_only else "",
        "permalink": f"{reverse('compare')}?{query}",
        "csv_url": f"{reverse('compare-csv')}?{query}",
        "notes": comparison.notes,
    }
    if problems:
        return context | {"empty": _not_understood(selection), "notes": []}
    context["counted"] = _counted(comparison)
    if not comparison.rows:
        return context | {"empty": _empty(comparison, site)}
    drawn = figure.figure(comparison)
    return context | {
        "lines": [rows.markup(row) for row in comparison.rows],
        "figure": drawn,
        "plain": drawn["layout"]["meta"]["plain"],
        "chart_title": _("%(y)s against %(x)s") % _axes(selection),
        "png_note": " · ".join([*comparison.words, _price_line(comparison)]),
        "vendors": _vendors(comparison),
        "strategies": _strategies(comparison),
        "differs": _differs(comparison),
        "differs_words": _("Rows also differ in:")
        if len(comparison.rows) == comparison.total_rows
        else _("The rows shown also differ in:"),
        "left_out": left_out_words(comparison.left_out),
        "price_line": _price_line(comparison),
        "table_title": _table_title(comparison),
        "heads": heads,
        **_more(comparison),
    }


def _counted(comparison: Comparison) -> str:
    groups = ngettext("%(n)s group", "%(n)s groups", comparison.total_rows) % {"n": f"{comparison.total_rows:,}"}
    words = {"groups": groups, "runs": _replicates(*comparison.runs)}
    return _("%(groups)s, %(runs)s") % words if comparison.total_rows else ""


def _replicates(least: int, most: int) -> str:
    """Replicates a group, never their sum: a run of seven loads is in seven groups and still one run."""
    if least < most:
        return _("%(least)s to %(most)s runs each") % {"least": f"{least:,}", "most": f"{most:,}"}
    return ngettext("%(n)s run each", "%(n)s runs each", most) % {"n": f"{most:,}"}


def _differs(comparison: Comparison) -> list[str]:
    """What is not the same in all rows and has no column in the table: it must be known before a row is believed."""
    titles = {
        "model": _("Model"), "workload": _("Workload"), "load": _("Load loop"), "precision": _("Precision"),
        "image": _("Image"), "origin": _("Origin"),
    }  # fmt: skip
    found = []
    for name, title in titles.items():
        values = comparison.differs.get(name, ())
        if values:
            long = len(values) > 3 or sum(map(len, values)) > 110
            between = _("; ") if any(_(", ") in value for value in values) else _(", ")
            found.append((title, _("%(n)d different") % {"n": len(values)} if long else between.join(values)))
    return [_("%(title)s (%(values)s)") % {"title": title, "values": values} for title, values in found]


def _table_title(comparison: Comparison) -> str:
    """What the order follows, and which end comes first; where nothing is ranked, so in words."""
    sort = comparison.selection.sort
    by = sort.removeprefix("-") or comparison.ranked_by
    if not by:
        claims = not any(row.evidence in (Evidence.MEASURED, Evidence.PUBLISHED) for row in comparison.rows)
        if claims:
            return _("Public claims (not ranked)")
        return _("Not ranked: loads of different kinds") if "load" in comparison.differs else _("Not ranked")
    highest = sort.startswith("-") if sort else metric_named(by).direction is Direction.HIGHER
    metric = _("cost per M output tokens") if by == COST else _lower_first(shown_metric(by).title)
    if sort:
        words = _("Sorted by %(metric)s, highest first") if highest else _("Sorted by %(metric)s, lowest first")
    else:
        words = _("Ranked by %(metric)s, highest first") if highest else _("Ranked by %(metric)s, lowest first")
    return words % {"metric": metric}


def _axes(selection: Selection) -> dict[str, str]:
    """The axes as a title says them: without units, which are at the axes."""
    throughput = _("Output throughput per chip") if selection.y == table.PER_CHIP else shown_metric(selection.y).title
    return {"y": throughput, "x": _lower_first(shown_metric(selection.x).title)}


def _lower_first(title: str) -> str:
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def _newest(run: NewestRun | None, selection: Selection) -> dict[str, Any] | None:
    """The run that arrived last, with the way to what it is compared with: one pushes, and looks here."""
    if run is None:
        return None
    words = {"model": run.model or _("unknown model"), "machine": pools_words(run.pools) or _("an unknown machine")}
    there = Selection(
        model=(run.model_slug,), workload=(run.workload,), book=selection.book, no_cost=selection.no_cost,
        currency=selection.currency, rows=DEFAULT_ROWS,
    )  # fmt: skip
    url = f"{reverse('compare')}?{there.to_query()}" if run.workload else reverse("run", args=[run.id])
    return {"words": _("%(model)s on %(machine)s") % words, "url": url, "at": run.received_at}


def _more(comparison: Comparison) -> dict[str, str]:
    """The words and addresses of a table that has more rows than the page shows."""
    shown, total = len(comparison.rows), comparison.total_rows
    if shown >= total:
        return {}
    words = _("%(shown)s of %(total)s rows") % {"shown": f"{shown:,}", "total": f"{total:,}"}
    selection: Selection = comparison.selection
    pages = {
        "before_url": selection.to_query(page=comparison.page - 1) if comparison.page > 1 else "",
        "after_url": selection.to_query(page=comparison.page + 1) if comparison.page < comparison.pages else "",
    }
    return {"more_words": words, "all_url": "?" + selection.to_query(rows=min(total, MAX_ROWS))} | {
        name: f"?{query}" for name, query in pages.items() if query
    }


def _vendors(comparison: Comparison) -> list[tuple[str, str]]:
    """(colour, name) of the vendors on the chart, in the order of the palette."""
    found = {
        vendor_token(pool.vendor): pool.vendor or _("unknown or mixed")
        for curve in comparison.curves
        for row in curve.rows[:1]
        for pool in row.configuration.pools
    }
    if any(not curve.vendor for curve in comparison.curves):
        found[UNKNOWN_VENDOR] = _("unknown or mixed")
    return [(token, found[token]) for token in (*VENDORS, UNKNOWN_VENDOR) if token in found]


def _strategies(comparison: Comparison) -> list[tuple[str, str]]:
    """(shape, name) of the kernel strategies on the chart, most boundaries first."""
    found = {kernel_word(curve.kernel) for curve in comparison.curves}
    return [(kernel.value, label(kernel)) for kernel in KernelStrategy if kernel.value in found]


def _price_line(comparison: Comparison) -> str:
    """The book, its date, the share of time that is used, the exchange rate and its date: what a cost is built on."""
    if comparison.book is None:
        return _("No price book: costs are unknown.")
    book = {"tier": tier_words(comparison.book.tier), "date": comparison.book.date.isoformat()}
    parts = [_("Prices: %(tier)s, %(date)s") % book]
    parts.append(_("utilisation %(share)s %%") % {"share": number(comparison.utilisation * 100)})
    for rate in comparison.rates:
        words = {"base": rate.base, "rate": f"{rate.rate.normalize():f}", "quote": rate.quote, "date": rate.date}
        parts.append(_("1 %(base)s = %(rate)s %(quote)s of %(date)s") % words)
    parts.append(_("all cost on output tokens"))
    return _(", ").join(parts)


def _not_understood(rest: Selection) -> Empty:
    """No rows for an address that asks for something else: unfiltered ones would be taken for what was asked."""
    return Empty(
        _("This address asks for something that is not understood"),
        _("No results are shown, so that none is taken for what was meant."),
        url=f"{reverse('compare')}?{rest.to_query()}",
        url_words=_("Show the rest without it"),
    )


def _empty(comparison: Comparison, site: str) -> Empty:
    selection: Selection = comparison.selection
    if selection.model and selection.replace(model=(), rows=None, book=None, currency="USD") != Selection():
        alone = Selection(model=selection.model, book=selection.book, currency=selection.currency, rows=selection.rows)
        return Empty(
            _("Nothing matches these filters"),
            _("Take one away; the counts behind the options say what each would show."),
            url=f"{reverse('compare')}?{alone.to_query()}",
            url_words=_("Everything of this model"),
        )
    if comparison.words or any(comparison.left_out.values()):
        return Empty(
            _("Nothing matches these filters"),
            _("Take one away; the counts behind the options say what each would show."),
        )
    address = site or "http://127.0.0.1:8000"
    return Empty(
        _("No results yet"),
        _("Push a result file of a benchmark tool from the machine that made it; this page shows it at once."),
        f"fuseboard login {address}\n{PUSH}",
    )


def site_address(scheme: str, host: str) -> str:
    """The address that people type, for commands to copy."""
    return f"{'https' if settings.FUSEBOARD_HTTPS else scheme}://{host}"
