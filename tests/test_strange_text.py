"""Words, names and cards that a format, a terminal or a spreadsheet would take for something else."""

from __future__ import annotations

import gzip
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import forestalign
from forestalign import Alignment
from forestalign.cli import main
from forestalign.formats.lines import cell
from forestalign.grammar import grammar_root
from forestalign.phrases.scoring.model import load_model, save_model
from forestalign.terminal import RED, TerminalBytes, TerminalText, harmless
from forestalign.tokens import tokenize

STEERING = "\x1b]0;title\x07\x1b[31mred\x9b2J\r"


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (["a", "x-LRB-y", "b"], ["a", "x-LRB-y", "c"]),
        (["-LCB-", "b", "-RCB-"], ["{", "b", "}"]),
        (["a(b", "b"], ["a-LRB-b", "b"]),
        (["x-LSB-1-RSB-", "y"], ["x[1]", "y"]),
        (["-LRB--LRB-", "b"], ["((", "b"]),
        (["a``b", "''", "c"], ["a''b", '"', "c"]),
        (["-LRB", "LRB-", "-"], ["(", "-LRB-", "-"]),
    ],
)
def test_words_come_back_from_our_own_json(source: list[str], target: list[str], tmp_path: Path) -> None:
    line = forestalign.align(source, target).to_json()
    again = Alignment.from_json(line)
    assert again.to_json() == line
    assert (again.source.words, again.target.words) == (tuple(source), tuple(target))
    (tmp_path / "r.jsonl").write_text(line + "\n", encoding="utf-8")
    for command in (["view"], ["edits"], ["extract"], ["similarity", "--results"]):
        assert main([*command, str(tmp_path / "r.jsonl"), "-q", "-o", str(tmp_path / f"{command[0]}.out")]) == 0


# ---- one text in several characters ----

SAME_IN_OTHER_CHARACTERS = [
    ("He didn't go.", "He didn\uff07t go."),
    ("He didn't go.", "He didn\u02bct go."),
    ("He didn't go.", "He didn\u2019t go."),
    ("He didn't go.", "He didn\u2018t go."),
    ("He didn't go.", "He didn\xb4t go."),
    ("He didn't go.", "He didn\u2032t go."),
    ("He didn't go.", "He didn\u201bt go."),
    ("He didn't go.", "He didn\u02b9t go."),
    ("It cost 1000 dollars.", "It cost 1\u202f000 dollars."),
    ("It cost 1000 dollars.", "It cost 1\u2009000 dollars."),
    ("It cost 1000 dollars.", "It cost 1\xa0000 dollars."),
    ("It cost 1000 dollars.", "It cost 1\u2007000 dollars."),
    ("It cost 1000 dollars.", "It cost 1\u2019000 dollars."),
    ("It cost 1000 dollars.", "It cost 1\uff07000 dollars."),
    ("It cost 1000000 dollars.", "It cost 1\u202f000\u202f000 dollars."),
    ("It cost 1000 dollars.", "It cost \uff11\uff10\uff10\uff10 dollars."),
    ("It cost 12 dollars.", "It cost \uff11\uff12 dollars."),
    ("It cost 12 dollars.", "It cost \u0661\u0662 dollars."),
    ("It cost 12 dollars.", "It cost \u0967\u0968 dollars."),
    ("It cost 3.5 dollars.", "It cost \uff13\uff0e\uff15 dollars."),
    ("A fine office opened.", "A \ufb01ne o\ufb03ce opened."),
    ("The flags were red.", "The \ufb02ags were red."),
    ("He stopped.", "He \ufb06opped."),
    ("His staff left.", "His sta\ufb00 left."),
    ("The waffle is good.", "The wa\ufb04e is good."),
    ("A well-known man left.", "A well\u2010known man left."),
    ("A well-known man left.", "A well\u2011known man left."),
    ("A well-known man left.", "A well\u2212known man left."),
    ("A well-known man left.", "A well\uff0dknown man left."),
    ("A wellknown man left.", "A well\xadknown man left."),
    ("It is -5 degrees.", "It is \u22125 degrees."),
    ("The caf\xe9 opened.", "The cafe\u0301 opened."),
    ("The na\xefve man left.", "The nai\u0308ve man left."),
    ("The \xc5ngstr\xf6m unit is small.", "The \u212bngstro\u0308m unit is small."),
    ("The fa\xe7ade is old.", "The fac\u0327ade is old."),
    ("El Ni\xf1o is back.", "El Nin\u0303o is back."),
    ("The committee approved it.", "The com\xadmit\xadtee approved it."),
    ("The committee approved it.", "The com\u200bmittee approved it."),
    ("The committee approved it.", "The com\u2060mittee approved it."),
    ("The committee approved it.", "The\ufeff committee approved it."),
    ("The committee approved it.", "\ufeffThe committee approved it."),
    ("The committee approved it.", "The\xa0committee\u3000approved it."),
    ("The committee approved it.", "The\u2003committee\u202fapproved it."),
    (
        "The committee approved it.",
        "\uff34\uff48\uff45 \uff43\uff4f\uff4d\uff4d\uff49\uff54\uff54\uff45\uff45 approved it.",
    ),
    ("The committee approved it.", "The committee approved it\uff0e"),
    ("Yes, the committee approved it.", "Yes\uff0c the committee approved it."),
    ("Did the committee approve it?", "Did the committee approve it\uff1f"),
    ('He said "yes" today.', "He said \u201cyes\u201d today."),
    ('He said "yes" today.', "He said \xabyes\xbb today."),
    ('He said "yes" today.', "He said \uff02yes\uff02 today."),
    ("He said 'yes' today.", "He said \u2018yes\u2019 today."),
    ("He left - she stayed.", "He left \u2014 she stayed."),
    ("He left - she stayed.", "He left \u2013 she stayed."),
    ("He left - she stayed.", "He left \u2015 she stayed."),
    ("He waited...", "He waited\u2026"),
    ("He waited... and left.", "He waited\u2026 and left."),
    ("The price is \u20ac5.", "The price is \u20ac\uff15."),
    ("It is 5 km away.", "It is 5 \u339e away."),
    ("Chapter IV is long.", "Chapter \u2163 is long."),
    ("It rose 50%.", "It rose 50\uff05."),
    ("He's here.", "He\uff07s here."),
    ("John's car is red.", "John\u02bcs car is red."),
    ("They can't swim.", "They can\uff07t swim."),
    ("We'll see them.", "We\u2019ll see them."),
    ("I'm sure they've left.", "I\u2019m sure they\u02bcve left."),
    ("The stone fell.", "The \u017ftone fell."),
    ("He ate.", "He\u200d ate."),
    ("He left.", "He\u202e left."),
    ("It costs $20.", "It costs \uff0420."),
]


@pytest.mark.parametrize(("plain", "written"), SAME_IN_OTHER_CHARACTERS)
def test_words_are_the_same_in_whatever_characters_they_are_written(plain: str, written: str) -> None:
    sentence = tokenize(written)
    assert sentence.words == tokenize(plain).words
    assert all(token.text == written[token.start : token.end] for token in sentence)


def test_texts_that_differ_in_their_characters_alone_have_no_edits() -> None:
    results = forestalign.load().pipe(SAME_IN_OTHER_CHARACTERS)
    found = [(result, [edit.kind for edit in result.edits().edits]) for result in results]
    assert [result.target.text for result, kinds in found if set(kinds) != {"kept"}] == []
    assert [result.target.text for result, _ in found] == [written for _, written in SAME_IN_OTHER_CHARACTERS]
    assert all(Alignment.from_json(result.to_json()) == result for result, _ in found)


# ---- terminals ----


def on_a_terminal(*arguments: str) -> str:
    """What a command prints on a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "forestalign", *arguments]
    run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, close_fds=True)
    os.close(theirs)
    found = b""
    while True:
        try:
            block = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        found += block
    os.close(ours)
    run.wait()
    return found.decode().replace("\r\n", "\n")


def steered(text: str) -> bool:
    return any(character in text for character in "\x1b\x07\x9b\r")


def test_the_name_of_a_file_does_not_steer_a_terminal(tmp_path: Path) -> None:
    told = on_a_terminal("evaluate", "words", f"{tmp_path}/{STEERING}", "x")
    assert "title" in told
    assert not steered(told)


def test_a_card_does_not_steer_a_terminal(tmp_path: Path) -> None:
    content = json.loads((grammar_root() / "phrase_scores.json").read_text())
    path = tmp_path / "s.json"
    path.write_text(json.dumps(content | {"card": {STEERING: STEERING}}))
    told = on_a_terminal("model", "show", str(path))
    assert told.count("[U+001B]") == 4
    assert not steered(told)


def test_a_table_does_not_steer_a_terminal(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    record = json.loads(forestalign.align("He left early.", "He left early.").to_json())
    for side in ("source", "target"):
        record[side]["tokens"][1] = STEERING
    (tmp_path / "r.jsonl").write_text(json.dumps(record) + "\n")
    told = on_a_terminal("extract", str(tmp_path / "r.jsonl"), "-o", "-", "-q", "--all")
    assert "[U+001B]" in told
    assert not steered(told)


@pytest.mark.heavy
def test_our_own_colours_reach_a_terminal() -> None:
    told = on_a_terminal("align", "He bought a car.", "He purchased an automobile.", "-q")
    assert "\x1b[1m" in told


def test_only_our_own_colours_stay() -> None:
    assert harmless(f"{RED}a\x1b[31mb", colours=True) == f"{RED}a[U+001B][31mb"
    assert harmless("a\tb\nc\r\x00") == "a\tb\nc[U+000D][U+0000]"


class Written:
    def __init__(self) -> None:
        self.data: list[object] = []

    def write(self, data: object) -> None:
        self.data.append(data)


def test_characters_may_come_in_pieces() -> None:
    raw = Written()
    stream = TerminalBytes(raw)
    data = "é\x9b\x1b東".encode() + b"\xff"
    for k in range(len(data)):
        assert stream.write(data[k : k + 1]) == 1
    assert b"".join(raw.data) == "é[U+009B][U+001B]東\\xff".encode()  # type: ignore[arg-type]


def test_a_progress_line_may_return_and_nothing_else() -> None:
    raw = Written()
    TerminalText(raw).writelines(["\r 50%", "a\rb"])
    assert raw.data == ["\r 50%", "a[U+000D]b"]


# ---- tables and files ----


def test_no_cell_is_a_formula() -> None:
    assert [cell(text) for text in ("=1", "+1", "-x", "@a", "a=b", "", "'=")] == [
        "'=1", "'+1", "'-x", "'@a", "a=b", "", "'=",
    ]  # fmt: skip
    table = forestalign.load().align(["=cmd()", "left"], ["=cmd()", "left"], id="=id").to_tsv()
    cells = [each for row in table.splitlines() for each in row.split("\t")[:3]]
    assert cells
    assert not any(each.startswith("=") for each in cells)
    assert any(each.startswith("'=cmd()") for each in cells)


@pytest.mark.parametrize("name", ["m.json", "m.json.gz"])
def test_a_model_is_written_as_its_name_says_and_read_either_way(tmp_path: Path, name: str) -> None:
    model = load_model()
    save_model(model, tmp_path / name, {"note": "x"})
    data = (tmp_path / name).read_bytes()
    assert json.loads(gzip.decompress(data) if name.endswith(".gz") else data)["card"] == {"note": "x"}
    again = load_model(str(tmp_path / name))
    assert again.dense.tolist() == model.dense.tolist()
    assert main(["model", "show", str(tmp_path / name)]) == 0
