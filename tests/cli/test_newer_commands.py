"""Commands that came later keep the promises of the first ones: extract, edits, similarity, chunks, tune, serve."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import forestalign
from forestalign import aligner as aligner_module
from forestalign.aligner import AlignerParts, LoadAligner
from forestalign.batch.worker_program import Raised
from forestalign.chunk_aligner import LoadChunkAligner
from forestalign.cli import main
from forestalign.cli.words import LoadLinker
from forestalign.config import AlignConfig
from forestalign.errors import InputError, UsageError
from forestalign.evaluation.annotation_store import AnnotationStore
from forestalign.evaluation.scores import Evaluation
from forestalign.formats import lines
from forestalign.grammar import grammar_root
from forestalign.learning.checkpoints import Checkpoint
from forestalign.learning.em import _state_of
from forestalign.learning.train_scores import _state_of as _gold_state_of
from forestalign.lexicon import load_ppdb
from forestalign.pair_cache import read_cached
from forestalign.phrases.scoring.score_model import load_score_model
from forestalign.tuning import TuningPlan, parse_parameter, run_trials
from forestalign.words.crf import load_crf
from forestalign.words.crf.crf_aligner import read_model, write_model
from tests.builders.processes import PAIRS, call
from tests.builders.work import size_of, wait_for_growth, wait_until

OF_RESULTS = (["edits"], ["extract"], ["similarity", "--results"], ["view"])


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real results."""
    path = tmp_path_factory.mktemp("results") / "r.jsonl"
    assert main(["align", str(PAIRS), "--json", "-q", "-o", str(path)]) == 0
    return path


def changed(results: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A file with the first result, changed."""
    record = json.loads(results.read_text(encoding="utf-8").splitlines()[0])
    change(record)
    path = results.with_name("changed.jsonl")
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return path


# ---- outputs ----


@pytest.mark.parametrize("command", OF_RESULTS, ids=" ".join)
def test_a_name_that_ends_in_gz_gives_gzip_of_the_same(results: Path, command: list[str], tmp_path: Path) -> None:
    plain, packed = tmp_path / "out.txt", tmp_path / "out.txt.gz"
    for output in (plain, packed):
        assert main([*command, str(results), "-o", str(output)]) == 0
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert plain.stat().st_size > 100


def test_a_table_is_read_back_whatever_its_name(results: Path, tmp_path: Path) -> None:
    for name in ("mined.ppdb", "mined.ppdb.gz", "table.jsonl.gz", "table.tsv.gz"):
        assert main(["extract", str(results), "-q", "-o", str(tmp_path / name)]) == 0
    packed, plain = (load_ppdb(str(tmp_path / name)) for name in ("mined.ppdb.gz", "mined.ppdb"))
    assert packed._pairs == plain._pairs != frozenset()
    assert gzip.decompress((tmp_path / "table.jsonl.gz").read_bytes()).startswith(b'{"phrase"')
    assert gzip.decompress((tmp_path / "table.tsv.gz").read_bytes()).startswith(b"phrase\t")
    with pytest.raises(UsageError, match="compressed already"):
        raise_of(["extract", str(results), "-o", str(tmp_path / "table.parquet.gz")])


def raise_of(arguments: list[str]) -> None:
    """Run a command for its error."""
    from forestalign.cli import _run_command

    _run_command(arguments[0], arguments[1:])


def test_scores_and_crf_models_are_read_plain_and_packed(tmp_path: Path) -> None:
    plain = grammar_root() / "phrase_scores.json"
    (tmp_path / "scores.json.gz").write_bytes(gzip.compress(plain.read_bytes()))
    packed = load_score_model(str(tmp_path / "scores.json.gz"))
    assert (packed.weights == load_score_model().weights).all()
    write_model(load_crf("token").model, tmp_path / "crf.json.gz")
    assert (tmp_path / "crf.json.gz").read_bytes().startswith(b"\x1f\x8b")
    assert read_model(tmp_path / "crf.json.gz").space == load_crf("token").model.space


@pytest.mark.parametrize("second", ["same.html", "./same.html", "link"])
def test_two_outputs_that_are_one_file_are_refused(
    results: Path, tmp_path: Path, second: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("link").symlink_to("same.html")
    assert call(["edits", str(results), "-o", "same.html", "--report", second]) == 2
    assert "are the same file" in capfd.readouterr().err
    assert os.listdir(tmp_path) == ["link"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", [*OF_RESULTS, ["edits", "--report", "/dev/full"]], ids=" ".join)
def test_a_full_disk_is_told_with_the_name_of_the_file_by_every_command(
    results: Path, command: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    output = [] if "--report" in command else ["-o", "/dev/full"]
    assert call([*command, str(results), *output]) == 1
    assert "cannot write to /dev/full: No space left on device" in capfd.readouterr().err


@pytest.mark.parametrize("command", OF_RESULTS, ids=" ".join)
def test_a_bad_line_leaves_the_old_output_and_nothing_beside_it(
    results: Path, command: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    torn, output = tmp_path / "torn.jsonl", tmp_path / "out"
    torn.write_bytes(results.read_bytes()[:-300])
    output.write_text("precious\n")
    assert call([*command, str(torn), "-o", str(output), "--force"]) == 1
    assert f"{torn}:12: invalid JSON" in capfd.readouterr().err
    assert output.read_text() == "precious\n"
    assert sorted(os.listdir(tmp_path)) == ["out", "torn.jsonl"]


def test_results_that_are_judged_are_not_resumed(results: Path, tmp_path: Path) -> None:
    output = tmp_path / "s.txt"
    output.write_text("precious\n")
    assert call(["similarity", "--results", str(results), "-o", str(output), "--resume"]) == 2
    assert output.read_text() == "precious\n"


@pytest.mark.heavy
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_removes_what_it_had_begun(
    results: Path, tmp_path: Path, number: signal.Signals
) -> None:
    large = tmp_path / "large.jsonl"
    large.write_bytes(results.read_bytes() * 3000)
    command = [sys.executable, "-m", "forestalign", "extract", str(large), "-o", str(tmp_path / "t.tsv")]
    listen = partial(signal.signal, number, signal.SIG_DFL)  # these tests may themselves run under nohup
    run = subprocess.Popen(command, stderr=subprocess.DEVNULL, preexec_fn=listen)
    wait_until(lambda: any(path.stat().st_size for path in tmp_path.iterdir() if path != large))
    run.send_signal(number)
    assert run.wait() == 128 + number
    assert os.listdir(tmp_path) == ["large.jsonl"]


@pytest.mark.heavy
@pytest.mark.parametrize("form", [["similarity", "--json"], ["align", "--chunks"]], ids=" ".join)
def test_newer_runs_that_are_killed_end_with_the_bytes_of_one_that_was_not(tmp_path: Path, form: list[str]) -> None:
    pairs = tmp_path / "pairs.jsonl"
    words = [[side.split() for side in line.split("\t")] for line in PAIRS.read_text().splitlines()]
    rows = [
        {"id": str(k), "source": one, "target": two, "source_chunks": [[0, len(one)]], "target_chunks": [[0, len(two)]]}
        for k, (one, two) in enumerate(words * 6)
    ]
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    whole, output = tmp_path / "whole", tmp_path / "out"
    command = [sys.executable, "-m", "forestalign", *form, str(pairs), "-q", "-o"]
    subprocess.run([*command, str(whole)], check=True)
    for _ in range(3):
        size = size_of(output)
        run = subprocess.Popen([*command, str(output), "--resume"], start_new_session=True, stderr=subprocess.DEVNULL)
        wait_for_growth(output, size, run)
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    subprocess.run([*command, str(output), "--resume"], check=True)
    assert output.read_bytes() == whole.read_bytes()


# ---- results that somebody changed ----


@pytest.mark.parametrize("value", [1e308, -5, 1.0001, 10**400])
@pytest.mark.parametrize("command", OF_RESULTS, ids=" ".join)
def test_a_posterior_is_a_probability(
    results: Path, command: list[str], value: float, capfd: pytest.CaptureFixture[str]
) -> None:
    path = changed(results, lambda record: record["phrases"][0].update(posterior=value))
    assert call([*command, str(path), "-o", "-"]) == 1
    assert "changed.jsonl:1: phrases[0].posterior" in capfd.readouterr().err


@pytest.mark.parametrize("command", OF_RESULTS, ids=" ".join)
@pytest.mark.parametrize("place", ["id", "signature"])
def test_half_of_a_surrogate_pair_is_refused_anywhere(
    results: Path, command: list[str], place: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = changed(results, lambda record: record.update({place: "a\ud800b"}))
    assert call([*command, str(path), "-o", "-"]) == 1
    assert f"changed.jsonl:1: field '{place}' has half of a surrogate pair, U+D800" in capfd.readouterr().err


@pytest.mark.parametrize("number", ["9" * 400, "-" + "9" * 400, "1e999"])
def test_numbers_beyond_counting_are_refused(results: Path, number: str) -> None:
    line = changed(results, lambda record: record.update(log_score="huge")).read_text().replace('"huge"', number)
    with pytest.raises(forestalign.ForestAlignError, match="log_score is"):
        forestalign.Alignment.from_json(line)


def test_a_file_without_line_ends_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 1000)
    (tmp_path / "file").write_text("short\n" + "x" * 999 + "\n" + "x" * 2000)
    found = lines.read_lines(tmp_path / "file")
    assert [len(next(found).text), len(next(found).text)] == [5, 999]
    with pytest.raises(InputError, match="file:3: the line has more than 1,000 bytes"):
        next(found)


# ---- runs ----


def test_chunks_are_loaded_before_the_clock_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[object] = []
    load = aligner_module.load_parser
    monkeypatch.setattr(aligner_module, "load_parser", lambda *given: loaded.append(given) or load(*given))
    LoadChunkAligner(AlignConfig())()
    assert len(loaded) == 1


MISSING = "/nowhere/at/all.gz"


@pytest.mark.parametrize(
    "start",
    [
        LoadAligner(AlignConfig(model=MISSING)),
        LoadAligner(AlignConfig(scores=MISSING)),
        LoadAligner(AlignConfig(ppdb=MISSING)),
        LoadAligner(AlignConfig(vectors=MISSING)),
        LoadAligner(AlignConfig(links="crf", crf_model=MISSING)),
        LoadAligner(AlignConfig(backend="trees"), AlignerParts(given_file=MISSING)),
        LoadChunkAligner(AlignConfig(ppdb=MISSING)),
        LoadLinker(AlignConfig(vectors=MISSING, nbest=1)),
        lambda: read_cached(Path(MISSING)),
    ],
    ids=["model", "scores", "ppdb", "vectors", "crf_model", "parses", "chunks", "words", "cache"],
)
def test_a_file_that_only_another_machine_lacks_is_told_as_that(
    start: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each loader names the file, so that a cluster can say that all machines have to share it."""
    cluster = pytest.importorskip("forestalign.batch.cluster")
    with pytest.raises(InputError, match=MISSING) as raised:
        start()
    monkeypatch.setattr(cluster.Path, "exists", lambda path: True)
    told = cluster._explain_missing_file(Raised(raised.value))
    assert "file system which all machines share" in str(told.error)


PLAN = TuningPlan((parse_parameter("beam=5:50"),), (("phrase", 1.0),), trials=3, initial=2)


def judged(config: AlignConfig) -> Evaluation:
    return Evaluation(("F1",), np.array([[float(config.beam)]]), lambda sums: sums)


def test_a_record_of_trials_is_written_by_one_run(tmp_path: Path) -> None:
    record = tmp_path / "trials.jsonl"
    first = run_trials(PLAN, AlignConfig(), judged, record)
    next(first)
    held = record.read_bytes()
    for resume in (False, True):
        with pytest.raises(UsageError, match="another run is writing to"):
            next(run_trials(PLAN, AlignConfig(), judged, record, resume))
    assert record.read_bytes() == held
    first.close()
    record.write_bytes(held + b'{"number": 2, "val')
    assert len(list(run_trials(PLAN, AlignConfig(), judged, record, resume=True))) == 3
    assert len(record.read_text().splitlines()) == 4


@pytest.mark.parametrize("content", [b"\xff\xfe", b"{}\n", b'{"plan": 3}\n\n'])
def test_a_file_that_is_no_record_of_trials_is_kept(tmp_path: Path, content: bytes) -> None:
    record = tmp_path / "trials.jsonl"
    record.write_bytes(content)
    with pytest.raises(forestalign.ForestAlignError, match=r"trials\.jsonl"):
        next(run_trials(PLAN, AlignConfig(), judged, record, resume=True))
    assert record.read_bytes() == content


@pytest.mark.parametrize("content", [b"", b"x", b"PK\x03\x04torn", b"\x93NUMPY\x01\x00v\x00{}"])
@pytest.mark.parametrize("state_of", [_state_of, _gold_state_of])
def test_a_checkpoint_that_is_none_is_told(tmp_path: Path, state_of: Callable[..., object], content: bytes) -> None:
    (tmp_path / "m.checkpoint.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"m\.checkpoint\.npz: is not a checkpoint of a run, or is damaged"):
        Checkpoint(tmp_path / "m.checkpoint.npz", "key").read(state_of)


# ---- annotations ----


@pytest.mark.parametrize("name", ["/dev/full", "/dev/zero", "gold.jsonl.gz"])
def test_annotations_are_saved_to_plain_files_only(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected"):
        AnnotationStore(tmp_path / name)


def test_the_results_that_are_shown_are_no_place_for_annotations(
    results: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = results.read_bytes()
    link = results.with_name("link.jsonl")
    link.symlink_to(results)
    for name in (results, link):
        assert call(["serve", str(results), "--annotate", str(name), "--port", "0"]) == 2
        assert "are the same file" in capfd.readouterr().err
    assert results.read_bytes() == before
