"""Word scores against tables worked out by hand.

Phrase scores of section 6.3 against tables worked out by hand.

Sentence-level scores: correlation, paraphrase identification, ranking.

Significance tests against full enumeration on small corpora.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.errors import UsageError
from forestalign.evaluation.phrase_scores import (
    Match,
    NodePair,
    PhraseAnswer,
    PhraseNode,
    PhraseSet,
    noncompositional_pairs,
    phrase_set,
    score_humans,
    score_phrases,
)
from forestalign.evaluation.scores import Evaluation, bootstrap, compare
from forestalign.evaluation.sentence_scores import (
    Ranked,
    score_paraphrases,
    score_ranking,
    score_similarity,
    tune_threshold,
)
from forestalign.evaluation.word_scores import GoldLinks, Links, blocks, score_words


def links(*pairs: tuple[int, int]) -> Links:
    return frozenset(pairs)


# pair   gold sure   possible   output        P    R   exact
# 1      00 22       11         00 11 22     2/3   1    no
# 2      00          -          -             0    0    no
# 3      00 11       -          00 11         1    1    yes
GOLD = [
    GoldLinks("1", ("Cats", "eat", "fish"), ("Cats", "devour", "fish"), links((0, 0), (2, 2)), links((1, 1))),
    GoldLinks("2", ("Go",), ("Leave",), links((0, 0))),
    GoldLinks("3", ("She", "left"), ("She", "went"), links((0, 0), (1, 1))),
]
OUTPUT = [links((0, 0), (1, 1), (2, 2)), links(), links((0, 0), (1, 1))]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("P", 5 / 9),
        ("R", 2 / 3),
        ("F1", 20 / 33),  # of the averages: 2 * 5/9 * 6/9 / (11/9)
        ("E", 1 / 3),
        ("micro P", 4 / 5),
        ("micro R", 4 / 5),
        ("AER", 1 - (4 + 5) / (5 + 5)),
        ("identical P", 1.0),  # pairs 1 and 3
        ("identical R", 1.0),
        ("non-identical P", 1 / 3),  # pair 1: one output, no gold; pair 2: gold only; pair 3: right
        ("non-identical R", 1 / 3),
    ],
)
def test_word_scores_equal_the_hand_computed_table(name: str, value: float) -> None:
    assert score_words(GOLD, OUTPUT)[name] == pytest.approx(value)


def test_possible_links_can_be_made_part_of_the_gold() -> None:
    scores = score_words(GOLD, OUTPUT, count_possible=True)
    assert scores["P"] == pytest.approx(2 / 3)
    assert scores["E"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("gold", "output", "expected"),
    [
        (links(), links((0, 0)), (0.0, 0.0, 0.0, 0.0)),
        (links((0, 0)), links(), (0.0, 0.0, 0.0, 0.0)),
        (links(), links(), (1.0, 1.0, 1.0, 1.0)),
    ],
)
def test_empty_gold_and_empty_output_are_zero_but_both_empty_is_perfect(
    gold: Links, output: Links, expected: tuple[float, ...]
) -> None:
    scores = score_words([GoldLinks("1", ("a",), ("a",), gold)], [output])
    assert tuple(scores[name] for name in ("P", "R", "F1", "E")) == expected
    assert tuple(scores[name] for name in ("micro P", "micro R", "micro F1")) == expected[:3]


def test_no_links_at_all_are_no_alignment_errors() -> None:
    assert score_words([GoldLinks("1", ("a",), ("a",), links())], [links()])["AER"] == 0.0


def test_identical_words_are_left_out_where_the_words_are_not_known() -> None:
    scores = score_words([GoldLinks("1", (), (), links((0, 0)))], [links((0, 0))])
    assert "identical P" not in scores.names
    assert scores["F1"] == 1.0


def test_token_and_phrase_alignments_are_scored_apart() -> None:
    # gold: a 1-1 link and a 2x2 block; output: the same 1-1 link and half of the block
    gold = [GoldLinks("1", (), (), links((0, 0), (1, 1), (1, 2), (2, 1), (2, 2)))]
    scores = score_words(gold, [links((0, 0), (1, 1), (1, 2))])
    assert [scores[f"token {name}"] for name in ("P", "R", "F1")] == [1, 1, 1]
    assert [scores[f"phrase {name}"] for name in ("P", "R", "F1")] == [0, 0, 0]


LINKS = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)))


@given(LINKS)
def test_blocks_part_the_linked_words(given_links: Links) -> None:
    found = blocks(given_links)
    sources = [word for block in found for word in block.source]
    targets = [word for block in found for word in block.target]
    assert sorted(sources) == sorted({source for source, _ in given_links})
    assert sorted(targets) == sorted({target for _, target in given_links})
    assert all(
        sum(source in block.source and target in block.target for block in found) == 1 for source, target in given_links
    )


def pairs(names: str) -> PhraseSet:
    """A set of pairs, each named by a letter; what matters to the counts is only which are equal."""
    keys: frozenset[Hashable] = frozenset(names)
    return PhraseSet(keys)


def three(evaluation: Evaluation) -> list[float]:
    return [evaluation[name] for name in ("recall", "precision", "F1")]


# Three annotators over two sentence pairs:
#        first   second   third
# one    abcd    abce     abd
# two    xy      xz       x
FIRST, SECOND, THIRD = [pairs("abcd"), pairs("xy")], [pairs("abce"), pairs("xz")], [pairs("abd"), pairs("x")]
ANNOTATORS = [FIRST, SECOND, THIRD]


def test_a_system_is_scored_against_every_pair_of_annotators_and_averaged() -> None:
    output = [pairs("abf"), pairs("y")]
    #            G & G'        found     G | G'        allowed
    # 1, 2       abc x         2 of 4    abcde xyz     abf y -> 3 of 4
    # 2, 3       ab x          2 of 3    abcde xz      2 of 4
    # 1, 3       abd x         2 of 4    abcd xy       3 of 4
    recall, precision = (2 / 4 + 2 / 3 + 2 / 4) / 3, (3 / 4 + 2 / 4 + 3 / 4) / 3
    expected = [recall, precision, 2 * recall * precision / (recall + precision)]
    assert three(score_phrases(output, ANNOTATORS)) == pytest.approx(expected)


def test_the_human_row_scores_each_annotator_against_the_other_two() -> None:
    #            required      found     allowed       given
    # 1          ab x          3 of 3    abcde xz      abcd x of abcd xy -> 5 of 6
    # 2          abd x         abx 3/4   abcd xy       abc x of abce xz -> 4 of 6
    # 3          abc x         abx 3/4   abcde xyz     abd x -> 4 of 4
    recall, precision = (1 + 3 / 4 + 3 / 4) / 3, (5 / 6 + 4 / 6 + 1) / 3
    assert three(score_humans(ANNOTATORS))[:2] == pytest.approx([recall, precision])


def test_one_annotator_alone_is_both_required_and_allowed() -> None:
    assert three(score_phrases([pairs("abz"), pairs("")], [FIRST])) == pytest.approx([2 / 6, 2 / 3, 4 / 9])


@pytest.mark.parametrize(
    ("output", "gold", "expected"), [("", "ab", [0, 0, 0]), ("ab", "", [0, 0, 0]), ("", "", [1, 1, 1])]
)
def test_empty_output_and_empty_gold_are_zero_but_both_empty_is_perfect(
    output: str, gold: str, expected: list[float]
) -> None:
    assert three(score_phrases([pairs(output)], [[pairs(gold)]])) == expected


SOURCE, TARGET = ("the", "cat", "saw", "the", "cat"), ("the", "cat", "noticed", "it")


def node(begin: int, end: int, name: str = "NP") -> PhraseNode:
    return PhraseNode(begin, end, name)


def answer(*node_pairs: tuple[PhraseNode | None, PhraseNode | None]) -> PhraseAnswer:
    return PhraseAnswer(SOURCE, TARGET, tuple(NodePair(*pair) for pair in node_pairs))


def test_spans_match_whatever_the_nodes_are_called() -> None:
    left = phrase_set(answer((node(0, 2), node(0, 2))))
    right = phrase_set(answer((node(0, 2, "NP bar"), node(0, 2, "NX"))))
    assert left.pairs == right.pairs


def test_nodes_match_only_by_name_and_span() -> None:
    left = phrase_set(answer((node(0, 2), node(0, 2))), Match.NODE)
    assert left.pairs != phrase_set(answer((node(0, 2, "NX"), node(0, 2))), Match.NODE).pairs
    assert left.pairs == phrase_set(answer((node(0, 2), node(0, 2))), Match.NODE).pairs


def test_texts_match_wherever_they_stand_and_repeated_texts_are_one() -> None:
    found = phrase_set(answer((node(0, 2), node(0, 2)), (node(3, 5), node(0, 2))), Match.TEXT)
    assert found.pairs == {("the cat", "the cat")}


def test_null_pairs_count_in_text_mode_only() -> None:
    given = answer((node(2, 3), None), (None, node(3, 4)), (node(0, 2), node(0, 2)))
    assert phrase_set(given, Match.TEXT).pairs == {("saw", "---"), ("---", "it"), ("the cat", "the cat")}
    assert len(phrase_set(given, Match.SPAN).pairs) == 1


def pair(source: tuple[int, int], target: tuple[int, int]) -> NodePair:
    return NodePair(node(*source), node(*target))


def test_a_pair_with_three_pairs_directly_inside_is_non_compositional() -> None:
    root = pair((0, 6), (0, 6))
    inner = [pair((0, 1), (2, 3)), pair((2, 3), (0, 1)), pair((4, 6), (4, 6))]
    deeper = [pair((4, 5), (4, 5)), pair((5, 6), (5, 6))]
    assert noncompositional_pairs([root, *inner, *deeper]) == {root}
    assert noncompositional_pairs([root, *inner[:2], *deeper]) == {root}
    assert noncompositional_pairs([root, inner[0], inner[2], *deeper]) == frozenset()


def test_kinds_are_scored_apart() -> None:
    root, parts = pair((0, 3), (0, 3)), [pair((k, k + 1), (2 - k, 3 - k)) for k in range(3)]
    gold = phrase_set(PhraseAnswer(SOURCE, TARGET, (root, *parts)))
    claims = PhraseAnswer(SOURCE, TARGET, (root, parts[0], parts[1]), noncompositional=frozenset({parts[1]}))
    scores = score_phrases([phrase_set(claims)], [[gold]])
    # gold has the root as non-compositional; the output has it as compositional, and one word pair as the other kind
    assert scores["non-comp. recall"] == 0
    assert scores["non-comp. precision"] == 1
    assert scores["compositional recall"] == pytest.approx(1 / 3)
    assert scores["compositional precision"] == 1


def test_pearson_does_not_depend_on_scale_or_offset() -> None:
    gold, system = [0.5, 4.0, 3.5, 1.0], [0.1, 0.9, 0.4, 0.3]
    moved = [1e6 + 1000 * value for value in system]
    assert score_similarity(gold, moved)["Pearson r"] == pytest.approx(np.corrcoef(gold, system)[0, 1])


def test_pearson_of_a_constant_system_is_zero() -> None:
    assert score_similarity([1, 2, 3], [0.7, 0.7, 0.7])["Pearson r"] == 0.0


def test_the_threshold_gives_the_best_accuracy_on_the_training_pairs() -> None:
    # sorted scores: .1 no, .4 yes, .5 no, .8 yes, .9 yes; above .65 (or .25) one mistake is left
    gold, system = [False, True, False, True, True], [0.1, 0.4, 0.5, 0.8, 0.9]
    assert tune_threshold(gold, system) == pytest.approx(0.25)
    assert score_paraphrases(gold, system, 0.25)["accuracy"] == pytest.approx(4 / 5)


def test_all_pairs_can_be_paraphrases_or_none() -> None:
    assert score_paraphrases([True, True], [0.2, 0.3], tune_threshold([True, True], [0.2, 0.3]))["accuracy"] == 1.0
    assert score_paraphrases([False], [0.2], tune_threshold([False], [0.2]))["accuracy"] == 1.0


def test_paraphrase_scores_equal_the_hand_computed_table() -> None:
    # predictions at .5: yes yes no no; gold: yes no yes no
    scores = score_paraphrases([True, False, True, False], [0.9, 0.8, 0.4, 0.1], 0.5)
    assert [scores[name] for name in ("accuracy", "P", "R", "F1")] == pytest.approx([0.5, 0.5, 0.5, 0.5])


def test_ranking_scores_equal_the_hand_computed_table() -> None:
    gold = [Ranked("q1", False), Ranked("q1", True), Ranked("q1", True), Ranked("q2", True), Ranked("q3", False)]
    system = [0.9, 0.8, 0.1, 0.5, 0.5]
    scores = score_ranking(gold, system)
    # q1: right at ranks 2 and 3: (1/2 + 2/3) / 2 = 7/12, first at 2; q2: 1; q3 has no right answer and is left out
    assert scores["MAP"] == pytest.approx((7 / 12 + 1) / 2)
    assert scores["MRR"] == pytest.approx((1 / 2 + 1) / 2)


FULL = frozenset({(0, 0), (1, 1)})
HALF = frozenset({(0, 0)})
NONE: frozenset[tuple[int, int]] = frozenset()


def words(*outputs: frozenset[tuple[int, int]]) -> Evaluation:
    gold = [GoldLinks(str(number), ("a", "b"), ("a", "c"), FULL) for number in range(len(outputs))]
    return score_words(gold, outputs)


def generator() -> np.random.Generator:
    return np.random.default_rng(7)


def enumerated_p(first: Evaluation, second: Evaluation) -> np.ndarray:
    """The share of all 2^n shuffles with a difference at least as large."""
    seen, reached = np.abs(second.values() - first.values()), []
    for swaps in product([False, True], repeat=len(first)):
        mask = np.array(swaps)[:, None]
        left = np.where(mask, second.counts, first.counts).sum(axis=0)
        right = np.where(mask, first.counts, second.counts).sum(axis=0)
        reached.append(np.abs(second.aggregate(right) - first.aggregate(left)) >= seen - 1e-12)
    return np.mean(reached, axis=0)


OUTPUTS = st.lists(
    st.tuples(st.sampled_from([FULL, HALF, NONE]), st.sampled_from([FULL, HALF, NONE])), min_size=1, max_size=7
)


@settings(max_examples=20, deadline=None)
@given(OUTPUTS)
def test_randomisation_approaches_the_enumeration_of_all_shuffles(
    outputs: list[tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]],
) -> None:
    first, second = words(*(left for left, _ in outputs)), words(*(right for _, right in outputs))
    found = [comparison.p_value for comparison in compare(first, second, generator(), samples=4000)]
    assert found == pytest.approx(enumerated_p(first, second), abs=0.04)


def test_equal_outputs_are_never_different() -> None:
    system = words(FULL, HALF, NONE)
    assert {comparison.p_value for comparison in compare(system, system, generator(), samples=200)} == {1.0}


def test_one_system_always_better_is_significant() -> None:
    first, second = words(*[HALF] * 30), words(*[FULL] * 30)
    comparison = compare(first, second, generator(), samples=999)[0:3]
    assert [round(item.difference, 6) for item in comparison] == [0, 0.5, round(1 - 2 / 3, 6)]
    assert comparison[1].p_value == pytest.approx(0.001)


def test_the_same_seed_gives_the_same_p_values() -> None:
    first, second = words(HALF, FULL, NONE, HALF), words(FULL, FULL, HALF, NONE)
    assert compare(first, second, generator(), 500) == compare(first, second, generator(), 500)


def test_intervals_hold_the_score_and_have_no_width_when_all_pairs_are_alike() -> None:
    mixed = words(FULL, HALF, NONE, FULL, HALF, FULL)
    for value, interval in zip(mixed.values(), bootstrap(mixed, generator(), 2000), strict=True):
        assert interval.low <= value <= interval.high
    alike = bootstrap(words(HALF, HALF, HALF), generator(), 200)
    assert all(interval.low == pytest.approx(interval.high) for interval in alike)


def test_intervals_of_a_mean_are_as_wide_as_theory_says() -> None:
    # E of 100 pairs, half of them exact: standard error .05, so about .5 +- .098
    evaluation = words(*[FULL, HALF] * 50)
    interval = bootstrap(evaluation, generator(), 4000)[evaluation.names.index("E")]
    assert (interval.low, interval.high) == pytest.approx((0.402, 0.598), abs=0.015)


def test_correlations_can_be_compared_too() -> None:
    gold = [float(number) for number in range(40)]
    good, bad = score_similarity(gold, gold), score_similarity(gold, [number % 3 for number in range(40)])
    assert compare(good, bad, generator(), 999)[0].p_value < 0.01


def test_evaluations_of_different_corpora_are_refused() -> None:
    with pytest.raises(UsageError, match=r"2 pairs .* 1 pair with"):
        compare(words(FULL, HALF), words(FULL), generator())


def test_no_pairs_and_no_samples_are_refused() -> None:
    with pytest.raises(UsageError, match="no pairs"):
        bootstrap(words(), generator())
    with pytest.raises(UsageError, match="at least one sample"):
        bootstrap(words(FULL), generator(), samples=0)
