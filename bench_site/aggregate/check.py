"""Is what is stored what the points say? Computes everything again, in memory, and lists what differs."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Q

from bench_site.aggregate.figures import newest_of
from bench_site.aggregate.groups import STATISTIC_COLUMNS, computed
from bench_site.runs.models import GroupStatistic, Point, Series
from bench_site.runs.models.words import Plausibility
from runners.contract.vocabulary import VerificationStatus

#: Figures that differ by less are the same: another machine's logarithm may round its last digit differently.
TOLERANCE = 1e-9
CHUNK = 500


@dataclass(slots=True)
class Findings:
    """What was looked at, how many series wait for a sweep, and a sentence for each difference."""

    series: int = 0
    groups: int = 0
    stale: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not self.stale and not self.differences


def check() -> Findings:
    """Compare every stored statistic with one computed from the points, as of one moment. Nothing is written.

    Stale series are counted and not compared: their statistics are known to be behind.
    """
    findings = Findings()
    with transaction.atomic():
        if len(connection.savepoint_ids) == 0:  # a test's outer transaction has read already and cannot change
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        findings.differences += _points()
        for chunk in _chunks():
            fresh = {one.id: one.newest_group_id for one in chunk if one.stale_since is None}
            findings.series += len(chunk)
            findings.stale += len(chunk) - len(fresh)
            groups, differences = _compare(fresh)
            findings.groups += groups
            findings.differences += differences
    return findings


def _chunks() -> Iterator[list[Series]]:
    last = 0
    while True:
        chunk = list(
            Series.objects.filter(id__gt=last).order_by("id").only("id", "newest_group_id", "stale_since")[:CHUNK]
        )
        if not chunk:
            return
        yield chunk
        last = chunk[-1].id


def _compare(newest: dict[int, int | None]) -> tuple[int, list[str]]:
    """How many groups these series have, and what differs; ``newest`` is each series' stored newest group."""
    stored = {row["group_id"]: row for row in _stored(newest)}
    expected: dict[int, list[tuple[int, dict[str, Any], datetime]]] = {series: [] for series in newest}
    found: list[str] = []
    for series, group, statistic, last in computed(newest.keys()):
        expected[series].append((group, statistic, last))
        row = stored.pop(group, None)
        if row is None:
            found.append(f"group {group} (series {series}): has points and no statistic")
        else:
            found += [f"group {group} (series {series}): {words}" for words in _differing(row, statistic)]
    found += [f"group {group} (series {row['series']}): has a statistic and no points" for group, row in stored.items()]
    for series, statistics in expected.items():
        right = newest_of(statistics)
        if newest[series] != right:
            found.append(f"series {series}: newest_group is {newest[series]}, computed {right}")
    return sum(map(len, expected.values())), found


def _stored(series: dict[int, int | None]) -> Any:
    rows = GroupStatistic.objects.filter(group__series__in=series)
    return rows.values("group_id", *STATISTIC_COLUMNS, series=F("group__series"))


def _differing(stored: dict[str, Any], right: dict[str, Any]) -> Iterator[str]:
    for column in STATISTIC_COLUMNS:
        if column == "figures":
            for name in sorted(stored["figures"].keys() | right["figures"].keys()):
                was, should = stored["figures"].get(name), right["figures"].get(name)
                if not _same(was, should):
                    yield f"figures.{name} is {was}, computed {should}"
        elif not _same(stored[column], right[column]):
            yield f"{column} is {stored[column]}, computed {right[column]}"


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, int | float) and isinstance(b, int | float):  # jsonb gives back 1e16 as an integer
        return math.isclose(a, b, rel_tol=TOLERANCE)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b)


def _points() -> Iterator[str]:
    """Points that contradict what they belong to."""
    left_out = (
        Q(plausibility=Plausibility.QUARANTINE)
        | Q(run__verification=VerificationStatus.FAILED)
        | Q(run__retracted_at__isnull=False)
        | Q(run__deleted_at__isnull=False)
    )
    for run, index in Point.objects.filter(left_out, counts=True).values_list("run_id", "index"):
        yield f"run {run} point {index}: counts although it is quarantined, failed verification, retracted or deleted"
    for run, index in Point.objects.exclude(group__series=F("series")).values_list("run_id", "index"):
        yield f"run {run} point {index}: its group belongs to another series"
