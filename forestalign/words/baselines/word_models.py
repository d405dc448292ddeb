"""IBM and HMM models learned from the very pairs that are aligned, by eflomal (Östling and Tiedemann 2016).

Both directions are sampled, and the links that both have are kept, as the papers do with GIZA++. A model needs the
whole corpus at once, and says little about a small one. Sampling is random: two runs differ in a few links.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from forestalign.errors import UsageError
from forestalign.tokens import Sentence
from forestalign.words.alignment import WordAlignment, WordLink


def corpus_links(pairs: Sequence[tuple[Sentence, Sentence]]) -> list[WordAlignment]:
    """The links of each pair: the intersection of both directions."""
    try:
        import eflomal
    except ImportError:
        raise UsageError("the method ibm needs the package eflomal: pip install 'forestalign[baselines]'") from None
    texts = [[_line(pair[side]) for pair in pairs] for side in (0, 1)]
    with tempfile.TemporaryDirectory() as folder:
        names = [str(Path(folder) / name) for name in ("forward", "back")]
        eflomal.Aligner().align(*texts, links_filename_fwd=names[0], links_filename_rev=names[1], quiet=True)
        forward, back = (_read(name) for name in names)
    return [
        WordAlignment(tuple(WordLink(i, j, 1.0, "both directions") for i, j in sorted(one & other)))
        for one, other in zip(forward, back, strict=True)
    ]


def _line(sentence: Sentence) -> str:
    """Words separated by blanks, which no word may hold; the models see lower case."""
    return " ".join("_".join(word.lower().split()) for word in sentence.words) + "\n"


def _read(name: str) -> list[set[tuple[int, int]]]:
    with open(name, encoding="ascii") as file:
        rows = [[link.split("-") for link in line.split()] for line in file]
    return [{(int(i), int(j)) for i, j in row} for row in rows]
