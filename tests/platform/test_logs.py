"""The terminal of ``make up`` says what the site does wrong, not what visitors type, and no link that lets one in."""

import io
import logging
from collections.abc import Iterator

import pytest
from django.test import Client


@pytest.fixture
def printed() -> Iterator[io.StringIO]:
    """What the site's own handler writes."""
    handler = next(one for one in logging.getLogger().handlers if getattr(one, "filters", None))
    assert isinstance(handler, logging.StreamHandler)
    text = io.StringIO()
    before = handler.setStream(text)
    yield text
    handler.setStream(before)


def test_a_mistake_of_a_visitor_prints_nothing(printed: io.StringIO) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.get("/no/such/page/").status_code == 404
    assert client.post("/account/signin/", {"username": "a"}).status_code == 403
    assert client.post("/api/v1/runs", "{}", content_type="application/json").status_code == 401
    assert printed.getvalue() == ""
    client.post("/account/signin/", {"username": "a"}, headers={"Origin": "https://bench.example.org"})
    assert "Origin checking failed - https://bench.example.org" in printed.getvalue()


def test_a_fault_is_printed_without_the_one_time_link(printed: io.StringIO) -> None:
    for path in ("/account/setup/operator:1x:abc/", "/account/welcome/7-x:1x:abc/"):
        logging.getLogger("django.request").error("%s: %s", "Internal Server Error", path)
    assert "abc" not in printed.getvalue()
    assert "Internal Server Error: /account/setup/[removed]/" in printed.getvalue()
