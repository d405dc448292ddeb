"""Whole texts: two versions compared, and the places of an article that a summary rests on.

In reading order:

- `sentence_split`, `text_parts`: a file of prose as sentences with their lines; tables and code left alone
- `sentence_likeness`, `sentence_pairing`: the sentences of two texts paired, many to many and in any order
- `passage_alignment`: pairs of passages aligned, by this process and others
- `comparison`: what became of each sentence, and which changes of meaning are losses
- `comparison_text`, `comparison_page`: the same for a terminal, and as a page
- `summary_sources`, `sources_text`: what each phrase of a summary rests on, and the same for readers
"""
