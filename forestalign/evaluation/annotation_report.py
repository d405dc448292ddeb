"""What is said about an annotated set: findings of the checks, agreement, sizes, and phrase gold from word links."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from forestalign.errors import UsageError, counted
from forestalign.evaluation import core_pairs
from forestalign.evaluation.annotated_pairs import Agreement, AnnotatedPair, AnnotationStatistics, checked_name
from forestalign.evaluation.annotation_checks import AnnotationFinding, check_files
from forestalign.evaluation.annotation_files import read_annotated_file, read_annotations
from forestalign.evaluation.annotation_sheets import Collected, collect_answers, repeated_ids
from forestalign.evaluation.answer_files import read_word_gold
from forestalign.evaluation.phrase_report import TreeFiles, read_or_parse


def read_annotated_sets(paths: Sequence[str]) -> list[AnnotatedPair]:
    """The pairs of all files, of which there has to be one."""
    pairs = [pair for path in paths for pair in read_annotations(path)]
    if not pairs:
        raise UsageError(f"no annotated pairs in {', '.join(paths)}")
    return pairs


def check_paths(paths: Sequence[str], strict: bool = False) -> tuple[tuple[AnnotationFinding, ...], int]:
    """All findings, and how many pairs there are; `strict` holds the files to the rules of our own set."""
    files = [read_annotated_file(path) for path in paths]
    return check_files(files, strict), sum(len(file.pairs) for file in files)


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


def statistics_text(found: AnnotationStatistics) -> str:
    """Sizes, how long the pairs are, where they come from, and how often each phenomenon occurs."""
    lines = [
        f"pairs {found.pair_count}, words {found.word_count}, phrases {found.phrase_count}",
        f"alignments {found.alignment_count}, multiword {found.multiword_count}, "
        f"non-compositional {found.noncompositional_count}",
    ]
    lines.append("words of the longer sentence: " + ", ".join(f"{name}: {count}" for name, count in found.lengths))
    lines += [f"origin {name}: {count}" for name, count in found.origins]
    return "\n".join(lines + [f"{count:5} {name}" for name, count in found.phenomena])
