"""How many runs a second the site takes, and where the time goes.

    python bench/ingest.py [--runs 3000] [--batched 20000] [--threads 8] [--peer]

One database (the embedded one, with fsync and synchronous_commit on), two web workers (gunicorn), the client on the
same machine. Every report has one point with 25 figures; it is validated in full and its bytes are kept. ``--peer``
installs MLflow into a folder of its own and sends as many figures to its REST API on the same PostgreSQL, in the same
run.
"""

import argparse
import hashlib
import http.client
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))

HOME = Path(tempfile.mkdtemp(prefix="fbb-", dir="/tmp"))
os.environ.update(FUSEBOARD_HOME=str(HOME), DJANGO_SETTINGS_MODULE="bench_site.settings")
for foreign in ("DATABASE_URL", "CELERY_BROKER_URL"):
    os.environ.pop(foreign, None)

BATCH = 100
AIMS = {"single": 10, "batched": 100}  # times the peer


# ------------------------------------------------------------------ what is sent


def report(rng: random.Random, number: int) -> dict[str, Any]:
    """One run: one of 20 configurations, one of 5 loads, figures with some noise; 25 of them."""
    from runners.contract.ids import new_run_id

    configuration, concurrency = number % 20, 2 ** (number % 5)
    noise = rng.uniform(0.97, 1.03)
    tpot, ttft = 0.01 * noise * (1 + configuration / 10), 0.15 * noise
    e2el = ttft + 1023 * tpot
    rate = concurrency * 0.99 / e2el

    def spread(mean: float) -> dict[str, float]:
        return {"mean": mean, "p50": mean * 0.99, "p90": mean * 1.1, "p99": mean * 1.3}

    return {
        "schema_version": "1",
        "id": str(new_run_id()),
        "started_at": f"2026-10-{1 + number % 28:02d}T09:00:00+00:00",
        "status": "completed",
        "evidence": "measured",
        "source": {"tool": "example-bench", "version": "1.0", "command": f"example-bench --seed {number}"},
        "system": {"machine": f"node-{configuration % 4}", "pools": [{"role": "all", "chip": "h200", "chips": 8}]},
        "model": {"name": f"Example-{configuration}", "precision": {"weights": "fp8"}},
        "engine": {"name": "vllm", "version": "0.25.1"},
        "strategy": {"kernel": "graph_capture", "speculative": {"method": "none"}},
        "workload": {"kind": "serving", "loop": "closed", "input_tokens": 1024, "output_tokens": 1024},
        "points": [
            {
                "load": {"concurrency": concurrency},
                "duration": 100.0 * noise,
                "concurrency_measured": concurrency * 0.99,
                "requests": {"sent": 100 * concurrency, "completed": 100 * concurrency, "failed": 0},
                "tokens": {"input_mean": 1024.0, "output_mean": 1024.0},
                "metrics": {
                    "ttft": spread(ttft), "tpot": spread(tpot), "itl": spread(tpot * 1.01), "e2el": spread(e2el),
                    "rates": {
                        "output_tokens_per_s": rate * 1024, "input_tokens_per_s": rate * 1024,
                        "total_tokens_per_s": rate * 2048, "requests_per_s": rate,
                    },
                },
            }
        ],
    }  # fmt: skip


def spread_out(total: int, threads: int) -> list[int]:
    """``total`` things for ``threads`` threads."""
    return [total // threads + (i < total % threads) for i in range(threads)]


def post_all(port: int, jobs: list[list[tuple[str, bytes]]], headers: dict[str, str], expect: tuple[int, ...]) -> float:
    """Send each thread's requests one after another over one connection; the seconds until all were answered."""
    barrier = threading.Barrier(len(jobs) + 1)
    failures: list[str] = []

    def work(requests: list[tuple[str, bytes]]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        barrier.wait()
        for path, body in requests:
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status not in expect:
                failures.append(f"{answer.status} {text[:300]!r}")
                return

    workers = [threading.Thread(target=work, args=(requests,)) for requests in jobs]
    for worker in workers:
        worker.start()
    barrier.wait()
    began = time.perf_counter()
    for worker in workers:
        worker.join()
    if failures:
        raise SystemExit(f"the server refused: {failures[0]}")
    return time.perf_counter() - began


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, seconds: float = 60, log: Path | None = None) -> None:
    """Until ``url`` answers."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + seconds
    while True:
        try:
            opener.open(url, timeout=5).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            if time.monotonic() > end:
                raise SystemExit(f"{url} does not answer\n{log.read_text()[-2000:] if log else ''}") from None
            time.sleep(0.2)


# ------------------------------------------------------------------ ours


def ours(arguments: argparse.Namespace, token: str) -> dict[str, float]:
    """Runs/s of our own API, one report a request and in batches."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "bench_site.wsgi", "--bind", f"127.0.0.1:{port}", "--workers", "2",
         "--worker-class", "gthread", "--threads", "4", "--no-control-socket", "--log-level", "warning"],
        cwd=PROJECT,
    )  # fmt: skip
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    rng = random.Random(7)

    def singles(count: int) -> list[tuple[str, bytes]]:
        return [("/api/v1/runs", json.dumps(report(rng, rng.randrange(10**6))).encode()) for _ in range(count)]

    def batches(count: int) -> list[tuple[str, bytes]]:
        return [
            ("/api/v1/runs:batch",
             json.dumps({"reports": [report(rng, rng.randrange(10**6)) for _ in range(BATCH)]}).encode())
            for _ in range(count)
        ]  # fmt: skip

    try:
        wait_for(f"http://127.0.0.1:{port}/healthz")
        post_all(port, [singles(n) for n in spread_out(200, arguments.threads)], headers, (201,))  # warm
        found: dict[str, float] = {}
        jobs = [singles(n) for n in spread_out(arguments.runs, arguments.threads)]
        found["single"] = arguments.runs / post_all(port, jobs, headers, (201,))
        jobs = [batches(n) for n in spread_out(arguments.batched // BATCH, arguments.batch_threads)]
        found["batched"] = sum(map(len, jobs)) * BATCH / post_all(port, jobs, headers, (200,))
        return found
    finally:
        server.terminate()
        server.wait()


def stages(count: int) -> None:
    """Where the time goes, in one thread: each stage's own microseconds a run, singly and in batches."""
    from django.db import connection

    from bench_site.fleet.tokens import caller_of_user
    from bench_site.ingest import accept, items, reading, rows
    from bench_site.ingest.raw import RawBytes
    from bench_site.runs.models import User

    spent: dict[str, float] = {}
    stack: list[float] = []

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def inner(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            stack.append(0.0)
            try:
                return function(*args, **kwargs)
            finally:
                took = time.perf_counter() - began
                spent[name] = spent.get(name, 0.0) + took - stack.pop()
                if stack:
                    stack[-1] += took

        return inner

    patches: list[tuple[Any, str, str]] = [
        (accept, "content_of", "digest and stored form"), (accept, "scrubbed", "secrets in texts"),
        (accept, "Catalogue", "look up names and ids (1 query)"),
        (items.Item, "judge", "plausibility"), (items.Item, "locate", "keys"),
        (accept, "Identities", "look up keys (1 query)"),
        (accept, "store_raw", "raw bytes: compress, insert"), (rows, "write", "write run, revision, points"),
        (accept, "mark_stale", "mark series stale"), (accept, "durably", "transaction, commit, rest"),
    ]  # fmt: skip
    kept = [(owner, attribute, getattr(owner, attribute)) for owner, attribute, _ in patches]
    for owner, attribute, name in patches:
        setattr(owner, attribute, timed(name, getattr(owner, attribute)))
    by = caller_of_user(User.objects.get(username="bench"))
    rng = random.Random(9)
    table: dict[int, dict[str, float]] = {}
    for size in (1, BATCH):
        bodies = []
        for _ in range(max(3, count // size)):
            reports = [report(rng, rng.randrange(10**6)) for _ in range(size)]
            bodies.append(json.dumps({"reports": reports} if size > 1 else reports[0]).encode())
        spent.clear()
        read = timed("parse and validate", reading.read_batch if size > 1 else lambda b: [reading.read_report(b)])
        for body in bodies:
            reports = read(body)
            raw = RawBytes(hashlib.sha256(body).hexdigest(), len(body), body)
            accept.accept_batch(reports=reports, by=by, raw=raw)
        table[size] = {name: value / (len(bodies) * size) * 1e6 for name, value in spent.items()}
    for owner, attribute, original in kept:
        setattr(owner, attribute, original)
    connection.close()
    print(f"\n{'where the time goes, us a run':38s} {'single':>9s} {'batched':>9s}")
    for name in sorted(table[1], key=lambda name: -table[1][name]):
        print(f"{name:38s} {table[1][name]:9.0f} {table[BATCH].get(name, 0):9.0f}")
    print(f"{'sum (without HTTP)':38s} {sum(table[1].values()):9.0f} {sum(table[BATCH].values()):9.0f}")


# ------------------------------------------------------------------ the peer


def peer(arguments: argparse.Namespace, settings: dict[str, Any]) -> float:
    """Runs/s of MLflow's REST API: create a run, log 25 metrics in one request, end the run."""
    folder = arguments.peer_folder or HOME / "peer"
    python = folder / "bin" / "python"
    if not python.exists():
        print("installing MLflow ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "mlflow", "psycopg2-binary", "psycopg[binary]"], check=True
        )
    port = free_port()
    uri = (
        f"postgresql://{settings['USER']}:{settings['PASSWORD']}@/peer?host={settings['HOST']}&port={settings['PORT']}"
    )
    server = subprocess.Popen(
        [python, "-m", "mlflow", "server", "--backend-store-uri", uri, "--artifacts-destination", HOME / "artifacts",
         "--host", "127.0.0.1", "--port", str(port), "--workers", "2"],
        stdout=(HOME / "peer.log").open("wb"), stderr=subprocess.STDOUT,
        env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true", "HOME": str(HOME)}, cwd=HOME,
    )  # fmt: skip
    try:
        wait_for(f"http://127.0.0.1:{port}/health", 180, HOME / "peer.log")
        made = _call(port, "experiments/create", {"name": f"bench-{time.time()}"})
        _peer_threads(port, made["experiment_id"], spread_out(40, arguments.threads))  # warm
        began = time.perf_counter()
        _peer_threads(port, made["experiment_id"], spread_out(arguments.peer_runs, arguments.threads))
        return float(arguments.peer_runs / (time.perf_counter() - began))
    finally:
        server.terminate()
        server.wait()


def _peer_threads(port: int, experiment: str, counts: list[int]) -> None:
    workers = [threading.Thread(target=_peer_runs, args=(port, experiment, count)) for count in counts]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def _peer_runs(port: int, experiment: str, count: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for _ in range(count):
        now = int(time.time() * 1000)
        begun = _call(port, "runs/create", {"experiment_id": experiment, "start_time": now}, connection)
        run = begun["run"]["info"]["run_id"]
        metrics = [{"key": f"metric_{i}", "value": i * 1.01, "timestamp": now, "step": 0} for i in range(25)]
        _call(port, "runs/log-batch", {"run_id": run, "metrics": metrics}, connection)
        _call(port, "runs/update", {"run_id": run, "status": "FINISHED", "end_time": now}, connection)


def _call(port: int, path: str, body: Any, connection: http.client.HTTPConnection | None = None) -> Any:
    connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": "application/json"}
    connection.request("POST", f"/api/2.0/mlflow/{path}", json.dumps(body).encode(), headers)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        raise SystemExit(f"the peer answered {answer.status}: {text[:300]!r}")
    return json.loads(text)


# ------------------------------------------------------------------ together


def main(words: Iterable[str] | None = None) -> None:
    """Run everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3000, help="sent one a request")
    parser.add_argument("--batched", type=int, default=20000, help="sent in batches of 100")
    parser.add_argument("--threads", type=int, default=8, help="client connections")
    parser.add_argument("--batch-threads", type=int, default=4)
    parser.add_argument("--peer", action="store_true", help="measure MLflow as well")
    parser.add_argument("--peer-runs", type=int, default=400)
    parser.add_argument("--peer-folder", type=Path, help="a virtual environment with MLflow, made if absent")
    arguments = parser.parse_args(None if words is None else list(words))

    from bench_site import embedded

    server = embedded.EmbeddedPostgres(HOME)
    server.start()
    try:
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connection

        call_command("migrate", verbosity=0)
        from bench_site.broker import empty_broker

        empty_broker(HOME)  # its messages are sent, and nobody reads them
        with connection.cursor() as cursor:
            for name in ("server_version", "fsync", "synchronous_commit", "full_page_writes"):
                cursor.execute(f"SHOW {name}")
                print(f"{name} {cursor.fetchone()[0]}", end="   ")
        print(f"cores {os.cpu_count()}")
        from bench_site.fleet.tokens import issue_token
        from bench_site.runs.models import User
        from bench_site.runs.models.words import Role, Scope

        user = User.objects.create(username="bench", role=Role.UPLOADER.value)
        _, token = issue_token(user=user, name="bench", scopes=[Scope.PUSH])
        found = ours(arguments, token)
        for name, rate in found.items():
            print(f"{name:8s} {rate:8,.0f} runs/s")
        stages(1000)
        if arguments.peer:
            import psycopg

            with psycopg.connect(embedded.dsn(HOME), autocommit=True) as admin:
                admin.execute("CREATE DATABASE peer")
            rate = peer(arguments, embedded.connection(HOME))
            print(f"\npeer (MLflow REST) {rate:6.1f} runs/s")
            for name, aim in AIMS.items():
                print(f"{name:8s} {found[name] / rate:6.1f} x the peer (aim {aim})")
        connection.close()
    finally:
        server.stop()
        from tests.platform.plugin import remove_home  # removes root's part as well

        remove_home(HOME)
        shutil.rmtree(HOME, ignore_errors=True)


if __name__ == "__main__":
    main()
