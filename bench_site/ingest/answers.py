"""Responses of the API: JSON from our models, and every error as RFC 9457 problem+json."""

import json
import logging
from collections.abc import Callable
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import URLPattern, re_path
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from pydantic import BaseModel

from bench_site.fleet.tokens import NotSignedIn
from bench_site.ingest.attempts import busy
from bench_site.ingest.described import components
from bench_site.ingest.refusals import Refusal, refuse
from runners.contract.problems import Problem, problem
from runners.contract.receipt import BatchItem, Receipt

log = logging.getLogger(__name__)

PROBLEM_TYPE = "application/problem+json"

View = Callable[..., HttpResponse]


def answer(body: BaseModel, status: int = 200, **headers: str) -> HttpResponse:
    """``body`` as JSON."""
    response = HttpResponse(body.model_dump_json(), status=status, content_type="application/json")
    for name, value in headers.items():
        response.headers[name.replace("_", "-")] = value
    return response


def answer_json(body: Any, status: int = 200) -> HttpResponse:
    """Plain data as JSON; times in ISO 8601."""
    return HttpResponse(
        json.dumps(body, cls=DjangoJSONEncoder, ensure_ascii=False), status=status, content_type="application/json"
    )


def as_item(index: int, outcome: Receipt | Refusal) -> BatchItem:
    """One item of a batch's answer."""
    if isinstance(outcome, Refusal):
        return BatchItem.model_construct(
            index=index, status=outcome.problem.status, receipt=None, problem=outcome.problem
        )
    status = 201 if outcome.outcome == "stored" else 200
    return BatchItem.model_construct(index=index, status=status, receipt=outcome, problem=None)


def answer_problem(found: Problem, retry_after: int | None = None) -> HttpResponse:
    """A problem document with the headers that belong to its status."""
    response = HttpResponse(found.model_dump_json(), status=found.status, content_type=PROBLEM_TYPE)
    if retry_after is not None:
        response.headers["Retry-After"] = str(retry_after)
    if found.status == 401:
        response.headers["WWW-Authenticate"] = 'Bearer realm="Fuseboard"'
    return response


class Api(NinjaAPI):
    """A NinjaAPI whose every error is a problem document, those of Django's routing as well."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.add_exception_handler(Exception, _answer_exception)

    def _get_urls(self) -> list[Any]:
        patterns = super()._get_urls()
        for pattern in patterns:
            if isinstance(pattern, URLPattern):
                pattern.callback = _with_problems(pattern.callback)
        return [*patterns, re_path(r"^.*$", _no_such_address, name="no-such-address")]

    def get_openapi_operation_id(self, operation: Any) -> str:
        """The view's own name: what a generated client calls its method."""
        return str(operation.view_func.__name__)

    def get_openapi_schema(self, **options: Any) -> Any:
        """The document with the contract's own schemas in it."""
        document = super().get_openapi_schema(**options)
        document["components"] = components()
        for methods in document["paths"].values():
            for operation in methods.values():
                # Ninja writes its own answer under the number 200 and ours stands under the text "200": two equal keys
                # in JSON, which Swagger's reader refuses.
                answers = operation["responses"]
                operation["responses"] = {str(status): answers[status] for status in answers} | {
                    status: answer for status, answer in answers.items() if isinstance(status, str)
                }
        return document


def _with_problems(view: View) -> View:
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method == "HEAD":
            request.method = "GET"  # the server leaves the body out
        if not _takes_json(request):
            return answer_problem(problem("not-acceptable", "This address answers in application/json."))
        response = view(request, *args, **kwargs)
        if isinstance(response, HttpResponseNotAllowed):
            allowed = response.headers["Allow"]
            found = problem("method-not-allowed", f"{request.method} is not taken here; {allowed} is.")
            response = answer_problem(found)
            response.headers["Allow"] = allowed
        return response

    return csrf_exempt(checked)  # bearer tokens: no cookie is read here


def _takes_json(request: HttpRequest) -> bool:
    accept = request.META.get("HTTP_ACCEPT") or "*/*"
    if accept in ("*/*", "application/json"):
        return True
    kinds = ("application/json", PROBLEM_TYPE, "text/html", "application/octet-stream")
    return any(request.accepts(kind) for kind in kinds)


@csrf_exempt
def _no_such_address(request: HttpRequest) -> HttpResponse:
    return answer_problem(problem("not-found", f"The API has no address {request.path}; see /api/v1/docs."))


def _answer_exception(request: HttpRequest, why: Any) -> HttpResponse:
    if isinstance(why, NotSignedIn):
        why = refuse("not-signed-in", str(why), None, reason=why.reason)
    elif isinstance(why, OperationalError | InterfaceError):
        why = busy(why)
    elif not isinstance(why, Refusal):
        log.error("500 for %s %s", request.method, request.path, exc_info=why)
        why = refuse("internal", "The site made an error while it handled this request; nothing was stored.")
    return answer_problem(why.problem, why.retry_after)
