"""What pairs rest on and what they are to each other: by evidence, by words, by their supports."""

from __future__ import annotations

from dataclasses import replace

import pytest

import forestalign
from forestalign.lexicon import load_wordnet
from forestalign.lexicon.findings import RELATIONS, turned_relation
from forestalign.phrases.evidence.phrase_evidence import PhraseEvidence, find_evidence
from forestalign.phrases.result.discontinuous_pairs import AlignedSpans
from forestalign.phrases.result.pair_relations import PUBLIC_KINDS, Annotated, PairRelations
from forestalign.tokens import Span
from forestalign.words.alignment import NO_LINKS, WordAlignment, WordLink
from tests.builders.tagged_sentences import sentence


def pair(source: tuple[int, int], target: tuple[int, int], *supports: int) -> AlignedSpans:
    return AlignedSpans(Span(*source), Span(*target), supports)


def annotated(source: str, target: str, *pairs: AlignedSpans, links: WordAlignment = NO_LINKS) -> list[Annotated]:
    own, other = sentence(source), sentence(target)
    relations = PairRelations.of(own, other, find_evidence(own, other), links, load_wordnet())
    return relations.annotated(pairs)[0]


@pytest.mark.parametrize(
    ("source", "target", "relation"),
    [
        ("Dogs/NNS", "dog/NN", "equal"),
        ("car/NN", "automobile/NN", "equal"),
        ("dog/NN", "poodle/NN", "more specific"),
        ("poodle/NN", "dog/NN", "more general"),
        ("hot/JJ", "cold/JJ", "opposite"),
        ("four/CD", "five/CD", "different value"),
        ("four/CD", "4/CD", "equal"),
        ("table/NN", "freedom/NN", "similar"),
    ],
)
def test_two_words_are_what_the_lexicon_says(source: str, target: str, relation: str) -> None:
    assert annotated(source, target, pair((0, 1), (0, 1)))[0].relation == relation


def test_equal_parts_make_equal_phrases_whatever_the_articles() -> None:
    found = annotated(
        "the/DT dog/NN", "a/DT dog/NN", pair((0, 1), (0, 1)), pair((1, 2), (1, 2)), pair((0, 2), (0, 2), 0, 1)
    )
    assert [each.relation for each in found] == ["similar", "equal", "equal"]


@pytest.mark.parametrize(
    ("source", "target", "relation"),
    [
        ("big/JJ dog/NN", "dog/NN", "more general"),
        ("dog/NN", "big/JJ dog/NN", "more specific"),
        ("not/RB dog/NN", "dog/NN", "opposite"),
        ("the/DT dog/NN", "dog/NN", "equal"),
    ],
)
def test_a_word_that_one_side_has_alone(source: str, target: str, relation: str) -> None:
    ends = len(source.split()), len(target.split())
    word = pair((ends[0] - 1, ends[0]), (ends[1] - 1, ends[1]))
    assert annotated(source, target, word, pair((0, ends[0]), (0, ends[1]), 0))[1].relation == relation


def test_one_opposite_part_makes_the_whole_opposite_and_two_make_it_similar() -> None:
    source, target = "hot/JJ big/JJ days/NNS", "cold/JJ small/JJ days/NNS"
    words = [pair((k, k + 1), (k, k + 1)) for k in range(3)]
    found = annotated(source, target, *words, pair((1, 3), (1, 3), 1, 2), pair((0, 3), (0, 3), 0, 3))
    assert [each.relation for each in found] == ["opposite", "opposite", "equal", "opposite", "similar"]


def test_evidence_about_exactly_these_phrases_decides_before_their_parts() -> None:
    source, target = "three/CD days/NNS", "72/CD hours/NNS"
    inner = pair((1, 2), (1, 2))
    link = WordAlignment((WordLink(1, 1, 0.4),))
    found = annotated(source, target, inner, pair((0, 2), (0, 2), 0), links=link)
    assert (found[1].relation, found[1].evidence) == ("equal", ("links", "quantity"))
    assert found[0].evidence == ("links",)


def test_an_article_at_the_edge_does_not_hide_the_evidence() -> None:
    found = annotated("the/DT United/NNP States/NNPS", "US/NNP", pair((0, 3), (0, 1)))
    assert "acronym" in found[0].evidence
    assert found[0].relation == "equal"


def test_what_nothing_is_known_about_rests_on_links_and_is_similar() -> None:
    found = annotated("green/JJ chairs/NNS", "loud/JJ ideas/NNS", pair((0, 2), (0, 2)))
    assert (found[0].evidence, found[0].relation) == (("links",), "similar")


def test_every_kind_of_evidence_has_a_public_name() -> None:
    from forestalign.phrases.evidence.phrase_evidence import KINDS

    assert set(KINDS) <= set(PUBLIC_KINDS)
    assert set(PUBLIC_KINDS.values()) == {"lexicon", "acronym", "quantity", "similarity"}


def test_evidence_and_relations_turn_with_the_sentences() -> None:
    row = PhraseEvidence((0,), (1, 2), "lexicon", "more specific", 0.5)
    assert row.swap_sides() == PhraseEvidence((1, 2), (0,), "lexicon", "more general", 0.5)
    assert all(turned_relation(turned_relation(each)) == each for each in RELATIONS)


@pytest.mark.parametrize("scoring", ["paper", "best"])
def test_swapped_sentences_have_turned_relations(scoring: str) -> None:
    aligner = forestalign.load(scoring=scoring)
    one, other = "Three small dogs barked at the poodle.", "Four dogs barked at the dog."
    forth, back = aligner.align(one, other).phrases.pairs, aligner.align(other, one).phrases.pairs
    turned = {replace(each, source=each.target, target=each.source).source: each for each in back}
    assert {(each.source, each.target, each.relation, each.evidence) for each in forth} == {
        (each.target, each.source, turned_relation(each.relation), each.evidence) for each in turned.values()
    }
    assert "different value" in {each.relation for each in forth}
