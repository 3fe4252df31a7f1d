"""Write the list of metrics into its page: ``python -m bench_site.metrics docs/metrics.md`` (without a path: print)."""

import sys
from pathlib import Path

from bench_site.metrics.declaration import Direction, Metric
from bench_site.metrics.registry import METRICS

BEGIN, END = "<!-- metrics: written by python -m bench_site.metrics -->\n", "<!-- metrics: end -->\n"
FAMILIES = {
    "throughput": "Speed and rates",
    "latency": "Latency",
    "kernel": "Kernels and memory",
    "energy": "Energy",
    "speculation": "Speculative decoding",
    "cost": "Cost",
}
BETTER = {
    Direction.HIGHER: "higher is better",
    Direction.LOWER: "lower is better",
    Direction.NEITHER: "describes the load; neither is better",
}


def listing() -> str:
    """Every metric as Markdown, family by family."""
    parts = []
    for family, title in FAMILIES.items():
        parts.append(f"### {title}\n")
        parts += [_entry(metric) for metric in METRICS.values() if metric.family == family]
    return "\n".join(parts)


def _entry(metric: Metric) -> str:
    shown = "" if metric.scale == 1 else f", shown in {metric.display_unit}"
    lines = [
        f"**`{metric.name}`** {metric.title}. Unit: {metric.unit}{shown}; {BETTER[metric.direction]}.",
        metric.formula,
        f"Noise floor {metric.floor * 100:g} % ({metric.floor_source}).",
        _example(metric),
    ]
    return "\n".join(line for line in lines if line) + "\n"


def _example(metric: Metric) -> str:
    facts, value = metric.example
    if value is None:
        return "Worked example: [cost.md](cost.md)."
    given = ", ".join(f"{name} = {fact:g}" for name, fact in facts.items())
    return f"Example: {given} gives {metric.shown(value):g} {metric.display_unit}."


def written_into(page: str) -> str:
    """``page`` with the list between its two marks. Raises ValueError without the marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page needs the lines {BEGIN.strip()} and {END.strip()}")
    return f"{before}{begin}\n{listing()}\n{end}{after}"


def main(arguments: list[str]) -> None:
    if not arguments:
        print(listing())
        return
    page = Path(arguments[0])
    page.write_text(written_into(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
