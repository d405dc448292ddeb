"""The page docs/api.md: the public names of the package with their docstrings (`make examples`).

python scripts/build_api.py
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "api.md"


def api_page() -> str:
    """The public names with their docstrings as one page of Markdown, functions first."""
    package = importlib.import_module("forestalign")
    values = {name: getattr(package, name) for name in package.__all__}
    functions = [name for name in values if not inspect.isclass(values[name])]
    classes = [name for name in values if inspect.isclass(values[name])]
    parts = [
        "# Python reference",
        "The public names of `forestalign`, made from their docstrings by `python scripts/build_api.py`. What is"
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
    return importlib.import_module("forestalign.aligner").words if inspect.ismodule(value) else value


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


if __name__ == "__main__":
    PAGE.write_text(api_page(), encoding="utf-8")
