"""A journal of a training run: every answer of the objective, so that a run that was cut off goes on exactly.

L-BFGS keeps its history to itself, but it is deterministic: given the same answers it asks the same questions. A
resumed run starts from the beginning, is answered from the journal, and computes again only where the journal ends. The
weights are those of a run that was never cut off, to the last bit.

The file is one line of JSON that says which run it belongs to, then one record of float64 numbers per answer: checksum
of the point, value, gradient. A record cut off in the middle is dropped.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import InputError, UsageError
from forestalign.outputs import naming
from forestalign.own_files import open_regular, started

FORMAT = "forestalign-crf-journal"
_BEGIN = json.dumps({"format": FORMAT})[:-1].encode()


def is_crf_journal(path: Path) -> bool:
    """Whether a file begins as our journals do."""
    with open(open_regular(path), "rb") as file:
        return file.read(len(_BEGIN)) == _BEGIN


class Journal:
    """Answers of the objective in the order in which they were asked for."""

    def __init__(self, path: str | Path, run: str, size: int, resume: bool):
        """`run` names the run by its data and settings; `size` is the length of the whole weight vector."""
        self._path, self._width = Path(path), size + 2
        header = (json.dumps({"format": FORMAT, "run": run, "size": size}) + "\n").encode()
        records = self._read(header) if resume and self._path.exists() else np.empty((0, self._width))
        self._known = iter(records)
        with naming(self._path):  # a kill in this moment leaves the journal as it was
            descriptor = started(self._path, header + records.tobytes())
        self._file = cast(BinaryIO, os.fdopen(descriptor, "r+b"))
        self._file.seek(0, os.SEEK_END)
        self.recalled = len(records)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def recall(self, point: FloatArray) -> tuple[float, FloatArray] | None:
        """The answer that the earlier run got for this point; None once it has no more."""
        record = next(self._known, None)
        if record is None:
            return None
        if record[0] != zlib.crc32(point.tobytes()):
            raise InputError(
                self._path, None, "the journal holds another run; start anew without --resume, or remove it"
            )
        return float(record[1]), record[2 : 2 + len(point)].copy()

    def record(self, point: FloatArray, value: float, gradient: FloatArray) -> None:
        """Keep one evaluation of the objective."""
        record = np.zeros(self._width)
        record[0], record[1] = zlib.crc32(point.tobytes()), value
        record[2 : 2 + len(gradient)] = gradient
        with naming(self._path):
            self._file.write(record.tobytes())
            self._file.flush()

    def _read(self, header: bytes) -> FloatArray:
        with open(open_regular(self._path), "rb") as file:
            line, _, body = file.read().partition(b"\n")
        if not line:
            return np.empty((0, self._width))
        if line + b"\n" != header:
            expected = json.loads(header)["run"]
            raise UsageError(f"{self._path} belongs to a run with other data or settings; this one is {expected}")
        complete = len(body) // (8 * self._width)
        return np.frombuffer(body[: complete * 8 * self._width]).reshape(complete, self._width)
