"""The chip catalogue for people: what is known of each chip, who says so, what it costs, how many runs used it."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from django.db import connection
from django.db.models import Value
from django.db.models.functions import NullIf
from django.utils import timezone
from django.utils.translation import gettext as _

from bench_site.compare.books import tier_words
from bench_site.present.looks import vendor_token
from bench_site.present.numbers import count, flops, memory, number, per_second
from bench_site.present.numbers import price as per_hour
from bench_site.present.words import confidence_words
from bench_site.runs.models import Chip, Price

RUNS_OF_CHIPS = """
SELECT chip_id, count(*) FROM runs_run r JOIN runs_configuration c ON c.id = r.configuration_id,
    LATERAL unnest(c.chip_ids) AS chip_id
WHERE r.deleted_at IS NULL GROUP BY chip_id
"""


@dataclass(frozen=True, slots=True)
class ChipFact:
    """One fact: its value with the unit, and where it was read ("" when nobody said)."""

    title: str
    value: str
    source: str
    known: bool


@dataclass(frozen=True, slots=True)
class ChipPrice:
    """The newest price of one tier that is in force."""

    tier: str
    amount: str
    valid_from: date
    source: str
    note: str
    coming: bool = False

    @property
    def tier_words(self) -> str:
        """The tier in the reader's language, with the word that was entered."""
        return tier_words(self.tier)


@dataclass(frozen=True, slots=True)
class ChipLine:
    """A chip as the catalogue shows it."""

    chip: Chip
    token: str
    facts: list[ChipFact]
    prices: list[ChipPrice]
    runs: int
    runs_words: str

    @property
    def confidence(self) -> str:
        """How sure the catalogue is of the chip."""
        return confidence_words(self.chip.confidence)


def hardware_lines() -> tuple[list[ChipLine], list[ChipLine]]:
    """The catalogue by vendor, and the chips that uploads named and nobody has mapped yet. Three queries."""
    lines = _chip_lines(Chip.objects.order_by(NullIf("vendor", Value("")).asc(nulls_last=True), "name"))
    return [line for line in lines if line.chip.known], [line for line in lines if not line.chip.known]


def chip_line(chip: Chip) -> ChipLine:
    """One chip."""
    return _chip_lines([chip])[0]


def _chip_lines(chips: Iterable[Chip]) -> list[ChipLine]:
    chips = list(chips)
    prices: defaultdict[int, list[Price]] = defaultdict(list)
    for price in Price.objects.filter(chip__in=chips).order_by("tier", "-valid_from"):
        prices[price.chip_id].append(price)
    with connection.cursor() as cursor:
        cursor.execute(RUNS_OF_CHIPS)
        runs: dict[int, int] = dict(cursor.fetchall())
    return [
        ChipLine(chip, vendor_token(chip.vendor), _facts(chip), _newest(prices[chip.pk]), n, count(n))
        for chip in chips
        for n in [runs.get(chip.pk, 0)]
    ]


def _facts(chip: Chip) -> list[ChipFact]:
    watts = {name: None if value is None else f"{value:,.0f} W"
             for name, value in (("tdp_watts", chip.tdp_watts), ("all_in_watts", chip.all_in_watts))}  # fmt: skip
    values = {
        "memory_bytes": (_("Memory"), chip.memory_bytes and memory(chip.memory_bytes)),
        "bandwidth": (_("Memory bandwidth"), chip.bandwidth and per_second(chip.bandwidth)),
        "bf16_flops": (_("BF16, dense"), chip.bf16_flops and flops(chip.bf16_flops)),
        "fp8_flops": (_("FP8, dense"), chip.fp8_flops and flops(chip.fp8_flops)),
        "tdp_watts": (_("TDP"), watts["tdp_watts"]),
        "all_in_watts": (_("Power with its share of host and network"), watts["all_in_watts"]),
    }
    return [
        ChipFact(title, str(value or _("unknown")), str(chip.sources.get(name) or ""), bool(value))
        for name, (title, value) in values.items()
    ]


def _newest(prices: list[Price]) -> list[ChipPrice]:
    """Per tier the newest price in force today; a tier that only begins later shows its first price as coming."""
    today = timezone.now().date()
    found: dict[str, ChipPrice] = {}
    for price in prices:  # newest first within a tier
        coming = price.valid_from > today
        if price.tier not in found or found[price.tier].coming:
            amount = f"{per_hour(price.amount_per_chip_hour, price.currency)}/h"
            found[price.tier] = ChipPrice(price.tier, amount, price.valid_from, price.source, price.note, coming)
    return list(found.values())


def history(chip: Chip) -> list[ChipPrice]:
    """Every price of ``chip``, newest first within its tier."""
    return [
        ChipPrice(p.tier, f"{per_hour(p.amount_per_chip_hour, p.currency)}/h", p.valid_from, p.source, p.note)
        for p in Price.objects.filter(chip=chip).order_by("tier", "-valid_from")
    ]


def ridge(chip: Chip) -> str:
    """Arithmetic per byte at which memory stops being the limit (BF16), in FLOP/byte; "" where unknown."""
    return number(chip.bf16_flops / chip.bandwidth) if chip.bf16_flops and chip.bandwidth else ""
