"""Phrase pairs of one line of results, as counting reads them: the quick reader agrees with the careful one."""

from __future__ import annotations

import pytest

from forestalign import Alignment
from forestalign.errors import AnnotationError
from forestalign.formats.codec import to_json
from forestalign.mining.occurrences import MOST_SLOTS, UNITS, AlignedLine, Phrases, patterns, read_line
from tests.builders.bad_files import with_field
from tests.builders.view_samples import cat, harbour

CAT = cat()
LONG = harbour("long")


@pytest.mark.parametrize("sample", [CAT, LONG], ids=["cat", "long"])
def test_the_quick_reader_sees_what_the_record_holds(sample: Alignment) -> None:
    line = read_line(to_json(sample), "results.jsonl", 1)
    assert (line.id, line.signature) == (sample.id, sample.signature)
    assert (line.source, line.target) == (sample.source.words, sample.target.words)
    assert len(line.phrases) == len(sample.phrases.pairs)
    for found, entry in zip(line.phrases, sample.phrases.pairs, strict=True):
        assert (found.source, found.target) == (tuple(entry.source), tuple(entry.target))
        assert (found.source_label, found.target_label) == (entry.source_label, entry.target_label)
        assert (found.is_bar, found.supports, found.evidence) == (entry.is_bar, entry.supports, entry.evidence)


def test_posteriors_are_whole_units() -> None:
    text = with_field(to_json(CAT), ["phrases", 0, "posterior"], 0.25)
    assert read_line(text, "results.jsonl", 1).phrases[0].posterior == UNITS // 4
    unjudged = with_field(to_json(CAT), ["phrases", 0, "posterior"], None)
    assert read_line(unjudged, "results.jsonl", 1).phrases[0].posterior is None


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (["version"], 9, "version: found 9; this program reads version 1"),
        (["phrases", 0, "source"], [0, 99], "expected a span"),
        (["phrases", 0, "supports"], [5], "supports"),
        (["phrases", 0, "relation"], "odd", "relation is 'odd'; expected one of equal, similar"),
        (["id"], 7, "id is 7; expected a string"),
        (["source", "tokens"], [1, 2], "tokens"),
    ],
)
def test_a_bad_line_is_refused_in_the_words_of_the_careful_reader(
    place: list[str | int], value: object, told: str
) -> None:
    with pytest.raises(AnnotationError) as caught:
        read_line(with_field(to_json(CAT), place, value), "results.jsonl", 3)
    assert str(caught.value).startswith("results.jsonl:3: ")
    assert told in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "not json"])
def test_what_is_no_result_is_refused(text: str) -> None:
    with pytest.raises(AnnotationError, match=r"results\.jsonl:1: "):
        read_line(text, "results.jsonl", 1)


# ---- patterns ----


def phrases(source: tuple[int, int], target: tuple[int, int], label: str, *supports: int) -> Phrases:
    return Phrases(source, target, label, label, False, supports, None, "", ("links",))


LINE = AlignedLine(
    "1",
    ("Ann", "sold", "cars"),
    ("cars", "were", "sold", "by", "Ann"),
    (phrases((0, 1), (4, 5), "NP"), phrases((2, 3), (0, 1), "NP"), phrases((0, 3), (0, 5), "S", 0, 1)),
    "signature",
)


def test_smaller_pairs_become_slots_counted_in_the_order_of_the_source() -> None:
    found = {(" ".join(each.source), " ".join(each.target), each.slots) for each in patterns(LINE, MOST_SLOTS, 7)}
    assert found == {
        ("[NP,1] sold cars", "cars were sold by [NP,1]", 1),
        ("Ann sold [NP,1]", "[NP,1] were sold by Ann", 1),
        ("[NP,1] sold [NP,2]", "[NP,2] were sold by [NP,1]", 2),
    }


@pytest.mark.parametrize(("most_slots", "max_words", "count"), [(1, 7, 2), (2, 7, 3), (2, 4, 0), (2, 5, 3), (0, 7, 0)])
def test_slots_and_words_have_bounds(most_slots: int, max_words: int, count: int) -> None:
    assert len(list(patterns(LINE, most_slots, max_words))) == count
