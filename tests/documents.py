"""The README and the pages of `docs/` as programs: their examples are run, and their outputs compared or renewed.

    python -m tests.documents      # run every page and notebook and write the real outputs into them (`make examples`)

A fenced block says in its first line what it is:

    ```python              run, each block on its own
    ```console run         run: `$ command` lines, each followed by what it prints (nothing: the output is not compared)
    ```console run heavy   as `console run`, but takes longer: run by `make test-heavy` and `make examples` only
    ```console             not run (needs data, a cluster, or an hour), but every `forestalign` line must be a valid one
    ```json FILE           the content of FILE as an earlier block of the page wrote it

All blocks of a page share a folder that holds `pairs.tsv`, `sentences.txt`, `tokens.txt` and `annotations/`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from tests.notebooks import renew

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md")
FENCE = re.compile(r"^```(\w+)(?: (.+?))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ANY_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"(?:^    .*\n)+", re.MULTILINE)
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
TOLERANCE = 0.02  # 8-bit weights: the last digits depend on the processor
WIDTH = 110
SIGNATURE = "forestalign 0.2.0 grammar:01234567"


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: where it stands, its language, the rest of its first line, and its text."""

    page: Path
    line: int
    language: str
    mark: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def is_run(self) -> bool:
        return (
            self.language == "python" or (self.language == "console" and self.mark.startswith("run")) or self.is_content
        )

    @property
    def is_heavy(self) -> bool:
        return self.mark == "run heavy"

    @property
    def is_content(self) -> bool:
        """Whether it shows a file that an earlier block wrote."""
        return self.language == "json" and bool(self.mark)


@dataclass(frozen=True, slots=True)
class Difference:
    """A block that shows something else than what was printed, and the block as it should be."""

    block: Block
    renewed: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page that name a language."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found[1], found[2] or "", found[3])
        for found in FENCE.finditer(text)
    ]


def steps(block: Block) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the lines shown below it."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def command_lines(page: Path) -> Iterator[tuple[str, str]]:
    """Every command line that a page shows, in console blocks and in indented ones, with its place."""
    text = page.read_text(encoding="utf-8")
    for block in blocks(page):
        if block.language == "console":
            yield from ((str(block), command) for command, _ in steps(block))
    for found in INDENTED.finditer(ANY_FENCE.sub("", text)):
        yield from ((page.name, line.strip()) for line in found[0].splitlines())


def prepare(folder: Path) -> None:
    """The files that examples start from."""
    pairs = ROOT / "tests" / "data" / "pairs.tsv"
    sentences = [line.partition("\t")[0] for line in pairs.read_text(encoding="utf-8").splitlines()]
    shutil.copy(pairs, folder / "pairs.tsv")
    (folder / "sentences.txt").write_text("\n".join(sentences) + "\n", encoding="utf-8")
    (folder / "tokens.txt").write_text("The cat sat on the mat .\n", encoding="utf-8")
    (folder / "annotations").mkdir()
    shutil.copy(ROOT / "annotations" / "dev.jsonl", folder / "annotations" / "dev.jsonl")


def run_page(page: Path, folder: Path, heavy: bool = False) -> list[Difference]:
    """Run the examples of a page in order (heavy ones if asked); raises where one fails, returns what differs."""
    prepare(folder)
    found: list[Difference] = []
    for block in blocks(page):
        if block.language == "python":
            with chdir(folder):
                exec(compile(block.text, str(block), "exec"), {})
        elif block.is_run and (heavy or not block.is_heavy):
            real = _content(block, folder) if block.is_content else _console(block, folder)
            if not same_output(block.text, real):
                found.append(Difference(block, real))
    return found


def same_output(shown: str, real: str) -> bool:
    """Whether two outputs are the same, but for white space and for the last digits of decimal numbers."""
    numbers = [tuple(map(float, NUMBER.findall(text))) for text in (shown, real)]
    texts = ["".join(NUMBER.sub("0.0", text).split()) for text in (shown, real)]
    return (
        texts[0] == texts[1]
        and len(numbers[0]) == len(numbers[1])
        and all(abs(left - right) <= TOLERANCE for left, right in zip(*numbers, strict=True))
    )


def _console(block: Block, folder: Path) -> str:
    """The block with what its commands really print; where nothing is shown, nothing is compared."""
    lines: list[str] = []
    for command, shown in steps(block):
        done = subprocess.run(
            ["sh", "-c", command], cwd=folder, env=environment_of(folder), capture_output=True, text=True
        )
        assert done.returncode == 0, f"{block}: `{command}` ended with {done.returncode}:\n{done.stderr}"
        lines.append(f"$ {command}\n{done.stdout if shown.strip() else ''}")
    return "".join(lines)


def environment_of(folder: Path) -> dict[str, str]:
    """An environment in which `forestalign` is this checkout."""
    program = folder / ".bin" / "forestalign"
    if not program.exists():
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m forestalign "$@"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return os.environ | {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


def _content(block: Block, folder: Path) -> str:
    """A file of one JSON object, wrapped to the width of the page; version and hash in its signature are stand-ins."""
    text = re.sub(r"forestalign \S+ grammar:\w+", SIGNATURE, (folder / block.mark).read_text(encoding="utf-8"))
    value = json.loads(text, parse_float=lambda digits: round(float(digits), 4))
    return f"{_object(value, 1)}\n"


def _object(value: dict[str, object], depth: int) -> str:
    """The fields of an object, as many to a line as fit; a field that needs several lines starts one."""
    text = "{"
    for name, part in value.items():
        field = f"{json.dumps(name)}: {_wrapped(part, depth + 1)}"
        room = WIDTH - len(text.rpartition("\n")[2])
        text += field if text == "{" else f", {field}" if len(field) < room else f",\n{' ' * depth}{field}"
    return text + "}"


def _wrapped(value: object, depth: int) -> str:
    """JSON on one line if it is short, else with a line for each part of it."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) + depth < WIDTH:
        return text
    if isinstance(value, list):
        indent = f"\n{' ' * depth}"
        return f"[{indent}" + f",{indent}".join(_wrapped(each, depth + 1) for each in value) + "]"
    assert isinstance(value, dict)
    return _object(value, depth)


def main() -> None:
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            text = page.read_text(encoding="utf-8")
            for difference in run_page(page, Path(folder), heavy=True):
                print(f"{difference.block}: renewed")
                text = text.replace(difference.block.text, difference.renewed, 1)
            page.write_text(text, encoding="utf-8")
    for notebook in sorted((ROOT / "docs").glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as folder:
            renew(notebook, Path(folder))


if __name__ == "__main__":
    main()
