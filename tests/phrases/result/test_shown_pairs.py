"""Which pairs are shown: bar phrases that say what their parts do not; phrases that add only small words to a pair."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign import Alignment, PhrasePair
from forestalign.errors import UsageError
from forestalign.formats.codec import from_json, to_json, to_tsv
from forestalign.mining.table_files import TableForm, TableOptions, extract_table
from forestalign.phrases.result.alignment import DiscontinuousPair
from forestalign.phrases.result.shown_pairs import LoosePhrase, loose_phrases, shown_pairs, small_words
from forestalign.tokens import Span
from forestalign.trees import Tree, constituents, parse_brackets
from forestalign.view.page import scene_fields
from forestalign.view.scene import scene_of
from forestalign.view.text import render_text
from tests.builders.grown_trees import trees
from tests.builders.sample_results import links, pair, result, side, with_phrases
from tests.builders.view_samples import bought, record

SOURCE = (
    "(TOP (S (NP (NNS Storms)) (VP (VBD knocked) (PRT (RP out)) (NP (NN power)) (PP (IN in) (NP (NNP May)))) (. .)))"
)
TARGET = "(TOP (S (NP (NNS Storms)) (VP (VBD lost) (NP (NN electricity)) (PP (IN in) (NP (NNP May)))) (. .)))"
POWER, IN_MAY, BAR, VERB, STORMS, ALL, MARK, ROOT = range(8)


def storms(**changes: object) -> Alignment:
    """A bar phrase of which one part alone has a partner; `S` without its full stop is one, too."""
    bar = pair((1, 4), (1, 3), "VP", (POWER,), is_bar=True, compositional=False)
    pairs = (
        pair((3, 4), (2, 3), "NP"),
        pair((4, 6), (3, 5), "PP"),
        replace(bar, **changes),
        pair((1, 6), (1, 5), "VP", (BAR, IN_MAY)),
        pair((0, 1), (0, 1), "NP"),
        pair((0, 6), (0, 5), "S", (STORMS, VERB), is_bar=True),
        pair((6, 7), (5, 6), "."),
        pair((0, 7), (0, 6), "S", (ALL, MARK)),
    )
    return result("storms", side(SOURCE), side(TARGET), links((0, 0), (3, 2)), "hand", pairs=pairs, log_score=-1.0)


def shown(alignment: Alignment, bars: bool | None = None) -> list[int]:
    return [k for k, is_shown in enumerate(alignment.shown(bars)) if is_shown]


def test_a_bar_phrase_is_shown_where_its_parts_leave_words_out() -> None:
    assert shown(storms()) == [POWER, IN_MAY, BAR, VERB, STORMS, MARK, ROOT]


def test_a_bar_phrase_is_hidden_where_its_parts_cover_both_sides() -> None:
    power = storms().phrases.pairs[POWER]
    assert BAR not in shown(storms(source=power.source, target=power.target))
    assert BAR in shown(storms(source=power.source))


def water(target: str, *spans: tuple[tuple[int, int], tuple[int, int]]) -> bool:
    """Whether *Turn off the water* is shown with a target, its parts having these spans."""
    source, other = ["Turn", "off", "the", "water"], target.split()
    parts = [pair(one, two, "X") for one, two in spans]
    whole = pair((0, 4), (0, len(other)), "VP", tuple(range(len(parts))), is_bar=True)
    return shown_pairs([*parts, whole], source, other)[-1]


def test_a_bar_phrase_is_shown_where_its_parts_are_reworded_together() -> None:
    turn, off, the_water = (0, 1), (1, 2), (2, 4)
    moved = ((turn, (0, 1)), (off, (3, 4)), (the_water, (1, 3)))
    assert water("Switch the water off", *moved)
    assert not water("turn the water off", *moved)
    in_place = ((turn, (0, 1)), (off, (1, 2)), (the_water, (2, 4)))
    assert not water("Switch off the water", *in_place)
    assert water("Switch off the tap", *in_place)
    assert not water("Switch off the tap ,", *in_place[:2], (the_water, (2, 5)))


def test_a_long_bar_phrase_is_told_by_its_parts() -> None:
    parts = [pair((0, 1), (0, 1), "X"), pair((1, 7), (1, 7), "X")]
    whole = pair((0, 7), (0, 7), "VP", (0, 1), is_bar=True)
    assert not shown_pairs([*parts, whole], list("abcdefg"), list("tuvwxyz"))[-1]


def test_a_bar_phrase_that_differs_by_a_mark_from_the_pair_above_is_hidden() -> None:
    without = [replace(each, supports=()) if k == ALL else each for k, each in enumerate(storms().phrases.pairs)]
    words = storms().source.words, storms().target.words
    assert not shown_pairs(without, *words)[ALL]  # its parts say nothing, but the root has its words
    assert shown_pairs([*without[:ROOT], replace(without[ROOT], supports=(MARK,))], *words)[ALL]


def test_all_bar_phrases_or_none_are_shown_on_demand() -> None:
    assert shown(storms(), bars=True) == list(range(8))
    assert shown(storms(), bars=False) == [POWER, IN_MAY, VERB, STORMS, MARK, ROOT]
    with pytest.raises(UsageError, match="bars is 'all'; expected True, False or None"):
        storms().pairs(bars="all")  # type: ignore[arg-type]


def test_words_that_are_two_phrases_are_iterated_once_as_the_text_shows_them() -> None:
    below = pair((0, 1), (0, 1), "NNS")
    whole = storms()
    pairs = [replace(each, supports=tuple(k + 1 for k in each.supports)) for each in whole.phrases.pairs]
    pairs[STORMS] = replace(pairs[STORMS], supports=(0,))
    twice = replace(whole, phrases=replace(whole.phrases, pairs=(below, *pairs)))
    assert [each.source_label for each in twice if each.source.text == "Storms"] == ["NP"]
    spans = [(each.source, each.target) for each in twice]
    assert len(spans) == len(set(spans))
    assert to_tsv(twice) == to_tsv(whole)
    assert len(twice.pairs(bars=True)) == len(twice.phrases.pairs) == 9


def texts(pairs: tuple[PhrasePair, ...]) -> set[str]:
    return {f"{each.source.text} = {each.target.text}" for each in pairs}


@pytest.mark.parametrize("bars", [None, True, False])
def test_library_table_text_and_page_follow_one_rule(bars: bool | None) -> None:
    sample = storms()
    expected = texts(sample.pairs(bars=bars))
    assert ("knocked out power = lost electricity" in expected) == (bars is not False)
    rows = [line.split("\t")[1:3] for line in to_tsv(sample, bars).splitlines()]
    assert {" = ".join(row) for row in rows if all(row)} == expected
    text = render_text(sample, bars=bars, verbose=True)
    assert ("knocked out power = lost electricity" in text) == (bars is not False)
    assert ("Storms knocked out power in May = " in text) == (bars is True)
    if bars is None:
        (choice,) = scene_fields(scene_of(sample))["choices"]
        assert [bool(each[-1]) for each in choice["phrases"]] == list(sample.shown())


def test_a_table_of_paraphrases_follows_the_same_rule(tmp_path: Path) -> None:
    results, table = tmp_path / "results.jsonl", tmp_path / "table.jsonl"
    results.write_text(to_json(storms()) + "\n")
    extract_table([results], table, TableOptions(TableForm.JSONL))
    found = {json.loads(line)["phrase"] for line in table.read_text().splitlines()}
    assert "knocked out power" in found
    assert "storms knocked out power in may" not in found


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
    sides = draw(trees()), draw(trees())
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
    for here, tree in enumerate(sides):
        addable = {span.begin for span in nulls[here]} & small_words(tree) - set(scattered[0][here])
        for phrase in constituents(tree):
            span, words = Span(phrase.begin, phrase.end), set(range(phrase.begin, phrase.end))
            ways = [
                (len(words - set(range(*pair[here]))), -k)
                for k, pair in enumerate(pairs)
                if set(range(*pair[here])) <= words and words - set(range(*pair[here])) <= addable
            ]
            if len(words) > 1 and ways and all(pair[here] != span for pair in pairs):
                expected.append((("source", "target")[here], span, -min(ways)[1]))
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
