"""The tasks of a student: each draws a batch for a step and says what it costs.

trees       gold trees, by their likelihood
parses      a teacher's span marginals and tag probabilities on unlabelled text
links       gold links
taught      a teacher's link probabilities on unlabelled pairs
unrelated   pairs of sentences that have nothing to do with each other
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import nltk
import numpy as np
import torch
from torch import nn

from encoder_training.gold_links import LinkedPair, unrelated
from encoder_training.link_head import LinkHead, link_loss, pair_logits
from encoder_training.sampling import Sampler
from encoder_training.shaped_parser import ShapedParser
from encoder_training.teacher_files import Sparse, Taught, read_names, read_parts
from encoder_training.tree_crf import annotate, crf_loss, score_spans, soft_tree_loss
from encoder_training.treebank import Text, augmented, random_case

TASKS = ("trees", "parses", "links", "taught", "unrelated")


class Student(nn.Module):
    """One encoder with the heads of the parser and of the links."""

    def __init__(self, parser: ShapedParser, head: LinkHead):
        super().__init__()
        self.parser, self.head = parser, head


class Task(Protocol):
    """One kind of data and its loss."""

    def loss(self, student: Student, rng: random.Random) -> torch.Tensor:
        """The loss of a batch that the randomness alone decides."""
        ...


class Trees:
    """Gold trees."""

    def __init__(self, trees: Sequence[nltk.Tree], limit: int, lowered: float):
        self.sampler = Sampler(trees, lambda tree: len(tree.leaves()), limit)
        self.lowered = lowered

    def loss(self, student: Student, rng: random.Random) -> torch.Tensor:
        parser = student.parser
        examples = [augmented(tree, rng, self.lowered) for tree in self.sampler.draw(rng)]
        return crf_loss(parser, parser.pad_encoded([parser.encode(example) for example in examples]))


class Parses:
    """A teacher's marginals and tags, whose labels and tags are found by name; what the student lacks is left out."""

    def __init__(self, folders: Sequence[Path], parser: ShapedParser, limit: int, lowered: float):
        names = [(read_names(folder, "labels"), read_names(folder, "tags")) for folder in folders]
        if any(each != names[0] for each in names):
            raise SystemExit(f"{folders[0]} and others have different labels or tags; expected those of one teacher")
        taught = [each for folder in folders for said in read_parts(folder) for each in sentences(said)]
        self.sampler = Sampler(taught, lambda each: len(each.texts[0]), limit)
        self.labels, self.tags = _places(names[0][0], parser.label_vocab), _places(names[0][1], parser.tag_vocab)
        self.lowered = lowered

    def loss(self, student: Student, rng: random.Random) -> torch.Tensor:
        parser, taught = student.parser, self.sampler.draw(rng)
        texts = [Text(list(each.texts[0]), random_case(rng, self.lowered)) for each in taught]
        batch = parser.pad_encoded([parser.encode(text) for text in texts])
        hidden = parser.hidden_states(batch)[-1]
        scores, tag_scores = score_spans(parser, annotate(parser, hidden, batch))
        marginals = torch.zeros_like(scores)
        tags = tag_scores.new_zeros((len(taught), scores.shape[1], tag_scores.shape[-1]))
        for b, each in enumerate(taught):
            _fill(marginals[b], each.tables[0], self.labels)
            _fill(tags[b], each.tables[1], self.tags)
        lengths = torch.tensor([len(each.texts[0]) for each in taught])
        return soft_tree_loss(scores, tag_scores, marginals, tags, lengths, parser.tag_loss_scale)


def sentences(taught: Taught) -> list[Taught]:
    """The sentences of what was said of one or of a pair, with the two tables of each."""
    return [Taught((words,), taught.tables[2 * k : 2 * k + 2]) for k, words in enumerate(taught.texts)]


def _places(names: Sequence[str], vocabulary: dict[str, int]) -> np.ndarray:
    return np.array([vocabulary.get(name, -1) for name in names])


def _fill(table: torch.Tensor, taught: Sparse, places: np.ndarray) -> None:
    """Write the probabilities that were kept to where the student has these names."""
    last = places[taught.places[:, -1]]
    known = last >= 0
    at = [torch.from_numpy(column[known].astype(np.int64)) for column in taught.places[:, :-1].T]
    table[(*at, torch.from_numpy(last[known]))] = torch.from_numpy(taught.shares[known])


class PairLinks:
    """Gold links, or those of a teacher."""

    def __init__(self, pairs: Sequence[LinkedPair], limit: int, lowered: float, kind: str):
        self.sampler = Sampler(pairs, lambda pair: 2 * pair.size, limit)
        self.lowered, self.kind = lowered, kind

    def draw(self, rng: random.Random) -> list[LinkedPair]:
        return self.sampler.draw(rng)

    def loss(self, student: Student, rng: random.Random) -> torch.Tensor:
        pairs = self.draw(rng)
        cases = [random_case(rng, self.lowered) for _ in pairs]
        return link_loss(pair_logits(student.parser, student.head, pairs, cases), pairs, self.kind)


class Unrelated(PairLinks):
    """Pairs put together from the sides of others."""

    def draw(self, rng: random.Random) -> list[LinkedPair]:
        return [unrelated(self.sampler.examples, rng) for _ in self.sampler.draw(rng)]


def taught_pair(taught: Taught) -> LinkedPair:
    """A teacher's pair; nothing is open. Links come last where a teacher said more."""
    links = taught.tables[-1].dense()
    return LinkedPair(taught.texts[0], taught.texts[1], links, np.zeros(links.shape, dtype=bool))
