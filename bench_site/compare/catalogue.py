"""The names a comparison can be filtered by: chips, models, machines and workloads, read once a request."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from bench_site.compare.selection import UNKNOWN
from bench_site.compare.shapes import WorkloadView


@dataclass(frozen=True, slots=True)
class Named:
    """One chip, model or machine; ``vendor`` is a chip's vendor or a model's developer, "" when unknown."""

    id: int
    slug: str
    name: str
    vendor: str = ""


@dataclass(slots=True)
class Catalogue:
    """Every chip, model, machine and workload, and what a URL may call them."""

    chips: dict[int, Named] = field(default_factory=dict)
    models: dict[int, Named] = field(default_factory=dict)
    machines: dict[int, Named] = field(default_factory=dict)
    workloads: dict[int, WorkloadView] = field(default_factory=dict)
    _ids: dict[tuple[str, str], int] = field(default_factory=dict)

    def id_of(self, kind: str, slug: str) -> int | None:
        """The id of the "chip", "model" or "machine" called ``slug`` (an alias will do); None: there is none."""
        return self._ids.get((kind, slug))

    def vendor_ids(self, vendors: Iterable[str]) -> list[int]:
        """The chips of these vendors, compared without case; "unknown" stands for chips without one."""
        wanted = {"" if vendor == UNKNOWN else vendor for vendor in vendors}
        return [chip.id for chip in self.chips.values() if chip.vendor.casefold() in wanted]

    def workload_ids(self, values: Iterable[str]) -> tuple[list[int], dict[str, list[str]]]:
        """The workloads that ``values`` name, and for each value that names none or several, the nearest slugs.

        A value is a slug, or its beginning where only one workload begins so.
        """
        by_slug = {workload.slug: workload.id for workload in self.workloads.values()}
        ids, unclear = [], {}
        for value in values:
            if value in by_slug:
                ids.append(by_slug[value])
                continue
            longer = sorted(slug for slug in by_slug if slug.startswith(f"{value}-"))
            if len(longer) == 1:
                ids.append(by_slug[longer[0]])
            else:
                unclear[value] = longer
        return ids, unclear


NAMES = """
SELECT 'chip', c.id, c.slug, c.name, c.vendor,
    ARRAY(SELECT a.slug FROM runs_chipalias a WHERE a.chip_id = c.id) FROM runs_chip c
UNION ALL
SELECT 'model', m.id, m.slug, m.name, m.developer,
    ARRAY(SELECT a.slug FROM runs_modelalias a WHERE a.model_id = m.id) FROM runs_languagemodel m
UNION ALL
SELECT 'machine', id, name, name, '', '{}' FROM runs_machine
"""
WORKLOADS = """
SELECT id, key, kind, loop, dataset, dataset_name, input_tokens, output_tokens, prefix_cache, request_rate_cap
FROM runs_workload ORDER BY id
"""


def load_catalogue() -> Catalogue:
    """Two queries, whatever is stored."""
    found = Catalogue()
    tables = {"chip": found.chips, "model": found.models, "machine": found.machines}
    with connection.cursor() as cursor:
        cursor.execute(NAMES)
        rows = cursor.fetchall()
        cursor.execute(WORKLOADS)
        workloads = cursor.fetchall()
    for kind, id_, _slug, _name, _vendor, aliases in rows:
        for alias in aliases:
            found._ids[kind, alias] = id_
    for kind, id_, slug, name, vendor, _aliases in rows:  # after the aliases: a slug of its own wins
        tables[kind][id_] = Named(id_, slug, name, vendor)
        found._ids[kind, slug] = id_
    found.workloads = _with_slugs(workloads)
    return found


def _with_slugs(rows: list[tuple[Any, ...]]) -> dict[int, WorkloadView]:
    slugs = [workload_slug(*row[2:]) for row in rows]
    times = Counter(slugs)
    return {
        id_: WorkloadView(
            id=id_,
            # Two workloads that read alike are told apart by their keys, so that a slug always names one.
            slug=slug if times[slug] == 1 else f"{slug}-{key[:8]}",
            kind=kind,
            loop=loop,
            dataset=name or dataset,
            input_tokens=asked_in,
            output_tokens=asked_out,
            prefix_cache=cached,
        )
        for slug, (id_, key, kind, loop, dataset, name, asked_in, asked_out, cached, _cap) in zip(
            slugs, rows, strict=True
        )
    }


def workload_slug(
    kind: str,
    loop: str,
    dataset: str,
    dataset_name: str,
    input_tokens: int | None,
    output_tokens: int | None,
    prefix_cache: bool | None,
    request_rate_cap: float | None,
) -> str:
    """A workload as the URL names it: kind, loop, asked lengths, then what else is known of it.

    It depends on the workload alone, so that an address keeps its meaning when other workloads arrive.
    """
    parts = [kind, loop, *("any" if n is None else str(n) for n in (input_tokens, output_tokens))]
    name = dataset_name or dataset
    if name:
        parts.append(re.sub(r"[^a-z0-9]+", "-", name.casefold().removeprefix("sha256:"))[:40].strip("-") or "dataset")
    if dataset and dataset_name and dataset.casefold() != dataset_name.casefold():
        parts.append(re.sub(r"[^a-z0-9]", "", dataset.casefold().removeprefix("sha256:"))[:8])
    if prefix_cache is not None:
        parts.append("cached" if prefix_cache else "uncached")
    if request_rate_cap is not None:
        parts.append(f"cap{request_rate_cap:g}")
    return "-".join(part for part in parts if part)
