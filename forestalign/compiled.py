"""The door to the compiled modules. Without them plain Python does the work, and the user is told once.

`scripts/build_core.py` builds all of them or none, from two kinds of sources. A kernel is a `.py` file that says
`import cython`: Python imports the compiled module where it was built, and else runs the file as it is, with
`plain_cython` for Cython if that is not installed. The others are `_name.pyx`, with functions and classes of the same
names as a plain module beside them.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import lru_cache
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

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


def load_plain(kernel: str) -> ModuleType:
    """The source of a kernel, run as it is, also where it was compiled."""
    loader = SourceFileLoader(
        f"plain.{kernel}", str(Path(__file__).parent.joinpath(*kernel.split(".")).with_suffix(".py"))
    )
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


class _Unchanged(nullcontext[None]):
    """A decorator, or a context, that changes nothing."""

    def __call__(self, function: Any = None, **_: Any) -> Any:
        return self if function is None else function


class plain_cython:  # noqa: N801 (it stands for a module)
    """What kernels ask of Cython where it is not installed; nobody looks at their types."""

    compiled = False
    cclass = final = cfunc = inline = exceptval = nogil = _Unchanged()
    int = double = None

    @staticmethod
    def declare(_: Any, value: Any) -> Any:
        return value

    cast = declare


class plain_vector(list[Any]):  # noqa: N801
    """What kernels ask of a vector of C++."""

    push_back, pop_back, size = list.append, list.pop, list.__len__

    def assign(self, count: int, value: Any) -> None:
        """So many of one value."""
        self[:] = [value] * count

    def back(self) -> Any:
        """The last value."""
        return self[-1]
