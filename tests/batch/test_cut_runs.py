"""Runs that were cut at any byte go on to the same bytes, and damage is told and never passed over."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from unittest import mock

import pytest

from forestalign.batch import output
from forestalign.batch.run import OutputOptions, RunLimits, run_jobs
from forestalign.batch.run_journal import RunJournal
from forestalign.batch.workers import Job, Layout, Tally, ThisProcess
from forestalign.errors import UsageError
from tests.builders.batch_workers import Flaky, jobs_of

WORDS = ("a", "b", "c", "flaky", "d", "e", "flaky", "f", "g", "h")
DONE = tuple(word for word in WORDS if word != "flaky")


@pytest.fixture(params=["out.txt", "out.txt.gz"])
def path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(output, "GROUP", 4)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # hundreds of runs; nobody pulls the plug here
    with mock.patch("forestalign.batch.run.settings_of", return_value={"work": "flaky"}):
        yield tmp_path / request.param


def run(path: Path, words: tuple[str, ...] = DONE, fails: bool = False, stops: bool = False, **more: bool) -> Tally:
    """A run to its end, or one that is interrupted when all its pairs are done, so that its journal stays."""

    def jobs() -> Iterator[Job]:
        yield from jobs_of(words)
        if stops:
            raise KeyboardInterrupt

    tally = Tally()
    with suppress(KeyboardInterrupt):
        tally = run_jobs(
            jobs(),
            Flaky(fails),
            workers=ThisProcess(),
            errors=io.StringIO(),
            output=OutputOptions(str(path), layout=Layout.JSON, **more),
            limits=RunLimits(chunk_size=1),
        )
    return tally


def journal_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.journal")


def files(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in sorted(path.parent.iterdir())}


def place(files: dict[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content)


def whole_of(path: Path, words: tuple[str, ...] = DONE) -> bytes:
    """What an uninterrupted run writes; nothing is left beside it."""
    run(path, words)
    assert [*files(path)] == [path.name]
    whole = path.read_bytes()
    path.unlink()
    return whole


def test_a_journal_that_is_cut_at_any_byte_loses_nothing(path: Path) -> None:
    whole = whole_of(path)
    run(path, stops=True)
    before = files(path)
    journal = before[journal_of(path).name]
    begin = journal.index(b"\n") + 1
    for cut in range(len(journal)):
        place(before, path.parent)
        journal_of(path).write_bytes(journal[:cut])
        if cut < begin:  # whose results these are, nobody can say
            with pytest.raises(UsageError, match="--force replaces it"):
                run(path, resume=True)
            assert files(path) == before | {journal_of(path).name: journal[:cut]}
            assert run(path, force=True).done == len(DONE)
        else:
            tally = run(path, resume=True)
            assert tally.done + tally.skipped == len(DONE)
            assert tally.done
        assert files(path) == {path.name: whole}


def test_an_output_that_is_cut_at_any_byte_is_made_again_from_the_journal(path: Path) -> None:
    whole = whole_of(path)
    run(path, stops=True)
    before = files(path)
    for cut in range(len(before[path.name])):
        place(before, path.parent)
        path.write_bytes(before[path.name][:cut])
        assert run(path, resume=True).skipped == len(DONE)
        assert files(path) == {path.name: whole}


def test_both_files_may_be_cut_and_failures_are_tried_again(path: Path) -> None:
    whole = whole_of(path, WORDS)
    run(path, WORDS, fails=True)
    before = files(path)
    journal, data = before[journal_of(path).name], before[path.name]
    for cut in range(journal.index(b"\n") + 1, len(journal) + 1):
        journal_of(path).write_bytes(journal[:cut])
        path.write_bytes(data[: (cut * 7919) % (len(data) + 1)])
        tally = run(path, WORDS, resume=True)
        assert (files(path), tally.done + tally.skipped) == ({path.name: whole}, len(WORDS))


def test_a_second_attempt_at_failures_that_is_cut_anywhere_goes_on(path: Path) -> None:
    whole = whole_of(path, WORDS)
    run(path, WORDS, fails=True)
    run(path, WORDS, resume=True, stops=True)  # the journal has second records of the pairs that had failed
    before = files(path)
    journal = before[journal_of(path).name]
    for cut in range(journal.index(b"\n") + 1, len(journal) + 1):
        journal_of(path).write_bytes(journal[:cut])
        path.write_bytes(b"")
        tally = run(path, WORDS, resume=True)
        assert (files(path), tally.done + tally.skipped) == ({path.name: whole}, len(WORDS))


@pytest.mark.parametrize("which", ["output", "journal"])
def test_a_byte_that_was_changed_anywhere_is_noticed(path: Path, which: str) -> None:
    """Groups are full here; one that is not is made again from the journal, as after a cut."""
    run(path, stops=True)
    changed = path if which == "output" else journal_of(path)
    data = changed.read_bytes()
    for number in range(len(data)):
        changed.write_bytes(data[:number] + bytes([data[number] ^ 1]) + data[number + 1 :])
        before = files(path)
        with pytest.raises(UsageError):
            run(path, (*DONE, "more"), resume=True)
        assert files(path) == before


def test_a_file_that_was_changed_says_how_to_keep_what_comes_before(path: Path) -> None:
    whole = whole_of(path)
    run(path, stops=True)
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    with pytest.raises(UsageError, match=r"cut to its first (\d+) bytes") as told:
        run(path, resume=True)
    count = int(str(told.value).rpartition("cut to its first ")[2].split()[0])
    path.write_bytes(path.read_bytes()[:count])
    run(path, resume=True)
    assert path.read_bytes() == whole


def test_an_empty_journal_blocks_nothing(path: Path) -> None:
    journal_of(path).touch()
    assert run(path, resume=True).done == len(DONE)
    whole = path.read_bytes()
    journal_of(path).write_bytes(b"")
    assert run(path, force=True).done == len(DONE)
    assert path.read_bytes() == whole


def test_a_kill_at_any_write_loses_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every write to either file is the last one once, half of it done; the run before it had failures."""
    words = (*WORDS, "more")
    whole = whole_of(path, words)
    write = os.write
    left = [0]

    def dying(descriptor: int, data: bytes) -> int:
        left[0] -= 1
        if left[0] == 0:
            write(descriptor, bytes(data[: len(data) // 2]))
            os._exit(9)
        return write(descriptor, data)

    for count in range(1, 60):
        run(path, WORDS, fails=True, force=True)
        left[0] = count
        if (child := os.fork()) == 0:
            monkeypatch.setattr(os, "write", dying)
            run(path, words, resume=True)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status == 0:
            break
        assert status == 9
        run(path, words, resume=True)
        assert files(path) == {path.name: whole}
    assert count > 3


@pytest.mark.parametrize("text", ["", "{}\n", "not json\n", '{"format": "other", "settings": {}}\n', "[1]\n"])
def test_another_file_is_no_journal(tmp_path: Path, text: str) -> None:
    (tmp_path / "out.journal").write_text(text)
    with pytest.raises(UsageError, match=r"out\.journal is not a journal of a run"):
        RunJournal(str(tmp_path / "out.journal"))
