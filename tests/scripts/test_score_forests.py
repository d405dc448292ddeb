"""What `score_forests.py` computes beside the scores of the package."""

from __future__ import annotations

import numpy as np
import pytest
from score_forests import Answers, attachment_changes

from forestalign.dependencies import unlabelled_heads
from forestalign.evaluation import Attachments, Evaluation, PhraseSet, compare, score_attachments
from forestalign.evaluation.annotated_pairs import AnnotatedPair, AnnotatedSentence
from forestalign.evaluation.counts import combine, picked, union
from forestalign.evaluation.development import AnnotatedSet, Answer, ProjectedSet
from forestalign.evaluation.phrase_scores import RootReached
from forestalign.trees import parse_brackets

VERBAL = "(S (NP (PRP I)) (VP (VBD saw) (NP (NNS men)) (PP (IN with) (NP (NNS dogs)))))"
NOMINAL = "(S (NP (PRP I)) (VP (VBD saw) (NP (NP (NNS men)) (PP (IN with) (NP (NNS dogs))))))"
WORDS = ("I", "saw", "men", "with", "dogs")


def scores(*rights: int) -> Evaluation:
    """UAS of one sentence of four words for each number of right heads."""
    gold = [Attachments(("a", "b", "c", "d"), (-1, 0, 0, 0)) for _ in rights]
    found = [
        Attachments(each.words, (-1, 0, 0, 0)[:right] + (2,) * (4 - right))
        for each, right in zip(gold, rights, strict=True)
    ]
    return score_attachments(gold, found)


def answer(source: str, target: str) -> Answer:
    heads = [unlabelled_heads(parse_brackets(each)) for each in (source, target)]
    return Answer(PhraseSet(frozenset()), frozenset(), heads[0], heads[1], RootReached(True, False))


def answers(one_best: Answer, forests: Answer) -> Answers:
    side = AnnotatedSentence(" ".join(WORDS), WORDS, parse_brackets(VERBAL))
    gold = Attachments(WORDS, unlabelled_heads(side.tree))
    pairs = (AnnotatedPair("1", (), side, side, ()),)
    return Answers("gold", AnnotatedSet("gold", (), (), ((gold, gold),)), pairs, [one_best], [forests])


def test_a_picked_evaluation_has_the_wanted_scores_only() -> None:
    both = combine([scores(4, 2)])
    assert picked(both, ["UAS with punctuation", "no such score"]).names == ("UAS with punctuation",)
    assert picked(both, ["UAS"])["UAS"] == both["UAS"] == pytest.approx(6 / 8)


def test_the_score_of_a_union_is_the_mean_over_its_parts() -> None:
    whole = union([picked(scores(4, 4, 4), ["UAS"]), picked(scores(2), ["UAS"])])
    assert len(whole) == 4
    assert whole["UAS"] == pytest.approx((1.0 + 0.5) / 2)


def test_a_union_is_compared_pair_by_pair() -> None:
    first, second = (
        union([picked(scores(*rights), ["UAS"]), picked(scores(3), ["UAS"])]) for rights in ([2] * 9, [4] * 9)
    )
    (found,) = compare(first, second, np.random.default_rng(0), 1000)
    assert found.difference == pytest.approx(0.25)
    assert found.p_value < 0.05


def test_a_choice_that_puts_a_pp_right_counts_for_better() -> None:
    changed = attachment_changes(answers(answer(NOMINAL, VERBAL), answer(VERBAL, VERBAL)))
    assert [(each.kind, each.better, each.worse) for each in changed if each.better or each.worse] == [("PP", 1, 0)]


def test_a_choice_that_puts_a_pp_wrong_counts_for_worse() -> None:
    changed = attachment_changes(answers(answer(VERBAL, VERBAL), answer(VERBAL, NOMINAL)))
    assert [(each.kind, each.better, each.worse) for each in changed if each.better or each.worse] == [("PP", 0, 1)]


def test_word_links_have_no_attachments() -> None:
    linked = Answers("gold", ProjectedSet("gold", (), ()), (), [], [])
    assert attachment_changes(linked) == ()
