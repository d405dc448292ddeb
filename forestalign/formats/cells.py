"""Words in the cells of a table that somebody may open in a spreadsheet."""

from __future__ import annotations

_FORMULA = ("=", "+", "-", "@")


def cell(text: str) -> str:
    """Words as a cell: what a spreadsheet would take for a formula, and run, has an apostrophe before it.

    >>> cell("=1+1"), cell("a = b")
    ("'=1+1", 'a = b')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text
