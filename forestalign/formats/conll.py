"""Dependencies in CoNLL-X and CoNLL-U.

Ten columns a token, tokens from 1, head 0 for the root, an empty line after each sentence. Multiword ranges (`1-2`) and
empty nodes (`1.1`) of CoNLL-U are passed over: the words are what is analysed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from forestalign.dependencies import Dependencies
from forestalign.errors import InputError, counted
from forestalign.formats.lines import read_text_lines
from forestalign.tokens import Sentence, Token

_COLUMN_COUNT = 10
_ABSENT = "_"
_NO_SPACE = "SpaceAfter=No"
_TEXT, _ID = "# text =", "# sent_id ="


@dataclass(frozen=True, slots=True)
class DependencyRecord:
    """One sentence with its dependencies; `categories` is column 4, UPOS in CoNLL-U."""

    id: str
    sentence: Sentence
    dependencies: Dependencies
    categories: tuple[str, ...]


def read_conll(path: str | Path) -> Iterator[DependencyRecord]:
    """The sentences of a file in either format."""
    pending: list[tuple[int, str]] = []
    for number, text in read_text_lines(path):
        if text.strip():
            pending.append((number, text))
        elif pending:
            yield _record(path, pending)
            pending = []
    if pending:
        yield _record(path, pending)


def format_conll(record: DependencyRecord) -> str:
    """One sentence in CoNLL-U, as many lines, ended by the newline before the empty line that has to follow."""
    lines = [f"{_ID} {record.id}"] if record.id else []
    lines.append(f"{_TEXT} {record.sentence.text}")
    lines += ["\t".join(_columns(record, index)) for index in range(len(record.sentence))]
    return "\n".join(lines) + "\n"


def universal_tags(sentence: Sentence, dependencies: Dependencies) -> tuple[str, ...]:
    """UPOS of tagged words; the relation tells auxiliaries from verbs and subordinators from prepositions."""
    return tuple(
        _universal(token.tag, token.lemma, relation.partition(":")[0])
        for token, relation in zip(sentence.tokens, dependencies.relations, strict=True)
    )


def _columns(record: DependencyRecord, index: int) -> Sequence[str]:
    token, head = record.sentence.tokens[index], record.dependencies.heads[index] + 1
    return (
        str(index + 1),
        token.text,
        token.lemma or _ABSENT,
        record.categories[index] or _ABSENT,
        token.tag or _ABSENT,
        _ABSENT,
        str(head),
        record.dependencies.relations[index] or _ABSENT,
        _ABSENT,
        _NO_SPACE if _is_glued(record.sentence, index) else _ABSENT,
    )


def _is_glued(sentence: Sentence, index: int) -> bool:
    following = index + 1
    return following < len(sentence) and sentence.tokens[index].end == sentence.tokens[following].start


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    columns: tuple[str, ...]


def _record(path: str | Path, lines: Sequence[tuple[int, str]]) -> DependencyRecord:
    rows: list[_Row] = []
    identity = ""
    for number, text in lines:
        if text.startswith("#"):
            identity = text.removeprefix(_ID).strip() if text.startswith(_ID) else identity
            continue
        columns = tuple(text.split("\t"))
        if len(columns) != _COLUMN_COUNT:
            raise InputError(
                path, number, f"{counted(len(columns), 'column')}; expected {_COLUMN_COUNT}, separated by tabs"
            )
        if columns[0].isdecimal():
            rows.append(_Row(number, columns))
        elif not columns[0].replace("-", "").replace(".", "").isdecimal():
            raise InputError(path, number, f"token number {columns[0]!r}; expected {len(rows) + 1}")
    if not rows:
        raise InputError(path, lines[0][0], "a sentence without tokens; expected at least one")
    heads = tuple(_head(path, row, index, len(rows)) for index, row in enumerate(rows))
    relations = tuple(_value(row.columns[7]) for row in rows)
    categories = tuple(_value(row.columns[3]) for row in rows)
    return DependencyRecord(identity, _sentence(rows), Dependencies(heads, relations), categories)


def _head(path: str | Path, row: _Row, index: int, count: int) -> int:
    if row.columns[0] != str(index + 1):
        raise InputError(path, row.line, f"token number {row.columns[0]}; expected {index + 1}")
    head = row.columns[6]
    if not head.isdecimal() or int(head) > count or int(head) == index + 1:
        raise InputError(path, row.line, f"head {head!r}; expected 0 for the root or another token, 1 to {count}")
    return int(head) - 1


def _sentence(rows: Sequence[_Row]) -> Sentence:
    text, tokens = "", []
    for index, row in enumerate(rows):
        form, lemma, tag = row.columns[1], row.columns[2], row.columns[4]
        begin = len(text)
        text += form
        tokens.append(Token(form, begin, len(text), lemma if form == _ABSENT else _value(lemma), _value(tag)))
        if index + 1 < len(rows) and _NO_SPACE not in row.columns[9].split("|"):
            text += " "
    return Sentence(text, tuple(tokens))


def _value(column: str) -> str:
    return "" if column == _ABSENT else column


# Penn tags that one universal tag covers; the others depend on word or relation and are decided below.
_UNIVERSAL = {
    "CC": "CCONJ",
    "CD": "NUM",
    "DT": "DET",
    "EX": "PRON",
    "FW": "X",
    "JJ": "ADJ",
    "JJR": "ADJ",
    "JJS": "ADJ",
    "LS": "X",
    "MD": "AUX",
    "NN": "NOUN",
    "NNS": "NOUN",
    "NNP": "PROPN",
    "NNPS": "PROPN",
    "PDT": "DET",
    "POS": "PART",
    "PRP": "PRON",
    "PRP$": "PRON",
    "RB": "ADV",
    "RBR": "ADV",
    "RBS": "ADV",
    "RP": "ADP",
    "SYM": "SYM",
    "TO": "PART",
    "UH": "INTJ",
    "WDT": "PRON",
    "WP": "PRON",
    "WP$": "PRON",
    "WRB": "ADV",
    "$": "SYM",
    "#": "SYM",
    "ADD": "X",
    "GW": "X",
    "AFX": "X",
}
_AUXILIARY_RELATIONS = frozenset({"aux", "cop"})


def _universal(tag: str, lemma: str, relation: str) -> str:
    if tag.startswith("VB"):
        return "AUX" if relation in _AUXILIARY_RELATIONS else "VERB"
    if tag in ("IN", "TO") and relation == "case":
        return "ADP"
    if tag == "IN":
        return "SCONJ" if relation == "mark" else "ADP"
    if tag == "RB" and lemma == "not":
        return "PART"
    if not tag:
        return ""
    return _UNIVERSAL.get(tag, "PUNCT")
