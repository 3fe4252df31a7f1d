"""Chips, models and machines by the names that reports use for them."""

import difflib
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from bench_site.ingest.trips import rows_of
from bench_site.runs.models import Chip, LanguageModel, Machine
from bench_site.runs.models.catalogue import slug_of
from runners.contract import Report

#: Runs of digits in a slug.
_DIGITS = re.compile(r"\d+")

slug = functools.lru_cache(maxsize=10_000)(slug_of)


@dataclass(frozen=True, slots=True)
class Entry:
    """A chip or model of the catalogue; ``bandwidth`` of one chip in bytes/s, None where unknown."""

    id: int
    slug: str
    known: bool
    bandwidth: float | None = None


@dataclass(slots=True)
class Names:
    """The names in some reports, and their ids: chips and models by the slug of the name (the first spelling stays)."""

    chips: dict[str, str] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    machines: set[str] = field(default_factory=set)
    runs: list[UUID] = field(default_factory=list)

    @classmethod
    def of(cls, reports: Iterable[Report]) -> "Names":
        """The names that ``reports`` mention."""
        names = cls()
        for report in reports:
            names.runs.append(report.id)
            for pool in report.system.pools:
                if pool.chip:
                    names.chips.setdefault(slug(pool.chip), pool.chip)
            if report.model.name:
                names.models.setdefault(slug(report.model.name), report.model.name)
            if report.system.machine:
                names.machines.add(report.system.machine)
        return names


# Capitals: found through an alias, which wins over an entry's own slug.
_LOOK_UP = """
SELECT 'C', a.slug, c.id, c.slug, c.known, c.bandwidth
  FROM runs_chipalias a JOIN runs_chip c ON c.id = a.chip_id WHERE a.slug = ANY(%(chips)s::text[])
UNION ALL SELECT 'c', slug, id, slug, known, bandwidth FROM runs_chip WHERE slug = ANY(%(chips)s::text[])
UNION ALL SELECT 'M', a.slug, m.id, m.slug, m.known, NULL
  FROM runs_modelalias a JOIN runs_languagemodel m ON m.id = a.model_id WHERE a.slug = ANY(%(models)s::text[])
UNION ALL SELECT 'm', slug, id, slug, known, NULL FROM runs_languagemodel WHERE slug = ANY(%(models)s::text[])
UNION ALL SELECT 'h', name, id, name, registered, NULL FROM runs_machine WHERE name = ANY(%(machines)s::text[])
UNION ALL SELECT 'r', id::text, NULL, NULL, NULL, NULL FROM runs_run WHERE id = ANY(%(runs)s::uuid[])
"""


_KNOWN = """
SELECT 'chip', slug, slug, name FROM runs_chip WHERE known
UNION ALL SELECT 'chip', a.slug, c.slug, c.name FROM runs_chipalias a JOIN runs_chip c ON c.id = a.chip_id WHERE c.known
UNION ALL SELECT 'model', slug, slug, name FROM runs_languagemodel WHERE known
UNION ALL SELECT 'model', a.slug, m.slug, m.name
  FROM runs_modelalias a JOIN runs_languagemodel m ON m.id = a.model_id WHERE m.known
"""


def near(name: str, known: Iterable[str]) -> str | None:
    """The known slug that ``name`` may have meant; None if there is none.

    Its numbers must be the other's, or the first of them: "b300" and "h20" are one letter from other chips.
    """
    numbers = _numbers(name)
    alike = [other for other in known if all(a == b for a, b in zip(numbers, _numbers(other), strict=False))]
    begun = [other for other in alike if len(name) >= 3 and other.startswith(name)]
    return min(begun, key=lambda other: (len(other), other), default=None) or next(
        iter(difflib.get_close_matches(name, alike, n=1, cutoff=0.7)), None
    )


def _numbers(text: str) -> list[str]:
    return _DIGITS.findall(text)


class Catalogue:
    """What the database knows about some names, and which of the runs are stored (``runs``). One query, no cache."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.chips: dict[str, Entry] = {}
        self.models: dict[str, Entry] = {}
        self.machines: dict[str, int] = {}
        self.runs: set[UUID] = set()
        #: (kind, slug of an unknown name) -> slug and name of the known entry it is close to.
        self.near: dict[tuple[str, str], tuple[str, str]] = {}
        self._look_up()

    def _look_up(self) -> None:
        names = self.names
        parameters: dict[str, object] = {
            "chips": list(names.chips),
            "models": list(names.models),
            "machines": list(names.machines),
            "runs": names.runs,
        }
        for what, name, key, own, known, bandwidth in rows_of(_LOOK_UP, parameters):
            if what == "r":
                self.runs.add(UUID(name))
            elif what == "h":
                self.machines[name] = key
            else:
                table = self.chips if what in "cC" else self.models
                entry = Entry(key, own, known, bandwidth)
                table[name] = entry if what.isupper() else table.get(name, entry)

    def enter_unknown(self) -> None:
        """Enter the names that nobody knows yet, marked ``known=False`` for the operator to map; never drop them."""
        names = self.names
        chips = sorted(names.chips.keys() - self.chips.keys())
        models = sorted(names.models.keys() - self.models.keys())
        machines = sorted(names.machines - self.machines.keys())
        if not (chips or models or machines):
            return
        self.look_for_near()
        # In one order everywhere, each sorted: two uploads of the same names must not wait for each other crosswise.
        Chip.objects.bulk_create(
            [Chip(slug=key, name=names.chips[key], known=False) for key in chips], ignore_conflicts=True
        )
        LanguageModel.objects.bulk_create(
            [LanguageModel(slug=key, name=names.models[key], known=False) for key in models], ignore_conflicts=True
        )
        Machine.objects.bulk_create([Machine(name=name) for name in machines], ignore_conflicts=True)
        self._look_up()

    def look_for_near(self) -> None:
        """Find what the names that nobody knows may have meant. One query, and only where there is such a name."""
        lost = {
            "chip": self.names.chips.keys() - self.chips.keys(),
            "model": self.names.models.keys() - self.models.keys(),
        }
        if not any(lost.values()):
            return
        known: dict[str, dict[str, tuple[str, str]]] = {"chip": {}, "model": {}}
        for kind, spelling, own, name in rows_of(_KNOWN, {}):
            known[kind][spelling] = own, name
        for kind, names in lost.items():
            for name in names:
                if spelling := near(name, known[kind]):
                    self.near[kind, name] = known[kind][spelling]

    def hints(self, report: Report, *, option: bool) -> list[str]:
        """For each unknown name in ``report`` that is close to a known one: which. ``option``: said beside a file."""
        named = [("chip", pool.chip) for pool in report.system.pools] + [("model", report.model.name)]
        found = []
        for kind, name in dict.fromkeys(named):
            if name and (meant := self.near.get((kind, slug(name)))):
                how = f"`--{kind} {meant[0]}`" if option else meant[0]
                found.append(f"the {kind} {name} is not in the catalogue; did you mean {how} ({meant[1]})?")
        return found

    def chip(self, name: str) -> Entry | None:
        """The chip that ``name`` stands for; None if it is not in the catalogue (before ``enter_unknown``)."""
        return self.chips.get(slug(name))

    def model(self, name: str) -> Entry | None:
        """The model that ``name`` stands for."""
        return self.models.get(slug(name))

    def chip_slug(self, name: str) -> str:
        """The catalogue's slug for a chip's name; an unknown name stands for itself."""
        entry = self.chip(name)
        return entry.slug if entry else slug(name)

    def model_slug(self, name: str) -> str:
        """The catalogue's slug for a model's name."""
        entry = self.model(name)
        return entry.slug if entry else slug(name)

    def bandwidth(self, name: str) -> float | None:
        """Memory bandwidth of one chip in bytes/s; None where unknown."""
        entry = self.chip(name)
        return entry.bandwidth if entry else None

    def unknown(self, report: Report) -> tuple[list[str], list[str]]:
        """The names in ``report`` (chips, models) that wait for the operator to map them."""
        chips = {pool.chip for pool in report.system.pools if pool.chip and not _known(self.chip(pool.chip))}
        model = report.model.name
        return sorted(chips), [model] if model and not _known(self.model(model)) else []


def _known(entry: Entry | None) -> bool:
    return entry is not None and entry.known
