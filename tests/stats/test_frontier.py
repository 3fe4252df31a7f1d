"""The Pareto frontier and thinning."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_site.stats import frontier, thin
from bench_site.stats.frontier import Pair

coordinates = st.one_of(st.integers(0, 6).map(float), st.floats(-1e9, 1e9), st.none(), st.just(math.nan))
points = st.lists(st.tuples(coordinates, coordinates), max_size=40)
directions = st.sampled_from(["higher", "lower"])


def test_by_hand() -> None:
    """Higher is better in both: (5, 1), (3, 4), (1, 6) stay; (2, 4) has (3, 4) beside it, (1, 1) is beaten by all."""
    assert frontier([(5, 1), (3, 4), (2, 4), (1, 6), (1, 1)]) == [3, 1, 0]


def test_ties_stay_together() -> None:
    assert frontier([(3, 4), (3, 4), (3, 3)]) == [0, 1]


def test_cost_against_speed() -> None:
    """x speed, higher better; y cost, lower better: the dear slow (10, 9) loses to the cheap fast (20, 3)."""
    assert frontier([(10, 9), (20, 3), (30, 5), (5, 1)], "higher", "lower") == [3, 1, 2]


def test_unknown_never_enters() -> None:
    assert frontier([(None, 9), (9, None), (math.nan, 1), (1, 1)]) == [3]
    assert frontier([]) == []


def test_a_misspelt_direction_is_an_error() -> None:
    with pytest.raises(ValueError, match='"higher" or "lower"'):
        frontier([(1, 1)], "up", "higher")


@given(points, directions, directions)
def test_is_what_the_definition_says(pairs: list[Pair], x_direction: str, y_direction: str) -> None:
    across, up = (1 if d == "higher" else -1 for d in (x_direction, y_direction))
    known = {
        i: (across * x, up * y)
        for i, (x, y) in enumerate(pairs)
        if x is not None and y is not None and not math.isnan(x) and not math.isnan(y)
    }

    def beaten(a: tuple[float, float]) -> bool:
        return any(b[0] >= a[0] and b[1] >= a[1] and b != a for b in known.values())

    found = frontier(pairs, x_direction, y_direction)
    assert sorted(found) == [i for i, pair in known.items() if not beaten(pair)]
    assert [pairs[i][0] for i in found] == sorted(pairs[i][0] for i in found)  # type: ignore[type-var]


lines = st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), max_size=200)


@given(lines, st.integers(2, 50), st.sets(st.integers(0, 199), max_size=5))
def test_thinning_keeps_ends_and_what_it_was_told_to(line: list[tuple[float, float]], n: int, keep: set[int]) -> None:
    keep = {i for i in keep if i < len(line)}
    found = thin(line, n, keep)
    assert found == sorted(set(found))
    assert len(found) <= n + len(keep) or len(line) <= n
    assert keep <= set(found)
    if line:
        assert found[0] == 0 and found[-1] == len(line) - 1
    if len(line) <= n:
        assert found == list(range(len(line)))


def test_thinning_keeps_a_spike() -> None:
    rng = random.Random(7)
    line = [(float(i), rng.random()) for i in range(1_000)]
    line[437] = (437.0, 50.0)
    found = thin(line, 50)
    assert 437 in found and len(found) == 50
    with pytest.raises(ValueError, match="at least 2"):
        thin(line, 1)
