"""What a reader meets first, in a real Chromium: text only, small screens, long sentences, two systems, dark mode."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from forestalign import Alignment
from forestalign.evaluation import annotation_store
from forestalign.evaluation.annotated_pairs import read_annotations
from forestalign.evaluation.annotation_store import AnnotationStore
from forestalign.view import page_html, result_html
from forestalign.view.server import AlignServer
from tests.builders.browsers import CAT, DELETE, IN_A_BROWSER, LONG, POOR_CAT, Browser, browser, running, wait_until
from tests.builders.sample_results import with_phrases
from tests.builders.view_samples import record, turned_record, with_extras

__all__ = ["browser"]
pytestmark = IN_A_BROWSER
IN_SIGHT = """
const box = document.querySelector("SELECTOR").getBoundingClientRect();
return box.width > 0 && 0 <= box.top && box.bottom <= innerHeight && 0 <= box.left && box.right <= innerWidth;
"""


def show(browser: Browser, folder: Path, *pairs: list[Alignment]) -> None:
    systems = [f"system{number}" for number in range(len(pairs[0]))]
    (folder / "page.html").write_text(page_html(pairs, systems), encoding="utf-8")
    browser.open(folder / "page.html")
    browser.script("localStorage.clear()")


def is_in_sight(browser: Browser, selector: str) -> bool:
    return bool(browser.script(IN_SIGHT.replace("SELECTOR", selector)))


def chips(browser: Browser) -> list[list[str]]:
    """The coloured phrases of both sentences."""
    lines = browser.all(".running")
    return [[chip.text for chip in line.find_elements("css selector", ".chip")] for line in lines]


def aligned_count(browser: Browser) -> int:
    return len(browser.all(".node.aligned"))


def test_a_narrow_page_opens_with_the_text_and_a_click_goes_deeper(browser: Browser, tmp_path: Path) -> None:
    with browser.screen(400, 800):
        show(browser, tmp_path, [with_extras(CAT, POOR_CAT)], [turned_record("opposite")])
        assert browser.all(".node") == []
        top = chips(browser)
        assert "The fat cat" in top[0]
        assert "the plump cat" in top[1]
        next(chip for chip in browser.all(".chip") if chip.text == "The fat cat").click()
        assert chips(browser) == [["The", "fat", "cat"], ["the", "plump", "cat"]]
        assert browser.text(".crumbs") == "whole sentence \u203a The fat cat"
        browser.press("\ue00c")
        assert chips(browser) == top
        browser.press("n")
        assert chips(browser)[0][1:] == ["turned", "the offer", "down"]
        assert "turned \u2026 down = refused opposite" in browser.text(".parts")
        assert browser.script("return document.documentElement.scrollWidth") <= 400
    assert browser.complaints() == []


def test_on_a_small_screen_nothing_lies_over_the_running_text(browser: Browser, tmp_path: Path) -> None:
    with browser.screen(400, 500):
        show(browser, tmp_path, [LONG])
        browser.one(".chip").click()
        box, text = browser.one(".about").rect, browser.one(".drawing").rect
        assert box["y"] >= text["y"] + text["height"]


def test_a_narrow_page_folds_its_controls_into_one_bar(browser: Browser, tmp_path: Path) -> None:
    with browser.screen(400, 800):
        show(browser, tmp_path, [CAT], [replace(CAT, id="other")])
        assert browser.one(".bar").size["height"] < 60
        assert not browser.one(".tools").is_displayed()
        assert not browser.one(".side").is_displayed()
        browser.one("#menu-button").click()
        assert browser.one("#statistics-button").is_displayed()
        browser.one("#list-button").click()
        assert not browser.one(".tools").is_displayed()
        browser.one("#row-1").click()
        assert browser.text("#name") == "other"
        assert not browser.one(".side").is_displayed()
        browser.one("#compact").click()
        assert aligned_count(browser) > 10


def test_a_page_of_medium_width_folds_its_controls_and_draws_trees(browser: Browser, tmp_path: Path) -> None:
    with browser.screen(700, 800):
        show(browser, tmp_path, [CAT], [replace(CAT, id="other")])
        assert browser.one(".bar").size["height"] < 60
        assert not browser.one(".side").is_displayed()
        assert browser.all("svg .node.aligned")
        browser.press("/")
        assert browser.one("#filter").is_displayed()


def test_the_bar_stays_as_it_is_while_the_slider_is_drawn(browser: Browser, tmp_path: Path) -> None:
    with browser.screen(1280, 800):
        show(browser, tmp_path, [CAT], [replace(CAT, id="other")])
        before = browser.one(".bar").size["height"]
        browser.script("const s = document.getElementById('least'); s.value = .95; s.dispatchEvent(new Event('input'))")
        assert browser.text("#least-value") == "\u2265 0.95"
        assert browser.one(".bar").size["height"] == before


def test_the_line_above_a_drawing_is_in_plain_words(browser: Browser, tmp_path: Path) -> None:
    show(browser, tmp_path, [CAT])
    line = browser.one(".kbest span")
    assert "log score" not in line.text
    assert "log score" in line.get_attribute("title")


def test_the_verdict_stands_first_and_a_word_shows_its_partner(browser: Browser, tmp_path: Path) -> None:
    show(browser, tmp_path, [CAT])
    assert browser.one(".view > :first-child").text == "same meaning .90"
    words = browser.all(".texts dd .token")
    browser.point(words[2])
    active = [word.text for word in browser.all(".texts .token.is-active")]
    assert active == ["cat", "cat"]
    assert "cat" in browser.text(".about")


def test_words_of_the_table_are_never_broken(browser: Browser, tmp_path: Path) -> None:
    with browser.screen(1280, 800):
        tree = "(TOP (S (NP (NN internationalization)) (VP (VB counterrevolutionises))))"
        show(browser, tmp_path, [record("long", tree, tree, {0: 0, 1: 1})])
        browser.one("details.all summary").click()
        wait_until(lambda: browser.all("details.all tbody td:first-child .jump"))
        heights = [cell.size["height"] for cell in browser.all("details.all tbody td:first-child .jump")]
        assert max(heights) < 30


@pytest.mark.parametrize(("width", "count"), [(400, 2), (1280, 3)])
def test_signs_that_occur_stay_in_sight_and_help_opens_at_its_top(
    browser: Browser, tmp_path: Path, width: int, count: int
) -> None:
    with browser.screen(width, 500):
        show(browser, tmp_path, [CAT])
        browser.script("document.getElementById('main').scrollTop = 1e6")
        shown = [sign.rect for sign in browser.all(".signs li") if sign.is_displayed()]
        assert len(shown) == count
        assert all(sign["x"] + sign["width"] <= width and sign["y"] + sign["height"] <= 500 for sign in shown)
        browser.press("?")
        assert is_in_sight(browser, "#help h2")
        assert is_in_sight(browser, "#help button")
        assert browser.script("return document.getElementById('help').scrollTop") == 0


def test_forty_words_open_readable_with_a_map_that_leads_to_the_rest(browser: Browser, tmp_path: Path) -> None:
    words = " ".join(f"(NN word{number})" for number in range(40))
    tree = f"(TOP (S (NP {words}) (VP (VB go))))"
    with browser.screen(1280, 800):
        show(browser, tmp_path, [record("forty", tree, tree, {number: number for number in range(41)})])
        word = browser.node("source", "0-1", ".word").rect
        assert word["height"] > 0.64 * 26
        assert is_in_sight(browser, ".minimap")
        before = browser.script("return document.getElementById('main').scrollTop")
        box = browser.one(".minimap").rect
        place = {"clientX": box["x"] + 5, "clientY": box["y"] + box["height"] - 5, "buttons": 1, "pointerId": 1}
        browser.script(
            "const map = document.querySelector('.minimap'); map.setPointerCapture = () => {};"
            f"map.dispatchEvent(new PointerEvent('pointerdown', {json.dumps(place)}))"
        )
        assert browser.script("return document.getElementById('main').scrollTop") > before + 200
        show(browser, tmp_path, [CAT])
        assert browser.all(".minimap") == []
    assert browser.complaints() == []


def test_two_systems_at_1280_stand_beside_each_other_and_name_what_differs(browser: Browser, tmp_path: Path) -> None:
    with browser.screen(1280, 800):
        show(browser, tmp_path, [CAT, POOR_CAT], [replace(CAT, id="other"), POOR_CAT])
        left, right = (view.rect for view in browser.all(".view"))
        assert left["y"] == right["y"]
        assert left["x"] + left["width"] <= right["x"] + 1
        first, second = browser.all(".differences")
        assert "quietly = silently" in first.text
        assert second.text.split() == ["Only", "here:", "nothing"]
        first.find_element("css selector", ".difference").click()
        assert browser.all(".view .node.is-active.only")
        assert [token.text for token in browser.all(".is-different")] == ["quietly", "old", "old", "silently"]


def test_the_slider_leaves_only_what_is_certain(browser: Browser, tmp_path: Path) -> None:
    pairs = tuple(replace(pair, confidence=0.9 if pair.supports else 0.3) for pair in CAT.phrases.pairs)
    show(browser, tmp_path, [with_phrases(CAT, pairs=pairs)])
    before = aligned_count(browser)
    browser.script(
        "const box = document.getElementById('least'); box.value = .5; box.dispatchEvent(new Event('input'))"
    )
    assert aligned_count(browser) == 2 * sum(bool(pair.supports) for pair in pairs) < before
    assert "\u2265 0.50" in browser.text(".slider")
    show(browser, tmp_path, [CAT])
    assert not browser.one("#least").is_enabled()  # nobody asked for confidence


def test_words_that_are_no_phrase_are_kept_joined_and_taken_apart(browser: Browser, tmp_path: Path) -> None:
    def click(side: str, span: str, shift: bool = False) -> None:
        event = json.dumps({"bubbles": True, "shiftKey": shift})
        browser.script(
            f"""document.querySelector('.node[data-side="{side}"][data-span="{span}"][data-kind="w"]')"""
            f".dispatchEvent(new MouseEvent('click', {event}))"
        )

    def saved() -> tuple[object, ...]:
        browser.control("s")
        wait_until(lambda: browser.text("#save-pair") == "Saved")
        (pair,) = read_annotations(path)
        return pair.annotations[0].scattered

    path, turned = tmp_path / "gold.jsonl", turned_record()
    with (
        AnnotationStore(path, [turned]) as store,
        running(AlignServer(("127.0.0.1", 0), lambda source, target: turned, results=[turned], annotate=store)) as url,
    ):
        browser.open(url)
        browser.script("document.getElementById('annotator').value = 'ann'")
        browser.script("document.getElementById('annotator').dispatchEvent(new Event('change'))")
        wait_until(lambda: "saved" in browser.text("#edit-status") and browser.all(".scattered-link"))
        assert saved() == (((1, 4), (1,), ""),)
        click("source", "4-5")
        browser.press(DELETE)
        assert browser.all(".scattered-link") == []
        assert saved() == ()
        click("source", "1-2", shift=True)
        click("source", "2-3", shift=True)
        click("target", "1-2", shift=True)
        browser.one("#join-words").click()
        browser.press("m")
        assert saved() == (((1, 2), (1,), "unsure"),)
        browser.control("z")
        browser.control("z")
        browser.control("z")
        assert saved() == (((1, 4), (1,), ""),)
        browser.open("about:blank")
    assert browser.complaints() == []


def test_the_example_of_the_served_page_is_replaced_by_typing(browser: Browser) -> None:
    with running(AlignServer(("127.0.0.1", 0), lambda source, target: CAT)) as url:
        browser.open(url)
        browser.script("localStorage.clear()")
        browser.open(url)
        browser.press("One.", "\ue004", "Two.")
        values = [browser.one(f"#ask-{side}").get_attribute("value") for side in ("source", "target")]
        assert values == ["One.", "Two."]
        browser.script("document.activeElement.blur(); document.getElementById('ask-source').focus()")
        browser.press(" More.")
        assert browser.one("#ask-source").get_attribute("value") == "One. More."  # what was written stays


def test_a_page_goes_on_by_itself_when_the_other_is_gone(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(annotation_store, "MOST_SILENCE", 2.0)
    with (
        AnnotationStore(tmp_path / "gold.jsonl", [CAT]) as store,
        running(AlignServer(("127.0.0.1", 0), lambda source, target: CAT, results=[CAT], annotate=store)) as url,
    ):
        store(b'{"action": "open", "page": "crashed", "annotator": "", "take_over": false}')
        browser.open(url)
        wait_until(lambda: "open in another page" in browser.text("#conflict"))
        wait_until(lambda: not browser.one("#conflict").is_displayed())
        wait_until(lambda: "nothing saved" in browser.text("#edit-status"))
        browser.open("about:blank")
        browser.complaints()  # the refusal is in the log


@pytest.mark.parametrize("theme", ["", 'data-jp-theme-light="false"'])
def test_a_notebook_s_drawing_follows_dark_mode(browser: Browser, tmp_path: Path, theme: str) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><meta charset=utf-8><body {theme}>{result_html(CAT)}", encoding="utf-8")
    fills = []
    for scheme in ("light", "dark"):
        with browser.screen(1000, scheme=scheme):
            browser.open(path)
            fills.append(browser.script("return getComputedStyle(document.querySelector('.fa-pic rect.f')).fill"))
    assert fills[1].startswith("oklch(0.33")
    assert fills[0].startswith("oklch(0.33" if theme else "oklch(0.93")
