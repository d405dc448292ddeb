"""The compiled twin of `trace.py`: TRACE, GAP and DOWN decided by bit sets.

Two derivations agree when they share as many opened nodes as opened edges. A pair survives exactly when its target
holds no word that the other hypothesis covers, so nothing needs to be placed: the pairs of a hypothesis are found
again from those it was made of.
"""

cimport cython
from libc.stdint cimport uint64_t

from forestalign.bit_rows cimport has, holds_any, lowest, opened_edges, opened_nodes
from forestalign.phrases.search._hypotheses cimport Hypotheses, Hypothesis, is_opaque
from forestalign.phrases.scoring.score cimport NON_COMPOSITIONAL


@cython.final
cdef class Trace:
    """What becomes of two hypotheses when the target of one lies in that of the other."""

    def __init__(self, Hypotheses hypotheses):
        self.hypotheses = hypotheses
        self.target, self.layout = hypotheses.problem.target, hypotheses.problem.layout

    cdef int locate(self, int outer, int outer_node, int inner_node) noexcept nogil:
        """Follow the outer derivation down to the inner node: the node found there, or the null phrase that holds it.

        -1: it is not in this tree.
        """
        cdef const uint64_t* row = self.hypotheses.row_of(outer)
        cdef int node = outer_node
        while node != inner_node:
            if not has(opened_nodes(self.layout, row), node):
                return node if self.target.left[self.target.edge_start[node]] >= 0 else -1
            node = self.child_around(self.chosen_edge(row, node), inner_node)
            if node < 0:
                return -1
        return node

    cdef int chosen_edge(self, const uint64_t* row, int node) noexcept nogil:
        """The edge by which a row builds an opened node."""
        cdef int edge = self.target.edge_start[node]
        while not has(opened_edges(self.layout, row), edge):
            edge += 1
        return edge

    cdef int child_around(self, int edge, int node) noexcept nogil:
        """The child of an edge whose span holds that of a node, -1: none."""
        cdef int left = self.target.left[edge], right = self.target.right[edge]
        if self.target.begin[left] <= self.target.begin[node] and self.target.end[node] <= self.target.end[left]:
            return left
        if right < 0 or self.target.begin[node] < self.target.begin[right]:
            return -1
        return right if self.target.end[node] <= self.target.end[right] else -1

    cdef bint survive(self, int top, int other, double* total) except -1 nogil:
        """Add the value of the pairs of `top` that hold no word of `other`; False if an opaque pair would dissolve."""
        cdef const uint64_t* words = self.hypotheses.row_of(other)
        self.masks.assign(words, words + self.layout.words)
        return self.survive_mask(top, 0, total)

    cdef bint survive_mask(self, int h, size_t mask, double* total) except -1 nogil:
        """As `survive`, for the pairs of h that hold no word of the row `mask` of `masks`."""
        cdef Hypothesis* own = &self.hypotheses.all[h]
        cdef size_t left, right, before = self.masks.size()
        cdef bint whole
        if not holds_any(&self.masks[mask], self.target.begin[own.target], self.target.end[own.target]):
            total[0] += own.pairs
            return True
        if is_opaque(own.step) or own.left < 0:
            return False
        left = right = mask
        if own.step == NON_COMPOSITIONAL:
            # each side lost what held words of the other
            left, right = self.forbid(mask, own.right), self.forbid(mask, own.left)
        whole = self.survive_mask(own.left, left, total) and self.survive_mask(own.right, right, total)
        self.masks.resize(before)
        return whole

    cdef size_t forbid(self, size_t mask, int other) except? 0 nogil:
        """A new row of forbidden words: those of a row, and those that a hypothesis covers."""
        cdef size_t place = self.masks.size()
        cdef int k
        for k in range(self.layout.words):
            self.masks.push_back(self.masks[mask + k] | self.hypotheses.row_of(other)[k])
        return place

    cdef double opened(self, const uint64_t* row) noexcept nogil:
        """Value of the target side of a hypothesis: its edges, and the children that are not opened."""
        cdef const uint64_t* edges = opened_edges(self.layout, row)
        cdef int block, edge
        cdef uint64_t rest
        cdef double total = 0.0
        for block in range(self.layout.edges):
            rest = edges[block]
            while rest:
                edge = (block << 6) + lowest(rest)
                rest &= rest - 1
                total += self.target.edge_value[edge]
                total += self.unopened_value(row, self.target.left[edge])
                total += self.unopened_value(row, self.target.right[edge])
        return total

    cdef double unopened_value(self, const uint64_t* row, int node) noexcept nogil:
        """Value of a node that is null or covered; none for one that is opened."""
        if node < 0 or has(opened_nodes(self.layout, row), node):
            return 0.0
        if has(row, self.target.begin[node]):
            return self.target.inside_value[node]
        return self.target.null_value[node]

    cdef double support_value(self, int h) except? -1.0 nogil:
        """Value of the pairs below the pair of a hypothesis itself."""
        cdef int left = self.hypotheses.all[h].left, right = self.hypotheses.all[h].right
        cdef double kept = 0.0
        if left < 0:
            return 0.0
        if self.hypotheses.all[h].step == NON_COMPOSITIONAL:
            self.survive(left, right, &kept)
            self.survive(right, left, &kept)
            return kept
        return self.hypotheses.all[left].pairs + (self.hypotheses.all[right].pairs if right >= 0 else 0.0)
