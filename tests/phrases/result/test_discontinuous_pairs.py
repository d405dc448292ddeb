"""Words that belong together by evidence and are not phrases of the trees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.errors import AnnotationError, UsageError
from forestalign.formats.codec import COLUMNS, from_json, to_json, to_tsv
from forestalign.phrases.evidence.phrase_evidence import PhraseEvidence, wanted_kinds
from forestalign.phrases.result.alignment import Alignment, DiscontinuousPair
from forestalign.phrases.result.discontinuous_pairs import AlignedSpans, discontinuous_pairs
from forestalign.tokens import Span
from forestalign.view.text import render_text
from forestalign.words.alignment import NO_LINKS, WordAlignment
from tests.builders.sample_results import links, result, side, with_phrases

NAMES = {"lexicon": "lexicon", "quantity": "quantity"}


def pair(source: tuple[int, int], target: tuple[int, int], supports: tuple[int, ...] = ()) -> AlignedSpans:
    return AlignedSpans(Span(*source), Span(*target), supports)


def row(source: tuple[int, ...], target: tuple[int, ...], strength: float = 0.9) -> PhraseEvidence:
    return PhraseEvidence(source, target, "lexicon", "equal", strength)


# she turned the offer down = she rejected the offer
TURNED = [pair((0, 1), (0, 1)), pair((2, 4), (2, 4)), pair((1, 5), (1, 4), (1,)), pair((0, 5), (0, 4), (0, 2))]


def test_words_that_no_pair_covers_belong_together() -> None:
    (found,) = discontinuous_pairs([row((1, 4), (1,))], TURNED, NAMES)
    assert found == ((1, 4), (1,), "lexicon", "equal", 0.9)


@pytest.mark.parametrize(
    "evidence",
    [
        row((2, 3), (2, 3)),  # an aligned pair itself
        row((0, 1), (1,)),  # she has a partner elsewhere
        row((1, 4), (1, 2)),  # offer has a partner elsewhere
        row((1,), (1,)),  # two single words are for word links
        row((1, 4), (1,), 0.2),  # too weak
    ],
)
def test_what_pairs_carry_or_contradict_is_not_reported(evidence: PhraseEvidence) -> None:
    assert discontinuous_pairs([evidence], TURNED, NAMES) == ()


def test_of_two_over_the_same_words_the_stronger_is_kept() -> None:
    found = discontinuous_pairs([row((1, 4), (1,), 0.5), row((1,), (1, 4), 0.9)], TURNED[:1], NAMES)
    assert [one.source for one in found] == [(1,)]


words = st.sets(st.integers(0, 5), min_size=1, max_size=3).map(lambda found: tuple(sorted(found)))
spans = st.tuples(st.integers(0, 4), st.integers(1, 2)).map(lambda at: (at[0], min(6, at[0] + at[1])))


@given(st.lists(st.tuples(words, words), max_size=4), st.lists(st.tuples(spans, spans), max_size=4))
def test_no_word_is_named_twice_and_none_has_a_partner_outside(
    rows: list[tuple[tuple[int, ...], tuple[int, ...]]], ends: list[tuple[tuple[int, int], tuple[int, int]]]
) -> None:
    apart: list[AlignedSpans] = []
    for source, target in ends:
        new = pair(source, target)
        if all(_are_apart(new.source, one.source) and _are_apart(new.target, one.target) for one in apart):
            apart.append(new)
    found = discontinuous_pairs([row(*sides) for sides in rows], apart, NAMES)
    for number in (0, 1):
        named = [word for one in found for word in one[number]]
        assert len(named) == len(set(named))
    for one in found:
        for end in apart:
            touches = set(one.source) & set(range(*end.source)) or set(one.target) & set(range(*end.target))
            assert not touches or set(range(*end.source)) <= set(one.source)
            assert not touches or set(range(*end.target)) <= set(one.target)


def _are_apart(one: Span, other: Span) -> bool:
    return one.end <= other.begin or other.end <= one.begin


JOINED = DiscontinuousPair((1, 3), (1,), "lexicon", "equal")


def turned(*scattered: DiscontinuousPair, words: WordAlignment = NO_LINKS) -> Alignment:
    source, target = side("(S (A She) (B turned) (C it) (D down))"), side("(S (A She) (B refused) (C it))")
    return result("1", source, target, words, scattered=scattered)


def test_scattered_words_come_back_from_json_and_are_shown() -> None:
    own = turned(JOINED)
    assert from_json(to_json(own)) == own
    assert "turned … down = refused" in render_text(own)
    assert "scattered" not in to_json(turned())


def test_a_table_has_scattered_words_with_all_their_places() -> None:
    rows = [line.split("\t") for line in to_tsv(turned(JOINED)).splitlines()]
    assert ["1", "turned … down", "refused", "1-2,3-4", "1-2", "", "", "equal", "lexicon", "", "", ""] in rows
    assert {len(row) for row in rows} == {len(COLUMNS)}


def test_scattered_words_are_replaced_and_neither_dropped_nor_added() -> None:
    whole = turned(JOINED)
    text = render_text(with_phrases(whole, source_nulls=(Span(1, 4),), target_nulls=(Span(1, 2),)))
    assert text.splitlines()[-1] == "  replaced: turned … down → refused"


def test_words_that_were_dropped_stand_together_without_the_marks_around_them() -> None:
    source, target = side("(S (A Ann) (, ,) (B very) (, ,) (C quickly) (, ,) (D left))"), side("(S (A Ann))")
    lines = render_text(result("1", source, target, links((0, 0)))).splitlines()
    assert lines[-1] == "  removed: very , quickly , left"


def test_a_link_inside_scattered_words_is_not_left_out() -> None:
    words = links((1, 1), (2, 2))
    assert turned(words=words).left_out == words.links
    assert turned(JOINED, words=words).left_out == words.links[1:]


def test_scattered_words_past_the_sentence_are_refused() -> None:
    text = to_json(turned(JOINED._replace(source=(1, 9))))
    with pytest.raises(AnnotationError, match="below 4"):
        from_json(text)


def test_kinds_of_evidence_are_chosen_by_name() -> None:
    assert wanted_kinds("all") > wanted_kinds("quantity, rule") == {"quantity", "rule"}
    assert wanted_kinds("none") == frozenset()
    with pytest.raises(UsageError, match="found 'numbers'"):
        wanted_kinds("numbers")
