"""What one sentence says about the other through the links, on trees written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from forestalign.forest import Forest
from forestalign.reranking.projection import SURE, PhraseShares, TreeEvidence, _crossings, arcs, mutual_evidence
from tests.builders.hand_forests import hand_forest, hand_links

LOW = "(S (NP (PRP We)) (VP (VBD saw) (NP (NP (DT the) (NN man)) (PP (IN with) (NP (NNS lenses))))) (. .))"
HIGH = "(S (NP (PRP We)) (VP (VBD saw) (NP (DT the) (NN man)) (PP (IN with) (NP (NNS lenses)))) (. .))"
FRONTED = "(S (PP (IN With) (NP (NNS lenses))) (NP (PRP we)) (VP (VBD saw) (NP (DT the) (NN man))) (. .))"
USING = "(S (S (VP (VBG Using) (NP (NNS lenses)))) (NP (PRP we)) (VP (VBD saw) (NP (DT the) (NN man))) (. .))"
# We saw the man with lenses . / With lenses we saw the man .
LINKS = hand_links((0, 2), (1, 3), (2, 4), (3, 5), (4, 0), (5, 1), (6, 6))


def seen(forest: Forest, other: str, *links: tuple[int, int]) -> TreeEvidence:
    return mutual_evidence(forest, hand_forest(other), hand_links(*links) if links else LINKS)[0]


def test_a_phrase_over_there_speaks_for_its_words_and_against_what_cuts_it() -> None:
    found = seen(hand_forest(LOW, HIGH), FRONTED)
    assert found.together[1, 3] == pytest.approx(1.0)  # saw the man
    assert found.by_category["VP"][1, 3] == pytest.approx(1.0)
    assert found.together[0, 2] == 0.0  # We saw the
    assert found.apart[0, 2] == 1.0
    assert found.crossed[0, 2] == 1.0
    assert found.crossed[1, 3] == 0.0


def test_words_whose_partners_have_others_between_them_are_scattered() -> None:
    found = seen(hand_forest(LOW, HIGH), FRONTED)
    assert found.scattered[2, 5] == 1.0  # the man with lenses
    assert found.scattered[2, 3] == 0.0
    assert found.together[2, 5] == found.apart[2, 5] == 0.0


def test_an_image_may_be_widened_by_words_without_a_partner() -> None:
    forest = hand_forest("(S (NP (NN man)) (VP (VBD saw) (NP (NNS lenses))))")
    other = "(S (NP (DT the) (NN man)) (VP (VBD saw) (ADVP (RB once)) (NP (NNS lenses))))"
    found = seen(forest, other, (0, 1), (1, 2), (2, 4))
    assert found.together[0, 2] == pytest.approx(1.0)
    assert found.together[1, 2] == pytest.approx(1.0)
    assert found.exact[1, 2] == 0.0  # once has no partner


def test_exact_spans_count_more_that_stand_word_by_word() -> None:
    found = seen(hand_forest(HIGH), FRONTED.replace("the", "a").replace("lenses", "glasses"))
    assert found.exact[0, 1] == found.same[0, 1] == SURE
    assert found.exact[1, 3] == found.same[1, 3] == 1.0
    assert (found.same[1] > 0.0).tolist() == [1, 1, 0, 1, 1, 0, 0]  # other words than the same are not exact
    assert found.exact[4, 5] == 0.0


def test_what_governs_over_there_governs_here_through_the_links() -> None:
    found = seen(hand_forest(LOW, HIGH), FRONTED)
    assert found.governs[5, 1] == pytest.approx(1.0)  # lenses, saw
    assert found.governs[5, 3] == 0.0


def test_a_governor_without_a_partner_is_passed_over() -> None:
    found = seen(hand_forest(LOW, HIGH), USING, (0, 2), (1, 3), (2, 4), (3, 5), (5, 1))
    assert found.governs[5, 1] == pytest.approx(1.0)


def test_shares_are_those_of_the_trees_of_the_forest() -> None:
    forest = hand_forest(LOW, HIGH)
    found = PhraseShares.of(forest, temperature=1.0)
    assert found.spans[0, 2, 5] == pytest.approx(0.5)
    assert np.allclose(found.spans[1:].sum(axis=0), found.spans[0])
    assert found.governors[5].tolist() == pytest.approx([0, 0.5, 0, 0.5, 0, 0, 0])
    assert {(word, governor) for _, word, governor in zip(*arcs(forest), strict=True)} >= {(5, 1), (5, 3), (4, 5)}


def test_crossings_are_the_phrases_that_share_words_and_have_others() -> None:
    shares = np.triu(np.random.default_rng(0).random((6, 6)), 1)
    for b, e in zip(*np.triu_indices(6), strict=True):
        crossing = [shares[i, j] for i, j in np.argwhere(shares) if i < b <= j < e or b < i <= e < j]
        assert _crossings(shares)[b, e] == pytest.approx(sum(crossing))


def test_a_sentence_without_links_says_nothing() -> None:
    forest = hand_forest(LOW)
    found = mutual_evidence(forest, hand_forest(FRONTED), hand_links())[0]
    for table in (found.together, found.apart, found.crossed, found.scattered, found.exact, found.governs):
        assert not table.any()
