"""What the serving clients of vLLM and SGLang have in common: how load is limited, and rows of single requests."""

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from bench_site.formats.fields import Fields, as_number
from runners.contract.figures import MAX_ROWS, Load, Samples
from runners.contract.types import MAX_COUNT, MAX_NUMBER
from runners.contract.vocabulary import Loop

#: Clients write "unlimited" as a rate; 1e9 requests/s is vLLM's own stand-in for infinity.
_UNLIMITED = 1e9


@dataclass(frozen=True)
class Drive:
    """How hard the client drove: the load, the loop it makes, and a rate limit beside a concurrency limit."""

    load: Load
    loop: Loop
    cap: float | None = None


def drive(fields: Fields) -> Drive:
    """The load from ``max_concurrency`` and ``request_rate``.

    A concurrency limit makes a closed loop whatever the rate; a finite rate alone an open one; neither limit means
    that everything was sent at once. Peak and measured concurrency of these files are something else and are not read.
    """
    concurrency = fields.size("max_concurrency")
    rate, unlimited = _rate(fields)
    if fields.raw("ramp_up_strategy"):
        fields.notes.say("the request rate was ramped up during the run: no single load describes it")
        return Drive(Load(), Loop.OPEN)
    if fields.raw("request_rate") == "trace":
        fields.notes.say("requests were sent at the times of a trace: no single load describes it")
        return Drive(Load(), Loop.OPEN)
    if concurrency:
        return Drive(Load(concurrency=concurrency), Loop.CLOSED, rate)
    if rate:
        return Drive(Load(request_rate=rate), Loop.OPEN)
    return Drive(Load(unlimited=True), Loop.OFFLINE) if unlimited else Drive(Load(), Loop.UNKNOWN)


def _rate(fields: Fields) -> tuple[float | None, bool]:
    """The finite request rate, and whether the file says that there was no limit."""
    value = fields.raw("request_rate")
    if value is None or value == "trace":
        return None, False
    found = as_number(value)
    if found is not None and (found >= _UNLIMITED or found == -1):
        return None, True
    rate = fields.positive("request_rate")
    return rate, False


def samples(fields: Fields, *, completed: int | None, counted: bool) -> Samples | None:
    """Columns of the per-request arrays (seconds), or None where the file has none that fit together.

    ``counted`` false: the client invented the output lengths, so they are left out. Failed rows hold 0.0, which is
    not a time: null. End-to-end time is ``latencies`` where the file has it, else the time of the last chunk.
    """
    columns = {
        key: fields.array(key)
        for key in ("input_lens", "output_lens", "ttfts", "itls", "errors", "start_times", "latencies")
    }
    rows = {len(column) for column in columns.values() if column}
    if not columns["ttfts"] or not rows:
        return None
    if len(rows) > 1 or max(rows) > MAX_ROWS:
        fields.notes.say("the per-request arrays have different lengths or too many rows: not kept")
        return None
    size = rows.pop()
    errors = columns["errors"]
    failed = [bool(error) for error in errors] if errors else [False] * size if completed == size else None
    lost = failed or [False] * size
    ttft = _times(columns["ttfts"], lost)
    output = _counts(columns["output_lens"], lost) if counted else None
    e2el = _times(columns["latencies"], lost) if columns["latencies"] else _last_chunk(ttft, columns["itls"])
    if e2el and not columns["latencies"]:
        fields.notes.say(
            "per-request end-to-end times are the time of the last chunk, a little before the end of the stream"
        )
    tpot = None
    if e2el and output:
        tpot = [
            (end - first) / (tokens - 1) if end and first and tokens and tokens > 1 and end >= first else None
            for end, first, tokens in zip(e2el, ttft, output, strict=True)
        ]
    try:
        return Samples(
            start=_starts(columns["start_times"]),
            ttft=ttft,
            tpot=tpot,
            e2el=e2el,
            input_tokens=_counts(columns["input_lens"], [False] * size),
            output_tokens=output,
            failed=failed,
        )
    except ValidationError:
        fields.notes.say("the per-request arrays hold values that no request can have: not kept")
        return None


def _time(value: Any) -> float | None:
    return (
        float(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= MAX_NUMBER
        else None
    )


def _times(column: list[Any] | None, lost: list[bool]) -> list[float | None]:
    return [None if gone else _time(value) for value, gone in zip(column or [], lost, strict=True)]


def _counts(column: list[Any] | None, lost: list[bool]) -> list[int | None] | None:
    if not column:
        return None
    return [
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT and not gone
        else None
        for value, gone in zip(column, lost, strict=True)
    ]


def _last_chunk(ttft: list[float | None], itls: list[Any] | None) -> list[float | None] | None:
    if not itls:
        return None
    return [_plus(first, gaps) for first, gaps in zip(ttft, itls, strict=True)]


def _plus(first: float | None, gaps: Any) -> float | None:
    if first is None or not isinstance(gaps, list):
        return None
    times = [as_number(gap) for gap in gaps]
    known = [time for time in times if time is not None and 0 <= time <= MAX_NUMBER]
    total = first + sum(known)
    return total if len(known) == len(times) and total <= MAX_NUMBER else None


def _starts(column: list[Any] | None) -> list[float | None] | None:
    """Seconds since the first start; the file's clock has no meaning of its own."""
    known = [_time(value) for value in column or []]
    first = min((value for value in known if value is not None), default=None)
    return None if first is None else [None if value is None else value - first for value in known]
