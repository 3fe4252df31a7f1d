"""The pages about metrics, cost and words say what the code does."""

import re
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from bench_site.metrics import METRICS
from bench_site.metrics.__main__ import written_into
from bench_site.metrics.book import PriceBook, Rate
from bench_site.metrics.cost import PoolUse, Throughput, cost_of
from bench_site.metrics.facts import LATENCIES
from bench_site.runs.models.words import LABELS
from bench_site.stats import interval
from runners.contract import vocabulary


def page(project: Path, name: str) -> str:
    return (project / "docs" / name).read_text(encoding="utf-8")


def test_the_list_of_metrics_is_that_of_the_declarations(project: Path) -> None:
    text = page(project, "metrics.md")
    assert written_into(text) == text, "run: python -m bench_site.metrics docs/metrics.md"
    assert all(f"**`{name}`**" in text for name in METRICS)


def test_the_marks_are_needed() -> None:
    with pytest.raises(ValueError, match="needs the lines"):
        written_into("# Metrics\n")


def test_the_worked_interval(project: Path) -> None:
    """As docs/metrics.md: 800, 880 and 840 tokens/s reach from 746 to 945."""
    found = interval([800.0, 880.0, 840.0])
    assert found is not None
    assert f"from {found[0]:.0f} to {found[1]:.0f} tokens/s" in page(project, "metrics.md").replace("\n", " ")


@pytest.mark.parametrize(("currency", "column"), [("USD", 0), ("CNY", 1)])
def test_the_worked_cost(project: Path, currency: str, column: int) -> None:
    on = date(2026, 6, 30)
    prices = {"h200": [(on, "USD", Decimal("1.60"))], "a": [(on, "CNY", Decimal("7.00"))]}
    book = PriceBook.of("rental", on, prices, [Rate("USD", "CNY", Decimal("7.00"), on)])
    pools = [PoolUse("h200", "H200", 8, "prefill"), PoolUse("a", "Ascend 910C", 32, "decode")]
    speed = Throughput(output=2000.0, input=16000.0, total=18000.0)
    cost = cost_of(pools, book, currency, speed)
    half = cost_of(pools, book, currency, speed, Decimal("0.5"))
    text = page(project, "cost.md")
    rows = dict(re.findall(r"^\| ([^|]+) \| [^|]+ \| ([\d.]+ \| [\d.]+) \|$", text, re.MULTILINE))
    for label, value, digits in (
        ("cost per hour", cost.per_hour, 2),
        ("cost per M output tokens", cost.per_m_output, 4),
        ("cost per M total tokens", cost.per_m_total, 4),
        ("split: per M input", cost.split_input, 4),
        ("split: per M output", cost.split_output, 4),
        ("at utilisation 0.5", half.per_m_output, 4),
    ):
        assert value is not None
        assert rows[label].split(" | ")[column] == f"{value:.{digits}f}", label
    without = PriceBook.of("rental", on, {"h200": prices["h200"]})
    assert str(cost_of(pools, without, currency, speed).missing) in text.replace("\n", " ")


def test_the_glossary_has_every_latency_and_every_word_of_the_vocabulary(project: Path) -> None:
    text = page(project, "glossary.md")
    assert all(f"| {name.upper()} |" in text for name in LATENCIES)
    for word in (
        "interactivity",
        "throughput",
        "MBU",
        "acceptance length",
        "acceptance rate",
        "failed share",
        "ISL, OSL",
    ):
        assert f"| {word} |" in text
    for kind in (vocabulary.Evidence, vocabulary.KernelStrategy, vocabulary.VerificationStatus, vocabulary.PoolRole):
        for value in kind:
            assert value.value in text or str(LABELS.get(value)) in text, value


def test_every_short_name_of_a_metric_uses_words_of_the_glossary(project: Path) -> None:
    """The abbreviation that a metric's short title begins with is explained."""
    text = page(project, "glossary.md")
    for metric in METRICS.values():
        abbreviations = re.findall(r"\b[A-Z0-9]{3,}\b", metric.short)
        assert all(f"| {short} |" in text for short in abbreviations), metric.short


def test_every_rule_of_plausibility_is_explained(project: Path) -> None:
    source = (project / "bench_site/ingest/plausibility.py").read_text(encoding="utf-8")
    rules = set(re.findall(r'"(?:flag|quarantine)", "([a-z-]+)"', source)) - {"quarantine"}
    rules |= set(re.findall(r'rule="([a-z-]+)"', source))
    text = page(project, "metrics.md")
    assert rules and all(f"| `{rule}` |" in text for rule in rules)
