"""Silver word links: what two sources settle together, and which pairs are worth keeping."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from encoder_training.gold_links import read_links
from make_silver import agreed, are_paraphrases, drawn, is_useful, near_links, paraphrases, plain_text

from forestalign.formats.word_links import GOLD, GoldPair, LinkAnnotation, format_link_line


def cells(*places: tuple[int, int]) -> np.ndarray:
    table = np.zeros((3, 3), dtype=bool)
    for place in places:
        table[place] = True
    return table


def test_a_word_that_one_source_links_alone_is_open() -> None:
    found = agreed(cells((0, 0), (1, 1), (0, 1)), cells((0, 0), (1, 1), (2, 2)))
    assert np.array_equal(found.sure, cells((0, 0), (1, 1)))
    closed = cells((0, 0), (1, 1), (1, 0))  # (0, 1) is linked by one source alone, and word 2 has no sure link
    assert np.array_equal(~found.is_open, closed)


@pytest.mark.parametrize("is_open", [False, True])
def test_a_word_that_no_source_links_has_no_partner_unless_it_is_left_open(is_open: bool) -> None:
    links = cells((0, 0), (1, 1))
    found = agreed(links, links, is_open)
    settled = cells((0, 0), (0, 1), (1, 0), (1, 1))
    assert np.array_equal(~found.is_open, settled if is_open else np.ones((3, 3), dtype=bool))


def test_a_lonely_word_is_closed_beside_one_that_is_not_settled() -> None:
    found = agreed(cells((0, 0)), cells((0, 0), (1, 1)))
    assert np.argwhere(found.is_open).tolist() == [[0, 1], [1, 0], [1, 1]]


def test_what_is_open_is_passed_over_by_training(tmp_path: Path) -> None:
    found = agreed(cells((0, 0), (1, 1)), cells((0, 0)))
    links = [tuple((int(i), int(j)) for i, j in np.argwhere(table)) for table in found]
    pair = GoldPair("1", (LinkAnnotation(GOLD, ("a", "b", "c"), ("d", "e", "f"), *links),))
    (tmp_path / "silver.jsonl").write_text(format_link_line(pair) + "\n")
    (read,) = read_links(tmp_path / "silver.jsonl")
    assert np.array_equal(read.links > 0, found.sure)
    assert np.array_equal(read.is_open, found.is_open)


def test_words_that_are_nearest_to_each_other_are_linked() -> None:
    vectors = np.eye(3, 5, dtype=np.float32)
    other = np.eye(3, 5, dtype=np.float32)[[2, 0]]
    assert np.argwhere(near_links(vectors, other)).tolist() == [[0, 1], [2, 0]]


def test_a_pair_must_differ_and_be_a_paraphrase() -> None:
    source = ("dogs", "chase", "cats")
    every = cells((0, 0), (1, 1), (2, 2))
    assert is_useful(source, ("dogs", "hunt", "cats"), every)
    assert not is_useful(source, source, every)
    assert not is_useful(source, ("dogs", "hunt", "cats"), cells((0, 0)))
    assert not is_useful(("of", "the", "a"), ("in", "the", "a"), every)


def test_paraphrases_are_what_people_called_so() -> None:
    assert are_paraphrases({"paraphrase": 1})
    assert are_paraphrases({"score": 4.6})
    assert are_paraphrases({})
    assert not are_paraphrases({"paraphrase": 0})
    assert not are_paraphrases({"score": 4.4})


def test_tokens_become_text_again() -> None:
    words = ("He", "did", "n't", "pay", "$", "5", "(", "I", "'m", "sure", ")", ",", "no", "!")
    assert plain_text(words) == "He didn't pay $5 (I'm sure), no!"


@pytest.mark.heavy
def test_sentences_are_drawn_with_their_seed(tmp_path: Path) -> None:
    texts = [{"source": f"the cat number {n} sat down there", "target": "too short"} for n in range(20)]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(text) + "\n" for text in texts))
    assert len(drawn(f"{path}:5", 1)) == 5
    assert drawn(f"{path}:5", 1) == drawn(f"{path}:5", 1) != drawn(f"{path}:5", 2)


@pytest.mark.heavy
def test_paraphrases_are_drawn_among_those_of_the_right_label_and_length(tmp_path: Path) -> None:
    texts = [
        {"source": f"the cat {n} sat down there", "target": "a cat sat down over there", "paraphrase": n % 2}
        for n in range(9)
    ]
    texts.append({"source": "too short", "target": "much too short", "paraphrase": 1})
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(text) + "\n" for text in texts))
    found = paraphrases(f"{path}:3", 1)
    assert len(found) == 3
    assert {source[2] for source, _ in paraphrases(str(path), 1)} == {"1", "3", "5", "7"}
