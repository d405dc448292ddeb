"""Check on treebank files (Penn brackets, one tree per line, gzip by suffix) that trees survive what is done to them.

    python scripts/check_treebank.py FILE...

For every tree: brackets are read and written back; function labels and traces are taken out; binarised and back; packed
into a forest and unpacked. Prints counts, and each line that fails; exit code 1 if any does.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

from forestalign.forest import enumerate_trees, pack
from forestalign.tokens import Sentence
from forestalign.trees import (
    BinaryTree,
    BracketError,
    ScoredTree,
    Tree,
    binarise,
    debinarise,
    format_brackets,
    parse_brackets,
    strip_annotation,
)


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines that are not empty."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, line


def is_binary(tree: BinaryTree) -> bool:
    """Two children, or one word below a phrase, and heads inside the span, everywhere."""
    stack = [tree]
    while stack:
        node = stack.pop()
        count = len(node.children)
        shape = count == 2 or (count == 1 and node.children[0].word is not None) or node.word is not None
        if not (shape and node.begin <= node.head < node.end and node.begin <= node.semantic_head < node.end):
            return False
        stack.extend(node.children)
    return True


def fault(tree: Tree) -> str:
    """What goes wrong with this tree; empty if nothing."""
    if parse_brackets(format_brackets(tree)) != tree:
        return "brackets"
    binary = binarise(tree)
    if not is_binary(binary):
        return "not binary"
    if debinarise(binary) != tree:
        return "binarisation"
    sentence = Sentence.from_words([leaf.word or "" for leaf in tree.leaves()])
    if list(enumerate_trees(pack([ScoredTree(tree, 0.0)], sentence))) != [tree]:
        return "packing"
    return ""


def check_file(path: Path) -> tuple[int, int]:
    """Number of trees and of faults in one file."""
    tree_count = fault_count = trace_count = 0
    for number, line in read_lines(path):
        tree_count += 1
        raw = parse_brackets(line)
        try:
            trees = [raw, strip_annotation(raw)]
        except BracketError:
            trees, trace_count = [raw], trace_count + 1
        faults = [found for found in map(fault, trees) if found]
        if faults:
            fault_count += 1
            print(f"{path}:{number}: {', '.join(faults)}", file=sys.stderr)
    print(f"{path.name}\t{tree_count} trees\t{trace_count} of traces only\t{fault_count} faults")
    return tree_count, fault_count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    counts = [check_file(path) for path in parser.parse_args().files]
    tree_count, fault_count = (sum(column) for column in zip(*counts, strict=True))
    print(f"all\t{tree_count} trees\t{fault_count} faults")
    return 1 if fault_count else 0


if __name__ == "__main__":
    sys.exit(main())
