"""The breakdowns of Table 3 and 4 of Yao et al. (2013, phrase paper) as their program computed them.

Overall P, R, F1 and E are per pair and averaged, as they should be; but the counters behind the breakdowns
(identical and non-identical, token and phrase) are never set back to 0, so each pair adds the ratio over all pairs so
far, and the order of the file matters. The sum is divided by the number of pairs that have any cell of the kind
(identical words anywhere in the two sentences; token or phrase blocks in the gold). Blocks are found greedily: the
first linked cell of a row grows down, then right, in turns, while the rectangle is full; the rows it covers are done,
and further links of these rows are not seen. Any ratio over nothing is 0.

Kept to reproduce published numbers; `forestalign.evaluation.word_scores` has the right ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forestalign.errors import UsageError
from forestalign.evaluation.counts import Score
from forestalign.evaluation.word_scores import GoldLinks, Links

Rectangle = tuple[int, int, int, int]  # source begin, source end, target begin, target end


@dataclass(slots=True)
class _RunningAverage:
    """Counters that live through the whole corpus, and the sums of what they showed after each pair."""

    hits: int = 0
    given: int = 0
    asked: int = 0
    precision: float = 0.0
    recall: float = 0.0
    pair_count: int = 0

    def add(self, hits: int, given: int, asked: int, counts: bool) -> None:
        self.hits, self.given, self.asked = self.hits + hits, self.given + given, self.asked + asked
        self.precision += self.hits / self.given if self.given else 0.0
        self.recall += self.hits / self.asked if self.asked else 0.0
        self.pair_count += counts

    def scores(self, name: str) -> tuple[Score, ...]:
        pairs = self.pair_count or 1
        return _named(name, self.precision / pairs, self.recall / pairs)


def legacy_scores(gold: Sequence[GoldLinks], system: Sequence[Links]) -> tuple[Score, ...]:
    """P, R, F1, E and the two breakdowns, sure links, in the order of the file."""
    if not all(pair.source and pair.target for pair in gold):
        raise UsageError("legacy scores need the words of both sentences of every pair")
    return (*_overall(gold, system), *_identical_breakdown(gold, system), *_block_breakdown(gold, system))


def _overall(gold: Sequence[GoldLinks], system: Sequence[Links]) -> tuple[Score, ...]:
    precision = recall = exact = 0.0
    for pair, given in zip(gold, system, strict=True):
        hits = len(pair.sure & given)
        precision += hits / len(given) if given else 0.0
        recall += hits / len(pair.sure) if pair.sure else 0.0
        exact += pair.sure == given
    pairs = len(gold) or 1
    return (*_named("", precision / pairs, recall / pairs), Score("E", exact / pairs))


def _identical_breakdown(gold: Sequence[GoldLinks], system: Sequence[Links]) -> tuple[Score, ...]:
    identical, other = _RunningAverage(), _RunningAverage()
    for pair, given in zip(gold, system, strict=True):
        cells = {(i, j) for i, left in enumerate(pair.source) for j, right in enumerate(pair.target) if left == right}
        identical.add(len(pair.sure & given & cells), len(given & cells), len(pair.sure & cells), bool(cells))
        has_other = len(cells) < len(pair.source) * len(pair.target)
        other.add(len((pair.sure & given) - cells), len(given - cells), len(pair.sure - cells), has_other)
    return (*identical.scores("identical "), *other.scores("non-identical "))


def _block_breakdown(gold: Sequence[GoldLinks], system: Sequence[Links]) -> tuple[Score, ...]:
    token, phrase = _RunningAverage(), _RunningAverage()
    for pair, given in zip(gold, system, strict=True):
        wanted_blocks = rectangles(pair.sure, len(pair.source), len(pair.target))
        given_blocks = rectangles(given, len(pair.source), len(pair.target))
        for average, kind in ((token, True), (phrase, False)):
            wanted = {block for block in wanted_blocks if _is_token(block) == kind}
            found = {block for block in given_blocks if _is_token(block) == kind}
            average.add(len(wanted & found), len(found), len(wanted), bool(wanted))
    return (*token.scores("token "), *phrase.scores("phrase "))


def rectangles(links: Links, source_count: int, target_count: int) -> frozenset[Rectangle]:
    """Full rectangles of links, found greedily from the first linked cell of each row."""
    found, row = set(), 0
    while row < source_count:
        columns = [target for source, target in links if source == row]
        if not columns:
            row += 1
            continue
        rectangle = _grow(links, row, min(columns), source_count, target_count)
        found.add(rectangle)
        row = rectangle[1]
    return frozenset(found)


def _grow(links: Links, row: int, column: int, source_count: int, target_count: int) -> Rectangle:
    row_end, column_end, down, right = row + 1, column + 1, True, True
    while down or right:
        if down:
            down = row_end < source_count and all((row_end, j) in links for j in range(column, column_end))
            row_end += down
        if right:
            right = column_end < target_count and all((i, column_end) in links for i in range(row, row_end))
            column_end += right
    return row, row_end, column, column_end


def _is_token(rectangle: Rectangle) -> bool:
    row, row_end, column, column_end = rectangle
    return row_end - row == column_end - column == 1


def _named(name: str, precision: float, recall: float) -> tuple[Score, ...]:
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return Score(f"{name}P", precision), Score(f"{name}R", recall), Score(f"{name}F1", f1)
