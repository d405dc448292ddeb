"""File formats, one module per family. Readers stream; their errors carry file, line, value and expectation.

- `lines`, `fields`: lines of files, fields of JSON objects, and what a sentence must be
- `pairs`, `word_links`: pairs of sentences, and links between their words
- `tree_files`, `enju`, `conll`: trees, forests, dependencies
- `codec`: results as JSON, tables and data frames
- `chunk_files`: chunks
"""
