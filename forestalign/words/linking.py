"""Word links by the method that the settings name: `sultan` (a profile), `dictionary`, `union` of these, `crf`, or a
baseline (`meteor`, `similarity`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, get_args

from forestalign.config import AlignConfig, Profile
from forestalign.errors import NoParseError, UsageError, counted
from forestalign.lexicon import load_phrase_lists, load_ppdb, load_vectors, load_wordnet
from forestalign.machine import with_one_thread
from forestalign.parsers import Parse, Parser, load_parser
from forestalign.tokens import Sentence
from forestalign.words.alignment import BY_PLACE, SentenceScores, WordAlignment, WordLink, sentence_scores
from forestalign.words.analysis import Analysis, analyse_parse, load_equivalences
from forestalign.words.baselines import MeteorSources, meteor_links, similarity_links
from forestalign.words.learned.matching import align_best
from forestalign.words.learned.sides import Lexicon
from forestalign.words.similarity import Sources, WordSimilarity, dictionary_links
from forestalign.words.sultan.paper import align_paper
from forestalign.words.sultan.published import align_published
from forestalign.words.sultan.stages import ALL_STAGES, WEIGHT, Pair, Stages
from forestalign.words.word_vectors import load_metric

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

    def scores(self, source: Analysis, target: Analysis, alignment: WordAlignment) -> SentenceScores:
        """How much of the two sentences an alignment covers (section 4.2)."""
        return sentence_scores(source.sentence, target.sentence, alignment, load_vectors().idf)


if TYPE_CHECKING:
    from forestalign.words.crf import CrfAligner

Analysed = Parse | Analysis
Baseline = Callable[[Analysed, Analysed], WordAlignment]


class WordLinker:
    """The method `config.links`, loaded once.

    With `candidates` profile `best` also gives unlikely links, for a search to choose from; the method `union` always
    does, since the search is all it is for.
    """

    def __init__(self, config: AlignConfig, candidates: bool = False):
        self.config, self._candidates = config, candidates or config.links == "union"
        self._crf = _load_crf(config) if config.links == "crf" else None
        self._aligner = WordAligner(config) if config.links in ("sultan", "union") else None
        self._has_dictionary = config.links in ("dictionary", "union")
        self._baseline = _load_baseline(config)

    def link(self, source: Analysed, target: Analysed) -> WordAlignment:
        """The links of one pair; where two ways find the same link, the aligner's is kept."""
        if self._crf is not None:
            return self._crf.align(source.sentence, target.sentence)
        if self._baseline is not None:
            return self._baseline(source, target)
        found: dict[tuple[int, int], WordLink] = {}
        if self._has_dictionary:
            vectors = load_vectors(self.config.vectors)
            for link in dictionary_links(source.sentence, target.sentence, load_wordnet(), vectors):
                found[link.source, link.target] = link
        if self._aligner is not None:
            align = self._aligner.candidates if self._candidates else self._aligner.align
            for link in align(_analysis(source), _analysis(target)):
                found[link.source, link.target] = link
        return WordAlignment(tuple(sorted(found.values(), key=BY_PLACE)))


class LinkedWords(NamedTuple):
    """A word of the source and one of the target, their places, and how sure the link is."""

    source: str
    target: str
    source_place: int
    target_place: int
    score: float


@dataclass(frozen=True, slots=True, repr=False)
class LinkedPair:
    """A pair of sentences with its links."""

    source: Sentence
    target: Sentence
    words: WordAlignment

    def __iter__(self) -> Iterator[LinkedWords]:
        """The links by their words."""
        for link in self.words:
            words = self.source.words[link.source], self.target.words[link.target]
            yield LinkedWords(*words, link.source, link.target, link.score)

    def __str__(self) -> str:
        """A line for each link."""
        return "\n".join(f"{link.source} = {link.target}" for link in self)

    def __repr__(self) -> str:
        return f"<LinkedPair of {self.source.text!r} and {self.target.text!r}: {counted(len(self.words), 'link')}>"

    def _repr_html_(self) -> str:
        from forestalign.terminal import lines_html

        return lines_html(str(self))


class SentenceLinker:
    """Links pairs of sentences; those without an analysis are parsed, a batch at a time."""

    def __init__(self, config: AlignConfig):
        self.config, self._linker = config, WordLinker(config)
        self._parser: Parser | None = None

    def link(
        self, pairs: Sequence[tuple[Sentence | Analysis, Sentence | Analysis]]
    ) -> Iterator[LinkedPair | NoParseError]:
        """One result per pair; a pair that cannot be parsed becomes an error."""
        sides = iter(self._analysed([side for pair in pairs for side in pair]))
        for source, target in zip(sides, sides, strict=True):
            failed = parse_failure(source, target)
            yield failed or LinkedPair(source.sentence, target.sentence, self._linker.link(source, target))

    def _analysed(self, sides: Sequence[Sentence | Analysis]) -> list[Analysed]:
        sentences = [side for side in sides if isinstance(side, Sentence)]
        if sentences and self._parser is None:
            self._parser = load_parser(self.config)
        parses = iter(self._parser.parse(sentences) if self._parser is not None and sentences else ())
        return [side if isinstance(side, Analysis) else next(parses) for side in sides]


def parse_failure(source: Analysed, target: Analysed) -> NoParseError | None:
    """The error of a pair of which one side has no parse."""
    for name, side in (("source", source), ("target", target)):
        if isinstance(side, Parse) and side.error:
            return NoParseError(f"the {name} cannot be parsed: {side.error}")
    return None


def _analysis(side: Analysed) -> Analysis:
    return side if isinstance(side, Analysis) else analyse_parse(side)


def _load_baseline(config: AlignConfig) -> Baseline | None:
    if config.links == "meteor":
        pairs = load_ppdb(config.ppdb) if config.ppdb else None
        phrases = load_phrase_lists(config.ppdb) if config.ppdb else None
        sources = MeteorSources(load_wordnet(), pairs, phrases)
        return lambda source, target: meteor_links(source.sentence, target.sentence, sources)
    if config.links == "similarity":
        return lambda source, target: similarity_links(source.sentence, target.sentence)
    return None


def _load_crf(config: AlignConfig) -> CrfAligner:
    from forestalign.words.crf import load_crf  # slow to import, and not always needed

    return load_crf(config.crf_model, config.ppdb, config.vectors)
