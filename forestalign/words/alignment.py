"""Word links: which word of the source goes with which word of the target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class WordLink:
    """Source token i with target token j.

    >>> WordLink(0, 2) == WordLink(0, 2, score=0.5)  # a score is no part of what a link is
    True
    """

    source: int
    target: int
    score: float = field(default=1.0, compare=False)
    stage: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class WordAlignment:
    """Links sorted by (source, target), each once.

    >>> WordAlignment((WordLink(0, 2), WordLink(1, 0))).pairs
    ((0, 2), (1, 0))
    """

    links: tuple[WordLink, ...]

    def __iter__(self) -> Iterator[WordLink]:
        return iter(self.links)

    def __len__(self) -> int:
        return len(self.links)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The links as pairs of positions."""
        return tuple((link.source, link.target) for link in self.links)

    def mirrored(self) -> WordAlignment:
        """The same links with source and target swapped."""
        swapped = (WordLink(link.target, link.source, link.score, link.stage) for link in self.links)
        return WordAlignment(tuple(sorted(swapped)))


NO_LINKS = WordAlignment(())
