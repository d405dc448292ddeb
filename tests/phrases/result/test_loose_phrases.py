"""Phrases in no pair that add only small words to an aligned one: *by him* beside *He*."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign import Alignment
from forestalign.formats.codec import from_json, to_json
from forestalign.phrases.result.alignment import DiscontinuousPair
from forestalign.phrases.result.loose_phrases import LoosePhrase, loose_phrases, small_words
from forestalign.tokens import Span
from forestalign.trees import Tree, constituents, parse_brackets
from forestalign.view.text import render_text
from tests.builders.sample_results import with_phrases
from tests.builders.tree_strategies import trees
from tests.builders.view_samples import bought, record


class Spans(NamedTuple):
    source: Span
    target: Span


class Words(NamedTuple):
    source: tuple[int, ...]
    target: tuple[int, ...]


def found(brackets: str, *aligned: str, joined: str = "") -> list[tuple[str, str, str]]:
    """Label, aligned words and added words of each extended phrase, if these phrases are the aligned ones."""
    tree = parse_brackets(brackets)
    words = [str(leaf.word) for leaf in tree.leaves()]
    spans = [span_of(words, phrase) for phrase in aligned]
    covered = {word for span in spans for word in range(*span)}
    nulls = [Span(word, word + 1) for word in range(len(words)) if word not in covered]
    scattered = [Words(tuple(words.index(word) for word in joined.split()), ())]
    rows = loose_phrases((tree, tree), [Spans(span, Span(0, 1)) for span in spans], (nulls, ()), scattered)
    own = [row for row in rows if row.side == "source"]
    return [(row.label, aligned[row.pair], " ".join(words[word] for word in row.added)) for row in own]


def span_of(words: list[str], phrase: str) -> Span:
    parts = phrase.split()
    begin = next(k for k in range(len(words)) if words[k : k + len(parts)] == parts)
    return Span(begin, begin + len(parts))


# ---- examples ----


@pytest.mark.parametrize(
    ("brackets", "aligned", "expected"),
    [
        ("(PP (IN by) (NP (PRP him)))", "him", ("PP", "him", "by")),
        ("(PP (IN on) (NP (NNP Monday)))", "Monday", ("PP", "Monday", "on")),
        ("(VP (VBD was) (VP (VBN sold)))", "sold", ("VP", "sold", "was")),
        ("(VP (VBZ has) (VP (VBN sold)))", "sold", ("VP", "sold", "has")),
        ("(VP (VBZ is) (ADJP (JJ expensive)))", "expensive", ("VP", "expensive", "is")),
        ("(NP (DT a) (JJ long) (NN discussion))", "long discussion", ("NP", "long discussion", "a")),
        ("(NP (NP (DT the) (NN bank)) (POS 's))", "the bank", ("NP", "the bank", "'s")),
        ("(PP (IN because) (PP (IN of) (NP (NN rain))))", "of rain", ("PP", "of rain", "because")),
        ("(SBAR (WHNP (WP who)) (S (VP (VBD left))))", "left", ("SBAR", "left", "who")),
        ("(NP (`` ``) (NP (NN rain)) ('' ''))", "rain", ("NP", "rain", "`` ''")),
    ],
)
def test_small_words_around_an_aligned_phrase(brackets: str, aligned: str, expected: tuple[str, str, str]) -> None:
    assert found(brackets, aligned) == [expected]


@pytest.mark.parametrize(
    ("brackets", "aligned"),
    [
        ("(VP (VBD sold) (NP (DT the) (NN house)) (PP (TO to) (NP (DT a) (NN neighbor))))", "sold"),  # content
        ("(VP (VBD sold) (NP (PRP it)))", "sold"),  # an argument
        ("(VP (VBD did) (RB not) (VP (VB reply)))", "reply"),  # a negation
        ("(PP (IN without) (NP (NN rain)))", "rain"),  # another
        ("(VP (VBZ has) (NP (DT a) (NN car)))", "a car"),  # no auxiliary
        ("(NP (DT all) (NNS students))", "students"),  # an amount
        ("(NP (CD two) (NNS students))", "students"),
        ("(SBAR (WHNP (WP what)) (S (NP (NN he)) (VP (VBD wrote))))", "he wrote"),  # an argument again
        ("(VP (VBD turned) (PRT (RP off)))", "turned"),  # a particle
        ("(PP (IN by) (NP (PRP him)))", "by him"),  # aligned itself
        ("(PP (IN by) (NP (PRP him)))", "by"),
    ],
)
def test_words_that_say_something_make_a_phrase_null(brackets: str, aligned: str) -> None:
    assert found(brackets, aligned) == []


def test_two_aligned_phrases_inside_are_no_single_partner() -> None:
    assert found("(PP (IN by) (NP (NN sun) (CC and) (NN rain)))", "sun", "rain") == []


def test_a_small_word_with_a_partner_is_not_added() -> None:
    brackets = "(PP (IN on) (NP (NN parking)))"
    assert found(brackets, "parking", "on") == []
    assert found(brackets, "parking", joined="on") == []


def test_the_nearest_aligned_phrase_is_the_one_that_is_extended() -> None:
    brackets = "(PP (IN in) (NP (DT the) (JJ small) (NN village)))"
    assert found(brackets, "village", "the small village") == [("PP", "the small village", "in")]


def test_every_such_phrase_is_reported_the_larger_first() -> None:
    brackets = "(SBAR (IN that) (S (VP (VBD had) (VP (VBN fallen)))))"
    assert found(brackets, "fallen") == [("SBAR", "fallen", "that had"), ("S+VP", "fallen", "had")]


# ---- the definition ----


@st.composite
def results(draw: st.DrawFn) -> tuple[tuple[Tree, Tree], list[Spans], tuple[list[Span], list[Span]], list[Words]]:
    """Two trees with some of their nodes aligned at random; what no smallest pair covers is null or scattered."""
    sides = draw(trees())[0], draw(trees())[0]
    nodes = [[Span(node.begin, node.end) for node in (*constituents(tree), *tree.leaves())] for tree in sides]
    pairs = draw(st.lists(st.builds(Spans, *map(st.sampled_from, nodes)), max_size=4))
    free = [_free(tree, [pair[side] for pair in pairs]) for side, tree in enumerate(sides)]
    joined = [draw(st.sets(st.sampled_from(words), max_size=1)) if words else set() for words in free]
    nulls = [[Span(word, word + 1) for word in words] for words in free]
    return sides, pairs, (nulls[0], nulls[1]), [Words(tuple(joined[0]), tuple(joined[1]))]


def _free(tree: Tree, spans: list[Span]) -> list[int]:
    smallest = [one for one in spans if not any(one != other and _within(other, one) for other in spans)]
    covered = {word for span in smallest for word in range(*span)}
    return [word for word in range(tree.end) if word not in covered]


def _within(inner: Span, outer: Span) -> bool:
    return outer.begin <= inner.begin and inner.end <= outer.end


@given(results())
def test_extended_phrases_are_those_of_the_definition(
    result: tuple[tuple[Tree, Tree], list[Spans], tuple[list[Span], list[Span]], list[Words]],
) -> None:
    sides, pairs, nulls, scattered = result
    expected = []
    for side, tree in enumerate(sides):
        addable = {span.begin for span in nulls[side]} & small_words(tree) - set(scattered[0][side])
        for phrase in constituents(tree):
            span, words = Span(phrase.begin, phrase.end), set(range(phrase.begin, phrase.end))
            ways = [
                (len(words - set(range(*pair[side]))), -k)
                for k, pair in enumerate(pairs)
                if set(range(*pair[side])) <= words and words - set(range(*pair[side])) <= addable
            ]
            if len(words) > 1 and ways and all(pair[side] != span for pair in pairs):
                expected.append((("source", "target")[side], span, -min(ways)[1]))
    assert [(row.side, row.span, row.pair) for row in loose_phrases(*result)] == expected


# ---- in results ----

BOUGHT = bought("car")


def test_by_him_has_a_looser_partner() -> None:
    (row,) = BOUGHT.extended
    assert row == LoosePhrase("target", Span(4, 6), "PP", row.pair, (4,))
    assert BOUGHT.phrases.pairs[row.pair].source == (0, 1)


def test_extended_phrases_are_written_and_found_again() -> None:
    line = to_json(BOUGHT)
    (row,) = BOUGHT.extended
    expected = {"side": "target", "span": [4, 6], "label": "PP", "pair": row.pair, "added": [4]}
    assert json.loads(line)["extended"] == [expected]
    assert to_json(from_json(line)) == line
    assert Alignment.from_json(line).extended == BOUGHT.extended


def test_without_any_the_field_is_absent() -> None:
    same = "(TOP (S (NP (PRP He)) (VP (VBD left))))"
    assert "extended" not in json.loads(to_json(record("same", same, same, {0: 0, 1: 1})))


def test_text_names_the_looser_partner_behind_the_null_words_it_adds() -> None:
    assert "~" not in render_text(BOUGHT)
    lines = render_text(BOUGHT, verbose=True).splitlines()
    assert "  wider: He ~ by him  [target adds by]" in lines


def test_a_word_that_belongs_to_others_is_not_added() -> None:
    joined = with_phrases(BOUGHT, scattered=(DiscontinuousPair((1,), (3, 4), "lexicon", "equal"),))
    assert joined.extended == ()
