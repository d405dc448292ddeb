"""What each phrase of a summary rests on: the phrases of an article that it is aligned with, and what rests on nothing.

A sentence of the summary is aligned with the few sentences of the article that are most like it. The one that covers
most of it comes first; the others give what it leaves over. A phrase that contradicts its sentence of the article (a
number, an opposite, a negation, swapped roles) rests on nothing, and what the article has is named. This finds the
place to look at; whether the article says the same there is for the reader to judge.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import NamedTuple

from forestalign.aligner import Aligner, load
from forestalign.errors import ForestAlignError, counted
from forestalign.lexicon import load_vectors
from forestalign.lexicon.findings import DIFFERENT, SIMILAR
from forestalign.lexicon.word_classes import WordClass, word_class
from forestalign.meaning.claims import find_negations
from forestalign.meaning.differences import NEGATION
from forestalign.mining.edits import Edit, EditKind
from forestalign.phrases.result.alignment import Alignment
from forestalign.terminal import BOLD, CYAN, DIM, RED, Paint, visible
from forestalign.texts.comparison import LONGEST_PASSAGE, align_passages
from forestalign.texts.comparison_text import page
from forestalign.texts.sentence_likeness import Likeness
from forestalign.texts.text_parts import TextParts, TextSentence
from forestalign.tokens import Sentence, Span
from forestalign.words.similarity import form

MOST_SOURCES = 3  # sentences of the article that a sentence of the summary is aligned with
LEAST_LIKE = 0.08  # likeness of such a sentence
LEAST_RELATED = 0.35  # cosine of two words that the lexicon does not relate, for one to rest on the other
_NEAR = 2  # words of the article that may stand between what two neighbours rest on
_SMALL = frozenset({WordClass.FUNCTION, WordClass.PUNCTUATION})


@dataclass(frozen=True, slots=True)
class SourcedPhrase:
    """A phrase of the summary, by characters, and what it rests on; without a line it rests on nothing.

    `against` is a phrase of the article that says something else, and `relation` what it is to the phrase.
    """

    begin: int
    end: int
    text: str
    line: int = 0
    source: str = ""
    relation: str = ""
    against: str = ""


@dataclass(frozen=True, slots=True)
class SourcedSentence:
    """A sentence of the summary with its phrases in order; words without content between them are in none."""

    text: str
    line: int
    phrases: tuple[SourcedPhrase, ...]
    error: str = ""

    @property
    def lines(self) -> tuple[int, ...]:
        """Lines of the article, the one with most phrases first."""
        found = [phrase.line for phrase in self.phrases if phrase.line]
        return tuple(sorted(set(found), key=lambda line: (-found.count(line), line)))

    @property
    def unsupported(self) -> tuple[SourcedPhrase, ...]:
        """The phrases that rest on nothing."""
        return tuple(phrase for phrase in self.phrases if not phrase.line)

    def to_json(self) -> str:
        """One line; what is empty is left out."""
        names = ("begin", "end", "text", "line", "source", "relation", "against")
        phrases = [{name: value for name in names if (value := getattr(phrase, name)) != ""} for phrase in self.phrases]
        fields = {"line": self.line, "text": self.text, "phrases": phrases, "error": self.error}
        return json.dumps({name: value for name, value in fields.items() if value != ""}, ensure_ascii=False)


def find_sources(
    article: TextParts, summary: TextParts, aligner: Aligner | None = None, jobs: int = 1
) -> tuple[SourcedSentence, ...]:
    """Every sentence of the summary, with what its phrases rest on in the article."""
    places = {sentence.text: sentence for sentence in reversed(article.sentences)}
    wanted = [sentence for sentence in summary.sentences if sentence.text not in places]
    if not wanted:
        return tuple(_quote(sentence, places[sentence.text]) for sentence in summary.sentences)
    loaded = aligner or load()
    likely = _likely_sources(article, wanted, loaded)
    pairs = [
        (source.text, sentence.text) for sentence, sources in zip(wanted, likely, strict=True) for source in sources
    ]
    aligned = align_passages(pairs, loaded, jobs)
    judged = {}
    for sentence, sources in zip(wanted, likely, strict=True):
        judged[sentence] = _judge_sentence(sentence, sources, list(islice(aligned, len(sources))))
    return tuple(
        judged[sentence] if sentence in judged else _quote(sentence, places[sentence.text])
        for sentence in summary.sentences
    )


def _quote(sentence: TextSentence, source: TextSentence) -> SourcedSentence:
    phrase = SourcedPhrase(0, len(sentence.text), sentence.text, source.line, source.text)
    return SourcedSentence(sentence.text, sentence.line, (phrase,))


def _likely_sources(article: TextParts, wanted: Sequence[TextSentence], aligner: Aligner) -> list[list[TextSentence]]:
    likeness = Likeness([sentence.text for sentence in wanted], article.texts, aligner)
    found = []
    for number, sentence in enumerate(wanted):
        row = likeness.row(number, 1, 0, len(article.sentences))[0]
        best = sorted(range(len(row)), key=lambda place: (-row[place], place))[:MOST_SOURCES]
        sources = [article.sentences[place] for place in best if row[place] >= LEAST_LIKE]
        is_long = len(sentence.text) > LONGEST_PASSAGE
        found.append([] if is_long else [each for each in sources if len(each.text) <= LONGEST_PASSAGE])
    return found


def _judge_sentence(
    sentence: TextSentence, sources: Sequence[TextSentence], aligned: Sequence[Alignment | ForestAlignError]
) -> SourcedSentence:
    found = [
        (source, alignment)
        for source, alignment in zip(sources, aligned, strict=True)
        if isinstance(alignment, Alignment)
    ]
    if not found:
        error = next((str(each) for each in aligned if isinstance(each, ForestAlignError)), "")
        phrase = SourcedPhrase(0, len(sentence.text), sentence.text)
        return SourcedSentence(sentence.text, sentence.line, (phrase,), error)
    target = found[0][1].target
    supports = [
        _Support(source, alignment, tuple(_supports(alignment)), dict(_find_contradictions(alignment)))
        for source, alignment in found
    ]
    supports.sort(key=lambda support: -sum(_content_count(target, edit.target) for edit in support.edits))
    return SourcedSentence(sentence.text, sentence.line, tuple(_phrases(target, supports)))


class _Against(NamedTuple):
    """What the article has instead, and what it is to the words of the summary."""

    relation: str
    words: str


class _Support(NamedTuple):
    """A sentence of the article aligned with one of the summary, the edits that speak for phrases, what against."""

    source: TextSentence
    alignment: Alignment
    edits: tuple[Edit, ...]
    against: dict[int, _Against]


class _Held(NamedTuple):
    """What a word or a run of words rests on: the number of a support, and a span of its sentence."""

    support: int
    span: Span
    relation: str


def _find_contradictions(alignment: Alignment) -> Iterator[tuple[int, _Against]]:
    """The words of the summary that contradict the article."""
    for each in (one for one in alignment.differences if one.contradicts):
        source, target = list(each.source), list(each.target)
        if each.kind == NEGATION:
            source, target = _with_predicate(alignment, source, target)
        words = alignment.source.phrase(Span(min(source), max(source) + 1)) if source else ""
        yield from ((word, _Against(each.relation, words)) for word in target)


def _with_predicate(alignment: Alignment, source: list[int], target: list[int]) -> tuple[list[int], list[int]]:
    """A negation of one side with the words that it denies on both."""
    reading = alignment.meaning.target if target else alignment.meaning.source
    denied = [each.predicate for each in find_negations(reading) if each.cue in (target or source)]
    links = [(link.target, link.source) if target else (link.source, link.target) for link in alignment.words]
    partners = [other for word, other in links if word in denied]
    return ([*partners], [*target, *denied]) if target else ([*source, *denied], partners)


def _supports(alignment: Alignment) -> Iterator[Edit]:
    """Phrases of the summary that have a partner with content in a sentence of the article, for or against them."""
    for edit in alignment.edits().edits:
        if edit.kind not in (EditKind.KEPT, EditKind.REPLACED) or edit.source is None or edit.target is None:
            continue
        if not _content_count(alignment.target, edit.target):
            continue
        is_open = edit.kind is EditKind.REPLACED and edit.relation in ("", SIMILAR)
        if not is_open or _are_related(alignment, edit.source, edit.target):
            yield edit


def _are_related(alignment: Alignment, source: Span, target: Span) -> bool:
    """Whether two phrases that were aligned for want of better ones are near each other by their words' vectors."""
    vectors = load_vectors()
    own = [alignment.source.words[word] for word in range(*source)]
    other = [alignment.target.words[word] for word in range(*target) if _is_content(alignment.target, word)]
    best = [max(vectors.cosine(word.lower(), each.lower()) for each in own) for word in other]
    return sum(best) / len(best) >= LEAST_RELATED


def _is_content(sentence: Sentence, word: int) -> bool:
    return word_class(sentence.tokens[word]) not in _SMALL


def _content_count(sentence: Sentence, span: Span | None) -> int:
    return sum(_is_content(sentence, word) for word in range(*(span or (0, 0))))


def _phrases(target: Sentence, supports: Sequence[_Support]) -> Iterator[SourcedPhrase]:
    """Phrases in order: those that rest on something, and runs of other words with content."""
    held, against = _held_words(target, supports)
    runs: list[tuple[_Held | _Against | None, Span]] = []
    for word in range(len(target)):
        state = held.get(word) or against.get(word)
        if state is None and not _is_content(target, word) and runs:
            continue  # goes with what stands on both sides, if that is one
        last, span = runs[-1] if runs else (None, Span(0, 0))
        if runs and isinstance(last, _Held) and isinstance(state, _Held) and _follows(last, state):
            runs[-1] = last._replace(span=_around(last.span, state.span)), Span(span.begin, word + 1)
        elif runs and last == state:
            runs[-1] = state, Span(span.begin, word + 1)
        else:
            runs.append((state, Span(word, word + 1)))
    for state, span in runs:
        if _content_count(target, span):
            yield _phrase(target, span, state, supports)


def _held_words(target: Sentence, supports: Sequence[_Support]) -> tuple[dict[int, _Held], dict[int, _Against]]:
    """What each word rests on, and what stands against it; first by alignments, then by the same words."""
    held: dict[int, _Held] = {}
    against: dict[int, _Against] = {}
    for number, support in enumerate(supports):
        against = support.against | against
        for edit in support.edits:
            words = [word for word in range(*(edit.target or (0, 0))) if not _is_denied(word, edit, support, against)]
            if not any(word in held for word in words if _is_content(target, word)):
                own = _Held(number, edit.source or Span(0, 0), edit.relation)
                held |= {word: own for word in words if word not in held}
    for number, support in enumerate(supports):
        places = {form(token.key).stem: place for place, token in enumerate(support.alignment.source.tokens)}
        for word, token in enumerate(target.tokens):
            place = places.get(form(token.key).stem)
            if place is not None and _is_content(target, word) and word not in held and word not in against:
                held[word] = _Held(number, Span(place, place + 1), "")
    return held, against


def _is_denied(word: int, edit: Edit, support: _Support, against: dict[int, _Against]) -> bool:
    """Whether a sentence contradicts a word, or a likelier one does; only a value may be found as it is further on."""
    if word in support.against or word not in against:
        return word in support.against
    return edit.kind is not EditKind.KEPT or against[word].relation != DIFFERENT


def _follows(last: _Held, state: _Held) -> bool:
    """Whether two neighbours rest on words near each other in one sentence."""
    distance = max(state.span.begin - last.span.end, last.span.begin - state.span.end)
    return last.support == state.support and distance <= _NEAR


def _around(one: Span, other: Span) -> Span:
    return Span(min(one.begin, other.begin), max(one.end, other.end))


def _phrase(
    target: Sentence, span: Span, state: _Held | _Against | None, supports: Sequence[_Support]
) -> SourcedPhrase:
    span = _trim(target, span)
    begin, end = target.tokens[span.begin].start, target.tokens[span.end - 1].end
    text = target.text[begin:end]
    if state is None:
        return SourcedPhrase(begin, end, text)
    if isinstance(state, _Against):
        return SourcedPhrase(begin, end, text, relation=state.relation, against=state.words)
    support = supports[state.support]
    words = support.alignment.source.phrase(state.span)
    return SourcedPhrase(begin, end, text, support.source.line, words)


def _trim(target: Sentence, span: Span) -> Span:
    """A run without marks of punctuation at its ends."""
    begin, end = span
    while word_class(target.tokens[begin]) is WordClass.PUNCTUATION:
        begin += 1
    while word_class(target.tokens[end - 1]) is WordClass.PUNCTUATION:
        end -= 1
    return Span(begin, end)


# ---- for a terminal, and as a page ----


AID = "a reading aid, not a verdict: it shows where to look"


def render_sources(sentences: Sequence[SourcedSentence], names: tuple[str, str], colour: bool = False) -> str:
    """Each sentence of the summary, and below it its phrases with what they rest on."""
    paint = Paint(colour)
    article, summary = map(visible, names)
    lines = [paint(BOLD, f"{summary}, by {article}") + f": {_summary(sentences)} ({AID})"]
    for sentence in sentences:
        lines += ["", paint(CYAN, f"line {sentence.line}") + f": {visible(sentence.text)}"]
        lines += [f"  {_line(phrase, paint)}" for phrase in sentence.phrases]
        lines += [paint(RED, f"  {visible(sentence.error)}")] if sentence.error else []
    return "\n".join(lines)


def _summary(sentences: Sequence[SourcedSentence]) -> str:
    whole = sum(not sentence.unsupported for sentence in sentences)
    count = sum(len(sentence.unsupported) for sentence in sentences)
    return f"{counted(len(sentences), 'sentence')}, {whole} found whole, {counted(count, 'phrase')} found nowhere"


def _line(phrase: SourcedPhrase, paint: Paint) -> str:
    own = visible(phrase.text)
    if phrase.line:
        words = "" if phrase.source.lower() == phrase.text.lower() else f": {visible(phrase.source)}"
        return own + paint(DIM, f"  ← line {phrase.line}{words}")
    if phrase.against:
        return paint(RED, f"{own}  ← nothing; the article has {visible(phrase.against)}")
    return paint(RED, f"{own}  ← nothing")


def sources_page(sentences: Sequence[SourcedSentence], names: tuple[str, str]) -> str:
    """A page that is whole in itself."""
    article, summary = (escape(visible(name)) for name in names)
    title = f"{summary}, by {article}"
    content = [
        f"<h1>{title}</h1>",
        f'<p class="soft">{escape(_summary(sentences))}. This is {AID}.</p>',
        *map(_section, sentences),
    ]
    return page(title, "\n".join(content))


def _section(sentence: SourcedSentence) -> str:
    numbers = ", ".join(map(str, sentence.lines))
    about = f"{'line' if len(sentence.lines) == 1 else 'lines'} {numbers}" if numbers else "nothing"
    error = f" {escape(visible(sentence.error))}" if sentence.error else ""
    return (
        f'<section class="change"><div class="about"><span>line {sentence.line}</span>'
        f'<span>rests on {about}{error}</span></div><div class="sides">'
        f"<p>{''.join(_mark_phrases(sentence))}</p>"
        f"<p>{'<br>'.join(map(_describe, sentence.phrases))}</p></div></section>"
    )


def _mark_phrases(sentence: SourcedSentence) -> Iterator[str]:
    at = 0
    for phrase in sentence.phrases:
        yield escape(visible(sentence.text[at : phrase.begin]))
        text = escape(visible(phrase.text))
        yield f'<ins title="{escape(visible(phrase.source))}">{text}</ins>' if phrase.line else f"<mark>{text}</mark>"
        at = phrase.end
    yield escape(visible(sentence.text[at:]))


def _describe(phrase: SourcedPhrase) -> str:
    own = escape(visible(phrase.text))
    if phrase.line:
        return f'{own} <span class="soft">← line {phrase.line}: {escape(visible(phrase.source))}</span>'
    there = f"; the article has {escape(visible(phrase.against))}" if phrase.against else ""
    return f"<mark>{own}</mark> ← nothing{there}"
