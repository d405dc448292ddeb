"""Training on tiny encoders: links are learned, a broken run goes on, the graph comes back as weights."""

from __future__ import annotations

import json
import random
from argparse import Namespace
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from forestalign.config import AlignConfig
from forestalign.parsers import load_parser
from forestalign.tokens import Sentence
from tests.builders.tiny_encoders import save_bert
from tests.builders.toy_treebank import WORDS, known_words, write_trees

pytestmark = pytest.mark.heavy
STEPS = ["--steps", "90", "--evaluate-every", "45", "--save-every", "30", "--batches", "trees=2"]
SMALL = ["--warmup", "5", "--batch-tokens", "120", "--threads", "1", "--width", "128", "--dev-every", "1"]


def write_pairs(path: Path, count: int) -> None:
    """The same words in another order, linked to themselves."""
    rng = random.Random(1)
    rows = []
    for number in range(count):
        source = [rng.choice(WORDS[tag]) for tag in ("DT", "JJ", "NN", "IN")]
        target = rng.sample(source, len(source))
        sure = [[i, target.index(word)] for i, word in enumerate(source)]
        rows.append({"id": str(number), "source": source, "target": target, "sure": sure, "possible": []})
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def train(root: Path, output: str, *more: str) -> None:
    import train_parser

    files = {"start": "bert", "trees": "train.mrg", "dev": "dev.mrg", "split": "pairs.jsonl", "output": output}
    named = [part for name, file in files.items() for part in (f"--{name}", str(root / file))]
    train_parser.main([*named, *SMALL, *more])


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trees, pairs, an encoder, and a parser with links trained on them."""
    folder = tmp_path_factory.mktemp("training")
    save_bert(folder / "bert", known_words())
    write_trees(folder / "train.mrg", 1, 60)
    write_trees(folder / "dev.mrg", 2, 10)
    write_pairs(folder / "pairs.jsonl", 60)
    train(folder, "whole", *STEPS)
    return folder


def test_links_and_trees_are_learned_together(root: Path) -> None:
    import torch

    first, last = torch.load(root / "whole" / "last.pt", weights_only=True)["log"]
    assert set(last) == {"step", "pairs", "false links", "trees", "tags", "lower-cased"}
    assert last["pairs"] > max(60, first["pairs"])
    assert last["trees"] > max(40, first["trees"])


def test_a_run_that_was_broken_off_goes_on_as_if_it_had_not_stopped(root: Path) -> None:
    import torch
    from encoder_training.run import Run

    class Broken(Exception):
        pass

    save = Run.save

    def breaking(run: Run, path: Path) -> None:
        save(run, path)
        if run.done == 60:
            raise Broken

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "save", breaking)
        with pytest.raises(Broken):
            train(root, "broken", *STEPS)
    train(root, "broken", *STEPS, "--resume")
    whole, broken = (torch.load(root / name / "last.pt", weights_only=True) for name in ("whole", "broken"))
    assert whole["log"] == broken["log"]
    assert all(torch.equal(value, broken["model"][name]) for name, value in whole["model"].items())


def test_a_possible_link_costs_nothing_either_way() -> None:
    import torch
    from encoder_training.word_links import gold_pair, link_loss

    pair = gold_pair(("a", "b"), ("c", "d"), frozenset({(0, 0)}), frozenset({(1, 1)}))
    losses = [link_loss(torch.tensor([[[3.0, -3.0], [-3.0, value]]]), [pair]).item() for value in (-9.0, 9.0)]
    assert losses[0] == losses[1]
    assert link_loss(torch.tensor([[[-3.0, 3.0], [-3.0, 0.0]]]), [pair]).item() > losses[0] + 1


def test_parts_of_a_batch_side_by_side_have_the_gradients_of_their_mean(root: Path) -> None:
    import torch
    from encoder_training.run import Run
    from encoder_training.shaped_parser import load_model
    from encoder_training.word_links import LinkHead, link_loss, pair_logits, read_links

    options = Namespace(average=0.9, encoder_rate=0.0, rate=0.0, warmup=1)
    pairs = read_links(root / "pairs.jsonl")[:6]
    gradients = []
    for parts in ([pairs[:3], pairs[3:]], [pairs]):
        parser, head = load_model(root / "whole" / "model").eval(), LinkHead(2)
        run = Run(torch.nn.ModuleList([parser, head]), parser.pretrained_model, 1, options)
        run.step(*(lambda part=part, p=parser, h=head: link_loss(pair_logits(p, h, part), part) for part in parts))
        gradients.append([each.grad for each in run.parameters])
    assert sum(gradient is not None for gradient in gradients[0]) > 5
    for one, other in zip(*gradients, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


def test_every_example_is_drawn_equally_often_whatever_its_length() -> None:
    from encoder_training.treebank import Sampler

    lengths = [*range(2, 42)] * 5
    sampler = Sampler(list(enumerate(lengths)), lambda each: each[1], 200)
    drawn = Counter(each for step in range(4000) for each in sampler.draw(random.Random(step)))
    short, long = (
        sum(n for (_, length), n in drawn.items() if low <= length < high) / (5 * (high - low))
        for low, high in ((7, 17), (27, 37))
    )
    assert 0.8 < short / long < 1.25


def test_an_exported_parser_gives_the_word_vectors_that_it_was_trained_for(root: Path) -> None:
    """The graph's `middle` is the mixture of layers that the links saw."""
    import export_parser
    import torch
    from encoder_training.shaped_parser import load_model
    from encoder_training.treebank import Text
    from encoder_training.word_links import LinkHead, read_links

    from forestalign.parsers.benepar import read_additions

    model = root / "whole" / "model"
    export_parser.export(model, root / "eight", keep_float=root / "float")
    words = read_links(root / "pairs.jsonl")[0].source
    parser = load_parser(AlignConfig(parser_model=str(root / "float")))
    (parse,) = parser.parse([Sentence.from_words(words)], forests=False)
    trained, head, shares = load_model(model).eval(), LinkHead(2), read_additions(model).layers
    assert shares is not None
    with torch.no_grad():
        head.mix.copy_(torch.log(torch.from_numpy(shares)))
        batch = trained.pad_encoded([trained.encode(Text(list(words)))])
        vectors = head.word_vectors(trained.hidden_states(batch), batch["words_from_tokens"])[0].numpy()
    np.testing.assert_allclose(parse.sentence.context_vectors, vectors, rtol=2e-3, atol=1e-2)  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["trees=0.5", "trees=0", "leaves=1"])
def test_batches_that_cannot_be_are_refused(root: Path, capsys: pytest.CaptureFixture[str], option: str) -> None:
    with pytest.raises(SystemExit):
        train(root, "none", "--batches", option)
    assert f"'{option}'; expected TASK=N" in capsys.readouterr().err
