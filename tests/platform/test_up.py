"""`make up`: what dies is started again, a second copy is told so, Ctrl-C leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from bench_site import embedded
from bench_site.processes import alive, group_alive
from tests.platform.live import PROJECT, LiveSite, free_port, get


@pytest.fixture(scope="module")
def site() -> Iterator[LiveSite]:
    """A site of its own: these tests kill its processes."""
    live = LiveSite()
    try:
        yield live.start()
    finally:
        live.remove()


def up(site: LiveSite, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench_site.up"],
        cwd=PROJECT, env={**site.environment, **environment},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def wait_for(what: str, seconds: float, question: object) -> None:
    end = time.monotonic() + seconds
    while not question():  # type: ignore[operator]
        assert time.monotonic() < end, f"{what}: not within {seconds:.0f} s"
        time.sleep(0.1)


pytestmark = pytest.mark.live


def test_it_says_where_it_is_and_how_to_stop(site: LiveSite) -> None:
    assert f"Fuseboard is at {site.url}/" in site.log()
    assert "Ctrl-C" in site.log()


def test_both_health_addresses_answer(site: LiveSite) -> None:
    assert get(f"{site.url}/healthz") == (200, "ok\n")
    status, body = get(f"{site.url}/readyz")
    assert (status, '"ready": true' in body) == (200, True)


@pytest.mark.parametrize("name", ["web", "worker", "beat"])
def test_a_killed_child_is_started_again(site: LiveSite, name: str) -> None:
    old = site.kill(name)
    site.wait_replaced(name, old)
    site.wait_ready()
    # Nothing of the killed one is left: its workers would hold the port or take messages to nowhere.
    wait_for("the old group has ended", 10, lambda: not group_alive(old))
    assert f"{name}: ended (signal SIGKILL); starting it again" in site.log()


def test_a_killed_database_is_started_again_and_has_everything(site: LiveSite) -> None:
    with psycopg.connect(site.dsn, autocommit=True) as direct:
        direct.execute("CREATE TABLE IF NOT EXISTS platform_kept (n int)")
        direct.execute("INSERT INTO platform_kept VALUES (1)")
    web = site.pids()["web"]
    old = site.kill("database")
    site.wait_replaced("database", old)
    site.wait_ready()
    with psycopg.connect(site.dsn, autocommit=True) as direct:
        assert direct.execute("SELECT count(*) FROM platform_kept").fetchone() == (1,)
        direct.execute("DROP TABLE platform_kept")
    assert site.pids()["web"] == web, "the web server reconnects; it need not be restarted"


def test_healthz_answers_also_while_the_database_hangs(site: LiveSite) -> None:
    database = site.pids()["database"]
    # Stopped, not killed: it hangs for as long as the test likes.
    for pid in embedded.processes(site.home):
        _signal(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        status, _ = get(f"{site.url}/healthz")
        assert status == 200
        assert time.monotonic() - began < 1
    finally:
        for pid in embedded.processes(site.home):
            _signal(pid, signal.SIGCONT)
    assert site.pids()["database"] == database
    site.wait_ready()


def _signal(pid: int, number: int) -> None:
    os.kill(pid, number)


def test_a_cut_broker_file_does_not_keep_the_worker_down(site: LiveSite) -> None:
    for file in (site.home / "broker" / "control").glob("*.exchange"):
        file.write_bytes(file.read_bytes()[:7])
    (site.home / "broker" / "messages" / "0_cut.default.msg").write_bytes(b'{"bo')
    old = site.kill("worker")
    site.wait_replaced("worker", old)
    with psycopg.connect(site.dsn, autocommit=True) as direct:
        direct.execute("DELETE FROM runs_heartbeat")
    site.wait_ready(45)


def test_a_second_copy_on_the_same_data_says_who_runs(site: LiveSite) -> None:
    second = up(site)
    assert second.returncode == 1
    assert (
        f"another copy of the site is running on {site.home} (process {site.pids()['supervisor']}, {site.url})"
        in second.stderr
    )
    assert get(f"{site.url}/healthz")[0] == 200


def test_a_port_in_use_is_told_before_anything_starts(site: LiveSite, tmp_path: Path) -> None:
    second = up(site, FUSEBOARD_HOME=str(tmp_path / "other"))
    assert second.returncode == 1
    assert (
        f"port {site.port} is in use by another program. Choose another: PORT={site.port + 1} make up" in second.stderr
    )
    assert not (tmp_path / "other" / "postgres").exists()


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"PORT": "http"}, "PORT='http' is not allowed here"),
        ({"FUSEBOARD_BIND": "192.0.2.1"}, "FUSEBOARD_BIND=192.0.2.1 is no address of this machine"),
        ({"DATABASE_URL": "mysql://u:pw@h/db"}, "begins with postgres"),
        ({"DEBUG": "flase"}, "use true or false"),
    ],
)
def test_a_wrong_setting_is_told(site: LiveSite, tmp_path: Path, environment: dict[str, str], told: str) -> None:
    wrong = up(site, **{"FUSEBOARD_HOME": str(tmp_path / "other"), "PORT": str(free_port()), **environment})
    assert wrong.returncode == 1
    assert told in wrong.stderr
    assert "Traceback" not in wrong.stderr
    assert "pw@" not in wrong.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_stop_it_leaves_nothing_running(number: signal.Signals) -> None:
    live = LiveSite()
    try:
        live.start()
        pids = live.pids()
        assert live.process is not None
        live.process.send_signal(number)
        assert live.process.wait(60) == 0
        assert not [name for name, pid in pids.items() if name != "supervisor" and alive(pid)]
        assert not [name for name in ("web", "worker", "beat") if group_alive(pids[name])]
        assert not embedded.processes(live.home)
        assert live.log().rstrip().endswith("stopped")
        assert "Traceback" not in live.log()
    finally:
        live.remove()


def test_a_killed_supervisor_takes_everything_with_it_and_the_next_start_is_clean() -> None:
    live = LiveSite()
    try:
        live.start()
        pids = live.pids()
        live.kill("supervisor")
        assert live.process is not None
        live.process.wait(10)
        for name in ("web", "worker", "beat"):
            wait_for(f"{name} has ended", 30, lambda name=name: not group_alive(pids[name]))
        wait_for("the database has ended", 30, lambda: not embedded.processes(live.home))
        live.start()
        assert live.stop() == 0
    finally:
        live.remove()
