"""Alignments as text for a terminal, as drawn fragments, and as scenes, from records written by hand."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from view_samples import (
    BOUGHT_LINKS,
    BOUGHT_SOURCE,
    BOUGHT_TARGET,
    CAT_LINKS,
    CAT_SOURCE,
    CAT_TARGET,
    bucket_record,
    record,
    turned_record,
    with_extras,
)

from forestalign.formats.forest_nodes import ForestNode, ForestNodes
from forestalign.formats.phrase_records import (
    NullSpans,
    PhrasePairEntry,
    PhraseRecord,
    SideRecord,
    WordEntry,
    from_json,
    to_json,
)
from forestalign.tokens import Span
from forestalign.trees import parse_brackets
from forestalign.view import result_html, scene_of
from forestalign.view.characters import visible
from forestalign.view.scene import SceneNode, bar_nodes, drawn_nodes
from forestalign.view.static import hue_of
from forestalign.view.text import DIM, PLAIN, RED, YELLOW, render_text

SVG = "{http://www.w3.org/2000/svg}"
TREE = "(TOP (S (NP (NNS Dogs)) (VP (VBP bark) (ADVP (RB loudly)))))"
OTHER = "(TOP (S (NP (NNS Hounds)) (VP (VBP bark))))"


def entry(source: tuple[int, int], target: tuple[int, int], label: str, *supports: int) -> PhrasePairEntry:
    return PhrasePairEntry(Span(*source), Span(*target), label, label, True, -0.5, supports, False, False)


def dogs() -> PhraseRecord:
    """`Dogs bark loudly` and `Hounds bark`, the adverb a null phrase."""
    return PhraseRecord(
        "dogs",
        SideRecord("Dogs bark loudly", ("Dogs", "bark", "loudly"), TREE),
        SideRecord("Hounds bark", ("Hounds", "bark"), OTHER),
        (WordEntry(0, 0, 0.9), WordEntry(1, 1, 1.0)),
        (entry((0, 1), (0, 1), "NP"), entry((1, 3), (1, 2), "VP"), entry((0, 3), (0, 2), "S", 0, 1)),
        NullSpans((Span(2, 3),), ()),
        True,
        False,
        -2.345,
        "hand",
    )


def with_first(**changes: object) -> PhraseRecord:
    """The record with its first phrase pair changed."""
    base = dogs()
    return replace(base, phrases=(replace(base.phrases[0], **changes), *base.phrases[1:]))


def first_line(text: str) -> str:
    return next(line for line in text.splitlines() if "Dogs = Hounds" in line)


# ---- text ----


def test_the_text_shows_sentences_phrases_as_a_tree_and_nulls() -> None:
    assert render_text(dogs()).splitlines() == [
        "dogs  root aligned, log score -2.35",
        "  source: Dogs bark loudly",
        "  target: Hounds bark",
        "  S Dogs bark loudly = Hounds bark",
        "    NP Dogs = Hounds",
        "    VP bark loudly = bark",
        "  null in source: loudly",
    ]


@pytest.mark.parametrize(
    ("reached", "completed", "words"),
    [(True, False, "root aligned"), (True, True, "root completed"), (False, False, "no phrase aligned")],
)
def test_the_first_line_says_how_far_the_alignment_came(reached: bool, completed: bool, words: str) -> None:
    text = render_text(replace(dogs(), reached_root=reached, completed=completed))
    assert text.splitlines()[0] == f"dogs  {words}, log score -2.35"


def test_a_record_without_a_name_is_called_a_pair() -> None:
    assert render_text(replace(dogs(), id="")).startswith("pair  ")


def test_two_labels_are_shown_where_they_differ() -> None:
    assert "NP~NML Dogs = Hounds" in render_text(with_first(target_label="NML"))


@pytest.mark.parametrize("relation", ["", "equal", "similar"])
def test_common_relations_go_without_saying(relation: str) -> None:
    assert "[" not in first_line(render_text(with_first(relation=relation)))


@pytest.mark.parametrize("relation", ["more general", "more specific", "opposite", "different value"])
def test_any_other_relation_is_named(relation: str) -> None:
    assert first_line(render_text(with_first(relation=relation))).endswith(f"  [{relation}]")


@pytest.mark.parametrize(("relation", "colour"), [("opposite", RED), ("different value", RED), ("more general", DIM)])
def test_only_contradictions_are_red(relation: str, colour: str) -> None:
    line = first_line(render_text(with_first(relation=relation), colour=True).replace("\033[36m", ""))
    assert f"{colour}  [{relation}]{PLAIN}" in line


def test_a_step_that_is_not_compositional_is_marked() -> None:
    assert first_line(render_text(with_first(compositional=False))).endswith("  [non-compositional]")
    assert f"{YELLOW}  [non-compositional]{PLAIN}" in render_text(with_first(compositional=False), colour=True)


def test_an_inverted_pair_is_marked() -> None:
    assert first_line(render_text(with_first(inverted=True))).endswith("  [inverted]")


def test_evidence_other_than_links_is_named() -> None:
    assert first_line(render_text(with_first(evidence=("links",)))).endswith("Dogs = Hounds")
    assert first_line(render_text(with_first(evidence=("links", "lexicon", "names")))).endswith("  [by lexicon, names]")


def test_without_colours_there_is_no_escape() -> None:
    assert "\033" not in render_text(with_first(relation="opposite", compositional=False, inverted=True))


def test_taking_the_colours_away_leaves_the_plain_text() -> None:
    sample = with_first(relation="opposite", compositional=False, inverted=True, evidence=("lexicon",))
    assert re.sub(r"\033\[[0-9;]*m", "", render_text(sample, colour=True)) == render_text(sample)


def test_lines_are_cut_at_the_width() -> None:
    lines = render_text(dogs(), width=12).splitlines()
    assert lines[1] == "  source: Do"
    assert max(map(len, lines)) == 12


def bars() -> PhraseRecord:
    """The cats with a bar phrase that stands above two words and below their noun phrase."""
    base = with_extras(record("cat", CAT_SOURCE, CAT_TARGET, CAT_LINKS), record("c", CAT_SOURCE, CAT_TARGET, CAT_LINKS))
    place = next(k for k, each in enumerate(base.phrases) if each.bar)
    whole = next(k for k, each in enumerate(base.phrases) if each.source == (0, 3))
    phrases = list(base.phrases)
    phrases[whole] = replace(phrases[whole], supports=(0, place), compositional=True)
    return replace(base, phrases=tuple(phrases))


def test_bar_phrases_are_shown_on_demand_only() -> None:
    line = "fat cat = plump cat"
    assert not re.search(rf"NP {line}$", render_text(bars()), re.M)
    assert re.search(rf"NP {line}$", render_text(bars(), bars=True), re.M)


def test_a_bar_phrase_that_evidence_found_is_shown() -> None:
    base = bars()
    found = tuple(replace(each, evidence=("links", "lexicon")) if each.bar else each for each in base.phrases)
    assert re.search(r"NP fat cat = plump cat  \[by lexicon\]$", render_text(replace(base, phrases=found)), re.M)


def test_what_a_hidden_bar_phrase_supports_stands_at_its_place() -> None:
    def depth(text: str, words: str) -> int:
        line = next(line for line in text.splitlines() if words in line)
        return len(line) - len(line.lstrip())

    hidden, shown = render_text(bars()), render_text(bars(), bars=True)
    assert depth(hidden, "JJ fat = plump") == depth(hidden, "DT The = the")
    assert depth(shown, "JJ fat = plump") == depth(shown, "DT The = the") + 2


def test_a_hidden_bar_phrase_passes_its_mark_to_the_phrase_above() -> None:
    base = bars()
    marked = tuple(replace(each, compositional=False) if each.bar else each for each in base.phrases)
    line = "The fat cat = the plump cat"
    hidden = next(x for x in render_text(replace(base, phrases=marked)).splitlines() if line in x)
    shown = next(x for x in render_text(replace(base, phrases=marked), bars=True).splitlines() if line in x)
    assert hidden.endswith("[non-compositional]")
    assert not shown.endswith("[non-compositional]")


def test_nulls_of_both_sides_are_listed_apart() -> None:
    sample = replace(dogs(), nulls=NullSpans((Span(0, 1), Span(2, 3)), (Span(0, 1),)))
    assert render_text(sample).splitlines()[-2:] == ["  null in source: Dogs | loudly", "  null in target: Hounds"]


# ---- characters ----


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain é 漢 🐈", "plain é 漢 🐈"),
        ("\x1b[31m", "[U+001B][31m"),
        ("a\tb\nc", "a[U+0009]b[U+000A]c"),
        ("\x7f\x9f", "[U+007F][U+009F]"),
        ("\u061c\u200e\u200f", "[U+061C][U+200E][U+200F]"),
        ("\u202a\u202e\u2066\u2069", "[U+202A][U+202E][U+2066][U+2069]"),
        ("\u200d\u2065\u206a", "\u200d\u2065\u206a"),
    ],
)
def test_steering_characters_become_their_numbers(text: str, expected: str) -> None:
    assert visible(text) == expected


@given(st.text())
def test_making_visible_twice_is_making_visible_once(text: str) -> None:
    assert visible(visible(text)) == visible(text)


def test_a_terminal_never_gets_a_steering_character() -> None:
    side = SideRecord("Dogs\x1b[2J bark loudly", ("Dogs\x1b[2J", "bark", "loudly"), TREE)
    text = render_text(replace(dogs(), id="\x07", source=side))
    assert "\x1b" not in text
    assert "\x07" not in text


# ---- scenes ----


def test_spaces_are_where_the_text_has_them() -> None:
    tree = "(TOP (S (NP (PRP I)) (VP (MD ca) (RB n't)) (. !)))"
    side = SideRecord("I can't!", ("I", "ca", "n't", "!"), tree)
    side = replace(side, text="I ca" + "n't!")
    assert scene_of(replace(dogs(), source=side, phrases=(), words=())).source.spaces == (False, True, False, False)


def test_phrases_of_other_parses_are_the_ten_likeliest_wide_ones_in_order() -> None:
    likely = [ForestNode(0, 3, f"X{number:02}", 0.5 - number / 100) for number in range(12)]
    poor, narrow = ForestNode(1, 3, "POOR", 0.01), ForestNode(1, 2, "NARROW", 0.9)
    early = ForestNode(0, 2, "EARLY", 0.6)
    forests = ForestNodes((*likely, poor, narrow, early), ())
    scene = scene_of(replace(dogs(), forests=forests))
    assert [node.label for node in scene.source_other] == [*(f"X{number:02}" for number in range(9)), "EARLY"]
    assert scene.target_other == ()


def test_bar_nodes_are_those_of_the_binarised_tree() -> None:
    tree = parse_brackets("(S (NP (DT the) (JJ old) (NN man)) (VP (VBD slept)))")
    assert {(bar.begin, bar.end, bar.label) for bar in bar_nodes(tree)} == {(1, 3, "NP")}
    assert bar_nodes(parse_brackets("(S (NP (NN x)) (VP (VB y)))")) == ()


def test_a_node_belongs_to_the_first_pair_that_names_it() -> None:
    tree = parse_brackets("(S (NP (NN x)) (VP (VB y)))")
    nodes = drawn_nodes(tree, [(Span(0, 2), "S"), (Span(0, 2), "S")], [])
    assert [node.phrase for node in nodes if node.label == "S"] == [0]


def test_an_aligned_phrase_over_null_words_is_no_null() -> None:
    tree = parse_brackets("(S (NP (NN x)) (VP (VB y)))")
    nodes = {(node.label): node for node in drawn_nodes(tree, [(Span(0, 1), "NP")], [Span(0, 1)])}
    assert not nodes["NP"].in_null
    assert nodes["NN"].is_null


def source_nodes(sample: PhraseRecord) -> dict[str, SceneNode]:
    return {f"{node.label} {node.begin}-{node.end}": node for node in scene_of(sample).choices[0].source}


def test_scattered_words_and_what_consists_of_them_know_each_other() -> None:
    joined = {name for name, node in source_nodes(turned_record()).items() if node.joined == 0}
    assert joined == {"VBD 1-2", "RP 4-5", "PRT 4-5"}
    assert {node.whole for node in source_nodes(turned_record()).values()} == {-1}


def test_an_extended_phrase_knows_the_pair_inside() -> None:
    sample = record("car", BOUGHT_SOURCE, BOUGHT_TARGET, BOUGHT_LINKS)
    (phrase,) = [node for node in scene_of(sample).choices[0].target if node.inner >= 0]
    assert (phrase.label, phrase.phrase) == ("PP", -1)
    assert sample.phrases[phrase.inner].target == (5, 6)


def test_parts_of_a_pair_that_is_aligned_as_a_whole_know_it() -> None:
    nodes = source_nodes(bucket_record())
    parts = {name for name, node in nodes.items() if node.whole == 1}
    assert parts == {"VBD 1-2", "NP 2-4", "DT 2-3", "NN 3-4"}
    assert nodes["S 0-4"].whole == -1


# ---- drawings ----


def drawing(sample: PhraseRecord) -> ElementTree.Element:
    return ElementTree.fromstring(result_html(sample))


def test_every_word_link_is_one_curve() -> None:
    assert len([path for path in drawing(dogs()).iter(f"{SVG}path") if path.get("class") == "w"]) == 2


def test_a_link_has_the_colour_of_the_pair_of_its_two_words_and_is_grey_without_one() -> None:
    root = drawing(dogs())
    strokes = [path.get("stroke") for path in root.iter(f"{SVG}path") if path.get("class") == "w"]
    boxes = {box.findtext(f"{SVG}title"): box.get("stroke") for box in root.iter(f"{SVG}rect") if box.get("stroke")}
    assert strokes == [boxes["Dogs - Hounds"], "#9aa3b0"]


def test_partners_have_one_colour() -> None:
    colours: dict[str, set[str]] = {}
    for box in drawing(dogs()).iter(f"{SVG}rect"):
        if box.find(f"{SVG}title") is not None:
            title = str(box.findtext(f"{SVG}title")).removeprefix("part of ")
            colours.setdefault(title, set()).add(str(box.get("fill")))
    assert set(colours) == {"Dogs - Hounds", "bark loudly - bark", "Dogs bark loudly - Hounds bark"}
    assert [len(found) for found in colours.values()] == [1, 1, 1]


def test_the_hue_comes_from_the_place_in_the_source() -> None:
    scene = scene_of(dogs())
    # 18 + 290 * middle / length + 14 * (length of the phrase mod 3)
    assert hue_of(dogs().phrases[0], scene) == pytest.approx(18 + 290 * 0.5 / 3 + 14)
    assert hue_of(dogs().phrases[2], scene) == pytest.approx(18 + 290 * 1.5 / 3)


@pytest.mark.parametrize(("relation", "marks"), [("opposite", 2), ("different value", 2), ("equal", 0), ("", 0)])
def test_contradictions_have_a_mark_on_both_sides(relation: str, marks: int) -> None:
    root = drawing(with_first(relation=relation))
    assert len(list(root.iter(f"{SVG}circle"))) == marks
    assert [text.text for text in root.iter(f"{SVG}text")].count("\u2260") == marks


def test_the_relation_stands_in_the_title() -> None:
    titles = {title.text for title in drawing(with_first(relation="similar")).iter(f"{SVG}title")}
    assert "Dogs - Hounds (similar)" in titles


def test_a_step_that_is_not_compositional_has_a_thick_border() -> None:
    def widths(sample: PhraseRecord) -> set[str | None]:
        boxes = drawing(sample).iter(f"{SVG}rect")
        return {box.get("stroke-width") for box in boxes if box.findtext(f"{SVG}title") == "Dogs - Hounds"}

    assert widths(dogs()) == {"1.3"}
    assert widths(with_first(compositional=False)) == {"3"}


def test_null_phrases_have_a_dashed_box_and_the_sign_of_the_empty_set() -> None:
    root = drawing(dogs())
    assert len([box for box in root.iter(f"{SVG}rect") if box.get("class") == "z"]) == 1
    assert "\u2205 ADVP" in [text.text for text in root.iter(f"{SVG}text")]


def boxes_of(sample: PhraseRecord, title: str) -> list[ElementTree.Element]:
    return [box for box in drawing(sample).iter(f"{SVG}rect") if box.findtext(f"{SVG}title") == title]


def test_scattered_words_have_one_colour_and_dashed_links() -> None:
    boxes = boxes_of(turned_record(), "turned \u2026 down - refused (equal)")
    assert len(boxes) == 4  # turned, down, the particle over it, refused
    (colour,) = {box.get("stroke") for box in boxes}
    dashed = [path.get("stroke") for path in drawing(turned_record()).iter(f"{SVG}path") if path.get("class") == "s"]
    assert dashed == [colour, colour]


def test_scattered_words_that_contradict_each_other_are_marked() -> None:
    assert list(drawing(turned_record()).iter(f"{SVG}circle")) == []
    assert len(list(drawing(turned_record("opposite")).iter(f"{SVG}circle"))) == 4


def test_an_extended_phrase_has_a_dashed_border_in_the_colour_of_its_pair() -> None:
    sample = record("car", BOUGHT_SOURCE, BOUGHT_TARGET, BOUGHT_LINKS)
    (box,) = boxes_of(sample, "adds small words to He - him")
    assert (box.get("fill"), box.get("stroke-dasharray")) == ("none", "4 3")
    assert box.get("stroke") == boxes_of(sample, "He - him")[0].get("stroke")


def test_parts_of_a_pair_have_its_colour_and_no_border() -> None:
    whole, parts = (boxes_of(bucket_record(), f"{lead}kicked the bucket - died") for lead in ("", "part of "))
    assert {box.get("fill") for box in parts} == {box.get("fill") for box in whole}
    assert {box.get("stroke") for box in parts} == {None}


def test_bar_phrases_are_dashed_and_have_a_prime() -> None:
    root = drawing(bars())
    assert "NP\u2032" in [text.text for text in root.iter(f"{SVG}text")]
    dashed = {box.findtext(f"{SVG}title") for box in root.iter(f"{SVG}rect") if box.get("stroke-dasharray")}
    assert dashed == {"fat cat - plump cat"}


def test_the_picture_is_named_by_its_sentences() -> None:
    svg = next(drawing(dogs()).iter(f"{SVG}svg"))
    assert svg.get("aria-label") == "Dogs bark loudly / Hounds bark"
    assert svg.get("role") == "img"


def test_everything_is_drawn_inside_the_picture() -> None:
    svg = next(drawing(bars()).iter(f"{SVG}svg"))
    width, height = float(str(svg.get("width"))), float(str(svg.get("height")))
    for box in svg.iter(f"{SVG}rect"):
        x, y = float(box.attrib["x"]), float(box.attrib["y"])
        assert x >= 0
        assert y >= 0
        assert x + float(box.attrib["width"]) <= width
        assert y + float(box.attrib["height"]) <= height


def test_a_link_that_no_pair_carries_is_said_and_its_words_are_no_nulls() -> None:
    text = json.dumps(
        {
            "version": 1,
            "id": "7",
            "source": {"text": "his injury", "tokens": ["his", "injury"], "tree": "(NP (PRP$ his) (NN injury))"},
            "target": {"text": "injured his", "tokens": ["injured", "his"], "tree": "(X (VBN injured) (PRP$ his))"},
            "words": [[0, 1, 1.0], [1, 0, 0.6]],
            "phrases": [phrase_fields([0, 1], [1, 2])],
            "nulls": {"source": [[1, 2]], "target": [[0, 1]]},
            "reached_root": False,
            "completed": False,
            "log_score": -1.0,
            "signature": "",
        }
    )
    record = from_json(text)
    assert [(word.source, word.target) for word in record.left_out] == [(1, 0)]
    assert json.loads(to_json(record))["left_out"] == [[1, 0]]
    lines = render_text(record).splitlines()
    assert lines[-1] == "  linked, but in no pair: injury–injured"
    assert not any("null in" in line for line in lines)


def phrase_fields(source: list[int], target: list[int]) -> dict[str, object]:
    return {
        "source": source,
        "target": target,
        "source_label": "PRP$",
        "target_label": "PRP$",
        "compositional": True,
        "score": -0.1,
        "supports": [],
        "bar": False,
        "inverted": False,
    }
