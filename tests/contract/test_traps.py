"""What the contract refuses, and that the refusal names the place and what would be right."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from runners.contract import Report
from runners.contract.schema import EXAMPLES

BASE = {
    "schema_version": "1",
    "id": "01930000-0000-7000-8000-00000000000a",
    "points": [{"load": {"concurrency": 1}, "metrics": {"rates": {"output_tokens_per_s": 10.0}}}],
}


def placed(steps: list[str], value: Any, under: Any = None) -> Any:
    """``under`` with ``value`` at the path ``steps``; missing objects and lists are made."""
    if not steps:
        return value
    step, *rest = steps
    if step.isdigit():
        items = list(under or [])
        return [*items[: int(step)], placed(rest, value, (items[int(step) :] or [None])[0]), *items[int(step) + 1 :]]
    return {**(under or {}), step: placed(rest, value, (under or {}).get(step))}


def report_with(path: str, value: Any) -> str:
    """BASE with ``value`` at a dotted ``path``, as JSON (NaN and Infinity written as Python writes them)."""
    return json.dumps(placed(path.split("."), value, BASE))


def refusal(text: str) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        Report.model_validate_json(text)
    return [(".".join(map(str, error["loc"])), error["msg"]) for error in caught.value.errors()]


def test_the_base_is_accepted():
    Report.model_validate_json(json.dumps(BASE))


OUTPUT = "points.0.metrics.rates.output_tokens_per_s"


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (OUTPUT, float("nan"), "finite number"),
        (OUTPUT, float("inf"), "finite number"),
        (OUTPUT, float("-inf"), "finite number"),
        (OUTPUT, 1e308, "less than or equal to 1000000000000000000"),
        (OUTPUT, -1.0, "greater than or equal to 0"),
        (OUTPUT, "fast", "valid number"),
        ("points.0.requests.sent", 2**63, "less than or equal to 9223372036854775807"),
        ("points.0.requests.sent", 10**400, "less than or equal to 9223372036854775807"),
        ("points.0.requests.sent", -1, "greater than or equal to 0"),
        ("points.0.requests.sent", 1.5, "integer"),
        ("points.0.load.concurrency", 0, "greater than or equal to 1"),
        ("points.0.metrics.tpot.p50", float("nan"), "finite number"),
        ("points.0.metrics.tpot.p50", -0.001, "greater than or equal to 0"),
        ("workload.seed", 2**63, "less than or equal to 9223372036854775807"),
        ("system.pools.0.chips", 0, "greater than or equal to 1"),
        ("notes", "a\x00b", "NUL"),
        ("notes", "", "at least 1 character"),
        ("notes", "x" * 20_001, "at most 20000 characters"),
        ("tags.0", "x" * 201, "at most 200 characters"),
        ("strategy.kernel", "fused", "'op_by_op', 'graph_capture', 'super_operator', 'megakernel' or 'unknown'"),
        ("evidence", "guessed", "'measured', 'published', 'claimed', 'simulated' or 'mock'"),
        ("latency", 1, "not permitted"),
        ("points.0.metrics.latency", 1, "not permitted"),
        ("points.0.metrics.ttft.p999", 1, "not permitted"),
        ("source.url", "javascript:alert(1)", "match pattern"),
        ("price.amount_per_hour", "NaN", "finite number"),
        ("schema_version", "2", "'1'"),
        ("id", "01930000-0000-4000-8000-00000000000a", "send a UUIDv7"),
        ("id", "not-a-uuid", "valid UUID"),
        ("started_at", "2026-10-01T10:00:00", "timezone"),
    ],
)
def test_a_bad_value_is_refused_at_its_path(path, value, says):
    problems = refusal(report_with(path, value))
    assert any(where == path and says in message for where, message in problems), problems


def test_every_bad_field_is_named_at_once():
    report = json.loads(json.dumps(BASE))
    report["points"][0]["metrics"]["rates"]["output_tokens_per_s"] = -1
    report["points"][0]["requests"] = {"sent": 2**64}
    report["colour"] = "red"
    paths = {path for path, _ in refusal(json.dumps(report))}
    assert paths == {OUTPUT, "points.0.requests.sent", "colour"}


@pytest.mark.parametrize("text", ['"\\ud800"', '"a\\udfffb"'])
def test_a_lone_surrogate_in_json_is_refused(text):
    [(_, message)] = refusal(json.dumps(BASE)[:-1] + f', "notes": {text}}}')
    assert "Invalid JSON" in message


def test_a_lone_surrogate_in_a_python_object_is_refused():
    with pytest.raises(ValidationError) as caught:
        Report.model_validate({**BASE, "notes": "a\ud800b"})
    [error] = caught.value.errors()
    assert error["loc"] == ("notes",)
    assert "Unicode" in error["msg"] or "unicode" in error["msg"] or "valid string" in error["msg"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"points": []}, "send at least one"),
        ({"error": {"message": "out of memory"}}, 'set status to "failed" or drop the error'),
        ({"status": "failed", "points": []}, "say why in error.message"),
        ({"status": "failed", "error": {"message": "x"}}, "carry load and counts only"),
        ({"evidence": "published"}, "give source.url or source.name"),
        (
            {"started_at": "2026-10-02T00:00:00Z", "finished_at": "2026-10-01T00:00:00Z"},
            "finished_at before started_at",
        ),
    ],
)
def test_a_report_that_contradicts_itself_is_refused(changes, says):
    problems = refusal(json.dumps({**BASE, **changes}))
    assert any(says in message for _, message in problems), problems


@pytest.mark.parametrize(
    ("load", "says"),
    [
        ({"concurrency": 4, "request_rate": 1.0}, "concurrency and request_rate"),
        ({"batch_size": 4, "unlimited": True}, "give the one that limited the load"),
    ],
)
def test_a_load_is_one_kind(load, says):
    [(path, message)] = refusal(report_with("points.0.load", load))
    assert path == "points.0.load"
    assert says in message


@pytest.mark.parametrize(
    ("part", "columns"),
    [
        ("samples", {"ttft": [0.1, 0.2], "e2el": [1.0]}),
        ("rounds", {"index": [0, 1], "seconds_per_token": [0.1]}),
        ("rounds", {"index": [0], "seconds_per_token": [0.1], "rejected": [True, False]}),
    ],
)
def test_columns_have_one_length(part, columns):
    [(path, message)] = refusal(report_with(f"points.0.{part}", columns))
    assert path == f"points.0.{part}"
    assert "different lengths" in message
    assert "one entry a row" in message


def test_a_failed_run_may_say_what_it_tried():
    report = {
        **BASE,
        "status": "failed",
        "error": {"message": "out of memory", "kind": "oom"},
        "points": [{"load": {"concurrency": 64}, "requests": {"sent": 640, "failed": 640}}],
    }
    assert Report.model_validate_json(json.dumps(report)).points[0].load.concurrency == 64


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "1", '"report"', "{}", "\ufeff{}"])
def test_what_is_no_report_is_refused(text):
    assert refusal(text)


@pytest.mark.parametrize("name", ["serving_sweep", "disaggregated", "harness_rung"])
def test_no_truncation_of_an_example_is_accepted(name):
    text = (EXAMPLES / f"{name}.json").read_text(encoding="utf-8").rstrip()
    for cut in range(0, len(text) - 1, max(1, len(text) // 200)):
        with pytest.raises(ValidationError):
            Report.model_validate_json(text[:cut])
