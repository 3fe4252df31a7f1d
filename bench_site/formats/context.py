"""Adding what the sender says beside a file."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import ValidationError

from bench_site.formats.build import json_path
from bench_site.formats.registry import adapter_of
from runners.contract.context import Context, parse_setting
from runners.contract.problems import FieldError
from runners.contract.report import Report

#: How tools write a time without a zone.
_STAMPS = ("%Y%m%d-%H%M%S", "%Y-%m-%d_%H-%M-%S", "%Y%m%d_%H%M%S", "%Y/%m/%d %H:%M:%S")
#: Fields that make the run's identity here; changing them would store the same file twice.
_FIXED = ("id", "schema_version")
_MAX_LIST = 1_000


class ContextError(Exception):
    """What the sender said does not fit; ``errors`` names every wrong field."""

    def __init__(self, errors: list[FieldError]) -> None:
        super().__init__("; ".join(f"{error.path}: {error.message}" for error in errors))
        self.errors = errors


def apply_context(report: Report, context: Context) -> tuple[Report, list[str]]:
    """``report`` with the sender's facts, and a note for each that replaced the file's own.

    Named values first, ``set`` last; the result is validated again. Raises ContextError.
    """
    change = _Change(report)
    change.pools(context)
    change.plain(context)
    change.speculative(context)
    change.time(context)
    change.settings(context)
    return change.result(), change.notes


class _Change:
    """A report under change: plain data, the notes and the errors so far."""

    def __init__(self, report: Report) -> None:
        # The points may be a million rows: they are copied only if a setting reaches them.
        self.data: dict[str, Any] = report.model_dump(mode="json", exclude={"points"})
        self.points: Any = report.points
        self.report = report
        self.notes: list[str] = []
        self.errors: list[FieldError] = []

    def fail(self, path: str, message: str, allowed: str | None = None) -> None:
        self.errors.append(FieldError(path=path, code="invalid", message=message, allowed=allowed))

    def put(self, holder: dict[str, Any], key: str, value: Any, name: str) -> None:
        old = holder.get(key)
        if old not in (None, value, [], {}) and not (key in ("kernel", "evidence") and old in ("unknown", "measured")):
            self.notes.append(f"{name} {value} as sent replaces {old} of the file")
        holder[key] = value

    def pools(self, context: Context) -> None:
        system = self.data["system"]
        pools: list[dict[str, Any]] = system["pools"]
        if context.pool:
            try:
                words = context.pools()
            except ValueError as error:
                self.fail("context.pool", f"{error}", "ROLE:CHIP:CHIPS with a role of all, prefill, decode, ffn")
                return
            kept = {pool["role"]: pool for pool in pools}
            if pools and any(pool["chip"] or pool["chips"] for pool in pools):
                self.notes.append("the pools as sent replace those of the file")
            system["pools"] = [
                {**kept.get(word.role.value, {}), "role": word.role.value, "chip": word.chip, "chips": word.chips}
                for word in words
            ]
            return
        if not (context.chip or context.chips or context.nodes):
            return
        if not pools:
            pools.append({"role": "all"})
        if context.chip:
            for pool in pools:
                self.put(pool, "chip", context.chip, "chip")
        for key in ("chips", "nodes"):
            value = getattr(context, key)
            if value and len(pools) > 1:
                self.fail(
                    f"context.{key}",
                    f"the file has {len(pools)} pools, so one number does not say which it is for",
                    "pool=prefill:CHIP:CHIPS and pool=decode:CHIP:CHIPS",
                )
            elif value:
                self.put(pools[0], key, value, key)

    def plain(self, context: Context) -> None:
        data = self.data
        for value, holder, key, name in (
            (context.machine, data["system"], "machine", "machine"),
            (context.model, data["model"], "name", "model"),
            (context.precision, data["model"]["precision"], "weights", "precision"),
            (context.engine, data["engine"], "name", "engine"),
            (context.engine_version, data["engine"], "version", "engine version"),
            (context.image_digest, data["engine"], "image_digest", "image digest"),
            (context.strategy and context.strategy.value, data["strategy"], "kernel", "strategy"),
            (context.evidence and context.evidence.value, data, "evidence", "evidence"),
            (context.source_url, data["source"], "url", "source"),
            (context.source_name, data["source"], "name", "source"),
            (context.command, data["source"], "command", "command"),
            (context.input_tokens, data["workload"], "input_tokens", "input tokens asked"),
            (context.output_tokens, data["workload"], "output_tokens", "output tokens asked"),
            (context.notes, data, "notes", "notes"),
        ):
            if value is not None:
                self.put(holder, key, value, name)
        data["tags"] = list(dict.fromkeys([*data["tags"], *context.tag]))

    def speculative(self, context: Context) -> None:
        strategy = self.data["strategy"]
        old = strategy["speculative"]
        if context.speculative:
            # Acceptance figures of the file stay unless they are of another method.
            keep = old if old and old["method"] in ("unknown", context.speculative) else {}
            if old and not keep:
                self.notes.append(f"speculative {context.speculative} as sent replaces {old['method']} of the file")
            strategy["speculative"] = {**keep, "method": context.speculative}
        if context.draft_tokens:
            if not strategy["speculative"]:
                self.fail("context.draft_tokens", "says nothing without a method", "speculative=METHOD beside it")
            else:
                self.put(strategy["speculative"], "draft_tokens", context.draft_tokens, "draft tokens")

    def time(self, context: Context) -> None:
        if context.timezone is None:
            return
        zone = _zone(context.timezone)
        if zone is None:
            self.fail("context.timezone", f"{context.timezone!r} is no time zone", "Asia/Shanghai, UTC or +08:00")
            return
        text = self.data["started_at_text"]
        if not text:
            return
        stamp = _stamp(text)
        if stamp is None:
            self.notes.append(f"the time {text} is kept as text: it names no time of day, or not in a known way")
            return
        try:
            at = stamp.replace(tzinfo=zone) if stamp.tzinfo is None else stamp
            self._set_time(at)
        except (OverflowError, ValueError):
            self.notes.append(f"the time {text} is kept as text: it is outside the calendar")

    def _set_time(self, at: datetime) -> None:
        adapter = adapter_of(self.report.source.tool)
        duration = self.report.points[0].duration if len(self.report.points) == 1 else None
        if adapter and adapter.stamp == "end":
            # The tool writes the time when it saves, so the run began its duration earlier.
            if duration is None:
                self.notes.append("the time in the file is when it was written; when the run began is unknown")
                self.data["finished_at"] = at.isoformat()
            else:
                self.data["started_at"] = (at - timedelta(seconds=min(duration, 1e9))).isoformat()
                self.data["finished_at"] = at.isoformat()
        else:
            self.data["started_at"] = at.isoformat()
        if self.data.get("started_at"):
            self.data["started_at_text"] = None

    def settings(self, context: Context) -> None:
        for entry in context.set:
            steps, value = parse_setting(entry)
            if steps[0] in _FIXED:
                self.fail(f"context.set.{steps[0]}", "is given by the file's bytes and cannot be set")
                continue
            if steps[0] == "points" and self.points is self.report.points:
                self.points = [point.model_dump(mode="json") for point in self.report.points]
            target: Any = {**self.data, "points": self.points}
            problem = _put(target, steps, value)
            if problem:
                self.fail(json_path(steps), problem)
            self.points = target.pop("points")
            self.data = target

    def result(self) -> Report:
        if self.errors:
            raise ContextError(self.errors)
        try:
            return Report.model_validate({**self.data, "points": self.points})
        except ValidationError as error:
            raise ContextError(
                [
                    FieldError(
                        path=json_path(found["loc"]) or "report",
                        code=found["type"],
                        message=found["msg"],
                        found=str(found["input"])[:200] if isinstance(found["input"], str | int | float) else None,
                    )
                    for found in error.errors(include_url=False)
                ]
            ) from None


def _put(target: Any, steps: list[str | int], value: Any) -> str | None:
    """Set ``value`` at the path, making what is missing on the way; answers what is wrong, if anything."""
    for place, step in enumerate(steps):
        if isinstance(step, int):
            if not isinstance(target, list):
                return "is no list, so it has no numbered entry"
            if step > len(target) or step >= _MAX_LIST:
                return f"has {len(target)} entries; the next is [{len(target)}]"
            if step == len(target):
                target.append(None)
        elif not isinstance(target, dict):
            return f"is no object, so it has no {step}"
        if place == len(steps) - 1:
            target[step] = value
        else:
            inner = target.get(step) if isinstance(target, dict) else target[step]
            if inner is None:
                inner = target[step] = [] if isinstance(steps[place + 1], int) else {}
            target = inner
    return None


def _zone(name: str) -> tzinfo | None:
    if name.upper() in ("UTC", "Z"):
        return UTC
    if name[:1] in "+-":
        try:
            return datetime.strptime(name, "%z").tzinfo
        except ValueError:
            return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _stamp(text: str) -> datetime | None:
    """The time of day in ``text``; a date alone is not one."""
    for pattern in _STAMPS:
        try:
            return datetime.strptime(text, pattern)  # noqa: DTZ007 - naive on purpose, the zone is what was sent
        except ValueError:
            continue
    if len(text) <= 10:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
