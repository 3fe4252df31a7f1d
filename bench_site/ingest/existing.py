"""Runs that are stored already under the ids of an upload: what to answer, and how to write a new revision."""

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F

from bench_site.fleet.tokens import Caller
from bench_site.ingest import rows
from bench_site.ingest.catalogue import Catalogue
from bench_site.ingest.content import differences, with_columns
from bench_site.ingest.identities import Identities
from bench_site.ingest.items import Item
from bench_site.ingest.refusals import Refusal, refuse
from bench_site.ingest.said import OPTION_OF
from bench_site.runs.models import Point, Revision, Run, Samples
from bench_site.runs.models.words import Plausibility
from runners.contract.problems import FieldError
from runners.contract.receipt import Finding, Receipt

#: A conflict's sentence names this many fields; ``errors`` has all of them.
_TOLD = 5


class Existing:
    """The stored runs with these ids; with ``lock`` they stay as they are until the transaction ends."""

    def __init__(self, ids: Collection[UUID], *, lock: bool) -> None:
        self.runs: dict[UUID, Run] = {}
        if ids:  # nearly always none, and this is on the path of every upload
            runs = Run.objects.filter(id__in=ids).select_related("uploaded_by", "token__machine").order_by("id")
            self.runs = {run.id: run for run in (runs.select_for_update(of=("self",)) if lock else runs)}

    def __contains__(self, run_id: UUID) -> bool:
        return run_id in self.runs

    def revision(self, run_id: UUID) -> int:
        """The number of the newest revision before this upload."""
        return self.runs[run_id].revision

    def uploader(self, run_id: UUID) -> str:
        """The name of whoever pushed the run first: whose results it belongs to, whoever mends it."""
        run = self.runs[run_id]
        if run.uploaded_by is not None:
            return run.uploaded_by.get_username()
        return f"machine {run.token.machine.name}" if run.token and run.token.machine else ""

    def answer(self, item: Item, by: Caller, catalogue: Catalogue, *, amend: bool) -> Receipt | Refusal | None:
        """The answer to an item whose id is stored already; None if it is to be written as a new revision."""
        run = self.runs[item.report.id]
        if run.deleted_at is not None:
            return refuse("gone", f"The run {run.id} was deleted; its id stays taken.")
        if run.content_sha256 == item.content.sha256:
            return self._receipt(item, run, catalogue)
        mine = by.may_amend(run)
        if amend:
            return None if mine else refuse("forbidden", "Only its uploader or an operator may amend this run.")
        if not mine:
            # Whoever it is, they learn that the id is taken and nothing about what is stored under it.
            if _is_of_a_file(run):
                detail = (
                    "Somebody else has stored this file with other facts; only they or an operator may change them."
                )
                return refuse("conflict", detail, remedy="Ask an operator, or whoever pushed it.")
            detail = f"The id {run.id} belongs to a run of somebody else."
            return refuse("conflict", detail, remedy="Use a new id.")
        return _conflict(run, differences(item.content, *_stored(run)))

    def _receipt(self, item: Item, run: Run, catalogue: Catalogue) -> Receipt:
        item.findings = [Finding.model_validate(finding) for finding in run.findings]
        item.plausibility = Plausibility(run.plausibility)
        if run.retracted_at is not None:
            item.notes.append("this run is retracted: it stays readable and is in no statistic")
        return item.receipt("unchanged", catalogue, revision=run.revision)

    def amend(
        self, items: list[Item], ids: Identities, *, by: Caller, raw_file: int | None, reason: str, now: datetime
    ) -> set[int]:
        """Write ``items`` as new revisions of their runs; answers the series that their old points have left."""
        if not items:
            return set()
        run_ids = [item.report.id for item in items]
        old = Point.objects.filter(run_id__in=run_ids)
        left = set(old.values_list("series_id", flat=True))
        for item in items:
            self._keep_columns(self.runs[item.report.id])
        Samples.objects.filter(point__run_id__in=run_ids).delete()
        old.delete()
        rows.insert_revisions([(item, self.revision(item.report.id) + 1, reason) for item in items], by=by, now=now)
        for item in items:
            rows.update_run(item, ids, self.revision(item.report.id) + 1, raw_file)
        retracted = frozenset(run_id for run_id in run_ids if self.runs[run_id].retracted_at is not None)
        rows.insert_points(items, ids, retracted=retracted)
        return left

    def _keep_columns(self, run: Run) -> None:
        """Put samples and rounds back into the revision that is being replaced: it must stay readable as a whole."""
        report, packed = _stored(run)
        if packed:
            Revision.objects.filter(run=run, number=run.revision).update(report=with_columns(report, packed))


def _is_of_a_file(run: Run) -> bool:
    """Whether the run was read from a tool's file: its id is made of the bytes, and nobody can choose another."""
    return run.id.version == 5


def _conflict(run: Run, errors: list[FieldError]) -> Refusal:
    """What is said now and what was said before, leaf by leaf, and how to store it as a revision."""
    said = [f"{_name(run, error)} {_bare(error.found)} (was {_bare(error.allowed)})" for error in errors[:_TOLD]]
    more = f" and {len(errors) - _TOLD} more" if len(errors) > _TOLD else ""
    remedy = "To store that as a revision repeat the command with --amend"
    remedy += "." if _is_of_a_file(run) else ", or use a new id."
    detail = f"This run is already stored. You now say: {', '.join(said)}{more}. {remedy}"
    return refuse("conflict", detail, errors, remedy=remedy)


def _name(run: Run, error: FieldError) -> str:
    """The field by the name of its option where it came beside a file, else by its path."""
    return OPTION_OF.get(error.path, error.path).replace("_", " ") if _is_of_a_file(run) else error.path


def _bare(text: str | None) -> str:
    text = (text or "").removeprefix("stored: ")
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _stored(run: Run) -> tuple[dict[str, Any], dict[int, bytes]]:
    """The report of the newest revision as stored, and the packed columns by point index."""
    report = Revision.objects.values_list("report", flat=True).get(run=run, number=run.revision)
    columns = Samples.objects.filter(point__run=run).values_list(F("point__index"), "data")
    return report, {index: bytes(data) for index, data in columns}
