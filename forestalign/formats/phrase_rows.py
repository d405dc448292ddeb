"""Phrase pairs as the rows of a table: what `forestalign align --tsv` prints."""

from __future__ import annotations

from collections.abc import Iterator

from forestalign.formats.phrase_records import PhraseRecord, SideRecord
from forestalign.tokens import Span

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


def to_tsv(record: PhraseRecord, bars: bool = False) -> str:
    """A row per phrase pair and per null phrase, largest first; cells that do not apply are empty.

    `bars` also gives phrases that exist in the binarised trees alone.
    """
    rows = [*_pair_rows(record, bars), *_null_rows(record)]
    return "\n".join("\t".join([" ".join(record.id.split()), *row]) for row in rows)


def _pair_rows(record: PhraseRecord, bars: bool) -> Iterator[tuple[str, ...]]:
    sources = record.source.phrases(entry.source for entry in record.phrases)
    targets = record.target.phrases(entry.target for entry in record.phrases)
    for entry, source, target in reversed(list(zip(record.phrases, sources, targets, strict=True))):
        if bars or not entry.bar:
            yield (
                source,
                target,
                _span(entry.source),
                _span(entry.target),
                entry.source_label,
                entry.target_label,
                entry.relation,
                ",".join(entry.evidence),
                "yes" if entry.compositional else "no",
                f"{entry.score:.5g}",
                "" if entry.posterior is None else f"{entry.posterior:.5g}",
            )


def _null_rows(record: PhraseRecord) -> Iterator[tuple[str, ...]]:
    rest = ("",) * (len(COLUMNS) - 5)
    for text, span in _nulls(record.source, record.nulls.source):
        yield text, "", span, "", *rest
    for text, span in _nulls(record.target, record.nulls.target):
        yield "", text, "", span, *rest


def _nulls(side: SideRecord, spans: tuple[Span, ...]) -> Iterator[tuple[str, str]]:
    return zip(side.phrases(spans), map(_span, spans), strict=True)


def _span(span: Span) -> str:
    return f"{span.begin}-{span.end}"
