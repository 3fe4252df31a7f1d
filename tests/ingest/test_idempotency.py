"""However uploads are cut, repeated and mixed, every report is there once, as it was sent first."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench_site.ingest.accept import accept_batch, accept_report
from bench_site.ingest.content import content_of, normalised
from bench_site.ingest.reading import read_batch, read_report
from bench_site.ingest.refusals import Refusal
from bench_site.runs.models import Point, Revision, Run, Series
from runners.contract import Report
from tests.ingest.making import changed, counts, document, person, point, report, uuid7

pytestmark = pytest.mark.django_db
relaxed = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def respelled(value: Any, choose: st.DrawFn) -> Any:
    """The same JSON, its objects in another order, with nulls added and whole floats as integers."""
    if isinstance(value, dict):
        keys = choose(st.permutations(list(value)))
        return {key: respelled(value[key], choose) for key in keys}
    if isinstance(value, list):
        return [respelled(child, choose) for child in value]
    if isinstance(value, float) and value.is_integer() and choose(st.booleans()):
        return int(value)
    return value


@relaxed
@given(st.data())
def test_the_same_content_in_another_spelling_is_unchanged(data: st.DataObject) -> None:
    by, sent = person(), document(points=[point(2), point(4)], system={"software": {"b": "2", "a": "1"}})
    accept_report(report=read_report(json.dumps(sent).encode()), by=by)
    before = counts()
    again = respelled(sent, data.draw)
    indent = data.draw(st.sampled_from([None, 0, 2]))
    text = json.dumps({**again, "notes": None, "tags": []}, indent=indent, ensure_ascii=data.draw(st.booleans()))
    assert accept_report(report=read_report(text.encode()), by=by).outcome == "unchanged"
    assert counts() == before


@relaxed
@given(st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=6), min_size=1, max_size=5))
def test_any_cutting_into_batches_stores_each_report_once(batches: list[list[int]]) -> None:
    by = person()
    reports = {n: report(id=str(uuid7(n)), engine={"name": f"engine-{n % 3}"}) for n in range(8)}
    Revision.objects.all().delete(), Point.objects.all().delete(), Run.objects.all().delete()
    seen: set[int] = set()
    for batch in batches:
        answers = accept_batch(reports=[reports[n] for n in batch], by=by)
        for n, answer in zip(batch, answers, strict=True):
            assert not isinstance(answer, Refusal)
            assert answer.outcome == ("unchanged" if n in seen else "stored")
            seen.add(n)
    assert set(Run.objects.values_list("id", flat=True)) == {uuid7(n) for n in seen}
    assert Point.objects.count() == Revision.objects.count() == len(seen)


@relaxed
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), max_size=12))
def test_a_run_says_what_its_last_accepted_upload_said(steps: list[tuple[int, int, bool]]) -> None:
    by = person()
    Revision.objects.all().delete(), Point.objects.all().delete(), Run.objects.all().delete()
    model: dict[int, tuple[int, int]] = {}  # run -> what it says, revision
    for number, says, amend in steps:
        sent = report(id=str(uuid7(number)), tags=[f"says-{says}"], engine={"name": f"engine-{says}"})
        (answer,) = accept_batch(reports=[sent], by=by, amend=amend)
        old = model.get(number)
        if old is None:
            model[number] = (says, 1)
            assert not isinstance(answer, Refusal) and answer.outcome == "stored"
        elif old[0] == says:
            assert not isinstance(answer, Refusal) and answer.outcome == "unchanged"
        elif amend:
            model[number] = (says, old[1] + 1)
            assert not isinstance(answer, Refusal) and answer.outcome == "amended"
        else:
            assert isinstance(answer, Refusal) and answer.problem.code == "conflict"
    for number, (says, revision) in model.items():
        run = Run.objects.get(id=uuid7(number))
        assert (run.tags, run.revision, run.revisions.count()) == ([f"says-{says}"], revision, revision)
        assert run.points.get().series.configuration.engine == f"engine-{says}"


numbers = st.one_of(st.none(), st.floats(0, 1e18), st.integers(0, 10**18))


@settings(max_examples=60, deadline=None)
@given(st.lists(numbers, min_size=4, max_size=4), st.text(max_size=40))
def test_what_is_stored_reads_back_as_it_was_sent(values: list[float | None], text: str) -> None:
    """Through JSON text, as PostgreSQL keeps it: no figure may change."""
    sent = document(points=[{"metrics": {"ttft": dict(zip(("mean", "p50", "p90", "std"), values, strict=True))}}])
    try:
        read = read_report(json.dumps({**sent, "notes": text or None}).encode())
    except Refusal:
        return
    said = normalised(read)
    content = content_of(said)
    assert Report.model_validate(json.loads(content.report)) == said
    assert content_of(Report.model_validate_json(content.report)).sha256 == content.sha256


def test_amending_moves_the_points_and_marks_both_series() -> None:
    by, first = person(), report(points=[point(8)])
    accept_report(report=first, by=by)
    Series.objects.update(stale_since=None)
    second = changed(first, points=[point(16), point(32)])
    receipt = accept_report(report=second, by=by, amend=True, reason="wrong load")
    assert (receipt.outcome, receipt.revision, receipt.points) == ("amended", 2, 2)
    assert list(Point.objects.order_by("index").values_list("series__load_value", flat=True)) == [16.0, 32.0]
    assert dict(Series.objects.values_list("load_value", "stale_since")).keys() == {8.0, 16.0, 32.0}
    assert Series.objects.filter(stale_since=None).count() == 0, "the series that lost its point as well"
    old = Revision.objects.get(number=1)
    assert old.report["points"][0]["load"] == {"concurrency": 8}
    assert Revision.objects.get(number=2).reason == "wrong load"


def test_an_old_revision_keeps_its_samples() -> None:
    by, first = person(), report(points=[point(samples={"ttft": [0.1, 0.2]})])
    accept_report(report=first, by=by)
    accept_report(report=changed(first, points=[point()]), by=by, amend=True)
    assert Revision.objects.get(number=1).report["points"][0]["samples"] == {"ttft": [0.1, 0.2]}
    assert "samples" not in Revision.objects.get(number=2).report["points"][0]


def test_an_operators_amendment_leaves_the_run_with_its_uploader() -> None:
    from bench_site.runs.models.words import Role

    system = {"pools": [{"chip": "h200", "chips": 8}]}
    first = report(system=system)
    accept_report(report=first, by=person("kim"))
    accept_report(report=changed(first, tags=["mended"]), by=person("op", Role.OPERATOR), amend=True)
    assert Run.objects.get().uploaded_by.username == "kim"
    assert Series.objects.get().origin == "uploaded by kim"


def test_samples_count_as_content() -> None:
    by = person()
    first = report(points=[point(samples={"ttft": [0.1, 0.2]})])
    accept_report(report=first, by=by)
    assert accept_report(report=first, by=by).outcome == "unchanged"
    with pytest.raises(Refusal) as caught:
        accept_report(report=changed(first, points=[point(samples={"ttft": [0.1, 0.3]})]), by=by)
    assert [error.path for error in caught.value.problem.errors] == ["points[0].samples"]


def test_a_batch_is_as_good_as_its_items_alone() -> None:
    by, sent = person(), [document(engine={"name": f"e{i}"}) for i in range(3)]
    answers = accept_batch(reports=read_batch(json.dumps({"reports": sent}).encode()), by=by)
    assert [answer.outcome for answer in answers] == ["stored"] * 3
    assert [accept_report(report=read_report(json.dumps(one).encode()), by=by).outcome for one in sent] == [
        "unchanged"
    ] * 3
