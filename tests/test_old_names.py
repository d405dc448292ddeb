"""Settings and options by the names that they had in 0.1: they work, give the same result, and say so."""

from __future__ import annotations

import argparse
import pickle
import warnings
from pathlib import Path

import pytest

from forestalign.cli import main
from forestalign.cli.old_names import OldName
from forestalign.config import AlignConfig
from forestalign.errors import RenamedWarning, UsageError
from forestalign.phrases.model import load_model
from forestalign.tuning import parse_parameter


def test_the_old_setting_of_links_still_works_and_says_so() -> None:
    with pytest.warns(RenamedWarning, match="'seed' is now called 'links'"):
        assert AlignConfig(seed="crf") == AlignConfig(links="crf")
    with pytest.warns(RenamedWarning, match="'seed' is now called 'links'"):
        assert AlignConfig().with_(seed="union") == AlignConfig(links="union")


def test_the_old_setting_of_links_is_checked_like_the_new_one() -> None:
    with pytest.warns(RenamedWarning), pytest.raises(UsageError, match="links is 'magic'; expected one of"):
        AlignConfig(seed="magic")
    with pytest.warns(RenamedWarning), pytest.raises(UsageError, match="links takes a word, not 3"):
        AlignConfig().with_(seed=3)


def test_the_old_name_of_the_hand_set_model_still_works_and_says_so() -> None:
    with pytest.warns(RenamedWarning, match="'uniform' is now called 'hand-set'"):
        config = AlignConfig(model="uniform")
    assert config == AlignConfig(model="hand-set")
    assert (load_model("uniform").dense == load_model("hand-set").dense).all()


def test_a_parameter_to_tune_may_have_the_old_name() -> None:
    with pytest.warns(RenamedWarning):
        assert parse_parameter("seed=sultan,union") == parse_parameter("links=sultan,union")


def test_new_names_and_copies_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config = AlignConfig(links="crf", model="hand-set").with_(beam=20)
        assert pickle.loads(pickle.dumps(config)) == config
        assert config.differences() == {"links": "crf", "model": "hand-set", "beam": 20}


def test_an_old_option_stores_for_the_new_one_and_tells_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser(prog="tune")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--random-seed", action=OldName, dest="seed", new_name="--seed", type=int)
    assert parser.parse_args([]).seed == 1
    assert capsys.readouterr().err == ""
    assert parser.parse_args(["--random-seed", "7"]).seed == 7
    assert capsys.readouterr().err == "tune: --random-seed is now called --seed; the old name still works\n"
    assert "--random-seed" not in parser.format_help()


@pytest.mark.parametrize(
    ("options", "told"),
    [(["--seed", "magic"], "--seed is now called --links"), (["--set", "seed=magic"], "'seed' is now called 'links'")],
)
def test_the_command_tells_of_an_old_name_in_one_line(
    options: list[str], told: str, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "pairs.tsv").write_text("A\tB\n")
    assert main(["align", str(tmp_path / "pairs.tsv"), *options]) == 2
    first = capfd.readouterr().err.splitlines()[0]
    assert first.startswith("forestalign align: ")
    assert told in first
