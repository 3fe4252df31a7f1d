"""Many uploads at the same moment: everything once, nothing lost, no deadlock."""

import threading
from collections import Counter
from collections.abc import Callable

import pytest
from django.db import connection

from bench_site.ingest.accept import accept_batch, accept_report
from bench_site.ingest.refusals import Refusal
from bench_site.runs.models import (
    Chip,
    Configuration,
    ConfigurationPool,
    LanguageModel,
    Machine,
    Point,
    ReplicateGroup,
    Revision,
    Run,
    Series,
    Workload,
)
from tests.ingest.making import changed, person, point, report

pytestmark = pytest.mark.django_db(transaction=True)

THREADS = 16


def at_once(*work: Callable[[], object]) -> list[object]:
    """Run each in a thread of its own, all beginning together; their answers, exceptions included."""
    barrier = threading.Barrier(len(work))
    answers: list[object] = [None] * len(work)

    def run(index: int) -> None:
        barrier.wait()
        try:
            answers[index] = work[index]()
        except Exception as why:  # noqa: BLE001  the test looks at it
            answers[index] = why
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(work))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def outcomes(answers: list[object]) -> Counter[str]:
    flat = [one for answer in answers for one in (answer if isinstance(answer, list) else [answer])]
    return Counter(getattr(one, "outcome", None) or repr(one)[:300] for one in flat)


def deadlocks() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


def test_200_reports_of_one_new_configuration_from_16_threads() -> None:
    by = person()
    reports = [report() for _ in range(200)]
    before = deadlocks()

    def push(mine: list) -> list:
        answers = []
        for one in mine:
            answers.append(accept_report(report=one, by=by))
            connection.close()  # as a request does when it ends
        return answers

    answers = at_once(*(lambda i=i: push(reports[i::THREADS]) for i in range(THREADS)))
    assert outcomes(answers) == {"stored": 200}
    assert (Run.objects.count(), Revision.objects.count(), Point.objects.count()) == (200, 200, 200)
    for table in (Configuration, ConfigurationPool, Workload, Series, ReplicateGroup, Chip, LanguageModel, Machine):
        assert table.objects.count() == 1, table
    assert deadlocks() == before


def test_batches_that_share_configurations_in_different_orders() -> None:
    by = person()
    before = deadlocks()

    def batch(order: int) -> list:
        made = [report(engine={"name": f"engine-{i}"}, points=[point(2**load) for load in range(4)]) for i in range(12)]
        return accept_batch(reports=made[:: 1 if order % 2 else -1], by=by)

    answers = at_once(*(lambda i=i: batch(i) for i in range(8)))
    assert outcomes(answers) == {"stored": 96}
    assert (Configuration.objects.count(), Series.objects.count(), Point.objects.count()) == (12, 48, 384)
    assert deadlocks() == before


def test_the_same_report_from_many_threads_is_stored_once() -> None:
    by, one = person(), report()
    answers = at_once(*(lambda: accept_report(report=one, by=by) for _ in range(8)))
    assert outcomes(answers) == {"stored": 1, "unchanged": 7}
    assert Run.objects.count() == Revision.objects.count() == Point.objects.count() == 1


def test_two_contents_under_one_id_at_once_leave_one_of_them() -> None:
    by, one = person(), report()
    answers = at_once(*(lambda i=i: accept_report(report=changed(one, tags=[f"t{i}"]), by=by) for i in range(6)))
    assert sum(isinstance(answer, Refusal) for answer in answers) == 5
    assert all(a.problem.code == "conflict" for a in answers if isinstance(a, Refusal)), answers
    assert Run.objects.count() == Revision.objects.count() == 1


def test_amendments_at_once_follow_each_other() -> None:
    by, one = person(), report()
    accept_report(report=one, by=by)
    answers = at_once(
        *(lambda i=i: accept_report(report=changed(one, tags=[f"t{i}"]), by=by, amend=True) for i in range(6))
    )
    assert outcomes(answers) == {"amended": 6}
    assert sorted(answer.revision for answer in answers) == [2, 3, 4, 5, 6, 7]
    run = Run.objects.get()
    assert run.revision == 7 and run.revisions.count() == 7 and run.points.count() == 1
    assert run.tags == run.revisions.get(number=7).report["tags"]


def test_overlapping_batches_at_once() -> None:
    by = person()
    reports = [report(engine={"name": f"engine-{i % 5}"}) for i in range(60)]
    answers = at_once(
        *(lambda i=i: accept_batch(reports=(reports[i * 5 :] + reports[: i * 5])[:50], by=by) for i in range(8))
    )
    found = outcomes(answers)
    assert set(found) == {"stored", "unchanged"} and found["stored"] == 60
    assert Run.objects.count() == 60
