"""Checkpoints of training runs, which somebody else may have torn or exchanged, and what lies beside their models."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from forestalign.arrays import AnyArray
from forestalign.config import PLACES, AlignConfig
from forestalign.errors import ForestAlignError, InputError, UsageError
from forestalign.inputs import WHAT_GOES_WRONG, read_arrays
from forestalign.outputs import SideFile, check_sides, naming
from forestalign.own_files import lock_path, only_run, replace_file
from forestalign.pair_cache import made_cache

FORMAT = "forestalign-checkpoint"  # the array `format` of every checkpoint
_LONGEST_FORMAT = 1000  # bytes
LARGEST_CHECKPOINT = 1 << 32  # bytes of all arrays
Arrays = dict[str, AnyArray]
State = TypeVar("State")


def checkpoint_path(output: Path) -> Path:
    """The checkpoint of a run, named by the whole name of its output."""
    return Path(f"{output}.checkpoint.npz")


def is_checkpoint(path: Path) -> bool:
    """Whether a file is a checkpoint of ours."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = archive.getinfo("format.npy")
            return found.file_size < _LONGEST_FORMAT and FORMAT.encode("utf-32-le") in archive.read(found)
    except (OSError, KeyError, ValueError, NotImplementedError, zipfile.BadZipFile, zlib.error):
        return False


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a training run stands, as arrays in a file; `key` is a digest of all that the run depends on."""

    path: Path
    key: str

    def write(self, arrays: Mapping[str, npt.ArrayLike]) -> None:
        """Take the place of the last state."""
        named: dict[str, Any] = {**arrays, "key": self.key, "format": FORMAT}
        with naming(self.path), replace_file(self.path) as file:
            np.savez(file, **named)

    def read(self, state_of: Callable[[Arrays], State]) -> State | None:
        """The state, where there is a checkpoint. One that is torn, or of another run, is an error that names it."""
        if not self.path.exists():
            return None
        try:
            arrays = read_arrays(self.path, LARGEST_CHECKPOINT)
            if str(arrays.get("key")) != self.key:
                raise UsageError(f"{self.path} belongs to a run with other data or settings: it cannot be resumed here")
            return state_of(arrays)
        except ForestAlignError:
            raise
        except WHAT_GOES_WRONG as error:
            message = f"is not a checkpoint of a run, or is damaged ({error}); without --resume the run begins anew"
            raise InputError(self.path, None, message) from error


@contextmanager
def training(output: Path, record: SideFile, inputs: Iterable[str], cache: Path | None = None) -> Iterator[None]:
    """One run at a time trains a model of this name, and no file of somebody else lies where it writes.

    `record` is what it can be resumed from, and is removed when it is over.
    """
    sides = (record, SideFile(lock_path(output), lambda path: False))
    check_sides(output, sides, inputs)
    if cache is not None:
        made_cache(cache)
    with only_run(output):
        yield
        record.path.unlink(missing_ok=True)


def files_of(config: AlignConfig) -> tuple[str, ...]:
    """The files that settings name."""
    return tuple(getattr(config, name) for name in PLACES if getattr(config, name))
