"""From posteriors to probabilities: isotonic regression on held-out pairs, and how far off the result is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Point = tuple[float, float]
DIGITS = 4  # in which posteriors are told apart


def isotonic(observed: Sequence[Point], bins: int = 20) -> tuple[Point, ...]:
    """A rising curve through (posterior, share of right): bins of equal size, pooled where they would fall.

    >>> isotonic([(0.0, 0.0), (0.5, 1.0), (1.0, 1.0)], bins=3)
    ((0.0, 0.0), (0.5, 1.0), (1.0, 1.0))
    """
    ordered = sorted(observed)
    blocks = [
        (np.mean([x for x, _ in part]), np.mean([y for _, y in part]), len(part)) for part in _parts(ordered, bins)
    ]
    pooled: list[tuple[float, float, int]] = []
    for x, y, count in blocks:
        pooled.append((float(x), float(y), count))
        while len(pooled) > 1 and pooled[-2][1] > pooled[-1][1]:
            pooled[-2:] = [_joined(*pooled[-2:])]
    return _ends([(x, y) for x, y, _ in pooled])


def _parts(ordered: list[Point], bins: int) -> list[list[Point]]:
    """Bins of equal size; equal posteriors stay together."""
    size = max(1, len(ordered) // bins)
    parts: list[list[Point]] = []
    for point in ordered:
        if parts and (len(parts[-1]) < size or parts[-1][-1][0] == point[0]):
            parts[-1].append(point)
        else:
            parts.append([point])
    return parts


def _joined(one: tuple[float, float, int], other: tuple[float, float, int]) -> tuple[float, float, int]:
    count = one[2] + other[2]
    return (one[0] * one[2] + other[0] * other[2]) / count, (one[1] * one[2] + other[1] * other[2]) / count, count


def _ends(points: list[Point]) -> tuple[Point, ...]:
    """The curve from 0 to 1; of points that a file would not tell apart the last."""
    points = list({round(x, DIGITS): y for x, y in points}.items())
    if points[0][0] > 0.0:
        points = [(0.0, 0.0), *points]
    if points[-1][0] < 1.0:
        points = [*points, (1.0, points[-1][1])]
    return tuple(points)


def reliability(predicted: Sequence[Point], bins: int = 10) -> list[tuple[float, float, int]]:
    """Mean probability, share of right and number, over bins of equal width; empty bins are left out."""
    values = np.array(predicted).reshape(-1, 2)
    places = np.minimum((values[:, 0] * bins).astype(int), bins - 1)
    return [
        (float(rows[:, 0].mean()), float(rows[:, 1].mean()), len(rows))
        for rows in (values[places == k] for k in np.unique(places))
    ]


def calibration_error(predicted: Sequence[Point], bins: int = 10) -> float:
    """Expected calibration error: mean distance of probability and share of right, over bins of equal width.

    >>> calibration_error([(0.75, 1.0), (0.75, 1.0), (0.75, 1.0), (0.75, 0.0)])
    0.0
    """
    gaps = [abs(probability - right) * count for probability, right, count in reliability(predicted, bins)]
    return sum(gaps) / max(len(predicted), 1)
