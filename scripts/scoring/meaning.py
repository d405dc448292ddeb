"""What tells a change of meaning from a change of wording: marks, edits, similarity, sources of a summary."""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from forestalign.aligner import Aligner, load
from forestalign.grammar import stop_words
from forestalign.phrases.result.alignment import VERDICTS
from forestalign.texts.summary_sources import SourcedSentence, find_sources
from forestalign.texts.text_parts import TextParts, TextSentence
from forestalign.tokens import tokenize

DATA = Path(__file__).resolve().parent.parent.parent / "tests" / "data"
SETS = ("", "new_user_", "twins_", "fresh_")  # pairs made by hand
Pair = tuple[str, str, bool]  # source, target, whether they say different things
MarkedEdit = tuple[str, str, str]  # kind, source and target text in lower case


def read_records(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of JSON lines, packed or not."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def print_meaning(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Pairs that say different things and paraphrases: how many have a difference that contradicts, of how many the
    probability is on the right side of one half, which verdicts they get, and how many lines of the grammar they meet.

        score.py meaning                                          # the pairs of tests/data/meaning
        score.py meaning annotations/train.jsonl paws.dev.jsonl.gz --most 200
        score.py meaning paws.dev.jsonl.gz --most 1000 --random   # each sentence with the second of the next pair

    A file holds annotated pairs (`no-paraphrase` among their phenomena), JSON lines with `paraphrase` 0 or 1, or marked
    spans (.tsv with a header).
    """
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--most", type=int, default=0, metavar="N", help="about N pairs of each file, evenly taken")
    parser.add_argument("--random", action="store_true", help="take second sentences from the next pair")
    parser.add_argument("--wrong", action="store_true", help="print what came out wrong")
    args = parser.parse_args(arguments)
    aligner = load()
    for path in args.files or [DATA / "meaning" / f"{each}{kind}.tsv" for each in SETS for kind in ("changed", "same")]:
        pairs = list(read_labelled(path))
        pairs = pairs[:: max(1, len(pairs) // args.most)] if args.most else pairs
        if args.random:
            pairs = [(one[0], other[1], True) for one, other in zip(pairs, [*pairs[1:], pairs[0]], strict=True)]
        counts: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
        for source, target, is_changed in pairs:
            result = aligner.align(source, target)
            is_marked = any(each.contradicts for each in result.differences)
            is_right = (result.probability < 0.5) == is_changed
            met = sum("lexicon" in each.evidence for each in result.phrases.pairs) + len(result.phrases.joined)
            counts[is_changed].update(
                {"pairs": 1, "marked": is_marked, "right": is_right, "met": met, result.verdict: 1}
            )
            if args.wrong and (is_marked != is_changed or not is_right):
                print(f"  {source} | {target} | marked: {is_marked}, {result.verdict} {result.probability:.2f}")
        for is_changed, found in counts.items():
            if found["pairs"]:
                verdicts = ", ".join(f"{found[verdict]} {verdict}" for verdict in VERDICTS)
                print(
                    f"{path.stem}, {'changed' if is_changed else 'paraphrases'}: marked {found['marked']} of "
                    f"{found['pairs']}, probability right {found['right']}; {verdicts}; met by lines of the grammar "
                    f"{1000 * found['met'] / found['pairs']:.0f} per 1,000 pairs"
                )


def read_pairs(path: Path) -> list[dict[str, Any]]:
    """Pairs as plain records: JSON lines, inline annotations (those to learn from), or lines with marked spans."""
    if path.suffix == ".tsv":
        rows = [row.split("\t") for row in path.read_text(encoding="utf-8").splitlines()[1:]]
        plain = [[re.sub(r"[{}]", "", each) for each in row[:2]] for row in rows]
        return [
            {"source": source, "target": target, "paraphrase": float(row[3])}
            for (source, target), row in zip(plain, rows, strict=True)
        ]
    stem = path.name.partition(".")[0]
    records = [{"base": f"{stem}-{number}"} | row for number, row in enumerate(read_records(path))]
    records = [row for row in records if row.get("split", "train") == "train"]
    return [_without_marks(row) if "relation" in row else row for row in records]


def _without_marks(row: dict[str, Any]) -> dict[str, Any]:
    texts = {side: " ".join(re.sub(r"\[\S+ |\]", "", row[side]).split()) for side in ("source", "target")}
    return {**texts, "paraphrase": int(row["relation"] == "same"), "base": row["id"], "kind": row["relation"]}


def read_labelled(path: Path) -> Iterable[Pair]:
    """The pairs of a file, and whether they say different things."""
    if path.parent.name == "meaning":
        rows = [row.split("\t") for row in path.read_text(encoding="utf-8").splitlines()]
        return [(source, target, "changed" in path.stem) for _, source, target in rows]
    records = read_pairs(path)
    if "paraphrase" in records[0]:
        return [(row["source"], row["target"], not row["paraphrase"]) for row in records]
    return [(row["source"]["text"], row["target"]["text"], "no-paraphrase" in row["phenomena"]) for row in records]


def print_edits(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Edits of pairs that were marked by hand (tests/data/meaning/edits.tsv): precision, recall and F1.

    An edit is right if its kind and its words on both sides are those marked; kept words are not counted.
    """
    parser.add_argument("--wrong", action="store_true", help="print the edits that differ")
    args = parser.parse_args(arguments)
    aligner, right, given_count, gold_count = load(), 0, 0, 0
    rows = [row.split("\t") for row in (DATA / "meaning" / "edits.tsv").read_text(encoding="utf-8").splitlines()]
    for source, target, column in rows:
        gold, given = Counter(marked_edits(column)), Counter(made_edits(aligner, source, target))
        right += (gold & given).total()
        given_count, gold_count = given_count + given.total(), gold_count + gold.total()
        if args.wrong and gold != given:
            print(f"{source} | {target}\n  missed {sorted(gold - given)}\n  too many {sorted(given - gold)}")
    precision, recall = 100 * right / max(given_count, 1), 100 * right / gold_count
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    print(f"{len(rows)} pairs: precision {precision:.1f}, recall {recall:.1f}, F1 {f1:.1f}")


def marked_edits(column: str) -> list[MarkedEdit]:
    """What a row says: `replaced: bought = purchased | added: = old`."""
    edits = []
    for each in column.split(" | "):
        kind, _, words = each.partition(": ")
        source, _, target = words.partition("=")
        edits.append((kind, source.strip().lower(), target.strip().lower()))
    return edits


def made_edits(aligner: Aligner, source: str, target: str) -> list[MarkedEdit]:
    """What the aligner says, without what is kept."""
    edits = [edit for edit in aligner.align(source, target).edits().edits if edit.kind != "kept"]
    return [(str(edit.kind), edit.source_text.lower(), edit.target_text.lower()) for edit in edits]


def area_under_curve(given: np.ndarray, gold: np.ndarray) -> float:
    """How often a right pair is before a wrong one."""
    ranks, is_right = rankdata(given), gold > 0.5
    right, wrong = int(is_right.sum()), int((~is_right).sum())
    return float((ranks[is_right].sum() - right * (right + 1) / 2) / (right * wrong))


def print_sources(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """How well `compare --source` finds what a summary rests on, on summaries marked by hand.

    A line of the file has `article` (sentences) and `summary`: sentences with `text`, `rests_on` (numbers of sentences
    of the article, from 1) and `nothing` (phrases that the article does not have). Counted are words with content:
    those said to rest on nothing, and for the others whether the sentence of the article is one of those marked.
    """
    parser.add_argument("file", nargs="?", type=Path, default=DATA / "summaries.jsonl")
    args = parser.parse_args(arguments)
    aligner, counts = load(), Counter[str]()
    for row in read_records(args.file):
        article = TextParts(tuple(TextSentence(text, number) for number, text in enumerate(row["article"], start=1)))
        summary = TextParts(tuple(TextSentence(each["text"], k) for k, each in enumerate(row["summary"], start=1)))
        for sentence, marks in zip(find_sources(article, summary, aligner), row["summary"], strict=True):
            counts += count_sources(sentence, marks)
    for name, part, whole in (
        ("rests on nothing, precision", "both", "said"),
        ("rests on nothing, recall", "both", "marked"),
        ("rests on a sentence, precision", "right", "sourced"),
    ):
        print(f"{name:32} {counts[part] / max(counts[whole], 1):.3f} ({counts[part]} of {counts[whole]})")


def count_sources(sentence: SourcedSentence, marks: dict[str, Any]) -> Counter[str]:
    """The words of one sentence of a summary: said to rest on nothing, marked so, both; on something, and rightly."""
    begins = {sentence.text.index(phrase): phrase for phrase in marks["nothing"]}
    counts: Counter[str] = Counter()
    for token in tokenize(sentence.text).tokens:
        if not token.text[0].isalnum() or token.text.lower() in stop_words():
            continue
        is_marked = any(begin <= token.start < begin + len(phrase) for begin, phrase in begins.items())
        phrase = next((each for each in sentence.phrases if each.begin <= token.start < each.end), None)
        line = phrase.line if phrase is not None else 0
        counts.update({"said": not line, "marked": is_marked, "both": not line and is_marked, "sourced": bool(line)})
        counts["right"] += not is_marked and line in marks["rests_on"]
    return counts
