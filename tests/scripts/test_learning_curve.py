"""The learning curve draws what it says, and counts pairs of several words on both sides."""

from __future__ import annotations

from pathlib import Path

from learning_curve import of_words, samples

from forestalign.evaluation.development import AnnotatedJudge
from forestalign.evaluation.phrase_scores import PhraseSet
from forestalign.learning.train_scores import GoldExample
from forestalign.tokens import Span


def test_samples_are_drawn_without_repeats_and_the_same_each_time() -> None:
    examples = [GoldExample(Path(str(k)), AnnotatedJudge(())) for k in range(20)]
    drawn = samples(examples, 8, 3)
    assert drawn == samples(examples, 8, 3)
    assert [len({example.path for example in each}) for each in drawn] == [8, 8, 8]
    assert len({tuple(example.path for example in each) for each in drawn}) == 3
    assert samples(examples, 0, 3) == samples(examples, 20, 3) == [examples]


def test_pairs_of_several_words_have_several_on_both_sides() -> None:
    both, one = (Span(0, 2), Span(1, 4)), (Span(0, 1), Span(1, 4))
    phrases = PhraseSet(frozenset({both, one}), frozenset({one}))
    assert of_words(phrases, 2) == PhraseSet(frozenset({both}))
    assert of_words(phrases, 1) == phrases
