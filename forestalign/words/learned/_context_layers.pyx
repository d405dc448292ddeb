"""What surrounds the two words of a pair: twins of the functions of the same names in `context_layers.py`."""

from libc.math cimport fabs, log1p
from libc.stdint cimport int64_t
from libcpp.vector cimport vector

cimport forestalign.words.learned.context_layers as plain
from forestalign.words.learned.sides cimport WINDOW

import numpy as np


cdef inline float beside(const float[:, ::1] values, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """The value of a pair; 1 where both stand just outside their sentences on one side, 0 elsewhere outside."""
    cdef Py_ssize_t rows = values.shape[0], columns = values.shape[1]
    if 0 <= i < rows and 0 <= j < columns:
        return values[i, j]
    return 1.0 if (i == -1 and j == -1) or (i == rows and j == columns) else 0.0


cdef void add_window(
    const float[:, ::1] values, const unsigned char[::1] left, const unsigned char[::1] right, int width,
    vector[float]& rows_near, float[:, ::1] layer,
) noexcept nogil:
    """Sums over the content words within the window of both words, as a share of the most that counts."""
    cdef Py_ssize_t rows = values.shape[0], columns = values.shape[1], i, j, k
    for i in range(rows):
        rows_near.assign(<size_t>columns, 0.0)
        for k in range(max(i - width, <Py_ssize_t>0), min(i + width + 1, rows)):
            if k != i and left[k]:
                for j in range(columns):
                    rows_near[<size_t>j] += values[k, j]
        for j in range(columns):
            for k in range(max(j - width, <Py_ssize_t>0), min(j + width + 1, columns)):
                if k != j and right[k]:
                    layer[i, j] += rows_near[<size_t>k]
            layer[i, j] = min(layer[i, j], <float>plain.MOST_IN_WINDOW) / <float>plain.MOST_IN_WINDOW


cdef void add_fallen(double* line, Py_ssize_t count, Py_ssize_t step, double fall) noexcept nogil:
    """In place: the sum of the others in a line, each times `fall` to the power of its distance."""
    cdef double before = 0.0, after = 0.0, value
    cdef Py_ssize_t place
    cdef vector[double] following
    following.assign(<size_t>count, 0.0)
    for place in range(count - 2, -1, -1):
        after = fall * (after + line[(place + 1) * step])
        following[<size_t>place] = after
    for place in range(count):
        value = line[place * step]
        line[place * step] = before + following[<size_t>place]
        before = fall * (before + value)


cdef void add_falling(
    const float[:, ::1] values, double fall, vector[double]& sums, float[:, ::1] layer
) noexcept nogil:
    """log(1 + support): every other pair counts, less with each token of distance on either side."""
    cdef Py_ssize_t rows = values.shape[0], columns = values.shape[1], i, j
    for i in range(rows):
        for j in range(columns):
            sums[<size_t>(i * columns + j)] = values[i, j]
    for j in range(columns):
        add_fallen(sums.data() + j, rows, columns, fall)
    for i in range(rows):
        add_fallen(sums.data() + i * columns, columns, 1, fall)
        for j in range(columns):
            layer[i, j] = <float>log1p(sums[<size_t>(i * columns + j)])


def surroundings(
    const float[:, ::1] values, const unsigned char[::1] left, const unsigned char[::1] right,
    int width, double near_fall, double region_fall,
):
    """The layers of SURROUNDINGS; `left` and `right` mark content words."""
    cdef Py_ssize_t rows = values.shape[0], columns = values.shape[1], i, j
    result = np.zeros((plain.SURROUNDINGS_COUNT, rows, columns), np.float32)
    cdef float[:, :, ::1] layers = result
    cdef vector[double] sums
    cdef vector[float] rows_near
    with nogil:
        sums.resize(<size_t>(rows * columns))
        for i in range(rows):
            for j in range(columns):
                layers[plain.SURROUNDINGS_LEFT, i, j] = beside(values, i - 1, j - 1)
                layers[plain.SURROUNDINGS_RIGHT, i, j] = beside(values, i + 1, j + 1)
                layers[plain.SURROUNDINGS_LEFT_AND_RIGHT, i, j] = (
                    layers[plain.SURROUNDINGS_LEFT, i, j] * layers[plain.SURROUNDINGS_RIGHT, i, j]
                )
                layers[plain.SURROUNDINGS_AROUND, i, j] = (
                    beside(values, i - 3, j - 3) + beside(values, i - 2, j - 2)
                    + beside(values, i + 2, j + 2) + beside(values, i + 3, j + 3)
                ) / <float>plain.MOST_AROUND
        add_window(values, left, right, width, rows_near, layers[plain.SURROUNDINGS_WINDOW])
        add_falling(values, near_fall, sums, layers[plain.SURROUNDINGS_NEAR])
        add_falling(values, region_fall, sums, layers[plain.SURROUNDINGS_REGION])
    return result


def relatives(
    const float[:, ::1] values, const unsigned char[:, ::1] in_relation,
    const int64_t[::1] left_heads, const int64_t[::1] right_heads,
):
    """The layers of RELATIVES; the head of a root is negative."""
    cdef Py_ssize_t rows = values.shape[0], columns = values.shape[1], i, j
    cdef int64_t above, over
    result = np.zeros((plain.RELATIVES_COUNT, rows, columns), np.float32)
    cdef float[:, :, ::1] layers = result
    with nogil:
        for i in range(rows):
            above = left_heads[i]
            for j in range(columns):
                over = right_heads[j]
                if above < 0 or over < 0:
                    continue
                layers[plain.RELATIVES_PARENTS, i, j] = values[above, over]
                layers[plain.RELATIVES_CHILDREN, above, over] += values[i, j]
                if in_relation[i, j]:
                    layers[plain.RELATIVES_PARENTS_RELATED, i, j] = values[above, over]
                    layers[plain.RELATIVES_CHILDREN_RELATED, above, over] += values[i, j]
                layers[plain.RELATIVES_CROSSED, i, over] += values[above, j]
                layers[plain.RELATIVES_CROSSED, above, j] += values[i, over]
        cap(layers[plain.RELATIVES_CHILDREN], <float>plain.MOST_CHILDREN)
        cap(layers[plain.RELATIVES_CHILDREN_RELATED], <float>plain.MOST_CHILDREN)
        cap(layers[plain.RELATIVES_CROSSED], <float>plain.MOST_CROSSED)
    return result


cdef void cap(float[:, ::1] layer, float top) noexcept nogil:
    """Values from 0 to 1: `top` and more count 1."""
    cdef Py_ssize_t i, j
    for i in range(layer.shape[0]):
        for j in range(layer.shape[1]):
            layer[i, j] = min(layer[i, j], top) / top


cdef void add_rivals(
    const float* line, Py_ssize_t count, Py_ssize_t step, float* rival, float* rest
) noexcept nogil:
    """For each of a line the largest other value, and what the others have besides it, within limits."""
    cdef Py_ssize_t place, top = 0
    cdef float second = -1.0, total = 0.0, best
    for place in range(count):
        total += line[place * step]
        if line[place * step] > line[top * step]:
            top = place
    for place in range(count):
        if place != top:
            second = max(second, line[place * step])
    for place in range(count):
        best = second if place == top else line[top * step]
        best = <float>0.0 if count == 1 else best
        rival[place * step] = best
        rest[place * step] = min(max(total - line[place * step] - best, <float>0.0), <float>plain.MOST_REST)


def rivals(const float[:, ::1] belief):
    """The layers of RIVALS."""
    cdef Py_ssize_t rows = belief.shape[0], columns = belief.shape[1], i, j
    result = np.zeros((plain.RIVALS_COUNT, rows, columns), np.float32)
    cdef float[:, :, ::1] layers = result
    cdef float[:, ::1] strong = layers[plain.RIVALS_STRONG_RIVAL], weak = layers[plain.RIVALS_WEAK_RIVAL]
    cdef float[:, ::1] more = layers[plain.RIVALS_MORE_REST], less = layers[plain.RIVALS_LESS_REST]
    with nogil:
        # first of the row and of the column, then the larger and the smaller of both
        for i in range(rows):
            add_rivals(&belief[i, 0], columns, 1, &strong[i, 0], &more[i, 0])
        for j in range(columns):
            add_rivals(&belief[0, j], rows, columns, &weak[0, j], &less[0, j])
        for i in range(rows):
            for j in range(columns):
                strong[i, j], weak[i, j] = max(strong[i, j], weak[i, j]), min(strong[i, j], weak[i, j])
                more[i, j], less[i, j] = max(more[i, j], less[i, j]), min(more[i, j], less[i, j])
    return result


def run_lengths(const float[:, ::1] same, const float[:, ::1] weight):
    """The layers of RUNS: length of the common run through each pair, and the weight inside that run."""
    cdef Py_ssize_t rows = same.shape[0], columns = same.shape[1], i, j, end, step
    cdef float inside
    result = np.zeros((plain.RUNS_COUNT, rows, columns), np.float32)
    cdef float[:, :, ::1] totals = result
    with nogil:
        for i in range(rows):
            for j in range(columns):
                if same[i, j] == 0.0 or (i > 0 and j > 0 and same[i - 1, j - 1] != 0.0):
                    continue
                end, inside = 0, 0.0
                while i + end < rows and j + end < columns and same[i + end, j + end] != 0.0:
                    inside += weight[i + end, j + end]
                    end += 1
                for step in range(end):
                    totals[plain.RUNS_LENGTH, i + step, j + step] = <float>end
                    totals[plain.RUNS_WEIGHT, i + step, j + step] = inside
    return result


def context_layers(same_form, similarity, pipeline, left, right, in_relation, double near_fall, double region_fall):
    """The layers of CONTEXT, in its order; `left` and `right` are (content marks, heads)."""
    cdef const float[:, ::1] forms = same_form, values = similarity, links = pipeline
    cdef const unsigned char[::1] content = left[0], other_content = right[0]
    cdef const int64_t[::1] heads = left[1], other_heads = right[1]
    cdef Py_ssize_t rows = forms.shape[0], columns = forms.shape[1], i, j
    cdef bint are_content
    content_forms, weighted = np.empty((2, rows, columns), np.float32)
    cdef float[:, ::1] form_view = content_forms, weight_view = weighted
    for i in range(rows):
        for j in range(columns):
            are_content = content[i] and other_content[j]
            form_view[i, j] = forms[i, j] if are_content else <float>0.0
            weight_view[i, j] = values[i, j] * (<float>1.0 if are_content else <float>plain.STOP_WEIGHT)
    length, weight = run_lengths(same_form, content_forms)
    cdef const float[:, ::1] run = length, run_weight = weight
    result = np.zeros((plain.CONTEXT_COUNT, rows, columns), np.float32)
    result[plain.CONTEXT_LEFT:plain.CONTEXT_LEFT + plain.SURROUNDINGS_COUNT] = surroundings(
        weighted, left[0], right[0], WINDOW, near_fall, region_fall
    )
    result[plain.CONTEXT_PARENTS:plain.CONTEXT_PARENTS + plain.RELATIVES_COUNT] = relatives(
        similarity, in_relation, left[1], right[1]
    )
    cdef float[:, :, ::1] layers = result
    for i in range(rows):
        for j in range(columns):
            layers[plain.CONTEXT_DISTANCE, i, j] = <float>fabs((i + 0.5) / rows - (j + 0.5) / columns)
            layers[plain.CONTEXT_RUN, i, j] = run[i, j] >= 2.0
            layers[plain.CONTEXT_CONTENT_RUN, i, j] = run[i, j] >= 2.0 and run_weight[i, j] >= 1.0
            layers[plain.CONTEXT_LONG_RUN, i, j] = min(run[i, j], <float>plain.LONGEST_RUN) / <float>plain.LONGEST_RUN
            layers[plain.CONTEXT_BOTH_ROOTS, i, j] = heads[i] < 0 and other_heads[j] < 0
            layers[plain.CONTEXT_PIPELINE, i, j] = links[i, j]
    layers[plain.CONTEXT_BOTH_FIRST, 0, 0] = 1.0
    layers[plain.CONTEXT_BOTH_LAST, rows - 1, columns - 1] = 1.0
    return result


def belief_layers(belief, float coverage, left, right, in_relation, double near_fall, double region_fall):
    """The layers of BELIEF, in its order; `left` and `right` are (content marks, heads)."""
    cdef const float[:, ::1] values = belief
    cdef Py_ssize_t rows = values.shape[0], columns = values.shape[1]
    result = np.empty((plain.BELIEF_COUNT, rows, columns), np.float32)
    result[plain.BELIEF_BELIEF] = belief
    result[plain.BELIEF_LEFT:plain.BELIEF_LEFT + plain.SURROUNDINGS_COUNT] = surroundings(
        belief, left[0], right[0], WINDOW, near_fall, region_fall
    )
    result[plain.BELIEF_PARENTS:plain.BELIEF_PARENTS + plain.RELATIVES_COUNT] = relatives(
        belief, in_relation, left[1], right[1]
    )
    result[plain.BELIEF_STRONG_RIVAL:plain.BELIEF_STRONG_RIVAL + plain.RIVALS_COUNT] = rivals(belief)
    result[plain.BELIEF_COVERAGE] = coverage
    cdef float[:, :, ::1] layers = result
    fill_best_of_shorter(values, layers[plain.BELIEF_BEST_OF_SHORTER])
    fill_better_placed(values, layers[plain.BELIEF_REGION], layers[plain.BELIEF_BETTER_PLACED])
    return result


cdef int find_tops(const float[:, ::1] values, vector[float]& across, vector[float]& down) except -1:
    """The largest value of each row and of each column."""
    cdef Py_ssize_t i, j
    across.assign(<size_t>values.shape[0], 0.0)
    down.assign(<size_t>values.shape[1], 0.0)
    for i in range(values.shape[0]):
        across[<size_t>i] = values[i, 0]
    for j in range(values.shape[1]):
        down[<size_t>j] = values[0, j]
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            across[<size_t>i] = max(across[<size_t>i], values[i, j])
            down[<size_t>j] = max(down[<size_t>j], values[i, j])
    return 0


cdef int fill_best_of_shorter(const float[:, ::1] belief, float[:, ::1] layer) except -1:
    """1 where a pair is the best one of its word in the shorter sentence (half a point per side in equal ones)."""
    cdef Py_ssize_t rows = belief.shape[0], columns = belief.shape[1], i, j
    cdef float row_share = 1.0 if rows < columns else 0.5 if rows == columns else 0.0
    cdef vector[float] across, down
    find_tops(belief, across, down)
    for i in range(rows):
        for j in range(columns):
            layer[i, j] = (row_share if belief[i, j] >= across[<size_t>i] else <float>0.0) + (
                <float>1.0 - row_share if belief[i, j] >= down[<size_t>j] else <float>0.0
            )
    return 0


cdef int fill_better_placed(const float[:, ::1] belief, const float[:, ::1] region, float[:, ::1] layer) except -1:
    """How the support from the region compares with that of the rivals: at least as good 1, else the ratio."""
    cdef Py_ssize_t rows = belief.shape[0], columns = belief.shape[1], i, j
    cdef vector[float] across, down
    for i in range(rows):
        for j in range(columns):
            layer[i, j] = <float>plain.LEAST_SUPPORT + (
                region[i, j] if belief[i, j] > <float>plain.CREDIBLE else <float>0.0
            )
    find_tops(layer, across, down)
    for i in range(rows):
        for j in range(columns):
            layer[i, j] = min(
                (region[i, j] + <float>plain.LEAST_SUPPORT) / max(across[<size_t>i], down[<size_t>j]), <float>1.0
            )
    return 0
