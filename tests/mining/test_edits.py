"""Edits: what is said about hand-made pairs, in JSON, on the page, and about two versions of a text."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path

import pytest
import score
from hypothesis import given
from hypothesis import strategies as st

from forestalign import Alignment
from forestalign.cli import main
from forestalign.formats.codec import to_json
from forestalign.mining.edit_report import EditReport
from forestalign.mining.edit_units import is_other_number, passives_of
from forestalign.mining.edits import Edit, EditKind, edits_of, heaviest_common_order
from forestalign.tokens import Span
from forestalign.trees import parse_brackets
from tests.builders.sample_results import with_phrases
from tests.builders.view_samples import cat, hostile_record, record
from tests.builders.work import count_calls


def told(pair: Alignment, kind: str) -> list[tuple[str, str]]:
    return [(edit.source_text, edit.target_text) for edit in edits_of(pair).of_kind(kind)]


def related(pair: Alignment, relations: dict[tuple[int, int], str]) -> Alignment:
    """The record with relations of its phrase pairs, by their source spans."""
    pairs = tuple(replace(each, relation=relations.get(each.source, "")) for each in pair.phrases.pairs)
    return with_phrases(pair, pairs=pairs)


CAT = cat()
NOT_SEEN = "(TOP (S (NP (PRP He)) (VP (VBD did) (RB not) (VP (VB see) (NP (PRP her)))) (. .)))"
SEEN = "(TOP (S (NP (PRP He)) (VP (VBD saw) (NP (PRP her))) (. .)))"
NEVER = "(TOP (S (NP (PRP He)) (ADVP (RB never)) (VP (VBD saw) (NP (PRP her))) (. .)))"
SOLD = "(TOP (S (NP (PRP We)) (VP (VBD sold) (NP (CD nine) (NNS cars))) (. .)))"
WAS_SOLD = "(TOP (S (NP (CD ten) (NNS cars)) (VP (VBD were) (VP (VBN sold) (PP (IN by) (NP (PRP us))))) (. .)))"


# ---- kinds ----


def test_the_same_sentence_is_kept_in_one_piece() -> None:
    pair = record("same", SEEN, SEEN, {0: 0, 1: 1, 2: 2, 3: 3})
    found = edits_of(pair)
    assert [(edit.kind, edit.source, edit.target) for edit in found.edits] == [(EditKind.KEPT, (0, 4), (0, 4))]
    assert found.kept_share == 1.0


def test_edits_print_in_words() -> None:
    found = edits_of(CAT)
    lines = str(found).splitlines()
    assert "moved: on the old mat → On the old rug" in lines
    assert len(lines) == len([edit for edit in found.edits if edit.kind is not EditKind.KEPT]) - 1  # but the comma
    gone = Edit(EditKind.DELETED, Span(0, 3), None, source_text="Nobody \x1b came.")
    assert str(replace(found, edits=(gone,))) == "removed: Nobody [U+001B] came."
    assert str(replace(found, edits=found.of_kind("kept"))) == "nothing changed"


def test_case_is_no_edit() -> None:
    assert ("The", "the") in told(CAT, "kept")


def test_a_phrase_moves_as_a_whole() -> None:
    assert told(CAT, "moved") == [("on the old mat", "On the old rug")]


def test_a_replacement_has_its_relation() -> None:
    pair = related(CAT, {(1, 2): "similar"})
    assert [(edit.source_text, edit.target_text, edit.relation) for edit in edits_of(pair).of_kind("replaced")] == [
        ("fat", "plump", "similar"),
        ("quietly", "silently", ""),
        ("mat", "rug", ""),
    ]


def test_words_without_a_partner_are_deleted_and_inserted() -> None:
    pair = cat(4)
    assert told(pair, "removed") == [("quietly", "")]
    assert told(pair, "added") == [("", ","), ("", "silently")]


def test_an_idiom_is_replaced_as_a_whole() -> None:
    died = "(TOP (S (NP (PRP He)) (VP (VBD died)) (. .)))"
    kicked = "(TOP (S (NP (PRP He)) (VP (VBD kicked) (NP (DT the) (NN bucket))) (. .)))"
    base = record("idiom", died, kicked, {0: 0, 1: 1, 2: 4})
    phrases = tuple(
        replace(each, target=Span(1, 4), relation="equal") if each.source == (1, 2) else each
        for each in base.phrases.pairs
    )
    assert told(with_phrases(base, pairs=phrases), "replaced") == [("died", "kicked the bucket")]


def test_a_negation_that_is_gone_or_has_come_is_told() -> None:
    assert told(record("not", NOT_SEEN, SEEN, {0: 0, 3: 1, 4: 2, 5: 3}), "negation changed") == [("not", "")]
    assert told(record("not", SEEN, NOT_SEEN, {0: 0, 1: 3, 2: 4, 3: 5}), "negation changed") == [("", "not")]


@pytest.mark.parametrize("links", [{0: 0, 3: 2, 4: 3, 5: 4}, {0: 0, 2: 1, 3: 2, 4: 3, 5: 4}])
def test_one_negation_for_another_is_no_change(links: dict[int, int]) -> None:
    assert told(record("never", NOT_SEEN, NEVER, links), "negation changed") == []


def test_a_negated_opposite_is_no_change() -> None:
    bad = "(TOP (S (NP (PRP It)) (VP (VBZ is) (ADJP (RB not) (JJ bad))) (. .)))"
    good = "(TOP (S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ good))) (. .)))"
    base = record("not bad", bad, good, {0: 0, 1: 1, 3: 2, 4: 3})
    phrases = tuple(
        replace(each, source=Span(2, 4), supports=(), relation="equal") if each.source == (3, 4) else each
        for each in base.phrases.pairs
        if each.source != (2, 4)
    )
    pair = with_phrases(base, pairs=tuple(replace(each, supports=()) for each in phrases if each.source != (1, 4)))
    pair = with_phrases(pair, pairs=tuple(each for each in pair.phrases.pairs if each.source != (0, 5)))
    assert told(pair, "negation changed") == []


VOICE = record("voice", SOLD, WAS_SOLD, {0: 5, 1: 3, 2: 0, 3: 1, 4: 6})


def test_a_change_of_voice_is_told() -> None:
    assert [(edit.source_text, edit.target_text, edit.detail) for edit in edits_of(VOICE).of_kind("voice changed")] == [
        ("sold", "sold", "passive")
    ]


@pytest.mark.parametrize("relation", ["", "different value"])
def test_another_value_is_told_with_and_without_a_relation(relation: str) -> None:
    assert told(related(VOICE, {(2, 3): relation}), "number changed") == [("nine", "ten")]


def test_one_value_with_other_numbers_is_one_replacement() -> None:
    """*three days* and *72 hours*: the numbers differ, what they say with their units does not."""
    days = "(TOP (S (NP (PRP It)) (VP (VBD took) (NP (CD three) (NNS days))) (. .)))"
    pair = record("days", days, days.replace("three", "72").replace("days", "hours"), {k: k for k in range(5)})
    pair = related(pair, {(2, 3): "different value", (2, 4): "equal"})
    assert told(pair, "replaced") == [("three days", "72 hours")]
    assert told(pair, "number changed") == []
    assert told(related(pair, {(2, 3): "different value"}), "number changed") == [("three", "72")]


@pytest.mark.heavy
def test_the_edits_of_pairs_that_were_marked_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    score.main(["edits"])
    assert float(capsys.readouterr().out.split("F1 ")[1]) >= 81.5


def test_numbers_without_a_partner_are_held_against_each_other() -> None:
    pair = record("voice", SOLD, WAS_SOLD, {0: 5, 1: 3, 3: 1, 4: 6})
    assert told(pair, "number changed") == [("nine", "ten")]


@pytest.mark.parametrize(
    ("source", "target", "is_other"),
    [
        (("car", "NN"), ("cars", "NNS"), True),
        (("cities", "NNS"), ("city", "NN"), True),
        (("policeman", "NN"), ("policemen", "NNS"), True),
        (("children", "NNS"), ("child", "NN"), True),
        (("box", "NN"), ("boxes", "NNS"), True),
        (("car", "NN"), ("buses", "NNS"), False),
        (("cars", "NNS"), ("cars", "NNS"), False),
        (("sees", "VBZ"), ("see", "VB"), False),
    ],
)
def test_singular_and_plural_are_told_apart(source: tuple[str, str], target: tuple[str, str], is_other: bool) -> None:
    assert is_other_number(source, target) is is_other


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (WAS_SOLD, {3}),
        ("(S (NP (PRP He)) (VP (VBZ has) (VP (VBN been) (VP (VBN seen)))))", {3}),
        ("(S (NP (PRP He)) (VP (VBD got) (VP (VBN fired))))", {2}),
        ("(SQ (VBD Was) (NP (PRP it)) (VP (VBN sold)) (. ?))", {2}),
        ("(NP (NP (DT the) (NN car)) (VP (VBN bought) (PP (IN by) (NP (NNP Ann)))))", {2}),
        ("(S (NP (PRP He)) (VP (VBZ has) (VP (VBN seen) (NP (PRP it)))))", set()),
        ("(S (NP (PRP He)) (VP (VBZ is) (VP (VBG running))))", set()),
        ("(S (NP (PRP He)) (VP (VBZ is) (ADJP (JJ old))))", set()),
    ],
)
def test_passives_are_found(tree: str, words: set[int]) -> None:
    assert passives_of(parse_brackets(tree)) == words


def test_a_sentence_that_became_two_is_split_and_the_other_way_merged() -> None:
    one = "(TOP (S (S (NP (PRP He)) (VP (VBD left))) (CC and) (S (NP (PRP she)) (VP (VBD stayed))) (. .)))"
    two = "(TOP (S (S (NP (PRP He)) (VP (VBD left)) (. .)) (S (NP (PRP She)) (VP (VBD stayed)) (. .))))"
    assert [
        edit.detail for edit in edits_of(record("a", one, two, {0: 0, 1: 1, 3: 3, 4: 4, 5: 5})).of_kind("split")
    ] == ["1 to 2 sentences"]
    assert edits_of(record("b", two, one, {0: 0, 1: 1, 3: 3, 4: 4, 5: 5})).of_kind("merged")


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 3)), max_size=7))
def test_what_stays_is_the_heaviest_common_order(units: list[tuple[int, int]]) -> None:
    targets, weights = [Span(begin, begin + 1) for begin, _ in units], [weight for _, weight in units]
    best = max(
        sum(weights[k] for k in chosen)
        for size in range(len(units) + 1)
        for chosen in combinations(range(len(units)), size)
        if [targets[k] for k in chosen] == sorted(targets[k] for k in chosen)
    )
    staying = sorted(heaviest_common_order(targets, weights))
    assert [targets[k] for k in staying] == sorted(targets[k] for k in staying)
    assert sum(weights[k] for k in staying) == best


def test_every_word_is_in_one_edit_of_its_kind() -> None:
    for drop in ({4}, {1, 2}, {5, 6, 7, 8}, set(range(10))):
        pair = cat(*drop)
        edits = [edit for kind in ("kept", "replaced", "removed", "added") for edit in edits_of(pair).of_kind(kind)]
        assert sorted(word for edit in edits if edit.source for word in range(*edit.source)) == list(range(10))
        assert sorted(word for edit in edits if edit.target for word in range(*edit.target)) == list(range(11))


# ---- command and page ----


def test_the_command_prints_one_line_for_each_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(to_json(CAT) + "\n" + to_json(VOICE) + "\n")
    assert main(["edits", str(path), "--json"]) == 0
    captured = capsys.readouterr()
    lines = [json.loads(line) for line in captured.out.splitlines()]
    assert [line["id"] for line in lines] == ["cat", "voice"]
    assert lines[1]["edits"][0]["kind"] == "replaced"
    assert captured.err.startswith("2 pairs, ")


def test_people_read_what_was_replaced_removed_and_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(to_json(CAT) + "\n" + to_json(record("same", SEEN, SEEN, {0: 0, 1: 1, 2: 2, 3: 3})) + "\n")
    assert main(["edits", str(path), "-q"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["cat", "  replaced: fat → plump"]
    assert lines[-4:] == ["", "same", "  nothing changed", ""]


def test_the_page_counts_and_shows_the_most_frequent_replacements(tmp_path: Path) -> None:
    path, page = tmp_path / "results.jsonl", tmp_path / "edits.html"
    path.write_text("".join(to_json(replace(CAT, id=str(number))) + "\n" for number in range(3)))
    assert main(["edits", str(path), "-o", str(tmp_path / "edits.jsonl"), "--report", str(page), "-q"]) == 0
    html = page.read_text()
    assert html.count("<svg") == 3
    assert '<td>fat</td><td>plump</td><td></td><td class="number">3</td><td>0 1 2</td>' in html
    assert "http" not in html


def test_nothing_in_a_text_becomes_markup() -> None:
    report = EditReport("<script>")
    report.add(edits_of(hostile_record()))
    assert "<script>" not in report.html()


def test_an_empty_corpus_has_a_page() -> None:
    assert "0 pairs, 0 edits" in EditReport().html()


def test_a_pair_takes_at_most_14000_calls(tmp_path: Path) -> None:
    counts = []
    for size in (1, 1, 51):  # the first one loads modules and tables
        path = tmp_path / f"{size}.jsonl"
        path.write_text((to_json(CAT) + "\n") * size)
        command = ["edits", str(path), "--json", "-o", str(tmp_path / "out.jsonl"), "--force", "-q"]
        counts.append(count_calls(partial(main, command)))
    assert counts[2] - counts[1] < 50 * 14_000


# ---- what phrase pairs do not say ----


def without_phrases(pair: Alignment, *sources: tuple[int, int]) -> Alignment:
    """The record without the phrase pairs of these source spans and all that is built on them; links stay."""
    kept = tuple(
        replace(each, supports=())
        for each in pair.phrases.pairs
        if not any(each.source[0] <= begin and end <= each.source[1] for begin, end in sources)
    )
    return with_phrases(pair, pairs=kept)


def test_linked_words_in_no_phrase_pair_are_replaced_or_kept() -> None:
    pair = without_phrases(record("not", NOT_SEEN, SEEN, {0: 0, 3: 1, 4: 2, 5: 3}), (3, 4))
    replaced = [
        (edit.source_text, edit.target_text, edit.relation) for edit in edits_of(pair).of_kind(EditKind.REPLACED)
    ]
    assert replaced == [("see", "saw", "equal")]
    assert told(pair, "added") == []
    same = without_phrases(record("same", SEEN, SEEN, {0: 0, 1: 1, 2: 2, 3: 3}), (1, 2))
    assert told(same, "kept") == [("He saw her .", "He saw her .")]


@pytest.mark.parametrize(
    ("negated", "verb", "count"),
    [("like", "disliked", 0), ("remember", "forgot", 0), ("like", "liked", 1), ("like", "painted", 0)],
)
def test_an_opposite_makes_up_for_a_negation(negated: str, verb: str, count: int) -> None:
    pair = record("not", NOT_SEEN.replace("see", negated), SEEN.replace("saw", verb), {0: 0, 4: 2, 5: 3})
    assert len(told(pair, "negation changed")) == count
    turned = record("not", SEEN.replace("saw", verb), NOT_SEEN.replace("see", negated), {0: 0, 2: 4, 3: 5})
    assert len(told(turned, "negation changed")) == count


def test_a_sign_has_its_place_and_does_not_move() -> None:
    before = "(TOP (S (NP (PRP It)) (VP (VBZ costs) (NP ($ $) (CD 10))) (. .)))"
    behind = "(TOP (S (NP (PRP It)) (VP (VBZ costs) (NP (CD 10) (NNS dollars))) (. .)))"
    assert told(record("money", before, behind, {0: 0, 1: 1, 2: 3, 3: 2, 4: 4}), "moved") == []


ONCE = "(TOP (S (NP (PRP He)) (VP (VBD called) (ADVP (RB once))) (. .)))"


@pytest.mark.parametrize("other", ["twice", "thrice"])
def test_values_that_are_no_numbers_to_the_tagger_are_read(other: str) -> None:
    pair = record("once", ONCE, ONCE.replace("once", other), {0: 0, 1: 1, 2: 2, 3: 3})
    assert [edit.detail for edit in edits_of(pair).of_kind("number changed")] == ["value"]


def test_a_noun_inside_a_replaced_phrase_may_change_its_number() -> None:
    one = "(TOP (S (NP (PRP I)) (VP (VBP have) (NP (DT a) (NN dog))) (. .)))"
    two = "(TOP (S (NP (PRP I)) (VP (VBP have) (NP (CD two) (NNS dogs))) (. .)))"
    base = record("dogs", one, two, {0: 0, 1: 1, 2: 2, 3: 3, 4: 4})
    inner = tuple(each for each in base.phrases.pairs if each.source == (2, 4))
    pair = with_phrases(base, pairs=tuple(replace(each, supports=()) for each in inner))
    assert [(edit.source_text, edit.detail) for edit in edits_of(pair).of_kind("number changed")] == [
        ("a dog", "grammatical")
    ]
