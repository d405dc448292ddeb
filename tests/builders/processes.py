"""Commands in this process and in others, and the processes that these begin."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from forestalign.cli import main
from tests.builders.places import DATA

PAIRS = DATA / "pairs.tsv"
# `forestalign`, wherever it is installed
COMMAND = (sys.executable, "-P", "-c", "import sys; from forestalign.cli import main; sys.exit(main())")


def call(arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as leaving:
        return int(leaving.code or 0)


def children(process: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False)
    return [int(each) for each in found.stdout.split()]


def is_alive(process: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
