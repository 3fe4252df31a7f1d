"""``fuseboard push FILE...``"""

from typing import Annotated, Any

import typer

from runners.commands.terminal import say, stop
from runners.exits import MEANING, Exit

SYSTEM = "What a raw file does not say about the system"
WORKLOAD = "What a raw file does not say about the run"
SENDING = "Sending"
EPILOG = "Exit codes: " + "; ".join(f"{code.value} {meaning}" for code, meaning in MEANING.items()) + "."

Text = str | None
Number = int | None


def _fact(help: str, panel: str = SYSTEM, *names: str, **kwargs: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, show_default=False, **kwargs)


def push(
    files: Annotated[list[str], typer.Argument(help="Files, folders, or - for standard input", show_default=False)],
    chip: Annotated[Text, _fact("Chip, e.g. h200")] = None,
    chips: Annotated[Number, _fact("Physical chips of the whole system", min=1)] = None,
    nodes: Annotated[Number, _fact("Nodes (hosts)", min=1)] = None,
    pool: Annotated[
        list[str] | None, _fact("One pool of a disaggregated system; repeat for each", metavar="ROLE:CHIP:CHIPS")
    ] = None,
    machine: Annotated[Text, _fact("Name of the machine")] = None,
    model: Annotated[Text, _fact("Model")] = None,
    precision: Annotated[Text, _fact("Number format of the weights, e.g. fp8")] = None,
    engine: Annotated[Text, _fact("What served, e.g. vllm")] = None,
    engine_version: Annotated[Text, _fact("Its version")] = None,
    image_digest: Annotated[Text, _fact("Digest of the container image")] = None,
    strategy: Annotated[Text, _fact("op_by_op, graph_capture, super_operator, megakernel or unknown")] = None,
    speculative: Annotated[Text, _fact("Speculative method, e.g. eagle3, or none")] = None,
    draft_tokens: Annotated[Number, _fact("Tokens drafted a step", min=1)] = None,
    evidence: Annotated[Text, _fact("measured, published, claimed, simulated or mock", WORKLOAD)] = None,
    source_url: Annotated[Text, _fact("Where it was published", WORKLOAD)] = None,
    source_name: Annotated[Text, _fact("Who published it", WORKLOAD)] = None,
    timezone: Annotated[Text, _fact("Time zone of times without an offset, e.g. Asia/Shanghai", WORKLOAD)] = None,
    input_tokens: Annotated[Number, _fact("Input tokens asked for", WORKLOAD, min=1)] = None,
    output_tokens: Annotated[Number, _fact("Output tokens asked for", WORKLOAD, min=1)] = None,
    command: Annotated[Text, _fact("The command that was measured", WORKLOAD)] = None,
    tag: Annotated[list[str] | None, _fact("A tag; repeat for more", WORKLOAD)] = None,
    notes: Annotated[Text, _fact("Plain text to keep with the run", WORKLOAD)] = None,
    set_: Annotated[
        list[str] | None,
        _fact("Any other field, e.g. workload.prefix_cache=false", WORKLOAD, "--set", metavar="PATH=VALUE"),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Store nothing; show what the site understood")] = False,
    amend: Annotated[bool, typer.Option("--amend", help="Store a changed report as a new revision")] = False,
    reason: Annotated[Text, typer.Option(help="Why it is amended; shown with the revision")] = None,
    url: Annotated[Text, typer.Option(help="Address of the site", rich_help_panel=SENDING)] = None,
    token: Annotated[
        Text, typer.Option(help="Token; FUSEBOARD_TOKEN keeps it out of the process list", rich_help_panel=SENDING)
    ] = None,
    give_up_after: Annotated[
        float | None,
        typer.Option(
            help="Seconds of trying before the rest is kept in the outbox [60]", min=0, rich_help_panel=SENDING
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON", rich_help_panel=SENDING)] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="List every run, note and missing fact with its option", rich_help_panel=SENDING
        ),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only what went wrong", rich_help_panel=SENDING)
    ] = False,
) -> None:
    """Send reports, or the result files of other tools, to the site.

    A report of ours says everything itself. Any other file goes to the site as it is, with the facts it lacks given as
    options; --dry-run shows what would be understood and which option says what is missing.
    """
    given = {name.rstrip("_"): value for name, value in locals().items()}
    if reason and not amend:
        stop("--reason says why a report is amended; give --amend with it", Exit.USAGE)
    facts = _facts(given)

    from runners.commands import round_trip
    from runners.push import PushOptions

    options = PushOptions(facts=facts, amend=amend, reason=reason)
    how = round_trip.How(give_up_after=give_up_after, as_json=as_json, quiet=quiet, explain=explain)
    round_trip.run(files, options, url=url, token=token, dry_run=dry_run, how=how)


def _facts(given: dict[str, Any]) -> list[tuple[str, str]]:
    """The options named like the context's fields, as URL parameters; a wrong one ends the command at once."""
    from pydantic import ValidationError

    from runners.contract.context import Context
    from runners.contract.vocabulary import PoolRole

    try:
        names = given.keys() & Context.model_fields.keys()
        context = Context(**{name: given[name] for name in names if given[name] not in (None, [])})
        context.pools()
    except ValidationError as error:
        for wrong in error.errors():
            name = next((str(step) for step in wrong["loc"] if step in Context.model_fields), "pool")
            say(f"--{name.replace('_', '-')}: {wrong['msg'].removeprefix('Value error, ')}, found {wrong['input']!r}")
        raise typer.Exit(Exit.USAGE) from None
    except ValueError as error:
        roles = ", ".join(role.value for role in PoolRole)
        stop(f"--pool takes ROLE:CHIP:CHIPS with a role of {roles}: {error}", Exit.USAGE)
    return context.as_query()
