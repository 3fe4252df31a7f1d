"""The sweep: which series it takes, which marks it takes off, alone and beside others. On real transactions."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone

from bench_site.aggregate import sweep as sweeping
from bench_site.aggregate import tasks
from bench_site.aggregate.check import check
from bench_site.aggregate.groups import store
from bench_site.aggregate.sweep import mark_all, sweep
from bench_site.runs.models import GroupStatistic, Heartbeat, Series
from tests.aggregate import shop

pytestmark = pytest.mark.django_db(transaction=True)


def many(count: int) -> list[Any]:
    config = shop.configuration()
    groups = [shop.group(shop.series(config)) for _ in range(count)]
    for group in groups:
        shop.replicate(group, output_tokens_per_s=800.0)
    return groups


def in_thread(work: Callable[[], Any]) -> threading.Thread:
    def closing() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = threading.Thread(target=closing)
    thread.start()
    return thread


def during_store(do: Callable[[], None]) -> Any:
    """Let ``do`` happen after the figures were computed and before the mark is looked at again."""

    def storing(ids: Any) -> Any:
        result = store(ids)
        do()
        return result

    return mock.patch.object(sweeping, "store", storing)


def test_takes_all_in_batches_and_only_the_stale() -> None:
    groups = many(7)
    fresh = shop.group(shop.series(stale=False))
    shop.replicate(fresh, output_tokens_per_s=1.0)
    assert sweep(batch=3) == 7
    assert GroupStatistic.objects.count() == 7
    assert not Series.objects.filter(stale_since__isnull=False).exists()
    assert not GroupStatistic.objects.filter(group=fresh).exists()
    assert sweep() == 0
    assert Series.objects.get(id=groups[0].series_id).newest_group == groups[0]


def test_the_longest_waiting_first() -> None:
    groups = many(3)
    for minutes, group in zip((5, 30, 10), groups, strict=True):
        Series.objects.filter(id=group.series_id).update(stale_since=timezone.now() - timedelta(minutes=minutes))
    taken: list[int] = []

    def storing(ids: Any) -> Any:
        taken.extend(ids)
        return store(ids)

    with mock.patch.object(sweeping, "store", storing):
        sweep(batch=1)
    assert taken == [groups[1].series_id, groups[2].series_id, groups[0].series_id]


def test_a_mark_that_moved_meanwhile_is_kept() -> None:
    """Another connection writes a run while the figures are computed: it is not blocked, and the mark stays."""
    (group,) = many(1)
    blocked: list[bool] = []

    def push() -> None:
        def write() -> None:
            with transaction.atomic():
                Series.objects.select_for_update().get(id=group.series_id)
                shop.replicate(group, hours=1, output_tokens_per_s=900.0)
                Series.objects.filter(id=group.series_id).update(stale_since=timezone.now())

        writer = in_thread(write)
        writer.join(timeout=10)
        blocked.append(writer.is_alive())

    with during_store(push):
        assert sweep() == 0
    assert blocked == [False]
    assert Series.objects.get().stale_since is not None
    assert GroupStatistic.objects.get().runs == 1
    assert sweep() == 1
    assert GroupStatistic.objects.get().runs == 2
    assert check().clean


def test_a_series_that_is_being_written_to_keeps_its_mark() -> None:
    """The writer holds the series' row and has not committed: the sweep neither waits nor takes the mark off."""
    groups = many(2)
    locked, release = threading.Event(), threading.Event()

    def write() -> None:
        with transaction.atomic():
            Series.objects.select_for_update().get(id=groups[0].series_id)
            locked.set()
            release.wait(timeout=10)

    writer = in_thread(write)
    assert locked.wait(timeout=10)
    assert sweep() == 1
    release.set()
    writer.join()
    assert list(Series.objects.filter(stale_since__isnull=False)) == [groups[0].series]
    assert sweep() == 1


def test_two_sweeps_share_the_work() -> None:
    """While one holds a batch, another takes the rest at once; each series is computed by one of them."""
    groups = many(6)
    taken: list[int] = []
    other: list[int] = []

    def storing(ids: Any) -> Any:
        taken.extend(ids)
        if not other:
            other.append(0)
            thread = in_thread(lambda: other.append(sweep(batch=2)))
            thread.join(timeout=20)
            assert not thread.is_alive()
        return store(ids)

    with mock.patch.object(sweeping, "store", storing):
        first = sweep(batch=2)
    assert (first, other) == (2, [0, 4])
    assert sorted(taken) == sorted(group.series_id for group in groups)
    assert check().clean


def test_sweeps_and_pushes_at_once_end_clean() -> None:
    groups = many(4)
    failures: list[Exception] = []

    def guarded(work: Callable[[], Any]) -> Callable[[], None]:
        def run() -> None:
            try:
                for _ in range(15):
                    work()
            except Exception as why:  # noqa: BLE001  whatever it is fails the test below
                failures.append(why)

        return run

    def push() -> None:
        with transaction.atomic():
            for group in groups:
                shop.replicate(group, output_tokens_per_s=800.0)
            list(Series.objects.order_by("id").select_for_update())
            Series.objects.update(stale_since=timezone.now())

    threads = [in_thread(guarded(work)) for work in (push, push, sweep, sweep, lambda: sweep(batch=1))]
    for thread in threads:
        thread.join(timeout=60)
    assert failures == []
    sweep()
    assert check().clean
    assert set(GroupStatistic.objects.values_list("runs", flat=True)) == {31}


def test_a_mark_without_anything_to_compute_is_taken_off() -> None:
    shop.series()
    assert sweep() == 1
    assert check().clean


def test_a_failing_computation_keeps_marks_and_statistics() -> None:
    many(2)
    with mock.patch.object(sweeping, "store", side_effect=RuntimeError), pytest.raises(RuntimeError):
        sweep()
    assert Series.objects.filter(stale_since__isnull=False).count() == 2


def test_mark_all() -> None:
    many(5)
    sweep()
    assert mark_all(chunk=2) == 5
    assert mark_all() == 0
    assert sweep() == 5


class TestCommand:
    @pytest.fixture(autouse=True)
    def _clean(self) -> Iterator[None]:
        many(2)
        yield

    def aggregate(self, capsys: pytest.CaptureFixture[str], *args: str) -> str:
        call_command("aggregate", *args)
        return capsys.readouterr().out

    def test_sweeps(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert "2 series brought up to date" in self.aggregate(capsys)
        assert "2 series, 2 groups compared, 0 series stale, 0 differences" in self.aggregate(capsys, "--check")

    def test_check_fails_on_stale_series(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(CommandError, match="not clean"):
            call_command("aggregate", "--check")
        assert "2 series stale" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("tamper", "words"),
        [
            (
                lambda: GroupStatistic.objects.filter(pk=first()).update(output_tokens_per_s=801.0),
                "801.0, computed 800.0",
            ),
            (lambda: GroupStatistic.objects.filter(pk=first()).update(runs=2), "runs is 2, computed 1"),
            (
                lambda: GroupStatistic.objects.filter(pk=first()).update(figures={}),
                "figures.output_tokens_per_s is None",
            ),
            (lambda: GroupStatistic.objects.filter(pk=first()).delete(), "has points and no statistic"),
            (lambda: Series.objects.update(newest_group=None), "newest_group is None"),
            (lambda: wrongly_counting(), "counts although"),
            (lambda: in_another_series(), "its group belongs to another series"),
        ],
    )
    def test_check_names_what_differs(
        self, capsys: pytest.CaptureFixture[str], tamper: Callable[[], Any], words: str
    ) -> None:
        sweep()
        tamper()
        with pytest.raises(CommandError, match="not clean"):
            call_command("aggregate", "--check")
        assert words in capsys.readouterr().out

    def test_all_repairs(self, capsys: pytest.CaptureFixture[str]) -> None:
        sweep()
        GroupStatistic.objects.update(output_tokens_per_s=1.0)
        assert "0 differences" in self.aggregate(capsys, "--all", "--check")


def first() -> int:
    return GroupStatistic.objects.order_by("pk").values_list("pk", flat=True)[0]


def wrongly_counting() -> None:
    point = GroupStatistic.objects.order_by("pk")[0].group.points.get()
    point.run.retracted_at = timezone.now()
    point.run.save()


def in_another_series() -> None:
    point = GroupStatistic.objects.order_by("pk")[0].group.points.get()
    point.series = Series.objects.exclude(id=point.series_id)[0]
    point.save()


def test_the_tasks() -> None:
    many(1)
    tasks.sweep.apply(throw=True)
    assert check().clean
    before = timezone.now()
    for _ in range(2):
        tasks.heartbeat.apply(throw=True)
    assert Heartbeat.objects.get(name="worker").at >= before
    assert (tasks.sweep.name, tasks.heartbeat.name) == ("aggregate.sweep", "aggregate.heartbeat")
