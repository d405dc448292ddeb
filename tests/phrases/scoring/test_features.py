"""Parts of derivations: their sum is the score, they mirror, training finds better weights; links and their rivals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import forestalign
from forestalign.aligner import Aligner
from forestalign.config import AlignConfig
from forestalign.evaluation.phrase_scores import one_tree_forest
from forestalign.forest import Forest, pack
from forestalign.learning.train_scores import calibration_error, start_weights, vector_of
from forestalign.phrases.evidence.phrase_evidence import PhraseEvidence
from forestalign.phrases.scoring.features import (
    CompetingLinks,
    beside_rivals,
    derivation_features,
    strongest_rivals,
    weigh_features,
)
from forestalign.phrases.scoring.model import PairScores
from forestalign.phrases.scoring.schema import NAMES, PAIR, SLICE, NodeArrays
from forestalign.phrases.scoring.score_model import ScoreModel, load_score_model, score_model_text
from forestalign.phrases.scoring.seeds import evidence_of_pairs
from forestalign.phrases.search.directed_search import DirectedSearch, paper_search
from forestalign.tokens import Sentence
from forestalign.trees import ScoredTree, parse_brackets
from forestalign.words.alignment import WordAlignment, WordLink

PAIRS = [
    ("The committee rejected the plan.", "The plan was rejected by the committee."),
    ("He did not remember the three letters.", "He forgot the three letters that she sent."),
    ("They put off the meeting until Monday.", "The meeting was postponed until Monday."),
]
CONFIG = AlignConfig(kbest=10, nbest=10)
Prepared = tuple[Forest, Forest, WordAlignment]


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return forestalign.load(CONFIG)


@pytest.fixture(scope="module")
def prepared(aligner: Aligner) -> list[Prepared]:
    found = []
    for source, target in PAIRS:
        result = aligner.align(source, target)
        links = WordAlignment(tuple(sorted([*result.words, *result.candidates])))
        found.append((result.source_forest, result.target_forest, links))
    return found


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_score_of_a_derivation_is_the_weighted_sum_of_its_parts(aligner, prepared, seed: int) -> None:
    noise = np.random.default_rng(seed).normal(size=len(NAMES)) * 0.1
    weights = start_weights(CONFIG) + noise
    for source, target, links in prepared:
        parts = derivation_features(source, target, links, aligner.stage.score(source, target, links))
        derivations = DirectedSearch(source, target, *weigh_features(parts, weights), CONFIG).both_ways()
        assert derivations
        for derivation in derivations:
            assert vector_of(parts, source, target, derivation) @ weights == pytest.approx(derivation.score, abs=1e-6)


def test_the_start_weights_give_the_alignments_of_the_paper(aligner, prepared) -> None:
    for source, target, links in prepared:
        scores = aligner.stage.score(source, target, links)
        parts = derivation_features(source, target, links, scores)
        start = start_weights(CONFIG)
        start[SLICE["phrase"]] = -1e6  # the paper knows no such seeds
        best = DirectedSearch(source, target, *weigh_features(parts, start), CONFIG).both_ways()[0]
        paper = paper_search(source, target, links, scores, CONFIG).best().derivations[0]
        assert {(p.source, p.target) for p in best.pairs} == {(p.source, p.target) for p in paper.pairs}


def test_parts_mirror_when_the_sentences_are_swapped(aligner, prepared) -> None:
    source, target, links = prepared[1]
    scores = aligner.stage.score(source, target, links)
    forth = derivation_features(source, target, links, scores)
    back = derivation_features(target, source, links.mirrored(), scores.transposed())
    assert forth.pair == pytest.approx(back.pair.transpose(1, 0, 2))
    assert forth.source.null == pytest.approx(back.target.null)


def test_heads_and_edges_by_hand() -> None:
    source = one_tree_forest(parse_brackets("(S (NP (DT the) (NN dog)) (VP (VBD ran)))"))
    target = one_tree_forest(parse_brackets("(S (NP (NNS dogs)) (VP (VBP run)))"))
    links = WordAlignment((WordLink(1, 0, 0.8), WordLink(2, 1, 0.5)))
    shape = len(source), len(target)
    scores = PairScores(np.zeros(shape), np.zeros(shape[0]), np.zeros(shape[1]))
    parts = derivation_features(source, target, links, scores).pair

    def value(name: str, one: tuple[int, int], other: tuple[int, int]) -> float:
        rows = [k for k, node in enumerate(source.nodes) if (node.begin, node.end) == one]
        columns = [k for k, node in enumerate(target.nodes) if (node.begin, node.end) == other]
        return float(parts[rows[0], columns[0], PAIR.index(name)])

    assert value("heads linked", (0, 2), (0, 1)) == pytest.approx(0.8)
    assert value("heads held", (0, 2), (0, 1)) == pytest.approx(1.6)
    assert value("heads linked elsewhere", (0, 2), (0, 1)) == pytest.approx(0.0)
    assert value("heads linked elsewhere", (0, 2), (1, 2)) == pytest.approx(0.8 + 0.5)
    assert value("edges without link", (0, 2), (0, 1)) == pytest.approx(4 - (0 + 0.8 + 0.8 + 0.8))
    assert value("one word with several", (0, 2), (0, 1)) == 1.0
    assert value("one word with several", (2, 3), (1, 2)) == 0.0


def test_evidence_seeds_a_phrase_pair_over_exactly_its_words(aligner, prepared) -> None:
    source, target, links = prepared[2]
    scores = aligner.stage.score(source, target, links)
    words = [token.text for token in source.sentence.tokens]
    begin = words.index("the")
    evidence = PhraseEvidence((begin, begin + 1), (0, 1), "rule", "equal", 0.9)
    apart = PhraseEvidence((0, 2), (0, 1), "rule", "equal", 0.9)
    against = PhraseEvidence((begin, begin + 1), (0, 1), "rule", "opposite", 0.9)
    strength = NAMES.index("phrase: rule")
    for rows, has_seed in (((evidence,), True), ((apart,), False), ((against,), False)):
        features = derivation_features(source, target, links, scores, rows)
        seeds = np.flatnonzero(features.seed_features[:, strength])
        assert bool(len(seeds)) == has_seed
        for seed in seeds:
            node = source.nodes[int(features.seeds.source[seed])]
            assert (node.begin, node.end) == (begin, begin + 2)


def test_a_model_survives_its_file_and_a_torn_one_is_refused(tmp_path) -> None:
    model = ScoreModel(np.arange(len(NAMES)) / 8.0, ((0.0, 0.1), (1.0, 0.9)), {"pairs": 3})
    path = tmp_path / "scores.json"
    path.write_text(score_model_text(model), encoding="utf-8")
    again = load_score_model(str(path))
    assert again.weights.tolist() == model.weights.tolist()
    assert (again.calibration, again.card) == (model.calibration, model.card)
    torn = tmp_path / "torn.json"
    torn.write_text(score_model_text(model)[:-40], encoding="utf-8")
    with pytest.raises(forestalign.ForestAlignError, match="is not a file of phrase scores"):
        load_score_model(str(torn))
    with pytest.raises(forestalign.ForestAlignError, match="cannot be read"):
        load_score_model(str(tmp_path / "nowhere.json"))


def test_every_part_has_a_name_of_its_own() -> None:
    assert len(set(NAMES)) == len(NAMES)


def test_calibration_error_by_hand() -> None:
    # a bin at 0.95 that is right half of the time, and one at 0.05 that is always wrong
    observed = [(0.95, 1.0), (0.95, 0.0), (0.05, 0.0), (0.05, 0.0)]
    assert calibration_error(observed) == pytest.approx((0.45 * 2 + 0.05 * 2) / 4)


def _one_tree(tree: str) -> Forest:
    return one_tree_forest(parse_brackets(tree))


def test_evidence_speaks_for_the_nodes_over_its_words_and_for_no_others() -> None:
    source = _one_tree("(TOP (S (NP (PRP He)) (VP (VBD gave) (PRT (RP up)))))")
    target = _one_tree("(TOP (S (NP (PRP He)) (VP (VBD quit))))")
    for row, is_told in (
        (PhraseEvidence((1, 2), (1,), "lexicon", "equal", 0.8), True),
        (PhraseEvidence((0, 2), (1,), "lexicon", "equal", 0.8), False),
        (PhraseEvidence((1, 2), (1,), "rule", "opposite", 0.8), False),
        (PhraseEvidence((0,), (0,), "lexicon", "equal", 0.8), False),
    ):
        told = np.argwhere(evidence_of_pairs(NodeArrays.of(source), NodeArrays.of(target), [row])).tolist()
        spans = {(source.nodes[a].begin, source.nodes[a].end, target.nodes[b].begin) for a, b in told}
        assert spans == ({(1, 3, 1)} if is_told else set())


TREE = "(S (NP (DT the) (NN cat)) (VP (VBD ate) (NP (NN fish))))"
LINKS = arrays(np.float64, (4, 4), elements=st.sampled_from([0.0, 0.1, 0.3, 0.6, 0.9]))


def forest(brackets: str = TREE) -> Forest:
    tree = parse_brackets(brackets)
    return pack([ScoredTree(tree, 0.0)], Sentence.from_words([str(leaf.word) for leaf in tree.leaves()]))


@given(LINKS)
def test_a_rival_is_another_link_of_one_of_the_two_words(links: np.ndarray) -> None:
    rivals = strongest_rivals(links)
    for i in range(4):
        for j in range(4):
            others = [links[i, k] for k in range(4) if k != j] + [links[k, j] for k in range(4) if k != i]
            assert rivals[i, j] == max(others)


@given(LINKS)
def test_links_without_a_stronger_rival_keep_their_probability_and_none_grows(links: np.ndarray) -> None:
    left = beside_rivals(links)
    unrivalled = strongest_rivals(links) <= links
    assert (left[unrivalled] == links[unrivalled]).all()
    assert (left <= links).all()


def test_without_rivals_every_link_that_leaves_a_pair_counts() -> None:
    side = NodeArrays.of(forest())
    links = np.array([[0.0] * 4, [0.0, 0.9, 0.6, 0.0], [0.0] * 4, [0.0] * 4])
    spans = list(zip(side.begin.tolist(), side.end.tolist(), strict=True))
    word, other = spans.index((1, 2)), spans.index((2, 3))
    competing, alone = CompetingLinks.of(links), CompetingLinks.of(links, has_rivals=False)
    assert np.isclose(alone.leaving(side, side)[word, word], 0.6)
    assert competing.leaving(side, side)[word, word] < 0.01
    assert alone.likely().leaving(side, side)[word, word] == 1.0 > competing.likely().leaving(side, side)[word, word]
    assert np.isclose(alone.leaving(side, side)[word, other], 0.9)


@settings(deadline=None)
@given(LINKS)
def test_what_leaves_a_pair_is_what_its_definition_says(links: np.ndarray) -> None:
    side = NodeArrays.of(forest())
    competing = CompetingLinks.of(links)
    leaving, free = competing.leaving(side, side), competing.beside_rivals
    for x, (a, b) in enumerate(zip(side.begin, side.end, strict=True)):
        for y, (c, d) in enumerate(zip(side.begin, side.end, strict=True)):
            forth = sum(
                min(1.0, sum(free[i, j] for j in range(4) if not c <= j < d)) * (1.0 - min(1.0, links[i, c:d].sum()))
                for i in range(a, b)
            )
            back = sum(
                min(1.0, sum(free[i, j] for i in range(4) if not a <= i < b)) * (1.0 - min(1.0, links[a:b, j].sum()))
                for j in range(c, d)
            )
            assert np.isclose(leaving[x, y], forth + back)


@given(LINKS)
def test_swapping_the_sentences_mirrors_what_leaves(links: np.ndarray) -> None:
    side = NodeArrays.of(forest())
    competing = CompetingLinks.of(links)
    assert np.allclose(competing.leaving(side, side).T, competing.mirrored().leaving(side, side))


def test_a_candidate_whose_words_have_partners_inside_leaves_next_to_nothing() -> None:
    links = np.diag([0.95] * 4)
    links[0, 3] = links[3, 0] = 0.3  # candidates across
    side = NodeArrays.of(forest())
    whole = int(np.flatnonzero((side.begin == 0) & (side.end == 2))[0])
    assert CompetingLinks.of(links).leaving(side, side)[whole, whole] < 0.01
    alone = np.diag([0.0, 0.95, 0.95, 0.0])
    alone[0, 3] = 0.3  # the only partner of either word
    assert CompetingLinks.of(alone).leaving(side, side)[whole, whole] >= 0.3
