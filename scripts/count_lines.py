"""Lines of code by folder, as a table for docs/architecture.md: an earlier commit beside the present tree.

    python scripts/count_lines.py COMMIT      # e.g. v0.2.0

Counts Python and Cython files that git knows, with blank lines and comments.
"""

from __future__ import annotations

import argparse
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENDINGS = ("py", "pyx", "pxd", "pxi")
TOPS = ("forestalign", "tests", "scripts")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", help="the commit to compare with")
    args = parser.parse_args()
    print("\n".join(table(count(args.commit), count())))


def count(commit: str = "") -> Counter[str]:
    """Lines by folder, two levels deep in the package, one elsewhere; of the present files, or of a commit."""
    patterns = [f"{top}/*.{ending}" for top in TOPS for ending in ENDINGS]
    command = ["git", "grep", "-c", "", *([commit] if commit else []), "--", *patterns]
    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    lines: Counter[str] = Counter()
    for row in printed.splitlines():
        name, _, number = row.removeprefix(f"{commit}:").rpartition(":")
        lines[folder(name)] += int(number)
    return lines


def folder(name: str) -> str:
    """The row that a file belongs to."""
    top, *parts = name.split("/")
    return f"{top}/{parts[0]}" if top == "forestalign" and len(parts) > 1 else top


def table(before: Counter[str], now: Counter[str]) -> list[str]:
    """Rows of Markdown: the package with its folders, the other folders, and the sums."""
    rows = ["| folder | before | now |", "|---|---|---|"]
    rows += [row(f"`{name}`", before[name], now[name]) for name in sorted({*before, *now}) if "/" in name]
    rows.append(row("modules beside the folders", before["forestalign"], now["forestalign"]))
    for top in TOPS:
        inside = [sum(lines for name, lines in each.items() if name.split("/")[0] == top) for each in (before, now)]
        rows.append(row(f"**`{top}`**", *inside))
    return [*rows, row("**all**", before.total(), now.total())]


def row(name: str, before: int, now: int) -> str:
    return f"| {name} | {before:,} | {now:,} |"


if __name__ == "__main__":
    main()
