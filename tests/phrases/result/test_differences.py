"""The one list of what two sentences say differently."""

from __future__ import annotations

from forestalign.aligner import load
from forestalign.meaning.differences import KINDS


def test_differences_say_what_became_of_the_target_and_name_their_words() -> None:
    result = load().align("The dog bit two men.", "The dog did not bite three men.")
    found = {each.kind: each for each in result.differences}
    assert found["number"].reason == "two became three"
    assert (found["number"].source, found["number"].target) == ((3,), (5,))
    assert found["negation"].reason == "negated in the target only: not"
    assert found["negation"].contradicts
    assert set(found) <= set(KINDS)


def test_what_one_sentence_has_more_contradicts_nothing() -> None:
    result = load().align("He came.", "He came on Monday with his sister.")
    assert {each.kind for each in result.differences} == {"added"}
    assert not any(each.contradicts for each in result.differences)
