"""Evidence where phrases occur more than once, or stand word for word on the other side."""

from __future__ import annotations

import pytest

from forestalign.phrases.evidence.phrase_evidence import OccurrenceShare, find_evidence
from forestalign.tokens import Sentence
from tests.builders.tagged_sentences import sentence


def strengths(source: str, target: str, pair: tuple[str, str]) -> list[float]:
    own, other = sentence(source), sentence(target)
    return [
        row.strength
        for row in find_evidence(own, other)
        if (" ".join(own.words[i] for i in row.source), " ".join(other.words[i] for i in row.target)) == pair
    ]


@pytest.mark.parametrize(
    ("source", "target", "pair"),
    [
        ("UN/NNP aid/NN", "United/NNP Nations/NNPS aid/NN of/IN the/DT UN/NNP", ("UN", "United Nations")),
        ("salt/NN and/CC oil/NN", "salt/NN and/CC oil/NN as/RB well/RB as/IN bread/NN", ("and", "as well as")),
        ("He/PRP quit/VBD", "He/PRP quit/VBD and/CC gave/VBD up/RP", ("quit", "gave up")),
        ("ten/CD men/NNS", "ten/CD men/NNS and/CC 10/CD women/NNS", ("ten", "10")),
    ],
)
def test_a_phrase_that_stands_on_the_other_side_is_not_free(source: str, target: str, pair: tuple[str, str]) -> None:
    assert strengths(source, target, pair) == []


@pytest.mark.parametrize(
    ("source", "target", "pair"),
    [
        ("UN/NNP aid/NN", "United/NNP Nations/NNPS aid/NN", ("UN", "United Nations")),
        ("the/DT World/NNP Bank/NNP (/-LRB- WB/NNP )/-RRB-", "the/DT WB/NNP", ("World Bank", "WB")),
    ],
)
def test_a_phrase_that_does_not_is_free(source: str, target: str, pair: tuple[str, str]) -> None:
    assert strengths(source, target, pair)


def test_evidence_is_shared_among_occurrences() -> None:
    once = strengths("the/DT UN/NNP", "the/DT United/NNP Nations/NNPS", ("UN", "United Nations"))
    twice = strengths("the/DT UN/NNP and/CC the/DT UN/NNP", "the/DT United/NNP Nations/NNPS", ("UN", "United Nations"))
    assert max(once) == 2 * max(twice)
    assert len(twice) == 2 * len(once)


def test_one_of_two_occurrences_is_free_where_the_other_side_has_one() -> None:
    found = OccurrenceShare(Sentence.from_words(["US", "and", "US"]), Sentence.from_words(["US", "and", "America"]))
    assert found.share((0,), (2,)) == found.share((2,), (2,)) == 0.5


def test_words_in_capitals_are_not_those_in_small_letters() -> None:
    found = OccurrenceShare(Sentence.from_words(["US"]), Sentence.from_words(["America", "and", "us"]))
    assert found.share((0,), (0,)) == 1.0


def test_a_word_inside_its_partner_is_no_rival() -> None:
    found = OccurrenceShare(Sentence.from_words(["to", "win"]), Sentence.from_words(["in", "order", "to", "win"]))
    assert found.share((0,), (0, 1, 2)) == 1.0
