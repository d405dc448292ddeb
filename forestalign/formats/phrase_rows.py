"""Phrase pairs as the rows of a table: what `forestalign align --tsv` prints, and data frames."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from forestalign.errors import UsageError
from forestalign.formats.cells import cell
from forestalign.phrases.result.alignment import Alignment
from forestalign.phrases.result.discontinuous_pairs import runs_of, scattered_words
from forestalign.tokens import Sentence, Span

COLUMNS = (
    "id",
    "source",
    "target",
    "source_span",
    "target_span",
    "source_label",
    "target_label",
    "relation",
    "evidence",
    "compositional",
    "score",
    "posterior",
)


FRAME_COLUMNS = (
    "id",
    "source",
    "target",
    "confidence",
    "relation",
    "source_start",
    "source_end",
    "target_start",
    "target_end",
    "source_label",
    "target_label",
    "evidence",
    "compositional",
)


def to_tsv(alignment: Alignment, bars: bool | None = None) -> str:
    """A row per pair of phrases, of words that are no phrase, and per null phrase; cells that do not apply are empty.

    `bars` asks for all phrases that exist in the binarised trees alone, or for none.
    """
    rows = [*_pair_rows(alignment, bars), *_scattered_rows(alignment), *_null_rows(alignment)]
    return "\n".join("\t".join([cell(" ".join(alignment.id.split())), *row]) for row in rows)


def to_dataframe(alignment: Alignment) -> Any:
    """A pandas DataFrame with a row per pair that is shown, from the top down."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise UsageError("a DataFrame needs pandas, which is not installed: pip install pandas") from None
    rows = [
        {
            "id": alignment.id,
            "source": pair.source.text,
            "target": pair.target.text,
            "confidence": pair.confidence,
            "relation": pair.relation,
            "source_start": pair.source.begin,
            "source_end": pair.source.end,
            "target_start": pair.target.begin,
            "target_end": pair.target.end,
            "source_label": pair.source_label,
            "target_label": pair.target_label,
            "evidence": ",".join(pair.evidence),
            "compositional": pair.compositional,
        }
        for pair in alignment
    ]
    return pandas.DataFrame(rows, columns=list(FRAME_COLUMNS))


def _pair_rows(alignment: Alignment, bars: bool | None) -> Iterator[tuple[str, ...]]:
    for pair in alignment.pairs(bars=bars):
        yield (
            cell(pair.source.text),
            cell(pair.target.text),
            _span(pair.source),
            _span(pair.target),
            pair.source_label,
            pair.target_label,
            pair.relation,
            ",".join(pair.evidence),
            "yes" if pair.compositional else "no",
            f"{pair.log_prob:.5g}",
            _share(pair.confidence),
        )


def _scattered_rows(alignment: Alignment) -> Iterator[tuple[str, ...]]:
    for one in alignment.phrases.scattered:
        texts = scattered_words(alignment.source, one.source), scattered_words(alignment.target, one.target)
        spans = (",".join(map(_span, runs_of(words))) for words in (one.source, one.target))
        yield *map(cell, texts), *spans, "", "", one.relation, one.evidence, "", "", _share(one.confidence)


def _null_rows(alignment: Alignment) -> Iterator[tuple[str, ...]]:
    rest = ("",) * (len(COLUMNS) - 5)
    for text, span in _nulls(alignment.source, alignment.phrases.source_nulls):
        yield cell(text), "", span, "", *rest
    for text, span in _nulls(alignment.target, alignment.phrases.target_nulls):
        yield "", cell(text), "", span, *rest


def _nulls(sentence: Sentence, spans: tuple[Span, ...]) -> Iterator[tuple[str, str]]:
    return ((sentence.phrase(span), _span(span)) for span in spans)


def _share(posterior: float | None) -> str:
    return "" if posterior is None else f"{posterior:.5g}"


def _span(span: Span) -> str:
    return f"{span.begin}-{span.end}"
