"""A real Dask scheduler with two worker processes on this machine, one of them killed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

import forestalign
from forestalign.aligner import LoadAligner
from forestalign.batch import cluster as cluster_module
from forestalign.batch.cluster import Cluster
from forestalign.batch.run import OutputOptions, RunLimits, outcomes, run_jobs
from forestalign.batch.workers import Job, StartWork, Worker, map_ordered
from forestalign.cli import main
from forestalign.config import AlignConfig
from forestalign.errors import ForestAlignError, MissingExtraError, UsageError
from forestalign.grammar import grammar_root
from forestalign.mining import pair_counts
from tests.builders.batch_workers import JOBS, StartUpper, square, start_slowly
from tests.builders.places import ROOT
from tests.builders.processes import children
from tests.builders.work import wait_until

Machines = tuple[str, list[subprocess.Popen[str]]]  # the address of the scheduler, and the workers


def start(*arguments: str, folder: Path | None = None, package: Path | None = None) -> subprocess.Popen[str]:
    """A program of Dask's, in a folder, with another copy of our package where one is given."""
    places = [str(package)] if package else []
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder or package,  # the current folder comes before all others
        env={
            **os.environ,
            "PYTHONPATH": ":".join([*places, str(ROOT), os.environ.get("PYTHONPATH", "")]),
        },
    )


def start_worker(address: str, folder: Path | None = None, package: Path | None = None) -> subprocess.Popen[str]:
    options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
    worker = start("distributed.cli.dask_worker", address, *options, folder=folder, package=package)
    wait_for(worker, r"Registered to:\s+(tcp://\S+)")
    return worker


def wait_for(process: subprocess.Popen[str], pattern: str) -> str:
    """The first group of the pattern in what the process prints; the rest of its output is thrown away."""
    assert process.stderr is not None
    for line in process.stderr:
        if match := re.search(pattern, line):
            Thread(target=process.stderr.read, daemon=True).start()
            return match.group(1)
    raise AssertionError(f"{process.args} ended without printing {pattern}")


@pytest.fixture
def machines() -> Iterator[Machines]:
    scheduler = start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    processes = [scheduler]
    try:
        address = wait_for(scheduler, r"Scheduler at:\s+(tcp://\S+)")
        for _ in range(2):
            processes.append(start_worker(address))
        yield address, processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.heavy
def test_a_cluster_gives_the_same_bytes_as_one_process_even_when_a_worker_is_killed(
    machines: Machines, tmp_path: Path
) -> None:
    address, workers = machines
    alone, together = tmp_path / "alone.jsonl", tmp_path / "together.jsonl"
    run_jobs(JOBS, start_slowly, output=OutputOptions(str(alone)), limits=RunLimits(chunk_size=4))

    def jobs() -> Iterator[Job]:
        for job in JOBS:
            if job.number == 200:
                workers[0].send_signal(signal.SIGKILL)
            yield job

    with Cluster(address) as cluster:
        assert cluster.capacity == 4
        tally = run_jobs(
            jobs(), start_slowly, workers=cluster, output=OutputOptions(str(together)), limits=RunLimits(chunk_size=4)
        )
    assert workers[0].wait() == -signal.SIGKILL
    assert tally.done == len(JOBS)
    assert together.read_bytes() == alone.read_bytes()


@pytest.mark.heavy
def test_limits_crashes_and_errors_are_treated_as_on_one_machine(
    machines: Machines, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    jobs = [Job(number, f"p{number}", word) for number, word in enumerate(["a", "late", "die", "raise", "e"], start=1)]
    with Cluster(machines[0]) as cluster:
        tally = run_jobs(
            jobs,
            StartUpper(),
            workers=cluster,
            output=OutputOptions(str(tmp_path / "out.jsonl")),
            limits=RunLimits(time_limit=600, chunk_size=5),
        )
        assert list(map_ordered(Worker.of(square), range(20), cluster)) == [square(number) for number in range(20)]
        with pytest.raises(ValueError, match="-1 is negative"):
            list(map_ordered(Worker.of(square), [-1, 2], cluster))
    messages = capfd.readouterr().err
    assert tally.done == 2
    assert "line 2 (p2): took longer than 600 s" in messages
    assert "line 3 (p3): the worker process died (SIGKILL" in messages
    assert "line 4 (p4): ValueError: a bad word" in messages


PAIRS = [
    ("The committee rejected the plan.", "The plan was rejected by the committee."),
    ("She bought a large house near the river.", "She purchased a big house close to the river."),
    ("He repaired the boat before the storm.", "Before the storm he mended his vessel."),
    ("My neighbour sold two chairs.", "Two chairs were sold by the man next door."),
]
PLAIN = ("--profile", "published", "--model", "hand-set")  # needs no trained model


@pytest.mark.heavy
def test_the_commands_give_the_same_bytes_on_a_cluster(machines: Machines, tmp_path: Path) -> None:
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
def test_a_table_of_paraphrases_is_the_same_when_a_cluster_counts(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb")
    pairs, results = tmp_path / "pairs.tsv", tmp_path / "results.jsonl"
    pairs.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS * 9), encoding="utf-8")
    assert main(["align", str(pairs), "--json", "-q", "-o", str(results), *PLAIN]) == 0
    monkeypatch.setattr(pair_counts, "_BATCH_CHARACTERS", 20_000)  # several batches
    files = [tmp_path / f"{name}.tsv" for name in ("alone", "processes", "cluster")]
    for file, options in zip(files, ([], ["--jobs", "2"], ["--cluster", machines[0]]), strict=True):
        assert main(["extract", str(results), "-q", "--patterns", "1", "-o", str(file), *options]) == 0
    assert len(files[0].read_bytes().splitlines()) > 10
    assert files[0].read_bytes() == files[1].read_bytes() == files[2].read_bytes()


@pytest.mark.heavy
def test_training_and_tuning_on_a_cluster_come_to_the_same_numbers(machines: Machines, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), encoding="utf-8")
    development = str(ROOT / "annotations" / "dev.jsonl")
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


@pytest.mark.heavy
def test_workers_with_another_kind_of_processor_are_told(
    machines: Machines, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Cluster(machines[0]) as cluster:
        assert cluster.capacity == 4
    assert "processor" not in capfd.readouterr().err
    monkeypatch.setattr(cluster_module, "_own_processor", lambda: "another")
    with Cluster(machines[0]) as cluster:
        assert cluster.capacity == 4
    assert len(re.findall(r"worker tcp://\S+ has another kind of processor", capfd.readouterr().err)) == 2


@pytest.mark.heavy
def test_a_scheduler_without_workers_is_told_after_some_seconds() -> None:
    scheduler = start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    try:
        address = wait_for(scheduler, r"Scheduler at:\s+(tcp://\S+)")
        with pytest.raises(UsageError, match="has no workers; start some with: dask worker tcp://"):
            Cluster(address)
    finally:
        scheduler.kill()
        scheduler.wait()


@pytest.mark.heavy
def test_processes_on_workers_end_with_the_run(machines: Machines, tmp_path: Path) -> None:
    address, workers = machines
    with Cluster(address) as cluster:
        run_jobs(
            JOBS[:20],
            start_slowly,
            workers=cluster,
            output=OutputOptions(str(tmp_path / "out.jsonl")),
            limits=RunLimits(chunk_size=2),
        )
        assert any(children(worker.pid) for worker in workers)
    assert not any(children(worker.pid) for worker in workers)


@pytest.mark.heavy
def test_a_lost_scheduler_is_told_in_one_line(tmp_path: Path) -> None:
    scheduler = start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    worker = None
    try:
        address = wait_for(scheduler, r"Scheduler at:\s+(tcp://\S+)")
        worker = start("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
        program = (
            "import sys\nfrom forestalign.batch.run import OutputOptions, run_jobs\n"
            "from forestalign.batch.cluster import Cluster\n"
            "from forestalign.errors import ForestAlignError\n"
            "from tests.builders.batch_workers import JOBS, start_slowly\n"
            "try:\n"
            "    with Cluster(sys.argv[1]) as cluster:\n"
            "        run_jobs(JOBS * 50, start_slowly, output=OutputOptions(sys.argv[2]), workers=cluster)\n"
            "except ForestAlignError as error:\n    print(error, file=sys.stderr)\n    sys.exit(1)\n"
        )
        output = tmp_path / "out.jsonl"
        run = subprocess.Popen(
            [sys.executable, "-c", program, address, str(output)],
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        wait_until(lambda: output.exists() and output.stat().st_size > 0)
        scheduler.kill()
        told = run.communicate()[1]
        assert run.returncode == 1
        assert told == "the cluster's scheduler has gone; --resume continues this run\n"
    finally:
        for process in (scheduler, worker):
            if process is not None:
                process.kill()
                process.wait()


# ---- workers that are not like the run ----


@pytest.fixture
def strangers(machines: Machines) -> Iterator[Callable[..., None]]:
    """Adds a worker in another folder or with another package."""
    added: list[subprocess.Popen[str]] = []

    def add(**options: Path) -> None:
        added.append(start_worker(machines[0], **options))

    yield add
    for worker in added:
        worker.kill()
        worker.wait()


OTHER_SOURCES = "of the same version"


def other_package(folder: Path, version: str = "") -> Path:
    """A copy of the package with another grammar, other sources, or the metadata of another version."""
    root = Path(forestalign.__file__).parent
    shutil.copytree(root, folder / "forestalign", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(grammar_root(), folder / "grammar")
    if version == OTHER_SOURCES:
        with (folder / "forestalign" / "errors.py").open("a") as file:
            file.write("# changed\n")
    elif version:
        (folder / f"forestalign-{version}.dist-info").mkdir()
        metadata = f"Metadata-Version: 2.1\nName: forestalign\nVersion: {version}\n"
        (folder / f"forestalign-{version}.dist-info" / "METADATA").write_text(metadata)
    else:
        (folder / "grammar" / "stop_words.txt").write_text("the\n")
    return folder


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("", "its grammar is"),
        ("0.0.9", r"has forestalign 0\.0\.9; this is version"),
        (OTHER_SOURCES, r"it has forestalign (\S+)\+\w{8}, and the run \1\+"),
    ],
)
def test_a_worker_with_another_version_or_grammar_is_refused_by_name(
    machines: Machines,
    strangers: Callable[..., None],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    version: str,
    message: str,
) -> None:
    strangers(package=other_package(tmp_path / "other", version))
    pairs, output = tmp_path / "pairs.tsv", tmp_path / "out.jsonl"
    pairs.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS * 9), encoding="utf-8")
    assert main(["align", str(pairs), "--json", "-q", "-o", str(output), "--cluster", machines[0], *PLAIN]) == 2
    assert re.search(rf"the cluster's worker tcp://\S+ .*{message}", capfd.readouterr().err)
    assert not output.exists() or output.stat().st_size == 0


@pytest.mark.heavy
def test_a_relative_file_that_holds_something_else_on_a_worker_is_refused_by_name(
    machines: Machines, strangers: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("here", "car\tautomobile\n"), ("there", "car\tbanana\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "list.txt").write_text(text)
    monkeypatch.chdir(tmp_path / "here")
    start = StartWork(LoadAligner(AlignConfig(ppdb="list.txt")), StartUpper)
    with Cluster(machines[0]) as cluster, pytest.raises(UsageError, match=r"tcp://.*list\.txt is not there"):
        list(outcomes(JOBS[:2], start, workers=cluster))
    for worker in machines[1]:
        worker.kill()
        worker.wait()
    strangers(folder=tmp_path / "there")
    with Cluster(machines[0]) as cluster, pytest.raises(UsageError, match=r"tcp://.*list\.txt holds something else"):
        list(outcomes(JOBS[:2], start, workers=cluster))


@pytest.mark.heavy
def test_a_worker_that_joins_later_is_refused_before_its_first_pair(
    machines: Machines, strangers: Callable[..., None], tmp_path: Path
) -> None:
    package = other_package(tmp_path / "other")

    def jobs() -> Iterator[Job]:
        for job in JOBS * 40:
            if job.number == 100:
                strangers(package=package)
            yield job

    with Cluster(machines[0]) as cluster, pytest.raises(UsageError, match="its grammar is"):
        list(outcomes(jobs(), start_slowly, workers=cluster, limits=RunLimits(chunk_size=4)))


@pytest.mark.heavy
def test_lost_workers_are_told_after_ten_seconds(
    machines: Machines, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "_GIVE_UP_SECONDS", 14.0)

    def jobs() -> Iterator[Job]:
        for job in JOBS * 40:
            if job.number == 100:
                for worker in machines[1]:
                    worker.kill()
                    worker.wait()
            yield job

    with Cluster(machines[0]) as cluster, pytest.raises(ForestAlignError, match="has lost all its workers"):
        list(outcomes(jobs(), start_slowly, workers=cluster, limits=RunLimits(chunk_size=4)))
    assert len(re.findall(r"the cluster's worker tcp://\S+ is lost; 0 workers left", capfd.readouterr().err)) == 2
