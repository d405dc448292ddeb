"""Whole texts: two versions compared, and the places of an article that a summary rests on.

In reading order:

- `text_parts`: a file of prose as sentences with their lines; tables and code left alone
- `sentence_likeness`, `sentence_pairing`: the sentences of two texts paired, many to many and in any order
- `comparison`: what became of each sentence, and which changes are losses; passages are aligned by several processes
- `comparison_text`: the same for a terminal, and as a page
- `summary_sources`: what each phrase of a summary rests on, for a terminal and as a page
"""
