"""The door to the compiled modules. Without them the plain twins do the work, and the user is told once.

Beside a plain module with a compiled twin stands the twin's source, `_name.pyx`; it has functions and classes of the
same names. `scripts/build_core.py` builds all of them or none.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import import_module
from types import ModuleType

MISSING = "forestalign: the compiled core is not installed; the plain Python code does the work, slower"


def core(module: str, plain: bool = False) -> ModuleType | None:
    """A compiled module by its name below the package; None where the plain twin is wanted or it was not built."""
    return None if plain else _loaded(module)


@lru_cache(maxsize=64)
def _loaded(module: str) -> ModuleType | None:
    try:
        return import_module(f"forestalign.{module}")
    except ImportError:
        _tell()
        return None


@lru_cache(maxsize=64)
def _tell() -> None:
    print(MISSING, file=sys.stderr, flush=True)
