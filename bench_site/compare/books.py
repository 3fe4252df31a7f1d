"""Price books for one request: every book there is, the chosen one, and the cost of a row under it. Two queries."""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from django.db import connection
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from bench_site.compare.catalogue import Catalogue
from bench_site.compare.selection import BookChoice, Selection
from bench_site.compare.shapes import Book, ConfigurationView, Cost, Figure, PoolView
from bench_site.metrics import book as priced
from bench_site.metrics.cost import Hourly, Missing, PoolUse, hourly, per_million

#: The tier that a page takes when none is asked for: the one most chips have a price in.
USUAL_TIER = "rental"

NO_BOOK = Missing(gettext_noop("no price book"))

PRICES = "SELECT chip_id, tier, currency, amount_per_chip_hour, valid_from FROM runs_price ORDER BY id"
RATES = "SELECT base, quote, rate, date, source FROM runs_exchangerate ORDER BY id"


@dataclass(slots=True)
class Books:
    """Every price book, newest first, and what the chosen one makes of a configuration."""

    books: list[Book]
    chosen: Book | None
    currency: str
    utilisation: Decimal
    prices: priced.PriceBook | None = None
    _hours: dict[int, Hourly] = field(default_factory=dict)
    _hours_of_pools: dict[tuple[tuple[str, int | None, str], ...], Hourly] = field(default_factory=dict)
    _at_one: dict[int, float] = field(default_factory=dict)

    def hour(self, configuration: ConfigurationView) -> Hourly:
        """What the configuration costs for an hour; ``amount`` None with the reason where a pool's price is unknown."""
        found = self._hours.get(configuration.id)
        if found is None:
            found = self._hours[configuration.id] = self._hour_of_pools(configuration.pools)
        return found

    def _hour_of_pools(self, pools: tuple[PoolView, ...]) -> Hourly:
        key = tuple((pool.chip_slug, pool.chips, pool.role) for pool in pools)
        found = self._hours_of_pools.get(key)
        if found is None:
            if self.prices is None:
                found = Hourly(self.currency, None, missing=NO_BOOK)
            else:
                found = hourly([_use(pool) for pool in pools], self.prices, self.currency)
            self._hours_of_pools[key] = found
        return found

    def per_token_a_second(self, configuration: ConfigurationView) -> float:
        """Money per million tokens at one token/s, to rank by: cost is this / throughput. NaN where unknown."""
        hour = self.hour(configuration)
        found = self._at_one.get(id(hour))  # kept above, so the id stays its own
        if found is None:
            cost = per_million(hour.amount, 1.0, self.utilisation)
            found = self._at_one[id(hour)] = math.nan if cost is None else float(cost)
        return found

    def cost_of_pools(self, pools: tuple[PoolView, ...], figures: Mapping[str, Figure]) -> Cost:
        """The cost of what ran on ``pools``, for a run that is read by itself."""
        return RowCost(self._hour_of_pools(pools), figures, self.utilisation)

    def cost(self, configuration: ConfigurationView, figures: Mapping[str, Figure]) -> Cost:
        """The cost of one row."""
        return RowCost(self.hour(configuration), figures, self.utilisation)


class RowCost(Cost):
    """A row's cost, worked out when it is read: a chart draws a thousand rows whose cost nobody asks for."""

    __slots__ = ("_figures", "_hour", "_utilisation")
    _figures: Mapping[str, Figure]
    _hour: Hourly
    _utilisation: Decimal

    def __init__(self, hour: Hourly, figures: Mapping[str, Figure], utilisation: Decimal) -> None:
        put = object.__setattr__
        put(self, "_hour", hour)
        put(self, "_figures", figures)
        put(self, "_utilisation", utilisation)

    def _at(self, tokens_per_s: float | None) -> Decimal | None:
        return per_million(self._hour.amount, tokens_per_s, self._utilisation)

    @property
    def currency(self) -> str:
        return self._hour.currency

    @property
    def per_hour(self) -> Decimal | None:
        return self._hour.amount

    @property
    def rates(self) -> tuple[priced.Rate, ...]:
        return tuple(self._hour.rates)

    @property
    def per_m_output(self) -> Decimal | None:
        return self._at(self._figures["output_tokens_per_s"].value)

    @property
    def per_m_output_low(self) -> Decimal | None:
        return self._at(self._figures["output_tokens_per_s"].high)

    @property
    def per_m_output_high(self) -> Decimal | None:
        return self._at(self._figures["output_tokens_per_s"].low)

    @property
    def per_m_total(self) -> Decimal | None:
        return self._at(self._figures["total_tokens_per_s"].value)

    @property
    def missing(self) -> str:
        if self._hour.missing is not None:
            return _(self._hour.missing.msgid) % dict(self._hour.missing.values)
        return "" if self.per_m_output is not None else _("output tokens per second are unknown")


def load_books(selection: Selection, catalogue: Catalogue) -> Books:
    """The books and the one that ``selection`` asks for: else the newest rental book, else the newest of any tier."""
    with connection.cursor() as cursor:
        cursor.execute(PRICES)
        rows = cursor.fetchall()
        cursor.execute(RATES)
        rates = [priced.Rate(*row) for row in cursor.fetchall()]
    by_tier: defaultdict[str, defaultdict[str, list[tuple[date, str, Decimal]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for chip_id, tier, currency, amount, valid_from in rows:
        by_tier[tier][catalogue.chips[chip_id].slug].append((valid_from, currency, amount))
    known = {(tier, valid_from) for _chip, tier, _currency, _amount, valid_from in rows}
    books = [_book(BookChoice(*one)) for one in sorted(known, key=lambda one: (one[1], one[0]), reverse=True)]
    chosen = None
    if not selection.no_cost:
        chosen = _book(selection.book) if selection.book else usual_book(books)
    found = Books(books, chosen, selection.currency, selection.utilisation)
    if chosen is not None:
        found.prices = priced.PriceBook.of(chosen.tier, chosen.date, by_tier.get(chosen.tier, {}), rates)
    return found


def usual_book(books: list[Book]) -> Book | None:
    """The newest rental book that is valid today, else the newest valid one, else the newest; None without any."""
    today = timezone.now().date()
    valid = [book for book in books if book.date <= today] or books
    return next((book for book in valid if book.tier == USUAL_TIER), valid[0] if valid else None)


def tier_words(tier: str) -> str:
    """A price tier as people read it; the word that was entered stays beside a translation."""
    known = {
        "rental": _("rental"), "on-demand": _("on-demand"), "owned-hyperscaler": _("owned, hyperscaler"),
        "owned-neocloud": _("owned, neocloud"), "reserved": _("reserved"), "spot": _("spot"), "owned": _("owned"),
    }  # fmt: skip
    words = known.get(tier, tier)
    return words if words.replace(", ", "-") == tier else words + _(" (%s)") % tier


def _book(choice: BookChoice) -> Book:
    tier = tier_words(choice.tier)
    label = _("%(tier)s, %(date)s") % {"tier": tier[:1].upper() + tier[1:], "date": choice.date.isoformat()}
    return Book(str(choice), choice.tier, choice.date, label)


def _use(pool: PoolView) -> PoolUse:
    return PoolUse(pool.chip_slug, pool.chip, pool.chips, pool.role)
