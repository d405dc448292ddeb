"""The evaluate command on small files written here: tables, JSON, signatures, complaints about what does not fit."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from forestalign.cli import main
from forestalign.formats.codec import to_json
from forestalign.grammar import grammar_hash
from tests.builders.sample_results import links, pair, result, side

GOLD_LINES: list[dict[str, Any]] = [
    {"id": "a", "source": ["Cats", "eat", "fish"], "target": ["Cats", "devour", "fish"], "sure": [[0, 0], [2, 2]]}
    | {"possible": [[1, 1]]},
    {"id": "b", "source": ["Go", "now"], "target": ["Leave", "now"], "sure": [[0, 0], [1, 1]], "possible": []},
]


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def write_lines(path: Path, *lines: Any) -> str:
    return write(path, "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))


def evaluate(*arguments: str) -> int:
    return main(["evaluate", *arguments, "-B", "50"])


def scores(capsys: pytest.CaptureFixture[str], column: int = 0) -> dict[str, float]:
    report = json.loads(capsys.readouterr().out)
    return {score["name"]: score["value"] for score in report["columns"][column]["scores"]}


@pytest.fixture
def gold(tmp_path: Path) -> str:
    return write_lines(tmp_path / "gold.jsonl", *GOLD_LINES)


def test_word_table_has_scores_intervals_and_signature(
    gold: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = write_lines(tmp_path / "sys.txt", "0-0 1-1 2-2", "1-1")
    assert evaluate("words", gold, system) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["sys.txt"]
    assert lines[1].startswith("P") and "83.33 [" in lines[1]  # noqa: PT018 (2/3 and 1)
    assert lines[2].startswith("R") and "75.00 [" in lines[2]  # noqa: PT018 (1 and 1/2)
    assert f"grammar {grammar_hash()} | kind=words B=50 | data " in lines[-1]


def test_two_systems_are_compared(gold: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = write_lines(tmp_path / "one.txt", "0-0", "0-0")
    second = write_lines(tmp_path / "two.txt", "0-0 2-2", "0-0 1-1")
    assert evaluate("words", gold, first, second, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    recall = next(row for row in report["comparisons"] if row["name"] == "R")
    assert (recall["first"], recall["second"], recall["difference"]) == (0.5, 1.0, 0.5)
    assert 0 < recall["p_value"] <= 1


@pytest.mark.parametrize("name", ["gold.wa", "gold.pharaoh", "gold.jsonl.gz"])
def test_every_format_of_word_gold_gives_the_same_scores(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    system = write_lines(tmp_path / "sys.txt", "0-0 1-1 2-2", "1-1")
    if name == "gold.jsonl.gz":
        with gzip.open(path, "wt") as stream:
            stream.write("".join(json.dumps(line) + "\n" for line in GOLD_LINES))
    else:
        path.write_text(gold_text(name))
    assert evaluate("words", str(path), system, "--json") == 0
    assert scores(capsys)["P"] == pytest.approx(5 / 6)


def gold_text(name: str) -> str:
    links = ["0-0 2-2", "0-0 1-1"]
    words = [(" ".join(line["source"]), " ".join(line["target"])) for line in GOLD_LINES]
    if name == "gold.pharaoh":
        return "".join(f"{line}\n" for line in links)
    return "\n".join(chunks(i, s, t, link) for i, (s, t), link in zip("12", words, links, strict=True))


def chunks(number: str, source: str, target: str, links: str) -> str:
    def tokens(text: str) -> str:
        return "\n".join(f"{index} {word} : " for index, word in enumerate(text.split(), 1))

    rows = [(int(i) + 1, int(j) + 1) for i, j in (link.split("-") for link in links.split())]
    pairs = "\n".join(f"{i} <==> {j} // EQUI // 5 // x <==> y " for i, j in rows)
    return (
        f'<sentence id="{number}" status="">\n// {source}\n// {target}\n<source>\n{tokens(source)}\n</source>\n'
        f"<translation>\n{tokens(target)}\n</translation>\n<alignment>\n{pairs}\n</alignment>\n</sentence>\n"
    )


def test_possible_links_change_the_scores_and_the_signature(
    gold: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = write_lines(tmp_path / "sys.txt", "0-0 1-1 2-2", "1-1")
    assert evaluate("words", gold, system, "--possible", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["columns"][0]["scores"][0]["value"] == 1.0
    assert "possible=True" in report["signature"]


def test_one_annotator_of_several_can_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = GOLD_LINES[1] | {"annotators": {"A": {"sure": [[0, 0]]}, "C": {"sure": [[1, 1]]}}, "majority_sure": []}
    path, system = write_lines(tmp_path / "gold.jsonl", line), write_lines(tmp_path / "sys.txt", "1-1")
    assert evaluate("words", path, system, "--annotator", "C", "--json") == 0
    assert scores(capsys)["F1"] == 1.0
    assert evaluate("words", path, system, "--annotator", "D") == 1
    assert "no annotator is called 'D'; expected one of majority, A, C" in capsys.readouterr().err


# ---- phrases ----

SOURCE = "(TOP (S (NP (DT The) (NN cat)) (VP (VBD slept))))"
TARGET = "(TOP (S (NP (PRP It)) (VP (VBD fell) (ADVP (RB asleep)))))"
SOURCE_WORDS, TARGET_WORDS = ("The", "cat", "slept"), ("It", "fell", "asleep")
NP = [[0, 2, "NP", False], [0, 1, "NP", False]]
VP = [[2, 3, "VP", False], [1, 3, "VP", False]]
ROOT = [[0, 3, "S", False], [0, 3, "S", False]]


def annotated(*annotators: list[Any]) -> dict[str, Any]:
    return {
        "id": "p1",
        "phenomena": ["idiom"],
        "source": {"text": " ".join(SOURCE_WORDS), "tokens": SOURCE_WORDS, "tree": SOURCE},
        "target": {"text": " ".join(TARGET_WORDS), "tokens": TARGET_WORDS, "tree": TARGET},
        "annotators": {f"pa{index}": {"pairs": pairs} for index, pairs in enumerate(annotators, 1)},
    }


def record(*pairs: list[Any], words: tuple[str, ...] = SOURCE_WORDS, completed: bool = False) -> str:
    entries = tuple(
        pair(source[:2], target[:2], source[2], target_label=target[2], log_prob=-1.0) for source, target in pairs
    )
    tree = SOURCE
    for old, new in zip(SOURCE_WORDS, words, strict=True):
        tree = tree.replace(f" {old})", f" {new})")
    linked = links((1, 0, 1.0), (2, 2, 0.9))
    return to_json(result("p1", side(tree), side(TARGET), linked, "test", pairs=entries, completed=completed))


@pytest.fixture
def trees(tmp_path: Path) -> list[str]:
    return ["--trees", write_lines(tmp_path / "source.mrg", SOURCE), write_lines(tmp_path / "target.mrg", TARGET)]


def test_phrase_table_has_system_human_and_baseline(
    trees: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = write_lines(tmp_path / "dev.jsonl", annotated([ROOT, NP, VP], [ROOT, NP], [ROOT, VP]))
    system = write_lines(tmp_path / "sys.jsonl", record(ROOT, NP, completed=True))
    assert evaluate("phrases", gold, system, *trees, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert [column["name"] for column in report["columns"]] == ["sys.jsonl", "human", "project"]
    table = [{score["name"]: score["value"] for score in column["scores"]} for column in report["columns"]]
    # required: root np | root | root vp; the system has 2/2, 1/1, 1/2 of them; allowed: all three, all, all
    assert (table[0]["recall"], table[0]["precision"]) == pytest.approx((2.5 / 3, 1))
    assert (table[0]["root reached"], table[0]["root completed"]) == (0, 1)
    # each against the others: recall 1/1, 1/2, 1/2; precision 3/3, 2/2, 2/2
    assert (table[1]["recall"], table[1]["precision"]) == pytest.approx((2 / 3, 1))
    # project: cat/It, slept/asleep, root; of the gold only the root: 1/2, 1/1, 1/2, precision 1/3
    assert (table[2]["recall"], table[2]["precision"]) == pytest.approx((2 / 3, 1 / 3))


def test_text_matching_counts_null_phrases(
    trees: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = write_lines(tmp_path / "dev.jsonl", annotated([ROOT]))
    system = write_lines(tmp_path / "sys.jsonl", record(ROOT, NP))
    assert evaluate("phrases", gold, system, *trees, "--match", "text", "--json") == 0
    # gold texts: the root and the nulls The, cat, The cat, slept | It, fell, fell asleep, asleep: 9, since the NP It
    # and the word It are one text. The output aligns The cat to It; the word It is still null, so 8 of 9 are found,
    # 8 of 9 allowed.
    table = scores(capsys)
    assert (table["recall"], table["precision"]) == pytest.approx((8 / 9, 8 / 9))


def test_missing_pairs_and_annotators_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = write_lines(tmp_path / "dev.jsonl", annotated([ROOT]), annotated([ROOT], [ROOT]) | {"id": "p2"})
    system = write_lines(tmp_path / "one.jsonl", record(ROOT))
    assert evaluate("phrases", gold, system, "--no-baseline") == 1
    assert "ends before pair 2 of the gold standard, 'p2'" in capsys.readouterr().err
    both = write_lines(tmp_path / "two.jsonl", record(ROOT), record(ROOT))
    assert evaluate("phrases", gold, both, "--no-baseline") == 1
    assert "pair 'p2' has another number of annotators" in capsys.readouterr().err


def test_word_links_are_projected_for_two_annotators(
    trees: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    links = {"id": "p1", "source": SOURCE_WORDS, "target": TARGET_WORDS}
    people = {"A": {"sure": [[1, 0], [2, 2]], "possible": [[2, 1]]}, "C": {"sure": [[1, 0]], "possible": []}}
    gold = write_lines(tmp_path / "links.jsonl", links | {"annotators": people})
    system = write_lines(tmp_path / "sys.jsonl", record(ROOT, VP))
    assert evaluate("phrases", gold, system, *trees, "--project", "--annotator", "A", "--annotator", "C", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    table = [{score["name"]: score["value"] for score in column["scores"]} for column in report["columns"]]
    # A's core: cat/It, slept/fell asleep, root; C's: cat/It. The system has root and VP: 2/3 recalled, and 1/1, since
    # the root holds the same link of C as cat/It; both are consistent for A; for C the root is, VP has no link
    assert (table[0]["recall"], table[0]["precision"]) == pytest.approx(((2 / 3 + 1) / 2, (1 + 1 / 2) / 2))
    # C's core against A: 1/3, 1/1; A's against C: 1/1, cat/It and root of three
    assert (table[1]["recall"], table[1]["precision"]) == pytest.approx((2 / 3, (1 + 2 / 3) / 2))
    assert report["columns"][2]["name"] == "project"


SPADE_SOURCE = (
    '<sentence id="s1" parse_status="success"><cons id="c0" cat="S" head="c1" sem_head="c1" pa1="c0" pa2="c0" pa3="c0">'
    '<cons id="c1" cat="NP" head="t0" sem_head="t0" pa1="c1" pa2="-1" pa3="c1"><tok id="t0" pos="NN">Rain</tok></cons> '
    '<cons id="c2" cat="VP" head="t1" sem_head="t1" pa1="c2" pa2="c2"><tok id="t1" pos="VBD">fell</tok></cons>'
    "</cons></sentence>"
)


def test_spade_folders_are_gold_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "spade"
    folder.mkdir()
    write(folder / "s-001.xml", SPADE_SOURCE)
    # the same tree with nothing marked: the union of both directions adds null pairs of its own
    unmarked = SPADE_SOURCE.replace('pa1="c0" pa2="c0" pa3="c0"', "").replace("s1", "t1").replace("fell", "came")
    for mark in ('pa1="c1" pa2="-1" pa3="c1"', 'pa1="c2" pa2="c2"'):
        unmarked = unmarked.replace(mark, "")
    write(folder / "t-001.xml", unmarked)
    tree = "(S (NP (NN Rain)) (VP (VBD fell)))"
    sides = side(tree), side(tree.replace("fell", "came"))
    line = to_json(result("1", *sides, pairs=(pair((0, 1), (0, 1), "NP"),), reached_root=False))
    system = write_lines(tmp_path / "sys.jsonl", line)
    assert evaluate("phrases", str(folder), system, "--no-baseline", "--json") == 0
    # pairs by span: first root np vp, second root vp, third root np; the output has np
    # required root vp | root | root np -> 0, 0, 1/2; allowed: always
    table = scores(capsys)
    assert (table["recall"], table["precision"]) == pytest.approx((1 / 6, 1))
    assert evaluate("phrases", str(folder), system, "--match", "node") == 2
    assert "match by span or by text" in capsys.readouterr().err


def test_the_human_row_needs_no_system(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = write_lines(tmp_path / "dev.jsonl", annotated([ROOT, NP, VP], [ROOT, NP], [ROOT, VP]))
    assert evaluate("phrases", gold, "--json") == 0
    assert scores(capsys)["recall"] == pytest.approx(2 / 3)
    lonely = write_lines(tmp_path / "one.jsonl", annotated([ROOT]))
    assert evaluate("phrases", lonely) == 2
    assert "no system" in capsys.readouterr().err


# ---- parses and sentence scores ----

HIGH = "(TOP (S (NP (PRP She)) (VP (VBD saw) (NP (NNS men)) (PP (IN with) (NP (NNS hats)))) (. .)))"
LOW = "(TOP (S (NP (PRP She)) (VP (VBD saw) (NP (NP (NNS men)) (PP (IN with) (NP (NNS hats))))) (. .)))"


def test_two_parses_stand_side_by_side_with_what_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold, first, second = (
        write_lines(tmp_path / name, tree) for name, tree in (("gold", HIGH), ("best", LOW), ("reranked", HIGH))
    )
    assert evaluate("parses", gold, first, second) == 0
    lines = capsys.readouterr().out.splitlines()
    assert next(line for line in lines if line.startswith("bracket F1")).split()[-2].startswith("+")
    pp = next(line for line in lines if line.startswith("PP"))
    assert pp.split()[1:] == ["1", "1", "0"]


def test_dependencies_are_scored_and_their_changes_named_by_relation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def conll(head: int) -> str:
        rows = [("1", "Go", "0", "root"), ("2", "home", "1", "obj"), ("3", "now", str(head), "advmod")]
        return "".join(f"{i}\t{w}\t_\tX\tX\t_\t{h}\t{r}\t_\t_\n" for i, w, h, r in rows) + "\n"

    gold, first, second = (
        write(tmp_path / name, conll(head)) for name, head in (("gold", 1), ("best", 2), ("reranked", 1))
    )
    assert evaluate("parses", gold, first, second, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["columns"][0]["scores"][0] == {"name": "UAS", "value": pytest.approx(2 / 3)}
    assert report["changes"][0] == {"kind": "advmod", "word_count": 1, "better": 1, "worse": 0}


def test_paraphrase_thresholds_come_from_training_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train = write_lines(tmp_path / "train.jsonl", {"paraphrase": 0}, {"paraphrase": 1})
    train_scores = write_lines(tmp_path / "train.txt", "0.2", "0.6")
    gold = write_lines(tmp_path / "test.jsonl", {"paraphrase": 1}, {"paraphrase": 1})
    system = write_lines(tmp_path / "test.txt", "0.5", "0.3")
    assert evaluate("scores", gold, system) == 2
    assert "--train GOLD" in capsys.readouterr().err
    assert evaluate("scores", gold, system, "--train", train, train_scores, "--json") == 0
    assert scores(capsys)["accuracy"] == 0.5
