"""Lines and modules by folder, beside the budget of `.ci/budget.json`; exits with 1 above it (`make size`).

    python scripts/size.py            # prints the table
    python scripts/size.py --lower    # also lowers the budget to the present figures; it never rises

Lines are those of Python and Cython files that git knows or would add, with comments and blank lines; modules are the
.py and .pyx files. The budget also has room for work that does not depend on the machine: `bench.py --check` counts it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET = ROOT / ".ci" / "budget.json"
TOPS = {"forestalign": "package", "tests": "tests", "scripts": "scripts"}
COUNTED, MODULES = (".py", ".pyx", ".pxd", ".pxi"), (".py", ".pyx")
Budget = dict[str, int | None]  # null: no bound yet


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lower", action="store_true", help="lower the budget to the present figures")
    args = parser.parse_args()
    lines, modules = count_files(ROOT)
    figures, budget = sum_by_top(lines, modules), read_budget()
    print(f"{'':24} {'lines':>8} {'modules':>8}")
    for folder in sorted(lines):
        print(f"{folder:24} {lines[folder]:8,} {modules[folder]:8,}")
    for name, value in figures.items():
        bound = budget.get(name)
        print(f"{name:24} {value:8,} of {bound:,}" if bound is not None else f"{name:24} {value:8,}")
    if args.lower:
        BUDGET.write_text(json.dumps(lower_budget(budget, figures), indent=2) + "\n", encoding="utf-8")
    return report_excess(figures, budget)


def count_files(root: Path) -> tuple[Counter[str], Counter[str]]:
    """Lines and modules by folder: two levels deep in the package, one elsewhere."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *TOPS]
    names = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.splitlines()
    lines: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    for path in map(Path, names):
        if path.suffix in COUNTED and (root / path).is_file():
            top, *rest = path.parts
            folder = f"{top}/{rest[0]}" if top == "forestalign" and len(rest) > 1 else top
            lines[folder] += (root / path).read_bytes().count(b"\n")
            modules[folder] += path.suffix in MODULES
    return lines, modules


def sum_by_top(lines: Counter[str], modules: Counter[str]) -> dict[str, int]:
    """The figures that have a budget."""
    return {
        f"{name}_{what}": sum(count for folder, count in counts.items() if folder.split("/")[0] == top)
        for top, name in TOPS.items()
        for what, counts in (("lines", lines), ("modules", modules))
    }


def read_budget() -> Budget:
    """What may not be exceeded, by name."""
    return dict(json.loads(BUDGET.read_text(encoding="utf-8")))


def lower_budget(budget: Mapping[str, int | None], figures: Mapping[str, int]) -> Budget:
    """The budget with every bound that the figures stay below; one that was not there yet is set."""
    return {
        name: figures.get(name) if bound is None else min(bound, figures.get(name, bound))
        for name, bound in budget.items()
    }


def report_excess(figures: Mapping[str, float], budget: Mapping[str, int | None]) -> int:
    """Print to stderr what is above the budget; the exit code."""
    above = [name for name, value in figures.items() if (bound := budget.get(name)) is not None and value > bound]
    for name in above:
        print(f"{name} is {figures[name]:,}; expected at most {budget[name]:,} ({BUDGET.name})", file=sys.stderr)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
