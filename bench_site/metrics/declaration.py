"""What a metric is: one declaration that names it, says its unit, which way is better, its noise and its formula."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Direction(StrEnum):
    """Which way is better; NEITHER for figures that describe the load and cannot win."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


#: The known facts of one point in the contract's units, by name (see facts.py). An unknown fact is absent.
Facts = Mapping[str, float]
Compute = Callable[[Facts], float | None]


def _(msgid: str) -> str:
    """Mark ``msgid`` for extraction. The pages translate it; this package knows no Django."""
    return msgid


gettext_noop = _


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric.

    ``title`` and ``short`` are English msgids. Values are kept in ``unit`` and shown as value x ``scale`` in
    ``display_unit``. ``floor`` is the relative difference that replicates show anyway (0.035 = 3.5 %) until it has been
    learnt from replicates of the same machine; ``floor_source`` says where it was read. ``formula`` is the docstring of
    the function that computes it. ``example`` are facts and the result, checked by the tests and printed in the docs.
    """

    name: str
    title: str
    short: str
    unit: str
    direction: Direction
    floor: float
    floor_source: str
    family: str
    formula: str
    compute: Compute
    example: tuple[Facts, float | None] = field(repr=False)
    display_unit: str
    scale: float = 1.0

    def better(self, a: float, b: float) -> bool:
        """Whether ``a`` is better than ``b``; equal values, and metrics without a direction, are not."""
        if self.direction is Direction.HIGHER:
            return a > b
        if self.direction is Direction.LOWER:
            return a < b
        return False

    def shown(self, value: float) -> float:
        """``value`` in ``display_unit``."""
        return value * self.scale

    def improvement(self, new: float, old: float) -> float | None:
        """How much better ``new`` is, as a speed ratio: 1.4 is 40 % better, below 1 is worse.

        new / old where higher is better, old / new where lower is; None without a direction or when a value is not
        positive.
        """
        if self.direction is Direction.NEITHER or new <= 0 or old <= 0:
            return None
        return new / old if self.direction is Direction.HIGHER else old / new


def metric(
    *,
    title: str,
    short: str,
    unit: str,
    direction: Direction,
    floor: tuple[float, str],
    family: str,
    example: tuple[Facts, float | None],
    display: tuple[str, float] | None = None,
    name: str = "",
) -> Callable[[Compute], Metric]:
    """Declare the decorated function as a metric; its docstring is the formula, its name the metric's."""

    def declare(compute: Compute) -> Metric:
        display_unit, scale = display or (unit, 1.0)
        return Metric(
            name=name or compute.__name__,
            title=title,
            short=short,
            unit=unit,
            direction=direction,
            floor=floor[0],
            floor_source=floor[1],
            family=family,
            formula=" ".join((compute.__doc__ or "").split()),
            compute=compute,
            example=example,
            display_unit=display_unit,
            scale=scale,
        )

    return declare


def ratio(top: float | None, bottom: float | None) -> float | None:
    """``top / bottom``; None when one is unknown, the divisor is not positive or the result is not a number."""
    if top is None or bottom is None or bottom <= 0:
        return None
    result = top / bottom
    return result if math.isfinite(result) else None
