# What surrounds the two words of a pair: twins of `_surroundings`, `_relatives`, `_rivals` and `run_lengths` of
# `context_layers.py`.


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
    """Sums over the content words within the window of both words, up to 4, as a share of 4."""
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
            layer[i, j] = min(layer[i, j], <float>4.0) / <float>4.0


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
    """Left, right, left and right, around, window, near, region; `left` and `right` mark content words."""
    cdef Py_ssize_t rows = values.shape[0], columns = values.shape[1], i, j
    result = np.zeros((7, rows, columns), np.float32)
    cdef float[:, :, ::1] layers = result
    cdef vector[double] sums
    cdef vector[float] rows_near
    with nogil:
        sums.resize(<size_t>(rows * columns))
        for i in range(rows):
            for j in range(columns):
                layers[0, i, j] = beside(values, i - 1, j - 1)
                layers[1, i, j] = beside(values, i + 1, j + 1)
                layers[2, i, j] = layers[0, i, j] * layers[1, i, j]
                layers[3, i, j] = (
                    beside(values, i - 3, j - 3) + beside(values, i - 2, j - 2)
                    + beside(values, i + 2, j + 2) + beside(values, i + 3, j + 3)
                ) / <float>4.0
        add_window(values, left, right, width, rows_near, layers[4])
        add_falling(values, near_fall, sums, layers[5])
        add_falling(values, region_fall, sums, layers[6])
    return result


def relatives(
    const float[:, ::1] values, const unsigned char[:, ::1] in_relation,
    const index_t[::1] left_heads, const index_t[::1] right_heads,
):
    """Parents, parents related, children, children related, crossed; the head of a root is negative."""
    cdef Py_ssize_t rows = values.shape[0], columns = values.shape[1], i, j
    cdef index_t above, over
    result = np.zeros((5, rows, columns), np.float32)
    cdef float[:, :, ::1] layers = result
    with nogil:
        for i in range(rows):
            above = left_heads[i]
            for j in range(columns):
                over = right_heads[j]
                if above < 0 or over < 0:
                    continue
                layers[0, i, j] = values[above, over]
                layers[1, i, j] = values[above, over] if in_relation[i, j] else <float>0.0
                layers[2, above, over] += values[i, j]
                layers[3, above, over] += values[i, j] if in_relation[i, j] else <float>0.0
                layers[4, i, over] += values[above, j]
                layers[4, above, j] += values[i, over]
        for i in range(rows):
            for j in range(columns):
                layers[2, i, j] = min(layers[2, i, j], <float>3.0) / <float>3.0
                layers[3, i, j] = min(layers[3, i, j], <float>3.0) / <float>3.0
                layers[4, i, j] = min(layers[4, i, j], <float>2.0) / <float>2.0
    return result


cdef void add_rivals(
    const float* line, Py_ssize_t count, Py_ssize_t step, float* rival, float* rest
) noexcept nogil:
    """For each of a line the largest other value, and what the others have besides it, from 0 to 2."""
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
        rest[place * step] = min(max(total - line[place * step] - best, <float>0.0), <float>2.0)


def rivals(const float[:, ::1] belief):
    """Strong rival, weak rival, more rest, less rest."""
    cdef Py_ssize_t rows = belief.shape[0], columns = belief.shape[1], i, j
    cdef float here
    result = np.zeros((4, rows, columns), np.float32)
    cdef float[:, :, ::1] layers = result
    with nogil:
        for i in range(rows):
            add_rivals(&belief[i, 0], columns, 1, &layers[0, i, 0], &layers[2, i, 0])
        for j in range(columns):
            add_rivals(&belief[0, j], rows, columns, &layers[1, 0, j], &layers[3, 0, j])
        for i in range(rows):
            for j in range(columns):
                here = layers[0, i, j]
                layers[0, i, j], layers[1, i, j] = max(here, layers[1, i, j]), min(here, layers[1, i, j])
                here = layers[2, i, j]
                layers[2, i, j], layers[3, i, j] = max(here, layers[3, i, j]), min(here, layers[3, i, j])
    return result


def run_lengths(const float[:, ::1] same, const float[:, ::1] weight):
    """Length of the common run through each pair, and the weight inside that run."""
    cdef Py_ssize_t rows = same.shape[0], columns = same.shape[1], i, j, end, step
    cdef float inside
    result = np.zeros((2, rows, columns), np.float32)
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
                    totals[0, i + step, j + step] = <float>end
                    totals[1, i + step, j + step] = inside
    return result
