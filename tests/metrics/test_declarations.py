"""Every metric's declaration: direction, scale, example, unknown inputs, and that the contract has what it reads."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from bench_site.metrics import (
    HEADLINE,
    MEASURED,
    METRICS,
    Direction,
    Metric,
    better,
    facts_of,
    figures_of,
    figures_of_facts,
    interactivity_at,
    interactivity_source,
    metric_named,
)
from bench_site.metrics.facts import PATHS, RUN_FACTS
from runners.contract.figures import Point

ALL = sorted(METRICS)
positive = st.floats(1e-9, 1e15)
#: The direction of every metric, written down a second time on purpose: a change must be made twice.
HIGHER = {
    "interactivity", "interactivity_p90", "output_tokens_per_s", "output_tokens_per_s_per_chip", "total_tokens_per_s",
    "total_tokens_per_s_per_chip", "input_tokens_per_s", "requests_per_s", "prefill_tokens_per_s",
    "decode_tokens_per_s", "achieved_bandwidth", "mbu", "acceptance_rate", "acceptance_length",
}  # fmt: skip
NEITHER = {"concurrency_measured"}


@pytest.mark.parametrize("name", ALL)
@given(a=positive, b=positive)
def test_direction(name: str, a: float, b: float) -> None:
    if name in NEITHER:
        assert not better(name, a, b) and not better(name, b, a)
    elif name in HIGHER:
        assert better(name, a, b) == (a > b)
        assert better(name, b, a) == (b > a)
    else:
        assert better(name, a, b) == (a < b)
        assert better(name, b, a) == (b < a)


@pytest.mark.parametrize("metric", METRICS.values(), ids=list(METRICS))
@given(a=positive, b=positive)
def test_improvement_agrees_with_direction(metric: Metric, a: float, b: float) -> None:
    """Above 1 exactly when better; 100 ms instead of 200 ms and 200 tokens/s instead of 100 are both 2."""
    gain = metric.improvement(a, b)
    if metric.direction is Direction.NEITHER:
        assert gain is None
    else:
        assert gain is not None
        assert not metric.better(a, b) if gain < 1 else not metric.better(b, a)
        assert metric.improvement(1.0, 2.0) == (0.5 if metric.direction is Direction.HIGHER else 2.0)
    assert metric.improvement(0.0, b) is None


@pytest.mark.parametrize("metric", METRICS.values(), ids=list(METRICS))
def test_example(metric: Metric) -> None:
    facts, expected = metric.example
    found = metric.compute(facts)
    assert found is None if expected is None else found == pytest.approx(expected)
    assert facts.keys() <= PATHS.keys() | set(RUN_FACTS)


@pytest.mark.parametrize("metric", METRICS.values(), ids=list(METRICS))
def test_declaration(metric: Metric) -> None:
    assert METRICS[metric.name] is metric
    assert metric.title and metric.short and metric.unit and metric.display_unit and metric.family
    assert metric.formula.endswith("."), "the docstring is the formula"
    assert 0 <= metric.floor < 1 and metric.floor_source
    assert metric.scale > 0
    assert metric.shown(2.0) == 2.0 * metric.scale


def test_what_is_stored_in_seconds_is_shown_in_milliseconds() -> None:
    tpot, share = metric_named("tpot_p50"), metric_named("failed_share")
    assert (tpot.unit, tpot.display_unit, tpot.shown(0.00585)) == ("s", "ms", pytest.approx(5.85))
    assert (share.display_unit, share.shown(0.01)) == ("%", 1.0)


@pytest.mark.parametrize("metric", MEASURED, ids=[m.name for m in MEASURED])
def test_without_facts_unknown_never_zero(metric: Metric) -> None:
    assert metric.compute({}) is None
    needed = list(metric.example[0])
    for missing in needed:
        rest = {name: value for name, value in metric.example[0].items() if name != missing}
        if metric.name != "interactivity":  # falls back on the mean, below
            assert metric.compute(rest) is None


fact_names = sorted([*PATHS, *RUN_FACTS])


@given(st.dictionaries(st.sampled_from(fact_names), st.one_of(st.just(0.0), st.floats(0, 1e18))))
def test_any_facts_give_finite_figures(facts: dict[str, float]) -> None:
    for name, value in figures_of_facts(facts).items():
        assert math.isfinite(value), name
        assert value >= 0, name


@given(st.dictionaries(st.sampled_from(fact_names), st.sampled_from([None, math.nan, math.inf, True, "7", [1], {}])))
def test_what_is_not_a_number_is_unknown(point: dict[str, Any]) -> None:
    assert figures_of({**point, "detail": {"metrics": point}}) == {}


@given(rate=positive, chips=st.integers(1, 10_000))
def test_per_chip_times_chips_is_the_whole(rate: float, chips: int) -> None:
    figures = figures_of({"output_tokens_per_s": rate}, chips)
    assert figures["output_tokens_per_s_per_chip"] * chips == pytest.approx(rate)


@given(tpot=st.floats(1e-6, 1e3), factor=st.floats(1.5, 100))
def test_interactivity_is_the_inverse_of_tpot(tpot: float, factor: float) -> None:
    """A slower token, a slower user: the two metrics name the same side the better one."""
    fast, slow = (figures_of_facts({"tpot_p50": value}) for value in (tpot, tpot * factor))
    assert fast["interactivity"] * tpot == pytest.approx(1)
    assert better("tpot_p50", fast["tpot_p50"], slow["tpot_p50"])
    assert better("interactivity", fast["interactivity"], slow["interactivity"])


def test_interactivity_comes_from_the_median_else_from_the_mean_and_says_so() -> None:
    both = {"tpot_p50": 0.02, "tpot_mean": 0.025, "tpot_p90": 0.04}
    assert (interactivity_source(both), figures_of_facts(both)["interactivity"]) == ("p50", 50.0)
    mean = {"tpot_mean": 0.025}
    assert (interactivity_source(mean), figures_of_facts(mean)["interactivity"]) == ("mean", 40.0)
    tail = {"tpot_p90": 0.04, "itl_p50": 0.01}
    assert (interactivity_source(tail), "interactivity" in figures_of_facts(tail)) == ("", False)
    assert figures_of_facts(tail)["interactivity_p90"] == interactivity_at(tail, "p90") == 25.0
    assert interactivity_source({"tpot_p50": 0.0, "tpot_mean": 0.025}) == "mean"


def test_a_column_wins_over_the_json_and_the_json_fills_the_rest() -> None:
    point = {
        "ttft_p50": 1.0,
        "tpot_p50": None,
        "detail": {"metrics": {"ttft": {"p50": 2.0, "p95": 3.0}, "tpot": {"p50": 0.02}}, "power": {"watts": 540}},
    }
    facts = facts_of(point, chips=None, speculative={"method": "mtp", "acceptance_length": 3.1})
    assert facts == {"ttft_p50": 1.0, "ttft_p95": 3.0, "tpot_p50": 0.02, "watts": 540.0, "acceptance_length": 3.1}


def test_failed_share_when_nothing_was_counted_is_unknown() -> None:
    assert "failed_share" not in figures_of_facts({"requests_sent": 0.0, "requests_failed": 0.0})
    assert "failed_share" not in figures_of_facts({"requests_sent": 500.0, "requests_completed": 500.0})
    assert figures_of_facts({"requests_completed": 95.0, "requests_failed": 5.0})["failed_share"] == 0.05


def test_energy_by_counter_before_power() -> None:
    """3,377.01 J over 6.2537 s at 248.583 tokens/s are 1,554.6 tokens: 2.172 J each; by 540 W the same."""
    counter = {"joules": 3377.01, "duration": 6.2537, "output_tokens_per_s": 248.583}
    power = {"watts": 540.0, "output_tokens_per_s": 248.583}
    assert figures_of_facts(counter)["joules_per_output_token"] == pytest.approx(2.172, abs=5e-4)
    assert figures_of_facts(power)["joules_per_output_token"] == pytest.approx(2.172, abs=5e-4)


@pytest.mark.parametrize("name", PATHS)
def test_every_fact_is_in_the_contract(name: str) -> None:
    part: Any = Point
    for step in PATHS[name]:
        assert issubclass(part, BaseModel) and step in part.model_fields, f"{name}: no {step}"
        kinds = [part.model_fields[step].annotation, *get_args(part.model_fields[step].annotation)]
        part = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), kinds[0])


def test_the_contracts_example_gives_figures(project: Path) -> None:
    report = json.loads((project / "runners/contract/examples/harness_rung.json").read_text())
    figures = figures_of({"detail": report["points"][0]}, chips=1)
    assert figures["interactivity"] == pytest.approx(1 / 0.00402194)
    assert figures["mbu"] == pytest.approx(2.73441 / 4.08)
    assert figures["compile_cold"] == 71.4
    assert "ttft_p50" not in figures


def test_headline_metrics_exist_and_an_unknown_name_teaches() -> None:
    assert HEADLINE.keys() <= METRICS.keys()
    with pytest.raises(KeyError, match=r"nearest: .*ttft_p99"):
        metric_named("tttf_p99")


def test_importing_is_light(project: Path) -> None:
    """The packages that only calculate load neither Django nor numpy nor scipy."""
    code = (
        "import sys, bench_site.metrics.cost, bench_site.stats; "
        "print([m for m in ('django', 'numpy', 'scipy', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
