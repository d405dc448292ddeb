"""Every reader against files that somebody made to break it: our own errors, and never another exception.

Files that broke a reader once are kept in tests/data/hostile. The reader of its kind gets each of them, and every
other reader one of each kind.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forestalign.batch.run_journal import RunJournal
from forestalign.errors import ForestAlignError, InputError
from forestalign.evaluation.annotated_pairs import read_annotations
from forestalign.evaluation.annotation_store import AnnotationStore
from forestalign.evaluation.development import read_development
from forestalign.evaluation.sentence_scores import read_sentence_gold
from forestalign.formats.chunk_files import read_chunked, read_ists
from forestalign.formats.codec import read_phrases
from forestalign.formats.conll import read_conll
from forestalign.formats.enju import read_enju
from forestalign.formats.pairs import read_pairs
from forestalign.formats.tree_files import read_forests, read_given, read_nbest, read_trees
from forestalign.formats.word_links import parse_pharaoh, read_gold_links, read_pharaoh
from forestalign.learning.checkpoints import Checkpoint
from forestalign.learning.em import _state_of
from forestalign.learning.train_scores import _state_of as _gold_state_of
from forestalign.lexicon import load_ppdb
from forestalign.lexicon.pair_lists import load_phrase_lists
from forestalign.lexicon.vectors import _load as load_vector_file
from forestalign.mining.pair_counts import CountLines, OccurrenceFilter, line_batches
from forestalign.mining.verdicts import read_verdicts
from forestalign.phrases.chunk_alignment import read_chunk_model
from forestalign.phrases.result.unit_pairs import read_unit_weights
from forestalign.phrases.scoring.model import load_model
from forestalign.phrases.scoring.score_model import load_score_model
from forestalign.phrases.scoring.span_scores import read_span_weights
from forestalign.words.crf.crf_aligner import read_model
from tests.builders.places import DATA

HOSTILE = sorted((DATA / "hostile").iterdir())
FEW, MANY = 40, 2000
Reader = Callable[[Path], object]


def all_of(reader: Callable[[Path], Iterable[object]]) -> Reader:
    return lambda path: list(reader(path))


def saved_annotations(path: Path) -> None:
    """A file that the page is to go on with."""
    with TemporaryDirectory() as folder:
        plain = Path(folder) / "saved.jsonl"
        plain.write_bytes(path.read_bytes())
        try:
            AnnotationStore(plain).close()
        except ForestAlignError as error:
            raise InputError(path, None, str(error)) from error


def no_trees(path: Path) -> NoReturn:
    raise InputError(path, None, "needs trees, which nobody parses here")


count_lines = CountLines(OccurrenceFilter())

READERS: dict[str, Reader] = {
    "pairs": all_of(read_pairs),
    "links": all_of(read_pharaoh),
    "gold links": all_of(read_gold_links),
    "trees": all_of(read_trees),
    "n-best lists": all_of(read_nbest),
    "forests": all_of(read_forests),
    "given parses": all_of(read_given),
    "CoNLL-U": all_of(read_conll),
    "results": all_of(read_phrases),
    "annotations": all_of(read_annotations),
    "phrase models": lambda path: load_model(str(path)),
    "phrase scores": lambda path: load_score_model(str(path)),
    "word pairs": lambda path: load_ppdb(str(path)),
    "phrase lists": lambda path: load_phrase_lists(str(path)),
    "vectors": lambda path: load_vector_file(str(path)),
    "Enju": read_enju,
    "iSTS chunks": all_of(read_ists),
    "chunked pairs": all_of(read_chunked),
    "gold of phrases": lambda path: read_development(path, lambda records: no_trees(path)),
    "lines for counting": lambda path: [count_lines(batch) for batch in line_batches([path])],
    "saved annotations": saved_annotations,
    "sentence scores": read_sentence_gold,
    "chunk models": read_chunk_model,
    "models of span scores": read_span_weights,
    "models of units": read_unit_weights,
    "models of sentence similarity": read_verdicts,
    "CRF models": read_model,
    "checkpoints": lambda path: Checkpoint(path, "key").read(_state_of),
    "checkpoints of gold": lambda path: Checkpoint(path, "key").read(_gold_state_of),
    "journals": lambda path: RunJournal(str(path)),
}
OWN_READERS = {
    "enju": "Enju",
    "ists": "iSTS chunks",
    "links": "links",
    "pair": "pairs",
    "result": "results",
    "torn": "checkpoints",
    "vectors": "vectors",
}
PIECES = [
    "{", "}", "[", "]", "(", ")", '"', ":", ",", "\t", "\n", "\r\n", " ", "|||", "-", "0", "1", "-1", "1e999", "NaN",
    "null", "true", '"id"', '"source"', '"target"', '"tokens"', '"tree"', '"phrases"', '"words"', '"sure"', '"version"',
    "(TOP", "(S", "(NP", "(NN dog)", "()", "0-0", "1-9:0.5", "0-0:nan", "# sent_id = 1\n",
    "1\tdog\tdog\tNOUN\tNN\t_\t0\troot\t_\t_\n", "99999999999 99999999\n", "\ufeff", "\u2028", "\x00", "\u202e", "é",
    "<sentence>", "</sentence>",
    '<sentence id="1" status="">\n// a\n// b\n', '<cons id="c0" cat="NP" head="t0">', "</cons>",
    '<tok id="t0" cat="N">', "</tok>", "&lol;", '<!DOCTYPE s [<!ENTITY lol "lol">]>', "<source>\n1 a : \n</source>\n",
    "<translation>\n1 b : \n</translation>\n", "<alignment>\n", "</alignment>\n", "1 <==> 1 // EQUI // 5 // a <==> b\n",
    "²", "٣", "1\ta dog\n", "1\t0\n", "2 1\n", "0\tNN [0-1]\t0 ||| head=0\n", "1\tNP [0-1]\t1 |||\n", "\t0 ||| 0=-1\n",
    "0\tNN [0-1]\t9999999999\n", "9999999999\n", "a b\tc\n", "[X] ||| a ||| b c ||| ", "dog 0.5 1\n", "1 2\n",
    '{"id": "1", "source": ["a"], "target": ["b"], "sure": [[0, 0]]}', "9" * 5000, "[" * 3000, "(" * 3000,
]  # fmt: skip
contents = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=30).map(lambda pieces: "".join(pieces).encode("utf-8", "replace")),
    st.binary(max_size=300),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
)


def kind_of(path: Path) -> str:
    return path.name.partition("_")[0]


def hostile_pairs() -> list[tuple[str, Path]]:
    """Every reader with one file of each kind, in turn, and the reader of a kind with all of them."""
    kinds: dict[str, list[Path]] = {}
    for path in HOSTILE:
        kinds.setdefault(kind_of(path), []).append(path)
    pairs = {(name, files[k % len(files)]) for k, name in enumerate(READERS) for files in kinds.values()}
    return sorted(pairs | {(OWN_READERS[kind_of(path)], path) for path in HOSTILE if kind_of(path) in OWN_READERS})


def gives_our_error_or_none(reader: Reader, path: Path) -> None:
    """What a reader may do with a file; no warning either."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            reader(path)
        except ForestAlignError as error:
            assert path.name in str(error)  # noqa: PT017


def fuzz(reader: Reader, examples: int) -> None:
    @given(contents, st.booleans())
    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), database=None)
    def check(content: bytes, is_compressed: bool) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / ("file.gz" if is_compressed else "file.txt")
            path.write_bytes(gzip.compress(content) if is_compressed else content)
            gives_our_error_or_none(reader, path)

    check()


@pytest.mark.parametrize("name", READERS)
def test_a_reader_bears_any_file(name: str) -> None:
    fuzz(READERS[name], FEW)


@pytest.mark.heavy
@pytest.mark.parametrize("name", READERS)
def test_a_reader_bears_two_thousand_files(name: str) -> None:
    fuzz(READERS[name], MANY)


@pytest.mark.parametrize(("name", "path"), hostile_pairs(), ids=lambda value: getattr(value, "name", value))
def test_a_reader_bears_what_broke_one_before(name: str, path: Path) -> None:
    gives_our_error_or_none(READERS[name], path)


def test_every_file_that_broke_a_reader_is_still_read() -> None:
    assert {path for _, path in hostile_pairs()} == set(HOSTILE)
    assert set(OWN_READERS) <= {kind_of(path) for path in HOSTILE}


@pytest.mark.parametrize("path", [path for path in HOSTILE if path.name.startswith("vectors")], ids=lambda p: p.name)
def test_vectors_that_cannot_be_are_refused_in_one_line(path: Path) -> None:
    with pytest.raises(ForestAlignError, match=path.name):
        load_vector_file(str(path))


@pytest.mark.parametrize("text", ["0-0:nan", "0-0:inf", "1-1:-inf", "0-0:1e308"])
def test_a_link_has_a_finite_score(text: str) -> None:
    with pytest.raises(ValueError, match="is not a link"):
        parse_pharaoh(text)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((0, 3), "the source has no words"),
        ((1, 3), "the source has 1 word; expected 0$"),
        ((2, 3), "2 words; expected 0 to 1"),
    ],
)
def test_a_link_past_the_sentence_is_told_in_good_english(counts: tuple[int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_pharaoh("5-0", *counts)


@pytest.mark.parametrize("command", ["", "align", "words", "train", "evaluate"])
def test_help_is_told_where_only_ascii_can_be_written(command: str) -> None:
    arguments = [sys.executable, "-m", "forestalign", *command.split(), "--help"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert "usage: forestalign" in done.stdout
