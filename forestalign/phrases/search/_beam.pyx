"""The beam of one source node, as `_cut` of `search.py` makes it: best rank first, not too many alike.

Two rankings share its places, by gain (`_ranking`) and by prospect (`search.py`). Candidates are only numbers until
the beam is closed; those that it keeps become hypotheses then. While they come in, the best are singled out now and
then, so that what ranks below a full beam is not even taken in.
"""

cimport cython
from libc.stdint cimport int64_t, uint64_t
from libcpp.algorithm cimport fill_n, nth_element, sort

from forestalign.bit_rows cimport are_equal, compare, lowest, put_all, put_range
from forestalign.phrases.search._hypotheses cimport Candidate, Hypotheses, grains, is_seed
from forestalign.phrases.search._ranking cimport Ranking
from forestalign.phrases.search.hypotheses cimport GRAIN, LARGEST_VALUE

cdef double SLACK = 1e-6  # sums in another order differ by less


cdef inline size_t place_of(const BeamKey& key) noexcept nogil:
    return <size_t>(<uint64_t>key.second & <uint64_t>0xFFFFFFFF)


cdef inline int64_t target_of(const BeamKey& key) noexcept nogil:
    return key.second >> 32


@cython.final
cdef class LineUp:
    """The best candidates of one source node by one ranking; opened for the next node when the beam is closed."""

    def __init__(self, Hypotheses hypotheses, bint prunes):
        self.hypotheses = hypotheses
        self.words = hypotheses.layout.words
        self.room, self.variants = hypotheses.problem.limits.beam, hypotheses.problem.limits.variants
        self.most_waiting = 2 * self.room + 32 if self.room and prunes else <size_t>-1
        self.alike_first.assign(hypotheses.target.node_count, -1)
        self.scratch.resize(2 * self.words)

    cdef void open(self) noexcept nogil:
        self.candidates.clear()
        self.threshold = grains(-LARGEST_VALUE) - 1
        self.least = -2 * LARGEST_VALUE

    cdef int narrow(self) except -1 nogil:
        """Leave the best; from now on what ranks below them is not taken in."""
        self.rank()
        if self.candidates.size() == self.room:
            self.threshold = self.candidates.back().rank
            self.least = self.threshold / GRAIN - SLACK
        return 0

    cdef int rank(self) except -1 nogil:
        """Sort the candidates by rank, target and words, and leave those that the beam holds."""
        cdef size_t k, count = self.candidates.size()
        cdef size_t room = self.room if self.room else count
        cdef size_t sorted_count = 0
        self.order.resize(count)
        for k in range(count):
            self.order[k].first = -self.candidates[k].rank
            self.order[k].second = (<int64_t>self.candidates[k].target << 32) | <int64_t>k
        self.kept.clear()
        self.kept_words.clear()
        self.alike_next.clear()
        for k in range(count):
            if self.kept.size() >= room:
                break
            if k == sorted_count:
                sorted_count = self.sort_from(k, k + room + room // 2)
            self.choose(self.candidates[place_of(self.order[k])])
        for k in range(self.kept.size()):
            self.alike_first[self.kept[k].target] = -1
        self.cuts += <int64_t>(count - self.kept.size())
        self.candidates.swap(self.kept)
        return 0

    cdef int choose(self, const Candidate& candidate) except -1 nogil:
        """Keep a candidate unless there are enough like it."""
        cdef int k = self.alike_first[candidate.target], alike = 0
        if self.variants:
            self.words_of(candidate, self.scratch.data())
            while k >= 0:
                alike += are_equal(&self.kept_words[k * self.words], self.scratch.data(), self.words)
                k = self.alike_next[k]
            if alike >= self.variants:
                return 0
            self.kept_words.insert(
                self.kept_words.end(), self.scratch.begin(), self.scratch.begin() + self.words
            )
            self.alike_next.push_back(self.alike_first[candidate.target])
            self.alike_first[candidate.target] = <int>self.kept.size()
        self.kept.push_back(candidate)
        return 0

    cdef size_t sort_from(self, size_t first, size_t end) except? 0 nogil:
        """Bring the candidates from `first` to about `end` into their order; where the ordered part ends.

        Most of the rest is never looked at. The part ends where no tie is cut in two.
        """
        cdef size_t count = self.order.size()
        if end < count:
            nth_element(self.order.begin() + first, self.order.begin() + end, self.order.end())
            sort(self.order.begin() + first, self.order.begin() + end)
            while end > first and self.is_tied(end - 1, end):
                end -= 1
        if end >= count or end == first:
            end = count
            sort(self.order.begin() + first, self.order.end())
        self.order_by_words(first, end)
        return end

    cdef int order_by_words(self, size_t first, size_t end) except -1 nogil:
        """Candidates of the same rank and target by their words; such runs are short."""
        cdef size_t k, place
        cdef BeamKey moved
        for k in range(first + 1, end):
            place = k
            while place > first and self.is_tied(place - 1, place) and self.has_more_words(place - 1, place):
                moved = self.order[place]
                self.order[place] = self.order[place - 1]
                self.order[place - 1] = moved
                place -= 1
        return 0

    cdef bint is_tied(self, size_t one, size_t other) noexcept nogil:
        return (
            self.order[one].first == self.order[other].first
            and target_of(self.order[one]) == target_of(self.order[other])
        )

    cdef bint has_more_words(self, size_t one, size_t other) noexcept nogil:
        """Compare the words of two candidates as numbers."""
        cdef uint64_t* first = self.scratch.data()
        cdef uint64_t* second = first + self.words
        self.words_of(self.candidates[place_of(self.order[one])], first)
        self.words_of(self.candidates[place_of(self.order[other])], second)
        return compare(first, second, self.words) > 0

    cdef void words_of(self, const Candidate& candidate, uint64_t* words) noexcept nogil:
        """The target words that a candidate covers."""
        fill_n(words, self.words, <uint64_t>0)
        if is_seed(candidate.step):
            put_range(
                words, self.hypotheses.target.begin[candidate.target], self.hypotheses.target.end[candidate.target]
            )
            return
        put_all(words, self.hypotheses.row_of(self.hypotheses.entries[candidate.left_entry].hypothesis), self.words)
        if candidate.right_entry >= 0:
            put_all(
                words, self.hypotheses.row_of(self.hypotheses.entries[candidate.right_entry].hypothesis), self.words
            )


@cython.final
cdef class Beam:
    """What is kept of one source node: places shared by gain and by prospect."""

    def __init__(self, Hypotheses hypotheses, Ranking ranking):
        self.hypotheses, self.problem, self.ranking = hypotheses, hypotheses.problem, ranking
        self.by_gain, self.by_prospect = LineUp(hypotheses, ranking.prunes), LineUp(hypotheses, ranking.prunes)
        self.has_prospects = self.problem.rest != NULL
        self.words.resize(self.by_gain.words)

    cdef void open(self) noexcept nogil:
        self.by_gain.open()
        self.by_prospect.open()
        self.made = 0

    cdef int add_open(self, Candidate& new, double gain) except -1 nogil:
        """Line up by prospect, if it is open; most are seen to be too low before it is known."""
        cdef double bare = gain - new.own
        if not self.by_gain.room or bare + self.problem.most_rest[new.source] < self.by_prospect.least:
            return 0
        new.hope = self.hope_of(new)
        return self.by_prospect.add(new, gain + new.hope) if new.hope > 0.0 else 0

    cdef double hope_of(self, const Candidate& new) noexcept nogil:
        """`Prospects.hope`."""
        cdef const double* rest = self.problem.rest + <size_t>new.source * self.problem.word_count
        cdef const uint64_t* open_words = &self.problem.rest_words[<size_t>new.source * self.by_gain.words]
        cdef int block, j, begin = self.problem.target.begin[new.target], end = self.problem.target.end[new.target]
        cdef uint64_t left
        cdef double total = 0.0
        self.by_gain.words_of(new, self.words.data())
        for block in range(begin >> 6, ((end - 1) >> 6) + 1):
            left = open_words[block] & ~self.words[block]
            while left:
                j = (block << 6) + lowest(left)
                left &= left - 1
                if begin <= j < end:
                    total += rest[j]
        return max(total - new.own, 0.0) if total > 0.0 else 0.0

    cdef int close(self) except -1 nogil:
        """What is left becomes hypotheses, which know what they have to hope for."""
        cdef size_t k
        self.by_gain.rank()
        if self.has_prospects and self.by_gain.room:
            self.by_prospect.rank()
            self.share_places()
        else:
            self.kept.swap(self.by_gain.candidates)
        for k in range(self.kept.size()):
            self.kept[k].hope = 0.0
            if self.has_prospects and self.can_give_way(self.kept[k].step):
                self.kept[k].hope = self.hope_of(self.kept[k])
            self.hypotheses.materialise(self.kept[k])
        return 0

    cdef int share_places(self) except -1 nogil:
        """`shared_places`: the first by gain, then by prospect; free places by gain again."""
        cdef size_t k, room = self.by_gain.room
        cdef size_t first = min(
            self.by_gain.candidates.size(), room - <size_t>(room * self.problem.limits.prospect_share)
        )
        self.kept.assign(self.by_gain.candidates.begin(), self.by_gain.candidates.begin() + first)
        for k in range(self.by_prospect.candidates.size()):
            if self.kept.size() < room and not self.is_kept(self.by_prospect.candidates[k]):
                self.kept.push_back(self.by_prospect.candidates[k])
        for k in range(first, self.by_gain.candidates.size()):
            if self.kept.size() < room and not self.is_kept(self.by_gain.candidates[k]):
                self.kept.push_back(self.by_gain.candidates[k])
        return 0

    cdef bint is_kept(self, const Candidate& candidate) noexcept nogil:
        cdef size_t k
        for k in range(self.kept.size()):
            if self.kept[k].number == candidate.number:
                return True
        return False
