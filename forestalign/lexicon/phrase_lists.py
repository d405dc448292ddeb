"""The user's own lists of phrases that mean the same: PPDB files as they are published, or two columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from forestalign.errors import counted
from forestalign.inputs import kept_while_unchanged
from forestalign.lexicon.findings import EQUAL, MORE_GENERAL, MORE_SPECIFIC, OPPOSITE, SIMILAR, Finding
from forestalign.lexicon.phrase_text import Parts
from forestalign.lexicon.phrases import particles_after
from forestalign.lexicon.word_pairs import BARS, list_lines

SLOT = "one's"  # stands for any possessive: lose one's life
LONGEST = 12  # words of a phrase; nothing longer is a phrase of a lexicon
# the entailment relations of PPDB 2.0
PPDB_RELATIONS = {
    "Equivalence": EQUAL,
    "ForwardEntailment": MORE_SPECIFIC,
    "ReverseEntailment": MORE_GENERAL,
    "Exclusion": OPPOSITE,
    "OtherRelated": SIMILAR,
    "Independent": "",
}


class ListedPair(NamedTuple):
    """Two phrases, lower case, words separated by single blanks, and their relation (source to target)."""

    left: str
    right: str
    relation: str = EQUAL


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that gives no pair, and why."""

    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}"


class PhraseLists:
    """Pairs with several words on at least one side, looked up by the words of a sentence."""

    def __init__(self, pairs: Iterable[ListedPair], skipped: tuple[Skipped, ...] = ()):
        self.skipped = skipped
        self._partners: dict[str, dict[str, str]] = defaultdict(dict)
        self._lengths: dict[str, set[int]] = defaultdict(set)
        for pair in pairs:
            forward = Finding((), (), pair.relation)
            for left, right, relation in (
                (pair.left, pair.right, pair.relation),
                (pair.right, pair.left, forward.turned().relation),
            ):
                self._partners[left].setdefault(right, relation)
                words = left.split()
                self._lengths[words[0]].add(len(words))

    def __len__(self) -> int:
        return len(self._partners)

    def findings(self, source: Parts, target: Parts) -> Iterator[Finding]:
        """Listed phrases of the source whose partners stand in the target; forms before lemmas."""
        places = self._places(target)
        for left, tokens in self._places(source).items():
            for right in sorted(self._partners[left].keys() & places.keys()):
                for own in tokens:
                    for other in places[right]:
                        if len(own) > 1 or len(other) > 1:
                            yield Finding(own, other, self._partners[left][right])

    def _places(self, parts: Parts) -> dict[str, list[tuple[int, ...]]]:
        """Listed phrases of a sentence, as inflected there or as lemmas, and where they stand."""
        places: dict[str, list[tuple[int, ...]]] = defaultdict(list)
        for words in dict.fromkeys((parts.forms, parts.lemmas, *_slotted(parts))):
            for begin, first in enumerate(words):
                for length in sorted(self._lengths.get(first, ())):
                    text = " ".join(words[begin : begin + length])
                    if text in self._partners:
                        tokens = parts.whole_tokens(range(begin, min(begin + length, len(parts))))
                        if tokens and tokens not in places[text]:
                            places[text].append(tokens)
        for text, tokens in self._separated(parts):
            places[text].append(tokens)
        held = {tokens for found in places.values() for tokens in found if len(tokens) > 1}
        return {text: kept for text, found in places.items() if (kept := _not_inside(found, held))}

    def _separated(self, parts: Parts) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Verbs whose particle stands behind an object."""
        for verb, tag in enumerate(parts.tags):
            if tag[:2] == "VB" and 2 in self._lengths.get(parts.lemmas[verb], ()):
                for at in particles_after(parts, verb):
                    text = f"{parts.lemmas[verb]} {parts.forms[at]}"
                    if text in self._partners and (tokens := parts.whole_tokens((verb, at))):
                        yield text, tokens


def _slotted(parts: Parts) -> Iterator[tuple[str, ...]]:
    """Possessives as slots, and verbs, or all words, as lemmas: *send one's regards*."""
    rows = list(zip(parts.tags, parts.forms, parts.lemmas, strict=True))
    yield tuple(SLOT if tag == "PRP$" else lemma if tag[:2] == "VB" else form for tag, form, lemma in rows)
    if "PRP$" in parts.tags:
        yield tuple(SLOT if tag == "PRP$" else lemma for tag, _, lemma in rows)


def _not_inside(found: list[tuple[int, ...]], held: set[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Without those that are part of a longer one: the *because* of *because of*."""
    return [tokens for tokens in found if not any(set(tokens) < set(longer) for longer in held)]


# ---- files ----


@kept_while_unchanged(4)
def load_phrase_lists(path: str) -> PhraseLists:
    """The lines of a list with several words on a side; those of single words are for `load_ppdb`."""
    pairs, skipped = [], []
    for number, line in list_lines(Path(path)):
        try:
            pair = listed_pair(line)
        except ValueError as error:
            skipped.append(Skipped(path, number, str(error)))
            continue
        if pair.relation and (" " in pair.left or " " in pair.right):
            pairs.append(pair)
    return PhraseLists(pairs, tuple(skipped))


def listed_pair(line: str) -> ListedPair:
    """One line: two columns, or PPDB's `[X] ||| phrase ||| phrase ||| features ||| alignment ||| relation`.

    ValueError says why a line gives no pair.
    """
    relation = EQUAL
    if BARS in line:
        fields = [field.strip() for field in line.split(BARS)]
        if len(fields) < 3:
            raise ValueError(
                f"{line[:60]!r} has {counted(len(fields), 'field')}; expected at least category, phrase and phrase"
            )
        left, right = fields[1], fields[2]
        relation = PPDB_RELATIONS.get(fields[5], EQUAL) if len(fields) > 5 else EQUAL
    else:
        left, _, right = line.partition("\t")
        if "\t" in right:
            raise ValueError(f"{line[:60]!r} has more than two columns; expected two phrases separated by a tab")
    for side in (left, right):
        count = len(side.split(" "))
        if not side.strip(" "):
            raise ValueError(f"{line[:60]!r} has an empty side; expected two phrases")
        if count > LONGEST:
            raise ValueError(f"{side[:40]!r}... has {counted(count, 'word')}; expected at most {LONGEST}")
    return ListedPair(_normal(left), _normal(right), relation)


def _normal(phrase: str) -> str:
    """Lower case, hyphens as blanks, as the parts of a sentence are."""
    lowered = phrase.lower()
    spaced = lowered.replace("-", " ").replace("one 's", SLOT) if " " in lowered else lowered
    return " ".join(word for word in spaced.split(" ") if word)
