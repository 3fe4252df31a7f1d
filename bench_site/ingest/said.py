"""What was said beside a raw file before, and what is said now."""

from collections.abc import Mapping
from typing import Any

from runners.contract.context import parse_setting

#: Where each fact of the context goes in the report: the field's path -> the name of the option that says it.
OPTION_OF = {
    "system.pools[0].chip": "chip",
    "system.pools[0].chips": "chips",
    "system.pools[0].nodes": "nodes",
    "system.machine": "machine",
    "model.name": "model",
    "model.precision.weights": "precision",
    "engine.name": "engine",
    "engine.version": "engine_version",
    "engine.image_digest": "image_digest",
    "strategy.kernel": "strategy",
    "strategy.speculative.method": "speculative",
    "strategy.speculative.draft_tokens": "draft_tokens",
    "evidence": "evidence",
    "source.url": "source_url",
    "source.name": "source_name",
    "source.command": "command",
    "workload.input_tokens": "input_tokens",
    "workload.output_tokens": "output_tokens",
    "notes": "notes",
}
_POOL = ("chip", "chips", "nodes")

Said = dict[str, Any]
"""A context as JSON without what is not said."""


def laid_over(before: Mapping[str, Any], now: Mapping[str, Any]) -> Said:
    """``before`` with what is said ``now``: what is not mentioned again stays, tags are added.

    One way to say a thing replaces the other: ``chip`` an earlier ``pool`` and the other way round, and an option an
    earlier ``set`` of its field, which would otherwise win because settings come last.
    """
    kept = {name: value for name, value in before.items() if name not in now}
    if "pool" in now:
        kept = {name: value for name, value in kept.items() if name not in _POOL}
    elif any(name in now for name in _POOL):
        kept.pop("pool", None)
    found = {**kept, **now}
    if tags := [*before.get("tag", []), *now.get("tag", [])]:
        found["tag"] = list(dict.fromkeys(tags))
    earlier = [entry for entry in before.get("set", []) if OPTION_OF.get(_path(entry)) not in now]
    if settings := [*earlier, *now.get("set", [])]:
        # The last of one path wins, and stands where it was said.
        found["set"] = list({_path(entry): entry for entry in settings}.values())
    else:
        found.pop("set", None)
    return found


def _path(entry: str) -> str:
    steps, _ = parse_setting(entry)
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")
