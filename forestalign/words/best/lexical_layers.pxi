# What the two words of a pair are to each other: the twin of `_lexical_layers` of `lexical_layers.py`.

cdef enum:  # places of LEXICAL
    SAME_FORM, SAME_LEMMA, SAME_STEM, SAME_TAG, SAME_CATEGORY, SPELLING, SAME_START, PART_OF_HYPHENATED, ACRONYM,
    SYNONYMS, DERIVATIONS, HYPERNYMS, SIMILAR_ADJECTIVES, ANTONYMS, LISTED, LISTED_LEMMAS, COSINE, SQUARED_COSINE,
    BEST_COSINE, DIFFERENT_DIGITS, BOTH_NUMBERS, BOTH_NAMES, UNIQUE_FORM, ONE_FORM, CONTEXT_COSINE, CONTEXT_SOFTMAX,
    CONTEXT_BEST, MIDDLE_COSINE, SQUARED_MIDDLE_COSINE, MIDDLE_OVER_RIVAL, MIDDLE_OVER_WEAK_RIVAL, MIDDLE_BEST,
    MIDDLE_BEST_OF_DIFFERENT, LEXICAL_COUNT

cdef enum:  # rows of texts that are compared
    WORD_CODE, CANONICAL_CODE, LEMMA_CODE, STEM_CODE, TAG_CODE, CATEGORY_CODE, START_CODE

cdef enum:  # rows of flags that both words must have
    IS_CONTENT, IS_KNOWN, IS_DIGITS, IS_NAME, IS_NUMBER

cdef enum:  # marks of pairs
    ACRONYM_MARK, PART_MARK, SYNONYMS_MARK  # the relations and lists follow in the order of their layers


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
                form = self.are_equal(WORD_CODE, i, j) or self.are_equal(CANONICAL_CODE, i, j)
                lemma, stem = self.are_equal(LEMMA_CODE, i, j), self.are_equal(STEM_CODE, i, j)
                self.layers[SAME_FORM, i, j] = form
                self.layers[SAME_LEMMA, i, j] = lemma and not form
                self.layers[SAME_STEM, i, j] = stem and not form and not lemma
                self.same[i * self.columns + j] = form or lemma or stem
                self.are_content[i * self.columns + j] = self.have(IS_CONTENT, i, j)
                across[i] += form
                down[j] += form
        for i in range(self.rows):
            for j in range(self.columns):
                if self.layers[SAME_FORM, i, j] != 0.0:
                    self.layers[UNIQUE_FORM, i, j] = across[i] == 1 and down[j] == 1
                    self.layers[ONE_FORM, i, j] = (across[i] == 1) != (down[j] == 1)
        return 0

    cdef void fill_words(self, const float[:, ::1] likeness, const unsigned char[:, :, ::1] marks) noexcept nogil:
        """Tags, spelling, relations."""
        cdef Py_ssize_t i, j
        cdef bint form, same, is_open
        cdef int k
        for i in range(self.rows):
            for j in range(self.columns):
                form, same = self.layers[SAME_FORM, i, j] != 0.0, self.same[i * self.columns + j]
                is_open = self.are_content[i * self.columns + j] and not same
                self.layers[SAME_TAG, i, j] = self.are_equal(TAG_CODE, i, j)
                self.layers[SAME_CATEGORY, i, j] = self.are_equal(CATEGORY_CODE, i, j)
                self.layers[BOTH_NAMES, i, j] = self.have(IS_NAME, i, j)
                self.layers[BOTH_NUMBERS, i, j] = self.have(IS_NUMBER, i, j) and not form
                self.layers[DIFFERENT_DIGITS, i, j] = self.have(IS_DIGITS, i, j) and not form
                if is_open and not self.have(IS_KNOWN, i, j):
                    self.layers[SPELLING, i, j] = min(
                        max((likeness[i, j] - <float>0.75) * <float>4.0, <float>0.0), <float>1.0
                    )
                self.layers[SAME_START, i, j] = is_open and self.are_equal(START_CODE, i, j)
                self.layers[ACRONYM, i, j] = marks[ACRONYM_MARK, i, j]
                self.layers[PART_OF_HYPHENATED, i, j] = is_open and marks[PART_MARK, i, j]
                for k in range(LISTED_LEMMAS - SYNONYMS + 1):
                    self.layers[SYNONYMS + k, i, j] = not same and marks[SYNONYMS_MARK + k, i, j]

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
                self.layers[COSINE, i, j] = cosine
                self.layers[SQUARED_COSINE, i, j] = cosine * cosine
        self.find_best(asked.data(), best)
        for i in range(self.rows):
            for j in range(self.columns):
                if best[i * self.columns + j]:
                    self.layers[BEST_COSINE, i, j] = self.layers[COSINE, i, j]
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
                self.layers[CONTEXT_COSINE, i, j] = cosines[i, j]
                self.layers[CONTEXT_SOFTMAX, i, j] = sqrtf(weights[i, j] / down[j] * weights[i, j] / across[i])
                self.layers[CONTEXT_BEST, i, j] = best[i * self.columns + j]
        return 0

    cdef int fill_middle(self, const float[:, ::1] cosines, const float[:, :, ::1] rivals) except -1 nogil:
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
                self.layers[MIDDLE_COSINE, i, j] = cosine
                self.layers[SQUARED_MIDDLE_COSINE, i, j] = cosine * cosine
                self.layers[MIDDLE_OVER_RIVAL, i, j] = cosine - rivals[0, i, j]
                self.layers[MIDDLE_OVER_WEAK_RIVAL, i, j] = cosine - rivals[1, i, j]
                self.layers[MIDDLE_BEST, i, j] = is_best
                self.layers[MIDDLE_BEST_OF_DIFFERENT, i, j] = is_best and not self.same[i * self.columns + j]
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
    result = np.zeros((LEXICAL_COUNT, pairs.rows, pairs.columns), np.float32)
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
