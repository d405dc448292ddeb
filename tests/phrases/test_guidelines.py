"""What annotations/GUIDELINES.md decides about light verbs, adjectives, `by` and articles is what comes out."""

from __future__ import annotations

import pytest

import forestalign

Pairs = set[tuple[str, str]]
CASES = [  # sentences, pairs that the guidelines ask for, pairs that they rule out
    (
        "She took pictures during the trip.",
        "She photographed during the trip.",
        {("took pictures", "photographed")},
        {("pictures", "photographed")},
    ),
    ("He takes a walk every evening.", "He walks every evening.", {("takes a walk", "walks")}, {("walk", "walks")}),
    (
        "He took pictures of the lions.",
        "He photographed the lions.",
        {("took pictures of the lions", "photographed the lions"), ("the lions", "the lions")},
        {("took", "photographed")},
    ),
    (
        "He had a long talk with her.",
        "He talked with her at length.",
        {("talk", "talked")},
        {("had a long talk", "talked")},
    ),
    ("The wines of Chile are cheap.", "Chilean wines are cheap.", {("of Chile", "Chilean")}, {("Chile", "Chilean")}),
    ("Chile's wines are cheap.", "Chilean wines are cheap.", {("Chile 's", "Chilean")}, {("Chile", "Chilean")}),
    (
        "Farmers in Finland are worried.",
        "Finnish farmers are worried.",
        {("in Finland", "Finnish")},
        {("Finland", "Finnish")},
    ),
    (
        "The mayor opened the new bridge.",
        "The new bridge was opened by the mayor.",
        {("The mayor", "the mayor")},
        {("The mayor", "by the mayor")},
    ),
    (
        "The storm destroyed the old barn.",
        "Storms destroyed the old barn.",
        {("storm", "Storms"), ("The storm", "Storms")},
        {("The", "Storms")},
    ),
]


@pytest.mark.parametrize(("source", "target", "wanted", "unwanted"), CASES, ids=[case[0] for case in CASES])
def test_the_guidelines_and_the_program_agree(source: str, target: str, wanted: Pairs, unwanted: Pairs) -> None:
    result = forestalign.align(source, target)
    found = {
        (" ".join(result.source.words[slice(*pair.source)]), " ".join(result.target.words[slice(*pair.target)]))
        for pair in result.phrases.pairs
    }
    assert wanted <= found
    assert not unwanted & found
