"""Pairs of sentences whose phrases people aligned: what one holds, and how well the annotators agree.

An annotation names nodes of the binarised gold trees by (begin, end, label, bar flag); what an annotator does not list
is a null phrase. The conventional kappa does not apply, since the phrases aligned differ (section 6.4), so agreement
is F1 between two annotators and the human row of section 6.3.

Our annotated pairs as JSON lines (`annotations/dev.jsonl`).

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
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from forestalign.errors import AnnotationError, UsageError
from forestalign.evaluation.phrase_scores import (
    Match,
    NodePair,
    PhraseAnswer,
    PhraseNode,
    answer_over_trees,
    one_tree_forest,
    phrase_node,
    phrase_set,
    score_humans,
)
from forestalign.evaluation.scores import Score
from forestalign.forest import Forest, Node
from forestalign.formats.fields import Fields, shorten
from forestalign.formats.lines import read_text_lines
from forestalign.trees import BracketError, Tree, format_brackets, parse_brackets

ANNOTATORS = ("pa1", "pa2", "pa3")
_MOST_LETTERS = 40  # of an annotator's name


class NodeName(NamedTuple):
    """A node of a binarised tree; a word has its tag as label."""

    begin: int
    end: int
    label: str
    is_bar: bool


class NamedPair(NamedTuple):
    """A pair of nodes that an annotator aligned."""

    source: NodeName
    target: NodeName


class Mark(NamedTuple):
    """What an annotator says of a pair besides that it is one, such as `unsure` or `opposite`."""

    source: NodeName
    target: NodeName
    text: str


class JoinedWords(NamedTuple):
    """Words that an annotator aligned though they are not a phrase, *turned … down* with *rejected*, and their mark."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    mark: str = ""


class HeadException(NamedTuple):
    """A phrase whose head token is not the one the rules find."""

    begin: int
    end: int
    label: str
    head: int


@dataclass(frozen=True, slots=True)
class AnnotatedSentence:
    """One side: text, tokens, gold tree, and heads set by hand."""

    text: str
    tokens: tuple[str, ...]
    tree: Tree
    heads: tuple[HeadException, ...] = ()


@dataclass(frozen=True, slots=True)
class Annotation:
    """What one annotator aligned."""

    annotator: str
    pairs: tuple[NamedPair, ...]
    marks: tuple[Mark, ...] = ()
    scattered: tuple[JoinedWords, ...] = ()  # beside the pairs; scores do not count them


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the sentences of a pair come from: `side` is the one taken from the corpus, empty where both were written.

    `number` counts the sentences of the corpus from 1.
    """

    corpus: str
    licence: str
    number: int | None = None
    side: str = ""


@dataclass(frozen=True, slots=True)
class AnnotatedPair:
    """One pair of sentences with the alignments of its annotators; `line` is where it stands in its file."""

    id: str
    phenomena: tuple[str, ...]
    source: AnnotatedSentence
    target: AnnotatedSentence
    annotations: tuple[Annotation, ...]
    line: int = 0
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class AnnotationFinding:
    """One thing a check found; line 0 is the file as a whole."""

    path: str
    line: int
    code: str
    message: str

    @property
    def is_error(self) -> bool:
        """Whether it is an error and not a note."""
        return self.code.startswith("E")

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.code} {self.message}"


@dataclass(frozen=True, slots=True)
class AnnotatedFile:
    """One file, with the lines that could not be read."""

    path: str
    pairs: tuple[AnnotatedPair, ...]
    unreadable: tuple[AnnotationFinding, ...] = ()


@dataclass(frozen=True, slots=True)
class Agreement:
    """Figures between annotators, as shares: F1 of each two, the human row, and how many pairs all or two share.

    The human row is there for three annotators only, since it takes each against the other two.
    """

    pairwise: tuple[Score, ...]
    human: tuple[Score, ...]
    sentence_count: int  # sentence pairs that all annotators did
    pair_count: int  # phrase pairs that at least one annotator has
    by_two: int
    by_all: int


def checked_name(name: str) -> str:
    """An annotator's name; ValueError if it is none."""
    if not name.strip() or name != name.strip() or len(name) > _MOST_LETTERS or not name.isprintable():
        raise ValueError(f"{name!r} is not a name for an annotator; expected 1 to {_MOST_LETTERS} printable characters")
    return name


def node_names(forest: Forest) -> tuple[NodeName, ...]:
    """The names of all nodes, children before parents."""
    return tuple(NodeName(node.begin, node.end, node.label, node.is_bar) for node in forest.nodes)


def phrase_answer(pair: AnnotatedPair, annotation: Annotation) -> PhraseAnswer:
    """An annotation ready to be scored; every node without a partner is paired with the null phrase."""
    return answer_over_trees(
        one_tree_forest(pair.source.tree), one_tree_forest(pair.target.tree), _node_pairs(annotation)
    )


def _node_pairs(annotation: Annotation) -> list[NodePair]:
    return [NodePair(_phrase_node(source), _phrase_node(target)) for source, target in annotation.pairs]


def _phrase_node(name: NodeName) -> PhraseNode:
    return phrase_node(Node(name.begin, name.end, name.label, head=-1, semantic_head=-1, is_bar=name.is_bar))


def agreement(pairs: Sequence[AnnotatedPair], match: Match = Match.SPAN) -> Agreement:
    """How far the annotators agree, over the sentence pairs that all of them did; they may stand on several lines."""
    merged = merge_annotators(pairs)
    names = sorted({each.annotator for pair in merged for each in pair.annotations})
    if len(names) < 2:
        raise UsageError(f"agreement needs two annotators; found {', '.join(names) or 'none'}")
    shared = [pair for pair in merged if len(pair.annotations) == len(names)]
    if not shared:
        raise UsageError(f"no pair was annotated by all of {', '.join(names)}; there is nothing to compare")
    answers = [[phrase_set(phrase_answer(pair, _of(pair, name)), match) for pair in shared] for name in names]
    keys = [[answer.pairs for answer in row] for row in answers]
    pairwise = [Score(f"{names[i]}-{names[j]}", _f1(keys[i], keys[j])) for i, j in combinations(range(len(names)), 2)]
    times = [Counter(key for found in row for key in found) for row in zip(*keys, strict=True)]
    sharing = Counter(count for row in times for count in row.values())
    return Agreement(
        tuple(pairwise),
        score_humans(answers).scores()[:3] if len(names) == 3 else (),
        sentence_count=len(shared),
        pair_count=sharing.total(),
        by_two=sum(number for count, number in sharing.items() if count > 1),
        by_all=sharing[len(names)],
    )


def agreement_by_phenomenon(
    pairs: Sequence[AnnotatedPair], match: Match = Match.SPAN
) -> tuple[tuple[str, Agreement], ...]:
    """The agreement on the pairs of each phenomenon that all annotators did, in the order of the alphabet."""
    merged = merge_annotators(pairs)
    names = {each.annotator for pair in merged for each in pair.annotations}
    shared = [pair for pair in merged if len(pair.annotations) == len(names)]
    shown = sorted({name for pair in shared for name in pair.phenomena})
    return tuple((name, agreement([pair for pair in shared if name in pair.phenomena], match)) for name in shown)


def merge_annotators(pairs: Sequence[AnnotatedPair]) -> tuple[AnnotatedPair, ...]:
    """One pair for each id, with the annotators of all its lines; sentences and trees have to be the same."""
    merged: dict[str, AnnotatedPair] = {}
    for pair in pairs:
        known = merged.get(pair.id)
        if known is None:
            merged[pair.id] = pair
            continue
        if not same_sentences(known, pair):
            raise UsageError(f"pair {pair.id!r} has different sentences or trees in two places; expected the same")
        twice = {each.annotator for each in known.annotations} & {each.annotator for each in pair.annotations}
        if twice:
            raise UsageError(f"pair {pair.id!r} has two annotations of {', '.join(sorted(twice))}; expected one each")
        merged[pair.id] = replace(known, annotations=known.annotations + pair.annotations)
    return tuple(merged.values())


def same_sentences(first: AnnotatedPair, second: AnnotatedPair) -> bool:
    """Whether two annotations speak of the same nodes: tokens and trees are the same."""
    return all(
        (one.tokens, one.tree) == (two.tokens, two.tree)
        for one, two in ((first.source, second.source), (first.target, second.target))
    )


def _of(pair: AnnotatedPair, name: str) -> Annotation:
    return next(annotation for annotation in pair.annotations if annotation.annotator == name)


def _f1(first: Sequence[frozenset[Hashable]], second: Sequence[frozenset[Hashable]]) -> float:
    shared = sum(len(left & right) for left, right in zip(first, second, strict=True))
    total = sum(map(len, first)) + sum(map(len, second))
    return 2 * shared / total if total else 1.0


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
    rows = heads.rows(side, HeadException, _HEADS) if heads.has(side) else ()
    return AnnotatedSentence(own.text("text"), own.words("tokens"), tree, rows)


def _annotation(name: str, fields: Fields) -> Annotation:
    return Annotation(
        name,
        fields.rows("pairs", NamedPair, _PAIRS),
        fields.rows("marks", Mark, _MARKS) if fields.has("marks") else (),
        fields.rows("scattered", JoinedWords, _SCATTERED) if fields.has("scattered") else (),
    )
