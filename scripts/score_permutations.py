"""What is found again of sentences whose own parts were only put elsewhere.

    python scripts/make_pairs.py ewt.dev.mrg.gz --usage ewt.train.mrg.gz --permutations -o made.jsonl
    python scripts/score_permutations.py made.jsonl
    python scripts/score_permutations.py made.jsonl --set scoring=paper

Every word of such a pair has itself as its partner, and every constituent of several words that was kept whole. Printed
are the shares of words and constituents that are paired so, of pairs of sentences in which nothing is missing, of
function words paired with another one, and of content words that are linked with themselves but are in no pair. A
constituent can be found only where the parser has it on both sides; that share is printed beside.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forestalign.aligner import Aligner
from forestalign.cli.align_options import add_settings, config_of
from forestalign.errors import NoParseError
from forestalign.evaluation.annotated_pairs import AnnotatedPair
from forestalign.evaluation.annotation_files import read_annotations
from forestalign.forest import Forest
from forestalign.phrases.result.alignment import Alignment
from forestalign.tokens import Span
from forestalign.words.sentence_scores import is_content

BATCH = 32
SpanPair = tuple[Span, Span]


class Parts(NamedTuple):
    """What two sentences share: their words without punctuation, and their constituents of several words."""

    words: frozenset[SpanPair]
    constituents: frozenset[SpanPair]


def main() -> int:
    args = _arguments()
    aligner = Aligner(config_of(args))
    for path in args.gold:
        pairs = list(read_annotations(path))[: args.limit or None]
        counts = sum((counted(pair, found) for pair, found in aligned(pairs, aligner)), Counter())
        print(f"{path}: {len(pairs)} pairs\n{table(counts)}")
    print(aligner.signature)
    return 0


def aligned(pairs: Sequence[AnnotatedPair], aligner: Aligner) -> Iterator[tuple[AnnotatedPair, Alignment]]:
    """Each pair with its alignment; one without a parse ends the run."""
    for begin in range(0, len(pairs), BATCH):
        part = pairs[begin : begin + BATCH]
        prepared = aligner.prepare([(pair.id, pair.source.tokens, pair.target.tokens, None) for pair in part])
        for pair, one in zip(part, prepared, strict=True):
            if isinstance(one, NoParseError):
                raise one
            yield pair, aligner.align_prepared(one)


def shared_parts(pair: AnnotatedPair) -> Parts:
    """The parts that the rule which made a pair kept."""
    words, constituents = set(), set()
    for source, target in pair.annotations[0].pairs:
        spans = Span(source.begin, source.end), Span(target.begin, target.end)
        if all(span.size == 1 for span in spans):
            if any(character.isalnum() for character in pair.source.tokens[source.begin]):
                words.add(spans)
        elif not source.is_bar and not target.is_bar:
            constituents.add(spans)
    return Parts(frozenset(words), frozenset(constituents))


def counted(pair: AnnotatedPair, found: Alignment) -> Counter[str]:
    """What of a pair was found, by the names of the table."""
    parts = shared_parts(pair)
    spans = {(one.source, one.target) for one in found.phrases.pairs}
    tokens, partner = pair.source.tokens, dict(parts.words)
    single = {source: target for source, target in spans if source.size == target.size == 1}
    small = [span for span in partner if not is_content(tokens[span.begin])]
    linked = {(Span(link.source, link.source + 1), Span(link.target, link.target + 1)) for link in found.words}
    content = [both for both in linked & parts.words if is_content(tokens[both[0].begin])]
    reached = _spans(found.source_forest), _spans(found.target_forest)
    missing = len(parts.words - spans) + len(parts.constituents - spans)
    return Counter(
        {
            "pairs": 1,
            "words": len(parts.words),
            "words found": len(parts.words & spans),
            "constituents": len(parts.constituents),
            "constituents found": len(parts.constituents & spans),
            "constituents parsed": sum(s in reached[0] and t in reached[1] for s, t in parts.constituents),
            "whole found": not missing,
            "function words": len(small),
            "function words elsewhere": sum(span in single and single[span] != partner[span] for span in small),
            "linked": len(content),
            "linked in no pair": len(set(content) - spans),
        }
    )


def _spans(forest: Forest) -> set[Span]:
    return {Span(node.begin, node.end) for node in forest.nodes if not node.is_bar}


def table(counts: Counter[str]) -> str:
    """The shares, a row each."""
    rows = (
        ("words", "words found", "words"),
        ("constituents", "constituents found", "constituents"),
        ("constituents in both forests", "constituents parsed", "constituents"),
        ("whole pairs", "whole found", "pairs"),
        ("function words paired with another", "function words elsewhere", "function words"),
        ("linked content words in no pair", "linked in no pair", "linked"),
    )
    return "\n".join(
        f"  {name:36} {100 * counts[part] / max(counts[all], 1):6.2f} %  ({counts[part]} of {counts[all]})"
        for name, part, all in rows
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", nargs="+", metavar="PAIRS", help="pairs of make_pairs.py --permutations")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="the first N pairs of each file")
    add_settings(parser)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
