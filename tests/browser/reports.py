"""Reports for the browser's tests, as a runner would send them."""

import time
import uuid
from collections.abc import Iterator
from typing import Any

HOSTILE = '<a href="javascript:alert(1)">x</a><img src=x onerror=alert(1)>'


def uuid7() -> str:
    """A time-ordered id."""
    random = uuid.uuid4().int & ((1 << 74) - 1)
    head = (int(time.time() * 1000) << 80) | (7 << 76)
    return str(uuid.UUID(int=head | ((random >> 62) << 64) | (2 << 62) | (random & ((1 << 62) - 1))))


def report(chip: str, chips: int, kernel: str, points: list[tuple[int, float, float]], **more: Any) -> dict[str, Any]:
    """One run; ``points`` are (concurrency, tokens/s for one user, output tokens/s of one chip)."""
    return {
        "schema_version": "1",
        "id": uuid7(),
        "started_at": "2026-11-01T10:00:00+08:00",
        "evidence": "measured",
        "source": {"tool": "browsertest", "version": "1", "command": "bench --all"},
        "system": {"machine": "browser-lab", "pools": [{"chip": chip, "chips": chips}]},
        "model": {"name": "Browsertest 1", "precision": {"weights": "fp8"}},
        "engine": {"name": "vllm", "version": "0.33"},
        "strategy": {"kernel": kernel, "speculative": {"method": "none"}},
        "workload": {"kind": "serving", "loop": "closed", "input_tokens": 1024, "output_tokens": 1024},
        "points": [
            {
                "load": {"concurrency": load},
                "requests": {"sent": 1000, "completed": 1000, "failed": 0},
                "metrics": {
                    "ttft": {"p50": 0.4, "p99": 0.9},
                    "tpot": {"p50": 1 / x},
                    "rates": {"output_tokens_per_s": y * chips},
                },
            }
            for load, x, y in points
        ],
        "verification": {"status": "passed", "against": "bf16"},
        "tags": ["browser"],
        **more,
    }


def sweep() -> Iterator[tuple[str, dict[str, Any]]]:
    """Three sweeps of three points on two machines, and one run with hostile names."""
    yield "graph", report("H200", 8, "graph_capture", [(64, 18, 1100), (16, 47, 700), (4, 139, 160)])
    yield "opbyop", report("H200", 8, "op_by_op", [(64, 9, 500), (16, 16, 240), (4, 21, 80)])
    yield "mega", report("TPU v7", 16, "megakernel", [(64, 26, 1500), (16, 108, 1010), (4, 249, 180)])
    hostile = {"name": "hostile", "precision": {"weights": "fp8"}}
    yield "hostile", report(HOSTILE, 8, "unknown", [(8, 30, 100)], model=hostile, engine={"name": HOSTILE})
