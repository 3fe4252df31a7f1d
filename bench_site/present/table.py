"""The ranked table: a comparison's rows as finished strings, so that the template only puts them in their places."""

from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from bench_site.compare.selection import COST, Selection
from bench_site.compare.shapes import UNKNOWN, Comparison, Figure, Row
from bench_site.present.looks import FILLED, configuration_token, kernel_word, vendor_token
from bench_site.present.metric_words import Shown, shown_metric
from bench_site.present.numbers import SIGNS, count, interval, money
from bench_site.present.numbers import figure as written
from bench_site.present.words import draft_words, engine_words, load_words, url_of_row, verification_words
from bench_site.runs.models.words import Plausibility, label
from runners.contract.vocabulary import Evidence, KernelStrategy, VerificationStatus

INTERACTIVITY, PER_CHIP, TTFT, TPOT = "interactivity", "output_tokens_per_s_per_chip", "ttft_p50", "tpot_p50"
#: How each evidence class is framed; words say the same.
FRAMES = {
    Evidence.MEASURED: "solid",
    Evidence.PUBLISHED: "dash",
    Evidence.CLAIMED: "dash",
    Evidence.SIMULATED: "warn",
    Evidence.MOCK: "warn",
}


@dataclass(frozen=True, slots=True)
class Head:
    """A column's header; ``query`` sorts by it ("" where it cannot be sorted), ``sorted`` is the aria-sort word."""

    title: str
    number: bool = False
    query: str = ""
    sorted: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One row, ready to be written."""

    group: int
    rank: str
    best: bool
    frontier: bool
    machine: SafeString
    engine: str
    image: str
    strategy: SafeString
    speculation: str
    load: str
    interactivity: str
    interactivity_note: str
    per_chip: str
    per_chip_interval: str
    share: str
    token: str
    ttft: str
    tpot: str
    cost: str
    cost_interval: str
    cost_missing: str
    evidence: SafeString
    runs: str
    url: str


def heads(comparison: Comparison) -> list[Head]:
    """The table's headers, each with its unit."""
    selection: Selection = comparison.selection
    sign = SIGNS.get(selection.currency, selection.currency)
    interactivity, per_chip, ttft, tpot = map(shown_metric, (INTERACTIVITY, PER_CHIP, TTFT, TPOT))
    return [
        Head("#", number=True),
        Head(_("Machine")),
        Head(_("Engine")),
        Head(_("Kernel strategy")),
        Head(_("Speculation")),
        Head(_("Load")),
        _sortable(selection, interactivity, _("Tokens/s per user")),
        _sortable(selection, per_chip, _("Output tokens/s per chip"), number=False),
        _sortable(selection, ttft, f"{ttft.short}, {ttft.unit}"),
        _sortable(selection, tpot, f"{tpot.short}, {tpot.unit}"),
        Head(_("%(sign)s per M output tokens") % {"sign": sign}, True, *_sort_link(selection, COST, COST)),
        Head(_("Evidence")),
        Head(_("Runs"), number=True),
    ]


def lines(comparison: Comparison) -> list[Line]:
    """The rows of the table."""
    most = max((row.figures.get(PER_CHIP, UNKNOWN).value or 0 for row in comparison.rows), default=0)
    scales = {name: shown_metric(name).scale for name in (INTERACTIVITY, PER_CHIP, TTFT, TPOT)}
    return [_line(row, most, scales) for row in comparison.rows]


def _sortable(selection: Selection, metric: Shown, title: str, number: bool = True) -> Head:
    return Head(title, number, *_sort_link(selection, metric.name, metric.best_first))


def _sort_link(selection: Selection, name: str, best_first: str) -> tuple[str, str]:
    """The query that sorts by ``name`` (best first, then the other way, then the ranking) and what is in force."""
    worst_first = name if best_first.startswith("-") else f"-{name}"
    following = {best_first: worst_first, worst_first: ""}.get(selection.sort, best_first)
    in_force = {name: "ascending", f"-{name}": "descending"}.get(selection.sort, "")
    return "?" + selection.to_query(sort=following), in_force


def _line(row: Row, most: float, scales: dict[str, float]) -> Line:
    configuration = row.configuration
    per_chip: Figure = row.figures.get(PER_CHIP, UNKNOWN)
    cost = row.cost
    return Line(
        group=row.group_id,
        rank="" if row.rank is None else str(row.rank),
        best=row.rank == 1,
        frontier=row.on_frontier,
        machine=_machine(row),
        engine=engine_words(row),
        image=row.image,
        strategy=_strategy(row),
        speculation=_speculation(row),
        load=load_words(row),
        interactivity=written(row.figures.get(INTERACTIVITY, UNKNOWN), scales[INTERACTIVITY]),
        interactivity_note=_("mean") if row.interactivity_from == "mean" else "",
        per_chip=written(per_chip, scales[PER_CHIP]),
        per_chip_interval=interval(per_chip.low, per_chip.high, scales[PER_CHIP]),
        share=f"{per_chip.value / most:.3f}" if per_chip.value and most else "0",
        token=configuration_token(configuration),
        ttft=written(row.figures.get(TTFT, UNKNOWN), scales[TTFT]),
        tpot=written(row.figures.get(TPOT, UNKNOWN), scales[TPOT]),
        cost="" if cost.per_m_output is None else money(cost.per_m_output, cost.currency),
        cost_interval=interval(cost.per_m_output_low, cost.per_m_output_high),
        cost_missing=cost.missing or _("unknown"),
        evidence=_evidence(row),
        runs=count(row.runs),
        url=url_of_row(row),
    )


def _machine(row: Row) -> SafeString:
    """Each pool with its vendor's dot; roles only where there are several."""
    pools, parts = row.configuration.pools, []
    for pool in pools:
        chips = f"×{pool.chips:,}" if pool.chips else _("× unknown")
        role = format_html(' <span class="ci">{}</span>', label(pool.role)) if len(pools) > 1 else ""
        parts.append(
            format_html(
                '<span class="chip"><span class="dot {}"></span>{}&nbsp;<span class="muted">{}</span>{}</span>',
                vendor_token(pool.vendor), pool.chip or _("unknown chip"), chips, role,
            )
        )  # fmt: skip
    return mark_safe("".join(parts) or _("unknown"))


def _strategy(row: Row) -> SafeString:
    kernel = kernel_word(row.configuration.kernel)
    return format_html(
        '<svg class="mk {}{}" aria-hidden="true"><use href="#m-{}"/></svg>{}',
        configuration_token(row.configuration),
        "" if row.evidence in FILLED else " hollow",
        kernel,
        label(KernelStrategy(kernel)),
    )


def _speculation(row: Row) -> str:
    return {"none": _("off"), "": _("unknown")}.get(row.configuration.speculative) or draft_words(row.configuration)


def _evidence(row: Row) -> SafeString:
    frame = FRAMES.get(Evidence(row.evidence), "dash")
    parts = [format_html('<span class="badge {}">{}</span>', frame, label(Evidence(row.evidence)))]
    checked = row.verification == VerificationStatus.PASSED
    parts.append(
        format_html(
            ' <span class="{}" title="{}">{}</span>',
            "ci ok" if checked else "ci",
            verification_words(row.verification),
            f"✓ {_('verified')}" if checked else _("not verified"),
        )
    )
    if row.plausibility != Plausibility.ACCEPT:
        parts.append(format_html(' <span class="badge warn">{}</span>', label(Plausibility(row.plausibility))))
    return mark_safe("".join(parts))
