"""Rows of bits: how the compiled code lays out sets of small whole numbers, and everything that it does with them.

A row is so many 64-bit blocks, as `blocks_for` says of the numbers that it may hold; number k is bit k % 64 of block
k // 64. Rows of one kind have the same length and follow each other without a gap: row r of `blocks` blocks begins at
block r * blocks. There are three kinds:

- trees of an edge or a subtree (`ForestArrays.trees`): bit k is tree k of the n-best list, with at least one bit more
  than there are trees, which is never set where the trees are known. Where nothing is known, all bits are set;
- words of a target sentence;
- the target side of a hypothesis: the words it covers, the nodes it opened and the edges it opened, in this order, each
  a row of its own length (`TargetRow`).
"""

from libc.stdint cimport uint64_t


cdef struct TargetRow:
    # how the target side of a hypothesis is laid out, in blocks
    int words  # covered words come first
    int nodes  # then opened nodes
    int edges  # then opened edges
    int width  # of all three


cdef inline TargetRow target_row(int word_count, int node_count, int edge_count) noexcept nogil:
    cdef TargetRow layout
    layout.words, layout.nodes, layout.edges = blocks_for(word_count), blocks_for(node_count), blocks_for(edge_count)
    layout.width = layout.words + layout.nodes + layout.edges
    return layout


cdef inline uint64_t* opened_nodes(const TargetRow& layout, const uint64_t* row) noexcept nogil:
    """The part of a row that holds nodes."""
    return <uint64_t*>row + layout.words


cdef inline uint64_t* opened_edges(const TargetRow& layout, const uint64_t* row) noexcept nogil:
    """The part of a row that holds edges."""
    return <uint64_t*>row + layout.words + layout.nodes


cdef inline int blocks_for(int count) noexcept nogil:
    """Number of 64-bit blocks that hold so many bits."""
    return (count + 63) >> 6


cdef inline int popcount(uint64_t bits) noexcept nogil:
    """Number of bits that are set; portable, since the instruction for it is not in every processor."""
    bits = bits - ((bits >> 1) & <uint64_t>0x5555555555555555)
    bits = (bits & <uint64_t>0x3333333333333333) + ((bits >> 2) & <uint64_t>0x3333333333333333)
    bits = (bits + (bits >> 4)) & <uint64_t>0x0F0F0F0F0F0F0F0F
    return <int>((bits * <uint64_t>0x0101010101010101) >> 56)


cdef inline int lowest(uint64_t bits) noexcept nogil:
    """Place of the lowest bit that is set."""
    return popcount((bits & (~bits + 1)) - 1)


cdef inline bint has(const uint64_t* row, int place) noexcept nogil:
    return (row[place >> 6] >> (place & 63)) & 1


cdef inline void put(uint64_t* row, int place) noexcept nogil:
    row[place >> 6] |= <uint64_t>1 << (place & 63)


cdef inline void put_all(uint64_t* row, const uint64_t* other, int blocks) noexcept nogil:
    cdef int k
    for k in range(blocks):
        row[k] |= other[k]


cdef inline void put_range(uint64_t* row, int begin, int end) noexcept nogil:
    cdef int place
    for place in range(begin, end):
        put(row, place)


cdef inline bint are_equal(const uint64_t* row, const uint64_t* other, int blocks) noexcept nogil:
    cdef int k
    for k in range(blocks):
        if row[k] != other[k]:
            return False
    return True


cdef inline bint share(const uint64_t* row, const uint64_t* other, int blocks) noexcept nogil:
    """Have two sets a common member?"""
    cdef int k
    for k in range(blocks):
        if row[k] & other[k]:
            return True
    return False


cdef inline int common_count(const uint64_t* row, const uint64_t* other, int blocks) noexcept nogil:
    """Number of common members."""
    cdef int k, count = 0
    for k in range(blocks):
        count += popcount(row[k] & other[k])
    return count


cdef inline int compare(const uint64_t* row, const uint64_t* other, int blocks) noexcept nogil:
    """Below 0, 0 or above 0 as the one is smaller, equal or larger than the other, both taken as whole numbers."""
    cdef int k
    for k in range(blocks - 1, -1, -1):
        if row[k] != other[k]:
            return 1 if row[k] > other[k] else -1
    return 0


cdef inline bint holds_any(const uint64_t* row, int begin, int end) noexcept nogil:
    """Is one of begin..end-1 in the set?"""
    cdef int block, last = (end - 1) >> 6
    cdef uint64_t mask
    for block in range(begin >> 6, last + 1):
        mask = ~<uint64_t>0
        if block == begin >> 6:
            mask &= ~<uint64_t>0 << (begin & 63)
        if block == last:
            mask &= ~<uint64_t>0 >> (63 - ((end - 1) & 63))
        if row[block] & mask:
            return True
    return False
