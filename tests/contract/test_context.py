"""What a sender says beside a raw file: options, URL parameters and settings of one spelling."""

import pytest
from pydantic import ValidationError

from runners.contract.context import Context, parse_setting
from runners.contract.vocabulary import PoolRole


@pytest.mark.parametrize(
    ("entry", "steps", "value"),
    [
        ("workload.prefix_cache=false", ["workload", "prefix_cache"], False),
        ("system.pools[0].chips=8", ["system", "pools", 0, "chips"], 8),
        ("points.3.duration=1.5", ["points", 3, "duration"], 1.5),
        ("notes=a=b", ["notes"], "a=b"),
        ("model.name=meta/llama", ["model", "name"], "meta/llama"),
        ("system.topology=", ["system", "topology"], ""),
        ("workload.seed=null", ["workload", "seed"], None),
    ],
)
def test_a_setting_is_a_path_and_a_value(entry, steps, value):
    assert parse_setting(entry) == (steps, value)


@pytest.mark.parametrize("entry", ["", "=1", "prefix_cache", "a..b=1", "a b=1", "a[x]=1", ".a=1", "a[12345]=1"])
def test_what_is_no_setting_says_what_one_looks_like(entry):
    with pytest.raises(ValueError, match=r"e\.g\.|such as"):
        parse_setting(entry)


def test_a_context_says_only_what_was_given():
    context = Context(chip="h200", chips=8, tag=["a", "b"], set=["workload.seed=1"])
    assert context.as_query() == [
        ("chip", "h200"),
        ("chips", "8"),
        ("tag", "a"),
        ("tag", "b"),
        ("set", "workload.seed=1"),
    ]
    assert Context().as_query() == []


def test_pools_are_taken_apart():
    context = Context(pool=["prefill:h200:16", "decode:ascend-910c:32"])
    assert [(pool.role, pool.chip, pool.chips) for pool in context.pools()] == [
        (PoolRole.PREFILL, "h200", 16),
        (PoolRole.DECODE, "ascend-910c", 32),
    ]


@pytest.mark.parametrize("pool", ["h200:8", "all:h200", "all:h200:0", "all:h200:x", "ALL:h200:8", "all::8"])
def test_a_pool_is_role_chip_chips(pool):
    with pytest.raises(ValidationError):
        Context(pool=[pool])


@pytest.mark.parametrize(
    "words",
    [
        {"chips": 0},
        {"chips": 2**63},
        {"strategy": "fused"},
        {"source_url": "file:///etc/passwd"},
        {"tag": ["\x00"]},
        {"machine": ""},
        {"colour": "red"},
    ],
)
def test_bad_words_are_refused(words):
    with pytest.raises(ValidationError):
        Context(**words)
