# What the parts of the compiled core share.

from libc.math cimport exp, fabs, llrint, log1p, sqrtf
from libc.stdint cimport int64_t, uint64_t
from libcpp.algorithm cimport nth_element, sort, stable_sort
from libcpp.pair cimport pair as Pair
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

cimport cython
from cython.operator cimport dereference


cdef inline size_t lower_half(int64_t key) noexcept nogil:
    """The lower 32 bits of a number that packs two."""
    return <size_t>(<uint64_t>key & <uint64_t>0xFFFFFFFF)


cdef inline int popcount(uint64_t bits) noexcept nogil:
    """Number of bits that are set; portable, since the instruction for it is not in every processor."""
    bits = bits - ((bits >> 1) & <uint64_t>0x5555555555555555)
    bits = (bits & <uint64_t>0x3333333333333333) + ((bits >> 2) & <uint64_t>0x3333333333333333)
    bits = (bits + (bits >> 4)) & <uint64_t>0x0F0F0F0F0F0F0F0F
    return <int>((bits * <uint64_t>0x0101010101010101) >> 56)


cdef inline int lowest(uint64_t bits) noexcept nogil:
    """Place of the lowest bit that is set."""
    return popcount((bits & (~bits + 1)) - 1)


cdef inline int blocks_for(int count) noexcept nogil:
    """Number of 64-bit blocks that hold so many bits."""
    return (count + 63) >> 6


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


cdef inline bint share(const uint64_t* row, const uint64_t* other, int blocks) noexcept nogil:
    """Have two sets a common member?"""
    cdef int k
    for k in range(blocks):
        if row[k] & other[k]:
            return True
    return False


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


def bit_count(const uint64_t[::1] bits):
    """Number of bits that are set in a bit set."""
    cdef Py_ssize_t block
    cdef int count = 0
    for block in range(bits.shape[0]):
        count += popcount(bits[block])
    return count
