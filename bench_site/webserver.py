"""What gunicorn is told besides its options: a client that falls silent must not keep a thread for ever.

A request holds a thread from its first byte to its last, and gunicorn's threads wait without limit: eight laptops that
went to sleep in the middle of an upload would stop the whole site, and so would anybody with eight open sockets. The
kernel counts the silence; connections inherit these options from the socket that accepts them.
"""

import socket
import struct
from typing import Any

from bench_site.env import Env

SILENCE_SECONDS = Env().integer("FUSEBOARD_SILENCE_SECONDS", 30, least=1, most=3600)


def when_ready(server: Any) -> None:
    """Called by gunicorn when it listens, before the first request."""
    patience = struct.pack("@ll", SILENCE_SECONDS, 0)  # a struct timeval
    for listener in server.LISTENERS:
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)
