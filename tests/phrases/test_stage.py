"""What comes out of the search: legitimate, mirrored, k-best, robust; and the pairs of the paper's figures."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.config import AlignConfig
from forestalign.errors import UsageError
from forestalign.forest import Forest, pack, tree_of
from forestalign.phrases.result.alignment import PhraseAlignment, PhrasePair
from forestalign.phrases.scoring.model import PairScores, uniform_scores
from forestalign.phrases.scoring.seeds import PHRASE, WORD, Seeds
from forestalign.phrases.search import legitimacy
from forestalign.phrases.search.hypotheses import Derivation
from forestalign.tokens import Sentence
from forestalign.trees import ScoredTree, format_brackets, parse_brackets
from forestalign.words.alignment import WordAlignment, WordLink
from tests.builders.hand_forests import hand_forest
from tests.builders.hand_forests import hand_links as links
from tests.builders.small_forests import align_phrases, random_forest, random_links, random_scores

CONFIG = AlignConfig()


def forest_of(*brackets: str, log_probs: tuple[float, ...] = ()) -> Forest:
    trees = [parse_brackets(text) for text in brackets]
    scored = [ScoredTree(tree, p) for tree, p in zip(trees, log_probs or [0.0] * len(trees), strict=True)]
    return pack(scored, Sentence.from_words([str(leaf.word) for leaf in trees[0].leaves()]))


def labels(alignment: PhraseAlignment, source: Forest, target: Forest) -> set[tuple[str, str]]:
    def text(forest: Forest, node: int, label: str) -> str:
        phrase = forest.nodes[node]
        bar = "'" if phrase.is_bar else ""
        return f"{label}{bar} {' '.join(forest.sentence.words[phrase.begin : phrase.end])}"

    return {
        (text(source, nodes.source, pair.source_label), text(target, nodes.target, pair.target_label))
        for nodes, pair in zip(alignment.derivation.pairs, alignment.pairs, strict=True)
    }


@given(st.integers(0, 10**9))
@settings(max_examples=60)
def test_every_alignment_is_legitimate(seed):
    rng = random.Random(seed)
    source = random_forest(rng, rng.randint(1, 9), rng.randint(1, 4))
    target = random_forest(rng, rng.randint(1, 9), rng.randint(1, 4))
    words = random_links(rng, source, target, 0.2)
    config = CONFIG.replace(beam=rng.choice([2, 10, 50]), gap=rng.randint(1, 4), kbest=3)
    for alignment in align_phrases(source, target, words, random_scores(rng, source, target), config):
        found = alignment.derivation
        assert legitimacy.phrases_lie_in_one_tree(found, source, target)
        assert legitimacy.pairs_are_consistent(found)
        assert legitimacy.pairs_are_monotonous(found, source, target)
        assert alignment.reached_root == bool(len(words))
        if alignment.reached_root:
            assert legitimacy.root_pair_is_contained(found, source, target)
            assert legitimacy.pairs_are_relevant(found, source, target)


@given(st.integers(0, 10**9))
@settings(max_examples=40)
def test_every_word_is_linked_or_in_exactly_one_null_phrase(seed):
    rng = random.Random(seed)
    source, target = random_forest(rng, rng.randint(1, 8), 2), random_forest(rng, rng.randint(1, 8), 2)
    words = random_links(rng, source, target, 0.25)
    alignment = align_phrases(source, target, words, random_scores(rng, source, target), CONFIG)[0]
    for forest, nulls in ((source, alignment.source_nulls), (target, alignment.target_nulls)):
        covered = [word for span in nulls for word in range(span.begin, span.end)]
        assert len(covered) == len(set(covered))
        assert len(covered) <= len(forest.sentence)


@given(st.integers(0, 10**9))
@settings(max_examples=40)
def test_swapping_the_sentences_mirrors_the_result_in_symmetric_mode(seed):
    rng = random.Random(seed)
    source, target = random_forest(rng, rng.randint(1, 7), 2), random_forest(rng, rng.randint(1, 7), 2)
    words = random_links(rng, source, target, 0.25)
    scores = random_scores(rng, source, target)
    config = CONFIG.replace(direction="symmetric")
    one = align_phrases(source, target, words, scores, config)[0]
    swapped = WordAlignment(tuple(sorted(WordLink(w.target, w.source) for w in words)))
    other = align_phrases(target, source, swapped, scores.transposed(), config)[0]
    assert one.log_score == pytest.approx(other.log_score)
    mirrored = other.derivation.mirrored()
    assert {(p.source, p.target) for p in one.derivation.pairs} == {(p.source, p.target) for p in mirrored.pairs}


def test_the_k_best_alignments_differ_and_fall_in_score_and_posteriors_are_shares():
    rng = random.Random(5)
    source, target = random_forest(rng, 6, 2), random_forest(rng, 6, 2)
    words = random_links(rng, source, target, 0.3)
    found = align_phrases(source, target, words, random_scores(rng, source, target), CONFIG.replace(kbest=5))
    scores = [alignment.log_score for alignment in found]
    assert len(found) == 5
    assert scores == sorted(scores, reverse=True)
    sets = {frozenset((p.source, p.target) for p in alignment.derivation.pairs) for alignment in found}
    assert len(sets) == 5
    for alignment in found:
        assert all(0.0 < pair.posterior <= 1.0 for pair in alignment.derivation.pairs)


# ---- the figures of the paper ----

FIGURE_5 = (
    "(S (S (VP (VBG Relying) (PP (IN on) (NP (NN team) (NN spirit))))) (, ,)"
    " (NP (NN expedition) (NNS members)) (VP (VBD defeated) (NP (NNS difficulties))))",
    "(S (NP (NP (NNS Members)) (PP (IN of) (NP (DT the) (JJ scientific) (NN team))))"
    " (VP (VBD overcame) (NP (NNS difficulties)) (PP (IN through) (NP (NP (DT the) (NN spirit))"
    " (PP (IN of) (NP (NN teamwork)))))))",
)


def test_figure_5_gives_the_non_compositional_pair_of_sentences():
    source, target = (forest_of(text) for text in FIGURE_5)
    words = links((2, 11), (3, 9), (6, 0), (7, 5), (8, 6))  # team, spirit, members, defeated, difficulties
    alignment = align_phrases(source, target, words, uniform_scores(len(source), len(target)), CONFIG)[0]
    (root,) = [pair for pair in alignment.pairs if pair.source == (0, 9)]
    assert (root.source_label, root.target_label, root.compositional) == ("S", "S", False)
    found = labels(alignment, source, target)
    assert ("NP team spirit", "NP the spirit of teamwork") in found
    assert legitimacy.is_legitimate(alignment.derivation, source, target)
    monotonic = align_phrases(
        source, target, words, uniform_scores(len(source), len(target)), CONFIG.replace(monotonic=True)
    )[0]
    assert all(pair.compositional for pair in monotonic.pairs)


WRONG = "(S (NP (PRP I)) (VP (VBP go) (PP (IN to) (NP (NP (DT the) (NN floor)) (PP (IN for) (NP (DT a) (NN smoke)))))))"
RIGHT = "(S (NP (PRP I)) (VP (VBP go) (PP (IN to) (NP (DT the) (NN floor))) (PP (IN for) (NP (DT a) (NN smoke)))))"
TARGET = "(S (NP (PRP I)) (VP (VBP go) (ADVP (RB down)) (S (VP (TO to) (VP (VB smoke) (NP (DT a) (NN cigarette)))))))"


def test_figure_1_chooses_the_attachment_that_aligns():
    source, target = forest_of(WRONG, RIGHT, log_probs=(-0.5, -1.0)), forest_of(TARGET)
    assert format_brackets(tree_of(source, source.roots[0], [0] * len(source))).count("(PP") == 2
    words = links((0, 0), (1, 1), (5, 3), (7, 4))  # I, go, for-to, smoke
    scores = PairScores(
        np.full((len(source), len(target)), -0.5), np.full(len(source), -1.0), np.full(len(target), -1.0)
    )
    config = CONFIG.replace(gap=2, null_penalty=1.0, parse_weight=0.2, lifts=False)
    alignment = align_phrases(source, target, words, scores, config)[0]
    assert alignment.source_tree == parse_brackets(RIGHT)
    assert labels(alignment, source, target) == {
        ("S I go to the floor for a smoke", "S I go down to smoke a cigarette"),
        ("PRP I", "PRP I"),
        ("VP go to the floor for a smoke", "VP go down to smoke a cigarette"),
        ("VBP go", "VBP go"),
        ("PP for a smoke", "S+VP to smoke a cigarette"),
        ("IN for", "TO to"),
        ("NN smoke", "VB smoke"),
    }


# ---- hand-made alignments that break one condition each ----


def legitimate_example() -> tuple[Derivation, Forest, Forest]:
    source = forest_of("(S (NP (DT the) (NN cat)) (VP (VBD sat) (ADVP (RB down))))")
    target = forest_of("(S (NP (DT a) (NN cat)) (VP (VBD sat) (ADVP (RB there))))")
    words = links((0, 0), (1, 1), (2, 2), (3, 3))
    scores = uniform_scores(len(source), len(target))
    found = align_phrases(source, target, words, scores, CONFIG.replace(null_penalty=9.0))[0].derivation
    assert found is not None
    return found, source, target


def test_the_example_is_legitimate_and_maximal():
    alignment, source, target = legitimate_example()
    assert legitimacy.is_legitimate(alignment, source, target)
    assert legitimacy.addable_pairs(alignment, source, target) == ()


def test_an_alignment_without_its_root_pair_is_found_out():
    alignment, source, target = legitimate_example()
    assert not legitimacy.root_pair_is_contained(replace(alignment, pairs=alignment.pairs[:-1]), source, target)


def test_a_phrase_of_another_tree_is_found_out():
    source = forest_of(WRONG, RIGHT)
    target = forest_of(TARGET)
    words = links((0, 0), (1, 1), (5, 3), (7, 4))
    alignment = align_phrases(source, target, words, uniform_scores(len(source), len(target)), CONFIG)[0].derivation
    used = dict(alignment.source_edges)
    stranger = next(v for v in range(len(source)) if v not in used)
    pairs = (*alignment.pairs[:-1], replace(alignment.pairs[-1], source=stranger))
    assert legitimacy.phrases_lie_in_one_tree(alignment, source, target)
    assert not legitimacy.phrases_lie_in_one_tree(replace(alignment, pairs=pairs), source, target)
    assert not legitimacy.phrases_lie_in_one_tree(
        replace(alignment, source_edges=alignment.source_edges[1:]), source, target
    )


def test_a_pair_that_supports_nothing_is_found_out():
    alignment, source, target = legitimate_example()
    root = replace(alignment.pairs[-1], supports=alignment.pairs[-1].supports[:1])
    assert not legitimacy.pairs_are_relevant(replace(alignment, pairs=(*alignment.pairs[:-1], root)), source, target)


def test_a_phrase_that_is_aligned_twice_is_found_out():
    alignment, _, _ = legitimate_example()
    double = replace(alignment.pairs[0], source=alignment.pairs[1].source)
    assert not legitimacy.pairs_are_consistent(replace(alignment, pairs=(double, *alignment.pairs[1:])))


def test_pairs_that_nest_on_one_side_only_are_found_out():
    alignment, source, target = legitimate_example()
    first, *rest = alignment.pairs
    last = rest[-2]
    crossed = [
        replace(first, target=last.target),
        *rest[:-2],
        replace(last, target=first.target),
        rest[-1],
    ]
    assert not legitimacy.pairs_are_monotonous(replace(alignment, pairs=tuple(crossed)), source, target)


def test_a_pair_that_could_be_added_is_reported():
    alignment, source, target = legitimate_example()
    spans = {(node.begin, node.end, node.label): number for number, node in enumerate(source.nodes)}
    noun = next(pair for pair in alignment.pairs if pair.source == spans[0, 2, "NP"])
    without = tuple(pair for pair in alignment.pairs if pair is not noun)
    smaller = replace(alignment, pairs=without)
    assert (noun.source, noun.target) in legitimacy.addable_pairs(smaller, source, target)


# ---- robustness ----


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(("one", "other"), [(1, 1), (1, 5), (5, 1), (2, 1)])
def test_sentences_of_one_word_get_an_answer(plain, one, other):
    rng = random.Random(one * 10 + other)
    source, target = random_forest(rng, one, 2), random_forest(rng, other, 2)
    scores = uniform_scores(len(source), len(target))
    config = CONFIG.replace(plain=plain)
    assert align_phrases(source, target, links((0, 0)), scores, config)[0].reached_root
    nothing = align_phrases(source, target, links(), scores, config)[0]
    assert (nothing.reached_root, nothing.pairs) == (False, ())
    assert nothing.source_nulls == ((0, one),)


def test_identical_sentences_align_every_word():
    forest = forest_of(FIGURE_5[1])
    words = links(*((i, i) for i in range(12)))
    alignment = align_phrases(forest, forest, words, uniform_scores(len(forest), len(forest)), CONFIG)[0]
    assert {pair.source for pair in alignment.pairs} >= {(i, i + 1) for i in range(12)}
    assert alignment.source_nulls == alignment.target_nulls == ()


def test_a_hundred_words_and_many_to_many_links_get_an_answer():
    rng = random.Random(3)
    source, target = random_forest(rng, 100, 4), random_forest(rng, 100, 4)
    pairs = {(i, min(99, max(0, i + d))) for i in range(100) for d in (-1, 0, 1)}
    alignment = align_phrases(source, target, links(*pairs), random_scores(rng, source, target), CONFIG)[0]
    assert alignment.reached_root
    assert alignment.statistics.beam_cuts > 0


def test_a_forest_of_five_thousand_nodes_gets_an_answer():
    rng = random.Random(4)
    source, target = random_forest(rng, 90, 180), random_forest(rng, 20, 3)
    assert len(source) > 5000
    words = links(*((i, i // 5) for i in range(0, 90, 3)))
    scores = uniform_scores(len(source), len(target))
    for one, other, w, s in (
        (source, target, words, scores),
        (target, source, links(*((j, i) for i, j in words.pairs)), scores.transposed()),
    ):
        assert align_phrases(one, other, w, s, CONFIG.replace(beam=10))[0].reached_root


# ---- links by their probability ----


def _rivals(weight: float, first: float = 0.5, second: float = 0.9) -> PhraseAlignment:
    """Two words of the source are linked to the first of the target, this likely; all phrases are equally likely."""
    source, target = hand_forest("(S (NP (NN a) (NN b)) (NN c))"), hand_forest("(S (NN x) (NN y))")
    links = WordAlignment((WordLink(0, 0, first), WordLink(1, 0, second), WordLink(2, 1, 0.8)))
    config = AlignConfig(link_weight=weight, parse_weight=0.0, direction="directional")
    return align_phrases(source, target, links, uniform_scores(len(source), len(target)), config)[0]


def test_of_two_links_that_exclude_each_other_the_more_likely_one_is_taken():
    assert _word_pairs(_rivals(4.0, 0.5, 0.9)) == {(1, 0), (2, 1)}
    assert _word_pairs(_rivals(4.0, 0.9, 0.5)) == {(0, 0), (2, 1)}


def test_the_weight_of_links_is_a_part_of_the_score_and_not_of_the_probabilities():
    with_weight, without = _rivals(4.0), _rivals(0.0)
    difference = with_weight.derivation.score - without.derivation.score
    assert difference == pytest.approx(4.0 * (math.log(0.9) + math.log(0.8)))
    assert [pair.log_prob for pair in with_weight.pairs] == pytest.approx([pair.log_prob for pair in without.pairs])


def _word_pairs(alignment: PhraseAlignment) -> set[tuple[int, int]]:
    words = (
        pair for pair in alignment.pairs if pair.source[1] - pair.source[0] == pair.target[1] - pair.target[0] == 1
    )
    return {(pair.source.begin, pair.target.begin) for pair in words}


# ---- phrase seeds ----


def test_a_phrase_seed_aligns_an_idiom_and_its_words_are_neither_null_nor_linked():
    source = hand_forest("(S (NP (DT the) (NN man)) (VP (VBD kicked) (NP (DT the) (NN bucket))))")
    target = hand_forest("(S (NP (DT the) (NN man)) (VP (VBD died)))")
    idiom = next(v for v, node in enumerate(source.nodes) if (node.begin, node.end, node.label) == (2, 5, "VP"))
    word = next(v for v, node in enumerate(target.nodes) if node.is_leaf and node.begin == 2)
    scores = uniform_scores(len(source), len(target))
    seeds = Seeds.of([(idiom, word, 1.0, PHRASE)])
    without = align_phrases(source, target, links((0, 0), (1, 1)), scores, CONFIG)[0]
    for plain in (False, True):
        config = CONFIG.replace(plain=plain)
        alignment = align_phrases(source, target, links((0, 0), (1, 1)), scores, config, seeds)[0]
        (pair,) = _seeded(alignment)
        assert (pair.source, pair.target, pair.supports) == ((2, 5), (2, 3), ())
        assert alignment.source_nulls == alignment.target_nulls == ()
        assert legitimacy.is_legitimate(alignment.derivation, source, target)
    assert without.source_nulls != ()
    assert not _seeded(without)


def _seeded(alignment: PhraseAlignment) -> list[PhrasePair]:
    """The pairs that a phrase seed made."""
    rows = zip(alignment.derivation.pairs, alignment.pairs, strict=True)
    return [pair for nodes, pair in rows if nodes.step is PHRASE]


@given(st.integers(0, 10**9))
@settings(max_examples=60)
def test_every_alignment_with_phrase_seeds_is_legitimate_and_covers_each_word_once(seed):
    rng = random.Random(seed)
    source, target = random_forest(rng, rng.randint(2, 8), 2), random_forest(rng, rng.randint(2, 8), 2)
    words, scores = random_links(rng, source, target, 0.15), random_scores(rng, source, target)
    rows = [(rng.randrange(len(source)), rng.randrange(len(target)), rng.uniform(0, 9), PHRASE) for _ in range(4)]
    for alignment in align_phrases(source, target, words, scores, CONFIG.replace(kbest=3), Seeds.of(rows)):
        assert legitimacy.is_legitimate(alignment.derivation, source, target)
        for pair in _seeded(alignment):
            assert not pair.supports
            assert all(
                null.end <= pair.source.begin or null.begin >= pair.source.end for null in alignment.source_nulls
            )
            assert all(
                null.end <= pair.target.begin or null.begin >= pair.target.end for null in alignment.target_nulls
            )


@pytest.mark.parametrize(
    ("row", "words"),
    [((99, 0, 0.0, PHRASE), "out of range"), ((0, 0, math.nan, PHRASE), "finite"), ((4, 0, 0.0, WORD), "not both")],
)
def test_a_seed_that_cannot_be_is_refused(row, words):
    forest = hand_forest("(S (NP (NN a)) (VP (VB b)))")
    scores = uniform_scores(len(forest), len(forest))
    with pytest.raises(UsageError, match=words):
        align_phrases(forest, forest, links((0, 0)), scores, CONFIG, Seeds.of([row]))
