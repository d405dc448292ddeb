"""The training corpus as parsed and linked pairs on disk, so that memory stays flat and no pair is parsed twice.

A file holds one pair and is named by a hash of its words, of the grammar (which holds the parser) and of the settings
that a parse depends on. It is written beside and renamed, so a killed run leaves no half-written file behind.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from forestalign.aligner import Aligner, PreparedPair
from forestalign.alignment import WordAlignment
from forestalign.batch import Workers, map_ordered
from forestalign.config import AlignConfig
from forestalign.forest import Forest
from forestalign.formats import PairRecord
from forestalign.grammar import grammar_hash

CHUNK = 16
STALE = 3600.0  # seconds after which an unfinished file can only be of a run that was killed
PARSE_SETTINGS = (
    "backend", "parser_model", "nbest", "forest", "prune", "temperature", "seed", "profile", "ppdb", "vectors",
    "crf_model", "link_threshold",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CachedPair:
    """What the E step needs of a pair."""

    source: Forest
    target: Forest
    words: WordAlignment


@dataclass(frozen=True, slots=True)
class PairCache:
    """A folder of cached pairs made with one parser and one set of settings."""

    folder: Path
    config: AlignConfig

    def path(self, record: PairRecord) -> Path:
        settings = {name: getattr(self.config, name) for name in PARSE_SETTINGS}
        content = [record.source.words, record.target.words, settings, grammar_hash()]
        name = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]
        return self.folder / name[:2] / f"{name}.pair"

    def sweep(self) -> None:
        """Remove what killed runs left unfinished; a run that is going on may have such files of its own."""
        for leftover in self.folder.glob("*/*.part"):
            if time.time() - leftover.stat().st_mtime > STALE:
                leftover.unlink(missing_ok=True)


def write_cached(path: Path, pair: CachedPair) -> None:
    """Written beside and renamed, so that the file is whole or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # the process number: two processes may come to the same pair
    temporary = path.with_suffix(f".{os.getpid()}.part")
    temporary.write_bytes(zlib.compress(pickle.dumps(pair, protocol=5), 1))
    temporary.replace(path)


def read_cached(path: Path) -> CachedPair:
    pair = pickle.loads(zlib.decompress(path.read_bytes()))
    assert isinstance(pair, CachedPair), path
    return pair


def cache_corpus(
    records: Iterable[PairRecord], cache: PairCache, workers: Workers | None = None
) -> Iterator[tuple[PairRecord, Path | str]]:
    """Each pair with its file, in order, parsed where it is not there yet; a string says why it cannot be parsed."""
    cache.sweep()
    chunks = _chunks(records, CHUNK)
    for done in map_ordered(_CacheWorker(cache), chunks, workers):
        yield from done


@dataclass(slots=True)
class _CacheWorker:
    """Parses the chunks of one process; the aligner is loaded with the first one that needs it."""

    cache: PairCache
    aligner: Aligner | None = None

    def __call__(self, records: Sequence[PairRecord]) -> list[tuple[PairRecord, Path | str]]:
        paths: list[Path | str] = [self.cache.path(record) for record in records]
        missing = [k for k, path in enumerate(paths) if isinstance(path, Path) and not path.exists()]
        if missing:
            self.aligner = self.aligner or Aligner(self.cache.config)
            pairs = self.aligner.prepare([(records[k].id, records[k].source, records[k].target, None) for k in missing])
            for k, pair in zip(missing, pairs, strict=True):
                if isinstance(pair, PreparedPair):
                    cached = CachedPair(_lean(pair.source.forest), _lean(pair.target.forest), pair.words)
                    write_cached(self.cache.path(records[k]), cached)
                else:
                    paths[k] = str(pair)
        return list(zip(records, paths, strict=True))

    def __getstate__(self) -> tuple[PairCache]:
        return (self.cache,)

    def __setstate__(self, state: tuple[PairCache]) -> None:
        (self.cache,) = state
        self.aligner = None


def _lean(forest: Forest) -> Forest:
    """Without contextual vectors, which are most of the bytes and not needed any more."""
    return replace(forest, sentence=replace(forest.sentence, vectors=None))


def _chunks(records: Iterable[Any], size: int) -> Iterator[list[Any]]:
    iterator = iter(records)
    while chunk := list(islice(iterator, size)):
        yield chunk
