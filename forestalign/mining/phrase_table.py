"""Counts of phrase pairs of any number, put together on disk by DuckDB, and the rows of the table made of them.

Counts come in batches, each counted for itself; what the engine keeps in memory is bounded, the rest lies in a folder
beside the output. Sums are of whole numbers, so the table does not depend on how the lines were cut into batches.

Most rows tell nothing about words: the same words, other marks, other forms of a word (*said*, *says*), function words,
a word more on one side (*the judge*, *the federal judge*), values that differ, opposites, and names that stand in the
same place (*Tuesday*, *Monday*). What is left reads as paraphrases. Digits are kept apart: a mark in a number is part
of it.
"""

from __future__ import annotations

import csv
import importlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forestalign.errors import MissingExtraError, OutputError, UsageError
from forestalign.grammar import stop_words
from forestalign.lexicon.findings import DIFFERENT, EQUAL, OPPOSITE, OTHER_ROLES, PHRASE_RELATIONS
from forestalign.mining.occurrences import UNITS
from forestalign.mining.pair_counts import MOST_EXAMPLES, CountedLines, PairCount
from forestalign.tokens import possible_lemmas

_SLOT = re.compile(r"\[\w+,[12]\]", re.IGNORECASE)
_NAMES = frozenset({"NNP", "NNPS"})
_FUNCTION_TAGS = frozenset({"CC", "DT", "EX", "IN", "MD", "PDT", "POS", "PRP", "PRP$", "RP", "TO", "WDT", "WP", "WRB"})


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row. `forward` is p(paraphrase | phrase) and `backward` p(phrase | paraphrase), whatever the labels.

    `relation` is the most frequent one, `evidence` all that spoke for it, `examples` the ids of the first results.
    """

    phrase: str
    paraphrase: str
    source_label: str
    target_label: str
    slots: int
    count: int
    posterior_sum: float
    forward: float
    backward: float
    relation: str
    evidence: tuple[str, ...]
    examples: tuple[str, ...]


def is_telling(row: TableRow) -> bool:
    """Whether a row reads as a paraphrase: each side has a content word whose lemma the other side lacks."""
    labels = {row.source_label, row.target_label}
    if row.relation in (OPPOSITE, DIFFERENT, OTHER_ROLES) or labels & _FUNCTION_TAGS:
        return False
    if labels & _NAMES and row.relation != EQUAL:
        return False
    sides = [
        [possible_lemmas(word) for word in text.lower().split() if _is_content(word)]
        for text in (row.phrase, row.paraphrase)
    ]
    return _bare(row.phrase) != _bare(row.paraphrase) and all(
        any(all(lemmas.isdisjoint(others) for others in other) for lemmas in own) for own, other in (sides, sides[::-1])
    )


def _is_content(word: str) -> bool:
    return word not in stop_words() and not _SLOT.fullmatch(word) and any(map(str.isalnum, word))


def _bare(text: str) -> str:
    """Letters, and numbers as they are, without what stands between them."""
    words = text.lower().split()
    return "".join(f" {word} " if any(map(str.isdigit, word)) else "".join(filter(str.isalpha, word)) for word in words)


# ---- the table ----


MOST_EVIDENCE = 60  # kinds; there are about a dozen, and a number of the database has a bit for each
MEMORY = "200MB"  # of the engine; the process as a whole stays below 500 MB
_FETCHED = 10_000  # rows at a time
_PART, _LIST = "\x1e", "\x1f"  # separators inside a part: what a batch knows of a pair besides numbers
_COLUMNS = (
    "phrase VARCHAR, paraphrase VARCHAR, source_label VARCHAR, target_label VARCHAR, slots INTEGER,"
    " count BIGINT, mass BIGINT, evidence BIGINT, part VARCHAR"
)
_MERGE = """
    CREATE TABLE merged AS
    SELECT phrase, paraphrase, source_label, target_label, slots, sum(count)::BIGINT AS count,
           sum(mass)::BIGINT AS mass, bit_or(evidence) AS evidence, list(part) AS parts
    FROM counts GROUP BY phrase, paraphrase, source_label, target_label, slots"""
_ROWS = """
    SELECT phrase, paraphrase, source_label, target_label, slots, count, merged.mass, evidence, parts,
           coalesce(both_sides.mass / nullif(source.mass, 0), 0) AS forward,
           coalesce(both_sides.mass / nullif(target.mass, 0), 0) AS backward
    FROM merged
    JOIN (SELECT phrase, slots, sum(mass)::BIGINT AS mass FROM merged GROUP BY ALL) AS source USING (phrase, slots)
    JOIN (SELECT paraphrase, slots, sum(mass)::BIGINT AS mass FROM merged GROUP BY ALL) AS target
         USING (paraphrase, slots)
    JOIN (SELECT phrase, paraphrase, slots, sum(mass)::BIGINT AS mass FROM merged GROUP BY ALL) AS both_sides
         USING (phrase, paraphrase, slots)
    WHERE count >= ? AND (NOT ? OR lower(phrase) <> lower(paraphrase))
    ORDER BY regexp_matches(regexp_replace(phrase || ' ' || paraphrase, '\\[[A-Z]+,[12]\\]', '', 'g'), '[0-9]'),
             list_bool_or(list_transform(parts, lambda part: contains(part, ' similar'))),
             count DESC, phrase, slots, forward DESC, paraphrase, source_label, target_label"""


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Which rows of the table are wanted; probabilities are those of the whole table."""

    different: bool = False  # only phrases that are not the same words
    telling: bool = False  # only those that read as paraphrases (see `telling_rows`)
    relations: tuple[str, ...] = ()  # only these; none: all
    min_count: int = 1


class PhraseTable:
    """A table that grows on disk, in a folder of its own; in memory where no folder can be written."""

    def __init__(self, folder: Path | None):
        try:
            self._duckdb: Any = importlib.import_module("duckdb")
        except ImportError:
            raise MissingExtraError("a table of paraphrases, which DuckDB puts together,", "tables") from None
        self._folder, self._batches = folder, 0
        self._evidence: dict[str, int] = {}  # name and bit
        self._sets: dict[int, tuple[str, ...]] = {}  # bits and names, filled when all names are known
        settings = {"threads": 1, "preserve_insertion_order": False, "temp_directory": ""}
        if folder is not None:
            settings |= {"memory_limit": MEMORY, "temp_directory": str(folder / "sorting")}
        with self._telling():
            place = ":memory:" if folder is None else str(folder / "counts.duckdb")
            self._database = self._duckdb.connect(place, config=settings)
            self._database.execute("SET enable_progress_bar = false")
            self._database.execute(f"CREATE TABLE counts ({_COLUMNS})")

    def add(self, counted: CountedLines) -> None:
        """Take in the counts of one batch; batches come in the order of their lines."""
        rows = (
            (*key, each.count, each.mass, self._bits(each.evidence), self._part(each))
            for key, each in counted.counts.items()
        )
        with self._telling():
            if self._folder is None:
                self._add_columns(list(rows))
            else:
                self._add_file(rows, self._folder / "batch.csv")
        self._batches += 1

    def _add_file(self, rows: Iterable[Sequence[object]], path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
        self._database.execute(
            "COPY counts FROM ? (FORMAT csv, HEADER false, AUTO_DETECT false, DELIMITER ',', QUOTE '\"',"
            " ESCAPE '\"', NULLSTR '\x1d', PARALLEL false)",
            [str(path)],
        )
        path.unlink()

    def _add_columns(self, rows: Sequence[Sequence[object]]) -> None:
        if rows:
            columns = [list(column) for column in zip(*rows, strict=True)]
            self._database.execute(f"INSERT INTO counts SELECT {', '.join(['unnest(?)'] * len(columns))}", columns)

    def rows(self, wanted: RowFilter) -> Iterator[TableRow]:
        """The rows, the most frequent first, then by phrase.

        Those that were once called no more than similar come after all others, and those with digits come last.
        """
        with self._telling():
            self._database.execute(_MERGE)
            self._database.execute("DROP TABLE counts")
            found = self._database.execute(_ROWS, [wanted.min_count, wanted.different])
        while True:
            with self._telling():
                fetched = found.fetchmany(_FETCHED)
            if not fetched:
                return
            for row in fetched:
                made = self._row(*row)
                if (not wanted.relations or made.relation in wanted.relations) and (
                    not wanted.telling or is_telling(made)
                ):
                    yield made

    def write_parquet(self, lines: Path, columns: str, parquet: Path) -> None:
        """Make a Parquet file of JSON lines with these columns."""
        with self._telling():
            self._database.execute(
                f"COPY (SELECT * FROM read_json('{_quoted(lines)}', format = 'newline_delimited',"
                f" columns = {{{columns}}})) TO '{_quoted(parquet)}' (FORMAT parquet, COMPRESSION zstd)"
            )

    def close(self) -> None:
        """Close the database and its files."""
        self._database.close()

    def _bits(self, evidence: Set[str]) -> int:
        if len(evidence | self._evidence.keys()) > MOST_EVIDENCE:
            raise UsageError(
                f"the results name more than {MOST_EVIDENCE} kinds of evidence; expected our own, as links"
            )
        return sum(1 << self._evidence.setdefault(name, len(self._evidence)) for name in sorted(evidence))

    def _named(self, bits: int) -> tuple[str, ...]:
        """The evidence of a row; few sets of it occur, so each is made once."""
        if bits not in self._sets:
            self._sets[bits] = tuple(sorted(name for name, bit in self._evidence.items() if bits >> bit & 1))
        return self._sets[bits]

    def _part(self, counted: PairCount) -> str:
        """The number of the batch first: parts sort in the order of the lines."""
        relations = _LIST.join([f"{count} {relation}" for relation, count in sorted(counted.relations.items())])
        examples = _LIST.join([" ".join(id.split()) for id in counted.examples])
        return f"{self._batches:08d}{_PART}{relations}{_PART}{examples}"

    def _row(self, *values: Any) -> TableRow:
        phrase, paraphrase, source_label, target_label, slots, count, mass, bits, parts, forward, backward = values
        relations: dict[str, int] = {}
        examples: dict[str, None] = {}
        for part in sorted(parts):
            _, tallies, ids = part.split(_PART)
            for tally in tallies.split(_LIST):
                number, _, relation = tally.partition(" ")
                relations[relation] = relations.get(relation, 0) + int(number)
            examples.update(dict.fromkeys(ids.split(_LIST)))
        shown = tuple(examples)[:MOST_EXAMPLES]
        labels = source_label, target_label
        numbers = slots, count, mass / UNITS, forward, backward
        return TableRow(phrase, paraphrase, *labels, *numbers, most_frequent(relations), self._named(bits), shown)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """A disk that is full while sorting, said with its place."""
        try:
            yield
        except (self._duckdb.Error, OSError) as error:
            reason = " ".join(str(error).split())
            place = self._folder or "memory"
            raise OutputError(f"the table cannot be put together in {place}: {reason[:300]}") from error


def most_frequent(relations: Mapping[str, int]) -> str:
    """The relation that was said most often; one that was said goes before none, and ties go by our order."""
    if len(relations) == 1:
        return next(iter(relations))
    said: Sequence[str] = [relation for relation in PHRASE_RELATIONS if relations.get(relation)]
    return max(said, key=lambda relation: relations[relation], default="")


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
