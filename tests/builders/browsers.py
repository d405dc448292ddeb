"""A real Chromium that looks at our pages."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forestalign.view import page_html
from forestalign.view.server import AlignServer
from tests.builders.view_samples import cat, harbour, with_extras

CAT = cat()
POOR_CAT = cat(4, 7)
LONG = harbour()
IN_A_BROWSER = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        not shutil.which("chromedriver") and not shutil.which("apt-get"), reason="neither a browser nor apt here"
    ),
]
CONTROL, ENTER, DELETE = "\ue009", "\ue007", "\ue017"
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
        return list(self.driver.find_elements("css selector", selector))

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        return str(self.one(selector).text)

    def node(self, side: str, span: str, extra: str = "") -> Any:
        return self.one(f'.node[data-side="{side}"][data-span="{span}"]{extra}')

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def control(self, key: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).key_down(CONTROL).send_keys(key).key_up(CONTROL).perform()

    def point(self, element: Any) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).move_to_element(element).perform()

    def script(self, text: str) -> Any:
        return self.driver.execute_script(text)

    @contextmanager
    def screen(self, width: int, height: int = 900, scheme: str = "light") -> Iterator[None]:
        """A screen of this size, and of a light or a dark system."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        try:
            yield
        finally:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    running = Browser(tmp_path_factory.mktemp("profile"))
    yield running
    running.driver.quit()


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


@contextmanager
def running(server: AlignServer) -> Iterator[str]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    with server:
        thread.start()
        try:
            yield server.url
        finally:
            server.shutdown()
            thread.join()


def wait_until(condition: Any) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(None, 10, poll_frequency=0.05).until(lambda _: condition())
