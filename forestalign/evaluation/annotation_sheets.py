"""Sheets from which people align phrases with nothing but a text editor, and the answers that they write.

A sheet shows for each pair its id, both sentences with numbered words, and the nodes of both binarised trees, numbered
from the root down and indented as a tree; a bar node has a stroke behind its label. An answer is a line `== id`, then
items `s3=t5` on one line or several; words that belong together and are not a phrase are `w1+4=w1`, by their numbers in
the two sentences. Lines of the sheet begin with `|` and are skipped, so that answers may be written into the sheet
itself. `#` begins a remark; one behind an item becomes its mark.

    == p1
    | source: The seals ate .
    | s0  S  The seals ate .
    ...
    s0=t0 s1=t4
    s3=t6  # unsure

What is said about an annotated set: findings of the checks, agreement, and phrase gold from word links.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from forestalign.errors import UsageError, counted
from forestalign.evaluation.annotated_pairs import (
    Agreement,
    AnnotatedPair,
    AnnotatedSentence,
    Annotation,
    AnnotationFinding,
    JoinedWords,
    Mark,
    NamedPair,
    NodeName,
    checked_name,
    node_names,
    read_annotated_file,
    read_annotations,
)
from forestalign.evaluation.annotation_checks import check_files, check_words, has_equal_roots
from forestalign.evaluation.answer_files import read_word_gold
from forestalign.evaluation.phrase_scores import one_tree_forest
from forestalign.evaluation.projection import core_pairs
from forestalign.evaluation.reports import TreeFiles, read_or_parse
from forestalign.formats.lines import read_text_lines

_PAIR, _SHEET, _REMARK = "==", "|", "#"
_ITEM = re.compile(r"s([0-9]{1,6})=t([0-9]{1,6})", re.ASCII)
_NUMBERS = r"([0-9]{1,6}(?:\+[0-9]{1,6})*)"
_WORDS = re.compile(f"w{_NUMBERS}=w{_NUMBERS}", re.ASCII)
_EXPECTED = "expected items like s3=t5"


class NumberedNode(NamedTuple):
    """A node of a sheet; its number is its place in the list."""

    name: NodeName
    depth: int


class SheetItem(NamedTuple):
    """One `s3=t5` of an answer, with its remark."""

    line: int
    source: int
    target: int
    remark: str


class SheetWords(NamedTuple):
    """One `w1+4=w1` of an answer: words by their numbers, with their remark."""

    line: int
    source: tuple[int, ...]
    target: tuple[int, ...]
    remark: str


@dataclass(frozen=True, slots=True)
class SheetAnswer:
    """What one annotator wrote about one pair; `line` is that of its `== id`."""

    path: str
    line: int
    id: str
    items: tuple[SheetItem, ...]
    words: tuple[SheetWords, ...] = ()


class Collected(NamedTuple):
    """The pairs with their new annotators, and what is wrong with the answers; they count only if nothing is."""

    pairs: tuple[AnnotatedPair, ...]
    findings: tuple[AnnotationFinding, ...]


def numbered_nodes(sentence: AnnotatedSentence) -> tuple[NumberedNode, ...]:
    """The nodes of the binarised tree from the root (number 0) down, left before right."""
    forest = one_tree_forest(sentence.tree)
    names = node_names(forest)
    found: list[NumberedNode] = []
    stack = [(forest.roots[0], 0)]
    while stack:
        node, depth = stack.pop()
        found.append(NumberedNode(names[node], depth))
        stack += [(child, depth + 1) for child in reversed(forest.edges[node][0].children)]
    return tuple(found)


def sheet_text(pairs: Iterable[AnnotatedPair], annotator: str = "") -> str:
    """The sheet of some pairs; with a name, the answers of this annotator are filled in where there are any."""
    return "\n".join(line for pair in pairs for line in _pair_lines(pair, annotator)) + "\n"


def _pair_lines(pair: AnnotatedPair, annotator: str) -> Iterator[str]:
    if not pair.id or pair.id != " ".join(pair.id.split()):
        raise UsageError(f"the id {pair.id!r} cannot stand on a line; expected one without line breaks or extra spaces")
    yield f"{_PAIR} {pair.id}"
    for side, sentence in (("source", pair.source), ("target", pair.target)):
        yield f"{_SHEET} {side}: {' '.join(sentence.text.split())}"
        yield f"{_SHEET} words: {' '.join(f'{number}:{word}' for number, word in enumerate(sentence.tokens))}"
        for number, (name, depth) in enumerate(numbered_nodes(sentence)):
            words = " ".join(sentence.tokens[name.begin : name.end])
            yield f"{_SHEET} {side[0]}{number:<3} {'  ' * depth}{name.label}{chr(39) * name.is_bar}  {words}"
    yield f"{_SHEET} answer, items like s0=t0 s3=t5:"
    own = next((each for each in pair.annotations if each.annotator == annotator), None)
    yield from _answer_lines(pair, own) if own else ("",)
    yield ""


def _answer_lines(pair: AnnotatedPair, annotation: Annotation) -> Iterator[str]:
    """The items in the order of the source; what has a mark stands on a line of its own."""
    sources, targets = (
        {node.name: number for number, node in enumerate(numbered_nodes(side))} for side in (pair.source, pair.target)
    )
    marks = {(mark.source, mark.target): mark.text for mark in annotation.marks}
    row: list[str] = []
    for source, target in sorted(annotation.pairs, key=lambda each: sources[each.source]):
        row.append(f"s{sources[source]}=t{targets[target]}")
        if (source, target) in marks:
            yield f"{' '.join(row)}  {_REMARK} {' '.join(marks[source, target].split())}"
            row = []
    if row:
        yield " ".join(row)
    for joined in annotation.scattered:
        numbers = ("+".join(map(str, words)) for words in (joined.source, joined.target))
        yield "w" + "=w".join(numbers) + (f"  {_REMARK} {' '.join(joined.mark.split())}" if joined.mark else "")


def collect_answers(pairs: Sequence[AnnotatedPair], answers: Sequence[tuple[str, str]]) -> Collected:
    """Join answer files, each (annotator, path), with the pairs that they are about.

    Several files may belong to one annotator, who has to answer every pair exactly once.
    """
    findings: list[AnnotationFinding] = []
    added: dict[str, list[Annotation]] = {pair.id: [] for pair in pairs}
    for name in dict.fromkeys(name for name, _ in answers):
        paths = [path for owner, path in answers if owner == name]
        found = _of_annotator(pairs, name, paths, findings)
        for pair in pairs:
            if pair.id in found:
                added[pair.id].append(found[pair.id])
    joined = [replace(pair, annotations=(*pair.annotations, *added[pair.id])) for pair in pairs]
    return Collected(tuple(joined), tuple(findings))


def _of_annotator(
    pairs: Sequence[AnnotatedPair], name: str, paths: Sequence[str], findings: list[AnnotationFinding]
) -> dict[str, Annotation]:
    known = {pair.id: pair for pair in pairs}
    done: dict[str, SheetAnswer] = {}
    found: dict[str, Annotation] = {}
    for answer in (answer for path in paths for answer in read_answers(path, findings)):
        if answer.id not in known:
            findings.append(_finding(answer, "E18", f"no pair {answer.id!r}; expected one of the given pairs"))
        elif answer.id in done:
            first = done[answer.id]
            findings.append(_finding(answer, "E11", f"{name} answers {answer.id!r} at {first.path}:{first.line} too"))
        elif any(each.annotator == name for each in known[answer.id].annotations):
            findings.append(_finding(answer, "E11", f"pair {answer.id!r} has an annotation of {name} already"))
        elif not answer.items:
            done[answer.id] = answer
            findings.append(_finding(answer, "E10", f"{name} has no answer for pair {answer.id!r}; {_EXPECTED}"))
        else:
            done[answer.id] = answer
            found[answer.id] = _annotation(known[answer.id], name, answer, findings)
    findings += [
        AnnotationFinding(", ".join(paths), 0, "E10", f"{name} has no answer for pair {pair.id!r}")
        for pair in pairs
        if pair.id not in done and all(each.annotator != name for each in pair.annotations)
    ]
    return found


def _annotation(pair: AnnotatedPair, name: str, answer: SheetAnswer, findings: list[AnnotationFinding]) -> Annotation:
    sources, targets = numbered_nodes(pair.source), numbered_nodes(pair.target)
    kept: list[SheetItem] = []
    for item in answer.items:
        for code, message in _wrong_with(item, kept, len(sources), len(targets)):
            findings.append(AnnotationFinding(answer.path, item.line, code, f"pair {pair.id!r}: {message}"))
            break
        else:
            kept.append(item)
    if has_equal_roots(pair) and not any(item.source == item.target == 0 for item in kept):
        findings.append(_finding(answer, "E09", f"pair {pair.id!r}: the roots are not aligned; expected s0=t0"))
    named = [NamedPair(sources[item.source].name, targets[item.target].name) for item in kept]
    marks = [Mark(*both, item.remark) for both, item in zip(named, kept, strict=True) if item.remark]
    joined = tuple(JoinedWords(*item[1:]) for item in answer.words)
    counts = len(pair.source.tokens), len(pair.target.tokens)
    for code, message in check_words(joined, counts):
        findings.append(AnnotationFinding(answer.path, answer.words[0].line, code, f"pair {pair.id!r}: {message}"))
    return Annotation(name, tuple(named), tuple(marks), joined)


def _wrong_with(
    item: SheetItem, before: Sequence[SheetItem], source_count: int, target_count: int
) -> Iterator[tuple[str, str]]:
    shown = f"s{item.source}=t{item.target}"
    for letter, number, count in (("s", item.source, source_count), ("t", item.target, target_count)):
        if number >= count:
            yield "E06", f"{shown}: no node {letter}{number}; expected {letter}0 to {letter}{count - 1}"
    for other in before:
        if (other.source, other.target) == (item.source, item.target):
            yield "E07", f"{shown} stands on line {other.line} too"
        elif other.source == item.source or other.target == item.target:
            yield "E08", f"{shown}: line {other.line} has s{other.source}=t{other.target}; expected one partner"


def read_answers(path: str, findings: list[AnnotationFinding]) -> tuple[SheetAnswer, ...]:
    """The answers of a file; what is not an answer becomes a finding."""
    heads: list[tuple[int, str]] = []
    items: list[list[SheetItem | SheetWords]] = []
    for number, text in read_text_lines(path):
        line = text.strip()
        if line.startswith(_PAIR):
            heads.append((number, line.removeprefix(_PAIR).strip()))
            items.append([])
        elif line and not line.startswith((_SHEET, _REMARK)):
            found, wrong = _items(line, number)
            if not heads:
                wrong = [f"{line!r} stands before the first pair; expected a line {_PAIR} and an id"]
            findings += [AnnotationFinding(path, number, "E01", message) for message in wrong]
            if heads:
                items[-1] += found
    if not heads:
        findings.append(AnnotationFinding(path, 0, "E01", f"no answer; expected lines {_PAIR} and an id"))
    return tuple(_answer(path, head, row) for head, row in zip(heads, items, strict=True))


def _answer(path: str, head: tuple[int, str], row: Sequence[SheetItem | SheetWords]) -> SheetAnswer:
    items = tuple(item for item in row if isinstance(item, SheetItem))
    return SheetAnswer(path, *head, items, tuple(item for item in row if isinstance(item, SheetWords)))


def _items(line: str, number: int) -> tuple[list[SheetItem | SheetWords], list[str]]:
    """The items of a line, and what is wrong with it; the remark belongs to the last item."""
    written, _, remark = line.partition(_REMARK)
    found: list[SheetItem | SheetWords] = []
    wrong: list[str] = []
    for part in written.split():
        if match := _ITEM.fullmatch(part):
            found.append(SheetItem(number, int(match[1]), int(match[2]), ""))
        elif match := _WORDS.fullmatch(part):
            found.append(SheetWords(number, _numbers(match[1]), _numbers(match[2]), ""))
        else:
            wrong.append(f"{part!r} is not an item; {_EXPECTED}")
    if found and remark.strip():
        found[-1] = found[-1]._replace(remark=remark.strip())
    return found, wrong


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(sorted(map(int, text.split("+"))))


def _finding(answer: SheetAnswer, code: str, message: str) -> AnnotationFinding:
    return AnnotationFinding(answer.path, answer.line, code, message)


def repeated_ids(pairs: Sequence[AnnotatedPair]) -> tuple[str, ...]:
    """Ids that several pairs have, so that answers could not be told apart."""
    return tuple(name for name, count in Counter(pair.id for pair in pairs).items() if count > 1)


def read_annotated_sets(paths: Sequence[str]) -> list[AnnotatedPair]:
    """The pairs of all files, of which there has to be one."""
    pairs = [pair for path in paths for pair in read_annotations(path)]
    if not pairs:
        raise UsageError(f"no annotated pairs in {', '.join(paths)}")
    return pairs


def check_paths(paths: Sequence[str]) -> tuple[tuple[AnnotationFinding, ...], int]:
    """All findings, and how many pairs there are."""
    files = [read_annotated_file(path) for path in paths]
    return check_files(files), sum(len(file.pairs) for file in files)


def collect_paths(paths: Sequence[str], answers: Sequence[tuple[str, str]]) -> Collected:
    """Join answer files, each (annotator, path), with the pairs of some files."""
    pairs = read_annotated_sets(paths)
    repeated = repeated_ids(pairs)
    if repeated:
        raise UsageError(f"the id {repeated[0]!r} occurs twice in {', '.join(paths)}; expected one line per pair")
    try:
        for name, _ in answers:
            checked_name(name)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return collect_answers(pairs, answers)


def summary(findings: Sequence[AnnotationFinding], pair_count: int) -> str:
    """One line: how many pairs, and how often each code was found."""
    codes = Counter(finding.code for finding in findings)
    listed = ", ".join(f"{code} {count}" for code, count in sorted(codes.items())) or "nothing found"
    return f"{counted(pair_count, 'pair')}: {listed}"


def project_gold(path: str, annotator: str = "", trees: TreeFiles | None = None) -> Iterator[str]:
    """One JSON line per pair: its tokens and core pairs; what else is consistent follows from the links."""
    gold = read_word_gold(path, annotator)
    without_words = next((pair.id for pair in gold if not pair.source or not pair.target), None)
    if without_words is not None:
        raise UsageError(f"{path}: pair {without_words} has no words; expected a format with sentences")
    parsed = read_or_parse([(pair.source, pair.target) for pair in gold], trees)
    for pair, (source, target) in zip(gold, parsed, strict=True):
        core = sorted(core_pairs(source, target, pair.all))
        fields = {"id": pair.id, "source": pair.source, "target": pair.target, "links": sorted(pair.all)}
        yield json.dumps(fields | {"core": core}, ensure_ascii=False)


def agreement_text(found: Agreement) -> str:
    """F1 of each two annotators, the human row, and how many pairs they share."""
    lines = [f"F1 {score.name:<10} {100 * score.value:6.2f}" for score in found.pairwise]
    lines += [f"human {score.name:<9} {100 * score.value:4.2f}" for score in found.human]
    lines.append(f"sentence pairs that all annotators did {found.sentence_count}")
    lines.append(f"phrase pairs by at least one {found.pair_count}, by two {found.by_two}, by all {found.by_all}")
    return "\n".join(lines)


def phenomena_text(found: Sequence[tuple[str, Agreement]]) -> str:
    """One row for each phenomenon: the sentence pairs that show it, and the mean and least F1 of two annotators."""
    rows = [f"{'phenomenon':<20} pairs  mean F1    least"]
    for name, figures in found:
        values = [100 * score.value for score in figures.pairwise]
        rows.append(f"{name:<20} {figures.sentence_count:5} {sum(values) / len(values):8.2f} {min(values):8.2f}")
    return "\n".join(rows)
