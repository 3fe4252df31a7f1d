"""Rows of runs, revisions, points and samples: many by COPY, one trip a table; a few by INSERT, all in one trip."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import connection

from bench_site.fleet.tokens import Caller
from bench_site.ingest.identities import Identities
from bench_site.ingest.items import Item
from bench_site.ingest.trips import pipelined
from runners.contract import Point
from runners.contract.figures import Distribution

_RUN = (
    "id", "revision", "content_sha256", "status", "evidence", "verification", "plausibility", "findings",
    "configuration_id", "workload_id", "machine_id", "experiment_id", "experiment_kind", "tool", "tool_version",
    "engine_version", "image", "image_digest", "source_name", "source_url", "started_at", "started_at_text",
    "finished_at", "raw_file_id", "raw_record", "tags",
)  # fmt: skip
_RUN_ONCE = ("received_at", "uploaded_by_id", "token_id", "retracted_reason")
_REVISION = ("run_id", "number", "report", "content_sha256", "created_at", "created_by_id", "token_id", "reason")
_LATENCIES = {
    "ttft": ("mean", "p50", "p90", "p99"), "tpot": ("mean", "p50", "p90", "p99"), "itl": ("mean", "p50", "p99"),
    "e2el": ("mean", "p50", "p90", "p99"),
}  # fmt: skip
_RATES = ("output_tokens_per_s", "input_tokens_per_s", "total_tokens_per_s", "requests_per_s")
_POINT = (
    "run_id", "index", "series_id", "group_id", "counts", "plausibility", "duration", "concurrency_measured",
    "requests_sent", "requests_completed", "requests_failed", "input_tokens_mean", "output_tokens_mean",
    *(f"{metric}_{statistic}" for metric, statistics in _LATENCIES.items() for statistic in statistics),
    *_RATES, "detail",
)  # fmt: skip
_NOTHING = Distribution()
#: Points of a run that is written without COPY.
FEW = 4

Row = Sequence[Any]


def insert_runs(items: list[Item], ids: Identities, *, by: Caller, raw_file: int | None, now: datetime) -> None:
    """Write new runs with their first revisions, points and samples. ``items`` are sorted by run id.

    Raises IntegrityError if another transaction has written one of the ids meanwhile.
    """
    user, token = by.user.pk if by.user else None, by.token.pk if by.token else None
    write("runs_run", _RUN + _RUN_ONCE, [(*run_row(item, ids, 1, raw_file), now, user, token, "") for item in items])
    insert_revisions([(item, 1, "") for item in items], by=by, now=now)
    insert_points(items, ids, retracted=frozenset())


def insert_revisions(items: Iterable[tuple[Item, int, str]], *, by: Caller, now: datetime) -> None:
    """Write revisions: (item, number, reason)."""
    user, token = by.user.pk if by.user else None, by.token.pk if by.token else None
    write("runs_revision", _REVISION, [
        (item.report.id, number, item.content.report, item.content.sha256, now, user, token, reason)
        for item, number, reason in items
    ])  # fmt: skip


def insert_points(items: list[Item], ids: Identities, *, retracted: frozenset[object]) -> None:
    """Write the points and samples of ``items``; those of the run ids in ``retracted`` do not count."""
    write("runs_point", _POINT, [
        _point_row(item, index, ids, counts=item.report.id not in retracted and item.counts(index))
        for item in items for index in range(len(item.places))
    ])  # fmt: skip
    holders = [item for item in items if item.places and item.content.columns]
    if not holders:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT run_id, index, id FROM runs_point WHERE run_id = ANY(%s)", [[item.report.id for item in holders]]
        )
        points = {(run, index): point for run, index, point in cursor.fetchall()}
    write("runs_samples", ("point_id", "rows", "data"), [
        (points[item.report.id, index], columns.rows, columns.packed())
        for item in holders for index, columns in item.content.columns.items()
    ])  # fmt: skip


def run_row(item: Item, ids: Identities, revision: int, raw_file: int | None) -> Row:
    """The columns of ``_RUN``: what a run says in its present revision."""
    report, source, engine, experiment = item.report, item.report.source, item.report.engine, item.report.experiment
    return (
        report.id, revision, item.content.sha256, report.status.value, report.evidence.value,
        report.verification.status.value, item.plausibility.value,
        "[" + ",".join(finding.model_dump_json() for finding in item.findings) + "]",
        ids.configurations[item.configuration_key], ids.workloads[item.workload_key], ids.machine(item),
        experiment.id if experiment else None, experiment.kind.value if experiment else "",
        source.tool or "", source.version or "", engine.version or "", engine.image or "", engine.image_digest or "",
        source.name or "", source.url or "", report.started_at, report.started_at_text or "", report.finished_at,
        raw_file, item.raw_record if raw_file is not None else None, report.tags,
    )  # fmt: skip


def _point_row(item: Item, index: int, ids: Identities, *, counts: bool) -> Row:
    point: Point = item.report.points[index]
    place, metrics, requests = item.places[index], point.metrics, point.requests
    row: list[Any] = [
        item.report.id, index, ids.series[place.series], ids.groups[place.group], counts, item.verdict(index).value,
        point.duration, point.concurrency_measured, requests.sent, requests.completed, requests.failed,
        point.tokens.input_mean, point.tokens.output_mean,
    ]  # fmt: skip
    for metric, statistics in _LATENCIES.items():
        found = getattr(metrics, metric) or _NOTHING
        row += [getattr(found, statistic) for statistic in statistics]
    row += [getattr(metrics.rates, rate) for rate in _RATES]
    row.append(item.content.points[index])
    return row


def update_run(item: Item, ids: Identities, revision: int, raw_file: int | None) -> None:
    """Give an existing run the columns of a new revision."""
    assignments = ", ".join(f'"{column}" = %s' for column in _RUN[1:])
    row = run_row(item, ids, revision, raw_file)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE runs_run SET {assignments} WHERE id = %s", [*row[1:], row[0]])


def are_few(item: Item) -> bool:
    """Whether an item's rows are so few that INSERTs in one trip are quicker than a COPY for each table."""
    return len(item.report.points) <= FEW and not item.content.columns


def write(table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Put ``rows`` into ``table``; database errors come as Django's."""
    if not rows:
        return
    names = ", ".join(f'"{column}"' for column in columns)
    if pipelined():
        values = ", ".join(["(" + ", ".join(["%s"] * len(columns)) + ")"] * len(rows))
        with connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO {table} ({names}) VALUES {values}", [value for row in rows for value in row])
        return
    with (
        connection.cursor() as cursor,
        connection.wrap_database_errors,
        cursor.copy(f"COPY {table} ({names}) FROM STDIN") as stream,
    ):
        for row in rows:
            stream.write_row(row)
