"""The door to the compiled core. Without it the plain twins do the work, and the user is told so, once per process."""

from __future__ import annotations

import sys
from functools import cache
from types import ModuleType

MISSING = "forestalign: the compiled core is not installed; the plain Python code does the work, slower"


def core(plain: bool = False) -> ModuleType | None:
    """The compiled module; None where the plain twins are wanted (`plain`) or it was not built."""
    return None if plain else _loaded()


@cache
def _loaded() -> ModuleType | None:
    try:
        from forestalign import _core
    except ImportError:
        print(MISSING, file=sys.stderr, flush=True)
        return None
    return _core
