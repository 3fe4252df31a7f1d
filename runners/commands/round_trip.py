"""What ``push`` and ``outbox flush`` share: settings, progress, the round itself, and how it ends."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import typer

from runners import collect, settings
from runners.client import Client
from runners.commands import report_back
from runners.commands.progress import Progress
from runners.commands.terminal import console, say, stop
from runners.deliver import Delivery, Outcome
from runners.exits import Exit
from runners.failures import ClientError, NotSignedIn, Unsent
from runners.push import NotApplicable, PushOptions, check, ensure_applicable, keep
from runners.retry import Patience
from runners.spool import Entry, Outbox, OutboxError


@dataclass(frozen=True)
class How:
    """How to send and how to tell about it. ``give_up_after`` is seconds, None for the setting."""

    give_up_after: float | None = None
    as_json: bool = False
    quiet: bool = False
    explain: bool = False


def run(files: list[str], options: PushOptions, *, url: str | None, token: str | None, dry_run: bool, how: How) -> None:
    """A whole push; ends the command with its exit code."""
    with readable_errors(), Progress(quiet=how.quiet or how.as_json) as progress:
        site = settings.resolve(url, token)
        sources = collect.Sources(files, stdin=sys.stdin.buffer)
        if not len(sources):
            stop(f"no result files in {', '.join(files)} (looked for {' '.join(sorted(collect.SUFFIXES))})", Exit.USAGE)
        ensure_applicable(sources, options)
        with open_client(site, how, progress) as client:
            if dry_run:
                progress.begin("asking the site", len(sources))
                outcomes = _watched(check(client, sources, options), progress)
                waiting = 0
            else:
                outbox = Outbox(settings.outbox_folder())
                try:
                    entries = keep(outbox, sources, options, url=site.url)
                except KeyboardInterrupt:
                    stop("stopped before all of it was in the outbox; push the same files again", Exit.INTERRUPTED)
                outcomes = deliver(outbox, client, entries, progress, with_backlog=True)
                waiting = len(outbox.waiting())
    finish(outcomes, how, waiting=waiting)


def open_client(site: settings.Site, how: How, progress: Progress) -> Client:
    """A client with the person's patience, telling the progress when it waits."""
    patience = Patience(total=settings.give_up_after(how.give_up_after))
    return Client(site.url, site.token, token_from=site.token_from, patience=patience, on_wait=progress.waiting)


def deliver(
    outbox: Outbox, client: Client, entries: list[Entry], progress: Progress, *, with_backlog: bool = False
) -> list[Outcome]:
    """Send entries, then (a push that came through) what older pushes left behind for the same site."""
    delivery = Delivery(outbox, client)
    progress.begin("sending", len(entries), sum(entry.size for entry in entries))
    outcomes = _watched(delivery.send(entries), progress)
    if not with_backlog:
        _mark(outcomes, entries)
    elif not any(outcome.state == "kept" for outcome in outcomes):
        ours = {entry.id for entry in entries}
        backlog = [entry for entry in outbox.waiting() if entry.url == client.url and entry.id not in ours]
        progress.begin("sending what waited", len(backlog), sum(entry.size for entry in backlog))
        outcomes += _mark(_watched(delivery.send(backlog), progress), backlog)
    return outcomes


def _mark(outcomes: list[Outcome], entries: list[Entry]) -> list[Outcome]:
    """Say of each since when it waited."""
    since = {entry.id: entry.since for entry in entries}
    for outcome in outcomes:
        outcome.waited = since.get(outcome.outbox_id or "")
    return outcomes


def _watched(outcomes: Iterable[Outcome], progress: Progress) -> list[Outcome]:
    listed = []
    for outcome in outcomes:
        listed.append(outcome)
        progress.step(outcome.name)
    return listed


def finish(outcomes: list[Outcome], how: How, *, waiting: int) -> None:
    """Tell what became of everything and leave with the code."""
    code = report_back.exit_code(outcomes)
    if how.as_json:
        typer.echo(report_back.as_json(outcomes, code=code, waiting=waiting))
    else:
        wrong = [outcome for outcome in outcomes if outcome.state in ("refused", "kept", "received")]
        report_back.show(wrong if how.quiet else outcomes, console(), explain=how.explain)
        if waiting and any(outcome.state == "kept" for outcome in outcomes):
            say(f"{waiting} in the outbox; the next push or `fuseboard outbox flush` sends it")
    raise typer.Exit(code)


@contextmanager
def readable_errors() -> Iterator[None]:
    """Whatever ends a command early, as a line and an exit code instead of a traceback."""
    try:
        yield
    except (settings.SettingsError, NotSignedIn) as error:
        stop(str(error), Exit.SIGNED_OUT)
    except (collect.CollectError, NotApplicable, OutboxError) as error:
        stop(str(error), Exit.USAGE)
    except Unsent as error:
        stop(str(error), Exit.UNSENT)
    except ClientError as error:
        stop(str(error), Exit.REFUSED)
    except KeyboardInterrupt:
        stop("stopped; what was not sent is in the outbox", Exit.INTERRUPTED)
