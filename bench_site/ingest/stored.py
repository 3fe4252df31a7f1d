"""What is stored about a run, for the API's reads."""

from typing import Any
from uuid import UUID

from bench_site.ingest.catalogue import Catalogue, Names
from bench_site.ingest.content import with_columns
from bench_site.ingest.refusals import refuse
from bench_site.runs.models import Revision, Run, Samples
from runners.contract import Report
from runners.contract.receipt import Finding, Receipt


def run_or_refuse(run_id: UUID) -> Run:
    """The run under an id; raises Refusal ``not-found`` or ``gone``."""
    run = Run.objects.filter(id=run_id).select_related("raw_file", "uploaded_by").first()
    if run is None:
        raise refuse("not-found", f"No run is stored under the id {run_id}.")
    if run.deleted_at is not None:
        raise refuse("gone", f"The run {run_id} was deleted on {run.deleted_at:%Y-%m-%d}.")
    return run


def entity_tag(run: Run, *parts: object) -> str:
    """The ETag of what ``stored_run`` answers: moves with every revision and retraction."""
    retracted = run.retracted_at.timestamp() if run.retracted_at else ""
    return '"' + ".".join(str(part) for part in (run.content_sha256[:32], run.revision, retracted, *parts)) + '"'


def stored_run(run: Run, *, number: int | None = None, samples: bool = False) -> dict[str, Any]:
    """The report of a revision (default: the newest), the receipt, and all revisions; raises Refusal ``not-found``."""
    revisions = list(run.revisions.select_related("created_by").defer("report").order_by("number"))
    number = number or run.revision
    report = Revision.objects.filter(run=run, number=number).values_list("report", flat=True).first()
    if report is None:
        raise refuse("not-found", f"The run {run.id} has the revisions 1 to {run.revision}, not {number}.")
    if samples and number == run.revision:
        columns = Samples.objects.filter(point__run=run).values_list("point__index", "data")
        report = with_columns(report, {index: bytes(data) for index, data in columns})
    return {
        "receipt": _receipt(run, report).model_dump(mode="json"),
        "report": report,
        "retracted": {"at": run.retracted_at, "reason": run.retracted_reason} if run.retracted_at else None,
        "raw": f"/api/v1/runs/{run.id}/raw" if run.raw_file_id else None,
        "raw_record": run.raw_record,
        "removed": run.raw_file.removed if run.raw_file else [],
        "revisions": [
            {
                "number": revision.number,
                "at": revision.created_at,
                "by": revision.created_by.get_username() if revision.created_by else None,
                "reason": revision.reason or None,
            }
            for revision in revisions
        ],
    }


def _receipt(run: Run, stored: dict[str, Any]) -> Receipt:
    report = Report.model_validate(stored)
    chips, models = Catalogue(Names.of([report])).unknown(report)
    return Receipt(
        id=run.id, outcome="unchanged", url=f"/runs/{run.id}/", revision=run.revision, points=len(report.points),
        plausibility=run.plausibility, findings=[Finding.model_validate(finding) for finding in run.findings],
        unknown_chips=chips, unknown_models=models,
    )  # fmt: skip
