#!/usr/bin/env python
"""Train the joint reader: an encoder that reads both sentences of a pair in one pass and links their words.

    python scripts/train_joint.py --start grammar/parser -o runs/joint --layers 8 \
        --split msr-rte2.dev.jsonl.gz edinburgh.train.jsonl.gz --leave 4 \
        --gold mtref.train.jsonl.gz wiki.train.jsonl.gz --skip 600 1000 --workers 2 --threads 1 --resume
    python scripts/export_joint.py runs/joint/model -o grammar/joint

`--start` is the folder of an exported parser, whose encoder is taken; `--layers` reads only its lowest ones. It may
also be a folder of an encoder (scripts/encoder_folder.py), or that of an exported reader, which is trained further. Of
the files of `--split` every `--leave`-th pair is kept out and scored (micro F1, sure links). Besides gold pairs a batch
holds unrelated and half-related ones, and some batches are of two pairs joined in another order. A step depends on
the seed and its number alone, so a resumed run takes the same steps. The output folder holds `last.pt` and `model/`.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path

import onnx
import torch
from encoder_training.exported_reader import load_exported_reader
from encoder_training.exported_weights import load_exported
from encoder_training.gold_links import LinkedPair, f1
from encoder_training.joint_reader import JointReader, from_encoder, joint_loss, link_tables, read_pairs, save_reader
from encoder_training.link_head import LOSSES, best_links
from encoder_training.pair_mixing import joined_batch, mixed
from encoder_training.run import Run, add_run_options
from encoder_training.sampling import Sampler, step_random
from encoder_training.treebank import in_case, random_case
from train_links import add_gold, read_gold
from transformers import BertModel

from forestalign.parsers.encoder_additions import layer_shares
from forestalign.parsers.encoder_words import middle_layers
from forestalign.parsers.word_pieces import WordPieces
from forestalign.words.joint.joint_reader import GRAPH, PIECES

PIECE_FILES = (PIECES, "vocab.txt")


def open_start(folder: Path, layers: int) -> JointReader:
    """An exported reader, an encoder, or that of an exported parser with the shares of layers of its word vectors."""
    if (folder / GRAPH).exists():
        return load_exported_reader(folder / GRAPH)
    if not (folder / "parser.onnx").exists():
        bert = BertModel.from_pretrained(folder)
        count = bert.config.num_hidden_layers
        return from_encoder(bert, None, layers, layer_shares(middle_layers(count), count).tolist())
    parser = load_exported(folder)
    model = onnx.load(folder / "parser.onnx", load_external_data=False)
    record = json.loads(next(prop.value for prop in model.metadata_props if prop.key == "middle"))
    count = parser.pretrained_model.config.num_hidden_layers
    shares = [record["layers"].get(str(number), 0.0) for number in range(count + 1)]
    shapes = None if parser.shape_table is None else parser.shape_table.weight.detach().numpy()
    return from_encoder(parser.pretrained_model, shapes, layers, shares)


def texts(pairs: Sequence[LinkedPair], rng: random.Random, lowered: float) -> list[tuple[list[str], list[str]]]:
    """The words of pairs, some in another case."""
    found = []
    for pair in pairs:
        case = random_case(rng, lowered)
        found.append((in_case(list(pair.source), case), in_case(list(pair.target), case)))
    return found


class Training:
    """All that a step needs besides its number."""

    def __init__(self, reader: JointReader, pairs: Sequence[LinkedPair], args: argparse.Namespace):
        self.reader, self.args = reader, args
        self.pieces = WordPieces(next(path for name in PIECE_FILES if (path := args.start / name).exists()))
        self.sampler = Sampler(
            pairs, lambda pair: len(pair.source) + len(pair.target), args.batch_words // args.workers
        )

    def loss(self, rng: random.Random) -> torch.Tensor:
        batch = self.sampler.draw(rng)
        if rng.random() < self.args.joined:
            batch = joined_batch(batch, rng)
        elif self.args.mixed:
            batch = mixed(batch, self.sampler.examples, rng)
        outputs = read_pairs(self.reader, self.pieces, texts(batch, rng, self.args.lower_cased))
        return joint_loss(outputs, batch, self.args.loss)

    def step(self, run: Run) -> float:
        workers = self.args.workers
        draws = [step_random(self.args.seed, run.done * workers + k) for k in range(workers)]
        return run.step(*(lambda rng=rng: self.loss(rng) for rng in draws))

    def scores(self, held_out: dict[str, list[LinkedPair]]) -> dict[str, float]:
        """F1 of the links that are more probable than not, by file."""
        self.reader.eval()
        found = {}
        for name, kept_out in held_out.items():
            tables = link_tables(self.reader, self.pieces, kept_out)
            found[name] = round(f1(kept_out, [best_links(table) for table in tables]), 2)
        self.reader.train()
        return found


def train(args: argparse.Namespace) -> None:
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    pairs, held_out = read_gold(args)
    reader = open_start(args.start, args.layers)
    training = Training(reader, pairs, args)
    run = Run(reader, encoder_part(reader), args.steps, args)
    args.output.mkdir(parents=True, exist_ok=True)
    if args.resume and (args.output / "last.pt").exists():
        run.load(args.output / "last.pt")
    print(f"{len(pairs)} pairs, from step {run.done}", flush=True)
    started, first, total = time.time(), run.done, 0.0
    reader.train()
    while run.done < args.steps:
        total += training.step(run)
        is_scored = run.done % args.evaluate_every == 0 or run.done == args.steps
        if is_scored:
            keep_best(run, training, held_out)
        if is_scored or run.done % args.save_every == 0:
            rate = (time.time() - started) / (run.done - first)
            print(f"{run.done}/{args.steps} loss {total / (run.done - first):.3f} {rate:.2f} s a step", flush=True)
            run.save(args.output / "last.pt")


def encoder_part(reader: JointReader) -> torch.nn.Module:
    """What came from the encoder, which learns more slowly than what is new."""
    names = ("pieces", "positions", "shapes", "norm", "layers")
    part = torch.nn.ModuleDict({name: getattr(reader, name) for name in names})
    part.get_input_embeddings = reader.get_input_embeddings  # type: ignore[assignment, unused-ignore]
    return part


def keep_best(run: Run, training: Training, held_out: dict[str, list[LinkedPair]]) -> None:
    """Score the averaged weights on what was kept out, and save them when they were never better."""
    with run.averaged():
        scores = training.scores(held_out)
        mean = sum(scores.values()) / max(1, len(scores))
        run.log.append({"step": run.done, **scores})
        print(json.dumps(run.log[-1]), flush=True)
        folder = training.args.output / "model"
        if mean >= run.best or not folder.exists():
            run.best = mean
            save_reader(training.reader, folder)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", type=Path, required=True, metavar="FOLDER", help="parser, encoder or reader")
    add_gold(parser)
    parser.add_argument("--layers", type=int, default=0, help="the lowest of the encoder; default: all")
    parser.add_argument("--loss", choices=LOSSES, default="both")
    parser.add_argument("--joined", type=float, default=0.15, help="share of batches of two pairs joined")
    parser.add_argument("--no-mixed", dest="mixed", action="store_false", help="without unrelated pairs")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch-words", type=int, default=1000, help="words of both sides, padding included")
    parser.add_argument("--workers", type=int, default=1, help="parts of a batch done side by side")
    parser.add_argument("--max-words", type=int, default=60)
    parser.add_argument("--lower-cased", type=float, default=0.2, help="share of pairs whose case is dropped")
    parser.add_argument("--evaluate-every", type=int, default=200, metavar="N", help="steps between evaluations")
    add_run_options(parser)
    train(parser.parse_args(arguments))


if __name__ == "__main__":
    main()
