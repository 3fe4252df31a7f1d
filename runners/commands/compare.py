"""``fuseboard compare``"""

import sys
from typing import TYPE_CHECKING, Annotated
from urllib.parse import parse_qsl, urlsplit

import typer

from runners.commands.terminal import console, natural_width, plain, say, stop
from runners.exits import Exit

if TYPE_CHECKING:
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
        _show(content.decode("utf-8-sig"), everything=all_columns)


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
    header, body = rows[0], [[_unguarded(cell) for cell in row] for row in rows[1:]]
    columns = {title: [row[at] if at < len(row) else "" for row in body] for at, title in enumerate(header)}
    if not everything:
        columns = {title: cells for title, cells in columns.items() if any(cells)}
        same = {title: cells[0] for title, cells in columns.items() if len(body) > 1 and len(set(cells)) == 1}
        if len(same) == len(columns):
            same.popitem()  # rows that agree in everything are still rows
        if same:
            console().print(plain("; ".join(f"{title}: {value}" for title, value in same.items())), style="dim")
        columns = {title: cells for title, cells in columns.items() if title not in same}
    _print(columns, everything=everything)


def _print(columns: dict[str, list[str]], *, everything: bool) -> None:
    out = console()
    shown = dict(columns)
    while len(shown) > 1 and not everything and natural_width(out, _table(shown)) > out.width:
        shown.popitem()
    table = _table(shown)
    if everything:
        out.width = max(out.width, natural_width(out, table))
    out.print(table)
    if len(shown) < len(columns):
        say(f"{len(columns) - len(shown)} more columns: --all shows them, --csv has them too")


def _table(columns: dict[str, list[str]]) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, cells in columns.items():
        numeric = all(_is_number(cell) for cell in cells if cell)
        table.add_column(plain(title), justify="right" if numeric else "left", overflow="fold")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*map(plain, row))
    return table


def _unguarded(cell: str) -> str:
    """Text without the apostrophe that keeps a spreadsheet from taking it for a formula."""
    return cell[1:] if len(cell) > 1 and cell[0] == "'" and cell[1] in "=+-@\t\r" else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
