"""kill -9 of a push at any moment: nothing that was on disk is lost or torn, and nothing is ever stored twice."""

import json
import random
import signal
import time
from collections.abc import Callable

import pytest

from runners.spool import Outbox
from tests.runners.fakesite import FakeSite
from tests.runners.tools import report, start, write


@pytest.fixture
def results(home):
    """30 reports in files, 40 in a list, 10 raw files; and what must be stored in the end, by idempotency key."""
    expected = {}
    for number in range(30):
        sent = report()
        write(home, f"in/{number:02}.json", sent)
        expected[sent["id"]] = json.dumps(sent).encode()
    listed = [report() for _ in range(40)]
    write(home, "in/list.json", listed)
    expected |= {sent["id"]: json.dumps(sent).encode() for sent in listed}
    raws = {f"raw {number} ".encode() * 3_000 for number in range(10)}
    for number, raw in enumerate(sorted(raws)):
        write(home, f"in/raw{number}.txt", raw)
    return str(home / "in"), expected, raws


def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the push never got so far"
        time.sleep(0.0005)


def all_stored_once(site: FakeSite, expected: dict[str, bytes], raws: set[bytes]) -> None:
    assert site.reports == expected
    assert set(site.files.values()) == raws
    assert set(site.stored.values()) == {1}


def spooled(home, number):
    return lambda: len(list((home / "outbox").glob("*.entry"))) >= number


@pytest.mark.parametrize("number", [1, 40, 79])
def test_killed_while_writing_the_outbox(signed_in, home, run, results, number):
    folder, expected, raws = results
    push = start("push", folder)
    until(spooled(home, number))
    push.send_signal(signal.SIGKILL)
    push.communicate()
    outbox = Outbox(home / "outbox")
    assert outbox.damaged() == []
    assert run("outbox", "flush").exit_code == 0
    assert run("push", folder).exit_code == 0
    all_stored_once(signed_in, expected, raws)
    assert outbox.waiting() == []


@pytest.mark.parametrize("number", [1, 12, 30, 38])
def test_killed_while_sending(signed_in, home, run, results, number):
    folder, expected, raws = results
    signed_in.delay = 0.002
    push = start("push", folder)
    until(lambda: len(signed_in.requests) >= number)
    time.sleep(random.random() * 0.004)
    push.send_signal(signal.SIGKILL)
    push.communicate()
    assert Outbox(home / "outbox").damaged() == []
    assert run("outbox", "flush").exit_code == 0, "everything was on disk before the first try"
    all_stored_once(signed_in, expected, raws)
    assert Outbox(home / "outbox").waiting() == []


def test_killed_again_and_again(signed_in, home, run, results):
    folder, expected, raws = results
    signed_in.delay = 0.002
    start("push", folder).communicate()
    signed_in.stored.clear(), signed_in.reports.clear(), signed_in.files.clear()  # a site that lost everything
    push = start("push", folder)
    for _ in range(4):
        seen = len(signed_in.requests)
        until(
            lambda seen=seen, push=push: push.poll() is not None or len(signed_in.requests) > seen + random.randrange(9)
        )
        push.send_signal(signal.SIGKILL)
        push.communicate()
        push = start("outbox", "flush")
    assert push.wait(60) == 0
    push.communicate()
    all_stored_once(signed_in, expected, raws)


def test_a_site_that_is_killed_and_comes_back(signed_in, home, run, results):
    folder, expected, raws = results
    signed_in.delay = 0.002
    port = signed_in.server.server_address[1]
    push = start("push", folder)
    for number in (8, 25):
        until(lambda number=number: len(signed_in.requests) >= number)
        signed_in.stop()
        time.sleep(0.2)
        signed_in.start(port)
    _, said = push.communicate(timeout=60)
    assert push.returncode == 0, said
    all_stored_once(signed_in, expected, raws)


def test_two_pushes_of_the_same_folder_at_once(signed_in, home, run, results):
    folder, expected, raws = results
    pushes = [start("push", folder) for _ in range(2)]
    for push in pushes:
        _, said = push.communicate(timeout=60)
        assert push.returncode == 0, said
    all_stored_once(signed_in, expected, raws)
    assert Outbox(home / "outbox").waiting() == []


def test_ctrl_c_keeps_the_rest(signed_in, home, run, results):
    folder, expected, raws = results
    signed_in.delay = 0.01
    push = start("push", folder)
    until(lambda: len(signed_in.requests) >= 10)
    push.send_signal(signal.SIGINT)
    _, said = push.communicate(timeout=20)
    assert push.returncode == 130
    assert "in the outbox" in said
    assert "Traceback" not in said
    signed_in.delay = 0
    assert run("outbox", "flush").exit_code == 0
    all_stored_once(signed_in, expected, raws)
