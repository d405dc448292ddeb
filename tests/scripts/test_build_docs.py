"""The site of the documentation: what the pages import is in the reference, and no link of the site leads nowhere."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.builders.places import ROOT
from tests.documents import PAGES, blocks


def reference() -> set[str]:
    """The modules of `REFERENCE`, read without importing the script, which needs the extra docs."""
    for node in ast.parse((ROOT / "scripts" / "build_docs.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and [ast.unparse(goal) for goal in node.targets] == ["REFERENCE"]:
            return set(ast.literal_eval(node.value))
    raise AssertionError("build_docs.py has no REFERENCE")


def test_every_module_that_a_page_imports_is_in_the_reference() -> None:
    code = "\n".join(block.text for page in PAGES for block in blocks(page) if block.language == "python")
    imported = set(re.findall(r"^(?:from|import) (forestalign[\w.]*)", code, re.MULTILINE))
    assert len(imported) > 3
    assert imported - reference() == set()


class Page(HTMLParser):
    """The anchors of a page and what it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors.update(value for name in ("id", "name") if (value := values.get(name)))
        self.links += [value for name in ("href", "src") if (value := values.get(name))]


@cache
def read_page(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def broken_links(site: Path) -> list[str]:
    """Links of a site to files or anchors that it does not have; the world outside is not asked."""
    return [
        f"{path.relative_to(site)}: {link}"
        for path in sorted(site.rglob("*.html"))
        for link in read_page(path).links
        if not re.match(r"[a-z]+:", link) and not is_reached(link, path)
    ]


def is_reached(link: str, page: Path) -> bool:
    path, _, anchor = unquote(link).partition("#")
    goal = (page.parent / path).resolve() if path else page
    if not goal.is_file():
        return False
    return not anchor or goal.suffix != ".html" or anchor in read_page(goal).anchors


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="one">One</h1><a href="b.html#two"></a><a href="b.html#six"></a><a href="c.html"></a>'
    )
    (tmp_path / "b.html").write_text(
        '<h1 id="two">Two</h1><a href="a.html#one"></a><a href="https://example.org/x"></a>'
    )
    assert broken_links(tmp_path) == ["a.html: b.html#six", "a.html: c.html"]


def test_the_python_reference_is_that_of_the_code() -> None:
    """`python scripts/build_docs.py --api` writes it anew."""
    import build_docs

    assert build_docs.API_PAGE.read_text(encoding="utf-8") == build_docs.api_page()


@pytest.mark.heavy
def test_the_site_has_every_page_and_public_name_and_no_broken_link(tmp_path: Path) -> None:
    import build_docs

    import forestalign

    build_docs.build(tmp_path)
    assert broken_links(tmp_path) == []
    assert all((tmp_path / build_docs.place(page)).is_file() for page in PAGES)
    reference = tmp_path / "api"
    assert set(forestalign.__all__) - {"words"} <= read_page(reference / "forestalign.html").anchors
    assert "The folder can be called" in (reference / "forestalign" / "words.html").read_text()


@pytest.mark.heavy
def test_a_notebook_shows_its_texts_and_pictures() -> None:
    import build_docs

    outputs = [{"data": {"image/svg+xml": ["<svg/>"]}}, {"text": ["a < b\n", "\n", "c\n"]}]
    cells = [
        {"cell_type": "markdown", "source": ["# Title"]},
        {"cell_type": "code", "source": ["print(1)"], "outputs": outputs},
    ]
    text = build_docs.notebook_text(json.loads(json.dumps({"cells": cells})))
    assert "# Title\n\n```python\nprint(1)\n```" in text
    assert "data:image/svg+xml;base64,PHN2Zy8+" in text
    assert "a &lt; b\n&#8203;\nc" in text
