"""Clients that fall silent in the middle of a request do not stop the site."""

import socket
import time
from collections.abc import Iterator

import pytest

from tests.platform.live import LiveSite, get

pytestmark = pytest.mark.live

HEAD = b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n"


@pytest.fixture(scope="module")
def site() -> Iterator[LiveSite]:
    live = LiveSite(FUSEBOARD_SILENCE_SECONDS="1", FUSEBOARD_WEB_WORKERS="1")
    try:
        yield live.start()
    finally:
        live.remove()


@pytest.mark.parametrize("sent", [HEAD, HEAD + b"\r\n{"], ids=["in the headers", "in the body"])
def test_silent_clients_give_their_threads_back(site: LiveSite, sent: bytes) -> None:
    silent = [socket.create_connection(("127.0.0.1", site.port)) for _ in range(8)]  # twice the threads
    try:
        for client in silent:
            client.sendall(sent)
        time.sleep(0.3)
        assert get(f"{site.url}/healthz", timeout=20) == (200, "ok\n")
    finally:
        for client in silent:
            client.close()


def test_an_upload_that_stalls_may_be_sent_again(site: LiveSite) -> None:
    code = (
        "from bench_site.fleet.tokens import issue_token; from bench_site.runs.models import User;"
        "u = User.objects.create_user('ann', role='uploader'); print(issue_token(user=u, name='t', scopes=['push'])[1])"
    )
    token = site.manage("shell", "--no-imports", "-c", code).split()[-1].encode()
    with socket.create_connection(("127.0.0.1", site.port)) as client:
        client.settimeout(20)
        client.sendall(HEAD + b"Authorization: Bearer " + token + b"\r\n\r\n{")
        answer = client.recv(4096)
    assert answer.startswith(b"HTTP/1.1 503") and b"Retry-After" in answer
