"""No code of strangers runs: modules that lie beside the data are data, whatever their names and whoever reads them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forestalign.cli import COMMANDS
from tests.builders.places import DATA, ROOT
from tests.builders.processes import COMMAND
from tests.builders.work import wait_until

MODULES = ("numpy", "json", "forestalign", "ctypes", "pickle", "tqdm", "scipy", "onnxruntime", "sitecustomize")
PLANTED = "open({!r}, 'a').write(__name__ + '\\n')\nraise ImportError('planted ' + __name__)\n"
# how each command works in all its processes
LINES = {
    "align": ["align pairs.tsv --json -q -o out.jsonl -j 2"],
    "words": ["words pairs.tsv"],
    "rerank": ["rerank pairs.tsv"],
    "parse": ["parse sentences.txt"],
    "train": ["train pairs.tsv -o model.json.gz --cache cache -j 2 --passes 1 -q"],
    "tune": ["tune gold.jsonl --cache cache -j 2 --trials 1 --initial 1 --limit 2 -q"],
    "model": ["model show --top 1"],
    "crf": ["crf train links.jsonl -o crf.json -j 2 --iterations 1 -q", "crf score pairs.tsv"],
    "evaluate": ["evaluate words links.jsonl links.txt"],
    "annotations": ["annotations check gold.jsonl"],
    "extract": ["extract results.jsonl -o table.tsv -j 2 -q"],
    "edits": ["edits results.jsonl -q"],
    "compare": ["compare sentences.txt others.txt -j 2 -q"],
    "check": ["check sentences.txt sentences.txt -q"],
    "sample": ["sample"],
    "similarity": ["similarity pairs.tsv"],
    "rules": ["rules gave"],
    "view": ["view results.jsonl -q"],
    "completion": ["completion bash"],
}
STARTS = r"\bsubprocess\.\w+\(|\bstart_process\(|os\.(?:system|popen|exec|spawn)|get_context\("
PATIENT = (pytest.mark.heavy, pytest.mark.patient)
QUICK = ("align", "words", "extract", "completion", "annotations", "view")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a run in a clean folder."""
    path = tmp_path_factory.mktemp("clean") / "results.jsonl"
    subprocess.run([*COMMAND, "align", str(DATA / "pairs.tsv"), "--json", "-q", "-o", str(path)], check=True)
    return path


@pytest.fixture
def folder(tmp_path: Path, results: Path) -> Path:
    """Data with modules beside it that leave a trace when they are imported."""
    pairs = (DATA / "pairs.tsv").read_text(encoding="utf-8").splitlines()[:4]
    (tmp_path / "pairs.tsv").write_text("".join(f"{pair}\n" for pair in pairs), encoding="utf-8")
    for name, side in (("sentences.txt", 0), ("others.txt", 1)):
        (tmp_path / name).write_text("".join(f"{pair.split(chr(9))[side]}\n" for pair in pairs), encoding="utf-8")
    gold = (ROOT / "annotations" / "dev.jsonl").read_text(encoding="utf-8").splitlines()[:2]
    (tmp_path / "gold.jsonl").write_text("".join(f"{line}\n" for line in gold), encoding="utf-8")
    links = '{"id": "1", "source": ["A", "dog"], "target": ["The", "dog"], "sure": [[1, 1]]}\n'
    (tmp_path / "links.jsonl").write_text(links, encoding="utf-8")
    (tmp_path / "links.txt").write_text("1-1\n", encoding="utf-8")
    shutil.copy(results, tmp_path / "results.jsonl")
    plant(tmp_path)
    return tmp_path


def plant(folder: Path) -> None:
    for name in MODULES:
        place = folder / name / "__init__.py" if name == "forestalign" else folder / f"{name}.py"
        place.parent.mkdir(exist_ok=True)
        place.write_text(PLANTED.format(str(folder / "trace")), encoding="utf-8")


def run_in(folder: Path, *arguments: str, start: tuple[str, ...] = COMMAND) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "home")}
    return subprocess.run([*start, *arguments], cwd=folder, capture_output=True, text=True, env=environment)


def trace_of(folder: Path) -> str:
    trace = folder / "trace"
    return trace.read_text(encoding="utf-8") if trace.exists() else ""


def test_every_command_is_tried() -> None:
    assert {*LINES, "serve"} == set(COMMANDS)


@pytest.mark.parametrize("name", [name if name in QUICK else pytest.param(name, marks=PATIENT) for name in LINES])
def test_modules_beside_the_data_are_not_run_by_a_command(folder: Path, name: str) -> None:
    for line in LINES[name]:
        done = run_in(folder, *line.split())
        assert trace_of(folder) == ""
        assert done.returncode == 0, done.stderr


@pytest.mark.heavy
def test_modules_beside_the_data_are_not_run_by_the_server(folder: Path) -> None:
    command = [*COMMAND, "serve", "results.jsonl", "--annotate", "mine.jsonl", "--port", "0"]
    server = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        url = next(match[1] for line in server.stderr if (match := re.search(r"open (\S+) in", line)))
        body = '{"source": "He died.", "target": "He passed away."}'
        asked = f"import urllib.request as r; print(r.urlopen(r.Request({url + 'align'!r}, {body.encode()!r}, "
        code = asked + "{'Content-Type': 'application/json'})).status)"
        told = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
        assert told.stdout == "200\n", told.stderr
    finally:
        server.kill()
        server.wait()
    assert trace_of(folder) == ""


@pytest.mark.heavy
def test_python_m_runs_modules_beside_the_data_neither(folder: Path) -> None:
    shutil.rmtree(folder / "forestalign")  # which Python itself would run, before it asks us
    done = run_in(folder, "words", "pairs.tsv", start=(sys.executable, "-m", "forestalign"))
    assert (done.returncode, trace_of(folder)) == (0, "")


@pytest.mark.heavy
def test_modules_beside_a_worker_of_a_cluster_are_not_run(folder: Path) -> None:
    pytest.importorskip("distributed")
    dask = (sys.executable, "-P", "-m", "distributed.cli.dask_scheduler")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    address = folder / "address.json"
    scheduler = subprocess.Popen(
        [*dask, "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(address)], **quiet
    )  # type: ignore[call-overload]
    wait_until(lambda: address.exists() and "tcp://" in address.read_text(encoding="utf-8"))
    found = re.search(r"tcp://[^\"]+", address.read_text(encoding="utf-8"))
    assert found is not None
    worker = subprocess.Popen(
        [sys.executable, "-P", "-m", "distributed.cli.dask_worker", found[0], "--no-dashboard", "--no-nanny"],
        cwd=folder,
        **quiet,
    )
    try:
        done = run_in(folder, "words", "pairs.tsv", "--cluster", found[0])
        assert (done.returncode, trace_of(folder)) == (0, ""), done.stderr
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


def test_every_process_that_is_started_is_told_where_modules_are() -> None:
    """A new place that starts Python has to be thought about, and added here."""
    places = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "forestalign").rglob("*.py")
        if re.search(STARTS, path.read_text(encoding="utf-8"))
    }
    # the last one forks, and so has all modules already
    assert places == {"forestalign/batch/workers.py", "forestalign/words/crf/training.py"}
