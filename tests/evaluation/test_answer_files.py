"""Gold standards and outputs of systems from files of every form; what does not fit is refused by pair and token."""

from __future__ import annotations

from pathlib import Path

import pytest

from forestalign.errors import AnnotationError, InputError
from forestalign.evaluation.answer_files import (
    PhraseGold,
    check_phrase_output,
    phrase_output,
    read_phrase_gold,
    read_word_gold,
    read_word_output,
)
from forestalign.formats.codec import to_json
from tests.builders.annotations import write
from tests.builders.view_samples import cat

GOLD = [
    {"id": "a", "source": ["He", "left"], "target": ["He", "went"], "sure": [[0, 0]], "possible": [[0, 0], [1, 1]]},
    {"id": "b", "source": ["Yes"], "target": ["Yes"], "sure": [[0, 0]], "possible": []},
]
CAT = cat()


# ---- words ----


def test_a_link_that_is_sure_is_not_possible_as_well(tmp_path: Path) -> None:
    first, second = read_word_gold(write(tmp_path / "gold.jsonl", *GOLD))
    assert (first.sure, first.possible) == ({(0, 0)}, {(1, 1)})
    assert first.all == {(0, 0), (1, 1)}
    assert (second.id, second.source, second.possible) == ("b", ("Yes",), frozenset())


@pytest.mark.parametrize(
    "lines",
    [
        ["0-0 1-1", "0-0"],
        [
            {"id": "a", "links": [{"source": 0, "target": 0}, {"source": 1, "target": 1}]},
            {"id": "b", "links": [[0, 0]]},
        ],
        [{"words": [[0, 0, 0.9], [1, 1, 0.3]]}, {"words": [[0, 0, 1.0]]}],
        [{"sure": [[0, 0], [1, 1]]}, {"sure": [[0, 0]]}],
    ],
    ids=["pharaoh", "links", "words", "sure"],
)
def test_every_form_of_output_gives_the_same_links(tmp_path: Path, lines: list[object]) -> None:
    gold = read_word_gold(write(tmp_path / "gold.jsonl", *GOLD))
    found = read_word_output(write(tmp_path / "out", *lines), gold)
    assert found == [{(0, 0), (1, 1)}, {(0, 0)}]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["0-0"], "the output ends before pair 2 of the gold standard, 'b'"),
        (["0-0", "0-9"], "link 0-9: the target has 1 word; expected 0"),
        ([{"id": "z", "links": []}, {}], "id: found 'z'; expected 'a' as in the gold standard"),
        ([{"source": ["She"], "links": []}, {}], "source token 0 is 'She'; expected 'He' as in the gold standard"),
        (
            [{"links": [[0, 0]]}, {"links": [[0, 5]]}],
            "link 0-5 leaves the sentences of pair b, which have 1 and 1 word",
        ),
        ([{"links": ["0-0"]}, {}], "links: found '0-0'; expected a link [source, target, ...]"),
        ([{"links": 3}, {}], "links is 3; expected a list of links"),
        ([{"links": []}, {"links": []}, {"links": []}], "there is output for pair 3; the gold standard has 2"),
    ],
)
def test_output_that_does_not_fit_is_refused(tmp_path: Path, lines: list[object], told: str) -> None:
    gold = read_word_gold(write(tmp_path / "gold.jsonl", *GOLD))
    with pytest.raises(InputError) as caught:
        read_word_output(write(tmp_path / "out", *lines), gold)
    assert told in str(caught.value)


# ---- phrases ----


def test_a_record_is_an_answer_of_spans_or_of_nodes() -> None:
    spans, nodes = phrase_output(CAT, spans_only=True), phrase_output(CAT)
    assert spans.id == nodes.id == "cat"
    assert len(spans.answer.pairs) == len(CAT.phrases.pairs)
    named = [pair for pair in nodes.answer.pairs if pair.source and pair.target]
    assert len(named) == len(CAT.phrases.pairs)
    assert spans.words.pairs == tuple((word.source, word.target) for word in CAT.words)
    assert spans.root.reached is CAT.phrases.reached_root


def test_output_over_other_tokens_is_refused_by_pair() -> None:
    output = [phrase_output(CAT, spans_only=True)]
    gold = [PhraseGold("cat", ("Other", *CAT.source.words[1:]), CAT.target.words, ())]
    with pytest.raises(AnnotationError, match=r"out:1: pair 'cat': source token 0 is .*; expected 'Other'"):
        check_phrase_output("out", gold, output)
    check_phrase_output("out", gold, output, same_tokens=False)


def test_a_folder_without_spade_files_is_no_gold(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no files s-\*\.xml in this folder; expected SPADE XML"):
        read_phrase_gold(tmp_path)


def test_pairs_that_nobody_annotated_are_no_gold(tmp_path: Path) -> None:
    path = write(tmp_path / "results.jsonl", to_json(CAT))
    with pytest.raises(AnnotationError, match=r"results\.jsonl:1: pair 'cat' has no annotators; expected gold"):
        read_phrase_gold(path)
