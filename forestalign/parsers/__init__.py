"""Parsers behind one door: the shipped one (`embedded`), benepar, and the user's own trees.

    parser = load_parser(AlignConfig())
    for parse in parser.parse([tokenize("The cat sat.")]):
        print(format_brackets(parse.trees[0].tree))
"""

from __future__ import annotations

from pathlib import Path

from forestalign.config import AlignConfig
from forestalign.errors import UsageError
from forestalign.grammar import grammar_root
from forestalign.parsers.result import ChartParser, ChartSource, Parse, Parser, check_settings, failed, parse_of

__all__ = ["ChartParser", "ChartSource", "Parse", "Parser", "failed", "load_parser", "parse_of"]


def load_parser(config: AlignConfig) -> Parser:
    """The backend that the settings name, loaded."""
    check_settings(config)
    if config.backend == "embedded":
        from forestalign.parsers.embedded import EmbeddedModel

        folder = Path(config.parser_model) if config.parser_model else grammar_root() / "parser"
        return ChartParser(EmbeddedModel(folder, config.threads), config)
    raise UsageError(f"backend is {config.backend!r}; expected 'embedded', 'benepar' or 'trees'")
