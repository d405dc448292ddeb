"""forestalign: aligns the phrases of two English sentences that say the same thing, on packed parse forests."""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for true; `typing` has it, too, and takes time to import

if TYPE_CHECKING:
    from typing import Any

    from forestalign.aligner import Aligner, align, align_frame, edits, load, similarity
    from forestalign.config import AlignConfig
    from forestalign.errors import ForestAlignError
    from forestalign.forest import Forest
    from forestalign.parsers import load_parser
    from forestalign.phrases.result.alignment import Alignment, PhraseAlignment, PhrasePair
    from forestalign.texts.comparison import compare
    from forestalign.tokens import Sentence, Span, Token, tokenize
    from forestalign.trees import Tree
    from forestalign.view.static import render
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
    "Span",
    "Token",
    "Tree",
    "WordAlignment",
    "WordLink",
    "align",
    "align_frame",
    "compare",
    "edits",
    "load",
    "load_parser",
    "render",
    "similarity",
    "tokenize",
    "words",
]

# Names are imported when they are first used, so that the command line starts quickly.
_HOMES = {
    "AlignConfig": "config",
    "Aligner": "aligner",
    "Alignment": "phrases.result.alignment",
    "Forest": "forest",
    "ForestAlignError": "errors",
    "PhraseAlignment": "phrases.result.alignment",
    "PhrasePair": "phrases.result.alignment",
    "Sentence": "tokens",
    "Span": "tokens",
    "Token": "tokens",
    "Tree": "trees",
    "WordAlignment": "words.alignment",
    "WordLink": "words.alignment",
    "align": "aligner",
    "align_frame": "aligner",
    "compare": "texts.comparison",
    "edits": "aligner",
    "load": "aligner",
    "load_parser": "parsers",
    "render": "view.static",
    "similarity": "aligner",
    "tokenize": "tokens",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("forestalign")
    if name == "words":  # a folder that can be called
        import forestalign.words

        return forestalign.words
    if name not in _HOMES:
        raise AttributeError(f"module 'forestalign' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"forestalign.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
