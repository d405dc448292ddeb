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

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from importlib.metadata import version
from typing import Any, Literal, NamedTuple, overload

from forestalign.batch import Job, RunLimits, StartWork, outcomes
from forestalign.blas import with_one_thread
from forestalign.config import DEFAULT_CONFIG, HAND_SET, OLD_HAND_SET, AlignConfig, checked_config
from forestalign.errors import AnnotationError, ForestAlignError, NoParseError, UsageError, counted, shown
from forestalign.formats import BadRecord, PhraseRecord, format_pharaoh, from_json, record_of, to_json
from forestalign.formats.door import TooLongError, check_id, check_rows, checked_links, checked_sentence, shorten_any
from forestalign.formats.given_parses import read_given
from forestalign.formats.phrase_rows import COLUMNS, to_tsv
from forestalign.formats.reranked import Reranked, reranked
from forestalign.formats.reread import aligned_of
from forestalign.grammar import grammar_hash
from forestalign.heap import give_back
from forestalign.mining.edits import PairEdits, edits_of
from forestalign.mining.sentence_similarity import Similarity, load_similarity
from forestalign.parsers import Given, Parse, Parser, load_parser
from forestalign.phrases.model import PhraseModel
from forestalign.phrases.prepared_pair import PreparedPair
from forestalign.phrases.result import AlignedPair, PhrasePair, chosen_tree
from forestalign.phrases.stage import PhraseStage, Scorer, load_stage
from forestalign.tokens import Sentence
from forestalign.trees import Tree
from forestalign.view.text import render_text
from forestalign.words import CANDIDATE
from forestalign.words.alignment import WordAlignment
from forestalign.words.linking import WordLinker, parse_failure

Text = str | Sequence[str] | Sentence
SIDES = ("source", "target")
FILES = ("model", "scores", "ppdb", "vectors", "crf_model")  # settings that name one


class Alignment(AlignedPair):
    """An aligned pair that prints, shows itself in a notebook, and converts to what other programs read."""

    __slots__ = ()

    def __str__(self) -> str:
        return render_text(self.record())

    def __repr__(self) -> str:
        """One line, since forests and trees would fill pages; `print` shows the phrases."""
        return (
            f"<Alignment of {self.source.text!r} and {self.target.text!r}: "
            f"{counted(len(self.phrases.pairs), 'phrase pair')}, log score {self.phrases.log_score:.2f}>"
        )

    def __iter__(self) -> Iterator[PhrasePair]:
        """The pairs of constituents, each after those that support it."""
        return iter(self.pairs())

    def pairs(self, min_posterior: float = 0.0, multiword: bool = False, bars: bool = False) -> tuple[PhrasePair, ...]:
        """Phrase pairs, each after those that support it.

        `min_posterior` is the least share of the beam's mass, `multiword` asks for several words on both sides, and
        `bars` adds phrases that exist in the binarised trees alone.
        """
        if not isinstance(min_posterior, int | float) or not min_posterior >= 0.0:
            raise UsageError(f"min_posterior is {shown(min_posterior)}; expected a number of at least 0")
        return tuple(
            pair
            for pair in self.phrases.pairs
            if (bars or not pair.is_bar)
            and (pair.is_multiword or not multiword)
            and (min_posterior <= 0.0 or (pair.posterior or 0.0) >= min_posterior)
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

    def edits(self, id: str = "") -> PairEdits:
        """How the target differs from the source: kept, replaced, moved, deleted, inserted and so on."""
        check_id(id)
        record = self.record()
        return edits_of(replace(record, id=id) if id else record)

    @classmethod
    def from_json(cls, line: str) -> Alignment:
        """The result that such a line was made of; its forests hold the trees of the line alone."""
        if not isinstance(line, str):
            raise UsageError(f"line is {shown(line)}; expected a string of JSON")
        try:
            found = aligned_of(from_json(line))
        except ValueError as error:
            raise AnnotationError("phrase record", None, str(error)) from error
        return cls(**{each.name: getattr(found, each.name) for each in fields(found)})

    def to_tsv(self, header: bool = False) -> str:
        """A row per phrase pair and per null phrase, as `forestalign align --tsv` prints them."""
        table = to_tsv(self.record())
        return "\n".join(["\t".join(COLUMNS), table]) if header else table

    def similarity(self) -> Similarity:
        """How similar the sentences are, from 0 to 5, the probability of a paraphrase, and the reasons in words."""
        return load_similarity().judge(self.record(), self.source, self.target)

    def to_pharaoh(self) -> str:
        """The word links as `i-j i-j ...`."""
        return format_pharaoh(self.words)

    def reranked(self) -> tuple[Reranked, Reranked]:
        """The parser's 1-best tree and the chosen one, of the source and of the target."""
        return reranked(self)

    def to_nltk(self) -> tuple[Any, Any]:
        """The two chosen trees as NLTK trees."""
        return _nltk(self.source_tree), _nltk(self.target_tree)


class PairToAlign(NamedTuple):
    """A pair as a user gives it; `links` replace our own."""

    source: Text
    target: Text
    links: WordAlignment | None = None


@dataclass(frozen=True, slots=True)
class AlignerParts:
    """What a user brings along instead of what the settings name."""

    given: tuple[Given, ...] | None = None
    model: PhraseModel | None = None
    parser: Parser | None = None
    scorer: Scorer | None = None
    given_file: str = ""  # of parses that each process reads by itself


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
        self.config = checked_config(config)
        if given is not None and (isinstance(given, str | bytes) or not isinstance(given, Iterable)):
            raise UsageError(f"given is {shown(given)}; expected parses")
        self._parts = AlignerParts(tuple(given) if given is not None else None, model, parser, scorer)

    # ---- what is loaded, when it is first needed ----

    @cached_property
    def parser(self) -> Parser:
        """The parser of the settings, or the user's own."""
        return self._parts.parser or load_parser(self.config, self._parts.given)

    @cached_property
    def stage(self) -> PhraseStage:
        """What finds the phrases of a parsed and linked pair."""
        return load_stage(self.config, self._parts.model, self._parts.scorer)

    @property
    def model(self) -> PhraseModel:
        """The phrase model of the settings, or the user's own."""
        return self.stage.model

    @cached_property
    def _linker(self) -> WordLinker:
        return WordLinker(self.config, candidates=True)

    def load_parts(self) -> None:
        """Load now what the settings ask for, so that a file that cannot be read is one error and not one per pair."""
        _ = self.parser, self._linker, self.stage

    def warm_up(self) -> None:
        """Load all parts and align a pair, so that whatever happens once does not fall into the first pair's time."""
        self.load_parts()
        if self._parts.given is None and self._parts.scorer is None:
            self.align("The dogs were barking.", "A dog barked.")

    @cached_property
    def signature(self) -> str:
        """Version, grammar and the settings that differ from the defaults: what a score never travels without."""
        changed = "".join(f" {name}={value}" for name, value in self.config.differences().items())
        return f"forestalign {version('forestalign')} grammar:{grammar_hash()}{changed}"

    # ---- the public calls ----

    def align(self, source: Text, target: Text, id: str = "", links: WordAlignment | None = None) -> Alignment:
        """Align one pair; strings are tokenized, lists of words are kept as they are, `links` replace our own."""
        check_id(id)
        if links is not None and not isinstance(links, WordAlignment):
            raise UsageError(f"links is {shorten_any(links)}; expected a WordAlignment")
        prepared = self.prepare([(id, source, target, links)])[0]
        if isinstance(prepared, NoParseError):
            raise prepared
        return self.align_prepared(prepared)

    @overload
    def align_many(
        self, pairs: Iterable[tuple[Text, Text]], jobs: int = 1, errors: Literal["raise"] = "raise"
    ) -> Iterator[Alignment]: ...
    @overload
    def align_many(
        self, pairs: Iterable[tuple[Text, Text]], jobs: int = 1, *, errors: Literal["yield"]
    ) -> Iterator[Alignment | ForestAlignError]: ...
    def align_many(
        self, pairs: Iterable[tuple[Text, Text]], jobs: int = 1, errors: str = "raise"
    ) -> Iterator[Alignment] | Iterator[Alignment | ForestAlignError]:
        """Align pairs in order, over `jobs` processes.

        A pair that fails raises when its turn comes; with errors="yield" its error takes the place of its result.
        """
        if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
            raise UsageError(f"jobs is {jobs!r}; expected a whole number of at least 1")
        if errors not in ("raise", "yield"):
            raise UsageError(f"errors is {errors!r}; expected 'raise' or 'yield'")
        if isinstance(pairs, str | bytes) or not isinstance(pairs, Iterable):
            raise UsageError(f"pairs is {shorten_any(pairs)}; expected pairs of sentences")
        return self._align_many(pairs, jobs, errors)

    def _align_many(self, pairs: Iterable[object], jobs: int, errors: str) -> Iterator[Any]:
        numbered = (self._job(number, pair) for number, pair in enumerate(pairs, start=1))
        start = StartWork(LoadAligner(self.config, self._parts), _alignment_itself)
        for outcome in outcomes(numbered, start, limits=RunLimits(processes=jobs)):
            if outcome.value is not None:
                yield outcome.value
                continue
            error = ForestAlignError(f"pair {outcome.number}: {outcome.error}")
            if errors == "raise":
                raise error
            yield error

    def _job(self, number: int, pair: object) -> Job | BadRecord:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            return BadRecord(number, str(number), f"{shorten_any(pair)} is no pair; expected a source and a target")
        try:
            source, target = (self._sentence(side, text) for side, text in zip(SIDES, pair, strict=True))
        except ForestAlignError as error:
            return BadRecord(number, str(number), str(error))
        return Job(number, str(number), PairToAlign(source, target))

    @with_one_thread
    def prepare(
        self, pairs: Sequence[tuple[str, Text, Text, WordAlignment | None]]
    ) -> list[PreparedPair | NoParseError]:
        """Parse and link a batch of pairs (id, source, target, links); what has no parse becomes an error."""
        check_rows(pairs)
        sentences = [
            self._sentence(side, text) for _, *texts, _ in pairs for side, text in zip(SIDES, texts, strict=True)
        ]
        parses = self.parser.parse(sentences)
        prepared: list[PreparedPair | NoParseError] = []
        for (id, _, _, links), source, target in zip(pairs, parses[::2], parses[1::2], strict=True):
            failed = parse_failure(source, target)
            if failed is not None:
                prepared.append(failed)
                continue
            words = (
                self.link_words(source, target)
                if links is None
                else checked_links(links, len(source.sentence), len(target.sentence))
            )
            prepared.append(PreparedPair(source.forest, target.forest, words, id))
        give_back()
        return prepared

    def _sentence(self, side: str, text: object) -> Sentence:
        try:
            return checked_sentence(side, text, self.config.max_words)
        except TooLongError as error:
            raise NoParseError(str(error)) from None
        except ValueError as error:
            raise UsageError(str(error)) from None

    @with_one_thread
    def link_words(self, source: Parse, target: Parse) -> WordAlignment:
        """W: the word links that the phrases grow from, unlikely ones included."""
        return self._linker.link(source, target)

    @with_one_thread
    def align_prepared(self, pair: PreparedPair) -> Alignment:
        """The phrases of a parsed and linked pair."""
        source, target = self.stage.forests(pair.source, pair.target)
        best, *others = self.stage.align(source, target, pair.words)
        return Alignment(
            id=pair.id,
            source=source.sentence,
            target=target.sentence,
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
    config = checked_config(config).with_(**settings)
    for name in FILES:
        value = getattr(config, name)
        if value and value not in (HAND_SET, OLD_HAND_SET) and not os.path.isfile(value):
            raise UsageError(f"{name} is {shown(value, limit=300)}; there is no such file")
    return Aligner(config)


def align(source: Text, target: Text) -> Alignment:
    """Align one pair with the default settings; what that takes is loaded by the first call.

    >>> import forestalign
    >>> for pair in forestalign.align("He can't swim.", "He cannot swim.").pairs(multiword=True):
    ...     print(pair.source_text, "=", pair.target_text)
    can't swim = cannot swim
    He can't swim. = He cannot swim.
    """
    return _default_aligner().align(source, target)


@cache
def _default_aligner() -> Aligner:
    return load()


@dataclass(frozen=True, slots=True)
class LoadAligner:
    """Loads an aligner in a worker process; the payload of its jobs is a `PairToAlign`."""

    config: AlignConfig
    parts: AlignerParts = AlignerParts()

    def __call__(self) -> Callable[[Sequence[Job]], Iterator[Alignment | NoParseError]]:
        """The work of the process: aligns a chunk, whose sentences are parsed together."""
        parts = self.parts
        given = read_given(parts.given_file) if parts.given_file else parts.given
        aligner = Aligner(self.config, given=given, model=parts.model, parser=parts.parser, scorer=parts.scorer)
        aligner.warm_up()

        def align(jobs: Sequence[Job]) -> Iterator[Alignment | NoParseError]:
            for pair in aligner.prepare([(job.key, *job.payload) for job in jobs]):
                yield pair if isinstance(pair, NoParseError) else aligner.align_prepared(pair)

        return align


def _alignment_itself(job: Job, alignment: Alignment) -> Alignment:
    return alignment


def _nltk(tree: Tree) -> Any:
    import nltk

    if tree.word is not None:
        return nltk.Tree(tree.label, [tree.word])
    return nltk.Tree(tree.label, [_nltk(child) for child in tree.children])
