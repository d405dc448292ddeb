"""benepar's chart parser over any encoder with a fast tokenizer, with the shapes of words added at its input.

The encoder may be a BERT, an MPNet or another with one table of word pieces: marks, padding and positions are those of
its own tokenizer and model. The vectors of shapes are kept beside benepar's own weights (`additions.npz`), so that a
trained folder stays a model of benepar, to which all text is lower case.

The loss is the likelihood of trees under the chart of span scores, exact over n-ary trees: a span of several words with
the empty label may only be a left child, so every n-ary tree has exactly one derivation (see forestalign/chart, which
decodes the same grammar). The gradient of the log partition with respect to the scores is the span marginals, computed
by the chart's own inside-outside and handed to torch as a custom function: several times faster than differentiating
through the chart.
"""

from __future__ import annotations

import copy
import threading
from pathlib import Path
from typing import Any

import nltk
import numpy as np
import torch
from benepar import decode_chart, nkutil, parse_chart

from forestalign.chart import inside_outside
from forestalign.parsers.benepar import EncoderAdditions, read_additions, write_additions
from forestalign.parsers.encoder_words import LOWER, SHAPE_NAMES, piece_shapes, word_shapes

Batch = dict[str, torch.Tensor]
SHAPES = "shapes"


class ShapedParser(parse_chart.ChartParser):
    """A chart parser whose encoder may see shapes; without `add_shapes` it is benepar's own."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.shape_table: torch.nn.Embedding | None = None
        self.given = threading.local()  # `shapes` of the batch that the encoder is given next, by thread
        self.half = False  # whether the products of the encoder are taken in 16 bits

    def add_shapes(self, table: torch.Tensor | None = None) -> None:
        """Take shapes at the input, by a table that was learned before or by one of zeros, which changes nothing."""
        size = self.pretrained_model.get_input_embeddings().embedding_dim
        self.shape_table = torch.nn.Embedding(len(SHAPE_NAMES), size, padding_idx=LOWER)
        with torch.no_grad():
            self.shape_table.weight.copy_(torch.zeros_like(self.shape_table.weight) if table is None else table)
        self.pretrained_model.get_input_embeddings().register_forward_hook(self._with_shapes)

    def want_shapes(self, are_wanted: bool) -> None:
        """Take shapes, those learned before if there are any, or see none at all."""
        if not are_wanted:
            self.shape_table = None
        elif self.shape_table is None:
            self.add_shapes()

    def _with_shapes(self, module: Any, inputs: Any, vectors: torch.Tensor) -> torch.Tensor:
        shapes = getattr(self.given, SHAPES, None)
        return vectors if shapes is None or self.shape_table is None else vectors + self.shape_table(shapes)

    def encode(self, example: Any) -> dict[str, Any]:
        encoded = super().encode(example)
        if self.shape_table is not None:
            ends = encoded["words_from_tokens"]
            encoded[SHAPES] = torch.from_numpy(piece_shapes(word_shapes(example.words), ends))
        return encoded

    def pad_encoded(self, encoded_batch: list[dict[str, Any]]) -> Batch:
        plain = [{name: value for name, value in each.items() if name != SHAPES} for each in encoded_batch]
        batch = super().pad_encoded(plain)
        if self.shape_table is not None:
            rows = [each[SHAPES] for each in encoded_batch]
            batch[SHAPES] = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=LOWER)
        return batch

    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        self.given.shapes = batch.get(SHAPES)
        return super().forward(batch)

    def hidden_states(self, batch: Batch) -> tuple[torch.Tensor, ...]:
        """The states of all layers [batch, pieces, hidden]; the first are the embeddings."""
        self.given.shapes = batch.get(SHAPES)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.half):
            states = self.pretrained_model(
                batch["input_ids"], attention_mask=batch["attention_mask"], output_hidden_states=True
            ).hidden_states
        return tuple(state.float() for state in states)


def build_parser(trees: list[nltk.Tree], encoder: str, width: int = 512, shapes: bool = True) -> ShapedParser:
    """A parser with untrained heads for the labels and tags of the trees."""
    tags = ["UNK", *sorted({tag for tree in trees for _, tag in tree.pos()})]
    labels = decode_chart.ChartDecoder.build_vocab(trees)
    hparams = nkutil.HParams(
        use_pretrained=True, pretrained_model=encoder, use_encoder=True, use_chars_lstm=False, predict_tags=True,
        d_model=width, num_layers=1, num_heads=8, d_kv=64, d_ff=2 * width, d_label_hidden=192, d_tag_hidden=128,
        encoder_max_len=512, force_root_constituent=True, tag_loss_scale=5.0, attention_dropout=0.2, relu_dropout=0.1,
        residual_dropout=0.2, morpho_emb_dropout=0.2,
    )  # fmt: skip
    parser = ShapedParser({tag: i for i, tag in enumerate(tags)}, labels, None, hparams)
    if shapes:
        known = read_additions(Path(encoder)).shapes
        parser.add_shapes(None if known is None else torch.from_numpy(known))
    return parser


def save_model(parser: ShapedParser, folder: Path, additions: EncoderAdditions | None = None) -> None:
    """A folder that benepar.Parser loads, with the additions beside it; those given, and the parser's own shapes."""
    folder.mkdir(parents=True, exist_ok=True)
    config = copy.deepcopy(parser.pretrained_model.config)
    config.benepar = {**parser.config, "hparams": parser.config["hparams"]}
    config.save_pretrained(folder)
    parser.retokenizer.tokenizer.save_pretrained(folder)
    weights = parser.state_dict()
    table = weights.pop("shape_table.weight", None)
    torch.save(weights, folder / "benepar_model.bin")
    additions = additions or EncoderAdditions()
    shapes = None if table is None else table.numpy()
    write_additions(folder, EncoderAdditions(shapes, additions.layers, additions.projection))


def load_model(folder: Path) -> ShapedParser:
    """What `save_model` wrote, or any other model of benepar."""
    parser = ShapedParser.from_trained(str(folder))
    table = read_additions(folder).shapes
    if table is not None:
        parser.add_shapes(torch.from_numpy(table))
    return parser


# ---- the likelihood of trees ----


class LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, any_label: torch.Tensor, labelled: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        log_z = np.zeros(len(lengths))
        grad_any, grad_labelled = np.zeros(any_label.shape), np.zeros(labelled.shape)
        for b, n in enumerate(lengths.tolist()):
            tables = (np.ascontiguousarray(table[b, :n, :n].double().numpy()) for table in (any_label, labelled))
            log_z[b], grad_any[b, :n, :n], grad_labelled[b, :n, :n] = inside_outside(*tables)
        ctx.save_for_backward(torch.from_numpy(grad_any).float(), torch.from_numpy(grad_labelled).float())
        return torch.from_numpy(log_z).float()

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        grad_any, grad_labelled = ctx.saved_tensors
        return grad[:, None, None] * grad_any, grad[:, None, None] * grad_labelled, None


def log_partition(scores: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """log Z of each sentence; scores [batch, words, words, labels], the empty label first."""
    return LogPartition.apply(scores.logsumexp(-1), scores[..., 1:].logsumexp(-1), lengths)


def score_spans(parser: parse_chart.ChartParser, annotations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Spans and tags as in ChartParser.forward, with the first layer of the label scorer applied at the fence posts."""
    half = parser.d_model // 2
    posts = torch.cat([annotations[:, :-1, :half], annotations[:, 1:, half:]], -1)
    first, norm, relu, last = parser.f_label
    posts = posts @ first.weight.T
    spans = (posts[:, None] - posts[:, :, None])[:, :-1, 1:] + first.bias
    scores = last(relu(norm(spans)))
    return torch.cat([scores.new_zeros((*scores.shape[:-1], 1)), scores], -1), parser.f_tag(annotations)


def annotate(parser: parse_chart.ChartParser, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
    """The words as the scorers see them, from the last states of the encoder."""
    mask = batch["valid_token_mask"]
    words = hidden[torch.arange(hidden.shape[0])[:, None], torch.relu(batch["words_from_tokens"])]
    words = words.masked_fill(~mask[:, :, None], 0)
    encoded = parser.encoder(parser.add_timing(parser.morpho_emb_dropout(parser.project_pretrained(words))), mask)
    return torch.cat([encoded[..., 0::2], encoded[..., 1::2]], -1)


def gold_tree_loss(scores: torch.Tensor, tag_scores: torch.Tensor, batch: Batch, tag_weight: float) -> torch.Tensor:
    """Negative log-likelihood of trees per sentence plus the scaled tag cross-entropy per word."""
    labels = batch["span_labels"]
    lengths = (labels[:, 0, :] != -100).sum(-1)
    gold = scores.gather(-1, torch.relu(labels)[..., None])[..., 0].masked_fill(labels == -100, 0.0).sum((1, 2))
    tag_loss = torch.nn.functional.cross_entropy(
        tag_scores.flatten(0, 1), batch["tag_labels"].flatten(), ignore_index=-100
    )
    return (log_partition(scores, lengths) - gold).mean() + tag_weight * tag_loss


def crf_loss(parser: parse_chart.ChartParser, batch: Batch) -> torch.Tensor:
    """The loss of a batch of gold trees."""
    hidden = parser.hidden_states(batch)[-1]
    return gold_tree_loss(*score_spans(parser, annotate(parser, hidden, batch)), batch, parser.tag_loss_scale)
