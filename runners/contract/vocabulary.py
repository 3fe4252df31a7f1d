"""The closed lists of words a report may use. One noun, one spelling: see docs/glossary.md."""

from enum import StrEnum


class Status(StrEnum):
    """Whether the run produced figures."""

    COMPLETED = "completed"
    FAILED = "failed"


class Evidence(StrEnum):
    """Who stands behind a number, strongest first."""

    MEASURED = "measured"
    PUBLISHED = "published"
    CLAIMED = "claimed"
    SIMULATED = "simulated"
    MOCK = "mock"


class ExperimentKind(StrEnum):
    """Why several runs were made together."""

    LADDER = "ladder"
    SWEEP = "sweep"
    PAIR = "pair"
    SUITE = "suite"


class PoolRole(StrEnum):
    """What a group of chips does for the served model."""

    ALL = "all"
    PREFILL = "prefill"
    DECODE = "decode"
    FFN = "ffn"


class KernelStrategy(StrEnum):
    """How the decode step is cut into kernels, most boundaries first."""

    OP_BY_OP = "op_by_op"
    GRAPH_CAPTURE = "graph_capture"
    SUPER_OPERATOR = "super_operator"
    MEGAKERNEL = "megakernel"
    UNKNOWN = "unknown"


class AcceptanceSource(StrEnum):
    """Where a speculative acceptance figure comes from; the regimes never share a curve."""

    MEASURED = "measured"
    SYNTHETIC = "synthetic"
    UNKNOWN = "unknown"


class WorkloadKind(StrEnum):
    """What the load looks like."""

    SERVING = "serving"
    DECODE = "decode"
    AGENTIC = "agentic"
    OFFLINE = "offline"
    UNKNOWN = "unknown"


class Loop(StrEnum):
    """How requests arrive; results of different loops are never compared with each other."""

    CLOSED = "closed"
    OPEN = "open"
    OFFLINE = "offline"
    SINGLE = "single"
    UNKNOWN = "unknown"


class VerificationStatus(StrEnum):
    """Whether the output was checked against a reference."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not_run"
