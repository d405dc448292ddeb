"""Sheets for annotators and their answers: what is written is read, and every mistake is named with file and line."""

from __future__ import annotations

import json
import tarfile
from dataclasses import replace
from pathlib import Path
from subprocess import run as run_process
from typing import Any

import pytest

from forestalign.cli import main
from forestalign.errors import UsageError
from forestalign.evaluation.annotated_pairs import AnnotatedPair, annotated_pair, read_annotations
from forestalign.evaluation.annotation_sheets import collect_answers, collect_paths, numbered_nodes, sheet_text
from forestalign.evaluation.annotation_store import AnnotationStore
from forestalign.formats.codec import to_json
from tests.builders.annotations import FED, KEEPERS, ROOTS, SEALS, answer, record, save, write
from tests.builders.places import ROOT
from tests.builders.view_samples import cat

ORIGIN = {"corpus": "A Book of Seals", "licence": "CC BY 4.0", "number": 7, "side": "source"}


def bare(**changes: Any) -> dict[str, Any]:
    fields = record(**changes)
    del fields["annotators"]
    return fields


def pair_of(fields: dict[str, Any]) -> AnnotatedPair:
    return annotated_pair(json.dumps(fields))


def written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def found_in(tmp_path: Path, text: str, *ids: str) -> list[tuple[int, str]]:
    """Line and code of each mistake in an answer file about some pairs."""
    pairs = [pair_of(bare(id=name)) for name in ids or ("p1",)]
    found = collect_answers(pairs, [("ann", written(tmp_path / "answers.txt", text))])
    return [(finding.line, finding.code) for finding in found.findings]


def test_nodes_are_numbered_from_the_root_down_as_they_stand_in_the_tree() -> None:
    nodes = numbered_nodes(pair_of(bare()).source)
    shown = [f"{node.name.label}{chr(39) * node.name.is_bar} {node.name.begin}-{node.name.end}" for node in nodes]
    assert shown[:7] == ["S 0-9", "S' 0-8", "NP 0-3", "DT 0-1", "NP' 1-3", "JJ 1-2", "NN 2-3"]
    assert [node.depth for node in nodes[:7]] == [0, 1, 2, 3, 3, 4, 4]
    assert shown[-1] == ". 8-9"


def test_a_sheet_shows_id_words_and_indented_nodes() -> None:
    lines = sheet_text([pair_of(bare())]).splitlines()
    assert lines[:3] == [
        "== p1",
        "| source: The old keeper fed the hungry seals twice.",
        "| words: 0:The 1:old 2:keeper 3:fed 4:the 5:hungry 6:seals 7:twice 8:.",
    ]
    assert "| s4         NP'  old keeper" in lines
    assert "| t0   S  The hungry seals were fed twice by the keeper ." in lines


def test_what_an_annotator_said_comes_back_from_the_sheet(tmp_path: Path) -> None:
    marked = record(annotators={"ann": {"pairs": [ROOTS, KEEPERS, FED], "marks": [[*KEEPERS, "unsure"]]}})
    sheet = written(tmp_path / "sheet.txt", sheet_text([pair_of(marked)], "ann"))
    found = collect_answers([pair_of(bare())], [("ann", sheet)])
    assert found.findings == ()
    assert found.pairs == (pair_of(marked),)


@pytest.mark.parametrize("name", ["dev", "test"])
def test_sheets_of_our_own_set_give_it_back(name: str, tmp_path: Path) -> None:
    path = ROOT / "annotations" / f"{name}.jsonl"
    pairs = list(read_annotations(path))
    sheet = written(tmp_path / "sheet.txt", sheet_text(pairs, "pa2"))
    without = [pair_of(json.loads(line) | {"annotators": {}}) for line in path.read_text("utf-8").splitlines()]
    found = collect_answers(without, [("pa2", sheet)])
    assert found.findings == ()
    for before, after in zip(pairs, found.pairs, strict=True):
        (own,) = after.annotations
        assert sorted(own.pairs) == sorted(before.annotations[1].pairs)


def test_the_file_of_the_page_makes_a_sheet_and_its_answers_agree_with_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.jsonl"
    with AnnotationStore(page) as store:
        save(store, answer("ann", ROOTS, KEEPERS, SEALS, FED))
    assert main(["annotations", "sheet", str(page), "--annotator", "ann", "-o", str(tmp_path / "sheet.txt")]) == 0
    output = tmp_path / "collected.jsonl"
    given = f"bob={tmp_path / 'sheet.txt'}"
    assert main(["annotations", "collect", str(page), "--annotator", given, "-o", str(output)]) == 0
    (pair,) = read_annotations(output)
    ann, bob = pair.annotations
    assert set(ann.pairs) == set(bob.pairs)
    with AnnotationStore(output) as again:
        assert again.pairs[0].annotations == (ann, bob)


def test_the_page_adds_to_pairs_that_nobody_annotated_and_keeps_their_origin(tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.jsonl", bare(origin=ORIGIN, phenomena=["voice"]))
    with AnnotationStore(path) as store:
        save(store, answer("ann", ROOTS))
    (line,) = path.read_text("utf-8").splitlines()
    assert json.loads(line)["origin"] == ORIGIN
    assert json.loads(line)["phenomena"] == ["voice"]


def test_results_of_align_make_sheets_whose_answers_become_gold(tmp_path: Path) -> None:
    results, gold = tmp_path / "results.jsonl", tmp_path / "gold.jsonl"
    results.write_text(to_json(replace(cat(), id="cat")) + "\n", encoding="utf-8")
    for name in ("ann", "bob"):
        (tmp_path / name).write_text("== cat\ns0=t0\n", encoding="utf-8")
    people = [f"--annotator={name}={tmp_path / name}" for name in ("ann", "bob")]
    assert main(["annotations", "collect", str(results), *people, "-o", str(gold)]) == 0
    (pair,) = read_annotations(gold)
    assert [each.annotator for each in pair.annotations] == ["ann", "bob"]
    assert main(["annotations", "agreement", str(gold)]) == 0


def test_answers_may_stand_on_several_lines_and_leave_the_sheet_out(tmp_path: Path) -> None:
    text = "# my answers\n== p1\ns0=t0 s1=t1\n\n  s2=t4 # not sure\n# the rest is clear\n"
    found = collect_answers([pair_of(bare())], [("ann", written(tmp_path / "answers.txt", text))])
    (own,) = found.pairs[0].annotations
    assert found.findings == ()
    assert len(own.pairs) == 3
    assert [(mark.source.label, mark.text) for mark in own.marks] == [("NP", "not sure")]


def test_annotators_stand_side_by_side_and_one_may_have_several_files(tmp_path: Path) -> None:
    pairs = write(tmp_path / "pairs.jsonl", bare(origin=ORIGIN), bare(id="p2"))
    one, two, both = (
        written(tmp_path / name, text)
        for name, text in (("1", "== p1\ns0=t0"), ("2", "== p2\ns0=t0"), ("3", "== p2\ns0=t0\n== p1\ns0=t0 s1=t1"))
    )
    found = collect_paths([str(pairs)], [("ann", one), ("ann", two), ("bob", both)])
    assert found.findings == ()
    assert [[each.annotator for each in pair.annotations] for pair in found.pairs] == [["ann", "bob"]] * 2
    assert found.pairs[0].origin is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("== p1\ns0=t0\n== p9\ns0=t0", [(3, "E18")]),
        ("== p1\ns0=t0\ns99=t1", [(3, "E06")]),
        ("== p1\ns0=t0\ns1=t99", [(3, "E06")]),
        ("== p1\ns0=t0 s1=t1\ns1=t2", [(3, "E08")]),
        ("== p1\ns0=t0 s2=t1\ns1=t1", [(3, "E08")]),
        ("== p1\ns0=t0 s1=t1\ns1=t1", [(3, "E07")]),
        ("== p1\ns1=t1", [(1, "E09")]),
        ("== p1\n\n", [(1, "E10")]),
        ("== p1\ns0=t0\n== p1\ns0=t0", [(3, "E11")]),
        ("== p1\ns0=t0 s1:t1", [(2, "E01")]),
        ("== p1\ns0=t0 t1=s1", [(2, "E01")]),
        ("s0=t0\n== p1\ns0=t0", [(1, "E01")]),
        ("", [(0, "E01"), (0, "E10")]),
    ],
)
def test_each_mistake_in_an_answer_is_named_with_its_line(
    text: str, expected: list[tuple[int, str]], tmp_path: Path
) -> None:
    assert found_in(tmp_path, text) == expected


def test_a_pair_without_an_answer_is_named(tmp_path: Path) -> None:
    assert found_in(tmp_path, "== p1\ns0=t0", "p1", "p2") == [(0, "E10")]


def test_nothing_is_written_where_something_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = write(tmp_path / "pairs.jsonl", bare())
    answers = written(tmp_path / "answers.txt", "== p1\ns0=t0 s200=t1")
    output = tmp_path / "gold.jsonl"
    arguments = ["annotations", "collect", str(pairs), "--annotator", f"ann={answers}", "-o", str(output)]
    assert main(arguments) == 1
    assert not output.exists()
    error = capsys.readouterr().err
    assert f"{answers}:2: E06 pair 'p1': s200=t1: no node s200; expected s0 to s" in error
    assert "1 mistake; nothing was written" in error


@pytest.mark.parametrize(
    ("annotators", "message"),
    [
        ([], "expected --annotator NAME=ANSWERS"),
        (["ann"], "'ann' names no file"),
        ([" =answers.txt"], "is not a name for an annotator"),
    ],
)
def test_answers_without_a_name_or_file_are_refused(
    annotators: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = write(tmp_path / "pairs.jsonl", bare())
    given = [part for each in annotators for part in ("--annotator", each)]
    assert main(["annotations", "collect", str(pairs), *given]) == 2
    assert message in capsys.readouterr().err


def test_pairs_that_a_sheet_cannot_tell_apart_are_refused(tmp_path: Path) -> None:
    twice = write(tmp_path / "pairs.jsonl", bare(), bare())
    with pytest.raises(UsageError, match="'p1' occurs twice"):
        collect_paths([str(twice)], [("ann", "answers.txt")])
    with pytest.raises(UsageError, match="cannot stand on a line"):
        sheet_text([pair_of(bare(id="p\n1"))])


def test_the_archive_holds_the_data_alone() -> None:
    run_process(["make", "annotations-archive"], cwd=ROOT, check=True, capture_output=True)
    with tarfile.open(ROOT / "dist" / "forestalign-annotations.tar.gz") as archive:
        names = {Path(name).name for name in archive.getnames()}
        text = archive.extractfile("forestalign-annotations/dev.jsonl")
        assert text is not None
        assert text.read() == (ROOT / "annotations" / "dev.jsonl").read_bytes()
    assert names == {path.name for path in (ROOT / "annotations").iterdir()}
    assert {"README.md", "GUIDELINES.md", "LICENSE", "test.jsonl"} <= names


def test_words_that_are_no_phrase_go_through_a_sheet_and_back(tmp_path: Path) -> None:
    fields = record()
    own = next(iter(fields["annotators"]))
    fields["annotators"][own]["scattered"] = [[[3, 7], [2], ""], [[1], [4, 6], "unsure"]]
    pair = pair_of(fields)
    sheet = sheet_text([pair], own)
    assert "w3+7=w2\n" in sheet
    assert "w1=w4+6  # unsure\n" in sheet
    found = collect_answers([pair_of(bare())], [(own, written(tmp_path / "answers.txt", sheet))])
    assert found.findings == ()
    assert found.pairs[0].annotations[0].scattered == pair.annotations[0].scattered


@pytest.mark.parametrize(("item", "code"), [("w3+99=w2", "E06"), ("w3=w2", "E06"), ("w3+7=w2 w3+5=w1", "E08")])
def test_wrong_words_of_an_answer_are_named_by_their_line(tmp_path: Path, item: str, code: str) -> None:
    assert found_in(tmp_path, f"== p1\ns0=t0\n{item}\n") == [(3, code)]
