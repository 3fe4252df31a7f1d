"""A comparison becomes a Plotly figure: plain dictionaries, drawn by static/js/chart.js, checked by the tests.

Colours are tokens such as ``var(--nvidia)`` or ``var(--ink/.1)`` that the browser resolves, so that one figure serves
both themes. Every text goes through ``escape``. Curves are never joined with each other, and no load is left out but by
the comparison's own thinning, which is said.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from bench_site.compare.shapes import UNKNOWN, Comparison, Curve, Row
from bench_site.present.escape import escape
from bench_site.present.hover import Axes, HoverWords, rounded
from bench_site.present.looks import shape, vendor_token
from bench_site.present.metric_words import Shown, shown_metric
from runners.contract.vocabulary import VerificationStatus

Trace = dict[str, Any]

#: Above this many curves the points of one look share a trace (with gaps) and only the frontier keeps its bands: a
#: browser draws 3,000 points in 30 traces in a blink, and in 600 traces in seconds.
MAX_SINGLE_CURVES = 40
#: Above this many points hovering says no cost: each is worked out when it is asked for.
MAX_COSTS = 200
#: At most this many direct labels; more would be a thicket, and hovering names every point.
MAX_LABELS = 12
LABEL_LENGTH = 34
#: The outline of a point whose output was verified.
RING = "var(--ink)"
#: Shapes of equal width do not look equally large.
SIZES = {"triangle-up": 12, "diamond": 12, "x": 9}
MARGIN = {"l": 62, "r": 16, "t": 10, "b": 48}


@dataclass(frozen=True, slots=True)
class Spot:
    """A row's place on the chart."""

    row: Row
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Line:
    """A curve with the rows that have a place."""

    curve: Curve
    spots: list[Spot]
    token: str


def figure(comparison: Comparison) -> dict[str, Any]:
    """The chart of ``comparison``: its y metric against its x metric, frontier, bands, one look a curve."""
    axes = Axes(shown_metric(comparison.selection.x), shown_metric(comparison.selection.y))
    lines = [Line(c, spots, vendor_token(c.vendor)) for c in comparison.curves if (spots := _spots(c.rows, axes))]
    points = sum(len(line.spots) for line in lines)
    many = len(lines) > MAX_SINGLE_CURVES
    best = {row.curve for row in comparison.frontier}
    words = HoverWords(axes, costs=points <= MAX_COSTS)
    data = _frontier(_spots(comparison.frontier, axes), axes)
    data += [band for line in lines if not many or line.curve.key in best for band in _bands(line, axes)]
    data += [_trace(parts, axes, words) for parts in (_by_look(lines) if many else [[line] for line in lines])]
    layout = _layout([spot for line in lines for spot in line.spots], axes)
    layout["meta"] = {"labels": _labels(lines, best), "plain": _plain(points, len(lines), axes), **words.shared()}
    return {"data": data, "layout": layout}


def _spots(rows: Iterable[Row], axes: Axes) -> list[Spot]:
    """The rows with both figures; a logarithmic axis has no place for 0."""
    found = []
    for row in rows:
        x, y = row.figures.get(axes.x.name, UNKNOWN).value, row.figures.get(axes.y.name, UNKNOWN).value
        if x is not None and y is not None and x > 0:
            found.append(Spot(row, rounded(x * axes.x.scale), rounded(y * axes.y.scale)))
    return found


# ------------------------------------------------------------------------------------------------ traces


def _by_look(lines: list[Line]) -> list[list[Line]]:
    looks: dict[tuple[str, str, bool], list[Line]] = defaultdict(list)
    for line in lines:
        looks[(line.token, line.curve.kernel, line.curve.hollow)].append(line)
    return list(looks.values())


def _trace(parts: list[Line], axes: Axes, words: HoverWords) -> Trace:
    """The points of curves that look alike; a gap keeps them apart."""
    first = parts[0].curve
    colour = f"var(--{parts[0].token})"
    spots: list[Spot | None] = []
    hover: list[list[Any] | None] = []
    heads: list[str] = []
    for number, line in enumerate(parts):
        if number:
            spots.append(None)
            hover.append(None)
        heads.append(words.head(line.curve, line.spots[0].row))
        spots += line.spots
        hover += [words.point(number, spot.row) for spot in line.spots]
    rings = [RING if s and s.row.verification == VerificationStatus.PASSED else colour for s in spots]
    # Where a curve is a single point its interval is a thin bar; elsewhere the band shows it.
    alone = parts[0].spots[0].row if len(spots) == 1 else None
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escape(first.label),
        "x": [spot and spot.x for spot in spots],
        "y": [spot and spot.y for spot in spots],
        "line": {
            "color": colour, "width": 1.3 if first.hollow else 2, "dash": "dot" if first.hollow else "solid",
        },
        "marker": {
            "symbol": shape(first.kernel),
            "size": SIZES.get(shape(first.kernel), 10),
            "color": "var(--surface)" if first.hollow else colour,
            "line": {"width": [2 if first.hollow else 1.5 if ring == RING else 0 for ring in rings], "color": rings},
        },
        "hoverinfo": "text",
        "cliponaxis": False,
        "customdata": hover,
        "meta": heads,
        "showlegend": False,
        **(_bar(alone, axes.y, colour) if alone else {}),
    }  # fmt: skip


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


def _bands(line: Line, axes: Axes) -> list[Trace]:
    """The intervals of neighbouring points as filled bands; where one is unknown the band has a gap."""
    stretches: list[list[tuple[float, float, float]]] = [[]]
    for spot in line.spots:
        figure = spot.row.figures.get(axes.y.name, UNKNOWN)
        if figure.low is None or figure.high is None:
            stretches.append([])
        else:
            stretches[-1].append((spot.x, figure.low * axes.y.scale, figure.high * axes.y.scale))
    return [_band(stretch, line.token) for stretch in stretches if len(stretch) > 1]


def _band(stretch: list[tuple[float, float, float]], token: str) -> Trace:
    back = list(reversed(stretch))
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [x for x, _low, _high in stretch + back],
        "y": [rounded(high) for _x, _low, high in stretch] + [rounded(low) for _x, low, _high in back],
        "fill": "toself",
        "fillcolor": f"var(--{token}/.14)",
        "line": {"width": 0, "color": f"var(--{token})"},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _frontier(spots: list[Spot], axes: Axes) -> list[Trace]:
    """Straight along a curve, a step from one curve to another: between two machines nothing was measured."""
    if len(spots) < 2:
        return []
    spots = sorted(spots, key=lambda spot: spot.x)
    corners = [(spots[0].x, spots[0].y)]
    for one, following in pairwise(spots):
        if one.row.curve != following.row.curve:
            greater = axes.x.best_first.startswith("-")
            corners.append((one.x, following.y) if greater else (following.x, one.y))
        corners.append((following.x, following.y))
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": escape(_("frontier")),
            "x": [x for x, _y in corners],
            "y": [y for _x, y in corners],
            "line": {"color": "var(--accent/.2)", "width": 9},
            "hoverinfo": "skip",
            "showlegend": False,
        }
    ]


# ------------------------------------------------------------------------------------------------ words


def _labels(lines: list[Line], best: set[str]) -> list[dict[str, Any]]:
    """Which curves are named on the chart, the frontier's first; labels.js finds the place, or leaves one out."""
    ordered = sorted(lines, key=lambda line: (line.curve.key not in best, -len(line.spots)))
    if len(lines) > MAX_LABELS:
        ordered = [line for line in ordered if line.curve.key in best]
    found: dict[str, dict[str, Any]] = {}
    for line in ordered:
        places = sorted((spot.x, spot.y) for spot in line.spots)
        text = escape(_short(line.curve.label))
        found.setdefault(text, {"text": text, "color": f"var(--{line.token})", "ends": [places[0], places[-1]]})
    return list(found.values())[:MAX_LABELS]


def _short(name: str) -> str:
    """A curve's name for the chart: as many of its parts as fit; hovering says the rest."""
    text, *parts = name.split(" · ")
    for part in parts:
        if len(text) + len(part) > LABEL_LENGTH:
            break
        text += f" · {part}"
    return text


def _plain(points: int, curves: int, axes: Axes) -> str:
    """The chart in a sentence, for those who do not see it."""
    shown = ngettext("%(n)d point", "%(n)d points", points) % {"n": points}
    lines = ngettext("%(n)d curve", "%(n)d curves", curves) % {"n": curves}
    return _("%(y)s against %(x)s: %(points)s on %(curves)s. The table below has every figure.") % {
        "y": axes.y.title, "x": axes.x.title, "points": shown, "curves": lines,
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------ layout


def _layout(spots: list[Spot], axes: Axes) -> dict[str, Any]:
    xs, ys = [spot.x for spot in spots] or [10, 100], [spot.y for spot in spots] or [1]
    highs = [spot.row.figures.get(axes.y.name, UNKNOWN).high for spot in spots]
    top = max((high * axes.y.scale for high in highs if high), default=0)
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
            "title": {"text": escape(axes.x.axis), "standoff": 8, "font": {"size": 12.5}},
            "type": "log", "range": _log_range(xs), **_log_ticks(xs), **grid,
        },
        "yaxis": {
            "title": {"text": escape(axes.y.axis_short), "standoff": 10, "font": {"size": 12.5}},
            "range": [0, max(max(ys), min(top, max(ys) * 1.3)) * 1.07],
            "tickformat": ",~r", "nticks": 7, **grid,
        },
    }  # fmt: skip


def _log_range(values: list[float]) -> list[float]:
    low, high = math.log10(min(values)), math.log10(max(values))
    room = max((high - low) * 0.05, 0.05)
    return [round(low - room, 4), round(high + room, 4)]


#: Steps of one decade, finest last: the first that gives three ticks is taken, so that a narrow range has a scale too.
_STEPS = (
    (1,),
    (1, 2, 5),
    (1, 1.5, 2, 3, 4, 5, 7),
    (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9),
    (*(n / 10 for n in range(10, 20)), *(n / 4 for n in range(8, 20)), *(n / 2 for n in range(10, 20))),
)


def _log_ticks(values: list[float]) -> dict[str, Any]:
    """1, 2, 5, 10 ... over the range, written as people write them."""
    low, high = _log_range(values)
    powers = range(math.floor(low), math.ceil(high) + 1)
    ticks: list[float] = []
    for steps in _STEPS:
        ticks = [step * 10.0**power for power in powers for step in steps]
        ticks = [tick for tick in ticks if low <= math.log10(tick) <= high]
        if len(ticks) >= 3:
            break
    return {"tickvals": ticks, "ticktext": [f"{tick:,.10g}" for tick in ticks]}
