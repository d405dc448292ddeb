"""Results as JSON lines: what `forestalign align --json` prints, and the same results read back.

`docs/formats.md` documents every field. Spans are half-open, in tokens; a phrase stands after the phrases that support
it. A result that was written and read is equal to itself, and its line is the same to the byte; it has neither forests
nor vectors of words. Lines of version 0.1.0, which know neither evidence nor relation, get their defaults.

Phrase pairs as the rows of a table: what `forestalign align --tsv` prints, and data frames.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from forestalign.errors import AnnotationError, UsageError
from forestalign.formats.fields import Fields, finite, shorten
from forestalign.formats.lines import cell, read_text_lines
from forestalign.formats.tree_files import fit_tree
from forestalign.inputs import finite_number
from forestalign.phrases.result.alignment import (
    HIGHEST_SCORE,
    VERDICTS,
    Alignment,
    DiscontinuousPair,
    ForestNode,
    ForestNodes,
    PhraseAlignment,
    PhrasePair,
    Verdict,
)
from forestalign.phrases.result.discontinuous_pairs import runs_of, scattered_words
from forestalign.tokens import Sentence, Span, Token, analyse
from forestalign.trees import Tree, format_brackets, parse_brackets
from forestalign.words.alignment import NO_LINKS, WordAlignment, WordLink, link_score

VERSION = 1


# ---- to JSON ----


def to_json(alignment: Alignment) -> str:
    """One line, fields always in the same order."""
    best = alignment.phrases
    fields: dict[str, object] = {
        "version": VERSION,
        "id": alignment.id,
        "source": _side_fields(alignment.source, best.source_tree),
        "target": _side_fields(alignment.target, best.target_tree),
        "words": _link_fields(alignment.words),
        **_pair_fields(best),
        "reached_root": best.reached_root,
        "completed": best.completed,
        "log_score": finite(best.log_score),
        "signature": alignment.signature,
        "verdict": alignment.verdict,
        "probability": alignment.probability,
        "similarity": alignment.score,
        **_scattered_fields(best),
    }
    if extended := best.extended:
        fields["extended"] = [phrase._asdict() for phrase in extended]
    if left_out := alignment.left_out:
        fields["left_out"] = [[link.source, link.target] for link in left_out]
    if alignment.candidates.links:
        fields["candidates"] = _link_fields(alignment.candidates)
    if alignment.alternatives:
        fields["alternatives"] = [_alternative_fields(other) for other in alignment.alternatives]
    if alignment.unchosen is not None:
        fields["forests"] = alignment.unchosen._asdict()
    return json.dumps(fields, ensure_ascii=False, allow_nan=False)


def _side_fields(sentence: Sentence, tree: Tree) -> dict[str, object]:
    return {"text": sentence.text, "tokens": sentence.written_words, "tree": format_brackets(tree)}


def _link_fields(links: Iterable[WordLink]) -> list[object]:
    return [[link.source, link.target, finite(link.score)] for link in links]


def _alternative_fields(other: PhraseAlignment) -> dict[str, object]:
    return {
        **_pair_fields(other),
        "log_score": finite(other.log_score),
        "reached_root": other.reached_root,
        "completed": other.completed,
        "source_tree": format_brackets(other.source_tree),
        "target_tree": format_brackets(other.target_tree),
        **_scattered_fields(other),
    }


def _pair_fields(phrases: PhraseAlignment) -> dict[str, object]:
    return {
        "phrases": [_phrase_fields(pair) for pair in phrases.pairs],
        "nulls": {"source": phrases.source_nulls, "target": phrases.target_nulls},
    }


def _scattered_fields(phrases: PhraseAlignment) -> dict[str, object]:
    names = {"confidence": "posterior"}
    rows = [
        {names.get(name, name): value for name, value in one._asdict().items() if value is not None}
        for one in phrases.scattered
    ]
    return {"scattered": rows} if rows else {}


def _phrase_fields(pair: PhrasePair) -> dict[str, object]:
    fields: dict[str, object] = {
        "source": pair.source,
        "target": pair.target,
        "source_label": pair.source_label,
        "target_label": pair.target_label,
        "compositional": pair.compositional,
        "score": finite(pair.log_prob),
        "supports": pair.supports,
        "bar": pair.is_bar,
        "inverted": pair.inverted,
        "evidence": pair.evidence,
        "relation": pair.relation,
    }
    if pair.reason:
        fields["reason"] = pair.reason
    return fields if pair.confidence is None else fields | {"posterior": pair.confidence}


# ---- from JSON ----


def read_phrases(path: str | Path) -> Iterator[Alignment]:
    """The results of a file, one per line; the first bad line raises AnnotationError."""
    for number, text in read_text_lines(path):
        yield from_json(text, path, number)


def from_json(text: str, path: str | Path = "phrase record", line: int | None = None) -> Alignment:
    """A checked result: known version, spans inside the sentences, supports before what they support, trees that fit.

    Unknown fields are passed over, so that a later version may add some; what follows from the others is found anew.
    """
    try:
        return _alignment(Fields.parse(text))
    except ValueError as error:
        raise AnnotationError(path, line, str(error)) from error


def sentence_in(text: str, words: Sequence[str]) -> Sentence:
    """The words at their places in the text; ValueError if one is not there."""
    tokens: list[Token] = []
    position = 0
    for word in words:
        begin = text.find(word, position)
        if begin < 0 or text[position:begin].strip():
            raise ValueError(f"token {len(tokens)}, {word!r}, does not follow in the text {shorten(text)}")
        position = begin + len(word)
        tokens.append(Token(word, begin, position))
    return Sentence(text, tuple(tokens))


class _ReadSide:
    """One sentence of a line; alternatives mostly share its tree, which is read once."""

    def __init__(self, fields: Fields):
        self._trees: dict[str, Tree] = {}
        try:
            self.sentence = sentence_in(fields.text("text"), fields.words("tokens"))
        except ValueError as error:
            fields.complain("tree", str(error))
        self.best = self.tree(fields, "tree")
        self.sentence = analyse(self.sentence, [leaf.label for leaf in self.best.leaves()])

    def tree(self, fields: Fields, name: str) -> Tree:
        """The tree of a field."""
        brackets = fields.text(name)
        if brackets not in self._trees:
            try:
                self._trees[brackets] = fit_tree(parse_brackets(brackets), self.sentence)
            except ValueError as error:
                fields.complain(name, str(error))
        return self._trees[brackets]


def _alignment(fields: Fields) -> Alignment:
    version = fields.whole("version")
    if version != VERSION:
        fields.complain("version", f"found {version}; this program reads version {VERSION}")
    sides = _ReadSide(fields.child("source")), _ReadSide(fields.child("target"))
    counts = len(sides[0].sentence), len(sides[1].sentence)
    others = fields.children("alternatives") if fields.has("alternatives") else ()
    return Alignment(
        id=fields.text("id"),
        source=sides[0].sentence,
        target=sides[1].sentence,
        words=_links(fields, "words", counts),
        phrases=_phrases(fields, sides, sides[0].best, sides[1].best),
        alternatives=tuple(
            _phrases(other, sides, sides[0].tree(other, "source_tree"), sides[1].tree(other, "target_tree"))
            for other in others
        ),
        candidates=_links(fields, "candidates", counts) if fields.has("candidates") else NO_LINKS,
        signature=fields.text("signature"),
        unchosen=_unchosen(fields.child("forests"), counts) if fields.has("forests") else None,
        judged=_read_verdict(fields) if fields.has("verdict") else None,
    )


def _read_verdict(fields: Fields) -> Verdict:
    found = fields.text("verdict")
    if found not in VERDICTS:
        fields.complain("verdict", f"found {shorten(found)}; expected one of {', '.join(VERDICTS)}")
    return Verdict(found, _number(fields, "probability", 1), _number(fields, "similarity", HIGHEST_SCORE))


def _phrases(
    fields: Fields, sides: tuple[_ReadSide, _ReadSide], source_tree: Tree, target_tree: Tree
) -> PhraseAlignment:
    sentences = sides[0].sentence, sides[1].sentence
    counts = len(sentences[0]), len(sentences[1])
    nulls = fields.child("nulls")
    return PhraseAlignment(
        pairs=tuple(_read_pair(row, index, sentences) for index, row in enumerate(fields.children("phrases"))),
        source_nulls=nulls.spans("source", counts[0]),
        target_nulls=nulls.spans("target", counts[1]),
        source_tree=source_tree,
        target_tree=target_tree,
        log_score=fields.number("log_score"),
        reached_root=fields.flag("reached_root"),
        completed=fields.flag("completed"),
        scattered=tuple(_scattered(row, counts) for row in fields.children("scattered"))
        if fields.has("scattered")
        else (),
    )


def _read_pair(fields: Fields, index: int, sentences: tuple[Sentence, Sentence]) -> PhrasePair:
    supports = fields.wholes("supports")
    if not all(0 <= support < index for support in supports):
        earlier = (
            f"numbers of phrases before this one, below {index}" if index else "none, as no phrase is before this one"
        )
        fields.complain("supports", f"found {list(supports)}; expected {earlier}")
    return PhrasePair(
        sentences[0].span(*fields.span("source", len(sentences[0]))),
        sentences[1].span(*fields.span("target", len(sentences[1]))),
        fields.text("source_label"),
        fields.text("target_label"),
        fields.flag("bar"),
        fields.flag("compositional"),
        fields.flag("inverted"),
        fields.number("score"),
        supports,
        _posterior(fields),
        fields.words("evidence") if fields.has("evidence") else ("links",),
        fields.text("relation") if fields.has("relation") else "",
        fields.text("reason") if fields.has("reason") else "",
    )


def _posterior(fields: Fields) -> float | None:
    if not fields.has("posterior") or fields.values["posterior"] is None:
        return None
    return _number(fields, "posterior", 1)


def _number(fields: Fields, name: str, highest: int) -> float:
    value = fields.number(name)
    if not 0.0 <= value <= highest:
        fields.complain(name, f"found {value:g}; expected a number from 0 to {highest}")
    return value


def _scattered(fields: Fields, counts: tuple[int, int]) -> DiscontinuousPair:
    sides = fields.wholes("source"), fields.wholes("target")
    for name, words, count in zip(("source", "target"), sides, counts, strict=True):
        if not words or not all(0 <= word < count for word in words):
            fields.complain(name, f"found {shorten(words)}; expected numbers of words below {count}")
    return DiscontinuousPair(*sides, fields.text("evidence"), fields.text("relation"), _posterior(fields))


def _links(fields: Fields, name: str, counts: tuple[int, int]) -> WordAlignment:
    expectation = f"[i, j, score] with i below {counts[0]} and j below {counts[1]}"
    links = []
    for row in fields.items(name, f"a list of {expectation}"):
        match row:
            case (int(i), int(j), value) if (
                type(i) is type(j) is int  # and not true or false
                and 0 <= i < counts[0]
                and 0 <= j < counts[1]
                and (score := link_score(value)) is not None
            ):
                links.append(WordLink(i, j, score))
            case _:
                fields.complain(name, f"found {shorten(row)}; expected {expectation}")
    return WordAlignment(tuple(links))


def _unchosen(fields: Fields, counts: tuple[int, int]) -> ForestNodes:
    return ForestNodes(_nodes(fields, "source", counts[0]), _nodes(fields, "target", counts[1]))


def _nodes(fields: Fields, name: str, word_count: int) -> tuple[ForestNode, ...]:
    expectation = f"[begin, end, label, marginal] with 0 <= begin < end <= {word_count}"
    nodes = []
    for row in fields.items(name, f"a list of {expectation}"):
        match row:
            case (int(begin), int(end), str(label), value) if (
                0 <= begin < end <= word_count and (marginal := finite_number(value)) is not None
            ):
                nodes.append(ForestNode(begin, end, label, marginal))
            case _:
                fields.complain(name, f"found {shorten(row)}; expected {expectation}")
    return tuple(nodes)


COLUMNS = (
    "id",
    "source",
    "target",
    "source_span",
    "target_span",
    "source_label",
    "target_label",
    "relation",
    "evidence",
    "compositional",
    "score",
    "posterior",
)


FRAME_COLUMNS = (
    "id",
    "source",
    "target",
    "confidence",
    "relation",
    "source_start",
    "source_end",
    "target_start",
    "target_end",
    "source_label",
    "target_label",
    "evidence",
    "compositional",
)


def to_tsv(alignment: Alignment, bars: bool | None = None) -> str:
    """A row per pair of phrases, of words that are no phrase, and per null phrase; cells that do not apply are empty.

    `bars` asks for all phrases that exist in the binarised trees alone, or for none.
    """
    rows = [*_pair_rows(alignment, bars), *_scattered_rows(alignment), *_null_rows(alignment)]
    return "\n".join("\t".join([cell(" ".join(alignment.id.split())), *row]) for row in rows)


def to_dataframe(alignment: Alignment) -> Any:
    """A pandas DataFrame with a row per pair that is shown, from the top down."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise UsageError("a DataFrame needs pandas, which is not installed: pip install pandas") from None
    rows = [
        {
            "id": alignment.id,
            "source": pair.source.text,
            "target": pair.target.text,
            "confidence": pair.confidence,
            "relation": pair.relation,
            "source_start": pair.source.start,
            "source_end": pair.source.end,
            "target_start": pair.target.start,
            "target_end": pair.target.end,
            "source_label": pair.source_label,
            "target_label": pair.target_label,
            "evidence": ",".join(pair.evidence),
            "compositional": pair.compositional,
        }
        for pair in alignment
    ]
    return pandas.DataFrame(rows, columns=list(FRAME_COLUMNS))


def _pair_rows(alignment: Alignment, bars: bool | None) -> Iterator[tuple[str, ...]]:
    for pair in alignment.own_pairs(bars=bars):
        yield (
            cell(pair.source.text),
            cell(pair.target.text),
            _span(pair.source),
            _span(pair.target),
            pair.source_label,
            pair.target_label,
            pair.relation,
            ",".join(pair.evidence),
            "yes" if pair.compositional else "no",
            f"{pair.log_prob:.5g}",
            _share(pair.confidence),
        )


def _scattered_rows(alignment: Alignment) -> Iterator[tuple[str, ...]]:
    for one in alignment.phrases.scattered:
        texts = scattered_words(alignment.source, one.source), scattered_words(alignment.target, one.target)
        spans = (",".join(map(_span, runs_of(words))) for words in (one.source, one.target))
        yield *map(cell, texts), *spans, "", "", one.relation, one.evidence, "", "", _share(one.confidence)


def _null_rows(alignment: Alignment) -> Iterator[tuple[str, ...]]:
    rest = ("",) * (len(COLUMNS) - 5)
    for text, span in _nulls(alignment.source, alignment.phrases.source_nulls):
        yield cell(text), "", span, "", *rest
    for text, span in _nulls(alignment.target, alignment.phrases.target_nulls):
        yield "", cell(text), "", span, *rest


def _nulls(sentence: Sentence, spans: tuple[Span, ...]) -> Iterator[tuple[str, str]]:
    return ((sentence.phrase(span), _span(span)) for span in spans)


def _share(posterior: float | None) -> str:
    return "" if posterior is None else f"{posterior:.5g}"


def _span(span: Span) -> str:
    return f"{span.begin}-{span.end}"
