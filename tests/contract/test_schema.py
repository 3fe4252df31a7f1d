"""The committed JSON Schema is the models' own, and is a valid schema."""

import json

import pytest
from jsonschema import Draft202012Validator

from runners.contract.schema import COMMITTED, DIALECT, EXAMPLES, report_schema, schema_text


def test_the_committed_file_is_what_the_models_say():
    assert COMMITTED.read_text(encoding="utf-8") == schema_text(), (
        "runners/contract/report.schema.json is out of date: run `python -m runners.contract.schema` and commit it"
    )


def test_it_is_json_schema_2020_12_with_a_name():
    schema = report_schema()
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == DIALECT
    assert schema["$id"]
    assert "v1" in schema["title"]


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.json")), ids=lambda path: path.stem)
def test_examples_follow_it(example):
    Draft202012Validator(report_schema()).validate(json.loads(example.read_text(encoding="utf-8")))


def test_it_refuses_what_has_no_name_in_the_contract():
    report = json.loads((EXAMPLES / "harness_rung.json").read_text(encoding="utf-8"))
    report["points"][0]["metrics"]["latency"] = 1
    assert not Draft202012Validator(report_schema()).is_valid(report)
