"""One thread for matrix products, whatever the machine has.

How many threads BLAS takes decides in which order it adds, and so the last digits: with one thread the same input gives
the same bytes in a command, in a library call and in a worker process. Our matrices are small, so it is quicker too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")


class _OneThread:
    """While anybody is inside, BLAS has one thread; the last one out puts back what was there."""

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._before: list[int] = []

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = [library.get_num_threads() for library in _libraries()]
                _set_threads([1] * len(self._before))
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                _set_threads(self._before)


def _set_threads(counts: Sequence[int]) -> None:
    """Only where it changes something; threadpoolctl's own limit describes every library anew, at each call."""
    for library, count in zip(_libraries(), counts, strict=True):
        if library.get_num_threads() != count:
            library.set_num_threads(count)


@lru_cache(maxsize=1)
def _libraries() -> tuple[Any, ...]:
    """The BLAS libraries that are loaded: numpy's, which all our matrix products use."""
    import numpy  # noqa: F401

    return tuple(library for library in ThreadpoolController().lib_controllers if library.user_api == "blas")


_ONE_THREAD = _OneThread()


def with_one_thread(function: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
    """A function whose matrix products run in one thread."""

    @wraps(function)
    def limited(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Value:
        with _ONE_THREAD:
            return function(*args, **kwargs)

    return limited
