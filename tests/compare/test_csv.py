"""The CSV holds the rows and figures of the page, what they are built on, and nothing that a spreadsheet would run."""

import csv
import io
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from bench_site.compare.comparison import compare
from bench_site.compare.selection import Selection, parse
from bench_site.metrics import HEADLINE, metric_named
from bench_site.present.csv import COLUMNS, cell, displayed, export, parse_cell
from bench_site.present.csv import parse as read
from bench_site.present.numbers import cost as ten_digits
from bench_site.present.numbers import money
from tests.compare import factory as made


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
def test_text_comes_back_and_no_cell_is_a_formula(text: str) -> None:
    written = cell(text)
    assert parse_cell(written) == text
    assert written[0] not in "=+-@\t\r"
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow([written, "x"])
    assert next(csv.reader(io.StringIO(buffer.getvalue(), newline=""))) == [written, "x"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_bare_and_exact(value: float) -> None:
    assert float(cell(value)) == value and not cell(value).startswith("'")
    assert float(cell(displayed(value, 1.0))) == value


def test_values_as_cells() -> None:
    assert [cell(v) for v in (None, "", True, 7, Decimal("8E+2"), -0.5)] == ["", "", "true", "7", "800", "-0.5"]
    assert cell(displayed(0.0168, 1000.0)) == "16.8" and displayed(None, 1000.0) is None
    assert cell("=1+1") == "'=1+1" and cell("'=1") == "''=1" and cell("it's") == "it's" and parse_cell("") is None


@pytest.mark.django_db
def test_the_rows_and_figures_of_the_page() -> None:
    made.price("h200", "1.6")
    made.rate("6.78")
    ids = made.store(
        made.report(engine="=cmd|' /C calc'!A0", loads=[(1, 0.0168, 90.0), (8, 0.02, 600.0)]),
        made.report(chip="ascend910c", tpot=None, verification="not_run"),
    )
    query = {"currency": "CNY", "utilisation": "0.5", "sort": "-output_tokens_per_s"}
    page, file = compare(parse(query)), compare(parse(query), chart=False, sources=True)
    data = export(file, "https://bench.example.org")
    assert data.startswith(b"\xef\xbb\xbf") and data.count(b"\r\n") == 4 and data.count(b"\n") == 4
    rows = read(data)
    assert len(rows) == len(page.rows) == 3
    for line, row in zip(rows, page.rows, strict=True):
        for name in HEADLINE:
            metric, shown = metric_named(name), row.figures[name].value
            written = line[f"{name} ({metric.display_unit})"]
            assert (written is None) == (shown is None)
            if written is not None and shown is not None:
                assert float(written) == pytest.approx(shown * metric.scale, rel=1e-15)
        cost = line["cost_per_m_output_tokens (CNY/M output tokens)"]
        assert (Decimal(cost) if cost else None) == ten_digits(row.cost.per_m_output)
        assert line["rank"] == (str(row.rank) if row.rank else None)
        assert line["permalink"] == (
            "https://bench.example.org/compare/?"
            f"book=rental@2026-04-03&currency=CNY&group={row.group_id}&utilisation=0.5"
        )
    unpriced, priced = rows[0], rows[1]
    assert unpriced["cost_missing"] and "Ascend 910C" in unpriced["cost_missing"]
    assert unpriced["interactivity (tokens/s/user)"] is None and unpriced["verification"] == "not_run"
    assert priced["engine"] == "=cmd|' /c calc'!a0" and b"'=cmd" in data
    assert priced["source_runs"] == str(ids[0]) and priced["revision"] == "1" and priced["runs"] == "1"
    assert priced["price_book"] == "rental@2026-04-03" and priced["utilisation (share)"] == "0.5"
    assert unpriced["exchange_rate"] is None
    assert (priced["exchange_rate"], priced["exchange_rate_date"]) == ("1 USD = 6.78 CNY", "2026-06-22")
    assert (priced["evidence"], priced["plausibility"], priced["origin"]) == ("measured", "accept", "machine:node-1")
    assert priced["tpot_p50 (ms)"] == "20"


@pytest.mark.django_db
def test_money_has_ten_digits_and_the_page_rounds_the_same() -> None:
    made.price("h200", "1.6")
    made.store(made.report(loads=[(1, 0.0168, 777.1)]))
    compared = compare(Selection(), chart=False)
    (line,) = read(export(compared))
    exact = compared.rows[0].cost.per_m_output
    assert exact is not None and len(str(exact)) > 20
    assert line["cost_per_m_output_tokens (USD/M output tokens)"] == "4.575415719"
    assert line["cost_per_hour (USD/h)"] == "12.8" and money(exact, "USD") == "$4.58"
    assert money(Decimal("2.50499999999999"), "USD") == money(ten_digits(Decimal("2.50499999999999")), "USD")
    assert ten_digits(Decimal("1234567890123")) == Decimal("1234567890000") and ten_digits(None) is None


@pytest.mark.django_db
def test_rows_and_page_limit_it_and_the_language_changes_nothing() -> None:
    made.store(*[made.report(load=load) for load in (1, 2, 4)], made.report(chip="ascend910c"))
    assert len(read(export(compare(Selection(rows=2, page=2))))) == 2
    english = export(compare(Selection(rows=2)))
    with translation.override("zh-hans"):
        assert export(compare(Selection(rows=2))) == english
    assert len(read(export(compare(Selection(chip=("tpuv7",)))))) == 0
    names = [column.name for column in COLUMNS]
    assert len(set(names)) == len(names)


@pytest.mark.django_db
def test_over_http(client: Client) -> None:
    made.store(made.report(), made.report(load=2))
    answer = client.get("/compare.csv", {"rows": "1"})
    assert answer.status_code == 200 and answer["Content-Type"] == "text/csv; charset=utf-8"
    (row,) = read(answer.content)
    assert str(row["permalink"]).startswith("http://testserver/compare/?group=")
    assert len(read(client.get("/compare.csv").content)) == 2
    refused = client.get("/compare.csv", {"strategy": "mega", "utilisation": "2"})
    assert refused.status_code == 400 and refused["Content-Type"] == "application/problem+json"
    assert refused.json()["code"] == "bad-query"
    assert [error["path"] for error in refused.json()["errors"]] == ["strategy", "utilisation"]
