"""The chart: valid for Plotly, in the visual language, safe with whatever name somebody sends."""

import json

import plotly.graph_objects as go
import pytest

from bench_site.compare.selection import Selection
from bench_site.present.escape import MAX_LENGTH, escape
from bench_site.present.figure import MAX_LABELS, MAX_SINGLE_CURVES, figure
from tests.present import factory


def markers(drawn: dict) -> list[dict]:
    return [trace for trace in drawn["data"] if trace["mode"] == "lines+markers"]


def test_plotly_accepts_every_property() -> None:
    drawn = figure(factory.four_curves())
    made = go.Figure(drawn)  # refuses an unknown property or a value of the wrong kind
    assert len(made.data) == len(drawn["data"])
    json.dumps(drawn, allow_nan=False)


def test_colour_is_the_vendor_shape_the_strategy_and_fill_the_evidence() -> None:
    by_name = {trace["name"]: trace for trace in markers(figure(factory.four_curves()))}
    looks = {name: (t["marker"]["symbol"], t["marker"]["color"], t["line"]["color"]) for name, t in by_name.items()}
    assert looks == {
        "H200 ×8": ("triangle-up", "var(--nvidia)", "var(--nvidia)"),
        "TPU v7 ×16": ("square", "var(--google)", "var(--google)"),
        "MI355X ×8": ("diamond", "var(--amd)", "var(--amd)"),
        "Ascend 910C ×16": ("circle", "var(--huawei)", "var(--huawei)"),
        "SD200 Ultra ×128, claimed": ("diamond", "var(--surface)", "var(--inspur)"),
    }


def test_hovering_says_what_must_be_known_of_a_point() -> None:
    rows = [factory.row(1, 18, 2140), factory.row(2, 47, 1390, plausibility="flag", interactivity_from="mean")]
    (trace,) = markers(figure(factory.comparison([factory.curve("h200", rows)])))
    states = [point[5] for point in trace["customdata"]]
    assert states[0] == "measured · output not verified · 5 runs"
    assert "flagged · from the mean TPOT" in states[1]


def test_a_verified_point_is_ringed() -> None:
    tpu = next(trace for trace in markers(figure(factory.four_curves())) if trace["name"] == "TPU v7 ×16")
    assert tpu["marker"]["line"]["color"] == ["var(--ink)", "var(--google)", "var(--google)"]


def test_a_row_without_a_figure_is_not_drawn_as_zero() -> None:
    ascend = next(trace for trace in markers(figure(factory.four_curves())) if trace["name"] == "Ascend 910C ×16")
    assert ascend["x"] == [13.0]


def test_the_band_runs_over_neighbours_with_an_interval_only() -> None:
    rows = [factory.row(1, 10, 100), factory.row(2, 20, 90), factory.row(3, 30, 80), factory.row(4, 40, 70)]
    rows[2].figures["output_tokens_per_s_per_chip"] = factory.Figure(80)
    bands = [trace for trace in figure(factory.comparison([factory.curve("a", rows)]))["data"] if "fill" in trace]
    assert [trace["x"] for trace in bands] == [[10.0, 20.0, 20.0, 10.0]]
    assert bands[0]["y"] == pytest.approx([105, 94.5, 85.5, 95])


def test_a_single_point_shows_its_interval_as_a_bar() -> None:
    trace = markers(figure(factory.comparison([factory.curve("a", [factory.row(1, 10, 100)])])))[0]
    assert trace["error_y"]["array"] == pytest.approx([5]) and trace["error_y"]["arrayminus"] == pytest.approx([5])


def test_every_name_is_escaped_wherever_it_goes() -> None:
    config = factory.configuration(chip=factory.HOSTILE, engine=factory.HOSTILE, speculative=factory.HOSTILE)
    row = factory.row(1, 10, 100, config, engine_version=factory.HOSTILE)
    drawn = figure(factory.comparison([factory.curve("a", [row], label=factory.HOSTILE)]))
    text = json.dumps(drawn)
    for line in ("<br>", "<b>", "</b>"):
        text = text.replace(line, "")
    assert "<" not in text and "\\u0000" not in text


def test_escape() -> None:
    assert escape("a <b>b</b>\n& 'c'") == "a &lt;b&gt;b&lt;/b&gt; &amp; &#39;c&#39;"
    assert len(escape("x" * 1000)) == MAX_LENGTH
    assert escape(3) == "3"


def many(number: int) -> factory.Comparison:
    curves = []
    for n in range(number):
        config = factory.configuration(vendor=["NVIDIA", "AMD", "Google"][n % 3], id=n)
        rows = [factory.row(n * 10 + i, 10 + n + i * 5, 1000 - i * 90, config) for i in range(4)]
        curves.append(factory.curve(f"c{n}", rows, label=f"machine {n}"))
    return factory.comparison(curves, frontier=curves[0].rows[:2] + curves[1].rows[2:])


def test_many_curves_share_traces_and_never_touch() -> None:
    drawn = figure(many(MAX_SINGLE_CURVES + 20))
    assert len(markers(drawn)) == 3
    first = markers(drawn)[0]
    assert first["x"][4] is None and len(first["x"]) == len(first["customdata"]) and len(first["meta"]) == 20
    assert sum("fill" in trace for trace in drawn["data"]) == 2  # the frontier's curves keep their bands


def test_of_many_curves_only_the_frontier_is_labelled() -> None:
    assert [label["text"] for label in figure(many(MAX_LABELS + 5))["layout"]["meta"]["labels"]] == [
        "machine 0",
        "machine 1",
    ]


def test_the_frontier_is_drawn_from_slow_to_fast_with_a_step_from_machine_to_machine() -> None:
    """Between two machines nothing was measured: a straight line there would promise what none of them does."""
    first = figure(factory.four_curves())["data"][0]
    assert first["x"] == [16.0, 16.0, 26.0, 108.0, 249.0] and first["y"] == [2390.0, 1830.0, 1830.0, 1010.0, 180.0]
    rows = [factory.row(1, 10, 100), factory.row(2, 20, 200)]
    lines = [factory.curve(f"c{one.group_id}", [one]) for one in rows]
    less = figure(factory.comparison(lines, frontier=rows, selection=Selection(x="tpot_p50")))["data"][0]
    assert less["x"] == [50.0, 100.0, 100.0] and less["y"] == [200.0, 200.0, 100.0]


def test_ticks_are_round_numbers() -> None:
    axis = figure(factory.four_curves())["layout"]["xaxis"]
    assert axis["ticktext"] == ["20", "50", "100", "200"]
