"""Prose taken apart: sentences, their lines, what Markdown has besides, and files that are no prose."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.errors import InputError, UsageError
from forestalign.texts.text_parts import LARGEST_TEXT, read_prose, split_sentences, take_text_apart
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
    "sentences": "Ab. ",
    "short rows": "|" + "a|" * 200 + "\n|" + "-|" * 200 + "\n" + "|b\n" * 100 + "\n",
    "nested marks": "- > 1. - > 1. - > 1. - > 1. - > 1. - > 1. - > 1.\n",
    "nested pictures": "![a" * 99 + "\n\n",
    "long paragraphs": "_a __b*c " * 500 + "\n\n",
}
CALLS_PER_CHARACTER = 200  # of functions, in the worst of these


@pytest.mark.parametrize("name", HOSTILE)
def test_the_work_on_hostile_text_grows_with_its_size_alone(name: str) -> None:
    texts = [HOSTILE[name] * (size // len(HOSTILE[name])) for size in (5_000, 10_000)]
    calls = [count_calls(lambda text=text: take_text_apart(text, markdown=True)) for text in texts]  # type: ignore[misc]
    assert calls[1] <= CALLS_PER_CHARACTER * len(texts[1])
    assert calls[1] <= 1.2 * calls[0] * len(texts[1]) / len(texts[0]) + 1000


@pytest.mark.parametrize(
    ("text", "markdown", "message"),
    [("- a\n" * 40_000, True, "more than 40,000 lines"), ("Ab. " * 40_001, False, "more than 40,000 sentences")],
)
def test_a_text_of_too_many_lines_or_sentences_is_refused(text: str, markdown: bool, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        take_text_apart(text, markdown)


def test_a_table_ends_with_its_paragraph_and_may_follow_prose() -> None:
    text = "Prices are here.\n| a \\| b | c |\n|:--|--:|\n| One. | Two. |\n\nNo | table\n-|-|-\nends here.\n"
    parts = take_text_apart(text, markdown=True)
    assert parts.tables == ("| a \\| b | c |\n|:--|--:|\n| One. | Two. |",)
    assert [(each.line, each.text) for each in parts.sentences] == [
        (1, "Prices are here."),
        (6, "No | table -|-|- ends here."),
    ]


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
