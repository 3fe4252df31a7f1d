"""Can these figures be true? Pure functions from a report to findings, each with its arithmetic.

``quarantine``: cannot be true as it stands; stored, and in no statistic. ``flag``: true perhaps, but read it with care.
Every rule speaks only when all that it needs is known. Units as in the contract: seconds, tokens/s, bytes/s.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Literal

import numpy as np

from bench_site.runs.models.words import Plausibility
from runners.contract import Point, Report
from runners.contract.figures import Distribution, Samples
from runners.contract.receipt import Finding
from runners.contract.vocabulary import PoolRole

Bandwidth = Callable[[str], float | None]
Verdict = Literal["flag", "quarantine"]

#: Clocks of machines differ; beyond this a time is in the future.
CLOCK_SKEW = timedelta(minutes=10)
#: Bytes of one weight in the formats that models are served in.
BYTES_PER_WEIGHT = {
    "fp32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0, "mxfp8": 1.0, "fp6": 0.75,
    "fp4": 0.5, "nvfp4": 0.5, "mxfp4": 0.5, "int4": 0.5,
}  # fmt: skip
#: Share of the active weights that a step certainly reads: an embedding is active but read by one row.
CERTAIN_SHARE = 0.8
#: What fits into a chip's own cache is not read from memory at all; no accelerator's is larger.
CACHE_BYTES = 512e6
#: Files round: differences below these shares say nothing.
RATES_TOLERANCE = 0.02
ORDER_TOLERANCE = 0.005
RECOMPUTED_TOLERANCE = 0.10
#: Below this many rows a p99 is the interpolation method's, not the data's.
ROWS_FOR_P99 = 100
LATENCIES = ("ttft", "tpot", "ntpot", "itl", "e2el")


def findings_of(report: Report, *, bandwidth: Bandwidth, now: datetime) -> list[Finding]:
    """What every rule says about ``report``; ``bandwidth`` of one chip by name, in bytes/s."""
    found = list(_future(report, now))
    for index, point in enumerate(report.points):
        for verdict, rule, message in _point_rules(report, point, bandwidth):
            found.append(Finding(rule=rule, verdict=verdict, point=index, message=message))
    return found


def worst(findings: list[Finding], point: int | None = None) -> Plausibility:
    """The worst verdict of the run, or of one point (findings about the whole run concern each)."""
    verdicts = {f.verdict for f in findings if point is None or f.point in (None, point)}
    return next((p for p in (Plausibility.QUARANTINE, Plausibility.FLAG) if p.value in verdicts), Plausibility.ACCEPT)


Said = tuple[Verdict, str, str]


def _point_rules(report: Report, point: Point, bandwidth: Bandwidth) -> Iterator[Said]:
    yield from _faster_than_memory(report, point, bandwidth)
    yield from _rates(point)
    yield from _little(point)
    yield from _order(point)
    yield from _output_length(report, point)
    yield from _errors(point)
    yield from _few_requests(point)
    yield from _concurrency(point)
    if point.samples is not None:
        yield from _recomputed(point, point.samples)


def _future(report: Report, now: datetime) -> Iterator[Finding]:
    for name in ("started_at", "finished_at"):
        time = getattr(report, name)
        if time is not None and time > now + CLOCK_SKEW:
            message = f"{name} is {time.isoformat()}, {_span(time - now)} after it was received ({now.isoformat()})"
            yield Finding(rule="future-time", verdict="quarantine", message=message)


def _span(delta: timedelta) -> str:
    hours = delta.total_seconds() / 3600
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.0f} days"


# ------------------------------------------------------------------ cannot be true


def _faster_than_memory(report: Report, point: Point, bandwidth: Bandwidth) -> Iterator[Said]:
    """A step cannot take less time than memory needs to deliver its bytes."""
    decode = [p for p in report.system.pools if p.role is not PoolRole.PREFILL]
    limits = [(p.chips, bandwidth(p.chip) if p.chip else None) for p in decode]
    if not decode or any(chips is None or limit is None for chips, limit in limits):
        return
    total = sum((chips or 0) * (limit or 0.0) for chips, limit in limits)
    kernel = point.kernel
    step_bytes, source = _bytes_per_step(report, point)
    if step_bytes is not None and step_bytes < CACHE_BYTES * sum(chips or 0 for chips, _ in limits):
        return
    if kernel and kernel.achieved_bandwidth and kernel.achieved_bandwidth > total * 1.02:
        yield (
            "quarantine", "faster-than-memory",
            f"an achieved bandwidth of {_giga(kernel.achieved_bandwidth)} is more than all chips have ({_giga(total)})",
        )  # fmt: skip
        return
    tpot = _typical_tpot(point)
    accepted = _tokens_per_step(report)
    if tpot is None or accepted is None or step_bytes is None:
        return
    replicas = max((_replicas(p.workers, p.parallelism.dp, p.parallelism.dp_attention) for p in decode), default=1)
    floor = step_bytes / (total / replicas)
    if tpot * accepted < floor:
        shared = f" in {replicas} replicas" if replicas > 1 else ""
        yield (
            "quarantine", "faster-than-memory",
            f"TPOT {_ms(tpot)} x {accepted:g} tokens a step = {_ms(tpot * accepted)} a step, but memory needs "
            f"{_ms(floor)}: {step_bytes / 1e9:.3g} GB ({source}) at {_giga(total)} of all chips{shared}",
        )  # fmt: skip


def _typical_tpot(point: Point) -> float | None:
    tpot = point.metrics.tpot
    given = [v for v in (tpot.p50, tpot.mean) if v] if tpot else []
    return max(given) if given else None


def _tokens_per_step(report: Report) -> float | None:
    speculative = report.strategy.speculative
    if speculative is None:
        return None
    return 1.0 if speculative.method.casefold() == "none" else speculative.acceptance_length


def _bytes_per_step(report: Report, point: Point) -> tuple[float | None, str]:
    """A lower bound of the bytes that one decode step reads, and where it comes from."""
    if point.kernel and point.kernel.bytes_per_token:
        return point.kernel.bytes_per_token, "kernel.bytes_per_token"
    weight = BYTES_PER_WEIGHT.get((report.model.precision.weights or "").casefold())
    if report.model.parameters_active and weight:
        source = f"{CERTAIN_SHARE:.0%} of {report.model.parameters_active:,} active parameters x {weight:g} bytes"
        return CERTAIN_SHARE * report.model.parameters_active * weight, source
    return None, ""


def _replicas(workers: int | None, dp: int | None, dp_attention: bool | None) -> int:
    """Copies of the weights. With data-parallel attention the experts are spread over all ranks: no copies."""
    return (workers or 1) * (1 if dp_attention else dp or 1)


def _rates(point: Point) -> Iterator[Said]:
    rates = point.metrics.rates
    if rates.input_tokens_per_s is None or rates.output_tokens_per_s is None or not rates.total_tokens_per_s:
        return
    together = rates.input_tokens_per_s + rates.output_tokens_per_s
    off = abs(together - rates.total_tokens_per_s) / rates.total_tokens_per_s
    if off > RATES_TOLERANCE:
        yield (
            "quarantine", "rates-disagree",
            f"input {rates.input_tokens_per_s:,.6g} + output {rates.output_tokens_per_s:,.6g} = {together:,.6g} "
            f"tokens/s, but the total says {rates.total_tokens_per_s:,.6g}: {off:.1%} apart, and rounding explains "
            f"{RATES_TOLERANCE:.0%} at most",
        )  # fmt: skip


def _little(point: Point) -> Iterator[Said]:
    """Little's law: requests in flight = requests/s x mean time in the system."""
    rate, e2el, configured = point.metrics.rates.requests_per_s, point.metrics.e2el, point.load.concurrency
    if not (rate and configured and e2el and e2el.mean):
        return
    flying = rate * e2el.mean
    if flying > 1.05 * configured:
        yield (
            "quarantine", "more-than-concurrency",
            f"{rate:.6g} requests/s x {e2el.mean:.6g} s mean E2EL = {flying:.4g} requests in flight, "
            f"more than 1.05 x the configured concurrency of {configured}",
        )  # fmt: skip


def _order(point: Point) -> Iterator[Said]:
    for name in LATENCIES:
        found: Distribution | None = getattr(point.metrics, name)
        if found is None:
            continue
        steps = [(n, v) for n in ("min", "p50", "p90", "p95", "p99", "max") if (v := getattr(found, n)) is not None]
        wrong = [f"{a} {_ms(x)} > {b} {_ms(y)}" for (a, x), (b, y) in pairwise(steps) if _above(x, y)]
        if found.mean is not None:
            if found.min is not None and _above(found.min, found.mean):
                wrong.append(f"min {_ms(found.min)} > mean {_ms(found.mean)}")
            if found.max is not None and _above(found.mean, found.max):
                wrong.append(f"mean {_ms(found.mean)} > max {_ms(found.max)}")
        if wrong:
            yield "quarantine", "percentiles-out-of-order", f"{name}: {'; '.join(wrong)}"


def _above(a: float, b: float) -> bool:
    return a > b * (1 + ORDER_TOLERANCE)


# ------------------------------------------------------------------ read with care


def _output_length(report: Report, point: Point) -> Iterator[Said]:
    asked, got = report.workload.output_tokens, point.tokens.output_mean
    if report.workload.fixed_length and asked and got is not None and abs(got - asked) > 0.10 * asked:
        yield (
            "flag", "output-length",
            f"{got:.6g} output tokens a request where {asked} were asked for: {got / asked - 1:+.1%}, beyond 10 %",
        )  # fmt: skip


def _errors(point: Point) -> Iterator[Said]:
    sent, completed, failed = point.requests.sent, point.requests.completed, point.requests.failed
    if failed is None and sent is not None and completed is not None:
        failed = max(0, sent - completed)
    if sent is None and completed is not None and failed is not None:
        sent = completed + failed
    if sent and failed and failed > 0.01 * sent:
        yield (
            "flag", "errors",
            f"{failed:,} of {sent:,} requests failed: {failed / sent:.1%}, beyond 1 %; latencies are those of the rest",
        )  # fmt: skip


def _few_requests(point: Point) -> Iterator[Said]:
    done = point.requests.completed if point.requests.completed is not None else point.requests.sent
    configured = point.load.concurrency
    if configured and done is not None and done < 5 * configured:
        yield (
            "flag", "few-requests",
            f"{done:,} requests at concurrency {configured}: fewer than 5 x {configured} = {5 * configured:,}; "
            "start and tail dominate",
        )  # fmt: skip


def _concurrency(point: Point) -> Iterator[Said]:
    measured, configured = point.concurrency_measured, point.load.concurrency
    if configured and measured is not None and measured < 0.8 * configured:
        yield (
            "flag", "concurrency-not-reached",
            f"{measured:.4g} requests in flight on average, {configured} configured: {measured / configured:.0%}, "
            "below 80 %",
        )  # fmt: skip


def _recomputed(point: Point, samples: Samples) -> Iterator[Said]:
    """The file's own statistics against those of its rows (linear interpolation, completed requests only)."""
    for name in ("ttft", "tpot", "e2el"):
        column, stated = getattr(samples, name), getattr(point.metrics, name)
        if column is None or stated is None:
            continue
        failed = samples.failed or [False] * len(column)
        values = np.array([v for v, bad in zip(column, failed, strict=True) if v is not None and not bad], dtype=float)
        if values.size < 2:
            continue
        own = {"mean": float(values.mean()), "p50": float(np.percentile(values, 50))}
        if values.size >= ROWS_FOR_P99:
            own["p99"] = float(np.percentile(values, 99))
        wrong = [
            f"{name} {key} is {_ms(said)}, its {values.size:,} rows give {_ms(value)}"
            for key, value in own.items()
            if (said := getattr(stated, key)) is not None and _apart(said, value) > RECOMPUTED_TOLERANCE
        ]
        if wrong:
            yield "flag", "recomputed-differs", "; ".join(wrong)


def _apart(a: float, b: float) -> float:
    return abs(a - b) / (max(a, b) or 1.0)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms"


def _giga(bytes_per_s: float) -> str:
    return f"{bytes_per_s / 1e9:,.6g} GB/s"
