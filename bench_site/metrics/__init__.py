"""One declaration a metric: name, unit, direction, noise floor, formula. No Django: numbers in, numbers out."""

from bench_site.metrics.declaration import Direction, Facts, Metric
from bench_site.metrics.facts import facts_of
from bench_site.metrics.registry import (
    HEADLINE,
    MEASURED,
    METRICS,
    better,
    figures_of,
    figures_of_facts,
    metric_named,
)
from bench_site.metrics.throughput import interactivity_at, interactivity_source

__all__ = [
    "HEADLINE",
    "MEASURED",
    "METRICS",
    "Direction",
    "Facts",
    "Metric",
    "better",
    "facts_of",
    "figures_of",
    "figures_of_facts",
    "interactivity_at",
    "interactivity_source",
    "metric_named",
]
