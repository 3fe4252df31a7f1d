"""What is the same configuration, workload, series, group and curve, and what is not."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_site.runs.identity import (
    alias_resolver,
    canonical,
    configuration_identity,
    group_keys,
    group_parts,
    key_of,
    load_identity,
    origin_of,
    series_identity,
    workload_identity,
)
from bench_site.runs.models.catalogue import slug_of
from runners.contract import Report
from runners.contract.figures import Load
from runners.contract.ids import new_run_id

ALIASES = {"h200": "h200sxm", "nvidiah200": "h200sxm"}


def report(**changes: Any) -> Report:
    """A small serving report; ``changes`` replace whole top-level parts."""
    base: dict[str, Any] = {
        "id": str(new_run_id()),
        "system": {
            "machine": "rack-7",
            "pools": [
                {"role": "prefill", "chip": "H200 SXM", "chips": 8, "parallelism": {"tp": 8}},
                {"role": "decode", "chip": "H200", "chips": 16, "parallelism": {"tp": 8, "dp": 2}},
            ],
        },
        "model": {"name": "Kimi-K2.5", "precision": {"weights": "INT4"}},
        "engine": {"name": "vLLM", "version": "0.21.0"},
        "strategy": {"kernel": "graph_capture", "speculative": {"method": "MTP", "draft_tokens": 3}},
        "workload": {"kind": "serving", "loop": "closed", "input_tokens": 1024, "output_tokens": 1024},
        "points": [{"load": {"concurrency": 4}}],
    }
    return Report.model_validate_json(json.dumps({**base, **changes}), strict=True)


def configuration_key(given: Report) -> str:
    resolve = alias_resolver(ALIASES)
    return key_of("configuration", configuration_identity(given, resolve, resolve))


def test_the_order_of_pools_and_the_spelling_of_names_do_not_matter() -> None:
    one = report()
    pools = [p.model_dump(mode="json", exclude_none=True) for p in reversed(one.system.pools)]
    pools[0]["chip"] = "nvidia h200"
    other = report(
        system={"machine": "elsewhere", "pools": pools},
        engine={"name": "VLLM", "version": "0.22.0"},
        model={"name": "kimi_k2.5", "precision": {"weights": "int4"}},
    )
    assert configuration_key(one) == configuration_key(other)


def test_pools_that_tie_in_role_chip_and_size_are_not_ordered_by_spelling() -> None:
    def pools(first: str, second: str) -> Report:
        return report(
            system={
                "pools": [
                    {"chip": first, "chips": 8, "parallelism": {"tp": 8}},
                    {"chip": second, "chips": 8, "parallelism": {"tp": 4}},
                ]
            }
        )

    assert configuration_key(pools("H200", "nvidia h200")) == configuration_key(pools("nvidia h200", "H200"))


@pytest.mark.parametrize(
    "changes",
    [
        {"engine": {"name": "sglang"}},
        {"model": {"name": "Kimi-K2"}},
        {"strategy": {"kernel": "megakernel", "speculative": {"method": "MTP", "draft_tokens": 3}}},
        {"strategy": {"kernel": "graph_capture", "speculative": {"method": "none"}}},
        {"strategy": {"kernel": "graph_capture"}},
        {"strategy": {"kernel": "graph_capture", "speculative": {"method": "MTP", "draft_tokens": 4}}},
        {
            "strategy": {
                "kernel": "graph_capture",
                "speculative": {"method": "MTP", "draft_tokens": 3, "acceptance_source": "synthetic"},
            }
        },
        {"system": {"pools": [{"chip": "H200", "chips": 8}]}},
    ],
)
def test_what_makes_another_configuration(changes: dict[str, Any]) -> None:
    assert configuration_key(report()) != configuration_key(report(**changes))


def test_an_engine_has_one_spelling() -> None:
    assert configuration_key(report(engine={"name": "SGL"})) == configuration_key(report(engine={"name": "sglang"}))
    assert configuration_key(report(engine={"name": "trt"})) == configuration_key(
        report(engine={"name": "TensorRT-LLM"})
    )


def test_speculation_off_and_unknown_are_two_things() -> None:
    off = report(strategy={"kernel": "unknown", "speculative": {"method": "None"}})
    unknown = report(strategy={"kernel": "unknown"})
    assert configuration_key(off) != configuration_key(unknown)


def test_the_engine_version_bounds_a_group_and_not_a_series() -> None:
    old, new = report(), report(engine={"name": "vllm", "version": "0.22.0"})
    series = series_identity("c", "w", Load(concurrency=4), "measured", "machine:rack-7")
    assert group_keys(series, group_parts(old))[0] != group_keys(series, group_parts(new))[0]


def test_a_curve_is_the_groups_that_differ_in_the_load_alone() -> None:
    parts = group_parts(report())

    def curve(load: Load, evidence: str = "measured") -> str:
        return group_keys(series_identity("c", "w", load, evidence, "machine:rack-7"), parts)[1]

    assert curve(Load(concurrency=4)) == curve(Load(concurrency=64))
    assert curve(Load(concurrency=4)) != curve(Load(batch_size=4))
    assert curve(Load(concurrency=4)) != curve(Load(concurrency=4, context_tokens=8192))
    assert curve(Load(concurrency=4)) != curve(Load(concurrency=4), evidence="published")


def test_the_harness_version_bounds_groups_of_the_harness_only() -> None:
    assert group_parts(report(source={"tool": "vllm-bench-serve", "version": "1"}))["harness_version"] == ""
    assert group_parts(report(source={"tool": "fuseboard-harness", "version": "1"}))["harness_version"] == "1"


def test_two_unnamed_machines_of_two_people_are_two_origins() -> None:
    nameless = report(system={"pools": []})
    assert origin_of(nameless, "ada") != origin_of(nameless, "lin")
    assert origin_of(report(), "ada") == origin_of(report(), "lin")


def test_load_kinds() -> None:
    assert load_identity(Load(concurrency=4)) == ("concurrency", 4.0)
    assert load_identity(Load(request_rate=0.5)) == ("request_rate", 0.5)
    assert load_identity(Load(unlimited=True)) == ("unlimited", None)
    assert load_identity(Load(batch_size=1)) == ("batch_size", 1.0)
    assert load_identity(Load()) == ("unknown", None)


def test_workload_takes_the_digest_of_a_dataset_before_its_name() -> None:
    named = report(workload={"dataset": {"name": "ShareGPT"}})
    digested = report(workload={"dataset": {"name": "ShareGPT", "digest": "sha256:abcdef"}})
    assert workload_identity(named)["dataset"] == "sharegpt"
    assert workload_identity(digested)["dataset"] == "sha256:abcdef"


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), values, max_size=6))
def test_a_key_depends_on_the_content_alone(identity: dict[str, Any]) -> None:
    reordered = dict(reversed(list(identity.items())))
    with_nulls = {**reordered, "absent": None}
    assert key_of("x", identity) == key_of("x", reordered)
    if "absent" not in identity:
        assert key_of("x", identity) == key_of("x", with_nulls)
    assert key_of("x", identity) != key_of("y", identity)


@given(st.integers(-(2**53), 2**53))
def test_a_whole_float_is_the_integer(number: int) -> None:
    assert key_of("x", {"n": number}) == key_of("x", {"n": float(number)})
    assert type(canonical(float(number))) is int


@given(st.text(min_size=1))
def test_a_slug_is_stable_and_short(name: str) -> None:
    assert slug_of(slug_of(name)) == slug_of(name)
    assert len(slug_of(name)) <= 200


def test_slugs() -> None:
    assert slug_of("H200 SXM") == "h200sxm"
    assert slug_of("Ａｓｃｅｎｄ　910C") == "ascend910c"
    assert slug_of("元脑 SD200 Ultra") == "元脑sd200ultra"
    assert slug_of("???") == "???"
