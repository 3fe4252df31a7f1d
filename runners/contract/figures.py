"""What was measured at one load: the points of a report, in the contract's units."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from runners.contract.types import Count, Line, Number, Part, PositiveCount, Rate, Seconds

#: A point holds at most this many rows of samples or rounds.
MAX_ROWS = 1_000_000


class Distribution(Part):
    """A latency over the completed requests of one point, in seconds. Percentiles are of requests (itl: of gaps)."""

    mean: Seconds | None = None
    p50: Seconds | None = None
    p90: Seconds | None = None
    p95: Seconds | None = None
    p99: Seconds | None = None
    std: Seconds | None = None
    min: Seconds | None = None
    max: Seconds | None = None
    n: Count | None = None


class Rates(Part):
    """Rates of the whole system over the point's duration (prefill and decode: over their own phase)."""

    output_tokens_per_s: Rate | None = None
    input_tokens_per_s: Rate | None = None
    total_tokens_per_s: Rate | None = None
    requests_per_s: Rate | None = None
    prefill_tokens_per_s: Rate | None = None
    decode_tokens_per_s: Rate | None = None


class Metrics(Part):
    """What was measured at one load.

    tpot = (e2el - ttft) / (output tokens - 1); ntpot = e2el / output tokens; itl = gap between stream chunks.
    The three never share a name.
    """

    ttft: Distribution | None = None
    tpot: Distribution | None = None
    ntpot: Distribution | None = None
    itl: Distribution | None = None
    e2el: Distribution | None = None
    rates: Rates = Field(default_factory=Rates)


class Load(Part):
    """How hard the system was driven: exactly one of the four, or none when the file does not say.

    ``request_rate`` is requests/s; ``unlimited`` true means that everything was sent at once.
    ``context_tokens`` is the context already in the cache when decoding starts.
    """

    concurrency: PositiveCount | None = None
    request_rate: Annotated[float, Field(gt=0, le=1e9)] | None = None
    unlimited: Literal[True] | None = None
    batch_size: PositiveCount | None = None
    context_tokens: Count | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        named = [k for k in ("concurrency", "request_rate", "unlimited", "batch_size") if getattr(self, k) is not None]
        if len(named) > 1:
            raise ValueError(
                f"names {' and '.join(named)}; give the one that limited the load "
                "(with both a concurrency and a rate limit: the concurrency, and the rate in workload.request_rate_cap)"
            )
        return self


class Requests(Part):
    """How many requests; ``failed`` is null when the tool cannot say."""

    sent: Count | None = None
    completed: Count | None = None
    failed: Count | None = None


class Tokens(Part):
    """Mean tokens of a completed request, as achieved (asked lengths are in the workload)."""

    input_mean: Number | None = None
    output_mean: Number | None = None


class Samples(Part):
    """One row a request, as columns of equal length. Seconds since the point's start; tokens; null where unknown."""

    start: list[Seconds | None] | None = Field(default=None, max_length=MAX_ROWS)
    ttft: list[Seconds | None] | None = Field(default=None, max_length=MAX_ROWS)
    tpot: list[Seconds | None] | None = Field(default=None, max_length=MAX_ROWS)
    e2el: list[Seconds | None] | None = Field(default=None, max_length=MAX_ROWS)
    input_tokens: list[Count | None] | None = Field(default=None, max_length=MAX_ROWS)
    output_tokens: list[Count | None] | None = Field(default=None, max_length=MAX_ROWS)
    failed: list[bool] | None = Field(default=None, max_length=MAX_ROWS)

    @model_validator(mode="after")
    def _equal_lengths(self) -> Self:
        _same_length(self)
        return self


class Rounds(Part):
    """One row a timed round of the harness, as columns of equal length.

    ``seconds_per_token`` is the round's time; ``bandwidth_probe`` the paired probe in bytes/s; ``rejected`` rounds were
    disturbed and are kept only to be counted.
    """

    index: list[Count] = Field(max_length=MAX_ROWS)
    seconds_per_token: list[Seconds | None] = Field(max_length=MAX_ROWS)
    bandwidth_probe: list[Number | None] | None = Field(default=None, max_length=MAX_ROWS)
    rejected: list[bool] | None = Field(default=None, max_length=MAX_ROWS)

    @model_validator(mode="after")
    def _equal_lengths(self) -> Self:
        _same_length(self)
        return self


def _same_length(columns: Part) -> None:
    lengths = {name: len(value) for name, value in columns if isinstance(value, list)}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"has columns of different lengths ({found}); every column needs one entry a row")


class Power(Part):
    """Electrical power over the point: mean watts of all chips and how it was read; energy in joules."""

    watts: Number | None = None
    joules: Number | None = None
    method: Line | None = None


class Compile(Part):
    """Time to compile or capture before the first token, in seconds: from nothing, and with a warm cache."""

    cold: Seconds | None = None
    warm: Seconds | None = None


class Kernel(Part):
    """Where a decoded token's time went: counts are per token, bandwidth in bytes/s."""

    host_dispatches: Number | None = None
    device_kernels: Number | None = None
    barriers: Number | None = None
    method: Line | None = None
    bytes_per_token: Number | None = None
    compile_seconds: Compile | None = None
    achieved_bandwidth: Number | None = None
    limit_bandwidth: Number | None = None
    limit_source: Line | None = None


class Point(Part):
    """One load and what came out."""

    load: Load = Field(default_factory=Load)
    duration: Seconds | None = None
    concurrency_measured: Number | None = None
    requests: Requests = Field(default_factory=Requests)
    tokens: Tokens = Field(default_factory=Tokens)
    metrics: Metrics = Field(default_factory=Metrics)
    samples: Samples | None = None
    rounds: Rounds | None = None
    power: Power | None = None
    kernel: Kernel | None = None
    notes: list[Line] = Field(default_factory=list, max_length=50)
