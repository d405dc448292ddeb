"""The validator of annotated pairs: each code once, and a clean pair without a finding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forestalign.cli import main
from forestalign.errors import AnnotationError, UsageError
from forestalign.evaluation.annotated_pairs import (
    agreement,
    agreement_by_phenomenon,
    annotated_pair,
    format_annotated_pair,
    read_annotated_file,
    read_annotations,
)
from forestalign.evaluation.annotation_checks import check_files, check_pair
from tests.builders.annotations import FED, KEEPERS, ROOTS, SEALS, SOURCE, TARGET, record, side, write


def codes(**changes: Any) -> set[str]:
    return {code for code, _ in check_pair(annotated_pair(json.dumps(record(**changes))))}


def aligned(*pairs: Any) -> dict[str, Any]:
    """The annotators with another first one."""
    return {"annotators": record()["annotators"] | {"pa1": {"pairs": list(pairs)}}}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"heads": {"source": [[0, 3, "NP", 2]]}},
        {"annotators": {"ann": {"pairs": [ROOTS, FED], "marks": [[*FED, "unsure"]]}}},
        {"origin": {"corpus": "A Book of Seals", "licence": "CC BY 4.0", "number": 7, "side": "source"}},
        {"origin": {"corpus": "written for this set", "licence": "CC BY 4.0", "number": None, "side": ""}},
    ],
)
def test_lines_round_trip_and_gain_no_field(changes: dict[str, Any]) -> None:
    given = record(**changes)
    pair = annotated_pair(json.dumps(given))
    line = format_annotated_pair(pair)
    assert annotated_pair(line) == pair
    assert json.loads(line) | {side: given[side] for side in ("source", "target")} == given


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("E02", {"source": side(SOURCE) | {"text": "Something else"}}),
        ("E03", {"source": side(SOURCE) | {"tree": SOURCE.replace("keeper", "farmer")}}),
        ("E03", {"source": side(SOURCE) | {"tree": "(X (NN The))"}}),
        ("E05", {"target": side(SOURCE)}),
        ("E06", aligned(ROOTS, [[0, 2, "NP", False], [7, 9, "NP", False]])),
        ("E06", aligned(ROOTS, [[0, 3, "NP", True], [7, 9, "NP", False]])),
        ("E07", aligned(ROOTS, KEEPERS, KEEPERS)),
        ("E08", aligned(ROOTS, KEEPERS, [KEEPERS[0], [0, 3, "NP", False]])),
        ("E09", aligned(KEEPERS)),
        ("E10", {"annotators": {}}),
        ("E16", {"heads": {"source": [[0, 3, "NP", 5]]}}),
        ("E16", {"heads": {"source": [[0, 2, "NP", 1]]}}),
        ("E17", {"origin": {"corpus": "A Book of Seals"}}),
        ("E17", {"origin": {"corpus": "A Book of Seals", "licence": " "}}),
        ("N01", aligned(ROOTS, KEEPERS, [[1, 2, "JJ", False], [1, 2, "JJ", False]])),
        ("N02", {"annotators": {name: {"pairs": [ROOTS]} for name in ("pa1", "pa2", "pa3")}}),
    ],
)
def test_each_mistake_has_its_code(code: str, changes: dict[str, Any]) -> None:
    assert codes(**changes) >= {code}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"annotators": {"ann": {"pairs": [ROOTS, KEEPERS]}}},
        {"annotators": {"ann": {"pairs": [ROOTS]}, "bob": {"pairs": [ROOTS, FED]}}},
        {"phenomena": []},
        {"phenomena": ["telepathy", "voice"]},
        {
            "source": side("(S (NP (NNS Seals)) (VP (VBP eat)) (. .))"),
            "target": side("(S (NP (DT The) (NNS seals)) (VP (VBP eat)) (. .))"),
            "annotators": {"ann": {"pairs": [[[0, 3, "S", False], [0, 4, "S", False]]]}},
        },
    ],
)
def test_a_set_of_the_users_own_need_not_follow_the_rules_of_ours(changes: dict[str, Any]) -> None:
    assert codes(**changes) == set()


def test_a_pair_that_nobody_annotated_is_told_to_everybody() -> None:
    pair = annotated_pair(json.dumps(record(annotators={})))
    assert list(check_pair(pair)) == [("E10", "no annotator; expected at least one")]


def test_a_phrase_of_one_word_holds_its_word() -> None:
    twice = [[[7, 8, "ADVP", False], [5, 6, "ADVP", False]], [[7, 8, "RB", False], [5, 6, "RB", False]]]
    assert codes(**aligned(ROOTS, KEEPERS, *twice)) == set()
    crossed = [[twice[0][0], twice[1][1]], [twice[1][0], twice[0][1]]]
    assert codes(**aligned(ROOTS, KEEPERS, *crossed)) == {"N01"}
    # the phrase and its word against two nested phrases
    nested = [[[7, 8, "ADVP", False], [0, 3, "NP", False]], [[7, 8, "RB", False], [2, 3, "NNS", False]]]
    assert codes(**aligned(ROOTS, *nested)) == set()


def test_repeated_ids_and_sentences_are_found_across_files(tmp_path: Path) -> None:
    first = write(tmp_path / "dev.jsonl", record())
    second = write(tmp_path / "test.jsonl", record())
    files = [read_annotated_file(first), read_annotated_file(second)]
    found = check_files(files)
    assert [finding.code for finding in found] == ["E11", "E12", "E12"]
    assert f"{first}:1" in found[0].message


def test_an_unreadable_line_is_a_finding_and_the_rest_is_checked(tmp_path: Path) -> None:
    path = write(tmp_path / "set.jsonl", "{", record(), record(id="p2", annotators={"pa1": {"pairs": [[1, 2]]}}))
    file = read_annotated_file(path)
    assert [(finding.line, finding.code) for finding in file.unreadable] == [(1, "E01"), (3, "E01")]
    assert len(file.pairs) == 1
    with pytest.raises(AnnotationError, match=r"set\.jsonl:1: invalid JSON"):
        list(read_annotations(path))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": side(SOURCE) | {"tree": "(S (NP"}}, "source.tree: 2 closing"),
        (
            {"annotators": {"pa1": {"pairs": [[[0, 1, "NN"], [0, 1, "NN", False]]]}}},
            "pairs is .*expected a list",
        ),
        ({"heads": {"source": [[0, 1, "NN", "x"]]}}, "heads.source is .*expected a list of .begin"),
        ({"annotators": {"pa1": {"pairs": [], "marks": [[*ROOTS, 3]]}}}, "marks is .*, 3.; expected a list"),
        ({"origin": "a book"}, "origin is .* expected an object"),
        ({"origin": {"licence": "CC BY 4.0"}}, "no field 'origin.corpus'"),
        ({"origin": {"corpus": "a book", "number": "7"}}, "origin.number is .* expected a whole number"),
        ({"origin": {"corpus": "a book", "side": "left"}}, "origin.side: .* expected source, target or nothing"),
    ],
)
def test_malformed_fields_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        annotated_pair(json.dumps(record(**changes)))


def test_agreement_equals_the_hand_computed_table() -> None:
    # pa1: root, keepers, seals (3); pa2: the same and fed (4); pa3: root, seals (2)
    found = agreement([annotated_pair(json.dumps(record()))])
    assert [score.value for score in found.pairwise] == pytest.approx([2 * 3 / 7, 2 * 2 / 5, 2 * 2 / 6])
    # recall: 2 of 2, 2 of 2, 2 of 3; precision: 3 of 3, 3 of 4, 2 of 2
    assert [score.value for score in found.human[:2]] == pytest.approx([(1 + 1 + 2 / 3) / 3, (1 + 3 / 4 + 1) / 3])
    assert (found.pair_count, found.by_two, found.by_all) == (4, 3, 2)


def people(**annotators: Any) -> dict[str, Any]:
    return {"annotators": {name: {"pairs": pairs} for name, pairs in annotators.items()}}


def test_agreement_needs_two_annotators_who_did_the_same_pair() -> None:
    alone = annotated_pair(json.dumps(record(**people(ann=[ROOTS]))))
    with pytest.raises(UsageError, match="needs two annotators; found ann"):
        agreement([alone])
    other = annotated_pair(json.dumps(record(id="p2", **people(bob=[ROOTS]))))
    with pytest.raises(UsageError, match="no pair was annotated by all of ann, bob"):
        agreement([alone, other])


def test_agreement_of_two_files_joins_their_lines_by_id() -> None:
    first = record(**people(ann=[ROOTS, KEEPERS, SEALS]))
    second = record(**people(bob=[ROOTS, FED]))
    only_one = record(id="p2", **people(bob=[ROOTS]))
    found = agreement([annotated_pair(json.dumps(each)) for each in (first, second, only_one)])
    assert [(score.name, score.value) for score in found.pairwise] == [("ann-bob", pytest.approx(2 * 1 / 5))]
    assert found.human == ()
    assert (found.sentence_count, found.pair_count, found.by_two, found.by_all) == (1, 4, 1, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (people(ann=[ROOTS]), "two annotations of ann"),
        (people(bob=[ROOTS]) | {"source": side(SOURCE.replace("JJ old", "NN old"))}, "different sentences or trees"),
    ],
)
def test_lines_of_one_id_that_contradict_each_other_are_refused(changes: dict[str, Any], message: str) -> None:
    lines = record(**people(ann=[ROOTS])), record(**changes)
    with pytest.raises(UsageError, match=message):
        agreement([annotated_pair(json.dumps(line)) for line in lines])


def test_agreement_by_phenomenon_takes_the_pairs_that_show_it() -> None:
    lines = [
        record(**people(ann=[ROOTS, KEEPERS], bob=[ROOTS]), phenomena=["voice", "date"]),
        record(id="p2", **people(ann=[ROOTS, SEALS], bob=[ROOTS, SEALS]), phenomena=["voice"]),
        record(id="p3", **people(ann=[ROOTS]), phenomena=["idiom"]),
    ]
    found = dict(agreement_by_phenomenon([annotated_pair(json.dumps(line)) for line in lines]))
    values = {name: (each.sentence_count, each.pairwise[0].value) for name, each in found.items()}
    assert values == {"date": (1, pytest.approx(2 / 3)), "voice": (2, pytest.approx(6 / 7))}


def run(*arguments: str) -> int:
    return main(["annotations", *arguments])


def test_the_command_exits_with_1_on_errors_and_0_on_notes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = write(tmp_path / "good.jsonl", record(**aligned(ROOTS, KEEPERS, [[1, 2, "JJ", False], [1, 2, "JJ", False]])))
    assert run("check", str(good)) == 0
    assert "N01" in capsys.readouterr().out
    assert run("check", str(good), "--quiet") == 0
    assert capsys.readouterr().out == ""
    assert run("check", str(good), "--json") == 0
    assert {finding["code"] for finding in json.loads(capsys.readouterr().out)} == {"N01"}


def test_phrase_gold_is_printed_from_word_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links = {"id": "p1", "source": side(SOURCE)["tokens"], "target": side(TARGET)["tokens"]}
    gold = write(tmp_path / "links.jsonl", links | {"sure": [[2, 8], [0, 7]], "possible": [[3, 4]]})
    trees = [str(write(tmp_path / name, tree)) for name, tree in (("source", SOURCE), ("target", TARGET))]
    assert run("project", str(gold), "--trees", *trees) == 0
    # the keeper / the keeper with its words, fed / fed, and the smallest phrases over all three links
    assert json.loads(capsys.readouterr().out)["core"] == [
        [[0, 1], [7, 8]],
        [[0, 3], [7, 9]],
        [[0, 9], [4, 9]],
        [[2, 3], [8, 9]],
        [[3, 4], [4, 5]],
    ]
    bare = write(tmp_path / "links.txt", "0-0")
    assert run("project", str(bare)) == 2
    assert "no words" in capsys.readouterr().err


def test_agreement_prints_text_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write(tmp_path / "set.jsonl", record()))
    assert run("agreement", path) == 0
    assert "F1 pa1-pa2     85.71" in capsys.readouterr().out
    assert run("agreement", path, "--json") == 0
    assert json.loads(capsys.readouterr().out)["by_all"] == 2
    assert run("agreement", path, "--by-phenomenon") == 0
    assert "voice                    1    77.46    66.67" in capsys.readouterr().out
    assert run("agreement", path, "--by-phenomenon", "--json") == 0
    assert json.loads(capsys.readouterr().out)["phenomena"]["voice"]["by_all"] == 2


def test_sentences_that_say_something_else_need_no_aligned_roots() -> None:
    other = {"pairs": [KEEPERS]}
    assert "E09" in codes(annotators={"pa1": other})
    assert "E09" not in codes(annotators={"pa1": other}, phenomena=["no-paraphrase"])
