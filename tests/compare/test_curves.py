"""Which of very many points are drawn, what curves are called, and what else differs."""

import pytest

from bench_site.compare import curves
from bench_site.compare.comparison import compare
from bench_site.compare.differs import what_differs
from bench_site.compare.selection import Selection
from tests.compare import factory as made

pytestmark = pytest.mark.django_db


def test_of_too_many_curves_the_frontier_and_the_nearest_to_it_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "MAX_CURVES", 2)
    made.store(
        made.report(chip="h200", loads=[(1, 0.01, 90.0), (8, 0.02, 600.0)]),  # the frontier
        made.report(chip="mi355x", loads=[(1, 0.011, 89.0), (8, 0.021, 590.0)]),
        made.report(chip="tpuv7", loads=[(1, 0.1, 9.0), (8, 0.2, 60.0)]),
    )
    found = compare(Selection())
    assert [curve.label for curve in found.curves] == ["H200 ×8", "MI355X ×8"]
    assert len(found.rows) == 6 and "4 of 6 points" in found.notes[0]


def test_a_thinned_curve_keeps_its_ends_and_its_frontier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "MAX_POINTS", 4)
    loads = [(load, 0.01 * load, 100.0 + (50 if load == 3 else -load)) for load in range(1, 10)]
    made.store(made.report(loads=loads))
    (curve,) = compare(Selection()).curves
    drawn = [row.load_value for row in curve.rows]
    assert drawn[0] == 1 and drawn[-1] == 9 and 3 in drawn and len(drawn) < 9 and drawn == sorted(drawn)


def test_a_label_says_what_tells_the_curves_apart_and_no_more() -> None:
    made.store(
        made.report(kernel="megakernel", speculative={"method": "mtp", "draft_tokens": 2}),
        made.report(kernel="megakernel"),
        made.report(kernel="op_by_op"),
        made.report(chip="mi355x", chips=None),
    )
    assert {curve.label for curve in compare(Selection()).curves} == {
        "H200 ×8 · megakernel · MTP 2", "H200 ×8 · megakernel · no speculation", "H200 ×8 · op by op · no speculation",
    }  # fmt: skip


def test_two_machines_with_the_same_name_for_everything_else_are_told_apart_by_origin() -> None:
    made.store(made.report(machine="a"), made.report(machine="b"))
    assert {curve.label for curve in compare(Selection()).curves} == {"H200 ×8 · a", "H200 ×8 · b"}


def test_what_else_differs_is_named_with_its_values() -> None:
    made.store(
        made.report(kernel="megakernel", verification="not_run"),
        made.report(kernel="op_by_op", version="2.0", precision=None),
    )
    found = compare(Selection())
    assert found.differs == {
        "engine_version": ("1.0", "2.0"),
        "precision": ("fp8", "unknown"),
        "strategy": ("megakernel", "op by op"),
        "verification": ("output not verified", "passed"),
    }
    assert "strategy" not in what_differs(found.rows, besides=["strategy"])
    assert compare(Selection(strategy=("megakernel",))).differs == {}
