"""The median of a group and its interval: by hand, against scipy, and by simulation."""

import math
import random
import statistics
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_site.stats import interval, median, summarise
from bench_site.stats.center import T_975, _ranks

values = st.lists(st.floats(0, 1e18), min_size=1, max_size=40)


def test_median_by_hand() -> None:
    assert median([3.0, 1.0, 2.0]) == 2.0
    assert median([4.0, 1.0, 2.0, 3.0]) == 2.5
    with pytest.raises(ValueError, match="no values"):
        median([])


@given(values)
def test_median_is_pythons(numbers: list[float]) -> None:
    assert median(numbers) == pytest.approx(statistics.median(numbers))


def test_too_few() -> None:
    assert summarise([]) is None
    one, two = summarise([5.0]), summarise([5.0, 6.0])
    assert one is not None and (one.median, one.low, one.high, one.n) == (5.0, None, None, 1)
    assert two is not None and (two.median, two.low, two.high, two.n) == (5.5, None, None, 2)


def test_three_runs_by_hand() -> None:
    """e, e^2, e^3: logarithms 1, 2, 3, mean 2, standard deviation 1; t = 4.3027, half = 4.3027 / sqrt(3) = 2.4842."""
    found = interval([math.e, math.e**2, math.e**3])
    assert found is not None
    assert math.log(found[0]) == pytest.approx(2 - 2.4842, abs=1e-4)
    assert math.log(found[1]) == pytest.approx(2 + 2.4842, abs=1e-4)


def test_six_runs_by_hand() -> None:
    """1 to 6: ranks 1 and 6 cover 96.875 %, ranks 2 and 5 78.125 %. I = (96.875 - 95) / 18.75 = 0.1;
    weight = 5 x 0.1 / (1 + 4 x 0.1) = 0.35714; so 1.35714 to 5.64286.
    """
    found = interval([6.0, 2.0, 4.0, 3.0, 5.0, 1.0])
    assert found == (pytest.approx(1.35714, abs=1e-5), pytest.approx(5.64286, abs=1e-5))


def test_nine_runs_lie_between_neighbouring_ranks() -> None:
    """Of nine, ranks 2 and 8 cover 96.09 %, ranks 3 and 7 82.03 %: the ends lie between ranks 2 and 3, 7 and 8."""
    found = interval([float(i) for i in range(1, 10)])
    assert found is not None and 2 < found[0] < 3 and 7 < found[1] < 8


def test_zeros_have_no_logarithm_and_no_negative_end() -> None:
    found = interval([0.0, 0.0, 0.01])
    assert found is not None and found[0] == 0.0 and found[1] > 0.01


def test_equal_runs_have_no_width() -> None:
    assert interval([131.0] * 3) == interval([131.0] * 9) == (131.0, 131.0)


@given(values, st.randoms(use_true_random=False))
def test_contains_the_median_whatever_the_order(numbers: list[float], rng: random.Random) -> None:
    found = interval(numbers)
    assert (found is None) == (len(numbers) < 3)
    if found is not None:
        low, high = found
        assert 0 <= low <= median(numbers) <= high < math.inf
        assert interval(rng.sample(numbers, len(numbers))) == found


@given(st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=20), st.floats(1e-3, 1e3))
def test_a_change_of_unit_changes_the_interval_likewise(numbers: list[float], factor: float) -> None:
    plain, scaled = interval(numbers), interval([value * factor for value in numbers])
    assert plain is not None and scaled is not None
    assert scaled == (pytest.approx(plain[0] * factor), pytest.approx(plain[1] * factor))


def test_quantiles_are_scipys() -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    for freedom, value in T_975.items():
        assert value == pytest.approx(scipy_stats.t.ppf(0.975, freedom))


def normal(rng: random.Random) -> float:
    return math.exp(rng.gauss(0, 0.03))


def cauchy(rng: random.Random) -> float:
    """Benchmark noise with heavy tails: Cauchy of scale 0.22 %."""
    return math.exp(0.0022 * math.tan(math.pi * (rng.random() - 0.5)))


def mixture(rng: random.Random) -> float:
    """A normal mixture, .66 / .24 / .10 of standard deviation .26 / 1.2 / 5.5 %."""
    (sd,) = rng.choices([0.0026, 0.012, 0.055], [0.66, 0.24, 0.10])
    return math.exp(rng.gauss(0, sd))


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 8, 9, 12, 20])
@pytest.mark.parametrize("noise", [normal, cauchy, mixture])
def test_covers_the_true_median(noise: Callable[[random.Random], float], n: int) -> None:
    """4,000 groups of n runs around 1: the interval holds 1 in about 95 % (rank intervals a little off at small n)."""
    rng = random.Random(20261101 + n)
    held = 0
    for _ in range(4_000):
        found = interval([noise(rng) for _ in range(n)])
        assert found is not None
        held += found[0] <= 1 <= found[1]
    assert 0.93 <= held / 4_000 <= 0.995


@pytest.mark.parametrize("n", [6, 7, 30, 101, 1_000])
def test_ranks_are_those_of_the_binomial(n: int) -> None:
    """The interval at the depth covers 95 % and the next one inwards does not, by scipy's binomial distribution."""
    binomial = pytest.importorskip("scipy.stats").binom(n, 0.5)
    depth, weight = _ranks(n)
    assert 1 - 2 * binomial.cdf(depth - 1) >= 0.95 > 1 - 2 * binomial.cdf(depth)
    assert 0 <= weight < 1


def test_a_long_history_takes_no_time() -> None:
    """5,000 runs: once this took minutes, because the tail of the binomial was summed anew for every rank."""
    _ranks.cache_clear()
    rng = random.Random(5)
    started = time.perf_counter()
    found = interval([normal(rng) for _ in range(5_000)])
    assert time.perf_counter() - started < 2
    assert found is not None and found[0] < 1 < found[1]
