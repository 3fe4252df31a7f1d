"""The received bytes, kept compressed: so that a mended adapter can read them again."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import zstandard
from django.db import connection

from bench_site.formats import redact
from bench_site.runs.models import RawChunk, RawFile

LEVEL = 3

_INSERT = """
INSERT INTO runs_rawfile (sha256, size, data, removed, received_at) VALUES (%s, %s, %s, %s::jsonb, now())
ON CONFLICT (sha256) DO NOTHING RETURNING id
"""


@dataclass(slots=True)
class RawBytes:
    """What came in: the digest and size of the bytes as received, and the bytes that may be kept.

    ``kept`` has the secrets taken out, once ``redacted`` is true; ``removed`` names their paths.
    """

    sha256: str
    size: int
    kept: bytes
    removed: list[str] = field(default_factory=list)
    redacted: bool = False

    def redact(self) -> None:
        """Take the secrets out, unless that was done."""
        if not self.redacted:
            self.kept, self.removed = redact(self.kept)
            self.redacted = True


def store_raw(raw: RawBytes) -> Callable[[], int]:
    """Write a RawFile with these bytes unless there is one; what is returned answers its id. Inside a transaction."""
    packed = zstandard.ZstdCompressor(level=LEVEL).compress(raw.kept)
    inline = packed if len(packed) <= RawFile.INLINE_BYTES else None
    cursor = connection.cursor()
    cursor.execute(_INSERT, [raw.sha256, raw.size, inline, json.dumps(raw.removed)])

    def finish() -> int:
        with cursor:
            written: tuple[int] | None = cursor.fetchone()
        if written is None:
            # By somebody else, committed by now: ON CONFLICT has waited for them.
            return RawFile.objects.only("id").get(sha256=raw.sha256).pk
        if inline is None:
            _store_chunks(written[0], packed)
        return written[0]

    return finish


def _store_chunks(raw_file: int, packed: bytes) -> None:
    step = RawFile.INLINE_BYTES
    pieces = [packed[start : start + step] for start in range(0, len(packed), step)]
    RawChunk.objects.bulk_create(
        [RawChunk(raw_file_id=raw_file, index=i, data=piece) for i, piece in enumerate(pieces)], batch_size=16
    )


def raw_pieces(raw_file: RawFile) -> Iterator[bytes]:
    """The kept bytes of ``raw_file`` again, decompressed, in pieces."""
    expand = zstandard.ZstdDecompressor().decompressobj()
    if raw_file.data is not None:
        yield expand.decompress(bytes(raw_file.data))
        return
    for data in raw_file.chunks.order_by("index").values_list("data", flat=True).iterator(chunk_size=4):
        yield expand.decompress(bytes(data))
