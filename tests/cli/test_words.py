"""`forestalign words`: formats, failures, streaming, the user's own analyses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forestalign.cli import main

pytestmark = pytest.mark.usefixtures("in_this_process")

PAIRS = "He bought a car .\tHe purchased a car .\n\nIt rains .\tIt rains .\n"
CONLLU = """1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_

"""


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    path = tmp_path / "pairs.tsv"
    path.write_text(PAIRS, encoding="utf-8")
    return str(path)


def test_a_failed_line_leaves_an_empty_line_and_the_exit_code_is_1(
    pairs: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["words", "--tokenized", "--quiet", pairs]) == 1
    captured = capfd.readouterr()
    lines = captured.out.split("\n")
    assert lines[1] == ""
    assert lines[2] == "0-0 1-1 2-2"
    assert "0-0" in lines[0].split()
    assert "2" in captured.err


def test_json_lines_tell_stages_and_sentence_scores(pairs: str, capfd: pytest.CaptureFixture[str]) -> None:
    main(["words", "--tokenized", "--quiet", "--json", pairs])
    first, last = (json.loads(line) for line in capfd.readouterr().out.splitlines())
    assert first["source"] == ["He", "bought", "a", "car", "."]
    assert {"source", "target", "score", "stage"} == set(first["links"][0])
    assert last["scores"]["proportion"] == 1.0
    assert last["scores"]["weighted"] == 1.0


def test_scores_stand_behind_the_links(pairs: str, capfd: pytest.CaptureFixture[str]) -> None:
    main(["words", "--tokenized", "--quiet", "--scores", "--profile", "published", pairs])
    link = capfd.readouterr().out.split()[0]
    assert link.startswith("0-0:")
    assert float(link.removeprefix("0-0:")) > 0


def test_conllu_files_need_no_parser(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "dogs.conllu"
    path.write_text(CONLLU, encoding="utf-8")
    assert main(["words", "--conllu", "--quiet", str(path), str(path)]) == 0
    assert capfd.readouterr().out == "0-0 1-1\n"


def test_dictionary_links_are_a_method(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "dogs.conllu"
    path.write_text(CONLLU.replace("bark\tbark", "Dogs\tdog"), encoding="utf-8")
    assert main(["words", "--links", "dictionary", "--conllu", "--quiet", str(path), str(path)]) == 0
    assert capfd.readouterr().out == "0-0 0-1 1-0 1-1\n"
