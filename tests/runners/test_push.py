"""``fuseboard push``: what is sent where, what is shown, and what each end is worth to a script."""

import json
import os

import pytest

from runners.spool import Outbox
from tests.runners.fakesite import fine, problem_of, reset, reset_after_storing, says
from tests.runners.tools import report, write


def box(home):
    return Outbox(home / "outbox")


def test_a_report_is_stored_and_shown(signed_in, run, home):
    sent = report()
    result = run("push", write(home, "r.json", sent))
    assert result.exit_code == 0
    assert sent["id"][-12:] in result.stdout
    assert "stored" in result.stdout
    assert f"{signed_in.url}/runs/{sent['id']}/" in result.stdout
    assert signed_in.paths() == ["POST /api/v1/runs"]
    assert box(home).waiting() == []


def test_again_it_is_unchanged(signed_in, run, home):
    path = write(home, "r.json", report())
    run("push", path)
    result = run("push", path)
    assert result.exit_code == 0
    assert "unchanged" in result.stdout
    assert list(signed_in.stored.values()) == [1]


def test_a_raw_file_goes_with_its_facts(signed_in, run, home):
    path = write(home, "deep/bench.json", b'{"date": "x"}')
    options = {
        "--chip": "h200",
        "--chips": "8",
        "--engine-version": "0.11",
        "--strategy": "graph_capture",
        "--evidence": "mock",
        "--source-url": "https://example.org/a",
        "--input-tokens": "1024",
        "--timezone": "Asia/Shanghai",
        "--notes": "a & b",
    }
    many = [
        "--pool",
        "prefill:h200:8",
        "--pool",
        "decode:910c:16",
        "--tag",
        "x",
        "--tag",
        "y",
        "--set",
        "workload.seed=1",
    ]
    result = run("push", path, *[word for pair in options.items() for word in pair], *many)
    assert result.exit_code == 0
    [request] = signed_in.requests
    expected = {name[2:].replace("-", "_"): [value] for name, value in options.items()}
    expected |= {"pool": ["prefill:h200:8", "decode:910c:16"], "tag": ["x", "y"], "set": ["workload.seed=1"]}
    assert request.query == {**expected, "filename": ["bench.json"]}
    assert request.body == b'{"date": "x"}'
    assert "Not said by" in result.stdout and "bench.json: chip (--explain" in result.stdout
    assert "repeat the push with --amend" in result.stdout


def test_lists_and_lines_of_reports_travel_in_batches(signed_in, run, home):
    write(home, "in/list.json", [report() for _ in range(150)])
    write(home, "in/lines.jsonl", b"\n".join(json.dumps(report()).encode() for _ in range(60)))
    result = run("push", str(home / "in"))
    assert result.exit_code == 0
    assert set(signed_in.paths()) == {"POST /api/v1/runs:batch"}
    assert len(signed_in.requests) == 3
    assert len(signed_in.stored) == 210
    lines, listed = result.stdout.splitlines()
    assert "60 points in 60 runs: 60 stored" in lines and "150 points in 150 runs: 150 stored" in listed


def test_standard_input(signed_in, run, home):
    sent = report()
    assert run("push", "-", given=json.dumps(sent)).exit_code == 0
    assert list(signed_in.reports) == [sent["id"]]


def test_one_refusal_does_not_hold_up_the_others(signed_in, run, home):
    sent = [report() for _ in range(5)]
    signed_in.refuse = {sent[2]["id"]}
    result = run("push", write(home, "list.json", sent))
    assert result.exit_code == 1
    assert len(signed_in.stored) == 4
    assert "list.json[2]" in result.stdout
    assert "points[0].duration" in result.stdout
    [(entry, note)] = box(home).refused()
    assert entry.name.endswith("list.json[2]")
    assert note["problem"]["code"] == "invalid-report"


def test_a_batch_that_is_refused_as_a_whole_is_sent_one_by_one(signed_in, run, home):
    signed_in.faults = [problem_of("bad-json")]
    result = run("push", write(home, "list.json", [report() for _ in range(3)]))
    assert result.exit_code == 0
    assert signed_in.paths() == ["POST /api/v1/runs"] * 3


def test_an_unknown_file_of_a_folder_is_passed_over_but_a_named_one_refused(signed_in, run, home):
    signed_in.unknown = {"notes.txt"}
    path = write(home, "in/notes.txt", b"remember the milk")
    write(home, "in/bench.json", b'{"date": "x"}')
    result = run("push", str(home / "in"))
    assert result.exit_code == 0
    assert "passed over" in result.stdout
    assert "Supported tools: Tool A; Tool B. More in docs/formats.md." in result.stdout
    assert result.stdout.count("Tool A") == 1
    assert box(home).refused() == []
    assert run("push", path).exit_code == 1


def test_amend(signed_in, run, home):
    sent = report()
    run("push", write(home, "r.json", sent))
    path = write(home, "r.json", {**sent, "notes": "corrected"})
    refused = run("push", path)
    assert refused.exit_code == 1
    assert "notes differs" in refused.stdout
    amended = run("push", path, "--amend", "--reason", "typo")
    assert amended.exit_code == 0
    assert "amended (revision 2)" in amended.stdout
    assert signed_in.requests[-1].query == {"amend": ["true"], "reason": ["typo"]}


def test_a_refusal_is_forgotten_once_the_same_file_got_through(signed_in, run, home):
    sent = report()
    run("push", write(home, "r.json", sent))
    path = write(home, "r.json", {**sent, "notes": "corrected"})
    assert run("push", path).exit_code == 1
    assert len(box(home).refused()) == 1
    assert run("push", path, "--amend").exit_code == 0
    assert box(home).refused() == []


def test_a_list_is_amended_one_by_one(signed_in, run, home):
    assert run("push", write(home, "list.json", [report(), report()]), "--amend").exit_code == 0
    assert signed_in.paths() == ["POST /api/v1/runs"] * 2


# ------------------------------------------------------------ dry run


def test_a_dry_run_keeps_and_stores_nothing(signed_in, run, home):
    write(home, "in/r.json", report())
    write(home, "in/bench.json", b'{"date": "x"}')
    result = run("push", "--dry-run", str(home / "in"))
    assert result.exit_code == 0
    assert "checked, not stored" in result.stdout
    assert "example-bench" in result.stdout
    assert "Which chip?" not in result.stdout, "of several files only what is not said"
    assert "unknown: --chip  Which chip?" in run("push", "--dry-run", str(home / "in"), "--explain").stdout
    assert "unknown: --chip  Which chip?" in run("push", "--dry-run", str(home / "in" / "bench.json")).stdout
    assert signed_in.stored == {}
    assert all(request.query["dry_run"] == ["true"] for request in signed_in.requests)
    assert not (home / "outbox").exists()


def test_a_dry_run_of_something_bad_says_so(signed_in, run, home):
    sent = report()
    signed_in.refuse = {sent["id"]}
    result = run("push", "--dry-run", write(home, "r.json", sent))
    assert result.exit_code == 1
    assert "points[0].duration" in result.stdout


def test_a_dry_run_without_a_site(run, home):
    result = run(
        "push", "--dry-run", write(home, "r.json", report()), "--url", "http://127.0.0.1:9", "--give-up-after", "0"
    )
    assert result.exit_code == 3
    assert not (home / "outbox").exists()


# ------------------------------------------------------------ what does not get through


def test_what_cannot_be_sent_is_kept_and_delivered_by_the_next_push(signed_in, run, home):
    first, second = report(), report()
    signed_in.faults = [says(503)] * 50
    result = run("push", write(home, "1.json", first), "--give-up-after", "0.1")
    assert result.exit_code == 3
    assert "kept in the outbox" in result.stdout
    assert "1 in the outbox" in result.stderr
    signed_in.faults = []
    result = run("push", write(home, "2.json", second))
    assert result.exit_code == 0
    assert signed_in.stored == {first["id"]: 1, second["id"]: 1}
    assert box(home).waiting() == []
    now, before = result.stdout.splitlines()
    assert "2.json" in now and "waited" not in now
    assert "1.json" in before and "(waited since " in before


def test_it_is_on_disk_before_the_first_try(signed_in, run, home):
    seen = []

    def look(handler):
        seen.append(len(box(home).waiting()))
        return False

    signed_in.faults = [look]
    run("push", write(home, "1.json", report()), write(home, "2.json", report()))
    assert seen == [2]


def test_a_site_that_is_down_costs_one_wait_not_one_a_report(signed_in, run, home):
    asked = []

    def down(handler):
        asked.append(handler.path)
        return says(503)(handler)

    signed_in.faults = [down] * 10_000
    paths = [write(home, f"{number}.json", report()) for number in range(40)]
    result = run("push", *paths, "--give-up-after", "0")
    assert result.exit_code == 3
    assert len(asked) == 2
    assert len(box(home).waiting()) == 40


def test_one_that_the_site_chokes_on_does_not_block_the_rest(signed_in, run, home):
    poison = report()

    def choke(handler):
        handler.read_body()
        if poison["id"].encode() in handler.body:
            handler.send(500, b"", "text/plain", Connection="close")
        else:
            handler.answer()
        return True

    signed_in.faults = [choke] * 1_000
    sent = [report(), poison, report(), report()]
    result = run("push", write(home, "list.json", sent), "--give-up-after", "0.05")
    assert result.exit_code == 3
    assert len(signed_in.stored) == 3
    assert [entry.name.rsplit("/", 1)[1] for entry in box(home).waiting()] == ["list.json[1]"]


@pytest.mark.parametrize("fault", [reset, reset_after_storing])
def test_a_broken_connection_never_stores_twice(signed_in, run, home, fault):
    signed_in.faults = [fault, fine, fault, fine]
    result = run("push", write(home, "1.json", report()), write(home, "raw.json", b"raw" * 50_000))
    assert result.exit_code == 0
    assert sorted(signed_in.stored.values()) == [1, 1]


def test_without_a_valid_token_it_is_kept(signed_in, run, home, monkeypatch):
    monkeypatch.setenv("FUSEBOARD_TOKEN", "fb_wrong")
    sent = report()
    result = run("push", write(home, "r.json", sent), write(home, "s.json", report()))
    assert result.exit_code == 4
    assert "the token of FUSEBOARD_TOKEN was not taken (this token is not known); " in result.stdout
    assert f"{signed_in.url}/account/" in result.stdout and "fuseboard login" in result.stdout
    assert "fb_wrong" not in result.output
    assert len(signed_in.requests) == 1, "a second knock with the same token is of no use"
    monkeypatch.undo()
    assert len(box(home).waiting()) == 2


def test_a_stranger_at_the_address_does_not_get_to_refuse(signed_in, run, home):
    signed_in.faults = [says(404, b"<html>", "text/html")] * 2
    result = run("push", write(home, "r.json", report()))
    assert result.exit_code == 3
    assert "does not answer like a Fuseboard site" in result.stdout
    assert len(box(home).waiting()) == 1


def test_a_backlog_for_another_site_stays(signed_in, run, home):
    kept = run("push", write(home, "1.json", report()), "--url", "http://127.0.0.1:9", "--give-up-after", "0")
    assert kept.exit_code == 3
    assert run("push", write(home, "2.json", report())).exit_code == 0
    assert [entry.url for entry in box(home).waiting()] == ["http://127.0.0.1:9"]


def test_another_push_that_was_quicker(signed_in, run, home, monkeypatch):
    from runners import push

    keep = push.keep

    def kept_and_taken(outbox, *arguments, **named):
        entries = keep(outbox, *arguments, **named)
        outbox.forget(entries[0].id)
        return entries

    monkeypatch.setattr("runners.commands.round_trip.keep", kept_and_taken)
    result = run("push", write(home, "1.json", report()))
    assert result.exit_code == 0
    assert "sent by another push" in result.stdout


# ------------------------------------------------------------ large files


def test_a_large_file_is_waited_for(signed_in, run, home):
    signed_in.parsing = 2
    result = run("push", write(home, "raw.json", b"raw"))
    assert result.exit_code == 0
    assert "stored" in result.stdout
    assert box(home).waiting() == []


def test_a_large_file_that_takes_too_long(signed_in, run, home, monkeypatch):
    monkeypatch.setattr("runners.client.Client.wait", lambda self, answer, seconds: answer)
    signed_in.parsing = 10
    result = run("push", write(home, "raw.json", b"raw"))
    assert result.exit_code == 5
    assert "received, parsing" in result.stdout
    assert "/api/v1/uploads/" in result.stdout
    assert box(home).waiting() == [], "the site has the bytes"


def test_a_large_report_is_waited_for_like_a_file(signed_in, run, home, monkeypatch):
    path = write(home, "large.json", report(notes="x" * 9_000_000))
    signed_in.parsing = 2
    result = run("push", path)
    assert result.exit_code == 0
    assert "stored" in result.stdout
    monkeypatch.setattr("runners.client.Client.wait", lambda self, answer, seconds: answer)
    signed_in.parsing = 10
    result = run("push", path)
    assert result.exit_code == 5
    assert "received, parsing" in result.stdout
    assert box(home).waiting() == []


def test_a_file_name_that_is_no_text(signed_in, run, home):
    path = os.fsdecode(os.path.join(os.fsencode(home), b"r\xff\x07[b].json"))
    with open(path, "wb") as file:
        file.write(b"raw")
    result = run("push", path)
    assert result.exit_code == 0
    assert signed_in.requests[0].query["filename"] == ["r__[b].json"]
    assert "\x07" not in result.stdout


# ------------------------------------------------------------ wrong use


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--strategy", "fused"], "--strategy: Input should be 'op_by_op'"),
        (["--evidence", "sure"], "--evidence"),
        (["--pool", "h200:8"], "--pool"),
        (["--pool", "everything:h200:8"], "--pool"),
        (["--set", "nonsense"], "--set: 'nonsense' is not PATH=VALUE"),
        (["--source-url", "ftp://x"], "--source-url"),
        (["--reason", "why"], "--amend"),
        (["--chips", "0"], "chips"),
        (["--give-up-after", "-1"], "give-up-after"),
        (["--colour"], "colour"),
    ],
)
def test_a_wrong_option_sends_nothing(signed_in, run, home, options, says):
    result = run("push", write(home, "raw.json", b"raw"), *options)
    assert result.exit_code == 2
    assert says in result.output
    assert signed_in.requests == []
    assert not (home / "outbox").exists() or box(home).waiting() == []


def test_facts_for_a_report_are_an_error_not_ignored(signed_in, run, home):
    result = run("push", write(home, "r.json", report()), "--evidence", "mock", "--tag", "x")
    assert result.exit_code == 2
    assert "--evidence, --tag does not apply" in result.stderr
    assert signed_in.requests == []


@pytest.mark.parametrize("name", ["nothing.json", "empty.json", "folder"])
def test_nothing_to_send(signed_in, run, home, name):
    write(home, "empty.json", b"")
    (home / "folder").mkdir()
    result = run("push", str(home / name))
    assert result.exit_code == 2
    assert name in result.stderr


def test_no_site_is_known(run, home):
    result = run("push", write(home, "r.json", report()))
    assert result.exit_code == 4
    assert "fuseboard login" in result.stderr


# ------------------------------------------------------------ for scripts


def test_json(signed_in, run, home):
    bad = report()
    signed_in.refuse = {bad["id"]}
    result = run("push", "--json", write(home, "1.json", report()), write(home, "2.json", bad))
    answer = json.loads(result.stdout)
    assert answer["exit_code"] == result.exit_code == 1
    assert [outcome["outcome"] for outcome in answer["outcomes"]] == ["stored", "refused"]
    assert answer["outcomes"][0]["receipts"][0]["points"] == 1
    assert answer["outcomes"][1]["problem"]["code"] == "invalid-report"
    assert answer["outcomes"][1]["outbox_id"]


def test_quiet_prints_only_what_went_wrong(signed_in, run, home):
    assert run("push", "-q", write(home, "1.json", report())).output == ""
    bad = report()
    signed_in.refuse = {bad["id"]}
    result = run("push", "-q", write(home, "1.json", report()), write(home, "2.json", bad))
    assert "2.json" in result.output
    assert "1.json" not in result.output


def test_text_from_outside_is_text(signed_in, run, home):
    """Brackets are rich's markup, and ESC ] would retitle the terminal."""
    path = write(home, "[bold]a\x1b]0;x\x07.json", report())
    result = run("push", path)
    assert result.exit_code == 0
    assert "\x1b]" not in result.output
    assert "[bold]a" in result.stdout
    os.unlink(path)


def test_the_token_is_nowhere(signed_in, run, home):
    signed_in.faults = [says(503)]
    result = run("push", write(home, "1.json", report()), "--give-up-after", "0")
    everything = result.output + "".join(path.read_text() for path in (home / "outbox").rglob("*") if path.is_file())
    assert "fb_test_token" not in everything


def test_ctrl_c_before_all_of_it_is_in_the_outbox_does_not_say_that_it_is(signed_in, run, home, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("runners.push.Outbox.add", interrupted)
    result = run("push", write(home, "r.json", report()))
    assert result.exit_code == 130 and "push the same files again" in result.stderr
    assert signed_in.paths() == []
