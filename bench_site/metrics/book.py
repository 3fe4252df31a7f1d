"""A price book: what a chip-hour costs in one tier as of one date, and exchange rates as of that date."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

#: Inside a class with a field ``date`` the type needs another name.
Day = date


@dataclass(frozen=True, slots=True)
class ChipPrice:
    """One chip costs ``amount`` of ``currency`` an hour from ``valid_from`` on."""

    valid_from: date
    currency: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Rate:
    """One unit of ``base`` costs ``rate`` units of ``quote`` on ``date``."""

    base: str
    quote: str
    rate: Decimal
    date: date
    source: str = ""


@dataclass(frozen=True, slots=True)
class Converted:
    """An amount in another currency and the rate that made it so; ``rate`` None when nothing had to be converted."""

    amount: Decimal
    rate: Rate | None


@dataclass(frozen=True, slots=True)
class PriceBook:
    """The prices of one tier as of ``date``; chips by catalogue slug. Another tier's prices are never looked at."""

    tier: str
    date: date
    prices: Mapping[str, tuple[ChipPrice, ...]]
    rates: tuple[Rate, ...] = ()

    @classmethod
    def of(
        cls,
        tier: str,
        on: Day,
        prices: Mapping[str, Iterable[tuple[Day, str, Decimal]]],
        rates: Iterable[Rate] = (),
    ) -> "PriceBook":
        """A book from plain rows: chip slug -> (valid_from, currency, amount per chip-hour)."""
        kept = {chip: tuple(ChipPrice(*row) for row in rows) for chip, rows in prices.items()}
        return cls(tier=tier, date=on, prices=kept, rates=tuple(rates))

    def price(self, chip: str) -> ChipPrice | None:
        """The newest price of ``chip`` with ``valid_from`` on or before the book's date; None if there is none."""
        valid = [price for price in self.prices.get(chip, ()) if price.valid_from <= self.date]
        return max(valid, key=lambda price: price.valid_from, default=None)

    def rate(self, base: str, quote: str) -> Rate | None:
        """The rate between two currencies, in either direction; None if none is known.

        The newest on or before the book's date, else the nearest after it. On equal dates the direct one wins. Rates
        are never chained through a third currency.
        """
        known = [r for r in self.rates if (r.base, r.quote) in ((base, quote), (quote, base)) and r.rate > 0]
        if not known:
            return None
        before = [r for r in known if r.date <= self.date]
        day = max(r.date for r in before) if before else min(r.date for r in known)
        return min((r for r in known if r.date == day), key=lambda r: r.base != base)

    def convert(self, amount: Decimal, currency: str, into: str) -> Converted | None:
        """``amount`` of ``currency`` in ``into``, with the rate used; None when no rate is known."""
        if currency == into:
            return Converted(amount, None)
        rate = self.rate(currency, into)
        if rate is None:
            return None
        return Converted(amount * rate.rate if rate.base == currency else amount / rate.rate, rate)
