"""The page and the drawing, part by part: assets, policy, data, names, colours, widths."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib import resources

import pytest

from forestalign.lexicon.findings import PHRASE_RELATIONS
from forestalign.view.page import SCRIPTS, Service, page_html, policy, safe_json
from forestalign.view.scene import with_shown_pairs
from forestalign.view.static import _DARK, _LIGHT, _colour, _width, result_html
from tests.builders.sample_results import with_phrases
from tests.builders.view_samples import cat, data_of, with_extras

CAT = cat()
POOR = cat(4, 7)
ASSETS = resources.files("forestalign.view").joinpath("assets")


def test_pairs_can_be_filtered_by_every_relation_that_says_something() -> None:
    page = ASSETS.joinpath("page.html").read_text(encoding="utf-8")
    assert {f"is {name}" for name in PHRASE_RELATIONS if name != "equal"} <= set(re.findall(r'value="([^"]+)"', page))


# ---- assets ----


def test_every_script_is_built_into_the_page() -> None:
    names = {item.name for item in ASSETS.iterdir() if item.name.endswith(".js")}
    assert names == set(SCRIPTS)
    page = page_html([[CAT]], ["one"])
    for name in SCRIPTS:
        assert ASSETS.joinpath(name).read_text(encoding="utf-8") in page


@pytest.mark.parametrize("name", [*SCRIPTS, "style.css", "page.html"])
def test_no_asset_reaches_for_the_network(name: str) -> None:
    text = ASSETS.joinpath(name).read_text(encoding="utf-8")
    addresses = set(re.findall(r"https?://[^\s\"'`)]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_script_writes_markup_or_runs_text(name: str) -> None:
    text = ASSETS.joinpath(name).read_text(encoding="utf-8")
    for danger in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert danger not in text


def test_the_page_has_no_attribute_that_runs_script() -> None:
    page = ASSETS.joinpath("page.html").read_text(encoding="utf-8")
    assert not re.search(r"\son\w+=", page)
    assert 'lang="en"' in page


# ---- the page ----


def test_only_a_served_page_may_talk_to_its_server() -> None:
    alone, served = policy("s", "c", serves=False), policy("s", "c", serves=True)
    assert "connect-src" not in alone
    assert "connect-src 'self'" in served
    assert alone.startswith("default-src 'none'; script-src 'sha256-")


def test_the_token_is_in_a_served_page_alone() -> None:
    assert data_of(page_html([[CAT]], ["one"]))["token"] == ""
    served = data_of(page_html([[CAT]], ["one"], service=Service("secret")))
    assert (served["token"], served["serves"]) == ("secret", True)


def test_the_title_names_the_systems_and_is_escaped() -> None:
    assert "<title>a&lt;b and c - forestalign</title>" in page_html([[CAT, CAT]], ["a<b", "c"])


def test_the_key_of_a_page_depends_on_its_ids_alone() -> None:
    other = cat(identity="dog")
    one, same, different = (data_of(page_html([[each]], ["x"]))["key"] for each in (CAT, POOR, other))
    assert one == same
    assert one != different


def test_json_in_the_page_holds_no_markup_and_no_lone_surrogate() -> None:
    text = safe_json({"a": "</script><!--&\u2028\ud800"})
    assert not set("<>&\u2028") & set(text)
    text.encode("utf-8")
    assert json.loads(safe_json(["<b>&"])) == ["<b>&"]
    with pytest.raises(ValueError, match="not JSON compliant"):
        safe_json(float("nan"))


# ---- the drawing ----


def test_wide_letters_take_more_room_than_narrow_ones() -> None:
    assert _width("ill", 14) < _width("abc", 14) < _width("ABC", 14) < _width("MWQ", 14)
    assert _width("abc", 28) == 2 * _width("abc", 14)
    assert _width("", 14) == 0
    faces = (
        "\U0001f600",
        "\U0001f44d\U0001f3fd",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    )  # alone, coloured, a family
    assert {_width(face, 10) for face in faces} == {_width("\u65e5", 10)} == {12.0}


def test_a_pair_that_is_not_shown_leaves_its_supports_to_the_pair_above() -> None:
    sample = with_extras(CAT, POOR)
    bar = len(sample.phrases.pairs) - 2
    top = replace(sample.phrases.pairs[-1], supports=(0, bar))
    shown = with_shown_pairs(with_phrases(sample, pairs=(*sample.phrases.pairs[:-1], top)))
    assert sample.phrases.pairs[bar].is_bar
    assert not any(pair.is_bar for pair in shown.phrases.pairs)
    assert len(shown.phrases.pairs) == len(sample.phrases.pairs) - 1
    assert shown.phrases.pairs[-1].supports == (0, *sample.phrases.pairs[bar].supports)
    assert "\u2032" not in result_html(sample)  # the stroke of a bar phrase


def lightness(colour: str) -> float:
    """Relative luminance, as the contrast of WCAG is defined by it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [_LIGHT, _DARK])
def test_the_colours_of_both_themes_can_be_read_in_every_hue(theme: str) -> None:
    tint, _, ink = ([float(part) for part in each.split(":")[1].split()] for each in theme.split(";"))
    for hue in range(0, 360, 10):
        light, dark = sorted((lightness(_colour(hue, *each)) for each in (tint, ink)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) > 4.5


def test_every_coloured_part_of_the_drawing_tells_its_hue_to_the_style_sheet() -> None:
    drawing = result_html(CAT)
    assert "prefers-color-scheme:dark" in drawing
    assert "[data-jp-theme-light=false]" in drawing
    boxes = re.findall(r'<(?:rect|text) class="[^"]*\b[fki]\b[^"]*"[^>]*', drawing)
    boxes += [path for path in re.findall(r'<path class="[ws]"[^>]*', drawing) if "#9aa3b0" not in path]
    assert len(boxes) > 2 * len(CAT.pairs())
    assert all("--fa-h:" in box for box in boxes)
