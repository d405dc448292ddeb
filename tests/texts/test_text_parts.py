"""Prose taken apart: sentences, their lines, what Markdown has besides, and files that are no prose."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.errors import InputError, UsageError
from forestalign.texts.sentence_split import split_sentences
from forestalign.texts.text_parts import LARGEST_TEXT, is_markdown, read_prose, take_text_apart
from tests.builders.work import count_calls

NOTES = """---
title: Notes
---
# The *first* heading

He left on **Monday**. She [stayed](https://example.org/a_b)
until Mr. Brown came. It
rained.

1. one item
2. another `item` is here. It goes on.

| a | b |
|---|---|
| 1. One | 2. Two |

```python
x = 1  # Not a sentence. Nor this.
```

    indented code. More code.

<div>Html. More.</div>

> Quoted text &amp; more. ![A picture](x.png) stands here.
"""


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("He left. She stayed.", 2),
        ("Mr. Smith of the U.S. Army left. She stayed.", 2),
        ('"Why?" she asked. "Because."', 2),
        ("It cost $3.5 million. Nobody\npaid.", 2),
        ("A heading\n\nA sentence", 2),
        ("J. R. Brown won!", 1),
        ("  \n ", 0),
    ],
)
def test_texts_are_cut_into_sentences(text: str, count: int) -> None:
    assert len(split_sentences(text)) == count


def test_initials_end_a_sentence_where_another_begins() -> None:
    text = "He lives in the U.S. He likes it. It began at 10 a.m. on Tuesday. J. R. Brown won."
    assert split_sentences(text) == [
        "He lives in the U.S.",
        "He likes it.",
        "It began at 10 a.m. on Tuesday.",
        "J. R. Brown won.",
    ]


@given(st.text(alphabet="Aa1 .!?\n\"'()é", max_size=60))
def test_no_character_of_a_text_is_lost(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


def test_markdown_gives_prose_with_its_lines() -> None:
    found = [(each.line, each.text) for each in take_text_apart(NOTES, markdown=True).sentences]
    assert found == [
        (4, "The first heading"),
        (6, "He left on Monday."),
        (6, "She stayed until Mr. Brown came."),
        (7, "It rained."),
        (10, "one item"),
        (11, "another item is here."),
        (11, "It goes on."),
        (25, "Quoted text & more."),
        (25, "A picture stands here."),
    ]


def test_tables_and_code_are_left_alone_and_counted() -> None:
    parts = take_text_apart(NOTES, markdown=True)
    assert parts.left_alone == "1 table and 4 pieces of code"
    assert parts.tables == ("| a | b |\n|---|---|\n| 1. One | 2. Two |",)


def test_plain_text_keeps_lines_and_items_apart() -> None:
    text = "A heading\n\nOne is\nhere. Two.\n- an item\n- another. Three.\n"
    found = [(each.line, each.text) for each in take_text_apart(text).sentences]
    assert found == [(1, "A heading"), (3, "One is here."), (4, "Two."), (5, "an item"), (6, "another."), (6, "Three.")]


def test_markdown_is_told_by_the_name() -> None:
    assert [is_markdown(name) for name in ("a.md", "A.MD", "b.markdown", "c.md.gz", "d.txt", "-")] == [
        True,
        True,
        True,
        True,
        False,
        False,
    ]


HOSTILE = {
    "items": "- a\n",
    "images": "![a",
    "links": "[a](",
    "brackets": "[*",
    "backticks": "`a`b``",
    "stars": "*a",
    "lines": "_a_",
    "strokes": "~~a",
    "quotations": "> > > a\n",
    "references": "[a]: b\n",
    "rows": "|c|d|\n",
    "tags": "<a>",
    "entities": "&amp;",
    "escapes": "\\[",
    "addresses": "<http://a>",
    "headings": "# a\n",
    "rules": "---\n",
    "fences": "```\n",
    "numbers": "1. a\n",
    "abbreviations": "Mr. X is A. B. C. ",
}
CALLS_PER_CHARACTER = 150  # of functions, in the worst of these


@pytest.mark.parametrize("name", HOSTILE)
def test_the_work_on_hostile_text_grows_with_its_size_alone(name: str) -> None:
    text = HOSTILE[name] * (20_000 // len(HOSTILE[name]))
    assert count_calls(lambda: take_text_apart(text, markdown=True)) <= CALLS_PER_CHARACTER * len(text)


def test_a_markdown_text_of_too_many_lines_is_refused() -> None:
    with pytest.raises(UsageError, match="more than 40,000 lines"):
        take_text_apart("- a\n" * 40_000, markdown=True)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"One line. " * (LARGEST_TEXT // 10 + 1), "has more than 2,000,000 characters"),
        (b"A text\0with zeros.", ":1: holds a zero byte"),
        (b"Good.\n\xff\xfe", ":2: byte 1 of the line is 0xff"),
    ],
    ids=["large", "zero", "binary"],
)
def test_what_is_no_prose_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_prose(path)


def test_other_languages_are_noticed() -> None:
    german = "Der Hund schläft heute in der warmen Sonne. Niemand wollte ihn wecken oder füttern."
    assert not take_text_apart(german).looks_english
    assert take_text_apart("The dog sleeps in the warm sun today. Nobody wanted to wake it.").looks_english
