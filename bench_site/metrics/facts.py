"""The facts that formulas use: read from a point's columns, else from its JSON, by one table of paths."""

import math
from collections.abc import Mapping
from typing import Any

LATENCIES = ("ttft", "tpot", "ntpot", "itl", "e2el")
STATISTICS = ("mean", "p50", "p90", "p95", "p99")

#: Name of each fact -> where it lies in the contract's point. Seconds, tokens/s, bytes, bytes/s, watts, joules.
PATHS: dict[str, tuple[str, ...]] = {
    "duration": ("duration",),
    "concurrency_measured": ("concurrency_measured",),
    "requests_sent": ("requests", "sent"),
    "requests_completed": ("requests", "completed"),
    "requests_failed": ("requests", "failed"),
    "input_tokens_mean": ("tokens", "input_mean"),
    "output_tokens_mean": ("tokens", "output_mean"),
    **{f"{which}_{at}": ("metrics", which, at) for which in LATENCIES for at in STATISTICS},
    "output_tokens_per_s": ("metrics", "rates", "output_tokens_per_s"),
    "input_tokens_per_s": ("metrics", "rates", "input_tokens_per_s"),
    "total_tokens_per_s": ("metrics", "rates", "total_tokens_per_s"),
    "requests_per_s": ("metrics", "rates", "requests_per_s"),
    "prefill_tokens_per_s": ("metrics", "rates", "prefill_tokens_per_s"),
    "decode_tokens_per_s": ("metrics", "rates", "decode_tokens_per_s"),
    "watts": ("power", "watts"),
    "joules": ("power", "joules"),
    "host_dispatches": ("kernel", "host_dispatches"),
    "device_kernels": ("kernel", "device_kernels"),
    "barriers": ("kernel", "barriers"),
    "bytes_per_token": ("kernel", "bytes_per_token"),
    "compile_cold": ("kernel", "compile_seconds", "cold"),
    "compile_warm": ("kernel", "compile_seconds", "warm"),
    "achieved_bandwidth": ("kernel", "achieved_bandwidth"),
    "limit_bandwidth": ("kernel", "limit_bandwidth"),
}
#: Facts that are not the point's own: physical chips of all pools, and what the report says about the draft.
RUN_FACTS = ("chips", "acceptance_rate", "acceptance_length")


def facts_of(
    point: Mapping[str, Any], chips: int | None = None, speculative: Mapping[str, Any] | None = None
) -> dict[str, float]:
    """The known facts of ``point``: a mapping of columns and, under ``detail``, the contract's point as JSON.

    A column wins over the JSON. ``chips`` counts the physical chips of all pools; ``speculative`` is that part of the
    report's strategy. What is missing, null or not a finite number is left out: unknown is never 0.
    """
    detail = point.get("detail") or {}
    facts: dict[str, float] = {}
    for name, path in PATHS.items():
        value = _number(point.get(name))
        if value is None:
            value = _number(_at(detail, path))
        if value is not None:
            facts[name] = value
    for name, found in (
        ("chips", chips or None),
        ("acceptance_rate", (speculative or {}).get("acceptance_rate")),
        ("acceptance_length", (speculative or {}).get("acceptance_length")),
    ):
        value = _number(found)
        if value is not None:
            facts[name] = value
    return facts


def _number(value: Any) -> float | None:
    if value is None:  # most are
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _at(part: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if not isinstance(part, dict):  # JSON; asking for Mapping takes most of the time of a large sweep
            return None
        part = part.get(step)
    return part
