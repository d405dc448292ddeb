"""Processes are started by a thread that lives as long as this process does.

Linux ends a worker when the thread that started it ends, if the worker asked to be ended with its parent. The threads
of a program come and go, and its workers have to stay.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

Request = tuple[Callable[[], subprocess.Popen[bytes]], "Future[subprocess.Popen[bytes]]"]


class _Spawner:
    """One thread that starts processes for all others; a forked process begins with one of its own."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Threads do not come along into a forked process."""
        self._lock = threading.Lock()
        self._requests: SimpleQueue[Request] | None = None

    def start(self, function: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        """Have the thread call a function that starts a process."""
        with self._lock:
            if self._requests is None:
                self._requests = SimpleQueue()
                threading.Thread(target=_serve, args=(self._requests,), daemon=True, name="spawner").start()
        answer: Future[subprocess.Popen[bytes]] = Future()
        self._requests.put((function, answer))
        return answer.result()


def _serve(requests: SimpleQueue[Request]) -> None:
    while True:
        function, answer = requests.get()
        try:
            answer.set_result(function())
        except BaseException as error:
            answer.set_exception(error)


_SPAWNER = _Spawner()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_SPAWNER.forget)


def start_process(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """`subprocess.Popen`, in the thread that lasts."""
    return _SPAWNER.start(lambda: subprocess.Popen(command, **options))
