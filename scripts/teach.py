#!/usr/bin/env python
"""Write down what trained teachers say about unlabelled text, for scripts/train_student.py.

    python scripts/teach.py parses runs/teacher/model -o runs/taught-parses \
        --texts ewt.train.mrg.gz masc.mrg.gz msrp.train.jsonl.gz bible.jsonl.gz mtref.train.jsonl.gz
    python scripts/teach.py links runs/link-teacher/model -o runs/taught-links \
        --texts msrp.train.jsonl.gz bible.jsonl.gz stsb.train.jsonl.gz

`parses` takes one or several models of the parser and writes the mean of their span marginals and tag probabilities;
`links` takes models of scripts/train_links.py and writes the mean probability of every link. Texts are treebanks (only
their words are used) or JSON lines with `source` and `target`. A command that was broken off goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from encoder_training.gold_links import gold_pair
from encoder_training.link_head import link_probabilities, load_head
from encoder_training.shaped_parser import load_model
from encoder_training.teacher_files import write_parts
from encoder_training.texts import read_pairs, read_sentences

from forestalign.chart import Chart, marginals
from forestalign.config import AlignConfig
from forestalign.parsers import Parser, load_parser
from forestalign.tokens import Sentence

Words = tuple[str, ...]
Teach = Callable[[Sequence[Any]], list[Any]]


def parse_teacher(models: Sequence[Path], threads: int) -> tuple[Teach, dict[str, list[str]]]:
    """Marginals and tags by the mean of the models, in the labels and tags of the first."""
    parsers = [
        load_parser(AlignConfig(backend="benepar", parser_model=str(model), nbest=1, threads=threads))
        for model in models
    ]
    (first,) = _charts(parsers[0], [(("word",),)])
    labels, tags = list(first.labels), list(first.tags)

    def teach(texts: Sequence[tuple[Words, ...]]) -> list[tuple[np.ndarray, np.ndarray]]:
        found = [[_tables(chart, labels, tags) for chart in _charts(parser, texts)] for parser in parsers]
        return [(_mean(each, 0), _mean(each, 1)) for each in zip(*found, strict=True)]

    return teach, {"labels": labels, "tags": tags}


def _charts(parser: Parser, texts: Sequence[tuple[Words, ...]]) -> list[Chart]:
    parses = parser.parse([Sentence.from_words(words) for (words,) in texts], forests=False, charts=True)
    return [parse.chart for parse in parses if parse.chart is not None]


def _tables(chart: Chart, labels: Sequence[str], tags: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Marginals, those of the empty label left out, and tag probabilities."""
    spans = marginals(chart)
    spans[..., 0] = 0
    return _in_order(spans, chart.labels, labels), _in_order(_softmax(chart.tag_scores), chart.tags, tags)


def _mean(tables: Sequence[tuple[np.ndarray, ...]], k: int) -> np.ndarray:
    return np.asarray(np.mean([table[k] for table in tables], axis=0))


def _softmax(scores: np.ndarray) -> np.ndarray:
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(shares / shares.sum(-1, keepdims=True))


def _in_order(table: np.ndarray, given: Sequence[str], wanted: Sequence[str]) -> np.ndarray:
    """The last axis in another order of its names; what is not wanted is left out."""
    if list(given) == list(wanted):
        return table
    ordered = np.zeros((*table.shape[:-1], len(wanted)), dtype=table.dtype)
    places = {name: i for i, name in enumerate(wanted)}
    known = [(i, places[name]) for i, name in enumerate(given) if name in places]
    ordered[..., [place for _, place in known]] = table[..., [i for i, _ in known]]
    return ordered


def link_teacher(models: Sequence[Path]) -> Teach:
    """Links by the mean of the models."""
    teachers = [(load_model(model).eval(), load_head(model)) for model in models]

    def teach(texts: Sequence[tuple[Words, Words]]) -> list[tuple[np.ndarray]]:
        pairs = [gold_pair(source, target, frozenset(), frozenset()) for source, target in texts]
        order = sorted(range(len(pairs)), key=lambda i: pairs[i].size)
        found: dict[int, tuple[np.ndarray]] = {}
        for begin in range(0, len(order), 16):
            part = order[begin : begin + 16]
            tables = [link_probabilities(parser, head, [pairs[i] for i in part]) for parser, head in teachers]
            found |= {i: (np.mean(each, axis=0),) for i, each in zip(part, zip(*tables, strict=True), strict=True)}
        return [found[i] for i in range(len(pairs))]

    return teach


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("parses", "links"))
    parser.add_argument("models", type=Path, nargs="+", metavar="MODEL")
    parser.add_argument("--texts", type=Path, nargs="+", required=True, metavar="FILE")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--max-words", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args(arguments)
    torch.set_num_threads(args.threads)
    texts: list[Any]
    if args.kind == "parses":
        texts = [(words,) for words in read_sentences(args.texts, args.max_words)]
        teach, names = parse_teacher(args.models, args.threads)
    else:
        texts, names = list(read_pairs(args.texts, args.max_words)), {}
        teach = link_teacher(args.models)
    made = write_parts(args.output, texts, {**names, "teachers": [str(model) for model in args.models]}, teach)
    print(f"{len(texts)} texts, {made} new parts in {args.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
