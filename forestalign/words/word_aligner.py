"""One door to the profiles: `WordAligner(config).align(source, target)` for analysed sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import get_args

from forestalign.blas import with_one_thread
from forestalign.config import AlignConfig, Profile
from forestalign.errors import UsageError
from forestalign.lexicon import load_ppdb, load_vectors, load_wordnet
from forestalign.words.alignment import WordAlignment
from forestalign.words.analysis import Analysis
from forestalign.words.dependency_arcs import load_equivalences
from forestalign.words.learned.matching import align_best
from forestalign.words.learned.metric import load_metric
from forestalign.words.learned.sides import Lexicon
from forestalign.words.sentence_scores import SentenceScores, sentence_scores
from forestalign.words.similarity import Sources, WordSimilarity
from forestalign.words.sultan.candidates import ALL_STAGES, WEIGHT, Pair, Stages
from forestalign.words.sultan.paper import align_paper
from forestalign.words.sultan.published import align_published

PROFILES: tuple[Profile, ...] = get_args(Profile)


def profile_sources(config: AlignConfig) -> Sources:
    """Where `paper` and `published` take similar words from: a PPDB-format list, or WordNet where there is none."""
    pairs = load_ppdb(config.ppdb) if config.ppdb else None
    wordnet = None if pairs else load_wordnet()
    if config.profile == "paper":
        return Sources(stem=False, veto=False, pairs=pairs, wordnet=wordnet)
    return Sources(pairs=pairs, wordnet=wordnet)


class WordAligner:
    """Aligns the words of analysed sentences by one profile.

    `sources`, `stages` and `weight` (w) change the pipelines `paper` and `published`, for ablations and other lexicons.
    """

    def __init__(
        self,
        config: AlignConfig,
        sources: Sources | None = None,
        stages: Stages = ALL_STAGES,
        weight: float = WEIGHT,
    ):
        if config.profile not in PROFILES:
            raise UsageError(f"profile is {config.profile!r}; expected one of {', '.join(PROFILES)}")
        self.config = config
        self._stages = stages
        self._weight = weight
        if config.profile == "best":
            pairs = load_ppdb(config.ppdb) if config.ppdb else None
            self._lexicon = Lexicon(load_wordnet(), load_vectors(config.vectors), pairs, load_metric())
        else:
            self._similarity = WordSimilarity(sources or profile_sources(config))
            self._equivalences = load_equivalences(config.profile)

    @with_one_thread
    def align(self, source: Analysis, target: Analysis) -> WordAlignment:
        """Word links of one pair, each with the stage that made it."""
        if self.config.profile == "best":
            return align_best(source, target, self._lexicon)
        similarity = self._similarity.matrix(source.sentence, target.sentence)
        pair = Pair(source, target, similarity, self._weight, self._similarity.sources.level)
        if self.config.profile == "paper":
            return align_paper(pair, self._equivalences, self._stages)
        lemma_similarity = self._similarity.lemma_matrix(source.sentence, target.sentence)
        return align_published(pair, lemma_similarity, self._equivalences, self._stages)

    @with_one_thread
    def candidates(self, source: Analysis, target: Analysis) -> WordAlignment:
        """Links for a search to choose from: all over `link_threshold` by profile `best`, else those of `align`."""
        if self.config.profile == "best":
            return align_best(source, target, self._lexicon, self.config.link_threshold)
        return self.align(source, target)

    def align_many(self, pairs: Iterable[tuple[Analysis, Analysis]]) -> Iterator[WordAlignment]:
        """One alignment per pair, as they come."""
        return (self.align(source, target) for source, target in pairs)

    def scores(self, source: Analysis, target: Analysis, alignment: WordAlignment) -> SentenceScores:
        """How much of the two sentences an alignment covers (section 4.2)."""
        return sentence_scores(source.sentence, target.sentence, alignment, load_vectors().idf)
