"""Other tools' result files become reports. Plain Python: no Django, nothing else of the site.

``read(data)`` answers what a file is and what it holds, and never raises for what is in it; ``redact`` takes its
secrets out; ``apply_context`` adds what the sender says beside the file. One file a tool, one registry: see
``docs/formats.md``.
"""

from bench_site.formats.context import ContextError, apply_context
from bench_site.formats.missing import missing_facts
from bench_site.formats.outcome import Reading, ReadRun, Refusal
from bench_site.formats.redact import redact
from bench_site.formats.registry import read, supported

__all__ = [
    "ContextError",
    "ReadRun",
    "Reading",
    "Refusal",
    "apply_context",
    "missing_facts",
    "read",
    "redact",
    "supported",
]
