"""How commands speak: text from outside is shown as text, errors go to stderr, figures and tables to stdout."""

import sys
from typing import TYPE_CHECKING, NoReturn

import typer

from runners.exits import Exit

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

#: C0 and C1 controls but newline and tab: a file name or a site's message must not move the cursor or change the title.
_CONTROLS = {code: "\N{REPLACEMENT CHARACTER}" for code in [*range(32), *range(127, 160)] if code not in (9, 10)}
#: What goes to a file or a pipe is never folded: one line a row, for grep and for links that stay whole.
_PIPE_WIDTH = 100_000


def plain(text: object) -> str:
    """``text`` without control characters, and without the surrogates of a file name that is not UTF-8."""
    return str(text).translate(_CONTROLS).encode("utf-8", "replace").decode()


def say(text: str) -> None:
    """A line for the person, on stderr, so that stdout stays clean for what was asked."""
    typer.echo(plain(text), err=True)


def stop(text: str, code: Exit) -> NoReturn:
    """Say why and leave with the code."""
    say(text)
    raise typer.Exit(code)


def console(*, stderr: bool = False) -> "Console":
    """A rich console that shows brackets as brackets and never guesses at colours for words."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, width=width)


def natural_width(out: "Console", table: "Table") -> int:
    """Columns that ``table`` would take if the terminal had no edge."""
    return out.measure(table, options=out.options.update(width=_PIPE_WIDTH)).maximum
