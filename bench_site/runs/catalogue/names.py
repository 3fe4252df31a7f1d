"""Finding an entry of the catalogue by any of its names."""

import difflib

from bench_site.runs.models import Chip, LanguageModel
from bench_site.runs.models.catalogue import slug_of


class NoSuchEntry(LookupError):
    """No entry has this name; the text names the nearest."""


def find_chip(name: str) -> Chip:
    """The chip that is called ``name``; its own name wins over an alias. Raises NoSuchEntry."""
    slug = slug_of(name)
    found = Chip.objects.filter(slug=slug).first() or Chip.objects.filter(aliases__slug=slug).first()
    if found is None:
        raise NoSuchEntry(_missing("chip", name, list(Chip.objects.values_list("name", flat=True))))
    return found


def find_model(name: str) -> LanguageModel:
    """The language model that is called ``name``; its own name wins over an alias. Raises NoSuchEntry."""
    slug = slug_of(name)
    found = LanguageModel.objects.filter(slug=slug).first() or LanguageModel.objects.filter(aliases__slug=slug).first()
    if found is None:
        raise NoSuchEntry(_missing("model", name, list(LanguageModel.objects.values_list("name", flat=True))))
    return found


def _missing(kind: str, name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    return f"There is no {kind} {name!r}" + (f"; nearest: {', '.join(near)}." if near else ".")
