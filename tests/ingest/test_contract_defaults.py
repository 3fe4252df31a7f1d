"""A report's digest leaves nulls out, so a new field of the contract must be null where it is absent."""

from typing import get_args

from pydantic import BaseModel

from runners.contract import Report

#: Fields that had another default when the first report was stored. This list never grows.
FIRST_VERSION = {
    "Dataset": set(), "Distribution": set(), "Engine": set(), "Experiment": set(), "Failure": set(), "Kernel": set(),
    "Load": set(), "Metrics": {"rates"}, "Model": {"precision"}, "Parallelism": set(), "Compile": set(),
    "Point": {"load", "requests", "tokens", "metrics", "notes"}, "Pool": {"role", "parallelism"}, "Power": set(),
    "Precision": set(), "Price": set(), "Rates": set(), "Reading": set(), "Requests": set(), "Rounds": set(),
    "Samples": set(), "Source": set(), "Speculative": {"acceptance_source"}, "Strategy": {"kernel"},
    "System": {"pools", "software", "probe"}, "Tokens": set(), "Verification": {"status"},
    "Workload": {"kind", "loop", "dataset"},
    "Report": {
        "schema_version", "status", "evidence", "source", "system", "model", "engine", "strategy", "workload", "points",
        "verification", "tags",
    },
}  # fmt: skip


def test_a_new_field_is_null_by_default() -> None:
    found = {model.__name__: _other_defaults(model) for model in _parts()}
    assert found == FIRST_VERSION


def _parts() -> set[type[BaseModel]]:
    """Every object that a report can hold, however deep."""
    parts: set[type[BaseModel]] = set()
    waiting: list[object] = [Report]
    while waiting:
        kind = waiting.pop()
        waiting += get_args(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel) and kind not in parts:
            parts.add(kind)
            waiting += [field.annotation for field in kind.model_fields.values()]
    return parts


def _other_defaults(model: type[BaseModel]) -> set[str]:
    return {
        name for name, field in model.model_fields.items()
        if not field.is_required() and field.get_default(call_default_factory=True) is not None
    }  # fmt: skip
