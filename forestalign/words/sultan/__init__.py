"""Word links by the stages of Sultan, Bethard and Sumner (2014).

- `candidates`: pairs of words that compete for links
- `growing_links`: the links of a pair of sentences while the stages add to them
- `families`: parents and children of words in collapsed dependencies
- `identity`, `name_links`: links by identity, and of named entities
- `paper`: the pipeline as their paper describes it
- `published`: the pipeline as their program runs it
"""
