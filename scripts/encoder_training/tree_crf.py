"""The likelihood of trees under a chart of span scores, exact over n-ary trees.

A span of several words with the empty label may only be a left child, so every n-ary tree has exactly one derivation
(see forestalign/chart, which decodes the same grammar). The gradient of the log partition with respect to the scores is
the span marginals, computed by the chart's own inside-outside and handed to torch as a custom function: several times
faster than differentiating through the chart.

The score of a tree is a sum over its spans and labels. So the expectation of the negative log-likelihood under a
teacher is log Z - sum over spans and labels of marginal * score, and a gold tree is the teacher that is sure.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from benepar import parse_chart

from forestalign.chart import inside_outside

Batch = dict[str, torch.Tensor]


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


def soft_tree_loss(
    scores: torch.Tensor,
    tag_scores: torch.Tensor,
    marginals: torch.Tensor,
    tags: torch.Tensor,
    lengths: torch.Tensor,
    tag_weight: float,
) -> torch.Tensor:
    """The loss under a teacher's marginals [batch, words, words, labels] and tag probabilities [batch, words, tags]."""
    expected = (marginals * scores).sum((1, 2, 3))
    logs = torch.log_softmax(tag_scores[:, 1 : 1 + tags.shape[1]], -1)
    tag_loss = -(tags * logs).sum() / lengths.sum()
    return (log_partition(scores, lengths) - expected).mean() + tag_weight * tag_loss


def crf_loss(parser: parse_chart.ChartParser, batch: Batch) -> torch.Tensor:
    """The loss of a batch of gold trees."""
    hidden = parser.hidden_states(batch)[-1]
    return gold_tree_loss(*score_spans(parser, annotate(parser, hidden, batch)), batch, parser.tag_loss_scale)
