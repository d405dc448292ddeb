"""File formats, one module per family. Readers stream; their errors carry file, line, value and expectation.

- `lines`, `fields`: lines of files, fields of JSON objects, and what a sentence must be
- `pairs`, `word_links`: pairs of sentences, and links between their words
- `tree_files`, `enju`, `conll`: trees, forests, dependencies
- `codec`: results as JSON, tables and data frames
- `chunk_files`: chunks
"""

from __future__ import annotations

from forestalign.formats.chunk_files import ChunkAlignment, ChunkPair, format_ists, read_ists
from forestalign.formats.codec import from_json, read_phrases, to_json
from forestalign.formats.conll import ConllFormat, DependencyRecord, format_conll, read_conll, universal_tags
from forestalign.formats.enju import (
    EnjuElement,
    EnjuPhrase,
    aligned_ids,
    phrases_of,
    read_enju,
    words_of,
)
from forestalign.formats.fields import checked_sentence, split_on_spaces
from forestalign.formats.lines import Line, Unread, read_lines, read_text_lines, write_lines
from forestalign.formats.pairs import (
    BadRecord,
    PairFormat,
    PairRecord,
    are_sentences,
    format_pair,
    read_pairs,
    unread_pairs,
    unread_parallel,
    unread_sentences,
)
from forestalign.formats.tree_files import (
    NBest,
    NumberedTree,
    fit_tree,
    forest_of,
    format_forest,
    format_forest_graph,
    format_nbest,
    format_tree_graph,
    parse_forest,
    read_forests,
    read_nbest,
    read_trees,
    sentence_of,
)
from forestalign.formats.word_links import (
    GoldPair,
    LinkAnnotation,
    format_link_line,
    format_pharaoh,
    parse_pharaoh,
    read_gold_links,
    read_jacana,
    read_pharaoh,
)

__all__ = [
    "BadRecord",
    "ChunkAlignment",
    "ChunkPair",
    "ConllFormat",
    "DependencyRecord",
    "EnjuElement",
    "EnjuPhrase",
    "GoldPair",
    "Line",
    "LinkAnnotation",
    "NBest",
    "NumberedTree",
    "PairFormat",
    "PairRecord",
    "Unread",
    "aligned_ids",
    "are_sentences",
    "checked_sentence",
    "fit_tree",
    "forest_of",
    "format_conll",
    "format_forest",
    "format_forest_graph",
    "format_ists",
    "format_link_line",
    "format_nbest",
    "format_pair",
    "format_pharaoh",
    "format_tree_graph",
    "from_json",
    "parse_forest",
    "parse_pharaoh",
    "phrases_of",
    "read_conll",
    "read_enju",
    "read_forests",
    "read_gold_links",
    "read_ists",
    "read_jacana",
    "read_lines",
    "read_nbest",
    "read_pairs",
    "read_pharaoh",
    "read_phrases",
    "read_text_lines",
    "read_trees",
    "sentence_of",
    "split_on_spaces",
    "to_json",
    "universal_tags",
    "unread_pairs",
    "unread_parallel",
    "unread_sentences",
    "words_of",
    "write_lines",
]
