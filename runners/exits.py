"""Exit codes of the ``fuseboard`` command; docs/cli.md lists the same (tested)."""

from enum import IntEnum


class Exit(IntEnum):
    """What a script can tell from the end of a command. Where several apply to a push: 4, 3, 1, 5, 0 in this order."""

    OK = 0
    REFUSED = 1
    USAGE = 2
    UNSENT = 3
    SIGNED_OUT = 4
    PARSING = 5
    INTERRUPTED = 130


MEANING = {
    Exit.OK: "all of it is stored, or was already there unchanged",
    Exit.REFUSED: "the site refused something for good; each bad field is named",
    Exit.USAGE: "wrong options or files; nothing was sent",
    Exit.UNSENT: "the site could not be reached or was busy; what was not sent is kept in the outbox",
    Exit.SIGNED_OUT: "no site is known, or no valid token; what was not sent is kept in the outbox",
    Exit.PARSING: "the site has everything but was still parsing a large file when we stopped waiting",
    Exit.INTERRUPTED: "stopped by Ctrl-C; what was not sent is kept in the outbox",
}
