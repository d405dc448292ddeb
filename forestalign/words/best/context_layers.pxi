# What surrounds the two words of a pair: twins of the functions of the same names in `context_layers.py`.

cdef enum:  # places of CONTEXT
    CONTEXT_DISTANCE, CONTEXT_FIRST, CONTEXT_LAST, CONTEXT_RUN, CONTEXT_CONTENT_RUN, CONTEXT_LONG_RUN, CONTEXT_LEFT,
    CONTEXT_PARENTS = 13, CONTEXT_ROOTS = 18, CONTEXT_PIPELINE, CONTEXT_COUNT

cdef enum:  # places of BELIEF
    BELIEF_LEFT = 1, BELIEF_REGION = 7, BELIEF_PARENTS, BELIEF_RIVAL = 13, BELIEF_COVERAGE = 17,
    BELIEF_BEST_OF_SHORTER, BELIEF_BETTER_PLACED, BELIEF_COUNT

cdef double STOP_WEIGHT = 0.3
cdef int LONGEST_RUN = 6
cdef int WINDOW_WIDTH = 3


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


def context_layers(same_form, similarity, pipeline, left, right, in_relation, double near_fall, double region_fall):
    """The layers of CONTEXT, in its order; `left` and `right` are (content marks, heads)."""
    cdef const float[:, ::1] forms = same_form, values = similarity, links = pipeline
    cdef const unsigned char[::1] content = left[0], other_content = right[0]
    cdef const index_t[::1] heads = left[1], other_heads = right[1]
    cdef Py_ssize_t rows = forms.shape[0], columns = forms.shape[1], i, j
    cdef bint are_content
    weighted = np.empty((2, rows, columns), np.float32)
    cdef float[:, :, ::1] both = weighted
    for i in range(rows):
        for j in range(columns):
            are_content = content[i] and other_content[j]
            both[0, i, j] = forms[i, j] if are_content else <float>0.0
            both[1, i, j] = values[i, j] * (<float>1.0 if are_content else <float>STOP_WEIGHT)
    runs = run_lengths(same_form, weighted[0])
    cdef const float[:, :, ::1] run = runs
    result = np.zeros((CONTEXT_COUNT, rows, columns), np.float32)
    result[CONTEXT_LEFT:CONTEXT_PARENTS] = surroundings(
        weighted[1], left[0], right[0], WINDOW_WIDTH, near_fall, region_fall
    )
    result[CONTEXT_PARENTS:CONTEXT_ROOTS] = relatives(similarity, in_relation, left[1], right[1])
    cdef float[:, :, ::1] layers = result
    for i in range(rows):
        for j in range(columns):
            layers[CONTEXT_DISTANCE, i, j] = <float>fabs((i + 0.5) / rows - (j + 0.5) / columns)
            layers[CONTEXT_RUN, i, j] = run[0, i, j] >= 2.0
            layers[CONTEXT_CONTENT_RUN, i, j] = run[0, i, j] >= 2.0 and run[1, i, j] >= 1.0
            layers[CONTEXT_LONG_RUN, i, j] = min(run[0, i, j], <float>LONGEST_RUN) / <float>LONGEST_RUN
            layers[CONTEXT_ROOTS, i, j] = heads[i] < 0 and other_heads[j] < 0
            layers[CONTEXT_PIPELINE, i, j] = links[i, j]
    layers[CONTEXT_FIRST, 0, 0] = 1.0
    layers[CONTEXT_LAST, rows - 1, columns - 1] = 1.0
    return result


def belief_layers(belief, float coverage, left, right, in_relation, double near_fall, double region_fall):
    """The layers of BELIEF, in its order; `left` and `right` are (content marks, heads)."""
    cdef const float[:, ::1] values = belief
    cdef Py_ssize_t rows = values.shape[0], columns = values.shape[1]
    result = np.empty((BELIEF_COUNT, rows, columns), np.float32)
    result[0] = belief
    result[BELIEF_LEFT:BELIEF_PARENTS] = surroundings(belief, left[0], right[0], WINDOW_WIDTH, near_fall, region_fall)
    result[BELIEF_PARENTS:BELIEF_RIVAL] = relatives(belief, in_relation, left[1], right[1])
    result[BELIEF_RIVAL:BELIEF_COVERAGE] = rivals(belief)
    result[BELIEF_COVERAGE] = coverage
    cdef float[:, :, ::1] layers = result
    fill_best_of_shorter(values, layers[BELIEF_BEST_OF_SHORTER])
    fill_better_placed(values, layers[BELIEF_REGION], layers[BELIEF_BETTER_PLACED])
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
            layer[i, j] = (region[i, j] if belief[i, j] > <float>0.1 else <float>0.0) + <float>0.001
    find_tops(layer, across, down)
    for i in range(rows):
        for j in range(columns):
            layer[i, j] = min(
                (region[i, j] + <float>0.001) / max(across[<size_t>i], down[<size_t>j]), <float>1.0
            )
    return 0
