"""Grammar data: every file loads, and a bad file says where it is bad."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forestalign import grammar
from forestalign.dependencies.heads import ud_head_rules
from forestalign.dependencies.phrase_tree import read_word_lists, word_lists
from forestalign.errors import GrammarError
from forestalign.grammar import Category, base_label, head_rules, reduced_category, semantic_head_rules


def write(folder: Path, text: str) -> Path:
    path = folder / "rules.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_grammar_file_is_described_in_the_readme() -> None:
    root = grammar.grammar_root()
    described = (root / "README.md").read_text(encoding="utf-8")
    files = [path.name for path in root.iterdir() if path.is_file() and path.name != "README.md"]
    assert [name for name in files if f"`{name}`" not in described] == []


def test_every_table_loads() -> None:
    assert head_rules().rules
    assert semantic_head_rules().rules
    assert ud_head_rules().rules
    assert word_lists().be
    assert "of" in grammar.prepositions()
    assert len(grammar.stop_words()) == 127
    assert grammar.binarisation_order("NP") == ("right", "left")


def test_the_hash_is_short_and_stable() -> None:
    assert grammar.grammar_hash() == grammar.grammar_hash()
    assert len(grammar.grammar_hash()) == 8


@pytest.mark.parametrize(
    ("label", "category"),
    [
        ("NP", Category.N),
        ("S+VP", Category.V),
        ("SBAR+S", Category.V),
        ("NP-SBJ", Category.N),
        ("IN", Category.PREP),
        ("CC", Category.COORD),
        ("HYPH", Category.OTHER),
        ("ADD", Category.N),
        ("NFP", Category.OTHER),
        ("GW", Category.N),
        ("AFX", Category.ADJ),
        ("-LRB-", Category.OTHER),
        ("no such label", Category.OTHER),
    ],
)
def test_labels_reduce_to_the_category_of_their_lowest_part(label: str, category: Category) -> None:
    assert reduced_category(label) is category


@pytest.mark.parametrize(
    ("label", "base"),
    [("NP-SBJ-1", "NP"), ("NP=2", "NP"), ("-LRB-", "-LRB-"), ("-NONE-", "-NONE-"), ("PRP$", "PRP$"), (":", ":")],
)
def test_function_labels_are_no_part_of_the_base_label(label: str, base: str) -> None:
    assert base_label(label) == base


@pytest.mark.parametrize(
    ("label", "labels", "head", "semantic_head"),
    [
        ("NP", ("DT", "JJ", "NN"), 2, 2),
        ("NP", ("NP", "PP"), 0, 0),
        ("NP", ("NN", "NN", "CC", "NN"), 1, 1),
        ("NP", ("NP", ",", "NP", "CC", "NP"), 0, 0),
        ("VP", ("MD", "RB", "VP"), 0, 2),
        ("VP", ("TO", "VP"), 0, 1),
        ("VP", ("VBD", "CC", "VP"), 0, 0),
        ("VP", ("VBZ", "ADJP"), 0, 0),
        ("PP", ("IN", "NP"), 0, 1),
        ("PP", ("IN",), 0, 0),
        ("SBAR", ("IN", "S"), 0, 1),
        ("SBAR", ("WHNP", "S"), 0, 1),
        ("S", ("NP", "VP", "."), 1, 1),
        ("S", ("S", ",", "CC", "S"), 0, 0),
        ("SQ", ("VBZ", "NP", "VP"), 0, 2),
        ("NP", (".", "."), 1, 1),
    ],
)
def test_head_rules_choose_the_expected_child(
    label: str, labels: tuple[str, ...], head: int, semantic_head: int
) -> None:
    assert head_rules().child(label, labels) == head
    assert semantic_head_rules().child(label, labels) == semantic_head


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("NP\tlast\tNN\nVP\tmiddle\tVB\n", 2, "expected first, last or conjunct"),
        ("# a comment\n\nNP\tlast\n", 3, "expected 3 filled columns"),
        ("NP\tlast\tNN >\n", 1, "expected labels on both sides"),
    ],
)
def test_a_bad_head_rule_is_reported_with_its_line(tmp_path: Path, text: str, line: int, expected: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(GrammarError, match=r"rules\.tsv") as caught:
        grammar.read_head_rules(path)
    assert caught.value.line == line
    assert expected in str(caught.value)


def test_a_missing_file_is_a_grammar_error(tmp_path: Path) -> None:
    with pytest.raises(GrammarError, match="cannot be read"):
        grammar.read_words(tmp_path / "absent.txt")


@pytest.mark.parametrize(
    ("read", "text", "expected"),
    [
        (grammar.read_head_rules, "# nothing\n", "no rules"),
        (grammar.read_orders, "*\tright\tright\n", "expected left and right"),
        (grammar.read_orders, "*\tright\tleft\n*\tleft\tright\n", "stated twice"),
        (grammar.read_orders, "NP\tright\tleft\n", "no row for '*'"),
        (grammar.read_categories, "NOUN\tNP\n", "expected one of N, V"),
        (grammar.read_categories, "N\tNP\nV\tNP\n", "'NP': stated twice"),
        (grammar.read_categories, "N\tNP\n", "no row holds '*'"),
        (grammar.read_words, "of\nof\n", "expected one word per line"),
        (grammar.read_words, "of the\n", "expected one word per line"),
        (grammar.read_tagged_words, "DT\tthe\nDT\ta\n", "rules.tsv:2: 'DT': expected each tag once"),
        (grammar.read_tagged_words, "DT\tthe\nIN\t*\nDT\t*\n", "rules.tsv:3: 'DT': expected each tag once"),
        (read_word_lists, "colours\tred green\n", "'colours': expected one of"),
        (read_word_lists, "be\tis are\n", "no row for"),
    ],
)
def test_a_bad_table_is_reported(tmp_path: Path, read: Callable[[Path], object], text: str, expected: str) -> None:
    with pytest.raises(GrammarError) as caught:
        read(write(tmp_path, text))
    assert expected in str(caught.value)


def test_small_words_depend_on_their_tag() -> None:
    assert grammar.is_small_word("about", "IN")
    assert grammar.is_small_word("the", "DT")
    assert not grammar.is_small_word("some", "DT")
    assert not grammar.is_small_word("what", "WP")
    assert not grammar.is_small_word("the", "NN")


def test_a_wheel_finds_the_grammar_inside_the_package() -> None:
    """The folder name is fixed in pyproject.toml; a wheel that puts it elsewhere would be found out here."""
    project = Path(grammar.__file__).resolve().parent.parent / "pyproject.toml"
    if not project.exists():
        pytest.skip("not a checkout")
    assert '"grammar" = "forestalign/_grammar"' in project.read_text(encoding="utf-8")
