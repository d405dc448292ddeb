"""Coded checks of an annotated set. Codes with E are errors; codes with N are notes, which a careful annotator may
leave as they are (the paper's own gold breaks monotony where meaning asks for it). Codes with a star are rules that
the set of annotations/ gave itself; other sets are held to them only on request.

    E01 the line cannot be read              E08 a phrase is aligned twice by one annotator
    E02 tokens do not spell the text         E09 the two roots are not aligned
    E03 tree and tokens differ               E10 there is no annotator (*: another one than our three)
    E04*too short or too long                E11 an id is used twice
    E05 source and target are the same       E12 a sentence is used twice
    E06 no such node in the binarised tree   E13*no phenomenon, or an unknown one
    E07 a pair is listed twice               E14*a phenomenon that the set must cover is missing
    E15*the split has too few pairs          E16 a head set by hand is outside its phrase, or there is no such phrase
    N01 two pairs cross or nest in different ways on the two sides
    N02 all annotators give the same alignment
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from forestalign.errors import counted
from forestalign.evaluation.annotated_pairs import (
    ANNOTATORS,
    AnnotatedPair,
    AnnotatedSentence,
    Annotation,
    NamedPair,
    NodeName,
    node_names,
)
from forestalign.evaluation.parse_scores import is_punctuation
from forestalign.evaluation.phrase_scores import one_tree_forest
from forestalign.forest import Forest

FEWEST_WORDS, MOST_WORDS = 8, 30
PHENOMENA = frozenset(
    {
        "acronym",
        "adjunct-fronting",
        "antonym",
        "apposition",
        "clause-reordering",
        "coordination",
        "date",
        "deletion",
        "idiom",
        "light-verb",
        "name",
        "negation",
        "nominalisation",
        "number",
        "phrasal-verb",
        "pp-attachment",
        "relative-clause",
        "voice",
    }
)


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
    """One split, with the lines that could not be read and the number of pairs it must have (0: any)."""

    path: str
    pairs: tuple[AnnotatedPair, ...]
    unreadable: tuple[AnnotationFinding, ...] = ()
    fewest_pairs: int = 0


def check_files(files: Sequence[AnnotatedFile], strict: bool = False) -> tuple[AnnotationFinding, ...]:
    """All findings, file by file; ids and sentences have to be new across files too. `strict`: our set's own rules."""
    findings: list[AnnotationFinding] = []
    ids: dict[str, str] = {}
    sentences: dict[str, str] = {}
    for file in files:
        findings.extend(file.unreadable)
        for pair in file.pairs:
            place = f"{file.path}:{pair.line}"
            findings += [AnnotationFinding(file.path, pair.line, *found) for found in check_pair(pair, strict)]
            findings += [
                AnnotationFinding(file.path, pair.line, *found) for found in _repeated(pair, place, ids, sentences)
            ]
        findings += [AnnotationFinding(file.path, 0, *found) for found in _check_split(file, strict)]
    return tuple(findings)


Found = tuple[str, str]  # code, message


def check_pair(pair: AnnotatedPair, strict: bool = False) -> Iterator[Found]:
    """Everything that can be seen in one pair alone; `strict` adds the rules that our own set has."""
    broken = False
    for side, sentence in (("source", pair.source), ("target", pair.target)):
        for found in _check_sentence(side, sentence):
            broken = broken or found[0] == "E03"
            yield found
    if pair.source.tokens == pair.target.tokens:
        yield "E05", "source and target are the same sentence; expected a paraphrase"
    yield from _check_annotators(pair)
    if strict:
        yield from _check_own_rules(pair)
    if not broken:
        yield from _check_alignments(pair)


def _check_sentence(side: str, sentence: AnnotatedSentence) -> Iterator[Found]:
    if "".join(sentence.text.split()) != "".join(sentence.tokens):
        yield "E02", f"{side} tokens spell {' '.join(sentence.tokens)!r}, the text is {sentence.text!r}"
    words = tuple(leaf.word for leaf in sentence.tree.leaves())
    if words != sentence.tokens:
        at = next((k for k, (a, b) in enumerate(zip(words, sentence.tokens, strict=False)) if a != b), None)
        where = (
            f"{counted(len(words), 'word')} in the tree, {counted(len(sentence.tokens), 'token')}"
            if at is None
            else f"word {at}"
        )
        yield (
            "E03",
            f"{side} tree and tokens differ: {where}"
            + ("" if at is None else f" is {words[at]!r} in the tree and {sentence.tokens[at]!r} among the tokens"),
        )


def _check_own_rules(pair: AnnotatedPair) -> Iterator[Found]:
    """What our own set asks of its pairs: their length, their phenomena, and who annotated them."""
    for side, sentence in (("source", pair.source), ("target", pair.target)):
        count = sum(not is_punctuation(token) for token in sentence.tokens)
        if not FEWEST_WORDS <= count <= MOST_WORDS:
            found = f"the {side} has {counted(count, 'word')} without punctuation"
            yield "E04", f"{found}; expected {FEWEST_WORDS} to {MOST_WORDS}"
    names = tuple(annotation.annotator for annotation in pair.annotations)
    if names and tuple(sorted(names)) != ANNOTATORS:
        yield "E10", f"the annotators are {', '.join(names)}; expected {', '.join(ANNOTATORS)}"
    if not pair.phenomena:
        yield "E13", f"no phenomenon; expected some of {', '.join(sorted(PHENOMENA))}"
    for name in pair.phenomena:
        if name not in PHENOMENA:
            yield "E13", f"phenomenon {name!r} is unknown; expected some of {', '.join(sorted(PHENOMENA))}"


def _check_annotators(pair: AnnotatedPair) -> Iterator[Found]:
    if not pair.annotations:
        yield "E10", "no annotator; expected at least one"
    alignments = {frozenset(annotation.pairs) for annotation in pair.annotations}
    if len(pair.annotations) > 1 and len(alignments) == 1:
        yield "N02", "all annotators give the same alignment"


Nodes = tuple[NodeName, ...]  # of one tree, children before parents


def _check_alignments(pair: AnnotatedPair) -> Iterator[Found]:
    source, target = one_tree_forest(pair.source.tree), one_tree_forest(pair.target.tree)
    names = node_names(source), node_names(target)
    for side, sentence, nodes in (("source", pair.source, names[0]), ("target", pair.target, names[1])):
        for begin, end, label, head in sentence.heads:
            if not begin <= head < end or not any(name[:3] == (begin, end, label) for name in nodes):
                yield "E16", f"{side} head {head} of {label} {begin}-{end}: no such phrase, or the head is outside it"
    roots = NamedPair(_root(source), _root(target))
    for annotation in pair.annotations:
        for code, message in _check_annotation(annotation, names, roots):
            yield code, f"{annotation.annotator}: {message}"


def _root(forest: Forest) -> NodeName:
    return node_names(forest)[forest.roots[0]]


def _check_annotation(annotation: Annotation, names: tuple[Nodes, Nodes], roots: NamedPair) -> Iterator[Found]:
    known = True
    for pair in annotation.pairs:
        for side, name, nodes in zip(("source", "target"), pair, names, strict=True):
            if name not in nodes:
                known = False
                yield "E06", f"no {side} node {_show(name)}; with this span there are: {_with_span(name, nodes)}"
    if len(set(annotation.pairs)) < len(annotation.pairs):
        repeated = next(pair for k, pair in enumerate(annotation.pairs) if pair in annotation.pairs[:k])
        yield "E07", f"{_show(repeated.source)} / {_show(repeated.target)} is listed twice"
    distinct = list(dict.fromkeys(annotation.pairs))
    for index, side in enumerate(("source", "target")):
        aligned = [pair[index] for pair in distinct]
        for name in sorted({name for name in aligned if aligned.count(name) > 1}):
            yield "E08", f"{side} node {_show(name)} is aligned {aligned.count(name)} times"
    if roots not in annotation.pairs:
        yield "E09", f"the roots {_show(roots.source)} and {_show(roots.target)} are not aligned"
    if known:
        yield from _crossings(distinct, names)


def _crossings(pairs: Sequence[NamedPair], names: tuple[Nodes, Nodes]) -> Iterator[Found]:
    """Nesting has to be the same on both sides: apart and apart, or inside and inside the same way round."""
    for first, second in combinations(pairs, 2):
        if _nesting(first.source, second.source, names[0]) != _nesting(first.target, second.target, names[1]):
            yield (
                "N01",
                f"{_show_pair(first)} and {_show_pair(second)} nest in another way on the one side than the other",
            )


def _nesting(first: NodeName, second: NodeName, nodes: Nodes) -> int:
    """1: the first holds the second; -1: the other way round; 0: apart. A phrase holds the word it spans."""
    if first.begin <= second.begin and second.end <= first.end and nodes.index(first) > nodes.index(second):
        return 1
    if second.begin <= first.begin and first.end <= second.end and nodes.index(second) > nodes.index(first):
        return -1
    return 0


def _repeated(pair: AnnotatedPair, place: str, ids: dict[str, str], sentences: dict[str, str]) -> Iterator[Found]:
    if pair.id in ids:
        yield "E11", f"id {pair.id!r} stands at {ids[pair.id]} already"
    ids.setdefault(pair.id, place)
    for side, sentence in (("source", pair.source), ("target", pair.target)):
        text = " ".join(sentence.tokens).casefold()
        if text in sentences:
            yield "E12", f"the {side} stands at {sentences[text]} already: {sentence.text!r}"
        sentences.setdefault(text, place)


def _check_split(file: AnnotatedFile, strict: bool) -> Iterator[Found]:
    if len(file.pairs) < file.fewest_pairs:
        yield "E15", f"{counted(len(file.pairs), 'pair')}; expected at least {file.fewest_pairs}"
    if strict:
        covered = {name for pair in file.pairs for name in pair.phenomena}
        for name in sorted(PHENOMENA - covered):
            yield "E14", f"no pair shows {name}"


def _with_span(name: NodeName, nodes: Nodes) -> str:
    found = sorted(node for node in nodes if (node.begin, node.end) == (name.begin, name.end))
    return ", ".join(map(_show, found)) or "none"


def _show(name: NodeName) -> str:
    return f"{name.label}{chr(39) if name.is_bar else ''} {name.begin}-{name.end}"


def _show_pair(pair: NamedPair) -> str:
    return f"{_show(pair.source)}/{_show(pair.target)}"
