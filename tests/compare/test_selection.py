"""The URL of a comparison: read strictly, written canonically, and the two are inverse."""

from datetime import date
from decimal import Decimal
from uuid import UUID

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from bench_site.compare.selection import DEFAULTS, PARAMETERS, BadSelection, BookChoice, Selection, parse, to_query
from bench_site.metrics import HEADLINE

text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30).filter(
    lambda t: t.strip() == t
)
names = text.map(str.casefold).filter(lambda t: t.strip() == t and t.casefold() == t)
slugs = st.from_regex(r"[a-z0-9]{1,20}", fullmatch=True)


def many(values):
    return st.sets(values, max_size=4).map(lambda found: tuple(sorted(found, key=lambda v: (v is not None, v))))


selections = st.builds(
    Selection,
    model=many(slugs),
    workload=many(names),
    precision=many(names),
    chip=many(slugs),
    vendor=many(names),
    engine=many(names),
    strategy=many(st.sampled_from(["op_by_op", "megakernel", "unknown"])),
    speculative=many(names),
    evidence=many(st.sampled_from(["measured", "published", "claimed"])),
    verification=many(st.sampled_from(["passed", "not_run"])),
    plausibility=many(st.sampled_from(["accept", "flag", "quarantine"])),
    load=many(st.sampled_from(["closed", "open"])),
    machine=many(text),
    context=many(st.none() | st.integers(0, 2**40)),
    tag=many(text),
    run=many(st.uuids()),
    series=many(st.integers(1, 2**63 - 1)),
    group=many(st.integers(1, 2**63 - 1)),
    book=st.none() | st.builds(BookChoice, slugs, st.dates()),
    currency=st.sampled_from(["USD", "CNY", "EUR"]),
    utilisation=st.decimals(Decimal("0.000001"), 1, places=6).map(Decimal.normalize),
    sort=st.sampled_from(["", "cost_per_m_output_tokens", "-ttft_p50"]),
    x=st.sampled_from(sorted(HEADLINE)),
    y=st.sampled_from(sorted(HEADLINE)),
    per=st.none() | st.floats(1e-300, 1e8),
    ttft=st.none() | st.floats(1e-300, 1e8),
    rows=st.none() | st.integers(1, 10_000),
    page=st.integers(1, 1_000_000),
)


@given(selections)
def test_what_is_written_is_read_back(selection: Selection) -> None:
    written = to_query(selection)
    assert parse(QueryDict(written)) == selection
    assert to_query(parse(QueryDict(written))) == written


def test_every_field_is_a_parameter_and_the_empty_query_is_the_default() -> None:
    assert DEFAULTS.keys() - {"no_cost"} == PARAMETERS.keys()
    assert parse({}) == Selection() and to_query(Selection()) == ""


def test_the_query_is_short_and_in_one_order() -> None:
    query = (
        "strategy=megakernel&model=Kimi%20K3&chip=H200&chip=MI355X&book=rental@2026-09-01&currency=usd&utilisation=1.0"
    )
    short = "book=rental@2026-09-01&chip=h200&chip=mi355x&currency=USD&model=kimik3&strategy=megakernel"
    assert to_query(parse(QueryDict(query + "&page="))) == short
    assert parse({"chip": ["h200", "H200"]}).chip == ("h200",)
    assert parse({"book": "none"}).no_cost and to_query(parse({"book": "none"})) == "book=none"


def test_every_wrong_parameter_is_named_with_what_was_found_and_what_is_allowed() -> None:
    query = QueryDict(
        "strategy=mega&per=-1&modle=x&utilisation=1.5&run=7&rows=0&book=rental&currency=dollar&x=speed&model=k3"
    )
    with pytest.raises(BadSelection) as caught:
        parse(query)
    found = {error.name: error for error in caught.value.errors}
    assert set(found) == {"strategy", "per", "modle", "utilisation", "run", "rows", "book", "currency", "x"}
    assert found["strategy"].found == "mega" and "megakernel" in found["strategy"].allowed
    assert str(found["modle"]) == "There is no parameter “modle”; did you mean “model”?"
    assert all(error.name in str(caught.value) for error in caught.value.errors)
    assert caught.value.selection == Selection(model=("k3",))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("utilisation", "0"), ("utilisation", "NaN"), ("utilisation", "1e-9"), ("per", "inf"), ("per", "1e400"),
        ("per", "١"), ("rows", "1e3"), ("page", "-1"), ("series", "9223372036854775808"), ("group", "0"),
        ("context", "many"), ("tag", "a\0b"), ("tag", "\ud800"), ("machine", "x" * 301),
        ("book", "@2026-09-01"), ("book", "rental@2026-13-01"),
        ("verification", "failed"), ("plausibility", "good"), ("load", "loop"), ("currency", "ÄÖÜ"), ("sort", "chip"),
    ],
)  # fmt: skip
def test_wrong_values_are_refused(name: str, value: str) -> None:
    with pytest.raises(BadSelection) as caught:
        parse({name: value})
    assert [error.name for error in caught.value.errors] == [name]


def test_two_values_of_a_parameter_that_takes_one_are_refused_and_page_parameters_can_be_ignored() -> None:
    with pytest.raises(BadSelection):
        parse({"rows": ["10", "20"]})
    assert parse({"rows": ["10", "10"], "theme": "dark"}, ignore={"theme"}).rows == 10


def test_a_change_of_filter_goes_back_to_the_first_page() -> None:
    third = Selection(rows=10, page=3, run=(UUID(int=7),))
    assert third.replace(chip=("h200",)).page == 1
    assert third.replace(sort="cost_per_m_output_tokens").page == 3
    assert "page=4" in third.to_query(page=4)
    assert Selection(book=BookChoice("rental", date(2026, 9, 1))).to_query() == "book=rental@2026-09-01&currency=USD"
