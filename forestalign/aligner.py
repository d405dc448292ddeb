"""The whole way through: text, tokens, parses, forests, word links, phrases.

>>> import forestalign
>>> aligner = forestalign.load()
>>> result = aligner.align("The committee rejected the plan.", "The plan was rejected by the committee.")
>>> result.phrases.reached_root
True
>>> (1, 6) in result.words.pairs  # committee
True
>>> str(result).splitlines()[1]
'  source: The committee rejected the plan.'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from itertools import count
from typing import Any

from forestalign.alignment import AlignedPair, WordAlignment, WordLink
from forestalign.batch import Job, Outcome, outcomes
from forestalign.config import DEFAULT_CONFIG, AlignConfig
from forestalign.errors import ForestAlignError, NoParseError, UsageError
from forestalign.features import FeatureExtractor
from forestalign.forest import Forest, NodeId, one_best, tree_of
from forestalign.formats import PhraseRecord, format_pharaoh, record_of, to_json
from forestalign.grammar import grammar_hash
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.model import PairScores, PhraseModel, load_model
from forestalign.parsers import Given, Parse, Parser, load_parser
from forestalign.phrase_alignment import align_phrases
from forestalign.tokens import Sentence, tokenize
from forestalign.trees import Tree
from forestalign.view.text import render_text
from forestalign.word_alignment import CANDIDATE, WordAligner, analyse_parse, dictionary_links

Text = str | Sequence[str] | Sentence
Scorer = Callable[[Forest, Forest, WordAlignment], PairScores]


class Alignment(AlignedPair):
    """An aligned pair that prints, shows itself in a notebook, and converts to what other programs read."""

    __slots__ = ()

    def __str__(self) -> str:
        return render_text(self.record())

    def __repr__(self) -> str:
        """One line, since forests and trees would fill pages; `print` shows the phrases."""
        return (
            f"<Alignment of {self.source.text!r} and {self.target.text!r}: "
            f"{len(self.phrases.pairs)} phrase pairs, log score {self.phrases.log_score:.2f}>"
        )

    def _repr_html_(self) -> str:
        from forestalign.view import result_html

        return result_html(self.record())

    def record(self, forests: bool = False) -> PhraseRecord:
        """The documented record; with `forests` also the constituents that were not chosen."""
        return record_of(self, forests=forests)

    def to_json(self) -> str:
        """One line of JSON, as `forestalign align --json` prints it."""
        return to_json(self.record())

    def to_pharaoh(self) -> str:
        """The word links as `i-j i-j ...`."""
        return format_pharaoh(self.words)

    def to_nltk(self) -> tuple[Any, Any]:
        """The two chosen trees as NLTK trees."""
        return _nltk(self.source_tree), _nltk(self.target_tree)


@dataclass(frozen=True, slots=True)
class PreparedPair:
    """A pair on its way: parsed, and its words linked."""

    id: str
    source: Parse
    target: Parse
    words: WordAlignment


@dataclass(frozen=True, slots=True)
class Parts:
    """What a user brings along instead of what the settings name."""

    given: tuple[Given, ...] | None = None
    model: PhraseModel | None = None
    parser: Parser | None = None
    scorer: Scorer | None = None


class Aligner:
    """Loaded models and settings. Make one with `forestalign.load()` and use it for many pairs."""

    def __init__(
        self,
        config: AlignConfig = DEFAULT_CONFIG,
        *,
        given: Iterable[Given] | None = None,
        model: PhraseModel | None = None,
        parser: Parser | None = None,
        scorer: Scorer | None = None,
    ):
        """`given` are parses for the backend `trees`; `model`, `parser`, `scorer` replace those of the settings.

        All of them go along to other processes and machines, so they have to be picklable where these are used.
        """
        self.config = config
        self._parts = Parts(tuple(given) if given is not None else None, model, parser, scorer)

    # ---- what is loaded, when it is first needed ----

    @cached_property
    def parser(self) -> Parser:
        return self._parts.parser or load_parser(self.config, self._parts.given)

    @cached_property
    def model(self) -> PhraseModel:
        return self._parts.model or load_model(self.config.model)

    @cached_property
    def extractor(self) -> FeatureExtractor:
        vectors = load_vectors(self.config.vectors)
        return FeatureExtractor(load_wordnet(), vectors, self.model.features, self.model.vocabulary)

    @cached_property
    def _word_aligner(self) -> WordAligner:
        return WordAligner(self.config)

    @cached_property
    def _crf(self) -> Any:
        from forestalign.crf import load_crf

        return load_crf(self.config.crf_model, self.config.ppdb, self.config.vectors)

    def load_parts(self) -> None:
        """Load now what the settings ask for, so that a file which cannot be read is one error and not one a pair."""
        _ = self.parser
        if self.config.seed in ("sultan", "union"):
            _ = self._word_aligner
        if self.config.seed == "crf":
            _ = self._crf
        if self._parts.scorer is None:
            _ = self.extractor

    @cached_property
    def signature(self) -> str:
        """Version, grammar and the settings that differ from the defaults: what a score never travels without."""
        changed = "".join(f" {name}={value}" for name, value in self.config.differences().items())
        return f"forestalign {version('forestalign')} grammar:{grammar_hash()}{changed}"

    # ---- the public calls ----

    def align(self, source: Text, target: Text, id: str = "", links: WordAlignment | None = None) -> Alignment:
        """Align one pair; strings are tokenized, lists of words are kept as they are, `links` replace our own."""
        prepared = self.prepare([(id, source, target, links)])[0]
        if isinstance(prepared, NoParseError):
            raise prepared
        return self.align_prepared(prepared)

    def align_many(self, pairs: Iterable[tuple[Text, Text]], jobs: int = 1) -> Iterator[Alignment]:
        """Align pairs in order, over `jobs` processes; a pair that fails raises when its turn comes."""
        numbered = (Job(n, str(n), pair) for n, pair in zip(count(1), pairs, strict=False))
        for outcome in outcomes(numbered, _AlignWorker(self.config, self._parts), processes=jobs):
            if outcome.value is None:
                raise ForestAlignError(f"pair {outcome.number}: {outcome.error}")
            yield outcome.value

    def prepare(
        self, pairs: Sequence[tuple[str, Text, Text, WordAlignment | None]]
    ) -> list[PreparedPair | NoParseError]:
        """Parse a batch of pairs and link their words; pairs that cannot be parsed become errors."""
        sentences = [_sentence(text) for _, source, target, _ in pairs for text in (source, target)]
        parses = self.parser.parse(sentences)
        prepared: list[PreparedPair | NoParseError] = []
        for (id, _, _, links), source, target in zip(pairs, parses[::2], parses[1::2], strict=True):
            failed = source.error or target.error
            if failed:
                prepared.append(
                    NoParseError(f"the {'source' if source.error else 'target'} cannot be parsed: {failed}")
                )
                continue
            words = self.link_words(source, target) if links is None else _checked(links, source, target)
            prepared.append(PreparedPair(id, source, target, words))
        return prepared

    def link_words(self, source: Parse, target: Parse) -> WordAlignment:
        """W: the word links that seed the phrases."""
        seed = self.config.seed
        if seed == "crf":
            links: WordAlignment = self._crf.align(source.sentence, target.sentence)
            return links
        found: dict[tuple[int, int], WordLink] = {}
        if seed in ("dictionary", "union"):
            vectors = load_vectors(self.config.vectors)
            for link in dictionary_links(source.sentence, target.sentence, load_wordnet(), vectors):
                found[link.source, link.target] = link
        if seed in ("sultan", "union"):
            for link in self._word_aligner.candidates(analyse_parse(source), analyse_parse(target)):
                found[link.source, link.target] = link
        return WordAlignment(tuple(sorted(found.values())))

    def score(self, source: Forest, target: Forest, words: WordAlignment) -> PairScores:
        """log Pr of all pairs of phrases: by the model, or by the user's own function."""
        if self._parts.scorer is not None:
            return self._parts.scorer(source, target, words)
        return self.model.score(self.extractor.extract(source, target, words), self.config)

    def align_prepared(self, pair: PreparedPair) -> Alignment:
        """The phrases of a parsed and linked pair."""
        source, target = pair.source.forest, pair.target.forest
        if self.config.one_best:
            source, target = one_best(source), one_best(target)
        scores = self.score(source, target, pair.words)
        best, *others = align_phrases(source, target, pair.words, scores, self.config)
        return Alignment(
            id=pair.id,
            source=pair.source.sentence,
            target=pair.target.sentence,
            source_tree=chosen_tree(source, best.source_edges),
            target_tree=chosen_tree(target, best.target_edges),
            words=WordAlignment(tuple(link for link in pair.words if link.stage != CANDIDATE)),
            candidates=WordAlignment(tuple(link for link in pair.words if link.stage == CANDIDATE)),
            phrases=best,
            source_forest=source,
            target_forest=target,
            alternatives=tuple(others),
            signature=self.signature,
        )


def load(config: AlignConfig = DEFAULT_CONFIG, **settings: Any) -> Aligner:
    """An aligner with the shipped parser, lexicon and model; settings may be given by name.

    >>> import forestalign
    >>> forestalign.load(beam=20, kbest=3).config.beam
    20
    """
    return Aligner(config.with_(**settings))


def chosen_tree(forest: Forest, edges: Sequence[tuple[NodeId, int]]) -> Tree:
    """The n-ary tree that an alignment chose: the reranked parse."""
    choice = [0] * len(forest)
    for node, index in edges:
        choice[node] = index
    root = max(node for node, _ in edges)  # parents come after children
    return tree_of(forest, root, choice)


@dataclass(frozen=True, slots=True)
class _AlignWorker:
    """Starts an aligner in a worker process."""

    config: AlignConfig
    parts: Parts

    def __call__(self) -> Any:
        parts = self.parts
        aligner = Aligner(self.config, given=parts.given, model=parts.model, parser=parts.parser, scorer=parts.scorer)
        aligner.load_parts()

        def handle(jobs: Sequence[Job]) -> Iterator[Outcome[Alignment]]:
            prepared = aligner.prepare([(job.key, *job.payload, None) for job in jobs])
            for job, pair in zip(jobs, prepared, strict=True):
                if isinstance(pair, NoParseError):
                    yield Outcome.failed(job, pair)
                else:
                    yield Outcome.of(job, aligner.align_prepared(pair))

        return handle


def _sentence(text: Text) -> Sentence:
    if isinstance(text, Sentence):
        return text
    return tokenize(text) if isinstance(text, str) else Sentence.from_words(text)


def _checked(links: WordAlignment, source: Parse, target: Parse) -> WordAlignment:
    """Links that a user gave, if they fit the sentences."""
    lengths = (len(source.sentence), len(target.sentence))
    for link in links:
        if not (0 <= link.source < lengths[0] and 0 <= link.target < lengths[1]):
            raise UsageError(
                f"link {link.source}-{link.target} runs past the sentences of {lengths[0]} and {lengths[1]} words"
            )
    return links


def _nltk(tree: Tree) -> Any:
    import nltk

    if tree.word is not None:
        return nltk.Tree(tree.label, [tree.word])
    return nltk.Tree(tree.label, [_nltk(child) for child in tree.children])
