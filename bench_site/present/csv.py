"""A comparison as CSV: the rows and figures of the page, each with what it is built on.

Columns are declared once, below. Headers carry the unit and are the same in every language, as are vocabulary words;
numbers are those of the page in the page's units, unrounded (money to ten digits); unknown is empty. UTF-8 with a byte
order mark and CRLF, which is what spreadsheets read rightly.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import translation

from bench_site.compare import selection as selections
from bench_site.compare.comparison import compare
from bench_site.compare.selection import BookChoice, Selection
from bench_site.compare.shapes import UNKNOWN, Comparison, Row
from bench_site.ingest.answers import answer_problem
from bench_site.metrics import HEADLINE, metric_named
from bench_site.present.numbers import cost
from bench_site.runs.models.words import Plausibility
from runners.contract.problems import FieldError, Problem, problem

Value = str | int | float | Decimal | bool | date | None

#: A spreadsheet takes a text that begins so for a formula. One that already has our quote gets another, so that
#: reading gives back what was written.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_QUOTED = re.compile(r"'+[=+\-@\t\r]")


@dataclass(frozen=True, slots=True)
class Sheet:
    """What all rows of one file share. ``site`` begins the permalinks: "https://bench.example.org"."""

    comparison: Comparison
    site: str = ""

    @property
    def currency(self) -> str:
        """The currency of all money columns."""
        selection: Selection = self.comparison.selection
        return selection.currency


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its unit ("" for text and counts; ``{currency}`` is filled in), and how it is read."""

    name: str
    unit: str
    read: Callable[[Row, Sheet], Value]

    def header(self, sheet: Sheet) -> str:
        """The name with the unit in brackets."""
        return f"{self.name} ({self.unit.format(currency=sheet.currency)})" if self.unit else self.name


def response(request: HttpRequest) -> HttpResponse:
    """``/compare.csv``: the rows of the page with the same parameters. A wrong parameter is a 400 that names it.

    The page can show a sentence and go on without the parameter; a file that silently holds other rows cannot.
    """
    try:
        selection = selections.parse(request.GET)
    except selections.BadSelection as bad:
        return answer_problem(bad_query(bad))
    data = export(compare(selection, chart=False, sources=True), request.build_absolute_uri("/").rstrip("/"))
    headers = {"Content-Disposition": 'attachment; filename="fuseboard-compare.csv"'}
    return HttpResponse(data, content_type="text/csv; charset=utf-8", headers=headers)


def bad_query(bad: selections.BadSelection) -> Problem:
    """The problem document that names every wrong parameter."""
    errors = [
        FieldError(path=one.name, code="bad-query", message=str(one), found=one.found, allowed=one.allowed)
        for one in bad.errors
    ]
    return problem("bad-query", str(bad), errors)


def export(comparison: Comparison, site: str = "") -> bytes:
    """The CSV of ``comparison.rows``, in their order; best of ``compare(selection, chart=False, sources=True)``."""
    sheet = Sheet(comparison, site)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([column.header(sheet) for column in COLUMNS])
    with translation.override("en"):  # whoever downloads it: a file is compared with other files
        for row in comparison.rows:
            writer.writerow([cell(column.read(row, sheet)) for column in COLUMNS])
    return b"\xef\xbb\xbf" + text.getvalue().encode()


def cell(value: Value) -> str:
    """``value`` as the text of a cell: unknown empty, numbers bare and exact, text that looks like a formula quoted."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return f"'{value}" if _FORMULA.match(value) else value
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case Decimal():
            return f"{value:f}"
        case float():
            return repr(value)
        case _:
            return str(value)


def parse_cell(text: str) -> str | None:
    """What ``cell`` wrote, as text: None for unknown, and without the quote that kept a spreadsheet from computing."""
    if not text:
        return None
    return text[1:] if _QUOTED.match(text) else text


def parse(data: bytes) -> list[dict[str, str | None]]:
    """The rows of an exported file by header, as ``parse_cell`` reads them."""
    rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    header = next(rows, [])
    return [dict(zip(header, map(parse_cell, row), strict=True)) for row in rows]


def displayed(value: float | None, scale: float) -> Decimal | None:
    """``value`` x ``scale`` without the noise of binary fractions: 0.0168 s is 16.8 ms."""
    if value is None:
        return None
    return (Decimal(repr(value)) * Decimal(repr(scale))).normalize()


# ------------------------------------------------------------------------------------------------ the columns


def _joined(values: Iterable[Any]) -> str:
    return "; ".join(str(value) for value in values)


def _pools(row: Row, _sheet: Sheet) -> str:
    return _joined(
        f"{pool.role}: {pool.chip or 'unknown'} x{'unknown' if pool.chips is None else pool.chips}"
        for pool in row.configuration.pools
    )


def _metric(name: str, end: str = "value") -> Column:
    metric = metric_named(name)
    return Column(name if end == "value" else f"{name}_{end}", metric.display_unit, _figure(name, end, metric.scale))


def _other_metrics(already: Iterable[str]) -> list[Column]:
    """What is left of the headline metrics: those that are not among ``already``, and every interval."""
    found = [_metric(name) for name in HEADLINE if name not in already]
    return found + [_metric(name, end) for name, interval in HEADLINE.items() if interval for end in ("low", "high")]


def _figure(name: str, end: str, scale: float) -> Callable[[Row, Sheet], Value]:
    return lambda row, _sheet: displayed(getattr(row.figures.get(name, UNKNOWN), end), scale)


def _rates(row: Row, part: Callable[[Any], str]) -> str:
    return _joined(part(rate) for rate in row.cost.rates)


def _permalink(row: Row, sheet: Sheet) -> str:
    chosen, book = sheet.comparison.selection, sheet.comparison.book
    alone = Selection(
        group=(row.group_id,),
        plausibility=(row.plausibility,) if row.plausibility == Plausibility.QUARANTINE else (),
        book=BookChoice(book.tier, book.date) if book else None,
        no_cost=chosen.no_cost,
        currency=chosen.currency,
        utilisation=chosen.utilisation,
    )
    return f"{sheet.site}{reverse('compare')}?{alone.to_query()}"


#: The metrics of the page's table.
TABLE = ("interactivity", "output_tokens_per_s_per_chip", "ttft_p50", "tpot_p50")

#: First what the page's table shows, in its order; then the rest of what is known of a row.
COLUMNS: tuple[Column, ...] = (
    Column("rank", "", lambda row, _: row.rank),
    Column("model", "", lambda row, _: row.configuration.model),
    Column("pools", "", _pools),
    Column("engine", "", lambda row, _: row.configuration.engine),
    Column("strategy", "", lambda row, _: row.configuration.kernel),
    Column("speculative", "", lambda row, _: row.configuration.speculative),
    Column("load", "", lambda row, _: displayed(row.load_value, 1.0)),
    *map(_metric, TABLE),
    Column("cost_per_m_output_tokens", "{currency}/M output tokens", lambda row, _: cost(row.cost.per_m_output)),
    Column("evidence", "", lambda row, _: row.evidence),
    Column("verification", "", lambda row, _: row.verification),
    Column("runs", "", lambda row, _: row.runs),
    Column("plausibility", "", lambda row, _: row.plausibility),
    Column("on_frontier", "", lambda row, _: row.on_frontier),
    Column("load_kind", "", lambda row, _: row.load_kind),
    Column("context", "tokens", lambda row, _: row.context_tokens),
    Column("chips", "", lambda row, _: row.configuration.chips),
    Column("vendor", "", lambda row, _: row.configuration.vendor),
    Column("engine_version", "", lambda row, _: row.engine_version),
    Column("image", "", lambda row, _: row.image),
    Column("precision", "", lambda row, _: row.configuration.precision),
    Column("draft_tokens", "", lambda row, _: row.configuration.draft_tokens),
    Column("acceptance_source", "", lambda row, _: row.configuration.acceptance_source),
    Column("workload", "", lambda row, _: row.workload.slug),
    Column("loop", "", lambda row, _: row.workload.loop),
    Column("dataset", "", lambda row, _: row.workload.dataset),
    Column("input_asked", "tokens", lambda row, _: row.workload.input_tokens),
    Column("output_asked", "tokens", lambda row, _: row.workload.output_tokens),
    *_other_metrics(TABLE),
    Column("interactivity_from", "", lambda row, _: row.interactivity_from and f"tpot_{row.interactivity_from}"),
    Column(
        "cost_per_m_output_tokens_low", "{currency}/M output tokens", lambda row, _: cost(row.cost.per_m_output_low)
    ),
    Column(
        "cost_per_m_output_tokens_high", "{currency}/M output tokens", lambda row, _: cost(row.cost.per_m_output_high)
    ),
    Column("cost_per_m_total_tokens", "{currency}/M tokens", lambda row, _: cost(row.cost.per_m_total)),
    Column("cost_per_hour", "{currency}/h", lambda row, _: cost(row.cost.per_hour)),
    Column("cost_missing", "", lambda row, _: row.cost.missing),
    Column("price_book", "", lambda _, sheet: sheet.comparison.book.slug if sheet.comparison.book else ""),
    Column("exchange_rate", "", lambda row, _: _rates(row, lambda r: f"1 {r.base} = {r.rate.normalize():f} {r.quote}")),
    Column("exchange_rate_date", "", lambda row, _: _rates(row, lambda r: r.date.isoformat())),
    Column("utilisation", "share", lambda _, sheet: sheet.comparison.utilisation),
    Column("origin", "", lambda row, _: row.origin),
    Column("runs_left_out", "", lambda row, _: row.runs_left_out),
    Column("first_run_at", "UTC", lambda row, _: row.first_run_at),
    Column("last_run_at", "UTC", lambda row, _: row.last_run_at),
    Column("experiment", "", lambda row, _: _joined(row.experiments)),
    Column("revision", "", lambda row, _: _joined(row.revisions)),
    Column("source_runs", "", lambda row, _: _joined(row.run_ids)),
    Column("series", "", lambda row, _: row.series_id),
    Column("group", "", lambda row, _: row.group_id),
    Column("permalink", "", _permalink),
)
