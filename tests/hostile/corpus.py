"""What people, proxies and attackers may post, by kind, and the problem code that each must get.

One case a body: its name, the expected code, the bytes, and what is special about the request. Everything goes to
POST /api/v1/runs unless ``path`` says else. Nothing here may be stored, and nothing may cause a 500.
"""

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import zstandard

from tests.ingest.making import document, point

REPORT, BATCH, UPLOAD = "/api/v1/runs", "/api/v1/runs:batch", "/api/v1/uploads"


@dataclass(frozen=True)
class Case:
    """One hostile request. ``names``: paths that the problem's errors must name, if any."""

    name: str
    code: str
    body: bytes
    path: str = REPORT
    headers: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()


def good(**changes: Any) -> bytes:
    """A report that would be stored."""
    return json.dumps(document(**changes)).encode()


def with_text(old: str, new: str, **changes: Any) -> bytes:
    """A good report with a piece of its text replaced, for what json.dumps would not write."""
    text = json.dumps(document(**changes))
    assert old in text, old
    return text.replace(old, new, 1).encode()


def with_point(**changes: Any) -> bytes:
    """A good report with other parts of its point."""
    return good(points=[point(**changes)])


def metric(value: str) -> bytes:
    """A good report whose TTFT p50 is ``value``, as text."""
    return with_text('"p50": 0.16', f'"p50": {value}')


P50 = "points[0].metrics.ttft.p50"


def numbers() -> Iterator[Case]:
    """Numbers that cannot be stored or mean nothing."""
    yield Case("NaN", "invalid-report", metric("NaN"), names=(P50,))
    yield Case("Infinity", "invalid-report", metric("Infinity"), names=(P50,))
    yield Case("minus Infinity", "invalid-report", metric("-Infinity"), names=(P50,))
    yield Case("beyond 1e308", "invalid-report", metric("1e400"), names=(P50,))
    yield Case("beyond 1e18", "invalid-report", metric("1e300"), names=(P50,))
    yield Case("negative latency", "invalid-report", metric("-0.001"), names=(P50,))
    yield Case("quoted number", "invalid-report", metric('"0.16"'), names=(P50,))
    yield Case("number as boolean", "invalid-report", metric("true"), names=(P50,))
    yield Case("number as list", "invalid-report", metric("[0.16]"), names=(P50,))
    yield Case("number of 5,000 digits", "bad-json", metric("9" * 5000))
    yield Case("hexadecimal", "bad-json", metric("0x10"))
    yield Case("leading zero", "bad-json", metric("007"))
    yield Case("bare minus", "bad-json", metric("-"))
    chips = "system.pools[0].chips"
    for name, value in (("beyond 2^63", str(2**63)), ("2^200", str(2**200)), ("zero chips", "0"),
                        ("negative chips", "-8"), ("half a chip", "7.5"), ("chips as text", '"8"')):  # fmt: skip
        yield Case(name, "invalid-report", with_text('"chips": 8', f'"chips": {value}'), names=(chips,))
    yield Case("negative concurrency", "invalid-report", with_point(load={"concurrency": -1}))
    yield Case("seed beyond bigint", "invalid-report", good(workload={"seed": 2**63}), names=("workload.seed",))
    price = {"amount_per_hour": "1e500", "currency": "USD"}
    yield Case("price beyond decimal", "invalid-report", good(price=price), names=("price.amount_per_hour",))
    yield Case("share above one", "invalid-report", good(verification={"status": "passed", "top1_agreement": 1.2}))


def texts() -> Iterator[Case]:
    """Texts that PostgreSQL cannot hold or that are no text."""
    yield Case("NUL", "invalid-report", good(notes="a\x00b"), names=("notes",))
    yield Case("NUL in a key", "invalid-report", good(system={"software": {"a\x00b": "1"}}))
    yield Case("lone surrogate", "bad-json", with_text('"Example-70B"', '"\\ud800"'))
    yield Case("lone low surrogate", "bad-json", with_text('"Example-70B"', '"\\udc00x"'))
    yield Case("surrogates reversed", "bad-json", with_text('"Example-70B"', '"\\udc00\\ud800"'))
    yield Case("surrogate as bytes", "bad-encoding", good().replace(b"Example-70B", b"\xed\xa0\x80"))
    yield Case("control character", "bad-json", with_text('"Example-70B"', '"a\x01b"'))
    yield Case("bad escape", "bad-json", with_text('"Example-70B"', '"\\x41"'))
    yield Case("empty name", "invalid-report", good(model={"name": "  "}), names=("model.name",))
    yield Case("name of 300 characters", "invalid-report", good(model={"name": "x" * 300}), names=("model.name",))
    yield Case("notes of 1 MB", "invalid-report", good(notes="x" * 1_000_000), names=("notes",))
    yield Case("script as a status", "invalid-report", good(status="<script>alert(1)</script>"), names=("status",))
    yield Case(
        "javascript address", "invalid-report", good(source={"url": "javascript:alert(1)"}), names=("source.url",)
    )
    yield Case("Latin-1", "bad-encoding", good().replace(b"Example-70B", b"Modell-\xfc"))
    yield Case("UTF-16", "bad-encoding", good().decode().encode("utf-16"))
    yield Case("UTF-16 without BOM", "bad-encoding", good().decode().encode("utf-16-le"))
    yield Case("UTF-32", "bad-encoding", good().decode().encode("utf-32"))
    yield Case("overlong UTF-8", "bad-encoding", good().replace(b"Example-70B", b"\xc0\xaf"))


def documents() -> Iterator[Case]:
    """Bodies that are no report."""
    yield Case("empty body", "empty", b"")
    yield Case("blank body", "empty", b" \r\n\t ")
    yield Case("only a BOM", "empty", b"\xef\xbb\xbf")
    yield Case("two BOMs", "bad-json", b"\xef\xbb\xbf\xef\xbb\xbf" + good())
    yield Case("truncated", "bad-json", good()[:-20])
    yield Case("truncated in a string", "bad-json", good()[:30])
    yield Case("one brace", "bad-json", b"{")
    yield Case("trailing comma", "bad-json", good()[:-1] + b",}")
    yield Case("trailing text", "bad-json", good() + b" x")
    yield Case("two documents", "bad-json", good() + good())
    yield Case("single quotes", "bad-json", good().replace(b'"', b"'"))
    yield Case("a comment", "bad-json", b"// hello\n" + good())
    yield Case("HTML", "bad-json", b"<html><body>502 Bad Gateway</body></html>")
    yield Case("YAML", "bad-json", b"id: 1\npoints: []\n")
    yield Case("a form", "bad-json", b"id=1&points=2")
    yield Case("null", "invalid-report", b"null", names=("$",))
    yield Case("a number", "invalid-report", b"7", names=("$",))
    yield Case("a string", "invalid-report", b'"report"', names=("$",))
    yield Case("a list", "invalid-report", b"[" + good() + b"]", names=("$",))
    yield Case("empty object", "invalid-report", b"{}", names=("id",))
    yield Case(
        "a key twice", "duplicate-key", with_text('"evidence":', '"evidence": "mock", "evidence":'), names=("evidence",)
    )
    yield Case(
        "a key twice deep inside", "duplicate-key", with_text('"p50": 0.16', '"p50": 0.1, "p50": 0.16'), names=(P50,)
    )
    yield Case(
        "a key twice, once escaped", "duplicate-key", with_text('"evidence":', '"evi\\u0064ence": "mock", "evidence":')
    )
    yield Case("deep lists", "too-deep", b"[" * 100_000)
    yield Case("deep objects", "too-deep", b'{"a":' * 100_000)
    yield Case("deep but closed", "too-deep", with_text('"Example-70B"', "[" * 300 + "]" * 300))
    yield Case(
        "99 levels in a field", "invalid-report", with_text('"Example-70B"', "[" * 90 + "]" * 90), names=("model.name",)
    )


def reports() -> Iterator[Case]:
    """Reports that contradict the contract."""
    yield Case("unknown field", "invalid-report", good(colour="red"), names=("colour",))
    yield Case("__proto__", "invalid-report", good(__proto__={"admin": True}), names=("__proto__",))
    yield Case("misspelt metric", "invalid-report", with_text('"ttft":', '"tttf":'), names=("points[0].metrics.tttf",))
    yield Case("no id", "invalid-report", with_text('"id":', '"started_at_text":'), names=("id",))
    yield Case("id of version 4", "invalid-report", good(id="0b8f7a52-3c4d-4e5f-8a9b-0c1d2e3f4a5b"), names=("id",))
    yield Case("id that is none", "invalid-report", good(id="1; DROP TABLE runs_run"), names=("id",))
    yield Case("unknown schema version", "invalid-report", good(schema_version="2"), names=("schema_version",))
    yield Case(
        "time without an offset", "invalid-report", good(started_at="2026-10-05T09:00:00"), names=("started_at",)
    )
    yield Case("30 February", "invalid-report", good(started_at="2026-02-30T09:00:00Z"), names=("started_at",))
    yield Case("time as a number", "invalid-report", good(started_at=1790000000), names=("started_at",))
    yield Case("year 100,000", "invalid-report", good(started_at="100000-01-01T00:00:00Z"), names=("started_at",))
    yield Case("ends before it begins", "invalid-report", good(finished_at="2025-01-01T00:00:00Z"))
    yield Case("published by nobody", "invalid-report", good(evidence="published"))
    yield Case("completed without points", "invalid-report", good(points=[]))
    yield Case("1,001 points", "invalid-report", good(points=[{}] * 1001), names=("points",))
    yield Case("failed with figures", "invalid-report", good(status="failed", error={"message": "x"}))
    yield Case("two kinds of load", "invalid-report", with_point(load={"concurrency": 1, "batch_size": 1}))
    yield Case("columns of two lengths", "invalid-report", with_point(samples={"ttft": [1.0], "e2el": [1.0, 2.0]}))
    parts = ("status", "evidence", "source", "system", "model", "engine", "strategy", "workload", "points")
    yield Case("every field wrong", "invalid-report", good(**dict.fromkeys(parts, 7)), names=parts)


def transport() -> Iterator[Case]:
    """Bodies that are wrong on the way."""
    packed, plain = gzip.compress(good()), good()
    framed = zstandard.ZstdCompressor(write_checksum=True).compress(plain)
    coded = {"HTTP_CONTENT_ENCODING": "gzip"}
    yield Case("not gzip", "bad-compression", plain, headers=coded)
    yield Case("gzip cut off", "bad-compression", packed[:-12], headers=coded)
    yield Case("gzip with a wrong checksum", "bad-compression", packed[:-8] + b"\0" * 8, headers=coded)
    yield Case("gzip and rubbish", "bad-compression", packed + b"rubbish", headers=coded)
    yield Case("zlib named gzip", "bad-compression", zlib.compress(plain), headers=coded)
    yield Case("gzip of nothing", "empty", gzip.compress(b""), headers=coded)
    yield Case("gzip not named", "bad-encoding", packed)
    yield Case("not zstd", "bad-compression", plain, headers={"HTTP_CONTENT_ENCODING": "zstd"})
    yield Case("zstd cut off", "bad-compression", framed[:-9], headers={"HTTP_CONTENT_ENCODING": "zstd"})
    yield Case("zstd broken", "bad-compression", framed[:-1] + b"\0", headers={"HTTP_CONTENT_ENCODING": "zstd"})
    yield Case("brotli", "unsupported-media", plain, headers={"HTTP_CONTENT_ENCODING": "br"})
    yield Case("two encodings", "unsupported-media", packed, headers={"HTTP_CONTENT_ENCODING": "gzip, gzip"})
    yield Case("XML", "unsupported-media", b"<a/>", headers={"CONTENT_TYPE": "application/xml"})
    yield Case("multipart", "unsupported-media", plain, headers={"CONTENT_TYPE": "multipart/form-data; boundary=x"})
    yield Case("URL-encoded", "unsupported-media", plain, headers={"CONTENT_TYPE": "application/x-www-form-urlencoded"})
    yield Case("chunked", "length-required", plain, headers={"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"})
    yield Case("no length", "length-required", plain, headers={"CONTENT_LENGTH": ""})
    yield Case("length in words", "length-required", plain, headers={"CONTENT_LENGTH": "many"})
    yield Case("negative length", "length-required", plain, headers={"CONTENT_LENGTH": "-5"})
    yield Case("longer than sent", "incomplete", plain, headers={"CONTENT_LENGTH": str(len(plain) + 100)})
    yield Case("petabytes announced", "too-large", plain, headers={"CONTENT_LENGTH": str(10**15)})
    yield Case("gzip bomb", "too-large", gzip.compress(b" " * (3 << 20)), headers=coded)
    bomb = zstandard.ZstdCompressor().compress(b" " * (3 << 20))
    yield Case("zstd bomb", "too-large", bomb, headers={"HTTP_CONTENT_ENCODING": "zstd"})
    yield Case("bomb of many members", "too-large", gzip.compress(b" " * 100_000) * 40, headers=coded)
    yield Case("over the limit", "too-large", b" " * (2 << 20))


def queries() -> Iterator[Case]:
    """URL parameters."""
    yield Case("unknown parameter", "bad-query", good(), f"{REPORT}?force=1", names=("force",))
    yield Case("neither true nor false", "bad-query", good(), f"{REPORT}?dry_run=2", names=("dry_run",))
    yield Case("a parameter twice", "bad-query", good(), f"{REPORT}?amend=1&amend=0", names=("amend",))
    yield Case("NUL in a parameter", "bad-query", good(), f"{REPORT}?reason=%00", names=("reason",))
    yield Case("not UTF-8 in a parameter", "bad-query", good(), f"{REPORT}?amend=%ff", names=("amend",))
    yield Case("chips in words", "bad-query", b"{}", f"{UPLOAD}?chips=eight", names=("chips",))
    yield Case("chips beyond bigint", "bad-query", b"{}", f"{UPLOAD}?chips={2**64}", names=("chips",))
    yield Case("NUL in the context", "bad-query", b"{}", f"{UPLOAD}?chip=a%00b", names=("chip",))
    yield Case("an odd setting", "bad-query", b"{}", f"{UPLOAD}?set=nothing")
    yield Case("an odd pool", "bad-query", b"{}", f"{UPLOAD}?pool=all:h200", names=("pool[0]",))


def batches() -> Iterator[Case]:
    """Batches that are wrong as a whole."""
    yield Case("batch: a report", "invalid-report", good(), BATCH, names=("reports",))
    yield Case("batch: nothing in it", "invalid-report", b'{"reports": []}', BATCH, names=("reports",))
    yield Case("batch: too many", "invalid-report", b'{"reports": [' + b"1," * 1000 + b"1]}", BATCH, names=("reports",))
    yield Case("batch: another key", "invalid-report", b'{"reports": [], "x": 1}', BATCH, names=("reports",))
    yield Case("batch: key twice", "duplicate-key", b'{"reports": [], "reports": []}', BATCH, names=("reports",))
    yield Case("batch: text", "bad-json", b"hello", BATCH)
    yield Case("batch: null", "invalid-report", b"null", BATCH, names=("reports",))


def uploads() -> Iterator[Case]:
    """Files that are of no tool, or hold nothing."""
    said = f"{UPLOAD}?chip=h200&chips=8&evidence=measured"
    file = {"CONTENT_TYPE": "application/octet-stream"}
    yield Case("file: empty", "empty", b"", said, file)
    yield Case("file: blank", "empty", b"\n\n", said, file)
    yield Case("file: unknown JSON", "unknown-format", b'{"a": 1}', said, file)
    yield Case("file: prose", "unknown-format", b"Dear all, the results are very good.", said, file)
    yield Case("file: a list of numbers", "unknown-format", b"[1, 2, 3]", said, file)
    yield Case("file: broken JSON", "bad-json", b'{"model_id": "x", ', said, file)
    yield Case("file: a key twice", "duplicate-key", b'{"a": 1, "a": 2}', said, file)
    yield Case("file: deep", "too-deep", b"[" * 3000 + b"]" * 3000, said, file)
    yield Case("file: zip", "bad-encoding", b"PK\x03\x04" + b"\0" * 100, said, file)
    yield Case("file: an image", "bad-encoding", b"\x89PNG\r\n\x1a\n\xff\xfe", said, file)
    yield Case("file: NUL", "bad-encoding", b'{"a": "\x00"}', said, file)
    yield Case("file: UTF-16", "bad-encoding", '{"a": 1}'.encode("utf-16"), said, file)
    yield Case("file: a wrong report", "invalid-report", good(status="done"), said, file)


CASES = [
    case for group in (numbers, texts, documents, reports, transport, queries, batches, uploads) for case in group()
]
