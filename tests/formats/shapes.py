"""Result files of our own writing, shaped like those of the tools: the keys are theirs, the figures are invented."""

import json
from typing import Any


def as_bytes(*records: Any, indent: int | None = None) -> bytes:
    """One JSON document, or JSON Lines for several; ``float("inf")`` is written as bare Infinity, as the tools do."""
    return "\n".join(json.dumps(record, indent=indent) for record in records).encode()


def latencies(unit: str, scale: float, **means: float) -> dict[str, float]:
    """mean, median, std, p90, p95, p99 around each mean, in the file's unit."""
    spread = {"mean": 1.0, "median": 0.95, "std": 0.2, "p90": 1.3, "p95": 1.5, "p99": 2.0}
    return {
        f"{statistic}_{name}{unit}": mean * factor * scale
        for name, mean in means.items()
        for statistic, factor in spread.items()
    }


def vllm(**changes: Any) -> dict[str, Any]:
    """vLLM bench serve: 40 requests of 100 in and 20 out at concurrency 4 in 8 s."""
    record = {
        "date": "20260102-030405",
        "endpoint_type": "vllm",
        "backend": "vllm",
        "label": None,
        "model_id": "acme/tiny-7b",
        "tokenizer_id": "acme/tiny-7b",
        "num_prompts": 40,
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": 4,
        "duration": 8.0,
        "completed": 40,
        "failed": 0,
        "total_input_tokens": 4000,
        "total_output_tokens": 800,
        "request_throughput": 5.0,
        "request_goodput": None,
        "output_throughput": 100.0,
        "total_token_throughput": 600.0,
        "max_output_tokens_per_s": 130.0,
        "max_concurrent_requests": 9,
        **latencies("_ms", 1e3, ttft=0.1, tpot=0.03, itl=0.04, e2el=0.67),
    }
    return _changed(record, changes)


def vllm_detailed(**changes: Any) -> dict[str, Any]:
    """The same with per-request arrays of six requests, one of which failed."""
    arrays = {
        "num_prompts": 6,
        "completed": 5,
        "failed": 1,
        "total_input_tokens": 500,
        "total_output_tokens": 100,
        "input_lens": [100] * 6,
        "output_lens": [20, 20, 0, 20, 20, 20],
        "ttfts": [0.1, 0.11, 0.0, 0.12, 0.09, 0.1],
        "itls": [[0.03] * 19, [0.03] * 19, [], [0.03] * 19, [0.03] * 19, [0.03] * 19],
        "start_times": [500.0, 500.5, 501.0, 501.5, 502.0, 502.5],
        "generated_texts": ["words that nobody should keep"] * 2 + [""] + ["more words"] * 3,
        "errors": ["", "", "Service Unavailable", "", "", ""],
    }
    return _changed(vllm() | arrays, changes)


def sglang(**changes: Any) -> dict[str, Any]:
    """SGLang bench_serving 0.5: 50 random requests of 64 in and 32 out at concurrency 8 in 5 s."""
    record = {
        "tag": None,
        "backend": "sglang-oai",
        "dataset_name": "random",
        "request_rate": float("inf"),
        "max_concurrency": 8,
        "sharegpt_output_len": None,
        "random_input_len": 64,
        "random_output_len": 32,
        "random_range_ratio": 1.0,
        "server_info": None,
        "duration": 5.0,
        "completed": 50,
        "total_input_tokens": 3200,
        "total_output_tokens": 1600,
        "total_output_tokens_retokenized": 1580,
        "request_throughput": 10.0,
        "input_throughput": 640.0,
        "output_throughput": 320.0,
        "total_throughput": 960.0,
        **latencies("_ms", 1e3, ttft=0.05, tpot=0.02, itl=0.025, e2e_latency=0.67),
        "concurrency": 6.7,
        "accept_length": None,
        "max_output_tokens_per_s": 500.0,
        "max_concurrent_requests": 16,
    }
    return _changed(record, changes)


def server_info(**changes: Any) -> dict[str, Any]:
    record = {
        "model_path": "acme/tiny-7b",
        "dtype": "bfloat16",
        "quantization": None,
        "kv_cache_dtype": "auto",
        "tp_size": 2,
        "pp_size": 1,
        "dp_size": 1,
        "ep_size": 1,
        "nnodes": 1,
        "enable_dp_attention": False,
        "disable_radix_cache": False,
        "speculative_algorithm": None,
        "speculative_num_draft_tokens": None,
        "api_key": None,
        "admin_api_key": None,
        "version": "0.5.6",
    }
    return _changed(record, changes)


def agg(**changes: Any) -> dict[str, Any]:
    """InferenceX aggregate of one node: 4 chips, concurrency 8; 100 output and 200 total tokens/s a chip."""
    record = {
        "hw": "quux900",
        "conc": 8,
        "image": "acme/vllm-openai:v0.20.1",
        "model": "acme/tiny-7b",
        "framework": "vllm",
        "precision": "fp8",
        "spec_decoding": "none",
        "disagg": False,
        "isl": 1024,
        "osl": 1024,
        "is_multinode": False,
        "tp": 4,
        "ep": 4,
        "dp_attention": "false",
        "tput_per_gpu": 200.0,
        "output_tput_per_gpu": 100.0,
        "input_tput_per_gpu": 100.0,
        **latencies("", 1.0, ttft=0.5, tpot=0.0195, itl=0.05, e2el=19.0),
        "p90_intvty": 40.0,
        "std_intvty": 4000.0,
    }
    return _changed(record, changes)


def api_row(**changes: Any) -> dict[str, Any]:
    """A row of InferenceX' API, prefill on 4 and decode on 16 chips apart."""
    record = {
        "hardware": "quux900",
        "framework": "dynamo-trt",
        "model": "tiny7",
        "precision": "fp4",
        "spec_method": "mtp",
        "disagg": True,
        "is_multinode": True,
        "prefill_tp": 4,
        "prefill_ep": 4,
        "prefill_dp_attention": True,
        "prefill_num_workers": 1,
        "decode_tp": 8,
        "decode_ep": 8,
        "decode_dp_attention": False,
        "decode_num_workers": 2,
        "num_prefill_gpu": 4,
        "num_decode_gpu": 16,
        "isl": 1024,
        "osl": 1024,
        "conc": 64,
        "image": None,
        "metrics": {
            "tput_per_gpu": 200.0,
            "output_tput_per_gpu": 125.0,
            "input_tput_per_gpu": 500.0,
            **latencies("", 1.0, ttft=0.6, tpot=0.03, itl=3.0, e2el=31.0),
        },
        "workers": None,
        "date": "2026-03-04",
        "run_url": "https://example.org/runs/1",
    }
    return _changed(record, changes)


def agentic(**changes: Any) -> dict[str, Any]:
    """InferenceX trace replay, flat shape: every itl is a copy of tpot, totals stand beside per-chip rates."""
    record = agg(scenario_type="agentic-coding", conc=16, tp=2, ep=1, isl=..., osl=...)
    copies = {key.replace("tpot", "itl"): value for key, value in record.items() if key.endswith("_tpot")}
    extra = {
        "num_requests_total": 90,
        "num_requests_successful": 90,
        "mean_qps": 0.06,
        "mean_input_tokens": 90_000.0,
        "mean_output_tokens_actual": 800.0,
        "input_tput_tps": 4500.0,
        "output_tput_tps": 40.0,
        "total_tput_tps": 4540.0,
        "tput_per_gpu": 2270.0,
        "output_tput_per_gpu": 20.0,
        "input_tput_per_gpu": 2250.0,
        "duration_seconds": 1800.0,
        "theoretical_cache_hit_rate": None,
        "mean_e2el": 300.0,
        "p95_qps": 0.0,
    }
    return _changed(record | copies | extra, changes)


def agentic_nested(**changes: Any) -> dict[str, Any]:
    """The newer trace replay: the figures under request_metrics, warm-up requests counted in the total."""
    record = agg(scenario_type="agentic-coding", conc=16, tp=2, ep=1, isl=..., osl=...)
    for key in [key for key in record if "tput" in key or key.endswith(("_ttft", "_tpot", "_itl", "_e2el"))]:
        del record[key]
    one = {"mean": 0.2, "p50": 0.18, "p90": 0.4, "p95": 0.5, "std": 0.1}
    extra = {
        "num_requests_total": 100,
        "num_requests_successful": 90,
        "request_accounting": {"records_total": 100, "records_warmup_dropped": 10, "records_error_dropped": 0},
        "dataset": {"name": "traces-v2"},
        "request_metrics": {
            "latency": {"ttft": one | {"mean": 2.0}, "tpot": one, "itl": one, "e2el": one | {"mean": 300.0}},
            "tokens": {"input": {"mean": 90_000.0}, "output_actual": {"mean": 800.0}},
            "throughput": {
                "input": {"tokens_per_second": 4500.0},
                "output": {"tokens_per_second": 40.0},
                "total": {"tokens_per_second": 4540.0},
                "duration_seconds": 1800.0,
            },
        },
    }
    return _changed(record | extra, changes)


def _changed(record: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """``record`` with ``changes``; the value ``...`` takes a key out."""
    return {key: value for key, value in (record | changes).items() if value is not ...}


def every_shape() -> dict[str, tuple[str, Any]]:
    """Name -> (tool, record) of every shape above."""
    seconds = {key.removesuffix("_ms"): value for key, value in vllm(total_token_throughput=...).items()}
    return {
        "vllm": ("vllm-bench-serve", vllm()),
        "vllm detailed": ("vllm-bench-serve", vllm_detailed()),
        "vllm seconds": ("vllm-bench-serve", seconds),
        "sglang": ("sglang-bench-serving", sglang()),
        "sglang server": ("sglang-bench-serving", sglang(server_info=server_info(), backend="sglang")),
        "agg": ("inferencex", agg()),
        "api row": ("inferencex", api_row()),
        "agentic": ("inferencex", agentic()),
        "agentic nested": ("inferencex", agentic_nested()),
    }
