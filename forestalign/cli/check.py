"""Check that a rewrite keeps the meaning: exit code 0 if it holds, 1 if not, and a line for each loss.

    head -5 pairs.tsv | forestalign check -
    head -5 pairs.tsv > rewritten.tsv && forestalign check rewritten.tsv --json
    forestalign check draft.md rewritten.md
    forestalign check "He must pay." "He may pay."
    git show HEAD:README.md | forestalign check - README.md --markdown

It compares the texts as `compare` does; a pair file holds a sentence and its rewrite on each line. A line of output has
the file, the line, the kind of loss and the reason: a negation, an opposite, another number, time, name, modality,
quantifier or frequency, words that changed places, a sentence that was left out or added, and sentences that could not
be compared. --strict also counts words that were left out of a sentence, or added to it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence

from forestalign.cli.compare import add_text_options, read_texts, two_paths
from forestalign.errors import UsageError, counted
from forestalign.formats.pairs import BadRecord, PairRecord, read_pairs
from forestalign.terminal import harmless
from forestalign.texts.comparison import Change, ChangeKind, Passage, compare_pairs, find_changes


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_text_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON lines, one for each loss")
    parser.add_argument("--strict", action="store_true", help="count words that were left out or added, too")


def run(args: argparse.Namespace) -> int:
    """Print the losses."""
    name, changes = _pairs(args) if len(args.texts) == 1 else _texts(args)
    count = losses = 0
    for change in changes:
        count += change.kind is not ChangeKind.SAME
        for loss in change.losses(args.strict):
            losses += 1
            kind = "" if loss.reason.startswith(f"{loss.kind}: ") else f"{loss.kind}: "
            told = f"{name}:{loss.line}: {kind}{loss.reason}"
            print(json.dumps({"file": name} | loss._asdict(), ensure_ascii=False) if args.json else harmless(told))
    if not args.quiet:
        print(f"{counted(count, 'change')}, {counted(losses, 'loss')}", file=sys.stderr)
    return 1 if losses else 0


def _texts(args: argparse.Namespace) -> tuple[str, Iterator[Change]]:
    paths, names = two_paths(args.texts)
    return names[1], find_changes(*read_texts(args, paths, names), jobs=args.jobs)


def _pairs(args: argparse.Namespace) -> tuple[str, Iterator[Change]]:
    """The pairs of a file; a line without a pair cannot be compared."""
    (path,) = args.texts
    records = list(read_pairs(path))
    if not records:
        raise UsageError(f"{path} is empty; expected pairs of sentences, or two texts")
    return path, _of_records(records, args.jobs)


def _of_records(records: Sequence[PairRecord | BadRecord], jobs: int) -> Iterator[Change]:
    pairs = ((each.number, each.source.text, each.target.text) for each in records if isinstance(each, PairRecord))
    changes = compare_pairs(pairs, jobs=jobs)
    for each in records:
        if isinstance(each, PairRecord):
            yield next(changes)
        else:
            yield Change(ChangeKind.UNREAD, None, Passage("", each.number, (0, 0)), error=each.message)
