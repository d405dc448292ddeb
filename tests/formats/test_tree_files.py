"""Brackets, n-best lists, forests in three formats, Graphviz."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.errors import InputError
from forestalign.forest import Forest, enumerate_trees
from forestalign.formats.lines import write_lines
from forestalign.formats.tree_files import (
    fit_tree,
    forest_of,
    format_forest,
    format_forest_graph,
    format_nbest,
    format_tree_graph,
    parse_forest,
    read_forests,
    read_nbest,
    read_trees,
    sentence_of,
)
from forestalign.tokens import tokenize
from forestalign.trees import ScoredTree, Tree, format_brackets, parse_brackets
from tests.builders.bad_files import with_field
from tests.builders.grown_trees import tree_lists

CAT = "(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat))))"
DOG = "(TOP (S (NP (DT The) (NN dog)) (VP (VBD sat))))"
LOG_PROBS = st.floats(-50, 0)


def scored(listed: list[Tree], log_probs: list[float]) -> list[ScoredTree]:
    return [ScoredTree(tree, log_prob) for tree, log_prob in zip(listed, log_probs, strict=True)]


# ---- brackets ----


@settings(max_examples=25)
@given(tree_lists(5, 3, 3), st.lists(LOG_PROBS, min_size=3, max_size=3))
def test_nbest_lists_are_read_back(folder: Path, listed: list[Tree], log_probs: list[float]) -> None:
    given_trees = scored(listed, log_probs)
    write_lines(folder / "nbest.gz", [*format_nbest(4, given_trees), *format_nbest(5, given_trees[:1])])
    found = list(read_nbest(folder / "nbest.gz"))
    assert [(nbest.line, nbest.index) for nbest in found] == [(1, 4), (4, 5)]
    assert [list(nbest.trees) for nbest in found] == [given_trees, given_trees[:1]]


def test_a_tree_may_go_over_several_lines(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(f"\n( (S\n    (NP (NN rain))\n    (VP (VBD fell))))\n\n{CAT}\n")
    found = list(read_trees(tmp_path / "t"))
    assert [tree.line for tree in found] == [2, 6]
    assert [format_brackets(tree.tree) for tree in found] == ["(TOP (S (NP (NN rain)) (VP (VBD fell))))", CAT]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (f"{CAT}\n(S (NP (NN rain))\n", 2, "closing bracket"),
        (f"(S (NP (NN rain))\n{CAT}\n", 1, "1 closing bracket missing before the next tree, on line 2"),
        (f"{CAT})\n", 1, "after the end of the tree"),
        ("(S (NP rain fell))\n", 1, "expected (TAG word)"),
        ("no tree\n", 1, "where an opening bracket was expected"),
    ],
)
def test_unbalanced_brackets_are_refused_at_the_line_of_their_tree(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    (tmp_path / "t").write_text(text)
    with pytest.raises(InputError) as caught:
        list(read_trees(tmp_path / "t"))
    assert caught.value.line == line
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "line", "message"),
    [
        ([f"0\t-1.0\t{CAT}", f"0\t-2.0\t{DOG}"], 2, "word 1 of the tree is 'dog'; expected 'cat'"),
        ([f"0\t-1.0\t{CAT}", "0\t-1.0"], 2, "2 columns"),
        ([f"zero\t-1.0\t{CAT}"], 1, "expected a whole number and a log probability"),
        ([f"0\tlikely\t{CAT}"], 1, "expected a whole number and a log probability"),
        (["0\t-1.0\t(S (NN rain)"], 1, "closing bracket"),
    ],
)
def test_a_bad_nbest_list_is_refused_at_its_line(tmp_path: Path, lines: list[str], line: int, message: str) -> None:
    write_lines(tmp_path / "n", lines)
    with pytest.raises(InputError) as caught:
        list(read_nbest(tmp_path / "n"))
    assert caught.value.line == line
    assert message in str(caught.value)


def test_quotes_and_brackets_of_the_treebank_fit_those_of_the_text() -> None:
    sentence = tokenize('"Stop (it)"')
    tree = parse_brackets("(S (`` ``) (VB Stop) (-LRB- -LRB-) (PRP it) (-RRB- -RRB-) ('' ''))")
    assert [leaf.word for leaf in fit_tree(tree, sentence).leaves()] == ['"', "Stop", "(", "it", ")", '"']


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("The dog sat", "word 1 of the tree is 'cat'; expected 'dog' as in the sentence"),
        ("The cat sat down", "the tree has 3 words; expected 4 as in the sentence"),
        ("The cat", "the tree has 3 words; expected 2 as in the sentence"),
    ],
)
def test_a_tree_of_another_sentence_is_refused_with_the_first_difference(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        fit_tree(parse_brackets(CAT), tokenize(text))


@settings(max_examples=25)
@given(tree_lists(5, 3, 3), st.lists(LOG_PROBS, min_size=3, max_size=3))
def test_the_forest_of_an_nbest_list_holds_every_tree(listed: list[Tree], log_probs: list[float]) -> None:
    forest = forest_of(scored(listed, log_probs))
    assert forest.sentence.words == sentence_of(listed[0]).words
    held = list(enumerate_trees(forest))
    assert all(tree in held for tree in listed)


# ---- forests ----


@st.composite
def forests(draw: st.DrawFn) -> Forest:
    listed = draw(tree_lists(5, 3, 3))
    return forest_of(scored(listed, draw(st.lists(LOG_PROBS, min_size=3, max_size=3))))


@settings(max_examples=25)
@given(forests())
def test_forest_lines_are_read_back_to_the_byte(forest: Forest) -> None:
    line = format_forest(forest, "7")
    identity, again = parse_forest(line)
    assert (identity, again) == ("7", forest)
    assert format_forest(again, "7") == line


def test_unknown_tree_sets_and_missing_marginals_survive() -> None:
    forest = forest_of([ScoredTree(parse_brackets(CAT), 0.0)])
    edges = tuple(tuple(replace(edge, trees=-1) for edge in ways) for ways in forest.edges)
    bare = Forest(forest.sentence, forest.nodes, edges, forest.roots)
    assert parse_forest(format_forest(bare))[1] == bare


def _changed(path: list[str | int], value: object) -> str:
    return with_field(format_forest(forest_of([ScoredTree(parse_brackets(CAT), 0.0)])), path, value)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["version"], 9, "version is 9; expected 1"),
        (["tokens"], ["The", "cat"], "offsets: 3 values; expected 2, one per token"),
        (["offsets", 1], [4, 8], "gives 'cat '; expected the token 'cat'"),
        (["nodes", 0, "id"], 5, "nodes[0].id: found 5; expected 0"),
        (["nodes", 0, "span"], [0, 9], "nodes[0].span is [0, 9]; expected a span"),
        (["nodes", 1, "head"], 0, "nodes[1].head: token 0 lies outside the node; expected 1 to 1"),
        (["edges", 0, "tails"], [99], "expected one or two nodes before it"),
        (["edges", 0, "head"], 0, "edges[0].head: found 0; expected the number of a node that is not a leaf"),
        (["edges"], [], "has no edge; expected at least one"),
        (["roots"], [0], "roots: found 0; expected a node over all 3 words"),
        (["nodes", 0, "leaf"], "yes", 'nodes[0].leaf is "yes"; expected true or false'),
    ],
)
def test_a_bad_forest_line_is_refused_with_field_and_value(
    tmp_path: Path, path: list[str | int], value: object, message: str
) -> None:
    write_lines(tmp_path / "f", [_changed(path, value)])
    with pytest.raises(InputError, match="f:1: ") as caught:
        list(read_forests(tmp_path / "f"))
    assert message in str(caught.value)


# ---- Graphviz ----


def _statements(graph: str) -> list[str]:
    """The statements of a graph, strings blanked; fails on an unclosed string."""
    blanked = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', graph)
    assert blanked.count('"') % 2 == 0
    assert blanked.count("{") == blanked.count("}")
    assert "\\" not in blanked
    return [line.strip() for line in blanked.splitlines()]


@settings(max_examples=25)
@given(tree_lists(5, 1))
def test_a_tree_graph_has_one_box_a_node_and_strings_that_close(listed: list[Tree]) -> None:
    lines = _statements(format_tree_graph(listed[0]))
    node_count = format_brackets(listed[0], top="").count("(")
    assert sum(bool(re.match(r"n\d+ \[", line)) for line in lines) == node_count
    assert sum(bool(re.match(r"n\d+ -> n", line)) for line in lines) == node_count - 1


@settings(max_examples=25)
@given(forests())
def test_a_forest_graph_has_one_dot_a_hyperedge(forest: Forest) -> None:
    lines = _statements(format_forest_graph(forest))
    edge_count = sum(1 for ways in forest.edges for edge in ways if edge.children)
    assert sum("shape=point" in line for line in lines) == edge_count
    assert sum("shape=box" in line for line in lines) == len(forest)
