"""Tune settings on a development set; the same as `forestalign tune`.

python scripts/tune.py annotations/dev.jsonl -o trials.jsonl --plot trials.png
"""

from __future__ import annotations

import sys

from forestalign.cli import main

if __name__ == "__main__":
    sys.exit(main(["tune", *sys.argv[1:]]))
