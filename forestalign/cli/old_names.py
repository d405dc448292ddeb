"""Options by the names that they had before: they still work, and say so on stderr."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any


class OldName(argparse.Action):
    """Stores the value for the option of the new name; the help does not show it.

    parser.add_argument("--random-seed", action=OldName, dest="seed", new_name="--seed", type=int)
    """

    def __init__(self, option_strings: Sequence[str], dest: str, new_name: str, **options: Any):
        self._new_name = new_name
        super().__init__(option_strings, dest, default=argparse.SUPPRESS, help=argparse.SUPPRESS, **options)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Store the value and tell the new name."""
        message = f"{option_string} is now called {self._new_name}; the old name still works"
        print(f"{parser.prog}: {message}", file=sys.stderr)
        setattr(namespace, self.dest, values)
