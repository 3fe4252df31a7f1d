"""The HTTP API: views that parse, call one verb, and answer.

Bodies are read by ``body`` and ``reading``, not by ninja, which would take ``"1"`` for a number and never see that a
key was sent twice; their schemas are therefore put into the OpenAPI document by ``described``.
"""

from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, StreamingHttpResponse

from bench_site.fleet.tokens import caller_of
from bench_site.ingest import described
from bench_site.ingest.accept import accept_batch, accept_report
from bench_site.ingest.answers import Api, answer, answer_json, as_item
from bench_site.ingest.body import FILE_TYPES, Body, receive
from bench_site.ingest.query import Parameters
from bench_site.ingest.raw import RawBytes, raw_pieces
from bench_site.ingest.reading import read_batch, read_report
from bench_site.ingest.refusals import refuse
from bench_site.ingest.stored import entity_tag, run_or_refuse, stored_run
from bench_site.ingest.uploads import File, accept_upload, upload_answer
from runners.contract.context import Context
from runners.contract.receipt import BatchAnswer, UploadAnswer
from runners.contract.schema import report_schema

api = Api(
    title="Fuseboard",
    version="1.0.0",
    description="Push benchmark runs, read them back. Errors are RFC 9457 problem documents that name every bad field.",
    docs_url="/docs",
    openapi_url="/openapi.json",
)


@api.post("/runs", url_name="push-run", summary="Store one run", openapi_extra=described.REPORT)
def push_run(request: HttpRequest) -> HttpResponse:
    """Idempotent by the report's id: the same content again is `unchanged`."""
    options = Parameters(request).options()
    by, file = caller_of(request), receive(request)
    if file.size > settings.PARSE_IN_REQUEST_BYTES:
        return _uploaded(accept_upload(file=_file(file, "report.json"), context=Context(), by=by, **options))
    data = file.read()
    receipt = accept_report(report=read_report(data), by=by, raw=RawBytes(file.sha256, file.size, data), **options)
    status = 201 if receipt.outcome == "stored" else 200
    return answer(receipt, status, Location=f"/api/v1/runs/{receipt.id}")


@api.post("/runs:batch", url_name="push-batch", summary="Store many runs", openapi_extra=described.BATCH)
def push_batch(request: HttpRequest) -> HttpResponse:
    """Each report is stored or refused on its own; the answer has an item for each, in the order sent."""
    options = Parameters(request).options()
    by, file = caller_of(request), receive(request)
    data = file.read(most=settings.PARSE_IN_REQUEST_BYTES)
    outcomes = accept_batch(reports=read_batch(data), by=by, raw=RawBytes(file.sha256, file.size, data), **options)
    return answer(BatchAnswer.model_construct(items=[as_item(i, found) for i, found in enumerate(outcomes)]))


@api.post("/uploads", url_name="upload-file", summary="Store a tool's file", openapi_extra=described.UPLOAD)
def upload_file(request: HttpRequest) -> HttpResponse:
    """The file as the tool wrote it; what it lacks comes as URL parameters, as with `fuseboard push`."""
    query = Parameters(request)
    filename, context, options = query.text("filename", 500), query.context(), query.options()
    file = receive(request, FILE_TYPES)
    return _uploaded(accept_upload(file=_file(file, filename), context=context, by=caller_of(request), **options))


def _file(body: Body, name: str) -> File:
    return File(body.read(), body.sha256, body.size, name)


def _uploaded(found: UploadAnswer) -> HttpResponse:
    stored = any(run.receipt is not None and run.receipt.outcome == "stored" for run in found.runs)
    return answer(found, 202 if found.state == "received" else 201 if stored else 200, Location=found.url)


@api.get("/uploads/{uuid:upload_id}", url_name="upload", summary="A sent file", openapi_extra=described.UPLOADED)
def upload(request: HttpRequest, upload_id: UUID) -> HttpResponse:
    """For whoever sent it, and operators."""
    found = upload_answer(upload_id, caller_of(request))
    if found is None:
        raise refuse("not-found", f"You have sent no file with the id {upload_id}.")
    return answer(found)


@api.get("/runs/{uuid:run_id}", url_name="run", summary="One run", openapi_extra=described.RUN)
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Report, receipt and revisions."""
    query = Parameters(request)
    number, samples = query.number("revision"), query.flag("samples")
    query.done()
    found = run_or_refuse(run_id)
    tag = entity_tag(found, number, samples)
    if request.headers.get("If-None-Match") == tag:
        return HttpResponseNotModified(headers={"ETag": tag})
    response = answer_json(stored_run(found, number=number, samples=samples))
    response.headers["ETag"] = tag
    return response


@api.get("/runs/{uuid:run_id}/raw", url_name="run-raw", summary="The bytes it came in", openapi_extra=described.RAW)
def run_raw(request: HttpRequest, run_id: UUID) -> StreamingHttpResponse:
    """An attachment: whatever is in it must not run in a browser."""
    found = run_or_refuse(run_id)
    if found.raw_file is None:
        raise refuse("not-found", f"No received bytes are kept for the run {run_id}.")
    return StreamingHttpResponse(
        raw_pieces(found.raw_file), content_type="application/octet-stream",
        headers={
            "Content-Disposition": f'attachment; filename="{run_id}.raw"', "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox",
        },
    )  # fmt: skip


@api.get("/whoami", url_name="whoami", summary="Whose token is this?", openapi_extra=described.WHOAMI)
def whoami(request: HttpRequest) -> HttpResponse:
    """Person or machine, role and scopes."""
    by = caller_of(request)
    return answer_json({
        "user": by.user.get_username() if by.user else None,
        "machine": by.machine.name if by.machine else None,
        "role": by.role.value,
        "scopes": sorted(scope.value for scope in by.scopes),
        "measures": by.measures,
    })  # fmt: skip


@api.get("/schema", url_name="schema", summary="The contract", openapi_extra=described.SCHEMA)
def schema(request: HttpRequest) -> HttpResponse:
    """JSON Schema of a report."""
    return answer_json(report_schema())
