"""What the sender says beside a file: it wins, it is noted, and the result is a valid report or a clear error."""

from datetime import UTC, datetime

import pytest

from bench_site.formats import ContextError, apply_context, missing_facts, read
from runners.contract.context import Context
from runners.contract.report import Report
from runners.contract.vocabulary import Evidence, KernelStrategy, PoolRole
from tests.formats.shapes import agg, api_row, as_bytes, server_info, sglang, vllm, vllm_detailed


def report_of(record: dict) -> Report:
    return read(as_bytes(record)).runs[0].report


def paths(error: ContextError) -> list[str]:
    return [entry.path for entry in error.errors]


def test_facts_that_the_file_lacks_are_filled_in_silently() -> None:
    context = Context(
        chip="h200",
        chips=8,
        nodes=1,
        machine="lab-1",
        precision="fp8",
        engine="vllm",
        engine_version="0.20",
        strategy=KernelStrategy.MEGAKERNEL,
        speculative="mtp",
        draft_tokens=3,
        input_tokens=100,
        output_tokens=20,
        tag=["a", "a", "b"],
        notes="said",
        command="vllm bench serve",
        evidence=Evidence.MEASURED,
    )
    report, notes = apply_context(report_of(vllm()), context)
    assert notes == []
    pool = report.system.pools[0]
    assert (pool.role, pool.chip, pool.chips, pool.nodes) == (PoolRole.ALL, "h200", 8, 1)
    assert report.strategy.kernel is KernelStrategy.MEGAKERNEL
    assert report.strategy.speculative is not None and report.strategy.speculative.draft_tokens == 3
    assert report.tags == ["a", "b"] and report.workload.input_tokens == 100
    left = {fact.path for fact in missing_facts(report, Evidence.MEASURED)}
    assert left == {"started_at"}


def test_a_value_that_replaces_the_files_own_is_noted() -> None:
    report, notes = apply_context(
        report_of(agg()), Context(chip="H200", chips=4, model="acme/tiny-7b", precision="fp4")
    )
    assert report.system.pools[0].chip == "H200"
    assert notes == ["chip H200 as sent replaces quux900 of the file", "precision fp4 as sent replaces fp8 of the file"]
    assert report.points == report_of(agg()).points


def test_the_given_report_is_not_changed() -> None:
    before = report_of(agg())
    apply_context(before, Context(chip="x", set=["points[0].duration=9", "tags[0]=t"]))
    assert before == report_of(agg())


def test_pools_as_words_replace_those_of_the_file_and_keep_parallelism() -> None:
    words = Context(pool=["prefill:alpha:8", "decode:beta:32"])
    report, notes = apply_context(report_of(api_row()), words)
    assert [(p.role.value, p.chip, p.chips, p.parallelism.tp) for p in report.system.pools] == [
        ("prefill", "alpha", 8, 4),
        ("decode", "beta", 32, 8),
    ]
    assert notes == ["the pools as sent replace those of the file"]


def test_one_number_of_chips_for_two_pools_says_nothing() -> None:
    with pytest.raises(ContextError) as caught:
        apply_context(report_of(api_row()), Context(chips=8))
    assert paths(caught.value) == ["context.chips"] and "pool=prefill" in (caught.value.errors[0].allowed or "")
    report, _ = apply_context(report_of(api_row()), Context(chip="gb300"))
    assert [pool.chip for pool in report.system.pools] == ["gb300", "gb300"]


def test_an_unknown_role_and_an_unknown_zone_are_both_named() -> None:
    with pytest.raises(ContextError) as caught:
        apply_context(report_of(vllm()), Context(pool=["router:x:1"], timezone="Mars/Olympus"))
    assert paths(caught.value) == ["context.pool", "context.timezone"]


def test_the_method_of_speculation_keeps_the_files_acceptance() -> None:
    record = vllm(spec_decode_acceptance_rate=50.0, spec_decode_acceptance_length=2.5)
    report, notes = apply_context(report_of(record), Context(speculative="mtp"))
    assert report.strategy.speculative is not None and notes == []
    assert (report.strategy.speculative.method, report.strategy.speculative.acceptance_rate) == ("mtp", 0.5)
    info = server_info(speculative_algorithm="EAGLE3")
    report, notes = apply_context(report_of(sglang(server_info=info, accept_length=2.0)), Context(speculative="none"))
    assert report.strategy.speculative is not None and report.strategy.speculative.acceptance_length is None
    assert "replaces eagle3" in notes[0]
    with pytest.raises(ContextError):
        apply_context(report_of(vllm()), Context(draft_tokens=3))


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "+08:00", "+0800"])
def test_a_zone_makes_the_time_and_vllm_writes_it_after_the_run(zone: str) -> None:
    assert report_of(vllm()).started_at is None and report_of(vllm()).started_at_text == "20260102-030405"
    report, _ = apply_context(report_of(vllm()), Context(timezone=zone))
    assert report.finished_at == datetime(2026, 1, 1, 19, 4, 5, tzinfo=UTC)
    assert report.started_at == datetime(2026, 1, 1, 19, 3, 57, tzinfo=UTC), "8 s of duration earlier"
    assert report.started_at_text is None


def test_a_day_is_no_time_and_an_odd_time_stays_text() -> None:
    for record in (api_row(), vllm(date="yesterday at noon")):
        report, notes = apply_context(report_of(record), Context(timezone="UTC"))
        assert report.started_at is None and report.started_at_text and "kept as text" in notes[0]
    report, _ = apply_context(report_of(agg(date="2026-01-02 03:04:05")), Context(timezone="UTC"))
    assert report.started_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "other tools write when they began"


def test_set_comes_last_and_reaches_every_field() -> None:
    context = Context(
        model="first",
        set=["model.name=second", "workload.prefix_cache=false", "points[0].power.watts=700", "system.pools[0].chip=x"],
    )
    report, _ = apply_context(report_of(vllm()), context)
    assert report.model.name == "second" and report.workload.prefix_cache is False
    assert report.points[0].power is not None and report.points[0].power.watts == 700
    assert report.system.pools[0].chip == "x"
    assert report.points[0].metrics == report_of(vllm()).points[0].metrics


@pytest.mark.parametrize(
    ("entry", "path"),
    [
        ("model.nmae=x", "model.nmae"),
        ("points[0].duration=-1", "points[0].duration"),
        ("points[0].duration=NaN", "points[0].duration"),
        ("points[5].duration=1", "points[5].duration"),
        ("system.pools[9999].chip=x", "system.pools[9999].chip"),
        ("model[0]=x", "model[0]"),
        ("model.name.deep=x", "model.name.deep"),
        ("id=5", "context.set.id"),
        ("schema_version=2", "context.set.schema_version"),
        ("points=null", "points"),
        ("status=failed", "report"),
        ("evidence=published", "report"),
        ("tags[0].x=1", "tags[0]"),
        ("price=" + "[" * 1900, "price"),
        ("price=" + "[" * 300 + "]" * 300, "price"),
    ],
)
def test_a_setting_that_does_not_fit_names_its_path(entry: str, path: str) -> None:
    with pytest.raises(ContextError) as caught:
        apply_context(report_of(vllm()), Context(set=[entry]))
    assert path in paths(caught.value), caught.value.errors
    assert all(error.message for error in caught.value.errors)


def test_the_samples_pass_through_untouched() -> None:
    report = report_of(vllm_detailed())
    assert apply_context(report, Context(chip="h200"))[0].points[0].samples == report.points[0].samples


def test_published_needs_a_source() -> None:
    context = Context(evidence=Evidence.PUBLISHED, source_url="https://example.org/a")
    report, notes = apply_context(report_of(vllm()), context)
    assert report.evidence is Evidence.PUBLISHED and notes == []
    with pytest.raises(ContextError):
        apply_context(report_of(vllm()), Context(evidence=Evidence.PUBLISHED))


def test_an_evidence_that_replaces_the_files_own_is_noted() -> None:
    _, notes = apply_context(report_of(agg()), Context(evidence=Evidence.CLAIMED))
    assert notes == ["evidence claimed as sent replaces published of the file"]
