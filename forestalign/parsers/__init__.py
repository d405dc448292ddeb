"""Parsers behind one door: the shipped one (`embedded`), benepar, and the user's own trees.

parser = load_parser(AlignConfig())
for parse in parser.parse([tokenize("The cat sat.")]):
    print(format_brackets(parse.trees[0].tree))

- `parse_result`: what every parser gives, the way there from charts, and the user's own trees
- `embedded`, `benepar`: the backends
- `encoder_words`: words as an encoder sees them, their shapes, and tags that their form rules out
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from forestalign.config import CHOICES, AlignConfig, checked_config
from forestalign.errors import UsageError
from forestalign.grammar import grammar_root
from forestalign.parsers.parse_result import (
    ChartParser,
    ChartSource,
    Given,
    GivenTrees,
    Parse,
    Parser,
    failed,
    parse_of,
)

__all__ = [
    "ChartParser",
    "ChartSource",
    "Given",
    "GivenTrees",
    "Parse",
    "Parser",
    "failed",
    "load_parser",
    "parse_of",
]

BACKENDS = CHOICES["backend"]


def load_parser(config: AlignConfig, given: Iterable[Given] | None = None) -> Parser:
    """The backend that the settings name, loaded; `given` are the parses of the backend `trees`.

    >>> from forestalign.tokens import tokenize
    >>> parse, = load_parser(AlignConfig(nbest=5)).parse([tokenize("She left early.")])
    >>> parse.sentence.lemmas[:2], 1 <= len(parse.trees) <= 5
    (('she', 'leave'), True)
    """
    checked_config(config)
    if config.backend == "embedded":
        from forestalign.parsers.embedded import EmbeddedModel

        folder = Path(config.parser_model) if config.parser_model else grammar_root() / "parser"
        return ChartParser(EmbeddedModel(folder, config.threads), config)
    if config.backend == "benepar":
        from forestalign.parsers.benepar import BeneparModel

        return ChartParser(BeneparModel(config.parser_model, config.threads), config)
    if given is None:
        raise UsageError("the backend 'trees' needs the trees or forests of the sentences")
    return GivenTrees(given, config)
