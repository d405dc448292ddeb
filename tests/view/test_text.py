"""Alignments as text for a terminal, as drawn fragments, and as scenes, from records written by hand."""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

import forestalign
from forestalign import Alignment, PhrasePair
from forestalign.formats.codec import from_json, to_json
from forestalign.phrases.result.alignment import DiscontinuousPair, ForestNode, ForestNodes, Verdict
from forestalign.terminal import DIM, PLAIN, RED, visible, wants_colour
from forestalign.tokens import Span
from forestalign.trees import parse_brackets
from forestalign.view import result_html, scene_of
from forestalign.view.differences import find_differences
from forestalign.view.scene import SceneNode, bar_nodes, drawn_nodes
from forestalign.view.static import hue_of
from forestalign.view.text import render_short, render_text
from tests.builders.commands import Terminal
from tests.builders.sample_results import links, pair, result, side, with_phrases, with_sides
from tests.builders.view_samples import (
    bought,
    bucket_record,
    cat,
    record,
    turned_record,
    with_extras,
)

SVG = "{http://www.w3.org/2000/svg}"
TREE = "(TOP (S (NP (NNS Dogs)) (VP (VBP bark) (ADVP (RB loudly)))))"
OTHER = "(TOP (S (NP (NNS Hounds)) (VP (VBP bark))))"


def entry(source: tuple[int, int], target: tuple[int, int], label: str, *supports: int) -> PhrasePair:
    return pair(source, target, label, supports)


def dogs() -> Alignment:
    """`Dogs bark loudly` and `Hounds bark`, the adverb a null phrase."""
    return result(
        "dogs",
        side(TREE),
        side(OTHER),
        links((0, 0, 0.9), (1, 1, 1.0)),
        "hand",
        pairs=(entry((0, 1), (0, 1), "NP"), entry((1, 3), (1, 2), "VP"), entry((0, 3), (0, 2), "S", 0, 1)),
        source_nulls=(Span(2, 3),),
        log_score=-2.345,
    )


def with_first(**changes: object) -> Alignment:
    """The result with its first phrase pair changed."""
    base = dogs()
    return with_phrases(base, pairs=(replace(base.phrases.pairs[0], **changes), *base.phrases.pairs[1:]))


def first_line(text: str) -> str:
    return next(line for line in text.splitlines() if "Dogs = Hounds" in line)


# ---- text ----


def test_a_reason_is_told_of_the_smallest_pair_that_has_it() -> None:
    base, reason = dogs(), "opposite: loudly/bark"
    told = {"relation": "opposite", "reason": reason}
    pairs = [replace(each, **(told if each.source.end == 3 else {})) for each in base.phrases.pairs]
    lines = render_text(with_phrases(base, pairs=tuple(pairs))).splitlines()
    assert lines[3:5] == ["       Dogs = Hounds", f"       bark loudly = bark  ({reason})"]
    lines = render_text(with_phrases(base, pairs=tuple(pairs)), verbose=True).splitlines()
    assert lines[3].endswith("Hounds bark  (opposite)")


CATS = """\
cat  same meaning .90
  source: The fat cat sat quietly on the old mat .
  target: On the old rug , the plump cat sat silently .
  .90  The fat cat = the plump cat
  .90    The = the
  .90    fat = plump
  .90    cat = cat
  .90  sat = sat
  .90  quietly = silently
  .90  on the old mat = On the old rug  (more general)
  .90    on = On
  .90    the old mat = the old rug
  .90      the = the
  .90      old = old
  .65      mat = rug  (opposite)
  replaced: fat → plump | quietly → silently | mat → rug (opposite)"""

CATS_SHORT = """\
cat
  [1 The] [2 fat] [3 cat sat] [4 quietly] [5 on the old] [6 mat] .
  [5 On the old] [6 rug] , [1 the] [2 plump] [3 cat sat] [4 silently] ."""

TURNED = """\
turned  same meaning .90
  source: She turned the offer down
  target: She refused the offer
       She = She
       turned … down = refused
       the offer = the offer
  replaced: turned … down → refused"""

TURNED_VERBOSE = """\
turned  same meaning .90
  source: She turned the offer down
  target: She refused the offer
       S She turned the offer down = She refused the offer
         PRP She = She
         turned … down = refused  [by lexicon]
         NP the offer = the offer
           DT the = the
           NN offer = offer
  replaced: turned … down → refused
  root aligned, log score -4.50"""


def cats() -> Alignment:
    """Ten words on either side, with confidence and relations of several kinds."""
    base = cat()
    said = {"mat": (0.65, "opposite"), "on the old mat": (0.9, "more general")}
    pairs = tuple(
        replace(
            each, confidence=said.get(each.source.text, (0.9,))[0], relation=said.get(each.source.text, ("", ""))[-1]
        )
        for each in base.phrases.pairs
    )
    return with_phrases(base, pairs=(*pairs[:-1], replace(pairs[-1], confidence=0.952, relation="similar")))


def test_a_pair_of_sentences_looks_like_this() -> None:
    assert render_text(cats()) == CATS


def test_the_short_form_looks_like_this() -> None:
    assert render_short(cats()) == CATS_SHORT


def test_words_that_are_no_phrase_stand_among_the_pairs() -> None:
    assert render_text(turned_record()) == TURNED
    assert render_short(turned_record()).splitlines()[1:] == [
        "  [1 She] [2 turned] [3 the offer] [2 down]",
        "  [1 She] [2 refused] [3 the offer]",
    ]


def test_evidence_is_named_where_it_belongs() -> None:
    base = turned_record()
    pairs = tuple(
        replace(each, evidence=("links", "lexicon")) if each.source == (0, 5) else each for each in base.phrases.pairs
    )
    assert render_text(with_phrases(base, pairs=pairs), verbose=True) == TURNED_VERBOSE


@pytest.mark.parametrize(
    ("judged", "words"),
    [
        (Verdict("same meaning", 0.974, 4.8), "dogs  same meaning .97"),
        (Verdict("changed", 0.04, 3.1), "dogs  changed .04: left out: loudly"),
        (Verdict("related", 0.2, 1.5), "dogs  related .20"),
        (Verdict("unrelated", 0.0, 0.1), "dogs  unrelated"),
    ],
)
def test_the_first_line_is_the_verdict(judged: Verdict, words: str) -> None:
    assert render_text(replace(dogs(), judged=judged)).splitlines()[0] == words


def test_a_change_is_told_with_its_reasons() -> None:
    text = "(TOP (S (NP (NP (NNP Ann)) (VP (VBD sold) (NP (CD {}) (NNS cars))))))"
    changed = record("cars", text.format("nine"), text.format("ten"), {k: k for k in range(4)})
    head = render_text(replace(changed, judged=Verdict("changed", 0.04, 3.0))).splitlines()[0]
    assert head == "cars  changed .04: nine became ten"


@pytest.mark.parametrize(
    "relation", ["", "equal", "similar", "more general", "opposite", "different value", "any other"]
)
def test_any_relation_but_equality_is_named(relation: str) -> None:
    named = "" if relation in ("", "equal", "similar") else f"  ({relation})"
    assert first_line(render_text(with_first(relation=relation))).endswith(f"Dogs = Hounds{named}")


@pytest.mark.parametrize(("relation", "colour"), [("opposite", RED), ("different value", RED), ("more general", DIM)])
def test_only_contradictions_are_red(relation: str, colour: str) -> None:
    line = first_line(render_text(with_first(relation=relation), colour=True))
    assert f"{colour}  ({relation}){PLAIN}" in line


def test_an_unlikely_pair_is_printed_on_demand_and_its_words_go_to_the_pair_above() -> None:
    base = cats()
    pairs = base.phrases.pairs
    unlikely = [replace(each, confidence=0.5) if each.source.text in ("mat", "quietly") else each for each in pairs]
    text = render_text(with_phrases(base, pairs=tuple(unlikely)))
    assert "mat = rug" not in text
    assert text.splitlines()[-3:] == [
        "  replaced: fat → plump | mat → rug (opposite)",
        "  removed: quietly",
        "  added: silently",
    ]
    assert "quietly = silently" in render_text(with_phrases(base, pairs=tuple(unlikely)), min_confidence=0.5)


@pytest.mark.parametrize("verbose", [False, True])
def test_taking_the_colours_away_leaves_the_plain_text(verbose: bool) -> None:
    sample = with_first(relation="opposite", compositional=False, inverted=True, evidence=("lexicon",))
    plain = render_text(sample, verbose=verbose)
    assert "\033" not in plain
    assert re.sub(r"\033\[[0-9;]*m", "", render_text(sample, colour=True, verbose=verbose)) == plain
    assert re.sub(r"\033\[[0-9;]*m", "", render_short(sample, colour=True)) == render_short(sample)


def test_words_that_are_linked_and_in_no_pair_replace_each_other() -> None:
    sample = replace(dogs(), words=links((0, 0, 0.9), (2, 1, 0.4)))
    sample = with_phrases(
        sample, pairs=(entry((0, 1), (0, 1), "NP"),), target_nulls=(Span(1, 2),), source_nulls=(Span(1, 3),)
    )
    assert render_text(sample).splitlines()[-2:] == ["  replaced: Dogs → Hounds | loudly → bark", "  removed: bark"]
    assert "  words linked outside the pairs: loudly–bark" in render_text(sample, verbose=True)
    assert render_short(sample).splitlines()[1:] == ["  [1 Dogs] bark [2 loudly]", "  [1 Hounds] [2 bark]"]


def test_what_a_pair_has_beyond_its_parts_is_told() -> None:
    """*Knocked out* and *lost* are in a pair of phrases and have no pair of their own."""
    pairs = (entry((0, 1), (0, 1), "NP"), entry((0, 3), (0, 2), "S", 0))
    sample = with_phrases(replace(dogs(), words=links()), pairs=pairs, source_nulls=())
    assert render_text(sample).splitlines()[-1] == "  replaced: Dogs → Hounds | bark loudly → bark"


def bars() -> Alignment:
    """The cats with a bar phrase that stands above two words and below their noun phrase."""
    base = with_extras(cat(), cat(identity="c"))
    place = next(k for k, each in enumerate(base.phrases.pairs) if each.is_bar)
    whole = next(k for k, each in enumerate(base.phrases.pairs) if each.source == (0, 3))
    phrases = list(base.phrases.pairs)
    phrases[whole] = replace(phrases[whole], supports=(0, place), compositional=True)
    return with_phrases(base, pairs=tuple(phrases))


def test_what_a_hidden_bar_phrase_supports_stands_at_its_place() -> None:
    def depth(text: str, words: str) -> int:
        line = next(line for line in text.splitlines() if line.strip() == words)
        return len(line) - len(line.lstrip())

    hidden, shown = render_text(bars()), render_text(bars(), bars=True)
    assert "   fat cat = plump cat" not in hidden
    assert "   fat cat = plump cat" in shown
    assert depth(hidden, "fat = plump") == depth(hidden, "The = the")
    assert depth(shown, "fat = plump") == depth(shown, "The = the") + 2


def test_a_hidden_bar_phrase_passes_its_mark_to_the_phrase_above() -> None:
    base = bars()
    marked = tuple(replace(each, compositional=False) if each.is_bar else each for each in base.phrases.pairs)
    line = "The fat cat = the plump cat"
    text = render_text(with_phrases(base, pairs=marked), verbose=True)
    hidden = next(x for x in text.splitlines() if line in x)
    text = render_text(with_phrases(base, pairs=marked), bars=True, verbose=True)
    shown = next(x for x in text.splitlines() if line in x)
    assert hidden.endswith("[non-compositional]")
    assert not shown.endswith("[non-compositional]")


def test_colours_are_for_terminals_whose_users_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(Terminal())
    assert not wants_colour(io.StringIO())
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour(Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())


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


def test_a_terminal_never_gets_a_steering_character() -> None:
    steered = with_sides(dogs(), side(TREE.replace("Dogs", "Dogs\x1b[2J")))
    text = render_text(replace(steered, id="\x07"))
    assert "\x1b" not in text
    assert "\x07" not in text


# ---- scenes ----


def test_spaces_are_where_the_text_has_them() -> None:
    tree = "(TOP (S (NP (PRP I)) (VP (MD ca) (RB n't)) (. !)))"
    assert scene_of(result("1", side(tree, "I can't!"), side(OTHER))).source.spaces == (False, True, False, False)


def test_phrases_of_other_parses_are_the_ten_likeliest_wide_ones_in_order() -> None:
    likely = [ForestNode(0, 3, f"X{number:02}", 0.5 - number / 100) for number in range(12)]
    poor, narrow = ForestNode(1, 3, "POOR", 0.01), ForestNode(1, 2, "NARROW", 0.9)
    early = ForestNode(0, 2, "EARLY", 0.6)
    unchosen = ForestNodes((*likely, poor, narrow, early), ())
    scene = scene_of(replace(dogs(), unchosen=unchosen))
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


def source_nodes(sample: Alignment) -> dict[str, SceneNode]:
    return {f"{node.label} {node.begin}-{node.end}": node for node in scene_of(sample).choices[0].source}


def test_scattered_words_and_what_consists_of_them_know_each_other() -> None:
    joined = {name for name, node in source_nodes(turned_record()).items() if node.joined == 0}
    assert joined == {"VBD 1-2", "RP 4-5", "PRT 4-5"}
    assert {node.whole for node in source_nodes(turned_record()).values()} == {-1}


def test_an_extended_phrase_knows_the_pair_inside() -> None:
    sample = bought("car")
    (phrase,) = [node for node in scene_of(sample).choices[0].target if node.inner >= 0]
    assert (phrase.label, phrase.phrase) == ("PP", -1)
    assert sample.phrases.pairs[phrase.inner].target == (5, 6)


def test_parts_of_a_pair_that_is_aligned_as_a_whole_know_it() -> None:
    nodes = source_nodes(bucket_record())
    parts = {name for name, node in nodes.items() if node.whole == 1}
    assert parts == {"VBD 1-2", "NP 2-4", "DT 2-3", "NN 3-4"}
    assert nodes["S 0-4"].whole == -1


# ---- drawings ----


def drawing(sample: Alignment) -> ElementTree.Element:
    return ElementTree.fromstring(result_html(sample))


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
    assert hue_of(dogs().phrases.pairs[0], scene) == pytest.approx(18 + 290 * 0.5 / 3 + 14)
    assert hue_of(dogs().phrases.pairs[2], scene) == pytest.approx(18 + 290 * 1.5 / 3)


@pytest.mark.parametrize(("relation", "marks"), [("opposite", 2), ("different value", 2), ("equal", 0), ("", 0)])
def test_contradictions_have_a_mark_on_both_sides(relation: str, marks: int) -> None:
    root = drawing(with_first(relation=relation))
    assert len(list(root.iter(f"{SVG}circle"))) == marks
    assert [text.text for text in root.iter(f"{SVG}text")].count("\u2260") == marks


def test_a_step_that_is_not_compositional_has_a_thick_border() -> None:
    def widths(sample: Alignment) -> set[str | None]:
        boxes = drawing(sample).iter(f"{SVG}rect")
        return {box.get("stroke-width") for box in boxes if box.findtext(f"{SVG}title") == "Dogs - Hounds"}

    assert widths(dogs()) == {"1.3"}
    assert widths(with_first(compositional=False)) == {"3"}


def test_null_phrases_have_a_dashed_box_and_the_sign_of_the_empty_set() -> None:
    root = drawing(dogs())
    assert len([box for box in root.iter(f"{SVG}rect") if box.get("class") == "z"]) == 1
    assert "\u2205 ADVP" in [text.text for text in root.iter(f"{SVG}text")]


def boxes_of(sample: Alignment, title: str) -> list[ElementTree.Element]:
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
    sample = bought("car")
    (box,) = boxes_of(sample, "adds small words to He - him")
    assert (box.get("fill"), box.get("stroke-dasharray")) == ("none", "4 3")
    assert box.get("stroke") == boxes_of(sample, "He - him")[0].get("stroke")


def test_parts_of_a_pair_have_its_colour_and_no_border() -> None:
    whole, parts = (boxes_of(bucket_record(), f"{lead}kicked the bucket - died") for lead in ("", "part of "))
    assert {box.get("fill") for box in parts} == {box.get("fill") for box in whole}
    assert {box.get("stroke") for box in parts} == {None}


def test_bar_phrases_are_dashed_and_have_a_prime() -> None:
    sample = bars()
    pairs = tuple(replace(each, supports=each.supports[:1]) if each.is_bar else each for each in sample.phrases.pairs)
    root = drawing(with_phrases(sample, pairs=pairs))  # it says more than the part that it has
    assert "NP\u2032" in [text.text for text in root.iter(f"{SVG}text")]
    dashed = {box.findtext(f"{SVG}title") for box in root.iter(f"{SVG}rect") if box.get("stroke-dasharray")}
    assert dashed == {"fat cat - plump cat"}


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
    sides = side("(NP (PRP$ his) (NN injury))"), side("(X (VBN injured) (PRP$ his))")
    pairs, linked = (entry((0, 1), (1, 2), "PRP$"),), links((0, 1, 1.0), (1, 0, 0.6))
    made = result("7", *sides, linked, pairs=pairs, source_nulls=(Span(1, 2),), target_nulls=(Span(0, 1),))
    again = from_json(to_json(made))
    assert [(word.source, word.target) for word in again.left_out] == [(1, 0)]
    assert json.loads(to_json(again))["left_out"] == [[1, 0]]
    lines = render_text(again).splitlines()
    assert lines[-1] == "  replaced: injury → injured"
    assert not any("null in" in line for line in lines)


@pytest.mark.parametrize(
    ("source", "target", "told"),
    [
        ("Sales rose 5 percent.", "Sales rose five per cent.", []),
        ("He worked for three days.", "He worked for 72 hours.", []),
        (
            "The court ruled 7-2 for him.",
            "The court ruled for him by seven votes to two.",
            ["7-2 → by seven votes to two"],
        ),
        ("I 👍 it.", "I ❤️ it.", ["👍 → ❤️"]),
    ],
)
def test_equal_values_are_not_replaced_and_emoji_are_words(source: str, target: str, told: list[str]) -> None:
    found = find_differences(forestalign.align(source, target), 0.6)
    assert [f"{one.source} → {one.target}" for one in found.replaced] == told
    assert (found.removed, found.added) == ((), ())


def test_partners_whose_words_other_pairs_tell_are_shown_on_request_alone() -> None:
    sample = bought("car")
    told = DiscontinuousPair((0, 1), (3, 5), "similarity", "similar", 0.9)  # He bought = bought ... him
    untold = told._replace(target=(3, 4, 5))
    for one, is_shown in ((told, False), (untold, True)):
        both = with_phrases(sample, scattered=(one,))
        assert ("He bought =" in render_text(both)) == is_shown
        assert "He bought =" in render_text(both, verbose=True)
