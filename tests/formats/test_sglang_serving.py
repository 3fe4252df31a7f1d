"""What SGLang's bench_serving files mean, and the mistakes a careless importer makes with them."""

import pytest

from bench_site.formats import Reading, read
from runners.contract.figures import Point
from runners.contract.vocabulary import AcceptanceSource, Loop, PoolRole
from tests.formats.shapes import as_bytes, server_info, sglang


def only(record: dict) -> tuple[Reading, Point]:
    reading = read(as_bytes(record))
    assert len(reading.runs) == 1, reading.reasons
    return reading, reading.runs[0].report.points[0]


def details(empty: bool = False, failed: int = 0) -> dict:
    rows = 6
    lost = [index < failed for index in range(rows)]
    return {
        "completed": rows - failed,
        "input_lens": [64] * rows,
        "output_lens": [0 if gone else 32 for gone in lost],
        "ttfts": [0.0 if gone or empty else 0.05 for gone in lost],
        "itls": [[] if gone or empty else [0.02] * 31 for gone in lost],
        "generated_texts": ["" if gone or empty else "an answer" for gone in lost],
        "errors": ["Service Unavailable" if gone else "" for gone in lost],
    }


def test_bare_infinity_milliseconds_and_the_systems_rates() -> None:
    reading, point = only(sglang())
    assert reading.verdict == "accept"
    assert b"Infinity" in as_bytes(sglang())
    assert point.load.concurrency == 8 and reading.runs[0].report.workload.loop is Loop.CLOSED
    metrics = point.metrics
    assert metrics.ttft and metrics.tpot and metrics.itl and metrics.e2el
    assert (metrics.ttft.mean, metrics.tpot.mean, metrics.itl.mean, metrics.e2el.mean) == pytest.approx(
        (0.05, 0.02, 0.025, 0.67)
    )
    assert metrics.rates.total_tokens_per_s == 960 and metrics.rates.input_tokens_per_s == 640
    assert point.concurrency_measured == 6.7, "`concurrency` is measured, `max_concurrency` configured"


def test_without_details_sent_and_failed_are_unknown_not_zero() -> None:
    _, point = only(sglang())
    assert (point.requests.sent, point.requests.completed, point.requests.failed) == (None, 50, None)


def test_failures_show_only_in_the_errors_of_the_details() -> None:
    reading, point = only(sglang(**details(failed=2)))
    assert (point.requests.sent, point.requests.completed, point.requests.failed) == (6, 4, 2)
    assert reading.verdict == "flag" and "2 of 6 requests failed" in reading.reasons[0]
    assert point.samples is not None and point.samples.ttft is not None
    assert point.samples.ttft[:3] == [None, None, 0.05], "a failed row's 0.0 is no time"
    assert point.samples.failed == [True, True, False, False, False, False]


def test_details_of_a_clean_run_are_columns_in_seconds_and_keep_no_answer() -> None:
    reading, point = only(sglang(**details()))
    assert reading.verdict == "accept" and point.requests.failed == 0
    assert point.samples is not None and point.samples.e2el is not None
    assert point.samples.e2el[0] == pytest.approx(0.67)
    assert "an answer" not in reading.runs[0].report.model_dump_json()


def test_tokens_that_the_client_invented_are_dropped() -> None:
    zero = {key: 0.0 for key in sglang() if "_ttft_" in key or "_itl_" in key}
    reading, point = only(sglang(total_output_tokens_retokenized=0, **details(empty=True), **zero))
    assert reading.verdict == "flag" and "never produced" in reading.reasons[0]
    metrics = point.metrics
    assert metrics.ttft is None and metrics.tpot is None and metrics.itl is None and metrics.e2el is not None
    assert metrics.rates.output_tokens_per_s is None and metrics.rates.total_tokens_per_s is None
    assert metrics.rates.requests_per_s == 10 and point.tokens.output_mean is None
    assert point.samples is not None and point.samples.output_tokens is None


@pytest.mark.parametrize(("again", "verdict"), [(1600, "accept"), (1480, "accept"), (1360, "flag"), (1800, "flag")])
def test_a_re_tokenised_count_far_off_puts_the_counts_in_doubt(again: int, verdict: str) -> None:
    reading, point = only(sglang(total_output_tokens_retokenized=again))
    assert reading.verdict == verdict
    assert point.metrics.rates.output_tokens_per_s == 320, "the doubt is shown, the figure stays"


def test_random_lengths_are_asked_lengths_only_where_they_are() -> None:
    def asked(**changes: object) -> tuple[int | None, int | None, bool | None]:
        work = only(sglang(**changes))[0].runs[0].report.workload
        return work.input_tokens, work.output_tokens, work.fixed_length

    assert asked() == (64, 32, True)
    assert asked(random_range_ratio=0.0) == (None, None, None), "a maximum"
    assert asked(random_range_ratio=0.8) == (None, None, None)
    assert asked(dataset_name="sharegpt") == (None, None, None), "unused defaults"
    assert asked(dataset_name="autobench") == (None, None, None)
    assert asked(dataset_name="sharegpt", sharegpt_output_len=200) == (None, 200, None)


def test_achieved_lengths_are_not_the_asked_ones() -> None:
    reading, point = only(sglang(total_input_tokens=3000))
    assert point.tokens.input_mean == 60 and reading.runs[0].report.workload.input_tokens == 64


def test_an_open_loop_keeps_the_measured_concurrency_apart() -> None:
    reading, point = only(
        sglang(request_rate=16.0, max_concurrency=None, concurrency=177.0, max_concurrent_requests=329)
    )
    assert point.load.model_dump(exclude_none=True) == {"request_rate": 16.0}
    assert point.concurrency_measured == 177 and reading.runs[0].report.workload.loop is Loop.OPEN


def test_requests_sent_by_a_trace_have_no_single_load() -> None:
    reading, point = only(sglang(request_rate="trace", max_concurrency=None))
    assert point.load.model_dump(exclude_none=True) == {}
    assert reading.runs[0].report.workload.loop is Loop.OPEN


def test_the_total_rate_is_a_sum_where_older_versions_lack_it() -> None:
    record = sglang(total_throughput=..., server_info=..., tag=...)
    reading, point = only({k: v for k, v in record.items() if not k.startswith(("p90", "p95"))})
    assert reading.runs[0].report.source.format == "0.4"
    assert point.metrics.rates.total_tokens_per_s == pytest.approx(960)
    assert point.metrics.ttft is not None and point.metrics.ttft.p95 is None


def test_the_few_figures_of_the_oldest_version() -> None:
    kept = ("backend", "request_rate", "total_input_tokens", "total_output_tokens", "total_output_tokens_retokenized")
    kept += ("mean_e2e_latency_ms", "median_e2e_latency_ms", "median_ttft_ms", "median_itl_ms", "output_throughput")
    kept += ("random_input_len", "random_output_len", "random_range_ratio", "duration", "completed")
    reading, point = only({key: value for key, value in sglang().items() if key in kept})
    assert reading.runs[0].report.source.format == "0.3"
    assert point.metrics.ttft is not None and point.metrics.ttft.mean is None and point.metrics.tpot is None
    assert point.metrics.rates.requests_per_s == pytest.approx(10)
    assert reading.runs[0].report.workload.input_tokens is None, "without the dataset's name nobody knows"


def test_server_info_tells_engine_model_chips_and_formats() -> None:
    report = only(sglang(server_info=server_info(quantization="fp8", pp_size=2)))[0].runs[0].report
    assert (report.engine.name, report.engine.version) == ("sglang", "0.5.6")
    assert report.model.name == "acme/tiny-7b" and report.model.precision.weights == "fp8"
    assert report.model.precision.kv_cache is None, '"auto" says nothing'
    assert report.system.pools[0].chips == 4 and report.system.pools[0].chip is None
    assert report.strategy.speculative is not None and report.strategy.speculative.method == "none"
    assert report.workload.prefix_cache is True


def test_number_formats_have_one_name_each_and_auto_is_unknown() -> None:
    def weights(**changes: object) -> str | None:
        info = server_info(**changes)
        return only(sglang(server_info=info))[0].runs[0].report.model.precision.weights

    assert weights() == "bf16"
    assert weights(dtype="float16") == "fp16"
    assert weights(dtype="auto") is None


@pytest.mark.parametrize(("inside", "chips"), [(False, 16), (True, 4)])
def test_data_parallel_ranks_with_dp_attention_live_inside_tp(inside: bool, chips: int) -> None:
    info = server_info(tp_size=4, dp_size=4, enable_dp_attention=inside)
    assert only(sglang(server_info=info))[0].runs[0].report.system.pools[0].chips == chips


def test_prefill_and_decode_apart_stand_one_level_lower() -> None:
    info = {
        "prefill": [server_info(tp_size=4)],
        "decode": [server_info(tp_size=8), server_info(tp_size=8)],
        "version": "0.5.6",
    }
    report = only(sglang(server_info=info))[0].runs[0].report
    assert [(pool.role, pool.chips, pool.workers) for pool in report.system.pools] == [
        (PoolRole.PREFILL, 4, 1),
        (PoolRole.DECODE, 16, 2),
    ]
    assert report.model.name == "acme/tiny-7b"


def test_without_server_info_the_back_end_is_only_the_clients_word() -> None:
    assert only(sglang(backend="sglang-oai"))[0].runs[0].report.engine.name is None
    assert only(sglang(backend="vllm"))[0].runs[0].report.engine.name is None
    assert only(sglang(backend="sglang"))[0].runs[0].report.engine.name == "sglang", "nobody else speaks /generate"
    run = only(sglang())[0].runs[0]
    assert {fact.path for fact in run.missing if fact.required} >= {"model.name", "system.pools[0].chips"}


def test_speculation_with_the_measured_accept_length() -> None:
    info = server_info(speculative_algorithm="EAGLE3", speculative_num_draft_tokens=4)
    speculative = only(sglang(server_info=info, accept_length=2.7))[0].runs[0].report.strategy.speculative
    assert speculative is not None
    assert (speculative.method, speculative.draft_tokens, speculative.acceptance_length) == ("eagle3", 4, 2.7)
    assert speculative.acceptance_source is AcceptanceSource.MEASURED


def test_two_appended_repeats_of_a_load_are_two_runs() -> None:
    reading = read(as_bytes(sglang(), sglang(mean_ttft_ms=51.0)))
    assert [len(run.report.points) for run in reading.runs] == [1, 1]


def test_the_tag_becomes_a_tag() -> None:
    assert only(sglang(tag="night"))[0].runs[0].report.tags == ["night"]
