"""Files that somebody else may have made are read up to a bound, and what they hold is looked at in one place."""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forestalign import inputs
from forestalign.errors import ForestAlignError, GrammarError, InputError
from forestalign.grammar import grammar_root
from forestalign.lexicon import load_phrase_lists, load_ppdb, load_vectors
from forestalign.mining.verdicts import read_verdicts
from forestalign.phrases.chunk_alignment import read_chunk_model
from forestalign.phrases.result.unit_pairs import read_unit_weights
from forestalign.phrases.scoring.model import load_model
from forestalign.phrases.scoring.score_model import load_score_model
from forestalign.phrases.scoring.span_scores import read_span_weights
from forestalign.words.crf.crf_aligner import read_model
from forestalign.words.word_vectors import read_metric
from tests.builders.commands import runner

BEYOND = 10**400  # JSON can say it, and no float can hold it
ZERO = "/dev/zero"
Loader = Callable[[str], object]
ARRAYS = ("similarity", "span scores", "unit scores", "word metric")  # which numpy packs
LOADERS: dict[str, Loader] = {
    "phrase model": load_model,
    "phrase scores": load_score_model,
    "CRF model": read_model,
    "word pairs": load_ppdb,
    "phrase lists": load_phrase_lists,
    "vectors": load_vectors,
    "chunk model": lambda path: read_chunk_model(Path(path)),
    "span scores": lambda path: read_span_weights(Path(path)),
    "unit scores": lambda path: read_unit_weights(Path(path)),
    "similarity": lambda path: read_verdicts(Path(path)),
    "word metric": lambda path: read_metric(Path(path)),
}


def shipped(name: str) -> Any:
    data = (grammar_root() / name).read_bytes()
    return json.loads(gzip.decompress(data) if name.endswith(".gz") else data)


def written(path: Path, content: Any) -> str:
    path.write_text(json.dumps(content))
    return str(path)


# ---- bounds ----


@pytest.mark.parametrize("name", LOADERS)
def test_a_device_without_an_end_is_left_at_a_bound(name: str) -> None:
    with pytest.raises(InputError, match=f"^{ZERO}:"):
        LOADERS[name](ZERO)


@pytest.mark.parametrize("name", [name for name in LOADERS if name not in ARRAYS])
def test_a_bomb_of_gzip_is_left_at_a_bound(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, unpack = [], inputs._unpack_gzip

    def counted(*arguments: Any) -> Iterator[bytes]:
        for block in unpack(*arguments):
            sizes.append(len(block))
            yield block

    monkeypatch.setattr(inputs, "_unpack_gzip", counted)
    path = tmp_path / "bomb.txt.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"1 1\nword 0.5\n" if name == "vectors" else b"a\tb\n")
        for _ in range(160):
            file.write(b"0" * (1 << 20))
    with pytest.raises(InputError, match=r"bomb.*(the limit|expected lines of text)"):
        LOADERS[name](str(path))
    assert 0 < sum(sizes) <= inputs.LARGEST + (1 << 20)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--set", f"scores={ZERO}"],
        ["--ppdb", ZERO],
        ["--links", "crf", "--set", f"crf_model={ZERO}"],
        ["--model", ZERO],
        ["--vectors", ZERO],
    ],
    ids=" ".join,
)
def test_a_command_that_is_given_a_device_ends_with_one_line(
    arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    answer = runner(capfd)("align", "He left.", "He went.", "-q", *arguments)
    assert answer.code == 1
    assert ZERO in answer.err
    assert "Traceback" not in answer.err
    assert len(answer.err.splitlines()) == 1


def test_so_do_model_show_and_crf_train(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"id": "1", "source": ["a"], "target": ["a"], "sure": [[0, 0]], "possible": []}\n')
    train = ["crf", "train", str(gold), "-o", str(tmp_path / "m.json"), "--no-parser", "--start", ZERO]
    for arguments in (["model", "show", ZERO], train):
        answer = runner(capfd)(*arguments)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.count("\n") == 1
        assert f"{ZERO}:" in answer.err


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="not a regular file"):
        inputs.read_plain(tmp_path / "pipe")


def test_members_of_gzip_follow_each_other_and_a_torn_one_is_told(tmp_path: Path) -> None:
    path, content = tmp_path / "x.gz", os.urandom(200_000)
    data = gzip.compress(content) + b"\0" * 7 + gzip.compress(b"end")
    path.write_bytes(data)
    assert inputs.read_whole(path) == content + b"end"
    for cut in (3, 1000, len(data) - 2):
        path.write_bytes(data[:cut])
        with pytest.raises((EOFError, inputs.zlib.error)):
            inputs.read_whole(path)


def test_lines_are_those_of_the_file_however_blocks_fall(tmp_path: Path) -> None:
    lines = [b"x" * (k * 37 % 5000) for k in range(300)]
    (tmp_path / "plain").write_bytes(b"\n".join(lines))
    (tmp_path / "packed").write_bytes(gzip.compress(b"\n".join(lines) + b"\n"))
    for name in ("plain", "packed"):
        assert list(inputs.read_lines(tmp_path / name)) == list(enumerate(lines, start=1))


# ---- numbers that are none ----


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, BEYOND, -BEYOND, "1", None, True, [1.0]])
@pytest.mark.parametrize("place", ["weight", "threshold"])
def test_a_crf_model_has_finite_numbers(tmp_path: Path, value: object, place: str) -> None:
    content = shipped("crf/token.json")
    if place == "weight":
        content["weights"]["s2t"][next(iter(content["weights"]["s2t"]))] = value
    else:
        content["threshold"] = value
    with pytest.raises(InputError, match=r"m\.json: is not a CRF model"):
        read_model(written(tmp_path / "m.json", content))


@pytest.mark.parametrize(
    "change",
    [
        {"card": 5},
        {"card": [["a", 1]]},
        {"weights": [1.0]},
        {"calibration": 5},
        {"calibration": [[0.0, 0.1], [1.0]]},
        {"calibration": [[0.0, 0.1], [1.0, BEYOND]]},
        {"calibration": [[0.0, 0.1], [1.0, 1.5]]},
        {"calibration": [[k / 1e6, 0.5] for k in range(5000)]},
    ],
    ids=str,
)
def test_phrase_scores_are_what_they_have_to_be(tmp_path: Path, change: dict[str, object]) -> None:
    path = written(tmp_path / "s.json", shipped("phrase_scores.json") | change)
    with pytest.raises(GrammarError, match=r"s\.json: is not a file of phrase scores"):
        load_score_model(path)


@pytest.mark.parametrize("value", [math.nan, BEYOND, "1", None])
def test_a_weight_of_the_phrase_scores_is_a_finite_number(tmp_path: Path, value: object) -> None:
    content = shipped("phrase_scores.json")
    content["weights"]["pair: log pr"] = value
    with pytest.raises(GrammarError, match=r"s\.json: is not a file of phrase scores"):
        load_score_model(written(tmp_path / "s.json", content))


def test_scores_whose_card_is_none_are_told_by_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "s.json", shipped("phrase_scores.json") | {"card": 5})
    answer = runner(capfd)("model", "show", path)
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    assert "card is 5; expected `object`" in answer.err


@pytest.mark.parametrize("change", [{"card": 5}, {"extras": [5]}, {"lexical": "yes"}, {"embedding_threshold": BEYOND}])
def test_a_phrase_model_is_what_it_has_to_be(tmp_path: Path, change: dict[str, object]) -> None:
    path = written(tmp_path / "m.json", shipped("phrase_model.json.gz") | change)
    with pytest.raises(GrammarError, match=r"m\.json: is not a phrase model"):
        load_model(path)


@pytest.mark.parametrize("value", [math.nan, BEYOND, True])
@pytest.mark.parametrize("name", ["chunk_model"])
def test_weights_of_chunks_and_of_phrases_are_finite(tmp_path: Path, name: str, value: object) -> None:
    content = shipped(f"{name}.json")
    content["pair"]["bias"] = value
    with pytest.raises(GrammarError, match=rf"{name}\.json: is not a file of weights"):
        LOADERS[name.replace("_", " ")](written(tmp_path / f"{name}.json", content))


# ---- arrays ----


def archive(path: Path, header: bytes, data: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("projection.npy", header + data)
    return path


def header(shape: tuple[int, ...], kind: str) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": shape})
    return file.getvalue()


@pytest.mark.parametrize(
    ("shape", "kind", "data"),
    [
        ((1 << 40,), "<f8", b"\0" * 80),
        ((1 << 40, 1 << 40), "<f8", b""),
        ((10,), "|O", b"\0" * 80),
        ((10,), "<f8", b"\0" * 79),
        ((2,), "<f8", np.array([1.0, np.nan]).tobytes()),
        ((2,), "<f2", np.array([1.0, np.inf], np.float16).tobytes()),
    ],
    ids=["long", "wide", "objects", "torn", "nan", "infinite"],
)
def test_an_array_that_cannot_be_is_refused(tmp_path: Path, shape: tuple[int, ...], kind: str, data: bytes) -> None:
    with pytest.raises(ValueError, match="array projection"):
        inputs.read_arrays(archive(tmp_path / "a.npz", header(shape, kind), data))


def test_arrays_come_back_as_numpy_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    rows = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    np.savez_compressed(path, rows=rows, name=np.array("x"), count=np.array(3), empty=np.zeros((0, 4)))
    found = inputs.read_arrays(path)
    with np.load(path) as expected:
        assert sorted(found) == sorted(expected.files)
        for name in found:
            assert np.array_equal(found[name], expected[name])
            assert found[name].dtype == expected[name].dtype


# ---- contents ----


def test_a_list_that_changes_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("car\tautomobile\n")
    assert ("car", "automobile") in load_ppdb(str(path))
    path.write_text("dog\thound\n")
    assert ("car", "automobile") not in load_ppdb(str(path))
    assert ("hound", "dog") in load_ppdb(str(path))


def test_a_digest_is_that_of_the_contents(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep" / "file").write_text("x")
    same = inputs.content_digest(tmp_path / "a")
    assert same == inputs.content_digest(tmp_path / "b") != ""
    (tmp_path / "b" / "deep" / "file").write_text("y")
    assert inputs.content_digest(tmp_path / "b") != same
    (tmp_path / "a" / "deep" / "file").rename(tmp_path / "a" / "deep" / "other")
    assert inputs.content_digest(tmp_path / "a") != same
    assert inputs.content_digest(tmp_path / "nothing") == inputs.content_digest(ZERO) == inputs.content_digest("") == ""


def test_whatever_a_file_makes_code_raise_names_the_file() -> None:
    for error in (KeyError("x"), RecursionError(), MemoryError(), OverflowError("large"), OSError(5, "I/O error")):
        with pytest.raises(ForestAlignError, match=r"^name: "), inputs.reading("name", "model"):
            raise error
