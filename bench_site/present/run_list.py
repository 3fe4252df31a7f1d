"""The list of runs: what can be searched and filtered, one page at a time, as many queries as pages need: four."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from bench_site.compare.shapes import Option
from bench_site.present.looks import kernel_word, vendor_token
from bench_site.present.numbers import number
from bench_site.runs.models import Configuration, ConfigurationPool, Point, Run
from bench_site.runs.models.words import Plausibility, label
from runners.contract.vocabulary import Evidence, KernelStrategy, Status, VerificationStatus

PAGE = 50
MAX_WORDS = 8
FILTERS = {
    "evidence": Evidence,
    "status": Status,
    "verification": VerificationStatus,
    "plausibility": Plausibility,
}


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run of the list."""

    run: Run
    model: str
    pools: list[tuple[str, str, str]]
    engine: str
    kernel: str
    kernel_label: str
    token: str
    evidence: str
    points: int
    fastest: str


@dataclass(slots=True)
class RunList:
    """One page of runs, the form that filters it, and the way to the next page."""

    lines: list[RunLine]
    text: str
    filters: list[tuple[str, str, list[Option]]]
    kept: list[tuple[str, str]]
    words: list[str]
    next_query: str
    first: bool


def run_list(query: Mapping[str, str]) -> RunList:
    """The page of runs that ``query`` asks for. A filter that makes no sense is as if it were not there."""
    text = query.get("q", "").replace("\0", "").strip()[:200]
    chosen = {name: value for name, words in FILTERS.items() if (value := query.get(name, "")) in set(words)}
    kept = {name: value for name, read in KEPT.items() if (value := read(query.get(name, "")))}
    runs = Run.objects.filter(deleted_at=None, **chosen)
    for word in text.split()[:MAX_WORDS]:
        runs = runs.filter(_matches(word))
    runs = _kept(runs, kept)
    after = _cursor(query.get("after", ""))
    if after:
        runs = runs.filter(Q(received_at__lt=after[0]) | Q(received_at=after[0], id__gt=after[1]))
    page = list(runs.select_related("configuration__model").order_by("-received_at", "id")[: PAGE + 1])
    more, page = len(page) > PAGE, page[:PAGE]
    asked = {"q": text, **chosen, **kept} if text else {**chosen, **kept}
    return RunList(
        lines=_lines(page),
        text=text,
        filters=[(name, _titles()[name], _options(name, chosen.get(name, ""))) for name in FILTERS],
        kept=list(kept.items()),
        words=[
            _("%(filter)s: %(values)s") % {"filter": _titles()[name], "values": value} for name, value in kept.items()
        ],
        next_query=urlencode({**asked, "after": f"{page[-1].received_at.isoformat()}~{page[-1].id}"}) if more else "",
        first=after is None,
    )


def _titles() -> dict[str, str]:
    return {
        "evidence": _("Evidence"), "status": _("Status"), "verification": _("Verification"),
        "plausibility": _("Plausibility"), "experiment": _("Experiment"), "group": _("Group"), "series": _("Series"),
        "tag": _("Tag"), "chip": _("Chip"),
    }  # fmt: skip


def _options(name: str, chosen: str) -> list[Option]:
    return [Option(word.value, label(word), 0, word.value == chosen) for word in FILTERS[name]]


# ------------------------------------------------------------------------------------------------ what matches


def _matches(word: str) -> Q:
    """``word`` in the model's name, the engine, a chip's name, a tag, the tool, or the beginning of the id."""
    pools = ConfigurationPool.objects.filter(chip__name__icontains=word)
    configurations = Configuration.objects.filter(
        Q(model__name__icontains=word) | Q(engine__icontains=word) | Q(id__in=pools.values("configuration_id"))
    )
    found = Q(configuration__in=configurations.values("id")) | Q(tool__icontains=word) | Q(tags__contains=[word])
    found |= Q(machine__name__icontains=word) | Q(source_name__icontains=word)
    beginning = word.casefold().replace("-", "")
    if 4 <= len(beginning) <= 32 and not set(beginning) - set("0123456789abcdef"):
        low, high = UUID(beginning.ljust(32, "0")), UUID(beginning.ljust(32, "f"))
        found |= Q(id__gte=low, id__lte=high)
    return found


def _uuid(text: str) -> str:
    try:
        return str(UUID(text)) if text else ""
    except ValueError:
        return ""


def _id(text: str) -> str:
    return text if text.isascii() and text.isdigit() and len(text) < 19 else ""


def _text(text: str) -> str:
    return text.replace("\0", "").strip()[:200]


#: Parameters that other pages link with; the form keeps them, and says so.
KEPT = {"experiment": _uuid, "group": _id, "series": _id, "tag": _text, "chip": _text}


def _kept(runs: QuerySet[Run], kept: Mapping[str, str]) -> QuerySet[Run]:
    if "experiment" in kept:
        runs = runs.filter(experiment_id=kept["experiment"])
    if "tag" in kept:
        runs = runs.filter(tags__contains=[kept["tag"]])
    if "chip" in kept:
        pools = ConfigurationPool.objects.filter(chip__slug=kept["chip"])
        runs = runs.filter(configuration__in=pools.values("configuration_id"))
    for name in ("group", "series"):
        if name in kept:
            runs = runs.filter(Exists(Point.objects.filter(run=OuterRef("pk"), **{f"{name}_id": int(kept[name])})))
    return runs


def _cursor(text: str) -> tuple[datetime, UUID] | None:
    """Where the page before ended: a time and an id."""
    when, _tilde, id_ = text.partition("~")
    try:
        at, id_found = datetime.fromisoformat(when), UUID(id_)
    except ValueError:
        return None
    return (at, id_found) if at.tzinfo else None


# ------------------------------------------------------------------------------------------------ one line each


def _lines(runs: list[Run]) -> list[RunLine]:
    pools = defaultdict(list)
    ids = {run.configuration_id for run in runs}
    for pool in ConfigurationPool.objects.filter(configuration__in=ids).select_related("chip"):
        pools[pool.configuration_id].append(pool)
    points: dict[Any, Any] = {
        row["run"]: row
        for row in Point.objects.filter(run__in=[run.pk for run in runs])
        .values("run")
        .annotate(n=Count("id"), fastest=Max("output_tokens_per_s"))
        .order_by()
    }
    return [_line(run, pools[run.configuration_id], points.get(run.pk, {})) for run in runs]


def _line(run: Run, pools: list[ConfigurationPool], points: Mapping[str, Any]) -> RunLine:
    named = [(vendor_token(p.chip.vendor) if p.chip else "unknown", str(p.chip or _("unknown chip")),
              f"×{p.chips:,}" if p.chips else "") for p in pools]  # fmt: skip
    tokens = {token for token, _name, _chips in named}
    kernel = kernel_word(run.configuration.kernel)
    fastest = points.get("fastest")
    return RunLine(
        run=run,
        model=run.configuration.model.name if run.configuration.model else _("unknown model"),
        pools=named,
        engine=" ".join(filter(None, [run.configuration.engine, run.engine_version])) or _("unknown"),
        kernel=kernel,
        kernel_label=label(KernelStrategy(kernel)),
        token=tokens.pop() if len(tokens) == 1 else "unknown",
        evidence=label(Evidence(run.evidence)),
        points=points.get("n", 0),
        fastest="" if fastest is None else number(fastest),
    )
