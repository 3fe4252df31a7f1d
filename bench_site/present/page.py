"""What the compare page says around its chart and table: headlines, the price line, empty states, addresses."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from bench_site.compare.selection import MAX_ROWS, BadSelection, Selection
from bench_site.compare.shapes import Comparison
from bench_site.compare.words import left_out_words
from bench_site.present import figure, filters, table
from bench_site.present.looks import UNKNOWN as UNKNOWN_VENDOR
from bench_site.present.looks import VENDORS, kernel_word, vendor_token
from bench_site.present.metric_words import shown_metric
from bench_site.present.numbers import number
from bench_site.runs.models.words import label
from runners.contract.vocabulary import KernelStrategy


@dataclass(frozen=True, slots=True)
class Empty:
    """What an empty result teaches: why, and the next command."""

    title: str
    why: str
    command: str = ""


def compare_page(comparison: Comparison, problems: BadSelection | None = None, site: str = "") -> dict[str, Any]:
    """The template context of ``comparison``; ``problems`` are the wrong parameters of its URL."""
    selection: Selection = comparison.selection
    query = selection.to_query()
    heads = table.heads(comparison)
    rows = table.Rows(comparison, [head.title for head in heads])
    context: dict[str, Any] = {
        "comparison": comparison,
        "problems": [str(error) for error in problems.errors] if problems else [],
        "form": filters.form(comparison),
        "headline": filters.headline(comparison),
        "counted": _counted(comparison),
        "lines": [rows.markup(row) for row in comparison.rows],
        "permalink": f"{reverse('compare')}?{query}",
        "csv_url": f"{reverse('compare-csv')}?{query}",
        "notes": comparison.notes,
    }
    if not comparison.rows:
        return context | {"empty": _empty(comparison, site)}
    drawn = figure.figure(comparison)
    x, y = shown_metric(selection.x), shown_metric(selection.y)
    return context | {
        "figure": drawn,
        "plain": drawn["layout"]["meta"]["plain"],
        "chart_title": _("%(y)s against %(x)s") % {"y": y.title, "x": x.title},
        "png_note": " · ".join([*comparison.words, _price_line(comparison)]),
        "vendors": _vendors(comparison),
        "strategies": _strategies(comparison),
        "differs": _differs(comparison),
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


def _differs(comparison: Comparison) -> list[tuple[str, str]]:
    """What is not the same in all rows and has no column in the table: it must be known before a row is believed."""
    titles = {
        "model": _("Model"), "workload": _("Workload"), "load": _("Load loop"), "precision": _("Precision"),
        "image": _("Image"), "origin": _("Origin"),
    }  # fmt: skip
    found = []
    for name, title in titles.items():
        values = comparison.differs.get(name, ())
        if values:
            long = len(values) > 3 or sum(map(len, values)) > 60
            found.append((title, _("%(n)d different") % {"n": len(values)} if long else ", ".join(values)))
    return found


def _table_title(comparison: Comparison) -> str:
    """What the ranking follows: cost, or the chart's y axis where no cost is known."""
    if comparison.selection.sort or not comparison.ranked_by:
        return _("Results")
    return _("Ranked: %(metric)s") % {"metric": shown_metric(comparison.ranked_by).title}


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
    parts = [_("Prices: %(tier)s, %(date)s") % {"tier": comparison.book.tier, "date": comparison.book.date.isoformat()}]
    parts.append(_("utilisation %(share)s %%") % {"share": number(comparison.utilisation * 100)})
    for rate in comparison.rates:
        words = {"base": rate.base, "rate": f"{rate.rate.normalize():f}", "quote": rate.quote, "date": rate.date}
        parts.append(_("1 %(base)s = %(rate)s %(quote)s of %(date)s") % words)
    parts.append(_("all cost on output tokens"))
    return _(", ").join(parts)


def _empty(comparison: Comparison, site: str) -> Empty:
    if comparison.words or any(comparison.left_out.values()):
        return Empty(
            _("Nothing matches these filters"),
            _("Take one away; the counts behind the options say what each would show."),
        )
    address = site or "http://127.0.0.1:8000"
    return Empty(
        _("No results yet"),
        _("Push a result file of a benchmark tool from the machine that made it; this page shows it at once."),
        f"fuseboard login {address}\nfuseboard push results.json --chip h200 --chips 8 --model my-model",
    )


def site_address(scheme: str, host: str) -> str:
    """The address that people type, for commands to copy."""
    return f"{'https' if settings.FUSEBOARD_HTTPS else scheme}://{host}"
