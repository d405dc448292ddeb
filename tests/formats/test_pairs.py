"""Pairs in: every form, every kind of bad line, streaming."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.errors import InputError, UsageError
from forestalign.formats.lines import write_lines
from forestalign.formats.pairs import BadRecord, PairRecord, format_pair, read_pairs, unread_parallel

TAB_LINE = "The cat sat.\tA cat was sitting."


def records(tmp_path: Path, content: bytes | str, name: str = "pairs.txt", **options: object) -> list[object]:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_pairs(path, **options))  # type: ignore[arg-type]


def only(found: list[object]) -> object:
    assert len(found) == 1
    return found[0]


def good(record: object) -> PairRecord:
    assert isinstance(record, PairRecord), record
    return record


def bad(record: object) -> str:
    assert isinstance(record, BadRecord), record
    return record.message


@pytest.mark.parametrize(
    "line",
    [
        TAB_LINE,
        "The cat sat. ||| A cat was sitting.",
        "The cat sat.|||A cat was sitting.",
        '{"id": "7", "source": "The cat sat.", "target": "A cat was sitting."}',
        '{"id": 7, "source": ["The", "cat", "sat", "."], "target": ["A", "cat", "was", "sitting", "."], "more": 1}',
    ],
)
def test_every_form_of_a_line_gives_the_same_words(tmp_path: Path, line: str) -> None:
    record = good(only(records(tmp_path, line + "\n")))
    assert record.source.words == ("The", "cat", "sat", ".")
    assert record.target.words == ("A", "cat", "was", "sitting", ".")
    assert record.id == ("7" if line.startswith("{") else "1")


def test_forms_may_be_mixed_and_numbers_count_every_line(tmp_path: Path) -> None:
    found = records(tmp_path, f'{TAB_LINE}\nnothing here\na ||| b\n{{"source": "a", "target": "b"}}\n')
    assert [(record.number, record.id, type(record)) for record in found] == [  # type: ignore[attr-defined]
        (1, "1", PairRecord),
        (2, "2", BadRecord),
        (3, "3", PairRecord),
        (4, "4", PairRecord),
    ]


def test_a_sentence_may_start_with_a_brace(tmp_path: Path) -> None:
    assert good(only(records(tmp_path, "{a} ||| {b}\n"))).source.words == ("{", "a", "}")


def test_tokenized_input_keeps_the_users_tokens_and_the_text(tmp_path: Path) -> None:
    record = good(only(records(tmp_path, "can't  stop.\tmust go\n", tokenized=True)))
    assert record.source.words == ("can't", "stop.")
    assert record.source.text == "can't  stop."
    assert [(token.start, token.end) for token in record.source.tokens] == [(0, 5), (7, 12)]


def test_the_last_line_needs_no_newline_and_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    found = records(tmp_path, "\ufeffa\tb\r\nc\td")
    assert [good(record).target.words for record in found] == [("b",), ("d",)]
    assert good(found[0]).source.text == "a"


BAD_LINES = {
    "empty source": ("\tb", "the source is empty"),
    "empty target": ("a ||| ", "the target is empty"),
    "white space only": (" \t ", "the line is empty"),
    "one column": ("just a sentence", 'one column: "just a sentence"; expected source<TAB>target'),
    "three columns": ("a\tb\tc", "3 columns"),
    "invalid JSON": ('{"source": "a"', "invalid JSON"),
    "JSON without a target": ('{"source": "a"}', "no field 'target'"),
    "a field twice": ('{"source": "a", "source": "b", "target": "c"}', "field 'source' stands there twice"),
    "a number as source": ('{"source": 3, "target": "c"}', "source is 3; expected a string"),
    "a number as token": ('{"source": ["a", 3], "target": "c"}', "expected a list of strings"),
    "an empty token": ('{"source": ["a", ""], "target": "c"}', "token 1 of the source is ''"),
    "a token with a space": ('{"source": ["a b"], "target": "c"}', "token 0 of the source is 'a b'"),
    "an empty list": ('{"source": [], "target": "c"}', "the source is empty"),
    "a list as id": ('{"id": [1], "source": "a", "target": "c"}', "id is [1]; expected a string or a whole number"),
    "NUL": ("a\tb\x00c", "the target has a control character, U+0000 at character 2"),
    "escape": ("a\x1b[2Jb\tc", "the source has a control character, U+001B at character 2"),
    "half a surrogate pair": (
        '{"source": "a\\ud800", "target": "b"}',
        "field 'source' has half of a surrogate pair, U+D800",
    ),
    "too many words": ("a\t" + "word " * 2000, "the target has 2000 words; the limit is 300 (setting max_words)"),
    "too many tokens": ("a\t" + "can't " * 200, "the target has 400 words"),
    "nested too deeply": ("[" * 100000, "one column"),
    "JSON nested too deeply": ('{"source": ' + "[" * 100000, "nested too deeply"),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_is_reported_and_the_rest_is_done(tmp_path: Path, name: str) -> None:
    line, message = BAD_LINES[name]
    found = records(tmp_path, f"{TAB_LINE}\n{line}\n{TAB_LINE}\n")
    assert [type(record) for record in found] == [PairRecord, BadRecord, PairRecord]
    assert message in bad(found[1])


def test_bytes_that_are_not_utf8_are_reported_with_their_place(tmp_path: Path) -> None:
    found = records(tmp_path, b"a\tb\ncaf\xe9\tb\nc\td\n")
    assert [type(record) for record in found] == [PairRecord, BadRecord, PairRecord]
    assert bad(found[1]) == "byte 4 of the line is 0xe9, which is not UTF-8"


def test_two_parallel_files_are_one_list_of_pairs(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(b"One.\n\nTh\xffree\nFour.\nFive.\n")
    (tmp_path / "t").write_bytes(b"1.\n2.\n3.\n4.\n")
    found = [unread.read() for unread in unread_parallel(tmp_path / "s", tmp_path / "t")]
    assert [record.number for record in found] == [1, 2, 3, 4, 5]
    assert (good(found[0]).source.text, good(found[3]).target.text) == ("One.", "4.")
    assert "the source is empty" in bad(found[1])
    assert "source: byte 3 of the line is 0xff" in bad(found[2])
    assert "t ends before line 5" in bad(found[4])


def test_two_files_of_pairs_are_not_taken_for_sources_and_targets(tmp_path: Path) -> None:
    for name in ("a.tsv", "b.tsv"):
        (tmp_path / name).write_text(f"{TAB_LINE}\n")
    with pytest.raises(UsageError, match="both hold pairs"):
        list(unread_parallel(tmp_path / "a.tsv", tmp_path / "b.tsv"))


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("x.csv", 'One.,Two.\n"He said, ""no"".",Four.\n', [(1, "One.", "Two."), (2, 'He said, "no".', "Four.")]),
        ("x.csv", 'One.,"Two\nlines."\nThree.,Four.\n', [(1, "One.", "Two lines."), (3, "Three.", "Four.")]),
        ("x.csv", "id,Target,Source\n1,Two.,One.\n", [(2, "One.", "Two.")]),
        ("x.tsv", "premise\thypothesis\tscore\nOne.\tTwo.\t1\n", [(2, "One.", "Two.")]),
        ("x.tsv", "sentence1\tsentence2\nOne.\tTwo.\n", [(2, "One.", "Two.")]),
        ("x.csv", 'One.,"Two.\n', [(1, "a quotation mark is not closed", "")]),
        ("x.csv", "One.,Two.,Three.\n", [(1, "3 columns", "")]),
        ("x.tsv", "The source\tThe target\n", [(1, "The source", "The target")]),
    ],
)
def test_csv_and_headers_are_read(tmp_path: Path, name: str, content: str, found: list[tuple[int, str, str]]) -> None:
    read = records(tmp_path, content, name)
    for record, (number, source, target) in zip(read, found, strict=True):
        if isinstance(record, BadRecord):
            assert (record.number, record.message.startswith(source)) == (number, True)
        else:
            assert isinstance(record, PairRecord)
            assert (record.number, record.source.text, record.target.text) == (number, source, target)


def test_a_truncated_gzip_raises_after_its_good_lines(tmp_path: Path) -> None:
    lines = [f"left {number} {os.urandom(20).hex()}\tright" for number in range(1000)]
    whole = gzip.compress("\n".join(lines).encode())
    path = tmp_path / "pairs.gz"
    path.write_bytes(whole[: len(whole) // 2])
    seen: list[PairRecord] = []
    delivered = (seen.append(good(record)) for record in read_pairs(path, tokenized=True))
    with pytest.raises(InputError, match=r"pairs\.gz:\d+: the file breaks off or is damaged after line") as caught:
        any(delivered)
    assert 100 < len(seen) < 1000
    assert [record.source.text for record in seen] == [line.split("\t")[0] for line in lines[: len(seen)]]
    assert caught.value.line == len(seen) + 1


class _Trickle(io.RawIOBase):
    """A stream that counts how far it was read, one line at a time."""

    def __init__(self, lines: list[bytes]):
        self.lines, self.given = lines, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self.given == len(self.lines):
            return 0
        line = self.lines[self.given]
        self.given += 1
        buffer[: len(line)] = line
        return len(line)


def test_the_first_pair_comes_before_the_last_line_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    trickle = _Trickle([b"a\tb\n", b"c\td\n", b"e\tf\n"])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(trickle)))
    pairs = read_pairs("-")
    assert good(next(pairs)).source.words == ("a",)
    assert trickle.given == 1
    assert [good(record).source.words for record in pairs] == [("c",), ("e",)]


WORDS = st.lists(st.text(alphabet="abc'.,()-éß“{|\"\\", min_size=1, max_size=5), min_size=1, max_size=6)


@settings(max_examples=30)
@given(WORDS, WORDS)
def test_written_pairs_are_read_back(folder: Path, source: list[str], target: list[str]) -> None:
    path = folder / "pairs.gz"
    write_lines(path, [json.dumps({"id": "x", "source": source, "target": target})])
    record = good(only(list(read_pairs(path))))
    write_lines(path, [format_pair(record), f"{record.source.text}\t{record.target.text}"])
    again, tabbed = map(good, read_pairs(path, tokenized=True))
    assert (again.source, again.target) == (record.source, record.target) == (tabbed.source, tabbed.target)
