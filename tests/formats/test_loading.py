"""Bytes become a document, or a refusal that says why; never another exception."""

import gzip
import json
import time

import pytest

from bench_site.formats import read
from bench_site.formats.load import load
from bench_site.formats.outcome import Refused
from tests.formats.shapes import as_bytes, sglang, vllm


def refused(data: bytes) -> tuple[str, str]:
    reading = read(data)
    assert reading.verdict == "refuse" and reading.refusal is not None and not reading.runs
    assert reading.reasons == [reading.refusal.detail]
    return reading.refusal.code, reading.refusal.detail


def test_a_byte_order_mark_and_crlf_are_taken() -> None:
    data = b"\xef\xbb\xbf" + as_bytes(vllm(), indent=2).replace(b"\n", b"\r\n")
    assert read(data).verdict == "accept"


@pytest.mark.parametrize(
    ("data", "code", "word"),
    [
        (b"", "empty", "empty"),
        (b"\xef\xbb\xbf \n\r\n", "empty", "empty"),
        (json.dumps(vllm()).encode("utf-16"), "bad-encoding", "UTF-16"),
        (json.dumps({"模型": "你好"}, ensure_ascii=False).encode("gbk"), "bad-encoding", "not UTF-8"),
        (b'{"a": "\x00"}', "bad-encoding", "NUL"),
        (gzip.compress(as_bytes(vllm())), "bad-encoding", "gzip"),
        (b"PK\x03\x04rest", "bad-encoding", "zip"),
        (b"[" * 100_000, "too-deep", "nested"),
        (b'{"a":' * 500 + b"1" + b"}" * 500, "too-deep", "nested"),
        (b'{"a": 1, "a": 2}', "duplicate-key", "'a'"),
        (b'{"model_id": "x", "mean', "bad-json", "cut off"),
        (b'{"model_id": x}', "bad-json", "line 1, column 14"),
        (b"[", "bad-json", "cut off"),
        (b"[]", "unknown-format", "no JSON object"),
        (b"{}", "unknown-format", "Supported"),
        (b"5", "unknown-format", "Supported"),
        (b'"text"', "unknown-format", "Supported"),
        (b"a log file of some kind\n" * 20, "unknown-format", "text"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_code_and_a_reason(data: bytes, code: str, word: str) -> None:
    found, detail = refused(data)
    assert found == code
    assert word in detail


def test_a_file_over_the_limit_is_refused_before_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench_site.formats.load.MAX_BYTES", 10)
    assert refused(b"\xff" * 11)[0] == "too-large"


def test_nan_and_infinity_become_unknown_with_a_note() -> None:
    reading = read(as_bytes(vllm(mean_ttft_ms=float("nan"), p99_tpot_ms=float("inf"))))
    metrics = reading.runs[0].report.points[0].metrics
    assert metrics.ttft and metrics.ttft.mean is None and metrics.ttft.p50 is not None
    assert metrics.tpot and metrics.tpot.p99 is None
    assert any("mean_ttft_ms (nan) is not finite" in note for note in reading.runs[0].notes)


def test_a_number_of_a_million_digits_costs_nothing_and_is_unknown() -> None:
    data = as_bytes(vllm(duration=0)).replace(b'"duration": 0', b'"duration": ' + b"9" * 1_000_000)
    start = time.monotonic()
    reading = read(data)
    assert time.monotonic() - start < 2
    assert reading.runs[0].report.points[0].duration is None


def test_a_cut_off_array_gives_its_whole_elements_and_is_flagged() -> None:
    whole = json.dumps([vllm(), vllm(max_concurrency=8), vllm(max_concurrency=16)])
    for end in (len(whole) - 1, len(whole) - 40, whole.rindex('"date"') + 3, whole.rindex("{") + 1, whole.rindex("{")):
        reading = read(whole[:end].encode())
        assert reading.verdict == "flag" and "cut off" in reading.reasons[-1]
        assert len(reading.runs) == (3 if end == len(whole) - 1 else 2)


def test_an_array_that_is_broken_in_the_middle_is_refused() -> None:
    data = b"[" + as_bytes(vllm()) + b", oops, " + as_bytes(vllm()) + b"]"
    assert refused(data)[0] == "bad-json"


@pytest.mark.parametrize("between", ["\n", "", " ", "\r\n\r\n", ","])
def test_objects_after_one_another_are_records(between: str) -> None:
    data = between.join(json.dumps(vllm(max_concurrency=n)) for n in (1, 2, 3)).encode()
    assert [point.load.concurrency for _, point in read(data).points()] == [1, 2, 3]


def test_lines_between_records_that_are_not_json_are_passed_over_with_a_note() -> None:
    data = b"torch:\n\n" + as_bytes(sglang(), sglang()) + b"\nte:\n" + as_bytes(sglang())
    reading = read(data)
    assert len(reading.runs) == 3
    assert "2 lines that are not JSON objects were passed over" in reading.notes


def test_a_last_line_that_was_cut_off_leaves_the_others() -> None:
    data = as_bytes(sglang(), sglang(), sglang())[:-50]
    assert len(read(data).runs) == 2


def test_hostile_files_do_not_take_long() -> None:
    for data in (
        b"{\n" * 200_000,
        b'{"a"\n' * 200_000,
        b"[1]\n" * 200_000,
        b'{"a":[' * 90 + b"\n" * 1000,
        b"}" * 10**6,
    ):
        start = time.monotonic()
        assert read(data).verdict == "refuse"
        assert time.monotonic() - start < 5


def test_the_document_says_how_it_was_written() -> None:
    assert load(as_bytes(vllm())).kind == "json"
    assert load(as_bytes(vllm(), vllm())).kind == "json-lines"
    assert load(as_bytes(vllm()) * 2).kind == "json-concatenated"
    with pytest.raises(Refused):
        load(b"")
