"""`forestalign crf`, and the CRF as a method of `words` and a seed of `align`; gold made up here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forestalign.cli import main
from forestalign.grammar import grammar_root
from forestalign.learning.checkpoints import Checkpoint, checkpoint_path
from forestalign.learning.crf_run import _Answers
from forestalign.tokens import Sentence
from forestalign.words.crf import load_crf
from forestalign.words.crf.crf_aligner import SHIPPED

PAIRS = "the dog sleeps .\tthe dog rests .\nonly one side\nred boats wait\tred boats\n"


@pytest.fixture
def gold(tmp_path: Path) -> str:
    lines = []
    for noun, verb in (("dog", "sleeps"), ("girl", "reads"), ("boat", "waits"), ("clock", "stops"), ("king", "rules")):
        words = ["the", noun, verb, "again", "."]
        links = [[0, 0], [1, 1], [2, 2], [4, 3]]
        lines.append({"id": noun, "source": words, "target": ["the", noun, verb, "."], "sure": links, "possible": []})
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    path = tmp_path / "pairs.tsv"
    path.write_text(PAIRS, encoding="utf-8")
    return str(path)


def tagged(words: str, tags: str) -> Sentence:
    return Sentence.from_words(words.split()).with_analysis(tags.split(), words.lower().split())


def arguments(gold: str, model: Path, *more: str) -> list[str]:
    return ["crf", "train", gold, "-o", str(model), "--no-parser", "--iterations", "12", "--l2", "0.1", *more]


def test_a_trained_model_scores_and_ranks_pairs(
    gold: str, pairs: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model.json"
    assert main(arguments(gold, model)) == 0
    assert "s2t iteration 10: objective" in capfd.readouterr().err
    assert not checkpoint_path(tmp_path / "model.json").exists()
    given = ["--model", str(model), "--tokenized", "--no-parser"]
    assert main(["crf", "score", pairs, *given]) == 1
    first, empty, last = capfd.readouterr().out.splitlines()
    assert empty == ""
    assert float(first) > 0 < float(last)
    assert main(["crf", "kbest", pairs, "--count", "2", *given]) == 1
    captured = capfd.readouterr()
    rows = [line.split("\t") for line in captured.out.splitlines()]
    assert [row[:2] for row in rows] == [["1", "0"], ["1", "1"], ["3", "0"], ["3", "1"]]
    assert {"0-0", "1-1", "3-3"} <= set(rows[0][3].split())
    assert "pairs.tsv:2: one column" in captured.err


@pytest.mark.parametrize("cut_after", [4, 15])
def test_a_run_that_was_cut_off_resumes_to_the_same_file(
    gold: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut_after: int
) -> None:
    whole, cut = tmp_path / "whole.json", tmp_path / "cut.json"
    main(arguments(gold, whole, "-q"))
    seen = 0
    original = _Answers.__call__

    def fail(answers: _Answers, objective: object, point: object) -> object:
        nonlocal seen
        seen += 1
        if seen == cut_after:
            raise RuntimeError("power cut")
        return original(answers, objective, point)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(_Answers, "__call__", fail)
        with pytest.raises(RuntimeError, match="power cut"):
            main(arguments(gold, cut, "-q"))
    assert not cut.exists()
    assert main(arguments(gold, cut, "-q", "--resume")) == 0
    assert cut.read_bytes() == whole.read_bytes()


def test_a_sample_is_drawn_by_the_seed(gold: str, tmp_path: Path) -> None:
    made = []
    for seed in ("1", "1", "2"):
        model = tmp_path / "model.json"
        assert main(arguments(gold, model, "-q", "--sample", "2", "--seed", seed, "--force")) == 0
        made.append(json.loads(model.read_text()))
    assert made[0]["card"]["pair_count"] == 2
    assert made[0] == made[1]
    assert made[0]["weights"] != made[2]["weights"]


def test_resuming_with_other_settings_is_refused(gold: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "model.json"
    Checkpoint(checkpoint_path(model), "another run").write({"answers": []})
    assert main(arguments(gold, model, "--resume")) == 2
    assert "belongs to a run with other data or settings" in capfd.readouterr().err


def test_gold_becomes_phrases_only_where_tags_show_chunks(gold: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["crf", "synthesise", gold, "--no-parser"]) == 0
    made = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [line["sure"] for line in made] == [[[0, 0], [1, 1], [2, 2], [4, 3]]] * 5


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_model_is_small_has_a_card_and_aligns(name: str) -> None:
    path = grammar_root() / "crf" / f"{name}.json"
    assert path.stat().st_size < 3_000_000
    aligner = load_crf(name)
    assert aligner.model.card.pair_count > 2_000
    assert aligner.model.space.is_phrasal == (name == "phrase")
    source = tagged("The old man bought a red car in Paris .", "DT JJ NN VBD DT JJ NN IN NNP .")
    target = tagged("In Paris the old man sold a red car .", "IN NNP DT JJ NN VBD DT JJ NN .")
    found = set(aligner.align(source, target).pairs)
    assert {(1, 3), (2, 4), (5, 7), (6, 8), (8, 1), (9, 9)} <= found


@pytest.mark.parametrize("name", SHIPPED)
def test_words_take_a_shipped_model_by_name(name: str, pairs: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["words", pairs, "--tokenized", "--quiet", "--links", "crf", "--model", name]) == 1
    first, empty, _ = capfd.readouterr().out.split("\n")[:3]
    assert {"0-0", "1-1", "3-3"} <= set(first.split())
    assert empty == ""


@pytest.mark.heavy
def test_the_seed_crf_takes_the_links_of_words(pairs: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["align", pairs, "--tokenized", "--quiet", "--json", "--links", "crf"]) == 1
    seeds = json.loads(capfd.readouterr().out.splitlines()[0])["words"]
    assert main(["words", pairs, "--tokenized", "--quiet", "--json", "--links", "crf"]) == 1
    links = json.loads(capfd.readouterr().out.splitlines()[0])["links"]
    assert [(i, j, round(score, 4)) for i, j, score in seeds] == [
        (link["source"], link["target"], link["score"]) for link in links
    ]
    assert {link["stage"] for link in links} == {"crf"}
