"""Rows to aggregate, made directly: these tests know nothing of uploads."""

import hashlib
import itertools
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.utils import timezone

from bench_site.runs.models import (
    Configuration,
    ConfigurationPool,
    LanguageModel,
    Point,
    ReplicateGroup,
    Revision,
    Run,
    Series,
    Workload,
)

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
_numbers = itertools.count(1)


def key() -> str:
    return hashlib.sha256(f"{next(_numbers)} {uuid4()}".encode()).hexdigest()


def configuration(chips: int | None = 8, **fields: Any) -> Configuration:
    model, _ = LanguageModel.objects.get_or_create(slug="examplemodel", defaults={"name": "Example Model"})
    made = Configuration.objects.create(
        key=key(), model=model, engine="vllm", precision="fp8", kernel="megakernel", chips=chips, **fields
    )
    ConfigurationPool.objects.create(configuration=made, position=0, role="all", chips=chips)
    return made


def series(on: Configuration | None = None, stale: bool = True, load: float = 8) -> Series:
    workload = Workload.objects.create(key=key(), kind="serving", loop="closed", input_tokens=1000, output_tokens=500)
    return Series.objects.create(
        key=key(),
        configuration=on or configuration(),
        workload=workload,
        load_kind="concurrency",
        load_value=load,
        evidence="measured",
        origin="machine:example",
        stale_since=timezone.now() if stale else None,
    )


def group(of: Series, version: str = "1.0") -> ReplicateGroup:
    return ReplicateGroup.objects.create(key=key(), series=of, engine_version=version, curve=key())


def run(of: Series, hours: float = 0, **fields: Any) -> Run:
    values: dict[str, Any] = {
        "id": uuid4(),
        "content_sha256": key(),
        "status": "completed",
        "evidence": "measured",
        "verification": "passed",
        "plausibility": "accept",
        "configuration": of.configuration,
        "workload": of.workload,
        "started_at": NOON + timedelta(hours=hours),
        "received_at": NOON + timedelta(hours=hours, minutes=30),
    }
    return Run.objects.create(**(values | fields))


def point(of: Run, at: ReplicateGroup, counts: bool = True, index: int = 0, **figures: Any) -> Point:
    """``figures`` are columns; ``detail`` among them is the rest of the contract's point."""
    figures.setdefault("plausibility", "accept")
    return Point.objects.create(run=of, index=index, series=at.series, group=at, counts=counts, **figures)


def replicate(at: ReplicateGroup, hours: float = 0, counts: bool = True, run_fields: Any = None, **figures: Any) -> Run:
    """One more run of ``at`` with one point."""
    made = run(at.series, hours, **(run_fields or {}))
    point(made, at, counts, **figures)
    return made


def revision(of: Run, report: dict[str, Any]) -> Revision:
    return Revision.objects.create(
        run=of, number=of.revision, report=report, content_sha256=of.content_sha256, created_at=NOON
    )


def ordered_uuid(number: int) -> UUID:
    return UUID(int=number)
