"""The list of weights that depend on the parser: complete, in order, and made of commands that exist."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import make_models
import pytest
import sample_pairs

from tests.builders.places import ROOT


@pytest.fixture(params=["no", "yes"])
def found(request: pytest.FixtureRequest) -> list[make_models.Step]:
    return make_models.steps(make_models.PLACES | {"teacher": request.param})


def test_every_weight_that_depends_on_the_parser_is_made(found: list[make_models.Step]) -> None:
    made = " ".join(step.makes for step in found)
    for name in (
        "parser", "card.json", "word_model.tsv", "word_metric.npz", "word_centre.npy", "token.json", "phrase.json",
        "phrase_model.json.gz", "phrase_similarity.json", "phrase_scores.json", "chunk_model.json", "similarity.npz",
        "reader.onnx", "weights.tsv", "rerank_weights.tsv", "known_children.tsv",
    ):  # fmt: skip
        assert name in made
        assert list((ROOT / "grammar").rglob(name))


def test_steps_have_names_of_their_own_and_stand_behind_what_they_need(found: list[make_models.Step]) -> None:
    names = [step.name for step in found]
    assert len(set(names)) == len(names)
    ready: list[str] = []
    for step in found:
        needed = re.findall(r"runs/[\w-]+(?=/model|\.jsonl?)", step.command.split(" -o ")[0])
        assert all(any(path in made for made in ready) for path in needed if "tags" not in path), step.name
        ready.append(step.makes)
    assert (
        names.index("export")
        < names.index("words")
        < names.index("joint-words")
        < names.index("phrase-similarity")
        < names.index("phrase-scores")
        < names.index("rerank")
    )


@pytest.mark.heavy
def test_every_option_of_a_step_is_known_to_its_command(found: list[make_models.Step]) -> None:
    """By the source of the scripts, some of which need torch to be loaded."""
    for step in found:
        words = shlex.split(step.command)
        if words[0] == "python":
            shared = (
                "gold_options.py",
                "train_links.py",
                "encoder_training/run.py",
            )  # options of several scripts
            sources = [ROOT / words[1], *(ROOT / "scripts" / name for name in shared)]
            text = "".join(path.read_text(encoding="utf-8") for path in sources)
        else:
            command = [word for word in words[1:3] if word.isalpha()]
            asked = [sys.executable, "-m", "forestalign", *command, "--help"]
            text = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=ROOT).stdout
        for option in (word for word in words if word.startswith("-")):
            assert f'"{option}"' in text or re.search(rf"{option}\b", text), (step.name, option)


def test_steps_are_chosen_by_name_or_from_one_on(capsys: pytest.CaptureFixture[str]) -> None:
    make_models.main(["--from", "chunks", "--set", "chunks=here"])
    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if line.startswith("#")] == [
        "# chunks: grammar/chunk_model.json",
        "# similarity: grammar/similarity.npz",
    ]
    assert "here/STSint.input.headlines.wa" in printed
    with pytest.raises(SystemExit, match="no step is called 'tree'"):
        make_models.main(["--only", "tree"])


def test_a_step_that_fails_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="--from broken"):
        make_models.run(make_models.Step("broken", "", "python scripts/sample_pairs.py nothing:1 -o nowhere"))


def test_a_sample_names_its_origin_and_passes_over_what_is_no_paraphrase(tmp_path: Path) -> None:
    lines = [{"source": f"a {i}", "target": f"b {i}", "paraphrase": i % 2} for i in range(10)]
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    sample_pairs.main([f"{tmp_path}/set.jsonl:3", "-o", str(tmp_path / "out.jsonl")])
    pairs = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert len(pairs) == 3
    assert all(pair["id"].startswith("set:") and int(pair["source"][2:]) % 2 for pair in pairs)
    with pytest.raises(SystemExit, match="expected at least 6"):
        sample_pairs.main([f"{tmp_path}/set.jsonl:6", "-o", str(tmp_path / "out.jsonl")])
