"""Grammar data: head rules, binarisation orders, reduced categories and word lists, from the files of `grammar/`.

The files are described in `grammar/README.md`. Each is checked when it is first loaded, and kept. A wheel carries the
folder inside the package, as `_grammar`; in a checkout it stands beside the package.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal, cast

from forestalign.errors import GrammarError, counted

Side = Literal["left", "right"]
Search = Literal["first", "last", "conjunct"]
ANY = "*"
SEPARATORS = frozenset({"CC", "CONJP", ",", ":"})
COORDINATORS = frozenset({"CC", "CONJP"})
IDENTITY_FILE = "_identity.txt"  # in a wheel, beside this module
MOST_PRODUCTIONS = 1 << 13  # whose heads are kept; a long run meets ever new ones


class Category(StrEnum):
    """The reduced syntactic categories of section 5.2."""

    N = "N"
    V = "V"
    ADJ = "ADJ"
    ADV = "ADV"
    PREP = "PREP"
    COORD = "COORD"
    NULL = "NULL"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True)
class HeadRule:
    """One row of a head table: the groups are tried in order, each group by one search over the children."""

    search: Search
    groups: tuple[frozenset[str], ...]

    def child(self, labels: tuple[str, ...]) -> int | None:
        """The child this row chooses, if any."""
        indices = self._searched(labels)
        for group in self.groups:
            for index in indices:
                if labels[index] in group or (ANY in group and labels[index] not in punctuation_tags()):
                    return index
        return None

    def _searched(self, labels: tuple[str, ...]) -> range:
        """The indices in the order of the search; `conjunct` looks left from the end of the first conjunct."""
        if self.search == "first":
            return range(len(labels))
        if self.search == "last":
            return range(len(labels) - 1, -1, -1)
        if not COORDINATORS.intersection(labels[1:]):
            return range(0)
        first_end = next(index for index in range(1, len(labels)) if labels[index] in SEPARATORS)
        return range(first_end - 1, -1, -1)


@dataclass(frozen=True, slots=True)
class HeadTable:
    """Head rules by label, asked again and again for the same few thousand productions, so answers are kept."""

    rules: dict[str, tuple[HeadRule, ...]]
    fallback: HeadTable | None = None
    _known: dict[tuple[str, tuple[str, ...]], int] = field(default_factory=dict, compare=False, repr=False)

    def child(self, label: str, labels: tuple[str, ...]) -> int:
        """Index of the head among children with these labels (plain ones: no function labels)."""
        key = (label, labels)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MOST_PRODUCTIONS:
                self._known.clear()
            found = self._known[key] = self._search(label, labels)
        return found

    def _search(self, label: str, labels: tuple[str, ...]) -> int:
        if len(labels) == 1:
            return 0
        for rule in self.rules.get(label, self.rules.get(ANY, ())):
            index = rule.child(labels)
            if index is not None:
                return index
        if self.fallback is not None:
            return self.fallback.child(label, labels)
        return len(labels) - 1


@lru_cache(maxsize=4096)
def base_label(label: str) -> str:
    """The label without function labels and indices: NP-SBJ-1 -> NP, NP=2 -> NP, -LRB- -> -LRB-."""
    for index in range(1, len(label)):
        if label[index] in "-=":
            return label if label[0] == "-" else label[:index]
    return label


# ---- files ----


@cache
def grammar_root() -> Path:
    """The folder of the grammar files: inside an installed wheel, or beside the package in a checkout."""
    package = Path(__file__).resolve().parent
    for folder in (package / "_grammar", package.parent / "grammar"):
        if folder.is_dir():
            return folder
    raise GrammarError(package / "_grammar", None, "folder not found; expected it here or beside the package")


@cache
def program_version() -> str:
    """Version and identity of the program, for signatures: two programs of one version differ in their identity.

    A wheel carries the identity of the sources that it was built from; a checkout computes it.
    """
    package = Path(__file__).parent
    written = package / IDENTITY_FILE
    identity = written.read_text(encoding="ascii").strip() if written.is_file() else source_identity(package)
    return f"{version('forestalign')}+{identity}"


def source_identity(package: Path) -> str:
    """Eight hex digits over the names and contents of all sources of the package."""
    digest = hashlib.blake2b(digest_size=4)
    for path in sorted(path for path in package.rglob("*.p*") if path.suffix in (".py", ".pyx", ".pxd")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0")
        digest.update(hashlib.blake2b(path.read_bytes().replace(b"\r\n", b"\n")).digest())
    return digest.hexdigest()


@cache
def parser_hash() -> str:
    """Eight hex digits over the graph of the shipped parser, by which files tell whose vectors they keep."""
    path = grammar_root() / "parser" / "parser.onnx"
    try:
        return hashlib.blake2b(path.read_bytes(), digest_size=4).hexdigest()
    except OSError as error:
        raise GrammarError(path, None, f"cannot be read: {error}") from error


@cache
def grammar_hash() -> str:
    """Eight hex digits over the names and contents of all grammar files, for signatures."""
    digest = hashlib.blake2b(digest_size=4)
    root = grammar_root()
    for path in sorted(path for path in root.rglob("*") if path.is_file() and path.name != "README.md"):
        digest.update(str(path.relative_to(root)).encode() + b"\0")
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, hashlib.blake2b).digest())
    return digest.hexdigest()


def read_rows(path: Path, column_count: int) -> Iterator[tuple[int, list[str]]]:
    """Numbered rows of a tab-separated grammar file; empty lines and lines that begin with `# ` are comments."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise GrammarError(path, None, f"cannot be read: {error}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("# "):
            continue
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) != column_count or not all(columns):
            raise GrammarError(
                path, number, f"{line!r}: expected {counted(column_count, 'filled column')}, separated by tabs"
            )
        yield number, columns


def read_head_rules(path: Path, fallback: HeadTable | None = None) -> HeadTable:
    """Rows LABEL, SEARCH, GROUPS (labels separated by blanks, groups by `>`)."""
    rules: dict[str, tuple[HeadRule, ...]] = {}
    for number, (label, search, groups) in read_rows(path, 3):
        if search not in ("first", "last", "conjunct"):
            raise GrammarError(path, number, f"{search!r}: expected first, last or conjunct")
        sets = tuple(frozenset(group.split()) for group in groups.split(">"))
        if not all(sets):
            raise GrammarError(path, number, f"{groups!r}: expected labels on both sides of every '>'")
        rules[label] = (*rules.get(label, ()), HeadRule(cast(Search, search), sets))
    if not rules:
        raise GrammarError(path, None, "no rules; expected rows of LABEL, SEARCH, GROUPS")
    return HeadTable(rules, fallback)


def read_orders(path: Path) -> dict[str, tuple[Side, Side]]:
    """Rows LABEL, FIRST SIDE, SECOND SIDE; one of them for `*`."""
    orders: dict[str, tuple[Side, Side]] = {}
    for number, (label, first, second) in read_rows(path, 3):
        if {first, second} != {"left", "right"}:
            raise GrammarError(path, number, f"{first!r}, {second!r}: expected left and right, in either order")
        if label in orders:
            raise GrammarError(path, number, f"{label!r}: stated twice, expected one row a label")
        orders[label] = (cast(Side, first), cast(Side, second))
    if ANY not in orders:
        raise GrammarError(path, None, "no row for '*'; expected the order of labels without a row")
    return orders


def read_categories(path: Path) -> dict[str, Category]:
    """Rows CATEGORY, LABELS; a label stands in one row only, and `*` in one of them."""
    categories: dict[str, Category] = {}
    for number, (name, labels) in read_rows(path, 2):
        if name not in Category.__members__:
            raise GrammarError(path, number, f"{name!r}: expected one of {', '.join(Category)}")
        for label in labels.split():
            if label in categories:
                raise GrammarError(path, number, f"{label!r}: stated twice, expected one category a label")
            categories[label] = Category(name)
    if ANY not in categories:
        raise GrammarError(path, None, "no row holds '*'; expected the category of unknown labels")
    return categories


def read_words(path: Path) -> frozenset[str]:
    """One word per line, each once."""
    words: set[str] = set()
    for number, (word,) in read_rows(path, 1):
        if word in words or " " in word:
            raise GrammarError(path, number, f"{word!r}: expected one word per line, each once")
        words.add(word)
    return frozenset(words)


def read_tagged_words(path: Path) -> dict[str, frozenset[str] | None]:
    """The words of each tag; None for all of them."""
    found: dict[str, frozenset[str] | None] = {}
    for number, (tag, words) in read_rows(path, 2):
        if tag in found or not words.strip():
            raise GrammarError(path, number, f"{tag!r}: expected each tag once, with its words or '*'")
        found[tag] = None if words == ANY else frozenset(words.split())
    return found


# ---- the tables ----


@cache
def head_rules() -> HeadTable:
    """Syntactic heads."""
    return read_head_rules(grammar_root() / "head_rules.tsv")


@cache
def semantic_head_rules() -> HeadTable:
    """Semantic heads: the rows where they differ, and the syntactic heads for all else."""
    return read_head_rules(grammar_root() / "semantic_head_rules.tsv", fallback=head_rules())


@cache
def _orders() -> dict[str, tuple[Side, Side]]:
    return read_orders(grammar_root() / "binarisation.tsv")


def binarisation_order(label: str) -> tuple[Side, Side]:
    """Which side of the head is attached first under this label."""
    return _orders().get(label, _orders()[ANY])


@cache
def _categories() -> dict[str, Category]:
    return read_categories(grammar_root() / "categories.tsv")


@lru_cache(maxsize=4096)
def reduced_category(label: str) -> Category:
    """The category of a tag, a label, or the lowest label of a chain such as S+VP."""
    lowest = base_label(label.rsplit("+", 1)[-1])
    return _categories().get(lowest, _categories()[ANY])


@cache
def prepositions() -> frozenset[str]:
    """Lower-case prepositions."""
    return read_words(grammar_root() / "prepositions.txt")


@cache
def stop_words() -> frozenset[str]:
    """Lower-case function words."""
    return read_words(grammar_root() / "stop_words.txt")


@cache
def abbreviations() -> frozenset[str]:
    """Lower-case words whose full stop does not end a sentence, without it."""
    return read_words(grammar_root() / "abbreviations.txt")


@cache
def lemma_choices() -> dict[tuple[str, str], str]:
    """Form and tag -> lemma, where the first of several possible lemmas is not the one."""
    rows = read_rows(grammar_root() / "lemma_choices.tsv", column_count=3)
    return {(form, tag): lemma for _, (form, tag, lemma) in rows}


@cache
def negation_words() -> frozenset[str]:
    """Lower-case words that negate."""
    return read_words(grammar_root() / "negations.txt")


@cache
def near_negations() -> frozenset[str]:
    """Lemmas that say as much as a negation."""
    return read_words(grammar_root() / "near_negations.txt")


@cache
def punctuation_tags() -> frozenset[str]:
    """Tags that mark punctuation."""
    return read_words(grammar_root() / "punctuation.txt")


@cache
def transcript_tags() -> frozenset[str]:
    """Tags that no word of a text has."""
    return read_words(grammar_root() / "transcript_tags.txt")


@cache
def _small_words() -> dict[str, frozenset[str] | None]:
    return read_tagged_words(grammar_root() / "small_words.tsv")


@lru_cache(maxsize=4096)
def is_small_word(form: str, tag: str) -> bool:
    """Whether a lower-case word adds nothing of its own to a phrase: articles, prepositions, connectives."""
    words = _small_words().get(tag, frozenset())
    return words is None or form in words
