"""Runs that were cut at any byte go on to the same bytes, and damage is told and never passed over."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from unittest import mock

import pytest

from forestalign.batch import Layout, OutputOptions, RunLimits, Tally, ThisProcess, run_jobs, store
from forestalign.batch.run_journal import RECORD, JournalFile
from forestalign.errors import UsageError
from tests.builders.batch_workers import Flaky, jobs_of

WORDS = ("a", "b", "c", "flaky", "d", "e", "flaky", "f", "g", "h")
DONE = tuple(word for word in WORDS if word != "flaky")


@pytest.fixture(params=["out.txt", "out.txt.gz"])
def path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(store, "GROUP", 4)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # hundreds of runs; nobody pulls the plug here
    with mock.patch("forestalign.batch.run.settings_of", return_value={"work": "flaky"}):
        yield tmp_path / request.param


def run(path: Path, words: tuple[str, ...] = DONE, fails: bool = False, **more: bool) -> Tally:
    return run_jobs(
        jobs_of(words),
        Flaky(fails),
        workers=ThisProcess(),
        errors=io.StringIO(),
        output=OutputOptions(str(path), layout=Layout.JSON, **more),
        limits=RunLimits(chunk_size=3),
    )


def journal_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.journal")


def files(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in sorted(path.parent.iterdir())}


def lines(path: Path) -> list[bytes]:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.name.endswith(".gz") else data).splitlines()


def test_a_journal_that_is_cut_at_any_byte_loses_nothing(path: Path) -> None:
    run(path)
    whole, journal = path.read_bytes(), journal_of(path).read_bytes()
    begin = JournalFile(journal_of(path)).begin
    for cut in range(len(journal)):
        path.write_bytes(whole)
        journal_of(path).write_bytes(journal[:cut])
        before = files(path)
        if cut < begin:  # whose results these are, nobody can say
            with pytest.raises(UsageError, match="--force replaces it"):
                run(path, resume=True)
            assert files(path) == before
            assert run(path, force=True).done == len(DONE)
        else:
            tally = run(path, resume=True)
            assert tally.done + tally.skipped == len(DONE)
            assert tally.skipped <= (cut - begin) // RECORD.itemsize
        assert (path.read_bytes(), journal_of(path).read_bytes()) == (whole, journal)


def test_an_output_that_is_cut_at_any_byte_loses_nothing(path: Path) -> None:
    run(path)
    whole, journal = path.read_bytes(), journal_of(path).read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        tally = run(path, resume=True)
        assert tally.done + tally.skipped == len(DONE)
        assert tally.done
        assert (path.read_bytes(), journal_of(path).read_bytes()) == (whole, journal)


def test_both_files_may_be_cut_and_failures_are_tried_again(path: Path) -> None:
    run(path, WORDS, fails=True)
    data, journal = path.read_bytes(), journal_of(path).read_bytes()
    begin = JournalFile(journal_of(path)).begin
    run(path, WORDS, force=True)
    whole = path.read_bytes()
    for cut in range(begin, len(journal) + 1):
        place = (cut * 7919) % (len(data) + 1)
        path.write_bytes(data[:place])
        journal_of(path).write_bytes(journal[:cut])
        tally = run(path, WORDS, resume=True)
        assert (path.read_bytes(), tally.done + tally.skipped) == (whole, len(WORDS))
        assert [*files(path)] == [path.name, f"{path.name}.journal"]


def test_what_counts_as_done_is_in_the_output(path: Path) -> None:
    """Records of a gzip group whose member was never written stood in a journal that was cut inside the group."""
    run(path)
    journal = JournalFile(journal_of(path))
    for count in range(journal.count):
        run(path, force=True)
        data = journal_of(path).read_bytes()
        journal_of(path).write_bytes(data[: journal.begin + count * RECORD.itemsize])
        tally = run(path, resume=True)
        assert tally.done + tally.skipped == len(DONE)
        assert len(lines(path)) == len(DONE) + 1  # one of them has two lines


def test_a_byte_that_was_changed_anywhere_in_the_output_is_noticed(path: Path) -> None:
    run(path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        before = files(path)
        with pytest.raises(UsageError, match="was changed after it was written"):
            run(path, (*DONE, "more"), resume=True)
        assert files(path) == before


def test_a_byte_that_was_changed_anywhere_in_the_journal_is_noticed(path: Path) -> None:
    run(path)
    data = journal_of(path).read_bytes()
    for place in range(len(data)):
        journal_of(path).write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        before = files(path)
        with pytest.raises(UsageError):
            run(path, resume=True)
        assert files(path) == before


def test_a_file_that_was_changed_says_how_to_keep_what_comes_before(path: Path) -> None:
    run(path)
    whole = path.read_bytes()
    place = len(whole) // 2
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
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


@pytest.mark.parametrize("packed", [False, True])
def test_a_killed_rewrite_of_an_unfinished_group_is_no_damage(tmp_path: Path, packed: bool) -> None:
    """The file is written before the journal, so the journal must not tell of bytes that are written over."""
    path = str(tmp_path / ("out.gz" if packed else "out"))
    first = store.Store(path, packed)
    first.begin({"work": "x"})
    for number in range(3):
        first.append(number, 0, b"one\n")
    first.flush()
    first.close()
    again = store.Store(path, packed)
    again.recover(JournalFile(again.journal_path))
    write = again._write

    def dying(descriptor: int, data: bytes, place: int, name: str) -> None:
        if name == again.journal_path:
            raise KeyboardInterrupt
        write(descriptor, data, place, name)

    with mock.patch.object(again, "_write", dying), suppress(KeyboardInterrupt):
        again.append(3, 0, b"two\n")
        again.flush()
    again.close()
    last = store.Store(path, packed)
    last.recover(JournalFile(last.journal_path))
    assert last.count == (0 if packed else 3)
    last.close()
