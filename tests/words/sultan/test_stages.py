"""The parts of the word aligners one by one: similarity, labels, families, competitions, runs, identity, names."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.dependencies import Dependencies
from forestalign.errors import GrammarError
from forestalign.lexicon import PairList
from forestalign.words import Analysis, Entity
from forestalign.words.alignment import WordAlignment, WordLink
from forestalign.words.analysis import Arc, Orientation, collapse, read_equivalences
from forestalign.words.similarity import Sources, WordSimilarity, form, same_stems, stem
from forestalign.words.sultan.published import (
    carry_over,
    is_acronym,
    link_final_punctuation,
    link_hyphenated_groups,
    link_leftover_hyphens,
    link_names,
    link_sequences,
)
from forestalign.words.sultan.stages import (
    Candidate,
    Copies,
    Family,
    Links,
    Pair,
    Relative,
    best_first,
    common_runs,
    compete,
    relative_pairs,
)
from tests.builders.word_pairs import analysed, plain

# ---- similarity ----

LISTED = WordSimilarity(Sources(pairs=PairList([("buy", "purchase"), ("the", "car"), ("5", "6"), ("five", "six")])))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("dog", "Dog", 1.0),
        ("U.S.", "US", 1.0),
        ("1,000", "1000", 1.0),
        ("-", ".", 0.0),
        ("runs", "running", 1.0),
        ("buy", "purchase", 0.9),
        ("purchase", "buy", 0.9),
        ("buy", "car", 0.0),
        ("the", "car", 0.0),
        ("5", "6", 0.0),
        ("five", "six", 0.9),
    ],
)
def test_similarity_of_two_words_without_tags(left: str, right: str, expected: float) -> None:
    assert LISTED.words(left, right) == expected


@pytest.mark.parametrize(
    ("sources", "left", "right", "expected"),
    [
        (Sources(exact=False, stem=False), "dog", "dog", 0.0),
        (Sources(stem=False), "runs", "running", 0.0),
        (Sources(stem=False, veto=False), "U.S.", "US", 0.0),
        (Sources(veto=False, pairs=PairList([("the", "car")])), "the", "car", 0.9),
        (Sources(level=0.5, pairs=PairList([("buy", "purchase")])), "buy", "purchase", 0.5),
        (Sources(function=lambda left, right: left[0] == right[0]), "apple", "avocado", 0.9),
    ],
)
def test_each_source_can_be_taken_away_or_added(sources: Sources, left: str, right: str, expected: float) -> None:
    assert WordSimilarity(sources).words(left, right) == expected


def test_words_have_one_stem_where_their_stems_are_equal() -> None:
    words = ["dying", "'dies", "die", "runs", "running", "rung", "easy", "eased", "ied", "a", "aing", "by", "byes"]
    expected = [[stem(one) == stem(other) for other in words] for one in words]
    assert same_stems(words, words).tolist() == expected


def test_the_matrix_takes_the_better_of_words_and_lemmas() -> None:
    source = analysed("bought/VBD/buy/0/root the/DT/the/1/det").sentence
    target = analysed("purchases/NNS/purchase/0/root").sentence
    assert LISTED.matrix(source, target).tolist() == [[0.9], [0.0]]
    assert LISTED.lemma_matrix(source, target).tolist() == [[0.9], [0.0]]


def test_a_single_mark_keeps_itself_as_its_canonical_form() -> None:
    assert form("-").canonical == "-"
    assert form("well-known").canonical == "wellknown"


# ---- labels ----


def arcs_of(text: str) -> set[tuple[str, str, str]]:
    """Arcs by their words."""
    analysis = analysed(text)
    words = analysis.sentence.words
    return {
        (arc.relation, words[arc.head] if arc.head >= 0 else "ROOT", words[arc.dependent])
        for arc in collapse(analysis.dependencies, words, analysis.sentence.tags)
    }


def test_a_preposition_that_its_relation_carries_is_no_arc() -> None:
    text = "went/VBD/go/0/root to/IN/to/3/case Rome/NNP/rome/1/obl:to ././././1/punct"
    assert arcs_of(text) == {("root", "ROOT", "went"), ("nmod:to", "went", "Rome")}


def test_a_preposition_that_no_relation_carries_stays() -> None:
    assert ("case", "Rome", "to") in arcs_of("went/VBD/go/0/root to/IN/to/3/case Rome/NNP/rome/1/obl")


def test_an_adjective_as_open_complement_is_acomp() -> None:
    assert ("acomp", "seems", "sad") in arcs_of("seems/VBZ/seem/0/root sad/JJ/sad/1/xcomp")
    assert ("xcomp", "wants", "leave") in arcs_of("wants/VBZ/want/0/root leave/VB/leave/1/xcomp")


def test_an_infinitive_as_adverbial_clause_is_a_purpose() -> None:
    text = "left/VBD/leave/0/root to/TO/to/3/mark eat/VB/eat/1/advcl:to"
    assert ("purpcl", "left", "eat") in arcs_of(text)
    other = "left/VBD/leave/0/root after/IN/after/3/mark eating/VBG/eat/1/advcl"
    assert ("advcl", "left", "eating") in arcs_of(other)


ROW = "paper\tchildren\tv\tn\tobj\tnsubj:pass\n"


def test_a_row_for_children_holds_in_both_orders_and_seen_from_the_relatives(tmp_path: Path) -> None:
    path = tmp_path / "equivalences.tsv"
    path.write_text(ROW, encoding="utf-8")
    table = read_equivalences(path, "paper")
    assert table.has(Orientation.CHILDREN, "v", "n", "nsubj:pass", "obj")
    assert table.has(Orientation.PARENTS, "n", "v", "obj", "nsubj:pass")
    assert len(table.rows) == 4


def test_rows_of_another_profile_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "equivalences.tsv"
    path.write_text(ROW, encoding="utf-8")
    assert not read_equivalences(path, "published").rows


def test_an_equals_sign_stands_for_the_same_labels(tmp_path: Path) -> None:
    path = tmp_path / "equivalences.tsv"
    path.write_text("published\tparents\tn\tn\tnmod:of appos\t=\n", encoding="utf-8")
    table = read_equivalences(path, "published")
    assert {(row.source_relation, row.target_relation) for row in table.rows} == {
        (left, right) for left in ("nmod:of", "appos") for right in ("nmod:of", "appos")
    }


def test_an_unknown_orientation_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "equivalences.tsv"
    path.write_text(ROW + "paper\tsiblings\tv\tn\tobj\tobj\n", encoding="utf-8")
    with pytest.raises(GrammarError, match=r"equivalences\.tsv:2: 'siblings'"):
        read_equivalences(path, "paper")


# ---- families ----


def test_a_family_knows_parents_and_children() -> None:
    family = Family((Arc(-1, 1, "root"), Arc(1, 0, "nsubj"), Arc(1, 2, "obj")), ("cats", "eat", "fish"))
    assert family.parents == [[Relative(1, "nsubj")], [Relative(-1, "root")], [Relative(1, "obj")]]
    assert family.children == [[], [Relative(0, "nsubj"), Relative(2, "obj")], []]


def test_a_collapsed_word_that_no_later_relation_names_has_no_relatives() -> None:
    family = Family((Arc(-1, 0, "root"), Arc(0, 2, "nmod:in")), ("lives", "at", "Rome", "."))
    assert (family.parents[1], family.children[1], family.parents[3]) == ([], [], [])


@pytest.mark.parametrize(
    ("orientation", "expected"),
    [
        (Orientation.CHILDREN, [(0, 2)]),
        (Orientation.PARENTS, [(-1, -1)]),
        (Orientation.CHILD_PARENT, [(0, -1)]),
        (Orientation.PARENT_CHILD, [(-1, 2)]),
    ],
)
def test_an_orientation_says_where_the_relatives_hang(
    orientation: Orientation, expected: list[tuple[int, int]]
) -> None:
    source = Family((Arc(-1, 1, "root"), Arc(1, 0, "nsubj")), ("cats", "eat"))
    target = Family((Arc(-1, 1, "root"), Arc(1, 2, "obj"), Arc(2, 0, "det")), ("the", "eat", "fish"))
    assert [(a.word, b.word) for a, b in relative_pairs(source, target, 1, 1, orientation)] == expected


# ---- competitions ----


def candidate(i: int, j: int, score: float, linkable: bool = True) -> Candidate:
    return Candidate(i, j, score, linkable)


def winners(*candidates: Candidate, exclusive: bool = True) -> list[tuple[int, int]]:
    return [(each.source, each.target) for each in compete(candidates, exclusive=exclusive)]


def test_candidates_are_ordered_by_score_then_place() -> None:
    listed = [candidate(1, 0, 0.5), candidate(0, 1, 0.5), candidate(0, 0, 0.5), candidate(1, 1, 0.9)]
    assert [(each.source, each.target) for each in best_first(listed)] == [(1, 1), (0, 0), (0, 1), (1, 0)]


def test_the_score_weighs_words_against_context() -> None:
    pair = Pair(plain("a"), plain("b"), LISTED.matrix(plain("a").sentence, plain("b").sentence), 0.75, 0.9)
    assert pair.candidate(0, 0, 0.8, 2.0, True).score == pytest.approx(0.75 * 0.8 + 0.25 * 2.0)


def test_the_best_candidate_takes_its_words_from_the_others() -> None:
    assert winners(candidate(0, 0, 0.9), candidate(0, 1, 0.8), candidate(1, 0, 0.7), candidate(1, 1, 0.6)) == [
        (0, 0),
        (1, 1),
    ]


def test_a_candidate_without_a_score_never_wins() -> None:
    assert winners(candidate(0, 0, 0.0), candidate(1, 1, -1.0)) == []


def test_without_exclusion_a_word_may_win_again_while_it_has_copies() -> None:
    listed = candidate(0, 0, 0.9), candidate(0, 1, 0.8)
    assert winners(*listed, exclusive=False) == [(0, 0), (0, 1)]
    assert winners(*listed) == [(0, 0)]


# ---- runs and growing links ----


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("a b c", "a b c", [(0, 0, 3)]),
        ("a b", "b a", [(0, 1, 1), (1, 0, 1)]),
        ("a b c d", "c d a b", [(0, 2, 2), (2, 0, 2)]),
        ("a a", "a", [(0, 0, 1), (1, 0, 1)]),
        ("x", "y", []),
    ],
)
def test_common_runs_come_longest_first(left: str, right: str, expected: list[tuple[int, int, int]]) -> None:
    assert common_runs(left.split(), right.split()) == expected


def test_runs_shorter_than_asked_for_are_left_out() -> None:
    assert common_runs(list("abxc"), list("abyc"), smallest=2) == [(0, 0, 2)]


def test_a_link_found_twice_keeps_its_first_stage() -> None:
    links = Links()
    links.add(0, 1, "name")
    links.add(0, 1, "sequence", 0.5)
    assert links.alignment() == WordAlignment((WordLink(0, 1, 1.0, "name"),))
    assert len(links) == 1


def test_words_with_a_link_are_not_free() -> None:
    links = Links()
    links.add(0, 1, "name")
    assert (links.are_free(0, 0), links.are_free(1, 1), links.are_free(1, 0)) == (False, False, True)
    assert (0, 1) in links
    assert (1, 0) not in links


# ---- identity ----


def pair_of(source: Analysis, target: Analysis) -> Pair:
    return Pair(source, target, LISTED.matrix(source.sentence, target.sentence), 0.9, 0.9)


def linked(stage: object, source: str, target: str, *before: tuple[int, int]) -> set[tuple[int, int]]:
    """What a stage adds to the links before it."""
    links = Links()
    for pair in before:
        links.add(*pair, "before")
    stage(pair_of(plain(source), plain(target)), links)  # type: ignore[operator]
    return set(links.alignment().pairs) - set(before)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("a .", "b .", {(1, 1)}),
        ("a ?", "b ?", {(1, 1)}),
        ("a .", "b !", {(1, 1)}),
        ("a . ''", "b .", {(1, 1)}),
        ("a .", "b . ''", {(1, 1)}),
        ("a . ''", "b ! )", {(1, 1)}),
        ("a ?", "b !", set()),
        ("a", "b", set()),
    ],
)
def test_final_punctuation_is_linked_behind_closing_quotes_too(
    source: str, target: str, expected: set[tuple[int, int]]
) -> None:
    assert linked(link_final_punctuation, source, target) == expected


def test_final_punctuation_of_nothing_is_nothing() -> None:
    empty = Analysis(plain("a").sentence.from_words([]), Dependencies((), ()))
    links = Links()
    link_final_punctuation(pair_of(empty, plain("a .")), links)
    assert not len(links)


@pytest.mark.parametrize(
    ("stage", "source", "target", "before", "expected"),
    [
        (link_sequences, "The old dog", "saw the OLD cat", [], {(0, 1), (1, 2)}),  # whatever their case
        (link_sequences, "the dog", "the cat", [], set()),
        (link_sequences, "the old dog", "the old dog", [(1, 2)], {(0, 0)}),  # linked words are left alone
        (link_hyphenated_groups, "a two-year plan", "year", [], set()),  # one part waits for the last stage
        (link_leftover_hyphens, "a two-year plan", "year", [], {(1, 0)}),
        (link_leftover_hyphens, "well-to-do people", "to", [], set()),  # a stop word alone
        (link_leftover_hyphens, "two-year", "year x", [(0, 1)], set()),  # linked already
        (link_hyphenated_groups, "two-year", "two year x", [(0, 2)], set()),
    ],
)
def test_stages_link_sequences_and_hyphenated_words(
    stage: object, source: str, target: str, before: list[tuple[int, int]], expected: set[tuple[int, int]]
) -> None:
    assert linked(stage, source, target, *before) == expected


# ---- names ----


@pytest.mark.parametrize(
    ("short", "name", "expected"),
    [
        ("UN", "United Nations", True),
        ("U.N.", "United Nations", True),
        ("UN", "united nations", False),
        ("un", "United Nations", False),
        ("UN", "United Nations Council", False),
        ("NU", "United Nations", False),
        ("U", "United", False),
        ("A", "Ann", False),
        ("UN Council", "United Nations", False),
    ],
)
def test_an_acronym_has_the_initials_of_a_name(short: str, name: str, expected: bool) -> None:
    assert is_acronym(tuple(short.split()), tuple(name.split())) is expected


def test_a_name_grows_by_the_next_word_of_the_others_name() -> None:
    found = carry_over(["George", "Marsh"], [Entity(0, 1, "PERSON")], ["George", "Marsh"], [Entity(0, 2, "PERSON")])
    assert found == [Entity(0, 2, "PERSON")]


def test_a_word_in_lower_case_is_never_carried_over() -> None:
    assert carry_over(["marsh"], [], ["marsh"], [Entity(0, 1, "PERSON")]) == []


def names(source: str, left: list[Entity], target: str, right: list[Entity]) -> dict[tuple[int, int], str]:
    own = Analysis(plain(source).sentence, plain(source).dependencies, tuple(left))
    other = Analysis(plain(target).sentence, plain(target).dependencies, tuple(right))
    links = Links()
    link_names(own, other, links)
    return {(link.source, link.target): link.stage for link in links.alignment()}


def test_a_longer_name_shares_its_free_words_with_the_shorter_one() -> None:
    found = names("George Marsh", [Entity(0, 2, "PERSON")], "Marsh left", [Entity(0, 1, "PERSON")])
    assert found == {(1, 0): "name", (0, 0): "partial name"}


def test_entities_that_are_no_names_are_passed_over() -> None:
    assert names("Monday", [Entity(0, 1, "DATE")], "Monday", [Entity(0, 1, "DATE")]) == {}


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 6))
def test_candidates_without_a_score_change_nothing_but_the_copies(seed: int, rows: int, columns: int) -> None:
    rng = random.Random(seed)
    whole = [
        Candidate(i, j, rng.choice([0.0, 0.0, 0.1, 0.9, 1.0]), rng.random() < 0.5)
        for i in range(rows)
        for j in range(columns)
    ]
    scored = [candidate for candidate in whole if candidate.score > 0]
    copies = Copies.of_all(range(rows), range(columns))
    assert list(compete(scored, exclusive=True, copies_left=copies)) == list(compete(whole, exclusive=True))
