"""Speed for one user, rates of the whole system, rates per physical chip, the load as measured."""

from bench_site.metrics import floors
from bench_site.metrics.declaration import Direction, Facts, _, metric, ratio

FAMILY = "throughput"


def interactivity_source(facts: Facts) -> str:
    """Which TPOT interactivity is taken from: "p50", else "mean", else "" (unknown)."""
    return next((at for at in ("p50", "mean") if facts.get(f"tpot_{at}", 0.0) > 0), "")


def interactivity_at(facts: Facts, statistic: str) -> float | None:
    """1 / TPOT at ``statistic`` (mean, p50, p90 ...), tokens/s for one user; None where that TPOT is unknown."""
    return ratio(1.0, facts.get(f"tpot_{statistic}"))


@metric(
    title=_("Interactivity"),
    short=_("Interactivity"),
    unit="tokens/s/user",
    direction=Direction.HIGHER,
    floor=floors.PER_TOKEN,
    family=FAMILY,
    example=({"tpot_p50": 0.02, "tpot_mean": 0.025}, 50.0),
)
def interactivity(facts: Facts) -> float | None:
    """1 / TPOT p50; where p50 is unknown 1 / mean TPOT, marked "from mean". Never from a spread, never imported."""
    return interactivity_at(facts, interactivity_source(facts) or "p50")


@metric(
    title=_("Interactivity of the slow tail (p90)"),
    short=_("Interactivity p90"),
    unit="tokens/s/user",
    direction=Direction.HIGHER,
    floor=floors.PER_TOKEN_TAIL,
    family=FAMILY,
    example=({"tpot_p90": 0.04}, 25.0),
)
def interactivity_p90(facts: Facts) -> float | None:
    """1 / TPOT p90: nine of ten requests are at least this fast."""
    return interactivity_at(facts, "p90")


@metric(
    title=_("Output tokens per second"),
    short=_("Output tok/s"),
    unit="tokens/s",
    direction=Direction.HIGHER,
    floor=floors.THROUGHPUT,
    family=FAMILY,
    example=({"output_tokens_per_s": 3200.0}, 3200.0),
)
def output_tokens_per_s(facts: Facts) -> float | None:
    """Output tokens of all completed requests / duration of the point, whole system, as reported."""
    return facts.get("output_tokens_per_s")


@metric(
    title=_("Output tokens per second per chip"),
    short=_("Output tok/s/chip"),
    unit="tokens/s/chip",
    direction=Direction.HIGHER,
    floor=floors.THROUGHPUT,
    family=FAMILY,
    example=({"output_tokens_per_s": 3200.0, "chips": 16.0}, 200.0),
)
def output_tokens_per_s_per_chip(facts: Facts) -> float | None:
    """Output tokens/s / physical chips of all pools; unknown if any pool's number of chips is."""
    return ratio(facts.get("output_tokens_per_s"), facts.get("chips"))


@metric(
    title=_("Input tokens per second"),
    short=_("Input tok/s"),
    unit="tokens/s",
    direction=Direction.HIGHER,
    floor=floors.THROUGHPUT,
    family=FAMILY,
    example=({"input_tokens_per_s": 25600.0}, 25600.0),
)
def input_tokens_per_s(facts: Facts) -> float | None:
    """Input tokens of all completed requests / duration of the point, whole system, as reported."""
    return facts.get("input_tokens_per_s")


@metric(
    title=_("Input and output tokens per second"),
    short=_("Total tok/s"),
    unit="tokens/s",
    direction=Direction.HIGHER,
    floor=floors.THROUGHPUT,
    family=FAMILY,
    example=({"input_tokens_per_s": 25600.0, "output_tokens_per_s": 3200.0}, 28800.0),
)
def total_tokens_per_s(facts: Facts) -> float | None:
    """As reported; else input + output tokens/s where both are known."""
    total = facts.get("total_tokens_per_s")
    if total is not None:
        return total
    given, made = facts.get("input_tokens_per_s"), facts.get("output_tokens_per_s")
    return given + made if given is not None and made is not None else None


@metric(
    title=_("Input and output tokens per second per chip"),
    short=_("Total tok/s/chip"),
    unit="tokens/s/chip",
    direction=Direction.HIGHER,
    floor=floors.THROUGHPUT,
    family=FAMILY,
    example=({"total_tokens_per_s": 28800.0, "chips": 16.0}, 1800.0),
)
def total_tokens_per_s_per_chip(facts: Facts) -> float | None:
    """Input and output tokens/s / physical chips of all pools; unknown if any pool's number of chips is."""
    return ratio(total_tokens_per_s.compute(facts), facts.get("chips"))


@metric(
    title=_("Requests per second"),
    short=_("Requests/s"),
    unit="requests/s",
    direction=Direction.HIGHER,
    floor=floors.THROUGHPUT,
    family=FAMILY,
    example=({"requests_per_s": 6.4}, 6.4),
)
def requests_per_s(facts: Facts) -> float | None:
    """Completed requests / duration of the point, as reported."""
    return facts.get("requests_per_s")


@metric(
    title=_("Prefill tokens per second"),
    short=_("Prefill tok/s"),
    unit="tokens/s",
    direction=Direction.HIGHER,
    floor=floors.THROUGHPUT,
    family=FAMILY,
    example=({"prefill_tokens_per_s": 90000.0}, 90000.0),
)
def prefill_tokens_per_s(facts: Facts) -> float | None:
    """Input tokens / time spent in the prefill phase alone, as reported."""
    return facts.get("prefill_tokens_per_s")


@metric(
    title=_("Decode tokens per second"),
    short=_("Decode tok/s"),
    unit="tokens/s",
    direction=Direction.HIGHER,
    floor=floors.THROUGHPUT,
    family=FAMILY,
    example=({"decode_tokens_per_s": 248.583}, 248.583),
)
def decode_tokens_per_s(facts: Facts) -> float | None:
    """Output tokens / time spent in the decode phase alone, as reported."""
    return facts.get("decode_tokens_per_s")


@metric(
    title=_("Concurrency, measured"),
    short=_("Concurrency"),
    unit="requests",
    direction=Direction.NEITHER,
    floor=floors.SHARE,
    family=FAMILY,
    example=({"concurrency_measured": 25.34}, 25.34),
)
def concurrency_measured(facts: Facts) -> float | None:
    """Mean number of requests in flight, as measured; not the configured one, which is the load."""
    return facts.get("concurrency_measured")


@metric(
    title=_("Failed requests"),
    short=_("Failed"),
    unit="share",
    display=("%", 100.0),
    direction=Direction.LOWER,
    floor=floors.SHARE,
    family=FAMILY,
    example=({"requests_sent": 500.0, "requests_failed": 5.0}, 0.01),
)
def failed_share(facts: Facts) -> float | None:
    """Failed requests / requests sent (else completed + failed); unknown when the tool cannot say."""
    failed, completed = facts.get("requests_failed"), facts.get("requests_completed")
    sent = facts.get("requests_sent")
    if sent is None and failed is not None and completed is not None:
        sent = failed + completed
    return ratio(failed, sent)


THROUGHPUT = (
    interactivity,
    interactivity_p90,
    output_tokens_per_s,
    output_tokens_per_s_per_chip,
    total_tokens_per_s,
    total_tokens_per_s_per_chip,
    input_tokens_per_s,
    requests_per_s,
    prefill_tokens_per_s,
    decode_tokens_per_s,
    concurrency_measured,
    failed_share,
)
