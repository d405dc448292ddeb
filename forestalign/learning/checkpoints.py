"""Checkpoints of training runs that somebody else may have written, torn or exchanged."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forestalign.errors import InputError


@contextmanager
def reading_checkpoint(path: Path) -> Iterator[None]:
    """What numpy says about a file that is no checkpoint becomes our error, which names it."""
    try:
        yield
    except (
        OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError, OverflowError, MemoryError,
        NotImplementedError, zipfile.BadZipFile, zlib.error,
    ) as error:  # fmt: skip
        message = f"is no checkpoint of a run, or is damaged ({error}); without --resume the run begins anew"
        raise InputError(path, None, message) from error
