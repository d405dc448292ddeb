"""Whether an error is want of memory, whoever noticed it and whatever it says."""

from __future__ import annotations

import mmap

from forestalign.errors import ForestAlignError

MESSAGES = ("bad_alloc", "failed to map segment", "annot allocate memory", "can't start new thread")
SPARE = 64 << 20  # bytes; where these cannot be had, the encoder cannot be loaded


def is_want_of_memory(error: Exception) -> bool:
    """Ask this in the process where the error was raised, before it is dropped.

    Libraries say it in words of their own. A module whose library could not be loaded may also fail later, for want of
    a name: then only the memory itself tells. What is raised on purpose says itself what is wrong.
    """
    if isinstance(error, ForestAlignError):
        return False
    return isinstance(error, MemoryError) or any(sign in str(error) for sign in MESSAGES) or _is_used_up()


def _is_used_up() -> bool:
    try:
        mmap.mmap(-1, SPARE).close()
    except OSError:
        return True
    return False
