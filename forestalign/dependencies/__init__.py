"""Dependencies from trees: unlabelled by head rules, and labelled Universal Dependencies by rules over the tree.

- `phrase_tree`: the tree as the conversion sees it, its conjuncts, and the words that rules ask about
- `heads`: which child governs
- `relations`: the name of each relation
- `convert`: from tree to dependencies
"""

from __future__ import annotations

from forestalign.dependencies.convert import ROOT, Dependencies, to_dependencies, unlabelled_heads

__all__ = ["ROOT", "Dependencies", "to_dependencies", "unlabelled_heads"]
