"""The median of a group's runs and its 95 % interval. What is summarised are runs, never samples inside a run.

A percentile is treated like any other figure of a run: a group's p99 is the median of its runs' p99.

How the interval is made (docs/metrics.md says it in plain words):

- one run: none. Two runs: none, too few.
- three to five runs: no interval from ranks alone reaches 95 % (the range of five has 93.75 %), so Student's t on the
  logarithms (ratios, since noise of times and rates is relative), widened to the median where that lies outside. Where
  a value is 0 there are no logarithms and the values themselves are taken.
- six and more: the order-statistic interval of the median, interpolated to 95 % (Hettmansperger and Sheather, 1986).
  It presumes no distribution, which the heavy tails of benchmark noise call for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

#: 97.5 % quantiles of Student's t, by degrees of freedom.
T_975 = {2: 4.302652729911275, 3: 3.182446305284263, 4: 2.7764451051977987}
PERCENT = 95


@dataclass(frozen=True, slots=True)
class Summary:
    """The median of ``n`` runs and the ends of its 95 % interval; both ends None when n is too small."""

    median: float
    low: float | None
    high: float | None
    n: int


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the middle two. Raises ValueError without values."""
    if not values:
        raise ValueError("the median of no values")
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return ordered[middle - 1] / 2 + ordered[middle] / 2


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of the median of ``values`` (one a run); None below three. Independent of their order.

    Never leaves the positive numbers when all values are at least 0, and always contains the median.
    """
    ordered = sorted(values)
    if len(ordered) < 3:
        return None
    if ordered[0] == ordered[-1]:
        return ordered[0], ordered[0]
    low, high = _by_t(ordered) if len(ordered) <= 5 else _by_ranks(ordered)
    middle = median(ordered)
    return min(low, middle), max(high, middle)


def summarise(values: Sequence[float]) -> Summary | None:
    """Median and interval of a figure over runs; None without values."""
    if not values:
        return None
    low, high = interval(values) or (None, None)
    return Summary(median(values), low, high, len(values))


def _by_t(ordered: list[float]) -> tuple[float, float]:
    positive = ordered[0] > 0
    scaled = [math.log(value) for value in ordered] if positive else ordered
    n = len(scaled)
    mean = math.fsum(scaled) / n
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in scaled) / (n - 1))
    half = T_975[n - 1] * spread / math.sqrt(n)
    if positive:
        return _exp(mean - half), _exp(mean + half)
    return (max(0.0, mean - half) if ordered[0] >= 0 else mean - half), mean + half


def _exp(value: float) -> float:
    """e ** value, kept finite: JSON has no infinity."""
    return math.exp(min(value, 700.0))


def _by_ranks(ordered: list[float]) -> tuple[float, float]:
    n = len(ordered)
    depth, weight = _ranks(n)
    low = (1 - weight) * ordered[depth - 1] + weight * ordered[depth]
    high = (1 - weight) * ordered[n - depth] + weight * ordered[n - depth - 1]
    return low, high


@lru_cache(maxsize=1024)
def _ranks(n: int) -> tuple[int, float]:
    """The largest depth k for which the k-th smallest to the k-th largest of ``n`` covers the median in at least 95 %,
    and the weight of the next value inwards that brings the coverage down to 95 %.

    The values outside follow Binomial(n, 1/2). Counted in integers, once per n: a group may have thousands of runs.
    """
    whole = 2**n
    depth, term, outside = 1, 1, 1  # term = n over (depth - 1); outside = the sum of the terms so far
    while True:
        term = term * (n - depth + 1) // depth
        if 100 * (whole - 2 * (outside + term)) < PERCENT * whole:
            break
        depth, outside = depth + 1, outside + term
    outer, inner = (whole - 2 * outside) / whole, (whole - 2 * (outside + term)) / whole
    part = (outer - PERCENT / 100) / (outer - inner)
    return depth, (n - depth) * part / (depth + (n - 2 * depth) * part)
