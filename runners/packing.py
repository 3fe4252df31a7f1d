"""How a body travels: compressed where that is worth it."""

from typing import NamedTuple

#: Bodies above this many bytes travel compressed; below, the header costs more than it saves.
COMPRESS_ABOVE = 16 * 1024


class Packed(NamedTuple):
    """A body as it travels."""

    data: bytes
    encoding: str | None


def pack(body: bytes) -> Packed:
    """``body`` compressed if that is worth it: zstd, or gzip where zstandard has no wheel for the machine's CPU."""
    if len(body) <= COMPRESS_ABOVE:
        return Packed(body, None)
    try:
        import zstandard

        small, encoding = zstandard.ZstdCompressor(level=3).compress(body), "zstd"
    except ImportError:
        import gzip

        small, encoding = gzip.compress(body, compresslevel=6, mtime=0), "gzip"
    # Archives and binary logs do not shrink; sending them plain spares the site the work.
    return Packed(small, encoding) if len(small) < 0.9 * len(body) else Packed(body, None)
