"""One set of links from two directions: the heuristics of phrase-based translation (section 3.3 of the token paper).

`grow` starts from the intersection and adds, again and again until nothing changes, links of the union that stand next
to a link (left, right, above, below) and whose source or target word has no link yet; `grow-diag` also looks at the
four diagonals. `final` then adds the remaining links of either direction whose source or target word is free (first
those of source to target), `final-and` those whose words are both free.

Departure from the published program, where `grow-diag` was a single sweep and the final steps looked only at cells that
were already linked, so that they did nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from forestalign.errors import UsageError

Link = tuple[int, int]
METHODS = ("intersection", "union", "grow", "grow-diag", "grow-diag-final", "grow-diag-final-and")
_STRAIGHT = ((-1, 0), (0, -1), (1, 0), (0, 1))
_DIAGONAL = ((-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrise(forward: Collection[Link], backward: Collection[Link], method: str) -> tuple[Link, ...]:
    """Sorted links. Both directions are given as (source, target)."""
    if method not in METHODS:
        raise UsageError(f"no symmetrisation is called {method!r}; there are: {', '.join(METHODS)}")
    forward, backward = set(forward), set(backward)
    if method == "union":
        return tuple(sorted(forward | backward))
    links = _Growing(forward & backward)
    if method.startswith("grow"):
        links.grow(forward | backward, _STRAIGHT + _DIAGONAL if "diag" in method else _STRAIGHT)
    if "final" in method:
        for direction in (forward, backward):
            links.finish(direction, both_free=method.endswith("and"))
    return tuple(sorted(links.links))


class _Growing:
    """Links, and which words they touch."""

    def __init__(self, links: Iterable[Link]):
        self.links = set(links)
        self._sources = {i for i, _ in self.links}
        self._targets = {j for _, j in self.links}

    def grow(self, union: set[Link], neighbours: tuple[Link, ...]) -> None:
        """Sweep over the links, in order and with those added on the way, until a sweep adds none."""
        grown = True
        while grown:
            grown = False
            for i, j in sorted(union):
                if (i, j) not in self.links:
                    continue
                for down, right in neighbours:
                    link = (i + down, j + right)
                    if link in union and link not in self.links and self._is_open(link):
                        self._add(link)
                        grown = True

    def finish(self, direction: set[Link], both_free: bool) -> None:
        for link in sorted(direction):
            i, j = link
            free = i not in self._sources and j not in self._targets if both_free else self._is_open(link)
            if free and link not in self.links:
                self._add(link)

    def _is_open(self, link: Link) -> bool:
        return link[0] not in self._sources or link[1] not in self._targets

    def _add(self, link: Link) -> None:
        self.links.add(link)
        self._sources.add(link[0])
        self._targets.add(link[1])
