"""Base phrases from tag patterns, so that no parse is needed: NP, VP, ADJP, ADVP, PP, as in chunked corpora.

A pattern is a regular expression over one letter per tag; the longest match from the left wins, and no chunk holds
another. A word outside every pattern is in no chunk.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

LETTERS = {
    **dict.fromkeys(("DT", "PDT", "WDT", "PRP$", "WP$"), "d"),
    **dict.fromkeys(("JJ", "JJR", "JJS"), "j"),
    **dict.fromkeys(("NN", "NNS", "NNP", "NNPS", "FW", "AFX", "HYPH"), "n"),
    **dict.fromkeys(("PRP", "EX", "WP"), "p"),
    **dict.fromkeys(("RB", "RBR", "RBS"), "r"),
    **dict.fromkeys(("VB", "VBD", "VBP", "VBZ"), "v"),
    **dict.fromkeys(("IN", "TO"), "i"),
    "CD": "c",
    "MD": "m",
    "POS": "s",
    "RP": "o",
    "VBG": "g",
    "VBN": "e",
    "WRB": "w",
    "$": "$",
    "#": "$",
}
# TO is "i" and also opens an infinitive; a possessive marker opens the noun phrase after it.
PATTERNS = (
    ("NP", re.compile(r"[ds]*(?:r?[jce$]|[ngc$])*n+|p|[ds]+(?:r?[jc])*|\$?c+")),
    ("VP", re.compile(r"(?:m?r*(?:i(?=r*v))?r*)?[vge](?:r*[vge])*o?|m")),
    ("ADJP", re.compile(r"r*j+")),
    ("ADVP", re.compile(r"[rw]+")),
    ("PP", re.compile(r"i+")),
)
CHUNK_TYPES = ("", *(name for name, _ in PATTERNS))


class Chunk(NamedTuple):
    """A shallow phrase of one kind."""

    begin: int
    end: int
    type: str


def chunk(tags: Sequence[str]) -> tuple[Chunk, ...]:
    """Base phrases, left to right. The longest match wins; of equally long ones, the pattern listed first."""
    letters = "".join(LETTERS.get(tag, "-") for tag in tags)
    chunks, begin = [], 0
    while begin < len(letters):
        end, name = max((_match_end(pattern, letters, begin), -rank) for rank, (_, pattern) in enumerate(PATTERNS))
        if end > begin:
            chunks.append(Chunk(begin, end, PATTERNS[-name][0]))
        begin = max(end, begin + 1)
    return tuple(chunks)


def _match_end(pattern: re.Pattern[str], letters: str, begin: int) -> int:
    found = pattern.match(letters, begin)
    return found.end() if found else begin
