"""Results do not depend on the thread that asks, nor on a fork; workers belong to the process and not to a thread."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from threading import Barrier, Thread
from typing import Any, TypeVar

import pytest
from packaging.requirements import Requirement
from threadpoolctl import threadpool_limits

import forestalign
from forestalign import Aligner
from forestalign.batch.workers import Processes, Worker, map_ordered
from forestalign.config import AlignConfig
from forestalign.machine import loaded_libraries, with_one_thread
from tests.builders.batch_workers import process_id
from tests.builders.places import ROOT
from tests.builders.plain_pairs import PAIRS
from tests.builders.work import PATIENCE

Value = TypeVar("Value")


def in_a_thread(function: Callable[[], Value]) -> Value:
    found: list[Value] = []
    thread = Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def counts() -> list[int]:
    return [library.get() for library in loaded_libraries()]


@with_one_thread
def counts_inside() -> list[int]:
    return counts()


@pytest.fixture
def two_threads() -> Any:
    """threadpoolctl obeys the first thread that asks, which is this one."""
    with threadpool_limits(limits=2, user_api="blas"):
        yield


def test_one_thread_inside_in_any_thread(two_threads: None) -> None:
    assert counts_inside() == in_a_thread(counts_inside) == [1] * len(counts())
    assert set(counts()) == {2}


def test_the_last_thread_out_puts_back_what_was_there(two_threads: None) -> None:
    both_inside, found = Barrier(2), []

    @with_one_thread
    def work() -> None:
        both_inside.wait(PATIENCE)
        found.append(counts_inside())
        both_inside.wait(PATIENCE)

    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[1] * len(counts())] * 2
    assert set(counts()) == {2}


def test_a_thread_gets_the_bytes_of_the_main_thread(two_threads: None) -> None:
    aligner = forestalign.load()
    expected = [aligner.align(*pair).to_json() for pair in PAIRS]
    assert in_a_thread(lambda: [aligner.align(*pair).to_json() for pair in PAIRS]) == expected


@pytest.mark.heavy
def test_a_forked_process_gets_the_bytes_of_its_parent() -> None:
    """The fork happens while another thread is inside, which the child does not have."""
    program = f"""
        import os, sys, threading
        import forestalign
        from forestalign.machine import loaded_libraries, with_one_thread
        aligner, pairs = forestalign.load(), {PAIRS[:2]!r}
        expected = [aligner.align(*pair).to_json() for pair in pairs]
        inside, leave = threading.Event(), threading.Event()
        @with_one_thread
        def stay():
            inside.set()
            leave.wait()
        thread = threading.Thread(target=stay)
        thread.start()
        inside.wait()
        child = os.fork()
        if not child:
            same = [aligner.align(*pair).to_json() for pair in pairs] == expected
            os._exit(0 if same else 3)
        leave.set()
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], timeout=300, check=False)
    assert run.returncode == 0


# ---- workers ----


def test_workers_outlive_the_thread_that_started_them() -> None:
    with Processes(1) as workers:
        started = in_a_thread(lambda: list(map_ordered(Worker.of(process_id), [1], workers)))
        assert list(map_ordered(Worker.of(process_id), [1, 2], workers)) == started * 2


def test_a_forked_process_starts_workers_of_its_own() -> None:
    program = """
        import os, sys
        from forestalign.batch.workers import Processes, Worker, map_ordered
        with Processes(1) as workers:
            assert list(map_ordered(Worker.of(abs), [-1], workers)) == [1]
        child = os.fork()
        if not child:
            with Processes(1) as workers:
                os._exit(0 if list(map_ordered(Worker.of(abs), [-2], workers)) == [2] else 3)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], timeout=300, check=False)
    assert run.returncode == 0


# ---- pickles ----


def test_an_aligner_is_pickled_by_its_settings() -> None:
    aligner = Aligner(AlignConfig(beam=7, nbest=3))
    before = aligner.align(*PAIRS[1]).to_json()
    data = pickle.dumps(aligner)
    assert len(data) < 10_000
    again = pickle.loads(data)
    assert again.config == aligner.config
    assert again.align(*PAIRS[1]).to_json() == before


def test_a_parser_of_the_script_that_is_run_is_told_in_our_words(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import forestalign
            class Mine:
                def parse(self, sentences, forests=True, charts=False):
                    return []
            try:
                list(forestalign.Aligner(parser=Mine()).pipe([("a b", "c d")] * 3, jobs=2))
            except forestalign.ForestAlignError as error:
                print(error)
            """
        )
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(forestalign.__file__).parents[1])}
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, check=False)
    assert run.stderr == ""
    assert "has to stand in a module that can be imported" in run.stdout
    assert "Mine" in run.stdout


def test_a_parser_that_cannot_be_pickled_is_told_in_our_words() -> None:
    class Local:
        def parse(self, sentences: Any, forests: bool = True, charts: bool = False) -> list[Any]:
            return []

    with pytest.raises(forestalign.ForestAlignError, match="has to stand in a module"):
        list(Aligner(parser=Local()).pipe([("a b", "c d")] * 3, jobs=2))


# ---- what behaviour is relied on ----


def test_what_is_relied_on_has_an_upper_bound_that_holds_here() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = [Requirement(each) for each in project["dependencies"]]
    bounded = {each.name for each in required if any(bound.operator == "<" for bound in each.specifier)}
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    told = page.partition("Upper bounds stand")[2].partition("## Extras")[0]
    assert bounded == set(re.findall(r"^\| `([^`]+)`", told, re.MULTILINE))
    assert {"threadpoolctl", "nltk", "lemminflect"} <= bounded
    assert all(each.specifier.contains(version(each.name)) for each in required)
