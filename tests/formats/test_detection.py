"""A file is known by what is in it; two formats never claim one record."""

import json
import random

import pytest

from bench_site.formats import read, supported
from bench_site.formats.registry import ADAPTERS, matches
from tests.formats.shapes import agg, as_bytes, every_shape, sglang, vllm


@pytest.mark.parametrize("name", every_shape())
def test_every_shape_is_claimed_by_one_signature_alone(name: str) -> None:
    tool, record = every_shape()[name]
    claims = [(a.tool, s.variant) for a in ADAPTERS for s in a.signatures if matches(s, record)]
    assert len(claims) == 1, claims
    reading = read(as_bytes(record))
    assert reading.tool == claims[0][0] == tool
    assert reading.format and claims[0][1] in reading.format
    assert reading.why and reading.why.startswith("it has ")


def test_the_order_of_keys_means_nothing() -> None:
    keys = list(vllm().items())
    random.Random(3).shuffle(keys)
    assert read(as_bytes(dict(keys))).runs[0].report.points == read(as_bytes(vllm())).runs[0].report.points


def test_sglangs_client_against_vllm_is_sglangs_file_and_a_vllm_copy_with_input_throughput_is_vllms() -> None:
    assert read(as_bytes(sglang(backend="vllm"))).tool == "sglang-bench-serving"
    assert read(as_bytes(vllm(input_throughput=500.0))).tool == "vllm-bench-serve"


def test_user_metadata_named_like_another_tools_keys_does_not_mislead() -> None:
    record = vllm(hw="none", tp="1", conc="4", framework="sgl")
    assert read(as_bytes(record)).tool == "vllm-bench-serve"


def test_an_unknown_file_lists_what_is_supported_and_the_nearest() -> None:
    reading = read(as_bytes({"backend": "x", "completed": 3, "input_throughput": 4.0}))
    assert reading.refusal is not None and reading.refusal.code == "unknown-format"
    assert reading.refusal.supported == supported()
    nearest = reading.refusal.nearest
    assert nearest is not None and nearest.tool.startswith("SGLang")
    assert nearest.matched == ("backend", "input_throughput", "completed")
    assert nearest.missing == ("server_info or total_throughput",)
    for title in supported():
        assert title in reading.refusal.detail


def test_records_of_two_tools_in_one_file_are_refused() -> None:
    reading = read(as_bytes(vllm(), agg()))
    assert reading.refusal is not None and "mixes records" in reading.refusal.detail


def test_a_strange_record_among_known_ones_is_told() -> None:
    reading = read(as_bytes(vllm(), {"other": 1}, vllm(max_concurrency=8)))
    assert [run.record for run in reading.runs] == [0, 2]
    assert reading.verdict == "flag" and "1 records of the file are not results" in reading.reasons[0]


def test_an_array_of_rows_is_read_like_lines() -> None:
    rows = [vllm(), vllm(max_concurrency=8)]
    from_array, from_lines = read(json.dumps(rows).encode()), read(as_bytes(*rows))
    assert [p for _, p in from_array.points()] == [p for _, p in from_lines.points()]


def test_run_ids_come_from_the_bytes_and_the_record() -> None:
    data = as_bytes(vllm(), vllm(max_concurrency=8))
    ids = [run.report.id for run in read(data).runs]
    assert len(set(ids)) == 2 and ids == [run.report.id for run in read(data).runs]
    assert ids != [run.report.id for run in read(data + b"\n").runs]
    assert ids == [run.report.id for run in read(data + b"\n", sha256=read(data).sha256).runs]
