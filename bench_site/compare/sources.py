"""The runs behind the rows, for a CSV or an answer in JSON: one query, on the index of points by group."""

from collections.abc import Iterable

from django.db import connection

from bench_site.compare.shapes import Row

#: The runs that a group's figures come from; where none counts, those that were left out.
SOURCES = """
SELECT group_id, array_agg(id ORDER BY id), array_agg(revision ORDER BY id), array_agg(DISTINCT experiment_id)
FROM (
    SELECT DISTINCT p.group_id, r.id, r.revision, r.experiment_id
    FROM runs_point p
    JOIN runs_run r ON r.id = p.run_id
    JOIN runs_groupstatistic t ON t.group_id = p.group_id
    WHERE p.group_id = ANY(%s) AND (p.counts OR t.runs = 0)
) AS found
GROUP BY group_id
"""


def attach_sources(rows: Iterable[Row]) -> None:
    """Set ``run_ids``, ``revisions`` (of the same order) and ``experiments`` of each row."""
    by_group = {row.group_id: row for row in rows}
    with connection.cursor() as cursor:
        cursor.execute(SOURCES, [list(by_group)])
        for group, run_ids, revisions, experiments in cursor.fetchall():
            row = by_group[group]
            row.run_ids, row.revisions = tuple(run_ids), tuple(revisions)
            row.experiments = tuple(one for one in experiments if one is not None)
