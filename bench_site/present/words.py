"""What a configuration, a load and a state are called on pages, in figures and in their hover texts."""

from django.utils.translation import gettext as _

from bench_site.compare.curves import speculation_parts
from bench_site.compare.shapes import ConfigurationView, Row
from bench_site.present.numbers import count
from bench_site.runs.models.words import LoadKind, label
from runners.contract.vocabulary import VerificationStatus


def engine_words(row: Row) -> str:
    """Engine and version."""
    return " ".join(filter(None, [row.configuration.engine or _("unknown engine"), row.engine_version]))


def draft_words(configuration: ConfigurationView) -> str:
    """The speculative regime in one line."""
    parts = speculation_parts(configuration, lambda n: _("%(n)d drafted") % {"n": n})
    return _(", ").join(parts)


def load_words(kind: str, value: float | None, context_tokens: int | None) -> str:
    """How hard the system was driven, with its unit."""
    text = load_value_words(kind, value)
    if context_tokens:
        text += " · " + _("%(n)s context") % {"n": tokens_words(context_tokens)}
    return text


def load_value_words(kind: str, value: float | None) -> str:
    """One load: its value with the unit."""
    if value is None:
        return str(label(LoadKind.UNLIMITED)) if kind == LoadKind.UNLIMITED else _("load unknown")
    match kind:
        case LoadKind.CONCURRENCY:
            return _("%(n)s concurrent") % {"n": count(value)}
        case LoadKind.REQUEST_RATE:
            return _("%(n)s requests/s") % {"n": count(value)}
        case LoadKind.BATCH_SIZE:
            return _("batch %(n)s") % {"n": count(value)}
        case _:
            return count(value)


def tokens_words(n: int) -> str:
    """A number of tokens: 8k is 8192 and nothing else, so that 8000 is not taken for it."""
    return f"{n // 1024}k" if n and n % 1024 == 0 else f"{n:,}"


def rule_words(rule: str) -> str:
    """A rule of plausibility in words; a rule that has none keeps its name."""
    known = {
        "faster-than-memory": _("faster than memory"), "rates-disagree": _("rates disagree"),
        "more-than-concurrency": _("more than the concurrency allows"), "future-time": _("a time in the future"),
        "percentiles-out-of-order": _("percentiles out of order"), "output-length": _("output length"),
        "errors": _("failed requests"), "few-requests": _("few requests"),
        "concurrency-not-reached": _("concurrency not reached"), "recomputed-differs": _("recomputed figures differ"),
        "calculated": _("calculated, not measured"), "contradiction": _("contradicts itself"),
        "token-count": _("token count"),
    }  # fmt: skip
    return known.get(rule, rule)


def confidence_words(confidence: str) -> str:
    """How sure a catalogue's entry is."""
    return {"high": _("high"), "medium": _("medium"), "low": _("low")}.get(confidence, confidence)


def verification_words(status: str) -> str:
    """Whether the output was checked."""
    return {
        VerificationStatus.PASSED.value: _("output verified"),
        VerificationStatus.FAILED.value: _("output wrong"),
    }.get(status, _("output not verified"))
