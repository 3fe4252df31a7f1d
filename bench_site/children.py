"""A child process of the supervisor: started in a group of its own, watched, started again with growing pauses."""

import os
import signal
import subprocess
import time
from collections.abc import Callable

from bench_site.processes import die_with_parent, group_alive

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
STEADY_SECONDS = 60.0


class Child:
    """`before` runs ahead of each start (such as: wait until the port is free)."""

    def __init__(
        self,
        name: str,
        command: list[str],
        environment: dict[str, str],
        *,
        before: Callable[[], None] | None = None,
        patience: float = 25.0,
    ) -> None:
        self.name, self.command, self.environment = name, command, environment
        self.before, self.patience = before, patience
        self.process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._deaths = 0
        self._start_at: float | None = None

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process else None

    def start(self) -> None:
        if self.before:
            self.before()
        self.process = subprocess.Popen(
            self.command,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            # Its own group: Ctrl-C reaches the supervisor alone, which then stops everything in order.
            start_new_session=True,
            preexec_fn=die_with_parent(signal.SIGTERM),
        )
        self._started, self._start_at = time.monotonic(), None

    def watch(self, say: Callable[[str], None]) -> bool:
        """Called often; starts the child again when it died and its pause is over. True: it was started."""
        now = time.monotonic()
        if self._start_at is None:
            if self.process is None or self.process.poll() is None:
                return False
            self._deaths = 0 if now - self._started > STEADY_SECONDS else self._deaths + 1
            pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** max(0, self._deaths - 1))
            say(f"{self.name}: ended ({_how(self.process.returncode)}); starting it again in {pause:.1f} s")
            self._end_group()
            self._start_at = now + pause
        if now < self._start_at:
            return False
        self.start()
        return True

    def ask_to_stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()

    def wait_stopped(self) -> None:
        """After `ask_to_stop`: wait, then insist."""
        if self.process is None:
            return
        try:
            self.process.wait(self.patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._end_group()
        self.process = None

    def _end_group(self) -> None:
        """What the leader leaves behind (workers of a killed master) would hold the port and the queue."""
        assert self.process is not None
        group = self.process.pid
        for number, patience in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 3.0)):
            try:
                os.killpg(group, number)
            except ProcessLookupError:
                return
            end = time.monotonic() + patience
            while group_alive(group):
                if time.monotonic() > end:
                    break
                time.sleep(0.05)
            else:
                return


def _how(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
