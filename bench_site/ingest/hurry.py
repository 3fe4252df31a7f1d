"""Messages that hurry background work along. Hints only: a sweep finds the same work half a minute later.

A request must never wait for the broker, and a thousand uploads a second need no thousand messages. So one thread a
process sends them: each at most once a second, with whatever was asked for in between folded into one.
"""

import logging
import os
import threading
import time

from django.db import transaction

log = logging.getLogger(__name__)

#: Seconds between two messages of one kind.
PAUSE = 1.0

Message = tuple[str, tuple[str, ...], str]


def hurry(task: str, *arguments: str, queue: str = "default") -> None:
    """After the commit, ask a worker to run ``task`` soon. Returns at once; never raises."""
    transaction.on_commit(lambda: _sender.wake((task, arguments, queue)), robust=True)


class _Sender:
    """The thread and what it has yet to send."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._wanted: dict[Message, None] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def wake(self, message: Message) -> None:
        if self._pid != os.getpid():
            self._begin()  # a forked child has no threads, and perhaps a locked lock
        with self._changed:
            self._wanted[message] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="hurry", daemon=True)
                self._thread.start()
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._wanted)
                messages, self._wanted = list(self._wanted), {}
            for message in messages:
                send(*message)
            time.sleep(PAUSE)


def send(task: str, arguments: tuple[str, ...], queue: str) -> None:
    """Send one message now. A broker that is away is logged and forgotten."""
    from bench_site.celery import app

    try:
        app.send_task(task, args=list(arguments), queue=queue, retry=False, expires=60)
    except Exception as why:  # noqa: BLE001  every transport has its own kinds, and none of them may matter
        log.warning("no message for %s (the sweep will find the work): %s", task, why)


_sender = _Sender()
