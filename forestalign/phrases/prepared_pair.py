"""A pair on its way to the phrase stage: parsed into forests, and its words linked."""

from __future__ import annotations

from dataclasses import dataclass

from forestalign.forest import Forest
from forestalign.words.alignment import WordAlignment


@dataclass(frozen=True, slots=True)
class PreparedPair:
    """Everything that the phrase stage needs of a pair of sentences."""

    source: Forest
    target: Forest
    words: WordAlignment
    id: str = ""
