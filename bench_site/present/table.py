"""The ranked table: headers, and each row as markup."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from bench_site.compare.selection import COST, Selection
from bench_site.compare.shapes import UNKNOWN, Comparison, ConfigurationView, Cost, PoolView, Row
from bench_site.present.looks import FILLED, configuration_token, kernel_word, vendor_token
from bench_site.present.metric_words import Shown, shown_metric
from bench_site.present.numbers import SIGNS, count, interval, money
from bench_site.present.numbers import cost as ten_digits
from bench_site.present.numbers import figure as written
from bench_site.present.words import draft_words, engine_words, load_words, verification_words
from bench_site.runs.models.words import Plausibility, label
from runners.contract.vocabulary import Evidence, KernelStrategy, VerificationStatus

#: The cells of a row, in the order of the headers.
CELLS = (
    "rank", "machine", "engine", "strategy", "speculation", "load", "interactivity", "per_chip", "ttft", "tpot",
    "cost", "evidence", "runs",
)  # fmt: skip
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


#: One row; ``{l.name}`` is a column's header, for phones. Written here and not in a template: a page holds hundreds,
#: and a template takes a millisecond for each.
ROW = """<tr id="g{group}"{best}>
<td class="n pos">{rank}</td>
<th scope="row"><a href="{url}&amp;open=1">{machine}</a></th>
<td class="cut" data-l="{l.engine}" title="{engine_full}">{engine}</td>
<td data-l="{l.strategy}">{strategy}</td>
<td class="cut" data-l="{l.speculation}" title="{speculation}">{speculation}</td>
<td data-l="{l.load}">{load}</td>
<td class="n" data-l="{l.interactivity}">{interactivity}{from_mean}</td>
<td class="bar {token}" data-l="{l.per_chip}"><i style="--v:{share}"></i><b>{per_chip}</b>{per_chip_interval}</td>
<td class="n" data-l="{l.ttft}">{ttft}</td>
<td class="n" data-l="{l.tpot}">{tpot}</td>
{cost}
<td class="evi" data-l="{l.evidence}">{evidence}</td>
<td class="n" data-l="{l.runs}"><a href="{url}">{runs}</a>{left_out}</td>
</tr>
"""
COST_CELL = '<td class="n cost" data-l="{}" title="{}"><b>{}</b>{}</td>'
NO_COST_CELL = '<td class="why" data-l="{}">{}</td>'
BEST = mark_safe(' class="best"')
INTERVAL = ' <span class="ci">{}</span>'


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
        _sortable(comparison, interactivity, _("Tokens/s per user")),
        _sortable(comparison, per_chip, _("Output tokens/s per chip"), number=False),
        _sortable(comparison, ttft, _(", ").join([ttft.short, ttft.unit])),
        _sortable(comparison, tpot, _(", ").join([tpot.short, tpot.unit])),
        Head(_("%(sign)s per M output tokens") % {"sign": sign}, True, *_sort_link(comparison, COST, COST)),
        Head(_("Evidence")),
        Head(_("Runs"), number=True),
    ]


def _sortable(comparison: Comparison, metric: Shown, title: str, number: bool = True) -> Head:
    return Head(title, number, *_sort_link(comparison, metric.name, metric.best_first))


def _sort_link(comparison: Comparison, name: str, best_first: str) -> tuple[str, str]:
    """The query that sorts by ``name`` (best first, then the other way, then the ranking) and what is in force."""
    selection: Selection = comparison.selection
    worst_first = name if best_first.startswith("-") else f"-{name}"
    following = {best_first: worst_first, worst_first: ""}.get(selection.sort, best_first)
    order = selection.sort or (best_first if comparison.ranked_by == name else "")
    in_force = {name: "ascending", f"-{name}": "descending"}.get(order, "")
    return "?" + selection.to_query(sort=following), in_force


class Rows:
    """The rows of one table as markup; what several rows share is made once."""

    def __init__(self, comparison: Comparison, labels: Sequence[str]) -> None:
        self.labels = {name: escape(title) for name, title in zip(CELLS, labels, strict=True)}
        self.row = ROW
        for name, title in self.labels.items():
            self.row = self.row.replace(f"{{l.{name}}}", title.replace("{", "{{").replace("}", "}}"))
        self.scales = {name: shown_metric(name).scale for name in (INTERACTIVITY, PER_CHIP, TTFT, TPOT)}
        self.most = max((row.figures.get(PER_CHIP, UNKNOWN).value or 0 for row in comparison.rows), default=0)
        self.runs_url = reverse("runs")
        self.several_models = "model" in comparison.differs
        self.from_mean = format_html(
            ' <span class="ci" title="{}">{}</span>', _("from the mean TPOT, where the median is unknown"), _("mean")
        )
        self._made: dict[tuple[Any, ...], Any] = {}

    def _once(self, make: Callable[..., Any], *of: Any) -> Any:
        key = (make, *of)
        if key not in self._made:
            self._made[key] = make(*of)
        return self._made[key]

    def markup(self, row: Row) -> SafeString:
        """One ``<tr>``."""
        configuration = row.configuration
        engine = engine_words(row) if configuration.engine else row.engine_version or _("unknown")
        kernel, token = kernel_word(configuration.kernel), configuration_token(configuration)
        per_chip = row.figures.get(PER_CHIP, UNKNOWN)
        return format_html(
            self.row,
            group=row.group_id,
            best=BEST if row.rank == 1 else "",
            rank="" if row.rank is None else row.rank,
            machine=self._once(_machine, configuration.pools, configuration.model if self.several_models else ""),
            engine=engine,
            engine_full=f"{engine} · {row.image}" if row.image else engine,
            strategy=self._once(_strategy, kernel, token, row.evidence in FILLED),
            speculation=self._once(_speculation, configuration),
            load=self._once(load_words, row.load_kind, row.load_value, row.context_tokens),
            interactivity=self._figure(row, INTERACTIVITY),
            from_mean=self.from_mean if row.interactivity_from == "mean" else "",
            token=token,
            share=f"{per_chip.value / self.most:.3f}" if per_chip.value and self.most else "0",
            per_chip=self._figure(row, PER_CHIP),
            per_chip_interval=_interval(per_chip.low, per_chip.high, self.scales[PER_CHIP]),
            ttft=self._figure(row, TTFT),
            tpot=self._figure(row, TPOT),
            cost=self._cost(row.cost),
            evidence=self._once(_evidence, row.evidence, row.verification, row.plausibility, row.why_marked),
            url=f"{self.runs_url}?group={row.group_id}",
            runs=count(row.runs),
            left_out=self._once(_left_out, row.runs_left_out),
        )

    def _figure(self, row: Row, name: str) -> str:
        return written(row.figures.get(name, UNKNOWN), self.scales[name])

    def _cost(self, cost: Cost) -> SafeString:
        amount = cost.per_m_output
        if amount is None:
            return format_html(NO_COST_CELL, self.labels["cost"], cost.missing or _("unknown"))
        around = interval(ten_digits(cost.per_m_output_low), ten_digits(cost.per_m_output_high))
        shown = format_html(INTERVAL, around) if around else ""
        return format_html(COST_CELL, self.labels["cost"], around, money(amount, cost.currency), shown)


def _interval(low: float | Decimal | None, high: float | Decimal | None, scale: float = 1) -> SafeString | str:
    around = interval(low, high, scale)
    return format_html(INTERVAL, around) if around else ""


def _machine(pools: tuple[PoolView, ...], model: str) -> SafeString:
    """Each chip with its vendor's dot; roles only where there are several pools; the model only where models differ."""
    parts: list[SafeString] = [format_html('<span class="under">{}</span>', model)] if model else []
    by_chip: dict[tuple[str, str], list[PoolView]] = {}
    for pool in pools:
        by_chip.setdefault((pool.vendor, pool.chip), []).append(pool)
    for (vendor, chip), same in by_chip.items():
        known = any(pool.chips for pool in same)
        chips = "×" + "+".join(f"{pool.chips:,}" if pool.chips else "?" for pool in same) if known else _("× unknown")
        parts.append(
            format_html(
                '<span class="chip"><span class="dot {}"></span>{}<span class="muted">{}</span></span>{}',
                vendor_token(vendor), chip or _("unknown chip"), chips,
                format_html('<span class="under roles">{}</span>', " + ".join(label(p.role) for p in same))
                if len(pools) > 1 else "",
            )
        )  # fmt: skip
    return format_html("{}" * len(parts), *parts) if parts else format_html("{}", _("unknown"))


def _left_out(runs: int) -> SafeString | str:
    """How many runs of a group its figures are not made of."""
    if not runs:
        return ""
    why = _("quarantined, failed in verification or retracted: they enter no figure")
    return format_html(' <span class="ci" title="{}">{}</span>', why, _("(%(n)s left out)") % {"n": count(runs)})


def _strategy(kernel: str, token: str, filled: bool) -> SafeString:
    return format_html(
        '<svg class="mk {}{}" aria-hidden="true"><use href="#m-{}"/></svg>{}',
        token, "" if filled else " hollow", kernel, label(KernelStrategy(kernel)),
    )  # fmt: skip


def _speculation(configuration: ConfigurationView) -> str:
    return {"none": _("off"), "": _("unknown")}.get(configuration.speculative) or draft_words(configuration)


def _evidence(evidence: str, verification: str, plausibility: str, why: str) -> SafeString:
    checked = verification == VerificationStatus.PASSED
    marked = plausibility != Plausibility.ACCEPT
    return format_html(
        '<span class="badge {}">{}</span> <span class="{}" title="{}">{}</span>{}',
        FRAMES.get(Evidence(evidence), "dash"),
        label(Evidence(evidence)),
        "ci ok" if checked else "ci",
        verification_words(verification),
        f"✓ {_('verified')}" if checked else _("not verified"),
        format_html(' <span class="badge warn" title="{}">{}</span>', why, label(Plausibility(plausibility)))
        if marked
        else "",
    )
