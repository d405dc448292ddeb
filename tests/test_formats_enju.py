"""Enju's and SPADE's XML, on a pair written for this test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from tree_strategies import trees

from forestalign.errors import AnnotationError, InputError
from forestalign.forest import Forest, NodeId, best_tree, one_best, viterbi
from forestalign.formats import (
    aligned_ids,
    enju_forest,
    enju_of,
    enju_tree,
    forest_of,
    format_enju,
    phrases_of,
    read_enju,
    words_of,
    write_lines,
)
from forestalign.phrases.result import AlignedPair, PhraseAlignment, PhrasePair
from forestalign.tokens import Span
from forestalign.trees import ScoredTree, Tree, format_brackets
from forestalign.words.alignment import WordAlignment

SOURCE = (
    '<sentence id="s0" parse_status="success" fom="3.5">'
    '<cons id="c0" cat="S" xcat="" head="c3" sem_head="c3" schema="subj_head" pa1="c0" pa2="c0">'
    '<cons id="c1" cat="NP" xcat="" head="c2" sem_head="c2" schema="empty_spec_head" pa1="c1" pa2="-1">'
    '<cons id="c2" cat="NX" xcat="" head="t0" sem_head="t0" pa1="c2 c1" pa2="-1">'
    '<tok id="t0" cat="N" pos="NNS" base="dog" lexentry="[&lt;N&gt;]" pred="noun_arg0">Dogs</tok></cons></cons> '
    '<cons id="c3" cat="VP" xcat="" head="t1" sem_head="t1" pa1="-1">'
    '<tok id="t1" cat="V" pos="VBP" base="bark" pred="verb_arg1">bark</tok></cons></cons>.</sentence>'
)
TARGET = (
    '<sentence id="t0" parse_status="success">'
    '<cons id="c0" cat="S" head="c3" sem_head="c3" pa1="c0" pa2="c0">'
    '<cons id="c1" cat="NP" head="c2" sem_head="c2" pa1="c1"><cons id="c2" cat="NX" head="t0" sem_head="t0">'
    '<tok id="t0" cat="N" pos="NNS">Hounds</tok></cons></cons> '
    '<cons id="c3" cat="VP" head="t1" sem_head="t1" pa2="c3"><tok id="t1" cat="V" pos="VBP">howl</tok></cons>'
    "</cons></sentence>"
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "s-001.xml").write_text(SOURCE)
    (tmp_path / "t-001.xml").write_text(f"<?xml version='1.0' encoding='UTF-8'?>\n{TARGET}")
    return tmp_path / "s-001.xml", tmp_path / "t-001.xml"


def test_a_file_is_written_back_to_the_byte(files: tuple[Path, Path]) -> None:
    assert format_enju(read_enju(files[0])) == SOURCE
    assert format_enju(read_enju(files[1])) == TARGET


def test_attributes_may_hold_any_character(files: tuple[Path, Path]) -> None:
    sentence = read_enju(files[0])
    hostile = replace(sentence, attributes=(("id", "<a & 'b' \"c\">\t\n\u00e9"),))
    files[0].write_text(format_enju(hostile))
    assert read_enju(files[0]) == hostile


def test_phrases_have_spans_and_head_tokens(files: tuple[Path, Path]) -> None:
    sentence = read_enju(files[0])
    found = [(phrase.id, phrase.label, phrase.span, phrase.head) for phrase in phrases_of(sentence)]
    assert found == [
        ("c0", "S", Span(0, 2), 1),
        ("c1", "NP", Span(0, 1), 0),
        ("c2", "NX", Span(0, 1), 0),
        ("c3", "VP", Span(1, 2), 1),
    ]
    assert words_of(sentence) == ("Dogs", "bark")


def test_the_parse_is_a_tree_and_a_forest_and_outside_text_is_in_neither(files: tuple[Path, Path]) -> None:
    sentence = read_enju(files[0])
    brackets = "(TOP (S (NP (NX (NNS Dogs))) (VP (VBP bark))))"
    assert format_brackets(enju_tree(sentence)) == brackets
    forest = enju_forest(sentence)
    assert format_brackets(best_tree(forest)) == brackets
    assert [node.label for node in forest.nodes] == ["NNS", "NP+NX", "VBP", "VP", "S"]
    assert forest.sentence.text == "Dogs bark."
    assert [(token.begin, token.end) for token in forest.sentence.tokens] == [(0, 4), (5, 9)]


def test_pairs_marked_in_either_file_count_and_a_missing_mark_is_a_null(files: tuple[Path, Path]) -> None:
    source, target = map(read_enju, files)
    both = [("c0", "c0"), ("c1", "c1"), ("c2", "c1"), ("c2", "c2"), ("c3", "-1"), ("-1", "c2"), ("-1", "c3")]
    assert aligned_ids(source, target, 1) == tuple(sorted(both))
    second = [("c0", "c0"), ("c1", "-1"), ("c2", "-1"), ("c3", "-1"), ("c3", "c3"), ("-1", "c1"), ("-1", "c2")]
    assert aligned_ids(source, target, 2) == tuple(sorted(second))


def test_a_partner_that_is_no_phrase_is_refused(files: tuple[Path, Path]) -> None:
    files[0].write_text(SOURCE.replace('pa1="c2 c1"', 'pa1="c2 c77"'))
    source, target = map(read_enju, files)
    with pytest.raises(ValueError, match="c2 has pa1='c2 c77'; expected phrases of sentence t0, or -1"):
        aligned_ids(source, target, 1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('head="c3"', 'head="t1"', "phrase c0 has head='t1'; expected one of c1, c3"),
        ('id="c3"', 'id="c1"', "<cons> has id 'c1'; expected one of its own"),
        ("</sentence>", "<b/></sentence>", "found <b>; expected <cons> or <tok>"),
        ('<tok id="t1" cat="V" pos="VBP" base="bark" pred="verb_arg1">bark</tok>', "", "phrase c3 is empty"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(files: tuple[Path, Path], old: str, new: str, message: str) -> None:
    files[0].write_text(SOURCE.replace(old, new, 1))
    with pytest.raises(AnnotationError, match=r"s-001\.xml") as caught:
        read_enju(files[0])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("<sentence>\n<cons>", 2, "no well-formed XML at column 7"),
        ("<tree/>", 1, "found <tree>; expected <sentence>"),
        ("<sentence>" + "<cons>" * 400 + "</cons>" * 400 + "</sentence>", 1, "nested 401 deep; expected at most 300"),
    ],
)
def test_what_is_no_sentence_is_refused_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    (tmp_path / "x.xml").write_text(text)
    with pytest.raises(InputError) as caught:
        read_enju(tmp_path / "x.xml")
    assert caught.value.line == line
    assert message in str(caught.value)


def test_a_failed_parse_has_no_tree(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text('<sentence id="s9" parse_status="error">Dogs</sentence>')
    with pytest.raises(ValueError, match="sentence s9 has 0 parses; expected one"):
        enju_tree(read_enju(tmp_path / "x.xml"))


# ---- our own results as XML ----


def _chosen(forest: Forest) -> tuple[tuple[NodeId, int], ...]:
    return tuple((NodeId(node), edge) for node, edge in enumerate(viterbi(forest).choice) if edge >= 0)


def _self_aligned(forest: Forest) -> AlignedPair:
    """A sentence aligned to itself, root to root."""
    root = forest.nodes[viterbi(forest).root]
    number = viterbi(forest).root
    span = Span(root.begin, root.end)
    pair = PhrasePair(number, number, span, span, root.label, root.label, False, True, False, 0.0, ())
    phrases = PhraseAlignment(
        pairs=(pair,),
        source_nulls=(),
        target_nulls=(),
        source_null_nodes=(),
        target_null_nodes=(),
        source_edges=_chosen(forest),
        target_edges=_chosen(forest),
        log_score=0.0,
        reached_root=True,
    )
    tree = best_tree(forest)
    return AlignedPair("1", forest.sentence, forest.sentence, tree, tree, WordAlignment(()), phrases, forest, forest)


@settings(max_examples=20)
@given(trees())
def test_a_result_written_as_xml_comes_back_as_its_binary_tree(
    tmp_path_factory: pytest.TempPathFactory, listed: list[Tree]
) -> None:
    forest = one_best(forest_of([ScoredTree(listed[0], 0.0)]))
    path = tmp_path_factory.getbasetemp() / "result.xml"
    source, target = enju_of(_self_aligned(forest))
    write_lines(path, [format_enju(source)])
    again = read_enju(path)
    assert again == source
    found = enju_forest(again)
    assert sorted(found.nodes) == sorted(forest.nodes)
    assert best_tree(found) == listed[0]
    assert replace(found.sentence, tokens=()) == replace(forest.sentence, tokens=())
    root = f"c{viterbi(forest).root}"
    assert (root, root) in aligned_ids(source, target, 1)
