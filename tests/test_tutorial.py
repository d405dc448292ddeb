"""The tutorial notebook runs from top to bottom without Jupyter, and prints what is saved in it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.builders.places import ROOT
from tests.documents import same_output
from tests.notebooks import picture, read_notebook, run_cell, run_notebook, text_of

NOTEBOOK = ROOT / "docs" / "tutorial.ipynb"
CODE = [cell for cell in read_notebook(NOTEBOOK)["cells"] if cell["cell_type"] == "code"]


@pytest.mark.heavy
def test_every_cell_of_the_tutorial_prints_what_is_saved_in_it(tmp_path: Path) -> None:
    for cell, outputs in zip(CODE, run_notebook(read_notebook(NOTEBOOK), tmp_path), strict=True):
        code, saved, real = "".join(cell["source"]), text_of(cell["outputs"]), text_of(outputs)
        assert same_output(saved, real), f"{code}\nprinted\n{real}`make examples` renews the tutorial"


def test_every_cell_of_the_tutorial_has_its_output_saved_and_some_are_pictures() -> None:
    assert all(text_of(cell["outputs"]).strip() for cell in CODE)
    shown = [output["data"] for cell in CODE for output in cell["outputs"] if "data" in output]
    drawn = [data["image/svg+xml"] for data in shown if "image/svg+xml" in data]
    assert len(drawn) >= 2
    for lines in drawn:
        assert ElementTree.fromstring("".join(lines)).tag == "{http://www.w3.org/2000/svg}svg"


def test_a_cell_keeps_what_it_prints_and_the_value_it_ends_with() -> None:
    names: dict[str, object] = {}
    assert text_of(run_cell("a = 1\nprint('one')\na + 1", "cell 1", names)) == "one\n2"
    assert text_of(run_cell("print(a)", "cell 2", names)) == "1\n"


def test_a_drawing_becomes_an_image_with_its_style_inside() -> None:
    drawing = (
        '<div><p>b</p><svg xmlns="http://www.w3.org/2000/svg"><style>.fa-pic{x:y}</style><text>a</text></svg></div>'
    )
    (style, group) = ElementTree.fromstring(picture(drawing))
    assert "background" in (style.text or "")
    assert group.get("class") == "fa-pic"
    assert [each.text for each in group] == [".fa-pic{x:y}", "a"]
