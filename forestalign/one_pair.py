"""One pair of sentences, asked about by the default settings: what `forestalign.align` is for results.

>>> import forestalign
>>> print(forestalign.words("He bought a car.", "He purchased a car."))
He = He
bought = purchased
a = a
car = car
. = .
>>> [edit.target_text for edit in forestalign.edits("He bought a car.", "He purchased a car.").of_kind("replaced")]
['purchased']
"""

from __future__ import annotations

from functools import cache

from forestalign.aligner import Text, align, default_aligner
from forestalign.blas import with_one_thread
from forestalign.mining.edits import PairEdits
from forestalign.mining.verdicts import Similarity
from forestalign.words.linking import LinkedPair, WordLinker, parse_failure


def edits(source: Text, target: Text) -> PairEdits:
    """How the target differs from the source: kept, replaced, moved, deleted, inserted and so on."""
    return align(source, target).edits()


def similarity(source: Text, target: Text) -> Similarity:
    """Whether two sentences mean the same, the probability that they do, a score from 0 to 5, and the reasons."""
    return align(source, target).similarity()


@with_one_thread
def words(source: Text, target: Text) -> LinkedPair:
    """The word links of two sentences, without phrases."""
    aligner = default_aligner()
    first, second = aligner.parser.parse([aligner.sentence("source", source), aligner.sentence("target", target)])
    failed = parse_failure(first, second)
    if failed is not None:
        raise failed
    return LinkedPair(first.sentence, second.sentence, _linker().link(first, second))


@cache
def _linker() -> WordLinker:
    return WordLinker(default_aligner().config)
