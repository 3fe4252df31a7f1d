"""Statistics: numbers in, numbers out. No Django, no metric names, no database."""

from bench_site.stats.center import Summary, interval, median, summarise
from bench_site.stats.frontier import frontier, thin
from bench_site.stats.interpolate import along, interpolate

__all__ = ["Summary", "along", "frontier", "interpolate", "interval", "median", "summarise", "thin"]
