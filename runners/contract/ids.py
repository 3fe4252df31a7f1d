"""Run ids: UUIDv7 from a client, UUIDv5 from a raw file's bytes."""

import os
import time
from uuid import UUID, uuid5

#: Namespace of ids derived from files; changing it would store every old file a second time.
FILE_NAMESPACE = UUID("6f3d5a52-3f0f-5c0e-9c56-0f4c8a5b7d11")


def new_run_id() -> UUID:
    """A fresh UUIDv7 (RFC 9562 section 5.7): 48 bits of Unix milliseconds, then random bits."""
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds & (2**48 - 1)) << 80 | int.from_bytes(os.urandom(10))
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return UUID(int=value)


def file_run_id(sha256_hex: str, record: int) -> UUID:
    """The id of record number ``record`` (from 0) of the file whose received bytes have this sha256."""
    return uuid5(FILE_NAMESPACE, f"{sha256_hex}:{record}")
