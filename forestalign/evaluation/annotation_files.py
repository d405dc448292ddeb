"""Our annotated pairs as JSON lines (`annotations/dev.jsonl`).

One object per line: `id`, `phenomena`, `source` and `target` (`text`, `tokens`, `tree` in Penn brackets), `annotators`
(name -> `pairs` of nodes, a node being `[begin, end, label, is_bar]`), and, where heads were set by hand, `heads`
(`source` and `target`, each a list of `[begin, end, label, head token]`). An annotator may have `marks` besides
`pairs`: a list of `[source node, target node, text]`, such as `unsure`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from forestalign.errors import AnnotationError
from forestalign.evaluation.annotated_pairs import (
    AnnotatedPair,
    AnnotatedSentence,
    Annotation,
    HeadException,
    Mark,
    NamedPair,
    NodeName,
)
from forestalign.evaluation.annotation_checks import AnnotatedFile, AnnotationFinding
from forestalign.formats.fields import Fields, shorten
from forestalign.formats.lines import read_text_lines
from forestalign.trees import BracketError, format_brackets, parse_brackets

_NODE = "a node [begin, end, label, true or false for a bar node]"
_PAIRS = f"a list of pairs, each of two of {_NODE}"
_MARKS = f"a list of [source node, target node, text], a node being {_NODE}"
_HEADS = "a list of [begin, end, label, head token]"


def read_annotations(path: str | Path) -> Iterator[AnnotatedPair]:
    """The pairs of a file; the first bad line raises AnnotationError."""
    for number, text in read_text_lines(path):
        try:
            yield annotated_pair(text, number)
        except ValueError as error:
            raise AnnotationError(path, number, str(error)) from error


def read_annotated_file(path: str | Path, fewest_pairs: int = 0) -> AnnotatedFile:
    """A file to be checked: bad lines become findings, the rest is read."""
    pairs, unreadable = [], []
    for number, text in read_text_lines(path):
        try:
            pairs.append(annotated_pair(text, number))
        except ValueError as error:
            unreadable.append(AnnotationFinding(str(path), number, "E01", str(error)))
    return AnnotatedFile(str(path), tuple(pairs), tuple(unreadable), fewest_pairs)


def annotated_pair(text: str, line: int = 0) -> AnnotatedPair:
    """One line; ValueError says what is wrong with it."""
    fields = Fields.parse(text)
    people = fields.child("annotators")
    annotations = [_annotation(name, people.child(name)) for name in people.values]
    return AnnotatedPair(
        fields.identity("id"),
        fields.words("phenomena"),
        _sentence(fields, "source"),
        _sentence(fields, "target"),
        tuple(annotations),
        line,
    )


def format_annotated_pair(pair: AnnotatedPair) -> str:
    """A pair as one line."""
    sides = {"source": pair.source, "target": pair.target}
    fields: dict[str, object] = {"id": pair.id, "phenomena": pair.phenomena}
    for side, sentence in sides.items():
        fields[side] = {"text": sentence.text, "tokens": sentence.tokens, "tree": format_brackets(sentence.tree)}
    fields["annotators"] = {each.annotator: _annotation_fields(each) for each in pair.annotations}
    heads = {side: sentence.heads for side, sentence in sides.items() if sentence.heads}
    return json.dumps(fields | ({"heads": heads} if heads else {}), ensure_ascii=False)


def _annotation_fields(annotation: Annotation) -> dict[str, object]:
    fields: dict[str, object] = {"pairs": annotation.pairs}
    return fields | {"marks": annotation.marks} if annotation.marks else fields


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
    return Annotation(
        name,
        tuple(_named_pair(fields, row) for row in fields.rows("pairs", 2, _PAIRS)),
        tuple(_mark(fields, row) for row in marks),
    )


def _mark(fields: Fields, row: tuple[object, ...]) -> Mark:
    if not isinstance(row[2], str):
        raise ValueError(f"{fields.place}.marks: {shorten(row[2])} is no text; expected {_MARKS}")
    return Mark(_node_name(fields, row[0]), _node_name(fields, row[1]), row[2])


def _named_pair(fields: Fields, row: tuple[object, ...]) -> NamedPair:
    return NamedPair(_node_name(fields, row[0]), _node_name(fields, row[1]))


def _node_name(fields: Fields, value: object) -> NodeName:
    match value:
        case [int(begin), int(end), str(label), bool(is_bar)]:
            return NodeName(begin, end, label, is_bar)
    raise ValueError(f"{fields.place}: {shorten(value)} is no node; expected {_NODE}")


def _head_exception(fields: Fields, side: str, row: tuple[object, ...]) -> HeadException:
    match row:
        case (int(begin), int(end), str(label), int(head)):
            return HeadException(begin, end, label, head)
    raise ValueError(f"{fields.place}.{side}: {shorten(row)} is no head; expected {_HEADS}")
