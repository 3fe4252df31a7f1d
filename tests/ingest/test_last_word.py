"""The reason of a refusal reaches a client that is still sending."""

import io

from django.http import HttpResponse
from django.test import RequestFactory

from bench_site.ingest.lastword import LastWordMiddleware


def test_the_rest_of_a_refused_body_is_read() -> None:
    body = io.BytesIO(b"x" * (5 << 20))
    extra = {"wsgi.input": body, "CONTENT_LENGTH": str(5 << 20)}
    request = RequestFactory().post("/api/v1/runs", b"", "application/json", **extra)
    LastWordMiddleware(lambda request: HttpResponse(status=403))(request)
    assert body.read() == b""


def test_an_accepted_one_and_one_without_a_length_are_left_alone() -> None:
    for status, length in ((201, "10"), (411, ""), (411, "many")):
        body = io.BytesIO(b"x" * 10)
        extra = {"wsgi.input": body, "CONTENT_LENGTH": length}
        request = RequestFactory().post("/api/v1/runs", b"", "application/json", **extra)
        LastWordMiddleware(lambda request, status=status: HttpResponse(status=status))(request)
        assert len(body.read()) == 10
