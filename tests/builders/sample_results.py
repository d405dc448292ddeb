"""Results built by hand, for tests that need no search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from forestalign import Alignment, PhraseAlignment, PhrasePair
from forestalign.formats.codec import sentence_in
from forestalign.formats.tree_files import fit_tree
from forestalign.phrases.result.alignment import Verdict
from forestalign.tokens import Sentence, Span, TextSpan, analyse
from forestalign.trees import Tree, parse_brackets
from forestalign.words.alignment import NO_LINKS, WordAlignment, WordLink

Place = tuple[int, int]


class Side(NamedTuple):
    """One sentence and the tree that was chosen for it."""

    sentence: Sentence
    tree: Tree


def side(brackets: str, text: str = "", words: Sequence[str] = ()) -> Side:
    """A side from its tree; words are those of the tree, with spaces between, unless they are given."""
    tree = parse_brackets(brackets)
    words = words or [str(leaf.word) for leaf in tree.leaves()]
    sentence = sentence_in(text or " ".join(words), words)
    return Side(analyse(sentence, [leaf.label for leaf in tree.leaves()]), fit_tree(tree, sentence))


def pair(source: Place, target: Place, label: str = "X", supports: Sequence[int] = (), **more: Any) -> PhrasePair:
    """A straight compositional pair of phrases with the same label, unless `more` says otherwise."""
    fields: dict[str, Any] = {"target_label": label, "is_bar": False, "compositional": True, "inverted": False}
    fields |= {"log_prob": -0.5} | more
    return PhrasePair(_untexted(source), _untexted(target), label, supports=tuple(supports), **fields)


def _untexted(place: Place) -> TextSpan:
    return TextSpan.of(Span(*place), "")


def links(*rows: tuple[int, int] | tuple[int, int, float]) -> WordAlignment:
    """Links from their ends, perhaps with scores."""
    return WordAlignment(tuple(WordLink(*row) for row in rows))


def result(
    identity: str, source: Side, target: Side, words: WordAlignment = NO_LINKS, signature: str = "", **phrases: Any
) -> Alignment:
    """A result; what is not said of its phrases is empty, and reaches the roots."""
    fields: dict[str, Any] = {"pairs": (), "source_nulls": (), "target_nulls": (), "log_score": -1.0}
    fields |= {"reached_root": True, "source_tree": source.tree, "target_tree": target.tree} | phrases
    both, judged = (source.sentence, target.sentence), Verdict("same meaning", 0.9, 4.5)
    return with_phrases(
        Alignment(identity, *both, words, PhraseAlignment(**fields), signature=signature, judged=judged)
    )


def with_phrases(sample: Alignment, **changes: Any) -> Alignment:
    """The result with other phrases; the texts of its pairs follow."""
    return replace(sample, phrases=texted(replace(sample.phrases, **changes), sample.source, sample.target))


def texted(phrases: PhraseAlignment, source: Sentence, target: Sentence) -> PhraseAlignment:
    """The phrases with the words of each pair as they stand in the sentences."""
    return replace(
        phrases,
        pairs=tuple(
            replace(each, source=source.span(*each.source), target=target.span(*each.target)) for each in phrases.pairs
        ),
    )


def with_sides(sample: Alignment, source: Side | None = None, target: Side | None = None) -> Alignment:
    """The result over other sentences and trees."""
    if source is not None:
        sample = replace(sample, source=source.sentence, phrases=replace(sample.phrases, source_tree=source.tree))
    if target is not None:
        sample = replace(sample, target=target.sentence, phrases=replace(sample.phrases, target_tree=target.tree))
    return with_phrases(sample)
