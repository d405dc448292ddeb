"""Files with a fault in them, and the complaint they call forth."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from forestalign.errors import GrammarError


def complaint(read: Callable[[Path], object], path: Path, rows: str) -> str:
    """What `read` says of a table of grammar/ with these rows."""
    path.write_text(rows + "\n", encoding="utf-8")
    with pytest.raises(GrammarError) as caught:
        read(path)
    return str(caught.value)


def with_field(line: str, place: Sequence[str | int], value: object) -> str:
    """A line of JSON with another value at a place."""
    fields = json.loads(line)
    inner = fields
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return json.dumps(fields)
