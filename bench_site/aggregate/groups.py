"""From points to the statistics of their groups: a few queries for any number of series.

A statistic exists for every group that has points. A group whose runs are all left out (quarantined, failed in
verification, retracted) has one with ``runs`` 0, so that pages can say why; a group that has lost its last point (the
run was amended into another series) has none.
"""

from collections.abc import Collection, Iterator
from datetime import datetime
from itertools import groupby
from typing import Any

from django.db import transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from bench_site.aggregate.figures import Sample, last_of, newest_of, statistic_of
from bench_site.metrics import facts_of, figures_of_facts, interactivity_source
from bench_site.metrics.facts import PATHS
from bench_site.runs.models import GroupStatistic, Point, ReplicateGroup, Revision, Series

Statistic = dict[str, Any]

#: Facts that have a column of their own in Point.
POINT_COLUMNS = tuple(sorted(PATHS.keys() & {f.name for f in Point._meta.get_fields()}))
#: What a statistic says; ``computed_at`` is when.
STATISTIC_COLUMNS = tuple(f.name for f in GroupStatistic._meta.get_fields() if f.name not in ("group", "computed_at"))
#: Points read at a time: bounds the memory of a series with a long history.
CHUNK = 2_000


def refresh(series_ids: Collection[int]) -> int:
    """Compute and store the statistics of all groups of these series; how many groups have one now.

    Two refreshes of one series never overlap (see ``claimable``). The stale mark is not looked at: that is the sweep's.
    """
    with transaction.atomic():
        list(claimable().filter(series__in=series_ids).order_by("id").select_for_update(no_key=True, of=("self",)))
        newest, count = store(series_ids)
        set_newest(list(Series.objects.filter(id__in=series_ids).order_by("id").select_for_update(no_key=True)), newest)
        return count


def claimable() -> QuerySet[ReplicateGroup]:
    """The one row a series whose lock means "its statistics are being computed": its first group.

    Not the series' own row: accepting a run updates that, and must never wait for statistics. Points that refer to a
    group take only a key-share lock on it, which FOR NO KEY UPDATE lets through.
    """
    first = ReplicateGroup.objects.filter(series=OuterRef("series")).order_by("id").values("id")[:1]
    return ReplicateGroup.objects.filter(id=Subquery(first))


def store(series_ids: Collection[int]) -> tuple[dict[int, int | None], int]:
    """Write the statistics of these series' groups; the newest group of each series, and how many groups there are.

    The caller holds the claim on each series, in a transaction.
    """
    now = timezone.now()
    by_series: dict[int, list[tuple[int, Statistic, datetime]]] = {series: [] for series in series_ids}
    rows: list[GroupStatistic] = []
    for series, group, statistic, last in computed(series_ids):
        by_series[series].append((group, statistic, last))
        rows.append(GroupStatistic(group_id=group, computed_at=now, **statistic))
    GroupStatistic.objects.bulk_create(
        sorted(rows, key=lambda row: row.group_id),
        update_conflicts=True,
        unique_fields=["group"],
        update_fields=[*STATISTIC_COLUMNS, "computed_at"],
        batch_size=1_000,
    )
    kept = [row.group_id for row in rows]
    GroupStatistic.objects.filter(group__series__in=series_ids).exclude(group__in=kept).delete()
    return {series: newest_of(found) for series, found in by_series.items()}, len(rows)


def set_newest(series: list[Series], newest: dict[int, int | None]) -> None:
    """Point each of these (locked) series to its newest group, where that changed."""
    moved = [one for one in series if one.newest_group_id != newest[one.id]]
    for one in moved:
        one.newest_group_id = newest[one.id]
    Series.objects.bulk_update(moved, ["newest_group"], batch_size=500)


def computed(series_ids: Collection[int]) -> Iterator[tuple[int, int, Statistic, datetime]]:
    """(series, group, statistic, its ``last_of``) of every group with points, from the points; nothing is written."""
    speculative = _speculative(series_ids)
    points = (
        Point.objects.filter(series__in=series_ids)
        .annotate(
            chips=F("series__configuration__chips"),
            at=Coalesce("run__started_at", "run__received_at"),
            dated=Q(run__started_at__isnull=False),
            verification=F("run__verification"),
        )
        .order_by("group_id", "run_id", "index")
        .values(
            *POINT_COLUMNS, "detail", "series_id", "group_id", "run_id", "counts", "plausibility", "chips", "at",
            "dated", "verification",
        )
    )  # fmt: skip
    rows = points.iterator(chunk_size=CHUNK)
    for (series, group), of_group in groupby(rows, key=lambda row: (row["series_id"], row["group_id"])):
        samples = [_sample(row, speculative.get(row["run_id"])) for row in of_group]
        yield series, group, statistic_of(samples), last_of(samples)


def _sample(row: dict[str, Any], speculative: dict[str, Any] | None) -> Sample:
    facts = facts_of(row, row["chips"], speculative) if row["counts"] else {}
    return Sample(
        run=row["run_id"],
        counts=row["counts"],
        at=row["at"],
        verification=row["verification"],
        plausibility=row["plausibility"],
        interactivity_from=interactivity_source(facts),
        figures=figures_of_facts(facts),
        dated=row["dated"],
    )


def _speculative(series_ids: Collection[int]) -> dict[Any, dict[str, Any]]:
    """What the reports of speculating runs say about acceptance, by run: it belongs to the run, not to a point."""
    runs = (
        Point.objects.filter(series__in=series_ids, counts=True)
        .exclude(series__configuration__speculative__in=["", "none"])
        .values("run_id")
    )
    found = Revision.objects.filter(run__in=runs, number=F("run__revision")).values_list(
        "run_id", "report__strategy__speculative"
    )
    return {run: part for run, part in found if isinstance(part, dict)}
