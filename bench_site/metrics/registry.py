"""Every metric by name, in the order in which pages list them, and what may be asked of all of them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from bench_site.metrics import floors
from bench_site.metrics.declaration import Direction, Facts, Metric, _, metric
from bench_site.metrics.facts import facts_of
from bench_site.metrics.kernel import KERNEL
from bench_site.metrics.latency import LATENCY
from bench_site.metrics.throughput import THROUGHPUT

COST_FLOOR = (floors.THROUGHPUT[0], "as throughput: the price is a constant")


@metric(
    title=_("Cost per million output tokens"),
    short=_("Cost/M output"),
    unit="currency/M output tokens",
    direction=Direction.LOWER,
    floor=COST_FLOOR,
    family="cost",
    example=({"output_tokens_per_s": 3200.0, "chips": 16.0}, None),
)
def cost_per_m_output_tokens(facts: Facts) -> float | None:
    """sum over pools(price x chips) x 1e6 / (3600 x output tokens/s x utilisation), under a price book: see cost.py."""
    return None


@metric(
    title=_("Cost per million input and output tokens"),
    short=_("Cost/M total"),
    unit="currency/M tokens",
    direction=Direction.LOWER,
    floor=COST_FLOOR,
    family="cost",
    example=({"total_tokens_per_s": 28800.0, "chips": 16.0}, None),
)
def cost_per_m_total_tokens(facts: Facts) -> float | None:
    """sum over pools(price x chips) x 1e6 / (3600 x total tokens/s x utilisation), under a price book: see cost.py."""
    return None


#: All metrics by name. Cost metrics are declared here too, but their values need a price book.
METRICS: Mapping[str, Metric] = MappingProxyType(
    {m.name: m for m in (*THROUGHPUT, *LATENCY, *KERNEL, cost_per_m_output_tokens, cost_per_m_total_tokens)}
)
#: Metrics whose values come from facts alone.
MEASURED: tuple[Metric, ...] = tuple(m for m in METRICS.values() if m.family != "cost")

#: Metrics with columns of their own in a group's statistics: name -> whether the interval has columns too.
HEADLINE: Mapping[str, bool] = MappingProxyType(
    {
        "interactivity": True,
        "output_tokens_per_s": True,
        "output_tokens_per_s_per_chip": True,
        "total_tokens_per_s": True,
        "ttft_p50": True,
        "ttft_p99": False,
        "tpot_p50": True,
        "tpot_mean": False,
        "e2el_p50": True,
    }
)


def metric_named(name: str) -> Metric:
    """The metric ``name``; a KeyError that lists the nearest names otherwise."""
    try:
        return METRICS[name]
    except KeyError:
        from difflib import get_close_matches

        near = ", ".join(get_close_matches(name, METRICS, n=3)) or "see docs/metrics.md"
        raise KeyError(f"there is no metric {name!r}; nearest: {near}") from None


def better(name: str, a: float, b: float) -> bool:
    """Whether ``a`` is the better value of metric ``name``. The only place that knows which way is better."""
    return metric_named(name).better(a, b)


def figures_of_facts(facts: Facts) -> dict[str, float]:
    """Every metric that can be computed from ``facts``, by name; unknown ones are absent."""
    found = ((m.name, m.compute(facts)) for m in MEASURED)
    return {name: value for name, value in found if value is not None}


def figures_of(
    point: Mapping[str, Any], chips: int | None = None, speculative: Mapping[str, Any] | None = None
) -> dict[str, float]:
    """Every known metric of one point (its columns and ``detail``; see ``facts_of``), by name."""
    return figures_of_facts(facts_of(point, chips, speculative))
