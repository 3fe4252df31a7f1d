"""``fuseboard outbox``: the list, flush and drop."""

import json

import pytest

from runners.spool import Outbox
from tests.runners.fakesite import TOKEN, says
from tests.runners.tools import report, write


@pytest.fixture
def kept(signed_in, run, home):
    """A report and a raw file that could not be sent, and a report that was refused."""
    bad = report()
    signed_in.refuse = {bad["id"]}
    assert run("push", write(home, "bad.json", bad)).exit_code == 1
    signed_in.faults = [says(503)] * 2
    paths = write(home, "r.json", report()), write(home, "raw.json", b"raw")
    assert run("push", *paths, "--give-up-after", "0").exit_code == 3
    signed_in.faults = []
    return Outbox(home / "outbox")


def test_an_empty_outbox_says_where_it_is(run, home):
    result = run("outbox")
    assert result.exit_code == 0
    assert f"nothing is waiting in {home}/outbox" in result.stdout


def test_the_list_says_what_waits_and_what_was_refused_and_why(kept, run):
    result = run("outbox")
    assert result.exit_code == 0
    assert "answered 503" in result.stdout
    assert "bad.json" in result.stdout
    assert "does not follow the contract" in result.stdout
    assert "2 waiting, 1 refused" in result.stderr


def test_the_list_as_json(kept, run):
    listed = json.loads(run("outbox", "--json").stdout)
    assert [entry["state"] for entry in listed["entries"]] == ["waiting", "waiting", "refused"]
    assert listed["damaged"] == []


def test_flush_sends_everything_once(kept, run, signed_in):
    result = run("outbox", "flush")
    assert result.exit_code == 0
    assert len(signed_in.stored) == 2
    assert kept.waiting() == []
    assert run("outbox", "flush").stdout == "nothing is waiting\n"
    assert sorted(signed_in.stored.values()) == [1, 1]


def test_flush_goes_to_the_site_an_entry_was_meant_for(kept, run, signed_in, monkeypatch):
    """Only with that site's token, even when another site is the current one."""
    monkeypatch.setenv("FUSEBOARD_URL", "http://127.0.0.1:9")
    assert run("outbox", "flush").exit_code == 4
    assert all("Authorization" not in request.headers for request in signed_in.requests[-1:])
    from runners.settings import Site, save

    save(Site(signed_in.url, TOKEN))
    assert run("outbox", "flush").exit_code == 0


def test_flush_with_a_token_by_hand(kept, run, signed_in, monkeypatch):
    monkeypatch.delenv("FUSEBOARD_TOKEN")
    assert run("outbox", "flush", "--token", TOKEN).exit_code == 0


def test_refused_can_be_tried_again(kept, run, signed_in):
    signed_in.refuse = set()
    assert run("outbox", "flush", "--refused").exit_code == 0
    assert len(signed_in.stored) == 3
    assert kept.refused() == []


def test_flush_while_the_site_is_away(kept, run, signed_in):
    signed_in.faults = [says(503)] * 9
    result = run("outbox", "flush", "--give-up-after", "0")
    assert result.exit_code == 3
    assert len(kept.waiting()) == 2


def test_drop_by_the_beginning_of_an_id(kept, run):
    first, second = kept.waiting()
    assert run("outbox", "drop", first.id[:10]).exit_code == 0
    assert kept.waiting() == [second]
    assert run("outbox", "drop", "--refused").exit_code == 0
    assert kept.refused() == []


@pytest.mark.parametrize("arguments", [[], ["zzzz"], ["../x"]])
def test_drop_of_nothing_known(kept, run, arguments):
    assert run("outbox", "drop", *arguments).exit_code == 2
    assert len(kept.waiting()) == 2


def test_a_damaged_file_is_named(kept, run):
    (kept.root / "abc.entry").write_bytes(b"x")
    result = run("outbox")
    assert "abc.entry is not a whole entry" in result.stderr
