"""``fuseboard login URL``"""

import sys
from typing import Annotated

import typer

from runners.commands.terminal import say, stop
from runners.exits import Exit


def login(
    url: Annotated[str, typer.Argument(help="Address of the site, e.g. https://bench.example", show_default=False)],
    token: Annotated[
        str | None,
        typer.Option(help="The token; better left out, it is then asked for or read from standard input."),
    ] = None,
) -> None:
    """Check a token with the site and remember both. Make a token on the site under /account/."""
    from runners import settings
    from runners.client import Client
    from runners.failures import NotSignedIn, Refused, Unsent
    from runners.retry import INTERACTIVE

    try:
        site = settings.Site(settings.clean_url(url), (token or _ask()).strip())
    except settings.SettingsError as error:
        stop(str(error), Exit.USAGE)
    if not site.token:
        stop("no token was given; make one on the site under /account/", Exit.USAGE)
    try:
        with Client(site.url, site.token, patience=INTERACTIVE) as client:
            who = client.whoami()
    except NotSignedIn:
        stop(
            f"{site.url} does not know this token; nothing was saved. Make one at {site.url}/account/", Exit.SIGNED_OUT
        )
    except Refused as error:
        stop(f"{error}; nothing was saved", Exit.REFUSED)
    except Unsent as error:
        stop(f"{error}; nothing was saved", Exit.UNSENT)
    try:
        path = settings.save(site, user=who.user, machine=who.machine)
    except (OSError, settings.SettingsError) as error:
        stop(f"the token is good but could not be saved: {error}", Exit.USAGE)
    name = who.user or "nobody named"
    machine = f", machine {who.machine}" if who.machine else ""
    typer.echo(f"signed in to {site.url} as {name}{machine}; the token may {', '.join(who.scopes) or 'do nothing'}")
    say(f"saved in {path}")
    if site.url.startswith("http://") and not _is_here(site.url):
        say("note: over http:// the token travels readable by everyone in between; https:// is safer")
    if "push" not in who.scopes:
        say("note: this token may not push; one with the scope push is made under /account/")


def _ask() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("Token", hide_input=True, err=True))
    return sys.stdin.readline()


def _is_here(url: str) -> bool:
    from urllib.parse import urlsplit

    return (urlsplit(url).hostname or "") in ("localhost", "127.0.0.1", "::1")
