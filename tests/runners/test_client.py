"""The client against a real socket: what is stored, what is tried again, and what each failure is called."""

import socket
import ssl
import threading
import time

import httpx2
import pytest

from runners.client import Client
from runners.contract import Report
from runners.contract.context import Context
from runners.failures import NotSignedIn, Refused, Unsent
from runners.packing import COMPRESS_ABOVE, pack
from runners.retry import Patience
from tests.runners.fakesite import (
    TOKEN,
    fine,
    half_an_answer,
    problem_of,
    reset,
    reset_after_storing,
    says,
)
from tests.runners.tools import QUICK, report

ONCE = Patience(total=0)


def patient(url, **changes):
    return Client(url, TOKEN, patience=QUICK, sleep=lambda seconds: None, **changes)


def body(**changes):
    import json

    return json.dumps(report(**changes)).encode()


def test_a_report_is_stored_once_and_then_unchanged(client, site):
    sent = Report.model_validate(report())
    assert client.push_report(sent).outcome == "stored"
    assert client.push_report(sent).outcome == "unchanged"
    assert site.stored == {str(sent.id): 1}


def test_a_changed_report_is_a_conflict_until_it_is_amended(client):
    first = report()
    client.push_report(Report.model_validate(first))
    changed = Report.model_validate({**first, "notes": "another"})
    with pytest.raises(Refused) as caught:
        client.push_report(changed)
    assert caught.value.problem.code == "conflict"
    assert client.push_report(changed, amend=True, reason="typo").revision == 2


@pytest.mark.parametrize("said", [{"command": "serve --flag " * 1000}, {"notes": "长" * 3000, "chip": "h200"}])
def test_a_context_too_long_for_an_address_is_refused_and_never_waits(client, site, said):
    with pytest.raises(Refused, match=f"Shorten the longest: {next(iter(said))}") as caught:
        client.push_file(b"{}", Context(**said), filename="a.json")
    assert caught.value.problem.code == "bad-query" and site.paths() == []


@pytest.mark.parametrize("status", [414, 431])
def test_a_server_that_finds_the_address_too_long_is_not_asked_again(client, site, status):
    site.faults = [says(status)]
    with pytest.raises(Refused):
        client.push_file(b"{}", filename="a.json")
    assert site.faults == [] and site.paths() == [], "a second request would have been answered"


def test_a_batch_answers_in_order_across_requests(client, site):
    bodies = [body() for _ in range(230)]
    answer = client.push_reports(bodies)
    assert [item.index for item in answer.items] == list(range(230))
    assert site.paths() == ["POST /api/v1/runs:batch"] * 3
    assert len(site.stored) == 230


def test_a_raw_file_travels_byte_for_byte_with_its_context(client, site):
    raw = b'{"date": "x", "n": [\x00\xff]}' * 10
    client.push_file(raw, Context(chip="h200", chips=8, tag=["a b", "c&d"]), filename="r 1.json")
    [request] = site.requests
    assert request.body == raw
    assert request.query == {"chip": ["h200"], "chips": ["8"], "tag": ["a b", "c&d"], "filename": ["r 1.json"]}
    assert request.headers["Content-Type"] == "application/octet-stream"


@pytest.mark.parametrize("size", [1, COMPRESS_ABOVE, COMPRESS_ABOVE + 1, 3_000_000])
def test_every_body_has_a_length_and_large_ones_are_compressed(client, site, size):
    client.push_file(b"a" * size, filename="a.txt")
    [request] = site.requests
    assert request.body == b"a" * size
    assert int(request.headers["Content-Length"]) > 0
    assert request.headers.get("Content-Encoding") == ("zstd" if size > COMPRESS_ABOVE else None)


def test_without_zstandard_it_is_gzip(monkeypatch, client, site):
    """Some domestic CPUs have no wheel for it."""
    import sys

    monkeypatch.setitem(sys.modules, "zstandard", None)
    client.push_file(b"a" * 100_000, filename="a.txt")
    assert site.requests[0].headers["Content-Encoding"] == "gzip"
    assert site.requests[0].body == b"a" * 100_000


def test_what_does_not_shrink_goes_plain():
    import os

    noise = os.urandom(100_000)
    assert pack(noise) == (noise, None)


def test_connections_are_used_again(site):
    ports = set()

    def seen(handler):
        ports.add(handler.client_address[1])
        return False

    site.faults = [seen] * 5
    with patient(site.url) as client:
        for _ in range(5):
            client.whoami()
    assert len(ports) == 1


# ------------------------------------------------------------ trying again


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_later_is_tried_again(client, site, status):
    site.faults = [says(status), says(status, b"<html>Bad Gateway</html>", "text/html"), fine]
    assert client.push_report(body()).outcome == "stored"


@pytest.mark.parametrize("fault", [reset, half_an_answer, reset_after_storing], ids=lambda fault: fault.__name__)
def test_a_broken_connection_is_tried_again_and_stored_once(client, site, fault):
    site.faults = [fault, fault, fine]
    receipt = client.push_report(body(notes="x" * 2_000_000))
    assert receipt.outcome in ("stored", "unchanged")
    assert list(site.stored.values()) == [1]


def test_a_file_that_was_stored_before_the_connection_broke_is_stored_once(client, site):
    site.faults = [reset_after_storing, fine]
    client.push_file(b"raw", filename="a.json")
    assert list(site.stored.values()) == [1]


@pytest.mark.parametrize("status", [400, 403, 404, 409, 410, 422, 501, 505, 520])
def test_nothing_else_is_tried_again(client, site, status):
    site.faults = [says(status)]
    with pytest.raises((Refused, Unsent)):
        client.push_report(body())
    assert site.faults == []
    assert site.requests == []


def test_retry_after_is_honoured(site):
    waits = []
    site.faults = [problem_of("busy", Retry_After="3"), fine]
    with Client(site.url, TOKEN, patience=QUICK, sleep=waits.append) as client:
        client.push_report(body())
    assert len(waits) == 1
    assert waits[0] >= 3


def test_a_retry_after_beyond_the_patience_gives_up_and_says_so(client, site):
    site.faults = [problem_of("too-many-requests", Retry_After="3600")]
    with pytest.raises(Unsent, match="asked to wait 3600 s"):
        client.push_report(body())


def test_each_wait_is_announced(site):
    said = []
    site.faults = [says(503), fine]
    with patient(site.url, on_wait=lambda reason, seconds: said.append(reason)) as client:
        client.whoami()
    assert said == [f"{site.url} answered 503 Service Unavailable"]


def test_a_site_that_comes_up_meanwhile_gets_it(site):
    port = site.server.server_address[1]
    site.stop()
    with Client(site.url, TOKEN, patience=Patience(first=0.05, longest=0.1, total=10)) as client:
        threading.Timer(0.4, site.start, [port]).start()
        assert client.push_report(body()).outcome == "stored"


def test_the_total_time_is_bounded():
    began = time.monotonic()
    with (
        Client("http://127.0.0.1:9", patience=Patience(first=0.05, total=0.5)) as client,
        pytest.raises(Unsent, match=r"tried \d+ times"),
    ):
        client.whoami()
    assert time.monotonic() - began < 5


# ------------------------------------------------------------ what a failure is called


def test_a_refusal_carries_the_whole_problem(client, site):
    sent = report()
    site.refuse.add(sent["id"])
    with pytest.raises(Refused, match=r"points\[0\]\.duration") as caught:
        client.push_report(Report.model_validate(sent))
    assert caught.value.problem.status == 422


def test_a_code_that_is_newer_than_this_client_is_still_a_refusal(client, site):
    import json

    new = {"type": "/problems/new", "title": "New", "status": 418, "detail": "d", "code": "new", "remedy": "r"}
    site.faults = [says(418, json.dumps(new).encode(), "application/problem+json")]
    with pytest.raises(Refused, match="New"):
        client.whoami()


def test_an_unknown_token_is_named_as_such(site):
    with Client(site.url, "wrong") as client, pytest.raises(NotSignedIn, match="fuseboard login"):
        client.whoami()


@pytest.mark.parametrize("token", ["a\nb", "tøken", "a\x00"])
def test_a_token_that_cannot_be_one_never_leaves(token):
    with pytest.raises(NotSignedIn, match="characters that no token has") as caught:
        Client("http://127.0.0.1:9", token)
    assert token not in str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        says(200, b"<html><h1>Welcome to nginx</h1></html>", "text/html"),
        says(200, b"{}", "application/json"),
        says(200, b"not json", "application/json"),
        says(200, b"", "application/json"),
        says(404, b"<html>not found</html>", "text/html"),
        says(403, b'{"message": "denied by the gateway"}', "application/json"),
    ],
)
def test_an_answer_that_is_no_fuseboards_is_not_the_sites_last_word(client, site, answer):
    site.faults = [answer]
    with pytest.raises(Unsent, match="does not answer like a Fuseboard site"):
        client.push_report(body())


def test_a_redirect_is_not_followed_and_the_token_goes_nowhere(client, site):
    site.faults = [says(301, Location="https://elsewhere.example/api/v1/runs")]
    with pytest.raises(Unsent, match=r"sends us to https://elsewhere\.example"):
        client.push_report(body())


def test_a_proxys_own_limit_is_final(client, site):
    site.faults = [says(413, b"<html>Request Entity Too Large</html>", "text/html")]
    with pytest.raises(Refused) as caught:
        client.push_file(b"x", filename="x")
    assert caught.value.problem.code == "too-large"


def test_a_name_that_does_not_resolve():
    with (
        Client("http://nosuch.invalid", patience=ONCE) as client,
        pytest.raises(Unsent, match=r"the name nosuch\.invalid"),
    ):
        client.whoami()


def test_nobody_listens():
    with Client("http://127.0.0.1:9", patience=ONCE) as client, pytest.raises(Unsent, match="refuses connections"):
        client.whoami()


def test_a_plain_site_asked_over_tls(site):
    url = site.url.replace("http:", "https:")
    with patient(url) as client, pytest.raises(Unsent, match="try http://") as caught:
        client.whoami()
    assert "tried" not in str(caught.value), "no second try can mend it"


def test_a_certificate_that_nobody_vouches_for(tmp_path):
    refused = ssl.SSLCertVerificationError("certificate verify failed")
    refused.verify_message = "self-signed certificate"

    def break_off(request):
        raise httpx2.ConnectError("x") from refused

    with (
        patient("https://bench.example", transport=httpx2.MockTransport(break_off)) as client,
        pytest.raises(Unsent, match=r"self-signed certificate.*SSL_CERT_FILE"),
    ):
        client.whoami()


def test_a_site_that_never_answers():
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        with (
            Client(url, patience=Patience(total=0), timeout=httpx2.Timeout(0.2)) as client,
            pytest.raises(Unsent, match="took too long"),
        ):
            client.whoami()


# ------------------------------------------------------------ large files


def test_a_large_file_is_asked_for_until_it_is_parsed(client, site):
    site.parsing = 3
    answer = client.push_file(b"large", filename="large.json")
    assert answer.state == "received"
    answer = client.wait(answer)
    assert answer.state == "parsed"
    assert site.paths() == ["POST /api/v1/uploads", *[f"GET /api/v1/uploads/{answer.id}"] * 3]


def test_waiting_ends(client, site):
    site.parsing = 10**9
    answer = client.wait(client.push_file(b"large", filename="large.json"), seconds=0.2)
    assert answer.state == "received"


def test_compare_is_byte_for_byte(client, site):
    site.compare = b"\xef\xbb\xbfchip,tokens/s\r\nh200,1.0\r\n"
    assert client.compare_csv([("chip", "h200"), ("chip", "b200")]) == site.compare
    assert site.requests[0].query == {"chip": ["h200", "b200"]}
