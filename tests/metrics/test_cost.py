"""Cost per million tokens: worked by hand, and what must hold for any numbers."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_site.metrics.book import PriceBook, Rate
from bench_site.metrics.cost import PoolUse, Throughput, cheaper_by, cost_of, hourly, per_million

D = Decimal
ON = date(2026, 6, 30)
H200 = PoolUse("h200", "H200 SXM", 8)
ASCEND = PoolUse("ascend910c", "Ascend 910C", 32)
RATE = Rate("USD", "CNY", D("7.00"), date(2026, 6, 22))
PRICES = {
    "h200": [(date(2026, 4, 3), "USD", D("1.60")), (date(2026, 7, 1), "USD", D("1.80"))],
    "ascend910c": [(date(2026, 5, 1), "CNY", D("7.00"))],
}


def book(rates: Iterable[Rate] = (RATE,), on: date = ON) -> PriceBook:
    return PriceBook.of("rental", on, PRICES, rates)


class TestWorkedByHand:
    def test_one_pool(self) -> None:
        """8 H200 x $1.60 = $12.80 an hour; 3,200 tokens/s make 11.52 M tokens an hour: $1.1111 per M.

        Input and output together are 28,800 tokens/s, 103.68 M an hour: $0.12346 per M.
        """
        cost = cost_of([H200], book(), "USD", Throughput(output=3200.0, total=28800.0))
        assert cost.per_hour == D("12.80")
        assert cost.per_m_output is not None and round(cost.per_m_output, 4) == D("1.1111")
        assert cost.per_m_total is not None and round(cost.per_m_total, 5) == D("0.12346")
        assert (cost.missing, cost.rates, cost.split_input) == (None, (), None)

    def test_two_pools_two_chips_two_currencies(self) -> None:
        """8 H200 x $1.60 = $12.80; 32 Ascend x 7 CNY = 224 CNY = $32.00 at 7 CNY: $44.80 = 313.60 CNY an hour.

        At 4,000 tokens/s, 14.4 M an hour: $3.1111, or 21.7778 CNY.
        """
        pools, speed = [H200, ASCEND], Throughput(output=4000.0)
        dollars, yuan = cost_of(pools, book(), "USD", speed), cost_of(pools, book(), "CNY", speed)
        assert (dollars.per_hour, yuan.per_hour) == (D("44.80"), D("313.60"))
        assert dollars.per_m_output is not None and round(dollars.per_m_output, 4) == D("3.1111")
        assert yuan.per_m_output is not None and round(yuan.per_m_output, 4) == D("21.7778")
        assert dollars.rates == yuan.rates == (RATE,)
        assert [price.valid_from for price in dollars.prices] == [date(2026, 4, 3), date(2026, 5, 1)]

    def test_utilisation(self) -> None:
        """Half of the hour earns tokens: $1.1111 becomes $2.2222 per M; the hour costs the same."""
        cost = cost_of([H200], book(), "USD", Throughput(output=3200.0), D("0.5"))
        assert cost.per_m_output is not None and round(cost.per_m_output, 4) == D("2.2222")
        assert (cost.per_hour, cost.utilisation) == (D("12.80"), D("0.5"))

    def test_the_interval_of_the_throughput_is_that_of_the_cost_turned_round(self) -> None:
        """3,000 to 3,400 tokens/s: from 12.80 / 12.24 M = $1.0458 to 12.80 / 10.8 M = $1.1852."""
        cost = cost_of([H200], book(), "USD", Throughput(output=3200.0, low=3000.0, high=3400.0))
        assert cost.per_m_output_low is not None and round(cost.per_m_output_low, 4) == D("1.0458")
        assert cost.per_m_output_high is not None and round(cost.per_m_output_high, 4) == D("1.1852")

    def test_split_by_pools(self) -> None:
        """Prefill on 8 H200 ($12.80), decode on 32 Ascend ($32.00), 16,000 input and 2,000 output tokens/s.

        Input: 12.80 / 57.6 M = $0.2222 per M input; output: 32 / 7.2 M = $4.4444 per M output;
        0.2222 x 57.6 + 4.4444 x 7.2 = 44.80, the whole hour.
        """
        pools = [replace(H200, role="prefill"), replace(ASCEND, role="decode")]
        cost = cost_of(pools, book(), "USD", Throughput(output=2000.0, input=16000.0))
        assert cost.split_input is not None and round(cost.split_input, 4) == D("0.2222")
        assert cost.split_output is not None and round(cost.split_output, 4) == D("4.4444")
        assert round(cost.split_input * D("57.6") + cost.split_output * D("7.2"), 10) == D("44.80")
        assert cost.per_m_output is not None and round(cost.per_m_output, 4) == D("6.2222"), "all cost on output"

    def test_cheaper_by(self) -> None:
        """$0.80 instead of $1.00 is 20 % cheaper; $1.25 instead of $1.00 is -25 %, dearer."""
        assert cheaper_by(D("0.80"), D("1.00")) == D("0.2")
        assert cheaper_by(D("1.25"), D("1.00")) == D("-0.25")
        assert cheaper_by(D("1"), D("0")) is None


class TestUnknown:
    @pytest.mark.parametrize(
        ("pools", "words"),
        [
            ([H200, PoolUse("b300", "B300", 8)], "no price for B300 in tier rental on 2026-06-30"),
            (
                [PoolUse("x", "X1", 8, "prefill"), H200, PoolUse("y", "Y1", 8), PoolUse("x", "X1", 8)],
                "no price for X1, Y1 in tier rental on 2026-06-30",
            ),
            ([replace(ASCEND, chips=None)], "the number of Ascend 910C chips is unknown"),
            ([PoolUse("", "", 8)], "the chip of a pool is unknown"),
            ([], "the chips are unknown"),
        ],
    )
    def test_one_gap_makes_all_unknown_and_is_named(self, pools: list[PoolUse], words: str) -> None:
        cost = cost_of(pools, book(), "USD", Throughput(output=3200.0, total=28800.0))
        assert (cost.per_hour, cost.per_m_output, cost.per_m_total) == (None, None, None)
        assert str(cost.missing) == words

    def test_a_missing_price_is_told_before_a_missing_rate(self) -> None:
        pools = [ASCEND, PoolUse("b300", "B300", 8)]
        assert "B300" in str(cost_of(pools, book(rates=()), "USD", Throughput(output=1.0)).missing)

    def test_no_exchange_rate(self) -> None:
        cost = cost_of([H200, ASCEND], book(rates=()), "USD", Throughput(output=3200.0))
        assert cost.per_m_output is None
        assert str(cost.missing) == "no exchange rate between CNY and USD (price of Ascend 910C)"
        assert cost_of([ASCEND], book(rates=()), "CNY", Throughput(output=3200.0)).per_m_output is not None

    @pytest.mark.parametrize("rate", [None, 0.0, float("nan"), -1.0])
    def test_no_throughput(self, rate: float | None) -> None:
        cost = cost_of([H200], book(), "USD", Throughput(output=rate))
        assert (cost.per_hour, cost.per_m_output) == (D("12.80"), None)
        assert str(cost.missing) == "output tokens per second are unknown"

    def test_no_split_where_one_pool_does_both(self) -> None:
        speed = Throughput(output=2000.0, input=16000.0)
        assert cost_of([H200, replace(ASCEND, role="decode")], book(), "USD", speed).split_output is None
        assert cost_of([replace(H200, role="decode")], book(), "USD", speed).split_output is None
        pools = [replace(H200, role="prefill"), replace(ASCEND, role="decode")]
        assert cost_of(pools, book(), "USD", Throughput(output=2000.0)).split_output is None

    @pytest.mark.parametrize("share", ["0", "-0.1", "1.01"])
    def test_utilisation_is_a_share(self, share: str) -> None:
        with pytest.raises(ValueError, match="above 0 and at most 1"):
            per_million(D(1), 1.0, D(share))


class TestLookUp:
    def test_the_newest_price_on_or_before_the_date(self) -> None:
        for day, amount in ((date(2026, 6, 30), "1.60"), (date(2026, 7, 1), "1.80"), (date(2030, 1, 1), "1.80")):
            price = book(on=day).price("h200")
            assert price is not None and price.amount == D(amount)
        assert book(on=date(2026, 4, 2)).price("h200") is None, "never a price of later"

    def test_the_newest_rate_on_or_before_the_date_else_the_nearest(self) -> None:
        days = {date(2026, 6, 1): "6.9", date(2026, 6, 20): "7.1", date(2026, 7, 5): "7.3"}
        rates = [Rate("USD", "CNY", D(value), day) for day, value in days.items()]
        for on, expected in (
            (ON, "7.1"),
            (date(2026, 6, 1), "6.9"),
            (date(2025, 1, 1), "6.9"),
            (date(2027, 1, 1), "7.3"),
        ):
            found = book(rates, on).rate("USD", "CNY")
            assert found is not None and found.rate == D(expected)

    def test_a_rate_serves_both_ways_and_none_is_chained(self) -> None:
        rates = [Rate("USD", "CNY", D("7"), ON), Rate("EUR", "USD", D("1.1"), ON)]
        back = book(rates).convert(D("14"), "CNY", "USD")
        assert back is not None and (back.amount, back.rate) == (D("2"), rates[0])
        assert book(rates).convert(D("1"), "EUR", "CNY") is None
        same = book(()).convert(D("3"), "JPY", "JPY")
        assert same is not None and (same.amount, same.rate) == (D("3"), None)

    def test_on_the_same_day_the_direct_rate_wins(self) -> None:
        rates = [Rate("CNY", "USD", D("0.14"), ON), Rate("USD", "CNY", D("7.1"), ON)]
        found = book(rates).rate("USD", "CNY")
        assert found is rates[1]


amounts = st.decimals(D("0.01"), D("1000"), places=4)
speeds = st.floats(0.01, 1e7)
counts = st.integers(1, 100_000)
ALL = D(1)


def priced(amount: Decimal, currency: str = "USD", rates: Iterable[Rate] = ()) -> PriceBook:
    return PriceBook.of("rental", ON, {"c": [(ON, currency, amount)], "d": [(ON, currency, amount)]}, rates)


def output_cost(amount: Decimal, chips: int, speed: float, share: Decimal = ALL) -> Decimal:
    found = cost_of([PoolUse("c", "C", chips)], priced(amount), "USD", Throughput(output=speed), share).per_m_output
    assert found is not None
    return found


def close(a: Decimal, b: Decimal) -> bool:
    return abs(a - b) <= D("1e-20") * max(abs(a), abs(b))


@given(amounts, counts, speeds, st.integers(2, 50))
def test_linear_in_price_and_chips_inverse_in_speed(amount: Decimal, chips: int, speed: float, times: int) -> None:
    once = output_cost(amount, chips, speed)
    assert close(output_cost(amount * times, chips, speed), once * times)
    assert close(output_cost(amount, chips * times, speed), once * times)
    assert close(output_cost(amount, chips, speed, D(1) / D(times)), once * times)


@given(amounts, counts, speeds, st.floats(1.001, 1000))
def test_faster_is_cheaper(amount: Decimal, chips: int, speed: float, factor: float) -> None:
    slow, fast = output_cost(amount, chips, speed), output_cost(amount, chips, speed * factor)
    share = cheaper_by(fast, slow)
    assert fast < slow and share is not None and 0 < share < 1


@given(amounts, counts, counts, speeds)
def test_two_pools_cost_what_one_with_all_their_chips_does(amount: Decimal, a: int, b: int, speed: float) -> None:
    parts = cost_of([PoolUse("c", "C", a), PoolUse("d", "D", b)], priced(amount), "USD", Throughput(output=speed))
    assert parts.per_m_output is not None and close(parts.per_m_output, output_cost(amount, a + b, speed))


@given(amounts, st.decimals(D("0.001"), D("1000"), places=6), st.booleans())
def test_there_and_back_is_the_same_amount(amount: Decimal, rate: Decimal, direct: bool) -> None:
    known = Rate("USD", "CNY", rate, ON) if direct else Rate("CNY", "USD", rate, ON)
    there = priced(amount, rates=[known]).convert(amount, "USD", "CNY")
    assert there is not None
    back = priced(amount, rates=[known]).convert(there.amount, "CNY", "USD")
    assert back is not None and close(back.amount, amount)


@given(amounts, amounts, counts, counts, speeds, speeds)
def test_the_split_adds_up(p: Decimal, d: Decimal, pc: int, dc: int, given_rate: float, made_rate: float) -> None:
    pools = [PoolUse("c", "C", pc, "prefill"), PoolUse("d", "D", dc, "decode")]
    prices = PriceBook.of("rental", ON, {"c": [(ON, "USD", p)], "d": [(ON, "USD", d)]})
    cost = cost_of(pools, prices, "USD", Throughput(output=made_rate, input=given_rate))
    assert cost.split_input is not None and cost.split_output is not None and cost.per_hour is not None
    an_hour = D(3600) / D(1_000_000)
    whole = cost.split_input * D(repr(given_rate)) * an_hour + cost.split_output * D(repr(made_rate)) * an_hour
    assert close(whole, cost.per_hour)


@given(st.lists(st.tuples(st.integers(-400, 400), amounts), min_size=1, max_size=8, unique_by=lambda row: row[0]))
def test_no_other_price_is_newer_and_valid(rows: list[tuple[int, Decimal]]) -> None:
    dated = [(ON + timedelta(days=days), "USD", amount) for days, amount in rows]
    found = PriceBook.of("rental", ON, {"c": dated}).price("c")
    valid = [day for day, _, _ in dated if day <= ON]
    assert (found is None) == (not valid)
    assert found is None or found.valid_from == max(valid)


def test_a_books_hour_says_what_each_pool_costs() -> None:
    found = hourly([H200, ASCEND], book(), "USD")
    assert found.by_pool == (D("12.80"), D("32.00")) and found.amount == sum(found.by_pool)
