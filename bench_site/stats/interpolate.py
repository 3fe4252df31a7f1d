"""Values between measured loads. Outside the measured range there is none: "not measured", never clamped.

Interpolate throughput and derive cost from it, not the other way round.
"""

import itertools
from collections.abc import Sequence


def interpolate(points: Sequence[tuple[float, float]], x: float) -> float | None:
    """y at ``x`` on the straight lines between neighbours in x; None outside the measured range or without points.

    Raises ValueError when two points share an x: no load shows its best replicate, so it must be decided before.
    """
    ordered = sorted(points)
    for (left, _), (right, _) in itertools.pairwise(ordered):
        if left == right:
            raise ValueError(f"two points at x = {left}")
    if len(ordered) == 1:
        return ordered[0][1] if ordered[0][0] == x else None
    found = along(ordered, x)
    return found[0] if found else None


def along(points: Sequence[tuple[float, float]], x: float) -> list[float]:
    """Every y at which the line through ``points`` in the given order (that of the loads) passes ``x``.

    Along a curve x may turn back (interactivity does not always fall with the load): then there are several, and the
    caller chooses by the metric's direction. Empty outside the measured range.
    """
    found = [y for px, y in points if px == x]
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if min(x0, x1) < x < max(x0, x1):
            share = (x - x0) / (x1 - x0)
            # Both ends weighted, so that rounding cannot leave the range of the two.
            found.append(min(max(y0 * (1 - share) + y1 * share, min(y0, y1)), max(y0, y1)))
    return found
