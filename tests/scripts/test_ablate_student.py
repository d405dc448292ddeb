"""The ablation of the student: which runs it makes, and its table."""

from __future__ import annotations

import json
from pathlib import Path

import ablate_student
import pytest

GIVEN = [
    "--trees",
    "a.mrg.gz",
    "b.mrg",
    "--gold",
    "c.jsonl.gz",
    "--half",
    "--split",
    "d.x.jsonl",
    "d.y.jsonl",
    "d.x.jsonl",
]


def test_each_task_and_each_file_is_left_out_once() -> None:
    rows = dict(ablate_student.variants(GIVEN))
    assert list(rows) == [
        "everything", "without trees", "without links", "without unrelated", "without shapes", "without lower case",
        "trees without a", "trees without b", "links without d.x", "links without d.y",
    ]  # fmt: skip
    assert rows["everything"] == GIVEN
    assert rows["without links"] == [*GIVEN, "--without", "links"]
    assert rows["without shapes"][-1] == "--no-shapes"
    assert rows["without lower case"][-2:] == ["--lower-cased", "0"]
    assert rows["trees without a"] == ["--trees", "b.mrg", *GIVEN[3:]]
    assert rows["links without d.x"] == [*GIVEN[:7], "d.y.jsonl", "--scored", "d.x.jsonl"]
    assert rows["links without d.y"] == [*GIVEN[:7], "d.x.jsonl", "d.x.jsonl", "--scored", "d.y.jsonl"]


def test_runs_that_are_there_are_not_made_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, (name, _) in enumerate(ablate_student.variants(GIVEN)):
        path = tmp_path / f"{name.replace(' ', '-')}.json"
        path.write_text(json.dumps({"step": 3, "trees": 80 + number, "tags": 90.5}))
    ablate_student.main(["-o", str(tmp_path), "--", *GIVEN])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| | trees | tags |"
    assert lines[2] == "| everything | 80.00 | 90.50 |"
    assert lines[-1] == "| links without d.y | 89.00 | 90.50 |"


@pytest.mark.heavy
def test_a_run_that_fails_ends_the_ablation(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="exit code"):
        ablate_student.main(["-o", str(tmp_path), "--", "--no-such-option"])
    assert list(tmp_path.glob("*.json")) == []
