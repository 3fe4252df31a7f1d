"""The five latencies at mean, p50, p90, p95 and p99: TTFT, TPOT, NTPOT, ITL, E2EL. Stored in seconds."""

from bench_site.metrics import floors
from bench_site.metrics.declaration import Compute, Direction, Facts, Metric, _, metric
from bench_site.metrics.facts import LATENCIES, STATISTICS

FORMULAS = {
    "ttft": "TTFT: time from sending a request to its first output token",
    "tpot": "TPOT of a request = (E2EL - TTFT) / (output tokens - 1)",
    "ntpot": "NTPOT of a request = E2EL / output tokens: the first token's wait included",
    "itl": "ITL: gap between two chunks of a stream (a chunk may hold several tokens)",
    "e2el": "E2EL: time from sending a request to its last output token",
}
#: Every title in full, so that each can be translated as it stands.
TITLES = {
    "ttft_mean": (_("Time to first token, mean"), _("TTFT mean")),
    "ttft_p50": (_("Time to first token, median"), _("TTFT p50")),
    "ttft_p90": (_("Time to first token, p90"), _("TTFT p90")),
    "ttft_p95": (_("Time to first token, p95"), _("TTFT p95")),
    "ttft_p99": (_("Time to first token, p99"), _("TTFT p99")),
    "tpot_mean": (_("Time per output token, mean"), _("TPOT mean")),
    "tpot_p50": (_("Time per output token, median"), _("TPOT p50")),
    "tpot_p90": (_("Time per output token, p90"), _("TPOT p90")),
    "tpot_p95": (_("Time per output token, p95"), _("TPOT p95")),
    "tpot_p99": (_("Time per output token, p99"), _("TPOT p99")),
    "ntpot_mean": (_("Normalised time per output token, mean"), _("NTPOT mean")),
    "ntpot_p50": (_("Normalised time per output token, median"), _("NTPOT p50")),
    "ntpot_p90": (_("Normalised time per output token, p90"), _("NTPOT p90")),
    "ntpot_p95": (_("Normalised time per output token, p95"), _("NTPOT p95")),
    "ntpot_p99": (_("Normalised time per output token, p99"), _("NTPOT p99")),
    "itl_mean": (_("Inter-token latency, mean"), _("ITL mean")),
    "itl_p50": (_("Inter-token latency, median"), _("ITL p50")),
    "itl_p90": (_("Inter-token latency, p90"), _("ITL p90")),
    "itl_p95": (_("Inter-token latency, p95"), _("ITL p95")),
    "itl_p99": (_("Inter-token latency, p99"), _("ITL p99")),
    "e2el_mean": (_("End-to-end latency, mean"), _("E2EL mean")),
    "e2el_p50": (_("End-to-end latency, median"), _("E2EL p50")),
    "e2el_p90": (_("End-to-end latency, p90"), _("E2EL p90")),
    "e2el_p95": (_("End-to-end latency, p95"), _("E2EL p95")),
    "e2el_p99": (_("End-to-end latency, p99"), _("E2EL p99")),
}
#: A plausible value in seconds, for the examples.
_EXAMPLE = {"ttft": 0.36, "tpot": 0.02, "ntpot": 0.021, "itl": 0.019, "e2el": 6.2}


def _floor(which: str, at: str) -> tuple[float, str]:
    middle = at in ("mean", "p50")
    if which == "ttft":
        return floors.TTFT_MEDIAN if middle else floors.TTFT_TAIL
    return floors.PER_TOKEN if middle else floors.PER_TOKEN_TAIL


def _reader(which: str, at: str) -> Compute:
    name = f"{which}_{at}"

    def compute(facts: Facts) -> float | None:
        return facts.get(name)

    over = "gaps" if which == "itl" else "completed requests"
    compute.__doc__ = f"{FORMULAS[which]}; {at} over all {over} of one run, as reported."
    return compute


def _latency(which: str, at: str) -> Metric:
    name = f"{which}_{at}"
    title, short = TITLES[name]
    return metric(
        name=name,
        title=title,
        short=short,
        unit="s",
        display=("s", 1.0) if which == "e2el" else ("ms", 1000.0),
        direction=Direction.LOWER,
        floor=_floor(which, at),
        family="latency",
        example=({name: _EXAMPLE[which]}, _EXAMPLE[which]),
    )(_reader(which, at))


LATENCY = tuple(_latency(which, at) for which in LATENCIES for at in STATISTICS)
