"""The documentation as a site: the pages, the tutorial, and a reference of the Python API made from its docstrings.

    python scripts/build_docs.py [FOLDER]      # default: site; then open site/index.html (`make docs`)
    python scripts/build_docs.py --api         # writes docs/api.md: the public names, to be read without building

The site needs the extra docs, the page docs/api.md nothing.
"""

from __future__ import annotations

import argparse
import base64
import html
import importlib
import inspect
import json
import os
import re
import shutil
import warnings
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent
API_PAGE = ROOT / "docs" / "api.md"
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md", "annotations/*.md", "grammar/**/*.md")
# the public names, and the modules that the pages import from
REFERENCE = (
    "forestalign",
    "forestalign.config",
    "forestalign.errors",
    "forestalign.tokens",
    "forestalign.trees",
    "forestalign.forest",
    "forestalign.parsers",
    "forestalign.dependencies",
    "forestalign.words",
    "forestalign.words.similarity",
    "forestalign.words.word_vectors",
    "forestalign.words.crf",
    "forestalign.phrases.scoring.model",
    "forestalign.phrases.result.alignment",
    "forestalign.formats",
    "forestalign.view",
    "forestalign.mining.edits",
    "forestalign.mining.verdicts",
    "forestalign.evaluation",
    "forestalign.chunk_aligner",
    "forestalign.texts",
)
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1rem }
body { color: #222; background: #fff }
nav { border-bottom: 1px solid #ccc; padding-bottom: .5rem; font-size: .9rem }
nav a { margin-right: .6rem; white-space: nowrap }
a { color: #0b5fa5 }
code, pre { font: .88em/1.4 ui-monospace, monospace; background: #f3f4f6 }
code { padding: 0 .2em }
pre { padding: .7rem; overflow-x: auto }
pre code { padding: 0; font-size: 1em }
pre.output { background: none; border-left: 3px solid #bbb }
table { border-collapse: collapse; display: block; overflow-x: auto }
td, th { border: 1px solid #ccc; padding: .25rem .5rem; text-align: left; vertical-align: top }
img { max-width: 100% }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #181a1d }
  a { color: #7cb8ee }
  code, pre { background: #26292e }
  img { background: #fff }
}
"""


def pages() -> list[Path]:
    """All pages of the repository, the README first."""
    return [path for pattern in PAGES for path in sorted(ROOT.glob(pattern))]


def place(path: Path) -> Path:
    """Where a file of the repository stands in the site, relative to its root."""
    name = path.relative_to(ROOT)
    if name == Path("README.md"):
        return Path("index.html")
    return name.with_suffix(".html") if path.suffix in (".md", ".ipynb") else name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "site")
    parser.add_argument("--api", action="store_true", help="write docs/api.md and nothing else")
    folder, is_api = vars(parser.parse_args()).values()
    if is_api:
        API_PAGE.write_text(api_page(), encoding="utf-8")
        return
    build(folder)
    print(folder / "index.html")


def build(folder: Path) -> None:
    """Write the whole site; what an earlier run left in the folder is overwritten, never deleted."""
    write_reference(folder / "api")
    for page in pages():
        write_page(page, page.read_text(encoding="utf-8"), folder)
    for notebook in sorted((ROOT / "docs").glob("*.ipynb")):
        write_page(notebook, notebook_text(json.loads(notebook.read_text(encoding="utf-8"))), folder)


# ---- the reference ----


def write_reference(folder: Path) -> None:
    """A page for each module of `REFERENCE`."""
    import pdoc
    import pdoc.render

    package = importlib.import_module("forestalign")
    for name in package.__all__:  # imported at first use, which pdoc does not see
        vars(package)[name] = getattr(package, name)
    pdoc.render.configure(docformat="markdown", show_source=False)
    with warnings.catch_warnings():
        # fields of dataclasses whose types are imported for checking only: their text is shown instead of a link
        warnings.filterwarnings("ignore", "Error parsing type annotation")
        # `forestalign.words` is a folder and a public name, so that pdoc meets it twice
        warnings.filterwarnings("ignore", "The module specification 'forestalign.words'")
        pdoc.pdoc(*REFERENCE, output_directory=folder)


def api_page() -> str:
    """The public names with their docstrings as one page of Markdown, functions first."""
    package = importlib.import_module("forestalign")
    values = {name: getattr(package, name) for name in package.__all__}
    functions = [name for name in values if not inspect.isclass(values[name])]
    classes = [name for name in values if inspect.isclass(values[name])]
    parts = [
        "# Python reference",
        "The public names of `forestalign`, made from their docstrings by `python scripts/build_docs.py --api`. What is"
        " not listed here may change without notice.",
        "## Functions",
        *(entry(name, documented(values[name]), "###") for name in functions),
        "## Classes",
    ]
    for name in classes:
        parts.append(entry(name, values[name], "###", fields_of(values[name])))
        parts += [entry(f"{name}.{own}", value, "####") for own, value in members(values[name])]
    return "\n\n".join(parts) + "\n"


def documented(value: Any) -> Any:
    """What stands behind a public name: `words` is a folder that can be called."""
    return importlib.import_module("forestalign.one_pair").words if inspect.ismodule(value) else value


def members(value: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class defines, in the order of the code."""
    for name, member in vars(value).items():
        plain = getattr(member, "__func__", member)
        is_asked_for = inspect.isfunction(plain) or isinstance(plain, property | cached_property)
        if is_asked_for and not name.startswith("_") and inspect.getdoc(plain):
            yield name, plain


def fields_of(value: type) -> str:
    """The fields of a class of values, each with its type."""
    names = getattr(value, "__dataclass_fields__", {})
    rows = [f"- `{name}: {each.type}`" for name, each in names.items() if not name.startswith("_")]
    if not rows and hasattr(value, "_fields"):
        rows = [f"- `{name}: {value.__annotations__[name]}`" for name in value._fields]
    return "\n".join(rows)


def entry(name: str, value: Any, level: str, fields: str = "") -> str:
    """A heading, the call, the docstring with its examples as code."""
    head = f"{level} {name}"
    parts = [head]
    is_made = inspect.isclass(value) and not fields and inspect.isfunction(vars(value).get("__init__"))
    if inspect.isfunction(value) or is_made:
        parts.append(f"```py\n{name}({', '.join(parameters(value))})\n```")
    text = inspect.cleandoc(value.__doc__ or "")
    parts += [f"```pycon\n{block}\n```" if block.startswith(">>>") else block for block in text.split("\n\n")]
    return "\n\n".join([*parts, *([fields] if fields else [])])


def parameters(value: Any) -> Iterator[str]:
    """What a call takes, as it stands in the code; a default that fills lines is left out."""
    is_keyword = False
    for name, each in inspect.signature(value).parameters.items():
        if name == "self":
            continue
        if each.kind is each.KEYWORD_ONLY and not is_keyword:
            is_keyword = True
            yield "*"
        stars = "**" if each.kind is each.VAR_KEYWORD else ""
        default = "" if each.default is each.empty else repr(each.default)
        yield f"{stars}{name}: {each.annotation}" + (f" = {default if len(default) < 30 else '...'}" if default else "")


# ---- the pages ----


def write_page(path: Path, text: str, folder: Path) -> None:
    """A page of the repository as HTML; the files that it links to are copied."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.anchors import anchors_plugin

    markdown = MarkdownIt("commonmark", {"html": True}).enable("table").use(anchors_plugin, max_level=6)
    tokens = markdown.parse(text)
    for token in links(tokens):
        name = "href" if token.type == "link_open" else "src"
        token.attrSet(name, site_link(str(token.attrs[name]), path, folder))
    title = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("# ")), path.stem)
    goal = folder / place(path)
    goal.parent.mkdir(parents=True, exist_ok=True)
    body = markdown.renderer.render(tokens, markdown.options, {})
    goal.write_text(framed(title, navigation(path), body), encoding="utf-8")


def links(tokens: list[Token]) -> Iterator[Token]:
    """The links and images of a page, at any depth."""
    for token in tokens:
        if token.type in ("link_open", "image"):
            yield token
        yield from links(token.children or [])


def site_link(link: str, page: Path, folder: Path) -> str:
    """A link of a page as it is in the site."""
    path, mark, anchor = link.partition("#")
    if not path or re.match(r"[a-z]+:", link):
        return link
    goal = (page.parent / path).resolve()
    if goal.is_dir():
        goal /= "README.md"
    if goal.suffix not in (".md", ".ipynb"):
        (folder / place(goal)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(goal, folder / place(goal))
    return relative(place(goal), page) + mark + anchor


def relative(goal: Path, page: Path) -> str:
    """The way from a page of the site to another file of it."""
    return Path(os.path.relpath(goal, place(page).parent)).as_posix()


def navigation(page: Path) -> str:
    """Links to the README, the reference, the tutorial and the pages of `docs/`."""
    shown = [(place(ROOT / "README.md"), "forestalign"), (Path("api/forestalign.html"), "API reference")]
    shown += [(place(path), path.stem) for path in sorted((ROOT / "docs").glob("*.ipynb"))]
    shown += [(place(path), path.stem) for path in sorted((ROOT / "docs").glob("*.md"))]
    shown += [(place(path), path.parent.name) for path in sorted((ROOT / "docs").glob("*/README.md"))]
    return "".join(f'<a href="{relative(goal, page)}">{html.escape(name)}</a> ' for goal, name in shown)


def framed(title: str, navigation: str, body: str) -> str:
    """A whole page of HTML."""
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body>\n<nav>{navigation}</nav>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


# ---- the tutorial ----


def notebook_text(notebook: dict[str, Any]) -> str:
    """A notebook as Markdown, with the outputs that are saved in it."""
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            parts.append(f"```python\n{source}\n```")
            parts += [shown_output(output) for output in cell["outputs"]]
    return "\n\n".join(parts) + "\n"


def shown_output(output: dict[str, Any]) -> str:
    """An output of a cell: a picture if it has one, else its text."""
    data = output.get("data", {})
    if "image/svg+xml" in data:
        picture = base64.b64encode("".join(data["image/svg+xml"]).encode()).decode()
        return f'<img alt="drawing of the alignment" src="data:image/svg+xml;base64,{picture}">'
    text = "".join(output.get("text", data.get("text/plain", "")))
    # a blank line would end the block of HTML
    return f'<pre class="output">{html.escape(text)}</pre>'.replace("\n\n", "\n&#8203;\n")


if __name__ == "__main__":
    main()
