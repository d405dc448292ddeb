"""A paraphrase table in files: TSV, CSV, JSON lines, Parquet, and the form of PPDB, which `--ppdb` reads."""

from __future__ import annotations

import csv
import io
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from forestalign.batch.workers import Worker, Workers, map_ordered
from forestalign.errors import OutputError, UsageError
from forestalign.formats.lines import cell
from forestalign.lexicon.findings import DIFFERENT, OTHER_ROLES
from forestalign.lexicon.pair_lists import BARS, LONGEST, PPDB_RELATIONS
from forestalign.mining.pair_counts import CountedLines, CountLines, OccurrenceFilter, line_batches
from forestalign.mining.phrase_table import PhraseTable, RowFilter, TableRow
from forestalign.outputs import STDOUT, follow_link, is_packed, is_stream, packed_file
from forestalign.own_files import scratch_folder

_DIGITS = 5
COLUMNS = tuple(each.name for each in fields(TableRow))
# PPDB has no names for these two; such pairs are no paraphrases
_PPDB_NAMES = {relation: name for name, relation in PPDB_RELATIONS.items() if relation} | dict.fromkeys(
    (DIFFERENT, OTHER_ROLES), "Independent"
)
_PARQUET_COLUMNS = (
    "phrase: 'VARCHAR', paraphrase: 'VARCHAR', source_label: 'VARCHAR', target_label: 'VARCHAR', slots: 'INTEGER',"
    " count: 'BIGINT', posterior_sum: 'DOUBLE', forward: 'DOUBLE', backward: 'DOUBLE', relation: 'VARCHAR',"
    " evidence: 'VARCHAR[]', examples: 'VARCHAR[]'"
)


class TableForm(StrEnum):
    """How a table is written."""

    TSV = "tsv"
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    PPDB = "ppdb"


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Which pairs are counted, which rows are written and how; `mixed` allows results of different settings."""

    form: TableForm = TableForm.TSV
    occurrences: OccurrenceFilter = field(default_factory=OccurrenceFilter)
    rows: RowFilter = field(default_factory=RowFilter)
    mixed: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be read back."""
        if self.form is TableForm.PPDB and self.occurrences.slots:
            raise UsageError("the form ppdb holds phrases, not patterns; expected tsv, jsonl or parquet for patterns")


@dataclass(frozen=True, slots=True)
class TableSummary:
    """What went in and what came out."""

    line_count: int
    pair_count: int  # occurrences that were counted
    row_count: int
    unjudged_count: int  # pairs left out for want of a posterior


def extract_table(
    paths: Sequence[str | Path], output: str | Path, options: TableOptions, workers: Workers | None = None
) -> TableSummary:
    """Count the phrase pairs of results and write the table, as a whole or not at all."""
    if options.form is TableForm.PARQUET and is_packed(output):
        raise UsageError(f"{output}: Parquet is compressed already; expected a name without .gz")
    with _sorting_folder(output) as folder:
        if folder is None and options.form is TableForm.PARQUET:
            raise UsageError("Parquet needs a folder for its parts; expected one that TMPDIR names")
        table = PhraseTable(folder)
        try:
            tally = _fill(table, paths, options, workers)
            wanted = options.rows
            if options.form is TableForm.PPDB:  # what is the same needs no list
                wanted = replace(wanted, different=True, telling=False)
            found = table.rows(wanted)
            if options.form is TableForm.PPDB:
                found = (row for row in found if _is_listed(row.phrase) and _is_listed(row.paraphrase))
            rows = _Counting(found)
            with packed_file(output) as file:
                if options.form is TableForm.PARQUET and folder is not None:
                    _write_parquet(table, rows, folder, file)
                else:
                    file.writelines(line.encode() + b"\n" for line in _TEXTS[options.form](rows))
        finally:
            table.close()
    return replace(tally, row_count=rows.count)


def _fill(
    table: PhraseTable, paths: Sequence[str | Path], options: TableOptions, workers: Workers | None
) -> TableSummary:
    seen: dict[str, str] = {}
    lines = pairs = unjudged = 0
    for counted in map_ordered(Worker.of(CountLines(options.occurrences)), line_batches(paths), workers):
        _check_signatures(counted, seen, options.mixed)
        table.add(counted)
        lines += counted.line_count
        pairs += sum(each.count for each in counted.counts.values())
        unjudged += counted.unjudged_count
    return TableSummary(lines, pairs, 0, unjudged)


def _check_signatures(counted: CountedLines, seen: dict[str, str], mixed: bool) -> None:
    """Results of two versions or settings are counted together only where the user says so."""
    for signature, number in counted.signatures.items():
        place = f"{counted.path}:{number}"
        if seen and signature not in seen and not mixed:
            first, first_place = next(iter(seen.items()))
            raise UsageError(
                f"results of different versions or settings: {first_place} has {first!r}, {place} has {signature!r}; "
                "--mixed counts them together"
            )
        seen.setdefault(signature, place)


@contextmanager
def _sorting_folder(output: str | Path) -> Iterator[Path | None]:
    """A folder for sorting, where the output will be: room for large files is there rather than elsewhere.

    For stdout it is made where temporary files are; None where nothing can be written at all.
    """
    parent = _temporary() if str(output) == STDOUT or is_stream(output) else follow_link(output).parent
    if parent is None:
        yield None
        return
    try:
        scratch = ExitStack()
        folder = scratch.enter_context(scratch_folder(parent, ".forestalign-table-"))
    except OSError as error:
        raise OutputError(f"no folder for sorting can be made in {parent}: {error.strerror}") from error
    with scratch:
        yield folder


def _temporary() -> Path | None:
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:
        return None


class _Counting:
    """Rows that are counted as they pass."""

    def __init__(self, rows: Iterable[TableRow]):
        self._rows, self.count = rows, 0

    def __iter__(self) -> Iterator[TableRow]:
        for row in self._rows:
            self.count += 1
            yield row


# ---- forms ----


def _tsv(rows: Iterable[TableRow]) -> Iterator[str]:
    """A heading and one row per line; evidence and examples are separated by blanks."""
    yield "\t".join(COLUMNS)
    for row in rows:
        yield (
            f"{cell(row.phrase)}\t{cell(row.paraphrase)}\t{row.source_label}\t{row.target_label}\t{row.slots}\t{row.count}\t"
            f"{row.posterior_sum:.{_DIGITS}f}\t{row.forward:.{_DIGITS}f}\t{row.backward:.{_DIGITS}f}\t"
            f"{row.relation}\t{' '.join(row.evidence)}\t{cell(' '.join(row.examples))}"
        )


def _csv(rows: Iterable[TableRow]) -> Iterator[str]:
    """A row of cells with commas between them, quoted and ended as RFC 4180 says; whoever writes lines adds `\\n`."""
    for line in _tsv(rows):
        written = io.StringIO()
        csv.writer(written, lineterminator="\r").writerow(line.split("\t"))
        yield written.getvalue()


def _jsonl(rows: Iterable[TableRow]) -> Iterator[str]:
    for row in rows:
        values = {name: getattr(row, name) for name in COLUMNS}
        for name in ("posterior_sum", "forward", "backward"):
            values[name] = round(values[name], _DIGITS)
        yield json.dumps(values, ensure_ascii=False)


def _ppdb(rows: Iterable[TableRow]) -> Iterator[str]:
    """`[X] ||| phrase ||| phrase ||| features ||| alignment ||| relation`."""
    for row in rows:
        phrases = row.phrase, row.paraphrase
        label = row.source_label if row.source_label == row.target_label else f"{row.source_label}/{row.target_label}"
        features = (
            f"Count={row.count} PosteriorSum={row.posterior_sum:.{_DIGITS}f} p(e|f)={row.forward:.{_DIGITS}f} "
            f"p(f|e)={row.backward:.{_DIGITS}f}"
        )
        parts = [f"[{label}]", *phrases, features, ""]
        yield f" {BARS} ".join([*parts, _PPDB_NAMES[row.relation]] if row.relation else parts).rstrip()


def _is_listed(phrase: str) -> bool:
    """Whether a list should have a phrase: it has a word, and our reader takes it."""
    return BARS not in phrase and len(phrase.split(" ")) <= LONGEST and any(character.isalnum() for character in phrase)


_TEXTS: dict[TableForm, Callable[[Iterable[TableRow]], Iterator[str]]] = {
    TableForm.TSV: _tsv,
    TableForm.CSV: _csv,
    TableForm.JSONL: _jsonl,
    TableForm.PPDB: _ppdb,
}


def _write_parquet(table: PhraseTable, rows: Iterable[TableRow], folder: Path, file: BinaryIO) -> None:
    lines, parquet = folder / "rows.jsonl", folder / "rows.parquet"
    with lines.open("wb") as written:
        written.writelines(line.encode() + b"\n" for line in _jsonl(rows))
    table.write_parquet(lines, _PARQUET_COLUMNS, parquet)
    with parquet.open("rb") as made:
        shutil.copyfileobj(made, file)
