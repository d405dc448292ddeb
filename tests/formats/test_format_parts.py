"""What the formats are made of: fields of JSON, lines of files, sentences at the door, graphs, rows, given parses."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.errors import InputError
from forestalign.forest import pack
from forestalign.forest.forest import Forest
from forestalign.formats.fields import (
    Fields,
    checked_sentence,
    split_on_spaces,
)
from forestalign.formats.lines import read_lines, read_text, read_text_lines, write_lines
from forestalign.formats.tree_files import format_forest, format_nbest, read_given
from forestalign.tokens import Sentence, Span
from forestalign.trees import ScoredTree, parse_brackets

LOW = "(S (NP (PRP I)) (VP (VBD saw) (NP (NP (NNS men)) (PP (IN with) (NP (NNS dogs))))))"
HIGH = "(S (NP (PRP I)) (VP (VBD saw) (NP (NNS men)) (PP (IN with) (NP (NNS dogs)))))"
# ---- fields ----


RECORD = Fields(
    {
        "text": "a",
        "number": 1.5,
        "whole": 3,
        "flag": True,
        "null": None,
        "words": ["a", "b"],
        "wholes": [1, 2],
        "pairs": [[0, 1], [2, 3]],
        "span": [0, 2],
        "child": {"name": "x"},
        "children": [{"name": "x"}, {"name": "y"}],
    }
)


def test_every_kind_of_field_is_given_back_as_its_type() -> None:
    assert RECORD.text("text") == "a"
    assert RECORD.number("number") == 1.5
    assert RECORD.number("whole") == 3.0
    assert RECORD.number("null") == -math.inf
    assert RECORD.whole("whole") == 3
    assert RECORD.flag("flag") is True
    assert RECORD.identity("whole") == "3"
    assert RECORD.words("words") == ("a", "b")
    assert RECORD.wholes("wholes") == (1, 2)
    assert RECORD.pairs("pairs") == ((0, 1), (2, 3))
    assert RECORD.span("span", 2) == Span(0, 2)
    assert RECORD.spans("pairs", 3) == (Span(0, 1), Span(2, 3))
    assert RECORD.child("child").text("name") == "x"
    assert [child.text("name") for child in RECORD.children("children")] == ["x", "y"]
    assert RECORD.rows("pairs", tuple[int, int], "pairs") == ((0, 1), (2, 3))
    assert RECORD.has("text")
    assert not RECORD.has("other")


@pytest.mark.parametrize(
    ("read", "told"),
    [
        (lambda: RECORD.text("other"), "no field 'other'; expected a string"),
        (lambda: RECORD.text("number"), "number is 1.5; expected a string"),
        (lambda: RECORD.identity("number"), "number is 1.5; expected a string or a whole number"),
        (lambda: RECORD.identity("flag"), "flag is true; expected a string or a whole number"),
        (lambda: RECORD.flag("whole"), "whole is 3; expected true or false"),
        (lambda: RECORD.whole("flag"), "flag is true; expected a whole number"),
        (lambda: RECORD.whole("number"), "number is 1.5; expected a whole number"),
        (lambda: RECORD.number("text"), 'text is "a"; expected a number'),
        (lambda: RECORD.number("flag"), "flag is true; expected a number"),
        (lambda: RECORD.words("wholes"), "wholes is [1, 2]; expected a list of strings"),
        (lambda: RECORD.wholes("words"), 'words is ["a", "b"]; expected a list of whole numbers'),
        (lambda: RECORD.pairs("wholes"), "wholes is 1; expected a list of pairs of whole numbers"),
        (lambda: RECORD.span("span", 1), "span is [0, 2]; expected a span [begin, end] with 0 <= begin < end <= 1"),
        (lambda: RECORD.span("text", 9), 'text is "a"; expected a span'),
        (lambda: RECORD.spans("text", 9), 'text is "a"; expected a list of spans'),
        (lambda: RECORD.child("text"), 'text is "a"; expected an object'),
        (lambda: RECORD.children("words"), 'words is "a"; expected a list of objects'),
        (lambda: RECORD.children("children")[1].text("no"), "no field 'children[1].no'; expected a string"),
        (lambda: RECORD.child("child").whole("name"), 'child.name is "x"; expected a whole number'),
        (lambda: RECORD.rows("pairs", tuple[int, int, int], "triples"), "pairs is [0, 1]; expected triples"),
        (lambda: RECORD.complain("text", "is odd"), "text: is odd"),
    ],
)
def test_a_field_that_is_wrong_is_named_with_value_and_expectation(read: Callable[[], object], told: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared
        read()
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "invalid JSON: Expecting property name enclosed in double quotes at column 2"),
        ("[1]", "expected a JSON object, found [1]"),
        ('{"a": NaN}', "invalid JSON: found NaN"),
        ('{"a": -Infinity}', "invalid JSON: found -Infinity"),
        ('{"a": 1, "b": 2, "a": 3}', "field 'a' stands there twice"),
        ("[" * 100_000, "invalid JSON: nested too deeply"),
    ],
)
def test_what_is_no_json_object_is_refused(line: str, told: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared
        Fields.parse(line)
    assert str(caught.value).startswith(told)


# ---- lines ----


def test_a_line_ends_at_a_newline_alone(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_bytes("\ufeffone\r\ntwo\u2028still two\n\nfour".encode())
    assert [(line.number, line.text) for line in read_lines(path)] == [
        (1, "one"),
        (2, "two\u2028still two"),
        (3, ""),
        (4, "four"),
    ]


def test_a_line_that_is_not_utf8_is_told_with_its_byte(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_bytes(b"good\nba\xffd\ngood\n")
    assert [line.error for line in read_lines(path)] == ["", "byte 3 of the line is 0xff, which is not UTF-8", ""]
    with pytest.raises(InputError, match=r"lines\.txt:2: byte 3"):
        list(read_text_lines(path))


def test_packed_lines_have_no_time_in_them(tmp_path: Path) -> None:
    for name in ("one.gz", "two.gz"):
        write_lines(tmp_path / name, ["a", "b"])
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    assert gzip.decompress((tmp_path / "one.gz").read_bytes()) == b"a\nb\n"
    assert read_text(tmp_path / "one.gz") == "a\nb"


# ---- the door ----


def test_a_sentence_is_a_text_a_list_or_itself() -> None:
    sentence = checked_sentence("source", "Don't go.", 10)
    assert sentence.words == ("Do", "n't", "go", ".")
    assert checked_sentence("source", sentence, 10) is sentence
    assert checked_sentence("source", ["Don't", "go."], 10).words == ("Don't", "go.")
    assert checked_sentence("source", "Don't go.", 10, tokenized=True).words == ("Don't", "go.")


@given(st.lists(st.text(st.characters(categories=("L", "N")), min_size=1), max_size=8))
def test_tokens_of_the_user_keep_their_places(words: list[str]) -> None:
    sentence = split_on_spaces("  ".join(words))
    assert sentence.written_words == tuple(words)
    assert all(sentence.text[token.start : token.end] == token.text for token in sentence.tokens)


# ---- graphs, rows, given parses ----


def forest() -> Forest:
    trees = [ScoredTree(parse_brackets(LOW), -0.5), ScoredTree(parse_brackets(HIGH), -1.0)]
    return pack(trees, Sentence.from_words(["I", "saw", "men", "with", "dogs"]))


@pytest.mark.parametrize("form", ["brackets", "nbest", "forest"])
def test_the_first_line_tells_what_the_parses_are(tmp_path: Path, form: str) -> None:
    trees = [ScoredTree(parse_brackets(LOW), -0.5), ScoredTree(parse_brackets(HIGH), -1.0)]
    lines = {"brackets": [LOW, HIGH], "nbest": format_nbest(0, trees), "forest": [format_forest(forest())]}[form]
    write_lines(tmp_path / "given", ["", *lines] if form == "brackets" else lines)
    given_parses = list(read_given(tmp_path / "given"))
    assert len(given_parses) == {"brackets": 2, "nbest": 1, "forest": 1}[form]
    if form == "forest":
        assert json.loads(format_forest(given_parses[0])) == json.loads(lines[0])  # type: ignore[arg-type]
