"""Fill a database with results for measurements: ``python -m bench.fill --home FOLDER [--points 100000]``.

Every run goes through the ingest verb in batches, then the sweep brings the statistics up to date, as in the site.
The default is 40 models on 12 chips: 480 configurations, each swept over 7 loads (3,360 series), about 30 runs each.
FOLDER is a home of its own (its embedded PostgreSQL is started for it), never that of a site in use.
"""

import argparse
import os
import random
import sys
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

LOADS = (1, 2, 4, 8, 16, 32, 64)
BATCH = 100
CHIPS = [(f"Bench {vendor} {n}", vendor) for vendor in ("NVIDIA", "AMD", "Google", "Huawei") for n in (1, 2, 3)]
MODELS = [f"Bench Model {n:02d}" for n in range(40)]
ENGINES = ("vllm", "sglang", "tensorrt-llm")
KERNELS = ("op_by_op", "graph_capture", "super_operator", "megakernel")
SPECULATIVE: tuple[dict[str, Any] | None, ...] = (
    {"method": "none"}, {"method": "mtp", "draft_tokens": 2, "acceptance_source": "measured"}, None,
)  # fmt: skip
EVIDENCE = ("measured", "measured", "measured", "published", "claimed")
LENGTHS = ((1024, 1024), (8192, 1024), (1024, 8192))
BEGIN = datetime(2026, 9, 1, tzinfo=UTC)


def use_home(home: Path) -> None:
    """Start the embedded database of ``home`` unless it runs, set Django up on it, migrate."""
    home.mkdir(parents=True, exist_ok=True)
    os.environ["FUSEBOARD_HOME"] = str(home)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench_site.settings")
    os.environ.setdefault("FUSEBOARD_LOG_LEVEL", "ERROR")  # no worker is there to be hurried, and none is needed
    if not os.environ.get("DATABASE_URL"):
        from bench_site import embedded

        embedded.ensure(home)
    import django

    django.setup()
    from django.core.management import call_command

    import bench_site.celery  # noqa: F401

    call_command("migrate", interactive=False, verbosity=0)


def fill(points: int, say: Any = print) -> None:
    """Store runs until there are ``points`` points; what is stored already counts."""
    from django.db import connection

    from bench_site.aggregate.sweep import sweep
    from bench_site.fleet.tokens import Caller
    from bench_site.ingest.accept import accept_batch
    from bench_site.runs.models import Point, User
    from bench_site.runs.models.words import Role, Scope
    from runners.contract.receipt import Receipt

    stored = Point.objects.count()
    if stored >= points:
        return
    _catalogue()
    user, _ = User.objects.get_or_create(username="bench", defaults={"role": Role.UPLOADER.value})
    caller = Caller(user, None, None, frozenset({Scope.PUSH}), Role.UPLOADER)
    began = time.monotonic()
    first = stored // len(LOADS)
    for number in range(first, -(-points // len(LOADS)), BATCH):
        batch = [_report(n) for n in range(number, min(number + BATCH, -(-points // len(LOADS))))]
        outcomes = accept_batch(reports=batch, by=caller)
        refused = [one for one in outcomes if not isinstance(one, Receipt)]
        if refused:
            raise SystemExit(f"a report was refused: {refused[0]}")
    runs, seconds = -(-points // len(LOADS)) - first, time.monotonic() - began
    say(f"{runs:,} runs of {len(LOADS)} points stored in {seconds:.0f} s ({runs / seconds:,.0f} runs/s, one process)")
    began = time.monotonic()
    while sweep():
        pass
    say(f"statistics computed in {time.monotonic() - began:.0f} s")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _catalogue() -> None:
    from bench_site.runs.models import Chip, ExchangeRate, LanguageModel, Price
    from bench_site.runs.models.catalogue import slug_of

    for name in MODELS:
        LanguageModel.objects.get_or_create(slug=slug_of(name), defaults={"name": name})
    for number, (name, vendor) in enumerate(CHIPS):
        chip, _ = Chip.objects.get_or_create(slug=slug_of(name), defaults={"name": name, "vendor": vendor})
        if number:  # one chip without a price
            for month in (3, 6, 9):
                Price.objects.get_or_create(
                    chip=chip, tier="rental", valid_from=date(2026, month, 1),
                    defaults={
                        "currency": "USD", "source": "bench",
                        "amount_per_chip_hour": Decimal("1.5") + Decimal(number) / 4,
                    },
                )  # fmt: skip
    ExchangeRate.objects.get_or_create(
        date=date(2026, 6, 22), base="USD", quote="CNY", defaults={"rate": Decimal("6.78"), "source": "bench"}
    )


def _report(number: int) -> Any:
    """Run ``number``, the same each time: configurations take turns, so that every one gets replicates."""
    from runners.contract import Report

    configuration, replicate = number % (len(MODELS) * len(CHIPS)), number // (len(MODELS) * len(CHIPS))
    model, chip = divmod(configuration, len(CHIPS))
    name, _vendor = CHIPS[chip]
    noise = random.Random(number)
    fixed = random.Random(configuration)
    evidence = EVIDENCE[configuration % len(EVIDENCE)]
    asked_in, asked_out = LENGTHS[model % len(LENGTHS)]
    speed, chips = fixed.uniform(40, 250), fixed.choice((4, 8, 16))
    at = BEGIN + timedelta(hours=replicate, minutes=configuration / 10)
    kernel = KERNELS[(model + chip) % len(KERNELS)]
    return Report.model_validate(
        {
            "id": f"01930000-0000-7000-8000-{number:012x}",
            "started_at": at,
            "evidence": evidence,
            "source": {"tool": "bench", "version": "1", "name": "a page" if evidence == "published" else None},
            "system": {
                "machine": f"bench-{configuration % 20}" if evidence == "measured" else None,
                "pools": [{"role": "all", "chip": name, "chips": chips, "nodes": 1, "parallelism": {"tp": chips}}],
            },
            "model": {"name": MODELS[model], "precision": {"weights": ("fp8", "bf16", "mxfp4")[model % 3]}},
            "engine": {"name": ENGINES[configuration % 3], "version": "1.0", "image": "registry.example/engine:1.0"},
            "strategy": {"kernel": kernel, "speculative": SPECULATIVE[(model + chip) % len(SPECULATIVE)]},
            "workload": {
                "kind": "serving", "loop": "closed", "dataset": {"name": "random"},
                "input_tokens": asked_in, "output_tokens": asked_out, "fixed_length": True,
            },
            "points": [_point(load, speed * noise.uniform(0.98, 1.02), asked_in, asked_out) for load in LOADS],
            "verification": {"status": "passed" if configuration % 3 else "not_run"},
            "tags": ["bench"],
        }
    )  # fmt: skip


def _point(load: int, speed: float, asked_in: int, asked_out: int) -> dict[str, Any]:
    user = speed / (1 + load / 40)
    tpot, ttft, rate = 1 / user, 0.05 + 0.02 * load, user * load * 0.95
    e2el = ttft + tpot * (asked_out - 1)

    def spread(mean: float) -> dict[str, float]:
        return {"mean": mean, "p50": mean * 0.98, "p90": mean * 1.2, "p99": mean * 1.5, "std": mean / 10, "n": 200}

    return {
        "load": {"concurrency": load},
        "duration": 300.0,
        "requests": {"sent": 64 * load, "completed": 64 * load, "failed": 0},
        "tokens": {"input_mean": float(asked_in), "output_mean": float(asked_out)},
        "metrics": {
            "ttft": spread(ttft), "tpot": spread(tpot), "itl": spread(tpot), "e2el": spread(e2el),
            "rates": {
                "output_tokens_per_s": rate, "total_tokens_per_s": rate * (asked_in + asked_out) / asked_out,
                "requests_per_s": rate / asked_out,
            },
        },
    }  # fmt: skip


def pieces() -> Iterator[str]:
    """What is stored, in words."""
    from bench_site.runs.models import Chip, LanguageModel, Point, Series

    for table in (Point, Series, LanguageModel, Chip):
        yield f"{table.objects.count():,} {table._meta.verbose_name_plural}"


def arguments(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The options that both programs share."""
    parser.add_argument("--home", type=Path, required=True, help="a folder of its own for the database")
    parser.add_argument("--points", type=int, default=100_000)
    return parser.parse_args()


def main() -> int:
    chosen = arguments(argparse.ArgumentParser(description=__doc__))
    use_home(chosen.home.resolve())
    fill(chosen.points)
    print(", ".join(pieces()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
