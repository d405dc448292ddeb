"""The phrase pairs of one line of results, for counting.

A table is made of millions of pairs, so a line is only looked at as far as counting needs it: trees are not read. Where
something is amiss, the careful reader of `formats.codec` says what.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from forestalign.errors import AnnotationError
from forestalign.formats.codec import VERSION, from_json
from forestalign.formats.fields import Fields
from forestalign.lexicon.findings import PHRASE_RELATIONS

UNITS = 100_000  # a posterior of 1: results have five digits, and whole numbers add up the same in any order


class Phrases(NamedTuple):
    """One phrase pair: spans, labels, and what is known about it; `supports` are positions in the same list."""

    source: tuple[int, int]
    target: tuple[int, int]
    source_label: str
    target_label: str
    is_bar: bool
    supports: tuple[int, ...]
    posterior: int | None  # in UNITS
    relation: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AlignedLine:
    """What counting needs of one line of results."""

    id: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    phrases: tuple[Phrases, ...]
    signature: str


def read_line(text: str, path: str | Path, number: int) -> AlignedLine:
    """One line of results; AnnotationError names what is wrong with it."""
    try:
        if "\\u" in text:  # an escape may be half of a surrogate pair
            Fields.parse(text)
        return _line(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        result = from_json(text, path, number)  # raises, with place and reason
        odd = next(
            (each.relation for each in result.phrases.pairs if each.relation not in ("", *PHRASE_RELATIONS)), None
        )
        if odd is not None:
            message = f"relation is {odd!r}; expected one of {', '.join(PHRASE_RELATIONS)}, or nothing"
            raise AnnotationError(path, number, message) from None
        raise AnnotationError(path, number, f"cannot be counted: {error}") from None


def _line(fields: dict[str, Any]) -> AlignedLine:
    if fields["version"] != VERSION:
        raise ValueError(fields["version"])
    source, target = _tokens(fields["source"]), _tokens(fields["target"])
    counts = len(source), len(target)
    phrases = tuple([_phrases(entry, index, counts) for index, entry in enumerate(fields["phrases"])])
    id, signature = fields["id"], fields["signature"]
    if not isinstance(id, str) or not isinstance(signature, str):
        raise TypeError(id, signature)
    return AlignedLine(id, source, target, phrases, signature)


def _tokens(side: dict[str, Any]) -> tuple[str, ...]:
    tokens = side["tokens"]
    "".join(tokens)  # TypeError, unless all are strings
    return tuple(tokens)


def _phrases(entry: dict[str, Any], index: int, counts: tuple[int, int]) -> Phrases:
    (begin, end), (target_begin, target_end) = entry["source"], entry["target"]
    if not (0 <= begin < end <= counts[0] and 0 <= target_begin < target_end <= counts[1]):
        raise ValueError(entry["source"], entry["target"])
    supports = entry["supports"]
    if supports and (min(supports) < 0 or max(supports) >= index):
        raise ValueError(supports)
    posterior, relation = entry.get("posterior"), entry.get("relation", "")
    if relation and relation not in PHRASE_RELATIONS:
        raise ValueError(relation)
    if posterior is not None and not 0.0 <= posterior <= 1.0:
        raise ValueError(posterior)
    return Phrases(
        (begin, end),
        (target_begin, target_end),
        " ".join(entry["source_label"].split()),
        " ".join(entry["target_label"].split()),
        entry["bar"],
        tuple(supports),
        None if posterior is None else round(posterior * UNITS),
        relation,
        tuple(entry.get("evidence", ("links",))),
    )
