"""Results to compare, stored as a runner would: each a report through the ingest verb, then aggregated."""

import itertools
import uuid
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from bench_site.aggregate.groups import refresh
from bench_site.fleet.tokens import Caller
from bench_site.ingest.accept import accept_batch
from bench_site.runs.models import Chip, ExchangeRate, LanguageModel, Price, Series, User
from bench_site.runs.models.words import Role, Scope
from runners.contract import Report
from runners.contract.receipt import Receipt

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
_numbers = itertools.count(1)

CHIPS = {
    "h200": ("H200", "NVIDIA"),
    "mi355x": ("MI355X", "AMD"),
    "tpuv7": ("TPU v7", "Google"),
    "ascend910c": ("Ascend 910C", "Huawei"),
}


def catalogue() -> dict[str, Chip]:
    """Four chips of four vendors and one model that the catalogue knows."""
    LanguageModel.objects.get_or_create(slug="kimik3", defaults={"name": "Kimi K3"})
    return {
        slug: Chip.objects.get_or_create(slug=slug, defaults={"name": name, "vendor": vendor})[0]
        for slug, (name, vendor) in CHIPS.items()
    }


def price(chip: str, amount: str, *, tier: str = "rental", currency: str = "USD", on: date = date(2026, 4, 3)) -> None:
    """One chip-hour of ``chip`` costs ``amount``."""
    Price.objects.create(
        chip=catalogue()[chip], tier=tier, currency=currency, amount_per_chip_hour=Decimal(amount), valid_from=on,
        source="test",
    )  # fmt: skip


def rate(value: str, *, base: str = "USD", quote: str = "CNY", on: date = date(2026, 6, 22)) -> None:
    """One ``base`` is ``value`` of ``quote``."""
    ExchangeRate.objects.create(base=base, quote=quote, rate=Decimal(value), date=on, source="test")


def report(
    *,
    chip: str | None = "h200",
    chips: int | None = 8,
    model: str | None = "Kimi K3",
    engine: str = "vllm",
    version: str = "1.0",
    kernel: str = "graph_capture",
    speculative: dict[str, Any] | None = None,
    precision: str | None = "fp8",
    loop: str = "closed",
    lengths: tuple[int | None, int | None] = (1024, 1024),
    load: float = 8,
    tpot: float | None = 0.02,
    rate: float | None = 800.0,
    ttft: float | None = 0.5,
    evidence: str = "measured",
    verification: str = "passed",
    machine: str | None = "node-1",
    days: float = 0,
    context: int | None = None,
    pools: list[dict[str, Any]] | None = None,
    tags: Iterable[str] = (),
    loads: Iterable[tuple[float, float | None, float | None]] = (),
    **more: Any,
) -> Report:
    """A report of one point (or of ``loads``: concurrency, TPOT in s, output tokens/s); ``more``: other parts."""
    points = [_point(loop, *one, ttft, context) for one in (loads or [(load, tpot, rate)])]
    at = NOON + timedelta(days=days)
    return Report.model_validate(
        {
            "id": _uuid7(),
            "started_at": at,
            "evidence": evidence,
            "source": {"tool": "test", "name": "somebody's page" if evidence == "published" else None},
            "system": {"machine": machine, "pools": pools or [{"role": "all", "chip": chip, "chips": chips}]},
            "model": {"name": model, "precision": {"weights": precision}},
            "engine": {"name": engine, "version": version},
            "strategy": {"kernel": kernel, "speculative": speculative or {"method": "none"}},
            "workload": {
                "kind": "serving", "loop": loop, "input_tokens": lengths[0], "output_tokens": lengths[1],
            },
            "points": points,
            "verification": {"status": verification},
            "tags": list(tags),
            **more,
        }
    )  # fmt: skip


def _point(
    loop: str, load: float, tpot: float | None, rate: float | None, ttft: float | None, context: int | None
) -> dict[str, Any]:
    driven = {"request_rate": load} if loop == "open" else {"concurrency": int(load)}
    return {
        "load": {**driven, "context_tokens": context},
        "requests": {"sent": 1000, "completed": 1000, "failed": 0},
        "metrics": {
            "tpot": {"p50": tpot} if tpot else None,
            "ttft": {"p50": ttft} if ttft else None,
            "rates": {"output_tokens_per_s": rate, "total_tokens_per_s": rate * 2 if rate else None},
        },
    }


def _uuid7() -> uuid.UUID:
    number = (0x0193_0000_0000 << 80) | (7 << 76) | (2 << 62) | next(_numbers)
    return uuid.UUID(int=number)


def store(*reports: Report) -> list[uuid.UUID]:
    """Accept the reports and bring the statistics up to date; the ids of the runs."""
    catalogue()
    user, _ = User.objects.get_or_create(username="tester", defaults={"role": Role.UPLOADER.value})
    by = Caller(user, None, None, frozenset({Scope.PUSH}), Role.UPLOADER)
    outcomes = accept_batch(reports=list(reports), by=by)
    assert all(isinstance(one, Receipt) for one in outcomes), outcomes
    refresh(list(Series.objects.filter(stale_since__isnull=False).values_list("id", flat=True)))
    Series.objects.update(stale_since=None)
    return [one.id for one in reports]
