"""One run's page: all that is stored, read from the revision's report and written with units."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from bench_site.compare.books import Books, tier_words
from bench_site.compare.curves import pools_words
from bench_site.compare.selection import DEFAULT_ROWS, BookChoice, Selection
from bench_site.compare.shapes import Cost, Figure, PoolView
from bench_site.metrics import METRICS, facts_of, figures_of_facts, interactivity_source
from bench_site.present.looks import kernel_word, vendor_token
from bench_site.present.metric_words import shown_metric
from bench_site.present.numbers import count, money, number
from bench_site.present.words import load_words, rule_words
from bench_site.runs.models import Chip, Point, Revision, Run
from bench_site.runs.models.words import LoadKind, Plausibility, label
from runners.contract.vocabulary import (
    AcceptanceSource,
    Evidence,
    ExperimentKind,
    KernelStrategy,
    Loop,
    PoolRole,
    Status,
    VerificationStatus,
    WorkloadKind,
)  # fmt: skip

#: A page shows the figures of so many points; the report has them all.
MAX_POINTS = 60
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of a list of facts; a ``time`` is shown in the reader's zone."""

    title: str
    value: str = ""
    time: datetime | None = None
    link: str = ""
    long: bool = False


@dataclass(slots=True)
class RunPage:
    """What the template of a run shows."""

    title: str
    pools: list[tuple[str, str, str, str, str]]
    kernel: str
    kernel_label: str
    facts: list[tuple[str, list[Fact]]]
    software: list[tuple[str, str]]
    probe: list[tuple[str, str, str]]
    command: str
    notes: str
    error: str
    loads: list[str]
    marks: list[str]
    figures: list[tuple[str, str, list[str]]]
    point_notes: list[tuple[str, list[str]]]
    hidden_points: int
    links: list[tuple[str, str]] = field(default_factory=list)
    cost_words: str = ""
    findings: list[tuple[Json, str]] = field(default_factory=list)

    @property
    def token(self) -> str:
        """The colour of the run: its vendor's, grey when it has several."""
        tokens = {pool[0] for pool in self.pools}
        return tokens.pop() if len(tokens) == 1 else "unknown"


def run_page(run: Run, revision: Revision, chips: Mapping[str, Chip], books: Books) -> RunPage:
    """The page of ``run`` as ``revision`` has it; ``chips`` of the catalogue by the names that the report uses.

    Costs are under the chosen book of ``books``.
    """
    report: Json = revision.report
    points: list[Json] = report.get("points") or []
    marks = {p["index"]: p["plausibility"] for p in Point.objects.filter(run=run).values("index", "plausibility")}
    strategy, system = report.get("strategy") or {}, report.get("system") or {}
    model = (report.get("model") or {}).get("name") or _("unknown model")
    kernel = kernel_word(strategy.get("kernel") or "unknown")
    pools = [_pool(pool, chips) for pool in system.get("pools") or []]
    views = _pool_views(system, chips)
    machine = pools_words((pool.chip, pool.chips) for pool in views)
    shown = points[:MAX_POINTS]
    costs = [_cost(point, _chips(system), views, books) for point in shown]
    return RunPage(
        title=_("%(model)s on %(machine)s") % {"model": model, "machine": machine or _("an unknown machine")},
        pools=pools,
        kernel=kernel,
        kernel_label=label(KernelStrategy(kernel)),
        facts=[section for section in _sections(run, report) if section[1]],
        software=sorted((system.get("software") or {}).items()),
        probe=[_reading(reading) for reading in system.get("probe") or []],
        command=(report.get("source") or {}).get("command") or "",
        notes=report.get("notes") or "",
        error=(report.get("error") or {}).get("message") or "",
        loads=[_load(point) for point in shown],
        marks=[_mark(marks.get(index, "")) for index in range(len(shown))],
        figures=[*_cost_row(costs), *_figures(shown, _chips(system), strategy.get("speculative"))],
        point_notes=[(_load(point), point["notes"]) for point in points if point.get("notes")],
        hidden_points=len(points) - len(shown),
        links=_links(run, books),
        cost_words=_cost_words(costs, books),
        findings=[(finding, rule_words(finding.get("rule", ""))) for finding in run.findings],
    )


def _links(run: Run, books: Books) -> list[tuple[str, str]]:
    """Where this run is compared, and what it was made with."""
    compare = reverse("compare")
    book = BookChoice(books.chosen.tier, books.chosen.date) if books.chosen else None
    found = [(_("Show in the comparison"), f"{compare}?{Selection(run=(run.pk,), book=book).to_query()}")]
    if run.configuration.model:
        model = Selection(model=(run.configuration.model.slug,), book=book, rows=DEFAULT_ROWS)
        found.append((_("Everything of this model"), f"{compare}?{model.to_query()}"))
    if run.experiment_id:
        found.append((_("Runs made together"), f"{reverse('runs')}?{urlencode({'experiment': run.experiment_id})}"))
    return found


# ------------------------------------------------------------------------------------------------ facts


def _sections(run: Run, report: Json) -> Iterator[tuple[str, list[Fact]]]:
    yield _("Model and engine"), _facts(_model(report))
    yield _("Strategy"), _facts(_strategy(report.get("strategy") or {}))
    yield _("Workload"), _facts(_workload(report.get("workload") or {}))
    yield _("Verification"), _facts(_verification(report.get("verification") or {}))
    yield _("Machine"), _facts(_machine(report.get("system") or {}))
    yield _("Where it comes from"), [*_origin(run, report), *_facts(_source(report.get("source") or {}))]


def _facts(pairs: Iterator[tuple[str, Any]]) -> list[Fact]:
    """What is known; a fact that nobody recorded is left out of a list, and said as unknown in a table."""
    return [Fact(title, str(value), long=len(str(value)) > 60) for title, value in pairs if value not in (None, "", {})]


def _model(report: Json) -> Iterator[tuple[str, Any]]:
    model, engine = report.get("model") or {}, report.get("engine") or {}
    precision = model.get("precision") or {}
    yield _("Model"), model.get("name")
    yield _("Revision"), model.get("revision")
    yield _("Precision of weights"), precision.get("weights")
    yield _("Precision of the KV cache"), precision.get("kv_cache")
    yield _("Precision of activations"), precision.get("activations")
    yield _("Parameters"), _count(model.get("parameters_total"))
    yield _("Active parameters"), _count(model.get("parameters_active"))
    yield _("Weights digest"), model.get("weights_digest")
    yield _("Engine"), engine.get("name")
    yield _("Engine version"), engine.get("version")
    yield _("Image"), engine.get("image")
    yield _("Image digest"), engine.get("image_digest")


def _strategy(strategy: Json) -> Iterator[tuple[str, Any]]:
    yield _("Kernel strategy"), label(KernelStrategy(kernel_word(strategy.get("kernel") or "unknown")))
    yield _("Detail"), strategy.get("detail")
    speculative = strategy.get("speculative")
    if speculative is None:
        yield _("Speculative decoding"), _("unknown")
        return
    off = str(speculative.get("method", "")).casefold() == "none"
    yield _("Speculative decoding"), _("off") if off else speculative.get("method")
    yield _("Draft"), speculative.get("draft")
    yield _("Drafted tokens a step"), speculative.get("draft_tokens")
    if not off:
        rate = speculative.get("acceptance_rate")
        yield _("Acceptance rate"), None if rate is None else f"{number(rate * 100)} %"
        yield _("Acceptance length"), _number(speculative.get("acceptance_length"), _("tokens per step"))
        source = speculative.get("acceptance_source") or "unknown"
        yield _("Acceptance from"), label(AcceptanceSource(source))


def _workload(workload: Json) -> Iterator[tuple[str, Any]]:
    dataset = workload.get("dataset") or {}
    yield _("Kind"), label(WorkloadKind(workload.get("kind") or "unknown"))
    yield _("Load loop"), label(Loop(workload.get("loop") or "unknown"))
    yield _("Dataset"), dataset.get("name")
    yield _("Dataset digest"), dataset.get("digest")
    yield _("Input tokens asked"), _count(workload.get("input_tokens"))
    yield _("Output tokens asked"), _count(workload.get("output_tokens"))
    yield _("Fixed length"), _yes_no(workload.get("fixed_length"))
    yield _("Prefix cache"), _yes_no(workload.get("prefix_cache"))
    yield _("Request rate at most"), _number(workload.get("request_rate_cap"), _("requests/s"))
    yield _("Seed"), workload.get("seed")
    yield _("Warm-up requests"), workload.get("warmup_requests")


def _verification(verification: Json) -> Iterator[tuple[str, Any]]:
    status = VerificationStatus(verification.get("status") or "not_run")
    yield _("Status"), {"failed": _("output wrong"), "passed": _("output verified")}.get(status, label(status))
    yield _("Against"), verification.get("against")
    yield _("Greatest absolute error"), _number(verification.get("max_abs_error"))
    yield _("Greatest relative error"), _number(verification.get("max_rel_error"))
    agreement = verification.get("top1_agreement")
    yield _("Top-1 agreement"), None if agreement is None else f"{agreement * 100:.4g} %"
    yield _("Tolerance"), _number(verification.get("tolerance"))


def _machine(system: Json) -> Iterator[tuple[str, Any]]:
    yield _("Machine"), system.get("machine")
    yield _("Topology"), system.get("topology")


def _source(source: Json) -> Iterator[tuple[str, Any]]:
    yield _("Tool"), " ".join(filter(None, [source.get("tool"), source.get("version")]))
    yield _("Format"), source.get("format")
    yield _("Source"), source.get("name")
    yield _("Artifact digest"), source.get("artifact_digest")


def _origin(run: Run, report: Json) -> Iterator[Fact]:
    yield Fact(_("Evidence"), label(Evidence(run.evidence)))
    started = parse_datetime(report.get("started_at") or "")
    if started:
        yield Fact(_("Started"), time=started)
    elif report.get("started_at_text"):
        # Some tools stamp the end of the run: what the file means by it is in the adapter's page of docs/formats.md.
        yield Fact(_("Time in the file"), _("%(text)s, in an unknown zone") % {"text": report["started_at_text"]})
    finished = parse_datetime(report.get("finished_at") or "")
    if finished:
        yield Fact(_("Finished"), time=finished)
    yield Fact(_("Received"), time=run.received_at)
    if run.uploaded_by:
        yield Fact(_("Uploaded by"), run.uploaded_by.get_username())
    url = (report.get("source") or {}).get("url") or ""
    if url.startswith(("https://", "http://")):
        yield Fact(_("Address of the source"), url, link=url, long=True)
    experiment = report.get("experiment")
    if experiment:
        kind = label(ExperimentKind(experiment["kind"]))
        link = f"{reverse('runs')}?{urlencode({'experiment': experiment['id']})}"
        yield Fact(_("Experiment"), f"{kind} {experiment.get('name') or experiment['id']}", link=link)
    price = report.get("price")
    if price:
        words = {"amount": price["amount_per_hour"], "currency": price["currency"]}
        yield Fact(_("Paid"), _("%(amount)s %(currency)s an hour for all chips") % words)


def _pool(pool: Json, known: Mapping[str, Chip]) -> tuple[str, str, str, str, str]:
    """Colour, chip (by the catalogue's name), number, role, and how the model is spread over it."""
    written, chips = pool.get("chip") or "", pool.get("chips")
    chip = known.get(written)
    spread = [f"{name.upper()} {value}" for name, value in (pool.get("parallelism") or {}).items()
              if value is not None and not isinstance(value, bool)]  # fmt: skip
    if (pool.get("parallelism") or {}).get("dp_attention"):
        spread.append(_("DP attention"))
    if pool.get("nodes"):
        spread.append(_("%(n)d nodes") % {"n": pool["nodes"]})
    if pool.get("workers"):
        spread.append(_("%(n)d workers") % {"n": pool["workers"]})
    return (
        vendor_token(chip.vendor if chip else ""),
        chip.name if chip else written or _("unknown chip"),
        f"×{chips:,}" if chips else _("× unknown"),
        label(PoolRole(pool.get("role") or "all")),
        " · ".join(spread),
    )


def _reading(reading: Json) -> tuple[str, str, str]:
    value = reading.get("value")
    text = _("unknown") if value is None else count(value) if isinstance(value, float | int) else str(value)
    return reading["name"], text, reading.get("source") or ""


# ------------------------------------------------------------------------------------------------ figures


def _chips(system: Json) -> int | None:
    """Physical chips of all pools; unknown if any pool's is."""
    numbers = [pool.get("chips") for pool in system.get("pools") or []]
    return sum(numbers) if numbers and all(numbers) else None


def _load(point: Json) -> str:
    load = point.get("load") or {}
    kinds = (LoadKind.CONCURRENCY, LoadKind.REQUEST_RATE, LoadKind.BATCH_SIZE)
    kind = next((kind for kind in kinds if load.get(kind.value) is not None), LoadKind.UNKNOWN)
    if load.get("unlimited"):
        kind = LoadKind.UNLIMITED
    return load_words(kind, load.get(kind.value), load.get("context_tokens"))


def _mark(plausibility: str) -> str:
    return label(Plausibility(plausibility)) if plausibility in ("flag", "quarantine") else ""


def _pool_views(system: Json, chips: Mapping[str, Chip]) -> tuple[PoolView, ...]:
    """The report's pools as a price book reads them."""
    views = []
    for pool in system.get("pools") or []:
        chip, name = chips.get(pool.get("chip") or ""), pool.get("chip") or ""
        known = (chip.name, chip.slug, chip.vendor) if chip else (name, "", "")
        views.append(PoolView(pool.get("role") or "all", *known, pool.get("chips")))
    return tuple(views)


def _cost(point: Json, chips: int | None, pools: tuple[PoolView, ...], books: Books) -> Cost:
    known = figures_of_facts(facts_of({"detail": point}, chips, None))
    figures = {name: Figure(known.get(name)) for name in ("output_tokens_per_s", "total_tokens_per_s")}
    return books.cost_of_pools(pools, figures)


def _cost_row(costs: list[Cost]) -> Iterator[tuple[str, str, list[str]]]:
    """One row where any cost is known; else the line of ``_cost_words`` says why none is."""
    if any(cost.per_m_output is not None for cost in costs):
        amounts = [cost.per_m_output for cost in costs]
        values = ["" if amount is None else money(amount, costs[0].currency) for amount in amounts]
        yield _("Cost per M output tokens"), "", values


def _cost_words(costs: list[Cost], books: Books) -> str:
    """The book that the costs are under, or why there are none."""
    if not costs:
        return ""
    if books.chosen is None:
        return _("No price book: costs are unknown.")
    if all(cost.per_m_output is None for cost in costs):
        return _("Cost per M output tokens: unknown, %(why)s.") % {"why": costs[0].missing}
    book = {"tier": tier_words(books.chosen.tier), "date": books.chosen.date.isoformat()}
    return _("Prices: %(tier)s, %(date)s") % book + _(", ") + _("all cost on output tokens")


def _figures(points: list[Json], chips: int | None, speculative: Json | None) -> list[tuple[str, str, list[str]]]:
    """One row a metric that any point knows: title, unit, a value a point; then counts as reported."""
    facts = [facts_of({"detail": point}, chips, speculative) for point in points]
    known = [figures_of_facts(one) for one in facts]
    rows = []
    for name in METRICS:
        if any(name in figures for figures in known):
            metric = shown_metric(name)
            values = [figures.get(name) for figures in known]
            written = ["" if value is None else number(value * metric.scale) for value in values]
            if name == "interactivity":
                written = [
                    f"{text} ({_('mean')})" if interactivity_source(one) == "mean" else text
                    for text, one in zip(written, facts, strict=True)
                ]
            rows.append((metric.title, "" if metric.unit_said else metric.unit, written))
    rows += [(title, unit, values) for title, unit, values in _counts(points) if any(values)]
    return rows


def _counts(points: list[Json]) -> Iterator[tuple[str, str, list[str]]]:
    paths = [
        (_("Duration"), "s", ("duration",)),
        (_("Requests sent"), "", ("requests", "sent")),
        (_("Requests completed"), "", ("requests", "completed")),
        (_("Requests failed"), "", ("requests", "failed")),
        (_("Input tokens of a request, mean"), "", ("tokens", "input_mean")),
        (_("Output tokens of a request, mean"), "", ("tokens", "output_mean")),
        (_("Power read by"), "", ("power", "method")),
        (_("Kernels counted by"), "", ("kernel", "method")),
        (_("Memory limit from"), "", ("kernel", "limit_source")),
    ]
    for title, unit, path in paths:
        values = [_at(point, path) for point in points]
        yield title, unit, ["" if v is None else v if isinstance(v, str) else _plain_count(v) for v in values]


def _plain_count(value: float) -> str:
    return count(value) if float(value).is_integer() else number(value)


def _at(part: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        part = part.get(step) if isinstance(part, Mapping) else None
    return part


def _yes_no(value: bool | None) -> str | None:
    return None if value is None else _("yes") if value else _("no")


def _count(value: int | None) -> str | None:
    return None if value is None else f"{value:,}"


def _number(value: float | None, unit: str = "") -> str | None:
    return None if value is None else f"{value:.6g} {unit}".strip()


def status_words(run: Run) -> str:
    """Completed or failed."""
    return label(Status(run.status))
