"""What InferenceX' files mean, and the mistakes a careless importer makes with them."""

import json
import time

import pytest

from bench_site.formats import Reading, read
from runners.contract.figures import Point
from runners.contract.vocabulary import Evidence, Loop, PoolRole, WorkloadKind
from tests.formats.shapes import agentic, agentic_nested, agg, api_row, as_bytes


def only(record: dict) -> tuple[Reading, Point]:
    reading = read(as_bytes(record))
    assert len(reading.runs) == 1, reading.reasons
    return reading, reading.runs[0].report.points[0]


def calculated(**changes: object) -> dict:
    """A record whose figures are arithmetic: no TTFT, no E2E, and output rate = concurrency / TPOT."""
    kept = {k: v for k, v in agg(conc=16).items() if not k.endswith(("_ttft", "_tpot", "_itl", "_e2el"))}
    zero = {"median_ttft": 0.0, "median_e2el": 0.0, "input_tput_per_gpu": 0.0, "median_tpot": 0.02}
    return kept | zero | {"tput_per_gpu": 200.0, "output_tput_per_gpu": 200.0} | changes


def test_rates_are_per_chip_in_the_file_and_latencies_in_seconds() -> None:
    reading, point = only(agg())
    assert reading.verdict == "accept", reading.reasons
    rates = point.metrics.rates
    assert (rates.total_tokens_per_s, rates.output_tokens_per_s, rates.input_tokens_per_s) == (800, 400, 400)
    assert point.metrics.ttft is not None and point.metrics.ttft.mean == 0.5
    assert point.metrics.tpot is not None and point.metrics.tpot.mean == 0.0195
    assert point.metrics.itl is not None and point.metrics.itl.mean == 0.05, "ITL above TPOT: many tokens a chunk"
    assert point.load.concurrency == 8 and reading.runs[0].report.workload.loop is Loop.CLOSED


def test_expert_parallelism_lives_on_the_same_chips() -> None:
    pool = only(agg(tp=4, ep=4))[0].runs[0].report.system.pools[0]
    assert pool.chips == 4 and pool.parallelism.tp == 4 and pool.parallelism.ep == 4
    assert pool.parallelism.dp_attention is False, 'the text "false"'
    assert only(agg(pp=2))[0].runs[0].report.system.pools[0].chips == 8


def test_the_interactivity_keys_are_never_read() -> None:
    with_them, without = only(agg())[1], only(agg(p90_intvty=..., std_intvty=...))[1]
    assert with_them == without


def test_asked_lengths_are_not_achieved_ones() -> None:
    reading, point = only(agg())
    work = reading.runs[0].report.workload
    assert (work.input_tokens, work.output_tokens, work.fixed_length) == (1024, 1024, None)
    assert point.tokens.output_mean is None and point.requests.sent is None and point.duration is None


def test_names_stay_as_written_and_the_images_tag_gives_the_version() -> None:
    report = only(agg(image="acme/vllm-openai:v0.20.1.post1-cu129"))[0].runs[0].report
    assert report.system.pools[0].chip == "quux900"
    assert (report.engine.name, report.engine.version) == ("vllm", "0.20.1.post1")
    assert report.model.precision.weights == "fp8"
    assert only(agg(image="cann9_ds_image:v1.0"))[0].runs[0].report.engine.version is None, "not the engine's image"


def test_evidence_is_published_with_its_source() -> None:
    run = only(api_row())[0].runs[0]
    assert run.evidence is Evidence.PUBLISHED is run.report.evidence
    assert run.report.source.name == "SemiAnalysis InferenceX" and run.report.source.url == "https://example.org/runs/1"
    assert only(agg())[0].runs[0].report.source.url is None
    assert only(api_row(run_url="javascript:alert(1)"))[0].runs[0].report.source.url is None
    assert not [fact for fact in run.missing if fact.required]


def test_arithmetic_is_flagged_and_no_measurement() -> None:
    reading, point = only(calculated())
    assert reading.verdict == "flag" and "calculated" in reading.reasons[0]
    assert reading.runs[0].evidence is Evidence.SIMULATED
    assert point.metrics.ttft is None and point.metrics.e2el is None, "0.0 would rank first"
    assert point.metrics.rates.input_tokens_per_s is None and point.metrics.rates.total_tokens_per_s is None
    assert point.metrics.rates.output_tokens_per_s == 800
    assert point.metrics.tpot is not None and point.metrics.tpot.mean is None


def test_a_total_of_zero_beside_an_output_rate_is_unknown() -> None:
    _, point = only(calculated(tput_per_gpu=0))
    assert point.metrics.rates.total_tokens_per_s is None and point.metrics.rates.output_tokens_per_s == 800


def test_zeros_without_the_arithmetic_are_only_unknown() -> None:
    reading, _ = only(calculated(output_tput_per_gpu=150.0))
    assert reading.verdict == "accept" and reading.runs[0].evidence is Evidence.PUBLISHED


def test_apart_the_output_rate_is_per_decode_chip_and_the_input_rate_per_prefill_chip() -> None:
    reading, point = only(api_row())
    assert reading.verdict == "accept", reading.reasons
    rates = point.metrics.rates
    assert (rates.total_tokens_per_s, rates.output_tokens_per_s, rates.input_tokens_per_s) == (4000, 2000, 2000)
    pools = reading.runs[0].report.system.pools
    assert [(p.role, p.chips, p.workers, p.parallelism.tp) for p in pools] == [
        (PoolRole.PREFILL, 4, 1, 4),
        (PoolRole.DECODE, 16, 2, 8),
    ]


def test_figures_beyond_any_possible_one_are_unknown_when_multiplied_or_divided() -> None:
    _, point = only(agg(output_tput_per_gpu=1e18, avg_power_w=1e18, mean_e2el=1e17))
    assert point.metrics.rates.output_tokens_per_s is None and point.power is None
    _, point = only(agentic(duration_seconds=1e-60))
    assert point.metrics.rates.requests_per_s is None


def test_two_kinds_of_chip_apart() -> None:
    pools = only(api_row(prefill_hw="alpha", decode_hw="beta"))[0].runs[0].report.system.pools
    assert [pool.chip for pool in pools] == ["alpha", "beta"]


def test_together_the_two_chip_counts_are_the_same_chips() -> None:
    one = {"disagg": False, "is_multinode": False, "prefill_num_workers": 0, "decode_num_workers": 0}
    metrics = api_row()["metrics"] | {"tput_per_gpu": 400.0, "output_tput_per_gpu": 200.0, "input_tput_per_gpu": 200.0}
    for counted in (8, 64):
        row = api_row(
            prefill_tp=8, prefill_ep=8, num_prefill_gpu=counted, num_decode_gpu=counted, metrics=metrics, **one
        )
        reading, point = only(row)
        assert reading.runs[0].report.system.pools[0].chips == 8, "not 16, and not tp x ep"
        assert point.metrics.rates.output_tokens_per_s == 1600


def test_several_nodes_that_are_not_apart_have_one_pool() -> None:
    row = agg(is_multinode=True, tp=..., prefill_tp=16, num_prefill_gpu=16, num_decode_gpu=0, decode_tp=0)
    reading, point = only(row)
    assert [(p.role, p.chips) for p in reading.runs[0].report.system.pools] == [(PoolRole.ALL, 16)]
    assert point.metrics.rates.output_tokens_per_s == 1600


def whole_pool(**rates: float) -> dict:
    metrics = api_row()["metrics"] | rates
    counts = {"num_prefill_gpu": 20, "num_decode_gpu": 20, "prefill_tp": 20, "decode_tp": 20}
    return api_row(is_multinode=False, prefill_num_workers=0, decode_num_workers=0, metrics=metrics, **counts)


def test_a_pool_written_into_both_roles_is_split_by_its_three_rates() -> None:
    reading, point = only(whole_pool())
    assert [pool.chips for pool in reading.runs[0].report.system.pools] == [4, 16]
    assert point.metrics.rates.output_tokens_per_s == 2000
    assert any("its three rates give 4 prefill and 16 decode" in note for note in reading.runs[0].notes)


def test_a_pool_that_no_whole_number_splits_has_only_a_total() -> None:
    reading, point = only(whole_pool(output_tput_per_gpu=126.3))
    assert [pool.chips for pool in reading.runs[0].report.system.pools] == [20]
    assert point.metrics.rates.total_tokens_per_s == 4000
    assert point.metrics.rates.output_tokens_per_s is None and point.metrics.rates.input_tokens_per_s is None


def test_rates_that_do_not_add_up_are_flagged() -> None:
    reading, _ = only(agg(tput_per_gpu=300.0))
    assert reading.verdict == "flag" and "add up to 800" in reading.reasons[0]


def test_a_row_that_breaks_littles_law_is_flagged_and_kept() -> None:
    metrics = api_row()["metrics"] | {"mean_e2el": 900.0}
    reading, point = only(api_row(metrics=metrics))
    assert reading.verdict == "flag" and "contradicts itself" in reading.reasons[0]
    assert point.metrics.rates.output_tokens_per_s == 2000


def test_rows_without_some_rates_lack_them() -> None:
    metrics = {k: v for k, v in api_row()["metrics"].items() if "put_tput" not in k and not k.startswith("p90")}
    _, point = only(api_row(metrics=metrics))
    assert point.metrics.rates.model_dump(exclude_none=True) == {"total_tokens_per_s": 4000}
    assert point.metrics.ttft is not None and point.metrics.ttft.p90 is None


def test_rows_of_one_configuration_are_points_of_one_run_in_the_files_order() -> None:
    rows = [api_row(conc=8), api_row(conc=8, precision="fp8"), api_row(conc=16), api_row(conc=8), api_row(isl=8192)]
    reading = read(json.dumps(rows).encode())
    assert [run.rows for run in reading.runs] == [[0, 2], [1], [3], [4]], "a load measured again is another run"
    assert [point.load.concurrency for _, point in reading.points()] == [8, 8, 16, 8, 64]
    assert len({run.report.id for run in reading.runs}) == 4


def test_many_rows_take_no_more_time_each_and_no_report_is_overfull() -> None:
    start = time.monotonic()
    assert len(read(json.dumps([api_row()] * 1500).encode()).runs) == 1500
    loads = read(json.dumps([api_row(conc=n) for n in range(1, 1502)]).encode())
    assert [len(run.rows) for run in loads.runs] == [1000, 501]
    assert time.monotonic() - start < 20


def test_another_day_image_or_ci_run_is_another_run() -> None:
    rows = [api_row(), api_row(conc=1, date="2026-03-05"), api_row(conc=2, image="x:1"), api_row(conc=3, run_url=None)]
    assert len(read(json.dumps(rows).encode()).runs) == 4


def test_power_is_of_all_chips() -> None:
    _, point = only(agg(avg_power_w=600.0))
    assert point.power is not None and point.power.watts == 2400
    metrics = api_row()["metrics"] | {"avg_power_w": 1.0, "prefill_avg_power_w": 900.0, "decode_avg_power_w": 500.0}
    _, point = only(api_row(metrics=metrics))
    assert point.power is not None and point.power.watts == 900 * 4 + 500 * 16


def test_the_agentic_replay() -> None:
    reading, point = only(agentic())
    work = reading.runs[0].report.workload
    assert reading.verdict == "accept", reading.reasons
    assert work.kind is WorkloadKind.AGENTIC and work.input_tokens is None and work.dataset.name == "agentic-coding"
    assert point.metrics.itl is None, "a copy of tpot"
    assert point.metrics.tpot is not None and point.metrics.tpot.p50 is not None
    assert point.metrics.rates.total_tokens_per_s == 4540
    assert point.metrics.rates.requests_per_s == pytest.approx(0.05), "not mean_qps, a mean of buckets"
    assert (point.requests.sent, point.requests.failed, point.duration) == (90, 0, 1800)
    assert (point.tokens.input_mean, point.tokens.output_mean) == (90_000, 800)
    assert not any("qps" in note for note in point.notes)


def test_the_nested_agentic_replay_counts_no_warm_up_requests() -> None:
    reading, point = only(agentic_nested())
    assert reading.verdict == "accept", reading.reasons
    assert (point.requests.sent, point.requests.completed, point.requests.failed) == (90, 90, 0)
    assert point.metrics.ttft is not None and point.metrics.ttft.mean == 2.0 and point.metrics.ttft.p50 == 0.18
    assert point.metrics.itl is None and point.metrics.rates.output_tokens_per_s == 40
    assert reading.runs[0].report.workload.dataset.name == "traces-v2"


def test_speculation_says_its_method_and_never_its_acceptance() -> None:
    for record, method in ((agg(spec_decoding="mtp"), "mtp"), (agg(), "none"), (api_row(), "mtp")):
        speculative = only(record)[0].runs[0].report.strategy.speculative
        assert speculative is not None and speculative.method == method and speculative.acceptance_rate is None
        assert speculative.acceptance_source.value == "unknown"
    assert only(agg(spec_decoding=...))[0].runs[0].report.strategy.speculative is None


def test_images_are_refused() -> None:
    reading = read(as_bytes(agg(modality="image", workload_family="diffusion")))
    assert reading.verdict == "refuse" and "not tokens" in reading.reasons[0]


def test_a_date_without_a_time_stays_text() -> None:
    assert only(api_row())[0].runs[0].report.started_at_text == "2026-03-04"
