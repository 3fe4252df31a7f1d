"""Phase two of a comparison: the groups that are shown, with everything that a row says. One query."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import ClassVar

from django.db import connection

from bench_site.compare.configurations import array_of
from bench_site.compare.shapes import ConfigurationView, Cost, Figure, Row, WorkloadView
from bench_site.metrics import HEADLINE

FIGURES = ", ".join(
    f"t.{name}, t.{name}_low, t.{name}_high" if interval else f"t.{name}" for name, interval in HEADLINE.items()
)
ROWS = f"""
SELECT g.id, s.id, g.curve, s.configuration_id, s.workload_id, s.load_kind, s.load_value, s.context_tokens,
    g.engine_version, g.image_digest, s.evidence, t.verification, t.plausibility, s.origin, t.runs, t.runs_left_out,
    extract(epoch FROM t.first_run_at)::float8, extract(epoch FROM t.last_run_at)::float8,
    t.interactivity_from, CASE WHEN t.plausibility <> 'accept' THEN (
        SELECT string_agg(DISTINCT f ->> 'message', ' ') FROM runs_point p JOIN runs_run r ON r.id = p.run_id,
            jsonb_array_elements(r.findings) f
        WHERE p.group_id = g.id AND coalesce((f ->> 'point')::int, p.index) = p.index) END,
    {FIGURES}
FROM runs_replicategroup g
JOIN runs_series s ON s.id = g.series_id
JOIN runs_groupstatistic t ON t.group_id = g.id
WHERE g.id = ANY(%s::bigint[])
"""
CostOf = Callable[[ConfigurationView, Mapping[str, Figure]], Cost]


def load_rows(
    groups: Iterable[int],
    configurations: Mapping[int, ConfigurationView],
    workloads: Mapping[int, WorkloadView],
    cost_of: CostOf,
) -> dict[int, Row]:
    """The rows of these groups by group id; rank and frontier are the caller's to set."""
    with connection.cursor() as cursor:
        cursor.execute(ROWS, [array_of(groups)])
        found = cursor.fetchall()
    rows = {}
    for (
        group, series, curve, configuration_id, workload_id, load_kind, load_value, context, engine_version, image,
        evidence, verification, plausibility, origin, runs, left_out, first, last, source, why, *numbers,
    ) in found:  # fmt: skip
        figures = Figures(numbers)
        configuration = configurations[configuration_id]
        rows[group] = Row(
            group, series, curve, configuration, workloads[workload_id], load_kind, load_value, context,
            engine_version, image, evidence, verification, plausibility, origin, runs, left_out,
            _time(first), _time(last), source, figures, cost_of(configuration, figures), why or "",
        )  # fmt: skip
    return rows


def _time(seconds: float | None) -> datetime | None:
    """From the epoch: psycopg's own reading of a time is Python code that costs more than the rest of a row."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


class Figures(Mapping[str, Figure]):
    """The headline figures of one group, each made when it is read."""

    __slots__ = ("_numbers",)
    #: Where each metric's median lies among the numbers, and whether its interval follows.
    PLACES: ClassVar[dict[str, tuple[int, bool]]] = {}

    def __init__(self, numbers: Sequence[float | None]) -> None:
        self._numbers = numbers

    def __getitem__(self, name: str) -> Figure:
        at, interval = self.PLACES[name]
        return Figure(*self._numbers[at : at + 3]) if interval else Figure(self._numbers[at])

    def __iter__(self) -> Iterator[str]:
        return iter(self.PLACES)

    def __len__(self) -> int:
        return len(self.PLACES)

    def __repr__(self) -> str:
        return repr(dict(self))


for _name, _interval in HEADLINE.items():
    Figures.PLACES[_name] = (sum(3 if interval else 1 for _at, interval in Figures.PLACES.values()), _interval)
