"""The Pareto frontier, and thinning what is drawn."""

from collections.abc import Collection, Sequence

#: A point with an unknown coordinate has None.
Pair = tuple[float | None, float | None]


def frontier(points: Sequence[Pair], x_direction: str = "higher", y_direction: str = "higher") -> list[int]:
    """The indices of the points that no other beats, ordered by x ascending.

    A point is beaten by one at least as good in both directions and better in one. Equal points are on the frontier
    together. Directions are "higher" or "lower" (is better). Points with an unknown or not-a-number coordinate never
    enter. O(n log n).
    """
    across, up = _sign(x_direction), _sign(y_direction)
    known = [
        (across * x, up * y, index)
        for index, (x, y) in enumerate(points)
        if x is not None and y is not None and x == x and y == y  # a value that differs from itself is NaN
    ]
    # Best x first; of equal x the best y first. What follows is on the frontier if it beats every y seen so far, or
    # equals the last point kept in both.
    known.sort(key=lambda p: (-p[0], -p[1], p[2]))
    kept: list[tuple[float, float, int]] = []
    for point in known:
        if not kept or point[1] > kept[-1][1] or point[:2] == kept[-1][:2]:
            kept.append(point)
    return [index for _, _, index in sorted(kept, key=lambda p: (across * p[0], p[2]))]


def _sign(direction: str) -> int:
    if direction not in ("higher", "lower"):
        raise ValueError(f'direction {direction!r}: "higher" or "lower" is better')
    return 1 if direction == "higher" else -1


def thin(points: Sequence[tuple[float, float]], n: int, keep: Collection[int] = ()) -> list[int]:
    """The indices, ascending, of about ``n`` points that draw the same line; all of them if there are no more.

    Largest-triangle-three-buckets: first and last stay, and from each bucket the point that spans the largest triangle
    with the one kept before and the next bucket's mean. The points ``keep`` (a frontier, say) always stay, beyond ``n``
    if need be. Deterministic.
    """
    count = len(points)
    if n < 2:
        raise ValueError(f"thinning to {n}: a line needs at least 2 points")
    if count <= n:
        return list(range(count))
    kept = {0, count - 1, *keep}
    last = 0
    for bucket in range(n - 2):
        start, end = _bucket(bucket, count, n), _bucket(bucket + 1, count, n)
        after = points[end : _bucket(bucket + 2, count, n)] or points[-1:]
        mean = (sum(x for x, _ in after) / len(after), sum(y for _, y in after) / len(after))
        last = max(range(start, end), key=lambda i: (_area(points[last], points[i], mean), -i))
        kept.add(last)
    return sorted(kept)


def _bucket(number: int, count: int, n: int) -> int:
    """The index at which bucket ``number`` of ``n - 2`` begins, first and last point apart."""
    return min(count - 1, 1 + number * (count - 2) // (n - 2))


def _area(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return abs((a[0] - c[0]) * (b[1] - a[1]) - (a[0] - b[0]) * (c[1] - a[1])) / 2
