"""Accepting a report: where it goes, and what the receipt says."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from bench_site.ingest.accept import accept_batch, accept_report
from bench_site.ingest.content import content_of, normalised, unpacked
from bench_site.ingest.raw import RawBytes, raw_pieces
from bench_site.ingest.refusals import Refusal
from bench_site.runs.models import (
    Chip,
    ChipAlias,
    Configuration,
    LanguageModel,
    Machine,
    ModelAlias,
    Point,
    RawFile,
    ReplicateGroup,
    Run,
    Samples,
    Series,
)
from bench_site.runs.models.words import Role
from runners.contract import Report
from runners.contract.schema import EXAMPLES
from tests.ingest.making import changed, counts, document, machine_caller, person, point, report

pytestmark = pytest.mark.django_db


def test_a_report_becomes_run_revision_points_series_and_group() -> None:
    sent = report(points=[point(8), point(16)], tags=["nightly"], experiment=None)
    receipt = accept_report(report=sent, by=person())

    assert (receipt.outcome, receipt.revision, receipt.points, receipt.plausibility) == ("stored", 1, 2, "accept")
    run = Run.objects.get(id=sent.id)
    assert run.uploaded_by.username == "kim"
    assert run.machine.name == "node-1" and not run.machine.registered
    assert run.tags == ["nightly"] and run.tool == "example-bench" and run.engine_version == "0.25.1"
    assert run.started_at == datetime(2026, 10, 5, 9, tzinfo=UTC)
    assert Report.model_validate(run.revisions.get().report) == normalised(sent)
    points = run.points.order_by("index")
    assert [p.series.load_value for p in points] == [8.0, 16.0]
    assert [p.counts for p in points] == [True, True]
    assert points[0].tpot_p90 == pytest.approx(0.011) and points[0].output_tokens_per_s == pytest.approx(
        779.8, rel=1e-3
    )
    assert points[0].group.curve == points[1].group.curve, "the same group but for the load"
    assert Series.objects.filter(stale_since__isnull=True).count() == 0
    configuration = run.configuration
    assert (configuration.model.name, configuration.engine, configuration.precision) == ("Example-70B", "vllm", "fp8")
    assert configuration.chips == 8
    assert configuration.chip_ids == [configuration.pools.get().chip_id]


def test_unknown_names_are_stored_flagged_and_listed() -> None:
    receipt = accept_report(report=report(), by=person())
    assert receipt.unknown_chips == ["h200"] and receipt.unknown_models == ["Example-70B"]
    assert Chip.objects.get(slug="h200").known is False
    assert LanguageModel.objects.get().known is False


def test_an_alias_leads_to_the_chip_and_model_it_stands_for() -> None:
    chip = Chip.objects.create(slug="nvidiah200", name="NVIDIA H200")
    ChipAlias.objects.create(slug="h200", chip=chip)
    model = LanguageModel.objects.create(slug="example", name="Example")
    ModelAlias.objects.create(slug="example70b", model=model)
    receipt = accept_report(report=report(), by=person())
    assert receipt.unknown_chips == [] and receipt.unknown_models == []
    direct = report(model={"name": "example", "precision": {"weights": "FP8"}})
    accept_report(report=direct, by=person())
    assert Configuration.objects.count() == 1, "two spellings, one configuration"
    assert Configuration.objects.get().chip_ids == [chip.id]


def test_an_alias_made_later_holds_from_the_next_upload_on() -> None:
    accept_report(report=report(), by=person())
    other = Chip.objects.create(slug="other", name="Other")
    ChipAlias.objects.create(slug="h200", chip=other)
    accept_report(report=report(), by=person())
    assert {tuple(c.chip_ids) for c in Configuration.objects.all()} == {
        (Chip.objects.get(slug="h200").id,),
        (other.id,),
    }


def test_two_runs_of_the_same_thing_are_replicates() -> None:
    first, second = report(), report()
    accept_batch(reports=[first, second], by=person())
    assert ReplicateGroup.objects.count() == 1 and Series.objects.count() == 1
    assert Point.objects.filter(group=ReplicateGroup.objects.get()).count() == 2


def test_a_run_without_machine_belongs_to_its_uploader() -> None:
    system = {"pools": [{"chip": "h200", "chips": 8}]}
    accept_report(report=report(system=system), by=person("kim"))
    accept_report(report=report(system=system), by=person("lee"))
    assert sorted(Series.objects.values_list("origin", flat=True)) == ["uploaded by kim", "uploaded by lee"]


def test_a_machine_token_fills_in_its_machine_and_no_other() -> None:
    by = machine_caller("node-7")
    filled = report(system={"pools": [{"chip": "h200", "chips": 8}]})
    accept_report(report=filled, by=by)
    assert Run.objects.get(id=filled.id).machine.name == "node-7"
    with pytest.raises(Refusal) as caught:
        accept_report(report=report(), by=by)
    assert caught.value.problem.status == 403
    assert Machine.objects.filter(name="node-1").count() == 0


def test_a_reader_may_not_push() -> None:
    before = counts()
    with pytest.raises(Refusal) as caught:
        accept_report(report=report(), by=person("reader", Role.READER))
    assert caught.value.problem.code == "forbidden"
    assert counts() == {**before, "User": 1}


def test_samples_and_rounds_leave_the_report_and_come_back_whole() -> None:
    sent = Report.model_validate_json((EXAMPLES / "harness_rung.json").read_bytes(), strict=True)
    accept_report(report=sent, by=person())
    stored = Samples.objects.get(point__run_id=sent.id)
    assert stored.rows == 24
    assert unpacked(bytes(stored.data))["rounds"]["rejected"][11] is True
    run = Run.objects.get(id=sent.id)
    assert "rounds" not in run.revisions.get().report["points"][0]
    assert "rounds" not in run.points.get().detail and run.points.get().detail["kernel"]["barriers"] == 131.0


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json")), ids=lambda path: path.stem)
def test_the_contracts_examples_are_stored(path) -> None:
    sent = Report.model_validate_json(path.read_bytes(), strict=True)
    assert accept_report(report=sent, by=person()).outcome == "stored"


def test_a_failed_run_is_kept_and_has_no_series() -> None:
    failed = report(
        status="failed", error={"message": "all 8 requests failed"},
        points=[{"load": {"concurrency": 2}, "requests": {"sent": 8, "completed": 0, "failed": 8}}],
    )  # fmt: skip
    assert accept_report(report=failed, by=person()).points == 1
    assert Series.objects.count() == 0 and Point.objects.count() == 0
    assert Run.objects.get().revisions.get().report["points"][0]["requests"]["failed"] == 8


def test_a_point_that_cannot_be_true_is_stored_and_does_not_count() -> None:
    wrong = point(8)
    wrong["metrics"]["e2el"]["p99"] = 1.0
    receipt = accept_report(report=report(points=[wrong, point(16)]), by=person())
    assert receipt.plausibility == "quarantine"
    assert [(f.rule, f.point) for f in receipt.findings] == [("percentiles-out-of-order", 0)]
    assert list(Point.objects.order_by("index").values_list("counts", "plausibility")) == [
        (False, "quarantine"), (True, "accept"),
    ]  # fmt: skip
    assert Run.objects.get().findings[0]["message"].startswith("e2el: p90 ")


def test_a_run_whose_output_is_wrong_does_not_count() -> None:
    accept_report(report=report(verification={"status": "failed"}), by=person())
    assert Point.objects.get().counts is False


def test_received_bytes_are_kept_once() -> None:
    raw = RawBytes("a" * 64, 11, b"hello bytes")
    first, second = report(), report()
    accept_batch(reports=[first, second], by=person(), raw=raw)
    stored = RawFile.objects.get()
    assert b"".join(raw_pieces(stored)) == b"hello bytes" and stored.size == 11
    assert sorted(Run.objects.values_list("raw_record", flat=True)) == [0, 1]


def test_large_received_bytes_lie_in_chunks() -> None:
    import random

    data = random.Random(1).randbytes(3 << 20)
    accept_report(report=report(), by=person(), raw=RawBytes("b" * 64, len(data), data))
    stored = RawFile.objects.get()
    assert stored.data is None and stored.chunks.count() == 4
    assert b"".join(raw_pieces(stored)) == data


def test_a_dry_run_writes_nothing_and_finds_the_same() -> None:
    by = person()
    before = counts()
    receipt = accept_report(report=report(), by=by, dry_run=True)
    assert receipt.outcome == "checked" and receipt.unknown_chips == ["h200"]
    assert counts() == before


def test_secrets_in_texts_are_removed_before_anything_is_stored() -> None:
    sent = report(
        source={"tool": "x", "command": "bench --api-key sk-abcdefghijklmnop123 --n 3"}, notes="password=hunter22"
    )
    receipt = accept_report(report=sent, by=person())
    assert receipt.notes == ["a secret was taken out of source.command", "a secret was taken out of notes"]
    text = json.dumps(Run.objects.get().revisions.get().report)
    assert "hunter22" not in text and "sk-abc" not in text and "--n 3" in text
    assert accept_report(report=sent, by=person()).outcome == "unchanged"


def test_the_digest_is_of_what_a_report_says() -> None:
    base = document()
    said = Report.model_validate_json(json.dumps(base), strict=True)
    spelled = Report.model_validate_json(
        json.dumps(
            {**base, "status": "completed", "tags": [], "notes": None, "started_at": "2026-10-05T17:00:00+08:00"}
        ),
        strict=True,
    )
    assert content_of(normalised(said)).sha256 == content_of(normalised(spelled)).sha256
    other = changed(said, tags=["x"])
    assert content_of(normalised(said)).sha256 != content_of(normalised(other)).sha256
    assert normalised(spelled).started_at == datetime(2026, 10, 5, 17, tzinfo=timezone(timedelta(hours=8)))


def test_the_digest_does_not_change_with_the_code() -> None:
    """Every stored run would conflict with itself if it did."""
    sent = Report.model_validate_json((EXAMPLES / "harness_rung.json").read_bytes(), strict=True)
    assert content_of(normalised(sent)).sha256 == "40b7113c41064267b31ab5464b50bd17f81bd5d15b7f5d4fa946ad58a845c21e"
