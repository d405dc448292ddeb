"""Our annotated pairs as JSON lines (`annotations/dev.jsonl`).

One object per line: `id`, `phenomena`, `source` and `target` (`text`, `tokens`, `tree` in Penn brackets), `annotators`
(name -> `pairs` of nodes, a node being `[begin, end, label, is_bar]`), and, where heads were set by hand, `heads`
(`source` and `target`, each a list of `[begin, end, label, head token]`). An annotator may have `marks` besides
`pairs`: a list of `[source node, target node, text]`, such as `unsure`; and `scattered`, words that are aligned though
they are not a phrase: a list of `[source words, target words, text]`. A pair of which one sentence was taken from a
corpus has an `origin` (`corpus`, `licence`, `number`, `side`). Pairs that nobody has annotated yet may lack
`annotators`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from forestalign.errors import AnnotationError
from forestalign.evaluation.annotated_pairs import (
    AnnotatedPair,
    AnnotatedSentence,
    Annotation,
    HeadException,
    JoinedWords,
    Mark,
    NamedPair,
    NodeName,
    Origin,
)
from forestalign.evaluation.annotation_checks import AnnotatedFile, AnnotationFinding
from forestalign.formats.fields import Fields, shorten
from forestalign.formats.lines import read_text_lines
from forestalign.trees import BracketError, format_brackets, parse_brackets

_NODE = "a node [begin, end, label, true or false for a bar node]"
_PAIRS = f"a list of pairs, each of two of {_NODE}"
_MARKS = f"a list of [source node, target node, text], a node being {_NODE}"
_SCATTERED = "a list of [numbers of source words, numbers of target words, text]"
_HEADS = "a list of [begin, end, label, head token]"


def read_annotations(path: str | Path) -> Iterator[AnnotatedPair]:
    """The pairs of a file; the first bad line raises AnnotationError."""
    for number, text in read_text_lines(path):
        try:
            yield annotated_pair(text, number)
        except ValueError as error:
            raise AnnotationError(path, number, str(error)) from error


def read_annotated_file(path: str | Path) -> AnnotatedFile:
    """A file to be checked: bad lines become findings, the rest is read."""
    pairs, unreadable = [], []
    for number, text in read_text_lines(path):
        try:
            pairs.append(annotated_pair(text, number))
        except ValueError as error:
            unreadable.append(AnnotationFinding(str(path), number, "E01", str(error)))
    return AnnotatedFile(str(path), tuple(pairs), tuple(unreadable))


def annotated_pair(text: str, line: int = 0) -> AnnotatedPair:
    """One line; a result of `align --json` is a pair that nobody has annotated. ValueError says what is wrong."""
    fields = Fields.parse(text)
    people = fields.child("annotators") if fields.has("annotators") else Fields({})
    annotations = [_annotation(name, people.child(name)) for name in people.values]
    return AnnotatedPair(
        fields.identity("id"),
        () if fields.has("phrases") and not fields.has("phenomena") else fields.words("phenomena"),
        _sentence(fields, "source"),
        _sentence(fields, "target"),
        tuple(annotations),
        line,
        _origin(fields.child("origin")) if fields.has("origin") else None,
    )


def format_annotated_pair(pair: AnnotatedPair) -> str:
    """A pair as one line."""
    sides = {"source": pair.source, "target": pair.target}
    fields: dict[str, object] = {"id": pair.id, "phenomena": pair.phenomena}
    if pair.origin is not None:
        fields["origin"] = asdict(pair.origin)
    for side, sentence in sides.items():
        fields[side] = {"text": sentence.text, "tokens": sentence.tokens, "tree": format_brackets(sentence.tree)}
    fields["annotators"] = {each.annotator: _annotation_fields(each) for each in pair.annotations}
    heads = {side: sentence.heads for side, sentence in sides.items() if sentence.heads}
    return json.dumps(fields | ({"heads": heads} if heads else {}), ensure_ascii=False)


def _annotation_fields(annotation: Annotation) -> dict[str, object]:
    fields: dict[str, object] = {"pairs": annotation.pairs}
    if annotation.marks:
        fields["marks"] = annotation.marks
    return fields | {"scattered": annotation.scattered} if annotation.scattered else fields


def _origin(fields: Fields) -> Origin:
    """A licence that is missing is left to the checks, which tell all such lines."""
    licence = fields.text("licence") if fields.has("licence") else ""
    number = fields.whole("number") if fields.values.get("number") is not None else None
    side = fields.text("side") if fields.has("side") else ""
    if side not in ("source", "target", ""):
        fields.complain("side", f"{shorten(side)} is not a side; expected source, target or nothing")
    return Origin(fields.text("corpus"), licence, number, side)


def _sentence(fields: Fields, side: str) -> AnnotatedSentence:
    own = fields.child(side)
    try:
        tree = parse_brackets(own.text("tree"))
    except BracketError as error:
        own.complain("tree", str(error))
    heads = fields.child("heads") if fields.has("heads") else Fields({})
    rows = heads.rows(side, 4, _HEADS) if heads.has(side) else ()
    return AnnotatedSentence(
        own.text("text"), own.words("tokens"), tree, tuple(_head_exception(heads, side, row) for row in rows)
    )


def _annotation(name: str, fields: Fields) -> Annotation:
    marks = fields.rows("marks", 3, _MARKS) if fields.has("marks") else ()
    scattered = fields.rows("scattered", 3, _SCATTERED) if fields.has("scattered") else ()
    return Annotation(
        name,
        tuple(_named_pair(fields, row) for row in fields.rows("pairs", 2, _PAIRS)),
        tuple(_mark(fields, row) for row in marks),
        tuple(_joined_words(fields, row) for row in scattered),
    )


def _joined_words(fields: Fields, row: tuple[object, ...]) -> JoinedWords:
    source, target, text = row
    if not isinstance(text, str):
        raise ValueError(f"{fields.place}.scattered: {shorten(text)} is no text; expected {_SCATTERED}")
    return JoinedWords(_word_numbers(fields, source), _word_numbers(fields, target), text)


def _word_numbers(fields: Fields, value: object) -> tuple[int, ...]:
    numbers = [each for each in value if type(each) is int] if isinstance(value, list) else []
    if not isinstance(value, list) or len(numbers) < len(value):
        raise ValueError(f"{fields.place}.scattered: {shorten(value)} are no numbers of words; expected {_SCATTERED}")
    return tuple(numbers)


def _mark(fields: Fields, row: tuple[object, ...]) -> Mark:
    if not isinstance(row[2], str):
        raise ValueError(f"{fields.place}.marks: {shorten(row[2])} is not text; expected {_MARKS}")
    return Mark(_node_name(fields, row[0]), _node_name(fields, row[1]), row[2])


def _named_pair(fields: Fields, row: tuple[object, ...]) -> NamedPair:
    return NamedPair(_node_name(fields, row[0]), _node_name(fields, row[1]))


def _node_name(fields: Fields, value: object) -> NodeName:
    match value:
        case [int(begin), int(end), str(label), bool(is_bar)]:
            return NodeName(begin, end, label, is_bar)
    raise ValueError(f"{fields.place}: {shorten(value)} is not a node; expected {_NODE}")


def _head_exception(fields: Fields, side: str, row: tuple[object, ...]) -> HeadException:
    match row:
        case (int(begin), int(end), str(label), int(head)):
            return HeadException(begin, end, label, head)
    raise ValueError(f"{fields.place}.{side}: {shorten(row)} is not a head; expected {_HEADS}")
