"""Between measured loads on straight lines; outside nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_site.stats import along, interpolate

numbers = st.floats(-1e6, 1e6)
curves = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20)


def test_by_hand() -> None:
    """Throughput 100 at concurrency 1 and 400 at 16: at 6, a third of the way, 200."""
    points = [(16.0, 400.0), (1.0, 100.0)]
    assert interpolate(points, 6.0) == pytest.approx(200.0)
    assert (interpolate(points, 1.0), interpolate(points, 16.0)) == (100.0, 400.0)


def test_outside_is_not_measured() -> None:
    points = [(1.0, 100.0), (16.0, 400.0)]
    assert interpolate(points, 0.99) is None and interpolate(points, 16.01) is None
    assert interpolate([], 1.0) is None
    assert interpolate([(4.0, 7.0)], 4.0) == 7.0 and interpolate([(4.0, 7.0)], 5.0) is None


def test_two_results_for_one_load_must_be_decided_before() -> None:
    with pytest.raises(ValueError, match=r"two points at x = 4\.0"):
        interpolate([(4.0, 1.0), (4.0, 2.0), (8.0, 3.0)], 5.0)


def test_a_curve_that_turns_back_has_several_answers() -> None:
    """Interactivity 50, 60, 40 at rising loads, throughput 10, 20, 30: 55 lies on both legs, at 15 and at 22.5."""
    assert along([(50.0, 10.0), (60.0, 20.0), (40.0, 30.0)], 55.0) == [pytest.approx(15.0), pytest.approx(22.5)]
    assert along([(50.0, 10.0), (60.0, 20.0)], 70.0) == []
    assert along([(50.0, 10.0), (60.0, 20.0)], 60.0) == [20.0]


@given(curves, numbers)
def test_never_leaves_the_measured_range(points: list[tuple[float, float]], x: float) -> None:
    found = along(points, x)
    inside = min(p[0] for p in points) <= x <= max(p[0] for p in points)
    assert bool(found) == inside
    assert all(min(p[1] for p in points) <= y <= max(p[1] for p in points) for y in found)
