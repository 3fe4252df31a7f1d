"""What a raw file lacks: said by the sender beside the file, as options of ``fuseboard push`` and as URL parameters of
``POST /api/v1/uploads`` under the same names (``--chip h200`` is ``chip=h200``; ``-`` becomes ``_``).
"""

import json
import re
from typing import Annotated, Any

from pydantic import Field, StringConstraints, field_validator

from runners.contract.types import Line, Name, Notes, Part, PositiveCount
from runners.contract.vocabulary import Evidence, KernelStrategy, PoolRole

_STEP = re.compile(r"([A-Za-z_]\w*)|\[(\d{1,4})\]|(\d{1,4})")


class PoolWords(Part):
    """One pool as ``ROLE:CHIP:CHIPS``."""

    role: PoolRole
    chip: Name
    chips: PositiveCount


class Context(Part):
    """Facts about a raw file's runs that the file does not hold.

    A value given here wins over the file's own, and the receipt says so. ``set`` entries (``PATH=VALUE``, the value as
    JSON or else as text) come last and reach any field of the report, e.g. ``workload.prefix_cache=false``.
    """

    chip: Name | None = None
    chips: PositiveCount | None = None
    nodes: PositiveCount | None = None
    pool: list[Annotated[str, StringConstraints(pattern=r"^[a-z]+:[^:\x00]+:[1-9]\d{0,9}$")]] = Field(
        default_factory=list, max_length=32
    )
    machine: Name | None = None
    model: Name | None = None
    precision: Name | None = None
    engine: Name | None = None
    engine_version: Name | None = None
    image_digest: Name | None = None
    strategy: KernelStrategy | None = None
    speculative: Name | None = None
    draft_tokens: PositiveCount | None = None
    evidence: Evidence | None = None
    source_url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s\x00]+$", max_length=2_000)] | None = None
    source_name: Line | None = None
    timezone: Name | None = None
    input_tokens: PositiveCount | None = None
    output_tokens: PositiveCount | None = None
    command: Notes | None = None
    tag: list[Name] = Field(default_factory=list, max_length=50)
    notes: Notes | None = None
    set: list[Line] = Field(default_factory=list, max_length=100)

    @field_validator("set")
    @classmethod
    def _paths(cls, entries: list[str]) -> list[str]:
        for entry in entries:
            parse_setting(entry)
        return entries

    def pools(self) -> list[PoolWords]:
        """The ``pool`` entries taken apart; raises ValueError naming an unknown role."""
        return [
            PoolWords(role=PoolRole(role), chip=chip, chips=int(chips))
            for role, chip, chips in (entry.split(":") for entry in self.pool)
        ]

    def as_query(self) -> list[tuple[str, str]]:
        """The context as URL parameters, lists repeated."""
        given = self.model_dump(mode="json", exclude_defaults=True)
        return [
            (key, str(item)) for key, value in given.items() for item in (value if isinstance(value, list) else [value])
        ]


def parse_setting(entry: str) -> tuple[list[str | int], Any]:
    """``system.pools[0].chips=8`` as (["system", "pools", 0, "chips"], 8); raises ValueError naming what is wrong."""
    path, equals, text = entry.partition("=")
    if not equals or not path.strip():
        raise ValueError(f"{entry!r} is not PATH=VALUE, e.g. workload.prefix_cache=false")
    steps: list[str | int] = []
    for part in path.strip().split("."):
        found = _STEP.findall(part)
        if not found or "".join(a or (f"[{b}]" if b else c) for a, b, c in found) != part:
            raise ValueError(f"{path!r} is not a path such as system.pools[0].chips")
        steps += [a or int(b or c) for a, b, c in found]
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):  # "[[[[..." is text that someone sent, not a crash
        value = text
    return steps, value
