"""Pairs of sentences put together from others, with the links that follow."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from encoder_training.gold_links import LinkedPair, unrelated

UNRELATED, HALF_RELATED = 0.08, 0.1  # share of the pairs of a batch
SWAPPED = 0.7  # of joined pairs, how many have their parts in another order


def half_related(pair: LinkedPair, other: LinkedPair, rng: random.Random) -> LinkedPair:
    """A target of which one end is that of another pair: what stood there has no partner now."""
    cut, from_other = len(pair.target) // 2, other.target[len(other.target) // 2 :]
    nothing = np.zeros((len(pair.source), len(from_other)), dtype=np.float32)
    if rng.random() < 0.5:
        parts = slice(0, cut), pair.target[:cut] + from_other
        links, is_open = pair.links[:, :cut], pair.is_open[:, :cut]
        tables = np.hstack([links, nothing]), np.hstack([is_open, nothing > 0])
    else:
        parts = slice(cut, None), from_other + pair.target[cut:]
        links, is_open = pair.links[:, cut:], pair.is_open[:, cut:]
        tables = np.hstack([nothing, links]), np.hstack([nothing > 0, is_open])
    return LinkedPair(pair.source, parts[1], *tables)


def joined(one: LinkedPair, other: LinkedPair, swapped: bool) -> LinkedPair:
    """Two pairs as one, in the target perhaps in the other order: equal words go with what they belong to."""
    tables = []
    for first, second in ((one.links, other.links), (one.is_open, other.is_open)):
        corner = np.zeros((len(one.source), len(other.target)), dtype=first.dtype)
        corner_below = np.zeros((len(other.source), len(one.target)), dtype=first.dtype)
        rows = [[corner, first], [second, corner_below]] if swapped else [[first, corner], [corner_below, second]]
        tables.append(np.block(rows))
    target = other.target + one.target if swapped else one.target + other.target
    return LinkedPair(one.source + other.source, target, *tables)


def mixed(batch: Sequence[LinkedPair], everything: Sequence[LinkedPair], rng: random.Random) -> list[LinkedPair]:
    """The pairs of a batch, now and then half related or unrelated ones instead."""
    found = []
    for pair in batch:
        share = rng.random()
        if share < UNRELATED:
            found.append(unrelated(batch, rng) if len(batch) > 1 else pair)
        elif share < UNRELATED + HALF_RELATED:
            found.append(half_related(pair, rng.choice(everything), rng))
        else:
            found.append(pair)
    return found


def joined_batch(batch: Sequence[LinkedPair], rng: random.Random) -> list[LinkedPair]:
    """A batch of half as many pairs, each of two."""
    order = rng.sample(batch, len(batch))
    return [
        joined(one, other, rng.random() < SWAPPED) for one, other in zip(order[::2], order[1::2], strict=False)
    ] or list(batch)
