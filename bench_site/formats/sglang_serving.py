"""SGLang ``python -m sglang.bench_serving``: JSON Lines, always appended, one line a run (in a file called .json too).

Seen: 0.3 (few figures), 0.4, 0.5 (``total_throughput``, ``server_info``, p90/p95), against SGLang and other servers.

Read, with the file's unit: ``request_rate`` (1/s, bare ``Infinity`` for none, "trace") and ``max_concurrency``;
``concurrency`` (measured); ``dataset_name``, and ``random_input_len`` / ``random_output_len`` only where they are
lengths asked for (random data with ``random_range_ratio`` 1: below that they are a maximum, with other data unused
defaults); ``duration`` (s); ``completed``; ``total_input_tokens``, ``total_output_tokens`` and its re-tokenised
count; throughputs (per s, whole system); ``{mean,median,std,p90,p95,p99}_{e2e_latency,ttft,tpot,itl}_ms`` (ms; the
native back end divides a chunk gap by its tokens, so itl is close to our gap between chunks, not exactly it);
``accept_length``; ``server_info`` (model, version, parallel sizes, number formats, speculation; one level lower
with prefill and decode apart); with ``--output-details`` the per-request arrays (s).

Cannot say: how many requests were sent or failed (only the ``errors`` array of the details can), the time, the
chip; without ``server_info`` also model, engine, version and chips. The client counts the *asked* length when the
server sends no usage: counts are doubted where re-tokenising disagrees, and dropped where no answer held a token.
"""

from typing import Any

from bench_site.formats.adapter import Adapter, Signature
from bench_site.formats.build import Draft, all_failed, assemble, distribution, failed_share, share, statistic_keys
from bench_site.formats.client import Drive, drive, samples
from bench_site.formats.fields import Fields, Notebook
from bench_site.formats.load import Document
from bench_site.formats.outcome import ReadRun, Refused
from bench_site.formats.sglang_server import server_parts
from runners.contract.figures import Metrics, Point, Rates, Requests, Tokens
from runners.contract.report import Dataset, Workload
from runners.contract.vocabulary import WorkloadKind

TOOL = "sglang-bench-serving"
_LATENCIES = {"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2el": "e2e_latency"}
#: Data made of random tokens; only there are the random lengths what was asked.
_RANDOM = ("random", "random-ids", "random-image", "image")


def read(document: Document, records: list[tuple[int, Signature, dict[str, Any]]]) -> tuple[list[ReadRun], list[str]]:
    """One run a line: the file is appended to by every start of the client."""
    runs, left_out = [], []
    for row, signature, record in records:
        try:
            draft = _draft(Fields(record, Notebook()))
            runs.append(
                assemble(document, tool=TOOL, variant=signature.variant, version=None, rows=[row], drafts=[draft])
            )
        except Refused as refused:
            left_out.append(refused.refusal.detail)
    return runs, left_out


def _draft(fields: Fields) -> Draft:
    driven = drive(fields)
    requests = _requests(fields)
    parts = server_parts(fields)
    parts["workload"] = _workload(fields, driven, prefix_cache=parts.pop("prefix_cache"))
    if tag := fields.text("tag"):
        parts["tags"] = [tag]
    if requests.completed == 0:
        draft = Draft(Point(load=driven.load, requests=requests), {}, parts, failure=all_failed(requests.sent))
        draft.flag("all-failed", draft.failure.message if draft.failure else "")
        draft.notes = fields.notes.lines
        return draft
    latencies = {
        ours: distribution(fields, statistic_keys(theirs, "_ms"), scale=1e-3) for ours, theirs in _LATENCIES.items()
    }
    output = fields.count("total_output_tokens")
    again = fields.count("total_output_tokens_retokenized")
    empty = bool(requests.completed) and (output == 0 or again == 0 or _all_empty(fields))
    if empty:
        latencies |= {"ttft": None, "tpot": None, "itl": None}
        fields.notes.say("output tokens, tpot and output rates are left out: the client counted what it had asked for")
    duration = fields.positive("duration")
    point = Point(
        load=driven.load,
        duration=duration,
        concurrency_measured=fields.positive("concurrency"),
        requests=requests,
        tokens=Tokens(
            input_mean=share(fields.positive("total_input_tokens"), requests.completed),
            output_mean=None if empty else share(output or None, requests.completed),
        ),
        metrics=Metrics(rates=_rates(fields, duration, empty=empty), **latencies),
        samples=samples(fields, completed=requests.completed, counted=not empty),
    )
    if not any(latencies.values()) and not point.metrics.rates.model_dump(exclude_none=True):
        raise Refused("refused-file", "The result holds no latency and no throughput.")
    draft = Draft(point, {}, parts)
    failed_share(draft)
    if empty:
        draft.flag(
            "empty-answers",
            f"Every answer was empty: the {output or 0:,} output tokens were never produced, the client only counted "
            "what it had asked for.",
        )
    elif output and again is not None and not 0.9 <= again / output <= 1.1:
        draft.flag(
            "token-count",
            f"The re-tokenised output ({again:,}) is {abs(again / output - 1):.0%} "
            f"{'below' if again < output else 'above'} the counted output ({output:,}), "
            "so output token figures are uncertain.",
        )
    draft.notes = fields.notes.lines
    return draft


def _requests(fields: Fields) -> Requests:
    """Only the details show how many were sent and failed; without them both are unknown, not 0."""
    errors = fields.array("errors")
    return Requests(
        sent=len(errors) if errors else None,
        completed=fields.count("completed"),
        failed=sum(bool(error) for error in errors) if errors else None,
    )


def _all_empty(fields: Fields) -> bool:
    texts = fields.array("generated_texts")
    return bool(texts) and all(text == "" for text in texts or [])


def _rates(fields: Fields, duration: float | None, *, empty: bool) -> Rates:
    """Rates of the file; 0.3 to 0.4 lack some, which are then total / duration as later versions compute them."""

    def rate(key: str, total: float | None) -> float | None:
        return fields.positive(key) or share(total or None, duration)

    ins, outs = fields.number("total_input_tokens"), fields.number("total_output_tokens")
    both = ins + outs if ins and outs else None
    return Rates(
        output_tokens_per_s=None if empty else rate("output_throughput", outs),
        input_tokens_per_s=rate("input_throughput", ins),
        total_tokens_per_s=None if empty else rate("total_throughput", both),
        requests_per_s=rate("request_throughput", fields.number("completed")),
    )


def _workload(fields: Fields, driven: Drive, *, prefix_cache: bool | None) -> Workload:
    name = fields.text("dataset_name")
    fixed = (name is None or name in _RANDOM) and fields.number("random_range_ratio") == 1
    lengths: dict[str, Any] = {}
    if fixed and name:
        lengths = {
            "input_tokens": fields.size("random_input_len"),
            "output_tokens": fields.size("random_output_len"),
            "fixed_length": True,
        }
    elif name in _RANDOM:
        fields.notes.say("random_input_len and random_output_len are upper bounds here (random_range_ratio is not 1)")
    elif name == "sharegpt" and fields.size("sharegpt_output_len"):
        lengths = {"output_tokens": fields.size("sharegpt_output_len")}
    return Workload(
        kind=WorkloadKind.SERVING,
        loop=driven.loop,
        request_rate_cap=driven.cap,
        dataset=Dataset(name=name),
        prefix_cache=prefix_cache,
        **lengths,
    )


_FIGURES = ("total_output_tokens_retokenized", "mean_e2e_latency_ms", "median_e2e_latency_ms", "input_throughput")
_FORBIDS = (
    "model_id",
    "hw",
    "metrics",
    "successful_requests",
    "last_gen_throughput",
    "num_clients",
    "turns_per_client",
)

ADAPTER = Adapter(
    tool=TOOL,
    title="SGLang bench_serving (JSON Lines)",
    produced_by="python -m sglang.bench_serving --output-file results.jsonl --output-details",
    signatures=(
        Signature("0.5", (("backend",), ("server_info", "total_throughput"), _FIGURES, ("completed",)), _FORBIDS),
        Signature(
            "0.4",
            (("backend",), ("p99_ttft_ms", "mean_ttft_ms"), _FIGURES, ("completed",)),
            (*_FORBIDS, "server_info", "total_throughput"),
        ),
        Signature(
            "0.3",
            (("backend",), _FIGURES, ("random_input_len", "request_rate"), ("completed",)),
            (*_FORBIDS, "server_info", "total_throughput", "p99_ttft_ms", "mean_ttft_ms"),
        ),
    ),
    read=read,
    secrets=("server_info.api_key", "server_info.admin_api_key"),
    texts=("generated_texts",),
)
