"""A refusal must reach whoever is still sending.

A server that answers and closes while the body is on its way resets the connection, and the client reads "broken pipe"
instead of the reason. So what is left of a refused body is read and thrown away, within bounds.
"""

import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, UnreadablePostError

from bench_site.webserver import patience

PIECE = 1 << 20
SECONDS = 20.0
#: Whoever sends nothing for this long is not sending any more, and must not keep a thread.
SILENCE = 2


class LastWordMiddleware:
    """Reads what a refused request still sends. Must stand outside of whatever refuses."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code >= 400 and request.method == "POST" and request.path.startswith("/api/"):
            read_the_rest(request)
        return response


def read_the_rest(request: HttpRequest) -> None:
    """Throw away what has not been read of the body, up to twice the limit of a body and for a while."""
    length = request.META.get("CONTENT_LENGTH") or ""
    left = min(int(length), 2 * settings.MAX_RECEIVED_BYTES) if length.isascii() and length.isdigit() else 0
    end = time.monotonic() + SECONDS
    try:
        with patience(request.META, SILENCE):
            while left > 0 and time.monotonic() < end and (data := request.read(min(PIECE, left))):
                left -= len(data)
    except UnreadablePostError:
        pass  # they have gone; so much the better
