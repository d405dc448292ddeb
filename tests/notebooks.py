"""Notebooks as programs: cells are run in order without Jupyter; what they print and draw is saved in them."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
from contextlib import chdir
from pathlib import Path
from typing import Any

PICTURE = re.compile(r"<svg ([^>]*)>(.*)</svg>", re.DOTALL)


def read_notebook(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def run_notebook(notebook: dict[str, Any], folder: Path) -> list[list[dict[str, Any]]]:
    """Run the code cells of a notebook in a folder; the outputs of each of them, as a notebook keeps them."""
    names: dict[str, Any] = {}
    codes = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    with chdir(folder):
        return [run_cell(code, f"cell {number}", names) for number, code in enumerate(codes, start=1)]


def run_cell(code: str, place: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """What a cell prints, and the value of the expression that it ends with."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, place, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), place, "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append(
            {"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)}
        )
    if value is not None:
        outputs.append({"data": shown(value), "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def shown(value: Any) -> dict[str, list[str]]:
    """A value as text, and as it displays itself: a drawing as an SVG image, since viewers drop styles from HTML."""
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        markup = value._repr_html_()
        kind, shown_markup = ("image/svg+xml", picture(markup)) if PICTURE.search(markup) else ("text/html", markup)
        data[kind] = shown_markup.splitlines(keepends=True)
    return data


def picture(drawing: str) -> str:
    """The drawing of a result as an SVG image that needs no page around it."""
    found = PICTURE.search(drawing)
    assert found, "the drawing of a result has no SVG"
    attributes, inside = found.groups()
    frame = "<style>svg { color: #222; background: #fff }</style>"
    return f'<svg {attributes}>{frame}<g class="fa-pic">{inside}</g></svg>'


def renew(path: Path, folder: Path) -> None:
    """Write the real outputs into a notebook."""
    notebook = read_notebook(path)
    outputs = iter(run_notebook(notebook, folder))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = next(outputs)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def text_of(outputs: list[dict[str, Any]]) -> str:
    """What the outputs of a cell say; pictures apart."""
    return "".join("".join(output.get("text", output.get("data", {}).get("text/plain", []))) for output in outputs)
