"""What became of a push: one table, the problems under it, the same as JSON, and the exit code."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from runners.commands.terminal import natural_width, plain
from runners.deliver import Outcome
from runners.exits import Exit

if TYPE_CHECKING:
    from rich.console import Console

    from runners.contract.problems import Problem
    from runners.contract.receipt import Missing, Receipt

#: Outcome -> (words, style). Red and green never stand alone: the word says the same.
WORDS = {
    "stored": ("stored", "green"),
    "amended": ("amended", "green"),
    "unchanged": ("unchanged", "dim"),
    "checked": ("checked, not stored", "cyan"),
    "received": ("received, parsing", "yellow"),
    "skipped": ("passed over", "dim"),
    "elsewhere": ("sent by another push", "dim"),
    "refused": ("REFUSED", "bold red"),
    "kept": ("kept in the outbox", "yellow"),
}


def exit_code(outcomes: Iterable[Outcome]) -> Exit:
    """The gravest that applies."""
    listed = list(outcomes)
    if any(outcome.signed_out for outcome in listed):
        return Exit.SIGNED_OUT
    states = {outcome.state for outcome in listed}
    for state, code in (("kept", Exit.UNSENT), ("refused", Exit.REFUSED), ("received", Exit.PARSING)):
        if state in states:
            return code
    return Exit.OK


def as_json(outcomes: list[Outcome], *, code: Exit, waiting: int) -> str:
    """The outcomes for a script. ``waiting`` is how many entries the outbox holds now."""
    return json.dumps(
        {
            "exit_code": int(code),
            "waiting": waiting,
            "outcomes": [_plain_outcome(outcome) for outcome in outcomes],
        },
        indent=2,
    )


def _plain_outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "name": outcome.name,
        "url": outcome.url,
        "outcome": outcome.state,
        "detail": outcome.detail,
        "receipts": [receipt.model_dump(mode="json") for receipt in outcome.receipts],
        "problem": outcome.problem.model_dump(mode="json") if outcome.problem else None,
        "answer": outcome.answer.model_dump(mode="json", exclude_none=True) if outcome.answer else None,
        "outbox_id": outcome.outbox_id if outcome.state in ("kept", "refused") else None,
    }


def show(outcomes: list[Outcome], out: "Console") -> None:
    """The table of receipts, then what was refused, what is missing, and what there is to note."""
    if outcomes:
        _show_table(outcomes, out)
    for outcome in outcomes:
        if outcome.problem:
            _show_problem(outcome, outcome.problem, out)
        elif outcome.detail and outcome.state == "skipped":
            out.print(plain(f"{outcome.name}: {outcome.detail}"), style="dim")
        _show_understood(outcome, out)
        _show_notes(outcome, out)
    _show_unmapped(outcomes, out)
    # One reason usually holds for all that was kept: said once.
    for detail in dict.fromkeys(o.detail for o in outcomes if o.state in ("kept", "received") and o.detail):
        out.print(plain(detail), style="yellow")


def _show_table(outcomes: list[Outcome], out: "Console") -> None:
    """On a narrow terminal the links go below: folded in a column nobody could click or copy them."""
    table = _table(outcomes, links=True)
    wide = natural_width(out, table) <= out.width
    out.print(table if wide else _table(outcomes, links=False))
    if not wide:
        for outcome in outcomes:
            for receipt in outcome.receipts:
                if receipt.outcome != "checked":
                    out.print(plain(outcome.link(receipt.url)), soft_wrap=True)


def _table(outcomes: list[Outcome], *, links: bool) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("file", "run", "outcome"):
        table.add_column(title, overflow="fold")
    table.add_column("points", justify="right")
    table.add_column("plausibility")
    if links:
        table.add_column("link")
    for outcome in outcomes:
        name = Text(plain(outcome.name))
        for receipt in outcome.receipts:
            word, style = WORDS[receipt.outcome]
            revision = f" (revision {receipt.revision})" if receipt.revision > 1 else ""
            address = "" if receipt.outcome == "checked" else outcome.link(receipt.url)
            known = [str(receipt.points), receipt.plausibility, *([plain(address)] if links else [])]
            table.add_row(name, short(receipt), Text(word + revision, style), *known)
        if not outcome.receipts or outcome.state == "refused":
            word, style = WORDS[outcome.state]
            later = outcome.link(outcome.answer.url) if outcome.answer and outcome.state == "received" else ""
            table.add_row(name, "", Text(word, style), "", "", *([plain(later)] if links else []))
    return table


def short(receipt: "Receipt") -> str:
    """Enough of a run's id to know it by: the end, since ids of one hour begin alike."""
    return str(receipt.id)[-12:]


def _show_problem(outcome: Outcome, problem: "Problem", out: "Console") -> None:
    out.print()
    out.print(plain(f"{outcome.name}: {problem.title} ({problem.status})"), style="bold red")
    # The detail of a refused report sums up the errors; with the errors below it would be read twice.
    if problem.detail and not (problem.errors and problem.detail.startswith(problem.title)):
        out.print(plain(f"  {problem.detail}"))
    answered = {item.path for run in outcome.answer.runs for item in run.missing} if outcome.answer else set()
    for error in problem.errors:
        if error.path in answered:
            continue  # asked for below, with the option that says it
        found = f", found {error.found}" if error.found is not None else ""
        allowed = f"; allowed: {error.allowed}" if error.allowed is not None else ""
        out.print(plain(f"  {error.path or '(document)'}: {error.message}{found}{allowed}"))
    out.print(plain(f"  {problem.remedy}"))


def _show_understood(outcome: Outcome, out: "Console") -> None:
    """What the site made of a raw file: in a dry run all of it, else only what is still missing."""
    answer = outcome.answer
    if not answer:
        return
    if answer.state == "checked":
        tool = " ".join(part for part in (answer.tool, answer.tool_version) if part) or "no known tool"
        out.print()
        out.print(plain(f"{outcome.name}: {tool}, {answer.bytes} bytes" + (f" ({answer.why})" if answer.why else "")))
    elif answer.removed or any(run.missing or run.notes for run in answer.runs):
        out.print(plain(f"{outcome.name}:"))
    if answer.removed:
        out.print(plain(f"  secret fields taken out before storing: {', '.join(answer.removed)}"))
    for run in answer.runs:
        if answer.state == "checked" and run.understood:
            out.print(plain(f"  result {run.record}: {_summary(run.understood)}"))
        for note in run.notes:
            out.print(plain(f"  {note}"), style="dim")
    _show_missing([item for run in answer.runs for item in run.missing], out)


def _summary(report: Any) -> str:
    """One line of facts; what is unknown is not mentioned here but in the list of what is missing."""
    pools = [
        f"{p.chips or '?'} x {p.chip or '?'}" + (f" {p.role}" if p.role != "all" else "") for p in report.system.pools
    ]
    workload = report.workload
    lengths = f"{workload.input_tokens}/{workload.output_tokens} tokens" if workload.input_tokens is not None else ""
    speculative = report.strategy.speculative
    facts = [
        report.model.name,
        report.model.precision.weights,
        " + ".join(pools),
        " ".join(part for part in (report.engine.name, report.engine.version) if part),
        report.strategy.kernel if report.strategy.kernel != "unknown" else "",
        f"speculative {speculative.method}" if speculative else "",
        lengths,
        f"{len(report.points)} point{'s' if len(report.points) != 1 else ''}",
        report.evidence,
    ]
    return ", ".join(str(fact) for fact in facts if fact)


def _show_missing(missing: "list[Missing]", out: "Console") -> None:
    """Each missing fact once: a file of 20 results lacks the same chip 20 times."""
    once = {(item.path, item.option): item for item in missing}
    for item in sorted(once.values(), key=lambda item: not item.required):
        need = "needed" if item.required else "unknown"
        out.print(plain(f"  {need}: {item.question} ({item.path})  say it with {item.option}"), style="yellow")


def _show_notes(outcome: Outcome, out: "Console") -> None:
    """Findings and notes of each run, without those that the file's own lines have said."""
    said = {note for run in outcome.answer.runs for note in run.notes} if outcome.answer else set()
    for receipt in outcome.receipts:
        who = f"{outcome.name} {short(receipt)}"
        for finding in receipt.findings:
            where = f" at point {finding.point}" if finding.point is not None else ""
            out.print(plain(f"{who}: {finding.verdict}{where}: {finding.message} [{finding.rule}]"), style="yellow")
        for note in receipt.notes:
            if note not in said:
                out.print(plain(f"{who}: {note}"), style="dim")


def _show_unmapped(outcomes: list[Outcome], out: "Console") -> None:
    """Chips and models that the catalogue does not know, each once: a sweep of 50 files names the same one 50 times."""
    receipts = [receipt for outcome in outcomes for receipt in outcome.receipts]
    names = [("chip", name) for receipt in receipts for name in receipt.unknown_chips]
    names += [("model", name) for receipt in receipts for name in receipt.unknown_models]
    for kind, name in dict.fromkeys(names):
        runs = names.count((kind, name))
        where = f"{runs} runs" if runs > 1 else "1 run"
        out.print(plain(f"the {kind} {name} ({where}) is not in the catalogue; an operator can map it"), style="yellow")
