"""The viewer's page in a real Chromium: pointing, clicking, keys, filter, two systems, hostile text, the server."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forestalign import Alignment
from forestalign.formats.codec import to_json
from forestalign.phrases.result.alignment import Verdict
from forestalign.view import write_page
from forestalign.view.server import AlignServer
from tests.builders.browsers import (
    CAT,
    CONTROL,
    ENTER,
    IN_A_BROWSER,
    LONG,
    POOR_CAT,
    Browser,
    browser,
    page,
    running,
    thousand,
    wait_until,
)
from tests.builders.sample_results import with_phrases
from tests.builders.view_samples import (
    bought,
    bucket_record,
    hostile_record,
    record,
    turned_record,
    with_extras,
)

__all__ = ["browser", "page", "thousand"]
pytestmark = IN_A_BROWSER

BOUGHT = bought()


def write(folder: Path, *systems: list[Alignment]) -> Path:
    paths = []
    for number, records in enumerate(systems):
        paths.append(folder / f"system{number}.jsonl")
        paths[-1].write_text("".join(to_json(each) + "\n" for each in records), encoding="utf-8")
    write_page(paths, folder / "page.html")
    return folder / "page.html"


def test_the_page_says_why_a_pair_contradicts_itself(browser: Browser, tmp_path: Path) -> None:
    reason = "opposite: <mat>/rug"
    pairs = [
        replace(each, relation="opposite", reason=reason) if each.source == (8, 9) else each
        for each in CAT.phrases.pairs
    ]
    browser.open(write(tmp_path, [with_phrases(CAT, pairs=tuple(pairs))]))
    browser.node("source", "8-9", ".word").click()
    assert reason in browser.text(".about")


def unfold_table(browser: Browser) -> None:
    """Open the table of all pairs, which is filled a moment later."""
    browser.one("details.all summary").click()
    wait_until(lambda: browser.all("details.all tr"))


def active(browser: Browser) -> set[tuple[str, str]]:
    return {
        (node.get_attribute("data-side"), node.get_attribute("data-span")) for node in browser.all(".node.is-active")
    }


def test_pointing_at_a_phrase_shows_its_partner_supports_and_description(page: Browser) -> None:
    page.point(page.node("source", "5-9"))
    assert active(page) == {("source", "5-9"), ("target", "0-4")}
    supports = {node.get_attribute("data-span") for node in page.all('.node.is-support[data-side="source"]')}
    assert supports == {"5-6", "6-9"}
    assert "on the old mat" in page.text(".about")
    assert "On the old rug" in page.text(".about")
    page.point(page.one("#name"))
    assert active(page) == set()


def test_a_click_keeps_a_phrase_until_escape(page: Browser) -> None:
    page.node("target", "5-8").click()
    page.point(page.one("#name"))
    assert active(page) == {("source", "0-3"), ("target", "5-8")}
    page.one(".about .jump").click()
    assert ("source", "0-1") in active(page)
    page.press("\ue00c")
    assert active(page) == set()


def test_null_phrases_of_a_pair_light_up_with_it(page: Browser) -> None:
    page.press("2")
    page.node("source", "5-9").click()
    assert {node.get_attribute("data-span") for node in page.all(".node.is-empty")} == set()
    page.node("source", "6-9").click()
    empty = {(node.get_attribute("data-side"), node.get_attribute("data-span")) for node in page.all(".node.is-empty")}
    assert empty == {("source", "7-8"), ("target", "2-3")}
    assert "null: old (source), old (target)" in page.text(".about")


def test_keys_lead_through_pairs_alignments_and_switches(page: Browser) -> None:
    page.press("n")
    assert page.text("#name") == "harbour"
    page.press("p")
    assert page.text("#name") == "cat"
    before = len(page.all(".node.aligned"))
    page.press("]")
    assert len(page.all(".node.aligned")) < before
    assert page.one('.kbest button[aria-pressed="true"]').text == "2"
    page.press("1")
    links = len(page.all(".link"))
    page.press("w")
    assert (links, len(page.all(".link"))) == (10, 0)
    assert page.all(".node.bar") == []
    page.press("b")
    assert {node.get_attribute("data-span") for node in page.all(".node.bar")} == {"1-3", "6-8"}
    assert page.all(".lane line") == []
    page.press("f")
    assert "VP .31" in [text.text for text in page.all(".lane text")]
    page.press("?")
    assert page.one("#help").is_displayed()
    page.one("#help button").click()
    assert not page.one("#help").is_displayed()


def test_a_tree_can_be_walked_by_keyboard(page: Browser) -> None:
    page.script("document.querySelector('.node[data-side=source][tabindex=\"0\"]').focus()")
    focus = "return [document.activeElement.dataset.side, document.activeElement.dataset.span]"
    assert page.script(focus) == ["source", "0-10"]
    page.press("\ue015")
    assert page.script(focus) == ["source", "0-3"]
    page.press("x")
    assert page.script(focus) == ["target", "5-8"]
    assert active(page) == {("source", "0-3"), ("target", "5-8")}
    page.press("\ue007")
    assert page.script("return document.activeElement.getAttribute('aria-pressed')") == "true"
    label = page.script("return document.activeElement.getAttribute('aria-label')")
    assert label == "target phrase NP: the plump cat. Aligned with The fat cat, non-compositional"
    page.press("\ue015")
    assert page.script(focus) == ["target", "0-11"]


def test_the_filter_finds_ids_and_words_and_the_list_stays_light(page: Browser) -> None:
    assert page.text("#total") == "1002 pairs"
    assert len(page.all(".row")) < 40
    page.press("/")
    page.press("winter boats")
    assert page.text("#total") == "1 of 1002"
    assert page.text("#name") == "harbour"
    page.one("#filter").clear()
    page.one("#filter").send_keys("pair-0987")
    assert page.text("#name") == "pair-0987"
    page.one("#filter").send_keys("x")
    assert page.one("#nothing").is_displayed()


def test_long_sentences_stand_beside_each_other_and_short_ones_are_stacked(page: Browser) -> None:
    def box(side: str) -> dict[str, float]:
        return page.node(side, "0-1", ".word").rect

    assert box("source")["y"] < box("target")["y"] - 50
    page.press("n")
    assert box("source")["x"] < box("target")["x"] - 50
    page.press("o")
    assert page.text("#layout") == "Layout: stacked"
    assert box("source")["y"] < box("target")["y"] - 50


def test_two_systems_stand_side_by_side_with_their_differences(browser: Browser, tmp_path: Path) -> None:
    browser.open(write(tmp_path, [CAT, LONG, replace(CAT, id="alone")], [POOR_CAT, LONG]))
    assert [heading.text for heading in browser.all(".view h2")] == ["system0", "system1"]
    only = {node.get_attribute("data-span") for node in browser.all('.node.only[data-side="source"]')}
    assert only == {"4-5", "7-8"}
    assert len(browser.all(".link.only")) == 2
    browser.one("#different").click()
    assert browser.text("#total") == "2 of 3"
    browser.press("n")
    assert browser.text(".missing") == "This system has no alignment for this pair."
    assert browser.complaints() == []


def test_hostile_sentences_are_shown_and_never_run(browser: Browser, tmp_path: Path) -> None:
    hostile = hostile_record()
    browser.open(write(tmp_path, [hostile], [hostile]))
    assert browser.text("#name") == hostile.id
    assert [token.text for token in browser.all(".texts dd")[0].find_elements("css selector", ".token")][:3] == list(
        hostile.source.words[:3]
    )
    browser.node("source", "0-1").click()
    unfold_table(browser)
    assert browser.all("img") == []
    assert len(browser.all("script")) == 2
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark_on_wide_and_narrow_screens(page: Browser, scheme: str, width: int) -> None:
    with page.screen(width, scheme=scheme):
        page.press("n")
        page.press("p")
        if width < 700:
            assert min(page.script(CONTRAST)) > 4.5
            page.press("c")
        ratios = page.script(CONTRAST)
        assert len(ratios) > 30
        assert min(ratios) > 4.5
        assert page.script("return document.documentElement.scrollWidth") <= width


# Contrast (WCAG) of every drawn label against what it stands on, through a canvas, which knows all colour spaces.
CONTRAST = """
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const light = (colour) => {
  canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((part) => {
    const value = part / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const panel = getComputedStyle(document.querySelector(".drawing")).backgroundColor;
const nodes = [...document.querySelectorAll(".node")].map((node) => {
  const fill = getComputedStyle(node.querySelector(".pill")).fill;
  return [getComputedStyle(node.querySelector("text")).fill, fill === "none" ? panel : fill];
});
const chips = [...document.querySelectorAll(".chip")].map((chip) => getComputedStyle(chip))
  .map((style) => [style.color, style.backgroundColor]);
return [...nodes, ...chips].map((pair) => {
  const [text, ground] = pair.map(light);
  return (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
});
"""


def test_pointing_at_an_extended_phrase_shows_its_looser_partner(browser: Browser, tmp_path: Path) -> None:
    browser.open(write(tmp_path, [BOUGHT]))
    phrase = browser.node("target", "4-6")
    assert phrase.get_attribute("aria-label") == "target phrase PP: by him. Loosely aligned with He"
    browser.point(phrase)
    assert active(browser) == {("source", "0-1"), ("target", "5-6")}
    assert [node.get_attribute("data-span") for node in browser.all(".node.is-loose")] == ["4-6"]
    assert "loosely also PP by him (target) ~ He, adds by" in browser.text(".about")
    assert browser.complaints() == []


def test_scattered_words_are_connected_and_described(browser: Browser, tmp_path: Path) -> None:
    browser.open(write(tmp_path, [turned_record("opposite")]))
    assert len(browser.all(".scattered-link")) == 3  # two to the partner, one between the words
    browser.node("source", "4-5", ".word").click()
    assert active(browser) == {("source", "1-2"), ("source", "4-5"), ("target", "1-2")}
    about = browser.text(".about")
    assert "turned \u2026 down \u2194 refused" in about
    assert "evidence: lexicon" in about
    assert "opposite" in about
    assert [token.text for token in browser.all(".token.is-active")] == ["turned", "down", "refused"]
    browser.node("source", "0-5").click()
    assert "belong together: turned \u2026 down" in browser.text(".about")
    assert browser.complaints() == []


def test_scattered_opposites_are_marked_and_the_list_has_the_verdict(browser: Browser, tmp_path: Path) -> None:
    changed = replace(turned_record("opposite"), judged=Verdict("changed", 0.1, 2.0))
    browser.open(write(tmp_path, [changed, replace(turned_record(), id="same")]))
    assert "changed" in browser.text("#row-0")
    assert "changed" not in browser.text("#row-1")
    assert "opposite" in browser.text(".kbest")
    assert len(browser.all(".node.against")) == 4


def test_pointing_at_a_part_shows_the_pair_that_is_aligned_as_a_whole(browser: Browser, tmp_path: Path) -> None:
    browser.open(write(tmp_path, [bucket_record()]))
    browser.point(browser.node("source", "3-4"))
    assert active(browser) == {("source", "1-4"), ("target", "1-2")}
    assert "evidence: lexicon" in browser.text(".about")


def test_the_table_has_what_stands_beside_the_pairs(browser: Browser, tmp_path: Path) -> None:
    browser.open(write(tmp_path, [BOUGHT, turned_record()]))
    unfold_table(browser)
    assert browser.all("details.all tr")[-1].text == "He by him PRP ~ PP (loosely) adds by"
    browser.press("n")
    unfold_table(browser)
    assert browser.all("details.all tr")[-1].text == "turned \u2026 down refused no phrase equal lexicon"
    browser.all("details.all .jump")[-1].click()
    assert ("source", "4-5") in active(browser)


def marked(base: Alignment, relation: str, identity: str, posterior: float) -> Alignment:
    """A record whose second phrase pair, of two adjectives, is marked."""
    pairs = base.phrases.pairs
    entry = replace(pairs[1], relation=relation, evidence=("lexicon",), confidence=posterior)
    return replace(with_phrases(base, pairs=(pairs[0], entry, *pairs[2:])), id=identity)


def test_opposites_are_marked_in_the_drawing_and_the_details(browser: Browser, tmp_path: Path) -> None:
    browser.open(write(tmp_path, [marked(CAT, "opposite", "a", 0.4), CAT]))
    assert {node.get_attribute("data-span") for node in browser.all(".node.against")} == {"1-2", "6-7"}
    browser.node("source", "1-2").click()
    assert "opposite" in browser.text(".about")
    assert "evidence: lexicon" in browser.text(".about")
    assert "confidence 0.40" in browser.text(".about")


def test_pairs_are_sorted_and_filtered_by_posterior_and_relation(browser: Browser, tmp_path: Path) -> None:
    from selenium.webdriver.support.ui import Select

    records = [marked(CAT, "equal", "sure", 0.9), marked(CAT, "different value", "unsure", 0.2), LONG]
    browser.open(write(tmp_path, records))
    Select(browser.one("#sort")).select_by_value("posterior")
    assert [row.text for row in browser.all(".row b > span:first-child")] == ["unsure", "sure", "harbour"]
    browser.one("#posterior").send_keys("0.5")
    assert browser.text("#total") == "1 of 3"
    browser.one("#posterior").clear()
    browser.script("document.getElementById('posterior').dispatchEvent(new Event('input'))")
    Select(browser.one("#kind")).select_by_value("is different value")
    assert [row.text for row in browser.all(".row b > span:first-child")] == ["unsure"]


@pytest.mark.parametrize("bad", ["%", "%E0%A4%A", "nobody", "%00"])
def test_bad_hashes_are_harmless_and_good_ones_followed(browser: Browser, tmp_path: Path, bad: str) -> None:
    page = write(tmp_path, [CAT, LONG, replace(CAT, id="100 % & <b>")])
    browser.open(f"{page.as_uri()}#{bad}")
    assert browser.text("#name") == "cat"
    browser.script("location.hash = '#harbour'")
    wait_until(lambda: browser.text("#name") == "harbour")
    browser.script("location.hash = arguments0".replace("arguments0", repr("#" + bad)))
    assert browser.text("#name") == "harbour"
    browser.open(f"{page.as_uri()}#100%20%25%20%26%20%3Cb%3E")
    assert browser.text("#name") == "100 % & <b>"
    assert browser.complaints() == []


def test_a_link_to_a_pair_that_the_filter_hides_clears_the_filter(browser: Browser, tmp_path: Path) -> None:
    browser.open(write(tmp_path, [CAT, LONG]))
    browser.one("#filter").send_keys("cat")
    browser.script("location.hash = '#harbour'")
    wait_until(lambda: browser.text("#name") == "harbour")
    assert browser.text("#total") == "2 pairs"


def test_directional_characters_are_shown_and_not_obeyed(browser: Browser, tmp_path: Path) -> None:
    words = ("a\u202eb", "\u2066c", "d\x1b", "e")
    tree = "(TOP (S " + " ".join(f"(NN {word})" for word in words) + "))"
    base = record("x\u202ey", tree, tree, {0: 0, 1: 1, 2: 2, 3: 3})
    browser.open(write(tmp_path, [base]))
    browser.node("source", "0-1").click()
    body = browser.script("return document.body.innerText + [...document.querySelectorAll('[aria-label], title')]"
                          ".map((one) => one.getAttribute('aria-label') + one.textContent).join(' ')")  # fmt: skip
    assert not set(body) & set("\u202e\u2066\x1b")
    assert "a[U+202E]b" in body
    assert browser.text("#name") == "x[U+202E]y"


def test_statistics_count_what_is_in_the_list(browser: Browser, tmp_path: Path) -> None:
    browser.open(write(tmp_path, [marked(CAT, "opposite", "a", 0.4), CAT, LONG]))
    browser.press("t")
    figures = browser.text("#statistics")
    assert "3 pairs" in figures
    for title in ("Words per sentence", "Log score per word", "Kinds of steps", "Relations", "Evidence"):
        assert title in figures
    assert re.search(r"opposite\s+1\b", figures)
    browser.one("#filter").send_keys("harbour")
    assert "1 pair (filtered)" in browser.text("#statistics")
    browser.one("#statistics-button").click()
    assert not browser.one("#statistics").is_displayed()


def test_the_drawing_is_zoomed_and_fitted(page: Browser) -> None:
    def size() -> float:
        return float(page.one(".drawing svg").get_attribute("width"))

    before = size()
    page.press("+")
    assert size() == pytest.approx(1.2 * before, abs=2)
    page.press("-")
    assert size() == pytest.approx(before, abs=2)
    page.press("n")
    page.press("o")
    assert page.script("const box = document.querySelector('.drawing'); return box.scrollWidth > box.clientWidth")
    page.one("#fit").click()
    assert not page.script("const box = document.querySelector('.drawing'); return box.scrollWidth > box.clientWidth")


CENTRE = """document.querySelector('.node[data-side="source"][data-span="SPAN"]').scrollIntoView({ block: "center" })"""


def test_details_stay_in_view_beside_forty_words(browser: Browser, tmp_path: Path) -> None:
    words = " ".join(f"(NN word{number})" for number in range(40))
    tree = f"(TOP (S (NP {words}) (VP (VB go))))"
    browser.open(write(tmp_path, [record("forty", tree, tree, {number: number for number in range(41)})]))
    for span in ("0-1", "39-40"):
        node = browser.node("source", span)
        browser.script(CENTRE.replace("SPAN", span))
        node.click()
        box = browser.script("const { top, bottom } = document.querySelector('.about').getBoundingClientRect();"
                             "return [top, bottom, innerHeight]")  # fmt: skip
        assert 0 <= box[0] < box[1] <= box[2]
    assert browser.complaints() == []


def test_the_drawing_is_downloaded_as_svg_and_png(page: Browser, tmp_path: Path) -> None:
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    for button in page.all(".kbest .small"):
        button.click()
    wait_until(lambda: (tmp_path / "cat.svg").exists() and (tmp_path / "cat.png").exists())
    root = ElementTree.fromstring((tmp_path / "cat.svg").read_text(encoding="utf-8"))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert set(CAT.source.words) <= set(texts)
    fills = {element.get("fill") for element in root.iter("{http://www.w3.org/2000/svg}rect")}
    assert len(fills) > 5
    assert all(fill == "none" or fill.startswith("rgb") for fill in fills if fill)
    assert (tmp_path / "cat.png").read_bytes()[:4] == b"\x89PNG"
    assert (tmp_path / "cat.png").stat().st_size > 10_000


PRESS = """
window.changes = 0;
const observer = new MutationObserver((records) => { window.changes += records.length; });
observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
for (const key of ["n", "p", "w", "b", "f", "o", "o", "o", "e", "n", "p", "e", "]", "["]) {
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}
"""


def test_a_page_of_a_thousand_pairs_has_no_more_work_than_one_of_twenty(
    browser: Browser, thousand: Path, tmp_path: Path
) -> None:
    few = write(tmp_path, [with_extras(CAT, POOR_CAT), LONG, *(replace(CAT, id=str(number)) for number in range(18))])
    counts = []
    for path in (few, thousand):
        browser.open(path)
        drawn = browser.script("return document.getElementsByTagName('*').length")
        browser.script(PRESS)
        wait_until(lambda: browser.script("return window.changes") > 0)
        counts.append((drawn, browser.script("return window.changes")))
    (drawn, changed), (drawn_of_many, changed_of_many) = counts
    assert drawn_of_many <= 1.2 * drawn
    assert changed_of_many <= 1.2 * changed


def type_into(field: Any, text: str) -> None:
    field.clear()
    field.send_keys(text)


def test_the_served_page_starts_with_an_example_and_aligns_what_is_typed(browser: Browser) -> None:
    asked: list[tuple[str, str]] = []

    def align(source: str, target: str) -> Alignment:
        asked.append((source, target))
        return CAT

    with running(AlignServer(("127.0.0.1", 0), align)) as url:
        browser.open(url)
        browser.script("localStorage.clear()")
        browser.open(url)
        wait_until(lambda: browser.all(".node.aligned"))
        example = asked[-1]
        assert min(len(text.split()) for text in example) > 5
        type_into(browser.one("#ask-source"), "<i>one</i>")
        type_into(browser.one("#ask-target"), "two")
        browser.one("#ask-target").send_keys(CONTROL, ENTER)
        wait_until(lambda: asked[-1] == ("<i>one</i>", "two"))
        wait_until(lambda: browser.text("#total") == "2 pairs")
        assert len(browser.all(".node.word")) == 21
        assert browser.text("#ask-status") == ""
        browser.open(url)
        wait_until(lambda: browser.one("#ask-source").get_attribute("value") == "<i>one</i>")
        type_into(browser.one("#ask-target"), "word " * 200)
        browser.one("#ask-button").click()
        wait_until(lambda: "more than 150 words" in browser.text("#ask-status"))
        browser.complaints()  # the refused request is in the log
