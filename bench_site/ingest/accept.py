"""The verbs of ingest. REST, command line, admin and seed all come through here.

One transaction an upload: what is answered as stored is on disk. The same content twice changes nothing; another
content under the same id is a conflict, or with ``amend`` a new revision.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from bench_site.fleet.tokens import Caller
from bench_site.ingest import rows
from bench_site.ingest.attempts import durably
from bench_site.ingest.catalogue import Catalogue, Names
from bench_site.ingest.content import content_of, normalised
from bench_site.ingest.existing import Existing
from bench_site.ingest.hurry import hurry
from bench_site.ingest.identities import Identities, mark_stale
from bench_site.ingest.items import Item
from bench_site.ingest.raw import RawBytes, store_raw
from bench_site.ingest.refusals import Refusal, refuse
from bench_site.ingest.scrub import scrubbed
from bench_site.ingest.trips import few_trips
from bench_site.runs.models.words import Scope
from runners.contract import Report
from runners.contract.receipt import Finding, Receipt

Outcome = Receipt | Refusal


@dataclass(frozen=True, slots=True)
class Sent:
    """A report beside what its file's adapter says about it. ``record``: its place in the raw bytes, from 0."""

    report: Report
    record: int = 0
    findings: Sequence[Finding] = field(default=())
    notes: Sequence[str] = field(default=())


def accept_report(
    *, report: Report | Sent, by: Caller, raw: RawBytes | None = None, amend: bool = False, reason: str = "",
    dry_run: bool = False,
) -> Receipt:  # fmt: skip
    """Store one report; raises Refusal. ``raw``: the bytes it came in. With ``dry_run`` nothing is written."""
    (outcome,) = accept_batch(reports=[report], by=by, raw=raw, amend=amend, reason=reason, dry_run=dry_run)
    if isinstance(outcome, Refusal):
        raise outcome
    return outcome


def accept_batch(
    *, reports: Sequence[Report | Sent | Refusal], by: Caller, raw: RawBytes | None = None, amend: bool = False,
    reason: str = "", dry_run: bool = False,
) -> list[Outcome]:  # fmt: skip
    """Store each report on its own: an outcome for each, in the order given, none of which hinders another.

    A Refusal among ``reports`` stays what it is. Raises Refusal if the caller may not push, or if the database is away
    or too busy: then nothing at all was stored.
    """
    if not by.may(Scope.PUSH):
        raise refuse("forbidden", "Storing runs needs a token with the scope push, of somebody who may upload.")
    outcomes: list[Outcome | None] = []
    items: list[Item] = []
    for index, sent in enumerate(reports):
        outcome = sent if isinstance(sent, Refusal) else _item(index, sent, by)
        outcomes.append(outcome if isinstance(outcome, Refusal) else None)
        if isinstance(outcome, Item):
            items.append(outcome)
    if raw is not None and (len(items) < len(reports) or any(item.scrubbed for item in items)):
        # What the contract took apart and found clean needs no second look; anything else in the same bytes does.
        raw.redact()
    if items:
        for index, found in durably(lambda: _Acceptance(items, by, raw, amend, reason, dry_run).run()).items():
            outcomes[index] = found
    return [outcome for outcome in outcomes if outcome is not None]


def _item(index: int, sent: Report | Sent, by: Caller) -> Item | Refusal:
    sent = sent if isinstance(sent, Sent) else Sent(sent, record=index)
    report, notes = sent.report, list(sent.notes)
    if by.machine is not None and report.system.machine != by.machine.name:
        if report.system.machine is not None:
            detail = f"This token speaks for the machine {by.machine.name!r}; the report is from another one."
            return refuse("forbidden", detail)
        report = report.model_copy(update={"system": report.system.model_copy(update={"machine": by.machine.name})})
    report, removed = scrubbed(normalised(report))
    notes += [f"a secret was taken out of {path}" for path in removed]
    item = Item(index, report, content_of(report), sent.record, notes=notes, findings=list(sent.findings))
    item.scrubbed = bool(removed)
    return item


class _Acceptance:
    """One attempt at storing some items, inside a transaction of its own."""

    def __init__(
        self, items: list[Item], by: Caller, raw: RawBytes | None, amend: bool, reason: str, dry_run: bool
    ) -> None:
        self.items, self.by, self.raw = items, by, raw
        self.amend, self.reason, self.dry_run = amend, reason, dry_run
        self.now: datetime = timezone.now()
        self.outcomes: dict[int, Outcome] = {}

    def run(self) -> dict[int, Outcome]:
        """The outcome of each item by its index."""
        with few_trips(len(self.items) == 1 and rows.are_few(self.items[0])):
            return self._run()

    def _run(self) -> dict[int, Outcome]:
        self.catalogue = Catalogue(Names.of(item.report for item in self.items))
        existing = Existing(self.catalogue.runs, lock=self.amend and not self.dry_run)
        first: dict[UUID, Item] = {}
        later: list[Item] = []
        for item in self.items:
            run_id = item.report.id
            answer = existing.answer(item, self.by, self.catalogue, amend=self.amend) if run_id in existing else None
            if answer is not None:
                self.outcomes[item.index] = answer
            elif run_id in first:
                later.append(item)
            else:
                first[run_id] = item
        writing = [first[run_id] for run_id in sorted(first)]
        if self.dry_run:
            self._check(writing)
        elif writing:
            new = [item for item in writing if item.report.id not in existing]
            self._write(new, [item for item in writing if item.report.id in existing], existing)
        for item in later:
            self.outcomes[item.index] = self._as_before(item, first[item.report.id])
        return self.outcomes

    def _check(self, items: list[Item]) -> None:
        self.catalogue.look_for_near()
        for item in items:
            item.judge(self.catalogue, self.now)
            item.ask_for_near_names(self.catalogue)
            self.outcomes[item.index] = item.receipt("checked", self.catalogue)

    def _write(self, new: list[Item], amended: list[Item], existing: Existing) -> None:
        self.catalogue.enter_unknown()
        for item in new:
            item.judge(self.catalogue, self.now)
            item.locate(self.catalogue, self.by.name())
        for item in amended:
            item.judge(self.catalogue, self.now)
            item.locate(self.catalogue, existing.uploader(item.report.id))
        raw_file_id = store_raw(self.raw) if self.raw is not None else lambda: None
        ids = Identities([*new, *amended], self.catalogue)
        raw_file = raw_file_id()
        rows.insert_runs(new, ids, by=self.by, raw_file=raw_file, now=self.now)
        left = existing.amend(amended, ids, by=self.by, raw_file=raw_file, reason=self.reason, now=self.now)
        touched = {ids.series[place.series] for item in [*new, *amended] for place in item.places} | left
        mark_stale(touched)
        hurry("aggregate.sweep")
        for item in [*new, *amended]:
            item.ask_for_near_names(self.catalogue)
        for item in new:
            self.outcomes[item.index] = item.receipt("stored", self.catalogue)
        for item in amended:
            revision = existing.revision(item.report.id) + 1
            self.outcomes[item.index] = item.receipt("amended", self.catalogue, revision=revision)

    def _as_before(self, item: Item, first: Item) -> Outcome:
        """The outcome for an id that stood earlier in the same batch."""
        before = self.outcomes[first.index]
        if item.content.sha256 != first.content.sha256 or isinstance(before, Refusal):
            return _named_twice(item)
        return before.model_copy(update={"outcome": "checked" if self.dry_run else "unchanged"})


def _named_twice(item: Item) -> Refusal:
    return refuse("conflict", f"The batch holds the id {item.report.id} twice, with different contents.")
