"""Graphs of onnxruntime, opened so that they stay silent and small."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from forestalign.errors import GrammarError
from forestalign.machine import is_out_of_memory


class OnnxGraph:
    """A graph that runs on one thread. Whatever onnxruntime says about it becomes an error that names its file."""

    def __init__(self, path: Path):
        self._path = path
        onnxruntime = _silent_onnxruntime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # passes run side by side instead
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # the arena never gives back what the longest sentence took
        options.log_severity_level = 4  # errors are raised as well
        with self._telling("not a graph that onnxruntime can load"):
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.inputs = {given.name for given in self._session.get_inputs()}
        self.outputs = {given.name: given.shape[-1] for given in self._session.get_outputs()}  # with their last size

    def run(self, inputs: Mapping[str, Any], names: Sequence[str] | None = None) -> list[Any]:
        """The outputs, or those that are named."""
        with self._telling("the graph and the files beside it do not belong together"):
            found: list[Any] = self._session.run(names, inputs)
        return found

    @contextmanager
    def _telling(self, what: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # the library has a dozen of its own, with no other base
            if is_out_of_memory(error):
                raise
            raise GrammarError(self._path, None, f"{what} ({error})") from error


def _silent_onnxruntime() -> Any:
    """onnxruntime, which must neither write an identifier into the user's cache folder nor report to its makers.

    On Linux and macOS recent versions do both unless this variable is set when they are loaded.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # where it was loaded before, and on Windows
    return onnxruntime
