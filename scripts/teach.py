#!/usr/bin/env python
"""Write down what trained teachers say about unlabelled text, for scripts/train_student.py.

    python scripts/teach.py parses runs/teacher/model -o runs/taught-parses \
        --texts ewt.train.mrg.gz masc.mrg.gz msrp.train.jsonl.gz bible.jsonl.gz mtref.train.jsonl.gz
    python scripts/teach.py links runs/link-teacher/model -o runs/taught-links \
        --texts msrp.train.jsonl.gz bible.jsonl.gz stsb.train.jsonl.gz
    python scripts/teach.py pairs runs/teacher/model -o runs/taught-pairs --half --texts msrp.train.jsonl.gz

`parses` takes one or several models of the parser and writes the mean of their span marginals and tag probabilities;
`links` takes models of scripts/train_links.py and writes the mean probability of every link; `pairs` takes models that
were trained on both (scripts/train_student.py) and writes both of every pair, from one pass. Texts are treebanks (only
their words are used) or JSON lines with `source` and `target`; FILE:N takes the first N sentences or pairs of a file. A
command that was broken off goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from encoder_training.link_head import LinkHead, load_head
from encoder_training.shaped_parser import ShapedParser, load_model
from encoder_training.teacher_files import write_parts
from encoder_training.texts import Source, read_pairs, read_sentences
from encoder_training.tree_crf import annotate, score_spans
from encoder_training.treebank import Text

from forestalign.chart import Chart, marginals

Words = tuple[str, ...]
Texts = tuple[Words, ...]
Tables = tuple[np.ndarray, ...]
BATCH_WORDS = 900  # of a pass, padding included


class Teacher(NamedTuple):
    """A trained model, with a link head where links are asked for."""

    parser: ShapedParser
    head: LinkHead | None
    parses: bool

    def tables(self, texts: Sequence[Texts]) -> list[Tables]:
        """Of each text the marginals and tags of every sentence, if asked for, then the links of the pair."""
        sentences = [words for each in texts for words in each]
        parser = self.parser
        batch = parser.pad_encoded([parser.encode(Text(list(words))) for words in sentences])
        with torch.no_grad():
            states = parser.hidden_states(batch)
            found = self._parses(states[-1], batch, list(map(len, sentences))) if self.parses else [()] * len(sentences)
            links = self._links(states, batch, texts) if self.head else [()] * len(texts)
        each_has = len(texts[0])
        return [
            (*(table for parse in found[k * each_has : (k + 1) * each_has] for table in parse), *links[k])
            for k in range(len(texts))
        ]

    def _parses(self, hidden: torch.Tensor, batch: Any, lengths: list[int]) -> list[Tables]:
        parser = self.parser
        labels, tags = names(parser)
        scores, tag_scores = (table.numpy() for table in score_spans(parser, annotate(parser, hidden, batch)))
        charts = [
            Chart(np.ascontiguousarray(scores[k, :n, :n]), labels, tag_scores[k, 1 : 1 + n, : len(tags)], tags)
            for k, n in enumerate(lengths)
        ]
        return [parse_tables(chart) for chart in charts]

    def _links(self, states: tuple[torch.Tensor, ...], batch: Any, texts: Sequence[Texts]) -> list[Tables]:
        assert self.head is not None
        vectors = self.head.word_vectors(states, batch["words_from_tokens"])
        lengths = torch.tensor([[len(source), len(target)] for source, target in texts])
        logits = self.head(vectors[0::2], vectors[1::2], lengths)
        shares = torch.sigmoid(logits).numpy()
        return [(shares[k, : len(source), : len(target)],) for k, (source, target) in enumerate(texts)]


def names(parser: ShapedParser) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Labels and tags in the order of their numbers."""
    labels, tags = (sorted(table, key=table.__getitem__) for table in (parser.label_vocab, parser.tag_vocab))
    return tuple(labels), tuple(tags)


def parse_tables(chart: Chart) -> Tables:
    """Marginals, those of the empty label left out, and tag probabilities."""
    spans = marginals(chart)
    spans[..., 0] = 0
    shares = np.exp(chart.tag_scores - chart.tag_scores.max(-1, keepdims=True))
    return spans, np.asarray(shares / shares.sum(-1, keepdims=True))


def teach_by(teachers: Sequence[Teacher]) -> Callable[[Sequence[Texts]], list[Tables]]:
    """The mean of what the teachers say, in batches of similar length."""

    def teach(texts: Sequence[Texts]) -> list[Tables]:
        found: dict[int, Tables] = {}
        for part in batches(texts):
            said = [teacher.tables([texts[i] for i in part]) for teacher in teachers]
            for k, i in enumerate(part):
                found[i] = tuple(np.mean(each, axis=0) for each in zip(*(tables[k] for tables in said), strict=True))
        return [found[i] for i in range(len(texts))]

    return teach


def batches(texts: Sequence[Texts]) -> list[list[int]]:
    """The numbers of the texts, shortest first, as many together as fit."""
    parts: list[list[int]] = [[]]
    for i in sorted(range(len(texts)), key=lambda i: max(map(len, texts[i]))):
        size = max(map(len, texts[i])) * len(texts[i])
        if parts[-1] and size * (len(parts[-1]) + 1) > BATCH_WORDS:
            parts.append([])
        parts[-1].append(i)
    return parts


def open_teacher(folder: Path, kind: str, half: bool) -> Teacher:
    parser = load_model(folder).eval()
    parser.half = half
    return Teacher(parser, None if kind == "parses" else load_head(folder).eval(), kind != "links")


def digest(folder: Path) -> str:
    """What tells a model from the same one trained further."""
    with (folder / "benepar_model.bin").open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("parses", "links", "pairs"))
    parser.add_argument("models", type=Path, nargs="+", metavar="MODEL")
    parser.add_argument("--texts", type=Source.parse, nargs="+", required=True, metavar="FILE[:N]")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--max-words", type=int, default=60)
    parser.add_argument("--half", action="store_true", help="products of the encoder in 16 bits (bfloat16); faster")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args(arguments)
    torch.set_num_threads(args.threads)
    teachers = [open_teacher(model, args.kind, args.half) for model in args.models]
    labels, tags = names(teachers[0].parser)
    known = {} if args.kind == "links" else {"labels": list(labels), "tags": list(tags)}
    if any(names(teacher.parser) != (labels, tags) for teacher in teachers) and known:
        raise SystemExit("the models have different labels or tags; expected the same, from the same treebanks")
    texts: list[Texts]
    if args.kind == "parses":
        texts = [(words,) for words in read_sentences(args.texts, args.max_words)]
    else:
        texts = list(read_pairs(args.texts, args.max_words))
    known |= {"teachers": [digest(model) for model in args.models], "products": ["16 bit" if args.half else "32 bit"]}
    made = write_parts(args.output, texts, known, teach_by(teachers))
    print(f"{len(texts)} texts, {made} new parts in {args.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
