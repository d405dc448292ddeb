"""Profile `published`: one small test for each behaviour of the published program."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.words import Arc, Entity
from forestalign.words.analysis import Orientation, canonical_label, load_equivalences
from forestalign.words.similarity import Sources, WordSimilarity
from forestalign.words.sultan.stages import Candidate, Family, common_runs, compete
from tests.builders.word_pairs import align, analysed, plain, stages_of

# ---- word similarity ----


@pytest.mark.parametrize(
    ("left", "right", "tags", "is_listed", "expected"),
    [
        ("4", "5", "CD", True, 0.0),  # different digits
        ("four", "4", "CD", True, 0.9),
        ("four", "4", "CD", False, 0.0),
        ("four", "five", "CD", True, 0.0),  # two number words
        ("four", "five", "NN", True, 0.9),
        ("of", "house", "NN", True, 0.0),  # a stop word and a content word
        ("of", "from", "NN", True, 0.9),
    ],
)
def test_a_list_does_not_make_numbers_and_stop_words_similar(
    left: str, right: str, tags: str, is_listed: bool, expected: float
) -> None:
    sources = Sources(function=lambda one, other: is_listed)
    assert WordSimilarity(sources).words(left, right, tags, tags) == expected


# ---- identity stages ----


@pytest.mark.parametrize(
    ("source", "target", "links"),
    [
        ("come here/RB", "look there/RB here/RB", {(1, 2)}),  # equal last words
        ("of/IN the/DT dog", "cat of/IN the/DT bird", {(0, 1), (1, 2)}),  # stop words alone
        ("red car fast", "red car slow red car fast", {(0, 3), (1, 4), (2, 5)}),  # longer sequences first
        ("well-known/JJ author", "poet well/RB known/JJ", {(0, 1), (0, 2)}),  # all words of a hyphenated run
        ("poet well/RB known/JJ", "well-known/JJ author", {(1, 0), (2, 0)}),
    ],
)
def test_identical_words_are_linked(source: str, target: str, links: set[tuple[int, int]]) -> None:
    assert align("published", plain(source), plain(target)) == links


@given(st.lists(st.sampled_from("abc"), max_size=5), st.lists(st.sampled_from("abc"), max_size=5))
def test_common_runs_are_common_and_none_lies_in_another(left: list[str], right: list[str]) -> None:
    runs = common_runs(left, right)
    for i, j, length in runs:
        assert left[i : i + length] == right[j : j + length]
    for i, j in ((i, j) for i in range(len(left)) for j in range(len(right)) if left[i] == right[j]):
        assert any(a <= i < a + n and b <= j < b + n for a, b, n in runs)
    for number, (i, j, n) in enumerate(runs):
        earlier = runs[:number]
        assert not any(a <= i and i + n <= a + m and b <= j and j + n <= b + m for a, b, m in earlier)


def test_a_leftover_hyphenated_word_is_linked_with_one_of_its_parts() -> None:
    assert stages_of("published", plain("first-quarter/JJ"), plain("some/DT quarter x")) == {(0, 1): "hyphen"}


def test_a_target_word_may_take_a_part_that_is_linked_already() -> None:
    source, target = plain("blue car today"), plain("blue car by-car today")
    links = align("published", source, target)
    assert {(0, 0), (1, 1), (1, 2)} <= links
    assert (1, 0) not in align("published", plain("by-car today"), plain("blue car x today"))


# ---- named entities ----

PERSON = "PERSON"


def names(text: str, *spans: tuple[int, int, str]):  # type: ignore[no-untyped-def]
    return analysed(" ".join(f"{word}/NNP" for word in text.split()), [Entity(*span) for span in spans])


def test_equal_names_are_linked_word_by_word() -> None:
    source = names("yesterday Ann-Lee Marsh left", (1, 3, PERSON))
    target = names("AnnLee Marsh", (0, 2, PERSON))
    assert {(1, 0), (2, 1)} <= align("published", source, target)


def test_a_name_that_occurs_twice_is_left_to_later_stages() -> None:
    source = names("Marsh saw Marsh", (0, 1, PERSON), (2, 3, PERSON))
    target = names("Marsh left", (0, 1, PERSON))
    assert "name" not in stages_of("published", source, target).values()


def test_an_acronym_is_linked_with_all_words_of_its_name() -> None:
    source = names("the W.H.O. said", (1, 2, "ORGANIZATION"))
    target = names("World Health Organization", (0, 3, "ORGANIZATION"))
    assert {(1, 0), (1, 1), (1, 2)} <= align("published", source, target)


def test_a_partial_name_takes_in_the_rest_of_the_full_one() -> None:
    source = names("George Walker Marsh spoke", (0, 3, PERSON))
    target = names("then Marsh resigned", (1, 2, PERSON))
    assert align("published", source, target) == {(0, 1), (1, 1), (2, 1)}


def test_names_of_different_types_are_no_partial_names() -> None:
    source = names("George Marsh spoke", (0, 2, PERSON))
    target = names("then Marsh resigned", (1, 2, "LOCATION"))
    assert align("published", source, target) == {(1, 1)}


def test_a_capitalised_word_becomes_a_name_if_the_other_sentence_says_so() -> None:
    source = names("George Marsh spoke", (0, 2, PERSON))
    target = names("then Marsh resigned")
    assert (0, 1) in align("published", source, target)


# ---- content words ----


def test_two_roots_are_evidence() -> None:
    source = analysed("Ann/NNP/ann/2/nsubj purchased/VBD/purchase/0/root")
    target = analysed("Bob/NNP/bob/2/nsubj bought/VBD/buy/0/root soon/RB/soon/2/advmod")
    assert stages_of("published", source, target, [("purchased", "bought")]) == {(1, 1): "content dependency"}


def test_passive_subjects_and_objects_are_evidence_in_the_noun_pass() -> None:
    source = analysed("He/PRP/he/2/nsubj ate/VBD/eat/0/root bread/NN/bread/2/obj")
    target = analysed("Bread/NN/bread/3/nsubj:pass was/VBD/be/3/aux:pass eaten/VBN/eat/4/csubj nice/JJ/nice/0/root")
    stages = stages_of("published", source, target)
    assert stages[2, 0] == "content dependency"
    assert stages[1, 2] == "dependency relative"
    verb_rows = load_equivalences("published")
    assert not verb_rows.has(Orientation.CHILDREN, "v", "*", "obj", "nsubj:pass")


def test_relatives_need_no_common_category() -> None:
    source = analysed("help/NN/help/2/dobj matters/VBZ/matter/0/root")
    target = analysed("helping/VBG/help/2/dobj matters/VBZ/matter/3/ccomp x/NN/x/0/root")
    assert stages_of("published", source, target)[0, 0] in {"content dependency", "dependency relative"}


def test_a_collapsed_preposition_finds_the_relation_that_carries_it() -> None:
    arcs = (Arc(-1, 0, "root"), Arc(3, 2, "det"), Arc(0, 3, "nmod:in"))
    words = ("sat", "in", "the", "room")
    family = Family(arcs, words)
    assert family.parents[1] == [(0, "nmod:in")]
    assert family.children[1] == [(3, "nmod:in")]
    assert Family(arcs, ("sat", "In", "the", "room")).parents[1] == []


def test_a_pair_that_cannot_be_linked_uses_up_the_copies_of_its_words() -> None:
    winner, rival = Candidate(0, 0, 1.5, False), Candidate(0, 1, 0.9, True)
    assert list(compete([winner, rival, Candidate(1, 0, 0.1, False)], exclusive=True)) == []
    assert list(compete([winner, rival], exclusive=True)) == [rival]


def test_an_identical_word_is_blocked_by_dissimilar_words_in_rich_context() -> None:
    target = plain("fish fish fish Y fish fish fish bird X")
    crowded = plain("fish fish fish X fish fish fish alpha beta gamma")
    assert (3, 8) not in align("published", crowded, target)
    assert (1, 1) in align("published", plain("fish X alpha"), plain("bird X stone"))


# ---- stop words ----


def test_one_stop_word_may_get_two_partners() -> None:
    source = analysed("the/DT/the/4/det old/JJ big/JJ dogs/NNS/dog/0/root x/NN")
    target = analysed("the/DT/the/4/det wild/JJ big/JJ dogs/NNS/dog/0/root the/DT/the/4/det y/NN")
    stages = stages_of("published", source, target)
    assert stages[0, 0] == stages[0, 4] == "stop dependency"


def test_relations_of_stop_words_are_ignored() -> None:
    source = analysed("this/DT/this/4/det x/NN big/JJ dogs/NNS/dog/0/root")
    target = analysed("this/DT/this/4/nsubj y/NN big/JJ dogs/NNS/dog/0/root z/NN")
    assert stages_of("published", source, target)[0, 0] == "stop dependency"


def test_stop_words_are_linked_beside_linked_neighbours() -> None:
    source, target = plain("cat of/IN x"), plain("y cat/NN of/IN z")
    assert (1, 2) in align("published", source, target)
    alone = align("published", plain("x of/IN y"), plain("z of/IN w"))
    assert alone == set()


def test_evidence_from_neighbours_is_frozen() -> None:
    source, target = plain("a1 ,/, of/IN"), plain("a1 x ,/, of/IN y")
    stages = stages_of("published", source, target)
    assert (1, 2) in stages
    assert stages[1, 2] == "sequence"
    apart = stages_of("published", plain("dog ;/: by/IN q"), plain("dog ;/: z by/IN"))
    assert (2, 3) not in apart


# ---- tables ----


@pytest.mark.parametrize(
    ("label", "canonical"),
    [("dobj", "obj"), ("prep_in", "nmod:in"), ("obl:in", "nmod:in"), ("conj_and", "conj:and"), ("rcmod", "acl:relcl"),
     ("nsubjpass", "nsubj:pass"), ("obl:agent", "obl:agent"), ("agent", "obl:agent"), ("flat", "flat")],
)  # fmt: skip
def test_stanford_and_universal_labels_meet(label: str, canonical: str) -> None:
    assert canonical_label(label) == canonical


def test_crossed_equivalences_hold_mirrored() -> None:
    table = load_equivalences("published")
    assert table.has(Orientation.PARENT_CHILD, "n", "*", "nsubj", "amod")
    assert table.has(Orientation.CHILD_PARENT, "n", "*", "amod", "nsubj")
    assert not table.has(Orientation.PARENT_CHILD, "n", "*", "amod", "nsubj")
