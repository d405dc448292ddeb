"""Word scores against tables worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.evaluation.word_scores import GoldLinks, Links, blocks, score_words


def links(*pairs: tuple[int, int]) -> Links:
    return frozenset(pairs)


# pair   gold sure   possible   output        P    R   exact
# 1      00 22       11         00 11 22     2/3   1    no
# 2      00          -          -             0    0    no
# 3      00 11       -          00 11         1    1    yes
GOLD = [
    GoldLinks("1", ("Cats", "eat", "fish"), ("Cats", "devour", "fish"), links((0, 0), (2, 2)), links((1, 1))),
    GoldLinks("2", ("Go",), ("Leave",), links((0, 0))),
    GoldLinks("3", ("She", "left"), ("She", "went"), links((0, 0), (1, 1))),
]
OUTPUT = [links((0, 0), (1, 1), (2, 2)), links(), links((0, 0), (1, 1))]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("P", 5 / 9),
        ("R", 2 / 3),
        ("F1", 20 / 33),  # of the averages: 2 * 5/9 * 6/9 / (11/9)
        ("E", 1 / 3),
        ("micro P", 4 / 5),
        ("micro R", 4 / 5),
        ("AER", 1 - (4 + 5) / (5 + 5)),
        ("identical P", 1.0),  # pairs 1 and 3
        ("identical R", 1.0),
        ("non-identical P", 1 / 3),  # pair 1: one output, no gold; pair 2: gold only; pair 3: right
        ("non-identical R", 1 / 3),
    ],
)
def test_word_scores_equal_the_hand_computed_table(name: str, value: float) -> None:
    assert score_words(GOLD, OUTPUT)[name] == pytest.approx(value)


def test_possible_links_can_be_made_part_of_the_gold() -> None:
    scores = score_words(GOLD, OUTPUT, count_possible=True)
    assert scores["P"] == pytest.approx(2 / 3)
    assert scores["E"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("gold", "output", "expected"),
    [
        (links(), links((0, 0)), (0.0, 0.0, 0.0, 0.0)),
        (links((0, 0)), links(), (0.0, 0.0, 0.0, 0.0)),
        (links(), links(), (1.0, 1.0, 1.0, 1.0)),
    ],
)
def test_empty_gold_and_empty_output_are_zero_but_both_empty_is_perfect(
    gold: Links, output: Links, expected: tuple[float, ...]
) -> None:
    scores = score_words([GoldLinks("1", ("a",), ("a",), gold)], [output])
    assert tuple(scores[name] for name in ("P", "R", "F1", "E")) == expected
    assert tuple(scores[name] for name in ("micro P", "micro R", "micro F1")) == expected[:3]


def test_no_links_at_all_are_no_alignment_errors() -> None:
    assert score_words([GoldLinks("1", ("a",), ("a",), links())], [links()])["AER"] == 0.0


def test_identical_words_are_left_out_where_the_words_are_not_known() -> None:
    scores = score_words([GoldLinks("1", (), (), links((0, 0)))], [links((0, 0))])
    assert "identical P" not in scores.names
    assert scores["F1"] == 1.0


def test_token_and_phrase_alignments_are_scored_apart() -> None:
    # gold: a 1-1 link and a 2x2 block; output: the same 1-1 link and half of the block
    gold = [GoldLinks("1", (), (), links((0, 0), (1, 1), (1, 2), (2, 1), (2, 2)))]
    scores = score_words(gold, [links((0, 0), (1, 1), (1, 2))])
    assert [scores[f"token {name}"] for name in ("P", "R", "F1")] == [1, 1, 1]
    assert [scores[f"phrase {name}"] for name in ("P", "R", "F1")] == [0, 0, 0]


LINKS = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)))


@given(LINKS)
def test_blocks_part_the_linked_words(given_links: Links) -> None:
    found = blocks(given_links)
    sources = [word for block in found for word in block.source]
    targets = [word for block in found for word in block.target]
    assert sorted(sources) == sorted({source for source, _ in given_links})
    assert sorted(targets) == sorted({target for _, target in given_links})
    assert all(
        sum(source in block.source and target in block.target for block in found) == 1 for source, target in given_links
    )
