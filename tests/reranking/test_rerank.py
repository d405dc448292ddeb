"""Trees chosen with the help of another sentence: exact on small charts, right on examples, scored by the parser."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import forestalign
from forestalign import Aligner
from forestalign.chart import Chart, kbest
from forestalign.errors import GrammarError, NoParseError
from forestalign.forest import Forest, Node, best_tree, derivations, edge_marginals, one_best, pack_chart, tree_of
from forestalign.forest import viterbi as best_derivation
from forestalign.reranking import load_rerank_weights, mutual_forests
from forestalign.reranking.projection import TreeEvidence
from forestalign.reranking.rerank import prune
from forestalign.reranking.tree_features import (
    FEATURES,
    edge_features,
    read_rerank_weights,
    rerank_weights_text,
    unknown_children,
    with_evidence,
)
from forestalign.tokens import Sentence, tokenize
from forestalign.trees import ScoredTree, format_brackets, parse_brackets
from tests.builders.charts import all_trees, brackets_of, random_chart, words
from tests.builders.hand_forests import hand_forest

SIZE = 4
SPANS_OF_WEIGHTS = 10  # features that a chart can have


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return forestalign.load()


def random_evidence(seed: int) -> TreeEvidence:
    generator = np.random.default_rng(seed)

    def table() -> np.ndarray:
        return np.triu(generator.random((SIZE, SIZE)), 1)

    flags = 2.0 * np.triu(generator.random((SIZE, SIZE)) < 0.5, 1)
    governs, same = generator.random((SIZE, SIZE)), np.ones((SIZE, SIZE))
    return TreeEvidence(table(), table(), table(), table(), {"A": table()}, flags, governs, same)


def sentence() -> Sentence:
    return Sentence.from_words(words(SIZE)).with_analysis(["X"] * SIZE, [""] * SIZE)


def forest_of(chart: Chart, count: int) -> Forest:
    return pack_chart(chart, kbest(chart, words(SIZE), count), sentence())


@pytest.mark.parametrize("seed", range(5))
def test_the_best_tree_of_a_chart_with_evidence_is_the_best_of_all_trees(seed: int) -> None:
    chart, evidence = random_chart(SIZE, seed), random_evidence(seed)
    weights = np.random.default_rng(seed).normal(size=len(FEATURES))
    scores = {}
    for brackets, score in all_trees(chart).items():
        for begin, end, label in brackets:
            if end - begin > 1:
                last, exact = end - 1, evidence.exact[begin, end - 1]
                assert label in ("A", "B::A")  # the lowest phrase of both is A
                own = exact * weights[5:10] if exact else weights[:5]
                tables = evidence.together, evidence.apart, evidence.crossed, evidence.scattered
                score += sum(w * t[begin, last] for w, t in zip(own, tables, strict=False))
                score += own[4] * evidence.by_category["A"][begin, last]
        scores[brackets] = score
    best = max(scores, key=scores.__getitem__)
    found = kbest(with_evidence(chart, evidence, weights), words(SIZE), 1)[0]
    assert brackets_of(found.tree) == best


@pytest.mark.parametrize("seed", range(5))
def test_features_of_spans_weigh_the_same_on_a_chart_and_in_a_forest(seed: int) -> None:
    chart, evidence = random_chart(SIZE, seed), random_evidence(seed)
    weights = np.random.default_rng(seed).normal(size=len(FEATURES))
    weights[SPANS_OF_WEIGHTS:] = 0.0
    forest = forest_of(chart, 1000)
    weighed = forest.weighed(forest.arrays.log_prob + edge_features(forest, evidence) @ weights)
    best = best_derivation(weighed)
    found = kbest(with_evidence(chart, evidence, weights), words(SIZE), 1)[0]
    assert brackets_of(tree_of(forest, best.root, best.choice)) == brackets_of(found.tree)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_tree_of_a_forest_with_evidence_is_the_best_of_all_its_trees(seed: int) -> None:
    chart, evidence = random_chart(SIZE, seed), random_evidence(seed)
    weights = np.random.default_rng(seed).normal(size=len(FEATURES))
    forest = forest_of(chart, 12)
    features = edge_features(forest, evidence)
    starts = forest.arrays.edge_start
    best = -np.inf
    for each in derivations(forest):
        used = [starts[node] + edge for node, edge in enumerate(each.choice) if edge >= 0]
        best = max(best, forest.arrays.log_prob[used].sum() + (features[used] @ weights).sum())
    assert best_derivation(forest.weighed(forest.arrays.log_prob + features @ weights)).log_prob == pytest.approx(best)


def test_attachments_that_the_other_sentence_has_are_features_of_their_edges() -> None:
    forest = hand_forest("(S (NP (PRP We)) (VP (VBD saw) (NP (NNS men))))")
    size = len(forest.sentence)
    nothing = np.zeros((size, size))
    governs = nothing.copy()
    governs[2, 1], governs[0, 2] = 1.0, 1.0  # men to saw; but We to men
    found = edge_features(forest, TreeEvidence(nothing, nothing, nothing, nothing, {}, nothing, governs, nothing + 1))
    totals = dict(zip(FEATURES, found.sum(0).tolist(), strict=True))
    assert {name: value for name, value in totals.items() if value} == {
        "exact same governor": 1,
        "exact other governor": 1,
    }


def test_a_verb_directly_below_a_clause_is_an_unknown_child() -> None:
    assert unknown_children(hand_forest("(S (NP (PRP We)) (VP (VBD saw) (NP (NNS men))))")).sum() == 0
    assert unknown_children(hand_forest("(S (NP (PRP We)) (VBD saw) (NP (NNS men)))")).sum() == 1


# ---- with the shipped parser ----


def test_the_other_sentence_puts_an_attachment_right(aligner: Aligner) -> None:
    found = aligner.rerank(
        "The lawyer met the owner of the shop in Leeds.", "In Leeds the lawyer met the owner of the shop."
    )
    assert "(NP (NP (DT the) (NN shop)) (PP (IN in)" in format_brackets(found.source.best.tree)
    assert "(NP (DT the) (NN shop)))) (PP (IN in) (NP (NNP Leeds)))" in format_brackets(found.source.chosen.tree)
    assert found.target.chosen == found.target.best


def test_a_sentence_beside_itself_keeps_its_tree(aligner: Aligner) -> None:
    text = "The dog that bit the boy ran off when it saw the police."
    found = aligner.rerank(text, text, id="7")
    assert found.id == "7"
    assert found.source == found.target
    assert found.source.chosen == found.source.best


def test_the_same_tree_has_the_same_score_as_among_the_n_best(aligner: Aligner) -> None:
    texts = "He saw the man with the telescope.", "Using the telescope, he saw the man."
    found = aligner.rerank(*texts)
    changed = 0
    for text, side in zip(texts, (found.source, found.target), strict=True):
        listed = {each.tree: each.log_prob for each in aligner.parser.parse([tokenize(text)])[0].trees}
        for one in (side.best, side.chosen):
            assert one.log_prob == pytest.approx(listed[one.tree], abs=1e-5)
        changed += side.best != side.chosen
    other = aligner.rerank(
        "The clerk signed the contract for the new manager.", "For the new manager, the clerk signed it."
    )
    parse = aligner.parser.parse([tokenize("The clerk signed the contract for the new manager.")])[0]
    assert other.source.best.log_prob == parse.trees[0].log_prob


def test_exchanging_the_sentences_exchanges_the_answers(aligner: Aligner) -> None:
    texts = "The guard stopped the visitor with the bag.", "The visitor with the bag was stopped by the guard."
    found, turned = aligner.rerank(*texts), aligner.rerank(*reversed(texts))
    assert (found.source, found.target) == (turned.target, turned.source)


def test_what_cannot_be_parsed_is_an_error(aligner: Aligner) -> None:
    with pytest.raises(NoParseError):
        aligner.rerank("He left.", "")


def test_given_trees_keep_the_scores_that_came_with_them() -> None:
    low = "(S (NP (PRP We)) (VP (VBD saw) (NP (NP (DT the) (NN man)) (PP (IN with) (NP (DT a) (NN dog))))) (. .))"
    high = "(S (NP (PRP We)) (VP (VBD saw) (NP (DT the) (NN man)) (PP (IN with) (NP (DT a) (NN dog)))) (. .))"
    fronted = "(S (PP (IN With) (NP (DT a) (NN dog))) (NP (PRP we)) (VP (VBD saw) (NP (DT the) (NN man))) (. .))"
    lists = (
        [ScoredTree(parse_brackets(low), -10.0), ScoredTree(parse_brackets(high), -10.5)],
        [ScoredTree(parse_brackets(fronted), -20.0)],
    )
    aligner = Aligner(forestalign.AlignConfig(backend="trees", links="dictionary"), given=lists)
    found = aligner.rerank(*([str(leaf.word) for leaf in each[0].tree.leaves()] for each in lists))
    assert found.source.best == lists[0][0]
    assert found.source.chosen == lists[0][1]
    assert found.target.chosen == lists[1][0]


# ---- the file of weights ----


def test_weights_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "weights.tsv"
    path.write_text(rerank_weights_text(load_rerank_weights(), "a comment"), encoding="utf-8")
    assert np.allclose(read_rerank_weights(path), load_rerank_weights(), atol=5e-4)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("unknown child\t", "lost child\t", "feature 'lost child' is unknown"),
        ("loose apart\t", "loose together\t", "feature 'loose together' is twice"),
        ("unknown child\t0.000", "unknown child\tmany", "weight 'many': expected a finite number"),
        ("unknown child\t0.000", "unknown child\tinf", "weight 'inf': expected a finite number"),
        ("unknown child\t0.000\n", "", "no weight of unknown child"),
    ],
)
def test_a_bad_file_of_weights_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "weights.tsv"
    path.write_text(rerank_weights_text(np.zeros(len(FEATURES)), "a comment").replace(old, new), encoding="utf-8")
    with pytest.raises(GrammarError, match=message):
        read_rerank_weights(path)


PAIR = ("I remember that we met clearly.", "I clearly remember that we met.")


def test_alignment_searches_forests_that_the_other_sentence_has_a_say_in(aligner: Aligner) -> None:
    mutual, own = (each.prepare([("1", *PAIR, None)])[0] for each in (aligner, forestalign.load(mutual=False)))
    assert not isinstance(mutual, NoParseError)
    assert not isinstance(own, NoParseError)
    parsed = aligner.parse_pairs([("1", *PAIR, None)])[0]
    assert not isinstance(parsed, NoParseError)
    assert own.source.arrays.log_prob.tolist() == parsed.source.forest.arrays.log_prob.tolist()
    forest = mutual_forests(parsed, load_rerank_weights())[0]
    assert mutual.source.arrays.log_prob.tolist() == forest.arrays.log_prob.tolist()
    tree = format_brackets(best_tree(mutual.source))
    assert tree == format_brackets(aligner.rerank(*PAIR).source.chosen.tree)


@pytest.mark.parametrize("least", [0.001, 0.05, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_a_pruned_forest_has_the_best_tree_and_other_edges_of_the_least_share_only(seed: int, least: float) -> None:
    forest = forest_of(random_chart(SIZE, seed), 30)
    pruned, shares = prune(forest, least), dict(zip(edge_names(forest), edge_marginals(forest).tolist(), strict=True))
    assert format_brackets(best_tree(pruned)) == format_brackets(best_tree(forest))
    best = set(edge_names(one_best(forest)))
    unlikely = [name for name in edge_names(pruned) if shares[name] < least and name not in best]
    assert len({name[0] for name in unlikely}) == len(unlikely)  # the best edge of a node that only these lead to
    used = {node for each in derivations(pruned) for node, way in enumerate(each.choice) if way >= 0}
    assert used == set(range(len(pruned)))


def edge_names(forest: Forest) -> list[tuple[Node, ...]]:
    return [
        (node, *(forest.nodes[child] for child in edge.children))
        for node, edges in zip(forest.nodes, forest.edges, strict=True)
        for edge in edges
    ]


def test_the_scores_of_the_paper_take_forests_as_parsed() -> None:
    pairs = (forestalign.load(scoring="paper", mutual=value).align(*PAIR).to_dict() for value in (True, False))
    first, second = ({key: value for key, value in pair.items() if key != "signature"} for pair in pairs)
    assert first == second


def test_turns_keep_all_pairs_in_order_and_their_charts_small(aligner: Aligner, monkeypatch) -> None:
    monkeypatch.setattr("forestalign.aligner.CHART_CELLS", 100)
    rows = [(str(number), *PAIR, None) for number in range(3)]  # of 72 cells each
    sizes = []
    parse_pairs = Aligner.parse_pairs
    monkeypatch.setattr(
        Aligner, "parse_pairs", lambda self, turn, charts: sizes.append(len(turn)) or parse_pairs(self, turn, charts)
    )
    assert [pair.id for pair in aligner.prepare(rows)] == ["0", "1", "2"]
    assert sizes == [1, 1, 1]
