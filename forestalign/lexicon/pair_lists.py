"""The user's own lists of words and phrases that mean the same: PPDB files as they are published, or two columns.

Pairs of single words are for the word links (`PairList`), those of phrases for evidence (`PhraseLists`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from forestalign.errors import InputError, counted
from forestalign.grammar import punctuation_tags
from forestalign.inputs import kept_while_unchanged, read_lines, reading
from forestalign.lexicon.findings import EQUAL, MORE_GENERAL, MORE_SPECIFIC, OPPOSITE, SIMILAR, Finding, Parts

BARS = "|||"
UNRELATED = frozenset({"Independent", "Exclusion"})  # of the entailment relations of PPDB 2.0
SLOT = "one's"  # stands for any possessive: lose one's life
LONGEST = 12  # words of a phrase; nothing longer is a phrase of a lexicon
# the entailment relations of PPDB 2.0
PPDB_RELATIONS = {
    "Equivalence": EQUAL,
    "ForwardEntailment": MORE_GENERAL,
    "ReverseEntailment": MORE_SPECIFIC,
    "Exclusion": OPPOSITE,
    "OtherRelated": SIMILAR,
    "Independent": "",
}
PARTICLES = frozenset(
    {
        "about", "across", "ahead", "along", "apart", "around", "aside", "away", "back", "by", "down", "forth",
        "forward", "in", "off", "on", "out", "over", "round", "through", "together", "up",
    }
)  # fmt: skip
MOST_BETWEEN = 5  # words of the object between a verb and its particle
OBJECT_TAGS = frozenset({"DT", "PDT", "JJ", "JJR", "JJS", "NN", "NNS", "NNP", "NNPS", "PRP", "PRP$", "CD", "POS", "$"})
PARTICLE_TAGS = frozenset({"RP", "IN", "RB"})


class PairList:
    """Pairs of words, lower-cased, in either order. Each pair is one string: half the memory of tuples."""

    def __init__(self, pairs: Iterable[tuple[str, str]]):
        self._pairs = frozenset(_key(left, right) for left, right in pairs)

    def __contains__(self, pair: tuple[str, str]) -> bool:
        return _key(*pair) in self._pairs

    def __len__(self) -> int:
        return len(self._pairs)


def _key(left: str, right: str) -> str:
    left, right = left.lower(), right.lower()
    return f"{left}\t{right}" if left <= right else f"{right}\t{left}"


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
                (pair.right, pair.left, forward.swap_sides().relation),
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


def particles_after(parts: Parts, verb: int) -> Iterator[int]:
    """Particles behind an object of this verb: `turned the offer down`, but not `took the book off the shelf`."""
    for index in range(verb + 1, min(verb + 2 + MOST_BETWEEN, len(parts))):
        if index > verb + 1 and parts.forms[index] in PARTICLES and parts.tags[index] in PARTICLE_TAGS:
            following = parts.tags[index + 1] if index + 1 < len(parts) else "."
            if parts.tags[index] == "RP" or following in punctuation_tags() or following in {"CC", "TO", "RB"}:
                yield index
        if parts.tags[index] not in OBJECT_TAGS:
            return


# ---- files ----


@kept_while_unchanged(4)
def load_ppdb(path: str) -> PairList:
    """One pair per line: two columns separated by a tab, or PPDB's own fields separated by `|||`.

    Lines of PPDB that are said to be no paraphrases, or have an empty side, are left out.
    """
    return PairList(_pairs_of(Path(path)))


def list_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines of a list in UTF-8, plain or gzipped, LF or CRLF; empty ones are left out.

    Lines are cut at LF only: published lists hold control characters as words, which `str.splitlines` would take for
    line ends.
    """
    with reading(path, "pair list in UTF-8, plain or gzipped"):
        for number, line in read_lines(path):
            text = line.removesuffix(b"\r").decode("utf-8")
            if text:
                yield number, text


def _pairs_of(path: Path) -> Iterator[tuple[str, str]]:
    for number, line in list_lines(path):
        if BARS in line:
            fields = [field.strip() for field in line.split(BARS)]
            if len(fields) > 2 and fields[1] and fields[2] and not UNRELATED.intersection(fields[5:6]):
                yield fields[1], fields[2]
            continue
        left, _, right = line.partition("\t")
        if not (left and right) or "\t" in right:
            raise InputError(path, number, f"{line[:60]!r} is not two words separated by a tab")
        yield left, right


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
