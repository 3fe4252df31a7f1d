"""Reports are told from other tools' files by content, and keep their own bytes."""

import io
import json

import pytest

from runners.collect import CollectError, Sources, sort_out
from tests.runners.tools import report, write


def test_a_report_is_an_object_with_our_names():
    body = json.dumps(report(), indent=2).encode()
    assert sort_out(body) == ("report", [body])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"not json",
        b"\xff\xfe",
        b'{"schema_version": "1.4", "aiperf_version": "0.13", "request_throughput": {}}',
        b'{"date": "20250101", "request_throughput": 1}',
        b'[{"schema_version": "1", "id": "x", "points": []}, {"other": 1}]',
        b'{"schema_version": "1", "id": 1, "points": []}\n{"other": 1}\n',
        b'"schema_version"',
        b'{"schema_version":' * 5_000,
        b'["schema_version"' + b",[" * 100_000,
        b"\xef\xbb\xbf" + json.dumps(report()).encode(),
        json.dumps(report()).encode("utf-16"),
        b"\x28\xb5\x2f\xfd schema_version",
    ],
    ids=range(16),
)
def test_anything_else_is_a_raw_file(body):
    assert sort_out(body) == ("file", [body])


def test_a_list_is_cut_without_touching_a_byte():
    """The site names what is wrong with a report; a parser in between would have mended or lost it."""
    odd = (
        b'{ "schema_version":"1", "id": "a", "points": [NaN, 1e999, -0.0, 1.10, 99999999999999999999], "id": "b",'
        b' "notes": "\\ud800 \\u4e2d ]}," }'
    )
    plain = json.dumps(report()).encode()
    assert sort_out(b" [ \n" + odd + b" ,\t" + plain + b"\r\n]\n") == ("reports", [odd, plain])


def test_lines_are_cut_at_line_feeds_only():
    first = json.dumps(report(notes="a\u2028b\u0085c"), ensure_ascii=False).encode()
    second = json.dumps(report()).encode()
    assert sort_out(first + b"\n\n" + second + b"\n") == ("reports", [first, second])


def test_lines_that_end_as_in_windows():
    bodies = [json.dumps(report()).encode() for _ in range(2)]
    kind, found = sort_out(b"\r\n".join(bodies) + b"\r\n")
    assert kind == "reports"
    assert [json.loads(body) for body in found] == [json.loads(body) for body in bodies]


def test_a_folder_gives_its_result_files_in_order(tmp_path):
    for name in (
        "b/2.json",
        "b/1.JSONL",
        "a.csv",
        ".hidden.json",
        ".git/x.json",
        "key.pem",
        ".env",
        "model.safetensors",
    ):
        write(tmp_path, name, b"x")
    write(tmp_path, "empty.json", b"")
    found = list(Sources([str(tmp_path)]))
    assert [given.name.removeprefix(f"{tmp_path}/") for given in found] == ["a.csv", "b/1.JSONL", "b/2.json"]
    assert all(given.found for given in found)


def test_a_folder_that_links_to_itself(tmp_path):
    write(tmp_path, "a.json", b"x")
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "dangling.json").symlink_to(tmp_path / "nothing")
    assert len(list(Sources([str(tmp_path)]))) == 1


def test_a_file_named_twice_is_one_file_and_named_wins(tmp_path):
    path = write(tmp_path, "a.json", b"x")
    [given] = Sources([str(tmp_path), path, path])
    assert not given.found


def test_standard_input_can_be_looked_at_twice():
    sources = Sources(["-"], stdin=io.BytesIO(b"typed"))
    assert [given.bodies for given in sources] == [[b"typed"]] == [given.bodies for given in sources]


def test_what_cannot_be_sent_says_why(tmp_path, monkeypatch):
    with pytest.raises(CollectError, match="does not exist"):
        Sources([str(tmp_path / "nothing.json")])
    with pytest.raises(CollectError, match="is empty"):
        list(Sources([write(tmp_path, "empty.json", b"")]))
    with pytest.raises(CollectError, match="stdin is empty"):
        list(Sources(["-"], stdin=io.BytesIO()))
    monkeypatch.setattr("runners.collect.MAX_BODY", 1024 * 1024)
    with pytest.raises(CollectError, match="larger than 1 MiB"):
        list(Sources([write(tmp_path, "large.json", b"x" * (1024 * 1024 + 1))]))


def test_only_the_name_of_a_file_reaches_the_site(tmp_path):
    [given] = Sources([write(tmp_path, "deep/down/r.json", b"x")])
    assert given.filename == "r.json"
