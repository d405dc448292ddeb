"""Pairs of which one sentence settles the other's ambiguity: the file of the repository, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from scoring.ambiguous_pairs import KINDS, AmbiguousPair, ambiguous_pair, read_ambiguous

from forestalign.errors import AnnotationError
from forestalign.trees import parse_brackets, preorder
from tests.builders.places import ROOT

FILE = ROOT / "annotations" / "ambiguity.jsonl"
LOW = "(TOP (S (NP (PRP He)) (VP (VBD saw) (NP (NP (DT a) (NN man)) (PP (IN with) (NP (NNS lenses))))) (. .)))"
HIGH = "(TOP (S (NP (PRP He)) (VP (VBD saw) (NP (DT a) (NN man)) (PP (IN with) (NP (NNS lenses)))) (. .)))"


@pytest.fixture(scope="module")
def pairs() -> list[AmbiguousPair]:
    return list(read_ambiguous(FILE))


def line(**changes: Any) -> str:
    words = ["He", "saw", "a", "man", "with", "lenses", "."]
    side = {"text": "He saw a man with lenses.", "tokens": words, "tree": HIGH}
    reading = {"has": [[2, 4, "NP"]], "lacks": [[2, 6]]}
    fields = {"id": "1", "phenomena": [], "split": "dev", "kind": "adverb", "ambiguous": "source", "reading": reading}
    return json.dumps(fields | {"source": side, "target": side} | changes)


def test_the_file_has_forty_pairs_to_look_at_and_forty_to_measure(pairs: list[AmbiguousPair]) -> None:
    assert Counter(pair.split for pair in pairs) == {"dev": 40, "test": 40}
    assert len({pair.pair.id for pair in pairs}) == len(pairs)
    assert len({pair.sentence.text for pair in pairs}) == len(pairs)


def test_all_kinds_are_there_in_about_equal_numbers_on_both_halves(pairs: list[AmbiguousPair]) -> None:
    counts = Counter((pair.kind, pair.split) for pair in pairs)
    assert {kind for kind, _ in counts} == set(KINDS)
    assert set(counts.values()) <= {6, 7}
    assert Counter(pair.side for pair in pairs) == {"source": 40, "target": 40}


def test_trees_have_the_words_of_their_sentences_and_labels_that_the_other_files_have(
    pairs: list[AmbiguousPair],
) -> None:
    known = {
        node.label
        for text in (ROOT / "annotations" / "train.jsonl").read_text(encoding="utf-8").splitlines()
        for side in ("source", "target")
        for node in preorder(parse_brackets(json.loads(text)[side]["tree"]))
    }
    for each in pairs:
        for sentence in (each.pair.source, each.pair.target):
            assert tuple(leaf.word for leaf in sentence.tree.leaves()) == sentence.tokens
            assert sentence.text.replace(" ", "") == "".join(sentence.tokens)
            assert 6 <= len(sentence.tokens) <= 20
            assert {node.label for node in preorder(sentence.tree)} <= known


def test_every_reading_is_told_by_some_bracket(pairs: list[AmbiguousPair]) -> None:
    assert all(each.reading.has or each.reading.lacks for each in pairs)


def test_a_reading_tells_one_attachment_from_the_other() -> None:
    reading = ambiguous_pair(line()).reading
    assert reading.is_of(parse_brackets(HIGH))
    assert not reading.is_of(parse_brackets(LOW))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"split": "train"}, "Invalid enum value 'train' - at `$.split`"),
        ({"kind": "word"}, "Invalid enum value 'word' - at `$.kind`"),
        ({"reading": {"has": [[2, 4]], "lacks": []}}, "$.reading.has"),
        ({"reading": {"has": [[2, 6, "NP"]], "lacks": []}}, "the gold tree has another one"),
    ],
)
def test_a_bad_line_is_refused_with_its_field(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(line() + "\n" + line(**changes) + "\n", encoding="utf-8")
    with pytest.raises(AnnotationError) as caught:
        list(read_ambiguous(path))
    assert message in str(caught.value)
    assert f"{path}:2" in str(caught.value)
