"""Comparisons made by hand, for tests of what is shown; no database."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from bench_site.compare.selection import Selection
from bench_site.compare.shapes import (
    Book,
    Comparison,
    ConfigurationView,
    Cost,
    Curve,
    Figure,
    Option,
    PoolView,
    Row,
    WorkloadView,
)
from bench_site.metrics.book import Rate

WORKLOAD = WorkloadView(1, "serving-closed-1024-1024", "serving", "closed", "random", 1024, 1024, False)
WHEN = datetime(2026, 11, 1, 12, tzinfo=UTC)
HOSTILE = '<img src=x onerror=alert(1)><a href="javascript:alert(1)">x</a>\n\x00&'


def configuration(
    chip: str = "H200", vendor: str = "NVIDIA", chips: int | None = 8, kernel: str = "graph_capture", **changes: Any
) -> ConfigurationView:
    """One pool of ``chips`` chips."""
    values: dict[str, Any] = {
        "id": 1, "pools": (PoolView("all", chip, chip.lower(), vendor, chips),), "chips": chips, "model": "Kimi K3",
        "model_slug": "kimik3", "engine": "vllm", "precision": "fp8", "kernel": kernel, "speculative": "none",
        "draft_tokens": None, "acceptance_source": "",
    }  # fmt: skip
    return ConfigurationView(**(values | changes))


def row(group: int, x: float | None, y: float | None, config: ConfigurationView | None = None, **changes: Any) -> Row:
    """One group with interactivity ``x`` and throughput per chip ``y``."""
    config = config or configuration()
    band = (None, None) if y is None else (y * 0.95, y * 1.05)
    values: dict[str, Any] = {
        "group_id": group, "series_id": group, "curve": "c1", "configuration": config, "workload": WORKLOAD,
        "load_kind": "concurrency", "load_value": float(group), "context_tokens": None, "engine_version": "0.33",
        "image": "", "evidence": "measured", "verification": "not_run", "plausibility": "accept",
        "origin": "machine:lab", "runs": 5, "runs_left_out": 0, "first_run_at": WHEN, "last_run_at": WHEN,
        "interactivity_from": "p50",
        "figures": {
            "interactivity": Figure(x), "output_tokens_per_s_per_chip": Figure(y, *band), "ttft_p50": Figure(0.83),
            "tpot_p50": Figure(None if x is None else 1 / x), "output_tokens_per_s": Figure(y and y * 8),
        },
        "cost": Cost("USD", Decimal("0.36"), Decimal("0.34"), Decimal("0.38")),
    }  # fmt: skip
    return Row(**(values | changes))


def curve(key: str, rows: list[Row], label: str = "H200 ×8", hollow: bool = False) -> Curve:
    """A curve of ``rows``."""
    for one in rows:
        one.curve = key
    first = rows[0].configuration
    return Curve(key, label, first.vendor, first.kernel, hollow, rows)


def comparison(curves: list[Curve], frontier: list[Row] | None = None, **changes: Any) -> Comparison:
    """A comparison whose table holds the rows of its curves."""
    rows = [row for curve in curves for row in curve.rows]
    for rank, one in enumerate(rows, 1):
        one.rank = rank
    values: dict[str, Any] = {
        "selection": Selection(), "rows": rows, "total_rows": len(rows), "curves": curves, "frontier": frontier or [],
        "options": {"model": [Option("kimik3", "Kimi K3", len(rows), True)],
                    "chip": [Option("h200", "H200", 3, False), Option("tpuv7", "TPU v7", 2, False)]},
        "words": ["Model: Kimi K3"], "left_out": {}, "book": BOOK, "books": [BOOK], "rates": [RATE],
        "utilisation": Decimal(1), "runs": (5, 5), "ranked_by": "cost_per_m_output_tokens",
    }  # fmt: skip
    return Comparison(**(values | changes))


BOOK = Book("rental@2026-09-01", "rental", date(2026, 9, 1), "rental, 2026-09-01")
RATE = Rate("USD", "CNY", Decimal("6.78"), date(2026, 6, 22), "market")


def four_curves() -> Comparison:
    """The sketch's chart: four vendors, four strategies, one claim."""
    tpu = configuration("TPU v7", "Google", 16, "megakernel", id=2)
    amd = configuration("MI355X", "AMD", 8, "super_operator", id=3)
    ascend = configuration("Ascend 910C", "Huawei", 16, "op_by_op", id=4)
    claim = configuration("SD200 Ultra", "Inspur 浪潮信息", 128, "super_operator", id=5)
    h200 = [row(1, 18, 2140), row(2, 47, 1390), row(3, 139, 160)]
    google = [row(11, 26, 1830, tpu, verification="passed"), row(12, 108, 1010, tpu), row(13, 249, 180, tpu)]
    mi355 = [row(21, 16, 2390, amd), row(22, 60, 1010, amd)]
    huawei = [row(31, 13, 1240, ascend), row(32, None, 500, ascend)]
    claimed = [row(41, 170, 90, claim, evidence="claimed")]
    curves = [
        curve("h200", h200), curve("tpu", google, "TPU v7 ×16"), curve("amd", mi355, "MI355X ×8"),
        curve("ascend", huawei, "Ascend 910C ×16"), curve("claim", claimed, "SD200 Ultra ×128, claimed", hollow=True),
    ]  # fmt: skip
    return comparison(curves, frontier=[mi355[0], google[0], google[1], google[2]])
