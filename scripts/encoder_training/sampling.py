"""Batches that depend on nothing but the seed and the number of the step: a run can go on from any step."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Generic, TypeVar

Each = TypeVar("Each")


class Sampler(Generic[Each]):
    """Examples of similar length, drawn at random."""

    def __init__(self, examples: Sequence[Each], size: Callable[[Each], int], limit: int):
        """limit: words of a batch, padding included"""
        self.examples = sorted(examples, key=size)
        self.size, self.limit = size, limit
        self.weights = list(accumulate(max(1, size(each)) for each in self.examples))

    def draw(self, rng: random.Random) -> list[Each]:
        """A stretch of the examples in the order of their length: from a random one downwards as far as they fit.

        More short ones fit, so a long one is chosen as much more often as it is longer: each is as likely to be seen.
        """
        (last,) = rng.choices(range(len(self.examples)), cum_weights=self.weights)
        count = max(1, self.limit // max(1, self.size(self.examples[last])))
        return list(self.examples[max(0, last + 1 - count) : last + 1])


def step_random(seed: int, step: int) -> random.Random:
    """The randomness of one step."""
    return random.Random(f"{seed}:{step}")
