"""Whatever stands in a file of a known shape: a reading that holds together, or a typed refusal. Never an exception."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_site.formats import Reading, ReadRun, apply_context, read, redact
from bench_site.formats.context import ContextError
from bench_site.formats.show import as_plain
from runners.contract.context import Context
from runners.contract.problems import PROBLEMS
from runners.contract.report import Report
from tests.formats.shapes import every_shape

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from(
        [0, -1, -1000, 10**19, 10**400, 2**63, 1e308, 1e18, float("nan"), float("inf"), float("-inf"), 5e-324]
    ),
    st.floats(),
    st.sampled_from(
        ["", "0", "inf", "NaN", "1,146.31", "1e9", "-", ".", "e5", "null", "\x00", "\ud800", "x" * 3000, "12ms"]
    ),
    st.text(max_size=12),
    st.lists(st.one_of(st.none(), st.floats(), st.text(max_size=3), st.lists(st.floats(), max_size=2)), max_size=4),
    st.dictionaries(st.text(max_size=5), st.one_of(st.none(), st.floats(), st.text(max_size=3)), max_size=3),
)


@st.composite
def mutated(draw: st.DrawFn, record: dict[str, Any]) -> dict[str, Any]:
    """``record`` with keys taken out, replaced, added and reordered, one level down too."""
    found = copy.deepcopy(record)
    targets = [found, *(value for value in found.values() if isinstance(value, dict))]
    for _ in range(draw(st.integers(1, 6))):
        target = draw(st.sampled_from(targets))
        if not target:
            continue
        key = draw(st.sampled_from(sorted(target)))
        action = draw(st.sampled_from(["remove", "replace", "replace", "element", "extra"]))
        if action == "remove":
            del target[key]
        elif action == "element" and isinstance(target[key], list) and target[key]:
            target[key][draw(st.integers(0, len(target[key]) - 1))] = draw(ODD)
        elif action == "extra":
            target[draw(st.text(min_size=1, max_size=8))] = draw(ODD)
        else:
            target[key] = draw(ODD)
    return dict(draw(st.permutations(list(found.items())))) if draw(st.booleans()) else found


def hold_together(reading: Reading) -> None:
    """What every reading promises, accepted or not."""
    if reading.verdict == "refuse":
        assert reading.refusal is not None and reading.refusal.code in PROBLEMS and reading.refusal.detail
        assert not reading.runs
        return
    assert reading.runs and reading.tool and reading.format and reading.why
    assert (reading.verdict == "flag") == bool(reading.reasons)
    json.dumps(as_plain("f", reading), allow_nan=False)
    for run in reading.runs:
        assert isinstance(run, ReadRun) and len(run.rows) == len(run.report.points)
        assert Report.model_validate_json(run.report.model_dump_json()) == run.report, "what is stored reads back"


@pytest.mark.parametrize("name", every_shape())
def test_a_mutated_file_is_read_or_refused(name: str) -> None:
    record = every_shape()[name][1]

    @settings(max_examples=150, deadline=None)
    @given(st.lists(mutated(record), min_size=1, max_size=3), st.booleans())
    def check(records: list[dict[str, Any]], as_array: bool) -> None:
        text = json.dumps(records) if as_array else "\n".join(json.dumps(one) for one in records)
        data = text.encode()
        reading = read(data)
        hold_together(reading)
        clean, removed = redact(data)
        assert clean or reading.verdict == "refuse"
        again = read(clean, sha256=reading.sha256) if clean else reading
        assert [run.report for run in again.runs] == [run.report for run in reading.runs] or not removed
        assert redact(data) == (clean, removed)

    check()


@pytest.mark.parametrize("name", ["vllm detailed", "sglang server", "api row"])
def test_a_file_cut_or_changed_at_any_byte_is_read_or_refused(name: str) -> None:
    data = json.dumps([every_shape()[name][1]] * 2, indent=1).encode()

    @settings(max_examples=150, deadline=None)
    @given(st.integers(0, len(data)), st.binary(max_size=4), st.booleans())
    def check(place: int, patch: bytes, cut: bool) -> None:
        changed = data[:place] + patch + (b"" if cut else data[place + len(patch) :])
        hold_together(read(changed))
        redact(changed)

    check()


@settings(max_examples=300, deadline=None)
@given(
    st.binary(max_size=300)
    | st.text(alphabet='{}[]",:.0123456789eE-+truefalsnNIiy \n\\u', max_size=200).map(str.encode)
)
def test_any_bytes_at_all(data: bytes) -> None:
    hold_together(read(data))
    redact(data)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.builds(
            "{}={}".format,
            st.sampled_from(
                ["points[0].load.concurrency", "system.pools[0]", "tags", "model", "strategy.speculative", "price"]
            ),
            ODD.map(json.dumps),
        ).filter(lambda entry: 0 < len(entry.strip()) < 1000),
        max_size=3,
    )
)
def test_any_setting_gives_a_report_or_a_context_error(entries: list[str]) -> None:
    report = read(json.dumps(every_shape()["agg"][1]).encode()).runs[0].report
    try:
        changed, _ = apply_context(report, Context(set=entries))
    except ContextError as error:
        assert error.errors
    else:
        assert Report.model_validate_json(changed.model_dump_json()) == changed
