"""Word links made of annotated phrases and chunks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annotated_links import chunk_links, main, phrase_links

from forestalign.formats import read_gold_links
from forestalign.formats.ists import ChunkAlignment, ChunkPair


def record(source: str, target: str, *pairs: tuple[int, int, int, int]) -> dict[str, Any]:
    spans = [[[a, b, "X", False], [c, d, "X", False]] for a, b, c, d in pairs]
    sides = {name: {"tokens": text.split()} for name, text in (("source", source), ("target", target))}
    return {"id": "1", **sides, "annotators": {"one": {"pairs": spans}, "two": {"pairs": []}}}


def chunked(source: str, target: str, *pairs: ChunkPair) -> ChunkAlignment:
    return ChunkAlignment("1", "", source, target, tuple(source.split()), tuple(target.split()), pairs)


def test_single_words_are_links_and_one_beside_several_is_a_block() -> None:
    gold = phrase_links(record("she gave up", "she quit", (0, 3, 0, 2), (0, 1, 0, 1), (1, 3, 1, 2))).gold
    assert gold.sure == ((0, 0), (1, 1), (2, 1))
    assert gold.possible == ()


def test_what_a_larger_phrase_without_pairs_inside_says_is_open() -> None:
    gold = phrase_links(record("he kicked the bucket", "he passed away", (0, 1, 0, 1), (1, 4, 1, 3))).gold
    assert gold.sure == ((0, 0),)
    assert gold.possible == tuple((i, j) for i in (1, 2, 3) for j in (1, 2))


def test_a_phrase_that_holds_another_pair_says_nothing_of_its_other_words() -> None:
    gold = phrase_links(record("the old car", "a car", (0, 3, 0, 2), (2, 3, 1, 2))).gold
    assert (gold.sure, gold.possible) == (((2, 1),), ())


def test_in_chunks_equal_words_are_linked_and_then_the_last_two() -> None:
    gold = chunk_links(chunked("the red bus", "The red coach", ChunkPair((0, 1, 2), (0, 1, 2), "EQUI", 5.0))).gold
    assert (gold.sure, gold.possible) == (((0, 0), (1, 1), (2, 2)), ())


def test_the_only_content_words_of_chunks_are_linked_and_the_others_are_open() -> None:
    gold = chunk_links(chunked("in water", "on a sea", ChunkPair((0, 1), (0, 1, 2), "SIMI", 4.0))).gold
    assert gold.sure == ((1, 2),)
    assert gold.possible == ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1))


def test_chunks_that_are_hardly_alike_leave_their_words_open() -> None:
    gold = chunk_links(chunked("people", "eagles", ChunkPair((0,), (0,), "SIMI", 1.0))).gold
    assert (gold.sure, gold.possible) == ((), ((0, 0),))


def test_words_of_unaligned_chunks_have_no_partner_but_marks_are_open() -> None:
    pairs = ChunkPair((0,), (), "NOALI", None), ChunkPair((), (0,), "NOALI", None)
    gold = chunk_links(chunked("dogs .", "cats .", *pairs)).gold
    assert (gold.sure, gold.possible) == ((), ((1, 1),))


def test_a_chunk_whose_partner_was_taken_is_open() -> None:
    gold = chunk_links(chunked("dogs", "cats birds", ChunkPair((0,), (), "ALIC", None))).gold
    assert (gold.sure, gold.possible) == ((), ((0, 0), (0, 1)))


def test_the_file_is_read_back_as_gold(tmp_path: Path) -> None:
    given, made = tmp_path / "given.jsonl", tmp_path / "made.jsonl"
    pair = record("she gave up", "she quit", (0, 1, 0, 1), (1, 3, 1, 2))
    given.write_text(json.dumps(pair) + "\n")
    main([str(given), "-o", str(made)])
    assert [read.gold for read in read_gold_links(made)] == [phrase_links(pair).gold]
