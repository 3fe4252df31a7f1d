"""``fuseboard outbox``, ``outbox flush``, ``outbox drop``"""

from typing import Annotated, Any

import typer

from runners.commands.terminal import console, plain, say, stop
from runners.exits import Exit

app = typer.Typer(invoke_without_command=True, help="What could not be sent yet, and what was refused.")


@app.callback()
def show(
    context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON")] = False
) -> None:
    """What could not be sent yet, and what was refused. Without a command: list it."""
    if context.invoked_subcommand:
        return
    outbox = _open()
    waiting = [_row(entry, "waiting", outbox.last(entry).get("reason")) for entry in outbox.waiting()]
    refused = [_row(entry, "refused", _reason(note)) for entry, note in outbox.refused()]
    damaged = [str(path) for path in outbox.damaged()]
    if as_json:
        import json

        rows = [*waiting, *refused]
        typer.echo(json.dumps({"folder": str(outbox.root), "entries": rows, "damaged": damaged}, indent=2))
        return
    if not waiting and not refused and not damaged:
        typer.echo(f"nothing is waiting in {outbox.root}")
        return
    _print([*waiting, *refused])
    for path in damaged:
        say(f"{path} is not a whole entry; push the original again and delete the file")
    say(f"{len(waiting)} waiting, {len(refused)} refused, in {outbox.root}")


def _row(entry: Any, state: str, reason: object) -> dict[str, Any]:
    return {
        "id": entry.id,
        "state": state,
        "since": entry.since.astimezone().isoformat(timespec="seconds"),
        "bytes": entry.size,
        "name": entry.name,
        "url": entry.url,
        "reason": str(reason) if reason else None,
    }


def _reason(note: dict[str, Any]) -> str | None:
    problem = note.get("problem")
    if not isinstance(problem, dict):
        return None
    errors = [f"{error.get('path')}: {error.get('message')}" for error in problem.get("errors", [])[:3]]
    return ": ".join(part for part in (problem.get("title"), "; ".join(errors) or problem.get("detail")) if part)


def _print(rows: list[dict[str, Any]]) -> None:
    """The list, and each reason once below it: 200 reports usually wait for one and the same site."""
    from rich.table import Table

    sites = dict.fromkeys(row["url"] for row in rows)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("id", "state", "since"):
        table.add_column(title, no_wrap=True)
    table.add_column("bytes", justify="right", no_wrap=True)
    table.add_column("file", overflow="fold")
    if len(sites) > 1:
        table.add_column("site", overflow="fold")
    for row in rows:
        cells = [row["id"][:10], row["state"], row["since"][:16].replace("T", " "), f"{row['bytes']:,}", row["name"]]
        table.add_row(*map(plain, [*cells, *([row["url"]] if len(sites) > 1 else [])]))
    out = console()
    out.print(table)
    if len(sites) == 1:
        out.print(plain(f"all for {next(iter(sites))}"))
    for reason in dict.fromkeys(row["reason"] for row in rows if row["reason"]):
        ids = [row["id"][:10] for row in rows if row["reason"] == reason]
        more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
        out.print(plain(f"{ids[0]}{more}: {reason}"), style="yellow")


@app.command()
def flush(
    refused: Annotated[
        bool, typer.Option("--refused", help="Try again what was refused, too (a new token, a newer site)")
    ] = False,
    token: Annotated[str | None, typer.Option(help="Token for the site of FUSEBOARD_URL or of the last login")] = None,
    give_up_after: Annotated[
        float | None, typer.Option(help="Seconds of trying before the rest is kept [60]", min=0)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only what went wrong")] = False,
) -> None:
    """Send what waits, each entry to the site it was meant for."""
    from runners import settings
    from runners.commands import round_trip
    from runners.commands.progress import Progress

    how = round_trip.How(give_up_after=give_up_after, as_json=as_json, quiet=quiet)
    outcomes = []
    with round_trip.readable_errors(), Progress(quiet=quiet or as_json) as progress:
        outbox = _open()
        if refused:
            outbox.reconsider()
        entries = outbox.waiting()
        # A token given by hand is for one site: the one a push would go to now.
        ours = settings.resolve(token=token) if token else None
        for url in dict.fromkeys(entry.url for entry in entries):
            site = ours if ours and ours.url == url else settings.site_for(url)
            with round_trip.open_client(site, how, progress) as client:
                mine = [entry for entry in entries if entry.url == url]
                outcomes += round_trip.deliver(outbox, client, mine, progress)
        waiting = len(outbox.waiting())
    if not outcomes and not as_json:
        typer.echo("nothing is waiting")
    round_trip.finish(outcomes, how, waiting=waiting)


@app.command()
def drop(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Ids as listed, or their beginnings", show_default=False)
    ] = None,
    refused: Annotated[bool, typer.Option("--refused", help="Everything that was refused")] = False,
) -> None:
    """Delete entries without sending them."""
    from runners.spool import OutboxError

    outbox = _open()
    if not ids and not refused:
        stop("name the ids to delete, or give --refused", Exit.USAGE)
    try:
        chosen = [outbox.find(given) for given in ids or []]
    except OutboxError as error:
        stop(str(error), Exit.USAGE)
    if refused:
        chosen += [entry.id for entry, _ in outbox.refused()]
    for entry_id in dict.fromkeys(chosen):
        outbox.forget(entry_id)
        typer.echo(f"deleted {entry_id[:10]}")


def _open() -> Any:
    from runners import settings
    from runners.spool import Outbox, OutboxError

    try:
        return Outbox(settings.outbox_folder())
    except OutboxError as error:
        stop(str(error), Exit.USAGE)
