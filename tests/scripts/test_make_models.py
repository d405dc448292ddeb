"""The list of shipped files that are learned: complete, in order, and made of commands that exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import make_models
import pytest

from tests.builders.places import ROOT

STEPS = make_models.list_steps(make_models.PLACES)


def test_every_file_that_is_learned_is_made() -> None:
    made = " ".join(step.makes for step in STEPS)
    for name in (
        "parser", "card.json", "word_model.tsv", "word_metric.npz", "word_centre.npy", "token.json", "phrase.json",
        "phrase_model.json.gz", "span_scores.npz", "unit_scores.npz", "phrase_scores.json", "chunk_model.json",
        "verdict.npz", "rerank_weights.tsv", "known_children.tsv",
    ):  # fmt: skip
        assert name in made
        assert list((ROOT / "grammar").rglob(name))


def test_steps_have_names_of_their_own_and_stand_behind_what_they_need() -> None:
    names = [step.name for step in STEPS]
    assert len(set(names)) == len(names)
    ready: list[str] = []
    for step in STEPS:
        needed = re.findall(r"runs/[\w-]+(?=/model|\.jsonl?)", step.command.split(" -o ")[0])
        assert all(any(path in made for made in ready) for path in needed if "tags" not in path), step.name
        ready.append(step.makes)
    places = [names.index(name) for name in ("export", "words", "span-scores", "phrase-scores", "rerank")]
    assert places == sorted(places)


@pytest.mark.heavy
def test_every_option_of_a_step_is_known_to_its_command() -> None:
    """By the source of the scripts, some of which need torch to be loaded."""
    for step in STEPS:
        words = shlex.split(step.command)
        if words[0] == "python":
            sources = [ROOT / words[1], *sorted((ROOT / "scripts" / "scoring").glob("*.py"))]
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
        "# made-pairs: runs/made.jsonl",
        "# verdict: grammar/verdict.npz",
    ]
    assert "here/STSint.input.headlines.wa" in printed
    with pytest.raises(SystemExit, match="no step is called 'tree'"):
        make_models.main(["--only", "tree"])


def test_a_step_that_fails_ends_the_run() -> None:
    with pytest.raises(SystemExit, match="--from broken"):
        make_models.run_step(make_models.Step("broken", "", "python scripts/make_pairs.py nothing:1 -o nowhere"))
