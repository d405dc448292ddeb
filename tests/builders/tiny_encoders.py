"""Encoders with random weights that know letters and a few words: for tests that train in seconds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

LETTERS = "abcdefghijklmnopqrstuvwxyz.!?,'()"
SIZE = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 512}


def save_bert(folder: Path, words: Iterable[str]) -> None:
    """A BERT with its tokenizer."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(1)
    pieces = _pieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], words)
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), model_max_length=512).save_pretrained(folder)
    BertModel(BertConfig(vocab_size=len(pieces), **SIZE)).save_pretrained(folder)


def save_mpnet(folder: Path, words: Iterable[str]) -> None:
    """An MPNet, whose marks have other names and numbers, and whose positions begin behind the padding."""
    import torch
    from transformers import MPNetConfig, MPNetModel, MPNetTokenizerFast

    torch.manual_seed(1)
    pieces = [*_pieces(["<s>", "<pad>", "</s>", "<unk>", "[UNK]"], words), "<mask>"]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    MPNetTokenizerFast(vocab_file=str(folder / "vocab.txt"), model_max_length=512).save_pretrained(folder)
    config = MPNetConfig(vocab_size=len(pieces), max_position_embeddings=514, pad_token_id=1, **SIZE)
    MPNetModel(config).save_pretrained(folder)


def _pieces(marks: list[str], words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*marks, *LETTERS, *(f"##{letter}" for letter in LETTERS), *words]))
