"""Phrase scores learned from gold by the command: files, folds, checkpoints, the same bytes, bad input."""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import pytest

from forestalign.cli import main
from forestalign.errors import UsageError
from forestalign.learning.checkpoints import checkpoint_path
from forestalign.learning.cross_validate import (
    MOST_EVIDENCE,
    GoldFile,
)
from forestalign.phrases.evidence.phrase_evidence import KINDS
from forestalign.phrases.scoring.schema import NAMES
from forestalign.phrases.scoring.score_model import load_score_model

DEV = Path("annotations/dev.jsonl")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of parsed pairs that the tests share, and gold of six pairs."""
    found = tmp_path_factory.mktemp("gold")
    (found / "gold.jsonl").write_text("".join(DEV.read_text().splitlines(keepends=True)[:6]))
    return found


def train(folder: Path, output: Path, *options: str) -> int:
    cache = str(folder / "cache")
    return main(["train", "--gold", str(folder / "gold.jsonl"), "-o", str(output), "--cache", cache, "-q", *options])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.jsonl", GoldFile("a.jsonl")),
        ("a.jsonl.gz:A", GoldFile("a.jsonl.gz", ("A",))),
        ("d/a.jsonl:A,C@2.5", GoldFile("d/a.jsonl", ("A", "C"), 2.5)),
        ("a@b/c.jsonl", GoldFile("a@b/c.jsonl")),
    ],
)
def test_a_gold_file_may_name_annotators_and_a_weight(text: str, expected: GoldFile) -> None:
    assert GoldFile.of(text) == expected


@pytest.mark.parametrize("text", ["a.jsonl@0", "a.jsonl@1.2.3", ""])
def test_a_weight_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a gold file"):
        GoldFile.of(text)


@pytest.mark.heavy
def test_the_command_learns_scores_that_align_can_use(folder: Path, tmp_path: Path, capfd) -> None:
    output = tmp_path / "scores.json"
    assert train(folder, output, "--passes", "2") == 0
    card = load_score_model(str(output)).card
    assert card["pairs"] == 6
    assert len(card["risk by pass"]) == 2
    assert min(card["risk by pass"]) <= card["risk by pass"][0]
    capfd.readouterr()
    settings = ["--set", "scoring=best", "--set", f"scores={output}"]
    assert main(["align", "tests/data/pairs.tsv", "--json", "-q", *settings]) == 0
    assert f"scores={output}" in json.loads(capfd.readouterr().out.splitlines()[0])["signature"]


@pytest.mark.heavy
def test_two_runs_and_a_resumed_run_write_the_same_scores(folder: Path, tmp_path: Path) -> None:
    whole, again, resumed = (tmp_path / name for name in ("whole.json", "again.json", "resumed.json"))
    assert train(folder, whole, "--passes", "3") == 0
    assert train(folder, again, "--passes", "3", "--jobs", "2") == 0
    with mock.patch.object(Path, "unlink"):  # the checkpoint stays, as after a kill
        assert train(folder, resumed, "--passes", "1") == 0
    assert checkpoint_path(resumed).exists()
    assert train(folder, resumed, "--passes", "3", "--resume") == 0
    assert not checkpoint_path(resumed).exists()
    assert whole.read_bytes() == again.read_bytes() == resumed.read_bytes()


@pytest.mark.heavy
def test_learning_goes_on_from_scores_that_were_learned_before(folder: Path, tmp_path: Path) -> None:
    output, further = tmp_path / "scores.json", tmp_path / "further.json"
    assert train(folder, output, "--passes", "1", "--start", "shipped") == 0
    before, after = load_score_model(), load_score_model(str(output))
    assert after.weights.tolist() == pytest.approx(before.weights.tolist(), abs=1e-4)  # one pass only looks
    assert after.card["start"] == "shipped"
    assert train(folder, further, "--passes", "2", "--start", str(output), "--ridge", "1000") == 0
    assert load_score_model(str(further)).weights.tolist() == pytest.approx(before.weights.tolist(), abs=0.05)


def test_a_checkpoint_of_other_settings_is_refused(folder: Path, tmp_path: Path, capsys) -> None:
    output = tmp_path / "scores.json"
    with mock.patch.object(Path, "unlink"):  # the checkpoint stays, as after a kill
        assert train(folder, output, "--passes", "1") == 0
    assert train(folder, output, "--passes", "2", "--resume", "--ridge", "0.5") == 2
    assert "belongs to a run with other data or settings" in capsys.readouterr().err


def test_folds_print_a_table_of_each_set_and_calibrate(folder: Path, tmp_path: Path, capsys) -> None:
    output = tmp_path / "scores.json"
    assert train(folder, output, "--passes", "1", "--folds", "2") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "gold.jsonl: 6 pairs"
    assert [line.split()[0] for line in lines[1:]] == ["learned", "paper", "project", "human"]
    model = load_score_model(str(output))
    assert model.card["calibration error"] <= 1.0
    assert 0.0 <= model.card["area under the curve"] <= 1.0
    assert model.confidence is not None
    assert sum(count for _, _, count in model.card["reliability"]) > 0


def test_no_evidence_outweighs_everything_else(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "scores.json"
    assert train(folder, output, "--passes", "3", "--ridge", "0") == 0
    weights = dict(zip(NAMES, load_score_model(str(output)).weights, strict=True))
    assert max(weights[f"phrase: {kind}"] for kind in KINDS) <= MOST_EVIDENCE
    assert weights["phrase: list"] == weights["phrase: rule"]


def test_the_gold_itself_is_never_the_output(folder: Path, capsys) -> None:
    gold = folder / "gold.jsonl"
    before = gold.read_bytes()
    assert main(["train", "--gold", f"{gold}@2", "-o", str(gold), "--force", "-q"]) == 2
    assert "gold.jsonl" in capsys.readouterr().err
    assert gold.read_bytes() == before


def test_scores_are_explained_in_words(folder: Path, tmp_path: Path, capsys) -> None:
    output = tmp_path / "scores.json"
    assert train(folder, output, "--passes", "1") == 0
    capsys.readouterr()
    assert main(["model", "show", str(output), "--top", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "scores.json"
    assert "  pairs: 6" in lines
    assert "parse: the two chosen trees" in lines
    assert main(["model", "show", str(output), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "forestalign phrase scores"
    assert main(["model", "show", "scores"]) == 0
    assert capsys.readouterr().out.startswith("phrase_scores.json\n")
