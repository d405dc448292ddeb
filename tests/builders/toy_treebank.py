"""A treebank of a few words, on which tiny models are trained in seconds."""

from __future__ import annotations

import random
from pathlib import Path

WORDS = {
    "DT": ("the", "a", "every"),
    "JJ": ("small", "old", "green"),
    "NN": ("cat", "house", "river", "song"),
    "PRP": ("she", "they"),
    "VBD": ("saw", "built", "left", "(sic)"),
    "VB": ("see", "build", "leave"),
    "IN": ("near", "with", "under"),
    "TO": ("to",),
    ".": (".", "!"),
}
RULES = {
    "TOP": (("S", "."),),
    "S": (("NP", "VP"),),
    "NP": (("DT", "NN"), ("DT", "JJ", "NN"), ("PRP",), ("NP", "PP")),
    "VP": (("VBD",), ("VBD", "NP"), ("VBD", "NP", "PP"), ("VBD", "INF")),
    "INF": (("TO", "BARE"),),
    "BARE": (("VB",), ("VB", "NP")),
    "PP": (("IN", "NP"),),
}
NAMES = {"INF": "S (VP", "BARE": "VP"}


def random_tree(rng: random.Random, symbol: str = "TOP", depth: int = 0) -> str:
    """A bracketed sentence; deep phrases take their first, shortest rule."""
    if symbol in WORDS:
        word = rng.choice(WORDS[symbol]).replace("(", "-LRB-").replace(")", "-RRB-")
        return f"({symbol} {word})"
    rule = RULES[symbol][0] if depth > 4 else rng.choice(RULES[symbol])
    children = " ".join(random_tree(rng, child, depth + 1) for child in rule)
    if symbol == "TOP":
        inner, stop = children.rsplit(" (. ", 1)
        return f"(TOP {inner[:-1]} (. {stop}))"
    name = NAMES.get(symbol, symbol)
    return f"({name} {children})" + ")" * name.count("(")


def known_words() -> list[str]:
    return sorted({word for words in WORDS.values() for word in words if word.isalpha() and word != "river"})


def write_trees(path: Path, seed: int, count: int) -> None:
    rng = random.Random(seed)
    path.write_text("".join(random_tree(rng) + "\n" for _ in range(count)))
