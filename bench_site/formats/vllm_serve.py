"""vLLM ``vllm bench serve`` (before: ``benchmarks/benchmark_serving.py``).

Shapes: one JSON object; with ``--append-result`` one object a line (in a file called .json too); ``bench sweep serve``
writes an array. Seen: 0.6 to 0.25, tpu-inference, vllm-ascend's stripped copies, InferenceX' raw client files (one of
them in seconds: keys without ``_ms``).

Read, with the file's unit: ``model_id``; ``date`` (local time of writing, so after the run); ``num_prompts``,
``completed``, ``failed``; ``request_rate`` (1/s, "inf" or 1e9 for none) and ``max_concurrency``; ``duration`` (s);
``total_input_tokens`` and ``total_output_tokens`` (of completed requests); ``request_``, ``output_``, ``input_``
and ``total_token_throughput`` (per s, whole system); ``{mean,median,std,pXX}_{ttft,tpot,itl,e2el}_ms`` (ms, or s
without the suffix; tpot = (e2el - ttft)/(output - 1), itl = gap between chunks); ``spec_decode_*`` (rate in %);
with ``--save-detailed`` ``input_lens output_lens ttfts itls latencies start_times errors`` (s). Not read: peak
concurrency and peak throughput (whole-second buckets), goodput, ``generated_texts``.

Cannot say: chip, chips, precision, engine (``backend`` is the client's), its version, server flags, dataset, asked
lengths, whether the prefix cache helped. Keys that the user added by ``--metadata`` stand at the top level: of them
only ``framework`` is taken, as the engine's name, because it separates curves.
"""

import re
from typing import Any

from bench_site.formats.adapter import Adapter, Signature
from bench_site.formats.build import (
    Draft,
    all_failed,
    assemble,
    distribution,
    failed_share,
    model,
    share,
    statistic_keys,
)
from bench_site.formats.client import Drive, drive, samples
from bench_site.formats.fields import Fields, Notebook
from bench_site.formats.load import Document
from bench_site.formats.outcome import ReadRun, Refused
from runners.contract.figures import Metrics, Point, Rates, Requests, Tokens
from runners.contract.report import Engine, Speculative, Strategy, Workload
from runners.contract.vocabulary import AcceptanceSource, WorkloadKind

TOOL = "vllm-bench-serve"
_LATENCIES = {"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2el": "e2el"}
_OWN_KEYS = frozenset(
    (
        "date",
        "endpoint_type",
        "backend",
        "label",
        "model_id",
        "tokenizer_id",
        "best_of",
        "num_prompts",
        "request_rate",
        "burstiness",
        "max_concurrency",
        "duration",
        "completed",
        "failed",
        "good_completed",
        "total_input_tokens",
        "total_output_tokens",
        "request_throughput",
        "request_goodput",
        "request_goodput:",
        "output_throughput",
        "input_throughput",
        "total_token_throughput",
        "max_output_tokens_per_s",
        "max_concurrent_requests",
        "rtfx",
        "input_lens",
        "output_lens",
        "ttfts",
        "itls",
        "latencies",
        "start_times",
        "queue_times",
        "generated_texts",
        "errors",
        "run_number",
        "rps_change_events",
        "ramp_up_strategy",
        "ramp_up_start_rps",
        "ramp_up_end_rps",
        "framework",
    )
)
_OWN_SHAPES = re.compile(
    r"(mean|median|std|min|max|p[\d.]+)_(ttft|tpot|itl|e2el|client_queue_time)|(spec_decode|diffusion|probe)_"
)


def read(document: Document, records: list[tuple[int, Signature, dict[str, Any]]]) -> tuple[list[ReadRun], list[str]]:
    """One run a record: appended results are runs made one after the other."""
    runs, left_out = [], []
    for row, signature, record in records:
        try:
            draft = _draft(Fields(record, Notebook()), seconds=signature.variant == "seconds")
            runs.append(
                assemble(document, tool=TOOL, variant=signature.variant, version=None, rows=[row], drafts=[draft])
            )
        except Refused as refused:
            left_out.append(refused.refusal.detail)
    return runs, left_out


def _draft(fields: Fields, *, seconds: bool) -> Draft:
    if "total_input_sequences" in fields or "input_sequence_throughput" in fields:
        raise Refused("refused-file", "The result is of an embedding or pooling model: no token was generated.")
    driven = drive(fields)
    requests, stripped = _requests(fields)
    parts = _parts(fields, driven)
    if requests.completed == 0:
        draft = Draft(Point(load=driven.load, requests=requests), {}, parts, failure=all_failed(requests.sent))
        draft.flag("all-failed", draft.failure.message if draft.failure else "")
        fields.notes.say("every latency and rate in the file is left out: no request completed")
        draft.notes = fields.notes.lines
        return draft
    scale = 1.0 if seconds else 1e-3
    unit = "" if seconds else "_ms"
    latencies = {
        ours: distribution(fields, statistic_keys(theirs, unit), scale=scale) for ours, theirs in _LATENCIES.items()
    }
    duration = fields.positive("duration")
    output = fields.count("total_output_tokens")
    empty = bool(requests.completed) and output == 0
    unstreamed = (
        not empty and latencies["ttft"] is None and latencies["tpot"] is not None and f"mean_ttft{unit}" in fields
    )
    if empty:
        latencies |= {"ttft": None, "tpot": None, "itl": None}
    if unstreamed:
        latencies["tpot"] = None
        fields.notes.say("tpot is left unknown: without the time of the first token it would hold the prefill")
    tokens = Tokens(
        input_mean=share(fields.positive("total_input_tokens"), requests.completed),
        output_mean=None if empty else share(output or None, requests.completed),
    )
    point = Point(
        load=driven.load,
        duration=duration,
        requests=requests,
        tokens=tokens,
        metrics=Metrics(rates=_rates(fields, duration, empty=empty), **latencies),
        samples=samples(fields, completed=requests.completed, counted=True),
    )
    if not any(latencies.values()) and not point.metrics.rates.model_dump(exclude_none=True):
        raise Refused("refused-file", "The result holds no latency and no throughput.")
    draft = Draft(point, {}, parts)
    failed_share(draft)
    if empty:
        draft.flag("empty-answers", f"All {requests.completed:,} requests came back without a single output token.")
    if unstreamed:
        draft.flag("not-streamed", "The time to the first token is 0: the answers were empty or not streamed.")
    if stripped and duration is None:
        draft.flag(
            "stripped",
            "The file holds latencies only: throughput, duration and the number of completed requests "
            "were stripped out.",
        )
    _little(draft)
    draft.notes = fields.notes.lines
    return draft


def _requests(fields: Fields) -> tuple[Requests, bool]:
    """The counts, and whether the file lacks the number of completed requests.

    Before 0.11.1 there is no ``failed``: what was asked for and did not complete has failed.
    """
    asked, completed, failed = fields.count("num_prompts"), fields.count("completed"), fields.count("failed")
    errors = fields.array("errors")
    if completed is None:
        return Requests(sent=asked, failed=failed), "completed" not in fields
    if failed is None and errors:
        failed = sum(bool(error) for error in errors)
    if failed is None:
        return Requests(sent=asked, completed=completed, failed=_minus(asked, completed)), False
    if asked is not None and asked != completed + failed:
        fields.notes.say(f"num_prompts is {asked:,}, but {completed + failed:,} requests were sent")
    return Requests(sent=completed + failed, completed=completed, failed=failed), False


def _minus(asked: int | None, completed: int) -> int | None:
    return asked - completed if asked is not None and asked >= completed else None


def _rates(fields: Fields, duration: float | None, *, empty: bool) -> Rates:
    """Rates of the file, or totals / duration where it has no such key (which is how the tool computes them)."""
    totals = {key: fields.count(f"total_{key}_tokens") for key in ("input", "output")}
    both = totals["input"] + totals["output"] if totals["input"] and totals["output"] else None
    completed = fields.count("completed")

    def rate(key: str, total: int | None) -> float | None:
        return fields.positive(key) or share(total or None, duration)

    return Rates(
        output_tokens_per_s=None if empty else rate("output_throughput", totals["output"]),
        input_tokens_per_s=rate("input_throughput", totals["input"]),
        total_tokens_per_s=None if empty else rate("total_token_throughput", both),
        requests_per_s=rate("request_throughput", completed),
    )


def _parts(fields: Fields, driven: Drive) -> dict[str, Any]:
    """The parts of the run beside the point."""
    framework = fields.text("framework")
    if framework:
        fields.notes.say(f"the engine {framework} is taken from the user's own metadata key framework")
    extra = sorted(
        key for key in fields.values if key not in _OWN_KEYS and not _OWN_SHAPES.match(key) and len(key) < 60
    )
    if extra:
        fields.notes.say(f"keys not of the tool, not read as facts: {', '.join(extra[:12])}")
    return {
        "started_at_text": fields.text("date"),
        "model": model(fields.text("model_id", 1000), fields.notes),
        "engine": Engine(name=framework),
        "strategy": Strategy(speculative=_speculative(fields)),
        "workload": Workload(kind=WorkloadKind.SERVING, loop=driven.loop, request_rate_cap=driven.cap),
    }


def _speculative(fields: Fields) -> Speculative | None:
    """Acceptance counters that the client fetched from the server; there are none when speculation is off or unseen."""
    rate = fields.number("spec_decode_acceptance_rate", scale=0.01)
    length = fields.number("spec_decode_acceptance_length")
    if rate is None and length is None:
        return None
    each = share(fields.number("spec_decode_draft_tokens"), fields.number("spec_decode_num_drafts"))
    return Speculative(
        method="unknown",
        draft_tokens=int(each) if each and each == int(each) else None,
        acceptance_rate=rate if rate is not None and rate <= 1 else None,
        acceptance_length=length if length is not None and 1 <= length <= 10_000 else None,
        acceptance_source=AcceptanceSource.MEASURED,
    )


def _little(draft: Draft) -> None:
    """Flag a closed loop whose throughput needs far more requests in flight than it allowed (merged results).

    Only where the file has no end-to-end time, so that it is estimated from ttft and tpot: a margin of 1.5.
    """
    point = draft.point
    metrics, limit, rate = point.metrics, point.load.concurrency, point.metrics.rates.requests_per_s
    if metrics.e2el or not (limit and rate and metrics.ttft and metrics.tpot and point.tokens.output_mean):
        return
    if metrics.ttft.mean is None or metrics.tpot.mean is None:
        return
    needed = rate * (metrics.ttft.mean + max(point.tokens.output_mean - 1, 0) * metrics.tpot.mean)
    if needed > 1.5 * limit:
        draft.flag(
            "contradiction",
            f"At the stated concurrency of {limit} the throughput would need about {needed:.0f} requests in flight: "
            "the numbers look merged from several clients.",
        )


_SECONDS = tuple(f"{name}_{metric}" for name in ("mean", "median", "p99") for metric in _LATENCIES)
_MILLISECONDS = tuple(f"{key}_ms" for key in _SECONDS)
_FORBIDS = ("total_output_tokens_retokenized", "mean_e2e_latency_ms", "tput_per_gpu")

ADAPTER = Adapter(
    tool=TOOL,
    title="vLLM bench serve (JSON)",
    produced_by=(
        "vllm bench serve --save-result --percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,90,95,99"
    ),
    signatures=(
        Signature("milliseconds", (("model_id",), _MILLISECONDS), _FORBIDS),
        Signature("seconds", (("model_id",), _SECONDS), (*_FORBIDS, *_MILLISECONDS)),
        Signature(
            "rates only",
            (("model_id",), ("total_token_throughput",), ("request_throughput",)),
            (*_FORBIDS, *_MILLISECONDS, *_SECONDS),
        ),
    ),
    read=read,
    stamp="end",
    texts=("generated_texts",),
)
