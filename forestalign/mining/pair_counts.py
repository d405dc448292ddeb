"""The occurrences of phrase pairs in some lines of results, counted; lines may lie in several processes or machines."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from forestalign.formats.lines import read_text_lines
from forestalign.lexicon.findings import turned_relation
from forestalign.mining.occurrences import UNITS, AlignedLine, Phrases, patterns, read_line
from forestalign.phrases.result.shown_pairs import shown_pairs

MOST_EXAMPLES = 5
_BATCH_CHARACTERS = 8 << 20  # of lines that are counted together: bounds the memory of a process


@dataclass(frozen=True, slots=True)
class OccurrenceFilter:
    """Which occurrences are counted, and how."""

    min_posterior: float = 0.0
    max_words: int = 7  # of a side; phrase tables of machine translation end there, too
    bars: bool | None = None  # phrases of binarised trees alone: those that say something, all, or none
    both_ways: bool = False  # every pair is counted from target to source as well
    keep_case: bool = False
    slots: int = 0  # also patterns with up to so many slots


class LineBatch(NamedTuple):
    """Lines of one file; `prefix` makes their ids different from those of other files."""

    path: str
    prefix: str
    first: int
    lines: tuple[str, ...]


class PairKey(NamedTuple):
    """The key of a count: occurrences that agree in it are counted together."""

    phrase: str
    paraphrase: str
    source_label: str
    target_label: str
    slots: int


@dataclass(slots=True)
class PairCount:
    """How often, with which sum of posteriors (in UNITS), as what, by which evidence, and where first."""

    count: int = 0
    mass: int = 0
    relations: dict[str, int] = field(default_factory=dict)
    evidence: set[str] = field(default_factory=set)
    examples: list[str] = field(default_factory=list)

    def add(self, mass: int, relation: str, evidence: Iterable[str], id: str) -> None:
        """Count one more occurrence."""
        self.count += 1
        self.mass += mass
        self.relations[relation] = self.relations.get(relation, 0) + 1
        if not self.evidence.issuperset(evidence):
            self.evidence.update(evidence)
        if len(self.examples) < MOST_EXAMPLES and id not in self.examples:
            self.examples.append(id)


@dataclass(frozen=True, slots=True)
class CountedLines:
    """The counts of a batch, the signatures of its lines with the number of the first line of each, and totals."""

    path: str
    counts: dict[PairKey, PairCount]
    signatures: dict[str, int]
    line_count: int
    unjudged_count: int  # pairs left out because they have no posterior


def line_batches(paths: Sequence[str | Path]) -> Iterator[LineBatch]:
    """The lines of all files, in pieces that fit into memory."""
    for path in paths:
        prefix = f"{Path(path).stem}:" if len(paths) > 1 else ""
        first, lines, size = 1, list[str](), 0
        for number, text in read_text_lines(path):
            if size > _BATCH_CHARACTERS:
                yield LineBatch(str(path), prefix, first, tuple(lines))
                first, lines, size = number, [], 0
            lines.append(text)
            size += len(text)
        yield LineBatch(str(path), prefix, first, tuple(lines))


@dataclass(frozen=True, slots=True)
class CountLines:
    """Counts a batch of lines; goes to worker processes as it is."""

    wanted: OccurrenceFilter

    def __call__(self, batch: LineBatch) -> CountedLines:
        """The counts of one batch."""
        counts: dict[PairKey, PairCount] = {}
        signatures: dict[str, int] = {}
        unjudged = line_count = 0
        with _no_search_for_cycles():
            for number, text in enumerate(batch.lines, start=batch.first):
                if not text.strip():
                    continue
                line = read_line(text, batch.path, number)
                signatures.setdefault(line.signature, number)
                unjudged += self._count(line, batch.prefix + line.id, counts)
                line_count += 1
        return CountedLines(batch.path, counts, signatures, line_count, unjudged)

    def _count(self, line: AlignedLine, id: str, counts: dict[PairKey, PairCount]) -> int:
        """Count the pairs of one line; returns how many could not be judged for want of a posterior."""
        wanted, least = self.wanted, round(self.wanted.min_posterior * UNITS)
        sides = [_plain_words(words, wanted.keep_case) for words in (line.source, line.target)]
        shown = shown_pairs(line.phrases, line.source, line.target, wanted.bars)
        chosen = [each and _is_sure(pair, least) for pair, each in zip(line.phrases, shown, strict=True)]
        for pair, is_chosen in zip(line.phrases, chosen, strict=True):
            (begin, end), (target_begin, target_end) = pair.source, pair.target
            if is_chosen and end - begin <= wanted.max_words and target_end - target_begin <= wanted.max_words:
                self._add(counts, pair, sides[0][begin:end], sides[1][target_begin:target_end], 0, id)
        if wanted.slots:
            lowered = AlignedLine(line.id, sides[0], sides[1], line.phrases, line.signature)
            for found in patterns(lowered, wanted.slots, wanted.max_words):
                if chosen[found.position]:
                    self._add(counts, line.phrases[found.position], found.source, found.target, found.slots, id)
        return sum(pair.posterior is None for pair in line.phrases) if least else 0

    def _add(
        self,
        counts: dict[PairKey, PairCount],
        pair: Phrases,
        source: Sequence[str],
        target: Sequence[str],
        slots: int,
        id: str,
    ) -> None:
        phrase, paraphrase = " ".join(filter(None, source)), " ".join(filter(None, target))
        mass = UNITS if pair.posterior is None else pair.posterior
        key = PairKey(phrase, paraphrase, pair.source_label, pair.target_label, slots)
        _found(counts, key).add(mass, pair.relation, pair.evidence, id)
        if self.wanted.both_ways:
            relation = turned_relation(pair.relation)
            key = PairKey(*_swap_slots(phrase, paraphrase), pair.target_label, pair.source_label, slots)
            _found(counts, key).add(mass, relation, pair.evidence, id)


def _is_sure(pair: Phrases, least: int) -> bool:
    return not least or (pair.posterior is not None and pair.posterior >= least)


@contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """Counting makes no reference cycles, and looking for some among all that JSON takes a fifth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _found(counts: dict[PairKey, PairCount], key: PairKey) -> PairCount:
    count = counts.get(key)
    if count is None:
        count = counts[key] = PairCount()
    return count


def _plain_words(words: Sequence[str], keep_case: bool) -> tuple[str, ...]:
    """The words as a table has them; white space inside a token of the user's own becomes one blank."""
    text = " ".join(words) if keep_case else " ".join(words).lower()
    plain = text.split()
    if len(plain) == len(words) and plain == text.split(" "):  # no token has white space
        return tuple(plain)
    return tuple(" ".join((word if keep_case else word.lower()).split()) for word in words)


def _swap_slots(phrase: str, paraphrase: str) -> tuple[str, str]:
    """Both texts of a pattern seen from the target, whose slots count in the order of the target."""
    if ",2]" in phrase and paraphrase.find(",2]") < paraphrase.find(",1]"):
        swap = str.maketrans({"1": "2", "2": "1"})
        return _renumbered(paraphrase, swap), _renumbered(phrase, swap)
    return paraphrase, phrase


def _renumbered(pattern: str, swap: dict[int, str]) -> str:
    return " ".join(
        word.translate(swap) if word.startswith("[") and word.endswith(("1]", "2]")) else word
        for word in pattern.split()
    )
