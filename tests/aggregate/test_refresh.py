"""From points in the database to stored statistics."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from bench_site.aggregate.check import check
from bench_site.aggregate.groups import POINT_COLUMNS, refresh
from bench_site.aggregate.sweep import sweep
from bench_site.metrics.facts import PATHS
from bench_site.runs.models import GroupStatistic, Point, Series
from tests.aggregate import shop

pytestmark = pytest.mark.django_db

#: Columns of a point that are not figures.
NOT_FIGURES = {"id", "run", "index", "series", "group", "counts", "plausibility", "detail", "samples"}


def statistic(group: Any) -> GroupStatistic:
    return GroupStatistic.objects.get(group=group)


def test_every_column_of_a_point_is_a_fact() -> None:
    columns = {field.name for field in Point._meta.get_fields()} - NOT_FIGURES
    assert columns == set(POINT_COLUMNS)
    assert columns <= PATHS.keys()


def test_three_runs_of_one_group() -> None:
    """8 chips; 800, 880 and 840 tokens/s: median 840, 105 a chip; TPOT p50 25, 20, 24 ms: interactivity 1 / 24 ms."""
    group = shop.group(shop.series())
    for hours, (rate, tpot) in enumerate([(800.0, 0.025), (880.0, 0.020), (840.0, 0.024)]):
        detail = {"metrics": {"tpot": {"p95": tpot * 2}}, "kernel": {"host_dispatches": 1}}
        shop.replicate(group, hours, output_tokens_per_s=rate, tpot_p50=tpot, detail=detail)
    assert refresh([group.series_id]) == 1
    found = statistic(group)
    assert (found.runs, found.output_tokens_per_s, found.output_tokens_per_s_per_chip) == (3, 840.0, 105.0)
    assert found.interactivity == pytest.approx(1 / 0.024)
    assert found.interactivity_from == "p50"
    assert found.interactivity_low is not None and found.interactivity_high is not None
    assert found.interactivity_low < 1 / 0.024 < found.interactivity_high
    assert found.figures["tpot_p95"][0] == pytest.approx(0.048)
    assert found.figures["host_dispatches"] == [1.0, 1.0, 1.0, 3]
    assert found.ttft_p50 is None and "ttft_p50" not in found.figures
    assert (found.first_run_at, found.last_run_at) == (shop.NOON, shop.NOON + timedelta(hours=2))


def test_a_run_without_a_start_is_ordered_by_its_arrival_and_shows_no_start() -> None:
    series = shop.series()
    dated, undated = shop.group(series), shop.group(series)
    shop.replicate(dated, ttft_p50=1.0)
    shop.replicate(undated, run_fields={"started_at": None}, ttft_p50=1.0)
    refresh([series.id])
    series.refresh_from_db()
    assert series.newest_group_id == undated.id  # received half an hour after the other one started
    assert statistic(undated).last_run_at is None and statistic(dated).last_run_at == shop.NOON


def test_unknown_chips_leave_the_per_chip_rate_unknown() -> None:
    group = shop.group(shop.series(shop.configuration(chips=None)))
    shop.replicate(group, output_tokens_per_s=800.0)
    refresh([group.series_id])
    assert (statistic(group).output_tokens_per_s, statistic(group).output_tokens_per_s_per_chip) == (800.0, None)


def test_retracted_quarantined_and_wrong_runs_are_left_out() -> None:
    group = shop.group(shop.series())
    shop.replicate(group, output_tokens_per_s=800.0)
    shop.replicate(group, counts=False, run_fields={"retracted_at": shop.NOON}, output_tokens_per_s=1.0)
    shop.replicate(group, counts=False, plausibility="quarantine", output_tokens_per_s=2.0)
    shop.replicate(group, counts=False, run_fields={"verification": "failed"}, output_tokens_per_s=3.0)
    refresh([group.series_id])
    found = statistic(group)
    assert (found.runs, found.runs_left_out, found.output_tokens_per_s) == (1, 3, 800.0)
    assert (found.verification, found.plausibility) == ("passed", "accept")


def test_retracting_the_last_run_leaves_a_row_that_says_so() -> None:
    group = shop.group(shop.series())
    run = shop.replicate(group, output_tokens_per_s=800.0)
    refresh([group.series_id])
    run.points.update(counts=False)
    refresh([group.series_id])
    found = statistic(group)
    assert (found.runs, found.runs_left_out, found.output_tokens_per_s, found.figures) == (0, 1, None, {})
    assert Series.objects.get().newest_group == group


def test_an_amended_run_moves_to_another_series() -> None:
    old, new = shop.group(shop.series()), shop.group(shop.series())
    run = shop.replicate(old, output_tokens_per_s=800.0)
    sweep()
    run.points.update(series=new.series, group=new)
    Series.objects.update(stale_since=shop.NOON)
    sweep()
    assert not GroupStatistic.objects.filter(group=old).exists()
    assert statistic(new).runs == 1
    assert Series.objects.get(id=old.series_id).newest_group is None
    assert Series.objects.get(id=new.series_id).newest_group == new
    assert check().clean


def test_the_newest_group_is_that_of_the_newest_run() -> None:
    series = shop.series()
    old, new = shop.group(series, "1.0"), shop.group(series, "1.1")
    shop.replicate(new, hours=1, ttft_p50=1.0)
    shop.replicate(old, hours=0, ttft_p50=1.0)
    refresh([series.id])
    assert Series.objects.get().newest_group == new
    shop.replicate(old, hours=5, ttft_p50=1.0)
    refresh([series.id])
    assert Series.objects.get().newest_group == old


def test_acceptance_comes_from_the_runs_own_report() -> None:
    """Two runs with acceptance lengths 2.8 and 3.2: 3.0. One without speculation is not asked."""
    group = shop.group(shop.series(shop.configuration(speculative="mtp")))
    for length in (2.8, 3.2):
        run = shop.replicate(group, ttft_p50=1.0)
        shop.revision(run, {"strategy": {"speculative": {"method": "mtp", "acceptance_length": length}}})
    refresh([group.series_id])
    assert statistic(group).figures["acceptance_length"][0] == pytest.approx(3.0)
    assert "acceptance_rate" not in statistic(group).figures


def test_acceptance_is_that_of_the_newest_revision() -> None:
    group = shop.group(shop.series(shop.configuration(speculative="mtp")))
    run = shop.replicate(group, ttft_p50=1.0)
    for number, rate in ((1, 0.5), (2, 0.75)):
        run.revision = number
        shop.revision(run, {"strategy": {"speculative": {"method": "mtp", "acceptance_rate": rate}}})
    run.save()
    refresh([group.series_id])
    assert statistic(group).figures["acceptance_rate"][0] == 0.75


def test_the_check_knows_that_json_has_one_kind_of_number() -> None:
    """1e16 comes back from jsonb as an integer."""
    group = shop.group(shop.series(stale=False))
    shop.replicate(group, detail={"kernel": {"bytes_per_token": 1e16}})
    refresh([group.series_id])
    assert check().differences == []


def test_queries_do_not_grow_with_series() -> None:
    def queries(count: int) -> int:
        config = shop.configuration()
        ids = []
        for _ in range(count):
            group = shop.group(shop.series(config))
            shop.replicate(group, ttft_p50=1.0)
            ids.append(group.series_id)
        with CaptureQueriesContext(
            connection,
        ) as seen:
            refresh(ids)
        return len(seen)

    few, many = queries(2), queries(40)
    assert few == many <= 12


values = st.floats(1e-6, 1e9)
#: (which of three groups, hours, counts, figures)
writes = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.integers(0, 100),
        st.booleans(),
        st.fixed_dictionaries({}, optional={"ttft_p50": values, "tpot_mean": values, "output_tokens_per_s": values}),
    ),
    min_size=1,
    max_size=8,
)


class Incremental(TestCase):
    """Whatever is written and swept in whatever steps: the same statistics as computed from nothing."""

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(writes, st.data())
    def test_is_the_same_as_from_scratch(self, steps: Any, data: st.DataObject) -> None:
        first, second = shop.series(stale=False), shop.series(stale=False)
        groups = [shop.group(first, "1.0"), shop.group(first, "1.1"), shop.group(second, "1.0")]
        for number, hours, counts, figures in steps:
            shop.replicate(groups[number], hours, counts=counts, **figures)
            Series.objects.filter(id=groups[number].series_id).update(stale_since=shop.NOON)
            if data.draw(st.booleans(), label="sweep"):
                sweep(batch=1)
        sweep()
        incremental = list(self.stored())
        assert check().clean
        GroupStatistic.objects.all().delete()
        refresh([first.id, second.id])
        assert list(self.stored()) == incremental

    def stored(self) -> Any:
        columns = [f.attname for f in GroupStatistic._meta.concrete_fields if f.name != "computed_at"]
        return GroupStatistic.objects.order_by("group_id").values_list(*columns)
