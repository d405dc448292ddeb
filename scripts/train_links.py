#!/usr/bin/env python
"""Train an encoder to link words by the vectors of its middle layers: a teacher, or a test of one.

    python scripts/train_links.py --encoder runs/mpnet --layers 3 4 5 --encoder-rate 3e-5 \
        --split msr-rte2.dev.jsonl.gz edinburgh.train.jsonl.gz --leave 4 \
        --gold mtref.train.jsonl.gz wiki.train.jsonl.gz -o runs/link-teacher --resume
    python scripts/train_links.py --encoder runs/mpnet --split msr-rte2.dev.jsonl.gz --zero-shot -o runs/unused

Of the files of `--split` every `--leave`-th pair is kept out and scored (micro F1, sure links); those of `--gold` are
used whole. `--encoder` is a folder of an encoder or of a parser that scripts/train_parser.py trained. `--layers` takes
the mean of these layers; without it the shares of all layers are learned. `--zero-shot` trains nothing and prints,
layer by layer, the F1 of the mutually best words with a cosine of at least 0.3.
The output folder holds `last.pt` (to resume) and `model/` with the encoder, `additions.npz` and `link_head.pt`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from encoder_training.gold_links import LinkedPair, f1, read_links, split, unrelated
from encoder_training.link_head import (
    LOSSES,
    LinkHead,
    best_links,
    link_loss,
    link_probabilities,
    mutual_best,
    pair_logits,
    save_head,
)
from encoder_training.run import Run, add_run_options
from encoder_training.sampling import Sampler, step_random
from encoder_training.shaped_parser import ShapedParser, load_model, new_parser, save_model
from encoder_training.treebank import random_case
from torch import nn

LEAST_COSINE = 0.3


class LinkModel(nn.Module):
    """An encoder and its link head. The encoder is that of a parser, trained or not, so that its shapes are too."""

    def __init__(self, parser: ShapedParser, head: LinkHead):
        super().__init__()
        self.parser, self.head = parser, head


def open_encoder(folder: str, shapes: bool) -> ShapedParser:
    """A trained parser, or an encoder with a parser's heads of which nothing is asked."""
    if (Path(folder) / "benepar_model.bin").exists():
        parser = load_model(Path(folder))
        parser.want_shapes(shapes)
        return parser
    return new_parser({"UNK": 0}, {"": 0, "S": 1}, folder, (512, 1, 0.2), shapes)


def read_gold(args: argparse.Namespace) -> tuple[list[LinkedPair], dict[str, list[LinkedPair]]]:
    """What is trained on, and what is kept out, by file."""
    skipped = [*args.skip, *[0] * len(args.gold)]
    kept = [pair for path, first in zip(args.gold, skipped, strict=False) for pair in read_links(path)[first:]]
    out: dict[str, list[LinkedPair]] = {}
    for path in (*args.split, *args.scored):
        inside, out[path.name.split(".jsonl")[0]] = split(read_links(path), args.leave)
        kept += inside if path in args.split else []
    return [pair for pair in kept if pair.size <= args.max_words], out


def score(model: LinkModel, held_out: dict[str, list[LinkedPair]]) -> dict[str, float]:
    """F1 of the links that are more probable than not, by file."""
    return {name: f1(pairs, [best_links(table) for table in tables(model, pairs)]) for name, pairs in held_out.items()}


def tables(model: LinkModel, pairs: Sequence[LinkedPair]) -> list[np.ndarray]:
    found: list[np.ndarray] = []
    for begin in range(0, len(pairs), 16):
        found += link_probabilities(model.parser, model.head, pairs[begin : begin + 16])
    return found


def zero_shot(parser: ShapedParser, held_out: dict[str, list[LinkedPair]]) -> None:
    """F1 of mutually best words of each layer, without any training."""
    config = parser.pretrained_model.config
    for layer in range(1, config.num_hidden_layers + 1):
        head = LinkHead(config.hidden_size, config.num_hidden_layers, [layer])
        head.load_state_dict({"scale": torch.tensor(1.0), "bias": torch.tensor(0.0)}, strict=False)
        least = 1 / (1 + np.exp(-LEAST_COSINE))
        scores = {
            name: round(f1(pairs, [mutual_best(table, least) for table in tables(LinkModel(parser, head), pairs)]), 1)
            for name, pairs in held_out.items()
        }
        print(json.dumps({"layer": layer, **scores}), flush=True)


def train(args: argparse.Namespace) -> None:
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    pairs, held_out = read_gold(args)
    parser = open_encoder(args.encoder, args.shapes)
    parser.half = args.half
    if args.zero_shot:
        zero_shot(parser, held_out)
        return
    config = parser.pretrained_model.config
    model = LinkModel(parser, LinkHead(config.hidden_size, config.num_hidden_layers, args.layers, args.size))
    run = Run(model, parser.pretrained_model, args.steps, args)
    args.output.mkdir(parents=True, exist_ok=True)
    if args.resume and (args.output / "last.pt").exists():
        run.load(args.output / "last.pt")
    print(f"{len(pairs)} pairs, from step {run.done}", flush=True)
    sampler = Sampler(pairs, lambda pair: 2 * pair.size, args.batch_tokens)
    started, first = time.time(), run.done
    model.train()
    while run.done < args.steps:
        loss = one_step(run, sampler, args)
        if run.done % args.save_every == 0 or run.done == args.steps:
            print(
                f"{run.done}/{args.steps} loss {loss:.3f} {(time.time() - started) / (run.done - first):.1f} s a step"
            )
            keep_best(run, held_out, args.output / "model")
            run.save(args.output / "last.pt")


def one_step(run: Run, sampler: Sampler[LinkedPair], args: argparse.Namespace) -> float:
    """A batch of gold pairs, and as many unrelated ones as asked for."""
    rng = step_random(args.seed, run.done)
    batch = sampler.draw(rng)
    batch += [unrelated(sampler.examples, rng) for _ in range(round(args.unrelated * len(batch)))]
    cases = [random_case(rng, args.lower_cased if args.shapes else 0.0) for _ in batch]
    model = run.model
    return run.step(lambda: link_loss(pair_logits(model.parser, model.head, batch, cases), batch, args.loss))


def keep_best(run: Run, held_out: dict[str, list[LinkedPair]], folder: Path) -> None:
    """Score the averaged weights on what was kept out, and save them when they were never better."""
    with run.averaged():
        scores = score(run.model, held_out)
        mean = sum(scores.values()) / max(1, len(scores))
        run.log.append({"step": run.done, **scores})
        print(json.dumps(run.log[-1]), flush=True)
        if mean >= run.best or not folder.exists():
            run.best = mean
            save_model(run.model.parser, folder, run.model.head.additions())
            save_head(run.model.head, folder)


def add_gold(parser: argparse.ArgumentParser) -> None:
    """The options that name gold links."""
    parser.add_argument("--gold", type=Path, nargs="*", default=[], metavar="FILE", help="gold links, used whole")
    parser.add_argument(
        "--skip", type=int, nargs="*", default=[], metavar="N", help="leave the first N pairs of each --gold file out"
    )
    parser.add_argument("--split", type=Path, nargs="*", default=[], metavar="FILE", help="gold links, some kept out")
    parser.add_argument("--leave", type=int, default=4, metavar="N", help="keep every Nth pair of --split out; 1: all")
    parser.add_argument(
        "--scored", type=Path, nargs="*", default=[], metavar="FILE", help="as --split, but none of it is trained on"
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", required=True, help="folder of an encoder or of a trained parser")
    add_gold(parser)
    parser.add_argument("--layers", type=int, nargs="+", help="from 1; default: learned shares of all")
    parser.add_argument("--size", type=int, default=0, help="of a projection of the word vectors; default: none")
    parser.add_argument("--loss", choices=LOSSES, default="both")
    parser.add_argument("--unrelated", type=float, default=0.25, help="unrelated pairs per gold pair")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch-tokens", type=int, default=700, help="words of both sides, padding included")
    parser.add_argument("--max-words", type=int, default=100)
    parser.add_argument("--no-shapes", dest="shapes", action="store_false", help="keep the encoder blind to case")
    parser.add_argument("--lower-cased", type=float, default=0.2, help="share of pairs whose case is dropped")
    parser.add_argument("--zero-shot", action="store_true", help="train nothing; F1 of each layer as it is")
    add_run_options(parser)
    train(parser.parse_args(arguments))


if __name__ == "__main__":
    main()
