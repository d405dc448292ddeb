"""How well `compare --source` finds what a summary rests on, on hand-marked summaries.

    python scripts/score_sources.py [tests/data/summaries.jsonl] [--show]

Input: JSON lines with `article` (sentences) and `summary`: sentences with `text`, `rests_on` (numbers of sentences of
the article, from 1) and `nothing` (phrases that the article does not have). Counted are words with content: those said
to rest on nothing, and for the others whether the sentence of the article is one of those marked.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import forestalign
from forestalign.grammar import stop_words
from forestalign.texts.summary_sources import SourcedSentence, find_sources
from forestalign.texts.text_parts import TextParts, TextSentence
from forestalign.tokens import tokenize

DEFAULT = Path(__file__).resolve().parent.parent / "tests" / "data" / "summaries.jsonl"


class Counts(NamedTuple):
    """Words with content: said to rest on nothing, marked so, both; said to rest on something, and on a right line."""

    said: int = 0
    marked: int = 0
    both: int = 0
    found: int = 0
    right_line: int = 0

    def plus(self, other: Counts) -> Counts:
        """Both together."""
        return Counts(*(one + two for one, two in zip(self, other, strict=True)))


def scored(found: SourcedSentence, marks: dict[str, Any]) -> Counts:
    """The words of one sentence of a summary counted."""
    begins = {found.text.index(phrase): phrase for phrase in marks["nothing"]}
    counts = Counts()
    for token in tokenize(found.text).tokens:
        if not token.surface[0].isalnum() or token.surface.lower() in stop_words():
            continue
        is_marked = any(begin <= token.begin < begin + len(phrase) for begin, phrase in begins.items())
        phrase = next((each for each in found.phrases if each.begin <= token.begin < each.end), None)
        is_said = phrase is None or not phrase.line
        line = phrase.line if phrase is not None else 0
        is_right = not is_marked and line in marks["rests_on"]
        counts = counts.plus(Counts(is_said, is_marked, is_said and is_marked, not is_said, is_right))
    return counts


def results(path: Path, aligner: forestalign.Aligner) -> Iterator[tuple[SourcedSentence, dict[str, Any]]]:
    """All sentences of summaries with their marks."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        article = TextParts(tuple(TextSentence(text, number) for number, text in enumerate(row["article"], start=1)))
        summary = TextParts(tuple(TextSentence(each["text"], k) for k, each in enumerate(row["summary"], start=1)))
        yield from zip(find_sources(article, summary, aligner), row["summary"], strict=True)


def main() -> None:
    """Print precision and recall."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--show", action="store_true", help="print sentences in which something is wrong")
    args = parser.parse_args()
    total, count = Counts(), 0
    for found, marks in results(args.file, forestalign.load()):
        counts = scored(found, marks)
        total, count = total.plus(counts), count + 1
        if args.show and (
            counts.said != counts.both or counts.marked != counts.both or counts.found != counts.right_line
        ):
            told = [f"{phrase.text} <- {phrase.line} {phrase.source or phrase.against}" for phrase in found.phrases]
            print(f"{found.text}\n    marked {marks['rests_on']} {marks['nothing']}; found {told}")
    print(f"{count} sentences of summaries, {total.said + total.found} words with content")
    print(f"rests on nothing: precision {total.both / total.said:.3f} ({total.both} of {total.said}), ", end="")
    print(f"recall {total.both / total.marked:.3f} ({total.both} of {total.marked})")
    print(f"rests on a sentence: precision {total.right_line / total.found:.3f} ({total.right_line} of {total.found})")


if __name__ == "__main__":
    main()
