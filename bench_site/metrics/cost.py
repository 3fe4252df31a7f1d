"""What a million tokens cost: chips x price / tokens, under any price book. Decimal until display.

    $/M output tokens = sum over pools(price x chips) x 1e6 / (3600 x output tokens/s x utilisation)

All cost is put on the output; per million tokens in total stands beside it. A split into input and output exists only
where the chip-time of prefill and decode is known; it adds up to the whole. One pool without a price or a number of
chips makes every figure unknown, and the reason names the chip. Utilisation is the share of the hour that earns tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from bench_site.metrics.book import ChipPrice, PriceBook, Rate
from bench_site.metrics.declaration import _

SECONDS_AN_HOUR = Decimal(3600)
MILLION = Decimal(1_000_000)
PREFILL_ROLES, DECODE_ROLES = frozenset({"prefill"}), frozenset({"decode", "ffn"})


@dataclass(frozen=True, slots=True)
class PoolUse:
    """A pool to be paid for: catalogue slug and name of its chip ("" unknown), physical chips, role."""

    chip: str
    name: str
    chips: int | None
    role: str = "all"


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a cost is unknown: an English msgid and the values for its placeholders."""

    msgid: str
    values: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.msgid % dict(self.values)


@dataclass(frozen=True, slots=True)
class Hourly:
    """The machine for an hour: ``amount`` in ``currency`` for all pools, each pool's share, and what was looked up."""

    currency: str
    amount: Decimal | None
    by_pool: tuple[Decimal, ...] = ()
    prices: tuple[ChipPrice, ...] = ()
    rates: tuple[Rate, ...] = ()
    missing: Missing | None = None


@dataclass(frozen=True, slots=True)
class TokenCost:
    """Money per million tokens in ``currency``; None where unknown, and then ``missing`` says why.

    ``per_m_output_low`` and ``per_m_output_high`` belong to the upper and lower end of the throughput's interval.
    ``split_input`` and ``split_output`` are per million input and per million output tokens. ``rates`` are the
    exchange rates used, ``prices`` the prices, pool by pool, each with its date.
    """

    currency: str
    utilisation: Decimal
    per_hour: Decimal | None = None
    per_m_output: Decimal | None = None
    per_m_output_low: Decimal | None = None
    per_m_output_high: Decimal | None = None
    per_m_total: Decimal | None = None
    split_input: Decimal | None = None
    split_output: Decimal | None = None
    prices: tuple[ChipPrice, ...] = ()
    rates: tuple[Rate, ...] = ()
    missing: Missing | None = None


@dataclass(frozen=True, slots=True)
class Throughput:
    """Tokens/s of the whole system; ``low`` and ``high`` the interval of the output rate; None where unknown."""

    output: float | None = None
    total: float | None = None
    input: float | None = None
    low: float | None = None
    high: float | None = None


def hourly(pools: Sequence[PoolUse], book: PriceBook, currency: str) -> Hourly:
    """sum over pools(price x chips) in ``currency``; unknown as soon as one pool is."""
    gap = _gap(pools, book)
    if gap is not None:
        return Hourly(currency, None, missing=gap)
    amounts: list[Decimal] = []
    prices: list[ChipPrice] = []
    rates: list[Rate] = []
    for pool in pools:
        price = book.price(pool.chip)
        assert price is not None and pool.chips is not None  # else there was a gap
        converted = book.convert(price.amount * pool.chips, price.currency, currency)
        if converted is None:
            words = Missing(
                _("no exchange rate between %(base)s and %(quote)s (price of %(chip)s)"),
                (("base", price.currency), ("quote", currency), ("chip", pool.name)),
            )
            return Hourly(currency, None, missing=words)
        amounts.append(converted.amount)
        prices.append(price)
        if converted.rate is not None and converted.rate not in rates:
            rates.append(converted.rate)
    return Hourly(currency, sum(amounts, Decimal(0)), tuple(amounts), tuple(prices), tuple(rates))


def _gap(pools: Sequence[PoolUse], book: PriceBook) -> Missing | None:
    """What the pools lack, the most basic first; all chips without a price at once."""
    if not pools:
        return Missing(_("the chips are unknown"))
    if any(not pool.chip for pool in pools):
        return Missing(_("the chip of a pool is unknown"))
    unpriced = list(dict.fromkeys(pool.name for pool in pools if book.price(pool.chip) is None))
    if unpriced:
        return Missing(
            _("no price for %(chip)s in tier %(tier)s on %(date)s"),
            (("chip", ", ".join(unpriced)), ("tier", book.tier), ("date", book.date.isoformat())),
        )
    uncounted = [pool.name for pool in pools if pool.chips is None or pool.chips < 1]
    if uncounted:
        return Missing(_("the number of %(chip)s chips is unknown"), (("chip", uncounted[0]),))
    return None


def per_million(amount_per_hour: Decimal | None, tokens_per_s: float | None, utilisation: Decimal) -> Decimal | None:
    """amount x 1e6 / (3600 x tokens/s x utilisation); None where the amount or a positive rate is unknown.

    Raises ValueError unless 0 < utilisation <= 1.
    """
    if not 0 < utilisation <= 1:
        raise ValueError(f"utilisation is {utilisation}; it is a share above 0 and at most 1")
    if amount_per_hour is None or tokens_per_s is None or not tokens_per_s > 0:
        return None
    # repr of a float is the shortest decimal that reads back as it: the digits that people see.
    return amount_per_hour * MILLION / (SECONDS_AN_HOUR * Decimal(repr(tokens_per_s)) * utilisation)


def cost_of(
    pools: Sequence[PoolUse],
    book: PriceBook,
    currency: str,
    throughput: Throughput,
    utilisation: Decimal = Decimal(1),
) -> TokenCost:
    """The cost of tokens made at ``throughput`` on ``pools`` under ``book``, in ``currency``."""
    hour = hourly(pools, book, currency)
    cost = TokenCost(
        currency=currency,
        utilisation=utilisation,
        per_hour=hour.amount,
        per_m_output=per_million(hour.amount, throughput.output, utilisation),
        per_m_output_low=per_million(hour.amount, throughput.high, utilisation),
        per_m_output_high=per_million(hour.amount, throughput.low, utilisation),
        per_m_total=per_million(hour.amount, throughput.total, utilisation),
        prices=hour.prices,
        rates=hour.rates,
        missing=hour.missing,
    )
    if hour.amount is None:
        return cost
    if cost.per_m_output is None:
        cost = replace(cost, missing=Missing(_("output tokens per second are unknown")))
    return _with_split(cost, pools, hour, throughput)


def _with_split(cost: TokenCost, pools: Sequence[PoolUse], hour: Hourly, throughput: Throughput) -> TokenCost:
    """With the prefill pools' money on the input and the decode (and FFN) pools' on the output.

    Only where every pool serves one of the two, both are there, and both rates are known: then
    split_input x input rate + split_output x output rate = the whole.
    """
    roles = {pool.role for pool in pools}
    if not (roles <= PREFILL_ROLES | DECODE_ROLES and roles & PREFILL_ROLES and roles & DECODE_ROLES):
        return cost
    shares = list(zip(pools, hour.by_pool, strict=True))
    prefill = sum((amount for pool, amount in shares if pool.role in PREFILL_ROLES), Decimal(0))
    decode = sum((amount for pool, amount in shares if pool.role in DECODE_ROLES), Decimal(0))
    given = per_million(prefill, throughput.input, cost.utilisation)
    made = per_million(decode, throughput.output, cost.utilisation)
    return cost if given is None or made is None else replace(cost, split_input=given, split_output=made)


def cheaper_by(a: Decimal, b: Decimal) -> Decimal | None:
    """By which share ``a`` is cheaper than ``b``: 1 - a / b (negative: dearer); None when ``b`` is not positive."""
    return 1 - a / b if b > 0 else None
