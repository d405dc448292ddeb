"""The memory of every command that works on many pairs is measured, by lines that the commands understand."""

from __future__ import annotations

import argparse
import importlib

import pytest
from bench_commands import COMMANDS, MemoryCurve

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
    assert [curve.after(share) for share in (0.1, 0.5, 0.9)] == [130.0, 210.0, 290.0]
    assert curve.growth == 160.0
