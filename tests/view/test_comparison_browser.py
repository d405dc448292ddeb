"""The page of `compare` in a real browser: light, dark and narrow, and its boxes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import forestalign
from tests.builders.browsers import Browser
from tests.builders.browsers import browser as browser

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(shutil.which("chromedriver") is None, reason="needs chromium and chromedriver"),
]
OLD = "It rained. Sales rose by 3 percent in May. The weather was fine and nobody complained."
NEW = "The weather was fine and nobody complained. Sales rose by 5 percent in May. A new line."


@pytest.fixture
def compared(browser: Browser, tmp_path: Path) -> Browser:
    path = tmp_path / "page.html"
    path.write_text(forestalign.compare(OLD, NEW).to_html(), encoding="utf-8")
    browser.open(path)
    return browser


def test_both_versions_stand_side_by_side_and_below_each_other_where_it_is_narrow(compared: Browser) -> None:
    def tops() -> tuple[float, float]:
        old, new = (compared.one(f".meaning .{side}").location["y"] for side in ("old", "new"))
        return old, new

    compared.driver.set_window_size(1200, 900)
    assert tops()[0] == tops()[1]
    compared.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    assert tops()[0] < tops()[1]
    assert compared.script("return document.documentElement.scrollWidth <= 400")
    compared.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_box_hides_its_kind(compared: Browser) -> None:
    assert compared.one(".change.meaning").is_displayed()
    compared.one("#show-meaning").click()
    assert not compared.one(".change.meaning").is_displayed()
    assert compared.one(".change.added").is_displayed()


def test_the_dark_page_has_light_words(compared: Browser) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        features = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        compared.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
        colours[scheme] = compared.script("return getComputedStyle(document.body).backgroundColor")
    assert colours == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 28, 34)"}
    assert compared.complaints() == []
