"""The gold trees that a parser is scored on: treebanks, and annotated pairs by the corpus they come from."""

from __future__ import annotations

from pathlib import Path

from score_parser import WRITTEN, corpora, read_gold

from forestalign.trees import format_brackets, parse_brackets
from tests.builders.annotations import SOURCE, TARGET, record, write


def test_both_trees_of_annotated_pairs_are_scored_by_the_corpus_of_each(tmp_path: Path) -> None:
    origin = {"corpus": "web", "licence": "free", "number": 3, "side": "target"}
    own = {"corpus": WRITTEN, "licence": "free", "number": None, "side": ""}
    path = write(tmp_path / "set.jsonl", record(origin=origin), record(id="p2", origin=own), record(id="p3"))
    gold = read_gold(str(path))
    assert [each.corpus for each in gold] == [WRITTEN, "web", WRITTEN, WRITTEN, "", ""]
    parts = {name: [format_brackets(tree) for tree in trees] for name, trees in corpora(gold)}
    source, target = (format_brackets(parse_brackets(tree)) for tree in (SOURCE, TARGET))
    assert parts == {"web": [target], WRITTEN: [source, source, target]}


def test_treebanks_have_no_parts_of_their_own(tmp_path: Path) -> None:
    gold = read_gold(str(write(tmp_path / "trees.mrg", SOURCE, TARGET)))
    assert len(gold) == 2
    assert list(corpora(gold)) == []
