"""Scores: words, phrases, parses, sentence-level tasks, phrase gold from word links, and significance tests.

Every score comes as an `Evaluation`, which keeps the counts of each sentence pair, so that `compare` and `bootstrap`
work on all of them.

- `scores`: what all scores share, and significance
- `word_scores`, `phrase_scores`, `parse_scores`, `chunk_scores`, `sentence_scores`: metrics
- `projection`: phrase pairs from word links
- `answer_files`: gold and answers from files
- `annotated_pairs`, `annotation_checks`, `annotation_sheets`, `annotation_store`: annotated sets
- `written_pairs`: pairs whose phrases were marked inline while they were written
- `development`: a development set, and aligning it again and again
- `reports`: the tables that are printed
"""
