"""Nothing that a user has is lost: outputs of all commands, killed runs, full disks, runs that meet."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import random
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from forestalign.aligner import AlignerParts, LoadAligner, LoadReranker
from forestalign.batch.output import RunFile
from forestalign.batch.run import OutputOptions, RunLimits, run_jobs
from forestalign.batch.run_journal import refuse_other_settings, settings_of
from forestalign.batch.workers import Job, StartWork
from forestalign.cli import main
from forestalign.cli.align import AlignmentText
from forestalign.cli.rerank import RerankedText
from forestalign.config import DEFAULT_CONFIG, AlignConfig
from forestalign.errors import ForestAlignError, InputError, OutputError, UsageError
from forestalign.lexicon import load_vectors
from forestalign.outputs import whole_file
from tests.builders.batch_workers import StartClock, StartUpper
from tests.builders.places import ROOT
from tests.builders.processes import PAIRS, call, children, is_alive
from tests.builders.work import size_of, wait_for_growth, wait_until

BATCH = (["align"], ["align", "--json"], ["words"], ["parse"], ["rerank"])
WHOLE = (["view"], ["edits"], ["extract"], ["similarity", "--results"])  # written at once: nothing to resume
WRITERS = (
    *BATCH, *WHOLE, ["similarity"], ["align", "--chunks"], ["train"], ["train", "--gold"], ["tune"], ["crf", "train"],
)  # fmt: skip


def ids(commands: object) -> str:
    return "-".join(commands) if isinstance(commands, list) else str(commands)


# ---- before any work ----


@pytest.mark.parametrize("name", ["input.tsv", "./input.tsv", "symbolic", "hard", "folder/../input.tsv"])
@pytest.mark.parametrize("command", WRITERS, ids=ids)
def test_an_output_that_is_the_input_by_any_name_is_refused(
    command: list[str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("input.tsv").write_bytes(PAIRS.read_bytes())
    Path("symbolic").symlink_to("input.tsv")
    os.link("input.tsv", "hard")
    Path("folder").mkdir()
    for option in ([], ["--force"], *([["--resume"]] if command not in WHOLE else [])):
        assert call([*command, "input.tsv", "-o", name, *option]) == 2
        assert "the same file" in capfd.readouterr().err
        assert Path("input.tsv").read_bytes() == PAIRS.read_bytes()
    assert sorted(os.listdir()) == ["folder", "hard", "input.tsv", "symbolic"]


@pytest.mark.parametrize("option", ["--trees", "--ppdb", "--vectors", "--model", "--seed", "--set"])
def test_files_that_options_name_are_inputs_too(option: str, tmp_path: Path) -> None:
    file = tmp_path / "precious"
    file.write_text("precious\n")
    value = f"model={file}" if option == "--set" else str(file)
    assert call(["align", str(PAIRS), option, value, "-o", str(file), "--force"]) == 2
    assert file.read_text() == "precious\n"


@pytest.mark.parametrize("command", WRITERS, ids=ids)
def test_an_output_that_exists_is_kept_without_force(
    command: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "old"
    file.write_text("precious\n")
    assert call([*command, str(PAIRS), "-o", str(file)]) == 2
    assert "exists already; " in capfd.readouterr().err
    assert file.read_text() == "precious\n"


@pytest.mark.parametrize("command", WRITERS, ids=ids)
def test_an_output_that_cannot_be_written_is_told_before_any_work(
    command: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for output, message in ((tmp_path, "it is a folder"), (tmp_path / "no" / "x", "does not exist")):
        assert call([*command, str(PAIRS), "-o", str(output)]) == 2
        assert message in capfd.readouterr().err
    assert not list(tmp_path.iterdir())


def test_stdin_is_an_input_like_any_other(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_bytes(PAIRS.read_bytes())
    command = [sys.executable, "-m", "forestalign", "align", "-o", str(file), "--force"]
    with file.open() as stdin:
        done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, check=False)
    assert (done.returncode, file.read_bytes()) == (2, PAIRS.read_bytes())
    assert "stdin are the same file" in done.stderr


# ---- whole files ----


def test_a_file_is_whole_or_as_it_was_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "model"
    file.write_text("old")
    file.chmod(0o640)
    with suppress(RuntimeError), whole_file(file) as stream:
        stream.write(b"half")
        raise RuntimeError
    assert file.read_text() == "old"
    with whole_file(file) as stream:
        stream.write(b"new")
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["model"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with whole_file(tmp_path / "link") as stream:
        stream.write(b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"x"


def test_a_full_disk_is_told_with_the_name_of_the_file() -> None:
    with pytest.raises(OutputError, match="cannot write to /dev/full: No space left"), whole_file("/dev/full") as file:
        file.write(b"x" * 100_000)


FULL = """
import resource, sys
from forestalign.batch.run import OutputOptions, RunLimits, run_jobs
from forestalign.batch.workers import Job, ThisProcess
from tests.builders.batch_workers import StartUpper
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
jobs = [Job(number, str(number), "some words " * 30) for number in range(1, 200)]
output = OutputOptions(sys.argv[1], resume=True)
run_jobs(jobs, StartUpper(), output=output, limits=RunLimits(chunk_size=5), workers=ThisProcess())
"""


@pytest.mark.parametrize("suffix", ["", pytest.param(".gz", marks=pytest.mark.heavy)])
def test_a_disk_that_fills_up_loses_nothing_and_the_run_goes_on_when_there_is_room(tmp_path: Path, suffix: str) -> None:
    output, whole = tmp_path / f"out.jsonl{suffix}", tmp_path / f"whole.jsonl{suffix}"

    def run(path: Path, size: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", FULL, str(path), str(size)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert run(whole, 10**8).returncode == 0
    length = whole.stat().st_size
    full = run(output, max(int(0.6 * length), 2000))
    assert full.returncode == 1
    assert "cannot write to" in full.stderr
    assert str(output) in full.stderr
    assert unpacked(whole).startswith(unpacked(output))
    assert output.stat().st_size < length
    assert run(output, 10**8).returncode == 0
    assert output.read_bytes() == whole.read_bytes()


def unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


# ---- processes ----


def words(*payloads: str) -> list[Job]:
    return [Job(number, f"p{number}", word) for number, word in enumerate(payloads, start=1)]


@pytest.mark.parametrize("trouble", [pytest.param("die", marks=(pytest.mark.heavy, pytest.mark.patient)), "memory"])
def test_without_memory_a_run_ends_after_a_few_pairs_with_one_message(tmp_path: Path, trouble: str) -> None:
    output = tmp_path / "out.jsonl"
    with pytest.raises(ForestAlignError, match="4 pairs in a row failed because memory ran out or a process crashed"):
        run_jobs(
            words("a", *[trouble] * 50), StartUpper(), output=OutputOptions(str(output)), limits=RunLimits(chunk_size=1)
        )
    assert len(output.read_text().splitlines()) == 1


def test_the_clock_of_the_time_limit_starts_after_loading(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    run_jobs(words("a"), StartClock(), output=OutputOptions(str(output)), limits=RunLimits(time_limit=600))
    assert json.loads(output.read_text())["text"] == [False, True]


ENDLESS = """
import sys
from forestalign.batch.run import RunLimits, run_jobs
from forestalign.batch.workers import Job
from tests.builders.batch_workers import StartUpper
jobs = [Job(number, str(number), "compiled loop") for number in range(1, 9)]
run_jobs(jobs, StartUpper(sys.argv[1]), limits=RunLimits(processes=2, chunk_size=1))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
def test_no_worker_outlives_a_killed_parent(tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", ENDLESS, str(tmp_path)], cwd=ROOT)
    wait_until(lambda: len(os.listdir(tmp_path)) == 2)  # both are about to enter compiled code
    workers = [int(name) for name in os.listdir(tmp_path)]
    assert all(map(is_alive, workers))
    parent.kill()
    parent.wait()
    wait_until(lambda: not any(map(is_alive, workers)))


# ---- vectors that would run code ----


@pytest.mark.parametrize("name", ["x.kv", "x.model", "x.vec"])
def test_vectors_that_are_pickles_are_refused_with_the_command_that_converts_them(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x80\x04\x95" + b"x" * 50)
    with pytest.raises(InputError, match="save_word2vec_format"):
        load_vectors(str(tmp_path / name))


# ---- clusters ----


@pytest.mark.parametrize("address", ["foo", "tcp://foo", "", "localhost:port"])
def test_what_is_no_address_fails_at_once(address: str) -> None:
    cluster = pytest.importorskip("forestalign.batch.cluster")
    with pytest.raises(UsageError, match="expected the address of a scheduler"):
        cluster.Cluster(address)


# ---- real runs of the real commands ----


def start_align(*options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "forestalign", "align", "-q", *options]
    return subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)


@pytest.mark.heavy
@pytest.mark.patient
@pytest.mark.parametrize("form", [["--json"], []], ids=["json", "text"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_real_runs_killed_anyhow_end_with_the_bytes_of_one_that_was_not(
    tmp_path: Path, suffix: str, form: list[str]
) -> None:
    pairs, chance = tmp_path / "pairs.tsv", random.Random(3)
    first = "".join(PAIRS.read_text().splitlines(keepends=True)[:4])
    pairs.write_text(first * 40 + "bad\n" + first * 5)
    whole, output = tmp_path / f"whole{suffix}", tmp_path / f"out{suffix}"
    assert start_align(str(pairs), *form, "-o", str(whole)).wait() == 1
    for attempt, kind in enumerate(("group", "parent", "child", "term", "interrupt")):
        before = size_of(output)
        run = start_align(str(pairs), *form, "-o", str(output), "--resume", "-j", str(1 + attempt % 2))
        wait_for_growth(output, before, run)
        time.sleep(chance.random() * 0.2)  # a kill is right at any moment
        if run.poll() is None:
            strike(run, kind)
        run.wait()
    start_align(
        str(pairs), *form, "-o", str(output), "--resume"
    ).wait()  # in vain where a run was quicker than its kill
    assert output.read_bytes() == whole.read_bytes()


def strike(run: subprocess.Popen[bytes], kind: str) -> None:
    if kind == "group":
        os.killpg(run.pid, signal.SIGKILL)
    elif kind == "parent":
        run.kill()
    elif kind == "child":
        for child in children(run.pid)[:1]:
            os.kill(child, signal.SIGKILL)
        run.kill()
    else:
        run.send_signal(signal.SIGTERM if kind == "term" else signal.SIGINT)


@pytest.mark.heavy
@pytest.mark.patient
def test_a_second_run_on_a_file_in_use_is_refused_and_touches_nothing(tmp_path: Path) -> None:
    pairs, output, alone = tmp_path / "pairs.tsv", tmp_path / "out.jsonl", tmp_path / "alone.jsonl"
    pairs.write_text(PAIRS.read_text() * 10)
    first = start_align(str(pairs), "--json", "-o", str(output), "--resume")
    wait_until(output.exists)
    os.killpg(first.pid, signal.SIGSTOP)  # so that it is in use as long as others ask
    for option in ("--force", "--resume") * 3:
        assert call(["align", str(pairs), "--json", "-q", "-o", str(output), option]) == 2
    os.killpg(first.pid, signal.SIGCONT)
    assert first.wait() == 0
    assert start_align(str(pairs), "--json", "-o", str(alone)).wait() == 0
    assert [json.loads(line)["id"] for line in output.read_text().splitlines()] == [str(n) for n in range(1, 121)]
    assert output.read_bytes() == alone.read_bytes()


@pytest.mark.heavy
@pytest.mark.patient
def test_another_input_or_other_settings_are_refused_by_the_command(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    close = RunFile.close
    monkeypatch.setattr(RunFile, "close", lambda self, is_whole: close(self, False))  # so that the journals stay
    for command, other in ((["align", "--json"], ["--beam", "7"]), (["words"], ["--profile", "published"])):
        output = tmp_path / f"{command[0]}.out"
        assert main([*command, "-q", str(PAIRS), "-o", str(output)]) == 0
        before = output.read_bytes()
        assert call([*command, "-q", str(PAIRS), "-o", str(output), "--resume", *other]) == 2
        assert f"{other[0][2:]} was" in capfd.readouterr().err
        lines = PAIRS.read_text().splitlines(keepends=True)
        changed = tmp_path / "changed.tsv"
        changed.write_text("".join([lines[1], lines[0], *lines[2:], *lines]))
        assert call([*command, "-q", str(changed), "-o", str(output), "--resume"]) == 2
        assert "pair 1 is not the one" in capfd.readouterr().err
        assert output.read_bytes() == before


@pytest.mark.heavy
@pytest.mark.patient
def test_hopeless_memory_ends_a_real_run_with_one_line(tmp_path: Path) -> None:
    def poor() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (360 << 20, 360 << 20))

    command = [sys.executable, "-m", "forestalign", "align", str(PAIRS), "--json", "-o", str(tmp_path / "o"), "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=poor, timeout=300)
    assert done.returncode in (1, 2)
    assert "memory" in done.stderr
    assert done.stderr.count("line ") <= 4


@pytest.mark.parametrize(
    ("error", "spare"),
    [
        (MemoryError(), 0),
        (RuntimeError("initialization: std::bad_alloc"), 0),
        (ImportError("x.so: failed to map segment"), 0),
        (AttributeError("module 'http.client' has no attribute 'HTTPSConnection'"), 1 << 62),  # none is left
    ],
)
def test_lack_of_memory_is_reported_whoever_notices_it(
    error: Exception, spare: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from forestalign import cli, machine

    def fail(name: str, arguments: object) -> int:
        raise error

    monkeypatch.setattr(cli, "_run_command", fail)
    monkeypatch.setattr(machine, "SPARE", spare)
    assert cli.main(["align"]) == 1
    assert capsys.readouterr().err == "forestalign align: not enough memory\n"


def test_a_worker_reports_lack_of_memory_where_it_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    from forestalign import machine
    from forestalign.batch.worker_program import Message, Programs

    message = Message("key", pickle.dumps(int), pickle.dumps("x"))
    assert not isinstance(Programs().run(message).error, MemoryError)
    monkeypatch.setattr(machine, "SPARE", 1 << 62)
    assert isinstance(Programs().run(message).error, MemoryError)


def test_an_error_that_we_raise_is_told_as_it_is_however_little_memory_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    from forestalign import machine

    monkeypatch.setattr(machine, "SPARE", 1 << 62)
    assert machine.is_out_of_memory(ValueError("x"))
    assert not machine.is_out_of_memory(InputError("pairs.tsv", 1, "no tab"))


# ---- what a resumed run is held against ----


def test_every_setting_of_the_aligner_is_in_the_journal() -> None:
    show = AlignmentText(True, False, True, False)
    start = StartWork(LoadAligner(DEFAULT_CONFIG, AlignerParts(given_file="x")), show)
    found = settings_of(start)
    expected = {each.name for kind in (AlignConfig, AlignerParts, AlignmentText) for each in fields(kind)}
    assert expected - set(found) == set()
    assert found["work"] == "StartWork(LoadAligner, AlignmentText)"


@pytest.mark.parametrize(
    "other",
    [
        StartWork(LoadAligner(DEFAULT_CONFIG.replace(beam=7)), AlignmentText(True, False, True, False)),
        StartWork(LoadAligner(DEFAULT_CONFIG.replace(links="crf")), AlignmentText(True, False, True, False)),
        StartWork(LoadAligner(DEFAULT_CONFIG, AlignerParts(given_file="x")), AlignmentText(True, False, True, False)),
        StartWork(LoadAligner(DEFAULT_CONFIG), AlignmentText(True, True, True, False)),
        StartWork(LoadReranker(DEFAULT_CONFIG), RerankedText(True)),
    ],
    ids=["beam", "links", "given parses", "forests", "another command"],
)
def test_a_setting_anywhere_in_the_work_makes_other_settings(other: StartWork[Any, str]) -> None:
    one = settings_of(StartWork(LoadAligner(DEFAULT_CONFIG), AlignmentText(True, False, True, False)))
    with pytest.raises(UsageError, match="made with other settings"):
        refuse_other_settings("out", one, settings_of(other))


def test_a_run_that_read_its_input_otherwise_is_not_resumed(tmp_path: Path) -> None:
    output = str(tmp_path / "out.jsonl")
    first = OutputOptions(output, settings=(("tokenized", True),))
    assert run_jobs(words("raise"), StartUpper(), output=first).failed == 1  # so that the journal stays
    again = OutputOptions(output, resume=True, settings=(("tokenized", False),))
    with pytest.raises(UsageError, match="tokenized was True and is now False"):
        run_jobs(words("raise", "b"), StartUpper(), output=again)
