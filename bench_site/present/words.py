"""What a configuration, a load and a state are called on pages, in figures and in their hover texts."""

from django.urls import reverse
from django.utils.translation import gettext as _

from bench_site.compare.shapes import ConfigurationView, Row, WorkloadView
from bench_site.present.looks import machine_name
from bench_site.present.numbers import count
from bench_site.runs.models.words import LoadKind, label
from runners.contract.vocabulary import AcceptanceSource, VerificationStatus


def machine_words(configuration: ConfigurationView) -> str:
    """The pools in one line."""
    return machine_name(configuration.pools, _("unknown chip"))


def engine_words(row: Row) -> str:
    """Engine and version."""
    return " ".join(filter(None, [row.configuration.engine or _("unknown engine"), row.engine_version]))


def draft_words(configuration: ConfigurationView) -> str:
    """The speculative regime in one line."""
    if configuration.speculative == "none":
        return _("no speculation")
    if not configuration.speculative:
        return _("speculation unknown")
    parts = [configuration.speculative.upper() if len(configuration.speculative) < 5 else configuration.speculative]
    if configuration.draft_tokens:
        parts.append(_("%(n)d drafted") % {"n": configuration.draft_tokens})
    if configuration.acceptance_source == AcceptanceSource.SYNTHETIC:
        parts.append(_("synthetic acceptance"))
    return ", ".join(parts)


def load_words(row: Row) -> str:
    """How hard the system was driven, with its unit."""
    text = load_value_words(row.load_kind, row.load_value)
    if row.context_tokens:
        text += " · " + _("%(n)s context") % {"n": tokens_words(row.context_tokens)}
    return text


def load_value_words(kind: str, value: float | None) -> str:
    """One load: its value with the unit."""
    if value is None:
        return str(label(LoadKind.UNLIMITED)) if kind == LoadKind.UNLIMITED else _("load unknown")
    templates = {
        LoadKind.CONCURRENCY: _("%(n)s concurrent"),
        LoadKind.REQUEST_RATE: _("%(n)s requests/s"),
        LoadKind.BATCH_SIZE: _("batch %(n)s"),
    }
    return templates.get(LoadKind(kind), "%(n)s") % {"n": count(value)}


def tokens_words(n: int | None) -> str:
    """A number of tokens as benchmarks are called: 8k for 8192 and 8000, 1k for 1024."""
    if n is None:
        return _("any")
    for size, unit in ((1024, "k"), (1000, "k")):
        if n >= size and n % size == 0:
            return f"{n // size}{unit}"
    return f"{n:,}"


def workload_words(workload: WorkloadView) -> str:
    """A workload in one line: "serving, closed loop, 8k in / 1k out"."""
    parts = [label(workload.kind), label(workload.loop)]
    if workload.input_tokens is not None or workload.output_tokens is not None:
        lengths = {"i": tokens_words(workload.input_tokens), "o": tokens_words(workload.output_tokens)}
        parts.append(_("%(i)s in / %(o)s out") % lengths)
    if workload.dataset:
        parts.append(workload.dataset)
    return ", ".join(part for part in parts if part != "unknown")


def verification_words(status: str) -> str:
    """Whether the output was checked."""
    return {
        VerificationStatus.PASSED.value: _("output verified"),
        VerificationStatus.FAILED.value: _("output wrong"),
    }.get(status, _("output not verified"))


def url_of_row(row: Row) -> str:
    """Where the runs behind a row are: the run itself, or the list of a group's runs."""
    if len(row.run_ids) == 1:
        return reverse("run", args=[row.run_ids[0]])
    return f"{reverse('runs')}?group={row.group_id}"
