"""The links of a pair of sentences while the stages add to them."""

from __future__ import annotations

from collections.abc import Sequence

from forestalign.alignment import WordAlignment, WordLink


class Links:
    """Links in the order of their discovery, and which tokens they have taken."""

    def __init__(self) -> None:
        self._links: dict[tuple[int, int], WordLink] = {}
        self.sources: set[int] = set()
        self.targets: set[int] = set()

    def __contains__(self, pair: object) -> bool:
        return pair in self._links

    def __len__(self) -> int:
        return len(self._links)

    def are_free(self, source: int, target: int) -> bool:
        return source not in self.sources and target not in self.targets

    def add(self, source: int, target: int, stage: str, score: float = 1.0) -> None:
        """A link found before keeps its stage."""
        self._links.setdefault((source, target), WordLink(source, target, score, stage))
        self.sources.add(source)
        self.targets.add(target)

    def alignment(self) -> WordAlignment:
        return WordAlignment(tuple(sorted(self._links.values())))


def common_runs(left: Sequence[str], right: Sequence[str], smallest: int = 1) -> list[tuple[int, int, int]]:
    """Maximal common runs of two word lists as (left begin, right begin, length), longest first.

    Runs of one length are ordered by their begin in the shorter list (the left one when equal), then in the other. A
    run is left out if both its ranges lie inside those of a run found before, not necessarily on one diagonal.
    """
    lengths: dict[int, list[tuple[int, int]]] = {}
    following = [0] * (len(right) + 1)
    for i in range(len(left) - 1, -1, -1):
        current = [0] * (len(right) + 1)
        for j in range(len(right) - 1, -1, -1):
            if left[i] == right[j]:
                current[j] = following[j + 1] + 1
                for length in range(smallest, current[j] + 1):
                    lengths.setdefault(length, []).append((i, j))
        following = current
    runs: list[tuple[int, int, int]] = []
    by_right = len(right) < len(left)
    for length in sorted(lengths, reverse=True):
        for i, j in sorted(lengths[length], key=lambda begin: (begin[1], begin[0]) if by_right else begin):
            if not any(a <= i and i + length <= a + n and b <= j and j + length <= b + n for a, b, n in runs):
                runs.append((i, j, length))
    return runs
