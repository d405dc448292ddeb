"""Lines of code by folder, for docs/architecture.md."""

from __future__ import annotations

from collections import Counter

import count_lines


def test_a_file_counts_for_its_folder() -> None:
    assert count_lines.folder("forestalign/words/crf/cells.py") == "forestalign/words"
    assert count_lines.folder("forestalign/config.py") == "forestalign"
    assert count_lines.folder("tests/words/test_x.py") == "tests"


def test_the_table_has_folders_and_sums() -> None:
    before = Counter({"forestalign/words": 1000, "forestalign": 10, "tests": 5})
    now = Counter({"forestalign/words": 900, "forestalign/view": 30, "forestalign": 10, "tests": 5, "scripts": 1})
    assert count_lines.table(before, now)[2:] == [
        "| `forestalign/view` | 0 | 30 |",
        "| `forestalign/words` | 1,000 | 900 |",
        "| modules beside the folders | 10 | 10 |",
        "| **`forestalign`** | 1,010 | 940 |",
        "| **`tests`** | 5 | 5 |",
        "| **`scripts`** | 0 | 1 |",
        "| **all** | 1,015 | 946 |",
    ]
