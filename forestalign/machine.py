"""What this process takes of the machine: one thread for matrix products, memory, modules of other packages.

How many threads BLAS takes decides in which order it adds, and so the last digits: with one thread the same input gives
the same bytes in a command, in a library call, in any thread and in a worker process. Our matrices are small, so it is
quicker too. OpenBLAS has one number for the whole process. threadpoolctl lets only the first thread that asks change
it, and does nothing for all others; so OpenBLAS is told by its own function. Libraries that keep a number for each
thread (those built on OpenMP) are told in each. The kernels that BLAS and the encoder take depend on the processor, and
with them the last digits: `processor_kind`.

The C library keeps what a long sentence took, as holes between small pieces, and a process that has met long sentences
stays as large as they made it. The GNU library gives such holes back when it is asked to.

`import nltk` loads scipy.stats and more, and takes two seconds; `import lemminflect` loads spaCy, and with it torch,
just because they are installed, and takes four; `import scipy.optimize` takes half a second. Their modules are imported
without what these bring along.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import mmap
import os
import platform
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, wraps
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

from forestalign.errors import ForestAlignError

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")
# packages that bring a BLAS of their own, which is there once they are imported
BRINGERS = ("numpy", "scipy.linalg", "scipy.optimize", "torch")
_VECTOR_INSTRUCTIONS = ("avx", "fma", "amx", "sse4", "asimd", "sve")
_PREFIXES, _SUFFIXES = ("", "scipy_"), ("", "64_", "_64")  # of the names of OpenBLAS's functions


@dataclass(frozen=True, slots=True)
class BlasLibrary:
    """A BLAS that is loaded: its number of threads, and whether that is one for the whole process."""

    get: Callable[[], int]
    put: Callable[[int], object]
    is_shared: bool


class _OneThread:
    """While anybody is inside, BLAS has one thread; the last one out puts back what was there."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._forget()

    def _forget(self) -> None:
        """In a new process nobody is inside, and nobody holds the lock."""
        self._lock, self._inside = threading.Lock(), 0
        self._before: list[int] = []
        self._libraries: Sequence[BlasLibrary] = ()

    def __enter__(self) -> None:
        depth = getattr(self._own, "depth", 0)
        self._own.depth = depth + 1
        if depth:
            return
        libraries = loaded_libraries()
        self._own.libraries = [library for library in libraries if not library.is_shared]
        self._own.before = _put(self._own.libraries, [1] * len(self._own.libraries))
        with self._lock:
            if not self._inside:
                self._libraries = [library for library in libraries if library.is_shared]
                self._before = _put(self._libraries, [1] * len(self._libraries))
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        self._own.depth -= 1
        if self._own.depth:
            return
        _put(self._own.libraries, self._own.before)
        with self._lock:
            self._inside = max(self._inside - 1, 0)  # a fork inside forgets who was there
            if not self._inside:
                _put(self._libraries, self._before)


def _put(libraries: Sequence[BlasLibrary], counts: Sequence[int]) -> list[int]:
    """Set numbers of threads where that changes something; returns what they were."""
    before = [library.get() for library in libraries]
    for library, count, old in zip(libraries, counts, before, strict=False):
        if old != count:
            library.put(count)
    return before


@lru_cache(maxsize=1)
def processor_kind() -> str:
    """The kernels of BLAS and the vector instructions of this processor: where both are the same, all digits are."""
    import numpy  # noqa: F401
    from threadpoolctl import ThreadpoolController

    # what else is loaded (OpenMP of torch, say) depends on the program that asks
    kernels = {str(each["architecture"]) for each in ThreadpoolController().info() if "architecture" in each}
    path = Path("/proc/cpuinfo")
    listed = path.read_text(encoding="utf-8").splitlines() if path.exists() else [platform.processor()]
    words = next((line.split() for line in listed if line.startswith(("flags", "Features"))), listed[:1])
    vectors = sorted(word for word in words if word.startswith(_VECTOR_INSTRUCTIONS))
    return " ".join([platform.machine(), *sorted(kernels), *vectors])


def loaded_libraries() -> tuple[BlasLibrary, ...]:
    """The BLAS libraries that are loaded by now."""
    return _libraries(tuple(name for name in BRINGERS if name in sys.modules))


@lru_cache(maxsize=4)
def _libraries(bringers: tuple[str, ...]) -> tuple[BlasLibrary, ...]:
    """threadpoolctl looks through everything that the process has loaded, which is too slow for each call."""
    import numpy  # noqa: F401
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().lib_controllers
    return tuple(_library(each) for each in found if each.user_api == "blas")


def _library(controller: Any) -> BlasLibrary:
    if controller.internal_api != "openblas":
        return BlasLibrary(controller.get_num_threads, controller.set_num_threads, is_shared=False)
    if controller.threading_layer == "openmp":
        return BlasLibrary(controller.get_num_threads, controller.set_num_threads, is_shared=False)
    loaded = ctypes.CDLL(controller.filepath)
    for prefix, suffix in product(_PREFIXES, _SUFFIXES):
        put = getattr(loaded, f"{prefix}openblas_set_num_threads{suffix}", None)
        if put is not None:
            return BlasLibrary(controller.get_num_threads, put, is_shared=True)
    return BlasLibrary(controller.get_num_threads, controller.set_num_threads, is_shared=True)


_ONE_THREAD = _OneThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ONE_THREAD._forget)


def with_one_thread(function: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
    """A function whose matrix products run in one thread."""

    @wraps(function)
    def limited(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Value:
        with _ONE_THREAD:
            return function(*args, **kwargs)

    return limited


# ---- memory: giving back what is free, and telling when there is none left ----

MOST_FREE = 64 << 20  # bytes that may stay with the process; asking takes 4 ms, after some twenty pairs
OUT_OF_MEMORY = ("bad_alloc", "failed to map segment", "annot allocate memory", "can't start new thread")
SPARE = 64 << 20  # bytes; where these cannot be had, the encoder cannot be loaded


class _Use(ctypes.Structure):
    """`struct mallinfo2` of the GNU C library."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"
        )
    ]  # fmt: skip


def give_back(most_free: int = MOST_FREE) -> None:
    """Give free memory back where there is much of it; elsewhere than with the GNU library nothing happens."""
    library = _c_library()
    if library is not None and free_bytes() > most_free:
        library.malloc_trim(0)


def free_bytes() -> int:
    """Bytes that the C library holds and nobody uses."""
    library = _c_library()
    return int(library.mallinfo2().fordblks) if library is not None else 0


@cache
def _c_library() -> Any:
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):  # Windows
        return None
    if not (hasattr(library, "malloc_trim") and hasattr(library, "mallinfo2")):
        return None
    library.mallinfo2.restype = _Use
    return library


def is_out_of_memory(error: Exception) -> bool:
    """Ask this in the process where the error was raised, before it is dropped.

    Libraries say it in words of their own. A module whose library could not be loaded may also fail later, for want of
    a name: then only the memory itself tells. What is raised on purpose says itself what is wrong.
    """
    if isinstance(error, ForestAlignError):
        return False
    return isinstance(error, MemoryError) or any(sign in str(error) for sign in OUT_OF_MEMORY) or _is_used_up()


def _is_used_up() -> bool:
    try:
        mmap.mmap(-1, SPARE).close()
    except OSError:
        return True
    return False


# ---- modules of other packages ----

_IMPORTING = threading.Lock()


def light_import(package: str, modules: Sequence[str], bare: Sequence[str] = ()) -> list[ModuleType]:
    """The modules, named from below `package`, whose own `__init__` is not run, nor those of its `bare` sub-packages.

    Stand-ins take the places of these packages meanwhile, and nothing of the package stays in `sys.modules`: whoever
    imports it later gets the whole of it. Where it is there already, its modules are imported as usual.
    """
    names = [f"{package}.{module}" for module in modules]
    with _IMPORTING:
        if package in sys.modules:
            return [importlib.import_module(name) for name in names]
        try:
            for name in (package, *(f"{package}.{part}" for part in bare)):
                sys.modules[name] = _stand_in(name, package)
            return [importlib.import_module(name) for name in names]
        finally:
            for name in [name for name in sys.modules if name.partition(".")[0] == package]:
                del sys.modules[name]


@cache
def assignment_solver() -> Callable[..., tuple[Any, Any]]:
    """scipy's `linear_sum_assignment`, without the rest of scipy, whose import takes longer than parsing a pair."""
    (module,) = light_import("scipy", ["optimize._lsap"], bare=["optimize"])
    solver: Callable[..., tuple[Any, Any]] = module.linear_sum_assignment
    return solver


def _stand_in(name: str, package: str) -> ModuleType:
    """An empty package in the place of `name`, below which modules are found."""
    module = ModuleType(name)
    if name == package:
        found = importlib.util.find_spec(package)
        if found is None:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
        module.__path__ = list(found.submodule_search_locations or ())
    else:
        module.__path__ = [f"{root}/{name.removeprefix(package + '.')}" for root in sys.modules[package].__path__]
    return module
