"""``fuseboard compare``"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated
from urllib.parse import parse_qsl, urlsplit

import typer

from runners.commands.terminal import console, natural_width, plain, say, stop
from runners.exits import Exit

#: A value that all rows share is said above the table if it is at most this long.
_SAID = 40
#: Columns that a narrow terminal does not lose: a claimed number must never look like a measured one.
_KEPT = (
    "rank",
    "pools",
    "interactivity (",
    "output_tokens_per_s_per_chip (",
    "cost_per_m_output_tokens (",
    "evidence",
    "verification",
)
#: What the page shows as "unknown" where the CSV has an empty cell; in other columns empty means that nothing applies.
_UNKNOWN = ("model", "engine", "strategy", "speculative", "ttft_p50 (", "tpot_p50 (", *_KEPT[1:])
#: Columns by shorter headings, the unit on a line of its own.
_SHORT = {
    "pools": "machine",
    "interactivity": "interactivity",
    "output_tokens_per_s_per_chip": "output rate",
    "cost_per_m_output_tokens": "cost",
    "ttft_p50": "TTFT p50",
    "tpot_p50": "TPOT p50",
}
_UNITS = {"tokens/s/user": "tok/s/user", "tokens/s/chip": "tok/s/chip"}
#: Cells of this many letters are not folded.
_WHOLE = 14
#: Columns of text that a table without --all takes at most, also where no terminal sets an edge.
_WIDEST = 200

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def compare(
    address: Annotated[
        str | None, typer.Argument(help="A compare page's address from the browser (in quotes)", show_default=False)
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(help="One choice, named as in the page's address; repeat for more", metavar="NAME=VALUE"),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Write the site's CSV to standard output, byte for byte")] = False,
    all_columns: Annotated[bool, typer.Option("--all", help="Every column; without choices every row")] = False,
    url: Annotated[str | None, typer.Option(help="Address of the site")] = None,
    token: Annotated[str | None, typer.Option(help="Token, for a site that is not public")] = None,
) -> None:
    """Print the site's compare table: the same rows and figures as on the page; without choices its first view."""
    from runners import settings
    from runners.client import Client
    from runners.failures import NotSignedIn, Refused, Unsent
    from runners.retry import INTERACTIVE

    query = _choices(param or [])
    try:
        if address:
            base, pasted = _taken_apart(address)
            query = pasted + query
            url = url or base
        site = settings.resolve(url, token)
        with Client(site.url, site.token, patience=INTERACTIVE) as client:
            if not query and not all_columns:
                query = client.first_view()
            content = client.compare_csv(query)
    except settings.SettingsError as error:
        stop(str(error), Exit.SIGNED_OUT)
    except NotSignedIn as error:
        stop(str(error), Exit.SIGNED_OUT)
    except Refused as error:
        stop(str(error), Exit.REFUSED)
    except Unsent as error:
        stop(str(error), Exit.UNSENT)
    if csv:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        _show(content.decode("utf-8-sig", "replace"), everything=all_columns)


def _choices(given: list[str]) -> list[tuple[str, str]]:
    for choice in given:
        if not choice.partition("=")[1]:
            stop(f"--param takes NAME=VALUE, e.g. --param chip=h200; found {choice!r}", Exit.USAGE)
    return [(name, value) for name, _, value in (choice.partition("=") for choice in given)]


def _taken_apart(address: str) -> tuple[str | None, list[tuple[str, str]]]:
    """A page's address as the site's address (None if it holds none) and the choices in it."""
    parts = urlsplit(address)
    choices = parse_qsl(parts.query, keep_blank_values=True)
    if not parts.scheme:
        return None, choices
    path = parts.path
    for ending in ("/compare.csv", "/compare/", "/compare"):
        path = path.removesuffix(ending)
    return f"{parts.scheme}://{parts.netloc}{path}", choices


def _show(text: str, *, everything: bool) -> None:
    """The table; what is the same in all rows is said once above it, and empty columns are left out."""
    import csv
    import io

    rows = list(csv.reader(io.StringIO(text)))
    if len(rows) < 2:
        say("no rows match this choice")
        return
    header, body = rows[0], [[_readable(cell) for cell in row] for row in rows[1:]]
    columns = {title: [row[at] if at < len(row) else "" for row in body] for at, title in enumerate(header)}
    if not everything:
        _name_the_unknown(columns)
    out = console()
    if everything:
        table = _table(columns, lambda title: title.replace(" (", "\n("))
        out.width = max(out.width, natural_width(out, table))
        out.print(table)
        return
    filled = {title: cells for title, cells in columns.items() if any(cells)}
    same = {
        title: cells[0]
        for title, cells in filled.items()
        if len(body) > 1 and len(set(cells)) == 1 and not title.startswith(_KEPT[:-1])  # the answer itself is a column
    }
    if len(same) == len(filled):
        same.popitem()  # rows that agree in everything are still rows
    said = {title: value for title, value in same.items() if len(value) <= _SAID}
    if said:
        out.print(plain("; ".join(f"{title}: {value}" for title, value in said.items())), style="dim")
    differing = {title: cells for title, cells in filled.items() if title not in same}
    shown = _fitting(differing, out)
    out.print(_table(shown))
    if left := len(columns) - len(said) - len(shown):
        say(f"{left} more columns: --all shows them, --csv has them too")


def _name_the_unknown(columns: dict[str, list[str]]) -> None:
    """Say what an empty cell means: an unknown figure, or what keeps the cost from being known."""
    why = columns.get("cost_missing", [])
    for title, cells in columns.items():
        if title == "pools":
            # One pool for all work is the usual case: its role says nothing.
            cells[:] = [cell.removeprefix("all: ") if ";" not in cell else cell for cell in cells]
        if not title.startswith(_UNKNOWN):
            continue
        reasons = why if title.startswith("cost_per_m_output_tokens (") else []
        for at, cell in enumerate(cells):
            if not cell:
                cells[at] = (reasons[at] if reasons else "") or "unknown"
    columns.pop("cost_missing", None)  # said in the cost's own place


def _heading(title: str) -> str:
    """A column's heading: a short name, and the unit below it, since most headings are wider than their figures."""
    name, bracket, unit = title.partition(" (")
    unit = unit.removesuffix(")").replace(" output tokens", " out")
    return _SHORT.get(name, name) + (f"\n({_UNITS.get(unit, unit)})" if bracket else "")


def _fitting(columns: dict[str, list[str]], out: "Console") -> dict[str, list[str]]:
    """The columns that fit, from the left: the site puts those of its page first and where they come from last."""
    shown = dict(columns)
    spare = [title for title in columns if not title.startswith(_KEPT)]
    while len(spare) > 1 and natural_width(out, _table(shown)) > min(out.width, _WIDEST):
        del shown[spare.pop()]
    return shown


def _table(columns: dict[str, list[str]], heading: Callable[[str], str] = _heading) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, cells in columns.items():
        numeric = all(_is_number(cell.replace(",", "")) for cell in cells if cell and cell != "unknown")
        # Figures stay whole; what gives way on a narrow terminal is text, such as why there is no price.
        whole = numeric or max(map(len, cells), default=0) <= _WHOLE
        table.add_column(plain(heading(title)), justify="right" if numeric else "left", overflow="fold", no_wrap=whole)
    for row in zip(*columns.values(), strict=True):
        table.add_row(*map(plain, row))
    return table


def _readable(cell: str) -> str:
    """A figure to five digits (the CSV has all of them), and text without a spreadsheet's guarding apostrophe."""
    if len(cell) > 1 and cell[0] == "'" and cell[1] in "=+-@\t\r":
        return cell[1:]
    if "." not in cell or len(cell) <= 6 or not _is_number(cell):
        return cell
    number = float(cell)
    return f"{number:,.0f}" if abs(number) >= 100_000 else f"{number:.5g}"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
