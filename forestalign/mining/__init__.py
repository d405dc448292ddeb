"""What aligned corpora tell: tables of paraphrases, edits, and how similar two sentences are.

In reading order:

- `occurrences`: the phrase pairs of one line of results, quickly
- `patterns`: phrase pairs with slots in the place of smaller pairs
- `pair_counts`: the occurrences of some lines counted
- `phrase_table`: counts of any size put together on disk, with probabilities
- `table_files`: the table as TSV, JSON lines, Parquet or a list in the form of PPDB
- `edit_sides`, `edit_meanings`, `edits`: how the target of an aligned pair differs from its source
- `edit_report`: the edits of a corpus on one page
- `similarity_features`, `sentence_vectors`, `similarity_reasons`: what speaks for and against, in numbers and words
- `sentence_similarity`: how similar two sentences are
- `sentence_pairing`: two versions of a text, cut into sentences that are paired in order
"""
