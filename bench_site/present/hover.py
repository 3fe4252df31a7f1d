"""What hovering over a point says. Shared words once, few values a point: chart.js joins them into lines.

Every text is escaped here, before it enters the figure.
"""

from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from bench_site.compare.curves import machine_label
from bench_site.compare.shapes import UNKNOWN, Curve, Row
from bench_site.present.escape import escape
from bench_site.present.metric_words import Shown
from bench_site.present.numbers import money
from bench_site.present.words import draft_words, engine_words, load_words, verification_words
from bench_site.runs.models.words import Plausibility, label


@dataclass(frozen=True, slots=True)
class Axes:
    """The two metrics of a chart."""

    x: Shown
    y: Shown


def rounded(value: float) -> float:
    """``value`` with five significant digits: what a screen can show."""
    return float(f"{value:.5g}")


def _why(found: str) -> str:
    """What the rules of plausibility found, in lines that fit a hover card."""
    return "".join(f"<br>{escape(line)}" for line in wrap(found[:240], 64))


class HoverWords:
    """The hover texts of one figure; texts that many points share are made once."""

    def __init__(self, axes: Axes, *, costs: bool) -> None:
        self.axes, self.costs = axes, costs
        self._loads: dict[tuple[str, float | None, int | None], str] = {}
        self._runs: dict[int, str] = {}
        self._states: dict[tuple[str, str, str, bool], str] = {}

    def shared(self) -> dict[str, Any]:
        """What all points share: the axes' names and units, and where the runs of a group are."""
        axes = {name: [escape(m.short), escape(m.unit)] for name, m in (("x", self.axes.x), ("y", self.axes.y))}
        return {**axes, "runs": f"{reverse('runs')}?group="}

    def head(self, curve: Curve, row: Row) -> str:
        """What all points of a curve share."""
        configuration = row.configuration
        lines = [
            f"<b>{escape(machine_label(configuration))}</b>",
            escape(f"{engine_words(row)} · {label(configuration.kernel)}"),
            escape(" · ".join(filter(None, [draft_words(configuration), configuration.precision]))),
        ]
        if curve.spans_days:
            lines.append(escape(_("the curve's runs span %(days)d days") % {"days": curve.spans_days}))
        return "<br>".join(lines)

    def point(self, curve: int, row: Row) -> list[Any]:
        """[group, place of its head, load, interval of x, interval of y, state, cost or ""]."""
        return [
            row.group_id, curve, self._load(row), self._interval(row, self.axes.x), self._interval(row, self.axes.y),
            f"{self._state(row)} · {self._run(row.runs)}{_why(row.why_marked)}", self._cost(row) if self.costs else "",
        ]  # fmt: skip

    def _interval(self, row: Row, metric: Shown) -> list[float] | None:
        figure = row.figures.get(metric.name, UNKNOWN)
        if figure.low is None or figure.high is None:
            return None
        return [rounded(figure.low * metric.scale), rounded(figure.high * metric.scale)]

    def _load(self, row: Row) -> str:
        key = (row.load_kind, row.load_value, row.context_tokens)
        if key not in self._loads:
            self._loads[key] = escape(load_words(*key))
        return self._loads[key]

    def _run(self, runs: int) -> str:
        if runs not in self._runs:
            self._runs[runs] = escape(ngettext("%(n)d run", "%(n)d runs", runs) % {"n": runs})
        return self._runs[runs]

    def _state(self, row: Row) -> str:
        """Evidence, verification, and what else must be known before the point is believed."""
        from_mean = row.interactivity_from == "mean" and "interactivity" in (self.axes.x.name, self.axes.y.name)
        key = (row.evidence, row.verification, row.plausibility, from_mean)
        if key not in self._states:
            words = [label(row.evidence), verification_words(row.verification)]
            if row.plausibility != Plausibility.ACCEPT:
                words.append(label(Plausibility(row.plausibility)))
            if from_mean:
                words.append(_("from the mean TPOT, where the median is unknown"))
            self._states[key] = escape(" · ".join(map(str, words)))
        return self._states[key]

    @staticmethod
    def _cost(row: Row) -> str:
        cost = row.cost.per_m_output
        if cost is None:
            return ""
        return escape(_("%(price)s per M output tokens") % {"price": money(cost, row.cost.currency)})
