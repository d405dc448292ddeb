"""Which pairs are shown: bar phrases where they say something that their parts do not; the same rule everywhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from forestalign import Alignment, PhrasePair
from forestalign.errors import UsageError
from forestalign.formats.codec import to_json, to_tsv
from forestalign.mining.table_files import TableForm, TableOptions, extract_table
from forestalign.phrases.result.shown_pairs import shown_pairs
from forestalign.view.page import scene_fields
from forestalign.view.scene import scene_of
from forestalign.view.text import render_text
from tests.builders.sample_results import links, pair, result, side

SOURCE = (
    "(TOP (S (NP (NNS Storms)) (VP (VBD knocked) (PRT (RP out)) (NP (NN power)) (PP (IN in) (NP (NNP May)))) (. .)))"
)
TARGET = "(TOP (S (NP (NNS Storms)) (VP (VBD lost) (NP (NN electricity)) (PP (IN in) (NP (NNP May)))) (. .)))"
POWER, IN_MAY, BAR, VERB, STORMS, ALL, MARK, ROOT = range(8)


def storms(**changes: object) -> Alignment:
    """A bar phrase of which one part alone has a partner; `S` without its full stop is one, too."""
    bar = pair((1, 4), (1, 3), "VP", (POWER,), is_bar=True, compositional=False)
    pairs = (
        pair((3, 4), (2, 3), "NP"),
        pair((4, 6), (3, 5), "PP"),
        replace(bar, **changes),
        pair((1, 6), (1, 5), "VP", (BAR, IN_MAY)),
        pair((0, 1), (0, 1), "NP"),
        pair((0, 6), (0, 5), "S", (STORMS, VERB), is_bar=True),
        pair((6, 7), (5, 6), "."),
        pair((0, 7), (0, 6), "S", (ALL, MARK)),
    )
    return result("storms", side(SOURCE), side(TARGET), links((0, 0), (3, 2)), "hand", pairs=pairs, log_score=-1.0)


def shown(alignment: Alignment, bars: bool | None = None) -> list[int]:
    return [k for k, is_shown in enumerate(alignment.shown(bars)) if is_shown]


def test_a_bar_phrase_is_shown_where_its_parts_leave_words_out() -> None:
    assert shown(storms()) == [POWER, IN_MAY, BAR, VERB, STORMS, MARK, ROOT]


def test_a_bar_phrase_is_hidden_where_its_parts_cover_both_sides() -> None:
    covered = storms(source=storms().phrases.pairs[POWER].source, target=storms().phrases.pairs[POWER].target)
    assert BAR not in shown(covered)


def water(target: str, *spans: tuple[tuple[int, int], tuple[int, int]]) -> bool:
    """Whether *Turn off the water* is shown with a target, its parts having these spans."""
    source, other = ["Turn", "off", "the", "water"], target.split()
    parts = [pair(one, two, "X") for one, two in spans]
    whole = pair((0, 4), (0, len(other)), "VP", tuple(range(len(parts))), is_bar=True)
    return shown_pairs([*parts, whole], source, other)[-1]


def test_a_bar_phrase_is_shown_where_its_parts_are_reworded_together() -> None:
    turn, off, the_water = (0, 1), (1, 2), (2, 4)
    moved = ((turn, (0, 1)), (off, (3, 4)), (the_water, (1, 3)))
    assert water("Switch the water off", *moved)
    assert not water("turn the water off", *moved)
    in_place = ((turn, (0, 1)), (off, (1, 2)), (the_water, (2, 4)))
    assert not water("Switch off the water", *in_place)
    assert water("Switch off the tap", *in_place)
    assert not water("Switch off the tap ,", *in_place[:2], (the_water, (2, 5)))


def test_a_long_bar_phrase_is_told_by_its_parts() -> None:
    parts = [pair((0, 1), (0, 1), "X"), pair((1, 7), (1, 7), "X")]
    whole = pair((0, 7), (0, 7), "VP", (0, 1), is_bar=True)
    assert not shown_pairs([*parts, whole], list("abcdefg"), list("tuvwxyz"))[-1]


def test_parts_that_cover_one_side_alone_do_not_hide_it() -> None:
    assert BAR in shown(storms(source=storms().phrases.pairs[POWER].source))


def test_a_bar_phrase_that_differs_by_a_mark_from_the_pair_above_is_hidden() -> None:
    without = [replace(each, supports=()) if k == ALL else each for k, each in enumerate(storms().phrases.pairs)]
    words = storms().source.words, storms().target.words
    assert not shown_pairs(without, *words)[ALL]  # its parts say nothing, but the root has its words
    assert shown_pairs([*without[:ROOT], replace(without[ROOT], supports=(MARK,))], *words)[ALL]


def test_all_bar_phrases_or_none_are_shown_on_demand() -> None:
    assert shown(storms(), bars=True) == list(range(8))
    assert shown(storms(), bars=False) == [POWER, IN_MAY, VERB, STORMS, MARK, ROOT]
    with pytest.raises(UsageError, match="bars is 'all'; expected True, False or None"):
        storms().pairs(bars="all")  # type: ignore[arg-type]


def test_words_that_are_two_phrases_are_iterated_once_as_the_text_shows_them() -> None:
    below = pair((0, 1), (0, 1), "NNS")
    whole = storms()
    pairs = [replace(each, supports=tuple(k + 1 for k in each.supports)) for each in whole.phrases.pairs]
    pairs[STORMS] = replace(pairs[STORMS], supports=(0,))
    twice = replace(whole, phrases=replace(whole.phrases, pairs=(below, *pairs)))
    assert [each.source_label for each in twice if each.source.text == "Storms"] == ["NP"]
    spans = [(each.source, each.target) for each in twice]
    assert len(spans) == len(set(spans))
    assert to_tsv(twice) == to_tsv(whole)
    assert len(twice.pairs(bars=True)) == len(twice.phrases.pairs) == 9


def texts(pairs: tuple[PhrasePair, ...]) -> set[str]:
    return {f"{each.source.text} = {each.target.text}" for each in pairs}


@pytest.mark.parametrize("bars", [None, True, False])
def test_library_table_text_and_page_follow_one_rule(bars: bool | None) -> None:
    sample = storms()
    expected = texts(sample.pairs(bars=bars))
    assert ("knocked out power = lost electricity" in expected) == (bars is not False)
    rows = [line.split("\t")[1:3] for line in to_tsv(sample, bars).splitlines()]
    assert {" = ".join(row) for row in rows if all(row)} == expected
    text = render_text(sample, bars=bars, verbose=True)
    assert ("knocked out power = lost electricity" in text) == (bars is not False)
    assert ("Storms knocked out power in May = " in text) == (bars is True)
    if bars is None:
        (choice,) = scene_fields(scene_of(sample))["choices"]
        assert [bool(each[-1]) for each in choice["phrases"]] == list(sample.shown())


def test_a_table_of_paraphrases_follows_the_same_rule(tmp_path: Path) -> None:
    results, table = tmp_path / "results.jsonl", tmp_path / "table.jsonl"
    results.write_text(to_json(storms()) + "\n")
    extract_table([results], table, TableOptions(TableForm.JSONL))
    found = {json.loads(line)["phrase"] for line in table.read_text().splitlines()}
    assert "knocked out power" in found
    assert "storms knocked out power in may" not in found
