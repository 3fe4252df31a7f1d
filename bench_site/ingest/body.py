"""The request's body, streamed to disk through a bounded decompressor.

A body counts twice: the bytes received (``settings.MAX_RECEIVED_BYTES``) and the bytes they decompress to
(``settings.MAX_DECOMPRESSED_BYTES``). Both stop at the limit, so that a small zip bomb costs its limit and no more.
"""

import hashlib
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Protocol

import zstandard
from django.conf import settings
from django.http import HttpRequest, UnreadablePostError

from bench_site.ingest.attempts import RETRY_AFTER_SECONDS
from bench_site.ingest.refusals import Refusal, refuse
from bench_site.webserver import SILENCE_SECONDS, fell_silent
from runners.contract.problems import problem

PIECE = 1 << 18
#: zstd frames may ask for a window of gigabytes; files written with up to --ultra -22 need 128 MiB.
ZSTD_WINDOW = 1 << 27
JSON_TYPES = frozenset({"application/json", "text/json", ""})
FILE_TYPES = JSON_TYPES | {
    "application/octet-stream", "application/x-ndjson", "application/jsonl", "application/json-lines", "text/plain",
    "text/csv", "application/zip", "application/gzip",
}  # fmt: skip


@dataclass(slots=True)
class Body:
    """Received bytes, decompressed: ``size`` of them with this ``sha256``."""

    file: IO[bytes]
    size: int
    sha256: str

    def read(self, most: int | None = None) -> bytes:
        """All bytes, once: the temporary file is gone then. Raises Refusal if there are more than ``most``."""
        with self.file:
            if most is not None and self.size > most:
                raise _too_large("decompressed", most)
            self.file.seek(0)
            return self.file.read()


class _Decoder(Protocol):
    def feed(self, data: bytes) -> Iterator[bytes]: ...

    def finished(self) -> bool: ...


class _Identity:
    def feed(self, data: bytes) -> Iterator[bytes]:
        yield data

    def finished(self) -> bool:
        return True


class _Gzip:
    """gzip, several members in a row allowed, output in bounded pieces."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            self._begun = True
            yield self._member.decompress(data, PIECE)
            data = self._member.unconsumed_tail
            if self._member.eof:
                data = self._member.unused_data.lstrip(b"\0")  # tape padding is legal
                self._member = zlib.decompressobj(wbits=31)
                self._begun = bool(data)

    def finished(self) -> bool:
        return not self._begun


class _Zstd:
    """zstd, several frames in a row allowed. A piece of input is small, so that its output is bounded by the window."""

    def __init__(self) -> None:
        self._context = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
        self._frame = self._context.decompressobj()
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        # One block of at most 128 KiB can come of 4 bytes of input (run-length): 1 KiB gives at most 32 MiB.
        for start in range(0, len(data), 1024):
            part = data[start : start + 1024]
            while part:
                self._begun = True
                yield self._frame.decompress(part)
                part = b""
                if self._frame.eof:
                    part = self._frame.unused_data
                    self._frame = self._context.decompressobj()
                    self._begun = bool(part)

    def finished(self) -> bool:
        return not self._begun


_DECODERS: dict[str, type[_Identity] | type[_Gzip] | type[_Zstd]] = {
    "": _Identity,
    "identity": _Identity,
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "zstd": _Zstd,
}


def receive(request: HttpRequest, types: frozenset[str] = JSON_TYPES) -> Body:
    """The request's body in a temporary file (in memory while small); raises Refusal."""
    length = _length(request)
    media = request.META.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
    if media not in types:
        raise refuse("unsupported-media", f"The content type {media!r} is not taken here; send application/json.")
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower()
    if encoding not in _DECODERS:
        raise refuse("unsupported-media", f"The content encoding {encoding!r} is not taken; use gzip or zstd, or none.")
    file = tempfile.SpooledTemporaryFile(  # noqa: SIM115  handed to the caller
        max_size=settings.PARSE_IN_REQUEST_BYTES, dir=settings.FILE_UPLOAD_TEMP_DIR
    )
    try:
        return _copy(request, length, _DECODERS[encoding](), file)
    except (zlib.error, zstandard.ZstdError) as error:
        file.close()
        raise refuse("bad-compression", f"The body is not valid {encoding}: {error}.") from None
    except BaseException:
        file.close()
        raise


def _length(request: HttpRequest) -> int:
    text = request.META.get("CONTENT_LENGTH") or ""
    if not text:
        # Under WSGI a chunked body arrives empty: it would look like an empty one.
        if "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
            raise refuse("length-required", "The body came chunked, without a Content-Length.")
        raise refuse("length-required", "The request has no Content-Length; a body is needed here.")
    if not (text.isascii() and text.isdigit()):
        raise refuse("length-required", f"The Content-Length {text[:40]!r} is not a number of bytes.")
    if int(text) > settings.MAX_RECEIVED_BYTES:
        raise _too_large("received", settings.MAX_RECEIVED_BYTES)
    if int(text) == 0:
        raise refuse("empty", "The body has no bytes.")
    return int(text)


def _copy(request: HttpRequest, length: int, decoder: _Decoder, file: IO[bytes]) -> Body:
    digest, size, left = hashlib.sha256(), 0, length
    while left:
        try:
            data = request.read(min(PIECE, left))
        except UnreadablePostError as error:
            if fell_silent(error):  # a network that stalls: worth another try, unlike a body that is too short
                raise _silent(left) from None
            data = b""
        if not data:
            raise refuse("incomplete", f"The body ended {left:,} bytes before its Content-Length of {length:,}.")
        left -= len(data)
        for piece in decoder.feed(data):
            size += len(piece)
            if size > settings.MAX_DECOMPRESSED_BYTES:
                raise _too_large("decompressed", settings.MAX_DECOMPRESSED_BYTES)
            digest.update(piece)
            file.write(piece)
    if not decoder.finished():
        raise refuse("bad-compression", "The compressed body is cut off before its end.")
    if not size:
        raise refuse("empty", "The body is empty once decompressed.")
    return Body(file, size, digest.hexdigest())


def _silent(left: int) -> Refusal:
    detail = f"Nothing came for {SILENCE_SECONDS} s, {left:,} bytes before the body's end. Nothing was stored."
    return Refusal(problem("busy", detail), retry_after=RETRY_AFTER_SECONDS)


def _too_large(what: str, limit: int) -> Refusal:
    words = "as received" if what == "received" else "once decompressed"
    return refuse(
        "too-large", f"A body may have {limit / 2**20:g} MiB {words}; this one has more.", limit_bytes=limit, limit=what
    )
