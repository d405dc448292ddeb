"""The viewer's page in a real Chromium: pointing, clicking, keys, filter, two systems, hostile text, the server."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from view_samples import (
    CAT_LINKS,
    CAT_SOURCE,
    CAT_TARGET,
    LONG_LINKS,
    LONG_SOURCE,
    LONG_TARGET,
    hostile_record,
    record,
    with_extras,
)

from forestalign.formats.phrases import PhraseRecord, to_json
from forestalign.view import page_html, write_page
from forestalign.view.server import AlignServer

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        not shutil.which("chromedriver") and not shutil.which("apt-get"), reason="neither a browser nor apt here"
    ),
]

CAT = record("cat", CAT_SOURCE, CAT_TARGET, CAT_LINKS)
POOR_CAT = record("cat", CAT_SOURCE, CAT_TARGET, CAT_LINKS, frozenset({4, 7}))
LONG = record("harbour", LONG_SOURCE, LONG_TARGET, LONG_LINKS)

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1400,900",
)


class Browser:
    """A driver with the few words these tests need."""

    def __init__(self, profile: Path):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))

    def open(self, page: Path | str) -> None:
        self.driver.get("about:blank")
        self.driver.get(page.as_uri() if isinstance(page, Path) else page)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        return str(self.one(selector).text)

    def node(self, side: str, span: str, extra: str = "") -> Any:
        return self.one(f'.node[data-side="{side}"][data-span="{span}"]{extra}')

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def point(self, element: Any) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).move_to_element(element).perform()

    def script(self, text: str) -> Any:
        return self.driver.execute_script(text)

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    running = Browser(tmp_path_factory.mktemp("profile"))
    yield running
    running.driver.quit()


def write(folder: Path, *systems: list[PhraseRecord]) -> Path:
    paths = []
    for number, records in enumerate(systems):
        paths.append(folder / f"system{number}.jsonl")
        paths[-1].write_text("".join(to_json(each) + "\n" for each in records), encoding="utf-8")
    write_page(paths, folder / "page.html")
    return folder / "page.html"


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    many = [replace(CAT, id=f"pair-{number:04}") for number in range(1000)]
    path = tmp_path_factory.mktemp("thousand") / "page.html"
    path.write_text(
        page_html(([each] for each in (with_extras(CAT, POOR_CAT), LONG, *many)), ["many"]), encoding="utf-8"
    )
    return path


@pytest.fixture
def page(browser: Browser, thousand: Path) -> Iterator[Browser]:
    browser.open(thousand)
    yield browser
    assert browser.complaints() == []


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
    page.press("b")
    assert page.all(".node.bar") == []
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
        hostile.source.tokens[:3]
    )
    browser.node("source", "0-1").click()
    browser.one("details.all summary").click()
    assert browser.all("img") == []
    assert len(browser.all("script")) == 2
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark_on_wide_and_narrow_screens(page: Browser, scheme: str, width: int) -> None:
    page.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    page.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    try:
        page.press("n")
        page.press("p")
        ratios = page.script(CONTRAST)
        assert len(ratios) > 30
        assert min(ratios) > 4.5
        assert page.script("return document.documentElement.scrollWidth") <= width
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


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
return [...document.querySelectorAll(".node")].map((node) => {
  const text = light(getComputedStyle(node.querySelector("text")).fill);
  const fill = getComputedStyle(node.querySelector(".pill")).fill;
  const ground = light(fill === "none" ? panel : fill);
  return (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
});
"""


def test_the_served_page_aligns_what_is_typed(browser: Browser) -> None:
    def align(source: str, target: str) -> PhraseRecord:
        assert (source, target) == ("<i>one</i>", "two")
        return CAT

    with AlignServer(("127.0.0.1", 0), align) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            browser.open(server.url)
            browser.one("#ask-source").send_keys("<i>one</i>")
            browser.one("#ask-target").send_keys("two")
            browser.one("#ask-button").click()
            wait_until(lambda: browser.all(".node.aligned"))
            assert len(browser.all(".node.word")) == 21
            assert browser.text("#ask-status") == ""
            browser.one("#ask-target").clear()
            browser.one("#ask-target").send_keys("word " * 200)
            browser.one("#ask-button").click()
            wait_until(lambda: "more than 150 words" in browser.text("#ask-status"))
        finally:
            server.shutdown()
            thread.join()


def wait_until(condition: Any) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(None, 10, poll_frequency=0.05).until(lambda _: condition())
