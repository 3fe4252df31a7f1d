"""What became of each file in one row, however many runs or reports it holds."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from runners.commands.terminal import plain
from runners.deliver import Outcome

if TYPE_CHECKING:
    from rich.console import Console

    from runners.contract.receipt import Missing

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
_GRAVITY = ("refused", "kept", "received", "stored", "amended", "checked", "unchanged", "elsewhere", "skipped")
_JUDGED = {"flag": "flagged", "quarantine": "quarantined"}
#: Of a list of reports each is an outcome: "list.json[3]".
_PART = re.compile(r"\[\d+\]$")
#: Cells of a file's name that a narrow terminal always shows.
_LEAST_NAME = 24


@dataclass
class File:
    """One file or list, and the outcomes of what it held."""

    name: str
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def state(self) -> str:
        """The gravest state of its outcomes."""
        states = {outcome.state for outcome in self.outcomes}
        return next(state for state in _GRAVITY if state in states)


def by_file(outcomes: Iterable[Outcome]) -> list[File]:
    """The outcomes file by file, in the order sent; what waited in the outbox stays apart."""
    found: dict[tuple[str, bool], File] = {}
    for outcome in outcomes:
        name = _PART.sub("", outcome.name)
        found.setdefault((name, outcome.waited is not None), File(name)).outcomes.append(outcome)
    for file in found.values():
        if len(file.outcomes) == 1:
            file.name = file.outcomes[0].name
    return list(found.values())


def needs(outcome: Outcome) -> list["Missing"]:
    """The facts that a dry run found to be missing, each once; nothing if something else is wrong with the file."""
    answer = outcome.answer
    if outcome.state != "refused" or answer is None or answer.state != "checked":
        return []
    if any(run.problem and not any(item.required for item in run.missing) for run in answer.runs):
        return []
    return list({item.option: item for run in answer.runs for item in run.missing if item.required}.values())


def show_table(outcomes: list[Outcome], out: "Console") -> None:
    """The rows; a link that does not fit beside its file goes on a line of its own, where it can be clicked."""
    from rich.cells import cell_len, set_cell_size
    from rich.text import Text

    rows = [(plain(file.name), *_words(file), plain(_link(file))) for file in by_file(outcomes)]
    name_width = max(cell_len(name) for name, *_ in rows)
    word_width = max(cell_len(words) for _, words, _, _ in rows)
    link_width = max(cell_len(link) for *_, link in rows)
    beside = name_width + word_width + link_width + 4 <= out.width
    if not beside and name_width + word_width + 2 > out.width:
        name_width = min(name_width, max(_LEAST_NAME, out.width - word_width - 2))
    for name, words, style, link in rows:
        line = Text(set_cell_size(shortened(name, name_width), name_width) + "  ")
        line.append(set_cell_size(words, word_width) if beside and link else words, style)
        if beside and link:
            line.append(f"  {link}")
        out.print(line, soft_wrap=beside)
        if link and not beside:
            out.print(f"  {link}", soft_wrap=True)


def shortened(name: str, width: int) -> str:
    """``name`` in at most ``width`` cells, without its middle: the end tells one file of a folder from the next."""
    from rich.cells import cell_len

    if cell_len(name) <= width:
        return name
    head, tail = name, ""
    keep = max(1, (width - 1) * 2 // 3)
    for letter in reversed(name):
        if cell_len(letter + tail) > keep:
            break
        tail = letter + tail
    while head and cell_len(head) + 1 + cell_len(tail) > width:
        head = head[:-1]
    return f"{head}…{tail}"


def _words(file: File) -> tuple[str, str]:
    """What became of the file, and the style to say it in."""
    text, style = WORDS[file.state]
    receipts = [receipt for outcome in file.outcomes for receipt in outcome.receipts]
    wanted = list({item.option: None for outcome in file.outcomes for item in needs(outcome)})
    points = sum(receipt.points for receipt in receipts)
    judged = Counter(_JUDGED[receipt.plausibility] for receipt in receipts if receipt.plausibility in _JUDGED)
    if wanted:
        text, style = f"NEEDS: {', '.join(wanted)}", "bold yellow"
    elif len(receipts) + len(file.outcomes) > 2 or (receipts and file.state == "refused"):
        became = Counter(receipt.outcome for receipt in receipts)
        bare = Counter[str](outcome.state for outcome in file.outcomes if not outcome.receipts)
        for outcome in file.outcomes:
            if outcome.receipts and outcome.state == "refused" and outcome.answer:
                bare["refused"] += sum(run.problem is not None for run in outcome.answer.runs)
        both = became + bare
        parts = [f"{both[state]} {WORDS[state][0]}" for state in _GRAVITY if both[state]]
        parts += [f"{number} {word}" for word, number in judged.items()]
        text = f"{_many(points, 'point')} in {_many(both.total(), 'run')}: {', '.join(parts)}"
    elif receipts:
        revision = f" (revision {receipts[0].revision})" if receipts[0].revision > 1 else ""
        answer = file.outcomes[0].answer
        tool = [answer.tool] if answer and answer.tool and file.state == "checked" else []
        text = ", ".join([text + revision, *tool, _many(points, "point"), *judged])
    waited = next((outcome.waited for outcome in file.outcomes if outcome.waited), None)
    return text + (f" (waited since {_moment(waited)})" if waited else ""), style


def _many(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _moment(time: datetime) -> str:
    here = time.astimezone()
    return f"{here:%H:%M}" if here.date() == datetime.now().astimezone().date() else f"{here:%Y-%m-%d %H:%M}"


def _link(file: File) -> str:
    """Of a file of many runs: the first of them."""
    for outcome in file.outcomes:
        for receipt in outcome.receipts:
            if receipt.outcome != "checked":
                return outcome.link(receipt.url)
        if outcome.answer and outcome.state == "received":
            return outcome.link(outcome.answer.url)
    return ""
