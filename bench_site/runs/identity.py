"""The identity of a configuration, workload, series, replicate group and curve, and the key of each.

A key is the sha256 over canonical JSON: keys sorted, absent = null, aliases resolved, 4 = 4.0. Changing what enters an
identity changes every key: it needs a decision and the re-key command.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from bench_site.runs.models.catalogue import slug_of
from bench_site.runs.models.words import LoadKind
from runners.contract import Report
from runners.contract.figures import Load
from runners.contract.report import Pool
from runners.contract.vocabulary import AcceptanceSource, PoolRole

Identity = dict[str, Any]
Resolve = Callable[[str], str]

#: Reports of this tool carry the harness's version, which bounds a replicate group.
HARNESS_TOOL = "fuseboard-harness"


def canonical(value: Any) -> Any:
    """``value`` without nulls and empty containers, whole floats as integers, text in lower case where compared."""
    if isinstance(value, Mapping):
        items = {str(k): canonical(v) for k, v in value.items()}
        return {k: v for k, v in sorted(items.items()) if v is not None and v != {} and v != []}
    if isinstance(value, list | tuple):
        return [canonical(v) for v in value]
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return int(value)
    return value


def key_of(kind: str, identity: Identity) -> str:
    """The sha256 in hex of ``identity``; ``kind`` keeps the keys of two levels apart."""
    text = json.dumps([kind, canonical(identity)], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def configuration_identity(report: Report, chip: Resolve, model: Resolve) -> Identity:
    """Pools, engine name, model, precisions, kernel strategy, speculative regime.

    ``chip`` and ``model`` map a name as written to the slug of the catalogue entry it stands for.
    """
    speculative = report.strategy.speculative
    precision = report.model.precision
    on = speculative is not None and speculative.method.casefold() != "none"
    return {
        "pools": [_pool(pool, chip) for pool in sorted_pools(report.system.pools, chip)],
        "engine": engine_word(report.engine.name),
        "model": model(report.model.name) if report.model.name else None,
        "precision": word(precision.weights),
        "precision_kv_cache": word(precision.kv_cache),
        "precision_activations": word(precision.activations),
        "kernel": report.strategy.kernel.value,
        "speculative": word(speculative.method) if speculative else None,
        "draft": word(speculative.draft) if speculative and on else None,
        "draft_tokens": speculative.draft_tokens if speculative and on else None,
        "acceptance_source": (
            speculative.acceptance_source.value
            if speculative and on and speculative.acceptance_source is not AcceptanceSource.UNKNOWN
            else None
        ),
    }


#: Other spellings of engines in the tools' files; an engine is one name, so no table and no mapping by hand.
ENGINES = {
    "sgl": "sglang",
    "trt": "tensorrt-llm",
    "trtllm": "tensorrt-llm",
    "trt-llm": "tensorrt-llm",
    "tensorrt_llm": "tensorrt-llm",
    "huawei-mindie": "mindie",
}


def engine_word(name: str | None) -> str | None:
    """An engine's name as it is compared: lower case, one spelling; None stays None."""
    lower = word(name)
    return ENGINES.get(lower, lower) if lower else None


def word(text: str | None) -> str | None:
    """A name as it is compared: trimmed, lower case; None stays None."""
    return text.strip().casefold() if text else None


def sorted_pools(pools: list[Pool], chip: Resolve) -> list[Pool]:
    """Pools in the order of their roles, then chip and size: the order in a report does not matter."""
    order = list(PoolRole)
    return sorted(pools, key=lambda pool: (order.index(pool.role), *_pool_order(pool, chip)))


def _pool_order(pool: Pool, chip: Resolve) -> tuple[str, int, str]:
    """By resolved chip, then size, then everything else: never by the chip's name as written."""
    resolved = chip(pool.chip) if pool.chip else ""
    return resolved, pool.chips or 0, pool.model_copy(update={"chip": resolved or None}).model_dump_json()


def _pool(pool: Pool, chip: Resolve) -> Identity:
    return {
        "role": pool.role.value,
        "chip": chip(pool.chip) if pool.chip else None,
        "chips": pool.chips,
        "nodes": pool.nodes,
        "workers": pool.workers,
        "parallelism": pool.parallelism.model_dump(exclude_none=True),
    }


def workload_identity(report: Report) -> Identity:
    """Kind, loop, dataset (its digest, else its name), asked lengths, prefix cache, rate cap."""
    workload = report.workload
    return {
        "kind": workload.kind.value,
        "loop": workload.loop.value,
        "dataset": workload.dataset.digest or word(workload.dataset.name),
        "input_tokens": workload.input_tokens,
        "output_tokens": workload.output_tokens,
        "prefix_cache": workload.prefix_cache,
        "request_rate_cap": workload.request_rate_cap,
    }


def load_identity(load: Load) -> tuple[LoadKind, float | None]:
    """Which figure drove the system and its value (requests/s for a rate; NULL for unlimited and unknown)."""
    if load.concurrency is not None:
        return LoadKind.CONCURRENCY, float(load.concurrency)
    if load.request_rate is not None:
        return LoadKind.REQUEST_RATE, load.request_rate
    if load.batch_size is not None:
        return LoadKind.BATCH_SIZE, float(load.batch_size)
    return (LoadKind.UNLIMITED if load.unlimited else LoadKind.UNKNOWN), None


def origin_of(report: Report, uploader: str) -> str:
    """Whose machine or publication a series belongs to, at most 300 characters.

    The machine where one is named; else the source; else the uploader, so that the runs of two people on two unnamed
    machines are never taken for replicates of each other.
    """
    named = report.system.machine or report.source.name or report.source.url
    return (f"machine:{named}" if report.system.machine else named or f"uploaded by {uploader}")[:300]


def series_identity(configuration: str, workload: str, load: Load, evidence: str, origin: str) -> Identity:
    """Configuration and workload (their keys) x load (kind, value, context) x evidence x origin."""
    kind, value = load_identity(load)
    return {
        "configuration": configuration,
        "workload": workload,
        "load_kind": kind.value,
        "load_value": value,
        "context_tokens": load.context_tokens,
        "evidence": evidence,
        "origin": origin,
    }


def group_parts(report: Report) -> dict[str, str]:
    """What bounds a replicate group inside a series; "" where unknown."""
    harness = report.source.tool == HARNESS_TOOL
    return {
        "engine_version": report.engine.version or "",
        "image_digest": report.engine.image_digest or report.engine.image or "",
        "harness_version": (report.source.version or "") if harness else "",
        "weights_digest": report.model.weights_digest or "",
    }


def group_keys(series: Identity, parts: Mapping[str, str]) -> tuple[str, str]:
    """The keys of the replicate group and of the curve: the same group without the load's value."""
    group = {"series": series, **{k: v or None for k, v in parts.items()}}
    curve = {**group, "series": {k: v for k, v in series.items() if k != "load_value"}}
    return key_of("group", group), key_of("curve", curve)


def alias_resolver(table: Mapping[str, str]) -> Resolve:
    """A resolver from a mapping of alias slug to canonical slug; an unknown name stands for itself."""

    def resolve(name: str) -> str:
        slug = slug_of(name)
        return table.get(slug, slug)

    return resolve
