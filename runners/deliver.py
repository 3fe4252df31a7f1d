"""Takes entries of the outbox to the site and says what became of each.

An entry leaves the outbox on the site's last word only. After a failure the next entry gets a single try, and two
failures in a row end the round: a site that is down costs one wait and not one an entry, and one entry that the site
chokes on does not hold up those behind it.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urljoin

from runners.client import BATCH, Client
from runners.contract.problems import FieldError, Problem, problem
from runners.contract.receipt import Receipt, UploadAnswer
from runners.failures import ClientError, NotSignedIn, Refused, StillParsing, Unsent
from runners.retry import RETRY_STATUSES, Patience
from runners.spool import Busy, Claim, Damaged, Entry, Gone, Outbox

#: Reports that travel together are at most this many bytes: the site parses up to 8 MiB while we wait.
BATCH_BYTES = 4 * 1024 * 1024
_ONCE = Patience(total=0.0)

State = Literal["stored", "amended", "unchanged", "checked", "received", "skipped", "elsewhere", "refused", "kept"]


@dataclass
class Outcome:
    """What became of one thing that was sent.

    ``received``: the site has it and parses it later. ``skipped``: a file of a folder that no tool of ours wrote.
    ``elsewhere``: another fuseboard process sent it. ``kept``: it waits in the outbox; ``detail`` says why. ``waited``:
    since when it lay in the outbox, for what an earlier push had left there.
    """

    name: str
    url: str
    state: State
    receipts: list[Receipt] = field(default_factory=list)
    problem: Problem | None = None
    answer: UploadAnswer | None = None
    detail: str | None = None
    signed_out: bool = False
    tools: list[str] = field(default_factory=list)
    outbox_id: str | None = None
    waited: datetime | None = None

    @property
    def supported(self) -> list[str]:
        """The titles of the tools that the site knows, if it knows none for this file."""
        return self.tools or _tools(self.problem)

    def link(self, path: str) -> str:
        """An address that the site gave, to open in a browser."""
        return urljoin(f"{self.url}/", path)


def _tools(wrong: Problem | None) -> list[str]:
    found = wrong.extra.get("supported") if wrong and wrong.code == "unknown-format" else None
    return [str(title) for title in found] if isinstance(found, list) else []


def passed_over(name: str, url: str, wrong: Problem) -> Outcome:
    """The outcome for a file of a folder that no known tool wrote."""
    return Outcome(name, url, "skipped", detail=wrong.detail, tools=_tools(wrong))


def of(entry: Entry, state: State, **known: Any) -> Outcome:
    """The outcome of an entry."""
    return Outcome(entry.name, entry.url, state, outbox_id=entry.id, **known)


class Delivery:
    """One round of sending. ``wait_for_parsing`` is seconds to wait for a large file's result."""

    def __init__(self, outbox: Outbox, client: Client, *, wait_for_parsing: float = 600.0) -> None:
        self._outbox = outbox
        self._client = client
        self._patience = client.patience
        self._wait_for_parsing = wait_for_parsing
        self._failures = 0
        self._delivered: set[tuple[str, str]] = set()
        self._first: Unsent | None = None
        self._over: ClientError | None = None

    def send(self, entries: Iterable[Entry]) -> Iterator[Outcome]:
        """Send in the order given; yields one outcome an entry as it becomes known."""
        for group in groups(entries):
            with ExitStack() as stack:
                claims: list[Claim] = []
                for entry in group:
                    taken = self._take(entry, stack)
                    if isinstance(taken, Claim):
                        claims.append(taken)
                    else:
                        yield taken
                yield from self._batch(claims) if len(claims) > 1 else map(self._one, claims)
        self._outbox.supersede(self._delivered)

    def _take(self, entry: Entry, stack: ExitStack) -> Claim | Outcome:
        """The entry for us alone, waiting for another process that has it."""
        until = time.monotonic() + (0 if self._over else self._patience.total)
        while True:
            try:
                return stack.enter_context(self._outbox.claim(entry))
            except Gone:
                return self._elsewhere(entry)
            except Busy:
                if time.monotonic() >= until:
                    return of(entry, "kept", detail="another fuseboard process is sending it")
                time.sleep(0.1)

    def _elsewhere(self, entry: Entry) -> Outcome:
        for refused, note in self._outbox.refused():
            if refused.id == entry.id and isinstance(note.get("problem"), dict):
                return of(entry, "refused", problem=Problem.model_validate(note["problem"]))
        return of(entry, "elsewhere", detail="another fuseboard process sent it")

    # ------------------------------------------------------------ sending

    def _batch(self, claims: list[Claim]) -> Iterator[Outcome]:
        if self._over:
            yield from map(self._one, claims)
            return
        try:
            self._client.patience = _ONCE if self._failures else self._patience
            items = self._client.push_reports([claim.body() for claim in claims]).items
        except NotSignedIn as error:
            self._over = error
        except Unsent as error:
            self._failed(error)
        except (Refused, Damaged):
            pass  # one bad report spoils the request: sent one by one, only that one is refused
        else:
            self._failures = 0
            for claim, item in zip(claims, items, strict=True):
                if item.receipt:
                    yield self._stored(claim, item.receipt)
                elif item.problem and 400 <= item.status < 500 and item.status not in RETRY_STATUSES:
                    yield self._refused(claim, item.problem)
                else:
                    yield self._one(claim)
            return
        yield from map(self._one, claims)

    def _one(self, claim: Claim) -> Outcome:
        if self._over:
            return self._kept(claim, self._over)
        entry = claim.entry
        self._client.patience = _ONCE if self._failures else self._patience
        try:
            if entry.endpoint == "uploads":
                outcome = self._upload(claim)
            else:
                amend, reason = _amending(entry)
                wait = self._wait_for_parsing
                outcome = self._stored(
                    claim, self._client.push_report(claim.body(), amend=amend, reason=reason, wait=wait)
                )
        except StillParsing as error:
            self._done(claim)
            outcome = of(entry, "received", answer=error.answer, detail=str(error))
        except Refused as error:
            self._failures = 0
            return self._refused(claim, error.problem)
        except NotSignedIn as error:
            self._over = error
            return self._kept(claim, error)
        except Unsent as error:
            self._failed(error)
            return self._kept(claim, self._over or error)
        except Damaged as error:
            return of(entry, "kept", detail=str(error))
        self._failures = 0
        return outcome

    def _failed(self, error: Unsent) -> None:
        """Two in a row end the round; the first was tried for longer and says more."""
        self._failures += 1
        if self._failures == 1:
            self._first = error
        else:
            self._over = self._first

    def _upload(self, claim: Claim) -> Outcome:
        entry = claim.entry
        amend, reason = _amending(entry)
        said = [(key, value) for key, value in entry.query if key not in ("amend", "reason", "filename")]
        answer = self._client.push_file(claim.body(), said, filename=_filename(entry), amend=amend, reason=reason)
        if answer.state == "received":
            # The site has the bytes on its disk. What goes wrong from here on is not worth sending them again.
            try:
                answer = self._client.wait(answer, seconds=self._wait_for_parsing)
            except ClientError as error:
                self._done(claim)
                return of(entry, "received", answer=answer, detail=str(error))
        if answer.state == "received":
            self._done(claim)
            return of(entry, "received", answer=answer, detail="still being parsed")
        if wrong := combined(answer):
            return self._refused(claim, wrong, answer)
        self._done(claim)
        return of(entry, upload_state(answer), receipts=receipts_of(answer), answer=answer)

    # ------------------------------------------------------------ outcomes

    def _done(self, claim: Claim) -> None:
        claim.done()
        self._delivered.add((claim.entry.url, claim.entry.sha256))

    def _stored(self, claim: Claim, receipt: Receipt) -> Outcome:
        self._done(claim)
        return of(claim.entry, receipt.outcome, receipts=[receipt])

    def _refused(self, claim: Claim, wrong: Problem, answer: UploadAnswer | None = None) -> Outcome:
        entry = claim.entry
        if entry.found and wrong.code == "unknown-format":
            self._done(claim)
            outcome = passed_over(entry.name, entry.url, wrong)
            outcome.outbox_id = entry.id
            return outcome
        claim.refuse(wrong.model_dump(mode="json"))
        receipts = receipts_of(answer) if answer else []
        return of(entry, "refused", receipts=receipts, problem=wrong, answer=answer)

    def _kept(self, claim: Claim, error: ClientError) -> Outcome:
        claim.kept(str(error))
        return of(claim.entry, "kept", detail=str(error), signed_out=isinstance(error, NotSignedIn))


def groups(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Neighbours that travel in one request: reports of a list, up to 100 and 4 MiB. Everything else goes alone."""
    group: list[Entry] = []
    size = 0
    for entry in entries:
        fits = entry.endpoint == "batch" and len(group) < BATCH and size + entry.size <= BATCH_BYTES
        if group and not fits:
            yield group
            group, size = [], 0
        if entry.endpoint == "batch":
            group.append(entry)
            size += entry.size
        else:
            yield [entry]
    if group:
        yield group


def receipts_of(answer: UploadAnswer) -> list[Receipt]:
    """The receipts of a file's runs."""
    return [run.receipt for run in answer.runs if run.receipt]


def upload_state(answer: UploadAnswer) -> State:
    """One word for a file of several runs: the one that changed most."""
    outcomes = {receipt.outcome for receipt in receipts_of(answer)}
    for state in ("stored", "amended", "unchanged", "checked"):
        if state in outcomes:
            return state
    return "checked" if answer.state == "checked" else "stored"


def combined(answer: UploadAnswer) -> Problem | None:
    """The problem with a file, or with those of its runs that were refused, as one."""
    if answer.problem:
        return answer.problem
    wrong = [(run.record, run.problem) for run in answer.runs if run.problem]
    if not wrong:
        return None
    if len(answer.runs) == 1:
        return wrong[0][1]
    first = wrong[0][1]
    errors = [
        error.model_copy(update={"path": f"record {record}: {error.path}"})
        for record, found in wrong
        for error in found.errors or [FieldError(path="", code=found.code, message=found.detail)]
    ]
    detail = f"{len(wrong)} of {len(answer.runs)} results in the file were refused. {first.detail}"
    return problem("refused-file", detail, errors)


def _amending(entry: Entry) -> tuple[bool, str | None]:
    query = dict(entry.query)
    return query.get("amend") == "true", query.get("reason")


def _filename(entry: Entry) -> str:
    return dict(entry.query).get("filename", entry.name)
