"""The user's own chunks aligned: parsed, linked and judged as all pairs are, then many to many, with type and score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from forestalign.aligner import Aligner
from forestalign.batch.workers import Job
from forestalign.config import AlignConfig
from forestalign.errors import NoParseError
from forestalign.formats.chunk_files import ChunkedPair
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.lexicon.pair_lists import load_phrase_lists
from forestalign.machine import with_one_thread
from forestalign.phrases.chunk_alignment import AlignedChunks, ChunkModel, align_chunks, load_chunk_model
from forestalign.phrases.evidence.phrase_evidence import find_evidence, match_rules, read_forest, rule_evidence
from forestalign.phrases.evidence.span_pairs import SpanContext, SpanLexicon, span_context
from forestalign.phrases.stage import PreparedPair
from forestalign.tokens import Span, tokenize


class ChunkAligner:
    """An aligner with the weights for chunks; made once, for many pairs."""

    def __init__(self, config: AlignConfig, model: ChunkModel | None = None):
        self._model = model
        self._aligner = Aligner(config)
        self._lexicon = SpanLexicon(load_wordnet(), load_vectors(config.vectors))
        self._lists = load_phrase_lists(config.ppdb) if config.ppdb else None

    @property
    def model(self) -> ChunkModel:
        """The weights: the shipped ones, or those it was made with."""
        return self._model or load_chunk_model()

    def align(self, pairs: Sequence[ChunkedPair]) -> Iterator[tuple[AlignedChunks, ...] | NoParseError]:
        """One result per pair, whose sentences are parsed together; what has no parse becomes an error."""
        for pair, context in zip(pairs, self.contexts(pairs), strict=True):
            if isinstance(context, NoParseError):
                yield context
                continue
            source, target = ([range(*span) for span in spans] for spans in (pair.source_chunks, pair.target_chunks))
            yield align_chunks(context, source, target, self.model)

    def contexts(self, pairs: Sequence[ChunkedPair]) -> Iterator[SpanContext | NoParseError]:
        """What the chunks of each pair are judged by."""
        for prepared in self._aligner.prepare([(pair.id, pair.source, pair.target, None) for pair in pairs]):
            yield prepared if isinstance(prepared, NoParseError) else self._context(prepared)

    @with_one_thread
    def _context(self, pair: PreparedPair) -> SpanContext:
        source, target = pair.source.sentence, pair.target.sentence
        evidence = find_evidence(source, target, self._lists)
        readings = read_forest(pair.source), read_forest(pair.target)
        evidence += rule_evidence(match_rules(*readings, pair.words, self._aligner.config.rules))
        return span_context(source, target, pair.words, evidence, self._lexicon)


@dataclass(frozen=True, slots=True)
class LoadChunkAligner:
    """Loads a chunk aligner in a worker process; the payload of its jobs is a `ChunkedPair`."""

    config: AlignConfig

    def __call__(self) -> Callable[[Sequence[Job]], Iterator[tuple[AlignedChunks, ...] | NoParseError]]:
        """The work of the process."""
        aligner = ChunkAligner(self.config, load_chunk_model())
        dogs, chunks = tokenize("Dogs bark."), (Span(0, 1), Span(1, 3))
        # what happens once, such as loading the parser, is not the first pair's time
        list(aligner.align([ChunkedPair(0, "", dogs, dogs, chunks, chunks)]))
        return lambda jobs: aligner.align([job.payload for job in jobs])
