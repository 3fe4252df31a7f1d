"""SemiAnalysis InferenceX (before: InferenceMAX): ``agg_*.json``, agentic aggregates, rows of its public API.

Shapes: one flat object of a fixed-length run (2025: without ``isl``/``osl``/``image``); an array of them
(``agg_bmk.json``); the agentic trace replay, flat or with ``request_metrics``; ``GET /api/v1/benchmarks`` rows with the
figures under ``metrics`` and ``hardware`` for ``hw``. The client's own raw files are vLLM's (see ``vllm_serve``).

Read, with the file's unit: ``hw``, ``framework``, ``image``, ``model``, ``precision``, ``spec_decoding``, parallel
sizes; ``conc``; ``isl``/``osl`` (asked; achieved lengths are up to 20 % below);
``{mean,median,p90,p95,p99,std}_{ttft,tpot,itl, e2el}`` (**seconds**, though the keys come from vLLM's ms);
``tput_per_gpu`` (input + output), ``output_tput_per_gpu``, ``input_tput_per_gpu`` (per chip: times chips; with
prefill and decode apart output is per *decode* chip and input per *prefill* chip); ``*_tput_tps``, counts, token
means and ``duration_seconds`` of agentic runs; ``avg_power_w`` (per chip). Not read: ``*_intvty`` (its p90 is the
slow tail in one shape and the fast tail in another; its std means nothing), ``*_qps`` (means of buckets). Agentic
itl is a copy of tpot and left out.

Cannot say: whether acceptance was forced, kernel strategy, engine version (but for the image's tag), requests sent
and duration (fixed-length runs), the time (API rows: the day). Evidence is ``published``; a file whose figures are
arithmetic (TTFT and E2E 0, output rate exactly concurrency / TPOT) is ``simulated``.
"""

import json
from collections import Counter, defaultdict
from typing import Any

from bench_site.formats.adapter import Adapter, Signature
from bench_site.formats.build import (
    Draft,
    assemble,
    distribution,
    failed_share,
    image_version,
    model,
    precision_name,
    product,
    share,
)
from bench_site.formats.fields import Fields, Notebook
from bench_site.formats.inferencex_chips import Chips, chips
from bench_site.formats.load import Document
from bench_site.formats.outcome import ReadRun, Refused
from runners.contract.figures import Distribution, Load, Metrics, Point, Power, Rates, Requests, Tokens
from runners.contract.report import MAX_POINTS, Dataset, Engine, Precision, Speculative, Strategy, Workload
from runners.contract.types import MAX_NUMBER
from runners.contract.vocabulary import Evidence, Loop, WorkloadKind

TOOL = "inferencex"
_METRICS = ("ttft", "tpot", "itl", "e2el")
_STATISTICS = ("mean", "p50", "p90", "p95", "p99", "std")


def read(document: Document, records: list[tuple[int, Signature, dict[str, Any]]]) -> tuple[list[ReadRun], list[str]]:
    """One run a configuration, workload, day and CI run; records that differ in the load alone are its points."""
    groups: dict[tuple[str, int, int], list[tuple[int, Draft]]] = defaultdict(list)
    repeats: Counter[tuple[str, str]] = Counter()
    sizes: Counter[tuple[str, int]] = Counter()
    left_out = []
    for row, signature, record in records:
        try:
            draft = _draft(Fields(record, Notebook()), signature.variant)
        except Refused as refused:
            left_out.append(f"record {row + 1}: {refused.refusal.detail}")
            continue
        identity = f"{signature.variant}:{_identity(draft)}"
        # A load that is measured again is another run, and so is what one report cannot hold.
        repeat = repeats[identity, draft.point.load.model_dump_json()]
        repeats[identity, draft.point.load.model_dump_json()] += 1
        groups[identity, repeat, sizes[identity, repeat] // MAX_POINTS].append((row, draft))
        sizes[identity, repeat] += 1
    runs = []
    variants = {row: signature.variant for row, signature, _ in records}
    for group in groups.values():
        rows, drafts = [row for row, _ in group], [draft for _, draft in group]
        try:
            runs.append(
                assemble(document, tool=TOOL, variant=variants[rows[0]], version=None, rows=rows, drafts=drafts)
            )
        except Refused as refused:
            left_out.append(refused.refusal.detail)
    return runs, left_out


def _identity(draft: Draft) -> str:
    parts = {
        name: part.model_dump(mode="json") if hasattr(part, "model_dump") else part
        for name, part in draft.parts.items()
    }
    return json.dumps([parts, draft.source, draft.evidence], sort_keys=True, default=str)


def _draft(fields: Fields, variant: str) -> Draft:
    if fields.raw("workload_family") == "diffusion" or fields.raw("modality") not in (None, "text"):
        raise Refused("refused-file", "The result is of images or another modality: its rates are not tokens.")
    figures = fields.inner("metrics") if variant == "api-row" else fields
    used = chips(fields, figures)
    nested = fields.inner("request_metrics")
    latencies = {name: _latency(nested if nested.values else figures, name) for name in _METRICS}
    if latencies["itl"] and latencies["itl"] == latencies["tpot"]:
        fields.notes.say("every itl figure is a copy of tpot: itl is left out")
        latencies["itl"] = None
    concurrency = fields.size("conc")
    rates = _rates(figures, nested, used)
    point = Point(
        load=Load(concurrency=concurrency),
        duration=figures.positive("duration_seconds") or nested.inner("throughput").positive("duration_seconds"),
        metrics=Metrics(rates=rates, **latencies),
        power=_power(figures, used),
        **_agentic(fields, nested),
    )
    if not any(latencies.values()) and not rates.model_dump(exclude_none=True):
        raise Refused("refused-file", "The result holds no latency and no throughput.")
    point.metrics.rates.requests_per_s = share(point.requests.completed or None, point.duration)
    draft = Draft(point, _source(fields), _parts(fields, used), Evidence.PUBLISHED)
    for message in used.doubts:
        draft.flag("chip-count", message)
    failed_share(draft)
    _calculated(draft, figures)
    _contradiction(draft)
    draft.notes = fields.notes.lines
    return draft


def _latency(figures: Fields, name: str) -> Distribution | None:
    inner = figures.inner("latency").inner(name)
    if inner.values:
        return distribution(inner, {key: (key, "median") if key == "p50" else (key,) for key in _STATISTICS}, scale=1.0)
    keys: dict[str, tuple[str, ...]] = {key: (f"{key}_{name}",) for key in _STATISTICS}
    return distribution(figures, keys | {"p50": (f"p50_{name}", f"median_{name}")}, scale=1.0)


def _rates(figures: Fields, nested: Fields, used: Chips) -> Rates:
    """Whole-system rates: as written where the file has them, else per chip times the chips it was divided by."""
    found: dict[str, float | None] = {}
    for name, key, by in (
        ("total", "tput_per_gpu", used.total),
        ("output", "output_tput_per_gpu", used.output),
        ("input", "input_tput_per_gpu", used.input),
    ):
        whole = figures.positive(f"{name}_tput_tps") or nested.inner("throughput").inner(name).positive(
            "tokens_per_second"
        )
        each = figures.positive(key)
        found[name] = whole or product(each, by)
    if figures.number("input_tput_per_gpu") == 0 and found["total"]:
        figures.notes.say("the total rate is left unknown: the input rate in it was not measured")
        found["total"] = None
    parts, total = (found["output"] or 0) + (found["input"] or 0), found["total"]
    if found["output"] and found["input"] and total and abs(parts / total - 1) > 0.02:
        used.doubts.append(
            f"Output and input rate add up to {parts:,.0f} tokens/s, but the total rate is {total:,.0f}: "
            "the numbers of chips that they were divided by are not what the file says."
        )
    return Rates(**{f"{name}_tokens_per_s": value for name, value in found.items()})


def _power(figures: Fields, used: Chips) -> Power | None:
    """Watts of all chips; the file has the mean of one."""
    prefill, decode = figures.positive("prefill_avg_power_w"), figures.positive("decode_avg_power_w")
    if prefill and decode and used.apart and used.input and used.output:
        watts = prefill * used.input + decode * used.output
        method = "mean watts of a chip x chips, per role"
    else:
        watts = product(figures.positive("avg_power_w"), used.total) or 0
        method = "mean watts of a chip x chips"
    return Power(watts=watts, method=method) if 0 < watts <= MAX_NUMBER else None


def _agentic(fields: Fields, nested: Fields) -> dict[str, Any]:
    """Counts and achieved lengths, which only agentic runs have."""
    sent, completed = fields.count("num_requests_total"), fields.count("num_requests_successful")
    if (errors := fields.inner("request_accounting")).values:
        # The total of this shape counts warm-up requests too, which are no part of the measurement.
        warmup = errors.count("records_warmup_dropped") or 0
        sent = sent - warmup if sent is not None and sent >= warmup else sent
    failed = sent - completed if sent is not None and completed is not None and sent >= completed else None
    lengths = nested.inner("tokens")
    return {
        "requests": Requests(sent=sent, completed=completed, failed=failed),
        "tokens": Tokens(
            input_mean=fields.positive("mean_input_tokens") or lengths.inner("input").positive("mean"),
            output_mean=fields.positive("mean_output_tokens_actual") or lengths.inner("output_actual").positive("mean"),
        ),
    }


def _source(fields: Fields) -> dict[str, Any]:
    url = fields.text("run_url", 2000)
    usable = url and url.startswith(("https://", "http://")) and not any(c.isspace() for c in url)
    return {"name": "SemiAnalysis InferenceX", "url": url if usable else None}


def _parts(fields: Fields, used: Chips) -> dict[str, Any]:
    image = fields.text("image", 2000)
    scenario = fields.text("scenario_type")
    agentic = bool(scenario and scenario.startswith("agentic")) or "request_metrics" in fields
    dataset = fields.inner("dataset").text("name") or scenario
    digest = (image or "").partition("@")[2]
    return {
        "started_at_text": fields.text("date"),
        "system": used.system(),
        "model": model(
            fields.text("model", 1000),
            fields.notes,
            precision=Precision(weights=precision_name(fields.text("precision"))),
        ),
        "engine": Engine(
            name=fields.text("framework"),
            version=image_version(image),
            image=image,
            image_digest=digest if 6 <= len(digest) <= 200 else None,
        ),
        "strategy": Strategy(speculative=_speculative(fields)),
        "workload": Workload(
            kind=WorkloadKind.AGENTIC if agentic else WorkloadKind.SERVING,
            loop=Loop.CLOSED if fields.size("conc") else Loop.UNKNOWN,
            dataset=Dataset(name=dataset),
            input_tokens=fields.size("isl"),
            output_tokens=fields.size("osl"),
        ),
    }


def _speculative(fields: Fields) -> Speculative | None:
    """The method, or "none" where the file says that it was off; whether acceptance was forced it does not say."""
    method = fields.text("spec_decoding") or fields.text("spec_method")
    if method is None and "mtp" in fields:
        method = {"on": "mtp", "true": "mtp", "off": "none", "false": "none"}.get(str(fields.raw("mtp")).lower())
    return Speculative(method=method.lower()) if method else None


def _calculated(draft: Draft, figures: Fields) -> None:
    """Flag figures that are arithmetic: no TTFT and no E2E, and output rate = concurrency / TPOT within 1 %."""
    metrics, concurrency = draft.point.metrics, draft.point.load.concurrency
    tpot = metrics.tpot and (metrics.tpot.p50 or metrics.tpot.mean)
    output = metrics.rates.output_tokens_per_s
    zero = any(figures.number(key) == 0 for key in ("median_ttft", "mean_ttft", "median_e2el", "mean_e2el"))
    if metrics.ttft or metrics.e2el or not (zero and tpot and output and concurrency):
        return
    if abs(output * tpot / concurrency - 1) < 0.01:
        draft.evidence = Evidence.SIMULATED
        draft.flag(
            "calculated",
            "TTFT, E2E and input throughput are 0.0 = not measured, and the output rate is exactly concurrency / TPOT, "
            "so this is a calculated, not a measured, serving result.",
        )


def _contradiction(draft: Draft) -> None:
    """Flag a rate that the requests in flight, their length and their duration make impossible (Little's law)."""
    point = draft.point
    e2el, output = point.metrics.e2el, point.metrics.rates.output_tokens_per_s
    length = point.tokens.output_mean or draft.parts["workload"].output_tokens
    concurrency = point.load.concurrency
    if not (e2el and e2el.mean and output and length and concurrency):
        return
    expected = concurrency * length / e2el.mean
    if not expected / 3 < output < expected * 3:
        draft.flag(
            "contradiction",
            f"The record contradicts itself: {concurrency} requests in flight at {e2el.mean:.1f} s each give about "
            f"{expected:,.0f} output tokens/s, the file says {output:,.0f}.",
        )


ADAPTER = Adapter(
    tool=TOOL,
    title="InferenceX agg_*.json and API rows (JSON)",
    produced_by="an artifact of InferenceX' CI, or GET /api/v1/benchmarks of its site",
    signatures=(
        Signature(
            "agg",
            (("hw",), ("conc",), ("framework",), ("tp", "prefill_tp"), ("tput_per_gpu",)),
            ("hardware", "request_metrics", "model_id"),
        ),
        Signature(
            "agentic",
            (("hw",), ("conc",), ("framework",), ("tp", "prefill_tp"), ("request_metrics.latency",)),
            ("hardware", "tput_per_gpu", "model_id"),
        ),
        Signature(
            "api-row",
            (
                ("hardware",),
                ("framework",),
                ("conc",),
                ("metrics.tput_per_gpu", "metrics.mean_ttft", "metrics.median_ttft"),
            ),
            ("hw", "model_id"),
        ),
    ),
    read=read,
)
