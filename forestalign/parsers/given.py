"""The user's own parses: n-best trees or forests, found by the words of the sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forestalign.config import AlignConfig
from forestalign.errors import NoParseError
from forestalign.forest import Forest, log_partition, pack, tree_of, viterbi
from forestalign.parsers.parse_result import Parse, check_sentences, failed, no_forest
from forestalign.tokens import Sentence, analyse
from forestalign.trees import ScoredTree

Given = Sequence[ScoredTree] | Forest


class GivenTrees:
    """A parser that knows its sentences. Where the same words were given twice, the first parse counts."""

    def __init__(self, given: Iterable[Given], config: AlignConfig):
        self.config = config
        self._parses: dict[tuple[str, ...], Given] = {}
        for parse in given:
            self._parses.setdefault(_words(parse), parse)

    def parse(self, sentences: Sequence[Sentence], forests: bool = True, charts: bool = False) -> list[Parse]:
        """The given parse of each sentence, found by its words; `charts` is ignored, since given trees have none."""
        check_sentences(sentences)
        return [self._parse_one(sentence, forests) for sentence in sentences]

    def _parse_one(self, sentence: Sentence, forests: bool) -> Parse:
        given = self._parses.get(sentence.words)
        if given is None:
            return failed(sentence, f"no tree was given for the words {' '.join(sentence.words)!r}")
        if isinstance(given, Forest):
            return _of_forest(given, sentence)
        trees = tuple(sorted(given, key=lambda scored: -scored.log_prob))[: self.config.nbest]
        sentence = analyse(sentence, [leaf.label for leaf in trees[0].tree.leaves()])
        return Parse(sentence, trees, pack(trees, sentence) if forests else no_forest(sentence))


def _of_forest(forest: Forest, sentence: Sentence) -> Parse:
    """The forest over the sentence as it stands in the text, with the tags and lemmas that the forest has."""
    if forest.sentence.text != sentence.text:
        sentence = sentence.with_analysis(forest.sentence.tags, forest.sentence.lemmas)
        forest = forest.over(sentence)
    best = viterbi(forest)
    tree = ScoredTree(tree_of(forest, best.root, best.choice), best.log_prob - log_partition(forest))
    return Parse(forest.sentence, (tree,), forest)


def _words(given: Given) -> tuple[str, ...]:
    if isinstance(given, Forest):
        return given.sentence.words
    if not given:
        raise NoParseError("an empty list of trees was given; expected at least one tree per sentence")
    return tuple(str(leaf.word) for leaf in given[0].tree.leaves())
