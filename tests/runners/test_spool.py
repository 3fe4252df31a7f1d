"""The outbox: whole entries or none, one entry for the same thing, one process at a time."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time

import pytest

from runners import spool
from runners.spool import Busy, Damaged, Gone, Outbox, OutboxError
from tests.runners.tools import ROOT

URL = "http://127.0.0.1:9"


def add(outbox, body=b"body", **changes):
    given = {"url": URL, "endpoint": "uploads", "name": "a.json", "query": [("chip", "h200")], **changes}
    return outbox.add(body, **given)


def test_an_entry_comes_back_as_it_was_written(outbox):
    body = bytes(range(256)) * 100 + b"\n\n"
    made = add(outbox, body, query=[("chip", "h200"), ("tag", "a\nb"), ("notes", "中文")])
    [found] = Outbox(outbox.root).waiting()
    assert found == made
    with outbox.claim(found) as claim:
        assert claim.body() == body


def test_folder_and_files_are_for_the_owner_alone(outbox):
    entry = add(outbox)
    assert stat.S_IMODE(outbox.root.stat().st_mode) == 0o700
    assert stat.S_IMODE(outbox.path(entry.id).stat().st_mode) == 0o600


def test_it_never_changes_the_mode_of_a_folder_that_was_there(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    Outbox(shared)
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755


def test_the_same_thing_twice_is_one_entry(outbox):
    assert add(outbox) == add(outbox)
    assert len(outbox.waiting()) == 1


@pytest.mark.parametrize(
    "changes", [{"url": "http://127.0.0.1:10"}, {"query": []}, {"body": b"other"}, {"query": [("amend", "true")]}]
)
def test_another_site_context_or_content_is_another_entry(outbox, changes):
    add(outbox)
    add(outbox, **changes)
    assert len(outbox.waiting()) == 2


def test_what_came_first_is_sent_first(outbox):
    made = [add(outbox, str(number).encode()) for number in range(20)]
    assert outbox.waiting() == made


def test_a_full_disk_is_said_and_leaves_nothing(outbox, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spool.os, "fsync", full)
    with pytest.raises(OutboxError, match="No space left"):
        add(outbox)
    assert [path.name for path in outbox.root.iterdir()] == ["refused"]


def test_everything_is_fsynced_before_its_name_appears(outbox, monkeypatch):
    order = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(spool.os, "fsync", lambda descriptor: (order.append("fsync"), fsync(descriptor)))
    monkeypatch.setattr(spool.os, "replace", lambda old, new: (order.append("rename"), replace(old, new)))
    add(outbox)
    outbox.sync()
    assert order == ["fsync", "rename", "fsync"]


def test_a_folder_that_cannot_be_made_names_the_way_out(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutboxError, match="FUSEBOARD_OUTBOX"):
        Outbox(tmp_path / "file" / "outbox")


# ------------------------------------------------------------ endings


def test_done_leaves_nothing(outbox):
    entry = add(outbox)
    with outbox.claim(entry) as claim:
        claim.kept("the site is away")
        assert outbox.last(entry)["reason"] == "the site is away"
        claim.done()
    assert [path.name for path in outbox.root.iterdir()] == ["refused"]


def test_refused_is_set_aside_with_the_reason(outbox):
    entry = add(outbox)
    with outbox.claim(entry) as claim:
        claim.refuse({"title": "no"})
    assert outbox.waiting() == []
    [(refused, note)] = outbox.refused()
    assert refused == entry
    assert note["problem"] == {"title": "no"}
    outbox.forget(entry.id)
    assert outbox.refused() == []
    assert list((outbox.root / "refused").iterdir()) == []


def test_killed_between_reason_and_move_it_is_simply_sent_again(outbox, monkeypatch):
    entry = add(outbox)
    real = os.replace

    def killed(old, new):
        if str(new).endswith("refused/" + entry.id + ".entry"):
            raise KeyboardInterrupt
        real(old, new)

    monkeypatch.setattr(spool.os, "replace", killed)
    with pytest.raises(KeyboardInterrupt), outbox.claim(entry) as claim:
        claim.refuse({"title": "no"})
    monkeypatch.undo()
    again = Outbox(outbox.root)
    assert again.waiting() == [entry]
    with again.claim(entry) as claim:
        claim.done()
    assert list((outbox.root / "refused").iterdir()) == []


def test_refused_can_be_reconsidered(outbox):
    entry = add(outbox)
    with outbox.claim(entry) as claim:
        claim.refuse({"title": "no"})
    assert outbox.reconsider() == 1
    assert outbox.waiting() == [entry]


def test_an_id_is_found_by_its_beginning(outbox):
    entry = add(outbox)
    assert outbox.find(entry.id[:8]) == entry.id
    for nothing in ("", "zzz", "../..", "*"):
        with pytest.raises(OutboxError):
            outbox.find(nothing)


# ------------------------------------------------------------ damage and leftovers


@pytest.mark.parametrize("cut", [0, 1, 40, -1])
def test_a_torn_entry_is_never_sent_and_is_listed(outbox, cut):
    entry = add(outbox)
    path = outbox.path(entry.id)
    path.write_bytes(path.read_bytes()[:cut])
    assert outbox.waiting() == []
    assert outbox.damaged() == [path]
    assert add(outbox).id == entry.id, "pushing the original again mends it"
    assert outbox.damaged() == []


def test_a_body_that_changed_on_disk_is_not_sent(outbox):
    entry = add(outbox, b"12345678")
    path = outbox.path(entry.id)
    path.write_bytes(path.read_bytes().replace(b"12345678", b"12345679"))
    with outbox.claim(entry) as claim, pytest.raises(Damaged, match="push the original again"):
        claim.body()


@pytest.mark.parametrize(
    "content", [b"", b"[]\n", b"{}\n", b'{"version": 2}\n', b"\xff\xfe\n", b'{"version": 1, "x": 1}\n']
)
def test_what_is_no_entry_does_no_harm(outbox, content):
    (outbox.root / "abc.entry").write_bytes(content)
    assert outbox.waiting() == []
    assert len(outbox.damaged()) == 1


def test_leftovers_of_the_dead_go_and_those_of_the_living_stay(outbox):
    (outbox.root / "x.dead.tmp").write_bytes(b"half")
    (outbox.root / "refused" / "x.dead.tmp").write_bytes(b"half")
    (outbox.root / "gone.last").write_bytes(b"{}")
    import fcntl

    with open(outbox.root / "x.alive.tmp", "wb") as writing:
        fcntl.flock(writing, fcntl.LOCK_EX)
        Outbox(outbox.root)
        assert sorted(path.name for path in outbox.root.rglob("*")) == ["refused", "x.alive.tmp"]
    Outbox(outbox.root)
    assert sorted(path.name for path in outbox.root.rglob("*")) == ["refused"]


def test_a_cleaner_that_takes_a_file_just_begun_is_survived(outbox, monkeypatch):
    real = os.replace
    taken = []

    def robbed(old, new):
        if not taken:
            taken.append(old)
            os.unlink(old)
        real(old, new)

    monkeypatch.setattr(spool.os, "replace", robbed)
    entry = add(outbox)
    assert outbox.waiting() == [entry]


# ------------------------------------------------------------ several processes


def test_a_claimed_entry_is_busy_and_a_finished_one_gone(outbox):
    entry = add(outbox)
    other = Outbox(outbox.root)
    with outbox.claim(entry) as claim:
        with pytest.raises(Busy), other.claim(entry):
            pass
        claim.done()
    with pytest.raises(Gone), other.claim(entry):
        pass


def test_a_lock_on_a_file_that_was_just_removed_is_noticed(outbox, monkeypatch):
    entry = add(outbox)
    real = spool.fcntl.flock

    def late(descriptor, how):
        outbox.forget(entry.id)
        real(descriptor, how)

    monkeypatch.setattr(spool.fcntl, "flock", late)
    with pytest.raises(Gone), outbox.claim(entry):
        pass


def test_many_workers_take_each_entry_once(outbox):
    for number in range(60):
        add(outbox, str(number).encode())
    sent: list[bytes] = []

    def work():
        mine = Outbox(outbox.root)
        for entry in mine.waiting():
            try:
                with mine.claim(entry) as claim:
                    sent.append(claim.body())
                    time.sleep(0.001)
                    claim.done()
            except (Busy, Gone):
                pass

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(sent) == sorted(str(number).encode() for number in range(60))
    assert outbox.waiting() == []


WRITER = """
import sys
from pathlib import Path
from runners.spool import Outbox

outbox = Outbox(Path(sys.argv[1]))
print("go", flush=True)
number = 0
while True:
    number += 1
    body = (b"%d " % number) * 20_000
    entry = outbox.add(body, url="http://127.0.0.1:9", endpoint="uploads", name=str(number), query=[])
    outbox.sync()
    if number % 3 == 0:
        with outbox.claim(entry) as claim:
            claim.refuse({"title": "no"})
    elif number % 3 == 1:
        with outbox.claim(entry) as claim:
            claim.done()
    print(number, flush=True)
"""


@pytest.mark.parametrize("milliseconds", [3, 7, 13, 21, 34, 55, 89, 144])
def test_a_writer_killed_at_any_instant_leaves_whole_entries_only(tmp_path, milliseconds):
    root = tmp_path / "outbox"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(root)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert writer.stdout
    assert writer.stdout.readline() == "go\n"
    time.sleep(milliseconds / 1000)
    writer.send_signal(signal.SIGKILL)
    acknowledged = [int(line) for line in writer.stdout.read().split("\n")[:-1]]
    writer.wait()

    outbox = Outbox(root)
    assert outbox.damaged() == []
    assert list(root.glob("**/*.tmp")) == []
    waiting = {entry.name for entry in outbox.waiting()}
    refused = {entry.name: note for entry, note in outbox.refused()}
    for number in acknowledged:
        assert (str(number) in waiting) == (number % 3 == 2)
        assert (str(number) in refused) == (number % 3 == 0)
    assert all(note["problem"] for note in refused.values())
    for entry in outbox.waiting():
        with outbox.claim(entry) as claim:
            assert claim.body() == (b"%d " % int(entry.name)) * 20_000


def test_no_token_is_ever_written(outbox):
    entry = add(outbox)
    header = json.loads(outbox.path(entry.id).read_bytes().split(b"\n", 1)[0])
    names = {"version", "id", "url", "endpoint", "name", "query", "sha256", "size", "created", "found"}
    assert set(header) == names
