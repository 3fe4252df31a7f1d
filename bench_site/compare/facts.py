"""Phase one of a comparison: of every group that could matter, the few numbers to count, rank and draw by.

One query; its rows become columns of one array. A group is read if it fails at most one of the filters: those that
fail none are shown, those that fail exactly the filter of a facet are counted in that facet's options.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from bench_site.compare.catalogue import Catalogue
from bench_site.compare.selection import NONE, UNKNOWN, Selection
from bench_site.runs.models.words import Plausibility
from runners.contract.vocabulary import Evidence, VerificationStatus

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

EVIDENCE = [word.value for word in Evidence]
VERIFICATION = [word.value for word in VerificationStatus]
PLAUSIBILITY = [word.value for word in Plausibility]

#: Filters that have options with counts, in the order of the page. Each has one bit of ``misses``.
FACETS = (
    "model", "workload", "precision", "chip", "vendor", "engine", "strategy", "speculative", "evidence",
    "verification", "plausibility", "load", "machine", "context",
)  # fmt: skip
BIT = {name: 1 << position for position, name in enumerate(FACETS)}

#: Left out unless the selection names it; verification "failed" cannot be named.
SHOWN_PLAUSIBILITY = (Plausibility.ACCEPT.value, Plausibility.FLAG.value)
SHOWN_VERIFICATION = (VerificationStatus.PASSED.value, VerificationStatus.NOT_RUN.value)

# Every column is a number. The curve's key is a sha256; its first 52 bits are exact in a double, and two curves of
# ten thousand fall together once in 10^8 sites. Words travel as their place in the vocabulary, unknown as NaN.
COLUMNS = {
    "misses": "misses",
    "group": "g.id",
    "series": "s.id",
    "configuration": "s.configuration_id",
    "workload": "s.workload_id",
    "curve": "('x' || substr(g.curve, 1, 13))::bit(52)::bigint",
    "evidence": "array_position(%(evidence_words)s::text[], s.evidence::text) - 1",
    "verification": "array_position(%(verification_words)s::text[], t.verification::text) - 1",
    "plausibility": "array_position(%(plausibility_words)s::text[], t.plausibility::text) - 1",
    "machine": "s.machine_id",
    "context": "s.context_tokens",
    "runs": "t.runs",
}
TABLES = """
FROM runs_series s
JOIN runs_replicategroup g ON {which}
JOIN runs_groupstatistic t ON t.group_id = g.id
JOIN runs_configuration c ON c.id = s.configuration_id
"""
#: Each series' newest group, unless the selection names groups (or runs, whose groups are meant).
NEWEST, NAMED = "g.id = s.newest_group_id", "g.series_id = s.id"


@dataclass(slots=True)
class Facts:
    """Columns of equal length, one entry a group; NaN where unknown."""

    table: Floats
    place: dict[str, int]

    def __getitem__(self, name: str) -> Floats:
        """The column ``name``: one of COLUMNS or a metric."""
        return self.table[:, self.place[name]]

    def __len__(self) -> int:
        return len(self.table)

    @property
    def shown(self) -> Mask:
        """The groups that pass every filter."""
        return self["misses"] == 0

    def but_for(self, facet: str) -> Mask:
        """The groups that pass every filter, leaving this one aside."""
        misses = self["misses"]
        return (misses == 0) | (misses == BIT[facet])


def load_facts(selection: Selection, catalogue: Catalogue, metrics: Sequence[str]) -> Facts:
    """One query. ``metrics`` are columns of the statistics."""
    values: dict[str, Any] = {
        "evidence_words": EVIDENCE, "verification_words": VERIFICATION, "plausibility_words": PLAUSIBILITY,
    }  # fmt: skip
    conditions = filters(selection, catalogue, values)
    misses = " + ".join(f"CASE WHEN {sql} THEN 0 ELSE {BIT[name]} END" for name, sql in conditions.items())
    columns = {**COLUMNS, **{name: f"t.{name}" for name in metrics}}
    which, where = restriction(selection, values)
    # MATERIALIZED: the planner cannot know how few or many groups pass, guesses very few, and would look up each of
    # thousands by index; kept apart, the joins are planned for what the tables hold, and each filter is computed once.
    query = f"""
    WITH found AS MATERIALIZED (
        SELECT {", ".join(f"{misses if name == 'misses' else sql} AS {name}_" for name, sql in columns.items())}
        {TABLES.format(which=which)}
        WHERE {where}
    )
    SELECT * FROM found WHERE misses_ & (misses_ - 1) = 0 ORDER BY group_
    """
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        rows = cursor.fetchall()
    table = np.array(rows, dtype=np.float64) if rows else np.empty((0, len(columns)))
    found = Facts(table, {name: place for place, name in enumerate(columns)})
    # What was stored since the catalogue was read is for the next request.
    found.table = table[np.isin(found["workload"], list(catalogue.workloads))]
    return found


def restriction(selection: Selection, values: dict[str, Any]) -> tuple[str, str]:
    """How groups are joined to their series, and the conditions that are no facets."""
    where = ["TRUE"]
    if selection.series:
        where.append("s.id = ANY(%(series)s)")
        values["series"] = list(selection.series)
    if selection.group:
        where.append("g.id = ANY(%(group)s)")
        values["group"] = list(selection.group)
    if selection.run:
        where.append("g.id IN (SELECT p.group_id FROM runs_point p WHERE p.run_id = ANY(%(run)s::uuid[]))")
        values["run"] = [str(one) for one in selection.run]
    if selection.tag:
        where.append(
            "g.id IN (SELECT p.group_id FROM runs_point p JOIN runs_run r ON r.id = p.run_id"
            " WHERE r.tags && %(tag)s::varchar[])"
        )
        values["tag"] = list(selection.tag)
    named = selection.group or selection.run or selection.tag
    return (NAMED if named else NEWEST), " AND ".join(where)


def filters(selection: Selection, catalogue: Catalogue, values: dict[str, Any]) -> dict[str, str]:
    """For each filter that is set the SQL that a group passes; what it needs is added to ``values``."""
    found: dict[str, str] = {}

    def any_of(name: str, column: str, kind: str, chosen: list[Any]) -> None:
        values[name] = chosen
        found[name] = f"coalesce({column} = ANY(%({name})s::{kind}[]), FALSE)"

    def text(name: str, column: str, chosen: Sequence[str], unknown: str = "") -> None:
        if chosen:
            any_of(name, column, "text", [unknown if one == UNKNOWN else one for one in chosen])

    def overlapping(name: str, chosen: list[int], or_none: bool) -> None:
        values[name] = chosen
        none = " OR c.chip_ids = '{}'" if or_none else ""
        found[name] = f"(c.chip_ids && %({name})s::bigint[]{none})"

    if selection.model:
        # A configuration without a model is compared as 0, which is no id.
        ids = [0 if slug == UNKNOWN else catalogue.id_of("model", slug) or -1 for slug in selection.model]
        any_of("model", "coalesce(c.model_id, 0)", "bigint", ids)
    if selection.chip:
        chips = [id_ for slug in selection.chip if (id_ := catalogue.id_of("chip", slug))]
        overlapping("chip", chips, UNKNOWN in selection.chip)
    if selection.vendor:
        overlapping("vendor", catalogue.vendor_ids(selection.vendor), UNKNOWN in selection.vendor)
    if selection.workload:
        any_of("workload", "s.workload_id", "bigint", catalogue.workload_ids(selection.workload)[0])
    if selection.load:
        loops = [one.id for one in catalogue.workloads.values() if one.loop in selection.load]
        any_of("load", "s.workload_id", "bigint", loops)
    if selection.machine:
        machines = [id_ for name in selection.machine if (id_ := catalogue.id_of("machine", name))]
        any_of("machine", "s.machine_id", "bigint", machines)
    if selection.context:
        any_of(
            "context", "coalesce(s.context_tokens, -1)", "bigint", [-1 if c is None else c for c in selection.context]
        )
    text("precision", "c.precision", selection.precision)
    text("engine", "c.engine", selection.engine)
    text("strategy", "c.kernel", selection.strategy, unknown=UNKNOWN)
    text("evidence", "s.evidence", selection.evidence)
    text("verification", "t.verification", selection.verification or SHOWN_VERIFICATION)
    text("plausibility", "t.plausibility", selection.plausibility or SHOWN_PLAUSIBILITY)
    if selection.speculative:
        text("speculative", "c.speculative", selection.speculative)
        if "on" in selection.speculative:
            found["speculative"] = f"({found['speculative']} OR c.speculative NOT IN ('', '{NONE}'))"
    return found
