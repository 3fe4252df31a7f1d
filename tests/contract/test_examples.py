"""Three reports that show what the contract can say. They are invented, and say so."""

import json

import pytest

from runners.contract import Report
from runners.contract.schema import EXAMPLES
from runners.contract.vocabulary import Evidence, PoolRole, VerificationStatus

NAMES = sorted(path.stem for path in EXAMPLES.glob("*.json"))


def example(name: str) -> Report:
    return Report.model_validate_json((EXAMPLES / f"{name}.json").read_bytes())


def test_there_are_three():
    assert NAMES == ["disaggregated", "harness_rung", "serving_sweep"]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_valid_and_survives_the_round_trip(name):
    report = example(name)
    assert Report.model_validate_json(report.model_dump_json()) == report
    assert Report.model_validate_json(report.model_dump_json(exclude_none=True)) == report


@pytest.mark.parametrize("name", NAMES)
def test_writing_an_example_loses_nothing(name):
    """Every value of the file is in the model, so that a site can show all that was sent."""
    sent = json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))
    kept = example(name).model_dump(mode="json")

    def inside(part, whole, path=""):
        if isinstance(part, dict):
            for key, value in part.items():
                inside(value, whole[key], f"{path}.{key}")
        elif isinstance(part, list):
            assert len(part) == len(whole), path
            for index, value in enumerate(part):
                inside(value, whole[index], f"{path}[{index}]")
        elif not path.endswith("_at"):  # the same instant may be written with Z or +00:00
            assert part == whole, path

    inside(sent, kept)


@pytest.mark.parametrize("name", NAMES)
def test_nobody_can_take_an_example_for_a_measurement(name):
    report = example(name)
    assert report.evidence is Evidence.MOCK
    assert "Invented" in (report.notes or "")


def test_the_sweep_is_of_an_engine_with_speculation_on_eight_chips():
    report = example("serving_sweep")
    assert [pool.chips for pool in report.system.pools] == [8]
    assert report.strategy.speculative and report.strategy.speculative.acceptance_length
    assert len({point.load.concurrency for point in report.points}) == 4


def test_the_disaggregated_run_has_pools_of_different_chips():
    pools = example("disaggregated").system.pools
    assert [pool.role for pool in pools] == [PoolRole.PREFILL, PoolRole.DECODE]
    assert len({pool.chip for pool in pools}) == 2


def test_the_rung_has_rounds_kernel_figures_and_a_passed_verification():
    report = example("harness_rung")
    point = report.points[0]
    assert point.rounds and any(point.rounds.rejected or [])
    assert point.kernel and point.kernel.compile_seconds and point.kernel.compile_seconds.cold
    assert report.verification.status is VerificationStatus.PASSED
