#!/usr/bin/env python
"""Train one encoder on trees, tags and word links at once: benepar's chart parser, with a tree-CRF likelihood.

    python scripts/train_parser.py --start runs/e5-small --trees ewt.train.mrg.gz masc.mrg.gz --dev ewt.dev.mrg.gz \
        --split msr-rte2.dev.jsonl.gz edinburgh.train.jsonl.gz --gold mtref.train.jsonl.gz wiki.train.jsonl.gz \
        -o runs/parser --resume
    python scripts/export_parser.py runs/parser/model -o runs/exported

Needs the extra `train` (torch 2.13.0 first, then benepar 0.2.0, transformers <5). `--start` is a folder of an encoder
that transformers loads (scripts/encoder_folder.py makes one), or of a parser that this script trained. Tasks are those
whose data is given: `trees`, `links` (gold) and `unrelated` (pairs put together from those of `links`). `--batches
trees=4 links=2` says how many batches of a round each task has. Of the files of `--split` every `--leave`-th pair is
kept out and scored (micro F1, sure links); those of `--gold` are used whole. Shapes of words are added at the input
unless `--no-shapes` is given; the case of a share of the sentences is dropped, so that lower-cased text stays as good.

A step depends on the seed and its number alone, so a resumed run takes the same steps. The output folder holds
`last.pt` (to resume) and `model/`, which `benepar.Parser("runs/parser/model")` loads, with `additions.npz` beside it.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import nltk
import torch
from benepar.decode_chart import get_labeled_spans
from encoder_training.run import Run
from encoder_training.shaped_parser import ShapedParser, build_parser, crf_loss, load_model, save_model
from encoder_training.treebank import Example, Sampler, augmented, from_nltk, random_case, read_trees
from encoder_training.word_links import (
    LinkedPair,
    LinkHead,
    draw_unrelated,
    link_f1,
    link_loss,
    link_tables,
    pair_logits,
    read_links,
    split_every,
    unrelated_pair,
)
from torch import nn

from forestalign.evaluation.parse_scores import score_brackets

BATCHES = {"trees": 4, "links": 3, "unrelated": 1}  # of a round
HeldOut = dict[str, list[LinkedPair]]  # by file
Task = Callable[[random.Random], torch.Tensor]  # the loss of a batch that the randomness decides


class Student(nn.Module):
    """One encoder with the heads of the parser and of the links, which may be left as it is."""

    def __init__(self, parser: ShapedParser, is_linked: bool):
        super().__init__()
        self.parser, self.is_linked = parser, is_linked
        self.head = LinkHead(parser.pretrained_model.config.num_hidden_layers)


def open_start(folder: Path, trees: list[nltk.Tree], args: argparse.Namespace) -> ShapedParser:
    """The parser to begin with."""
    if not (folder / "benepar_model.bin").exists():
        return build_parser(trees, str(folder), args.width, shapes=args.shapes)
    parser = load_model(folder)
    parser.want_shapes(args.shapes)
    return parser


def read_pairs(args: argparse.Namespace) -> tuple[list[LinkedPair], HeldOut]:
    """The pairs that are trained on, and those that are kept out."""
    skipped = [*args.skip, *[0] * len(args.gold)]
    kept = [pair for path, first in zip(args.gold, skipped, strict=False) for pair in read_links(path)[first:]]
    out: HeldOut = {}
    for path in args.split:
        inside, out[path.name.split(".jsonl")[0]] = split_every(read_links(path), args.leave)
        kept += inside
    return [pair for pair in kept if pair.size <= args.max_words], out


def make_tasks(
    student: Student, trees: list[nltk.Tree], pairs: list[LinkedPair], args: argparse.Namespace
) -> dict[str, Task]:
    """The tasks whose data is given."""
    parser, lowered = student.parser, args.lower_cased if args.shapes else 0.0
    limit = args.batch_tokens // args.workers
    tree_sampler = Sampler([tree for tree in trees if fits(parser, tree)], lambda tree: len(tree.leaves()), limit)
    pair_sampler = Sampler(pairs, lambda pair: 2 * pair.size, limit)

    def tree_loss(rng: random.Random) -> torch.Tensor:
        examples = [augmented(tree, rng, lowered) for tree in tree_sampler.draw(rng)]
        return crf_loss(parser, parser.pad_encoded([parser.encode(example) for example in examples]))

    def pair_loss(batch: list[LinkedPair], rng: random.Random) -> torch.Tensor:
        cases = [random_case(rng, lowered) for _ in batch]
        return link_loss(pair_logits(parser, student.head, batch, cases), batch)

    def gold_loss(rng: random.Random) -> torch.Tensor:
        return pair_loss(pair_sampler.draw(rng), rng)

    def unrelated_loss(rng: random.Random) -> torch.Tensor:
        return pair_loss([draw_unrelated(pair_sampler.examples, rng) for _ in pair_sampler.draw(rng)], rng)

    tasks: dict[str, Task] = {"trees": tree_loss} if trees else {}
    return tasks | ({"links": gold_loss, "unrelated": unrelated_loss} if pairs else {})


def fits(parser: ShapedParser, tree: nltk.Tree) -> bool:
    """Whether the parser has the labels and tags of a tree; one that was trained before may lack some."""
    tags, labels = {tag for _, tag in tree.pos()}, {label for *_, label in get_labeled_spans(tree)}
    return tags <= parser.tag_vocab.keys() and labels <= parser.decoder.label_vocab.keys()


def plan_round(tasks: dict[str, Task], batches: dict[str, int]) -> list[str]:
    """The tasks of a round in turn, each as evenly spread as its number of batches allows."""
    places = [((i + 0.5) / batches[name], name) for name in tasks for i in range(batches[name])]
    return [name for _, name in sorted(places)]


def train(args: argparse.Namespace) -> None:
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    trees = [tree for path in args.trees for tree in read_trees(path) if len(tree.leaves()) <= args.max_words]
    dev = read_trees(args.dev)[:: args.dev_every] if args.dev else []
    pairs, held_out = read_pairs(args)
    student = Student(open_start(args.start, trees, args), bool(pairs))
    student.parser.half = args.half
    tasks = make_tasks(student, trees, pairs, args)
    turns = plan_round(tasks, BATCHES | dict(args.batches))
    if not turns:
        raise SystemExit("nothing to learn from; expected --trees, --gold or --split with data")
    run = Run(student, student.parser.pretrained_model, args.steps, args)
    args.output.mkdir(parents=True, exist_ok=True)
    if args.resume and (args.output / "last.pt").exists():
        run.load(args.output / "last.pt")
    print(f"round: {' '.join(turns)}; from step {run.done}", flush=True)
    started, first, losses = time.time(), run.done, dict.fromkeys(turns, 0.0)
    student.train()
    while run.done < args.steps:
        name = turns[run.done % len(turns)]
        draws = [random.Random(f"{args.seed}:{run.done * args.workers + k}") for k in range(args.workers)]
        losses[name] = run.step(*(partial(tasks[name], rng) for rng in draws))
        is_scored = run.done % args.evaluate_every == 0 or run.done == args.steps
        if is_scored:  # before the checkpoint, so that a run broken off in between scores again
            keep_best(run, dev, held_out, args.output / "model")
        if is_scored or run.done % args.save_every == 0:
            rate = (time.time() - started) / (run.done - first)
            shown = " ".join(f"{task} {loss:.3f}" for task, loss in losses.items())
            print(f"{run.done}/{args.steps} {shown} {rate:.1f} s a step", flush=True)
            run.save(args.output / "last.pt")


def keep_best(run: Run, dev: list[nltk.Tree], held_out: HeldOut, folder: Path) -> None:
    """Score the averaged weights, and save them when the mean of the F1 of trees and of links was never better."""
    parser, head = run.model.parser, run.model.head
    with run.averaged():
        scores = {name: link_f1(pairs, link_tables(parser, head, pairs)) for name, pairs in held_out.items()}
        parts = [sum(scores.values()) / len(scores)] if scores else []
        if held_out:
            scores["false links"] = count_false_links(run.model, held_out)
        if dev:
            scores["trees"], scores["tags"] = evaluate(parser, dev)
            scores["lower-cased"], _ = evaluate(parser, dev, "lower")
            parts.append(scores["trees"])
        mean = sum(parts) / max(1, len(parts))
        run.log.append({"step": run.done, **scores})
        print(json.dumps(run.log[-1]), flush=True)
        if mean >= run.best or not folder.exists():
            run.best = mean
            save_model(parser, folder, head.additions() if run.model.is_linked else None)
        run.model.train()


def count_false_links(student: Student, held_out: HeldOut) -> float:
    """Links in a hundred pairs of a source with the target of the next pair, none of which means the other."""
    pairs = [
        unrelated_pair(one, other)
        for kept_out in held_out.values()
        for one, other in zip(kept_out, [*kept_out[1:], *kept_out[:1]], strict=True)
    ]
    tables = link_tables(student.parser, student.head, pairs)
    return 100 * sum(int((table >= 0.5).sum()) for table in tables) / max(1, len(pairs))


def evaluate(parser: ShapedParser, trees: list[nltk.Tree], case: str = "kept") -> tuple[float, float]:
    """Bracket F1 and tag accuracy of benepar's own decode, in per cent."""
    parses: list[nltk.Tree] = []
    for begin in range(0, len(trees), 32):
        part = [with_known_tags(tree, parser) for tree in trees[begin : begin + 32]]
        parses += parser.parse([Example(tree, True, case) for tree in part])
    scores = score_brackets(list(map(from_nltk, trees)), list(map(from_nltk, parses)))
    return 100 * scores["bracket F1"], 100 * scores["tag accuracy"]


def with_known_tags(tree: nltk.Tree, parser: ShapedParser) -> nltk.Tree:
    """The tree with tags that the parser never saw as unknown; benepar looks every tag of an example up."""
    tree = tree.copy(deep=True)
    for position in tree.treepositions("leaves"):
        if tree[position[:-1]].label() not in parser.tag_vocab:
            tree[position[:-1]].set_label("UNK")
    return tree


def task_batches(text: str) -> tuple[str, int]:
    """TASK=N."""
    name, _, number = text.partition("=")
    if name not in BATCHES or not number.isdecimal() or not int(number):
        raise argparse.ArgumentTypeError(f"{text!r}; expected TASK=N, N above 0; tasks are {', '.join(BATCHES)}")
    return name, int(number)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--start", type=Path, required=True, metavar="FOLDER", help="what to begin with")
    add("--trees", nargs="*", default=[], metavar="MRG", help="gold trees")
    add("--dev", metavar="MRG", help="gold trees to score on")
    add("--dev-every", type=int, default=4, metavar="N", help="score on every N-th of them")
    add("--gold", type=Path, nargs="*", default=[], metavar="FILE", help="gold links, used whole")
    add("--skip", type=int, nargs="*", default=[], metavar="N", help="leave the first N pairs of each --gold file out")
    add("--split", type=Path, nargs="*", default=[], metavar="FILE", help="gold links, some kept out")
    add("--leave", type=int, default=4, metavar="N", help="keep every N-th pair of --split out; 1: all")
    add("--batches", type=task_batches, nargs="+", default=[], metavar="TASK=N", help="batches of a round")
    add("--steps", type=int, default=6000)
    add("--width", type=int, default=512, help="of a new parser's attention layer")
    add("--batch-tokens", type=int, default=600, help="words of a batch, padding included")
    add(
        "--workers", type=int, default=1, help="parts of a batch done side by side; with --threads 1, OMP_NUM_THREADS=1"
    )
    add("--max-words", type=int, default=100, help="leave longer sentences out")
    add("--no-shapes", dest="shapes", action="store_false", help="keep the encoder blind to case")
    add("--lower-cased", type=float, default=0.2, metavar="X", help="share of texts whose case is dropped")
    add("--evaluate-every", type=int, default=500, metavar="N", help="steps between evaluations")
    add("--save-every", type=int, default=100, metavar="N", help="steps between checkpoints")
    add("--rate", type=float, default=1e-3, help="learning rate of the heads")
    add("--encoder-rate", type=float, default=1.5e-4, help="learning rate of the encoder")
    add("--warmup", type=int, default=150, metavar="N", help="steps")
    add("--average", type=float, default=0.998, help="decay of the running average of the weights")
    add("--threads", type=int, default=2)
    add("--half", action="store_true", help="products of the encoder in 16 bits (bfloat16); faster")
    add("--seed", type=int, default=1)
    add("-o", "--output", type=Path, required=True, metavar="FOLDER", help="last.pt, and model/ for the best")
    add("--resume", action="store_true", help="go on from OUTPUT/last.pt")
    train(parser.parse_args(arguments))


if __name__ == "__main__":
    main()
