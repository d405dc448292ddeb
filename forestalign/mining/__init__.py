"""What aligned corpora tell: tables of paraphrases, edits, and how similar two sentences are.

In reading order:

- `occurrences`: the phrase pairs of one line of results, quickly, and those with slots in the place of smaller pairs
- `pair_counts`: the occurrences of some lines counted
- `phrase_table`: counts of any size put together on disk, with probabilities; which rows read as paraphrases
- `table_files`: the table as TSV, JSON lines, Parquet or a list in the form of PPDB
- `edit_units`, `edits`: how the target of an aligned pair differs from its source
- `edit_report`, `m2`: the edits of a corpus on one page, and in the form of ERRANT
- `verdict_features`: what speaks for and against the same meaning, in numbers
- `verdicts`: how similar two sentences are
"""
