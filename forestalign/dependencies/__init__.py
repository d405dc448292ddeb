"""Dependencies from trees: unlabelled by head rules, and labelled Universal Dependencies by rules over the tree.

- `phrase_tree`, `coordination`: the tree as the conversion sees it, and its conjuncts
- `heads`: which child governs
- `nominals`, `clauses`, `relations`: the name of each relation
- `graph`: heads and relations while they are being corrected
- `convert`: from tree to dependencies
- `word_lists`: the words that rules ask about
"""

from __future__ import annotations

from forestalign.dependencies.convert import Dependencies, to_dependencies, unlabelled_heads
from forestalign.dependencies.graph import ROOT

__all__ = ["ROOT", "Dependencies", "to_dependencies", "unlabelled_heads"]
