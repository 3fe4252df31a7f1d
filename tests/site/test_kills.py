"""Nothing that was acknowledged is lost, and nothing is stored twice, whatever is killed while reports arrive."""

import json
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.platform.live import PROJECT, LiveSite
from tests.site.reports import report

REPORTS = 200


@pytest.fixture(scope="module")
def site() -> Iterator[LiveSite]:
    """A demo site of its own: this test kills its database."""
    live = LiveSite(demo=True)
    try:
        yield live.start()
    finally:
        live.remove()


@pytest.fixture
def token(site: LiveSite) -> str:
    return (site.home / "demo.token").read_text(encoding="utf-8").strip()


def fuseboard(site: LiveSite, token: str, outbox: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "runners.cli", *arguments],
        cwd=PROJECT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**site.environment, "FUSEBOARD_URL": site.url, "FUSEBOARD_TOKEN": token, "FUSEBOARD_OUTBOX": str(outbox)},
    )  # fmt: skip


class Careless(threading.Thread):
    """A client without an outbox that sends each report once and notes which ones were answered 201."""

    def __init__(self, site: LiveSite, token: str, bodies: list[dict[str, object]]) -> None:
        super().__init__(daemon=True)
        self.site, self.token, self.bodies = site, token, bodies
        self.acknowledged: list[str] = []
        self.statuses: dict[int, int] = {}

    def run(self) -> None:
        for body in self.bodies:
            request = urllib.request.Request(
                f"{self.site.url}/api/v1/runs", json.dumps(body).encode(),
                {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
            )  # fmt: skip
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    status = answer.status
            except urllib.error.HTTPError as why:
                status = why.code
            except OSError:
                status = 0
            self.statuses[status] = self.statuses.get(status, 0) + 1
            if status == 201:
                self.acknowledged.append(str(body["id"]))
            time.sleep(0.05)


def test_kill_web_worker_and_database_during_a_push(site: LiveSite, token: str, tmp_path: Path) -> None:
    """200 reports from the command line and 200 from a client that never tries again."""
    folder = tmp_path / "reports"
    folder.mkdir()
    pushed = [report(n) for n in range(REPORTS)]
    for n, body in enumerate(pushed):
        (folder / f"{n:03}.json").write_text(json.dumps(body), encoding="utf-8")
    careless = Careless(site, token, [report(n) for n in range(REPORTS)])

    push = fuseboard(site, token, tmp_path / "outbox", "push", str(folder), "--json")
    careless.start()
    for victim in ("web", "worker", "database"):
        time.sleep(1.5)
        old = site.kill(victim)
        site.wait_replaced(victim, old, seconds=60)
    out, err = push.communicate(timeout=300)
    assert push.returncode in (0, 3), f"{push.returncode}\n{out[-2000:]}\n{err[-2000:]}"
    careless.join(120)
    site.wait_ready(60)
    assert careless.acknowledged, careless.statuses
    assert set(careless.statuses) <= {201, 0, 502, 503}, careless.statuses

    flush = fuseboard(site, token, tmp_path / "outbox", "outbox", "flush")
    out, err = flush.communicate(timeout=300)
    assert flush.returncode == 0, f"{out}\n{err}"

    end = time.monotonic() + 60
    while True:
        try:
            site.manage("aggregate", "--check")
            break
        except AssertionError:
            if time.monotonic() > end:
                raise
            time.sleep(2)

    with psycopg.connect(site.dsn) as database:
        stored = {str(row[0]): row[1] for row in database.execute("select id, revision from runs_run")}
        points = {
            str(run): number
            for run, number in database.execute("select run_id, count(*) from runs_point group by run_id").fetchall()
        }
        revisions = database.execute(
            "select count(*) from runs_revision group by run_id having count(*) > 1"
        ).fetchall()
    for wanted in [*(str(body["id"]) for body in pushed), *careless.acknowledged]:
        assert stored.get(wanted) == 1, f"{wanted} was acknowledged and is not there"
        assert points[wanted] == 1
    assert not revisions


def test_a_push_that_is_repeated_changes_nothing(site: LiveSite, token: str, tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(report(3)), encoding="utf-8")

    def counts() -> tuple[int, ...]:
        with psycopg.connect(site.dsn) as database:
            return tuple(
                database.execute(f"select count(*) from runs_{table}").fetchall()[0][0]
                for table in ("run", "revision", "point", "series", "configuration", "rawfile")
            )

    outcomes, seen = [], []
    for _ in range(2):
        push = fuseboard(site, token, tmp_path / "outbox", "push", str(path), "--json")
        out, err = push.communicate(timeout=60)
        assert push.returncode == 0, err
        outcomes.append(out)
        seen.append(counts())
    assert '"stored"' in outcomes[0] and '"unchanged"' in outcomes[1]
    assert seen[0] == seen[1]
