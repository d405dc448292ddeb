"""What the two words of a pair are to each other: the twin of `_lexical_layers` of `lexical_layers.py`."""

cimport cython
from libc.math cimport sqrtf
from libcpp.vector cimport vector

from forestalign.words.learned.context_layers cimport RIVALS_STRONG_RIVAL, RIVALS_WEAK_RIVAL
cimport forestalign.words.learned.lexical_layers as plain

import numpy as np

from forestalign.words.learned._context_layers import rivals


def joint_codes(left, right):
    """Lists of strings by number, [lists, words]: equal strings of the same list have equal numbers on both sides."""
    cdef Py_ssize_t k, i
    ours, theirs = np.empty((len(left), len(left[0])), np.int32), np.empty((len(right), len(right[0])), np.int32)
    cdef int[:, ::1] codes = ours, others = theirs
    cdef dict numbers
    for k in range(codes.shape[0]):
        numbers = {}
        for i, text in enumerate(left[k]):
            codes[k, i] = numbers.setdefault(text, i)
        for i, text in enumerate(right[k]):
            others[k, i] = numbers.get(text, -1)
    return ours, theirs


@cython.final
cdef class LexicalPairs:
    """The layers of two sentences while they are filled."""

    cdef const int[:, ::1] codes, other_codes
    cdef const unsigned char[:, ::1] flags, other_flags
    cdef Py_ssize_t rows, columns
    cdef float[:, :, ::1] layers
    cdef vector[unsigned char] same, are_content

    cdef inline bint are_equal(self, int code, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        return self.codes[code, i] == self.other_codes[code, j]

    cdef inline bint have(self, int flag, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        return self.flags[flag, i] and self.other_flags[flag, j]

    cdef int fill_forms(self) except -1 nogil:
        """Form, lemma and stem, and whether a form stands once on both sides."""
        cdef Py_ssize_t i, j
        cdef bint form, lemma, stem
        cdef vector[int] across, down
        across.assign(self.rows, 0)
        down.assign(self.columns, 0)
        for i in range(self.rows):
            for j in range(self.columns):
                form = self.are_equal(plain.TEXTS_WORD, i, j) or self.are_equal(plain.TEXTS_CANONICAL, i, j)
                lemma, stem = self.are_equal(plain.TEXTS_LEMMA, i, j), self.are_equal(plain.TEXTS_STEM, i, j)
                self.layers[plain.LEXICAL_SAME_FORM, i, j] = form
                self.layers[plain.LEXICAL_SAME_LEMMA, i, j] = lemma and not form
                self.layers[plain.LEXICAL_SAME_STEM, i, j] = stem and not form and not lemma
                self.same[i * self.columns + j] = form or lemma or stem
                self.are_content[i * self.columns + j] = self.have(plain.FLAGS_CONTENT, i, j)
                across[i] += form
                down[j] += form
        for i in range(self.rows):
            for j in range(self.columns):
                if self.layers[plain.LEXICAL_SAME_FORM, i, j] != 0.0:
                    self.layers[plain.LEXICAL_UNIQUE_FORM, i, j] = across[i] == 1 and down[j] == 1
                    self.layers[plain.LEXICAL_ONE_FORM, i, j] = (across[i] == 1) != (down[j] == 1)
        return 0

    cdef void fill_words(self, const float[:, ::1] likeness, const unsigned char[:, :, ::1] marks) noexcept nogil:
        """Tags, spelling, relations."""
        cdef Py_ssize_t i, j
        cdef bint form, same, is_open
        cdef int k
        for i in range(self.rows):
            for j in range(self.columns):
                form, same = self.layers[plain.LEXICAL_SAME_FORM, i, j] != 0.0, self.same[i * self.columns + j]
                is_open = self.are_content[i * self.columns + j] and not same
                self.layers[plain.LEXICAL_SAME_TAG, i, j] = self.are_equal(plain.TEXTS_TAG, i, j)
                self.layers[plain.LEXICAL_SAME_CATEGORY, i, j] = self.are_equal(plain.TEXTS_CATEGORY, i, j)
                self.layers[plain.LEXICAL_BOTH_NAMES, i, j] = self.have(plain.FLAGS_NAME, i, j)
                self.layers[plain.LEXICAL_BOTH_NUMBERS, i, j] = self.have(plain.FLAGS_NUMBER, i, j) and not form
                self.layers[plain.LEXICAL_DIFFERENT_DIGITS, i, j] = self.have(plain.FLAGS_DIGITS, i, j) and not form
                if is_open and not self.have(plain.FLAGS_KNOWN, i, j):
                    self.layers[plain.LEXICAL_SPELLING, i, j] = min(
                        max((likeness[i, j] - <float>plain.ALIKE) / <float>(1.0 - plain.ALIKE), <float>0.0), <float>1.0
                    )
                self.layers[plain.LEXICAL_SAME_START, i, j] = is_open and self.are_equal(plain.TEXTS_START, i, j)
                self.layers[plain.LEXICAL_ACRONYM, i, j] = marks[plain.MARKS_ACRONYM, i, j]
                self.layers[plain.LEXICAL_PART_OF_HYPHENATED, i, j] = (
                    is_open and marks[plain.MARKS_PART_OF_HYPHENATED, i, j]
                )
                for k in range(plain.RELATIONS_COUNT):
                    self.layers[plain.LEXICAL_SYNONYMS + k, i, j] = not same and marks[plain.MARKS_SYNONYMS + k, i, j]

    cdef int fill_cosines(self, const float[:, ::1] cosines) except -1 nogil:
        """Static cosines of different words, and which of them are best in row and column."""
        cdef Py_ssize_t i, j, place
        cdef float cosine
        cdef vector[float] asked
        cdef vector[unsigned char] best
        asked.assign(self.rows * self.columns, 0.0)
        for i in range(self.rows):
            for j in range(self.columns):
                place = i * self.columns + j
                cosine = max(cosines[i, j], <float>0.0)
                if self.are_content[place]:
                    if self.same[place]:
                        cosine = 0.0
                    asked[place] = cosine
                self.layers[plain.LEXICAL_COSINE, i, j] = cosine
                self.layers[plain.LEXICAL_SQUARED_COSINE, i, j] = cosine * cosine
        self.find_best(asked.data(), best)
        for i in range(self.rows):
            for j in range(self.columns):
                if best[i * self.columns + j]:
                    self.layers[plain.LEXICAL_BEST_COSINE, i, j] = self.layers[plain.LEXICAL_COSINE, i, j]
        return 0

    cdef int find_best(self, const float* values, vector[unsigned char]& best) except -1 nogil:
        """Mark what is largest in its row and in its column."""
        cdef Py_ssize_t i, j
        cdef vector[float] across, down
        across.resize(self.rows)
        down.assign(values, values + self.columns)
        best.resize(self.rows * self.columns)
        for i in range(self.rows):
            across[i] = values[i * self.columns]
            for j in range(self.columns):
                across[i] = max(across[i], values[i * self.columns + j])
                down[j] = max(down[j], values[i * self.columns + j])
        for i in range(self.rows):
            for j in range(self.columns):
                best[i * self.columns + j] = (
                    values[i * self.columns + j] >= across[i] and values[i * self.columns + j] >= down[j]
                )
        return 0

    cdef int fill_contextual(
        self, const float[:, ::1] cosines, const float[:, ::1] weights, const float[::1] down, const float[::1] across
    ) except -1 nogil:
        """Contextual cosines and their softmax in both directions, from its weights and their sums."""
        cdef Py_ssize_t i, j
        cdef vector[unsigned char] best
        self.find_best(&cosines[0, 0], best)
        for i in range(self.rows):
            for j in range(self.columns):
                self.layers[plain.LEXICAL_CONTEXT_COSINE, i, j] = cosines[i, j]
                self.layers[plain.LEXICAL_CONTEXT_SOFTMAX, i, j] = sqrtf(
                    weights[i, j] / down[j] * weights[i, j] / across[i]
                )
                self.layers[plain.LEXICAL_CONTEXT_BEST, i, j] = best[i * self.columns + j]
        return 0

    cdef int fill_middle(self, const float[:, ::1] cosines, const float[:, :, ::1] others) except -1 nogil:
        """Cosines by the middle layers, and their lead over the best other partner of either word."""
        cdef Py_ssize_t i, j
        cdef float cosine
        cdef bint is_best
        cdef vector[unsigned char] best
        self.find_best(&cosines[0, 0], best)
        for i in range(self.rows):
            for j in range(self.columns):
                cosine = cosines[i, j]
                is_best = best[i * self.columns + j] and cosine > 0.0
                self.layers[plain.LEXICAL_MIDDLE_COSINE, i, j] = cosine
                self.layers[plain.LEXICAL_SQUARED_MIDDLE_COSINE, i, j] = cosine * cosine
                self.layers[plain.LEXICAL_MIDDLE_OVER_RIVAL, i, j] = cosine - others[RIVALS_STRONG_RIVAL, i, j]
                self.layers[plain.LEXICAL_MIDDLE_OVER_WEAK_RIVAL, i, j] = cosine - others[RIVALS_WEAK_RIVAL, i, j]
                self.layers[plain.LEXICAL_MIDDLE_BEST, i, j] = is_best
                self.layers[plain.LEXICAL_MIDDLE_BEST_OF_DIFFERENT, i, j] = (
                    is_best and not self.same[i * self.columns + j]
                )
        return 0


def lexical_layers(codes, flags, marks, likeness, cosines, contextual, middle):
    """The layers of LEXICAL, in its order.

    `codes` and `flags` are pairs of arrays, source and target; `contextual` is None or the cosines, the weights of
    their softmax and the sums of these by column and by row; `middle` is None or cosines of at least 0.
    """
    cdef LexicalPairs pairs = LexicalPairs()
    pairs.codes, pairs.other_codes = codes
    pairs.flags, pairs.other_flags = flags
    pairs.rows, pairs.columns = pairs.codes.shape[1], pairs.other_codes.shape[1]
    result = np.zeros((plain.LEXICAL_COUNT, pairs.rows, pairs.columns), np.float32)
    pairs.layers = result
    pairs.same.resize(pairs.rows * pairs.columns)
    pairs.are_content.resize(pairs.rows * pairs.columns)
    pairs.fill_forms()
    pairs.fill_words(likeness, marks)
    pairs.fill_cosines(cosines)
    if contextual is not None:
        in_context, weights, down, across = contextual
        pairs.fill_contextual(in_context, weights, down, across)
    if middle is not None:
        pairs.fill_middle(middle, rivals(middle))
    return result
