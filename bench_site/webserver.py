"""What gunicorn is told besides its options: a client that falls silent must not keep a thread for ever.

A request holds a thread from its first byte to its last, and gunicorn's threads wait without limit: eight laptops that
went to sleep in the middle of an upload would stop the whole site, and so would anybody with eight open sockets. The
kernel counts the silence; connections inherit these options from the socket that accepts them.
"""

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench_site.env import Env

SILENCE_SECONDS = Env().integer("FUSEBOARD_SILENCE_SECONDS", 15, least=1, most=3600)


def when_ready(server: Any) -> None:
    """Called by gunicorn when it listens, before the first request."""
    for listener in server.LISTENERS:
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            listener.sock.setsockopt(socket.SOL_SOCKET, option, _timeval(SILENCE_SECONDS))


@contextmanager
def patience(environ: dict[str, Any], seconds: int) -> Iterator[None]:
    """Waits at most ``seconds`` for each piece that this request's client sends (under gunicorn)."""
    client = environ.get("gunicorn.socket")
    if client is None:
        yield
        return
    before = client.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.calcsize("@ll"))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _timeval(min(seconds, SILENCE_SECONDS)))
    try:
        yield
    finally:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, before)


def fell_silent(error: OSError) -> bool:
    """Whether reading ended because nothing came for too long, not because the client went away."""
    return isinstance(error.__cause__ or error, BlockingIOError | TimeoutError)


def _timeval(seconds: int) -> bytes:
    return struct.pack("@ll", seconds, 0)
