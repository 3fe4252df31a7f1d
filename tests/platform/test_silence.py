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
