"""What vLLM's files mean, and the mistakes a careless importer makes with them."""

import pytest

from bench_site.formats import Reading, read
from runners.contract.figures import Point
from runners.contract.vocabulary import Loop, Status
from tests.formats.shapes import as_bytes, vllm, vllm_detailed


def only(record: dict) -> tuple[Reading, Point]:
    reading = read(as_bytes(record))
    assert len(reading.runs) == 1 and len(reading.runs[0].report.points) == 1, reading.reasons
    return reading, reading.runs[0].report.points[0]


def zeros(**changes: object) -> dict:
    """All latencies and rates 0, as the client writes when it measured nothing."""
    return {key: 0.0 if key.endswith(("_ms", "throughput")) else value for key, value in vllm(**changes).items()}


def test_milliseconds_become_seconds_and_rates_stay_those_of_the_system() -> None:
    reading, point = only(vllm())
    assert reading.verdict == "accept" and reading.reasons == []
    assert point.metrics.ttft is not None and point.metrics.tpot is not None and point.metrics.itl is not None
    assert point.metrics.ttft.mean == pytest.approx(0.1) and point.metrics.ttft.p50 == pytest.approx(0.095)
    assert point.metrics.tpot.p99 == pytest.approx(0.06)
    assert point.metrics.itl.mean == pytest.approx(0.04), "ITL and TPOT are two figures"
    assert point.metrics.rates.output_tokens_per_s == 100 and point.metrics.rates.total_tokens_per_s == 600
    assert point.metrics.rates.input_tokens_per_s == pytest.approx(500)
    assert (point.tokens.input_mean, point.tokens.output_mean) == (100, 20)
    assert (point.requests.sent, point.requests.completed, point.requests.failed) == (40, 40, 0)


def test_a_derivative_without_ms_in_its_keys_is_in_seconds() -> None:
    record = {
        key.removesuffix("_ms"): value / 1000 if key.endswith("_ms") else value
        for key, value in vllm(total_token_throughput=..., backend=..., failed=..., input_throughput=500.0).items()
        if not key.startswith("mean_")
    }
    reading, point = only(record)
    assert point.metrics.ttft is not None and point.metrics.e2el is not None
    assert point.metrics.ttft.p50 == pytest.approx(0.095)
    assert point.metrics.ttft.mean is None, "a median is no mean"
    assert reading.runs[0].report.source.format == "seconds"


@pytest.mark.parametrize("rate", ["inf", float("inf"), 1e9, 1_000_000_000.0, "Infinity", -1])
def test_every_way_to_write_unlimited(rate: object) -> None:
    _, point = only(vllm(request_rate=rate))
    assert point.load.concurrency == 4 and point.load.request_rate is None
    reading, point = only(vllm(request_rate=rate, max_concurrency=None))
    assert point.load.unlimited is True and reading.runs[0].report.workload.loop is Loop.OFFLINE


def test_a_rate_without_a_limit_is_an_open_loop_and_never_a_throughput() -> None:
    reading, point = only(vllm(request_rate=1.8, max_concurrency=None, burstiness=50.0))
    assert point.load.model_dump(exclude_none=True) == {"request_rate": 1.8}
    assert reading.runs[0].report.workload.loop is Loop.OPEN
    assert point.metrics.rates.requests_per_s == 5


def test_a_rate_beside_a_concurrency_limit_is_a_cap() -> None:
    reading, point = only(vllm(request_rate=10.0))
    assert point.load.concurrency == 4
    assert reading.runs[0].report.workload.request_rate_cap == 10
    assert reading.runs[0].report.workload.loop is Loop.CLOSED


def test_a_ramped_rate_is_no_single_load() -> None:
    reading, point = only(vllm(ramp_up_strategy="linear", max_concurrency=None))
    assert point.load.model_dump(exclude_none=True) == {}
    assert any("ramped" in note for note in reading.runs[0].notes)


def test_the_peaks_are_never_taken_for_the_load_or_a_rate() -> None:
    _, point = only(vllm(max_concurrent_requests=375, max_output_tokens_per_s=99_999.0))
    assert point == only(vllm())[1]


def test_old_files_without_failed_count_what_did_not_complete() -> None:
    reading, point = only(vllm(failed=..., completed=30, total_input_tokens=3000, total_output_tokens=600))
    assert point.requests.failed == 10
    assert point.tokens.input_mean == 100, "totals are of completed requests"
    assert reading.verdict == "flag" and "10 of 40 requests failed" in reading.reasons[0]


def test_a_share_of_failures_up_to_one_percent_is_no_flag() -> None:
    reading, _ = only(vllm(num_prompts=1000, completed=990, failed=10))
    assert reading.verdict == "accept"


def test_a_dataset_shorter_than_asked_is_no_failure() -> None:
    reading, point = only(vllm(num_prompts=1000))
    assert (point.requests.sent, point.requests.failed) == (40, 0)
    assert any("num_prompts is 1,000" in note for note in reading.runs[0].notes)


def test_all_failed_is_a_failed_run_with_counts_only() -> None:
    record = zeros(num_prompts=8, completed=0, failed=8, total_input_tokens=0, total_output_tokens=0, duration=0.005)
    reading, point = only(record)
    report = reading.runs[0].report
    assert (
        report.status is Status.FAILED and report.error is not None and "All 8 requests failed" in report.error.message
    )
    assert reading.verdict == "flag"
    assert point.requests.model_dump() == {"sent": 8, "completed": 0, "failed": 8}
    assert point.metrics.model_dump(exclude_none=True) == {"rates": {}} and point.duration is None


def test_answers_without_a_token_have_no_token_figures() -> None:
    record = vllm(total_output_tokens=0, output_throughput=0.0)
    record |= {key: 0.0 for key in record if "_tpot_" in key or "_itl_" in key}
    reading, point = only(record)
    assert reading.verdict == "flag" and "without a single output token" in reading.reasons[0]
    assert point.metrics.ttft is None and point.metrics.tpot is None and point.metrics.itl is None
    assert point.metrics.rates.output_tokens_per_s is None and point.tokens.output_mean is None
    assert point.metrics.e2el is not None and point.metrics.e2el.mean == pytest.approx(0.67)


def test_answers_that_were_not_streamed_have_no_tpot() -> None:
    record = vllm()
    record |= {key: 0.0 for key in record if "_ttft_" in key or "_itl_" in key}
    reading, point = only(record)
    assert point.metrics.ttft is None and point.metrics.tpot is None
    assert reading.verdict == "flag" and "not streamed" in reading.reasons[0]


def test_one_zero_among_figures_is_unknown_with_a_note() -> None:
    reading, point = only(vllm(p99_itl_ms=0.0))
    assert point.metrics.itl is not None and point.metrics.itl.p99 is None and point.metrics.itl.mean is not None
    assert any("p99_itl_ms: 0 means" in note for note in reading.runs[0].notes)


def test_a_stripped_copy_keeps_its_latencies_and_guesses_nothing() -> None:
    gone = ("duration", "completed", "failed", "total_input_tokens", "total_output_tokens")
    record = {k: v for k, v in vllm().items() if k not in gone and not k.endswith("throughput")}
    reading, point = only(record)
    assert reading.verdict == "flag" and "latencies only" in reading.reasons[0]
    assert point.requests.sent == 40 and point.requests.completed is None and point.requests.failed is None
    assert point.duration is None and point.metrics.rates.model_dump(exclude_none=True) == {}


def test_only_percentiles_that_stand_in_the_file_exist() -> None:
    record = {k: v for k, v in vllm(**{"p99.9_ttft_ms": 300.0}).items() if not k.startswith(("p90", "p95"))}
    _, point = only(record)
    assert point.metrics.ttft is not None
    assert point.metrics.ttft.p90 is None and point.metrics.ttft.p95 is None and point.metrics.ttft.p99 == 0.2


def test_appended_results_are_runs_of_their_own_and_the_same_load_twice_stays_two() -> None:
    reading = read(as_bytes(vllm(), vllm(), vllm(framework="sgl", max_concurrency=8)))
    assert [run.record for run in reading.runs] == [0, 1, 2]
    assert [len(run.report.points) for run in reading.runs] == [1, 1, 1]
    engines = [run.report.engine.name for run in reading.runs]
    assert engines == [None, None, "sgl"], "the client's back end is not the engine; the user's framework is"


def test_each_appended_run_is_judged_by_itself() -> None:
    reading = read(as_bytes(vllm(), vllm(completed=20, failed=20)))
    assert reading.reasons == ["record 2: 20 of 40 requests failed, so the latencies describe the 20 that completed."]
    assert [len(run.findings) for run in reading.runs] == [0, 1]


def test_users_metadata_is_no_fact_about_the_machine() -> None:
    reading, _ = only(vllm(tp="1", hw="none", timestamp="2025-05-11,model", max_num_seqs=4))
    report = reading.runs[0].report
    assert report.system.pools == [] and report.model.precision.weights is None
    assert any("hw, max_num_seqs, timestamp, tp" in note for note in reading.runs[0].notes)


@pytest.mark.parametrize(
    ("written", "name", "revision"),
    [
        ("acme/tiny-7b", "acme/tiny-7b", None),
        ("/root/models/cache/Tiny-7B", "Tiny-7B", None),
        ("/m/models--acme--tiny-7b/snapshots/0123abcdef/", "acme/tiny-7b", "0123abcdef"),
        ("C:\\models\\Tiny-7B", "Tiny-7B", None),
        ("./Tiny-7B/", "Tiny-7B", None),
    ],
)
def test_of_a_path_only_the_models_name_is_kept(written: str, name: str, revision: str | None) -> None:
    model = only(vllm(model_id=written))[0].runs[0].report.model
    assert (model.name, model.revision) == (name, revision)


def test_requests_in_flight_beyond_the_limit_show_merged_results() -> None:
    record = {k: v for k, v in vllm(request_throughput=50.0).items() if "_e2el_" not in k}
    reading, _ = only(record)
    assert reading.verdict == "flag" and "requests in flight" in reading.reasons[0]
    assert reading.runs[0].findings[0].rule == "contradiction"


def test_per_request_arrays_become_columns_in_seconds_without_the_failed_rows_zeros() -> None:
    reading, point = only(vllm_detailed())
    samples = point.samples
    assert samples is not None
    assert samples.failed == [False, False, True, False, False, False]
    assert samples.ttft == [0.1, 0.11, None, 0.12, 0.09, 0.1]
    assert samples.output_tokens is not None and samples.output_tokens[2] is None
    assert samples.input_tokens == [100] * 6
    assert samples.start == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]
    assert samples.e2el is not None and samples.e2el[0] == pytest.approx(0.67) and samples.e2el[2] is None
    assert samples.tpot is not None and samples.tpot[0] == pytest.approx(0.03)
    assert any("time of the last chunk" in note for note in reading.runs[0].notes)
    assert "words" not in reading.runs[0].report.model_dump_json()


def test_the_clients_own_end_to_end_times_win_over_the_last_chunk() -> None:
    _, point = only(vllm_detailed(latencies=[0.7, 0.7, 0.0, 0.7, 0.7, 0.7]))
    assert point.samples is not None and point.samples.e2el == [0.7, 0.7, None, 0.7, 0.7, 0.7]


def test_arrays_of_different_lengths_are_not_kept() -> None:
    reading, point = only(vllm_detailed(ttfts=[0.1]))
    assert point.samples is None and any("different lengths" in note for note in reading.runs[0].notes)


def test_errors_tell_failures_where_no_count_does() -> None:
    _, point = only(vllm_detailed(failed=...))
    assert (point.requests.sent, point.requests.failed) == (6, 1)


def test_acceptance_counters_are_percent_in_the_file() -> None:
    record = vllm(
        spec_decode_acceptance_rate=62.5,
        spec_decode_acceptance_length=2.9,
        spec_decode_num_drafts=10,
        spec_decode_draft_tokens=30,
    )
    speculative = only(record)[0].runs[0].report.strategy.speculative
    assert speculative is not None and speculative.method == "unknown"
    assert (speculative.acceptance_rate, speculative.acceptance_length) == (0.625, 2.9)
    assert speculative.draft_tokens == 3
    assert only(vllm())[0].runs[0].report.strategy.speculative is None


def test_a_pooling_result_is_refused_and_so_is_one_without_figures() -> None:
    assert read(as_bytes(vllm(total_input_sequences=5))).verdict == "refuse"
    empty = {key: None if key.endswith(("_ms", "throughput")) else value for key, value in vllm().items()}
    for key in ("duration", "total_input_tokens", "total_output_tokens"):
        empty[key] = None
    reading = read(as_bytes(empty))
    assert reading.refusal is not None and reading.refusal.code == "refused-file"


def test_one_bad_record_does_not_cost_the_others() -> None:
    reading = read(as_bytes(vllm(), vllm(total_input_sequences=5)))
    assert len(reading.runs) == 1 and reading.verdict == "flag" and "embedding" in reading.reasons[0]


def test_what_the_file_cannot_say_is_asked_for() -> None:
    run = only(vllm(model_id="acme/tiny-7B-NVFP4"))[0].runs[0]
    assert run.evidence is None
    required = {fact.path for fact in run.missing if fact.required}
    assert required == {"system.pools[0].chip", "system.pools[0].chips", "evidence"}
    options = {fact.path: fact.option for fact in run.missing}
    assert options["model.precision.weights"] == "--precision nvfp4"
    assert run.report.model.precision.weights is None, "a guess from the name is a question, not a fact"
    assert options["started_at"] == "--timezone ZONE"
    question = next(fact.question for fact in run.missing if fact.path == "model.precision.weights")
    assert "a guess" in question
    invented = [option for path, option in options.items() if path != "model.precision.weights"]
    assert all(option.split()[1].isupper() for option in invented), "a made-up value would be pasted as a fact"
