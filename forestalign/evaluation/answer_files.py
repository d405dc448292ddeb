"""Gold standards and system outputs as the metrics take them, from any file format that holds them.

Word gold: JSON lines, Jacana's JSON, MultiMWA's TSV, `.wa` chunks, or Pharaoh lines. Word output: Pharaoh lines,
Jacana's JSON, or JSON lines with `words`, `links` or `sure`. Phrase gold: our annotated pairs, or a folder of SPADE
XML. Phrase output: our results. Outputs are checked against the gold: the first pair that differs is named.

Files of parses as the metrics take them: Penn brackets, or dependencies in CoNLL-X or CoNLL-U.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from forestalign.dependencies import unlabelled_heads
from forestalign.errors import AnnotationError, InputError, counted
from forestalign.evaluation.annotated_pairs import ANNOTATORS, phrase_answer, read_annotations
from forestalign.evaluation.parse_scores import Attachments
from forestalign.evaluation.phrase_scores import (
    NodePair,
    PhraseAnswer,
    PhraseNode,
    RootReached,
    answer_over_trees,
    one_tree_forest,
    phrase_node,
)
from forestalign.evaluation.word_scores import GoldLinks, Links
from forestalign.forest import Forest
from forestalign.formats.chunk_files import ChunkAlignment, read_ists
from forestalign.formats.codec import read_phrases
from forestalign.formats.conll import read_conll
from forestalign.formats.enju import EnjuElement, aligned_ids, phrases_of, read_enju, words_of
from forestalign.formats.fields import Fields
from forestalign.formats.lines import first_text, read_text_lines
from forestalign.formats.tree_files import fit_tree, read_trees
from forestalign.formats.word_links import read_gold_links, read_jacana, read_pharaoh
from forestalign.phrases.result.alignment import Alignment
from forestalign.tokens import Sentence, Span, plain_form
from forestalign.trees import Tree, strip_annotation
from forestalign.words.alignment import WordAlignment

_PHARAOH_LINE = re.compile(r"\s*(\d+-\d+(:\S+)?(\s+|$))*", re.ASCII)
_LINK_FIELDS = ("words", "links", "sure")


@dataclass(frozen=True, slots=True)
class PhraseGold:
    """One pair of sentences with the answer of each annotator."""

    id: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    answers: tuple[PhraseAnswer, ...]


@dataclass(frozen=True, slots=True)
class PhraseOutput:
    """What a system aligned in one pair, with the word links it started from."""

    id: str
    answer: PhraseAnswer
    words: WordAlignment
    root: RootReached


# ---- words ----


def read_word_gold(path: str | Path, annotator: str = "") -> list[GoldLinks]:
    """All pairs; `annotator` chooses one where there are several, else the gold that published scores use."""
    if str(path).endswith(".wa"):
        return [_links_of_chunks(alignment) for alignment in read_ists(path)]
    if _is_pharaoh(path):
        return [
            GoldLinks(str(number), (), (), frozenset(links.pairs)) for number, links in enumerate(read_pharaoh(path), 1)
        ]
    gold = []
    for pair in read_gold_links(path):
        try:
            links = pair.by(annotator) if annotator else pair.gold
        except ValueError as error:
            raise AnnotationError(path, None, str(error)) from error
        possible = frozenset(links.possible) - frozenset(links.sure)
        gold.append(GoldLinks(pair.id, links.source, links.target, frozenset(links.sure), possible))
    return gold


def _links_of_chunks(alignment: ChunkAlignment) -> GoldLinks:
    """Every word of a chunk with every word of its partner."""
    links = frozenset((i, j) for pair in alignment.pairs for i in pair.source for j in pair.target)
    return GoldLinks(alignment.id, alignment.source, alignment.target, links)


def _is_pharaoh(path: str | Path) -> bool:
    return _PHARAOH_LINE.fullmatch(first_text(path)) is not None


def read_word_output(path: str | Path, gold: Sequence[GoldLinks]) -> list[Links]:
    """One set of links for each gold pair; AnnotationError names the first pair that does not fit."""
    if _is_pharaoh(path):
        return _pharaoh_output(path, gold)
    if first_text(path).startswith("["):
        return _jacana_output(path, gold)
    rows: list[Links] = []
    for pair, line in zip_longest(gold, read_text_lines(path)):
        if pair is None or line is None:
            _refuse_count(path, len(rows), [known.id for known in gold])
        number, text = line
        try:
            rows.append(_json_links(Fields.parse(text), pair))
        except ValueError as error:
            raise AnnotationError(path, number, str(error)) from error
    return rows


def _jacana_output(path: str | Path, gold: Sequence[GoldLinks]) -> list[Links]:
    """Sure links; its ids are often left empty, so pairs are known by their words."""
    rows: list[Links] = []
    for pair, found in zip_longest(gold, read_jacana(path)):
        if pair is None or found is None:
            _refuse_count(path, len(rows), [known.id for known in gold])
        try:
            for side, words, tokens in (
                ("source", pair.source, found.gold.source),
                ("target", pair.target, found.gold.target),
            ):
                if words:
                    check_tokens(side, words, tokens)
        except ValueError as error:
            raise AnnotationError(path, None, f"pair {pair.id}: {error}") from error
        rows.append(frozenset(found.gold.sure))
    return rows


def _pharaoh_output(path: str | Path, gold: Sequence[GoldLinks]) -> list[Links]:
    known = all(pair.source and pair.target for pair in gold)
    lengths = [(len(pair.source), len(pair.target)) for pair in gold] if known else None
    rows = [frozenset(links.pairs) for links in read_pharaoh(path, lengths)]
    if len(rows) != len(gold):
        _refuse_count(path, min(len(rows), len(gold)), [pair.id for pair in gold])
    return rows


def _json_links(fields: Fields, pair: GoldLinks) -> Links:
    if fields.has("id") and fields.identity("id") != pair.id:
        fields.complain("id", f"found {fields.identity('id')!r}; expected {pair.id!r} as in the gold standard")
    for side, words in (("source", pair.source), ("target", pair.target)):
        tokens = _tokens(fields, side)
        if tokens and words:
            check_tokens(side, words, tokens)
    name = next((name for name in _LINK_FIELDS if fields.has(name)), _LINK_FIELDS[0])
    links = []
    for row in fields.items(name, "a list of links [source, target, ...]"):
        match row:
            case [int(i), int(j), *_] | {"source": int(i), "target": int(j)}:
                links.append((i, j))
            case _:
                fields.complain(name, f"found {row!r}; expected a link [source, target, ...]")
    for i, j in links:
        if pair.source and not (0 <= i < len(pair.source) and 0 <= j < len(pair.target)):
            sizes = f"{len(pair.source)} and {counted(len(pair.target), 'word')}"
            fields.complain(name, f"link {i}-{j} leaves the sentences of pair {pair.id}, which have {sizes}")
    return frozenset(links)


def _tokens(fields: Fields, side: str) -> tuple[str, ...]:
    value = fields.values.get(side)
    if isinstance(value, dict):
        return fields.child(side).words("tokens")
    return fields.words(side) if isinstance(value, list) else ()


def check_tokens(side: str, wanted: Sequence[str], found: Sequence[str]) -> None:
    """ValueError names the first token that differs."""
    for index, (left, right) in enumerate(zip_longest(wanted, found)):
        if plain_form(left or "") != plain_form(right or ""):
            raise ValueError(f"{side} token {index} is {right!r}; expected {left!r} as in the gold standard")


def _refuse_count(path: str | Path, shared: int, ids: Sequence[str]) -> None:
    if shared < len(ids):
        message = f"the output ends before pair {shared + 1} of the gold standard, {ids[shared]!r}"
    else:
        message = f"there is output for pair {shared + 1}; the gold standard has {len(ids)}"
    raise AnnotationError(path, shared + 1, message)


# ---- phrases ----


def read_phrase_gold(path: str | Path) -> list[PhraseGold]:
    """Annotated pairs (a file) or SPADE XML (a folder of s-*.xml and t-*.xml)."""
    if Path(path).is_dir():
        return _read_spade(Path(path))
    gold = []
    for pair in read_annotations(path):
        if not pair.annotations:
            raise AnnotationError(path, pair.line, f"pair {pair.id!r} has no annotators; expected gold")
        answers = tuple(phrase_answer(pair, annotation) for annotation in pair.annotations)
        gold.append(PhraseGold(pair.id, pair.source.tokens, pair.target.tokens, answers))
    return gold


def _read_spade(folder: Path) -> list[PhraseGold]:
    paths = sorted(folder.glob("s-*.xml"))
    if not paths:
        raise InputError(folder, None, "no files s-*.xml in this folder; expected SPADE XML, s-001.xml with t-001.xml")
    return [_spade_pair(path, path.with_name("t" + path.name[1:])) for path in paths]


def _spade_pair(source_path: Path, target_path: Path) -> PhraseGold:
    source, target = read_enju(source_path), read_enju(target_path)
    words = words_of(source), words_of(target)
    nodes = _spade_nodes(source), _spade_nodes(target)
    answers = []
    for annotator in range(1, len(ANNOTATORS) + 1):
        try:
            ids = aligned_ids(source, target, annotator)
        except ValueError as error:
            raise AnnotationError(source_path, None, str(error)) from error
        pairs = tuple(NodePair(nodes[0].get(left), nodes[1].get(right)) for left, right in ids)
        answers.append(PhraseAnswer(*words, pairs))
    return PhraseGold(source_path.stem[2:], *words, tuple(answers))


def _spade_nodes(sentence: EnjuElement) -> dict[str, PhraseNode]:
    """Phrases by id; the null phrase is not among them."""
    return {id: PhraseNode(span.begin, span.end, id) for id, span in phrases_of(sentence)}


def read_phrase_output(path: str | Path, spans_only: bool = False) -> list[PhraseOutput]:
    """Our results, ready to be scored; where only spans are matched, trees need not be looked at."""
    return [phrase_output(result, spans_only) for result in read_phrases(path)]


def phrase_output(result: Alignment, spans_only: bool = False) -> PhraseOutput:
    """A result's pairs, named by the nodes of its chosen trees and with null phrases, unless spans are enough."""
    return PhraseOutput(
        result.id,
        _span_answer(result) if spans_only else _node_answer(result),
        result.words,
        RootReached(result.phrases.reached_root, result.phrases.completed),
    )


def _span_answer(result: Alignment) -> PhraseAnswer:
    pairs: list[NodePair] = []
    special: list[NodePair] = []
    for each in result.phrases.pairs:
        pair = NodePair(PhraseNode(*each.source, each.source_label), PhraseNode(*each.target, each.target_label))
        (pairs if each.compositional else special).append(pair)
    return PhraseAnswer(result.source.words, result.target.words, (*pairs, *special), frozenset(special))


def _node_answer(result: Alignment) -> PhraseAnswer:
    source, target = (one_tree_forest(tree) for tree in (result.source_tree, result.target_tree))
    source_nodes, target_nodes = _by_span_and_label(source), _by_span_and_label(target)
    pairs, special = [], []
    for each in result.phrases.pairs:
        pair = NodePair(
            _node(source_nodes, each.source, each.source_label), _node(target_nodes, each.target, each.target_label)
        )
        pairs.append(pair)
        if not each.compositional:
            special.append(pair)
    return answer_over_trees(source, target, pairs, frozenset(special))


_Named = dict[tuple[int, int, str], PhraseNode]


def _by_span_and_label(forest: Forest) -> _Named:
    """In one tree, span and label tell a bar node from a phrase."""
    return {(node.begin, node.end, node.label): phrase_node(node) for node in forest.nodes}


def _node(nodes: _Named, span: Span, label: str) -> PhraseNode:
    return nodes.get((span.begin, span.end, label), PhraseNode(span.begin, span.end, label))


def check_phrase_output(
    path: str | Path, gold: Sequence[PhraseGold], output: Sequence[PhraseOutput], same_tokens: bool = True
) -> None:
    """AnnotationError names the first pair that differs; texts can be matched over different tokens."""
    for number, (wanted, found) in enumerate(zip_longest(gold, output), start=1):
        if wanted is None or found is None:
            _refuse_count(path, number - 1, [pair.id for pair in gold])
        elif same_tokens:
            try:
                check_tokens("source", wanted.source, found.answer.source)
                check_tokens("target", wanted.target, found.answer.target)
            except ValueError as error:
                raise AnnotationError(path, number, f"pair {wanted.id!r}: {error}") from error


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The sentences of a file; `trees` is empty where it holds dependencies only."""

    path: str
    trees: tuple[Tree, ...]
    attachments: tuple[Attachments, ...]


def read_parses(path: str | Path) -> ParsedFile:
    """Trees lose function labels and traces, and get heads by rule; dependencies stay as they are."""
    if first_text(path)[:1] in ("", "("):
        trees = tuple(strip_annotation(numbered.tree) for numbered in read_trees(path))
        return ParsedFile(str(path), trees, tuple(_attachments(tree) for tree in trees))
    records = read_conll(path)
    return ParsedFile(
        str(path),
        (),
        tuple(
            Attachments(record.sentence.words, record.dependencies.heads, record.dependencies.relations)
            for record in records
        ),
    )


def _attachments(tree: Tree) -> Attachments:
    return Attachments(tuple(str(leaf.word) for leaf in tree.leaves()), unlabelled_heads(tree))


def check_parses(gold: ParsedFile, system: ParsedFile) -> ParsedFile:
    """The system with its words as in the gold standard; AnnotationError names the first sentence that differs."""
    if bool(gold.trees) != bool(system.trees):
        kinds = ["trees" if file.trees else "dependencies" for file in (gold, system)]
        raise AnnotationError(system.path, None, f"the file holds {kinds[1]}; expected {kinds[0]} as in {gold.path}")
    trees = []
    for number, (wanted, found) in enumerate(zip_longest(gold.attachments, system.attachments), start=1):
        if wanted is None or found is None:
            counts = (
                f"{counted(len(system.attachments), 'sentence')}; expected {len(gold.attachments)} as in {gold.path}"
            )
            raise AnnotationError(system.path, None, f"{counts}, first without a partner: sentence {number}")
        try:
            if system.trees:
                trees.append(fit_tree(system.trees[number - 1], Sentence.from_words(wanted.words)))
            else:
                check_tokens("system", wanted.words, found.words)
        except ValueError as error:
            raise AnnotationError(system.path, None, f"sentence {number}: {error}") from error
    return ParsedFile(system.path, tuple(trees), system.attachments)
