"""Contract v1: the one JSON document that describes one benchmark run.

Unknown is absent or null, never 0. Times are seconds, rates are tokens/s or requests/s of the whole system (never per
chip), memory is bytes, bandwidth bytes/s, power watts, money a decimal string with a currency.
"""

from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, Field, StringConstraints, model_validator

from runners.contract.figures import Point
from runners.contract.types import (
    Count,
    Digest,
    Line,
    Money,
    Name,
    Notes,
    Number,
    Part,
    PositiveCount,
    Rate,
    Share,
)
from runners.contract.vocabulary import (
    AcceptanceSource,
    Evidence,
    ExperimentKind,
    KernelStrategy,
    Loop,
    PoolRole,
    Status,
    VerificationStatus,
    WorkloadKind,
)

SCHEMA_VERSION: Literal["1"] = "1"
#: A report holds at most this many load points; more belong in several runs of one experiment.
MAX_POINTS = 1_000


def _known_version(value: UUID) -> UUID:
    if value.version not in (5, 7):
        raise ValueError(
            f"is a UUID of version {value.version}; send a UUIDv7 (time-ordered), "
            "or the UUIDv5 that this site derived from a raw file"
        )
    return value


RunId = Annotated[UUID, AfterValidator(_known_version)]
"""The idempotency key: a UUIDv7 made by the client, or a UUIDv5 derived from a raw file's bytes."""
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
"""An ISO 4217 code such as USD or CNY."""


class Parallelism(Part):
    """How the model is spread over a pool's chips."""

    tp: PositiveCount | None = None
    pp: PositiveCount | None = None
    ep: PositiveCount | None = None
    dp: PositiveCount | None = None
    sp: PositiveCount | None = None
    dp_attention: bool | None = None


class Pool(Part):
    """Chips of one kind with one role. ``chips`` counts *physical* chips of the whole pool (not ranks, not cores)."""

    role: PoolRole = PoolRole.ALL
    chip: Name | None = None
    chips: PositiveCount | None = None
    nodes: PositiveCount | None = None
    workers: PositiveCount | None = None
    parallelism: Parallelism = Field(default_factory=Parallelism)


class Reading(Part):
    """One fact that a probe read: what, the value with its unit in the name, and where it was read."""

    name: Name
    value: float | Line | bool | None = None
    source: Line | None = None


class System(Part):
    """The machine that ran."""

    machine: Name | None = None
    pools: list[Pool] = Field(default_factory=list, max_length=32)
    topology: Line | None = None
    software: dict[Name, Line] = Field(default_factory=dict, max_length=200)
    probe: list[Reading] = Field(default_factory=list, max_length=500)


class Precision(Part):
    """Number formats, lower case: bf16, fp8, mxfp4, int4 ..."""

    weights: Name | None = None
    kv_cache: Name | None = None
    activations: Name | None = None


class Model(Part):
    """Which model; parameters are counts."""

    name: Name | None = None
    revision: Name | None = None
    precision: Precision = Field(default_factory=Precision)
    parameters_total: PositiveCount | None = None
    parameters_active: PositiveCount | None = None
    weights_digest: Digest | None = None


class Engine(Part):
    """What served or decoded: vllm, sglang, tensorrt-llm, fuseboard-harness ..."""

    name: Name | None = None
    version: Name | None = None
    image: Line | None = None
    image_digest: Digest | None = None


class Speculative(Part):
    """Speculative decoding. ``method`` "none" says that it was off; the whole object absent says unknown.

    ``acceptance_rate`` is the share of drafted tokens accepted; ``acceptance_length`` the mean tokens a step, the
    verified one included (so at least 1).
    """

    method: Name
    draft: Name | None = None
    draft_tokens: PositiveCount | None = None
    acceptance_rate: Share | None = None
    acceptance_length: Annotated[float, Field(ge=1, le=10_000)] | None = None
    acceptance_source: AcceptanceSource = AcceptanceSource.UNKNOWN


class Strategy(Part):
    """The kernel strategy and, orthogonal to it, the speculative regime."""

    kernel: KernelStrategy = KernelStrategy.UNKNOWN
    detail: Line | None = None
    speculative: Speculative | None = None


class Dataset(Part):
    """What was sent."""

    name: Name | None = None
    digest: Digest | None = None


class Workload(Part):
    """The load's shape. Lengths are tokens *asked for*; ``fixed_length`` says that every request asks for the same."""

    kind: WorkloadKind = WorkloadKind.UNKNOWN
    loop: Loop = Loop.UNKNOWN
    dataset: Dataset = Field(default_factory=Dataset)
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    fixed_length: bool | None = None
    prefix_cache: bool | None = None
    request_rate_cap: Rate | None = None
    seed: int | None = Field(default=None, ge=-(2**63), le=2**63 - 1)
    warmup_requests: Count | None = None


class Verification(Part):
    """Whether the produced tokens were compared with a reference, and how far they were off."""

    status: VerificationStatus = VerificationStatus.NOT_RUN
    against: Line | None = None
    max_abs_error: Number | None = None
    max_rel_error: Number | None = None
    top1_agreement: Share | None = None
    tolerance: Number | None = None


class Source(Part):
    """Where the figures come from."""

    tool: Name | None = None
    version: Name | None = None
    format: Name | None = None
    command: Notes | None = None
    url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s\x00]+$", max_length=2_000)] | None = None
    name: Line | None = None
    artifact_digest: Digest | None = None


class Experiment(Part):
    """Ties runs that were made together, e.g. the rungs of a ladder."""

    id: UUID
    kind: ExperimentKind
    name: Line | None = None


class Failure(Part):
    """Why a run failed."""

    message: Notes
    kind: Name | None = None


class Price(Part):
    """What the machine really cost, where the sender knows: per hour for all chips of all pools."""

    amount_per_hour: Money
    currency: Currency
    source: Line | None = None


class Report(Part):
    """One run of one benchmark on one system."""

    schema_version: Literal["1"] = SCHEMA_VERSION
    id: RunId
    started_at: AwareDatetime | None = None
    started_at_text: Name | None = Field(
        default=None, description="A time without an offset, as the file wrote it; started_at is then unknown."
    )
    finished_at: AwareDatetime | None = None
    status: Status = Status.COMPLETED
    error: Failure | None = None
    experiment: Experiment | None = None
    evidence: Evidence = Evidence.MEASURED
    source: Source = Field(default_factory=Source)
    system: System = Field(default_factory=System)
    model: Model = Field(default_factory=Model)
    engine: Engine = Field(default_factory=Engine)
    strategy: Strategy = Field(default_factory=Strategy)
    workload: Workload = Field(default_factory=Workload)
    points: list[Point] = Field(default_factory=list, max_length=MAX_POINTS)
    verification: Verification = Field(default_factory=Verification)
    price: Price | None = None
    tags: list[Name] = Field(default_factory=list, max_length=50)
    notes: Notes | None = None

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.status is Status.COMPLETED:
            if self.error is not None:
                raise ValueError(
                    'has an error although status is "completed"; set status to "failed" or drop the error'
                )
            if not self.points:
                raise ValueError('has no points although status is "completed"; send at least one, or status "failed"')
        else:
            if self.error is None:
                raise ValueError('has status "failed" without an error; say why in error.message')
            if any(_has_figures(point) for point in self.points):
                raise ValueError('has status "failed" and figures; a failed run\'s points carry load and counts only')
        if self.evidence is Evidence.PUBLISHED and not (self.source.url or self.source.name):
            raise ValueError('has evidence "published" without a source; give source.url or source.name')
        if self.started_at and self.finished_at and self.finished_at < self.started_at:
            raise ValueError("has finished_at before started_at")
        return self


def _has_figures(point: Point) -> bool:
    return any(
        part is not None and part.model_dump(exclude_none=True, exclude_defaults=True)
        for part in (point.metrics, point.samples, point.rounds, point.power, point.kernel)
    )


def parse_offset(text: str) -> datetime | None:
    """The time in ``text`` if it names its offset, else None: a naive time is never guessed into a zone."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None
