"""A tiny benepar model, trained here for seconds: benepar itself, our backend for it, and its export must agree."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_chart import all_trees, brackets_of, log_sum

from forestalign.chart import Chart, kbest, log_partition, marginals, viterbi
from forestalign.config import AlignConfig
from forestalign.parsers import Parse, load_parser
from forestalign.tokens import Sentence
from forestalign.trees import parse_brackets

pytestmark = pytest.mark.heavy
sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))

WORDS = {
    "DT": ("the", "a", "every"),
    "JJ": ("small", "old", "green"),
    "NN": ("cat", "house", "river", "song"),
    "PRP": ("she", "they"),
    "VBD": ("saw", "built", "left", "(sic)"),
    "VB": ("see", "build", "leave"),
    "IN": ("near", "with", "under"),
    "TO": ("to",),
    ".": (".", "!"),
}
RULES = {
    "TOP": (("S", "."),),
    "S": (("NP", "VP"),),
    "NP": (("DT", "NN"), ("DT", "JJ", "NN"), ("PRP",), ("NP", "PP")),
    "VP": (("VBD",), ("VBD", "NP"), ("VBD", "NP", "PP"), ("VBD", "INF")),
    "INF": (("TO", "BARE"),),
    "BARE": (("VB",), ("VB", "NP")),
    "PP": (("IN", "NP"),),
}
NAMES = {"INF": "S (VP", "BARE": "VP"}


def random_tree(rng: random.Random, symbol: str = "TOP", depth: int = 0) -> str:
    """A bracketed sentence; deep phrases take their first, shortest rule."""
    if symbol in WORDS:
        word = rng.choice(WORDS[symbol]).replace("(", "-LRB-").replace(")", "-RRB-")
        return f"({symbol} {word})"
    rule = RULES[symbol][0] if depth > 4 else rng.choice(RULES[symbol])
    children = " ".join(random_tree(rng, child, depth + 1) for child in rule)
    if symbol == "TOP":
        inner, stop = children.rsplit(" (. ", 1)
        return f"(TOP {inner[:-1]} (. {stop}))"
    name = NAMES.get(symbol, symbol)
    return f"({name} {children})" + ")" * name.count("(")


def save_encoder(folder: Path) -> None:
    """A BERT with random weights that knows letters and most of the words."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(1)
    letters = "abcdefghijklmnopqrstuvwxyz.!()"
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    known = sorted({word for words in WORDS.values() for word in words if word.isalpha() and word != "river"})
    pieces = [*marks, *letters, *(f"##{letter}" for letter in letters), *known]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(pieces)) + "\n")
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), model_max_length=512).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(dict.fromkeys(pieces)), hidden_size=128, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=512,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)


def write_trees(path: Path, seed: int, count: int) -> None:
    rng = random.Random(seed)
    path.write_text("".join(random_tree(rng) + "\n" for _ in range(count)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`run/model` is the trained model, `exported` and `float` its ONNX graphs with and without quantisation."""
    import export_parser
    import train_parser

    root = tmp_path_factory.mktemp("benepar")
    save_encoder(root / "encoder")
    write_trees(root / "train.mrg", 1, 200)
    write_trees(root / "dev.mrg", 2, 20)
    options = {"train": "train.mrg", "dev": "dev.mrg", "output": "run", "encoder": "encoder"}
    arguments = [part for name, file in options.items() for part in (f"--{name}", str(root / file))]
    train_parser.main([*arguments, "--epochs", "3", "--width", "128", "--warmup", "10", "--batch-tokens", "150"])
    export_parser.export(root / "run" / "model", root / "exported", keep_float=True)
    shutil.copytree(root / "exported", root / "float")
    (root / "float" / "parser.float.onnx").replace(root / "float" / "parser.onnx")
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
    assert [entry["epoch"] for entry in log] == [1, 2, 3]
    assert log[-1]["f1"] > max(40.0, log[0]["f1"])


def test_our_best_tree_is_the_one_that_benepar_decodes(
    folder: Path, sentences: list[Sentence], torch_parses: list[Parse]
) -> None:
    import benepar

    parser = benepar.Parser(str(folder / "run" / "model"))
    for sentence, parse in zip(sentences, torch_parses, strict=True):
        theirs = parser.parse(benepar.InputSentence(words=list(sentence.words), space_after=[True] * len(sentence)))
        ours = viterbi(charts([parse])[0], sentence.words).tree
        assert brackets_of(ours) == brackets_of(parse_brackets(" ".join(str(theirs).split())))


def test_sums_over_trees_agree_with_enumeration(folder: Path) -> None:
    (parse,) = parses(folder, "benepar", "run/model", [Sentence.from_words(["she", "left", "!"])])
    check_against_enumeration(charts([parse])[0])


def test_four_words_and_their_likeliest_labels_agree_with_enumeration(folder: Path) -> None:
    (parse,) = parses(folder, "benepar", "run/model", [Sentence.from_words(["every", "cat", "left", "."])])
    (chart,) = charts([parse])
    likely = [0, *sorted(1 + np.argsort(-marginals(chart)[:, :, 1:].sum((0, 1)))[:3])]
    labels = tuple(chart.labels[i] for i in likely)
    check_against_enumeration(Chart(chart.potentials[:, :, likely].copy(), labels, chart.tag_scores, chart.tags))


def check_against_enumeration(chart: Chart) -> None:
    scores = all_trees(chart)
    total = log_sum(list(scores.values()))
    assert log_partition(chart) == pytest.approx(total, abs=1e-3)
    expected = np.zeros(chart.potentials.shape)
    for brackets, score in scores.items():
        for begin, end, label in brackets:
            expected[begin, end - 1, chart.labels.index(label)] += np.exp(score - total)
    np.testing.assert_allclose(marginals(chart)[:, :, 1:], expected[:, :, 1:], atol=1e-3)
    found = kbest(chart, ["w"] * len(chart), 30)
    assert [tree.log_prob + total for tree in found] == pytest.approx(sorted(scores.values())[::-1][:30], abs=1e-3)
    assert len({brackets_of(tree.tree) for tree in found}) == 30


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
        np.testing.assert_allclose(ours.sentence.middle, theirs.sentence.middle, atol=4e-3)  # type: ignore[arg-type]


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


def test_words_that_leave_no_piece_are_parsed_too(folder: Path) -> None:
    sentence = Sentence.from_words(["she", "\x01", "left", "."])
    for backend, model in (("benepar", "run/model"), ("embedded", "exported")):
        (parse,) = parses(folder, backend, model, [sentence])
        assert not parse.error
        assert [leaf.word for leaf in parse.trees[0].tree.leaves()] == list(sentence.words)


def test_a_long_sentence_is_refused_by_benepar_as_by_ours(folder: Path) -> None:
    (parse,) = parses(folder, "benepar", "run/model", [Sentence.from_words(["cat"] * 511)])
    assert "511 word pieces" in parse.error
    assert "510" in parse.error


def test_a_resumed_run_goes_on_as_if_it_had_not_stopped(folder: Path, tmp_path: Path) -> None:
    import torch
    import train_parser

    trees = train_parser.read_trees(str(folder / "train.mrg"))[:12]
    settings: Any = SimpleNamespace(
        layers=1, width=128, dropout=0.2, average=0.9, encoder_rate=1e-3, rate=1e-3, warmup=2, seed=4
    )
    torch.manual_seed(4)
    run = train_parser.Run(train_parser.build_parser(trees, str(folder / "encoder"), settings), 10, settings)
    batch = run.parser.pad_encoded([run.parser.encode(train_parser.Example(tree, True)) for tree in trees])
    run.parser.train()
    run.step(batch)
    run.save(tmp_path / "last.pt")
    losses = [run.step(batch) for _ in range(2)]
    run.load(tmp_path / "last.pt")
    assert [run.step(batch) for _ in range(2)] == losses
