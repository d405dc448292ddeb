"""Word links from the middle of an encoder, which reads each sentence by itself.

The vector of a word is the mean of its pieces over layers in fixed or learned shares, through a projection if one is
asked for. Vectors are centred over the words of both sentences. The logit of a link is a learned multiple of the cosine
plus a learned constant, against 0 for no link: one number for the binary loss (sigmoid of a cell) and for the softmax
over a row or a column with one more cell for "none".
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import nn

from encoder_training.gold_links import LinkedPair
from encoder_training.shaped_parser import Batch, ShapedParser
from encoder_training.treebank import Text
from forestalign.parsers.encoder_additions import EncoderAdditions, layer_shares
from forestalign.parsers.encoder_words import middle_layers

LOSSES = ("binary", "softmax", "both")
FILE = "link_head.pt"


class LinkHead(nn.Module):
    """Logits of links from the states of all layers."""

    def __init__(self, hidden: int, layer_count: int, layers: Sequence[int] | None = None, size: int = 0):
        """layers: equal shares of these (0 is that of the embeddings), or none: learned shares, from the middle ones.

        size: that of the projection; 0 for none
        """
        super().__init__()
        start = layer_shares(tuple(layers or middle_layers(layer_count)), layer_count)
        self.register_buffer("fixed", torch.from_numpy(start) if layers else None)
        self.mix = None if layers else nn.Parameter(torch.log(torch.from_numpy(start) + 0.02))
        self.projection = nn.Parameter(torch.eye(hidden)[:, :size].contiguous()) if size else None
        self.scale, self.bias = nn.Parameter(torch.tensor(10.0)), nn.Parameter(torch.tensor(-5.0))

    def shares(self) -> torch.Tensor:
        """Of each layer, with that of the embeddings first."""
        return self.fixed if self.mix is None else torch.softmax(self.mix, 0)

    def word_vectors(self, states: Sequence[torch.Tensor], ends: torch.Tensor) -> torch.Tensor:
        """[batch, words, size] from the states of all layers and the last piece of each word, marks counted."""
        shares = self.shares()
        mixed = sum(share * state for share, state in zip(shares, states, strict=True) if self.mix is not None or share)
        places = torch.arange(mixed.shape[1])
        passed = (places <= torch.relu(ends)[:, :, None]).float()
        mask = torch.relu(passed[:, 1:-1] - passed[:, :-2])
        words = mask @ mixed / mask.sum(-1, keepdim=True).clamp(min=1)
        return words if self.projection is None else words @ self.projection

    def forward(self, source: torch.Tensor, target: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Logits [batch, source words, target words]; lengths [batch, 2], and nothing behind them counts."""
        masks = [torch.arange(side.shape[1])[None, :, None] < lengths[:, k, None, None] for k, side in
                 enumerate((source, target))]  # fmt: skip
        total = (source * masks[0]).sum(1) + (target * masks[1]).sum(1)
        centre = (total / lengths.sum(1, keepdim=True))[:, None]
        source, target = (nn.functional.normalize(side - centre, dim=-1) for side in (source, target))
        return self.scale * source @ target.transpose(1, 2) + self.bias

    def additions(self) -> EncoderAdditions:
        """What the exported graph needs to give the same vectors."""
        projection = None if self.projection is None else self.projection.detach().numpy().copy()
        return EncoderAdditions(None, self.shares().detach().numpy().astype(np.float32), projection)


def pair_logits(
    parser: ShapedParser, head: LinkHead, pairs: Sequence[LinkedPair], cases: Sequence[str] = ()
) -> torch.Tensor:
    """The logits of a batch of pairs, whose sentences go through the encoder in one pass."""
    cases = cases or ["kept"] * len(pairs)
    texts = [Text(list(side), case) for k in (0, 1) for side, case in zip(
        [(pair.source, pair.target)[k] for pair in pairs], cases, strict=True)]  # fmt: skip
    batch: Batch = parser.pad_encoded([parser.encode(text) for text in texts])
    vectors = head.word_vectors(parser.hidden_states(batch), batch["words_from_tokens"])
    lengths = torch.tensor([[len(pair.source), len(pair.target)] for pair in pairs])
    count = len(pairs)
    widths = lengths.amax(0).tolist()
    return head(vectors[:count, : widths[0]], vectors[count:, : widths[1]], lengths)


def link_loss(logits: torch.Tensor, pairs: Sequence[LinkedPair], kind: str) -> torch.Tensor:
    """The mean over words of both sides of the binary loss of their cells, of the softmax loss, or of both."""
    links, counts = (torch.zeros_like(logits) for _ in range(2))
    for b, pair in enumerate(pairs):
        n, m = pair.links.shape
        links[b, :n, :m] = torch.from_numpy(pair.links)
        counts[b, :n, :m] = torch.from_numpy((~pair.is_open).astype(np.float32))
    words = sum(len(pair.source) + len(pair.target) for pair in pairs)
    loss = logits.new_zeros(())
    if kind != "softmax":
        cells = nn.functional.binary_cross_entropy_with_logits(logits, links, reduction="none")
        loss = loss + 2 * (cells * counts).sum() / words
    if kind != "binary":
        masked = logits.masked_fill(counts == 0, -1e4)
        loss = loss + (softmax_loss(masked, links) + softmax_loss(masked.mT, links.mT)) / words
    return loss


def softmax_loss(logits: torch.Tensor, links: torch.Tensor) -> torch.Tensor:
    """The sum over rows of the cross-entropy; what is missing of a row's links to 1 falls to its empty cell.

    A row of padding, or one whose cells are all open, has nothing but the empty cell and costs nothing.
    """
    sums = links.sum(-1, keepdim=True)
    wanted = links / sums.clamp(min=1)
    none = 1 - wanted.sum(-1)
    logs = torch.log_softmax(torch.cat([torch.zeros_like(logits[..., :1]), logits], -1), -1)
    return -(wanted * logs[..., 1:]).sum() - (none * logs[..., 0]).sum()


def link_probabilities(parser: ShapedParser, head: LinkHead, pairs: Sequence[LinkedPair]) -> list[np.ndarray]:
    """The probability of every cell, one table per pair."""
    was_training = parser.training
    parser.eval()
    with torch.no_grad():
        tables = torch.sigmoid(pair_logits(parser, head, pairs)).numpy()
    parser.train(was_training)
    return [table[: len(pair.source), : len(pair.target)] for table, pair in zip(tables, pairs, strict=True)]


def best_links(table: np.ndarray, least: float = 0.5) -> np.ndarray:
    """Cells of at least this probability."""
    return np.asarray(table >= least)


def mutual_best(table: np.ndarray, least: float) -> np.ndarray:
    """Cells that are the best of their row and of their column."""
    best = (table == table.max(1, keepdims=True)) & (table == table.max(0, keepdims=True))
    return np.asarray(best & (table >= least))


def save_head(head: LinkHead, folder: Path) -> None:
    torch.save(head.state_dict(), folder / FILE)


def load_head(folder: Path) -> LinkHead:
    """What `save_head` wrote beside a model."""
    state = torch.load(folder / FILE, weights_only=True)
    shares = state["fixed"] if "fixed" in state else state["mix"]
    layers = [int(i) for i in torch.nonzero(shares)] if "fixed" in state else None
    projection = state.get("projection")
    hidden, size = (0, 0) if projection is None else projection.shape
    head = LinkHead(hidden, len(shares) - 1, layers, size)
    head.load_state_dict(state)
    return head
