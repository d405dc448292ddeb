"""A real Dask scheduler with two worker processes on this machine, one of them killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from batch_workers import JOBS, StartUpper, square, start_slowly

from forestalign import cluster as cluster_module
from forestalign.batch import Job, map_ordered, run_jobs
from forestalign.cli import main
from forestalign.cluster import Cluster
from forestalign.errors import MissingExtraError, UsageError


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )


def wait_for(process: subprocess.Popen[str], pattern: str) -> str:
    """The first group of the pattern in what the process prints; the rest of its output is thrown away."""
    assert process.stderr is not None
    for line in process.stderr:
        if match := re.search(pattern, line):
            Thread(target=process.stderr.read, daemon=True).start()
            return match.group(1)
    raise AssertionError(f"{process.args} ended without printing {pattern}")


@pytest.fixture
def machines() -> Iterator[tuple[str, list[subprocess.Popen[str]]]]:
    scheduler = start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    processes = [scheduler]
    try:
        address = wait_for(scheduler, r"Scheduler at:\s+(tcp://\S+)")
        for _ in range(2):
            worker = start(
                "distributed.cli.dask_worker",
                address,
                "--nthreads",
                "1",
                "--no-nanny",
                "--no-dashboard",
                "--host",
                "127.0.0.1",
            )
            processes.append(worker)
            wait_for(worker, r"Registered to:\s+(tcp://\S+)")
        yield address, processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.heavy
def test_a_cluster_gives_the_same_bytes_as_one_process_even_when_a_worker_is_killed(
    machines: tuple[str, list[subprocess.Popen[str]]], tmp_path: Path
) -> None:
    address, workers = machines
    alone, together = tmp_path / "alone.jsonl", tmp_path / "together.jsonl"
    run_jobs(JOBS, start_slowly, output=str(alone), chunk_size=4)

    def jobs() -> Iterator[Job]:
        for job in JOBS:
            if job.number == 200:
                workers[0].send_signal(signal.SIGKILL)
            yield job

    with Cluster(address) as cluster:
        assert cluster.capacity == 4
        tally = run_jobs(jobs(), start_slowly, output=str(together), workers=cluster, chunk_size=4)
    assert workers[0].wait() == -signal.SIGKILL
    assert tally.done == len(JOBS)
    assert together.read_bytes() == alone.read_bytes()


@pytest.mark.heavy
def test_limits_crashes_and_errors_are_treated_as_on_one_machine(
    machines: tuple[str, list[subprocess.Popen[str]]], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    jobs = [Job(number, f"p{number}", word) for number, word in enumerate(["a", "loop", "die", "raise", "e"], start=1)]
    with Cluster(machines[0]) as cluster:
        tally = run_jobs(
            jobs, StartUpper(), output=str(tmp_path / "out.jsonl"), workers=cluster, time_limit=0.2, chunk_size=5
        )
        assert list(map_ordered(square, range(20), cluster)) == [square(number) for number in range(20)]
        with pytest.raises(ValueError, match="-1 is negative"):
            list(map_ordered(square, [-1, 2], cluster))
    messages = capfd.readouterr().err
    assert tally.done == 2
    assert "line 2 (p2): took longer than 0.2 s" in messages
    assert "line 3 (p3): the worker process died (SIGKILL" in messages
    assert "line 4 (p4): ValueError: a bad word" in messages


PAIRS = [
    ("The committee rejected the plan.", "The plan was rejected by the committee."),
    ("She bought a large house near the river.", "She purchased a big house close to the river."),
    ("He repaired the boat before the storm.", "Before the storm he mended his vessel."),
    ("My neighbour sold two chairs.", "Two chairs were sold by the man next door."),
]
PLAIN = ("--profile", "published", "--model", "uniform")  # needs no trained model


@pytest.mark.heavy
def test_the_commands_give_the_same_bytes_on_a_cluster(
    machines: tuple[str, list[subprocess.Popen[str]]], tmp_path: Path
) -> None:
    pairs, sentences = tmp_path / "pairs.tsv", tmp_path / "sentences.txt"
    pairs.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS * 9), encoding="utf-8")
    sentences.write_text("".join(f"{source}\n" for source, _ in PAIRS * 9), encoding="utf-8")
    for command in (["align", str(pairs), "--json", *PLAIN], ["parse", str(sentences), "--forest"]):
        files = [tmp_path / f"{command[0]}-{name}.jsonl" for name in ("alone", "processes", "cluster")]
        for file, options in zip(files, ([], ["--jobs", "2"], ["--cluster", machines[0]]), strict=True):
            assert main([*command, "-q", "-o", str(file), *options]) == 0
        assert len(files[0].read_bytes().splitlines()) == 36
        assert files[0].read_bytes() == files[1].read_bytes() == files[2].read_bytes()


@pytest.mark.heavy
def test_training_and_tuning_on_a_cluster_come_to_the_same_numbers(
    machines: tuple[str, list[subprocess.Popen[str]]], tmp_path: Path
) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), encoding="utf-8")
    development = str(Path(__file__).parents[1] / "annotations" / "dev.jsonl")
    train = ["train", str(pairs), "--passes", "1", "--batch-size", "2", "--min-count", "1", "--profile", "published"]
    tune = ["tune", development, "--limit", "3", "--trials", "2", "--param", "null_penalty=1:8", *PLAIN]
    found = []
    for name, options in (("alone", []), ("cluster", ["--cluster", machines[0]])):
        model, trials, cache = (tmp_path / f"{name}.{kind}" for kind in ("json.gz", "jsonl", "cache"))
        assert main([*train, "-o", str(model), "--cache", str(cache), "-q", *options]) == 0
        assert main([*tune, "-o", str(trials), "--cache", str(cache), "-q", *options]) == 0
        found.append((model.read_bytes(), trials.read_bytes()))
    assert found[0] == found[1]


@pytest.mark.heavy
def test_an_address_where_nobody_answers_is_bad_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "_CONNECT_SECONDS", 1)
    with pytest.raises(UsageError, match="no Dask scheduler answers"):
        Cluster("tcp://127.0.0.1:9")


def test_a_cluster_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"forestalign\[cluster\]"):
        Cluster("tcp://127.0.0.1:8786")
