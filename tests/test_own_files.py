"""Files are written in one way: never through a name, never over what is not ours, whole, and gone when a run dies."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from forestalign import own_files
from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import UsageError
from forestalign.evaluation.annotation_store import AnnotationStore
from forestalign.learning.checkpoints import Checkpoint, checkpoint_path, is_checkpoint
from forestalign.outputs import SideFile, check_output, check_sides, whole_file
from forestalign.own_files import (
    NewFile,
    only_run,
    open_alone,
    open_regular,
    private_folder,
    remove_unfinished,
    replace_file,
    scratch_folder,
)
from forestalign.pair_cache import PairCache, read_cached
from forestalign.phrases.stage import PreparedPair
from tests.builders.hand_forests import hand_forest, hand_links
from tests.builders.processes import PAIRS, call

PACKAGE = Path(own_files.__file__).parent
PRECIOUS = "dear diary\n"
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="gives files to another user")


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    path = tmp_path / "precious"
    path.write_text(PRECIOUS)
    return path


# ---- new files ----


def test_a_link_of_a_derived_name_is_replaced_and_not_followed(tmp_path: Path, precious: Path) -> None:
    for target in (precious, tmp_path / "nothing"):
        (tmp_path / "name").unlink(missing_ok=True)
        (tmp_path / "name").symlink_to(target)
        with replace_file(tmp_path / "name") as file:
            file.write(b"ours")
        assert not (tmp_path / "name").is_symlink()
        assert (tmp_path / "name").read_bytes() == b"ours"
    assert precious.read_text() == PRECIOUS
    assert sorted(os.listdir(tmp_path)) == ["name", "precious"]


def test_a_second_name_of_a_file_keeps_what_it_had(tmp_path: Path, precious: Path) -> None:
    os.link(precious, tmp_path / "name")
    with whole_file(tmp_path / "name") as file:
        file.write(b"ours")
    assert (precious.read_text(), (tmp_path / "name").read_text()) == (PRECIOUS, "ours")


def test_no_name_of_an_unfinished_file_can_be_guessed(tmp_path: Path) -> None:
    names = set()
    for _ in range(20):
        with NewFile(tmp_path / "name") as new:
            assert re.fullmatch(r"\.name\.[0-9a-f]{16}\.part", new.path.name)
            names.add(new.path.name)
    assert len(names) == 20
    assert not os.listdir(tmp_path)


def test_a_file_has_its_mode_before_it_has_any_content(tmp_path: Path) -> None:
    (tmp_path / "name").touch()
    (tmp_path / "name").chmod(0o600)
    with NewFile(tmp_path / "name") as new:
        assert stat.S_IMODE(os.fstat(new.descriptor).st_mode) == 0o600
    with NewFile(tmp_path / "other", 0o600) as new:
        assert stat.S_IMODE(os.fstat(new.descriptor).st_mode) == 0o600


def test_a_name_of_any_length_can_be_written(tmp_path: Path) -> None:
    for name in ("x" * 255, "ä" * 127):
        with whole_file(tmp_path / name) as file:
            file.write(b"x")
        assert (tmp_path / name).read_bytes() == b"x"


def test_links_pipes_and_folders_are_not_opened(tmp_path: Path, precious: Path) -> None:
    (tmp_path / "link").symlink_to(precious)
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "."):
        with pytest.raises(OSError, match=r"."):
            open_regular(tmp_path / name)
        with pytest.raises(UsageError, match="cannot write to"):
            open_alone(tmp_path / name)


def test_every_module_writes_in_this_way() -> None:
    """Anything that opens a file for writing under its own name has to be thought about, and added here."""
    writing = (
        r"""\.open\(\s*["'][wax]|open\([^()\n]*["'][wax+]b?["']|write_text|write_bytes|O_CREAT|O_TRUNC|\.rename\("""
    )
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if re.search(writing, path.read_text(encoding="utf-8"))
    }
    assert found == {
        "own_files.py",
        "outputs.py",  # devices and pipes
        "batch/run.py",  # the null device
        "mining/phrase_table.py",  # inside a folder of its own
        "mining/table_files.py",  # inside a folder of its own
    }


def test_no_module_imports_locks_that_only_some_systems_have() -> None:
    found = [
        path.name for path in PACKAGE.rglob("*.py") if re.search(r"import (fcntl|resource|msvcrt)\b", path.read_text())
    ]
    assert found == ["own_files.py"]


# ---- what killed runs left ----

HOLDING = """
import sys, time
from forestalign.own_files import NewFile, scratch_folder
with NewFile(sys.argv[1] + "/name"), scratch_folder(__import__("pathlib").Path(sys.argv[1]), ".scratch-"):
    print("ready", flush=True)
    time.sleep(600)
"""


def test_what_a_killed_run_left_is_removed_and_what_a_running_one_writes_is_not(tmp_path: Path) -> None:
    run = subprocess.Popen([sys.executable, "-P", "-c", HOLDING, str(tmp_path)], stdout=subprocess.PIPE)
    try:
        assert run.stdout is not None
        run.stdout.readline()
        assert len(held := os.listdir(tmp_path)) == 2
        for _ in range(2):
            with NewFile(tmp_path / "name"), scratch_folder(tmp_path, ".scratch-"):
                assert len(os.listdir(tmp_path)) == 4
        remove_unfinished(tmp_path)
        assert sorted(os.listdir(tmp_path)) == sorted(held)
    finally:
        run.kill()
        run.wait()
    with NewFile(tmp_path / "name"), scratch_folder(tmp_path, ".scratch-"):
        assert not {*held} & {*os.listdir(tmp_path)}
    assert os.listdir(tmp_path) == []


def test_unfinished_files_of_others_stay(tmp_path: Path, precious: Path) -> None:
    (tmp_path / ".name.0123456789abcdef.part").symlink_to(precious)
    for name in (".name.part", ".name.1.part", ".other.0123456789abcdef.part", "name.part"):
        (tmp_path / name).write_text(PRECIOUS)
    before = sorted(os.listdir(tmp_path))
    with NewFile(tmp_path / "name"):
        pass
    assert sorted(os.listdir(tmp_path)) == before


# ---- folders ----


PAIR = PreparedPair(hand_forest("(N a)"), hand_forest("(N b)"), hand_links((0, 0)))


def test_folders_of_the_cache_are_closed_to_others(tmp_path: Path) -> None:
    path = PairCache(tmp_path / "cache", DEFAULT_CONFIG).write(PAIR)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for folder in (path.parent, tmp_path / "cache"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_an_entry_of_the_cache_that_is_a_link_is_replaced(tmp_path: Path, precious: Path) -> None:
    cache = PairCache(tmp_path / "cache", DEFAULT_CONFIG)
    path = cache.write(PAIR)
    path.unlink()
    path.symlink_to(precious)
    assert cache.write(PAIR) == path
    assert precious.read_text() == PRECIOUS
    assert not path.is_symlink()
    assert read_cached(path).words == PAIR.words


@as_root
def test_a_folder_of_another_user_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    os.chown(tmp_path / "cache", 65534, 65534)
    with pytest.raises(UsageError, match=r"cache belongs to another user"):
        private_folder(tmp_path / "cache")


@as_root
def test_a_link_of_another_user_is_no_output(tmp_path: Path, precious: Path) -> None:
    (tmp_path / "out").symlink_to(tmp_path / "new")
    os.chown(tmp_path / "out", 65534, 65534, follow_symlinks=False)
    with pytest.raises(UsageError, match="a link that another user made"):
        check_output(tmp_path / "out")
    with pytest.raises(UsageError, match="a link that another user made"), whole_file(tmp_path / "out"):
        pass


# ---- side files ----


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.mark.parametrize("option", [[], ["--force"], ["--resume"]], ids=lambda option: "".join(option) or "plain")
@pytest.mark.parametrize(
    ("command", "name", "output"),
    [
        (["parse"], "pairs.journal", "pairs"),
        (["similarity"], "pairs.gz.journal", "pairs.gz"),
        (["crf", "train"], "g.checkpoint.npz", "g"),
        (["crf", "train"], "g.lock", "g"),
        (["train"], "m.json.checkpoint.npz", "m.json"),
        (["train"], "m.lock", "m"),
        (["train", "--gold"], "m.checkpoint.npz", "m"),
    ],
)
def test_an_input_beside_the_output_is_no_side_file(
    here: Path, command: list[str], name: str, output: str, option: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    Path(name).write_bytes(PAIRS.read_bytes())
    assert call([*command, name, "-o", output, *option]) == 2
    assert f"the input {name} are the same file" in capfd.readouterr().err
    assert Path(name).read_bytes() == PAIRS.read_bytes()
    assert os.listdir() == [name]


@pytest.mark.parametrize("option", [[], ["--force"], ["--resume"]], ids=lambda option: "".join(option) or "plain")
@pytest.mark.parametrize(
    ("command", "side"),
    [
        (["parse"], "out.journal"),
        (["crf", "train"], "out.checkpoint.npz"),
        (["crf", "train"], "out.lock"),
        (["train"], "out.checkpoint.npz"),
        (["train", "--gold"], "out.checkpoint.npz"),
    ],
)
def test_a_strangers_file_beside_the_output_is_kept(
    here: Path, command: list[str], side: str, option: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    Path("input").write_bytes(PAIRS.read_bytes())
    target = Path("precious")
    target.write_text(PRECIOUS)
    for plant in (lambda: Path(side).write_text(PRECIOUS), lambda: os.symlink(target, side), lambda: os.mkfifo(side)):
        plant()
        assert call([*command, "input", "-o", "out", *option]) == 2
        assert side in capfd.readouterr().err
        if stat.S_ISREG(os.lstat(side).st_mode):
            assert Path(side).read_text() == PRECIOUS
        os.unlink(side)
    assert target.read_text() == PRECIOUS
    assert sorted(os.listdir()) == ["input", "precious"]


def test_a_dangling_link_beside_the_output_makes_no_file(here: Path) -> None:
    Path("input").write_bytes(PAIRS.read_bytes())
    os.symlink("made", "out.journal")
    assert call(["words", "input", "-o", "out"]) == 2
    assert not Path("made").exists()


def test_two_models_have_two_checkpoints() -> None:
    assert checkpoint_path(Path("run.v1")) != checkpoint_path(Path("run.v2"))


def test_a_checkpoint_is_told_from_another_file(tmp_path: Path) -> None:
    import numpy as np

    np.savez(tmp_path / "theirs.npz", weights=np.zeros(3), key=np.array("x"))
    (tmp_path / "torn.npz").write_bytes((tmp_path / "theirs.npz").read_bytes()[:50])
    assert not any(map(is_checkpoint, (tmp_path / "theirs.npz", tmp_path / "torn.npz", tmp_path / "none")))


def test_another_output_is_no_side_file(tmp_path: Path) -> None:
    side = SideFile(tmp_path / "m.journal", lambda path: True)
    with pytest.raises(UsageError, match="is an output of its own"):
        check_sides(tmp_path / "m", [side], [], [tmp_path / "m.journal"])


def test_the_results_beside_an_annotation_file_stay(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl.part").write_text(PRECIOUS)
    with AnnotationStore(tmp_path / "mine.jsonl") as store:
        store._write({})
    assert (tmp_path / "mine.jsonl.part").read_text() == PRECIOUS


def test_a_checkpoint_is_no_way_to_another_file(tmp_path: Path, precious: Path) -> None:
    (tmp_path / "m.checkpoint.npz").symlink_to(precious)
    Checkpoint(tmp_path / "m.checkpoint.npz", "run").write({})
    assert precious.read_text() == PRECIOUS


# ---- one run at a time ----

TRAINING = """
import sys, time
from pathlib import Path
from forestalign.own_files import only_run
with only_run(Path(sys.argv[1])):
    print("ready", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("command", [["train"], ["train", "--gold"], ["crf", "train"]], ids=" ".join)
def test_a_second_training_run_with_the_same_output_is_refused(
    here: Path, command: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    run = subprocess.Popen([sys.executable, "-P", "-c", TRAINING, "model"], stdout=subprocess.PIPE)
    try:
        assert run.stdout is not None
        run.stdout.readline()
        assert call([*command, str(PAIRS), "-o", "model"]) == 2
        assert "another run is writing to model\n" in capfd.readouterr().err
    finally:
        run.kill()
        run.wait()
    with only_run("model"):  # the dead one's lock is free
        assert os.path.exists("model.lock")
    assert not os.path.exists("model.lock")


def test_many_runs_that_want_one_lock_have_it_one_after_the_other(tmp_path: Path) -> None:
    code = """
import os, sys, time
from forestalign.errors import UsageError
from forestalign.own_files import only_run
for _ in range(200):
    try:
        with only_run(sys.argv[1]):
            descriptor = os.open(sys.argv[1] + ".inside", os.O_CREAT | os.O_EXCL)
            os.close(descriptor)
            os.unlink(sys.argv[1] + ".inside")
    except UsageError:
        time.sleep(0.001)
"""
    runs = [subprocess.Popen([sys.executable, "-P", "-c", code, str(tmp_path / "x")]) for _ in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert os.listdir(tmp_path) == []
