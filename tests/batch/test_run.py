"""Batches: order, failures, limits, memory, resuming, and really killing runs."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.batch.run import CHUNK_SIZE, OutputOptions, RunLimits, outcomes, run_jobs
from forestalign.batch.workers import Job, Layout, Tally, ThisProcess
from forestalign.errors import ForestAlignError, InputError, UsageError
from forestalign.formats.lines import Unread, read_lines
from forestalign.formats.pairs import unread_pairs
from tests.builders.batch_workers import JOBS, Flaky, StartBroken, StartUpper, jobs_of
from tests.builders.commands import Terminal
from tests.builders.places import ROOT
from tests.builders.work import count_calls, size_of, wait_for_growth


@dataclass(frozen=True, slots=True)
class Bad:
    """What a reader yields for a line it cannot read."""

    number: int
    id: str
    message: str


def texts(path: Path) -> list[str]:
    return [json.loads(line)["text"] for line in path.read_text().splitlines()]


@pytest.mark.parametrize("processes", [1, 2])
def test_output_is_in_input_order_and_bad_jobs_are_reported_with_their_number(tmp_path: Path, processes: int) -> None:
    jobs = [*jobs_of(["a", "raise", "c"]), Bad(4, "p4", "line has one column"), *jobs_of(["a"] * 20)[4:]]
    output, errors = tmp_path / "out.jsonl", io.StringIO()
    tally = run_jobs(
        jobs,
        StartUpper(),
        errors=errors,
        output=OutputOptions(str(output)),
        limits=RunLimits(processes=processes, chunk_size=3),
    )
    assert texts(output) == ["A", "C", *["A"] * 16]
    assert errors.getvalue() == "line 2 (p2): ValueError: a bad word\nline 4 (p4): line has one column\n"
    assert tally == Tally(done=18, failed=2)
    assert tally.exit_code == 1


def test_a_failed_job_leaves_an_empty_line_where_lines_are_counted(tmp_path: Path) -> None:
    output = tmp_path / "out.txt"
    run_jobs(
        jobs_of(["a", "raise", "c"]),
        StartUpper(),
        errors=io.StringIO(),
        output=OutputOptions(str(output), layout=Layout.LINES),
    )
    lines = output.read_text().split("\n")
    assert [bool(line) for line in lines] == [True, False, True, False]


@pytest.mark.heavy
def test_a_job_past_its_time_limit_is_reported_and_the_rest_goes_on(tmp_path: Path) -> None:
    output, errors = tmp_path / "out.jsonl", io.StringIO()
    tally = run_jobs(
        jobs_of(["a", "late", "c", "late in compiled code", "e"]),
        StartUpper(),
        errors=errors,
        output=OutputOptions(str(output)),
        limits=RunLimits(time_limit=600, chunk_size=5),
    )
    assert texts(output) == ["A", "C", "E"]
    assert tally == Tally(done=3, failed=2)
    assert "line 2 (p2): took longer than 600 s" in errors.getvalue()
    assert "line 4 (p4): took longer than 600 s in compiled code; its process was ended" in errors.getvalue()


@pytest.mark.parametrize("processes", [pytest.param(1, marks=pytest.mark.heavy), 2])
def test_a_worker_that_dies_costs_only_the_job_that_kills_it(tmp_path: Path, processes: int) -> None:
    output, errors = tmp_path / "out.jsonl", io.StringIO()
    tally = run_jobs(
        jobs_of(["a", "die", "c", "die once", "memory", "f"]),
        StartUpper(str(tmp_path / "flag")),
        errors=errors,
        output=OutputOptions(str(output)),
        limits=RunLimits(processes=processes, chunk_size=3),
    )
    assert (texts(output), tally) == (["A", "C", "DIE ONCE", "F"], Tally(done=4, failed=2))
    first, second = errors.getvalue().splitlines()
    assert first.startswith("line 2 (p2): the worker process died (SIGKILL")
    assert second.startswith("line 5 (p5): MemoryError")


@pytest.mark.parametrize("processes", [1, 2])
def test_models_that_cannot_be_loaded_stop_the_run_with_their_error(processes: int) -> None:
    with pytest.raises(ForestAlignError, match=r"model\.bin:3: expected a number"):
        list(outcomes(jobs_of(["a"] * 5), StartBroken(), limits=RunLimits(processes=processes)))


def test_first_results_come_while_the_input_is_still_being_read() -> None:
    read = 0

    def endless() -> Iterator[Job]:
        nonlocal read
        while True:
            read += 1
            yield Job(read, str(read), "a")

    stream = outcomes(endless(), StartUpper(), limits=RunLimits(processes=2, chunk_size=2))
    assert next(stream).number == 1
    for _ in range(50):
        next(stream)
    stream.close()
    assert read <= 51 + 2 * 2 * 8 + 2


def run_here(jobs: Iterable[Job | Bad], path: Path, fails: bool, layout: Layout, size: int = 3, **more: Any) -> Tally:
    """Run in this process, quickly; the settings are the same whether it fails or not."""
    with mock.patch("forestalign.batch.run.settings_of", return_value={"work": "flaky"}):
        return run_jobs(
            jobs,
            Flaky(fails),
            workers=ThisProcess(),
            errors=io.StringIO(),
            output=OutputOptions(str(path), layout=layout, **more),
            limits=RunLimits(chunk_size=size),
        )


def stopped(jobs: Iterable[Any]) -> Iterator[Any]:
    """An input that is interrupted when all of it was read, so that the journal of the run stays."""
    yield from jobs
    raise KeyboardInterrupt


def run_stopped(words: Sequence[str] | Sequence[Job], path: Path, start: Any = None) -> None:
    jobs = [each if isinstance(each, Job) else jobs_of(words)[k] for k, each in enumerate(words)]
    with suppress(KeyboardInterrupt):
        run_jobs(
            stopped(jobs),
            start or StartUpper(),
            output=OutputOptions(str(path)),
            limits=RunLimits(chunk_size=1),
            workers=ThisProcess(),
        )


def mixed_jobs(words: Sequence[str]) -> list[Job | Bad]:
    numbered = enumerate(words, start=1)
    return [Bad(n, "same", "no pair") if word == "bad" else Job(n, "same", word) for n, word in numbered]


@given(
    st.lists(st.sampled_from(["a", "b", "c", "flaky", "bad"]), max_size=150),
    st.lists(st.integers(0, 3000), max_size=3),
    st.sampled_from(list(Layout)),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_resuming_after_any_cut_gives_the_bytes_of_a_run_that_was_not_cut(
    words: list[str], cuts: list[int], layout: Layout, packed: bool
) -> None:
    """Ids occur many times, some pairs fail at first, some lines are bad; files are cut anywhere, also the journal."""
    with tempfile.TemporaryDirectory() as folder:
        whole, path = (Path(folder) / f"{name}.txt{'.gz' if packed else ''}" for name in ("whole", "cut"))
        jobs = mixed_jobs(words)
        run_here(jobs, whole, False, layout)
        with suppress(KeyboardInterrupt):
            run_here(stopped(jobs), path, True, layout)
        for place in cuts if path.exists() else ():
            path.write_bytes(path.read_bytes()[:place])
            with suppress(KeyboardInterrupt):
                run_here(stopped(jobs), path, True, layout, resume=True)
        tally = run_here(jobs, path, False, layout, resume=True)
        assert path.read_bytes() == whole.read_bytes()
        assert tally.failed == words.count("bad")
        assert tally.done + tally.failed + tally.skipped == len(words)
        assert len(list(Path(folder).iterdir())) == 2
        data = path.read_bytes()
        assert (gzip.decompress(data) if packed else data).count(b"flaky") == words.count("flaky")


def test_another_input_is_refused_and_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    run_stopped(["a", "b", "c"], path)
    before = path.read_bytes()
    for words, message in (
        (["a", "x", "c", "d"], "another input: pair 2 is not"),
        (["a", "b"], "holds 3 pairs, the input ends after 2"),
        ([], "holds 3 pairs, the input ends after 0"),
    ):
        with pytest.raises(UsageError, match=message):
            run_jobs(jobs_of(words), StartUpper(), output=OutputOptions(str(path), resume=True))
        assert path.read_bytes() == before


def test_other_settings_are_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestalign.batch.run_journal.FILE_FIELDS", frozenset({"flag"}))
    path, flag = tmp_path / "out.jsonl", tmp_path / "flag"
    flag.write_text("one")
    run_stopped(["a"], path, StartUpper(str(flag)))
    with pytest.raises(UsageError, match=r"flag was '.*flag' and is now 'x'"):
        run_jobs(jobs_of(["a", "b"]), StartUpper("x"), output=OutputOptions(str(path), resume=True))
    flag.write_text("two")
    with pytest.raises(UsageError, match="content of flag was"):
        run_jobs(jobs_of(["a", "b"]), StartUpper(str(flag)), output=OutputOptions(str(path), resume=True))


def test_somebody_elses_file_with_the_name_of_a_journal_is_not_touched(tmp_path: Path) -> None:
    path, other = tmp_path / "out.jsonl", tmp_path / "out.jsonl.journal"
    other.write_text("dear diary\n")
    for force in (True, False):
        with pytest.raises(UsageError, match="was not written by an earlier run"):
            run_jobs(jobs_of(["a"]), StartUpper(), output=OutputOptions(str(path), force=force))
    assert other.read_text() == "dear diary\n"


def test_a_run_that_fails_before_its_first_result_leaves_the_old_file(tmp_path: Path) -> None:
    path, new = tmp_path / "out.jsonl", tmp_path / "new.jsonl"
    path.write_text("precious\n")
    for output in (path, new):
        with pytest.raises(InputError):
            run_jobs(jobs_of(["a"]), StartBroken(), output=OutputOptions(str(output), force=True))
    assert path.read_text() == "precious\n"
    assert [file.name for file in tmp_path.iterdir()] == ["out.jsonl"]


@pytest.mark.heavy
def test_resuming_costs_little_time_and_memory_for_each_line(tmp_path: Path) -> None:
    """Fifty thousand lines here; ten million are two hundred times as much time and no more memory."""
    lines = tmp_path / "pairs.tsv"
    lines.write_text("".join(f"This is the source number {k} .\tThis is target {k} .\n" for k in range(50_000)))
    output = tmp_path / "out.txt"
    jobs = [Unread(line.text, partial(Job, line.number, "", "a")) for line in read_lines(lines)]
    with mock.patch("forestalign.batch.run.settings_of", return_value={}):
        with suppress(KeyboardInterrupt):
            run_jobs(
                stopped(jobs),
                Flaky(False),
                workers=ThisProcess(),
                output=OutputOptions(str(output), layout=Layout.LINES),
                limits=RunLimits(chunk_size=1000),
            )
        del jobs
        tracemalloc.start()
        again = OutputOptions(str(output), layout=Layout.LINES, resume=True)
        tallies: list[Tally] = []
        calls = count_calls(lambda: tallies.append(run_jobs(unread_pairs(lines), Flaky(False), output=again)))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert tallies == [Tally(skipped=50_000)]
    assert peak < 10e6
    assert calls < 50_000 * 60  # tokenizing alone would take several times as many


def test_ids_that_occur_twice_are_done_twice_also_when_resumed(tmp_path: Path) -> None:
    jobs = [Job(1, "same", "a"), Job(2, "same", "b"), Job(3, "other", "c")]
    output = tmp_path / "out.jsonl"
    run_stopped(jobs[:1], output)
    tally = run_jobs(jobs, StartUpper(), output=OutputOptions(str(output), resume=True))
    assert texts(output) == ["A", "B", "C"]
    assert tally == Tally(done=2, skipped=1)


def test_two_runs_never_write_to_one_file(tmp_path: Path) -> None:
    def nested() -> Iterator[Job]:
        with pytest.raises(UsageError, match="another run is writing"):
            run_jobs([], StartUpper(), output=OutputOptions(str(tmp_path / "out.jsonl")))
        yield Job(1, "1", "a")

    assert run_jobs(nested(), StartUpper(), output=OutputOptions(str(tmp_path / "out.jsonl"))).done == 1


@pytest.mark.heavy
def test_a_run_killed_twenty_times_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    output, flag, chance = tmp_path / "out.jsonl", tmp_path / "flag", random.Random(7)
    flag.touch()

    def start(processes: int) -> subprocess.Popen[bytes]:
        program = (
            "from tests.builders.batch_workers import run_until_killed\n"
            f"run_until_killed({str(output)!r}, {str(flag)!r}, {processes})"
        )
        return subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)

    for kill in range(20):
        size = size_of(output)
        run = start(processes=2 if kill % 4 == 0 else 1)
        wait_for_growth(output, size, run)  # so that the kill falls into the work
        time.sleep(chance.random() * 0.02)  # any moment is right
        assert run.poll() is None
        run.kill()
        run.wait()
        data = output.read_bytes()
        for line in data[: data.rfind(b"\n") + 1].splitlines():
            json.loads(line)
    flag.unlink()
    assert start(processes=1).wait() == 0
    keys = [json.loads(line)["id"] for line in output.read_bytes().splitlines()]
    assert keys == [job.key for job in JOBS]


def test_progress_has_rate_and_time_left_on_a_terminal_only(tmp_path: Path) -> None:
    terminal, file, quiet = Terminal(), io.StringIO(), Terminal()
    for stream, is_quiet in ((terminal, False), (file, False), (quiet, True)):
        run_jobs(
            jobs_of(["a", "raise", *"c" * (3 * CHUNK_SIZE)]),
            StartUpper(),
            total=3 * CHUNK_SIZE + 2,
            errors=stream,
            quiet=is_quiet,
            output=OutputOptions(str(tmp_path / "out.jsonl"), force=True),
        )
    assert re.search(r"(\d+)/\1 \[\d\d:\d\d<\d\d:\d\d, +[\d.]+ ?(?:pairs/s|s/ ?pairs)\]", terminal.getvalue())
    for stream in (terminal, file, quiet):
        assert "line 2 (p2): ValueError: a bad word\n" in stream.getvalue()
    assert file.getvalue() == quiet.getvalue()
