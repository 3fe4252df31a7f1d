"""Prices and exchange rates: added, never overwritten. What a day's price was stays what it was."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db import transaction

from bench_site.runs.catalogue.sheet import Row, SheetError
from bench_site.runs.catalogue.sheets import read
from bench_site.runs.models import Chip, ChipAlias, Price
from bench_site.runs.models.catalogue import slug_of


@dataclass(slots=True)
class Imported:
    """What became of the rows: ``differs`` names those that are stored with another value, which was kept."""

    added: int = 0
    unchanged: int = 0
    differs: list[str] = field(default_factory=list)


def import_prices(content: str, *, name: str = "prices.csv") -> Imported:
    """Add the prices of a CSV file (columns as in the catalogue's prices.csv); raises SheetError, then adds nothing."""
    return add_prices(read("prices", content, name=name), name=name)


@transaction.atomic
def add_prices(rows: Iterable[Row], *, name: str = "prices.csv") -> Imported:
    """Add the rows that no stored price of the same chip, tier and day contradicts; raises SheetError."""
    rows = list(rows)
    chips = chips_by_slug()
    errors = [
        f"{name} line {row['line']}, column chip: {row['chip']!r} is not in the catalogue; add the chip or an alias"
        for row in rows
        if slug_of(row["chip"]) not in chips
    ]
    if errors:
        raise SheetError(errors)
    stored = {(p.chip_id, p.tier, p.valid_from): p for p in Price.objects.all()}
    new: list[Price] = []
    done = Imported()
    for row in rows:
        chip = chips[slug_of(row["chip"])]
        found = stored.get((chip.pk, row["tier"], row["valid_from"]))
        if found is None:
            fields = {key: row[key] for key in ("tier", "currency", "amount_per_chip_hour", "valid_from", "source")}
            price = Price(chip=chip, note=row["note"] or "", **fields)
            stored[chip.pk, price.tier, price.valid_from] = price
            new.append(price)
        elif (found.amount_per_chip_hour, found.currency) == (row["amount_per_chip_hour"], row["currency"]):
            done.unchanged += 1
        else:
            done.differs.append(
                f"price of {chip} in {found.tier} from {found.valid_from}: {found.amount_per_chip_hour.normalize():f} "
                f"{found.currency} is stored and kept; {name} says {row['amount_per_chip_hour']} {row['currency']}"
            )
    Price.objects.bulk_create(new, ignore_conflicts=True)
    done.added = len(new)
    return done


def chips_by_slug() -> dict[str, Chip]:
    """Every chip by its own slug and by those of its aliases."""
    chips = {chip.slug: chip for chip in Chip.objects.all()}
    return chips | {alias.slug: alias.chip for alias in ChipAlias.objects.select_related("chip")}
