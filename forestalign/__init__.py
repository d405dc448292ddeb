"""forestalign: aligns the phrases of two English sentences that say the same thing, on packed parse forests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forestalign.aligner import Aligner, Alignment, align, load
    from forestalign.config import AlignConfig
    from forestalign.errors import ForestAlignError
    from forestalign.forest import Forest
    from forestalign.parsers import load_parser
    from forestalign.phrases.result import PhraseAlignment, PhrasePair
    from forestalign.tokens import Sentence, tokenize
    from forestalign.trees import Tree
    from forestalign.words.alignment import WordAlignment, WordLink

__all__ = [
    "AlignConfig",
    "Aligner",
    "Alignment",
    "Forest",
    "ForestAlignError",
    "PhraseAlignment",
    "PhrasePair",
    "Sentence",
    "Tree",
    "WordAlignment",
    "WordLink",
    "align",
    "load",
    "load_parser",
    "tokenize",
]

# Names are imported when they are first used, so that the command line starts quickly.
_HOMES = {
    "AlignConfig": "config",
    "Aligner": "aligner",
    "Alignment": "aligner",
    "Forest": "forest",
    "ForestAlignError": "errors",
    "PhraseAlignment": "phrases.result",
    "PhrasePair": "phrases.result",
    "Sentence": "tokens",
    "Tree": "trees",
    "WordAlignment": "words.alignment",
    "WordLink": "words.alignment",
    "align": "aligner",
    "load": "aligner",
    "load_parser": "parsers",
    "tokenize": "tokens",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("forestalign")
    if name not in _HOMES:
        raise AttributeError(f"module 'forestalign' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"forestalign.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
