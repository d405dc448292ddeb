"""Packing of the k best trees of a chart: twin of `packing.py` and of `trees/binarise.py`, over tables of numbers.

The trees come as shared subtrees, children first. A subtree lies in every tree in which one of its parents lies, so
one pass from the roots down gives the trees of each, and one pass up makes its node and the edges of its
binarisation. The nodes of a span are kept in their final order, which is by the fields of the node.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.vector cimport vector

from forestalign.bit_rows cimport blocks_for, put, put_all
from forestalign.forest.packing_tables cimport SEARCHES_CONJUNCT, SEARCHES_FIRST, TABLES_SEMANTIC, TABLES_SYNTACTIC

import numpy as np


cdef class BinarisationTables:
    """Head rules and orders of attachment by number; made once per set of labels and tags (see `packing_tables.py`)."""

    cdef const int32_t[::1] top_symbol, low_symbol, whole_label, bar_label, tag_symbol, tag_label
    cdef const int32_t[:, ::1] rule_start
    cdef const int32_t[::1] rule_search, first_group, end_group
    cdef const unsigned char[:, ::1] members
    cdef const unsigned char[::1] is_punctuation, is_separator, is_coordinator, right_first

    def __init__(self, labels, rules, symbols):
        """By `LabelColumns`, `RuleColumns` and `SymbolMarks`."""
        self.top_symbol, self.low_symbol = labels.top_symbol, labels.low_symbol
        self.whole_label, self.bar_label = labels.whole_label, labels.bar_label
        self.tag_symbol, self.tag_label = labels.tag_symbol, labels.tag_label
        self.rule_start, self.rule_search = rules.start, rules.search
        self.first_group, self.end_group, self.members = rules.first_group, rules.end_group, rules.members
        self.is_punctuation, self.is_separator = symbols.is_punctuation, symbols.is_separator
        self.is_coordinator, self.right_first = symbols.is_coordinator, symbols.right_first

    cdef int first_conjunct_end(self, const int *symbols, int count) noexcept nogil:
        """Where the first conjunct ends; 0 without a coordinator."""
        cdef int index, end = 0
        cdef bint is_coordinated = False
        for index in range(count - 1, 0, -1):
            is_coordinated = is_coordinated or self.is_coordinator[symbols[index]]
            if self.is_separator[symbols[index]]:
                end = index
        return end if is_coordinated else 0

    cdef int find(self, int group, int search, const int *symbols, int count) noexcept nogil:
        """The first child of a group in the order of the search, -1 where there is none."""
        cdef int step, index
        for step in range(count):
            index = step if search == SEARCHES_FIRST else count - 1 - step
            if self.members[group, symbols[index]]:
                return index
        return -1

    cdef int head_child(self, int table, int label, const int *symbols, int count) noexcept nogil:
        """`HeadTable.child`: the semantic table falls back on the syntactic one, that one on the last child."""
        cdef int rule, group, found, searched
        if count == 1:
            return 0
        for rule in range(self.rule_start[table, label], self.rule_start[table, label + 1]):
            searched = count
            if self.rule_search[rule] == SEARCHES_CONJUNCT:
                searched = self.first_conjunct_end(symbols, count)
            for group in range(self.first_group[rule], self.end_group[rule]):
                found = self.find(group, self.rule_search[rule], symbols, searched)
                if found >= 0:
                    return found
        if table == TABLES_SYNTACTIC:
            return count - 1
        return self.head_child(TABLES_SYNTACTIC, label, symbols, count)

    cdef int attachment_order(
        self, int label, const int *symbols, int count, int head, vector[int] &order
    ) except -1 nogil:
        """The sisters of the head in the order in which they are attached."""
        cdef int begin = 0, end = count, side, sister
        while begin < head and self.is_punctuation[symbols[begin]]:
            begin += 1
        while end > head + 1 and self.is_punctuation[symbols[end - 1]]:
            end -= 1
        order.clear()
        for side in range(2):
            if (side == 0) == (self.right_first[label] != 0):
                for sister in range(head + 1, end):
                    order.push_back(sister)
            else:
                for sister in range(head - 1, begin - 1, -1):
                    order.push_back(sister)
        for sister in range(end, count):
            order.push_back(sister)
        for sister in range(begin - 1, -1, -1):
            order.push_back(sister)
        return 0

    def plan(self, int label, const int32_t[::1] symbols):
        """Head child, and (sister, semantic child) of each step: for tests against `binarisation_plan`."""
        cdef const int *children = <const int *>&symbols[0]
        cdef int head = self.head_child(TABLES_SYNTACTIC, label, children, symbols.shape[0])
        cdef int begin = head, end = head + 1, sister
        cdef vector[int] order
        self.attachment_order(label, children, symbols.shape[0], head, order)
        steps = []
        for sister in order:
            begin, end = min(begin, sister), max(end, sister + 1)
            steps.append((sister, begin + self.head_child(TABLES_SEMANTIC, label, children + begin, end - begin)))
        return head, steps


cdef struct PackedNode:
    int begin
    int end
    int label
    int head
    int semantic_head
    bint is_bar
    bint is_leaf
    double score     # of every edge of the node
    int next         # the next node of the span, -1: none
    int first_edge   # -1: none
    int number       # in the forest


cdef struct PackedEdge:
    int left
    int right
    int next  # another edge of the node, -1: none


cdef bint comes_before(const PackedNode *one, const PackedNode *other) noexcept nogil:
    """The order of the nodes of one span, by the fields of the node."""
    if one.is_leaf != other.is_leaf:
        return one.is_leaf
    if one.label != other.label:
        return one.label < other.label
    if one.head != other.head:
        return one.head < other.head
    if one.semantic_head != other.semantic_head:
        return one.semantic_head < other.semantic_head
    return one.is_bar < other.is_bar


cdef class Packer:
    """Nodes and edges as they are found, and which trees use each edge."""

    cdef int n, block_count
    cdef BinarisationTables tables
    cdef const float[:, :, ::1] potentials
    cdef const int32_t[::1] begin, end, label, children, child_start, tags
    cdef vector[uint64_t] trees       # rows of the subtrees
    cdef vector[uint64_t] edge_trees  # rows of the edges
    cdef vector[PackedNode] nodes
    cdef vector[PackedEdge] edges
    cdef vector[int] first_node       # of each span
    cdef vector[int] node_of          # of each subtree
    cdef vector[int] symbols          # of the children of the subtree that is being binarised
    cdef vector[int] below            # their nodes
    cdef vector[int] order            # in which its sisters join the head
    cdef vector[int] sorted_nodes

    def __init__(self, BinarisationTables tables, const float[:, :, ::1] potentials, shared, const int32_t[::1] tags):
        """`shared` are `SharedTrees`; `tags` are those of the words."""
        cdef const int32_t[::1] roots = shared.roots
        self.tables, self.potentials, self.tags = tables, potentials, tags
        self.begin, self.end, self.label = shared.begin, shared.end, shared.label
        self.children, self.child_start = shared.children, shared.child_start
        self.n = tags.shape[0]
        self.block_count = blocks_for(roots.shape[0] + 1)  # one bit is left for the sign, which known trees never set
        with nogil:
            self.find_trees(roots)
            self.pack()
            self.number_nodes()

    cdef int find_trees(self, const int32_t[::1] roots) except -1 nogil:
        """From the roots down: the trees of a subtree are those of its parents."""
        cdef int number, place, rank, blocks = self.block_count
        self.trees.assign(self.label.shape[0] * blocks, 0)
        for rank in range(roots.shape[0]):
            put(&self.trees[roots[rank] * blocks], rank)
        for number in range(self.label.shape[0] - 1, -1, -1):
            for place in range(self.child_start[number], self.child_start[number + 1]):
                put_all(&self.trees[self.children[place] * blocks], &self.trees[number * blocks], blocks)
        return 0

    cdef int pack(self) except -1 nogil:
        """From the words up: the node of each subtree, with its edges."""
        cdef int number, word
        self.first_node.assign(self.n * (self.n + 1), -1)
        for number in range(self.label.shape[0]):
            if self.label[number] == 0:
                word = self.begin[number]
                self.node_of.push_back(
                    self.shared_node(
                        PackedNode(
                            word, word + 1, self.tables.tag_label[self.tags[word]], word, word, False, True,
                            0.0, -1, -1, -1,
                        )
                    )
                )
                self.add_edge(self.node_of[number], -1, -1, number)
            else:
                self.node_of.push_back(self.add_phrase(number))
        return 0

    cdef int add_phrase(self, int number) except -1 nogil:
        """The node of a phrase, and its bar nodes if it has more than two children."""
        cdef int place, child
        self.symbols.clear()
        self.below.clear()
        for place in range(self.child_start[number], self.child_start[number + 1]):
            child = self.children[place]
            self.below.push_back(self.node_of[child])
            if self.label[child]:
                self.symbols.push_back(self.tables.top_symbol[self.label[child]])
            else:
                self.symbols.push_back(self.tables.tag_symbol[self.tags[self.begin[child]]])
        return self.binarise(number) if self.below.size() > 1 else self.add_unary(number)

    cdef int add_unary(self, int number) except -1 nogil:
        """A phrase over its word."""
        cdef PackedNode node = self.nodes[self.below[0]]
        node.label, node.is_leaf = self.tables.whole_label[self.label[number]], False
        node.score = self.potentials[node.begin, node.end - 1, self.label[number]]
        node.first_edge = -1
        cdef int found = self.shared_node(node)
        self.add_edge(found, self.below[0], -1, number)
        return found

    cdef int binarise(self, int number) except -1 nogil:
        """Attach the sisters of the head one by one; the last node is the phrase itself."""
        cdef int label = self.label[number], low = self.tables.low_symbol[self.label[number]]
        cdef int count = <int>self.symbols.size(), step, sister, left, right, begin, end, semantic
        cdef int head = self.tables.head_child(TABLES_SYNTACTIC, low, self.symbols.data(), count)
        cdef int built = self.below[head]
        cdef PackedNode node = self.nodes[built]  # for the head, which all nodes of the phrase have
        self.tables.attachment_order(low, self.symbols.data(), count, head, self.order)
        begin, end = head, head + 1
        for step in range(count - 1):
            sister = self.order[step]
            begin, end = min(begin, sister), max(end, sister + 1)
            semantic = begin + self.tables.head_child(TABLES_SEMANTIC, low, self.symbols.data() + begin, end - begin)
            left, right = built, self.below[sister]
            if sister < head:
                left, right = right, left
            node.begin, node.end = self.nodes[left].begin, self.nodes[right].end
            node.semantic_head = self.nodes[self.below[semantic]].semantic_head
            node.is_leaf, node.is_bar, node.first_edge = False, step < count - 2, -1
            node.label = self.tables.bar_label[label] if node.is_bar else self.tables.whole_label[label]
            node.score = 0.0 if node.is_bar else self.potentials[node.begin, node.end - 1, label]
            built = self.shared_node(node)
            self.add_edge(built, left, right, number)
        return built

    cdef int shared_node(self, PackedNode node) except -1 nogil:
        """The number of an equal node, or of this one, put in its place among those of its span."""
        cdef int span = node.begin * (self.n + 1) + node.end, before = -1, at = self.first_node[span]
        while at >= 0 and comes_before(&self.nodes[at], &node):
            before, at = at, self.nodes[at].next
        if at >= 0 and not comes_before(&node, &self.nodes[at]):
            return at
        node.next = at
        self.nodes.push_back(node)
        if before < 0:
            self.first_node[span] = <int>self.nodes.size() - 1
        else:
            self.nodes[before].next = <int>self.nodes.size() - 1
        return <int>self.nodes.size() - 1

    cdef int add_edge(self, int node, int left, int right, int subtree) except -1 nogil:
        """A way to build a node, used by all trees of the subtree."""
        cdef int edge = self.nodes[node].first_edge
        while edge >= 0 and not (self.edges[edge].left == left and self.edges[edge].right == right):
            edge = self.edges[edge].next
        if edge < 0:
            edge = <int>self.edges.size()
            self.edges.push_back(PackedEdge(left, right, self.nodes[node].first_edge))
            self.nodes[node].first_edge = edge
            self.edge_trees.resize(self.edge_trees.size() + self.block_count, 0)
        put_all(
            &self.edge_trees[edge * self.block_count], &self.trees[subtree * self.block_count], self.block_count
        )
        return 0

    cdef int number_nodes(self) except -1 nogil:
        """Children before parents: by length, words before the phrases over them, then by the node's own fields."""
        cdef int width, begin, node, is_phrase
        for width in range(1, self.n + 1):
            for is_phrase in range(2 if width == 1 else 1):
                for begin in range(self.n - width + 1):
                    node = self.first_node[begin * (self.n + 1) + begin + width]
                    while node >= 0:
                        if width > 1 or self.nodes[node].is_leaf != is_phrase:
                            self.nodes[node].number = <int>self.sorted_nodes.size()
                            self.sorted_nodes.push_back(node)
                        node = self.nodes[node].next
        return 0

    def node_arrays(self):
        """Begin, end, label, head, semantic head, and is bar, is leaf."""
        cdef int number, count = <int>self.nodes.size()
        numbers, flags = np.empty((5, count), dtype=np.int32), np.empty((2, count), dtype=np.bool_)
        cdef int32_t[:, ::1] view = numbers
        cdef unsigned char[:, ::1] flag_view = flags.view(np.uint8)
        cdef PackedNode node
        for number in range(count):
            node = self.nodes[self.sorted_nodes[number]]
            view[0, number], view[1, number], view[2, number] = node.begin, node.end, node.label
            view[3, number], view[4, number] = node.head, node.semantic_head
            flag_view[0, number], flag_view[1, number] = node.is_bar, node.is_leaf
        return *numbers, *flags

    def edge_arrays(self):
        """Where the edges of each node start, children [edges, 2], log weights, trees [edges, blocks]."""
        cdef int number, edge, place = 0, block, count = <int>self.edges.size()
        starts = np.zeros(self.nodes.size() + 1, dtype=np.int32)
        children, log_probs = np.full((count, 2), -1, dtype=np.int32), np.empty(count)
        trees = np.empty((count, self.block_count), dtype=np.int64)
        cdef int32_t[::1] start_view = starts
        cdef int32_t[:, ::1] child_view = children
        cdef double[::1] weights = log_probs
        cdef int64_t[:, ::1] tree_view = trees
        for number in range(<int>self.nodes.size()):
            for edge in self.sorted_edges(self.sorted_nodes[number]):
                weights[place] = self.nodes[self.sorted_nodes[number]].score
                if self.edges[edge].left >= 0:
                    child_view[place, 0] = self.nodes[self.edges[edge].left].number
                if self.edges[edge].right >= 0:
                    child_view[place, 1] = self.nodes[self.edges[edge].right].number
                for block in range(self.block_count):
                    tree_view[place, block] = <int64_t>self.edge_trees[edge * self.block_count + block]
                place += 1
            start_view[number + 1] = place
        return starts, children, log_probs, trees

    cdef vector[int] sorted_edges(self, int node):
        """The edges of a node in the order of their children's numbers."""
        cdef vector[int] found
        cdef int edge = self.nodes[node].first_edge, place
        while edge >= 0:
            place = <int>found.size()
            found.push_back(edge)
            while place > 0 and self.is_before(edge, found[place - 1]):
                found[place] = found[place - 1]
                place -= 1
            found[place] = edge
            edge = self.edges[edge].next
        return found

    cdef bint is_before(self, int one, int other) noexcept nogil:
        if self.edges[one].left != self.edges[other].left:
            return self.nodes[self.edges[one].left].number < self.nodes[self.edges[other].left].number
        return self.nodes[self.edges[one].right].number < self.nodes[self.edges[other].right].number

    def roots(self, const int32_t[::1] subtrees):
        """The distinct nodes of the whole trees, in order."""
        return np.array(sorted({self.nodes[self.node_of[number]].number for number in subtrees}), dtype=np.int32)
