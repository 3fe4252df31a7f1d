"""What a comparison is made of: plain values between the query and the page, figure, table and CSV."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from bench_site.metrics.book import Rate


class Figure(NamedTuple):
    """A metric of a group: its median and 95 % interval in the metric's unit; None where unknown."""

    value: float | None
    low: float | None = None
    high: float | None = None


UNKNOWN = Figure(None)


@dataclass(frozen=True, slots=True)
class PoolView:
    """One pool; ``chips`` physical, None when unknown; ``vendor`` "" when unknown."""

    role: str
    chip: str
    chip_slug: str
    vendor: str
    chips: int | None


@dataclass(frozen=True, slots=True)
class ConfigurationView:
    """A configuration as people read it. ``speculative``: method, "none" (off) or "" (unknown)."""

    id: int
    pools: tuple[PoolView, ...]
    chips: int | None
    model: str
    model_slug: str
    engine: str
    precision: str
    kernel: str
    speculative: str
    draft_tokens: int | None
    acceptance_source: str

    @property
    def vendor(self) -> str:
        """The vendor of all pools, "" when unknown or mixed."""
        vendors = {pool.vendor for pool in self.pools}
        return vendors.pop() if len(vendors) == 1 else ""


@dataclass(frozen=True, slots=True)
class WorkloadView:
    """A workload as people read it; ``slug`` is its value of the URL parameter ``workload``."""

    id: int
    slug: str
    kind: str
    loop: str
    dataset: str
    input_tokens: int | None
    output_tokens: int | None
    prefix_cache: bool | None


@dataclass(frozen=True, slots=True)
class Cost:
    """Money per million tokens in ``currency``; None with ``missing`` saying why in words (it names the chip).

    ``per_m_output``: all cost on output. ``per_m_total``: on input and output together. ``rates``: what was exchanged.
    """

    currency: str
    per_m_output: Decimal | None = None
    per_m_output_low: Decimal | None = None
    per_m_output_high: Decimal | None = None
    per_m_total: Decimal | None = None
    per_hour: Decimal | None = None
    missing: str = ""
    rates: tuple[Rate, ...] = ()


@dataclass(slots=True)
class Row:
    """One replicate group: one point of the chart and one line of the table.

    ``why_marked``: what the rules of plausibility found, where they found something.
    """

    group_id: int
    series_id: int
    curve: str
    configuration: ConfigurationView
    workload: WorkloadView
    load_kind: str
    load_value: float | None
    context_tokens: int | None
    engine_version: str
    image: str
    evidence: str
    verification: str
    plausibility: str
    origin: str
    runs: int
    runs_left_out: int
    first_run_at: datetime | None
    last_run_at: datetime | None
    interactivity_from: str
    figures: Mapping[str, Figure]
    cost: Cost
    why_marked: str = ""
    rank: int | None = None
    on_frontier: bool = False
    run_ids: tuple[UUID, ...] = ()
    experiments: tuple[UUID, ...] = ()
    revisions: tuple[int, ...] = ()


@dataclass(slots=True)
class Curve:
    """Groups that agree in everything but the load, ordered by load; possibly thinned for drawing."""

    key: str
    label: str
    vendor: str
    kernel: str
    hollow: bool
    rows: list[Row]
    spans_days: int = 0


@dataclass(frozen=True, slots=True)
class Option:
    """One value of a filter, with how many groups it would show under the other filters."""

    value: str
    label: str
    count: int
    selected: bool


@dataclass(frozen=True, slots=True)
class Book:
    """A price book: a tier as of a date. ``slug`` is its value of the URL parameter ``book``."""

    slug: str
    tier: str
    date: date
    label: str


@dataclass(slots=True)
class Comparison:
    """Everything the compare page, its chart, its CSV and the API show for one selection.

    ``rows`` are those of ``page`` (of ``pages``); ``total_rows`` counts all; ``runs`` is how many replicates each has,
    least and most. ``ranked_by`` is the metric of the ranking, "" where there is none. ``rates`` are the exchange rates
    that the rows needed. ``left_out`` counts groups by reason (see ``words.left_out_words``).
    ``differs`` names each fact that is not the same in all rows, with its values (see ``differs.py``).
    """

    selection: Any
    rows: list[Row]
    total_rows: int
    curves: list[Curve]
    frontier: list[Row]
    options: dict[str, list[Option]]
    words: list[str]
    left_out: dict[str, int]
    book: Book | None
    books: list[Book]
    utilisation: Decimal
    runs: tuple[int, int] = (0, 0)
    ranked_by: str = ""
    rates: list[Rate] = field(default_factory=list)
    differs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    page: int = 1
    pages: int = 1
    notes: list[str] = field(default_factory=list)
