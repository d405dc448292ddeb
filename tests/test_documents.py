"""What the README and `docs/` say is true: examples run, outputs are real, links lead somewhere."""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
import shutil
import subprocess
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from forestalign.cli import COMMANDS, CommandParser
from forestalign.config import AlignConfig
from forestalign.formats.codec import from_json
from forestalign.formats.tree_files import parse_forest
from tests.documents import (
    ANY_FENCE,
    INDENTED,
    PAGES,
    ROOT,
    Block,
    blocks,
    command_lines,
    environment_of,
    run_page,
    same_output,
)

MARKDOWN = (*PAGES, ROOT / "CHANGELOG.md", *ROOT.glob("annotations/*.md"), *ROOT.glob("grammar/**/*.md"))
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
RUN = [page for page in PAGES if any(block.is_run for block in blocks(page))]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def table(page: str, heading: str) -> dict[str, list[str]]:
    """The first table below a heading: the name in the first column, and the other columns."""
    section = (ROOT / page).read_text(encoding="utf-8").partition(f"# {heading}\n")[2]
    rows = re.findall(r"^\| `([^`]+)` \|(.*)\|$", re.split(r"^#+ ", section, flags=re.MULTILINE)[0], re.MULTILINE)
    return {name: [cell.strip() for cell in rest.split(" | ")] for name, rest in rows}


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", ANY_FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def text_of(page: str) -> str:
    """A page with single spaces for all white space."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


# ---- figures that stand in two places ----


def test_what_many_pairs_cost_follows_from_the_speeds_of_the_page_of_results() -> None:
    rates = re.search(
        r"\| text to JSON, one process / two \| ([\d.]+) / ([\d.]+) pairs/s \|", text_of("docs/results.md")
    )
    costs = re.search(
        r"aligns ([\d.]+) pairs of 25 words per second, two processes on two cores ([\d.]+) .*? does about (\d+)\."
        r" 50 million pairs take ([\d.]+) million seconds or ([\d,]+) core hours: ([\d.]+) hours on 100 cores,"
        r" or about (\d+) dollars",
        text_of("docs/long-work.md"),
    )
    assert rates
    assert costs
    assert costs.groups()[:2] == rates.groups()
    of_a_core, seconds, hours, of_hundred, dollars = (float(each.replace(",", "")) for each in costs.groups()[2:])
    assert of_a_core == round(float(rates[2]) / 2)
    assert seconds == round(100 / float(rates[2]), 1)
    assert hours == pytest.approx(seconds * 1e6 / 3600, rel=0.005)
    assert (of_hundred, dollars) == (round(hours / 100, 1), round(hours * 0.04))


def test_the_signature_of_the_readme_is_on_the_page_of_results() -> None:
    (signature,) = re.findall(
        r"Signature of the first row: (forestalign \S+ grammar:[0-9a-f]{8});", text_of("README.md")
    )
    assert signature in text_of("docs/results.md")
    assert signature.split()[1].partition("+")[0] == PROJECT["version"]


def test_scores_of_the_readme_are_those_of_the_page_of_results() -> None:
    shown = re.findall(r"\| forestalign \| ([\d.]+) \| ([\d.]+) \|", text_of("README.md"))
    scores = r"`annotations/test` R \S+ P \S+ F1 (\S+) and `annotations/natural` R \S+ P \S+ F1 (\S+) with 0.3.0"
    ((test, natural),) = re.findall(scores, text_of("docs/results.md"))
    assert shown == [(f"{float(test):.1f}", f"{float(natural):.1f}")]


# ---- examples ----


# pages whose examples take five seconds or more
LONG = (
    "paraphrases.md",
    "comparing.md",
    "formats.md",
    "long-work.md",
    "parsing.md",
    "recipes.md",
    "viewing.md",
    "words.md",
)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.heavy if page.name in LONG else ()) for page in RUN],
    ids=name_of,
)
def test_the_examples_of_a_page_run_and_print_what_it_shows(page: Path, tmp_path: Path) -> None:
    wrong = [f"{found.block} should be\n{found.renewed}" for found in run_page(page, tmp_path)]
    assert not wrong, "\n".join([*wrong, "`make examples` renews the pages"])


@pytest.mark.heavy
@pytest.mark.parametrize("page", [page for page in PAGES if any(block.is_heavy for block in blocks(page))], ids=name_of)
def test_the_examples_that_take_longer_run_too(page: Path, tmp_path: Path) -> None:
    assert run_page(page, tmp_path, heavy=True) == []


@pytest.mark.heavy
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_hook_of_the_recipes_stops_a_commit_that_changes_the_meaning(tmp_path: Path) -> None:
    (hook,) = (block.text for block in blocks(ROOT / "docs" / "recipes.md") if block.language == "yaml")
    entry = hook.partition("entry: ")[2].strip()
    environment = environment_of(tmp_path) | {"HOME": str(tmp_path)}
    note = tmp_path / "note.md"

    def shell(line: str) -> int:
        return subprocess.run(["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True).returncode

    note.write_text("You must pay by Monday. Nobody was hurt.\n", encoding="utf-8")
    assert shell("git init -q && git add note.md && git -c user.name=a -c user.email=a@b commit -qm one") == 0
    for text, code in (("Nobody was injured. You must pay by Monday.\n", 0), ("You must pay by Friday.\n", 1)):
        note.write_text(text, encoding="utf-8")
        assert shell(f"{entry} note.md") == code


def test_the_readme_has_ten_lines_of_python() -> None:
    (block,) = (block for block in blocks(ROOT / "README.md") if block.language == "python")
    assert len([line for line in block.text.splitlines() if line]) <= 10


def test_the_json_examples_are_records_that_the_readers_take() -> None:
    record, forest = (block.text for block in blocks(ROOT / "docs" / "formats.md") if block.language == "json")
    assert from_json(record).id == "1"
    assert parse_forest(forest)[1].sentence.words == ("She", "left")


@pytest.mark.parametrize(
    ("shown", "real", "same"),
    [
        ('{"a": 0.123}', '{"a":\n 0.1231}', True),
        ('{"a": 0.123}', '{"a": 0.173}', False),
        ('{"a": 0.123}', '{"b": 0.123}', False),
        ("0-0 1-1", "0-0 1-2", False),
        ("[0.1]", "[0.1, 0.1]", False),
    ],
)
def test_outputs_are_compared_but_for_white_space_and_last_digits(shown: str, real: str, same: bool) -> None:
    assert same_output(shown, real) is same


def test_a_wrong_output_is_noticed_and_renewed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console run\n$ echo one\ntwo\n$ echo three\n```\n")
    (tmp_path / "work").mkdir()
    (found,) = run_page(page, tmp_path / "work")
    assert found.block == Block(page, 1, "console", "run", "$ echo one\ntwo\n$ echo three\n")
    assert found.renewed == "$ echo one\none\n$ echo three\n"


# what no test has: a cluster, a public branch, a terminal that waits, an hour, the configuration of git
NOT_RUN = re.compile(r"ADDRESS|git show|^forestalign serve|--trials 3|^git config|^pip install|\[")


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name != "experiments"], ids=name_of)
def test_every_line_of_the_program_is_run_by_the_tests_above(page: Path) -> None:
    page_text = page.read_text(encoding="utf-8")
    fences = [
        (found[1], found[2]) for found in re.finditer(r"^```(.*)\n((?:(?!```).*\n)*)```$", page_text, re.MULTILINE)
    ]
    idle = [text for mark, text in fences if not mark.startswith(("console run", "py", "json", "text"))]
    lines = [line.removeprefix("$ ") for text in idle for line in text.splitlines()]
    lines += [
        line.strip() for found in INDENTED.finditer(ANY_FENCE.sub("", page_text)) for line in found[0].splitlines()
    ]
    assert [line for line in lines if "forestalign " in line and not NOT_RUN.search(line)] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_line_shown_is_one_that_the_program_takes(page: Path) -> None:
    for place, line in command_lines(page):
        for arguments in forestalign_calls(line):
            assert is_accepted(arguments), f"{place}: forestalign {shlex.join(arguments)}"


def forestalign_calls(line: str) -> list[list[str]]:
    """The arguments of each call of forestalign in a line of shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>;&")
    lexer.whitespace_split = True
    calls: list[list[str]] = [[]]
    for token in lexer:
        if token in ("|", ";", "&&"):
            calls.append([])
        elif set(token) <= set("<>"):
            next(lexer)
        else:
            calls[-1].append(token)
    return [call[1:] for call in calls if call[:1] == ["forestalign"]]


def is_accepted(arguments: list[str]) -> bool:
    if arguments[0] not in COMMANDS:
        return arguments[0] in ("--version", "--help", "COMMAND")
    command = importlib.import_module(f"forestalign.cli.{arguments[0]}")
    parser = CommandParser(prog="forestalign", formatter_class=argparse.RawDescriptionHelpFormatter)
    command.configure(parser)
    try:
        parser.parse_args(arguments[1:])
    except SystemExit as ended:
        return ended.code == 0
    return True


def test_a_command_line_that_the_program_refuses_is_noticed() -> None:
    (call,) = forestalign_calls("cat pairs.tsv | forestalign align --beem 3 > out.txt  # a comment")
    assert call == ["align", "--beem", "3"]
    assert not is_accepted(call)
    assert is_accepted(["align", "--beam", "3"])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_script_and_make_target_named_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    missing = [name for name in re.findall(r"(?<!tests/)\bscripts/[\w.]+\w", text) if not (ROOT / name).exists()]
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    missing += [name for name in re.findall(r"(?:`|^ +)make ([\w-]+)", text, re.MULTILINE) if name not in targets]
    assert not missing


# ---- links ----


@pytest.mark.parametrize("page", MARKDOWN, ids=name_of)
def test_every_relative_link_and_image_exists(page: Path) -> None:
    broken = []
    for link in LINK.findall(ANY_FENCE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"https?:|mailto:", link):
            continue
        path, _, anchor = link.partition("#")
        goal = (page.parent / path).resolve() if path else page
        if not goal.exists() or not goal.is_relative_to(ROOT) or (anchor and anchor not in anchors(goal)):
            broken.append(link)
    assert not broken


def test_every_page_is_reached_from_the_readme() -> None:
    linked = set(LINK.findall((ROOT / "README.md").read_text(encoding="utf-8")))
    assert {name_of(page) for page in (ROOT / "docs").glob("*.md")} <= linked
    for folder in {page.parent for page in (ROOT / "docs").rglob("*.md")} - {ROOT / "docs"}:
        contents = folder / "README.md"
        assert name_of(contents) in linked
        assert {page.name for page in folder.glob("*.md")} - {"README.md"} <= set(LINK.findall(contents.read_text()))


# ---- tables ----


def test_the_readme_is_short() -> None:
    assert (ROOT / "README.md").stat().st_size <= 10_500


def test_the_readme_lists_exactly_the_commands_there_are() -> None:
    assert list(table("README.md", "Commands")) == list(COMMANDS)


def test_every_setting_is_listed_with_its_default() -> None:
    rows = table("docs/settings.md", "Settings") | table("docs/settings.md", "Experimental settings")
    assert {name: cells[0] for name, cells in rows.items()} == {
        field.name: f"`{getattr(AlignConfig(), field.name)!r}`" for field in fields(AlignConfig)
    }


def test_every_dependency_and_extra_is_explained() -> None:
    names = [re.match(r"[\w-]+", requirement) for requirement in PROJECT["dependencies"]]
    assert sorted(table("docs/dependencies.md", "Dependencies")) == sorted(name.group() for name in names if name)
    assert sorted(table("docs/dependencies.md", "Extras")) == sorted(PROJECT["optional-dependencies"])


# ---- help ----


def options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """All arguments of a parser and of its sub-commands."""
    found: list[argparse.Action] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found += [option for each in action.choices.values() for option in options(each)]
        else:
            found.append(action)
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_is_explained(name: str) -> None:
    parser = CommandParser(prog=name)
    importlib.import_module(f"forestalign.cli.{name}").configure(parser)
    assert not [option.dest for option in options(parser) if not option.help]


# ---- promises ----


def promises() -> list[tuple[str, list[tuple[str, str]]]]:
    """Each row of docs/promises.md: the promise, and the tests that it names as (file, function)."""
    text = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8").partition("## Attacks")[0]
    rows = re.findall(r"^\| (?!promise \|)(.+?) \| (.+) \|$", text, re.MULTILINE)
    return [(promise, re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", tests)) for promise, tests in rows]


@pytest.mark.parametrize(("promise", "tests"), promises())
def test_a_promise_names_tests_that_exist(promise: str, tests: list[tuple[str, str]]) -> None:
    assert tests, promise
    missing = [
        f"{path}::{name}"
        for path, name in tests
        if not (ROOT / path).is_file() or f"\ndef {name}(" not in (ROOT / path).read_text(encoding="utf-8")
    ]
    assert missing == []
