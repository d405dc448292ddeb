"""The lines of the paraphrase grammar: what they may hold, how they are taken apart, and the shipped files."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root
from forestalign.meaning.rules import (
    COMPILED,
    CompiledRules,
    RuleTable,
    compile_rules,
    duplicates,
    load_rules,
    parse_rule,
    read_rules,
    shipped_rule_files,
    take_apart,
)


@pytest.mark.parametrize(
    ("expression", "words", "letters", "is_negated"),
    [
        ("lay X off", ("lay", "off"), "X", False),
        ("X lose X's job", ("lose", "job"), "X", False),
        ("not pass X", ("pass",), "X", True),
        ("not V", ("not",), "V", False),
        ("FBI", ("FBI",), "", False),
        ("three-year-old", ("three", "year", "old"), "", False),
        ("it take X T to V", ("it", "take", "to"), "XTV", False),
        ("X (just) let Y know", ("just", "let", "know"), "XY", False),
        ("at a snail's pace", ("at", "a", "snail", "'s", "pace"), "", False),
        ("cannot stand X", ("can", "stand"), "X", True),
        ("five o'clock", ("five", "o'clock"), "", False),
    ],
)
def test_an_expression_has_words_slots_and_a_sign(
    expression: str, words: tuple[str, ...], letters: str, is_negated: bool
) -> None:
    pattern = take_apart(expression)
    assert (pattern.words, pattern.letters, pattern.is_negated) == (words, frozenset(letters), is_negated)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("postpone", "1 expressions"),
        ("postpone | ", "empty expression"),
        ("a | b ! c ! d", "more than one ! or >"),
        ("postpone | postpone", "twice"),
        ("X | Y", "no word beside its slots"),
        ("(off) | away", "no word that must be there"),
        ("put {off} | postpone", "'{' cannot stand"),
        ("put off) | postpone", "brackets stand around one word"),
        (f"postpone | {'very ' * 13}late", "expected at most"),
    ],
)
def test_a_bad_line_is_refused_with_file_line_and_reason(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(f"# comment\n[mine]\nbuy | purchase\n{line}\n", encoding="utf-8")
    with pytest.raises(GrammarError) as error:
        read_rules(path)
    assert f"{path}:4" in str(error.value)
    assert complaint in str(error.value)


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(b"\xff\xfe | a\n")
    with pytest.raises(GrammarError, match=r"mine\.txt:1.*UTF-8"):
        read_rules(path)


def test_kinds_and_comments_are_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("[converse]\nX buy Y from Z | Z sell Y to X # trade\n", encoding="utf-8")
    (rule,) = read_rules(path)
    assert (rule.kind, rule.place, rule.left) == ("converse", "mine.txt:2", ("X buy Y from Z", "Z sell Y to X"))


def test_signs_part_a_line_into_two_sides() -> None:
    assert parse_rule("succeed | make it ! fail")[:3] == (("succeed", "make it"), ("fail",), "!")
    assert parse_rule("poodle > dog")[:3] == (("poodle",), ("dog",), ">")


def test_a_table_finds_expressions_by_a_word_that_every_match_has() -> None:
    table = RuleTable(compile_rules([parse_rule("call X off | cancel X"), parse_rule("in time | on time")]))
    found = table.candidates({"off", "the", "call"})
    assert [table.expression(number).pattern.words for number in found[0]] == [("call", "off")]


def test_every_expression_has_a_key_among_the_words_that_any_match_has() -> None:
    (table, *_) = load_rules()
    for word, numbers in list(table._keys.items())[::97]:
        assert all(word in table.expression(number).pattern.key_words for number in numbers)


def test_the_shipped_lines_are_many_and_good() -> None:
    rules = [rule for path in shipped_rule_files() for rule in read_rules(path)]
    assert len(rules) >= 6_000
    assert sum(len(rule.expressions) for rule in rules) >= 20_000


def test_the_compiled_table_is_that_of_the_shipped_lines() -> None:
    rules = [rule for path in shipped_rule_files() for rule in read_rules(path)]
    compiled = msgspec.msgpack.decode((grammar_root() / COMPILED).read_bytes(), type=CompiledRules)
    assert compiled.rules == rules, "the lines have changed: run scripts/build_rules.py"
    assert compiled.keys == compile_rules(rules).keys


def test_expressions_in_several_lines_are_listed() -> None:
    rules = [parse_rule("a b | c", place="one:1"), parse_rule("c | d", place="two:2")]
    assert list(duplicates(rules)) == [("c", ["one:1", "two:2"])]
