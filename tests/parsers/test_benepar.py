"""A tiny benepar model, trained here for seconds: benepar itself, our backend for it, and its export must agree."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forestalign.chart import Chart, kbest, marginals
from forestalign.config import AlignConfig
from forestalign.errors import UsageError
from forestalign.parsers import Parse, load_parser
from forestalign.tokens import Sentence
from forestalign.trees import parse_brackets
from tests.builders.charts import brackets_of
from tests.builders.tiny_encoders import save_bert, save_mpnet
from tests.builders.toy_treebank import known_words, random_tree, write_trees

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`run/model` is the trained model, `exported` and `float` its ONNX graphs with and without quantisation."""
    import export_parser
    import train_parser

    root = tmp_path_factory.mktemp("benepar")
    save_bert(root / "encoder", known_words())
    write_trees(root / "train.mrg", 1, 200)
    write_trees(root / "dev.mrg", 2, 20)
    options = {"trees": "train.mrg", "dev": "dev.mrg", "output": "run", "start": "encoder"}
    arguments = [part for name, file in options.items() for part in (f"--{name}", str(root / file))]
    sizes = ["--steps", "36", "--evaluate-every", "12", "--dev-every", "1", "--width", "128", "--warmup", "10"]
    train_parser.main([*arguments, *sizes, "--batch-tokens", "150", "--no-shapes"])
    export_parser.export(root / "run" / "model", root / "exported", keep_float=root / "float")
    return root


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    rng = random.Random(3)
    trees = [parse_brackets(random_tree(rng)) for _ in range(200)]
    return [Sentence.from_words([str(leaf.word) for leaf in tree.leaves()]) for tree in trees]


def parses(folder: Path, backend: str, model: str, sentences: list[Sentence]) -> list[Parse]:
    parser = load_parser(AlignConfig(backend=backend, parser_model=str(folder / model)))
    return parser.parse(sentences, forests=False, charts=True)


@pytest.fixture(scope="module")
def torch_parses(folder: Path, sentences: list[Sentence]) -> list[Parse]:
    return parses(folder, "benepar", "run/model", sentences)


def charts(found: list[Parse]) -> list[Chart]:
    return [parse.chart for parse in found if parse.chart is not None]


def test_training_learns_the_toy_grammar(folder: Path) -> None:
    import torch

    log = torch.load(folder / "run" / "last.pt", weights_only=True)["log"]
    assert [entry["step"] for entry in log] == [12, 24, 36]
    assert log[-1]["trees"] > max(40.0, log[0]["trees"])


def test_our_best_tree_is_the_one_that_benepar_decodes(
    folder: Path, sentences: list[Sentence], torch_parses: list[Parse]
) -> None:
    import benepar

    parser = benepar.Parser(str(folder / "run" / "model"))
    for sentence, parse in zip(sentences, torch_parses, strict=True):
        theirs = parser.parse(benepar.InputSentence(words=list(sentence.words), space_after=[True] * len(sentence)))
        ours = kbest(charts([parse])[0], sentence.words, 1)[0].tree
        assert brackets_of(ours) == brackets_of(parse_brackets(" ".join(str(theirs).split())))


def test_the_exported_graph_gives_the_charts_of_the_checkpoint(
    folder: Path, sentences: list[Sentence], torch_parses: list[Parse]
) -> None:
    exported = parses(folder, "embedded", "float", sentences)
    for theirs, ours in zip(torch_parses, exported, strict=True):
        upper = np.triu_indices(len(theirs.sentence))
        one, other = charts([theirs, ours])
        np.testing.assert_allclose(other.potentials[upper], one.potentials[upper], atol=1e-3)
        np.testing.assert_allclose(other.tag_scores, one.tag_scores, atol=1e-3)
        np.testing.assert_allclose(ours.sentence.vectors, theirs.sentence.vectors, atol=1e-3)  # type: ignore[arg-type]
        np.testing.assert_allclose(ours.sentence.context_vectors, theirs.sentence.context_vectors, atol=4e-3)  # type: ignore[arg-type]


def test_eight_bits_stay_within_their_rounding_error(
    folder: Path, sentences: list[Sentence], torch_parses: list[Parse]
) -> None:
    quantised = parses(folder, "embedded", "exported", sentences)
    same = sum(one.trees[0].tree == other.trees[0].tree for one, other in zip(torch_parses, quantised, strict=True))
    assert same >= 0.9 * len(sentences)
    pairs = list(zip(charts(torch_parses), charts(quantised), strict=True))
    distance = np.mean([np.abs(np.triu((a.potentials - b.potentials).max(2))).mean() for a, b in pairs])
    spread = np.mean([chart.potentials.std() for chart, _ in pairs])
    assert distance < 0.1 * spread
    likely = [(marginals(a), marginals(b)) for a, b in pairs]
    assert np.mean([np.abs(a - b)[a > 0.1].mean() for a, b in likely]) < 0.05


@pytest.mark.parametrize("word", ["\x01", "\ufffd", "\u0301"])
def test_words_that_leave_no_piece_are_parsed_too(folder: Path, word: str) -> None:
    sentence = Sentence.from_words(["she", word, "left", word])
    for backend, model in (("benepar", "run/model"), ("embedded", "exported")):
        (parse,) = parses(folder, backend, model, [sentence])
        assert not parse.error
        assert [leaf.word for leaf in parse.trees[0].tree.leaves()] == list(sentence.words)


def test_a_long_sentence_is_refused_by_benepar_as_by_ours(folder: Path) -> None:
    (parse,) = parses(folder, "benepar", "run/model", [Sentence.from_words(["cat"] * 511)])
    assert "511 word pieces" in parse.error
    assert "510" in parse.error


def train_tiny(folder: Path, encoder: str, output: Path, *more: str) -> None:
    import train_parser

    files = {"trees": folder / "dev.mrg", "dev": folder / "dev.mrg", "start": folder / encoder, "output": output}
    arguments = [part for name, file in files.items() for part in (f"--{name}", str(file))]
    sizes = ["--steps", "6", "--width", "128", "--warmup", "5", "--batch-tokens", "40", "--threads", "1"]
    train_parser.main([*arguments, *sizes, *more])


@pytest.fixture(scope="module")
def mpnet(folder: Path) -> Path:
    save_mpnet(folder / "mpnet", known_words())
    train_tiny(folder, "mpnet", folder / "mpnet-run", "--no-shapes")
    return folder / "mpnet-run"


def test_an_encoder_with_other_marks_and_positions_is_trained_and_loaded(
    mpnet: Path, sentences: list[Sentence]
) -> None:
    import benepar

    theirs = benepar.Parser(str(mpnet / "model"))
    for parse in parses(mpnet, "benepar", "model", sentences[:10]):
        words = list(parse.sentence.words)
        tree = theirs.parse(benepar.InputSentence(words=words, space_after=[True] * len(words)))
        assert brackets_of(parse.trees[0].tree) == brackets_of(parse_brackets(" ".join(str(tree).split())))
        assert parse.sentence.context_vectors is not None
        assert parse.sentence.context_vectors.shape == (len(words), 128)


def test_only_encoders_that_the_graph_can_hold_are_exported(mpnet: Path, tmp_path: Path) -> None:
    import export_parser

    with pytest.raises(SystemExit, match="mpnet"):
        export_parser.export(mpnet / "model", tmp_path / "out")


def with_case(sentence: Sentence) -> Sentence:
    """The first word with a capital, the second in capitals."""
    first, second, *more = sentence.words
    return Sentence.from_words([first.capitalize(), second.upper(), *more])


def shaped_models(folder: Path) -> None:
    """`run/model` with shapes that differ much, shares of all layers and a projection, and its graphs."""
    import export_parser
    import torch
    from encoder_training.shaped_parser import load_model, save_model

    from forestalign.parsers.benepar import EncoderAdditions

    parser = load_model(folder / "run" / "model")
    parser.add_shapes()
    rng = np.random.default_rng(5)
    with torch.no_grad():
        weights = rng.normal(size=parser.shape_table.weight.shape).astype(np.float32)
        weights[0] = 0
        parser.shape_table.weight.copy_(torch.from_numpy(weights))
    shares = np.array([0.2, 0.3, 0.5], dtype=np.float32)
    projection = rng.normal(size=(128, 16)).astype(np.float32)
    save_model(parser, folder / "shaped" / "model", EncoderAdditions(None, shares, projection))
    shaped = folder / "shaped"
    export_parser.export(shaped / "model", shaped / "exported", keep_float=shaped / "float")


@pytest.fixture(scope="module")
def shaped(folder: Path) -> Path:
    shaped_models(folder)
    return folder / "shaped"


def test_shapes_and_learned_layers_are_the_same_in_all_backends(shaped: Path, sentences: list[Sentence]) -> None:
    cased = [with_case(sentence) for sentence in sentences[:30]]
    for theirs, ours in zip(
        parses(shaped, "benepar", "model", cased), parses(shaped, "embedded", "float", cased), strict=True
    ):
        upper = np.triu_indices(len(theirs.sentence))
        one, other = charts([theirs, ours])
        np.testing.assert_allclose(other.potentials[upper], one.potentials[upper], atol=1e-3)
        np.testing.assert_allclose(other.tag_scores, one.tag_scores, atol=1e-3)
        assert ours.sentence.context_vectors is not None
        assert ours.sentence.context_vectors.shape == (len(ours.sentence), 16)
        np.testing.assert_allclose(ours.sentence.context_vectors, theirs.sentence.context_vectors, rtol=2e-3, atol=2e-2)  # type: ignore[arg-type]


def test_training_sees_the_shapes_that_the_backends_see(shaped: Path, sentences: list[Sentence]) -> None:
    import torch
    from encoder_training.shaped_parser import load_model
    from encoder_training.treebank import Text

    parser = load_model(shaped / "model").eval()
    cased = [with_case(sentence) for sentence in sentences[:10]]
    for sentence, parse in zip(cased, parses(shaped, "benepar", "model", cased), strict=True):
        with torch.no_grad():
            scores, _ = parser(parser.pad_encoded([parser.encode(Text(list(sentence.words)))]))
        upper = np.triu_indices(len(sentence))
        np.testing.assert_allclose(scores[0].numpy()[upper], charts([parse])[0].potentials[upper], atol=1e-4)


def test_case_changes_scores_only_where_shapes_are_known(folder: Path, shaped: Path, sentences: list[Sentence]) -> None:
    lowered, cased = sentences[:5], [with_case(sentence) for sentence in sentences[:5]]
    changes = []
    for root, model in ((folder, "exported"), (shaped, "exported")):
        pairs = zip(parses(root, "embedded", model, lowered), parses(root, "embedded", model, cased), strict=True)
        changes.append(
            max(float(np.abs(one.potentials - two.potentials).max()) for one, two in map(charts, map(list, pairs)))
        )
    assert changes[0] == 0
    assert changes[1] > 0.1


def test_a_graph_without_shapes_asks_for_none(folder: Path, shaped: Path) -> None:
    import export_parser
    import onnx

    def inputs(path: Path) -> list[str]:
        return [given.name for given in onnx.load(path).graph.input]

    assert inputs(folder / "exported" / "parser.onnx") == list(export_parser.INPUTS)
    assert inputs(shaped / "exported" / "parser.onnx") == [*export_parser.INPUTS, "shapes"]


def test_the_graph_records_what_its_words_half_way_are_made_of(shaped: Path) -> None:
    import json

    import onnx

    def recorded(path: Path) -> Any:
        return json.loads({prop.key: prop.value for prop in onnx.load(path).metadata_props}["middle"])

    assert recorded(shaped / "exported" / "parser.onnx") == {
        "layers": {"0": pytest.approx(0.2), "1": pytest.approx(0.3), "2": 0.5},
        "projection": [128, 16],
    }


def test_a_parser_without_shapes_forgets_those_it_had(shaped: Path) -> None:
    from encoder_training.shaped_parser import load_model

    parser = load_model(shaped / "model")
    learned = parser.shape_table
    parser.want_shapes(True)
    assert parser.shape_table is learned
    parser.want_shapes(False)
    assert parser.shape_table is None
    assert not any("shape_table" in name for name in parser.state_dict())


def test_a_folder_without_a_benepar_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no benepar_model\.bin"):
        load_parser(AlignConfig(backend="benepar", parser_model=str(tmp_path)))


def test_a_tag_that_was_never_seen_is_only_wrong(folder: Path) -> None:
    import nltk
    from encoder_training.shaped_parser import load_model
    from encoder_training.treebank import read_trees
    from train_parser import evaluate

    parser = load_model(folder / "run" / "model").eval()
    tree = read_trees(str(folder / "dev.mrg"))[0]
    _, before = evaluate(parser, [tree])
    odd = nltk.Tree.fromstring(str(tree))
    position = odd.treepositions("leaves")[0][:-1]
    odd[position].set_label("ODD")
    _, after = evaluate(parser, [odd])
    assert after == pytest.approx(before - 100 / len(tree.leaves()))
    assert odd[position].label() == "ODD"
