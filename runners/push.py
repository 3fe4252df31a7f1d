"""From files to outcomes: everything into the outbox first, then to the site; or, in a dry run, only asked about."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from runners.client import Client
from runners.collect import Given, Sources
from runners.deliver import Outcome, combined, passed_over, receipts_of, upload_state
from runners.failures import Refused
from runners.spool import Endpoint, Entry, Outbox


class NotApplicable(Exception):
    """An option was given that a file's kind does not take; the message names both."""


@dataclass(frozen=True)
class PushOptions:
    """What holds for a whole push. ``facts`` are the context's URL parameters."""

    facts: list[tuple[str, str]] = field(default_factory=list)
    amend: bool = False
    reason: str | None = None

    @property
    def amending(self) -> list[tuple[str, str]]:
        """The URL parameters that make revisions."""
        given = [("amend", "true")] if self.amend else []
        return given + ([("reason", self.reason)] if self.amend and self.reason else [])


def ensure_applicable(sources: Iterable[Given], options: PushOptions) -> None:
    """Raise NotApplicable if facts were given for a report, which would otherwise ignore them without a word."""
    if not options.facts:
        return
    reports = [given.name for given in sources if given.kind != "file"]
    if reports:
        said = ", ".join(dict.fromkeys(f"--{name.replace('_', '-')}" for name, _ in options.facts))
        more = f" and {len(reports) - 1} more" if len(reports) > 1 else ""
        raise NotApplicable(
            f"{reports[0]}{more}: a report says everything itself, so {said} does not apply; "
            "push it without, or edit the report"
        )


def keep(outbox: Outbox, sources: Sources, options: PushOptions, *, url: str) -> list[Entry]:
    """Write everything into the outbox, durably, before anything is tried."""
    entries: dict[str, Entry] = {}
    for given in sources:
        for index, body in enumerate(given.bodies):
            entry = outbox.add(
                body,
                url=url,
                endpoint=_endpoint(given, options),
                name=f"{given.name}[{index}]" if given.kind == "reports" else given.name,
                query=_query(given, options),
                found=given.found,
            )
            entries[entry.id] = entry
    outbox.sync()
    return list(entries.values())


def _endpoint(given: Given, options: PushOptions) -> Endpoint:
    if given.kind == "file":
        return "uploads"
    # A batch has no amend: a revision is made on purpose, one report at a time.
    return "batch" if given.kind == "reports" and not options.amend else "runs"


def _query(given: Given, options: PushOptions) -> list[tuple[str, str]]:
    if given.kind != "file":
        return options.amending
    return [*options.facts, ("filename", given.filename), *options.amending]


def check(client: Client, sources: Sources, options: PushOptions) -> Iterator[Outcome]:
    """Ask the site about each without storing anything; raises Unsent or NotSignedIn when it cannot be asked."""
    for given in sources:
        for index, body in enumerate(given.bodies):
            name = f"{given.name}[{index}]" if given.kind == "reports" else given.name
            try:
                yield _checked(client, given, body, name, options)
            except Refused as error:
                if given.found and error.problem.code == "unknown-format":
                    yield passed_over(name, client.url, error.problem)
                else:
                    yield Outcome(name, client.url, "refused", problem=error.problem)


def _checked(client: Client, given: Given, body: bytes, name: str, options: PushOptions) -> Outcome:
    if given.kind != "file":
        receipt = client.push_report(body, amend=options.amend, reason=options.reason, dry_run=True)
        return Outcome(name, client.url, receipt.outcome, [receipt])
    answer = client.push_file(
        body, options.facts, filename=given.filename, amend=options.amend, reason=options.reason, dry_run=True
    )
    wrong = combined(answer)
    state = "refused" if wrong else upload_state(answer)
    return Outcome(name, client.url, state, receipts_of(answer), wrong, answer)
