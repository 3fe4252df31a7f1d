"""Why a token takes its time: dispatches, kernels, barriers, bytes, bandwidth, compile time; energy; acceptance."""

from bench_site.metrics import floors
from bench_site.metrics.declaration import Direction, Facts, _, metric, ratio

FAMILY = "kernel"


@metric(
    title=_("Host dispatches per token"),
    short=_("Dispatches"),
    unit="dispatches/token",
    direction=Direction.LOWER,
    floor=floors.COUNT,
    family=FAMILY,
    example=({"host_dispatches": 1.0}, 1.0),
)
def host_dispatches(facts: Facts) -> float | None:
    """How often the host starts work on the device for one decoded token, counted by the named method."""
    return facts.get("host_dispatches")


@metric(
    title=_("Device kernels per token"),
    short=_("Kernels"),
    unit="kernels/token",
    direction=Direction.LOWER,
    floor=floors.COUNT,
    family=FAMILY,
    example=({"device_kernels": 26.0}, 26.0),
)
def device_kernels(facts: Facts) -> float | None:
    """How many kernels the device runs for one decoded token, counted by the named method."""
    return facts.get("device_kernels")


@metric(
    title=_("Barriers per token"),
    short=_("Barriers"),
    unit="barriers/token",
    direction=Direction.LOWER,
    floor=floors.COUNT,
    family=FAMILY,
    example=({"barriers": 131.0}, 131.0),
)
def barriers(facts: Facts) -> float | None:
    """How often all workers of the device wait for each other for one decoded token, counted by the named method."""
    return facts.get("barriers")


@metric(
    title=_("Bytes moved per token"),
    short=_("Bytes/token"),
    unit="bytes/token",
    display=("GB/token", 1e-9),
    direction=Direction.LOWER,
    floor=floors.COUNT,
    family=FAMILY,
    example=({"bytes_per_token": 1.1e10}, 1.1e10),
)
def bytes_per_token(facts: Facts) -> float | None:
    """Bytes that one decoded token moves between device memory and chip, all chips of one replica, as reported."""
    return facts.get("bytes_per_token")


@metric(
    title=_("Achieved memory bandwidth"),
    short=_("Bandwidth"),
    unit="bytes/s",
    display=("GB/s", 1e-9),
    direction=Direction.HIGHER,
    floor=floors.THROUGHPUT,
    family=FAMILY,
    example=({"achieved_bandwidth": 2.73e12}, 2.73e12),
)
def achieved_bandwidth(facts: Facts) -> float | None:
    """Bytes moved while decoding / time, as reported."""
    return facts.get("achieved_bandwidth")


@metric(
    title=_("Memory bandwidth utilisation (MBU)"),
    short=_("MBU"),
    unit="share",
    display=("%", 100.0),
    direction=Direction.HIGHER,
    floor=floors.THROUGHPUT,
    family=FAMILY,
    example=({"achieved_bandwidth": 3.0e12, "limit_bandwidth": 4.0e12}, 0.75),
)
def mbu(facts: Facts) -> float | None:
    """Achieved bandwidth / the machine's own measured limit (the point says how it was measured)."""
    return ratio(facts.get("achieved_bandwidth"), facts.get("limit_bandwidth"))


@metric(
    title=_("Compile time, cold"),
    short=_("Compile cold"),
    unit="s",
    direction=Direction.LOWER,
    floor=floors.COMPILE,
    family=FAMILY,
    example=({"compile_cold": 71.4}, 71.4),
)
def compile_cold(facts: Facts) -> float | None:
    """Time to compile or capture before the first token, from nothing."""
    return facts.get("compile_cold")


@metric(
    title=_("Compile time, warm"),
    short=_("Compile warm"),
    unit="s",
    direction=Direction.LOWER,
    floor=floors.COMPILE,
    family=FAMILY,
    example=({"compile_warm": 0.9}, 0.9),
)
def compile_warm(facts: Facts) -> float | None:
    """Time to compile or capture before the first token, with a warm cache."""
    return facts.get("compile_warm")


@metric(
    title=_("Electrical power"),
    short=_("Power"),
    unit="W",
    direction=Direction.LOWER,
    floor=floors.POWER,
    family="energy",
    example=({"watts": 540.0}, 540.0),
)
def watts(facts: Facts) -> float | None:
    """Mean electrical power of all chips over the point, read by the named method."""
    return facts.get("watts")


@metric(
    title=_("Energy per output token"),
    short=_("J/token"),
    unit="J/token",
    direction=Direction.LOWER,
    floor=floors.POWER,
    family="energy",
    example=({"joules": 54000.0, "output_tokens_per_s": 90.0, "duration": 60.0}, 10.0),
)
def joules_per_output_token(facts: Facts) -> float | None:
    """Energy / (output tokens/s x duration); without an energy reading mean watts / output tokens/s."""
    rate, energy, duration = facts.get("output_tokens_per_s"), facts.get("joules"), facts.get("duration")
    if energy is not None and rate is not None and duration is not None:
        return ratio(energy, rate * duration)
    return ratio(facts.get("watts"), rate)


@metric(
    title=_("Acceptance rate of drafted tokens"),
    short=_("Acceptance rate"),
    unit="share",
    display=("%", 100.0),
    direction=Direction.HIGHER,
    floor=floors.SHARE,
    family="speculation",
    example=({"acceptance_rate": 0.72}, 0.72),
)
def acceptance_rate(facts: Facts) -> float | None:
    """Drafted tokens accepted / drafted tokens, as reported; the configuration says how they were accepted."""
    return facts.get("acceptance_rate")


@metric(
    title=_("Acceptance length"),
    short=_("Acceptance length"),
    unit="tokens/step",
    direction=Direction.HIGHER,
    floor=floors.SHARE,
    family="speculation",
    example=({"acceptance_length": 3.1}, 3.1),
)
def acceptance_length(facts: Facts) -> float | None:
    """Mean tokens a verified step, its own token included (so at least 1), as reported."""
    return facts.get("acceptance_length")


KERNEL = (
    host_dispatches,
    device_kernels,
    barriers,
    bytes_per_token,
    achieved_bandwidth,
    mbu,
    compile_cold,
    compile_warm,
    watts,
    joules_per_output_token,
    acceptance_rate,
    acceptance_length,
)
