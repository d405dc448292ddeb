"""The sentences of two versions of a text paired, many to many and in any order.

1. Sentences that are the same are paired first, by what they say alone: in order where the text allows it, and
   otherwise wherever they went.
2. A program over the others pairs one sentence with one, with two or three, or two or three with one, in order, so that
   the sum of (likeness - LEAST_LIKE) is largest. It looks at a band around the diagonal, so its work grows with the
   length of the texts. A pair that has all the same moved, seen beside the first ones, has to be more alike.
3. What is left over on both sides is assigned, wherever it stands, so that the sum of likenesses is largest; then two
   sentences that stand alone between the same neighbours are paired, unless they have nothing in common.

A pair is moved if it is not on the heaviest sequence that both texts have in common.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from forestalign.aligner import Aligner
from forestalign.arrays import FloatArray, Int8Array, IntArray
from forestalign.texts.sentence_likeness import LONGEST_STRETCH, Likeness

LEAST_LIKE = 0.25  # likeness of a pair in its place: less is what unrelated sentences of one text have
LEAST_ALONE = (
    0.1  # of two sentences that stand alone between the same neighbours; of 98 unrelated ones in 100 it is less
)
LEAST_MOVED = 0.45  # of a pair elsewhere: there are many more that it could be by chance
MOST_PARTNERS = 50  # elsewhere, of one sentence
JOIN = 0.03  # by which a second or third sentence has to make a pair more alike
BAND = 400  # sentences to both sides of the diagonal
STEPS = ((1, 1), (1, 2), (1, 3), (2, 1), (3, 1))
_SKIP_SOURCE, _SKIP_TARGET = -1, -2
_TINY = 1e-6  # the matching takes no costs of zero
Numbers = tuple[int, int]
Stretches = tuple[Numbers, Numbers]
Free = tuple[list[int], list[int]]  # numbers in both texts of the sentences without an equal


class SentencePair(NamedTuple):
    """Numbers of the sentences of both sides, half-open; an empty side has no partner."""

    source: Numbers
    target: Numbers
    is_same: bool = False  # word for word
    is_moved: bool = False

    @property
    def has_both(self) -> bool:
        """Whether neither side is empty."""
        return self.source[0] < self.source[1] and self.target[0] < self.target[1]


def pair_sentences(source: Sequence[str], target: Sequence[str], aligner: Aligner | None = None) -> list[SentencePair]:
    """All sentences of both sides, by the order of the target; what was deleted follows what it followed.

    With an aligner the vectors of its encoder count; it is not asked where all sentences have the same on the other
    side.
    """
    same = [SentencePair((i, i + 1), (j, j + 1), True) for i, j in _same_sentences(source, target)]
    left = _without(len(source), (pair.source[0] for pair in same)), _without(len(target), (p.target[0] for p in same))
    free = _few_copies(left[0], source, len(left[1])), _few_copies(left[1], target, len(left[0]))
    pairs = _like_pairs(source, target, same, free, aligner) if all(free) else same
    return _in_order(_with_moves(pairs, target), len(source), len(target))


def _few_copies(numbers: Sequence[int], texts: Sequence[str], most: int) -> list[int]:
    """The numbers of sentences, of copies of one the first `most`: more cannot have partners of their own."""
    seen: Counter[str] = Counter()
    kept = []
    for number in numbers:
        seen[texts[number]] += 1
        if seen[texts[number]] <= most:
            kept.append(number)
    return kept


def _without(count: int, taken: Iterable[int]) -> list[int]:
    known = set(taken)
    return [number for number in range(count) if number not in known]


# ---- the same sentences ----


def _same_sentences(source: Sequence[str], target: Sequence[str]) -> list[Numbers]:
    """Pairs of equal sentences: those that occur once, then their neighbours, then others from first to last."""
    counts = Counter(source), Counter(target)
    places = {text: number for number, text in enumerate(target)}
    found = {
        number: places[text] for number, text in enumerate(source) if counts[0][text] == 1 and counts[1][text] == 1
    }
    taken = set(found.values())
    for step in (1, -1):  # sentences that occur often are paired beside those that occur once
        for begin in sorted(found, reverse=step < 0):
            i, j = begin + step, found[begin] + step
            while _is_free(i, j, source, target, found, taken):
                found[i] = j
                taken.add(j)
                i, j = i + step, j + step
    waiting: dict[str, deque[int]] = defaultdict(deque)
    for number in _without(len(target), taken):
        waiting[target[number]].append(number)
    for number in _without(len(source), found):
        if queue := waiting.get(source[number]):
            found[number] = queue.popleft()
    return sorted(found.items())


def _is_free(
    i: int, j: int, source: Sequence[str], target: Sequence[str], found: dict[int, int], taken: set[int]
) -> bool:
    inside = 0 <= i < len(source) and 0 <= j < len(target)
    return inside and i not in found and j not in taken and source[i] == target[j]


# ---- sentences that are alike ----


def _like_pairs(
    source: Sequence[str], target: Sequence[str], same: list[SentencePair], free: Free, aligner: Aligner | None
) -> list[SentencePair]:
    """The pairs of the same sentences, and those of sentences that have no equal on the other side."""
    likeness = Likeness([source[i] for i in free[0]], [target[j] for j in free[1]], aligner)
    ordered = list(_paired_in_order(likeness, free))
    moves = _with_moves(same + [_in_texts(each, free) for each in ordered], target)
    moved = {(pair.source, pair.target) for pair in moves if pair.is_moved}
    kept = [each for each in ordered if _in_texts(each, free)[:2] not in moved or likeness.of(*each) >= LEAST_MOVED]
    found = same + [_in_texts(each, free) for each in kept + _paired_anywhere(likeness, kept, free)]
    return found + list(_paired_alone(likeness, found, free, (len(source), len(target))))


def _paired_alone(
    likeness: Likeness, found: Sequence[SentencePair], free: Free, counts: Numbers
) -> Iterator[SentencePair]:
    """Pairs of what is left over, one sentence on each side, between neighbours that are pairs: a free paraphrase."""
    behind = {pair.source[1]: pair.target[1] for pair in found} | {0: 0}
    before = {pair.source[0]: pair.target[0] for pair in found} | {counts[0]: counts[1]}
    taken = {j for pair in found for j in range(*pair.target)}
    covered = {i for pair in found for i in range(*pair.source)}
    places = {j: place for place, j in enumerate(free[1])}
    for k, i in enumerate(free[0]):
        j = behind.get(i, -1)
        if i in covered or j in taken or j not in places or before.get(i + 1) != j + 1:
            continue
        place = places[j]
        if likeness.of((k, k + 1), (place, place + 1)) >= LEAST_ALONE:
            yield SentencePair((i, i + 1), (j, j + 1))


def _in_texts(sides: Stretches, free: Free) -> SentencePair:
    """A pair by the numbers that its sentences have in the texts."""
    (a, b), (c, d) = sides
    return SentencePair((free[0][a], free[0][b - 1] + 1), (free[1][c], free[1][d - 1] + 1))


def _paired_in_order(likeness: Likeness, free: Free) -> Iterator[Stretches]:
    """The best pairs in order, the last one first.

    best(i, j) = max of best(i - 1, j), best(i, j - 1), best(i - a, j - b) + like(a, b) - LEAST_LIKE - JOIN (a + b - 2)
    """
    rows, columns = likeness.counts
    runs = _runs(free[0]), _runs(free[1])
    best = [np.where(np.arange(columns + 1) <= _band(0, rows, columns)[1], 0.0, -np.inf)]
    choices: list[tuple[int, Int8Array]] = []
    for i in range(1, rows + 1):
        low, high = _band(i, rows, columns)
        lengths = range(1, min(LONGEST_STRETCH, int(runs[0][i - 1])) + 1)
        likes = [likeness.row(i - 1, length, low, high) for length in lengths]
        row, choice = _next_row(best, likes, runs[1], (low, high))
        best = [*best[-(LONGEST_STRETCH - 1) :], row]
        choices.append((low, choice))
    return _trace_back(choices, columns)


def _next_row(
    best: Sequence[FloatArray], likes: Sequence[Sequence[FloatArray]], runs: IntArray, band: Numbers
) -> tuple[FloatArray, Int8Array]:
    """The scores after one more source sentence, inside the band; and which step led to each place of the band."""
    low, high = band
    row = np.full(len(best[-1]), -np.inf)
    row[low : high + 1] = best[-1][low : high + 1]
    choice = np.full(high + 1 - low, _SKIP_SOURCE, np.int8)
    for number, (a, b) in enumerate(STEPS):
        if a > len(likes) or high - low < b:
            continue
        gain = likes[a - 1][b - 1][b - 1 :] - LEAST_LIKE - JOIN * (a + b - 2)
        gain = np.where(runs[low + b - 1 : high] >= b, gain, -np.inf)
        score = best[-a][low : high + 1 - b] + gain
        place = slice(low + b, high + 1)
        better = score > row[place]
        row[place][better] = score[better]
        choice[b:][better] = number
    reached = np.maximum.accumulate(row[low : high + 1])
    choice[reached > row[low : high + 1]] = _SKIP_TARGET
    row[low : high + 1] = reached
    return row, choice


def _band(i: int, rows: int, columns: int) -> Numbers:
    """The first and the last place of a row that are looked at."""
    middle, half = i * columns // rows, max(BAND, columns // rows + 1)
    return max(middle - half, 0), min(middle + half, columns)


def _runs(numbers: Sequence[int]) -> IntArray:
    """How many numbers that follow each other end with each."""
    runs = np.ones(len(numbers), np.int64)
    for k in range(1, len(numbers)):
        if numbers[k] == numbers[k - 1] + 1:
            runs[k] = runs[k - 1] + 1
    return runs


def _trace_back(choices: Sequence[tuple[int, Int8Array]], columns: int) -> Iterator[Stretches]:
    """The steps that led to the end, the last one first."""
    i, j = len(choices), columns
    while i and j:
        low, choice = choices[i - 1]
        step = int(choice[j - low])
        if step == _SKIP_SOURCE:
            i -= 1
        elif step == _SKIP_TARGET:
            j -= 1
        else:
            a, b = STEPS[step]
            yield (i - a, i), (j - b, j)
            i, j = i - a, j - b


# ---- sentences that moved ----


def _paired_anywhere(likeness: Likeness, found: Sequence[Stretches], free: Free) -> list[Stretches]:
    """What is in no pair yet, assigned so that the sum of likenesses is largest; then grown by free neighbours."""
    own = _without(len(free[0]), (i for source, _ in found for i in range(*source)))
    other = np.array(_without(len(free[1]), (j for _, target in found for j in range(*target))), np.int64)
    if not own or not len(other):
        return []
    columns = likeness.counts[1]
    costs = sparse.lil_matrix((len(own), len(other) + len(own)))
    before = -1
    for k, i in enumerate(own):
        if before < 0 or not likeness.are_copies(before, i):
            row = likeness.row(i, 1, 0, columns)[0][other]
        before = i
        for place in _likeliest(row, len(other) * k // len(own)):
            costs[k, place] = 1.0 + _TINY - min(row[place], 1.0)
        costs[k, len(other) + k] = 1.0 + _TINY - LEAST_MOVED  # to stay alone
    chosen = zip(*min_weight_full_bipartite_matching(costs.tocsr()), strict=True)
    matched = [(own[k], int(other[place])) for k, place in chosen if place < len(other)]
    return _grown(likeness, matched, (set(own), set(map(int, other))), free)


def _likeliest(row: FloatArray, place: int) -> IntArray:
    """The partners that a sentence may have elsewhere: of many the most alike, of equals the nearest to a place.

    Texts of few different words would otherwise take memory that grows with the square of their lengths.
    """
    likely = np.flatnonzero(row >= LEAST_MOVED)
    if len(likely) <= MOST_PARTNERS:
        return likely
    return np.sort(likely[np.lexsort((abs(likely - place), -row[likely]))[:MOST_PARTNERS]])


def _grown(
    likeness: Likeness, matched: Sequence[Numbers], left: tuple[set[int], set[int]], free: Free
) -> list[Stretches]:
    """Pairs with neighbours that no other pair has, as long as that makes the two sides more alike."""
    for i, j in matched:
        left[0].discard(i)
        left[1].discard(j)
    grown = []
    for i, j in matched:
        sides: Stretches = ((i, i + 1), (j, j + 1))
        value = likeness.of(*sides)
        while options := list(_with_neighbour(sides, left, free)):
            best = max(options, key=lambda option: likeness.of(*option))
            if likeness.of(*best) <= value + JOIN:
                break
            sides, value = best, likeness.of(*best)
            left[0].difference_update(range(*sides[0]))
            left[1].difference_update(range(*sides[1]))
        grown.append(sides)
    return grown


def _with_neighbour(sides: Stretches, left: tuple[set[int], set[int]], free: Free) -> Iterator[Stretches]:
    """The pair with one free sentence more before or behind one of its sides, of which one stays a single sentence."""
    for side, (begin, end) in enumerate(sides):
        other = sides[1 - side]
        if end - begin == LONGEST_STRETCH or other[1] - other[0] > 1:
            continue
        for number, stretch in ((begin - 1, (begin - 1, end)), (end, (begin, end + 1))):
            neighbour = begin if number < begin else end - 1
            if number in left[side] and abs(free[side][number] - free[side][neighbour]) == 1:
                yield (stretch, other) if side == 0 else (other, stretch)


# ---- the order ----


def _with_moves(pairs: Sequence[SentencePair], target: Sequence[str]) -> list[SentencePair]:
    """The pairs by source, those marked that are not on the heaviest sequence of both texts."""
    ordered = sorted(pairs)
    weights = [sum(len(target[j]) for j in range(*pair.target)) for pair in ordered]
    stay = _heaviest_sequence([pair.target[0] for pair in ordered], weights)
    return [pair._replace(is_moved=k not in stay) for k, pair in enumerate(ordered)]


def _heaviest_sequence(targets: Sequence[int], weights: Sequence[int]) -> set[int]:
    """The places of the heaviest sequence whose targets ascend.

    best(k) = weight(k) + max of best(j) over j < k with target(j) < target(k)
    """
    ends: list[int] = []  # targets that a sequence may end with, ascending, with ever heavier sequences
    best: list[tuple[int, int]] = []  # of each: the weight, and the place of its last pair
    previous: list[int] = []
    for k, (target, weight) in enumerate(zip(targets, weights, strict=True)):
        at = bisect_left(ends, target)
        before, place = best[at - 1] if at else (0, -1)
        previous.append(place)
        after = at
        while after < len(ends) and best[after][0] <= before + weight:
            after += 1
        ends[at:after], best[at:after] = [target], [(before + weight, k)]
    chosen, last = set(), best[-1][1] if best else -1
    while last >= 0:
        chosen.add(last)
        last = previous[last]
    return chosen


def _in_order(pairs: Sequence[SentencePair], source_count: int, target_count: int) -> list[SentencePair]:
    """By the target; what has no partner is a pair with an empty side, and follows what it followed."""
    by_target = {pair.target[0]: pair for pair in pairs}
    covered = {i for pair in pairs for i in range(*pair.source)}
    deleted: dict[int, list[int]] = defaultdict(list)  # by the end of what they follow
    end = 0
    for i in range(source_count):
        if i in covered:
            end = i + 1
        else:
            deleted[end].append(i)
    ordered: list[SentencePair] = []

    def add_deleted(behind: int, j: int) -> None:
        ordered.extend(SentencePair((i, i + 1), (j, j)) for i in deleted.pop(behind, ()))

    add_deleted(0, 0)
    j = last = 0
    while j < target_count:
        pair = by_target.get(j) or SentencePair((last, last), (j, j + 1))
        ordered.append(pair)
        j = pair.target[1]
        if pair.has_both:
            last = pair.source[1]
            add_deleted(last, j)
    assert not deleted
    return ordered
