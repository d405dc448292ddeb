"""The habits of the project, where a test can see them: changelog, citation, scripts, pages."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.builders.places import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
TABLE = (ROOT / "scripts" / "README.md").read_text(encoding="utf-8")


# ---- releases ----


def test_the_newest_release_of_the_changelog_is_the_version() -> None:
    releases = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", CHANGELOG, re.MULTILINE)
    dated = [(version, date) for version, date in releases if version != "Unreleased"]
    assert dated[0][0] == PROJECT["project"]["version"]
    assert all(date for _, date in dated)
    assert [date for _, date in dated] == sorted((date for _, date in dated), reverse=True)


def test_the_citation_names_version_and_date_of_the_release() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    version = PROJECT["project"]["version"]
    assert f"version: {version}\n" in citation
    date = re.search(rf"^## \[{re.escape(version)}\] - (.+)$", CHANGELOG, re.MULTILINE)
    assert date
    assert f"date-released: {date.group(1)}\n" in citation


# ---- scripts ----


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "scripts").glob("*.*") if path.suffix != ".md"))
def test_the_table_says_what_every_script_makes(name: str) -> None:
    assert f"`{name}`" in TABLE


# ---- what the repository does not hold ----


PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(
    (ROOT / "docs").rglob("*.md")
)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_page_names_a_place_on_one_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w.])/(home|root|work|Users|tmp)/", text)
