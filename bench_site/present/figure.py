"""A comparison becomes a Plotly figure: plain dictionaries, drawn by static/js/chart.js, checked by the tests.

Colours are tokens such as ``var(--nvidia)`` or ``var(--ink/.1)`` that the browser resolves, so that one figure serves
both themes. Every text goes through ``escape``. Curves are never joined with each other, and no load is left out but by
the comparison's own thinning, which is said.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from bench_site.compare.shapes import UNKNOWN, Comparison, Curve, Figure, Row
from bench_site.present.escape import escape
from bench_site.present.looks import SHAPES, shape, vendor_token
from bench_site.present.metric_words import Shown, shown_metric
from bench_site.present.numbers import figure as written
from bench_site.present.numbers import interval, money
from bench_site.present.words import (
    draft_words,
    engine_words,
    load_words,
    machine_words,
    url_of_row,
    verification_words,
)
from bench_site.runs.models.words import label
from runners.contract.vocabulary import KernelStrategy, VerificationStatus

Trace = dict[str, Any]

#: Above this many curves the points of one look share a trace (with gaps) and only the frontier keeps its bands: a
#: browser draws 3,000 points in 30 traces in a blink, and in 600 traces in seconds.
MAX_SINGLE_CURVES = 40
#: At most this many direct labels; more would be a thicket, and hovering names every point.
MAX_LABELS = 12
LABEL_LENGTH = 34
#: The outline of a point whose output was verified.
RING = "var(--ink)"
#: Shapes of equal width do not look equally large.
SIZES = {"triangle-up": 12, "diamond": 12, "x-thin": 9}
MARGIN = {"l": 62, "r": 16, "t": 10, "b": 48}


def figure(comparison: Comparison) -> dict[str, Any]:
    """The chart of ``comparison``: its y metric against its x metric, frontier, bands, one look a curve."""
    x, y = shown_metric(comparison.selection.x), shown_metric(comparison.selection.y)
    curves = [(curve, _drawable(curve.rows, x, y)) for curve in comparison.curves]
    curves = [(curve, rows) for curve, rows in curves if rows]
    points = [row for _curve, rows in curves for row in rows]
    many = len(curves) > MAX_SINGLE_CURVES
    best = {row.curve for row in comparison.frontier}
    data = [_frontier(comparison.frontier, x, y)] if len(_drawable(comparison.frontier, x, y)) > 1 else []
    data += [band for curve, rows in curves if not many or curve.key in best for band in _bands(curve, rows, x, y)]
    data += _merged(curves, x, y) if many else [_trace([(curve, rows)], x, y) for curve, rows in curves]
    layout = _layout(points, x, y)
    layout["meta"] = {"labels": _labels(curves, best, x, y), "plain": _plain(len(points), len(curves), x, y)}
    return {"data": data, "layout": layout}


def _value(row: Row, metric: Shown) -> float | None:
    value = row.figures.get(metric.name, UNKNOWN).value
    return None if value is None else float(f"{value * metric.scale:.5g}")


def _drawable(rows: Iterable[Row], x: Shown, y: Shown) -> list[Row]:
    """The rows with both figures; a logarithmic axis has no place for 0."""
    return [row for row in rows if (_value(row, x) or 0) > 0 and _value(row, y) is not None]


# ------------------------------------------------------------------------------------------------ traces


def _trace(parts: list[tuple[Curve, list[Row]]], x: Shown, y: Shown) -> Trace:
    """The points of curves that look alike; a gap keeps them apart."""
    first = parts[0][0]
    colour = f"var(--{vendor_token(first.vendor)})"
    xs: list[float | None] = []
    ys: list[float | None] = []
    hover: list[str] = []
    links: list[list[Any]] = []
    rings: list[str] = []
    for number, (curve, rows) in enumerate(parts):
        if number:
            xs, ys, hover, links, rings = [*xs, None], [*ys, None], [*hover, ""], [*links, ["", 0]], [*rings, colour]
        for row in rows:
            xs.append(_value(row, x))
            ys.append(_value(row, y))
            hover.append(_hover(curve, row, x, y))
            links.append([url_of_row(row), row.group_id])
            rings.append(RING if row.verification == VerificationStatus.PASSED else colour)
    lines = {"color": colour, "width": 2 if not first.hollow else 1.3, "dash": "dot" if first.hollow else "solid"}
    # A cross and a hollow shape are nothing but outline; a filled one has none unless it was verified.
    outlined = first.hollow or shape(first.kernel) == SHAPES[KernelStrategy.UNKNOWN]
    widths = [2 if outlined else 1.5 if ring == RING else 0 for ring in rings]
    # Where a curve is a single point its interval is a thin bar; elsewhere the band shows it.
    alone = len(parts) == 1 and len(parts[0][1]) == 1
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escape(first.label),
        "x": xs,
        "y": ys,
        "line": lines,
        "marker": {
            "symbol": shape(first.kernel),
            "size": SIZES.get(shape(first.kernel), 10),
            "color": "var(--surface)" if first.hollow else colour,
            "line": {"width": widths, "color": rings},
        },
        "hovertext": hover,
        "hoverinfo": "text",
        "cliponaxis": False,
        "customdata": links,
        "showlegend": False,
        **(_bar(parts[0][1][0], y, colour) if alone else {}),
    }


def _merged(curves: list[tuple[Curve, list[Row]]], x: Shown, y: Shown) -> list[Trace]:
    looks: dict[tuple[str, str, bool], list[tuple[Curve, list[Row]]]] = defaultdict(list)
    for curve, rows in curves:
        looks[(vendor_token(curve.vendor), curve.kernel, curve.hollow)].append((curve, rows))
    return [_trace(parts, x, y) for parts in looks.values()]


def _bar(row: Row, y: Shown, colour: str) -> Trace:
    figure = row.figures.get(y.name, UNKNOWN)
    if figure.value is None or figure.low is None or figure.high is None:
        return {}
    up, down = (figure.high - figure.value) * y.scale, (figure.value - figure.low) * y.scale
    return {
        "error_y": {
            "type": "data", "symmetric": False, "array": [max(up, 0)], "arrayminus": [max(down, 0)],
            "color": colour, "thickness": 1.2, "width": 4,
        }
    }  # fmt: skip


def _bands(curve: Curve, rows: list[Row], x: Shown, y: Shown) -> list[Trace]:
    """The intervals of neighbouring points as filled bands; where one is unknown the band has a gap."""
    stretches: list[list[tuple[float, Figure]]] = [[]]
    for row in rows:
        figure, place = row.figures.get(y.name, UNKNOWN), _value(row, x)
        if figure.low is None or figure.high is None or place is None:
            stretches.append([])
        else:
            stretches[-1].append((place, figure))
    return [_band(stretch, vendor_token(curve.vendor), y.scale) for stretch in stretches if len(stretch) > 1]


def _band(stretch: list[tuple[float, Figure]], token: str, scale: float) -> Trace:
    high = [(place, (figure.high or 0) * scale) for place, figure in stretch]
    low = [(place, (figure.low or 0) * scale) for place, figure in reversed(stretch)]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [place for place, _value in high + low],
        "y": [float(f"{value:.5g}") for _place, value in high + low],
        "fill": "toself",
        "fillcolor": f"var(--{token}/.14)",
        "line": {"width": 0, "color": f"var(--{token})"},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _frontier(rows: list[Row], x: Shown, y: Shown) -> Trace:
    rows = sorted(_drawable(rows, x, y), key=lambda row: _value(row, x) or 0)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": escape(_("frontier")),
        "x": [_value(row, x) for row in rows],
        "y": [_value(row, y) for row in rows],
        "line": {"color": "var(--accent/.2)", "width": 9, "shape": "linear"},
        "hoverinfo": "skip",
        "showlegend": False,
    }


# ------------------------------------------------------------------------------------------------ words


def _hover(curve: Curve, row: Row, x: Shown, y: Shown) -> str:
    configuration = row.configuration
    lines = [f"<b>{escape(machine_words(configuration))}</b>"]
    lines.append(escape(" · ".join(filter(None, [engine_words(row), label(configuration.kernel)]))))
    lines.append(escape(f"{draft_words(configuration)} · {load_words(row)}"))
    for metric in (x, y):
        figure = row.figures.get(metric.name, UNKNOWN)
        around = interval(figure.low, figure.high, metric.scale)
        text = f"{metric.short}: {written(figure, metric.scale)} {metric.unit}" + (f" ({around})" if around else "")
        lines.append(escape(text))
    if row.cost.per_m_output is not None:
        price = money(row.cost.per_m_output, row.cost.currency)
        lines.append(escape(_("%(price)s per M output tokens") % {"price": price}))
    runs = ngettext("%(n)d run", "%(n)d runs", row.runs) % {"n": row.runs}
    lines.append(escape(f"{label(row.evidence)} · {verification_words(row.verification)} · {runs}"))
    if curve.spans_days > 7:
        lines.append(escape(_("the curve's runs span %(days)d days") % {"days": curve.spans_days}))
    return "<br>".join(lines)


def _labels(curves: list[tuple[Curve, list[Row]]], best: set[str], x: Shown, y: Shown) -> list[dict[str, Any]]:
    """Which curves are named on the chart, the frontier's first; chart.js finds the place, or leaves one out."""
    ordered = sorted(curves, key=lambda part: (part[0].key not in best, -len(part[1])))
    if len(curves) > MAX_LABELS:
        ordered = [part for part in ordered if part[0].key in best]
    found: dict[str, dict[str, Any]] = {}
    for curve, rows in ordered:
        places = sorted((_value(row, x) or 0, _value(row, y) or 0) for row in rows)
        text = escape(_short(curve.label))
        found.setdefault(
            text, {"text": text, "color": f"var(--{vendor_token(curve.vendor)})", "ends": [places[0], places[-1]]}
        )
    return list(found.values())[:MAX_LABELS]


def _short(name: str) -> str:
    """A curve's name for the chart: as many of its parts as fit; hovering says the rest."""
    text, *parts = name.split(" · ")
    for part in parts:
        if len(text) + len(part) > LABEL_LENGTH:
            break
        text += f" · {part}"
    return text


def _plain(points: int, curves: int, x: Shown, y: Shown) -> str:
    """The chart in a sentence, for those who do not see it."""
    shown = ngettext("%(n)d point", "%(n)d points", points) % {"n": points}
    lines = ngettext("%(n)d curve", "%(n)d curves", curves) % {"n": curves}
    return _("%(y)s against %(x)s: %(points)s on %(curves)s. The table below has every figure.") % {
        "y": y.title, "x": x.title, "points": shown, "curves": lines,
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------ layout


def _layout(points: list[Row], x: Shown, y: Shown) -> dict[str, Any]:
    xs = [value for row in points if (value := _value(row, x))] or [10, 100]
    ys = [value for row in points if (value := _value(row, y))] or [1]
    tops = [high * y.scale for row in points if (high := row.figures.get(y.name, UNKNOWN).high)]
    grid = {"gridcolor": "var(--line)", "gridwidth": 1, "zeroline": False, "linecolor": "var(--line)", "ticks": ""}
    return {
        "margin": MARGIN,
        "paper_bgcolor": "var(--surface)",
        "plot_bgcolor": "var(--surface)",
        "font": {"color": "var(--muted)", "size": 12},
        "hovermode": "closest",
        "hoverdistance": 24,
        "hoverlabel": {
            "bgcolor": "var(--surface)", "bordercolor": "var(--field)", "align": "left", "namelength": 0,
            "font": {"color": "var(--ink)", "size": 12.5},
        },
        "dragmode": "zoom",
        "showlegend": False,
        "xaxis": {
            "title": {"text": escape(x.axis), "standoff": 8, "font": {"size": 12.5}},
            "type": "log", "range": _log_range(xs), **_log_ticks(xs), **grid,
        },
        "yaxis": {
            "title": {"text": escape(y.axis_short), "standoff": 10, "font": {"size": 12.5}},
            "range": [0, max(max(ys), min(max(tops, default=0), max(ys) * 1.3)) * 1.07],
            "tickformat": ",~r", "nticks": 7, **grid,
        },
    }  # fmt: skip


def _log_range(values: list[float]) -> list[float]:
    low, high = math.log10(min(values)), math.log10(max(values))
    room = max((high - low) * 0.05, 0.05)
    return [round(low - room, 4), round(high + room, 4)]


def _log_ticks(values: list[float]) -> dict[str, Any]:
    """1, 2, 5, 10 ... over the range, written as people write them."""
    low, high = _log_range(values)
    steps = (1, 2, 5) if high - low < 3 else (1,)
    ticks = [step * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for step in steps]
    ticks = [tick for tick in ticks if low <= math.log10(tick) <= high]
    return {"tickvals": ticks, "ticktext": [f"{tick:,.10g}" for tick in ticks]}
