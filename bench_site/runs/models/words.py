"""The contract's vocabularies as database choices with translated labels; the words themselves live in the contract."""

from enum import StrEnum

from django.db import models
from django.utils.translation import gettext_lazy as _

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
)


class Plausibility(StrEnum):
    """What the rules of plausibility said, best first; see docs/metrics.md."""

    ACCEPT = "accept"
    FLAG = "flag"
    QUARANTINE = "quarantine"


class LoadKind(StrEnum):
    """Which of the load's figures drove the system."""

    CONCURRENCY = "concurrency"
    REQUEST_RATE = "request_rate"
    UNLIMITED = "unlimited"
    BATCH_SIZE = "batch_size"
    UNKNOWN = "unknown"


class Role(StrEnum):
    """What a person may do, least first; each may do all that the ones before may."""

    READER = "reader"
    UPLOADER = "uploader"
    OPERATOR = "operator"
    ADMIN = "admin"


class Scope(StrEnum):
    """What a token may do."""

    PUSH = "push"
    AGENT = "agent"
    READ = "read"


#: Labels for people; a test asserts that every word of every vocabulary has one.
LABELS = {
    Status.COMPLETED: _("completed"),
    Status.FAILED: _("failed"),
    Evidence.MEASURED: _("measured"),
    Evidence.PUBLISHED: _("published"),
    Evidence.CLAIMED: _("claimed"),
    Evidence.SIMULATED: _("simulated"),
    Evidence.MOCK: _("mock"),
    ExperimentKind.LADDER: _("ladder"),
    ExperimentKind.SWEEP: _("sweep"),
    ExperimentKind.PAIR: _("pair"),
    ExperimentKind.SUITE: _("suite"),
    PoolRole.ALL: _("prefill and decode"),
    PoolRole.PREFILL: _("prefill"),
    PoolRole.DECODE: _("decode"),
    PoolRole.FFN: _("FFN"),
    KernelStrategy.OP_BY_OP: _("op by op"),
    KernelStrategy.GRAPH_CAPTURE: _("graph capture"),
    KernelStrategy.SUPER_OPERATOR: _("super-operators"),
    KernelStrategy.MEGAKERNEL: _("megakernel"),
    AcceptanceSource.SYNTHETIC: _("synthetic"),
    WorkloadKind.SERVING: _("serving"),
    WorkloadKind.DECODE: _("decode"),
    WorkloadKind.AGENTIC: _("agentic"),
    WorkloadKind.OFFLINE: _("offline"),
    Loop.CLOSED: _("closed loop"),
    Loop.OPEN: _("open loop"),
    Loop.SINGLE: _("single request"),
    VerificationStatus.PASSED: _("passed"),
    VerificationStatus.NOT_RUN: _("output not verified"),
    Plausibility.ACCEPT: _("plausible"),
    Plausibility.FLAG: _("flagged"),
    Plausibility.QUARANTINE: _("quarantined"),
    LoadKind.CONCURRENCY: _("concurrency"),
    LoadKind.REQUEST_RATE: _("request rate"),
    LoadKind.UNLIMITED: _("all at once"),
    LoadKind.BATCH_SIZE: _("batch size"),
    LoadKind.UNKNOWN: _("unknown"),
    Role.READER: _("reader"),
    Role.UPLOADER: _("uploader"),
    Role.OPERATOR: _("operator"),
    Role.ADMIN: _("administrator"),
    Scope.PUSH: _("push"),
    Scope.AGENT: _("agent"),
    Scope.READ: _("read"),
}


def label(word: str) -> str:
    """The translated label of a vocabulary word; the word itself where it has none."""
    return str(LABELS.get(word, word))  # type: ignore[call-overload]


def choices(vocabulary: type[StrEnum]) -> list[tuple[str, str]]:
    """``vocabulary`` for a model field's ``choices``."""
    return [(word.value, LABELS.get(word, word.value)) for word in vocabulary]  # type: ignore[misc]


def word_field(vocabulary: type[StrEnum], **options: object) -> models.CharField:
    """A column that holds one word of ``vocabulary``."""
    return models.CharField(max_length=20, choices=choices(vocabulary), **options)  # type: ignore[arg-type]


def one_of(vocabulary: type[StrEnum], field: str, name: str) -> models.CheckConstraint:
    """The constraint that keeps any other word out, however it is written."""
    return models.CheckConstraint(condition=models.Q(**{f"{field}__in": [w.value for w in vocabulary]}), name=name)
