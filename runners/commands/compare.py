"""``fuseboard compare``"""

import sys
from typing import TYPE_CHECKING, Annotated
from urllib.parse import parse_qsl, urlsplit

import typer

from runners.commands.terminal import console, natural_width, plain, say, stop
from runners.exits import Exit

#: A value that all rows share is said above the table if it is at most this long.
_SAID = 40
#: Columns that a narrow terminal does not lose: a claimed number must never look like a measured one.
_KEPT = ("cost_per_m_output", "evidence", "verification")
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
    all_columns: Annotated[bool, typer.Option("--all", help="Show every column, however wide")] = False,
    url: Annotated[str | None, typer.Option(help="Address of the site")] = None,
    token: Annotated[str | None, typer.Option(help="Token, for a site that is not public")] = None,
) -> None:
    """Print the site's compare table: the same rows and figures as on the page."""
    from runners import settings
    from runners.client import Client, NotSignedIn, Refused, Unsent
    from runners.retry import INTERACTIVE

    query = _choices(param or [])
    try:
        if address:
            base, pasted = _taken_apart(address)
            query = pasted + query
            url = url or base
        site = settings.resolve(url, token)
        with Client(site.url, site.token, patience=INTERACTIVE) as client:
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
    out = console()
    if everything:
        out.width = max(out.width, natural_width(out, _table(columns)))
        out.print(_table(columns))
        return
    filled = {title: cells for title, cells in columns.items() if any(cells)}
    same = {title: cells[0] for title, cells in filled.items() if len(body) > 1 and len(set(cells)) == 1}
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


def _fitting(columns: dict[str, list[str]], out: "Console") -> dict[str, list[str]]:
    """The columns that fit, from the left: the site puts those of its page first and where they come from last."""
    shown = dict(columns)
    spare = [title for title in columns if not title.startswith(_KEPT)]
    while len(spare) > 1 and natural_width(out, _table(shown)) > min(out.width, _WIDEST):
        del shown[spare.pop()]
    return shown


def _table(columns: dict[str, list[str]]) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, cells in columns.items():
        numeric = all(_is_number(cell) for cell in cells if cell)
        # The unit below the name: most headings are wider than their figures.
        table.add_column(plain(title).replace(" (", "\n("), justify="right" if numeric else "left", overflow="fold")
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
