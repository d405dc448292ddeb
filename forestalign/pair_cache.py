"""The training corpus as parsed and linked pairs on disk, so that memory stays flat and no pair is parsed twice.

A file holds one pair and is named by a hash of its words, of the grammar (which holds the parser) and of the settings
that a parse depends on. It is gzipped JSON with a checksum, and nothing that could run: a file that is torn, foreign or
made up is not believed, and the pair is parsed again. Of the encoder's vectors `Sentence.middle` is kept, in 16 bits
(about 40 kB per pair); the last layer has done its work when the words are linked. The folder has a largest size; what
was not used for longest goes first.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from forestalign.aligner import Aligner
from forestalign.batch import Workers, map_ordered
from forestalign.config import AlignConfig
from forestalign.errors import InputError
from forestalign.forest import Forest
from forestalign.formats import PairRecord, format_forest, parse_forest
from forestalign.grammar import grammar_hash
from forestalign.outputs import whole_file
from forestalign.phrases.prepared_pair import PreparedPair
from forestalign.words.alignment import WordAlignment, WordLink
from forestalign.words.packed_vectors import packed, unpacked

FORMAT = 2  # counted up whenever what a file holds changes
CHUNK = 16
STALE = 3600.0  # seconds after which an unfinished file can only be of a run that was killed
LARGEST = 4 << 30  # bytes of a cache folder
PARSE_SETTINGS = (
    "backend", "parser_model", "nbest", "forest", "prune", "temperature", "links", "profile", "ppdb", "vectors",
    "crf_model", "link_threshold",
)  # fmt: skip
_CHECK_BYTES = 4


def cache_folder() -> Path:
    """The user's own folder for what can be made again."""
    return Path(platformdirs.user_cache_dir("forestalign", appauthor=False)) / "pairs"


@dataclass(frozen=True, slots=True)
class PairCache:
    """A folder of cached pairs made with one parser and one set of settings."""

    folder: Path
    config: AlignConfig

    def path(self, record: PairRecord) -> Path:
        """The file of a pair, whether it is there yet or not."""
        settings = {name: getattr(self.config, name) for name in PARSE_SETTINGS}
        content = [FORMAT, record.source.words, record.target.words, settings, grammar_hash()]
        name = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]
        return self.folder / name[:2] / f"{name}.pair"

    def sweep(self, largest: int = LARGEST) -> None:
        """Remove what killed runs left unfinished, and what was not used for longest while the folder is too large."""
        for leftover in self.folder.glob("*/.*.part"):
            with suppress(OSError):  # another run may be sweeping
                if time.time() - leftover.stat().st_mtime > STALE:
                    leftover.unlink()
        files = []
        for path in self.folder.glob("*/*.pair"):
            with suppress(OSError):
                found = path.stat()
                files.append((found.st_mtime, found.st_size, path))
        excess = sum(size for _, size, _ in files) - largest
        for _, size, path in sorted(files):
            if excess <= 0:
                break
            with suppress(OSError):
                path.unlink()
            excess -= size


def write_cached(path: Path, pair: PreparedPair) -> None:
    """Written beside and renamed, so that the file is whole or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    links = [[link.source, link.target, link.score, link.stage] for link in pair.words]
    forests = {"source": format_forest(pair.source), "target": format_forest(pair.target)}
    vectors = [forest.sentence.middle for forest in (pair.source, pair.target)]
    middle = [None if rows is None or not rows.size else packed(rows) for rows in vectors]
    content = {"format": FORMAT, **forests, "words": links, "middle": middle}
    data = json.dumps(content).encode()
    with whole_file(path) as file:
        file.write(zlib.crc32(data).to_bytes(_CHECK_BYTES, "big") + zlib.compress(data, 1))


def read_cached(path: Path) -> PreparedPair:
    """The pair of a file; InputError where it is not there or does not hold one."""
    try:
        raw = path.read_bytes()
        data = zlib.decompress(raw[_CHECK_BYTES:])
        if zlib.crc32(data).to_bytes(_CHECK_BYTES, "big") != raw[:_CHECK_BYTES]:
            raise ValueError("its checksum is wrong")
        content = json.loads(data)
        if content["format"] != FORMAT:
            raise ValueError(f"format {content['format']}; expected {FORMAT}")
        source, target = (
            _with_middle(parse_forest(content[side])[1], text)
            for side, text in zip(("source", "target"), content["middle"], strict=True)
        )
        links = tuple(_link(fields, len(source.sentence), len(target.sentence)) for fields in content["words"])
    except OSError as error:
        message = f"the cache file cannot be read ({error.strerror}); workers on other machines need the same folder"
        raise InputError(path, None, f"{message} on a shared file system: --cache DIR") from error
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise InputError(path, None, f"is no cached pair: {error}") from error
    return PreparedPair(source, target, WordAlignment(links))


def _with_middle(forest: Forest, text: str | None) -> Forest:
    """The forest over its sentence with its vectors."""
    if text is None:
        return forest
    middle = unpacked(text, len(forest.sentence)).astype(np.float32)
    return forest.over(replace(forest.sentence, middle=middle))


def _link(fields: Any, source_count: int, target_count: int) -> WordLink:
    source, target, score, stage = fields
    if not (0 <= source < source_count and 0 <= target < target_count):
        raise ValueError(f"link {source}-{target} runs past the sentences")
    return WordLink(int(source), int(target), float(score), str(stage))


def is_cached(path: Path) -> bool:
    """Whether a file holds a pair; one that does is marked as used."""
    try:
        read_cached(path)
        os.utime(path)
    except (InputError, OSError):
        return False
    return True


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
        missing = [k for k, path in enumerate(paths) if isinstance(path, Path) and not is_cached(path)]
        if missing:
            self.aligner = self.aligner or Aligner(self.cache.config)
            pairs = self.aligner.prepare([(records[k].id, records[k].source, records[k].target, None) for k in missing])
            for k, pair in zip(missing, pairs, strict=True):
                if isinstance(pair, PreparedPair):
                    cached = PreparedPair(_lean(pair.source), _lean(pair.target), pair.words)
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
    """Without the last layer of the encoder, which is most of the bytes and not needed any more."""
    return forest.over(replace(forest.sentence, vectors=None))


def _chunks(records: Iterable[Any], size: int) -> Iterator[list[Any]]:
    iterator = iter(records)
    while chunk := list(islice(iterator, size)):
        yield chunk
