"""The links of a pair of sentences while the stages add to them."""

from __future__ import annotations

from collections.abc import Sequence

from forestalign.words.alignment import WordAlignment, WordLink


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
        """Whether neither word has a link yet."""
        return source not in self.sources and target not in self.targets

    def add(self, source: int, target: int, stage: str, score: float = 1.0) -> None:
        """A link found before keeps its stage."""
        if (source, target) not in self._links:
            self._links[source, target] = WordLink(source, target, score, stage)
        self.sources.add(source)
        self.targets.add(target)

    def alignment(self) -> WordAlignment:
        """The links so far, in order."""
        return WordAlignment(tuple(link for _, link in sorted(self._links.items())))


def common_runs(left: Sequence[str], right: Sequence[str], smallest: int = 1) -> list[tuple[int, int, int]]:
    """Maximal common runs of two word lists as (left begin, right begin, length), longest first.

    Runs of one length are ordered by their begin in the shorter list (the left one when equal), then in the other. A
    run is left out if both its ranges lie inside those of a run found before, not necessarily on one diagonal.
    """
    found: list[tuple[int, int, int]] = []  # a part of a run lies inside it, so only whole ones are asked about
    places: dict[str, list[int]] = {}
    for j, word in enumerate(right):
        places.setdefault(word, []).append(j)
    following: dict[int, int] = {}  # length of the run that begins with the next left word, by right word
    for i in range(len(left) - 1, -1, -1):
        following = {j: following.get(j + 1, 0) + 1 for j in places.get(left[i], ())}
        for j, length in following.items():
            if length >= smallest and (i == 0 or j == 0 or left[i - 1] != right[j - 1]):
                found.append((i, j, length))
    runs: list[tuple[int, int, int]] = []
    by_right = len(right) < len(left)
    for i, j, length in sorted(found, key=lambda run: (-run[2], run[1], run[0]) if by_right else (-run[2], *run[:2])):
        if not any(a <= i and i + length <= a + n and b <= j and j + length <= b + n for a, b, n in runs):
            runs.append((i, j, length))
    return runs
