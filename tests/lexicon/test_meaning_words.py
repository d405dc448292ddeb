"""Small words of meaning: the shipped lists, and what is wrong in a bad file."""

from __future__ import annotations

from pathlib import Path

import pytest

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root
from forestalign.lexicon.word_classes import meaning_words, read_meaning_words

SHIPPED = (grammar_root() / "meaning_words.tsv").read_text(encoding="utf-8")


def written(folder: Path, text: str) -> Path:
    path = folder / "meaning_words.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_lists_hold_words_and_pairs_of_words() -> None:
    assert "until" in meaning_words().bound
    assert frozenset({"more", "less"}) in meaning_words().degrees
    assert "|" not in {word for pair in meaning_words().degrees for word in pair}


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("colour\tred\n", "'colour': expected one of article, "),
        ("bound\tsince\n", "'bound': expected one of .*each once"),
        ("less\tless least less\n", "'less': expected one of"),
    ],
)
def test_unknown_lists_and_lists_stated_twice_are_refused(tmp_path: Path, row: str, found: str) -> None:
    with pytest.raises(GrammarError, match=found):
        read_meaning_words(written(tmp_path, SHIPPED + row))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("until till", "until until"),
        ("until till", "Until till"),
        ("more less |", "more |"),
        ("more less |", "more less more less | less more |"),
    ],
)
def test_words_that_are_repeated_and_pairs_of_one_are_refused(tmp_path: Path, old: str, new: str) -> None:
    assert old in SHIPPED
    with pytest.raises(GrammarError, match=r"expected lower-case words, or pairs of them, each once"):
        read_meaning_words(written(tmp_path, SHIPPED.replace(old, new)))


def test_a_missing_list_is_named(tmp_path: Path) -> None:
    text = "".join(line for line in SHIPPED.splitlines(keepends=True) if not line.startswith("bound"))
    with pytest.raises(GrammarError, match="no row for bound"):
        read_meaning_words(written(tmp_path, text))
