"""Tells the user when a command is about to compile its kernels, which happens once and takes a while."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import forestalign

PARSING = ("chart/_kernels.py", "chart/_kbest.py")
SEARCHING = ("_search_kernels.py",)
ALIGNING = (*PARSING, *SEARCHING)


def announce_compilation(kernels: Sequence[str]) -> None:
    """Say that kernels will be compiled now, if their compiled form is missing or older than their source."""
    root = Path(forestalign.__file__).parent
    if any(is_stale(root / name) for name in kernels):
        print("compiling the kernels; this happens once and takes about a minute", file=sys.stderr, flush=True)


def is_stale(source: Path) -> bool:
    """Whether numba has no fresh index of this module where it keeps them: beside it, where that can be written to.

    Elsewhere (NUMBA_CACHE_DIR, a read-only installation) numba is not asked, since importing it takes a second.
    """
    folder = source.parent / "__pycache__"
    if "NUMBA_CACHE_DIR" in os.environ or not os.access(source.parent, os.W_OK):
        return False
    indices = [index.stat().st_mtime for index in folder.glob(f"{source.stem}.*.nbi")]
    return not indices or max(indices) < source.stat().st_mtime
