"""What a group's points say together, on plain values."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_site.aggregate.figures import Sample, last_of, newest_of, statistic_of
from bench_site.metrics import HEADLINE, MEASURED
from bench_site.runs.models import GroupStatistic

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


def sample(
    run: int,
    counts: bool = True,
    verification: str = "passed",
    plausibility: str = "accept",
    interactivity_from: str = "",
    **figures: float,
) -> Sample:
    return Sample(run, counts, NOON + timedelta(hours=run), verification, plausibility, interactivity_from, figures)


def test_one_value_a_run() -> None:
    """Runs 1, 2, 3 give 100, 110 and (two points, 90 and 130) their median 110: median 110 of 3, not of 4."""
    found = statistic_of(
        [sample(1, output_tokens_per_s=100.0), sample(2, output_tokens_per_s=110.0)]
        + [sample(3, output_tokens_per_s=value) for value in (90.0, 130.0)]
    )
    assert found["runs"] == 3
    assert found["output_tokens_per_s"] == 110.0
    assert found["figures"]["output_tokens_per_s"][3] == 3


def test_percentiles_are_never_averaged() -> None:
    """The p99 of three runs with p99 1, 2 and 9 s is 2 s."""
    found = statistic_of([sample(i, ttft_p99=value) for i, value in enumerate((1.0, 9.0, 2.0))])
    assert found["ttft_p99"] == 2.0


def test_what_does_not_count_gives_no_figure() -> None:
    found = statistic_of(
        [
            sample(1, ttft_p50=1.0, verification="not_run", plausibility="flag"),
            sample(2, ttft_p50=2.0),
            sample(3, counts=False, verification="failed", plausibility="quarantine", ttft_p50=0.001),
        ]
    )
    assert (found["runs"], found["runs_left_out"]) == (2, 1)
    assert found["ttft_p50"] == 1.5
    assert (found["verification"], found["plausibility"]) == ("not_run", "flag")
    assert found["last_run_at"] == NOON + timedelta(hours=2)


def test_only_runs_that_are_left_out() -> None:
    found = statistic_of([sample(4, counts=False, plausibility="quarantine", ttft_p50=0.001)])
    assert (found["runs"], found["runs_left_out"], found["ttft_p50"], found["figures"]) == (0, 1, None, {})
    assert (found["plausibility"], found["last_run_at"]) == ("quarantine", NOON + timedelta(hours=4))


def test_a_run_that_does_not_say_when_it_started_has_no_start() -> None:
    """When it was received orders it among others, and is no start: a curve would seem to span a year."""
    undated = replace(sample(9), dated=False)
    found = statistic_of([sample(1), undated])
    assert (found["first_run_at"], found["last_run_at"]) == (NOON + timedelta(hours=1), NOON + timedelta(hours=1))
    alone = statistic_of([undated])
    assert (alone["first_run_at"], alone["last_run_at"]) == (None, None)
    assert last_of([sample(1), undated]) == NOON + timedelta(hours=9)
    assert last_of([sample(1), sample(2, counts=False)]) == NOON + timedelta(hours=1)


def test_a_group_without_points_has_none() -> None:
    with pytest.raises(ValueError, match="without points"):
        statistic_of([])


def test_interactivity_from_median_and_mean_is_not_mixed() -> None:
    """Two runs know the median TPOT (50 and 52 tokens/s), one only the mean: it gives no interactivity here."""
    runs = [
        sample(1, interactivity=50.0, interactivity_from="p50"),
        sample(2, interactivity=52.0, interactivity_from="p50"),
        sample(3, interactivity=90.0, interactivity_from="mean"),
    ]
    found = statistic_of(runs)
    assert (found["interactivity"], found["interactivity_from"]) == (51.0, "p50")
    assert found["figures"]["interactivity"][3] == 2
    assert statistic_of(runs[2:])["interactivity_from"] == "mean"
    assert statistic_of([sample(1, ttft_p50=1.0)])["interactivity_from"] == ""


def test_intervals_need_three_runs() -> None:
    two = statistic_of([sample(i, ttft_p50=1.0 + i) for i in range(2)])
    three = statistic_of([sample(i, ttft_p50=1.0 + i) for i in range(3)])
    assert (two["ttft_p50_low"], two["ttft_p50_high"]) == (None, None)
    assert three["ttft_p50_low"] < 2.0 < three["ttft_p50_high"]


NAMES = [metric.name for metric in MEASURED]


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.booleans(), st.dictionaries(st.sampled_from(NAMES), st.floats(1e-6, 1e9))),
        min_size=1,
        max_size=12,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_points_does_not_matter(
    rows: list[tuple[int, bool, dict[str, float]]], rng: random.Random
) -> None:
    samples = [replace(sample(run, counts), figures=figures) for run, counts, figures in rows]
    shuffled = rng.sample(samples, len(samples))
    assert statistic_of(samples) == statistic_of(shuffled)


def test_the_tables_columns_are_the_headline_metrics() -> None:
    columns = {field.name for field in GroupStatistic._meta.get_fields()}
    described = {
        "group", "runs", "runs_left_out", "first_run_at", "last_run_at", "verification", "plausibility",
        "interactivity_from", "figures", "computed_at",
    }  # fmt: skip
    expected = set()
    for name, with_interval in HEADLINE.items():
        expected |= {name, f"{name}_low", f"{name}_high"} if with_interval else {name}
    assert columns - described == expected


def test_the_newest_group() -> None:
    """The one with the newest run; but one whose runs were all left out only when there is no other."""
    counts, left_out, later = {"runs": 1}, {"runs": 0}, NOON + timedelta(days=1)
    assert newest_of([(1, counts, later), (2, counts, NOON), (3, left_out, later + timedelta(days=1))]) == 1
    assert newest_of([(3, left_out, NOON)]) == 3
    assert newest_of([(1, counts, NOON), (2, counts, NOON)]) == 2
    assert newest_of([]) is None
