"""`forestalign compare` as a user meets it: reports, pages, JSON lines, bad input, and as a driver of git diff."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forestalign.cli import main
from forestalign.terminal import GREEN, RED
from forestalign.texts import comparison
from tests.builders.places import ROOT
from tests.builders.work import count_calls

OLD = "The board met on Monday. Nobody was hurt. Sales rose by 3 percent in May. The weather was fine."
NEW = "The weather was fine. On Monday the board met. Nobody was hurt. Sales rose by 5 percent in May. It rained."


@pytest.fixture
def texts(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "old.txt").write_text(OLD, encoding="utf-8")
    (tmp_path / "new.txt").write_text(NEW, encoding="utf-8")
    return str(tmp_path / "old.txt"), str(tmp_path / "new.txt")


def test_the_report_tells_what_changed_moved_came_and_went(
    texts: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *texts]) == 0
    out = capsys.readouterr().out
    assert "4 sentences → 5 sentences; 2 same, 1 reworded, 1 meaning changed, 1 added, 1 moved" in out
    assert "line 1, moved: same\n    The weather was fine." in out
    assert "meaning changed: 3 became 5" in out
    assert "  - Sales rose by [-3-] percent in May.\n  + Sales rose by {+5+} percent in May." in out
    assert "added\n  + It rained." in out
    assert "Nobody" not in out
    assert "\033" not in out


def test_json_lines_hold_every_passage(texts: tuple[str, str], tmp_path: Path) -> None:
    output = tmp_path / "changes.jsonl"
    assert main(["compare", *texts, "--json", "-o", str(output)]) == 0
    rows = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert [row["kind"] for row in rows] == ["same", "reworded", "same", "meaning changed", "added"]
    assert rows[3]["reasons"] == [{"kind": "number", "reason": "3 became 5", "old": "3", "new": "5"}]
    assert rows[3]["old"] == {"line": 1, "sentences": [3], "text": "Sales rose by 3 percent in May."}
    assert rows[0]["moved"] is True
    assert {edit["kind"] for edit in rows[3]["edits"]} >= {"replaced"}


def test_the_page_is_whole_in_itself_and_holds_no_markup_of_the_texts(tmp_path: Path) -> None:
    for name, text in (("old.txt", "The <script> dog slept."), ("new.txt", "The <script> cat slept. <b>Why</b>?")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    page = tmp_path / "page.html"
    assert main(["compare", str(tmp_path / "old.txt"), str(tmp_path / "new.txt"), "--html", str(page)]) == 0
    html = page.read_text(encoding="utf-8")
    assert "<script" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;" in html
    assert "<del>" in html
    assert "http" not in html


@pytest.mark.parametrize(
    ("article", "summary", "told"),
    [
        ("The mayor did not approve the budget.", "The mayor approved the budget.", "; the article has not approve"),
        ("The chairman praised the mayor.", "The mayor praised the chairman.", "; the article has chairman praised"),
        ("Oslo is colder than Rome.", "Rome is warmer than Oslo.", "1 sentence, 1 found whole"),
    ],
)
def test_sources_go_by_what_contradicts(
    article: str, summary: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "article.txt").write_text(f"{article}\nThe mayor praised the pool.\n", encoding="utf-8")
    (tmp_path / "summary.txt").write_text(summary, encoding="utf-8")
    assert main(["compare", "--source", str(tmp_path / "article.txt"), str(tmp_path / "summary.txt")]) == 0
    assert told in capsys.readouterr().out


def test_sources_of_a_summary_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "article.txt").write_text(
        "The council closed the old pool on Tuesday.\nRepairs would cost 4 million euros.\nIt rained.\n",
        encoding="utf-8",
    )
    (tmp_path / "summary.txt").write_text("It rained. The council closed the pool because of a leak.", encoding="utf-8")
    paths = [str(tmp_path / "article.txt"), str(tmp_path / "summary.txt")]
    assert main(["compare", "--source", *paths]) == 0
    out = capsys.readouterr().out
    assert "It rained.  ← line 3" in out
    assert "leak  ← nothing" in out
    assert "reading aid" in out
    assert main(["compare", "--source", *paths, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {phrase.get("line", 0) for phrase in rows[1]["phrases"]} == {0, 1}


# ---- check ----


@pytest.mark.parametrize(
    ("arguments", "code", "lines"),
    [
        (["old.txt", "new.txt"], 1, ["new.txt:1: number: 3 became 5", "new.txt:1: added: It rained."]),
        (["He bought a car.", "A car was bought by him."], 0, []),
        (["He bought a car.", "He bought a car in May."], 0, []),
        (["He bought a car.", "He bought a car in May.", "--strict"], 1, ["second:1: added: in May"]),
        (["pairs.csv"], 1, ["pairs.csv:2: opposite: rose became fell"]),
        (["bad.tsv"], 1, ["bad.tsv:2: not compared: the source is empty; expected a sentence"]),
    ],
    ids=["texts", "paraphrase", "more", "strict", "pairs", "bad line"],
)
def test_a_rewrite_is_checked_with_a_line_for_each_loss(
    texts: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    arguments: list[str], code: int, lines: list[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(Path(texts[0]).parent)
    Path("pairs.csv").write_text('The dog slept.,"The dog slept."\n"Yes, prices rose.","Yes, prices fell."\n')
    Path("bad.tsv").write_text("He left.\tHe left.\n\tHe left.\n")
    assert main(["check", *arguments]) == code
    assert capsys.readouterr().out.splitlines() == lines
    assert main(["check", *arguments, "--json", "-q"]) == code
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert ["{file}:{line}".format(**row) for row in rows] == [":".join(line.split(":")[:2]) for line in lines]


def test_lines_may_be_sentences_and_marks_cover_whole_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.txt").write_text("I can't go. No way\nJust this\n")
    Path("new.txt").write_text("I won't go. No way\nJust this\n")
    assert main(["compare", "old.txt", "new.txt", "--lines"]) == 0
    out = capsys.readouterr().out
    assert "2 sentences → 2 sentences; 1 same" in out
    assert "[-can't-]" in out
    assert "{+won't+}" in out


# ---- bad input ----


@pytest.mark.parametrize(
    ("first", "second", "code", "message"),
    [
        (b"", b"He left.", 2, "first.txt has no sentence; expected a text"),
        (b"He left.", b" \n", 2, "second.txt has no sentence; expected a text"),
        (b"\x7fELF\x01\x00\x00\xd0", b"He left.", 1, "first.txt:1: byte 8 of the line is 0xd0, which is not UTF-8"),
    ],
    ids=["empty", "blank", "binary"],
)
def test_what_cannot_be_compared_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], first: bytes, second: bytes, code: int, message: str
) -> None:
    (tmp_path / "first.txt").write_bytes(first)
    (tmp_path / "second.txt").write_bytes(second)
    assert main(["compare", str(tmp_path / "first.txt"), str(tmp_path / "second.txt")]) == code
    assert message in capsys.readouterr().err


def test_a_file_and_itself_need_no_models(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "load", None)
    path = tmp_path / "long.txt"
    path.write_text(" ".join(f"Sentence {n} stands here and says little." for n in range(3000)), encoding="utf-8")
    statuses: list[int] = []
    calls = count_calls(lambda: statuses.append(main(["compare", str(path), str(path)])))
    assert statuses == [0]
    assert calls < 3000 * 400
    assert capsys.readouterr().out.endswith(": 3000 sentences → 3000 sentences; 3000 same\n")


def test_other_languages_get_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "de.txt").write_text("Der Hund schläft heute in der warmen Sonne.", encoding="utf-8")
    assert main(["compare", str(tmp_path / "de.txt"), str(tmp_path / "de.txt")]) == 0
    assert "does not look like English" in capsys.readouterr().err


def test_one_text_may_come_from_stdin(
    texts: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(OLD.encode())))
    assert main(["compare", "-", texts[0]]) == 0
    assert "4 same" in capsys.readouterr().out


# ---- git ----


@pytest.mark.heavy
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_diff_shows_prose_by_two_lines_of_configuration(tmp_path: Path) -> None:
    def git(*arguments: str, **more: str) -> str:
        places = {
            "HOME": str(tmp_path),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        names = {f"GIT_{role}_{what}": "x@y.z" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        done = subprocess.run(
            ["git", *arguments], cwd=tmp_path, env=places | names | more, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    notes = tmp_path / "notes.md"
    notes.write_text("# Notes\n\nNobody was hurt. Sales rose by 3 percent.\n", encoding="utf-8")
    git("init", "-q")
    git("add", "notes.md")
    git("commit", "-qm", "first")
    git("config", "diff.prose.command", f"{sys.executable} -P -m forestalign compare --git")
    (tmp_path / ".gitattributes").write_text("*.md diff=prose\n", encoding="utf-8")
    notes.write_text("# Notes\n\nSales rose by 5 percent. Nobody was hurt.\n", encoding="utf-8")
    (tmp_path / "other.md").write_text("A new file.\n", encoding="utf-8")
    git("add", "-N", "other.md")
    shown = git("diff")
    assert "notes.md → notes.md: 3 sentences → 3 sentences" in shown
    assert "3 became 5" in shown
    assert "other.md → other.md: 0 sentences → 1 sentence; 1 added" in shown
    in_pager = git("diff", "notes.md", GIT_PAGER_IN_USE="1")
    assert RED in in_pager
    assert GREEN in in_pager
    assert "\033" not in git("diff", "notes.md", GIT_PAGER_IN_USE="1", NO_COLOR="1")
