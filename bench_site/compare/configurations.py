"""Configurations as people read them: two queries for as many as a comparison needs."""

from collections import defaultdict
from collections.abc import Iterable

from django.db import connection

from bench_site.compare.catalogue import Catalogue
from bench_site.compare.shapes import ConfigurationView, PoolView

CONFIGURATIONS = """
SELECT id, model_id, engine, precision, kernel, speculative, draft_tokens, acceptance_source, chips
FROM runs_configuration WHERE id = ANY(%s::bigint[])
"""
POOLS = """
SELECT configuration_id, role, chip_id, chips FROM runs_configurationpool
WHERE configuration_id = ANY(%s::bigint[]) ORDER BY configuration_id, position
"""


def array_of(ids: Iterable[int]) -> str:
    """Ids as PostgreSQL writes an array: adapting a list of a thousand costs more than the query that needs it."""
    return "{" + ",".join(map(str, ids)) + "}"


def load_configurations(ids: Iterable[int], catalogue: Catalogue) -> dict[int, ConfigurationView]:
    """The configurations with these ids."""
    wanted = [array_of(ids)]
    with connection.cursor() as cursor:
        cursor.execute(CONFIGURATIONS, wanted)
        rows = cursor.fetchall()
        cursor.execute(POOLS, wanted)
        pool_rows = cursor.fetchall()
    pools: defaultdict[int, list[PoolView]] = defaultdict(list)
    made: dict[tuple[str, int | None, int | None], PoolView] = {}  # few differ: most pools share a view
    for configuration, *what in pool_rows:
        key = (what[0], what[1], what[2])
        pool = made.get(key) or made.setdefault(key, _pool(*key, catalogue))
        pools[configuration].append(pool)
    found = {}
    for id_, model_id, engine, precision, kernel, speculative, draft_tokens, acceptance, chips in rows:
        model = catalogue.models.get(model_id)
        found[id_] = ConfigurationView(
            id_, tuple(pools[id_]), chips, model.name if model else "", model.slug if model else "",
            engine, precision, kernel, speculative, draft_tokens, acceptance,
        )  # fmt: skip
    return found


def _pool(role: str, chip_id: int | None, chips: int | None, catalogue: Catalogue) -> PoolView:
    chip = catalogue.chips.get(chip_id) if chip_id is not None else None
    if chip is None:
        return PoolView(role, "", "", "", chips)
    return PoolView(role, chip.name, chip.slug, chip.vendor, chips)
