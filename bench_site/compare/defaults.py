"""What a visitor sees who asked for nothing."""

from django.db import connection

from bench_site.compare.books import load_books
from bench_site.compare.catalogue import load_catalogue
from bench_site.compare.selection import DEFAULT_ROWS, UNKNOWN, BookChoice, Selection

#: The model and workload with most to compare: most chips, then most series; the newest of equals.
RICHEST = """
SELECT c.model_id, s.workload_id
FROM runs_series s
JOIN runs_configuration c ON c.id = s.configuration_id
JOIN runs_groupstatistic t ON t.group_id = s.newest_group_id
WHERE t.runs > 0 AND t.verification <> 'failed' AND t.plausibility <> 'quarantine'
GROUP BY c.model_id, s.workload_id
ORDER BY max((s.evidence IN ('measured', 'published'))::int) DESC, count(DISTINCT c.chip_ids) DESC, count(*) DESC,
    max(t.last_run_at) DESC NULLS LAST, s.workload_id, c.model_id
LIMIT 1
"""


def default_selection() -> Selection:
    """The richest model and workload, the usual price book, the first rows; with nothing stored, just the rows."""
    catalogue = load_catalogue()
    with connection.cursor() as cursor:
        cursor.execute(RICHEST)
        richest = cursor.fetchone()
    chosen = load_books(Selection(), catalogue).chosen
    selection = Selection(rows=DEFAULT_ROWS, book=BookChoice(chosen.tier, chosen.date) if chosen else None)
    if richest is None:
        return selection
    model, workload = richest
    return selection.replace(
        model=(catalogue.models[model].slug if model else UNKNOWN,), workload=(catalogue.workloads[workload].slug,)
    )
