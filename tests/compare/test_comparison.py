"""Who is shown, who is ranked, who is on the frontier, and why the rest is not."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from bench_site.compare.comparison import compare
from bench_site.compare.defaults import default_selection
from bench_site.compare.selection import BookChoice, Selection, parse
from bench_site.compare.shapes import Comparison
from bench_site.compare.words import left_out_words
from bench_site.runs.models import Run
from tests.compare import factory as made

pytestmark = pytest.mark.django_db


def chips_of(comparison: Comparison) -> list[str]:
    return [row.configuration.pools[0].chip_slug for row in comparison.rows]


def ranks(comparison: Comparison) -> dict[str, int | None]:
    return {row.configuration.pools[0].chip_slug: row.rank for row in comparison.rows}


def test_the_cheapest_is_first_and_a_row_without_a_price_comes_after_with_the_reason() -> None:
    """H200: 8 x 1.6 = 12.8 an hour; 12.8 x 1e6 / (3600 x 800) = 4.444. MI355X: 8 x 1 / (3600 x 400) x 1e6 = 5.556."""
    made.price("h200", "1.6")
    made.price("mi355x", "1")
    made.store(
        made.report(chip="ascend910c", rate=9000.0), made.report(chip="mi355x", rate=400.0), made.report(chip="h200")
    )
    found = compare(Selection())
    assert chips_of(found) == ["h200", "mi355x", "ascend910c"]
    assert [row.rank for row in found.rows] == [1, 2, None]
    costs = [row.cost.per_m_output for row in found.rows]
    assert costs[0] is not None and round(costs[0], 3) == Decimal("4.444")
    assert costs[1] is not None and round(costs[1], 3) == Decimal("5.556")
    assert found.rows[0].cost.per_m_total == costs[0] / 2
    assert costs[2] is None and "Ascend 910C" in found.rows[2].cost.missing
    assert found.book is not None and found.book.slug == "rental@2026-04-03"


def test_without_any_price_the_y_axis_ranks() -> None:
    made.store(made.report(chip="mi355x", rate=400.0), made.report(chip="h200"))
    first = compare(Selection())
    assert ranks(first) == {"h200": 1, "mi355x": 2} and first.ranked_by == "output_tokens_per_s_per_chip"
    found = compare(Selection(y="ttft_p50"))
    assert [row.rank for row in found.rows] == [1, 2]


def test_yuan_come_with_the_rate_and_its_date_and_utilisation_divides() -> None:
    made.price("h200", "1.6")
    made.rate("6.78")
    made.store(made.report())
    found = compare(parse({"currency": "CNY", "utilisation": "0.5"}))
    dollars = compare(Selection()).rows[0].cost.per_m_output
    assert dollars is not None and found.rows[0].cost.per_m_output == pytest.approx(dollars * 2 * Decimal("6.78"))
    assert [rate.date.isoformat() for rate in found.rates] == ["2026-06-22"]
    unknown = compare(Selection(currency="EUR")).rows[0].cost
    assert unknown.per_m_output is None and "EUR" in unknown.missing


def test_a_rate_is_named_only_where_it_was_needed() -> None:
    made.price("h200", "1.6")
    made.price("ascend910c", "7", currency="CNY")
    made.rate("6.78")
    made.store(made.report(), made.report(chip="ascend910c"), made.report(chip="mi355x"))
    used = {row.configuration.pools[0].chip_slug: row.cost.rates for row in compare(Selection()).rows}
    assert {chip: len(rates) for chip, rates in used.items()} == {"h200": 0, "ascend910c": 1, "mi355x": 0}
    assert compare(Selection(chip=("h200",))).rates == [] and len(compare(Selection(chip=("ascend910c",))).rates) == 1


def test_a_run_of_many_loads_is_not_counted_as_many_runs() -> None:
    made.store(made.report(loads=[(1, 0.01, 90.0), (2, 0.02, 150.0)]), made.report(loads=[(2, 0.02, 150.0)]))
    assert compare(Selection()).runs == (1, 2) and compare(Selection(chip=("tpuv7",))).runs == (0, 0)


def test_an_earlier_book_has_the_earlier_price_and_another_tier_none() -> None:
    made.price("h200", "1.6")
    made.price("h200", "2", on=made.date(2026, 9, 1))
    made.store(made.report())
    assert [book.slug for book in compare(Selection()).books] == ["rental@2026-09-01", "rental@2026-04-03"]
    hours = [
        compare(Selection(book=BookChoice("rental", made.date(2026, month, 15)))).rows[0].cost.per_hour
        for month in (3, 5, 10)
    ]
    assert hours == [None, Decimal("12.8"), 16]
    owned = compare(Selection(book=BookChoice("owned", made.date(2026, 10, 1))))
    assert owned.rows[0].cost.per_m_output is None and any("owned" in note for note in owned.notes)
    assert compare(Selection(no_cost=True)).book is None


def test_failed_never_enters_and_not_run_enters_marked() -> None:
    made.store(
        made.report(chip="h200", verification="failed"),
        made.report(chip="mi355x", verification="not_run"),
        made.report(chip="tpuv7", verification="passed", rate=400.0),
    )
    found = compare(Selection())
    assert ranks(found) == {"mi355x": 1, "tpuv7": 2}
    assert [row.verification for row in found.rows] == ["not_run", "passed"]
    assert found.left_out["failed"] == 1 and "failed verification" in " ".join(left_out_words(found.left_out))
    assert chips_of(compare(Selection(verification=("passed",)))) == ["tpuv7"]


def test_published_enters_and_claims_are_shown_outside_ranking_and_frontier() -> None:
    made.store(
        made.report(chip="h200", evidence="claimed", rate=9e4, tpot=0.001),
        made.report(chip="mi355x", evidence="mock", rate=8e4, tpot=0.002),
        made.report(chip="tpuv7", evidence="published", rate=900.0),
        made.report(chip="ascend910c"),
    )
    found = compare(Selection())
    assert ranks(found) == {"tpuv7": 1, "ascend910c": 2, "h200": None, "mi355x": None}
    assert [row.configuration.pools[0].chip_slug for row in found.frontier] == ["tpuv7"]
    assert {curve.label.split(" ×")[0]: curve.hollow for curve in found.curves} == {
        "H200": True, "MI355X": True, "TPU v7": True, "Ascend 910C": False,
    }  # fmt: skip
    assert found.left_out["not_ranked"] == 2
    assert chips_of(compare(Selection(evidence=("measured",)))) == ["ascend910c"]


def test_quarantined_groups_are_counted_and_shown_only_when_asked_for() -> None:
    made.store(made.report(chip="h200"), made.report(chip="mi355x"))
    spoil = Run.objects.get(configuration__pools__chip__slug="mi355x")
    spoil.points.update(counts=False, plausibility="quarantine")
    made.refresh([spoil.points.get().series_id])
    found = compare(Selection())
    assert chips_of(found) == ["h200"] and found.left_out["quarantined"] == 1
    asked = compare(Selection(plausibility=("quarantine",)))
    assert chips_of(asked) == ["mi355x"] and asked.rows[0].rank is None and not asked.frontier
    assert {o.value: o.count for o in found.options["plausibility"]} == {"accept": 1, "quarantine": 1}


def test_a_group_whose_runs_were_all_retracted_leaves_the_table() -> None:
    made.store(made.report())
    run = Run.objects.get()
    run.points.update(counts=False)
    made.refresh([run.points.get().series_id])
    found = compare(Selection())
    assert not found.rows and found.left_out == {"retracted": 1}


def test_an_unknown_interactivity_stays_in_the_table_and_out_of_the_chart() -> None:
    made.store(made.report(load=8), made.report(load=16, tpot=None, rate=900.0))
    found = compare(Selection())
    assert len(found.rows) == 2 and sum(len(curve.rows) for curve in found.curves) == 1
    assert found.left_out == {"no_x": 1}
    assert compare(Selection(per=10)).left_out == {"slower": 1}


def test_limits_on_speed_and_first_token() -> None:
    made.store(made.report(load=1, tpot=0.01), made.report(load=8), made.report(load=32, tpot=0.1, ttft=3.0))
    fast = compare(Selection(per=40))
    assert {row.load_value for row in fast.rows} == {1, 8} and fast.left_out["slower"] == 1
    assert len(fast.curves[0].rows) == 3  # the chart keeps the whole curve: the limit is a line on it
    early = compare(Selection(ttft=1))
    assert len(early.curves[0].rows) == 2 and early.left_out["later"] == 1


def test_the_frontier_and_a_curve_in_the_order_of_its_loads() -> None:
    made.store(
        made.report(chip="h200", loads=[(64, 0.05, 3000.0), (1, 0.01, 90.0), (8, 0.02, 600.0)]),
        made.report(chip="mi355x", loads=[(8, 0.02, 500.0)]),
    )
    found = compare(Selection())
    assert [row.load_value for row in found.curves[0].rows] == [1, 8, 64] or len(found.curves[0].rows) == 1
    assert [row.figures["interactivity"].value for row in found.frontier] == pytest.approx([20, 50, 100])
    assert {row.configuration.pools[0].chip_slug for row in found.frontier} == {"h200"}
    assert all(row.on_frontier for row in found.frontier)


def test_nothing_joins_groups_that_differ_in_more_than_the_load() -> None:
    """A new engine version begins a new curve; the old load that nobody measured again stays on the old one."""
    made.store(made.report(version="1.0", loads=[(1, 0.01, 90.0), (8, 0.02, 600.0)]))
    made.store(made.report(version="2.0", loads=[(1, 0.009, 99.0)], days=1))
    found = compare(Selection())
    assert sorted(len(curve.rows) for curve in found.curves) == [1, 1]  # each series' newest group
    assert {row.engine_version for row in found.rows} == {"1.0", "2.0"}
    assert {curve.label for curve in found.curves} == {"H200 ×8 · 1.0", "H200 ×8 · 2.0"}


def test_the_newest_group_is_shown_unless_the_address_names_another() -> None:
    (first,) = made.store(made.report(version="1.0", tags=["nightly"]))
    made.store(made.report(version="2.0", days=1))
    assert [row.engine_version for row in compare(Selection()).rows] == ["2.0"]
    assert [row.engine_version for row in compare(Selection(run=(first,))).rows] == ["1.0"]
    tagged = compare(Selection(tag=("nightly",)))
    assert [row.engine_version for row in tagged.rows] == ["1.0"] and tagged.notes
    group = tagged.rows[0].group_id
    assert [row.group_id for row in compare(Selection(group=(group,))).rows] == [group]
    assert len(compare(Selection(series=(tagged.rows[0].series_id,))).rows) == 1


def test_a_curve_over_more_than_a_week_says_so() -> None:
    made.store(made.report(load=1), made.report(load=8, days=9), made.report(chip="mi355x", load=1))
    found = compare(Selection())
    assert {curve.label: curve.spans_days for curve in found.curves} == {"H200 ×8": 9, "MI355X ×8": 0}
    assert any("7 days" in note for note in found.notes)


def test_loops_are_never_ranked_against_each_other() -> None:
    made.store(made.report(), made.report(loop="open", load=2.5))
    both = compare(Selection())
    assert {row.rank for row in both.rows} == {None} and not both.frontier
    assert any("closed loop, open loop" in note for note in both.notes)
    assert [row.rank for row in compare(Selection(load=("open",))).rows] == [1]


def test_sorting_changes_the_order_and_not_the_rank() -> None:
    made.store(made.report(chip="h200", ttft=2.0), made.report(chip="mi355x", rate=400.0), made.report(chip="tpuv7", ttft=None, rate=10.0))  # fmt: skip  # noqa: E501
    assert ranks(compare(Selection(sort="ttft_p50"))) == {"mi355x": 2, "h200": 1, "tpuv7": 3}
    assert chips_of(compare(Selection(sort="ttft_p50"))) == ["mi355x", "h200", "tpuv7"]
    assert chips_of(compare(Selection(sort="-ttft_p50"))) == ["h200", "mi355x", "tpuv7"]


def test_pages_of_rows() -> None:
    made.store(*[made.report(load=load, rate=100.0 * load) for load in (1, 2, 4, 8, 16)])
    second = compare(Selection(rows=2, page=2))
    assert [row.rank for row in second.rows] == [3, 4] and second.total_rows == 5 and second.pages == 3
    assert second.runs == (1, 1) and sum(len(curve.rows) for curve in second.curves) == 5
    assert compare(Selection(rows=2, page=9)).rows == []


def test_several_pools_are_paid_for_together_and_shown_together() -> None:
    """Prefill 4 x H200 at 1.6 and decode 8 x MI355X at 1: 14.4 an hour."""
    made.price("h200", "1.6")
    made.price("mi355x", "1")
    pools = [{"role": "prefill", "chip": "h200", "chips": 4}, {"role": "decode", "chip": "mi355x", "chips": 8}]
    made.store(made.report(pools=pools), made.report(chip="h200"))
    found = compare(Selection(chip=("mi355x",)))
    assert found.rows[0].cost.per_hour == Decimal("14.4") and found.curves[0].label == "H200 ×4 + MI355X ×8"
    assert found.rows[0].configuration.vendor == ""
    assert {o.value: o.count for o in found.options["chip"]} == {"h200": 2, "mi355x": 1}


def test_the_default_is_the_model_and_workload_with_most_to_compare() -> None:
    assert default_selection() == Selection(rows=100)
    made.price("h200", "1.6")
    made.store(
        made.report(model="Other"), made.report(model="Other", load=2), made.report(model="Other", load=4),
        made.report(chip="h200"), made.report(chip="mi355x"), made.report(chip="h200", lengths=(8192, 1024)),
    )  # fmt: skip
    assert (
        default_selection().to_query()
        == "book=rental@2026-04-03&currency=USD&model=kimik3&rows=100&workload=serving-closed-1024-1024"
    )
    assert len(compare(default_selection()).rows) == 2


def test_an_empty_site_answers() -> None:
    found = compare(Selection())
    assert not found.rows and not found.curves and found.book is None and found.pages == 1


def test_the_number_of_queries_does_not_grow() -> None:
    made.price("h200", "1.6")
    made.store(made.report())
    with CaptureQueriesContext(
        connection,
    ) as few:
        compare(Selection())
    made.store(*[made.report(chip=chip, load=load, engine=engine) for chip in made.CHIPS for load in (1, 2, 4)
                 for engine in ("vllm", "sglang")])  # fmt: skip
    with CaptureQueriesContext(connection) as many:
        assert len(compare(Selection()).rows) == 25
    assert len(few) == len(many) == 8
    # Points are looked up for the reasons of marked groups alone.
    reasons = "SELECT string_agg(DISTINCT f ->> 'message', ' ') FROM runs_point"
    assert not any("runs_point" in query["sql"].replace(reasons, "") for query in many.captured_queries)
