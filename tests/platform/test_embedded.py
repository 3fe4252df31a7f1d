"""The embedded PostgreSQL: its own folders and rights, recovery after kill -9, one copy at a time."""

import json
import os
import pwd
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from bench_site import embedded, pgfiles
from bench_site.embedded import AlreadyRunning, EmbeddedError, EmbeddedPostgres
from tests.platform.plugin import remove_home

AS_ROOT = os.geteuid() == 0
SMALL = {"shared_buffers": "32MB"}


@pytest.fixture
def home() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="fbe-", dir="/tmp"))
    yield folder
    embedded.stop(folder)
    remove_home(folder)


@pytest.fixture
def server(home: Path) -> Iterator[EmbeddedPostgres]:
    running = EmbeddedPostgres(home, overrides=SMALL)
    running.start()
    yield running
    running.stop()


def pid_of(server: EmbeddedPostgres) -> int:
    assert server.process is not None
    return server.process.pid


def ask(home: Path, query: str) -> object:
    with psycopg.connect(embedded.dsn(home)) as site:
        row = site.execute(query).fetchone()
    return row[0] if row else None


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_nobody_else_can_read_or_reach_it(server: EmbeddedPostgres, home: Path) -> None:
    place = server.layout
    assert mode(place.password_file) == 0o600
    assert mode(place.data) == mode(place.run) == mode(place.log) == 0o700
    assert mode(place.run / ".s.PGSQL.5432") == 0o700
    assert ask(home, "SHOW listen_addresses") == ""
    assert ask(home, "SHOW fsync") == ask(home, "SHOW synchronous_commit") == ask(home, "SHOW full_page_writes") == "on"
    rules = [line.split() for line in (place.data / "pg_hba.conf").read_text().splitlines() if line and line[0] != "#"]
    assert {rule[-1] for rule in rules} == {"scram-sha-256"}
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(embedded.dsn(home).replace("password=", "password=x"))


def test_the_sites_role_is_no_superuser(server: EmbeddedPostgres, home: Path) -> None:
    assert ask(home, "SHOW is_superuser") == "off"


def test_text_sorts_the_same_on_every_machine(server: EmbeddedPostgres, home: Path) -> None:
    assert (
        ask(home, "SELECT datlocprovider::text || datlocale FROM pg_database WHERE datname = 'fuseboard'") == "bC.UTF-8"
    )


def test_what_was_committed_is_there_after_kill_9(server: EmbeddedPostgres, home: Path) -> None:
    with psycopg.connect(embedded.dsn(home), autocommit=True) as site:
        site.execute("CREATE TABLE kept (n int)")
        site.execute("INSERT INTO kept SELECT generate_series(1, 1000)")
        os.kill(pid_of(server), signal.SIGKILL)
    assert server.process is not None
    server.process.wait(10)
    server.start()
    assert ask(home, "SELECT count(*) FROM kept") == 1000


def test_a_computing_backend_of_a_killed_server_does_not_block_the_restart(
    server: EmbeddedPostgres, home: Path
) -> None:
    with psycopg.connect(embedded.dsn(home), autocommit=True) as site:
        busy = subprocess.Popen(
            [sys.executable, "-c", f"import psycopg; psycopg.connect({embedded.dsn(home)!r}).execute("
             "'SELECT count(*) FROM generate_series(1, 1000000000) AS a')"],
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        end = time.monotonic() + 20
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%1000000000%' AND pid <> pg_backend_pid()"
        while site.execute(waiting).fetchone() == (0,) and time.monotonic() < end:
            time.sleep(0.05)
    os.kill(pid_of(server), signal.SIGKILL)
    assert server.process is not None
    server.process.wait(10)
    began = time.monotonic()
    server.start()
    assert time.monotonic() - began < 4
    busy.wait(10)


def test_a_second_copy_is_refused_with_a_sentence(server: EmbeddedPostgres, home: Path) -> None:
    with pytest.raises(AlreadyRunning, match=rf"process {pid_of(server)}, .*stop it first"):
        EmbeddedPostgres(home).start()
    # The lock is gone when its holder was killed; the server that it started may still run.
    server.release()
    with pytest.raises(AlreadyRunning, match="another copy"):
        EmbeddedPostgres(home).start()
    assert ask(home, "SELECT 1") == 1


def test_ensure_uses_the_one_that_runs(server: EmbeddedPostgres, home: Path) -> None:
    assert embedded.ensure(home) == embedded.dsn(home)
    assert embedded.running_pid(home) == pid_of(server)


def test_a_stale_pid_file_that_names_another_program_is_no_obstacle(server: EmbeddedPostgres, home: Path) -> None:
    pid_file = server.layout.data / "postmaster.pid"
    os.kill(pid_of(server), signal.SIGKILL)
    assert server.process is not None
    server.process.wait(10)
    lines = pid_file.read_text().splitlines()
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    server.start()
    assert ask(home, "SELECT 1") == 1


def test_it_does_not_outlive_the_process_that_started_it(home: Path) -> None:
    starter = subprocess.Popen(
        [sys.executable, "-c",
         "import sys, time, pathlib; from bench_site.embedded import EmbeddedPostgres as E\n"
         "E(pathlib.Path(sys.argv[1]), overrides={'shared_buffers': '32MB'}).start()\n"
         "print('up', flush=True); time.sleep(60)",
         str(home)],
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert starter.stdout and starter.stdout.readline() == b"up\n"
    assert embedded.running_pid(home)
    starter.kill()
    starter.wait()
    end = time.monotonic() + 10
    while embedded.processes(home) and time.monotonic() < end:
        time.sleep(0.05)
    assert embedded.running_pid(home) is None
    assert "was shut down" in _log_of_restart(home)


def _log_of_restart(home: Path) -> str:
    again = EmbeddedPostgres(home, overrides=SMALL)
    again.start()
    again.stop()
    return "\n".join(file.read_text() for file in embedded.layout(home).log.glob("*.log"))


def test_a_long_home_gets_a_short_socket_folder() -> None:
    parent = Path(tempfile.mkdtemp(prefix="fbe-", dir="/tmp"))
    home = parent / ("long" * 30)
    home.mkdir()
    try:
        server = EmbeddedPostgres(home, overrides=SMALL)
        server.start()
        assert len(str(server.layout.run)) < 80
        assert mode(server.layout.run) == 0o700
        assert ask(home, "SELECT 1") == 1
        server.stop()
    finally:
        remove_home(home)
        parent.rmdir()


def test_a_socket_folder_that_somebody_prepared_is_refused(tmp_path: Path) -> None:
    link, open_folder = tmp_path / "link", tmp_path / "open"
    link.symlink_to(tmp_path)
    open_folder.mkdir()
    open_folder.chmod(0o777)
    for path in (link, open_folder):
        with pytest.raises(EmbeddedError, match="nobody else can write"):
            pgfiles.make_folder(path, None, mode=0o700)


def test_no_parent_is_changed(home: Path) -> None:
    home.chmod(0o750)
    before = {parent: (parent.stat().st_mode, parent.stat().st_uid) for parent in [home, *home.parents]}
    server = EmbeddedPostgres(home, overrides=SMALL)
    server.start()
    server.stop()
    assert before == {parent: (parent.stat().st_mode, parent.stat().st_uid) for parent in [home, *home.parents]}


def test_a_wrong_setting_is_told_with_the_servers_own_words(home: Path) -> None:
    with pytest.raises(EmbeddedError, match="shared_buffers"):
        EmbeddedPostgres(home, overrides={"shared_buffers": "much"}).start()


def test_data_of_another_major_version_are_not_touched(server: EmbeddedPostgres, home: Path) -> None:
    server.stop()
    (server.layout.data / "PG_VERSION").write_text("17\n")
    with pytest.raises(EmbeddedError, match="written by PostgreSQL 17"):
        server.start()


def test_the_command_line_starts_asks_and_stops(home: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "bench_site.embedded", *arguments],
            env={**os.environ, "FUSEBOARD_HOME": str(home)}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert run("status").returncode == 3
    assert run("start").returncode == 0
    assert json.loads(run("status").stdout)["running"] is True
    assert run("psql", "-Atc", "SELECT current_user").stdout == "fuseboard\n"
    assert run("stop").stdout == "stopped\n"
    assert run("stop").stdout == "not running\n"
    assert run().returncode == 2


# ------------------------------------------------------------------------------------------------ root and others


def test_an_ordinary_users_server_is_inside_the_home_and_roots_is_not(server: EmbeddedPostgres, home: Path) -> None:
    assert server.layout.base.is_relative_to(home) is not AS_ROOT


@pytest.mark.skipif(not AS_ROOT, reason="needs root: checks how root gives up its rights")
def test_roots_server_runs_as_an_account_without_rights(server: EmbeddedPostgres) -> None:
    status = dict(
        line.split(":\t", 1)
        for line in Path(f"/proc/{pid_of(server)}/status").read_text().splitlines()
        if ":\t" in line
    )
    account = pgfiles.service_account()
    assert set(status["Uid"].split()) == {str(account.pw_uid)} != {"0"}
    assert set(status["Gid"].split()) == {str(account.pw_gid)}
    assert status["Groups"].strip() in ("", str(account.pw_gid))
    assert int(status["CapEff"], 16) == 0
    assert server.layout.base.stat().st_uid == 0
    assert server.binaries is not None
    assert all(path.stat().st_uid == 0 for path in [server.binaries, *server.binaries.glob("bin/*")])


@pytest.mark.skipif(not AS_ROOT, reason="needs root: an ordinary user's data are removed with the home")
def test_a_home_that_is_made_again_begins_empty_and_the_old_data_are_kept(home: Path) -> None:
    said: list[str] = []
    first = EmbeddedPostgres(home, overrides=SMALL)
    first.start()
    first.stop()
    first.layout.password_file.unlink()
    second = EmbeddedPostgres(home, overrides=SMALL, say=said.append)
    second.start()
    second.stop()
    assert list(second.layout.base.glob("data.of-a-former-home.*"))
    assert any("is kept in" in line for line in said)


@pytest.mark.skipif(
    not AS_ROOT, reason="needs root to become somebody else; an ordinary user runs every other test as such"
)
def test_it_runs_as_an_ordinary_user_too() -> None:
    account = pwd.getpwnam("nobody")
    home = Path(tempfile.mkdtemp(prefix="fbu-", dir="/tmp"))
    os.chown(home, account.pw_uid, account.pw_gid)
    done = subprocess.run(
        [sys.executable, "-m", "tests.platform.as_ordinary_user", account.pw_name, str(pgfiles.binaries()), str(home)],
        cwd=Path(__file__).resolve().parents[2], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told == {"answer": "fuseboard", "owner": account.pw_uid, "base": f"{home}/postgres", "run_mode": 0o700}
    remove_home(home)
