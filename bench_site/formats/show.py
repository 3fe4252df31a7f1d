"""A reading as text for people, and as the plain JSON that checks compare."""

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bench_site.formats.outcome import Reading
from runners.contract.figures import Distribution, Point
from runners.contract.report import Report


def as_plain(file: str, reading: Reading) -> dict[str, Any]:
    """One file's reading with flat points: seconds, tokens/s of the whole system; a key that is unknown is absent."""
    found: dict[str, Any] = {"file": file, "verdict": reading.verdict}
    if reading.tool:
        failed = all(run.report.status.value == "failed" for run in reading.runs)
        found |= {
            "tool": reading.tool,
            "status": "failed" if failed else "completed",
            "format": reading.format,
            "why": reading.why,
            "runs": len(reading.runs),
        }
    found["reason"] = " ".join(reading.reasons)
    if reading.refusal:
        found["code"] = reading.refusal.code
    found["points"] = [_plain_point(run.report, point) for run, point in reading.points()]
    return found


def _plain_point(report: Report, point: Point) -> dict[str, Any]:
    metrics, work = point.metrics, report.workload
    values: dict[str, Any] = {
        "load": point.load.model_dump(exclude_none=True),
        "requests_sent": point.requests.sent,
        "requests_completed": point.requests.completed,
        "requests_failed": point.requests.failed,
        "duration_s": point.duration,
        "input_tokens_mean": point.tokens.input_mean,
        "output_tokens_mean": point.tokens.output_mean,
        "input_tokens_asked": work.input_tokens,
        "output_tokens_asked": work.output_tokens,
        **metrics.rates.model_dump(exclude_none=True),
        **{f"{name}_s": _plain(getattr(metrics, name)) for name in ("ttft", "tpot", "ntpot", "itl", "e2el")},
    }
    return {key: value for key, value in values.items() if value is not None}


def _plain(distribution: Distribution | None) -> dict[str, float] | None:
    return distribution.model_dump(exclude_none=True) if distribution else None


def print_reading(console: Console, file: str, reading: Reading) -> None:
    """What was understood, what is missing and how to say it."""
    colour = {"accept": "green", "flag": "yellow", "refuse": "red"}[reading.verdict]
    console.print(f"[bold]{escape(file)}[/bold]  [{colour}]{reading.verdict}[/{colour}]", highlight=False)
    if reading.tool:
        console.print(f"  {escape(reading.title or '')}: {escape(reading.why or '')} ({escape(reading.format or '')})")
    for reason in reading.reasons[:10]:
        console.print(f"  [{colour}]![/{colour}] {escape(reason)}")
    if not reading.runs:
        console.print()
        return
    console.print(_table(reading))
    first = reading.runs[0]
    for line in list(dict.fromkeys([*reading.notes, *(note for run in reading.runs for note in run.notes)]))[:12]:
        console.print(f"  - {escape(line)}")
    if reading.secrets:
        console.print(f"  removed before storing: {escape(', '.join(reading.secrets[:6]))}")
    if first.missing:
        console.print("  missing, say it with:")
        for fact in first.missing:
            mark = "[red]*[/red]" if fact.required else " "
            console.print(f"   {mark} {escape(fact.option):32} {escape(fact.question)}")
    console.print()


def _table(reading: Reading) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("  model", no_wrap=True)
    table.add_column("chips", no_wrap=True)
    for head in ("load", "done", "output tok/s", "TTFT p50 s", "TPOT p50 s", "E2EL p50 s"):
        table.add_column(head, justify="right", no_wrap=True)
    points = reading.points()
    for run, point in points[:20]:
        metrics = point.metrics
        pools = " + ".join(f"{pool.chips or '?'} {pool.chip or '?'}" for pool in run.report.system.pools)
        load = point.load.model_dump(exclude_none=True)
        table.add_row(
            f"  {escape(run.report.model.name or '?')}",
            escape(pools or "?"),
            ", ".join(f"{key} {value:g}" if value is not True else key for key, value in load.items()) or "?",
            _figure(point.requests.completed),
            _figure(metrics.rates.output_tokens_per_s),
            *(_figure(part.p50 if part else None) for part in (metrics.ttft, metrics.tpot, metrics.e2el)),
        )
    if len(points) > 20:
        table.add_row(f"  and {len(points) - 20} more")
    return table


def _figure(value: float | None) -> str:
    return (
        "?"
        if value is None
        else f"{value:,}"
        if isinstance(value, int)
        else f"{value:,.4g}"
        if value < 100
        else f"{value:,.1f}"
    )
