"""The whole site as `make up` runs it, on data and a port of its own, for tests that need real processes."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from bench_site import embedded
from tests.platform.plugin import remove_home

PROJECT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def get(url: str, timeout: float = 10) -> tuple[int, str]:
    """Status and body; 0 and the reason while nothing listens."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as why:
        return why.code, why.read().decode()
    except OSError as why:
        return 0, str(why)


class LiveSite:
    """`url`, `home`, `dsn`, `pids()` (web, worker, beat, database, supervisor), `log()`, `manage(...)`."""

    def __init__(self, *, demo: bool = False, home: Path | None = None, **environment: str) -> None:
        self.home = home or Path(tempfile.mkdtemp(prefix="fbl-", dir="/tmp"))
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.demo = demo
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != "DJANGO_ALLOW_ASYNC_UNSAFE"},
            "FUSEBOARD_HOME": str(self.home),
            "PORT": str(self.port),
            **environment,
        }
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *, ready_within: float = 90) -> "LiveSite":
        if not (PROJECT / "staticfiles" / "staticfiles.json").exists():
            self.manage("collectstatic", "--noinput", "-v", "0")
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "bench_site.up", *(["--demo"] if self.demo else [])],
                cwd=PROJECT, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        try:
            self.wait_ready(ready_within)
        except BaseException:
            self.stop()
            raise
        return self

    def wait_ready(self, seconds: float = 60) -> None:
        """Until /readyz says 200."""
        end, found = time.monotonic() + seconds, (0, "")
        while time.monotonic() < end:
            found = get(f"{self.url}/readyz")
            if found[0] == 200:
                return
            if self.process and self.process.poll() is not None:
                break
            time.sleep(0.2)
        raise AssertionError(f"the site is not ready: {found}\n{self.log()[-4000:]}")

    def stop(self) -> int:
        """As Ctrl-C does; answers the exit status."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self.process = None
        return code

    def remove(self) -> None:
        self.stop()
        remove_home(self.home)

    @property
    def dsn(self) -> str:
        return embedded.dsn(self.home)

    @property
    def log_file(self) -> Path:
        return self.home / "up.log"

    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8", errors="replace") if self.log_file.exists() else ""

    def pids(self) -> dict[str, int]:
        state = json.loads((self.home / "up.json").read_text(encoding="utf-8"))
        return {**state["children"], "database": state["database"], "supervisor": state["supervisor"]}

    def kill(self, name: str, number: int = signal.SIGKILL) -> int:
        """kill -9 of one of `pids()`; answers its process number."""
        pid = self.pids()[name]
        os.kill(pid, number)
        return pid

    def wait_replaced(self, name: str, old: int, seconds: float = 30) -> int:
        """Until the supervisor runs another process in its place."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            new = self.pids().get(name)
            if new not in (None, old):
                return new
            time.sleep(0.1)
        raise AssertionError(f"{name} was not started again within {seconds:.0f} s\n{self.log()[-4000:]}")

    def manage(self, *arguments: str, **options: Any) -> str:
        """`manage.py` on this site's data; its output. Raises when it fails."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=PROJECT, env=self.environment, capture_output=True, text=True, check=False, **options,
        )  # fmt: skip
        assert done.returncode == 0, f"manage.py {' '.join(arguments)}: {done.stderr}"
        return done.stdout
