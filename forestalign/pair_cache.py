"""The training corpus as parsed and linked pairs on disk, so that memory stays flat and no pair is parsed twice.

A file holds one pair and is named by a hash of its words, of the grammar (which holds the parser), of the settings that
a parse depends on and of what the files that these name hold. It is packed JSON with a checksum, and nothing that could
run. A file that is torn, that belongs to other words or settings than its name says, or whose values cannot be, is not
believed, and the pair is parsed again. Of the encoder's vectors `Sentence.context_vectors` is kept, in 16 bits
(about 40 kB per pair); the last layer has done its work when the words are linked. The folder has a largest size; what
was not used for longest goes first.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
import platformdirs

from forestalign.aligner import Aligner
from forestalign.batch.workers import Worker, Workers, cut_into_chunks, map_ordered
from forestalign.config import PLACES, AlignConfig
from forestalign.errors import InputError, UsageError
from forestalign.forest import Forest
from forestalign.formats.pairs import PairRecord
from forestalign.formats.tree_files import format_forest, parse_forest
from forestalign.grammar import grammar_hash
from forestalign.inputs import as_record, content_digest, parse_json, read_plain, reading, unpack
from forestalign.outputs import naming
from forestalign.own_files import private_folder, remove_unfinished, replace_file
from forestalign.phrases.stage import PreparedPair
from forestalign.words.alignment import MOST_SCORE, WordAlignment, WordLink
from forestalign.words.word_vectors import packed, unpacked

FORMAT = 4  # counted up whenever what a file holds changes
CHUNK = 16
LARGEST = 4 << 30  # bytes of a cache folder
PARSE_SETTINGS = (
    "backend", "parser_model", "nbest", "temperature", "links", "profile", "ppdb",
    "vectors", "crf_model", "link_threshold", "has_mutual_forests",
)  # fmt: skip
LARGEST_ENTRY = 1 << 26  # bytes, unpacked; two sentences of 300 words have about two million
LONGEST_STAGE = 100  # characters
_CHECK_BYTES = 4
_Score = Annotated[float, msgspec.Meta(ge=0.0, le=MOST_SCORE)]
_NAME_LENGTH = 32


def cache_folder() -> Path:
    """The user's own folder for what can be made again."""
    return Path(platformdirs.user_cache_dir("forestalign", appauthor=False)) / "pairs"


def made_cache(folder: Path) -> Path:
    """The folder, made if need be; UsageError, with the way out, if it cannot be used."""
    try:
        return private_folder(folder)
    except UsageError as error:
        raise UsageError(f"{error}; --cache DIR keeps parsed pairs in another folder") from None


@dataclass(frozen=True)
class PairCache:
    """A folder of cached pairs made with one parser and one set of settings."""

    folder: Path
    config: AlignConfig

    @cached_property
    def settings(self) -> str:
        """A digest of all that a parsed and linked pair depends on besides its words; files count by what they hold."""
        settings = {name: getattr(self.config, name) for name in PARSE_SETTINGS}
        contents = {name: content_digest(settings[name]) for name in PLACES if settings.get(name)}
        return _digest([settings, contents, grammar_hash()])

    def path(self, record: PairRecord) -> Path:
        """The file of a pair, whether it is there yet or not."""
        name = _entry_name(record.source.written_words, record.target.written_words, self.settings)
        return self.folder / name[:2] / f"{name}.pair"

    def write(self, pair: PreparedPair) -> Path:
        """Keep a pair in the file that its words and our settings have."""
        name = _entry_name(pair.source.sentence.written_words, pair.target.sentence.written_words, self.settings)
        path = self.folder / name[:2] / f"{name}.pair"
        _write_entry(path, pair, self.settings)
        return path

    def sweep(self, largest: int = LARGEST) -> None:
        """Remove what killed runs left unfinished, and what was not used for longest while the folder is too large."""
        for folder in self.folder.glob("*"):
            remove_unfinished(folder)
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


def _entry_name(source: Sequence[str], target: Sequence[str], settings: str) -> str:
    return _digest([FORMAT, list(source), list(target), settings])[:_NAME_LENGTH]


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _write_entry(path: Path, pair: PreparedPair, settings: str) -> None:
    """Written beside and renamed, so that the file is whole or not there."""
    made_cache(made_cache(path.parent.parent) / path.parent.name)
    links = [[link.source, link.target, link.score, link.stage] for link in pair.words]
    forests = {"source": format_forest(pair.source), "target": format_forest(pair.target)}
    vectors = [forest.sentence.context_vectors for forest in (pair.source, pair.target)]
    middle = [None if rows is None or not rows.size else packed(rows) for rows in vectors]
    content = {"format": FORMAT, "settings": settings, **forests, "words": links, "middle": middle}
    data = json.dumps(content).encode()
    with naming(path), replace_file(path, 0o600, is_entry=True) as file:
        file.write(zlib.crc32(data).to_bytes(_CHECK_BYTES, "big") + zlib.compress(data, 1))


def read_cached(path: Path) -> PreparedPair:
    """The pair of a file; InputError where it is not there or does not hold the pair of its name."""
    try:
        raw = read_plain(path, LARGEST_ENTRY)
    except OSError as error:
        message = f"the cache file cannot be read ({error.strerror}); workers on other machines need the same folder"
        raise InputError(path, None, f"{message} on a shared file system: --cache DIR") from error
    except ValueError as error:
        raise InputError(path, None, f"is not a cached pair: {error}") from None
    with reading(path, "cached pair"):
        data = unpack(raw[_CHECK_BYTES:], LARGEST_ENTRY)
        if zlib.crc32(data).to_bytes(_CHECK_BYTES, "big") != raw[:_CHECK_BYTES]:
            raise ValueError("its checksum is wrong")
        return _entry_pair(as_record(parse_json(data), _Entry), path.stem)


class _Entry(msgspec.Struct):
    format: int
    settings: str
    source: str
    target: str
    middle: tuple[str | None, str | None]
    words: tuple[tuple[int, int, _Score, Annotated[str, msgspec.Meta(max_length=LONGEST_STAGE)]], ...]


def _entry_pair(entry: _Entry, name: str) -> PreparedPair:
    """The pair of an entry that has this name, each value looked at."""
    if entry.format != FORMAT:
        raise ValueError(f"format is {entry.format}; expected {FORMAT}")
    source, target = (
        _with_middle(parse_forest(text)[1], rows)
        for text, rows in zip((entry.source, entry.target), entry.middle, strict=True)
    )
    words = source.sentence.written_words, target.sentence.written_words
    if _entry_name(*words, entry.settings) != name:
        raise ValueError("it holds another pair, or one of other settings, than its name says")
    links = tuple(WordLink(*fields) for fields in entry.words)
    if any(one >= other for one, other in pairwise(links)):
        raise ValueError("its links are out of order; expected each once, sorted")
    for link in links:
        if not (0 <= link.source < len(words[0]) and 0 <= link.target < len(words[1])):
            raise ValueError(f"link {link.source}-{link.target} runs past the sentences")
    return PreparedPair(source, target, WordAlignment(links))


def _with_middle(forest: Forest, rows: str | None) -> Forest:
    """The forest over its sentence with its vectors."""
    if rows is None:
        return forest
    middle = unpacked(rows, len(forest.sentence)).astype(np.float32)
    return forest.over(replace(forest.sentence, context_vectors=middle))


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
    made_cache(cache.folder)
    cache.sweep()
    chunks = cut_into_chunks(records, CHUNK)
    for done in map_ordered(Worker(partial(_CacheWorker, cache)), chunks, workers):
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
                    self.cache.write(cached)
                else:
                    paths[k] = str(pair)
        return list(zip(records, paths, strict=True))


def _lean(forest: Forest) -> Forest:
    """Without the last layer of the encoder, which is most of the bytes and not needed any more."""
    return forest.over(replace(forest.sentence, vectors=None))
