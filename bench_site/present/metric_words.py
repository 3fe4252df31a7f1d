"""Metrics as pages write them: translated titles, the unit that is shown, and what it is multiplied by."""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from bench_site.metrics import Direction, metric_named

#: Units whose words are translated; any other unit is written as it is.
UNITS = {
    "tokens/s/user": gettext_lazy("tokens/s per user"),
    "tokens/s/chip": gettext_lazy("tokens/s per chip"),
    "tokens/s": gettext_lazy("tokens/s"),
    "requests/s": gettext_lazy("requests/s"),
    "dispatches/token": gettext_lazy("dispatches per token"),
    "kernels/token": gettext_lazy("kernels per token"),
    "barriers/token": gettext_lazy("barriers per token"),
    "GB/token": gettext_lazy("GB per token"),
    "J/token": gettext_lazy("J per token"),
    "tokens/step": gettext_lazy("tokens per step"),
    "requests": gettext_lazy("requests"),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A metric for people; ``best_first`` is the value of the URL parameter ``sort`` that lists the best first.

    ``unit_said``: the title says the unit already.
    """

    name: str
    title: str
    short: str
    unit: str
    scale: float
    best_first: str
    axis: str
    axis_short: str
    unit_said: bool


def shown_metric(name: str) -> Shown:
    """The metric ``name`` in the language of the request."""
    metric = metric_named(name)
    title, short = _(metric.title), _(metric.short)
    unit = str(UNITS.get(metric.display_unit, metric.display_unit))
    higher = metric.direction is Direction.HIGHER
    better = {Direction.HIGHER: _("higher is better"), Direction.LOWER: _("lower is better")}.get(metric.direction)
    way = _(" (%s)") % better if better else ""
    # "Output tokens per second, tokens/s" would say the unit twice.
    said = metric.family == "throughput" and metric.display_unit != "tokens/s/user"
    axis = title if said else _(", ").join([title, unit])
    axis_short = short if said else _(", ").join([short, unit])
    best_first = f"-{name}" if higher else name
    return Shown(name, title, short, unit, metric.scale, best_first, axis + way, axis_short + way, said)
