"""From two forests to a result: evidence, features, probabilities, the search, the chosen trees.

`PhraseStage.align` is the one way through: the aligner, tuning and benchmarks all take it. Sums of floats depend on the
order in their last digit, and so do ties. Where the order of the two sentences must not matter, they are put into an
order of their own at the door, and what was found is mirrored at the exit (`_in_order`); nothing between knows of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from forestalign.arrays import FloatArray
from forestalign.config import HAND_SET, AlignConfig
from forestalign.forest import Forest, one_best
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.lexicon.pair_lists import PhraseLists, load_phrase_lists
from forestalign.meaning.matcher import Correspondence
from forestalign.meaning.readings import Reading
from forestalign.phrases.evidence.phrase_evidence import (
    KINDS,
    RULE,
    SPAN,
    PhraseEvidence,
    block_links,
    find_evidence,
    match_rules,
    read_forest,
    rule_evidence,
    wanted_kinds,
)
from forestalign.phrases.result.alignment import DIGITS, Alignment, PhraseAlignment
from forestalign.phrases.result.pair_confidence import judge_derivations
from forestalign.phrases.result.pair_meaning import compare_meaning, with_relations
from forestalign.phrases.result.pair_relations import PairRelations
from forestalign.phrases.result.result_builder import ResultBuilder
from forestalign.phrases.result.unit_pairs import likely_pairs
from forestalign.phrases.scoring.features import DerivationFeatures, derivation_features, weigh_features
from forestalign.phrases.scoring.model import PairScores, PhraseModel, load_model
from forestalign.phrases.scoring.pair_features import FeatureExtractor, PairFeatures
from forestalign.phrases.scoring.score_model import ScoreModel, load_score_model
from forestalign.phrases.search.directed_search import DirectedSearch, comes_first, paper_search
from forestalign.phrases.search.hypotheses import Found
from forestalign.tokens import Sentence, analyse
from forestalign.trees import Tree
from forestalign.words import CANDIDATE
from forestalign.words.alignment import WordAlignment, WordLink


@dataclass(frozen=True, slots=True)
class PreparedPair:
    """Everything that the phrase stage needs of a pair of sentences."""

    source: Forest
    target: Forest
    words: WordAlignment
    id: str = ""


Scorer = Callable[[Forest, Forest, WordAlignment], PairScores]
Evidence = tuple[PhraseEvidence, ...]
Value = TypeVar("Value")


class KnownPhrases(NamedTuple):
    """What is known of phrases of two sentences beside the word links."""

    evidence: Evidence
    readings: tuple[Reading, Reading]  # under the best trees of the forests
    correspondences: tuple[Correspondence, ...]  # by lines of the paraphrase grammar

    def mirrored(self) -> KnownPhrases:
        """The same, with source and target swapped."""
        correspondences = tuple(each.mirrored() for each in self.correspondences)
        evidence = tuple(sorted(row.swap_sides() for row in self.evidence))
        return KnownPhrases(evidence, (self.readings[1], self.readings[0]), correspondences)


class Searched(NamedTuple):
    """What the search found, and what has to be known of two forests to make results of it."""

    found: Found
    log_probs: FloatArray  # of all pairs
    known: KnownPhrases

    def mirrored(self) -> Searched:
        """What was found, with source and target swapped."""
        return Searched(self.found.mirrored(), self.log_probs.T, self.known.mirrored())


@dataclass(frozen=True, slots=True)
class PhraseStage:
    """Extract, score, align: a model, what it needs to see, and the settings; for many pairs.

    A `scorer` of the user's replaces the model.
    """

    model: PhraseModel
    extractor: FeatureExtractor
    config: AlignConfig
    scorer: Scorer | None = None
    score_model: ScoreModel | None = None  # learned weights of parts; None: the paper's scores
    lists: PhraseLists | None = None  # the user's own phrases

    @property
    def is_symmetric(self) -> bool:
        """Whether exchanging the sentences has to mirror everything; scores that have a direction are their own."""
        return self.config.direction == "symmetric" and self.scorer is None

    def forests(self, source: Forest, target: Forest) -> tuple[Forest, Forest]:
        """What is searched of the two forests: all of it, or with `one_best` the best tree of each."""
        return (one_best(source), one_best(target)) if self.config.one_best else (source, target)

    def align(self, pair: PreparedPair, signature: str = "") -> Alignment:
        """The result for a parsed and linked pair, with the `kbest` best alignments."""
        source, target = self.forests(pair.source, pair.target)
        found, known = self._alignments(source, target, pair.words)
        likely = _rounded([link for link in pair.words if link.stage != CANDIDATE])
        sides = _tagged(source.sentence, found[0].source_tree), _tagged(target.sentence, found[0].target_tree)

        def related(phrases: PhraseAlignment) -> PhraseAlignment:
            own = _reading(sides[0], phrases.source_tree, known.readings[0])
            other = _reading(sides[1], phrases.target_tree, known.readings[1])
            return with_relations(phrases, compare_meaning(own, other, likely, phrases, known.correspondences))

        best, *others = map(related, found)
        return Alignment(
            id=pair.id,
            source=sides[0],
            target=sides[1],
            words=likely,
            phrases=best,
            alternatives=tuple(others),
            candidates=_rounded([link for link in pair.words if link.stage == CANDIDATE]),
            signature=signature,
            forests=(source, target),
            correspondences=known.correspondences,
        )

    def _alignments(
        self, source: Forest, target: Forest, links: WordAlignment
    ) -> tuple[tuple[PhraseAlignment, ...], KnownPhrases]:
        searched = self._in_order(self._search, Searched.mirrored, source, target, links)
        sentences = source.sentence, target.sentence
        relations = PairRelations.of(*sentences, searched.known.evidence, links, self.extractor.wordnet)
        builder = ResultBuilder(source, target, searched.log_probs, relations)
        return builder.alignments(searched.found), searched.known

    def _in_order(
        self,
        work: Callable[[Forest, Forest, WordAlignment], Value],
        mirrored: Callable[[Value], Value],
        source: Forest,
        target: Forest,
        links: WordAlignment,
    ) -> Value:
        """What `work` finds; it sees the sentences in an order of their own, if theirs must not matter."""
        if self.is_symmetric and comes_first(target, source):
            return mirrored(work(target, source, links.mirrored()))
        return work(source, target, links)

    def _search(self, source: Forest, target: Forest, links: WordAlignment) -> Searched:
        known, scores = self._known_phrases(source, target, links), self._score(source, target, links)
        config = self.config
        if self.score_model is None:
            found = paper_search(source, target, links, scores, config).best()
        else:
            features = derivation_features(source, target, links, scores, known.evidence, config.rivals)
            found = DirectedSearch(source, target, *weigh_features(features, self.score_model.weights), config).best()
        if self.score_model is not None:
            found = judge_derivations(found, features, self.score_model)
            if SPAN in wanted_kinds(config.evidence):
                nodes, blocks = (
                    (features.source.nodes, features.target.nodes),
                    block_links(source, target, links, known.evidence),
                )
                likely = likely_pairs(nodes, known.readings, blocks, found.derivations[0])
                known = known._replace(evidence=tuple(sorted([*known.evidence, *likely])))
        return Searched(found, scores.pair, known)

    # ---- what the search needs to know ----

    def features(self, source: Forest, target: Forest, links: WordAlignment) -> PairFeatures:
        """F of all pairs of phrases (5.2)."""
        return self.extractor.extract(source, target, links)

    def score(self, source: Forest, target: Forest, links: WordAlignment) -> PairScores:
        """log Pr of all pairs of phrases (5.2): by the model, or by the user's own function."""
        return self._in_order(self._score, PairScores.transposed, source, target, links)

    def _score(self, source: Forest, target: Forest, links: WordAlignment) -> PairScores:
        if self.scorer is not None:
            return self.scorer(source, target, links)
        return self.model.score(self.features(source, target, links), self.config)

    def known_phrases(self, source: Forest, target: Forest, links: WordAlignment) -> KnownPhrases:
        """What speaks for pairs of phrases beside the word links, and the lines of the grammar that say so."""
        return self._in_order(self._known_phrases, KnownPhrases.mirrored, source, target, links)

    def _known_phrases(self, source: Forest, target: Forest, links: WordAlignment) -> KnownPhrases:
        kinds = wanted_kinds(self.config.evidence)
        rows = find_evidence(source.sentence, target.sentence, self.lists) if kinds else ()
        if not kinds.issuperset(KINDS):
            rows = tuple(row for row in rows if row.kind in kinds)
        readings = read_forest(source), read_forest(target)
        correspondences = match_rules(*readings, links, self.config.rules)
        if RULE in kinds:
            rows = tuple(sorted(rows + rule_evidence(correspondences)))
        return KnownPhrases(rows, readings, correspondences)

    def derivation_features(self, source: Forest, target: Forest, links: WordAlignment) -> DerivationFeatures:
        """All features that derivations of two forests can have, for learning."""
        evidence = self.known_phrases(source, target, links).evidence
        scores = self.score(source, target, links)
        return derivation_features(source, target, links, scores, evidence, self.config.rivals)


def load_stage(
    config: AlignConfig,
    model: PhraseModel | None = None,
    scorer: Scorer | None = None,
    score_model: ScoreModel | None = None,
) -> PhraseStage:
    """The phrase stage with the lexicon and the model that the settings name, or with a given model."""
    wanted_kinds(config.evidence)  # refused before anything is loaded
    model = model or load_model(HAND_SET if scorer else config.model)
    extractor = FeatureExtractor(load_wordnet(), load_vectors(config.vectors), model.features, model.vocabulary)
    lists = load_phrase_lists(config.ppdb) if config.ppdb else None
    is_paper = config.scoring == "paper" or scorer is not None or config.model == HAND_SET
    score_model = None if is_paper else score_model or load_score_model(config.scores)
    return PhraseStage(model, extractor, config, scorer, score_model, lists)


def _tagged(sentence: Sentence, tree: Tree) -> Sentence:
    """The sentence with the tags of the chosen tree, about which the trees of a forest may disagree."""
    tags = tuple([leaf.label for leaf in tree.leaves()])
    return sentence if sentence.tags == tags else analyse(sentence, tags)


def _reading(sentence: Sentence, tree: Tree, best: Reading) -> Reading:
    """The reading of a sentence under a chosen tree, which mostly is the best one, read already."""
    return best if sentence is best.sentence and tree == best.tree else Reading(sentence, tree)


def _rounded(links: Iterable[WordLink]) -> WordAlignment:
    return WordAlignment(
        tuple([WordLink(link.source, link.target, round(float(link.score), DIGITS), link.stage) for link in links])
    )
