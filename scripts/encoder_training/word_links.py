"""Pairs of sentences with word links, and links from the layers of an encoder that reads each sentence by itself.

The vector of a word is the mean of its pieces over all layers in learned shares. Vectors are centred over the words of
both sentences. The logit of a link is a learned multiple of the cosine plus a learned constant, against 0 for no link:
one number for the binary loss (sigmoid of a cell) and for the softmax over a row or a column with one more cell for
"none".
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from encoder_training.shaped_parser import Batch, ShapedParser
from encoder_training.treebank import Text
from forestalign.arrays import BoolArray, Float32Array
from forestalign.evaluation.written_pairs import WrittenPair, read_written
from forestalign.formats.word_links import read_gold_links
from forestalign.parsers.benepar import EncoderAdditions, layer_shares
from forestalign.parsers.encoder_words import middle_layers

Links = frozenset[tuple[int, int]]
TOGETHER = 16  # pairs that are scored in one pass


@dataclass(frozen=True, slots=True)
class LinkedPair:
    """Words of both sides, the probability of each link [source, target], and the cells that say nothing."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: Float32Array
    is_open: BoolArray

    @property
    def size(self) -> int:
        """Words of the longer side, which decides how much a batch is padded."""
        return max(len(self.source), len(self.target))


def gold_pair(source: tuple[str, ...], target: tuple[str, ...], sure: Links, possible: Links) -> LinkedPair:
    """Sure links are links, possible ones are left open, the rest are none."""
    links, is_open = np.zeros((len(source), len(target)), dtype=np.float32), np.zeros((len(source), len(target)), bool)
    for cell in possible:
        is_open[cell] = True
    for cell in sure:
        links[cell], is_open[cell] = 1.0, False
    return LinkedPair(source, target, links, is_open)


def written_pair(pair: WrittenPair) -> LinkedPair:
    """The links that marked phrases say: what a phrase holds beside the phrases inside it belongs together.

    A single word faces a single word; of several, equal words are links and the rest of the block is left open, as are
    words outside of all marks.
    """
    source, target = pair.source, pair.target
    sure, possible = set[tuple[int, int]](), set[tuple[int, int]]()
    blocks = [
        (
            one.difference(*(inner for inner, _ in pair.phrases if inner < one)),
            other.difference(*(inner for _, inner in pair.phrases if inner < other)),
        )
        for one, other in pair.phrases
    ]
    outside = [frozenset(range(len(side.tokens))) - side.covered for side in (source, target)]
    for one, other in [*blocks, (outside[0], outside[1])]:
        cells = {(i, j) for i in one for j in other}
        equal = {(i, j) for i, j in cells if source.tokens[i].lower() == target.tokens[j].lower()}
        sure |= cells if len(cells) == 1 and (one, other) in blocks else equal
        possible |= cells
    return gold_pair(source.tokens, target.tokens, frozenset(sure), frozenset(possible))


def read_links(path: Path) -> list[LinkedPair]:
    """All pairs of a file, in its order, on which `split_every` depends; of marked phrases those to learn from."""
    if "written" in path.name:
        return [written_pair(pair) for pair in read_written(path) if pair.record.split == "train"]
    golds = (pair.gold for pair in read_gold_links(path))
    return [gold_pair(g.source, g.target, frozenset(g.sure), frozenset(g.possible)) for g in golds]


def split_every(pairs: Sequence[LinkedPair], step: int) -> tuple[list[LinkedPair], list[LinkedPair]]:
    """All pairs but every step-th, and every step-th: the same ones that scripts/train_words.py --leave keeps out."""
    kept = [pair for number, pair in enumerate(pairs) if number % step != step - 1]
    return kept, list(pairs[step - 1 :: step])


def unrelated_pair(one: LinkedPair, other: LinkedPair) -> LinkedPair:
    """The source of one pair and the target of another: no word of one means a word of the other."""
    return gold_pair(one.source, other.target, frozenset(), frozenset())


def draw_unrelated(pairs: Sequence[LinkedPair], rng: random.Random) -> LinkedPair:
    """Such a pair from two that chance chooses."""
    return unrelated_pair(*rng.sample(pairs, 2))


def link_f1(gold: Sequence[LinkedPair], tables: Sequence[Float32Array]) -> float:
    """Micro F1 in per cent of links that are more probable than not, against sure links; open cells do not count."""
    right = guessed = wanted = 0
    for pair, table in zip(gold, tables, strict=True):
        links, chosen = pair.links > 0.5, table >= 0.5
        right += int((chosen & links).sum())
        guessed += int((chosen & ~pair.is_open).sum())
        wanted += int(links.sum())
    return 200 * right / max(1, guessed + wanted)


class LinkHead(nn.Module):
    """Logits of links from the states of all layers."""

    def __init__(self, layer_count: int):
        super().__init__()
        start = layer_shares(tuple(middle_layers(layer_count)), layer_count)
        self.mix = nn.Parameter(torch.log(torch.from_numpy(start) + 0.02))
        self.scale, self.bias = nn.Parameter(torch.tensor(10.0)), nn.Parameter(torch.tensor(-5.0))

    def word_vectors(self, states: Sequence[torch.Tensor], ends: torch.Tensor) -> torch.Tensor:
        """[batch, words, size] from the states of all layers and the last piece of each word, marks counted."""
        mixed = sum(share * state for share, state in zip(torch.softmax(self.mix, 0), states, strict=True))
        passed = (torch.arange(mixed.shape[1]) <= torch.relu(ends)[:, :, None]).float()
        mask = torch.relu(passed[:, 1:-1] - passed[:, :-2])
        return mask @ mixed / mask.sum(-1, keepdim=True).clamp(min=1)

    def forward(self, source: torch.Tensor, target: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Logits [batch, source words, target words]; lengths [batch, 2], and nothing behind them counts."""
        total = sum(
            (side * (torch.arange(side.shape[1])[None, :, None] < lengths[:, k, None, None])).sum(1)
            for k, side in enumerate((source, target))
        )
        centre = (total / lengths.sum(1, keepdim=True))[:, None]
        source, target = (nn.functional.normalize(side - centre, dim=-1) for side in (source, target))
        return self.scale * source @ target.transpose(1, 2) + self.bias

    def additions(self) -> EncoderAdditions:
        """What the exported graph needs to give the same vectors."""
        return EncoderAdditions(None, torch.softmax(self.mix, 0).detach().numpy().astype(np.float32), None)


def pair_logits(
    parser: ShapedParser, head: LinkHead, pairs: Sequence[LinkedPair], cases: Sequence[str] = ()
) -> torch.Tensor:
    """The logits of a batch of pairs, whose sentences go through the encoder in one pass."""
    count, cases = len(pairs), cases or ["kept"] * len(pairs)
    sides = [pair.source for pair in pairs], [pair.target for pair in pairs]
    texts = [Text(list(words), case) for side in sides for words, case in zip(side, cases, strict=True)]
    batch: Batch = parser.pad_encoded([parser.encode(text) for text in texts])
    vectors = head.word_vectors(parser.hidden_states(batch), batch["words_from_tokens"])
    lengths = torch.tensor([[len(pair.source), len(pair.target)] for pair in pairs])
    widths = lengths.amax(0).tolist()
    return head(vectors[:count, : widths[0]], vectors[count:, : widths[1]], lengths)


def link_loss(logits: torch.Tensor, pairs: Sequence[LinkedPair]) -> torch.Tensor:
    """The mean over words of both sides of the binary loss of their cells and of the softmax loss."""
    links, counts = (torch.zeros_like(logits) for _ in range(2))
    for b, pair in enumerate(pairs):
        n, m = pair.links.shape
        links[b, :n, :m] = torch.from_numpy(pair.links)
        counts[b, :n, :m] = torch.from_numpy((~pair.is_open).astype(np.float32))
    words = sum(len(pair.source) + len(pair.target) for pair in pairs)
    cells = nn.functional.binary_cross_entropy_with_logits(logits, links, reduction="none")
    masked = logits.masked_fill(counts == 0, -1e4)
    return (2 * (cells * counts).sum() + softmax_loss(masked, links) + softmax_loss(masked.mT, links.mT)) / words


def softmax_loss(logits: torch.Tensor, links: torch.Tensor) -> torch.Tensor:
    """The sum over rows of the cross-entropy; what is missing of a row's links to 1 falls to its empty cell.

    A row of padding, or one whose cells are all open, has nothing but the empty cell and costs nothing.
    """
    wanted = links / links.sum(-1, keepdim=True).clamp(min=1)
    none = 1 - wanted.sum(-1)
    logs = torch.log_softmax(torch.cat([torch.zeros_like(logits[..., :1]), logits], -1), -1)
    return -(wanted * logs[..., 1:]).sum() - (none * logs[..., 0]).sum()


def link_tables(parser: ShapedParser, head: LinkHead, pairs: Sequence[LinkedPair]) -> list[Float32Array]:
    """The probability of every cell, one table per pair."""
    was_training, found = parser.training, []
    parser.eval()
    for begin in range(0, len(pairs), TOGETHER):
        part = pairs[begin : begin + TOGETHER]
        with torch.no_grad():
            tables = torch.sigmoid(pair_logits(parser, head, part)).numpy()
        found += [table[: len(pair.source), : len(pair.target)] for table, pair in zip(tables, part, strict=True)]
    parser.train(was_training)
    return found
