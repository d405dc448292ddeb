"""One pass of the encoder over both sentences of a pair, and a head that scores all pairs of words.

Each sentence keeps its own marks and its own positions, so that a pass begins as what the encoder knows: two sentences
read alone. What makes it joint is attention across them. It is told apart from attention inside a sentence by relative
segments (Yang et al. 2019): an `other` vector and a bias for every head, added to the score of a key of the other
sentence. Nothing says which sentence is first, so swapping them mirrors the result.

The vector of a word is the mean of its pieces over layers in learned shares. Vectors are centred over the words of
both sentences; the logit of a link is a learned multiple of a cosine plus a constant. Each word has a logit of having
no partner, which stands against its row or column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn
from transformers import BertConfig, BertModel

from encoder_training.gold_links import LinkedPair
from forestalign.parsers.word_pieces import WordPieces
from forestalign.words.joint.pair_batch import JointBatch, joint_batch

FAR = -2.0  # how much less the other sentence is attended to before training: the encoder never saw one
UNIT = 10.0  # numbers that move further than other weights are learned in tenths
DROPOUT = 0.1
MASKED = -1e4
NEXT_TO_NOTHING = 1e-3
LEAST_SHARE = 0.05  # of a layer in the vectors of words, before training
READ_TOGETHER = 16
FILE = "joint_reader.pt"


@dataclass(frozen=True)
class ReaderSize:
    """All that decides the shapes of the weights."""

    pieces: int
    hidden: int
    layers: int
    heads: int
    inner: int
    positions: int
    shapes: int


class Crossing(nn.Module):
    """What the heads of a layer add to their scores of the pieces of the other sentence."""

    def __init__(self, size: ReaderSize):
        super().__init__()
        self.other = nn.Parameter(torch.zeros(size.heads, size.hidden // size.heads))
        self.far = nn.Parameter(torch.full((size.heads,), FAR / UNIT))

    def forward(self, query: torch.Tensor) -> torch.Tensor:
        """[batch, heads, pieces, 1] for queries [batch, heads, pieces, width]."""
        return torch.matmul(query, self.other[None, :, :, None]) + self.far[None, :, None, None] * UNIT


class JointLayer(nn.Module):
    """One layer of BERT, to whose scores those of a crossing are added."""

    def __init__(self, size: ReaderSize):
        super().__init__()
        self.heads, self.width = size.heads, size.hidden // size.heads
        self.joined = nn.Linear(size.hidden, 3 * size.hidden)
        self.out = nn.Linear(size.hidden, size.hidden)
        self.first_norm, self.last_norm = (nn.LayerNorm(size.hidden, 1e-12) for _ in range(2))
        self.inner, self.outer = nn.Linear(size.hidden, size.inner), nn.Linear(size.inner, size.hidden)
        self.drop = nn.Dropout(DROPOUT)

    def forward(
        self, hidden: torch.Tensor, padding: torch.Tensor, is_other: torch.Tensor, crossing: Crossing
    ) -> torch.Tensor:
        """padding [batch, 1, 1, pieces]: 0 or much less; is_other [batch, 1, pieces, pieces]: 0 or 1."""
        joined = self.joined(hidden).reshape(hidden.shape[0], hidden.shape[1], 3, self.heads, self.width)
        query, key, value = joined.permute(2, 0, 3, 1, 4).unbind(0)
        scores = torch.matmul(query, key.transpose(2, 3)) * self.width**-0.5 + padding + crossing(query) * is_other
        context = torch.matmul(torch.softmax(scores, -1), value).transpose(1, 2).flatten(2)
        hidden = self.first_norm(self.drop(self.out(context)) + hidden)
        return self.last_norm(self.drop(self.outer(nn.functional.gelu(self.inner(hidden)))) + hidden)


class JointReader(nn.Module):
    """Encoder and head."""

    def __init__(self, size: ReaderSize):
        super().__init__()
        self.size = size
        self.pieces = nn.Embedding(size.pieces, size.hidden)
        self.positions = nn.Embedding(size.positions, size.hidden)
        self.shapes = nn.Embedding(size.shapes, size.hidden, padding_idx=0)
        self.norm = nn.LayerNorm(size.hidden, 1e-12)
        self.layers = nn.ModuleList(JointLayer(size) for _ in range(size.layers))
        self.crossings = nn.ModuleList(Crossing(size) for _ in range(size.layers))
        self.mix = nn.Parameter(torch.zeros(size.layers + 1))
        self.projection = nn.Parameter(torch.eye(size.hidden))
        self.scale, self.bias = nn.Parameter(torch.tensor(10.0 / UNIT)), nn.Parameter(torch.tensor(-5.0 / UNIT))
        self.none = nn.Linear(size.hidden, 1)
        nn.init.zeros_(self.none.weight)
        nn.init.zeros_(self.none.bias)

    def get_input_embeddings(self) -> nn.Embedding:
        """The table of word pieces, under the name that transformers' models use; training leaves it as it is."""
        return self.pieces

    def forward(  # type: ignore[no-untyped-def]
        self, pieces, shapes, sides, positions, words, source_words, target_words
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Logits [batch, source words, target words] of links, and those of no partner of either side.

        pieces, shapes, positions [batch, pieces]; sides [batch, pieces]: 1 source, 2 target, 0 padding
        words [batch, pieces]: the number of the word of each piece, -1 for marks and padding
        source_words, target_words: the numbers that words of either side have
        """
        mixed = self.states(self.embed(pieces, shapes), sides, positions)
        source, source_count = word_means(mixed, words, source_words)
        target, target_count = word_means(mixed, words, target_words)
        total = (source * (source_count > 0)).sum(1) + (target * (target_count > 0)).sum(1)
        count = (source_count > 0).float().sum(1) + (target_count > 0).float().sum(1)
        centre = (total / count)[:, None]
        nones = [self.none(side - centre)[..., 0] for side in (source, target)]
        left, right = (unit((side - centre) @ self.projection) for side in (source, target))
        return UNIT * (self.scale * torch.matmul(left, right.transpose(1, 2)) + self.bias), *nones

    def embed(self, pieces: torch.Tensor, shapes: torch.Tensor) -> torch.Tensor:
        return self.pieces(pieces) + self.shapes(shapes)

    def states(self, embedded: torch.Tensor, sides: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """The states of all layers in their shares."""
        hidden = self.norm(embedded + self.positions(positions))
        padding = (sides == 0)[:, None, None, :].float() * MASKED
        is_other = (sides[:, None, :, None] != sides[:, None, None, :]).float()
        first, *shares = torch.softmax(UNIT * self.mix, 0).unbind()
        mixed = first * hidden
        for share, layer, crossing in zip(shares, self.layers, self.crossings, strict=True):
            hidden = layer(hidden, padding, is_other, crossing)
            mixed = mixed + share * hidden
        return mixed


def word_means(states: torch.Tensor, words: torch.Tensor, numbers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """[batch, words, hidden], the mean over the pieces of each word, and [batch, words, 1], how many they are."""
    mask = (words[:, None, :] == numbers[None, :, None]).float()
    count = mask.sum(-1, keepdim=True)
    return torch.matmul(mask, states) / count.clamp(min=1.0), count


def unit(vectors: torch.Tensor) -> torch.Tensor:
    """Rows of length 1; one that lies in the centre, as both words of *Yes* / *Yes* do, stays next to nothing."""
    return vectors / ((vectors * vectors).sum(-1, keepdim=True) + NEXT_TO_NOTHING).sqrt()


# ---- weights to begin with ----


def from_encoder(bert: BertModel, shapes: np.ndarray | None, layer_count: int, shares: Sequence[float]) -> JointReader:
    """The lowest layers of an encoder; shares: those of all its layers in the word vectors of single sentences."""
    config: BertConfig = bert.config
    count = layer_count or config.num_hidden_layers
    size = ReaderSize(
        config.vocab_size, config.hidden_size, count, config.num_attention_heads, config.intermediate_size,
        config.max_position_embeddings, 13 if shapes is None else len(shapes),
    )  # fmt: skip
    reader = JointReader(size)
    table = bert.embeddings
    with torch.no_grad():
        reader.pieces.weight.copy_(table.word_embeddings.weight)
        reader.positions.weight.copy_(table.position_embeddings.weight + table.token_type_embeddings.weight[0])
        reader.shapes.weight.copy_(torch.zeros_like(reader.shapes.weight) if shapes is None else torch.tensor(shapes))
        reader.norm.load_state_dict(table.LayerNorm.state_dict())
        reader.mix.copy_(torch.log(torch.tensor(shares[: count + 1]) + LEAST_SHARE) / UNIT)
        for mine, given in zip(reader.layers, bert.encoder.layer, strict=False):
            copy_layer(mine, given)
    return reader


def copy_layer(mine: JointLayer, given: nn.Module) -> None:
    attention = given.attention.self
    parts = (attention.query, attention.key, attention.value)
    mine.joined.weight.copy_(torch.cat([part.weight for part in parts]))
    mine.joined.bias.copy_(torch.cat([part.bias for part in parts]))
    for module, source in (
        (mine.out, given.attention.output.dense),
        (mine.first_norm, given.attention.output.LayerNorm),
        (mine.inner, given.intermediate.dense),
        (mine.outer, given.output.dense),
        (mine.last_norm, given.output.LayerNorm),
    ):
        module.load_state_dict(source.state_dict())


# ---- batches and loss ----


def tensors(batch: JointBatch) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array) for name, array in batch.items()}


def read_pairs(
    reader: JointReader, pieces: WordPieces, pairs: Sequence[tuple[Sequence[str], Sequence[str]]]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The three outputs for pairs of sentences, padded."""
    return reader(**tensors(joint_batch([(pieces(source), pieces(target)) for source, target in pairs])))


def link_tables(reader: JointReader, pieces: WordPieces, pairs: Sequence[LinkedPair]) -> list[np.ndarray]:
    """The probability of every cell, one table per pair."""
    order = sorted(range(len(pairs)), key=lambda number: pairs[number].size)
    found: dict[int, np.ndarray] = {}
    for begin in range(0, len(order), READ_TOGETHER):
        numbers = order[begin : begin + READ_TOGETHER]
        with torch.no_grad():
            logits, _, _ = read_pairs(
                reader, pieces, [(pairs[number].source, pairs[number].target) for number in numbers]
            )
        for number, table in zip(numbers, torch.sigmoid(logits).numpy(), strict=True):
            found[number] = table[: len(pairs[number].source), : len(pairs[number].target)]
    return [found[number] for number in range(len(pairs))]


def joint_loss(
    outputs: tuple[torch.Tensor, torch.Tensor, torch.Tensor], pairs: Sequence[LinkedPair], kind: str
) -> torch.Tensor:
    """The mean over words of the binary loss of cells, of the softmax loss of rows and columns, or of both.

    The binary loss gives every link of a word with several a probability of its own; in the softmax they share one.
    """
    logits, source_none, target_none = outputs
    links, counts, opens = (torch.zeros_like(logits) for _ in range(3))
    source_real, target_real = torch.zeros_like(source_none), torch.zeros_like(target_none)
    for b, pair in enumerate(pairs):
        n, m = pair.links.shape
        links[b, :n, :m] = torch.from_numpy(pair.links)
        opens[b, :n, :m] = torch.from_numpy(pair.is_open.astype(np.float32))
        counts[b, :n, :m] = 1.0 - opens[b, :n, :m]
        source_real[b, :n], target_real[b, :m] = 1.0, 1.0
    words = source_real.sum() + target_real.sum()
    loss = logits.new_zeros(())
    if kind != "softmax":
        cells = nn.functional.binary_cross_entropy_with_logits(logits, links, reduction="none")
        loss = loss + 2 * (cells * counts).sum() / words
    if kind != "binary":
        masked = logits.masked_fill(counts == 0, MASKED)
        rows = competition_loss(masked, source_none, links, source_real * speaks(links, opens))
        columns = competition_loss(masked.mT, target_none, links.mT, target_real * speaks(links.mT, opens.mT))
        loss = loss + (rows + columns) / words
    return loss


def speaks(links: torch.Tensor, opens: torch.Tensor) -> torch.Tensor:
    """1 for rows of which something is known, 0 for those with an open cell and no link: it may be their partner."""
    return ((links.sum(-1) > 0) | (opens.sum(-1) == 0)).float()


def competition_loss(
    logits: torch.Tensor, none: torch.Tensor, links: torch.Tensor, is_real: torch.Tensor
) -> torch.Tensor:
    """The sum over rows of the cross-entropy; what is missing of a row's links to 1 falls to its empty cell."""
    sums = links.sum(-1, keepdim=True)
    wanted = links / sums.clamp(min=1)
    rest = 1 - wanted.sum(-1)
    logs = torch.log_softmax(torch.cat([none[..., None], logits], -1), -1)
    rows = -(wanted * logs[..., 1:]).sum(-1) - rest * logs[..., 0]
    return (rows * is_real).sum()


# ---- folders ----


def save_reader(reader: JointReader, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    size = {name: getattr(reader.size, name) for name in ReaderSize.__dataclass_fields__}
    torch.save({"size": size, "weights": reader.state_dict()}, folder / FILE)


def load_reader(folder: Path) -> JointReader:
    """What `save_reader` wrote."""
    state = torch.load(folder / FILE, weights_only=True)
    reader = JointReader(ReaderSize(**state["size"]))
    reader.load_state_dict(state["weights"])
    return reader.eval()
