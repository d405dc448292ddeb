"""Tuning: parameters and objectives, trials that can be resumed, development sets, the command."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from forestalign.cli import main
from forestalign.config import AlignConfig
from forestalign.errors import AnnotationError, NoParseError, UsageError
from forestalign.evaluation.development import (
    ProjectedJudge,
    align_cached,
    prepared_pairs,
    project_cached,
    read_development,
)
from forestalign.evaluation.scores import Evaluation
from forestalign.phrases.scoring.model import untrained_model
from forestalign.phrases.stage import PreparedPair, load_stage
from forestalign.tokens import Span
from forestalign.trees import parse_brackets
from forestalign.tuning import (
    Parameter,
    Trial,
    TuningPlan,
    best_trial,
    objective_value,
    parse_objective,
    parse_parameter,
    run_trials,
    settings_block,
)
from tests.builders.hand_forests import hand_forest, hand_links

CONFIG = AlignConfig(gap=6)
PLAN = TuningPlan(
    (parse_parameter("null_penalty=1:8"), parse_parameter("gap=1:6"), parse_parameter("links=sultan,union")),
    (("phrase", 1.0),),
    trials=5,
    initial=3,
)


def figure(**scores: float) -> Evaluation:
    """An evaluation with these scores."""
    names = tuple(name.replace("_", " ") for name in scores)
    return Evaluation(names, np.array([list(scores.values())]), lambda sums: sums)


def hill(config: AlignConfig) -> Evaluation:
    """Highest at null_penalty 5, gap 3 and seed union."""
    height = 1 - ((config.null_penalty - 5) / 8) ** 2 - ((config.gap - 3) / 6) ** 2 - 0.1 * (config.links == "sultan")
    return figure(F1=height)


# ---- parameters and objectives ----


def test_parameters_are_ranges_of_numbers_and_choices_of_names():
    assert parse_parameter("null_penalty=1:8") == Parameter("null_penalty", 1.0, 8.0)
    assert parse_parameter("gap=1:6") == Parameter("gap", 1, 6)
    assert parse_parameter("links=sultan,union") == Parameter("links", choices=("sultan", "union"))
    assert parse_parameter("lifts=true,False") == Parameter("lifts", choices=(True, False))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gap", "expected NAME=LOW:HIGH"),
        ("gap=", "expected NAME=LOW:HIGH"),
        ("wings=1:2", "no setting is called 'wings'"),
        ("replace=1:2", "no setting is called 'replace'"),
        ("gap=1", "gap is a number"),
        ("gap=1:1.5", "gap is a number"),
        ("gap=4:1", "range is empty"),
        ("lifts=yes", "neither true nor false"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused(text, message):
    with pytest.raises(UsageError, match=message):
        parse_parameter(text)


def test_an_objective_is_a_weighted_sum_of_scores():
    weights = parse_objective("phrase=0.7,uas=0.3")
    assert weights == {"phrase": 0.7, "uas": 0.3}
    assert objective_value(figure(F1=0.5, UAS=0.9), weights) == pytest.approx(0.62)
    assert parse_objective("uas") == {"uas": 1.0}


def test_scores_that_are_unknown_or_missing_are_refused():
    with pytest.raises(UsageError, match="'speed' cannot be maximised"):
        parse_objective("speed")
    with pytest.raises(UsageError, match="is not a number"):
        parse_objective("phrase=much")
    with pytest.raises(UsageError, match="no UAS; it has F1"):
        objective_value(figure(F1=0.5), {"uas": 1.0})


# ---- trials ----


def trials_of(record: Path, plan: TuningPlan = PLAN, resume: bool = False) -> Iterator[Trial]:
    return run_trials(plan, CONFIG, hill, record, resume)


def test_the_first_trial_has_the_settings_to_start_from(tmp_path):
    first = next(trials_of(tmp_path / "t.jsonl"))
    assert first.values == (CONFIG.null_penalty, CONFIG.gap, CONFIG.links)
    outside = replace(PLAN, parameters=(parse_parameter("null_penalty=6:8"),))
    assert next(trials_of(tmp_path / "u.jsonl", outside)).values != (CONFIG.null_penalty,)


def test_the_same_seed_gives_the_same_trials_and_another_seed_others(tmp_path):
    first, second = (list(trials_of(tmp_path / f"{k}.jsonl")) for k in range(2))
    other = list(trials_of(tmp_path / "other.jsonl", replace(PLAN, seed=2)))
    assert first == second
    assert (tmp_path / "0.jsonl").read_bytes() == (tmp_path / "1.jsonl").read_bytes()
    assert other[1:] != first[1:]


@pytest.mark.parametrize("done", [1, 4])
def test_a_run_that_was_stopped_goes_on_with_the_same_trials(done, tmp_path):
    whole = list(trials_of(tmp_path / "whole.jsonl"))
    record = tmp_path / "stopped.jsonl"
    list(islice(trials_of(record), done))
    with record.open("a") as file:
        file.write('{"number": 99, "val')  # what a kill in the middle of a line leaves
    assert list(trials_of(record, resume=True)) == whole
    assert record.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_the_record_of_another_plan_is_refused(tmp_path):
    list(islice(trials_of(tmp_path / "t.jsonl"), 2))
    with pytest.raises(UsageError, match="cannot be resumed"):
        list(trials_of(tmp_path / "t.jsonl", replace(PLAN, seed=3), resume=True))


def test_the_process_finds_a_better_place_than_the_start(tmp_path):
    trials = list(trials_of(tmp_path / "t.jsonl", replace(PLAN, trials=9, initial=4)))
    best = best_trial(trials)
    assert best.objective > trials[0].objective
    assert best.objective > 0.9
    assert best.values[2] == "union"


def test_the_settings_block_can_be_pasted(tmp_path):
    trials = list(trials_of(tmp_path / "t.jsonl"))
    block, best = settings_block(PLAN, trials), best_trial(trials)
    pasted: dict[str, object] = {}
    exec("\n".join(line.strip() for line in block.splitlines()), {}, pasted)
    names = ("null_penalty", "gap", "links")
    assert [pasted[name] for name in names if name in pasted] == list(best.values)
    assert f"--set gap={best.values[1]}" in block


def test_without_scikit_optimize_the_extra_is_named_before_anything_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "skopt", None)
    assert main(["tune", "gold.jsonl"]) == 1
    assert "forestalign[tune]" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


# ---- development sets ----

TREES = ("(TOP (S (NP (PRP He)) (VP (VBD left)) (. .)))", "(TOP (S (NP (PRP He)) (VP (VBD went)) (. .)))")
ROOT = [[0, 3, "S", False], [0, 3, "S", False]]
HE = [[0, 1, "PRP", False], [0, 1, "PRP", False]]
LEFT = [[1, 2, "VBD", False], [1, 2, "VBD", False]]
STOP = [[2, 3, ".", False], [2, 3, ".", False]]


def annotated_line(*annotators: list[object]) -> str:
    sides = {
        side: {"text": text, "tokens": text.split(), "tree": tree}
        for side, text, tree in zip(("source", "target"), ("He left .", "He went ."), TREES, strict=True)
    }
    people = {f"pa{k}": {"pairs": pairs} for k, pairs in enumerate(annotators, start=1)}
    return json.dumps({"id": "x", "phenomena": [], **sides, "annotators": people}) + "\n"


def hand_pair(target: str = TREES[1]) -> PreparedPair:
    return PreparedPair(hand_forest(TREES[0]), hand_forest(target), hand_links((0, 0), (1, 1), (2, 2)))


def no_trees(records):
    raise AssertionError("annotated pairs have trees of their own")


def test_annotated_pairs_are_scored_by_span_and_by_the_heads_of_the_gold_trees(tmp_path):
    file = tmp_path / "dev.jsonl"
    file.write_text(annotated_line([ROOT, HE, LEFT, STOP], [ROOT, HE, LEFT, STOP], [ROOT, HE, STOP]))
    development = read_development(file, no_trees)
    evaluation = development.evaluate([project_cached(hand_pair())])
    # the baseline finds the annotated pairs and one more, the bar node without the full stop
    assert [evaluation[name] for name in ("recall", "UAS", "root reached")] == [1.0, 1.0, 1.0]
    assert evaluation["precision"] == pytest.approx(4 / 5)
    human = development.human
    assert human is not None
    assert human["F1"] < 1.0


def test_a_wrong_head_costs_uas_but_punctuation_does_not_count(tmp_path):
    file = tmp_path / "dev.jsonl"
    file.write_text(annotated_line([ROOT], [ROOT], [ROOT]))
    answer = project_cached(hand_pair())
    wrong = replace(answer, source_heads=(-1, 0, answer.source_heads[2]), target_heads=(*answer.target_heads[:2], 0))
    development = read_development(file, no_trees)
    assert development.evaluate([answer])["UAS"] == 1.0
    assert development.evaluate([wrong])["UAS"] == pytest.approx(2 / 4)


def test_word_links_are_projected_through_the_best_trees(tmp_path):
    file = tmp_path / "dev.jsonl"
    file.write_text(
        json.dumps({"id": "x", "source": ["He", "left", "."], "target": ["He", "went", "."], "sure": [[0, 0], [1, 1]]})
    )
    trees = (parse_brackets(TREES[0]), parse_brackets(TREES[1]))
    development = read_development(file, lambda records: [trees for _ in records])
    (judge,) = development.judges
    assert isinstance(judge, ProjectedJudge)
    assert frozenset({(0, 0)}) in dict(judge.gold[0].contents)
    evaluation = development.evaluate([project_cached(hand_pair())])
    assert evaluation["recall"] == 1.0
    assert development.human is None
    with pytest.raises(AnnotationError, match="no annotator is called 'B'"):
        read_development(file, lambda records: [], ["B"])


def test_the_search_answers_with_spans_heads_and_root():
    config = AlignConfig(plain=True)
    model = untrained_model()
    answer = align_cached(hand_pair(), load_stage(config, model))
    assert (Span(0, 3), Span(0, 3)) in answer.spans
    assert answer.root == (True, False)
    assert answer.source_heads == (1, -1, 1)


def test_a_pair_without_a_parse_stops_the_tuning(tmp_path, monkeypatch):
    from forestalign.evaluation import development as answers

    file = tmp_path / "dev.jsonl"
    file.write_text(annotated_line([ROOT], [ROOT], [ROOT]))
    records = read_development(file, no_trees).records
    monkeypatch.setattr(answers, "cache_corpus", lambda records, cache, workers: [(records[0], "too long")])
    with pytest.raises(NoParseError, match="pair x: too long"):
        prepared_pairs(records, tmp_path, CONFIG)


# ---- the command ----


def test_the_command_resumes_to_the_same_table_and_settings(tmp_path, capsys):
    file = tmp_path / "dev.jsonl"
    file.write_text(annotated_line([ROOT, HE, STOP], [ROOT, HE, LEFT, STOP], [ROOT, HE, LEFT, STOP]))
    command = ["tune", str(file), "--cache", str(tmp_path / "cache"), "--model", "hand-set", "--initial", "3", "-q"]
    command += ["--param", "null_penalty=1:8", "--param", "parse_weight=0:0.9", "--objective", "phrase=0.7,uas=0.3"]
    command += ["--set", "plain=true", "--set", "links=dictionary", "--set", "nbest=3"]
    assert main([*command, "--trials", "4", "-o", str(tmp_path / "whole.jsonl")]) == 0
    whole = capsys.readouterr().out
    assert main([*command, "--trials", "2", "-o", str(tmp_path / "part.jsonl")]) == 0
    capsys.readouterr()
    assert main([*command, "--trials", "4", "-o", str(tmp_path / "part.jsonl"), "--resume"]) == 0
    assert capsys.readouterr().out == whole
    assert whole.splitlines()[0].split("\t")[:3] == ["trial", "null_penalty", "parse_weight"]
    assert "    null_penalty: float = " in whole
