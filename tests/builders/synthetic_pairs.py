"""A synthetic language: source word ak always corresponds to target word bk, and the links say nothing about it.

A sentence is a binary tree over the words of a few numbers; the target's has the same shape with some children
swapped. Every source word is linked to every target word, so which correspond can only be learned from which occur
together.
"""

from __future__ import annotations

import random
from pathlib import Path

from forestalign.config import AlignConfig
from forestalign.pair_cache import PairCache
from forestalign.phrases.stage import PreparedPair
from tests.builders.hand_forests import hand_forest, hand_links

Shape = int | tuple["Shape", "Shape"]


def brackets(shape: Shape, letter: str) -> str:
    if isinstance(shape, int):
        return f"(NN {letter}{shape})"
    return f"(NP {brackets(shape[0], letter)} {brackets(shape[1], letter)})"


def random_shape(rng: random.Random, numbers: list[int]) -> Shape:
    if len(numbers) == 1:
        return numbers[0]
    split = rng.randrange(1, len(numbers))
    return random_shape(rng, numbers[:split]), random_shape(rng, numbers[split:])


def swapped(rng: random.Random, shape: Shape) -> Shape:
    if isinstance(shape, int):
        return shape
    left, right = swapped(rng, shape[0]), swapped(rng, shape[1])
    return (right, left) if rng.random() < 0.5 else (left, right)


def synthetic_pair(rng: random.Random, vocabulary: int, lengths: tuple[int, int] = (2, 3)) -> PreparedPair:
    """Distinct words of the language in a random tree, and their translation."""
    shape = random_shape(rng, rng.sample(range(vocabulary), rng.randint(*lengths)))
    source, target = hand_forest(brackets(shape, "a")), hand_forest(brackets(swapped(rng, shape), "b"))
    every = [(i, j) for i in range(len(source.sentence)) for j in range(len(target.sentence))]
    return PreparedPair(source, target, hand_links(*every))


def synthetic_corpus(folder: Path, count: int, vocabulary: int, config: AlignConfig, seed: int = 1) -> list[Path]:
    """Pairs in a cache, as training reads them."""
    rng, cache, paths = random.Random(seed), PairCache(folder, config), []
    for _ in range(count):
        pair = synthetic_pair(rng, vocabulary)
        paths.append(cache.write(pair))
    return paths
