"""A tool's raw file and what it lacks: kept first, then read, then its runs accepted like any report.

Small files are read in the request. Large ones are stored as an ``Upload`` in the state ``received`` and read by a
task; the row is the record, the task's message only hurries it.
"""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import F

from bench_site.fleet.tokens import Caller, caller_of_user
from bench_site.formats import ContextError, Reading, ReadRun, apply_context, missing_facts, read, redact
from bench_site.ingest.accept import Sent, accept_batch
from bench_site.ingest.attempts import durably
from bench_site.ingest.hurry import hurry
from bench_site.ingest.raw import RawBytes, raw_pieces, store_raw
from bench_site.ingest.reading import is_report, read_batch, read_report
from bench_site.ingest.refusals import Refusal, field_error, refuse
from bench_site.ingest.said import laid_over
from bench_site.runs.models import RawFile, Run, Token, Upload
from bench_site.runs.models.words import Role, Scope
from runners.contract import Report
from runners.contract.context import Context
from runners.contract.problems import Problem, problem
from runners.contract.receipt import Missing, Receipt, UploadAnswer, UploadedRun
from runners.contract.vocabulary import Evidence

#: Namespace of upload ids: the same file with the same context from the same sender is the same upload.
UPLOADS = uuid.UUID("0c1d6f0e-5f0a-5b52-8a57-3d1f1f3a9b10")
#: A file that a worker died over this often is refused: it would take the next worker with it.
MAX_ATTEMPTS = 3
QUEUE = "imports"

OUR_OWN = "fuseboard-report"


@dataclass(frozen=True, slots=True)
class File:
    """Received bytes and their name; ``sha256`` and ``size`` are of the bytes as received, decompressed."""

    data: bytes
    sha256: str
    size: int
    name: str = ""


def accept_upload(
    *, file: File, context: Context, by: Caller, amend: bool = False, reason: str = "", dry_run: bool = False
) -> UploadAnswer:
    """Store a raw file's runs, or say what is missing; raises Refusal (then nothing is stored).

    A file over ``settings.PARSE_IN_REQUEST_BYTES`` is stored and answered ``received``; ``parse_upload`` does the rest.
    With ``dry_run`` nothing is written, whatever the size.
    """
    if not by.may(Scope.PUSH):
        raise refuse("forbidden", "Sending files needs a token with the scope push, of somebody who may upload.")
    upload = _upload(file, context, by, amend, reason)
    if dry_run:
        return _read_and_accept(upload, file, context, by, dry_run=True)
    if file.size > settings.PARSE_IN_REQUEST_BYTES:
        return durably(lambda: _keep_for_later(upload, file))
    return durably(lambda: _accept_now(upload, file, context, by))


def parse_upload(upload_id: uuid.UUID) -> bool:
    """Read an upload that waits in the state ``received``; False if there is nothing (more) to do.

    Safe to run twice and at the same time: one of them takes the row. Each try is counted before it begins, so that a
    file which kills its worker is refused in the end.
    """
    with _alone(upload_id) as alone:
        upload = _claim(upload_id) if alone else None
        if upload is not None:
            _parse(upload)
    return upload is not None


def _parse(upload: Upload) -> None:
    by = _sender(upload)
    if upload.attempts > MAX_ATTEMPTS:
        _refused(upload, problem("refused-file", f"Reading it was tried {MAX_ATTEMPTS} times and never ended."))
    elif by is None:
        _refused(upload, problem("forbidden", "Whoever sent it may not upload any more."))
    else:
        data = b"".join(raw_pieces(upload.raw_file))
        file = File(data, upload.raw_file.sha256, upload.raw_file.size, upload.filename)
        context = Context.model_validate(upload.context)
        try:
            answer = _read_and_accept(upload, file, context, by, dry_run=False)
        except Refusal as refusal:
            if refusal.problem.status >= 500:
                raise  # busy: the sweep comes again
            _refused(upload, refusal.problem)
        else:
            _finish(upload, answer)


def waiting_uploads(older_than: object) -> list[uuid.UUID]:
    """The uploads that wait since before a time: their message was lost, or their worker died."""
    waiting = Upload.objects.filter(state=Upload.State.RECEIVED, created_at__lt=older_than)
    return list(waiting.order_by("created_at").values_list("id", flat=True)[:100])


def upload_answer(upload_id: uuid.UUID, by: Caller | None) -> UploadAnswer | None:
    """What became of an upload, for its sender or an operator; None for anybody else, as if it were not there."""
    upload = Upload.objects.select_related("raw_file", "token").filter(id=upload_id).first()
    if upload is None or by is None or not _is_sender(by, upload):
        return None
    if upload.answer is not None and upload.state != Upload.State.RECEIVED:
        return UploadAnswer.model_validate(upload.answer)
    return _answer(upload, File(b"", upload.raw_file.sha256, upload.raw_file.size, upload.filename), "received")


# ------------------------------------------------------------------ steps


def _upload(file: File, context: Context, by: Caller, amend: bool, reason: str) -> Upload:
    said = context.model_dump(mode="json", exclude_defaults=True)
    name = json.dumps([file.sha256, said, by.name(), amend, reason], sort_keys=True)
    return Upload(
        id=uuid.uuid5(UPLOADS, name), filename=file.name[:500], context=said, amend=amend, reason=reason,
        user=by.user, token=by.token,
    )  # fmt: skip


def _keep_for_later(upload: Upload, file: File) -> UploadAnswer:
    kept, removed = redact(file.data)
    upload.raw_file_id = store_raw(RawBytes(file.sha256, file.size, kept, removed, redacted=True))()
    upload.state = Upload.State.RECEIVED
    # Sent again: read again, because what was refused yesterday may be understood today.
    Upload.objects.bulk_create(
        [upload], update_conflicts=True, unique_fields=["id"],
        update_fields=["state", "attempts", "user", "token", "context", "created_at"],
    )  # fmt: skip
    hurry("ingest.parse_upload", str(upload.id), queue=QUEUE)
    return _answer(upload, file, "received", removed=removed)


def _accept_now(upload: Upload, file: File, context: Context, by: Caller) -> UploadAnswer:
    answer = _read_and_accept(upload, file, context, by, dry_run=False)
    written = [run for run in answer.runs if run.receipt is not None and run.receipt.outcome != "unchanged"]
    if written or not Upload.objects.filter(id=upload.id).exists():
        # The raw bytes were stored with the first run, or long ago if every run was there already.
        known = RawFile.objects.filter(sha256=file.sha256).values_list("id", flat=True).first()
        upload.raw_file_id = known or store_raw(_raw(file, answer.tool)[0])()
        upload.state, upload.answer = Upload.State.PARSED, answer.model_dump(mode="json")
        # The time too: what a later --amend adds to is the newest.
        again = ["state", "answer", "context", "created_at"]
        Upload.objects.bulk_create([upload], update_conflicts=True, unique_fields=["id"], update_fields=again)
    return answer


def _raw(file: File, tool: str | None) -> tuple[RawBytes, list[str]]:
    kept, removed = redact(file.data, None if tool == OUR_OWN else tool)
    return RawBytes(file.sha256, file.size, kept, removed, redacted=True), removed


def _read_and_accept(upload: Upload, file: File, context: Context, by: Caller, *, dry_run: bool) -> UploadAnswer:
    reading = read(file.data, sha256=file.sha256)
    if reading.refusal is not None:
        if reading.refusal.code == "unknown-format" and is_report(file.data):
            return _accept_reports(upload, file, by, dry_run=dry_run)
        raise _unreadable(reading)
    if upload.amend:
        context = _with_what_was_said(upload, file, context, by)
    runs = [_complete(found, context, by) for found in reading.runs]
    raw, removed = _raw(file, reading.tool)
    ready = [(run, sent) for run, sent in runs if sent is not None]
    if not dry_run and len(ready) < len(runs):
        raise _incomplete([run for run, _ in runs])
    outcomes = accept_batch(
        reports=[sent for _, sent in ready], by=by, raw=raw, amend=upload.amend, reason=upload.reason, dry_run=dry_run
    )
    for (run, _), outcome in zip(ready, outcomes, strict=True):
        run.receipt, run.problem = _told(outcome)
    _all_refused([run for run, _ in runs], dry_run=dry_run)
    return _answer(
        upload, file, "checked" if dry_run else "parsed", tool=reading.tool, tool_version=reading.tool_version,
        why=reading.why, removed=removed, runs=[run for run, _ in runs],
    )  # fmt: skip


def _with_what_was_said(upload: Upload, file: File, context: Context, by: Caller) -> Context:
    """The context of an amendment: laid over that of the stored revision, so that one more fact can be said alone.

    The merged one is what the upload keeps, for the next amendment to be laid over.
    """
    run = Run.objects.filter(raw_file__sha256=file.sha256).select_related("token").order_by("id").first()
    if run is None or not by.may_amend(run):
        return context  # nothing to add to; or nothing that this sender may learn
    parsed = Upload.objects.filter(raw_file__sha256=file.sha256, state=Upload.State.PARSED)
    before = parsed.order_by("-created_at").values_list("context", flat=True).first()
    upload.context = laid_over(before or {}, context.model_dump(mode="json", exclude_defaults=True))
    return Context.model_validate(upload.context)


def _told(outcome: Receipt | Refusal) -> tuple[Receipt | None, Problem | None]:
    return (None, outcome.problem) if isinstance(outcome, Refusal) else (outcome, None)


def _all_refused(runs: list[UploadedRun], *, dry_run: bool) -> None:
    """A file of which nothing could be stored is an error as a whole: that of its first run."""
    problems = [run.problem for run in runs if run.problem is not None]
    if len(problems) < len(runs) or dry_run:
        return
    first = problems[0]
    if len(problems) > 1:
        errors = [
            error.model_copy(update={"path": f"runs[{run.record}].{error.path}"})
            for run in runs if run.problem is not None for error in run.problem.errors
        ]  # fmt: skip
        detail = f"None of the {len(problems)} runs in the file could be stored. The first: {first.detail}"
        first = first.model_copy(update={"detail": detail, "errors": errors})
    raise Refusal(first)


def _complete(found: ReadRun, context: Context, by: Caller) -> tuple[UploadedRun, Sent | None]:
    """A run with the sender's facts and its evidence settled; without a report to store if something is missing."""
    run = UploadedRun(record=found.record, notes=list(found.notes), understood=found.report)
    try:
        report, notes = apply_context(found.report, context)
        evidence = context.evidence or found.evidence or (Evidence.MEASURED if by.measures else None)
        if any(entry.partition("=")[0].strip() == "evidence" for entry in context.set):
            evidence = report.evidence
        if evidence is not None and report.evidence is not evidence:
            # Through the context again, so that the rules of the contract apply (published needs a source).
            report, _ = apply_context(report, Context(evidence=evidence))
    except ContextError as error:
        run.problem = problem("missing-context", "What was said beside the file does not fit.", error.errors)
        return run, None
    run.understood, run.notes = report, run.notes + notes
    run.missing = missing_facts(report, evidence)
    needed = [fact for fact in run.missing if fact.required]
    if needed:
        run.problem = _missing(needed)
        return run, None
    return run, Sent(report, record=found.record, findings=found.findings, notes=run.notes)


def _missing(facts: list[Missing]) -> Problem:
    errors = [field_error(fact.path, "missing", fact.question, None, fact.option) for fact in facts]
    options = " ".join(fact.option for fact in facts)
    detail = f"The file does not say all that is needed to compare it with others. Say it with {options}"
    if any(fact.path == "evidence" for fact in facts):
        detail += " (--evidence measured if you ran it, --evidence published --source-url URL if somebody else did)"
    return problem("missing-context", f"{detail}.", errors)


def _incomplete(runs: list[UploadedRun]) -> Refusal:
    """The refusal of a file of which at least one run lacks something: half a file would be a trap."""
    problems = [run.problem for run in runs if run.problem is not None]
    first = problems[0]
    errors = {error.path: error for found in problems for error in found.errors}
    return Refusal(first.model_copy(update={"errors": list(errors.values())}))


def _unreadable(reading: Reading) -> Refusal:
    refusal = reading.refusal
    assert refusal is not None
    extra: dict[str, Any] = {"supported": list(refusal.supported)} if refusal.supported else {}
    if refusal.nearest is not None:
        nearest = refusal.nearest
        extra["nearest"] = {"tool": nearest.tool, "matched": nearest.matched, "missing": nearest.missing}
    return refuse(refusal.code, refusal.detail, None, **extra)


def _accept_reports(upload: Upload, file: File, by: Caller, *, dry_run: bool) -> UploadAnswer:
    """A file of our own reports: nothing is missing in it, so the context has nothing to add."""
    reports = _own_reports(file.data)
    raw, removed = _raw(file, OUR_OWN)
    outcomes = accept_batch(reports=reports, by=by, raw=raw, amend=upload.amend, reason=upload.reason, dry_run=dry_run)
    runs = []
    for index, (report, outcome) in enumerate(zip(reports, outcomes, strict=True)):
        receipt, trouble = _told(outcome)
        understood = report if isinstance(report, Report) else None
        runs.append(UploadedRun(record=index, receipt=receipt, problem=trouble, understood=understood))
    _all_refused(runs, dry_run=False)
    why = "it is a report of this site's own contract"
    return _answer(upload, file, "checked" if dry_run else "parsed", tool=OUR_OWN, why=why, removed=removed, runs=runs)


def _own_reports(data: bytes) -> list[Report | Refusal]:
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"{") and b'"reports"' in start[:200]:
        return read_batch(data)
    return [read_report(data)]


def _answer(upload: Upload, file: File, state: str, **parts: object) -> UploadAnswer:
    return UploadAnswer.model_validate({
        "id": upload.id, "state": state, "url": f"/api/v1/uploads/{upload.id}", "filename": file.name or None,
        "sha256": file.sha256, "bytes": file.size, **parts,
    })  # fmt: skip


# ------------------------------------------------------------------ the task's side


@contextmanager
def _alone(upload_id: uuid.UUID) -> Iterator[bool]:
    """Whether nobody else is reading this upload. The lock belongs to the session: it ends with its process."""
    key = upload_id.int & (2**63 - 1)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
        alone: bool = cursor.fetchone()[0]
        try:
            yield alone
        finally:
            if alone:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [key])


def _claim(upload_id: uuid.UUID) -> Upload | None:
    """The upload if it still waits, with this try counted (and committed: this one may be the worker's last)."""
    waiting = Upload.objects.filter(id=upload_id, state=Upload.State.RECEIVED)
    if not waiting.update(attempts=F("attempts") + 1):
        return None
    return Upload.objects.select_related("raw_file", "user", "token__user", "token__machine").get(id=upload_id)


def _sender(upload: Upload) -> Caller | None:
    """Whoever sent it, as far as they may still upload. A token that has expired since then does not matter."""
    token: Token | None = upload.token
    if token is not None:
        user, machine = token.user, token.machine
        if user is not None and not user.is_active:
            return None
        role = Role(user.role) if user is not None else Role.UPLOADER
        by = Caller(user=user, machine=machine, token=token, scopes=frozenset(map(Scope, token.scopes)), role=role)
    elif upload.user is not None and upload.user.is_active:
        by = caller_of_user(upload.user)
    else:
        return None
    return by if by.may(Scope.PUSH) else None


def _is_sender(by: Caller, upload: Upload) -> bool:
    if list(Role).index(by.role) >= list(Role).index(Role.OPERATOR):
        return True
    if by.user is not None:
        return upload.user_id == by.user.pk
    return by.machine is not None and upload.token is not None and upload.token.machine_id == by.machine.pk


def _finish(upload: Upload, answer: UploadAnswer) -> None:
    parsed = {"state": Upload.State.PARSED, "answer": answer.model_dump(mode="json"), "context": upload.context}
    Upload.objects.filter(id=upload.id).update(**parsed)


def _refused(upload: Upload, why: Problem) -> None:
    file = File(b"", upload.raw_file.sha256, upload.raw_file.size, upload.filename)
    answer = _answer(upload, file, "refused", problem=why)
    Upload.objects.filter(id=upload.id).update(state=Upload.State.REFUSED, answer=answer.model_dump(mode="json"))
