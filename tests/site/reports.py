"""Reports of our own making for whole-site tests: evidence "mock", because nothing was measured."""

from typing import Any

from runners.contract.ids import new_run_id


def report(number: int = 0, **changes: Any) -> dict[str, Any]:
    """A serving run at one load; ``number`` moves its figures a little and picks one of eight loads."""
    concurrency = 2 ** (number % 8)
    tpot = 0.01 * (1 + concurrency / 64) * (1 + (number % 5) / 1000)
    return {
        "schema_version": "1",
        "id": str(new_run_id()),
        "started_at": "2026-11-30T08:00:00+00:00",
        "status": "completed",
        "evidence": "mock",
        "source": {"tool": "fuseboard-tests", "version": "1"},
        "system": {"machine": "test-rack", "pools": [{"chip": "H200 SXM", "chips": 8, "parallelism": {"tp": 8}}]},
        "model": {"name": "test-model", "precision": {"weights": "fp8"}},
        "engine": {"name": "vllm", "version": "0.21.0"},
        "strategy": {"kernel": "graph_capture", "speculative": {"method": "none"}},
        "workload": {"kind": "serving", "loop": "closed", "input_tokens": 1024, "output_tokens": 1024},
        "points": [
            {
                "load": {"concurrency": concurrency},
                "duration": 60.0,
                "requests": {"sent": 100 * concurrency, "completed": 100 * concurrency, "failed": 0},
                "tokens": {"input_mean": 1024.0, "output_mean": 1024.0},
                "metrics": {
                    "ttft": {"mean": 0.2, "p50": 0.18, "p99": 0.5},
                    "tpot": {"mean": tpot, "p50": tpot, "p99": tpot * 1.2},
                    "rates": {"output_tokens_per_s": concurrency * 0.9 / tpot},
                },
            }
        ],
        **changes,
    }
