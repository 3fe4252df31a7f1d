"""The rows of configurations, workloads, series and replicate groups: found by key, made once.

Rows are made by INSERT ... ON CONFLICT DO NOTHING, table by table in one order, sorted by key: two uploads that need
the same new rows wait for each other at most, and never crosswise.
"""

from collections.abc import Iterable

from django.db import connection

from bench_site.ingest.catalogue import Catalogue
from bench_site.ingest.items import Item
from bench_site.ingest.trips import rows_of
from bench_site.runs.identity import load_identity, sorted_pools, word
from bench_site.runs.models import Configuration, ConfigurationPool, ReplicateGroup, Series, Workload

_FIND = """
SELECT 'configuration', key, id FROM runs_configuration WHERE key = ANY(%(configurations)s::text[])
UNION ALL SELECT 'workload', key, id FROM runs_workload WHERE key = ANY(%(workloads)s::text[])
UNION ALL SELECT 'series', key, id FROM runs_series WHERE key = ANY(%(series)s::text[])
UNION ALL SELECT 'group', key, id FROM runs_replicategroup WHERE key = ANY(%(groups)s::text[])
"""

Ids = dict[str, int]


class Identities:
    """The ids of all identity rows that ``items`` need, by key. Inside a transaction."""

    def __init__(self, items: list[Item], catalogue: Catalogue) -> None:
        self.items, self.catalogue = items, catalogue
        self.configurations: Ids = {}
        self.workloads: Ids = {}
        self.series: Ids = {}
        self.groups: Ids = {}
        wanted = {
            "configurations": sorted({item.configuration_key for item in items}),
            "workloads": sorted({item.workload_key for item in items}),
            "series": sorted({place.series for item in items for place in item.places}),
            "groups": sorted({place.group for item in items for place in item.places}),
        }
        tables = {
            "configuration": self.configurations,
            "workload": self.workloads,
            "series": self.series,
            "group": self.groups,
        }
        for table, key, row in rows_of(_FIND, wanted):
            tables[table][key] = row
        if missing := set(wanted["configurations"]) - self.configurations.keys():
            self._make_configurations(missing)
        if missing := set(wanted["workloads"]) - self.workloads.keys():
            self._make_workloads(missing)
        if missing := set(wanted["series"]) - self.series.keys():
            self._make_series(missing)
        if missing := set(wanted["groups"]) - self.groups.keys():
            self._make_groups(missing)

    def _make_configurations(self, missing: set[str]) -> None:
        items = {item.configuration_key: item for item in self.items if item.configuration_key in missing}
        rows = [self._configuration(key, items[key]) for key in sorted(items)]
        Configuration.objects.bulk_create(rows, ignore_conflicts=True)
        self.configurations |= _ids(Configuration.objects.filter(key__in=items))
        # Whoever made the configuration made its pools in the same transaction; then these change nothing.
        ConfigurationPool.objects.bulk_create(
            [pool for key in sorted(items) for pool in self._pools(self.configurations[key], items[key])],
            ignore_conflicts=True,
        )

    def _configuration(self, key: str, item: Item) -> Configuration:
        report, identity, catalogue = item.report, item.configuration, self.catalogue
        counts = [pool.chips for pool in report.system.pools]
        model = catalogue.model(report.model.name) if report.model.name else None
        entries = {catalogue.chip(pool.chip) for pool in report.system.pools if pool.chip}
        return Configuration(
            key=key,
            model_id=model.id if model else None,
            engine=identity["engine"] or "",
            precision=identity["precision"] or "",
            precision_kv_cache=identity["precision_kv_cache"] or "",
            precision_activations=identity["precision_activations"] or "",
            kernel=identity["kernel"],
            speculative=identity["speculative"] or "",
            draft=identity["draft"] or "",
            draft_tokens=identity["draft_tokens"],
            acceptance_source=identity["acceptance_source"] or "",
            chips=sum(n for n in counts if n) if counts and all(counts) else None,
            chip_ids=sorted(entry.id for entry in entries if entry),
        )

    def _pools(self, configuration: int, item: Item) -> Iterable[ConfigurationPool]:
        for position, pool in enumerate(sorted_pools(item.report.system.pools, self.catalogue.chip_slug)):
            entry = self.catalogue.chip(pool.chip) if pool.chip else None
            yield ConfigurationPool(
                configuration_id=configuration,
                position=position,
                role=pool.role.value,
                chip_id=entry.id if entry else None,
                chips=pool.chips,
                nodes=pool.nodes,
                workers=pool.workers,
                parallelism=pool.parallelism.model_dump(exclude_none=True),
            )

    def _make_workloads(self, missing: set[str]) -> None:
        items = {item.workload_key: item.report.workload for item in self.items if item.workload_key in missing}
        rows = [
            Workload(
                key=key,
                kind=workload.kind.value,
                loop=workload.loop.value,
                dataset=workload.dataset.digest or word(workload.dataset.name) or "",
                dataset_name=workload.dataset.name or "",
                input_tokens=workload.input_tokens,
                output_tokens=workload.output_tokens,
                prefix_cache=workload.prefix_cache,
                request_rate_cap=workload.request_rate_cap,
            )
            for key, workload in sorted(items.items())
        ]
        Workload.objects.bulk_create(rows, ignore_conflicts=True)
        self.workloads |= _ids(Workload.objects.filter(key__in=items))

    def _make_series(self, missing: set[str]) -> None:
        rows: dict[str, Series] = {}
        for item in self.items:
            for place in item.places:
                if place.series in missing and place.series not in rows:
                    kind, value = load_identity(place.load)
                    rows[place.series] = Series(
                        key=place.series,
                        configuration_id=self.configurations[item.configuration_key],
                        workload_id=self.workloads[item.workload_key],
                        load_kind=kind.value,
                        load_value=value,
                        context_tokens=place.load.context_tokens,
                        evidence=item.report.evidence.value,
                        machine_id=self.machine(item),
                        origin=item.origin,
                    )
        Series.objects.bulk_create([rows[key] for key in sorted(rows)], ignore_conflicts=True)
        self.series |= _ids(Series.objects.filter(key__in=rows))

    def _make_groups(self, missing: set[str]) -> None:
        rows = {
            place.group: ReplicateGroup(
                key=place.group, series_id=self.series[place.series], curve=place.curve, **item.group_parts
            )
            for item in self.items
            for place in item.places
            if place.group in missing
        }
        ReplicateGroup.objects.bulk_create([rows[key] for key in sorted(rows)], ignore_conflicts=True)
        self.groups |= _ids(ReplicateGroup.objects.filter(key__in=rows))

    def machine(self, item: Item) -> int | None:
        """The id of the machine that an item names."""
        name = item.report.system.machine
        return self.catalogue.machines[name] if name else None


def _ids(rows: object) -> Ids:
    return dict(rows.values_list("key", "id"))  # type: ignore[attr-defined]


def mark_stale(series: Iterable[int]) -> None:
    """Tell aggregation that these series have changed. Last before the commit: others wait for these rows.

    The mark moves with every change, so that whoever works on an older state notices. Rows are locked in the order of
    their ids, and without excluding the foreign-key checks of others.
    """
    ids = sorted(set(series))
    with connection.cursor() as cursor:
        if len(ids) == 1:
            cursor.execute("UPDATE runs_series SET stale_since = clock_timestamp() WHERE id = %s", ids)
        elif ids:
            cursor.execute(_MARK, [ids])


_MARK = """
WITH locked AS (SELECT id FROM runs_series WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE)
UPDATE runs_series s SET stale_since = clock_timestamp() FROM locked WHERE s.id = locked.id
"""
