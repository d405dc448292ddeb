"""What stands in the way is reported before any work is done, and what does not stand in the way does not matter."""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from forestalign.cli.options import named_files
from forestalign.errors import UsageError
from forestalign.mining.pair_counts import CountedLines, PairCount
from forestalign.mining.phrase_table import PhraseTable, RowFilter
from forestalign.outputs import check_output
from tests.builders.processes import COMMAND, PAIRS

DROP_FROM_BOUNDING_SET = 24  # of prctl
READ_ALL, SEARCH_ALL = 1, 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="takes powers from root")


def powerless() -> None:
    """What is executed next has to respect modes, also as root."""
    library = ctypes.CDLL(None)
    for power in (READ_ALL, SEARCH_ALL):
        library.prctl(DROP_FROM_BOUNDING_SET, power, 0, 0, 0)


def run_powerless(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        preexec_fn=powerless,
        env={**os.environ, **environment},
        timeout=300,
    )


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    """A folder that nobody may write to."""
    folder = tmp_path / "closed"
    folder.mkdir()
    (folder / "old").write_text("old\n")
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)


@needs_linux
@pytest.mark.parametrize(
    "line",
    [
        "align PAIRS -o CLOSED/new",
        "align PAIRS -o CLOSED/old --force",
        "train PAIRS -o CLOSED/new",
        "train PAIRS -o model --cache CLOSED/cache",
        "train PAIRS -o model --cache CLOSED",
        "train --gold PAIRS -o model --cache CLOSED",
        "crf train PAIRS -o CLOSED/old --force",
        "extract PAIRS -o CLOSED/new",
        "view PAIRS -o CLOSED/new",
        "edits PAIRS --report CLOSED/new",
        "serve --annotate CLOSED/new --port 0",
    ],
)
def test_a_folder_that_cannot_be_written_is_told_before_any_work(closed: Path, tmp_path: Path, line: str) -> None:
    words = [word.replace("PAIRS", str(PAIRS)).replace("CLOSED", str(closed)) for word in line.split()]
    done = run_powerless(tmp_path, *words)
    assert done.returncode == 2
    assert str(closed) in done.stderr
    assert "ermission denied" in done.stderr
    assert done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == ["closed"]


@needs_linux
@pytest.mark.parametrize("command", ["words", pytest.param("align", marks=pytest.mark.heavy)])
def test_a_current_folder_that_cannot_be_read_is_no_matter(tmp_path: Path, command: str) -> None:
    (tmp_path / "shut").mkdir(mode=0o000)
    done = run_powerless(tmp_path / "shut", command, str(PAIRS), "-q", "-o", str(tmp_path / "out"))
    assert (done.returncode, done.stderr) == (0, "")


def test_names_of_methods_are_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("sultan", "best", "crf", "pairs.tsv", "links.txt"):
        Path(name).touch()
    args = argparse.Namespace(pairs="pairs.tsv", links="sultan", profile="best", method="crf")
    assert list(named_files(args)) == ["pairs.tsv"]
    assert list(named_files(argparse.Namespace(links="links.txt"))) == ["links.txt"]


@needs_linux
def test_without_a_home_the_message_names_the_option(tmp_path: Path) -> None:
    environment = {"HOME": "/dev/null/home", "XDG_CACHE_HOME": ""}
    done = run_powerless(tmp_path, "train", str(PAIRS), "-o", "model", **environment)
    assert done.returncode == 2
    assert "--cache DIR" in done.stderr
    assert os.listdir(tmp_path) == []


def test_a_pipe_in_a_folder_that_cannot_be_written_is_an_output(closed: Path) -> None:
    check_output("/dev/null")
    with pytest.raises(UsageError, match="it is a folder"):
        check_output(closed)


# ---- a table to stdout ----


@needs_linux
@pytest.mark.heavy
def test_a_table_to_stdout_needs_no_folder_that_can_be_written(closed: Path, tmp_path: Path) -> None:
    closed.chmod(0o755)
    results = closed / "results.jsonl"
    subprocess.run([*COMMAND, "align", str(PAIRS), "--json", "-q", "-o", str(results)], check=True)
    closed.chmod(0o555)
    nowhere = {"TMPDIR": str(closed)}
    usual = subprocess.run(
        [*COMMAND, "extract", str(results), "-o", "-", "-q"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    only = "import sys, tempfile; only = [sys.argv.pop(1)]; tempfile._candidate_tempdir_list = lambda: only; "
    done = subprocess.run(
        [*COMMAND[:-1], only + COMMAND[-1], str(closed), "extract", str(results), "-o", "-", "-q"],
        cwd=closed, capture_output=True, text=True, preexec_fn=powerless, env={**os.environ, **nowhere},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == usual.stdout
    assert len(done.stdout.splitlines()) > 20
    assert sorted(os.listdir(tmp_path)) == ["closed"]


def test_a_table_in_memory_has_the_rows_of_one_on_disk(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    counted = CountedLines("r.jsonl", {}, {}, 3, 0)
    counted.counts[("a 'b'", 'c, "d"', "NP", "", 0)] = PairCount(2, 5, {"equal": 2}, {"link"}, ["1", "2"])
    counted.counts[("a 'b'", "e\n", "NP", "VP", 1)] = PairCount(1, 1, {"": 1}, set(), ["3"])
    found = []
    for folder in (tmp_path, None):
        table = PhraseTable(folder)
        table.add(counted)
        table.add(counted)
        found.append(list(table.rows(RowFilter())))
        table.close()
    assert found[0] == found[1]
    assert len(found[0]) == 2
