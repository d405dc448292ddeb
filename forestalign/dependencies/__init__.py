"""Dependencies from trees: unlabelled by head rules, and labelled Universal Dependencies by rules over the tree."""

from __future__ import annotations

from forestalign.dependencies.convert import Dependencies, to_dependencies, unlabelled_heads
from forestalign.dependencies.graph import ROOT

__all__ = ["ROOT", "Dependencies", "to_dependencies", "unlabelled_heads"]
