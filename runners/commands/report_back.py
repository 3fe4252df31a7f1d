"""What became of a push: a row a file, the problems under it, the same as JSON, and the exit code."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from runners.commands.summary import by_file, needs, show_table
from runners.commands.terminal import plain
from runners.deliver import Outcome
from runners.exits import Exit

if TYPE_CHECKING:
    from rich.console import Console

    from runners.contract.problems import FieldError, Problem
    from runners.contract.receipt import Missing, Receipt

#: Of each kind of thing this many are listed and the rest is counted.
LISTED = 10


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


def show(outcomes: list[Outcome], out: "Console", *, explain: bool = False) -> None:
    """The rows, then what was refused, what was understood, what there is to note, and in one line what is not said.

    ``explain``: nothing is counted that can be listed.
    """
    if not outcomes:
        return
    show_table(outcomes, out)
    _show_problems(outcomes, out)
    alone = len(by_file(outcomes)) == 1
    for outcome in outcomes:
        _show_understood(
            outcome, out, fully=explain or (alone and _is_checked(outcome)), most=None if explain else LISTED
        )
    _show_findings(outcomes, out, most=None if explain else LISTED)
    _show_notes(outcomes, out, most=None if explain else LISTED)
    _show_unmapped(outcomes, out)
    _show_unsaid(outcomes, out, explained=explain or (alone and _is_checked(outcomes[0])))
    # One reason usually holds for all that was kept: said once.
    for detail in dict.fromkeys(o.detail for o in outcomes if o.state in ("kept", "received") and o.detail):
        out.print(plain(detail), style="yellow")


def _is_checked(outcome: Outcome) -> bool:
    return outcome.answer is not None and outcome.answer.state == "checked"


def short(receipt: "Receipt") -> str:
    """Enough of a run's id to know it by: the end, since ids of one hour begin alike."""
    return str(receipt.id)[-12:]


def _names(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


# ------------------------------------------------------------ what went wrong


def _show_problems(outcomes: list[Outcome], out: "Console") -> None:
    """Each problem once, with the files that have it: 40 files of one machine lack the same chip."""
    alike: dict[tuple[str, ...], list[str]] = {}
    supported: dict[str, None] = {}
    for outcome in outcomes:
        if outcome.state == "skipped":
            why = _without_list(outcome.detail or "", outcome.supported)
            alike.setdefault(("", f"passed over: {why}"), []).append(outcome.name)
        elif outcome.problem and not needs(outcome):
            problem = outcome.problem
            said = _problem_lines(problem, outcome.supported)
            alike.setdefault((f"{problem.title} ({problem.status})", *said), []).append(outcome.name)
        supported |= dict.fromkeys(outcome.supported)
    for (title, *lines), names in alike.items():
        if title:
            out.print()
            out.print(plain(f"{_names(names)}: {title}"), style="bold red")
            for line in lines:
                out.print(plain(f"  {line}"))
        else:
            out.print(plain(f"{_names(names)}: {lines[0]}"), style="dim")
    if supported:
        out.print(plain(f"Supported tools: {'; '.join(supported)}. More in docs/formats.md."))


def _problem_lines(problem: "Problem", supported: list[str]) -> list[str]:
    asked = problem.code == "missing-context" and bool(problem.errors)
    told = problem.code == "conflict" and problem.remedy in problem.detail
    lines = []
    # The detail of a refused report sums up the errors; with the errors below it would be read twice.
    if problem.detail and not asked and not (problem.errors and problem.detail.startswith(problem.title)):
        lines.append(_without_list(problem.detail, supported))
    if not told:
        lines += [_error_line(error) for error in problem.errors]
    elif len(problem.errors) > 5:
        lines += [_error_line(error) for error in problem.errors[5:]]
    if not asked and not supported and problem.remedy not in problem.detail:
        lines.append(problem.remedy)
    return lines


def _error_line(error: "FieldError") -> str:
    if error.code == "missing" and (error.allowed or "").startswith("--"):
        return f"{error.message}  say it with {error.allowed}"
    if error.code == "differs":
        return f"{error.path}: {error.found} now, {error.allowed}"
    found = f", found {error.found}" if error.found is not None else ""
    allowed = f"; allowed: {error.allowed}" if error.allowed is not None else ""
    return f"{error.path or '(document)'}: {error.message}{found}{allowed}"


def _without_list(detail: str, supported: list[str]) -> str:
    """A site's sentence about an unknown file without the list of tools, which is said once at the end."""
    return detail.replace(f" Supported: {'; '.join(supported)}.", "") if supported else detail


# ------------------------------------------------------------ what was understood, and what is not said


def _show_understood(outcome: Outcome, out: "Console", *, fully: bool, most: int | None) -> None:
    """What the site made of a raw file, and the option for each missing fact."""
    answer = outcome.answer
    if not answer or not fully or outcome.state == "unchanged":
        return
    tool = " ".join(part for part in (answer.tool, answer.tool_version) if part) or "no known tool"
    out.print()
    out.print(plain(f"{outcome.name}: {tool}, {answer.bytes} bytes" + (f" ({answer.why})" if answer.why else "")))
    runs = [run for run in answer.runs if run.understood] if answer.state == "checked" else []
    for run in runs[:most]:
        out.print(plain(f"  result {run.record}: {_summary(run.understood)}"))
    _show_rest(runs, most, out, indent="  ")
    _show_missing([item for run in answer.runs for item in run.missing], out)


def _show_rest(listed: list[Any], most: int | None, out: "Console", *, indent: str = "") -> None:
    if most is not None and len(listed) > most:
        out.print(f"{indent}... and {len(listed) - most} more (--explain lists them)", style="dim")


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
    width = max((len(item.option) for item in once.values()), default=0)
    for item in sorted(once.values(), key=lambda item: not item.required):
        need = "needed: " if item.required else "unknown:"
        out.print(plain(f"  {need} {item.option:<{width}}  {item.question}"), style="yellow")


def _show_unsaid(outcomes: list[Outcome], out: "Console", *, explained: bool) -> None:
    """One line for all that no file and no option said, and how to say it later."""
    told = [o for o in outcomes if (o.answer and o.state not in ("unchanged", "refused")) or needs(o)]
    unsaid = {
        id(outcome): dict.fromkeys(
            item.option.split()[0].removeprefix("--")
            for run in outcome.answer.runs for item in run.missing if not item.required
        )
        for outcome in told if outcome.answer
    }  # fmt: skip
    lacking = [outcome for outcome in told if unsaid.get(id(outcome))]
    if not lacking:
        return
    names = list(dict.fromkeys(name for outcome in lacking for name in unsaid[id(outcome)]))
    if not explained:
        some = "" if all(len(unsaid[id(outcome)]) == len(names) for outcome in lacking) else "some of "
        whom = lacking[0].name if len(lacking) == 1 else f"{some}{len(lacking)} files"
        out.print(
            plain(f"Not said by {whom}: {', '.join(names)} (--explain lists the option for each)"), style="yellow"
        )
    if any(outcome.state in ("stored", "amended") for outcome in lacking):
        out.print("To add facts later: repeat the push with --amend and the options.", style="yellow")


# ------------------------------------------------------------ what there is to note


def _show_findings(outcomes: list[Outcome], out: "Console", *, most: int | None) -> None:
    """The flagged and quarantined runs: one line a run and rule."""
    lines: list[tuple[str, str]] = []
    for outcome in outcomes:
        several = len(outcome.receipts) > 1
        for receipt in outcome.receipts:
            if receipt.outcome == "unchanged":
                continue
            rules = dict.fromkeys((finding.rule, finding.verdict) for finding in receipt.findings)
            for rule, verdict in rules:
                found = [f for f in receipt.findings if (f.rule, f.verdict) == (rule, verdict)]
                where = f" at point {found[0].point}" if found[0].point is not None else ""
                more = f" (and {len(found) - 1} more points)" if len(found) > 1 else ""
                link = f"  {outcome.link(receipt.url)}" if several and receipt.outcome != "checked" else ""
                text = f"{short(receipt)}: {verdict}{where}: {found[0].message}{more} [{rule}]{link}"
                lines.append((verdict, f"{outcome.name} {text}"))
    lines.sort(key=lambda line: line[0] != "quarantine")
    for _, line in lines[:most]:
        out.print(plain(line), style="yellow")
    _show_rest(lines, most, out)


def _show_notes(outcomes: list[Outcome], out: "Console", *, most: int | None) -> None:
    """Each note once, and how often: 37 files of one tool have the same to say."""
    who: dict[str, list[str]] = {}
    for outcome in outcomes:
        answer = outcome.answer
        own = [note for run in answer.runs for note in run.notes] if answer else []
        if answer and answer.removed and outcome.state != "unchanged":
            own.append(f"secret fields taken out before storing: {', '.join(answer.removed)}")
        # What the file's own lines say stands in the receipt as well.
        later = [note for receipt in outcome.receipts for note in receipt.notes if note not in own]
        for note in [*(own if outcome.state != "unchanged" else ()), *later]:
            who.setdefault(note, []).append(outcome.name)
    for note, names in list(who.items())[:most]:
        files = list(dict.fromkeys(names))
        times = f" x {len(names)}" if len(names) > 1 else ""
        out.print(plain(f"{_names(files)}: {note}{times}"), style="dim")
    _show_rest(list(who), most, out)


def _show_unmapped(outcomes: list[Outcome], out: "Console") -> None:
    """Chips and models that the catalogue does not know, each once: a sweep of 50 files names the same one 50 times."""
    receipts = [r for outcome in outcomes for r in outcome.receipts if r.outcome != "unchanged"]
    names = [("chip", name) for receipt in receipts for name in receipt.unknown_chips]
    names += [("model", name) for receipt in receipts for name in receipt.unknown_models]
    notes = [note for receipt in receipts for note in receipt.notes]
    for kind, name in dict.fromkeys(names):
        if any(note.startswith(f"the {kind} {name} is not in the catalogue;") for note in notes):
            continue  # said already, with what it may have meant
        runs = names.count((kind, name))
        where = f"{runs} runs" if runs > 1 else "1 run"
        out.print(plain(f"the {kind} {name} ({where}) is not in the catalogue; an operator can map it"), style="yellow")
