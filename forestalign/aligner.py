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
>>> print(forestalign.words("He bought a car.", "He purchased a car."))
He = He
bought = purchased
a = a
car = car
. = .
>>> [edit.target_text for edit in forestalign.edits("He bought a car.", "He purchased a car.").of_kind("replaced")]
['purchased']
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, Unpack, overload

from forestalign.batch.run import CHUNK_SIZE, RunLimits, outcomes
from forestalign.batch.workers import Job, Outcome, StartWork
from forestalign.config import DEFAULT_CONFIG, FILES, HAND_SET, PLACES, AlignConfig, Settings, checked_config
from forestalign.errors import ForestAlignError, NoParseError, PairError, UsageError, WrongTypeError, counted, shown
from forestalign.forest import Forest
from forestalign.formats.fields import (
    DocLike,
    TooLongError,
    check_id,
    check_rows,
    checked_links,
    checked_sentence,
)
from forestalign.formats.pairs import BadRecord
from forestalign.formats.tree_files import read_given
from forestalign.grammar import grammar_hash, program_version
from forestalign.inputs import content_digest
from forestalign.machine import give_back, with_one_thread
from forestalign.parsers import Given, Parse, Parser, load_parser
from forestalign.phrases.result.alignment import Alignment
from forestalign.phrases.scoring.model import PhraseModel
from forestalign.phrases.stage import PhraseStage, PreparedPair, Scorer, load_stage
from forestalign.reranking import (
    ParsedPair,
    RerankedPair,
    known_children,
    load_rerank_weights,
    mutual_forests,
    rerank,
)
from forestalign.tokens import Sentence
from forestalign.words.alignment import WordAlignment
from forestalign.words.linking import LinkedPair, WordLinker, parse_failure

if TYPE_CHECKING:
    from forestalign.mining.edits import PairEdits
    from forestalign.mining.verdicts import Similarity

Text = str | Sequence[str] | Sentence | DocLike
Row = tuple[str, Text, Text, WordAlignment | None]  # id, source, target, links where they are given
Context = TypeVar("Context")
SIDES = ("source", "target")
CHART_CELLS = 60_000  # spans of the charts that are held at once, as 48 sentences of 35 words have; 20 MB


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
        self._single_pairs = count()

    def __reduce__(self) -> tuple[Callable[..., Aligner], tuple[AlignConfig, AlignerParts]]:
        """By its settings and what the user brought along; what is loaded is loaded again where it arrives."""
        return _aligner_of, (self.config, self._parts)

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

    def load_reranking(self) -> None:
        """Load now what choosing trees takes, for the same reason."""
        _ = self.parser, self._linker, load_rerank_weights(), known_children()

    def warm_up(self) -> None:
        """Load all parts and align a pair, so that whatever happens once does not fall into the first pair's time."""
        self.load_parts()
        if self._parts.given is None and self._parts.scorer is None:
            self.align("The dogs were barking.", "A dog barked.")

    @cached_property
    def signature(self) -> str:
        """Version, grammar and the settings that differ from the defaults: what a score never travels without.

        A file or folder that a setting names stands there with a digest of what it holds.
        """
        named = {name: getattr(self.config, name) for name in PLACES if getattr(self.config, name)}
        marks = {name: f"@{digest}" for name, place in named.items() if (digest := content_digest(place))}
        changed = "".join(f" {name}={value}{marks.get(name, '')}" for name, value in self.config.differences().items())
        return f"forestalign {program_version()} grammar:{grammar_hash()}{changed}"

    # ---- the public calls ----

    def align(self, source: Text, target: Text, id: str = "", links: WordAlignment | None = None) -> Alignment:
        """Align one pair; strings are tokenized, lists of words and spaCy documents keep their tokens.

        Where a spaCy `Doc` or `Span` came in, the sides of the result's pairs are spans of it. `links` replace our own.
        """
        prepared = self.prepare([_row(source, target, id, links)])[0]
        if isinstance(prepared, NoParseError):
            raise prepared
        return _with_docs(self.align_prepared(prepared), (source, target))

    def rerank(self, source: Text, target: Text, id: str = "", links: WordAlignment | None = None) -> RerankedPair:
        """The tree of each sentence that is best in the light of the other, beside the parser's own.

        >>> import forestalign
        >>> pair = forestalign.load().rerank("He saw the man with the dog.", "The man with the dog was seen by him.")
        >>> pair.source.chosen.log_prob <= pair.source.best.log_prob
        True
        """
        found = self.rerank_many([_row(source, target, id, links)])[0]
        if isinstance(found, NoParseError):
            raise found
        return found

    @overload
    def pipe(
        self,
        pairs: Iterable[tuple[Text, Text]],
        jobs: int = 1,
        batch_size: int = CHUNK_SIZE,
        *,
        errors: Literal["raise", "skip"] = "raise",
        as_tuples: Literal[False] = False,
    ) -> Iterator[Alignment]: ...
    @overload
    def pipe(
        self,
        pairs: Iterable[tuple[Text, Text]],
        jobs: int = 1,
        batch_size: int = CHUNK_SIZE,
        *,
        errors: Literal["yield"],
        as_tuples: Literal[False] = False,
    ) -> Iterator[Alignment | ForestAlignError]: ...
    @overload
    def pipe(
        self,
        pairs: Iterable[tuple[tuple[Text, Text], Context]],
        jobs: int = 1,
        batch_size: int = CHUNK_SIZE,
        *,
        errors: Literal["raise", "skip"] = "raise",
        as_tuples: Literal[True],
    ) -> Iterator[tuple[Alignment, Context]]: ...
    @overload
    def pipe(
        self,
        pairs: Iterable[tuple[tuple[Text, Text], Context]],
        jobs: int = 1,
        batch_size: int = CHUNK_SIZE,
        *,
        errors: Literal["yield"],
        as_tuples: Literal[True],
    ) -> Iterator[tuple[Alignment | ForestAlignError, Context]]: ...
    def pipe(
        self,
        pairs: Iterable[Any],
        jobs: int = 1,
        batch_size: int = CHUNK_SIZE,
        *,
        errors: str = "raise",
        as_tuples: bool = False,
    ) -> Iterator[Any]:
        """Align pairs as they come, in order, over `jobs` processes.

        No more are read than a batch, or a few for each process, ahead of what is taken. A pair that fails raises when
        its turn comes; with errors="skip" it is left out, with errors="yield" its error takes the place of its result.
        With as_tuples=True each pair comes with something of yours, `((source, target), context)`, and so does its
        result: `(result, context)`.
        """
        for name, number in (("jobs", jobs), ("batch_size", batch_size)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise UsageError(f"{name} is {shown(number)}; expected a whole number of at least 1")
        if errors not in ("raise", "skip", "yield"):
            raise UsageError(f"errors is {shown(errors)}; expected 'raise', 'skip' or 'yield'")
        if isinstance(pairs, str | bytes) or not isinstance(pairs, Iterable):
            raise WrongTypeError(f"pairs is {shown(pairs)}; expected pairs of sentences")
        return self._piped(pairs, RunLimits(processes=jobs, chunk_size=batch_size), errors, as_tuples)

    def _piped(self, pairs: Iterable[Any], limits: RunLimits, errors: str, as_tuples: bool) -> Iterator[Any]:
        waiting: deque[tuple[object, object]] = (
            deque()
        )  # the pairs that are read and not yet aligned, and their contexts

        def read() -> Iterator[object]:
            for each in pairs:
                waiting.append(_pair_and_context(each) if as_tuples else (each, None))
                yield waiting[-1][0]

        for outcome in self._outcomes(read(), limits):
            pair, context = waiting.popleft()
            found = (
                PairError(f"pair {outcome.number}: {outcome.error}")
                if outcome.value is None
                else _with_docs(outcome.value, pair)
            )
            if isinstance(found, ForestAlignError) and errors == "raise":
                raise found
            if isinstance(found, Alignment) or errors == "yield":
                yield (found, context) if as_tuples else found

    def _outcomes(self, pairs: Iterable[object], limits: RunLimits) -> Iterator[Outcome[Alignment]]:
        numbered = (self._job(number, pair) for number, pair in enumerate(pairs, start=1))
        start = StartWork(LoadAligner(self.config, self._parts), _alignment_itself)
        return outcomes(numbered, start, limits=limits)

    def _job(self, number: int, pair: object) -> Job | BadRecord:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            return BadRecord(number, str(number), f"{shown(pair)} is not a pair; expected a source and a target")
        try:
            source, target = (self.sentence(side, text) for side, text in zip(SIDES, pair, strict=True))
        except ForestAlignError as error:
            return BadRecord(number, str(number), str(error))
        return Job(number, str(number), PairToAlign(source, target))

    @with_one_thread
    def prepare(self, pairs: Sequence[Row]) -> list[PreparedPair | NoParseError]:
        """Parse and link a batch of pairs (id, source, target, links); what has no parse becomes an error."""
        prepared = [
            pair if isinstance(pair, NoParseError) else PreparedPair(*self._forests(pair), pair.words, pair.id)
            for pair in self._parsed_in_turns(pairs, charts=self.config.has_mutual_forests)
        ]
        if len(pairs) > 1 or next(self._single_pairs) % 8 == 0:  # it takes long for one pair
            give_back()
        return prepared

    def _forests(self, pair: ParsedPair) -> tuple[Forest, Forest]:
        """What is searched for phrases: forests by the parser, or such as the other sentence has a say in."""
        if self.config.has_mutual_forests:
            return mutual_forests(pair, load_rerank_weights())
        return pair.source.forest, pair.target.forest

    def _parsed_in_turns(self, pairs: Sequence[Row], charts: bool = True) -> Iterator[ParsedPair | NoParseError]:
        """As `parse_pairs`; of long sentences only so many at once as their charts have room for."""
        check_rows(pairs)
        for turn in _turns(pairs) if charts else [pairs]:
            yield from self.parse_pairs(turn, charts)

    @with_one_thread
    def parse_pairs(self, pairs: Sequence[Row], charts: bool = True) -> list[ParsedPair | NoParseError]:
        """Parse and link a batch of pairs, with the charts of the parser, which are large."""
        check_rows(pairs)
        sentences = [
            self.sentence(side, text) for _, *texts, _ in pairs for side, text in zip(SIDES, texts, strict=True)
        ]
        parses = self._parse(sentences, charts)
        found: list[ParsedPair | NoParseError] = []
        for (id, _, _, links), source, target in zip(pairs, parses[::2], parses[1::2], strict=True):
            failed = parse_failure(source, target)
            if failed is not None:
                found.append(failed)
                continue
            words = (
                self.link_words(source, target)
                if links is None
                else checked_links(links, len(source.sentence), len(target.sentence))
            )
            found.append(ParsedPair(source, target, words, id))
        return found

    def _parse(self, sentences: Sequence[Sentence], charts: bool) -> list[Parse]:
        """The parser may be the user's own, so what it returns is looked at."""
        parses = self.parser.parse(sentences, charts=True) if charts else self.parser.parse(sentences)
        if not isinstance(parses, list | tuple) or not all(isinstance(parse, Parse) for parse in parses):
            raise WrongTypeError(f"the parser returned {shown(parses)}; expected a list of Parse, one per sentence")
        if len(parses) != len(sentences):
            raise UsageError(
                f"the parser returned {counted(len(parses), 'parse')} for {counted(len(sentences), 'sentence')}"
            )
        return list(parses)

    @with_one_thread
    def rerank_many(self, pairs: Sequence[Row]) -> list[RerankedPair | NoParseError]:
        """The trees of a batch of pairs (id, source, target, links), each chosen with the help of the other."""
        weights = load_rerank_weights()
        found = [
            pair if isinstance(pair, NoParseError) else rerank(pair, weights) for pair in self._parsed_in_turns(pairs)
        ]
        give_back()
        return found

    def sentence(self, side: str, text: object) -> Sentence:
        """What a user gave for a side, checked; `side` is for messages."""
        if not isinstance(text, str | Iterable) or isinstance(text, bytes):
            raise WrongTypeError(
                f"the {side} is {shown(text)}; expected a string, a list of words, a Sentence or a spaCy Doc"
            )
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
        return self.stage.align(pair, self.signature)


def load(config: AlignConfig = DEFAULT_CONFIG, **settings: Unpack[Settings]) -> Aligner:
    """An aligner with the shipped parser, lexicon and model; settings may be given by name.

    >>> import forestalign
    >>> forestalign.load(beam=20, kbest=3).config.beam
    20
    """
    config = checked_config(config).replace(**settings)
    for name in FILES:
        value = getattr(config, name)
        if value and value != HAND_SET and not os.path.isfile(value):
            raise UsageError(f"{name} is {shown(value, limit=300)}; there is no such file")
    return Aligner(config)


def align(source: Text, target: Text) -> Alignment:
    """Align one pair with the default settings; what that takes is loaded by the first call.

    >>> import forestalign
    >>> for pair in forestalign.align("He can't swim.", "He cannot swim.").pairs(multiword=True):
    ...     print(pair.source.text, "=", pair.target.text)
    He can't swim. = He cannot swim.
    can't swim = cannot swim
    can't = cannot
    """
    return default_aligner().align(source, target)


def _turns(pairs: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """The pairs in turns whose charts have at most CHART_CELLS spans in all, or in turns of one pair."""
    begin, cells = 0, 0
    for number, (_, source, target, _) in enumerate(pairs):
        own = sum(_length(text) ** 2 for text in (source, target))
        if number > begin and cells + own > CHART_CELLS:
            yield pairs[begin:number]
            begin, cells = number, 0
        cells += own
    if begin < len(pairs):
        yield pairs[begin:]


def _length(text: object) -> int:
    """About how many words there are; what is no text is refused later."""
    return len(text.split() if isinstance(text, str) else text) if isinstance(text, Sized) else 0


def _row(source: Text, target: Text, id: str, links: WordAlignment | None) -> Row:
    """One pair as a batch has it."""
    check_id(id)
    if links is not None and not isinstance(links, WordAlignment):
        raise UsageError(f"links is {shown(links)}; expected a WordAlignment")
    return id, source, target, links


def _pair_and_context(each: object) -> tuple[object, object]:
    if not isinstance(each, tuple | list) or len(each) != 2:
        raise UsageError(f"{shown(each)} has no context; expected ((source, target), context), as as_tuples=True asks")
    return each[0], each[1]


def _with_docs(result: Alignment, pair: Any) -> Alignment:
    """The result with the spaCy documents that it was made of, whose spans its pairs have."""
    source, target = (side if hasattr(side, "char_span") else None for side in pair)
    return result if source is None and target is None else replace(result, docs=(source, target))


def _aligner_of(config: AlignConfig, parts: AlignerParts) -> Aligner:
    return Aligner(config, given=parts.given, model=parts.model, parser=parts.parser, scorer=parts.scorer)


@cache
def default_aligner() -> Aligner:
    """The aligner of `forestalign.align`, loaded when it is first asked for."""
    return load()


# ---- one pair, or two columns, by the default settings ----


def edits(source: Text, target: Text) -> PairEdits:
    """How the target differs from the source: kept, replaced, moved, removed, added and so on."""
    return align(source, target).edits()


def similarity(source: Text, target: Text) -> Similarity:
    """Whether two sentences mean the same, the probability that they do, a score from 0 to 5, and the reasons."""
    return align(source, target).similarity()


def align_frame(frame: Any, source: str, target: str, jobs: int = 1, errors: Literal["raise", "skip"] = "raise") -> Any:
    """Two columns of a pandas DataFrame aligned: a row for each pair of phrases, under the label of its sentences' row.

    So `frame.join(forestalign.align_frame(frame, "a", "b"))` has the phrases beside the sentences.
    """
    for name in (source, target):
        if name not in getattr(frame, "columns", ()):
            raise UsageError(f"the frame has no column {shown(name)}; expected two of its columns with sentences")
    concat = import_module("pandas").concat  # whoever has a frame has it
    rows = zip(zip(frame[source], frame[target], strict=True), frame.index, strict=True)
    parts = [frame.iloc[:0][[]]]
    for result, label in default_aligner().pipe(rows, jobs, errors=errors, as_tuples=True):
        part = result.to_dataframe().drop(columns="id")
        part.insert(0, "verdict", result.verdict)
        part.insert(1, "probability", result.probability)
        part.index = frame.index[:0].insert(0, label).repeat(len(part))
        parts.append(part)
    return concat(parts)


@with_one_thread
def words(source: Text, target: Text) -> LinkedPair:
    """The word links of two sentences, without phrases."""
    aligner = default_aligner()
    first, second = aligner.parser.parse([aligner.sentence("source", source), aligner.sentence("target", target)])
    failed = parse_failure(first, second)
    if failed is not None:
        raise failed
    return LinkedPair(first.sentence, second.sentence, _linker().link(first, second))


@cache
def _linker() -> WordLinker:
    return WordLinker(default_aligner().config)


@dataclass(frozen=True, slots=True)
class LoadAligner:
    """Loads an aligner in a worker process; the payload of its jobs is a `PairToAlign`."""

    config: AlignConfig
    parts: AlignerParts = AlignerParts()

    def __call__(self) -> Callable[[Sequence[Job]], Iterator[Alignment | NoParseError]]:
        """The work of the process: aligns a chunk, whose sentences are parsed together."""
        aligner = self.load()
        aligner.warm_up()

        def align(jobs: Sequence[Job]) -> Iterator[Alignment | NoParseError]:
            for pair in aligner.prepare([(job.key, *job.payload) for job in jobs]):
                yield pair if isinstance(pair, NoParseError) else aligner.align_prepared(pair)

        return align

    def load(self) -> Aligner:
        """The aligner with its models, in the process that calls this."""
        parts = self.parts
        given = read_given(parts.given_file) if parts.given_file else parts.given
        return Aligner(self.config, given=given, model=parts.model, parser=parts.parser, scorer=parts.scorer)


@dataclass(frozen=True, slots=True)
class LoadReranker:
    """Loads in a worker process what chooses trees; the payload of its jobs is a `PairToAlign`."""

    config: AlignConfig
    parts: AlignerParts = AlignerParts()

    def __call__(self) -> Callable[[Sequence[Job]], list[RerankedPair | NoParseError]]:
        """The work of the process: reranks a chunk, whose sentences are parsed together."""
        aligner = LoadAligner(self.config, self.parts).load()
        aligner.load_reranking()

        def work(jobs: Sequence[Job]) -> list[RerankedPair | NoParseError]:
            return aligner.rerank_many([(job.key, *job.payload) for job in jobs])

        return work


def _alignment_itself(job: Job, alignment: Alignment) -> Alignment:
    return alignment
