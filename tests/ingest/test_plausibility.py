"""Each rule of plausibility: one report that it must find, one close by that it must leave alone."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from bench_site.ingest.plausibility import findings_of, worst
from bench_site.runs.models.words import Plausibility
from runners.contract import Report
from runners.contract.schema import EXAMPLES
from tests.ingest.making import document, point

NOW = datetime(2026, 12, 1, tzinfo=UTC)
H200 = 4.8e12


def said(**changes: Any) -> list[tuple[str, str, str]]:
    """(rule, verdict, message) of each finding about a good report with ``changes``."""
    report = Report.model_validate_json(json.dumps(document(**changes)), strict=True)
    found = findings_of(report, bandwidth={"h200": H200}.get, now=NOW)
    return [(f.rule, f.verdict, f.message) for f in found]


def with_metric(name: str, **values: float) -> dict[str, Any]:
    made = point()
    made["metrics"][name] = {**made["metrics"].get(name, {}), **values}
    return made


def decode(tpot: float, *, bytes_per_token: float, strategy: dict | None = None, **pool: Any) -> dict[str, Any]:
    kernel = {"bytes_per_token": bytes_per_token}
    return {
        "points": [{"load": {"batch_size": 1}, "metrics": {"tpot": {"p50": tpot}}, "kernel": kernel}],
        "system": {"pools": [{"role": "all", "chip": "h200", "chips": 8, **pool}]},
        "strategy": strategy or {"speculative": {"method": "none"}},
    }  # fmt: skip


def test_a_good_report_has_no_findings() -> None:
    assert said() == []


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json")), ids=lambda path: path.stem)
def test_the_contracts_examples_have_none_that_quarantine(path) -> None:
    report = Report.model_validate_json(path.read_bytes(), strict=True)
    assert worst(findings_of(report, bandwidth={"h200": H200}.get, now=NOW)) is not Plausibility.QUARANTINE


# 138 GB a step over 8 chips x 4.8 TB/s = 3.594 ms.
FASTER = [
    ("as fast as memory", decode(0.0036, bytes_per_token=138e9), False),
    ("faster than memory", decode(0.0035, bytes_per_token=138e9), True),
    ("bytes unknown", decode(0.0001, bytes_per_token=0.0), False),
    ("chips unknown", decode(0.0035, bytes_per_token=138e9, chips=None), False),
    ("chip unknown to the catalogue", decode(0.0001, bytes_per_token=138e9, chip="b999"), False),
    ("speculation unknown", decode(0.0035, bytes_per_token=138e9, strategy={"kernel": "megakernel"}), False),
    ("two tokens a step: possible", decode(0.0018, bytes_per_token=138e9, strategy={
        "speculative": {"method": "mtp", "acceptance_length": 2.0}}), False),
    ("two tokens a step: too fast", decode(0.0017, bytes_per_token=138e9, strategy={
        "speculative": {"method": "mtp", "acceptance_length": 2.0}}), True),
    ("acceptance unknown", decode(0.0001, bytes_per_token=138e9, strategy={"speculative": {"method": "mtp"}}), False),
    # Two replicas of 4 chips: each needs 7.19 ms.
    ("two replicas, too fast for four chips", decode(0.0060, bytes_per_token=138e9, parallelism={"dp": 2}), True),
    ("two replicas, slow enough", decode(0.0073, bytes_per_token=138e9, parallelism={"dp": 2}), False),
    ("data-parallel attention has one copy", decode(
        0.0060, bytes_per_token=138e9, parallelism={"dp": 2, "dp_attention": True}), False),
    ("small enough for the chips' own caches", decode(0.0001, bytes_per_token=3e9), False),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "found"), [row[1:] for row in FASTER], ids=[row[0] for row in FASTER])
def test_faster_than_memory(changes: dict[str, Any], found: bool) -> None:
    answer = said(**changes)
    assert [row[:2] for row in answer] == ([("faster-than-memory", "quarantine")] if found else [])


def test_faster_than_memory_shows_its_arithmetic() -> None:
    ((_, _, message),) = said(**decode(0.0035, bytes_per_token=138e9))
    assert message == (
        "TPOT 3.5 ms x 1 tokens a step = 3.5 ms a step, but memory needs 3.594 ms: "
        "138 GB (kernel.bytes_per_token) at 38,400 GB/s of all chips"
    )


def test_bytes_follow_from_the_active_parameters() -> None:
    changes = decode(0.001, bytes_per_token=0.0)
    model = {"name": "x", "precision": {"weights": "BF16"}, "parameters_active": 100_000_000_000}
    ((rule, _, message),) = said(**changes, model=model)
    assert rule == "faster-than-memory" and "80% of 100,000,000,000 active parameters x 2 bytes" in message


def test_an_achieved_bandwidth_beyond_the_chips() -> None:
    kernel = {"achieved_bandwidth": 45e12}
    assert said(points=[point(kernel=kernel)])[0][0] == "faster-than-memory"
    assert said(points=[point(kernel={"achieved_bandwidth": 38e12})]) == []


def test_rates_that_do_not_add_up() -> None:
    made = point()
    made["metrics"]["rates"]["total_tokens_per_s"] *= 1.019
    assert said(points=[made]) == []
    made["metrics"]["rates"]["total_tokens_per_s"] *= 1.01
    assert said(points=[made])[0][:2] == ("rates-disagree", "quarantine")


def test_more_requests_in_flight_than_the_concurrency() -> None:
    made = point(8)
    made["metrics"]["rates"]["requests_per_s"] = 8 * 1.04 / 10.4
    assert said(points=[made]) == []
    made["metrics"]["rates"]["requests_per_s"] = 8 * 1.06 / 10.4
    ((rule, verdict, message),) = said(points=[made])
    assert (rule, verdict) == ("more-than-concurrency", "quarantine") and "= 8.48 requests in flight" in message


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"p90": 0.4}, True), ({"min": 0.161, "p50": 0.16}, True), ({"max": 0.29}, True), ({"min": 0.18}, True),
        ({"mean": 0.5, "max": 0.4}, True), ({"min": 0.1605}, False), ({"p50": 0.2}, False), ({"max": 0.3}, False),
        ({"mean": 0.35}, False),
    ],
)  # fmt: skip
def test_percentiles_out_of_order(values: dict[str, float], found: bool) -> None:
    rules = [row[:2] for row in said(points=[with_metric("ttft", **values)])]
    assert rules == ([("percentiles-out-of-order", "quarantine")] if found else [])


def test_a_time_in_the_future() -> None:
    assert said(started_at="2026-12-01T00:09:00+00:00") == []
    ((rule, verdict, message),) = said(started_at="2026-12-03T12:00:00+00:00")
    assert (rule, verdict) == ("future-time", "quarantine") and "60" not in message.split("(")[0] and "days" in message


def test_the_output_length_matters_in_fixed_length_workloads_only() -> None:
    made = point(tokens={"output_mean": 900.0})
    asked = {"kind": "serving", "output_tokens": 1024}
    assert said(points=[made], workload=asked) == []
    assert said(points=[made], workload={**asked, "fixed_length": False}) == []
    ((rule, verdict, message),) = said(points=[made], workload={**asked, "fixed_length": True})
    assert (rule, verdict) == ("output-length", "flag") and "-12.1%" in message
    near = point(tokens={"output_mean": 930.0})
    assert said(points=[near], workload={**asked, "fixed_length": True}) == []


@pytest.mark.parametrize(
    ("requests", "found"),
    [
        ({"sent": 800, "completed": 792, "failed": 8}, False), ({"sent": 800, "completed": 790, "failed": 10}, True),
        ({"sent": 800, "completed": 780}, True), ({"sent": 800, "completed": 800}, False),
        ({"completed": 780, "failed": 20}, True), ({"completed": 780}, False), ({}, False),
    ],
)  # fmt: skip
def test_errors_beyond_one_percent(requests: dict[str, int], found: bool) -> None:
    assert [row[:2] for row in said(points=[point(requests=requests)])] == ([("errors", "flag")] if found else [])


def test_fewer_requests_than_five_times_the_concurrency() -> None:
    assert said(points=[point(8, requests={"completed": 40})]) == []
    assert said(points=[point(8, requests={"completed": 39})])[0][:2] == ("few-requests", "flag")


def test_a_concurrency_that_was_not_reached() -> None:
    assert said(points=[point(8, concurrency_measured=6.5)]) == []
    assert said(points=[point(8, concurrency_measured=6.3)])[0][:2] == ("concurrency-not-reached", "flag")


def test_rows_that_give_other_statistics() -> None:
    rows = [0.15 + i * 0.0005 for i in range(40)]
    assert said(points=[point(samples={"ttft": rows})]) == []
    slower = [2 * value for value in rows]
    ((rule, verdict, message),) = said(points=[point(samples={"ttft": slower})])
    assert (rule, verdict) == ("recomputed-differs", "flag") and "its 40 rows give" in message
    failed = [True] * 40
    assert said(points=[point(samples={"ttft": slower, "failed": failed})]) == [], "failed requests have no latency"


def test_the_worst_of_a_run_and_of_a_point() -> None:
    wrong, doubtful = with_metric("ttft", p90=0.4), point(8, concurrency_measured=1.0)
    report = Report.model_validate_json(json.dumps(document(points=[point(), doubtful, wrong])), strict=True)
    found = findings_of(report, bandwidth=lambda name: None, now=NOW)
    assert worst(found) is Plausibility.QUARANTINE
    assert [worst(found, i).value for i in range(3)] == ["accept", "flag", "quarantine"]
