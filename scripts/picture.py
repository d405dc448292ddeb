"""A picture of the viewer's page, for the README: `python scripts/picture.py page.html picture.png [--pair ID]`.

Needs selenium (extra viewer-test) and Chromium with its driver (scripts/install_chromium.sh).
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from urllib.parse import quote

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
         "--disable-background-networking", "--disable-component-update", "--disable-sync")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--pair", default="", help="id of the pair to show (default: the first)")
    parser.add_argument("--keep", default="", metavar="SPAN", help="source phrase to select, e.g. 0-3")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as profile:
        driver = start(profile)
        try:
            screen = {"width": 1280, "height": 760, "deviceScaleFactor": 2, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
            driver.get(f"{args.page.resolve().as_uri()}#{quote(args.pair)}")
            if args.keep:
                driver.find_element("css selector", f'.aligned[data-side="source"][data-span="{args.keep}"]').click()
            driver.save_screenshot(str(args.picture))
        finally:
            driver.quit()


def start(profile: str) -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


if __name__ == "__main__":
    main()
