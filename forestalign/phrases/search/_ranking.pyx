"""By what beams and pools are ordered, and what is left out unbuilt because it cannot enter a beam.

The order. Beams and pools are ordered by gain, what a hypothesis is worth beyond leaving its target null:

    G(h) = S(h) - null(target of h)

Everything that orders asks `of_candidate` and `of_entry`. Another order is made by adding something to both; the most
that it adds at a source node, over all target nodes, then belongs into `top_value`.

The bounds. A full beam has a least rank, which only rises. Before a step is built it is known what it can come to at
most; if that is less, the step is left out. A way w leads from target node v up to top(w); null(v) is what v is worth
as a null phrase; x is the source node whose beam is filled, and k a kind of step.

    reach(v)      = max over the ways w from v of  value(w) + null(v) - null(top(w))
    most_delta    = max over binary target edges e of  value(e) + null(left(e)) + null(right(e)) - null(head(e)); or 0
    top_value(k)  = max over target nodes y of  pair(x, y) + target_step(k, y);  plus source_step(k, x)

Why nothing is lost. Source edge d composes entries a and b, with target nodes m and n, at target edge e, to whose
children l and r the ways u and w lead. The values of everything that they consist of stay, so

    G(new) = value of the pair + value(d) + G(a) + null(m) + value(u) + G(b) + null(n) + value(w)
             + value(e) - null(head(e))
           = value of the pair + value(d)
             + G(a) + [value(u) + null(m) - null(l)]
             + G(b) + [value(w) + null(n) - null(r)]
             + [value(e) + null(l) + null(r) - null(head(e))]
          <= top_value + value(d) + G(a) + reach(m) + G(b) + reach(n) + most_delta

The value of the pair is at most `top_value`, as the words that a pair leaves null are charged and never paid for (where
they are paid for, there is no bound). A lift has one way and no edge e, so G(new) <= top_value + value(d) +
null(sibling) + G(a) + reach(m), with the reach of the ways that lifts may take. Non-compositional steps are always
built. So what is left out ranks below all members of a full beam, and these, or better ones, are what `_cut` of the
plain twin keeps. Only `beam_cuts` differs: a combination that is left out counts once, whatever would have come of it.
Sums taken in another order may differ in their last digits, so a beam asks for less than its least rank by SLACK.
"""

cimport cython
from libc.math cimport INFINITY

from forestalign.phrases.search._problem cimport Problem
from forestalign.phrases.search.hypotheses cimport LARGEST_VALUE
from forestalign.phrases.scoring.score cimport STEP_COUNT


@cython.final
cdef class Ranking:
    """The order of beams and pools with its bounds; without `prunes` everything is built."""

    def __init__(self, Problem problem, bint prunes):
        self.problem, self.prunes = problem, prunes
        self.source, self.target = problem.source, problem.target
        self.prepare()

    cdef int prepare(self) except -1 nogil:
        """Find `most_delta`."""
        cdef int e
        cdef double delta
        self.top_value.assign(<int>STEP_COUNT, INFINITY)
        self.most_delta = 0.0
        for e in range(self.target.edge_count):
            if self.target.right[e] >= 0:
                delta = (
                    self.target.edge_value[e] + self.target.null_value[self.target.left[e]]
                    + self.target.null_value[self.target.right[e]] - self.target.null_value[self.target.head[e]]
                )
                self.most_delta = max(self.most_delta, delta)
        return 0

    cdef int look_at(self, int node) except -1 nogil:
        """Find `top_value` of a source node."""
        cdef const double* pair = self.problem.pair + <size_t>node * self.target.node_count
        cdef const double* target_step
        cdef int step, y
        cdef double best
        if not self.prunes:
            return 0
        for step in range(<int>STEP_COUNT):
            target_step = self.problem.target_step + <size_t>step * self.target.node_count
            best = -LARGEST_VALUE
            for y in range(self.target.node_count):
                best = max(best, pair[y] + target_step[y])
            self.top_value[step] = best + self.problem.source_step[step * self.source.node_count + node]
        return 0
