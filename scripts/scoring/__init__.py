"""The subcommands of `score.py`: each function takes a parser of arguments, adds its own, and prints.

words     word links of every method
phrases   development sets: phrases over forests and 1-best trees; words and phrases with gold trees and links
search    what the search misses of its own best alignment
trees     trees chosen with the other sentence
parser    trees of a parser
meaning   changes of meaning, edits, similarity, sources of a summary
"""
