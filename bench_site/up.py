"""`make up` and `make demo`: the whole site in the foreground, on one machine.

Starts the embedded database (unless DATABASE_URL names another), brings it up to date, then runs the web server, a
Celery worker and beat, each in a process group of its own; starts again what dies; Ctrl-C stops all in order.

    python -m bench_site.up [--demo]

Environment: FUSEBOARD_HOME, PORT, FUSEBOARD_BIND, and everything that `settings.py` reads.
"""

import argparse
import fcntl
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import NoReturn

from bench_site import embedded
from bench_site.broker import empty_broker
from bench_site.children import Child
from bench_site.env import BadSetting, Env, home_folder
from bench_site.pgfiles import EmbeddedError

PROJECT = Path(__file__).resolve().parent.parent
TICK = 0.2
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class UpError(Exception):
    """The site cannot be started; the message says why and what to do."""


class Stop(BaseException):
    """Raised by SIGINT and SIGTERM."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Site:
    """One running copy of the site, and what it needs to be started again."""

    def __init__(self, home: Path, *, demo: bool, env: Env) -> None:
        self.home, self.demo = home, demo
        self.host = env.text("FUSEBOARD_BIND", "127.0.0.1")
        self.port = env.integer("PORT", 8000, least=1, most=65535)
        shown = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        self.url = f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}"
        self.database = None if env.secret("DATABASE_URL") else embedded.EmbeddedPostgres(home, say=say)
        self.own_broker = not env.secret("CELERY_BROKER_URL")
        self.environment = {
            **os.environ,
            "FUSEBOARD_HOME": str(home),
            "TMPDIR": str(home / "tmp"),  # the broker moves messages through it, and /tmp may be another disk
            "DJANGO_SETTINGS_MODULE": "bench_site.settings",
            "PYTHONUNBUFFERED": "1",
        }
        python = sys.executable
        self.web = Child("web", [
            python, "-m", "gunicorn", "bench_site.wsgi", "--bind", f"{_bracketed(self.host)}:{self.port}",
            "--worker-class", "gthread", "--threads", "4",
            "--workers", str(env.integer("FUSEBOARD_WEB_WORKERS", 2, least=1, most=64)),
            "--no-control-socket", "--timeout", "120", "--graceful-timeout", "15", "--log-level", "warning",
            # A file's context comes in the URL, and so do many choices of the compare page: gunicorn's utmost.
            "--config", "python:bench_site.webserver", "--limit-request-line", "8190",
        ], self.environment, before=self._wait_for_port)  # fmt: skip
        celery = [python, "-m", "celery", "--app", "bench_site.celery", "--quiet"]
        self.worker = Child("worker", [
            *celery, "worker", "--loglevel", "WARNING", "--hostname", f"fuseboard-{os.getpid()}@%h",
            "--without-gossip", "--without-mingle", "--without-heartbeat",
        ], self.environment, before=self._fresh_broker)  # fmt: skip
        self.beat = Child("beat", [*celery, "beat", "--loglevel", "WARNING", "--pidfile="], self.environment)
        self.children = [self.web, self.worker, self.beat]
        self._lock: int | None = None
        self._database_failures = 0

    # ------------------------------------------------------------------ start, run, stop

    def run(self) -> None:
        """Until `Stop`. Everything that was started is stopped, whatever happens."""
        self._take_lock()
        try:
            if not self._port_free():
                raise UpError(
                    f"port {self.port} is in use by another program. Choose another: PORT={self.port + 1} make "
                    + ("demo" if self.demo else "up")
                )
            began = time.monotonic()
            self._sweep_tmp()
            self._start_database()
            self._fresh_broker()  # before the seed, whose runs send messages
            made = self._prepare()
            for child in self.children:
                child.start()
            self._record()
            self._wait_until_answering()
            self._announce(made, time.monotonic() - began)
            while True:
                self._watch()
                time.sleep(TICK)
        finally:
            self.stop()

    def stop(self) -> None:
        """Requests first, then the schedule, then the tasks in hand, then the database that all of them use."""
        for child in (self.web, self.beat, self.worker):
            child.ask_to_stop()
        for child in (self.web, self.beat, self.worker):
            child.wait_stopped()
        if self.database:
            self.database.stop()
        if self._lock is not None:
            self._state_file.unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def _watch(self) -> None:
        """Start again what died. The database first: the others cannot work without it, but need not be restarted."""
        if self.database and (self.database.process is None or self.database.process.poll() is not None):
            say("database: it died; starting it again")
            try:
                self.database.start()
                self._database_failures = 0
            except EmbeddedError as why:
                self._database_failures += 1
                pause = min(30.0, 0.5 * 2**self._database_failures)
                say(f"database: {why}\ndatabase: next try in {pause:.0f} s")
                time.sleep(pause)
            self._record()
        restarted = [child.watch(say) for child in self.children]  # each of them, not up to the first
        if any(restarted):
            self._record()

    # ------------------------------------------------------------------ steps

    def _take_lock(self) -> None:
        fd = os.open(self.home / "up.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            raise UpError(
                f"another copy of the site is running on {self.home}{self._other_copy()}. Use that one, stop it, "
                "or give this one its own data: FUSEBOARD_HOME=FOLDER PORT=8001 make up"
            ) from None
        self._lock = fd

    def _other_copy(self) -> str:
        try:
            state = json.loads(self._state_file.read_text(encoding="utf-8"))
            return f" (process {state['supervisor']}, {state['url']})"
        except (OSError, ValueError, KeyError):
            return ""

    def _start_database(self) -> None:
        if not self.database:
            return
        try:
            self.database.start()
        except embedded.AlreadyRunning as other:
            if other.pid is None:
                raise
            # The site's lock is ours, so no other site uses it: it was started by hand, or its site was killed.
            say(f"database: process {other.pid} was running without a site; it is stopped properly and started again")
            embedded.stop(self.home)
            self.database.start()

    def _prepare(self) -> dict[str, str]:
        """Migrations, seed and first accounts, in one short-lived process; answers what is to be printed."""
        command = [sys.executable, "-m", "bench_site.prepare", *(["--demo"] if self.demo else [])]
        done = subprocess.run(
            command, cwd=PROJECT, env=self.environment, stdout=subprocess.PIPE, text=True, check=False
        )
        if done.returncode:
            raise UpError("the database could not be brought up to date; the reason is above")
        answer: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
        return answer

    def _fresh_broker(self) -> None:
        if self.own_broker:
            empty_broker(self.home)

    def _sweep_tmp(self) -> None:
        """Bodies of uploads that a killed server left half received."""
        for path in (self.home / "tmp").iterdir():
            if path.is_file() and time.time() - path.stat().st_mtime > 3600:
                path.unlink(missing_ok=True)

    def _port_free(self) -> bool:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.host, self.port))
                return True
            except PermissionError as why:
                raise UpError(f"port {self.port} needs root; choose one above 1023") from why
            except socket.gaierror as why:
                raise UpError(f"FUSEBOARD_BIND={self.host} is no address of this machine") from why
            except OSError as why:
                if why.errno == 99:  # EADDRNOTAVAIL
                    raise UpError(f"FUSEBOARD_BIND={self.host} is no address of this machine") from why
                return False

    def _wait_for_port(self) -> None:
        """Workers of a killed gunicorn master notice after seconds, and hold the port until then."""
        end = time.monotonic() + 10
        while not self._port_free() and time.monotonic() < end:
            time.sleep(0.1)

    def _wait_until_answering(self) -> None:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # never through a proxy
        end = time.monotonic() + 60
        while time.monotonic() < end:
            self._watch()
            try:
                request = urllib.request.Request(f"{self.url}/healthz", headers={"Host": "localhost"})
                with opener.open(request, timeout=5):
                    return
            except urllib.error.HTTPError:
                return  # an answer, if only that this name is not allowed
            except OSError:
                time.sleep(0.1)
        raise UpError("the web server does not answer; its own messages are above")

    @property
    def _state_file(self) -> Path:
        return self.home / "up.json"

    def _record(self) -> None:
        """Who is running, for a second copy's message and for the tests."""
        state = {
            "supervisor": os.getpid(),
            "url": self.url,
            "children": {child.name: child.pid for child in self.children},
            "database": self.database.process.pid if self.database and self.database.process else None,
        }
        draft = self._state_file.with_suffix(".new")
        draft.write_text(json.dumps(state), encoding="utf-8")
        draft.replace(self._state_file)

    def _announce(self, made: dict[str, str], seconds: float) -> None:
        lines = [f"Fuseboard is at {self.url}/   (started in {seconds:.1f} s, data in {_shown(self.home)})"]
        if link := made.get("operator_link"):
            link = link if "://" in link else self.url + link
            lines.append(f"  first operator  {link}   (works once: choose a name and a password)")
        if token := made.get("demo_token"):
            fuseboard = _shown(Path(sys.executable).parent / "fuseboard")
            secrets = f"FUSEBOARD_URL={self.url} FUSEBOARD_TOKEN=$(cat {_shown(Path(token))})"
            lines.append(f"  push a result   {secrets} {fuseboard} push FILE")
        lines.append("  stop            Ctrl-C")
        print("\n".join(lines), flush=True)


def _shown(path: Path) -> str:
    """As a person in the project's folder would type it."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _stop(number: int, frame: object) -> NoReturn:
    for signal_number in STOPS:
        signal.signal(signal_number, signal.SIG_IGN)  # a second Ctrl-C must not cut the stopping short
    raise Stop


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench_site.up", description="Run the whole site in the foreground."
    )
    parser.add_argument(
        "--demo", action="store_true", help="on its own data (var/demo), with a first seed and a push token"
    )
    options = parser.parse_args(arguments)
    if options.demo and not os.environ.get("FUSEBOARD_HOME"):
        os.environ["FUSEBOARD_HOME"] = str(PROJECT / "var" / "demo")
    for number in STOPS:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup asks us to stay
            signal.signal(number, _stop)
    try:
        env = Env()
        home = home_folder(env, PROJECT)
        importlib.import_module("bench_site.settings")  # a wrong setting is told before anything starts
        Site(home, demo=options.demo, env=env).run()
    except Stop:
        say("stopped")
    except (UpError, EmbeddedError, BadSetting) as why:
        say(f"fuseboard: {why}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
