"""A CSV file of prices or facts that is wrong says where, and nothing of it is stored."""

from datetime import date
from decimal import Decimal

import pytest

from bench_site.runs.catalogue.sheet import SheetError
from bench_site.runs.catalogue.sheets import read
from bench_site.runs.models import Chip, Price
from bench_site.runs.prices import import_prices

HEADER = "chip,tier,currency,amount_per_chip_hour,valid_from,source,note\n"


def errors_of(text: str) -> list[str]:
    with pytest.raises(SheetError) as caught:
        read("prices", text, name="mine.csv")
    return caught.value.errors


def test_every_wrong_cell_is_named_with_line_and_column() -> None:
    found = errors_of(
        HEADER + 'H200,rental,usd,2.05,2026-09-01,a list,\nH200,rental,USD,"2,05",1.9.2026,a list,\nH200,,USD,0,,x,\n'
    )
    assert found == [
        "mine.csv line 2, column currency: 'usd' is not a currency code such as USD or CNY",
        "mine.csv line 3, column amount_per_chip_hour: '2,05' is not a decimal number such as 2.05",
        "mine.csv line 3, column valid_from: '1.9.2026' is not a date such as 2026-09-01",
        "mine.csv line 4, column tier: must not be empty",
        "mine.csv line 4, column amount_per_chip_hour: '0' must be above 0; "
        "leave the cell empty where the value is unknown",
        "mine.csv line 4, column valid_from: must not be empty",
    ]


def test_a_wrong_header_names_the_columns() -> None:
    found = errors_of("chip,tier,currency,price,valid_from,source,note\n")
    assert found[0] == "mine.csv line 1: the column amount_per_chip_hour is missing"
    assert found[1].startswith("mine.csv line 1, column price: unknown; allowed are chip, tier")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (HEADER + "H200,rental\n", "line 2: has 2 cells, the first line has 7"),
        (HEADER + '"H200,rental,USD,1,2026-09-01,x,\n', "line 2: unexpected end of data"),
        (HEADER + 'H200,rental,USD,1,2026-09-01,"two\nlines",\nH200,x\n', "line 4: has 2 cells"),
    ],
)
def test_a_broken_line_is_named(text: str, where: str) -> None:
    assert where in errors_of(text)[0]


def test_a_figure_without_a_source_is_refused() -> None:
    header = (
        "name,vendor,unit,memory,memory_unit,memory_source,bandwidth_gb_s,bandwidth_source,bf16_tflops,bf16_source,"
        "fp8_tflops,fp8_source,tdp_w,tdp_source,all_in_w,all_in_source,confidence,notes"
    )
    with pytest.raises(SheetError) as caught:
        read("chips", header + "\nX1,Acme,chip,80,,a page,900,,,,,,,,,,,\n", name="c.csv")
    assert caught.value.errors == [
        "c.csv line 2, column bandwidth_source: must not be empty where bandwidth_gb_s is given",
        "c.csv line 2, column memory_unit: must not be empty where memory is given",
    ]


def test_a_spreadsheets_marks_are_taken_off() -> None:
    rows = read("prices", "\ufeff" + HEADER.replace("\n", "\r\n") + "H200,rental,USD,1.50,2026-09-01,'=a list,\r\n")
    assert rows[0]["source"] == "=a list" and rows[0]["amount_per_chip_hour"] == Decimal("1.50")


@pytest.mark.django_db
def test_prices_are_added_kept_and_never_overwritten() -> None:
    chip = Chip.objects.create(slug="h200", name="H200")
    text = HEADER + "H200,rental,USD,2.90,2026-09-01,a list,\nh200,rental,CNY,20,2026-10-01,a list,\n"
    assert import_prices(text).added == 2
    again = import_prices(text.replace("2.90", "3.00"), name="mine.csv")
    assert (again.added, again.unchanged) == (0, 1)
    assert again.differs == [
        "price of H200 in rental from 2026-09-01: 2.9 USD is stored and kept; mine.csv says 3.00 USD"
    ]
    stored = Price.objects.get(chip=chip, valid_from=date(2026, 9, 1))
    assert stored.amount_per_chip_hour == Decimal("2.90")


@pytest.mark.django_db
def test_a_price_of_an_unknown_chip_is_named_and_nothing_is_stored() -> None:
    Chip.objects.create(slug="h200", name="H200")
    text = HEADER + "H200,rental,USD,2.90,2026-09-01,a list,\nH9000,rental,USD,1,2026-09-01,a list,\n"
    with pytest.raises(SheetError, match=r"line 3, column chip: 'H9000' is not in the catalogue"):
        import_prices(text)
    assert not Price.objects.exists()
