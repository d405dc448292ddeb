"""The memory of this process: giving back what is free, and telling when there is none left.

The C library keeps what a long sentence took, as holes between small pieces, and a process that has met long sentences
stays as large as they made it. The GNU library gives such holes back when it is asked to.
"""

from __future__ import annotations

import ctypes
import mmap
from functools import cache
from typing import Any

from forestalign.errors import ForestAlignError

MOST_FREE = 64 << 20  # bytes that may stay with the process; asking takes 4 ms, after some twenty pairs
MESSAGES = ("bad_alloc", "failed to map segment", "annot allocate memory", "can't start new thread")
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
    library = _library()
    if library is not None and free_bytes() > most_free:
        library.malloc_trim(0)


def free_bytes() -> int:
    """Bytes that the C library holds and nobody uses."""
    library = _library()
    return int(library.mallinfo2().fordblks) if library is not None else 0


@cache
def _library() -> Any:
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):  # Windows
        return None
    if not (hasattr(library, "malloc_trim") and hasattr(library, "mallinfo2")):
        return None
    library.mallinfo2.restype = _Use
    return library


# ---- when there is none left ----


def is_out_of_memory(error: Exception) -> bool:
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
