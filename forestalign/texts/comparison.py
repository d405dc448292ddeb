"""Two versions of a text compared: which sentences stayed, were reworded, changed their meaning, moved, came and went.

>>> import forestalign
>>> found = forestalign.compare("He left early. It rained.", "It rained. He did not leave early.")
>>> [str(change.kind) for change in found.changes]
['same', 'meaning changed']
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

from forestalign.aligner import Aligner, load
from forestalign.batch.run import RunLimits, outcomes
from forestalign.batch.workers import Job, StartWork
from forestalign.errors import ForestAlignError, NoParseError, UsageError, shown
from forestalign.meaning.differences import ADDED, LEFT_OUT, OTHER, Difference
from forestalign.mining.edits import EditKind, PairEdits
from forestalign.phrases.result.alignment import UNRELATED, Alignment
from forestalign.texts.sentence_pairing import SentencePair, pair_sentences
from forestalign.texts.text_parts import LARGEST_TEXT, TextParts, on_one_line, take_text_apart
from forestalign.tokens import Sentence

Marks = tuple[tuple[int, int], ...]
LONGEST_PASSAGE = 10_000  # characters; the parser's limit of 300 words is reached long before
_ENDS = frozenset({".", "!", "?", '"', "``", "“", ":"})  # a capital behind these says nothing


class ChangeKind(StrEnum):
    """What became of a sentence, apart from its place."""

    SAME = "same"
    REWORDED = "reworded"  # other words, and nothing that says something else was found
    CONTENT = "content changed"  # more is said, or less
    MEANING = "meaning changed"  # a number, a negation, an opposite, a name, who did what to whom
    DELETED = "removed"
    INSERTED = "added"
    UNREAD = "changed"  # the sentences could not be aligned


class Reason(NamedTuple):
    """A difference with the words that show it, of which a side may have none."""

    kind: str  # of `meaning.differences`
    reason: str
    old: str = ""
    new: str = ""

    @property
    def contradicts(self) -> bool:
        """Whether the two sides cannot both hold; otherwise one says more or less."""
        return Difference(self.kind, (), (), "").contradicts


class Loss(NamedTuple):
    """What a rewrite did to the meaning: the kind, the reason in words, and the line."""

    line: int  # of the new version; of the old one for a sentence that is gone
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Passage:
    """One sentence or several that follow each other: their text on one line, their line, and words that changed."""

    text: str
    line: int
    sentences: tuple[int, int]  # numbers from 0, half-open
    marks: Marks = ()  # characters

    @property
    def sentence_count(self) -> int:
        """How many sentences there are."""
        return self.sentences[1] - self.sentences[0]

    def fields(self) -> dict[str, Any]:
        """The fields of JSON; sentences are counted from 1."""
        return {"line": self.line, "sentences": [n + 1 for n in range(*self.sentences)], "text": self.text}


@dataclass(frozen=True, slots=True)
class Change:
    """A passage of the old version beside its partner in the new one; `old` is None for what was inserted."""

    kind: ChangeKind
    old: Passage | None
    new: Passage | None
    is_moved: bool = False
    reasons: tuple[Reason, ...] = ()
    edits: PairEdits | None = None
    error: str = ""  # why the sentences could not be aligned

    @property
    def shape(self) -> str:
        """`split` or `merged`, where the number of sentences is another."""
        if self.old is None or self.new is None or self.old.sentence_count == self.new.sentence_count:
            return ""
        return "split" if self.old.sentence_count < self.new.sentence_count else "merged"

    def losses(self, strict: bool = False) -> Iterator[Loss]:
        """Contradictions and sentences without a partner; if strict, words left out or added as well."""
        passage = self.new or self.old
        line = passage.line if passage else 0
        if self.kind is ChangeKind.UNREAD:
            yield Loss(line, "not compared", self.error)
            return
        if self.old is None or self.new is None:
            kind, verb = (ADDED, "added") if self.old is None else (LEFT_OUT, "left out")
            yield Loss(line, kind, f"{verb}: {passage.text if passage else ''}")
        yield from (Loss(line, reason.kind, reason.reason) for reason in self.reasons if strict or reason.contradicts)

    def to_json(self) -> str:
        """One line; what is empty is left out."""
        fields = {
            "kind": self.kind,
            "old": self.old and self.old.fields(),
            "new": self.new and self.new.fields(),
            "moved": self.is_moved,
            "shape": self.shape,
            "reasons": [{name: said for name, said in reason._asdict().items() if said} for reason in self.reasons],
            "edits": json.loads(self.edits.to_json())["edits"] if self.edits else (),
            "error": self.error,
        }
        return json.dumps({name: value for name, value in fields.items() if value}, ensure_ascii=False)


@dataclass(frozen=True, slots=True, repr=False)
class TextComparison:
    """All passages in the order of the new version; what was deleted stands behind what it followed."""

    old: TextParts
    new: TextParts
    changes: tuple[Change, ...]
    names: tuple[str, str] = ("old", "new")

    @property
    def counts(self) -> Counter[str]:
        """Passages by kind, and those that are moved, split and merged, whatever their kind."""
        found = Counter(str(change.kind) for change in self.changes)
        found.update("moved" for change in self.changes if change.is_moved)
        found.update(change.shape for change in self.changes if change.shape)
        return found

    @property
    def is_same(self) -> bool:
        """Whether both versions have the same sentences in the same order."""
        return all(change.kind is ChangeKind.SAME and not change.is_moved for change in self.changes)

    def __repr__(self) -> str:
        from forestalign.texts.comparison_text import summary_lines

        return f"<TextComparison {summary_lines(self)[0]}>"

    def __str__(self) -> str:
        from forestalign.texts.comparison_text import render_comparison

        return render_comparison(self)

    def to_html(self) -> str:
        """A page that is whole in itself."""
        from forestalign.texts.comparison_text import comparison_page

        return comparison_page(self)

    def _repr_html_(self) -> str:
        from forestalign.texts.comparison_text import comparison_body

        return comparison_body(self)

    def to_json(self) -> str:
        """A line for each passage, as `forestalign compare --json` prints them."""
        return "\n".join(change.to_json() for change in self.changes)


def compare(
    old: str, new: str, *, markdown: bool = False, lines: bool = False, aligner: Aligner | None = None, jobs: int = 1
) -> TextComparison:
    """Compare two versions of a text; models are loaded only if a sentence changed.

    `markdown` leaves tables and code alone, `lines` takes each line for a sentence, and `jobs` is the number of
    processes that align.
    """
    for name, text in (("old", old), ("new", new)):
        if not isinstance(text, str):
            raise UsageError(f"{name} is {shown(text)}; expected a text")
        if len(text) > LARGEST_TEXT:
            raise UsageError(f"{name} has {len(text):,} characters; expected at most {LARGEST_TEXT:,}")
    return compare_parts(take_text_apart(old, markdown, lines), take_text_apart(new, markdown, lines), aligner, jobs)


def compare_parts(
    old: TextParts,
    new: TextParts,
    aligner: Aligner | None = None,
    jobs: int = 1,
    names: tuple[str, str] = ("old", "new"),
) -> TextComparison:
    """Compare two texts that were taken apart."""
    return TextComparison(old, new, tuple(find_changes(old, new, aligner, jobs)), names)


def find_changes(old: TextParts, new: TextParts, aligner: Aligner | None = None, jobs: int = 1) -> Iterator[Change]:
    """The changes as they are found, in order."""
    source, target = old.texts, new.texts
    counts = Counter(source), Counter(target)  # copies of a sentence may be left over
    has_changes = bool(counts[0] - counts[1]) and bool(counts[1] - counts[0])
    loaded = (aligner or load()) if has_changes else None
    pairs = pair_sentences(source, target, loaded)
    sides = [(_passage(old, pair.source), _passage(new, pair.target)) for pair in pairs]
    wanted = [both for pair, both in zip(pairs, sides, strict=True) if pair.has_both and not pair.is_same]
    texts = dict.fromkeys((own.text, other.text) for own, other in wanted if not _too_long(own, other))
    results = _Results(align_passages(list(texts), loaded, jobs) if loaded else iter(()))
    for pair, (own, other) in zip(pairs, sides, strict=True):
        yield _change(pair, own, other, results)


def compare_pairs(
    pairs: Iterable[tuple[int, str, str]], aligner: Aligner | None = None, jobs: int = 1
) -> Iterator[Change]:
    """The changes between the sentences of pairs, each with the number of its line."""
    sides = [
        (Passage(on_one_line(old), line, (k, k + 1)), Passage(on_one_line(new), line, (k, k + 1)))
        for k, (line, old, new) in enumerate(pairs)
    ]
    wanted = dict.fromkeys((own.text, other.text) for own, other in sides if own.text != other.text)
    results = _Results(align_passages(list(wanted), aligner or load(), jobs) if wanted else iter(()))
    for own, other in sides:
        yield Change(ChangeKind.SAME, own, other) if own.text == other.text else results.of(own, other)


class _Results:
    """Alignments by their texts: those that come several times are aligned once."""

    def __init__(self, aligned: Iterator[Alignment | ForestAlignError]):
        self._aligned = aligned
        self._known: dict[tuple[str, str], Change] = {}

    def of(self, own: Passage, other: Passage) -> Change:
        texts = own.text, other.text
        if texts not in self._known:
            self._known[texts] = _judge_change(own, other, next(self._aligned))
        known = self._known[texts]
        assert known.old is not None
        assert known.new is not None
        return replace(known, old=replace(own, marks=known.old.marks), new=replace(other, marks=known.new.marks))


def _passage(parts: TextParts, numbers: tuple[int, int]) -> Passage:
    """The sentences of a text with these numbers; without any, an empty one at the line of the next."""
    begin, end = numbers
    sentences = parts.sentences[begin:end]
    line = sentences[0].line if sentences else 0
    return Passage(" ".join(sentence.text for sentence in sentences), line, numbers)


def _too_long(own: Passage, other: Passage) -> str:
    longest = max(len(own.text), len(other.text))
    return (
        f"{longest:,} characters; sentences are aligned up to {LONGEST_PASSAGE:,}" if longest > LONGEST_PASSAGE else ""
    )


def _change(pair: SentencePair, own: Passage, other: Passage, results: _Results) -> Change:
    if not pair.has_both:
        kind = ChangeKind.DELETED if own.text else ChangeKind.INSERTED
        return Change(kind, own if own.text else None, other if other.text else None)
    if pair.is_same:
        return Change(ChangeKind.SAME, own, other, pair.is_moved)
    if error := _too_long(own, other):
        return Change(ChangeKind.UNREAD, own, other, pair.is_moved, error=error)
    return replace(results.of(own, other), is_moved=pair.is_moved)


def _judge_change(own: Passage, other: Passage, found: Alignment | ForestAlignError) -> Change:
    """What an alignment tells about two passages."""
    if isinstance(found, ForestAlignError):
        return Change(ChangeKind.UNREAD, own, other, error=str(found))
    edits = found.edits()
    reasons = tuple(
        Reason(each.kind, each.reason, _words(found.source, each.source), _words(found.target, each.target))
        for each in found.differences
    )
    if found.verdict == UNRELATED and not any(reason.contradicts for reason in reasons):
        reasons = (Reason(OTHER, "says something else"), *reasons)
    kind = ChangeKind.REWORDED if not reasons else ChangeKind.CONTENT
    if any(reason.contradicts for reason in reasons):
        kind = ChangeKind.MEANING
    marks = _marks(found, edits)
    return Change(kind, replace(own, marks=marks[0]), replace(other, marks=marks[1]), reasons=reasons, edits=edits)


def _words(sentence: Sentence, words: Sequence[int]) -> str:
    return " ".join(sentence.words[word] for word in words)


def _marks(alignment: Alignment, edits: PairEdits) -> tuple[Marks, Marks]:
    """Characters of words that are not kept, or kept in another form; without any, of words that moved."""
    for kinds in ({EditKind.REPLACED, EditKind.DELETED, EditKind.INSERTED}, {EditKind.MOVED}):
        found = [edit for edit in edits.edits if edit.kind in kinds]
        source = {word for edit in found for span in (edit.source, *edit.rest[0]) if span for word in range(*span)}
        target = {word for edit in found for span in (edit.target, *edit.rest[1]) if span for word in range(*span)}
        if EditKind.MOVED not in kinds:
            others = list(_other_forms(alignment, edits))
            source.update(i for i, _ in others)
            target.update(j for _, j in others)
        if source or target:
            break
    return _characters(alignment.source, source), _characters(alignment.target, target)


def _other_forms(alignment: Alignment, edits: PairEdits) -> Iterator[tuple[int, int]]:
    """Words that differ in case, other than because one of them begins a sentence."""
    source, target = alignment.source.words, alignment.target.words
    for edit in edits.edits:
        if edit.kind is not EditKind.KEPT or not edit.source or not edit.target:
            continue
        for i, j in zip(range(*edit.source), range(*edit.target), strict=True):
            begins = [k == 0 or words[k - 1] in _ENDS for k, words in ((i, source), (j, target))]
            if source[i] != target[j] and begins[0] == begins[1]:
                yield i, j


def _characters(sentence: Sentence, words: set[int]) -> Marks:
    """Runs of words as runs of characters; a part of a word (*wo* of *won't*) marks the whole."""
    runs: list[tuple[int, int]] = []
    for word in sorted(words):
        begin, end = word, word + 1
        while begin and _are_one(sentence, begin - 1):
            begin -= 1
        while end < len(sentence) and _are_one(sentence, end - 1):
            end += 1
        if runs and runs[-1][1] >= begin:
            runs[-1] = runs[-1][0], max(end, runs[-1][1])
        else:
            runs.append((begin, end))
    return tuple((sentence.tokens[begin].start, sentence.tokens[end - 1].end) for begin, end in runs)


def _are_one(sentence: Sentence, word: int) -> bool:
    """Whether a token and the next one are parts of one word: no space and no mark is between them."""
    first, second = sentence.tokens[word], sentence.tokens[word + 1]
    return first.end == second.start and any(map(str.isalnum, first.text)) and any(map(str.isalnum, second.text))


# ---- pairs aligned in order, by this process or by others ----


CHUNK = 4  # pairs whose sentences are parsed together: with 16 a process takes 80 MB more and is no faster
Texts = tuple[str, str]


def align_passages(pairs: Sequence[Texts], aligner: Aligner, jobs: int = 1) -> Iterator[Alignment | ForestAlignError]:
    """Alignments in order, by this process or by `jobs` others; what could not be aligned is an error."""
    numbered = [Job(number, "", pair) for number, pair in enumerate(pairs)]
    start = StartWork(_ThisAligner(aligner), _alignment_itself)
    processes = min(jobs, -(-len(pairs) // CHUNK))
    for outcome in outcomes(numbered, start, limits=RunLimits(processes, chunk_size=CHUNK)):
        yield ForestAlignError(outcome.error) if outcome.value is None else outcome.value


@dataclass(frozen=True, slots=True)
class _ThisAligner:
    """An aligner that is loaded already; another process gets its settings and loads its own."""

    aligner: Aligner

    def __call__(self) -> Callable[[Sequence[Job]], Iterator[Alignment | NoParseError]]:
        return self._align

    def _align(self, jobs: Sequence[Job]) -> Iterator[Alignment | NoParseError]:
        for found in self.aligner.prepare([("", *job.payload, None) for job in jobs]):
            yield found if isinstance(found, NoParseError) else self.aligner.align_prepared(found)


def _alignment_itself(job: Job, alignment: Alignment) -> Alignment:
    return alignment
