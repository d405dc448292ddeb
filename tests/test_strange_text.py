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
