"""What there is besides what is compared: every model with results, and the newest run. One query."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from django.db import connection

from bench_site.compare.catalogue import workload_slug
from bench_site.compare.selection import UNKNOWN

OVERVIEW = """
SELECT m.slug, m.name, count(*), count(*) FILTER (WHERE s.evidence <> 'claimed'), NULL::uuid, NULL::float8, NULL, NULL
FROM runs_series s
JOIN runs_configuration c ON c.id = s.configuration_id
JOIN runs_groupstatistic t ON t.group_id = s.newest_group_id
LEFT JOIN runs_languagemodel m ON m.id = c.model_id
WHERE t.runs > 0 AND t.verification <> 'failed' AND t.plausibility <> 'quarantine'
GROUP BY m.id
UNION ALL
(SELECT m.slug, m.name, 0, 0, r.id, extract(epoch FROM r.received_at)::float8,
    (SELECT json_agg(json_build_array(h.name, p.chips) ORDER BY p.position) FROM runs_configurationpool p
        LEFT JOIN runs_chip h ON h.id = p.chip_id WHERE p.configuration_id = c.id)::text,
    (SELECT json_build_array(w.kind, w.loop, w.dataset, w.dataset_name, w.input_tokens, w.output_tokens,
            w.prefix_cache, w.request_rate_cap)
        FROM runs_point p JOIN runs_series s ON s.id = p.series_id JOIN runs_workload w ON w.id = s.workload_id
        WHERE p.run_id = r.id ORDER BY p.index LIMIT 1)::text
FROM runs_run r
JOIN runs_configuration c ON c.id = r.configuration_id
LEFT JOIN runs_languagemodel m ON m.id = c.model_id
WHERE r.deleted_at IS NULL AND r.evidence <> 'claimed'
ORDER BY r.received_at DESC, r.id LIMIT 1)
"""


@dataclass(frozen=True, slots=True)
class NewestRun:
    """The run that arrived last, claims left aside; ``workload`` "" for a run without points."""

    id: UUID
    model: str
    model_slug: str
    pools: tuple[tuple[str, int | None], ...]
    workload: str
    received_at: datetime


@dataclass(slots=True)
class Overview:
    """``models``: (slug, name, groups that could be shown) of each model; ``claims_only``: nothing else is stored."""

    models: list[tuple[str, str, int]] = field(default_factory=list)
    newest: NewestRun | None = None
    claims_only: bool = False


def load_overview() -> Overview:
    """One query, whatever is stored."""
    with connection.cursor() as cursor:
        cursor.execute(OVERVIEW)
        rows = cursor.fetchall()
    found, own = Overview(), 0
    for slug, name, groups, not_claimed, run, seconds, pools, workload in rows:
        if run is None:
            found.models.append((slug or UNKNOWN, name or "", groups))
            own += not_claimed
        else:
            named = tuple((chip or "", chips) for chip, chips in json.loads(pools or "[]"))
            where = workload_slug(*json.loads(workload)) if workload else ""
            when = datetime.fromtimestamp(seconds, UTC)
            found.newest = NewestRun(run, name or "", slug or UNKNOWN, named, where, when)
    found.models.sort(key=lambda one: (one[0] == UNKNOWN, one[1].casefold()))
    found.claims_only = bool(found.models) and not own and found.newest is None
    return found
