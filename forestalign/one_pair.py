"""One pair of sentences, or two columns of them, by the default settings: shortcuts for the most common questions.

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
from importlib import import_module
from typing import Any, Literal

from forestalign.aligner import Text, align, default_aligner
from forestalign.errors import UsageError, shown
from forestalign.machine import with_one_thread
from forestalign.mining.edits import PairEdits
from forestalign.mining.verdicts import Similarity
from forestalign.words.linking import LinkedPair, WordLinker, parse_failure


def edits(source: Text, target: Text) -> PairEdits:
    """How the target differs from the source: kept, replaced, moved, removed, added and so on."""
    return align(source, target).edits()


def similarity(source: Text, target: Text) -> Similarity:
    """Whether two sentences mean the same, the probability that they do, a score from 0 to 5, and the reasons."""
    return align(source, target).similarity()


def align_frame(frame: Any, source: str, target: str, jobs: int = 1, errors: Literal["raise", "skip"] = "raise") -> Any:
    """Two columns of a pandas DataFrame aligned: a row for each pair of phrases, under the label of its sentences' row.

    So `frame.join(forestalign.align_frame(frame, "a", "b"))` has the phrases beside the sentences.
    """
    for name in (source, target):
        if name not in getattr(frame, "columns", ()):
            raise UsageError(f"the frame has no column {shown(name)}; expected two of its columns with sentences")
    concat = import_module("pandas").concat  # whoever has a frame has it
    rows = zip(zip(frame[source], frame[target], strict=True), frame.index, strict=True)
    parts = [frame.iloc[:0][[]]]
    for result, label in default_aligner().pipe(rows, jobs, errors=errors, as_tuples=True):
        part = result.to_dataframe().drop(columns="id")
        part.insert(0, "verdict", result.verdict)
        part.insert(1, "probability", result.probability)
        part.index = frame.index[:0].insert(0, label).repeat(len(part))
        parts.append(part)
    return concat(parts)


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
