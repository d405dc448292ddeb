"""One door to the profiles: `WordAligner(config).align(source, target)` for analysed sentences."""

from __future__ import annotations

from forestalign.alignment import WordAlignment
from forestalign.config import AlignConfig
from forestalign.errors import UsageError
from forestalign.lexicon import load_ppdb, load_vectors, load_wordnet
from forestalign.word_alignment.analysis import Analysis
from forestalign.word_alignment.candidates import ALL_STAGES, Pair, Stages
from forestalign.word_alignment.paper import align_paper
from forestalign.word_alignment.published import align_published
from forestalign.word_alignment.relations import load_equivalences
from forestalign.word_alignment.similarity import Sources, WordSimilarity

PROFILES = ("best", "paper", "published")
WEIGHT = 0.9  # w, section 3.3.5


def profile_sources(config: AlignConfig) -> Sources:
    """Where a profile takes similar words from.

    `paper` and `published` ask a PPDB-format list; where the user has none, WordNet stands in for it.
    """
    pairs = load_ppdb(config.ppdb) if config.ppdb else None
    wordnet = None if pairs else load_wordnet()
    if config.profile == "paper":
        return Sources(stem=False, veto=False, pairs=pairs, wordnet=wordnet)
    return Sources(pairs=pairs, wordnet=wordnet)


class WordAligner:
    """Aligns the words of analysed sentences by one profile."""

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
        self._words = WordSimilarity(sources or profile_sources(config))
        self._stages = stages
        self._weight = weight

    def align(self, source: Analysis, target: Analysis) -> WordAlignment:
        """Word links of one pair."""
        similarity = self._words.matrix(source.sentence, target.sentence)
        pair = Pair(source, target, similarity, self._weight, self._words.sources.level)
        equivalences = load_equivalences(self.config.profile)
        if self.config.profile == "paper":
            return align_paper(pair, equivalences, self._stages)
        return align_published(pair, self._words, equivalences, self._stages)
