"""The first content of a site: the catalogue of chips and models, prices, exchange rates.

Seeding only ever *inserts what is missing*: a row that is there is never changed, so an operator's corrections stay.
Where the catalogue says something else than a stored row, the report names it and an operator decides. The one
exception is a chip or model that an upload created as unknown under a name that the catalogue now knows: it gets the
catalogue's facts. A catalogue row that was deleted comes back at the next seeding.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Model

from bench_site.runs.catalogue.sheet import Row
from bench_site.runs.catalogue.sheets import CHIP_FACTS, MEMORY_UNITS, read
from bench_site.runs.models import Chip, ChipAlias, ExchangeRate, LanguageModel, ModelAlias
from bench_site.runs.models.catalogue import slug_of
from bench_site.runs.prices import add_prices


@dataclass(slots=True)
class Seeded:
    """How many rows were added, by table, and what the catalogue says that the site has otherwise (and keeps)."""

    added: dict[str, int] = field(default_factory=dict)
    differs: list[str] = field(default_factory=list)

    def words(self) -> str:
        """One line for the log."""
        new = ", ".join(f"{count} {name}" for name, count in self.added.items() if count)
        return f"seed: {new} added" if new else f"seed: nothing new among {', '.join(self.added)}"


@transaction.atomic
def seed_catalogue() -> Seeded:
    """Insert what is missing of the catalogue; twice is harmless."""
    done = Seeded()
    chips = [(slug_of(row["name"]), _chip_fields(row)) for row in read("chips")]
    models = [(slug_of(row["name"]), _model_fields(row)) for row in read("models")]
    done.added["chips"] = _insert(Chip, chips, done)
    done.added["models"] = _insert(LanguageModel, models, done)
    done.added["aliases"] = _insert_aliases(read("aliases"), done)
    prices = add_prices(read("prices"))
    done.added["prices"] = prices.added
    done.differs += prices.differs
    done.added["exchange rates"] = _insert_rates(read("exchange_rates"), done)
    return done


def _chip_fields(row: Row) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": row["name"], "unit": row["unit"]}
    for key in ("vendor", "confidence", "notes"):
        fields[key] = row[key] or ""
    sources: dict[str, str] = {}
    for column, (name, factor, source) in CHIP_FACTS.items():
        if row[column] is not None:
            scale = MEMORY_UNITS[row["memory_unit"]] if column == "memory" else factor
            fields[name] = row[column] * scale
            sources[name] = row[source]
    return fields | {"sources": sources}


def _model_fields(row: Row) -> dict[str, Any]:
    fields = {key: row[key] for key in ("name", "parameters_total", "parameters_active")}
    return fields | {"developer": row["developer"] or "", "source": row["source"] or ""}


#: Facts that a difference is reported for; wording (notes, sources) is the operator's own.
_COMPARED = (*(name for name, _, _ in CHIP_FACTS.values()), "parameters_total", "parameters_active")


def _insert(table: type[Chip] | type[LanguageModel], entries: list[tuple[str, dict[str, Any]]], done: Seeded) -> int:
    stored: dict[str, Any] = {row.slug: row for row in table._default_manager.all()}
    new = [table(slug=slug, known=True, **fields) for slug, fields in entries if slug not in stored]
    table._default_manager.bulk_create(new, ignore_conflicts=True)  # type: ignore[arg-type]
    for slug, fields in entries:
        row = stored.get(slug)
        if row is None:
            continue
        if not row.known:
            _fill(row, fields | {"known": True})
            continue
        for name in _COMPARED:
            ours, theirs = getattr(row, name, None), fields.get(name)
            if theirs is not None and ours != theirs:
                found = "nothing" if ours is None else f"{ours:g}"
                done.differs.append(f"{row} {name}: {found} is stored and kept; the catalogue says {theirs:g}")
    return len(new)


def _fill(row: Model, fields: dict[str, Any]) -> None:
    for name, value in fields.items():
        setattr(row, name, value)
    row.save(update_fields=list(fields))


def _insert_aliases(rows: list[Row], done: Seeded) -> int:
    return sum(
        _insert_aliases_of(kind, [row for row in rows if row["kind"] == kind], owners, aliases, done)
        for kind, owners, aliases in (
            ("chip", Chip._default_manager, ChipAlias._default_manager),
            ("model", LanguageModel._default_manager, ModelAlias._default_manager),
        )
    )


def _insert_aliases_of(kind: str, rows: list[Row], owners: Any, aliases: Any, done: Seeded) -> int:
    by_slug = {owner.slug: owner for owner in owners.all()}
    stored = {alias.slug: getattr(alias, kind) for alias in aliases.select_related(kind)}
    new = []
    for row in rows:
        slug, owner = slug_of(row["alias"]), by_slug[slug_of(row["name"])]
        if slug in by_slug:
            done.differs.append(
                f"{row['alias']!r} is stored as {kind} of its own; the catalogue says that it is {owner}: "
                f"manage.py map_{kind} merges the two"
            )
        elif slug not in stored:
            new.append(aliases.model(slug=slug, **{kind: owner}))
        elif stored[slug] != owner:
            done.differs.append(f"{row['alias']!r} stands for {stored[slug]} and stays so; the catalogue says {owner}")
    aliases.bulk_create(new, ignore_conflicts=True)
    return len(new)


def _insert_rates(rows: Iterable[Row], done: Seeded) -> int:
    stored = {(rate.date, rate.base, rate.quote): rate for rate in ExchangeRate.objects.all()}
    new = []
    for row in rows:
        fields = {key: row[key] for key in ("date", "base", "quote", "rate", "source")}
        found = stored.get((row["date"], row["base"], row["quote"]))
        if found is None:
            new.append(ExchangeRate(**fields))
        elif found.rate != row["rate"]:
            done.differs.append(f"{found} is stored and kept; the catalogue says {row['rate']}")
    ExchangeRate.objects.bulk_create(new, ignore_conflicts=True)
    return len(new)
