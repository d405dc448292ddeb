"""Lists of word pairs that mean the same, in the tab-separated format of PPDB extracts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from forestalign.errors import InputError
from forestalign.inputs import kept_while_unchanged, read_lines, reading

BARS = "|||"
UNRELATED = frozenset({"Independent", "Exclusion"})  # of the entailment relations of PPDB 2.0


class PairList:
    """Pairs of words, lower-cased, in either order. Each pair is one string: half the memory of tuples."""

    def __init__(self, pairs: Iterable[tuple[str, str]]):
        self._pairs = frozenset(_key(left, right) for left, right in pairs)

    def __contains__(self, pair: tuple[str, str]) -> bool:
        return _key(*pair) in self._pairs

    def __len__(self) -> int:
        return len(self._pairs)


def _key(left: str, right: str) -> str:
    left, right = left.lower(), right.lower()
    return f"{left}\t{right}" if left <= right else f"{right}\t{left}"


@kept_while_unchanged(4)
def load_ppdb(path: str) -> PairList:
    """One pair per line: two columns separated by a tab, or PPDB's own fields separated by `|||`.

    Lines of PPDB that are said to be no paraphrases, or have an empty side, are left out.
    """
    return PairList(_pairs_of(Path(path)))


def list_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines of a list in UTF-8, plain or gzipped, LF or CRLF; empty ones are left out.

    Lines are cut at LF only: published lists hold control characters as words, which `str.splitlines` would take for
    line ends.
    """
    with reading(path, "pair list in UTF-8, plain or gzipped"):
        for number, line in read_lines(path):
            text = line.removesuffix(b"\r").decode("utf-8")
            if text:
                yield number, text


def _pairs_of(path: Path) -> Iterator[tuple[str, str]]:
    for number, line in list_lines(path):
        if BARS in line:
            fields = [field.strip() for field in line.split(BARS)]
            if len(fields) > 2 and fields[1] and fields[2] and not UNRELATED.intersection(fields[5:6]):
                yield fields[1], fields[2]
            continue
        left, _, right = line.partition("\t")
        if not (left and right) or "\t" in right:
            raise InputError(path, number, f"{line[:60]!r} is not two words separated by a tab")
        yield left, right
