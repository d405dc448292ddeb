"""Coded checks of an annotated set. Codes with E are errors; codes with N are notes, which a careful annotator may
leave as they are (the paper's own gold breaks monotony where meaning asks for it).

    E01 the line cannot be read              E10 there is no annotator, or no answer of one (`annotations collect`)
    E02 tokens do not spell the text         E11 an id is used twice
    E03 tree and tokens differ               E12 a sentence is used twice
    E05 source and target are the same       E16 a head set by hand is outside its phrase, or there is no such phrase
    E06 no such node, or no such words       E17 an origin without a licence
    E07 a pair is listed twice               E18 an answer (`annotations collect`) to a pair that is not there
    E08 a phrase is aligned twice by one annotator
    E09 the two roots are not aligned
    N01 two pairs cross or nest in different ways on the two sides
    N02 all annotators give the same alignment
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from forestalign.errors import counted
from forestalign.evaluation.annotated_pairs import (
    AnnotatedFile,
    AnnotatedPair,
    AnnotatedSentence,
    Annotation,
    AnnotationFinding,
    JoinedWords,
    NamedPair,
    NodeName,
    node_names,
)
from forestalign.evaluation.phrase_scores import one_tree_forest
from forestalign.forest import Forest

NO_PARAPHRASE = "no-paraphrase"  # shared words, another meaning: only what corresponds is aligned


def check_files(files: Sequence[AnnotatedFile]) -> tuple[AnnotationFinding, ...]:
    """All findings, file by file; ids and sentences have to be new across files too."""
    findings: list[AnnotationFinding] = []
    ids: dict[str, str] = {}
    sentences: dict[str, str] = {}
    for file in files:
        findings.extend(file.unreadable)
        for pair in file.pairs:
            place = f"{file.path}:{pair.line}"
            checked = (*check_pair(pair), *_check_repetition(pair, place, ids, sentences))
            findings += [AnnotationFinding(file.path, pair.line, *found) for found in checked]
    return tuple(findings)


Found = tuple[str, str]  # code, message


def check_pair(pair: AnnotatedPair) -> Iterator[Found]:
    """Everything that can be seen in one pair alone."""
    broken = False
    for side, sentence in (("source", pair.source), ("target", pair.target)):
        for found in _check_sentence(side, sentence):
            broken = broken or found[0] == "E03"
            yield found
    if pair.source.tokens == pair.target.tokens:
        yield "E05", "source and target are the same sentence; expected a paraphrase"
    if pair.origin is not None and not pair.origin.licence.strip():
        yield "E17", f"the origin {pair.origin.corpus!r} has no licence; expected its name"
    yield from _check_annotators(pair)
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
        for code, message in _check_annotation(annotation, names, roots, has_equal_roots(pair)):
            yield code, f"{annotation.annotator}: {message}"
        for code, message in check_words(annotation.scattered, (len(pair.source.tokens), len(pair.target.tokens))):
            yield code, f"{annotation.annotator}: {message}"


def check_words(scattered: Sequence[JoinedWords], counts: tuple[int, int]) -> Iterator[Found]:
    """What is wrong with words that are aligned and not a phrase; `counts` are the words of the two sentences."""
    for side, count, rows in zip(("source", "target"), counts, _sides(scattered), strict=True):
        for words in rows:
            if not words or list(words) != sorted(set(words)) or words[0] < 0 or words[-1] >= count:
                yield "E06", f"{side} words {list(words)}; expected numbers from 0 to {count - 1}, each greater"
        every = [word for words in rows for word in words]
        for word in sorted({word for word in every if every.count(word) > 1}):
            yield "E08", f"{side} word {word} is joined with others twice"
    for source, target, _ in scattered:
        if len(source) == len(target) == 1:
            yield "E06", f"words {list(source)} and {list(target)}: expected several on one side; one word is a phrase"


def _sides(scattered: Sequence[JoinedWords]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    return [each.source for each in scattered], [each.target for each in scattered]


def _root(forest: Forest) -> NodeName:
    return node_names(forest)[forest.roots[0]]


def has_equal_roots(pair: AnnotatedPair) -> bool:
    """Whether the sentences say the same as wholes, so that their roots have to be aligned."""
    return NO_PARAPHRASE not in pair.phenomena


def _check_annotation(
    annotation: Annotation, names: tuple[Nodes, Nodes], roots: NamedPair, has_roots: bool
) -> Iterator[Found]:
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
    if has_roots and roots not in annotation.pairs:
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


def _check_repetition(
    pair: AnnotatedPair, place: str, ids: dict[str, str], sentences: dict[str, str]
) -> Iterator[Found]:
    if pair.id in ids:
        yield "E11", f"id {pair.id!r} stands at {ids[pair.id]} already"
    ids.setdefault(pair.id, place)
    for side, sentence in (("source", pair.source), ("target", pair.target)):
        text = " ".join(sentence.tokens).casefold()
        if text in sentences:
            yield "E12", f"the {side} stands at {sentences[text]} already: {sentence.text!r}"
        sentences.setdefault(text, place)


def _with_span(name: NodeName, nodes: Nodes) -> str:
    found = sorted(node for node in nodes if (node.begin, node.end) == (name.begin, name.end))
    return ", ".join(map(_show, found)) or "none"


def _show(name: NodeName) -> str:
    return f"{name.label}{chr(39) if name.is_bar else ''} {name.begin}-{name.end}"


def _show_pair(pair: NamedPair) -> str:
    return f"{_show(pair.source)}/{_show(pair.target)}"
