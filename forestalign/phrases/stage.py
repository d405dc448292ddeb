"""From two forests to phrase alignments: features, probabilities, the search in the wanted direction, k best, trees.

`PhraseStage` is the one way through: the aligner, the E step, tuning and benchmarks all take it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from forestalign.compiled import core
from forestalign.config import HAND_SET, AlignConfig
from forestalign.forest import Forest, one_best
from forestalign.lexicon import PhraseLexicon, load_phrases, load_vectors, load_wordnet
from forestalign.lexicon.phrase_lists import PhraseLists, load_phrase_lists
from forestalign.phrases.assembly import Assembly
from forestalign.phrases.compiled_search import compiled_search
from forestalign.phrases.evidence import KINDS, SIMILARITY, PhraseEvidence, find_evidence, wanted_kinds
from forestalign.phrases.expected_f1 import LEAST_ALIGNMENTS, by_expected_f1
from forestalign.phrases.features import FeatureExtractor, PairFeatures
from forestalign.phrases.hypotheses import Bounds, Derivation, Found, mirrored_derivation
from forestalign.phrases.linear_model import LinearModel, load_linear_model
from forestalign.phrases.model import FloatArray, PairScores, PhraseModel, load_model
from forestalign.phrases.pair_relations import PairRelations
from forestalign.phrases.parts import DerivationParts, parts_of, weigh_parts
from forestalign.phrases.phrase_similarity import (
    candidate_spans,
    has_vectors,
    is_composed,
    load_similarity,
    similar_phrases,
)
from forestalign.phrases.result import PhraseAlignment
from forestalign.phrases.score import Weights, weigh
from forestalign.phrases.search import search
from forestalign.phrases.seeds import Seeds, link_seeds
from forestalign.phrases.span_context import SpanLexicon, span_context
from forestalign.phrases.tree_edit_search import align_by_edits
from forestalign.words import CANDIDATE
from forestalign.words.alignment import WordAlignment

Scorer = Callable[[Forest, Forest, WordAlignment], PairScores]
Engine = Callable[[Forest, Forest, Seeds, Weights, Bounds], Found]


@dataclass(frozen=True, slots=True)
class PhraseStage:
    """Extract, score, align: a model, what it needs to see, and the settings; for many pairs.

    A `scorer` of the user's replaces the model.
    """

    model: PhraseModel
    extractor: FeatureExtractor
    config: AlignConfig
    scorer: Scorer | None = None
    linear: LinearModel | None = None  # learned weights of parts; None: the paper's scores
    phrases: PhraseLexicon | None = None  # what finds evidence for phrases that no link carries
    lists: PhraseLists | None = None  # the user's own phrases

    @property
    def is_one_best(self) -> bool:
        """Whether only the best tree of each sentence is searched."""
        return self.config.one_best or self.config.search == "ted"

    def forests(self, source: Forest, target: Forest) -> tuple[Forest, Forest]:
        """What is searched of the two forests: all of it, or with `one_best` the best tree of each."""
        return (one_best(source), one_best(target)) if self.is_one_best else (source, target)

    def features(self, source: Forest, target: Forest, links: WordAlignment) -> PairFeatures:
        """F of all pairs of phrases (5.2)."""
        return self.extractor.extract(source, target, links)

    def score(self, source: Forest, target: Forest, links: WordAlignment) -> PairScores:
        """log Pr of all pairs of phrases (5.2): by the model, or by the user's own function.

        Where the model has no direction, the sentences are put in an order of their own first: sums of floats depend
        on the order in their last digit, and the result must not.
        """
        if self.scorer is not None:
            return self.scorer(source, target, links)
        has_direction = self.config.direction != "symmetric" or self.config.null_normaliser != "own"
        if has_direction or not comes_first(target, source):
            return self.model.score(self.features(source, target, links), self.config)
        return self.model.score(self.features(target, source, links.mirrored()), self.config).transposed()

    def align(self, source: Forest, target: Forest, links: WordAlignment) -> tuple[PhraseAlignment, ...]:
        """The `kbest` best alignments of what `forests` gives, best first; always at least one."""
        evidence = self.evidence(source, target, links)
        relations = PairRelations.of(source.sentence, target.sentence, evidence, links, self.extractor.wordnet)
        if self.config.decode == "best":
            return tuple(map(relations.told, self._align(source, target, links, evidence)))
        wide = replace(self, config=self.config.with_(kbest=max(self.config.kbest, LEAST_ALIGNMENTS)))
        found = by_expected_f1(wide._align(source, target, links, evidence))
        return tuple(map(relations.told, found[: self.config.kbest]))

    def _align(
        self, source: Forest, target: Forest, links: WordAlignment, evidence: tuple[PhraseEvidence, ...]
    ) -> tuple[PhraseAlignment, ...]:
        if self.config.search == "ted":
            likely = WordAlignment(tuple(link for link in links if link.stage != CANDIDATE))
            return (align_by_edits(source, target, likely),)
        if self.linear is None:
            return align_phrases(source, target, links, self.score(source, target, links), self.config)
        if self.config.direction == "symmetric" and comes_first(target, source):
            turned = tuple(sorted(row.turned() for row in evidence))
            return self._align_parts(target, source, links.mirrored(), turned, is_turned=True)
        return self._align_parts(source, target, links, evidence)

    def _align_parts(
        self,
        source: Forest,
        target: Forest,
        links: WordAlignment,
        evidence: tuple[PhraseEvidence, ...],
        is_turned: bool = False,
    ) -> tuple[PhraseAlignment, ...]:
        """The best alignments by the learned scores, with calibrated posteriors; turned, the sentences were swapped."""
        assert self.linear is not None
        scores = self.score(source, target, links)
        weights, seeds = weigh_parts(parts_of(source, target, links, scores, evidence), self.linear.weights)
        assembly = Assembly(source, target, weights, scores.pair, is_turned, self.linear.calibrated)
        return _Task(assembly, seeds, self.config).alignments()

    def evidence(self, source: Forest, target: Forest, links: WordAlignment) -> tuple[PhraseEvidence, ...]:
        """What speaks for pairs of phrases beside the word links."""
        return self._evidence(source, target, links, similar=self.linear is not None)

    def _evidence(
        self, source: Forest, target: Forest, links: WordAlignment, similar: bool
    ) -> tuple[PhraseEvidence, ...]:
        """With `similar` also what the learned similarity of phrases says, which the paper's scores have no use for."""
        if self.phrases is None:
            return ()
        kinds = wanted_kinds(self.config.evidence)
        found = find_evidence(source.sentence, target.sentence, self.phrases, self.lists) if kinds else ()
        if not kinds.issuperset(KINDS):
            found = tuple(row for row in found if row.kind in kinds)
        if not similar or SIMILARITY not in kinds or not has_vectors(source.sentence, target.sentence):
            return found
        if comes_first(target, source):  # sums of floats must not depend on the order
            turned = tuple(sorted(row.turned() for row in found))
            rows = tuple(row.turned() for row in self._similar(target, source, links.mirrored(), turned))
        else:
            rows = self._similar(source, target, links, found)
        return tuple(sorted(found + rows))

    def _similar(
        self, source: Forest, target: Forest, links: WordAlignment, evidence: tuple[PhraseEvidence, ...]
    ) -> tuple[PhraseEvidence, ...]:
        lexicon = SpanLexicon(self.extractor.wordnet, self.extractor.vectors)
        context = span_context(source.sentence, target.sentence, links, evidence, lexicon)
        found = similar_phrases(context, candidate_spans(source), candidate_spans(target), load_similarity())
        return tuple(row for row in found if not is_composed(row, links, evidence))

    def parts(self, source: Forest, target: Forest, links: WordAlignment) -> DerivationParts:
        """All parts that derivations of two forests can have, for learning."""
        scores = self.score(source, target, links)
        return parts_of(source, target, links, scores, self._evidence(source, target, links, similar=True))

    def align_observed(
        self, source: Forest, target: Forest, links: WordAlignment
    ) -> tuple[PhraseAlignment, PairFeatures]:
        """The best alignment and the features that it was scored by, for learning."""
        features = self.features(source, target, links)
        scores = self.model.score(features, self.config)
        return align_phrases(source, target, links, scores, self.config)[0], features


def load_stage(
    config: AlignConfig,
    model: PhraseModel | None = None,
    scorer: Scorer | None = None,
    linear: LinearModel | None = None,
) -> PhraseStage:
    """The phrase stage with the lexicon and the model that the settings name, or with a given model."""
    wanted_kinds(config.evidence)  # refused before anything is loaded
    model = model or load_model(HAND_SET if scorer else config.model)
    extractor = FeatureExtractor(load_wordnet(), load_vectors(config.vectors), model.features, model.vocabulary)
    lists = load_phrase_lists(config.ppdb) if config.ppdb else None
    is_paper = config.scoring == "paper" or scorer is not None or config.model == HAND_SET
    linear = None if is_paper else linear or load_linear_model(config.scores)
    return PhraseStage(model, extractor, config, scorer, linear, load_phrases(), lists)


def both_directions(
    source: Forest, target: Forest, weights: Weights, seeds: Seeds, config: AlignConfig
) -> tuple[Derivation, ...]:
    """The k best derivations of each direction, all seen from the source, best first."""
    task = _Task(Assembly(source, target, weights, weights.pair), seeds, config)
    forth = task.found()
    if config.direction != "symmetric":
        return forth.derivations
    back = task.mirrored().found()
    ways = [(forth.completed, each) for each in forth.derivations]
    ways += [(back.completed, mirrored_derivation(each)) for each in back.derivations]
    return tuple(each for _, each in sorted(ways, key=lambda way: (way[0], -round(way[1].score, 9))))


def align_phrases(
    source: Forest,
    target: Forest,
    words: WordAlignment,
    scores: PairScores,
    config: AlignConfig,
    phrases: Seeds | None = None,
) -> tuple[PhraseAlignment, ...]:
    """The `config.kbest` best alignments by the paper's scores, best first; always at least one.

    `phrases` are seeds beside the word links. Without a usable seed the one has no pairs, everything is null and
    `reached_root` is false. With option "symmetric" both directions are searched and the better one is kept, so that
    swapping the sentences mirrors the result; which of two equally good ones is taken depends on the sentences, not on
    their order.
    """
    weights, seeds = weigh(source, target, scores, config), link_seeds(source, target, words, config)
    seeds = seeds if phrases is None else seeds + phrases
    return align_weighted(source, target, seeds, weights, config, scores.pair)


def align_weighted(
    source: Forest,
    target: Forest,
    seeds: Seeds,
    weights: Weights,
    config: AlignConfig,
    log_probs: FloatArray | None = None,
) -> tuple[PhraseAlignment, ...]:
    """The same by any weights; `log_probs` of all pairs are shown to the user, else their values."""
    shown = weights.pair if log_probs is None else log_probs
    return _Task(Assembly(source, target, weights, shown), seeds, config).alignments()


def comes_first(one: Forest, other: Forest) -> bool:
    """The order of two forests, by their words, then by all they hold; equal ones have none."""
    if one.sentence.words != other.sentence.words:
        return one.sentence.words < other.sentence.words
    return _content(one) < _content(other)


def _content(forest: Forest) -> tuple[object, ...]:
    nodes = [(node.begin, node.end, node.label) for node in forest.nodes]
    return nodes, [[(edge.children, edge.log_prob) for edge in edges] for edges in forest.edges]


@dataclass(frozen=True, slots=True)
class _Task:
    """Two forests in one direction, and how what was found becomes a result."""

    assembly: Assembly
    seeds: Seeds
    config: AlignConfig

    def alignments(self) -> tuple[PhraseAlignment, ...]:
        """What the settings ask for: this direction, or the better one of both."""
        if self.config.direction != "symmetric":
            return self.one_way()
        first = self.mirrored() if comes_first(self.assembly.target, self.assembly.source) else self
        return first.better_way()

    def mirrored(self) -> _Task:
        """The other direction."""
        weights = self.assembly.weights.transposed()
        return _Task(self.assembly.mirrored(weights), self.seeds.transposed(), self.config)

    def one_way(self) -> tuple[PhraseAlignment, ...]:
        """What the search finds in this direction."""
        return self.assembly.alignments(self.found())

    def better_way(self) -> tuple[PhraseAlignment, ...]:
        """What it finds in the better one of both."""
        mirror = self.mirrored()
        forth, back = self.found(), mirror.found()
        if self.assembly.preference(forth) >= mirror.assembly.preference(back):
            return self.assembly.alignments(forth)
        return mirror.assembly.alignments(back)

    def found(self) -> Found:
        """What the search finds."""
        engine: Engine = search if core(self.config.plain) is None else compiled_search
        sides = self.assembly
        return engine(sides.source, sides.target, self.seeds, sides.weights, Bounds.of(self.config))
