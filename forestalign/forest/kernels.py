# mypy: ignore-errors
# cython: infer_types=True
"""Passes over the arrays of a packed forest. Cython compiles this file; where it cannot, Python runs it as it is.

Nodes are numbered children first. `edge_start` [nodes + 1] says which edges build a node; `children` [edges, 2] has -1
where an edge has fewer. An edge weighs its log probability and what is below it.
"""

from __future__ import annotations

import numpy as np

try:
    import cython
except ImportError:
    from forestalign.compiled import plain_cython as cython
if cython.compiled:
    from cython.cimports.libc.math import INFINITY, exp, log, log1p
else:
    from math import exp, log, log1p
    from math import inf as INFINITY  # noqa: N812 (its name in C)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
@cython.nogil
def edge_weight(
    edge: cython.int, children: cython.int[:, ::1], log_prob: cython.double[::1], inner: cython.double[::1]
) -> cython.double:
    """The weight of an edge with all that is below it."""
    weight: cython.double = log_prob[edge]
    if children[edge, 0] >= 0:
        weight += inner[children[edge, 0]]
    if children[edge, 1] >= 0:
        weight += inner[children[edge, 1]]
    return weight


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
@cython.nogil
def log_add(one: cython.double, other: cython.double) -> cython.double:
    """The log of a sum of two exponentials."""
    low: cython.double = min(one, other)
    high: cython.double = max(one, other)
    return high if low == -INFINITY else high + log1p(exp(low - high))


def inside(edge_start: cython.int[::1], children: cython.int[:, ::1], log_prob: cython.double[::1]):
    """Log inside score of each node, children first.

    in(v) = logsum over e in edges(v) of  log w(e) + sum over u in children(e) of in(u)
    """
    top: cython.double
    total: cython.double
    count: cython.int = edge_start.shape[0] - 1
    scores = np.empty(count)
    inner: cython.double[::1] = scores
    with cython.nogil:
        for node in range(count):
            top = -INFINITY
            for edge in range(edge_start[node], edge_start[node + 1]):
                top = max(top, edge_weight(edge, children, log_prob, inner))
            if edge_start[node + 1] - edge_start[node] != 1 and top != -INFINITY:
                total = 0.0
                for edge in range(edge_start[node], edge_start[node + 1]):
                    total += exp(edge_weight(edge, children, log_prob, inner) - top)
                top += log(total)
            inner[node] = top
    return scores


def outside(
    edge_start: cython.int[::1],
    children: cython.int[:, ::1],
    log_prob: cython.double[::1],
    roots: cython.int[::1],
    inner: cython.double[::1],
):
    """Log outside score of each node, parents first; a root begins with log 1.

    out(u) = logsum over e of v with u in children(e) of  out(v) + log w(e) + sum over the other children of in
    """
    count: cython.int = edge_start.shape[0] - 1
    scores = np.full(count, -np.inf)
    outer: cython.double[::1] = scores
    with cython.nogil:
        for node in range(roots.shape[0]):
            outer[roots[node]] = 0.0
        for node in range(count - 1, -1, -1):
            if outer[node] == -INFINITY:
                continue
            for edge in range(edge_start[node], edge_start[node + 1]):
                for side in range(2):
                    child = children[edge, side]
                    if child >= 0:
                        whole = outer[node] + log_prob[edge]
                        if children[edge, 1 - side] >= 0:
                            whole += inner[children[edge, 1 - side]]
                        outer[child] = log_add(outer[child], whole)
    return scores


def viterbi(edge_start: cython.int[::1], children: cython.int[:, ::1], log_prob: cython.double[::1]):
    """The score of the best subtree of each node, and its best edge; ties go to the earlier edge."""
    count: cython.int = edge_start.shape[0] - 1
    scores, choice = np.full(count, -np.inf), np.zeros(count, dtype=np.int32)
    best: cython.double[::1] = scores
    chosen: cython.int[::1] = choice
    with cython.nogil:
        for node in range(count):
            for edge in range(edge_start[node], edge_start[node + 1]):
                weight = edge_weight(edge, children, log_prob, best)
                if weight > best[node]:
                    best[node] = weight
                    chosen[node] = edge - edge_start[node]
    return scores, choice
