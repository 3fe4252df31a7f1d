"""What happens while a push runs: a bar on a terminal, plain lines in a log, nothing when asked to be quiet."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from runners.commands.terminal import console, plain, say

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID


#: Up to so many files of so many bytes in all, and for so many seconds, a bar would only flicker.
_FEW, _SMALL, _SOON = 20, 1024 * 1024, 1.0


class Progress:
    """Use in a ``with``; writes to stderr only."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._said: str | None = None
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty():
            from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn
            from rich.progress import Progress as Bar

            columns = (
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
            )
            self._bar = Bar(*columns, console=console(stderr=True), transient=True)
            self._task = self._bar.add_task("reading", total=None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def begin(self, words: str, total: int, size: int = 0) -> None:
        """A new phase of ``total`` steps, ``size`` bytes in all; a small one shows no bar unless it takes long."""
        if self._bar and self._task is not None:
            if total > _FEW or size > _SMALL:
                self._bar.start()
            self._bar.update(self._task, description=words, total=total, completed=0)

    def step(self, words: str) -> None:
        """One step is done."""
        if self._bar and self._task is not None:
            if time.monotonic() - self._began > _SOON:
                self._bar.start()
            self._bar.update(self._task, description=plain(words)[-60:], advance=1)

    def waiting(self, reason: str, seconds: float) -> None:
        """The client waits before another try."""
        if self._bar and self._task is not None:
            self._bar.start()
            self._bar.update(self._task, description=plain(f"{reason}; again in {seconds:.1f} s"))
        elif not self._quiet and reason != self._said:
            self._said = reason
            say(f"{reason}; trying again")
