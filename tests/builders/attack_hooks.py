"""What tests/test_attack.py loads into every Python process that it starts, as `sitecustomize`.

Writes outside the folder of the attack are refused and noted. One call to the file system can be chosen, before which
(in the middle of which, if it writes) the process kills itself as SIGKILL does: nothing is cleaned up.
"""

from __future__ import annotations

import atexit
import os
import signal
import stat
import sys
from collections.abc import Callable
from typing import Any

FOLDER = os.environ.get("ATTACK_FOLDER", "")
PARENT = int(os.environ.get("ATTACK_PARENT", "0"))
KILL = int(os.environ.get("ATTACK_KILL", "0"))  # the number of the call; 0: none
COUNTED = ("open", "write", "ftruncate", "fsync", "replace", "rename", "unlink", "remove", "mkdir", "rmdir", "chmod")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
ALLOWED = ("/dev/", "/proc/self/")
# events of the interpreter, and which of their arguments are names that change
CHANGES = {
    "os.rename": (0, 1), "os.remove": (0,), "os.mkdir": (0,), "os.rmdir": (0,), "os.link": (1,), "os.symlink": (1,),
    "os.truncate": (0,), "os.chmod": (0,), "os.chown": (0,), "os.utime": (0,),
}  # fmt: skip


class Calls:
    """Counts the calls that change files, and dies at one of them."""

    def __init__(self) -> None:
        self.count = 0

    def watch(self, name: str) -> None:
        """Count the calls of a function of `os`."""
        function = getattr(os, name)

        def counted(*arguments: Any, **named: Any) -> Any:
            if self._is_counted(name, arguments):
                self.count += 1
                if self.count == KILL:
                    self._die(name, function, arguments)
            return function(*arguments, **named)

        setattr(os, name, counted)

    def _is_counted(self, name: str, arguments: tuple[Any, ...]) -> bool:
        if name == "open":
            return bool(arguments[1] & WRITING)
        if name == "write":
            return stat.S_ISREG(os.fstat(arguments[0]).st_mode)
        return True

    def _die(self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        if name == "write":
            function(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
        os.kill(os.getpid(), signal.SIGKILL)

    def tell(self) -> None:
        """Leave the number of calls for the attacker."""
        with open(os.path.join(FOLDER, "calls"), "w", encoding="utf-8") as file:
            file.write(str(self.count))


def refuse_outside(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: no file changes but below the folder."""
    if event == "open":
        path, _, flags = arguments
        names = (path,) if isinstance(flags, int) and flags & WRITING else ()
    else:
        names = tuple(arguments[place] for place in CHANGES.get(event, ()))
    for name in names:
        if isinstance(name, str | bytes | os.PathLike) and not _is_inside(os.fsdecode(name)):
            _note(f"{event} {os.fsdecode(name)}")
            raise PermissionError(1, "outside the folder of the attack", os.fsdecode(name))


def _is_inside(name: str) -> bool:
    folder = os.path.realpath(os.path.dirname(os.path.abspath(name)))
    return (folder + os.sep).startswith(FOLDER + os.sep) or name.startswith(ALLOWED)


def _note(line: str) -> None:
    with open(os.path.join(FOLDER, "outside"), "a", encoding="utf-8") as file:
        file.write(line + "\n")


if FOLDER:
    sys.addaudithook(refuse_outside)
    if os.getppid() == PARENT:  # the command itself, not its workers
        calls = Calls()
        for each in COUNTED:
            calls.watch(each)
        atexit.register(calls.tell)
