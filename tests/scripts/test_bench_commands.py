"""The memory of every command that works on many pairs is measured, by lines that the commands understand."""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from bench_commands import COMMANDS, MemoryCurve, family

from forestalign.cli import COMMANDS as ALL


def parser_of(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(exit_on_error=False)
    importlib.import_module(f"forestalign.cli.{name}").configure(parser)
    return parser


@pytest.mark.parametrize("line", COMMANDS.values())
def test_every_line_is_understood_by_its_command(line: str) -> None:
    name, *arguments = line.split()
    _, unknown = parser_of(name).parse_known_args(arguments)
    assert unknown == []


def test_every_command_for_long_work_has_a_line() -> None:
    long_work = {name for name in ALL if "--time-limit" in parser_of(name).format_help()}
    assert len(long_work) >= 5
    assert long_work <= {line.split()[0] for line in COMMANDS.values()}


def test_a_curve_tells_its_beginning_its_middle_and_its_end() -> None:
    seconds = tuple(float(k) for k in range(101))
    curve = MemoryCurve(seconds, tuple(100.0 + 2 * at for at in seconds))
    assert [curve.at(share) for share in (0.05, 0.5, 1.0)] == [106.0, 196.0, 296.0]
    assert curve.growth == 190.0


def test_the_commands_that_a_user_gives_many_pairs_have_lines() -> None:
    named = {"align", "align --chunks", "words", "parse", "rerank", "edits", "similarity", "extract", "compare"}
    assert named <= set(COMMANDS)


def test_processes_that_a_thread_started_are_counted() -> None:
    with ThreadPoolExecutor(1) as threads:
        child = threads.submit(subprocess.Popen, ["sleep", "60"]).result()
        assert child.pid in family(os.getpid())
        child.kill()
        child.wait()
