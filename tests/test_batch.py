"""Batches: order, failures, limits, memory, resuming, and really killing runs."""

from __future__ import annotations

import io
import json
import os
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from batch_workers import JOBS, StartBroken, StartUpper, square
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.batch import (
    Job,
    Layout,
    Outcome,
    Processes,
    Tally,
    ThisProcess,
    map_ordered,
    outcomes,
    run_jobs,
)
from forestalign.batch.limits import run_chunk
from forestalign.batch.output import drop_torn_line
from forestalign.cli.compilation import is_stale
from forestalign.errors import ForestAlignError, InputError, UsageError


@dataclass(frozen=True, slots=True)
class Bad:
    """What a reader yields for a line it cannot read."""

    number: int
    id: str
    message: str


def jobs_of(words: Sequence[str]) -> list[Job]:
    return [Job(number, f"p{number}", word) for number, word in enumerate(words, start=1)]


def texts(path: Path) -> list[str]:
    return [json.loads(line)["text"] for line in path.read_text().splitlines()]


@pytest.mark.parametrize("processes", [1, 2])
def test_output_is_in_input_order_and_bad_jobs_are_reported_with_their_number(tmp_path: Path, processes: int) -> None:
    jobs = [*jobs_of(["a", "raise", "c"]), Bad(4, "p4", "line has one column"), *jobs_of(["a"] * 20)[4:]]
    output, errors = tmp_path / "out.jsonl", io.StringIO()
    tally = run_jobs(jobs, StartUpper(), output=str(output), processes=processes, chunk_size=3, errors=errors)
    assert texts(output) == ["A", "C", *["A"] * 16]
    assert errors.getvalue() == "line 2 (p2): ValueError: a bad word\nline 4 (p4): line has one column\n"
    assert tally == Tally(done=18, failed=2)
    assert tally.exit_code == 1


def test_output_may_go_to_a_device() -> None:
    assert run_jobs(JOBS[:2], StartUpper(), output=os.devnull).done == 2


def test_a_failed_job_leaves_an_empty_line_where_lines_are_counted(tmp_path: Path) -> None:
    output = tmp_path / "out.txt"
    run_jobs(jobs_of(["a", "raise", "c"]), StartUpper(), output=str(output), layout=Layout.LINES, errors=io.StringIO())
    lines = output.read_text().split("\n")
    assert [bool(line) for line in lines] == [True, False, True, False]


def test_a_job_past_its_time_limit_is_reported_and_the_rest_goes_on(tmp_path: Path) -> None:
    output, errors = tmp_path / "out.jsonl", io.StringIO()
    tally = run_jobs(
        jobs_of(["a", "loop", "c", "compiled loop", "e"]),
        StartUpper(),
        output=str(output),
        time_limit=0.1,
        chunk_size=5,
        errors=errors,
    )
    assert texts(output) == ["A", "C", "E"]
    assert tally == Tally(done=3, failed=2)
    assert "line 2 (p2): took longer than 0.1 s" in errors.getvalue()
    assert "line 4 (p4): the worker process died (exit status 1; it ends itself" in errors.getvalue()


def test_a_worker_that_dies_costs_only_the_job_that_kills_it(tmp_path: Path) -> None:
    output, errors = tmp_path / "out.jsonl", io.StringIO()
    words = ["a", "die", "c", "die once", "e", "f"]
    run_jobs(
        jobs_of(words),
        StartUpper(str(tmp_path / "flag")),
        output=str(output),
        processes=2,
        chunk_size=3,
        errors=errors,
    )
    assert texts(output) == ["A", "C", "DIE ONCE", "E", "F"]
    assert errors.getvalue().startswith("line 2 (p2): the worker process died (SIGKILL")


@pytest.mark.parametrize("processes", [1, 2])
def test_models_that_cannot_be_loaded_stop_the_run_with_their_error(processes: int) -> None:
    with pytest.raises(ForestAlignError, match=r"model\.bin:3: expected a number"):
        list(outcomes(jobs_of(["a"] * 5), StartBroken(), processes=processes))


def test_first_results_come_while_the_input_is_still_being_read() -> None:
    read = 0

    def endless() -> Iterator[Job]:
        nonlocal read
        while True:
            read += 1
            yield Job(read, str(read), "a")

    stream = outcomes(endless(), StartUpper(), processes=2, chunk_size=2)
    assert next(stream).number == 1
    for _ in range(50):
        next(stream)
    stream.close()
    assert read <= 51 + 2 * 2 * 8 + 2


def test_handlers_that_miscount_fail_loudly() -> None:
    def forgetful(jobs: Sequence[Job]) -> Iterator[Outcome[str]]:
        yield from (Outcome.of(job, "x") for job in jobs if job.number != 2)

    results = run_chunk(forgetful, jobs_of(["a", "b", "c"]))
    assert [outcome.error for outcome in results] == ["", "RuntimeError: the handler gave no outcome", ""]


def test_memory_stays_flat_over_many_pairs(tmp_path: Path) -> None:
    def peak_after(count: int) -> int:
        jobs = (Job(number, str(number), "some words " * 20) for number in range(1, count + 1))
        run_jobs(jobs, StartUpper(), output=str(tmp_path / "out.jsonl"))
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = peak_after(2_000)
    assert peak_after(100_000) - before < 5_000  # kilobytes; the output alone is 25 megabytes


@given(
    st.lists(st.sampled_from(["a", "b", "raise"]), max_size=30),
    st.integers(0, 30),
    st.integers(1, 7),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_resuming_after_any_cut_gives_the_same_file(words: list[str], cut: int, size: int, counted: bool) -> None:
    layout = Layout.LINES if counted else Layout.JSON
    path = Path(f"/dev/shm/forestalign-test-{os.getpid()}") if os.path.isdir("/dev/shm") else Path("resumed.jsonl")
    try:
        run_jobs(jobs_of(words), StartUpper(), output=str(path), layout=layout, chunk_size=size, errors=io.StringIO())
        whole = path.read_bytes()
        path.write_bytes(whole[: min(cut * 7, len(whole))])
        tally = run_jobs(
            jobs_of(words), StartUpper(), output=str(path), layout=layout, resume=True, errors=io.StringIO()
        )
        assert path.read_bytes() == whole
        assert tally.done + tally.failed + tally.skipped == len(words)
    finally:
        path.unlink(missing_ok=True)


def test_ids_that_occur_twice_are_done_twice_also_when_resumed(tmp_path: Path) -> None:
    jobs = [Job(1, "same", "a"), Job(2, "same", "b"), Job(3, "other", "c")]
    output = tmp_path / "out.jsonl"
    run_jobs(jobs[:1], StartUpper(), output=str(output))
    tally = run_jobs(jobs, StartUpper(), output=str(output), resume=True)
    assert texts(output) == ["A", "B", "C"]
    assert tally == Tally(done=2, skipped=1)


def test_a_torn_last_line_is_dropped_even_when_it_is_very_long(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b'{"id": "1"}\n' + b"x" * 200_000)
    drop_torn_line(path)
    assert path.read_bytes() == b'{"id": "1"}\n'
    path.write_bytes(b"x" * 200_000)
    drop_torn_line(path)
    assert path.read_bytes() == b""


def test_resuming_refuses_what_it_cannot_read(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text('{"id": "1"}\nno json\n')
    with pytest.raises(InputError, match=r'out\.jsonl:2: expected a JSON object with an "id"'):
        run_jobs([], StartUpper(), output=str(path), resume=True)
    with pytest.raises(UsageError, match="needs an output file"):
        run_jobs([], StartUpper(), resume=True)
    with pytest.raises(UsageError, match="cannot be resumed"):
        run_jobs([], StartUpper(), output=str(path), resume=True, layout=Layout.BLOCKS)


def test_two_runs_never_write_to_one_file(tmp_path: Path) -> None:
    def nested() -> Iterator[Job]:
        with pytest.raises(UsageError, match="another run is writing"):
            run_jobs([], StartUpper(), output=str(tmp_path / "out.jsonl"))
        yield Job(1, "1", "a")

    assert run_jobs(nested(), StartUpper(), output=str(tmp_path / "out.jsonl")).done == 1


def test_a_run_killed_twenty_times_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    output, chance = tmp_path / "out.jsonl", random.Random(7)

    def start(processes: int) -> subprocess.Popen[bytes]:
        program = f"from batch_workers import run_slowly; run_slowly({str(output)!r}, {processes})"
        return subprocess.Popen([sys.executable, "-c", program], cwd=Path(__file__).parent)

    kills = 0
    while kills < 20:
        size = output.stat().st_size if output.exists() else 0
        run = start(processes=2 if kills % 4 == 0 else 1)
        while run.poll() is None and (not output.exists() or output.stat().st_size == size):
            time.sleep(0.002)  # wait for its first line, so that every kill falls into the work
        time.sleep(chance.random() * 0.02)
        assert run.poll() is None, "the work ended before it could be killed often enough"
        run.kill()
        run.wait()
        kills += 1
        data = output.read_bytes()
        for line in data[: data.rfind(b"\n") + 1].splitlines():
            json.loads(line)
    assert start(processes=1).wait() == 0
    keys = [json.loads(line)["id"] for line in output.read_bytes().splitlines()]
    assert keys == [job.key for job in JOBS]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_has_rate_and_time_left_on_a_terminal_only(tmp_path: Path) -> None:
    terminal, file, quiet = Terminal(), io.StringIO(), Terminal()
    for stream, is_quiet in ((terminal, False), (file, False), (quiet, True)):
        run_jobs(
            jobs_of(["a", "raise", "c"]),
            StartUpper(),
            output=str(tmp_path / "out.jsonl"),
            total=3,
            errors=stream,
            quiet=is_quiet,
        )
    assert re.search(r"3/3 \[\d\d:\d\d<\d\d:\d\d, +[\d.]+ ?pairs/s\]", terminal.getvalue())
    for stream in (terminal, file, quiet):
        assert "line 2 (p2): ValueError: a bad word\n" in stream.getvalue()
    assert file.getvalue() == quiet.getvalue()


def test_the_user_is_told_of_a_compilation_when_the_compiled_form_is_missing_or_old(tmp_path: Path) -> None:
    source, index = tmp_path / "_kernels.py", tmp_path / "__pycache__" / "_kernels.run-1.py311.nbi"
    source.touch()
    assert is_stale(source)
    index.parent.mkdir()
    index.touch()
    assert not is_stale(source)
    os.utime(index, (0, 0))
    assert is_stale(source)


def test_map_ordered_gives_the_same_everywhere_and_raises_errors_here() -> None:
    with Processes(2) as workers:
        assert list(map_ordered(square, range(40), workers)) == list(map_ordered(square, range(40), ThisProcess()))
        with pytest.raises(ValueError, match="-1 is negative"):
            list(map_ordered(square, [3, -1, *range(40)], workers))
        assert list(map_ordered(square, [5], workers)) == [25]
