"""What a test may ask of work instead of a clock: how many functions it calls, and whether something has come about."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 120.0  # seconds after which a test gives up; no test is right or wrong by them


def count_calls(work: Callable[[], object]) -> int:
    """How many functions a piece of work calls: what it costs, whatever the machine is doing."""
    count = 0

    def count_call(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(count_call)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def wait_until(has_come: Callable[[], bool]) -> None:
    """Wait for something that other threads or processes bring about."""
    end = time.monotonic() + PATIENCE
    while not has_come():
        assert time.monotonic() < end, "it has not come about"
        time.sleep(0.005)


def size_of(path: Path) -> int:
    """Bytes of a file; 0 where there is none."""
    return path.stat().st_size if path.exists() else 0


def wait_for_growth(path: Path, size: int, run: subprocess.Popen[bytes]) -> None:
    """Wait until a process has written more than so many bytes, or has ended."""
    wait_until(lambda: run.poll() is not None or size_of(path) > size)
