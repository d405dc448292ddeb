"""The user's own parses for the backend `trees`, from a file of any of our tree formats."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from forestalign.errors import InputError
from forestalign.formats.forests import read_forests
from forestalign.formats.lines import read_text_lines
from forestalign.formats.tree_files import read_nbest, read_trees
from forestalign.parsers.given import Given
from forestalign.trees import ScoredTree


def read_given(path: str | Path) -> Iterator[Given]:
    """Forests as JSON lines, n-best lists or plain trees; the first line with text tells which."""
    first = next((text for _, text in read_text_lines(path) if text.strip()), "")
    if not first:
        raise InputError(path, None, "no tree in the file; expected Penn brackets, n-best lists or forests")
    if first.startswith("{"):
        yield from (forest for _, forest in read_forests(path))
    elif first.startswith("("):
        yield from ((ScoredTree(numbered.tree, 0.0),) for numbered in read_trees(path))
    else:
        yield from (nbest.trees for nbest in read_nbest(path))
