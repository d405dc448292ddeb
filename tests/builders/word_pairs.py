"""Analysed sentences for the tests of word alignment, in a compact notation of our own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forestalign.config import AlignConfig
from forestalign.dependencies import Dependencies
from forestalign.lexicon import PairList
from forestalign.tokens import Sentence
from forestalign.words import Analysis, Entity, WordAligner
from forestalign.words.similarity import Sources
from forestalign.words.sultan.stages import ALL_STAGES, Stages


def analysed(text: str, entities: Sequence[Entity] = ()) -> Analysis:
    """Tokens `word/tag/lemma/head/relation` separated by blanks; heads count from 1, 0 is the root.

    The last three may be left out together: the lemma is then the lower-cased word, and the token hangs below nothing
    as `dep`, so that it gives no evidence.
    """
    words, tags, lemmas, heads, relations = [], [], [], [], []
    for token in text.split():
        word, tag, *rest = token.rsplit("/", 4) if token.count("/") == 4 else token.rsplit("/", 1)
        lemma, head, relation = rest or (word.lower(), "-1", "punct")
        words.append(word)
        tags.append(tag)
        lemmas.append(lemma)
        heads.append(int(head) - 1 if int(head) >= 0 else 0)
        relations.append(relation)
    sentence = Sentence.from_words(words).with_analysis(tags, lemmas)
    return Analysis(sentence, Dependencies(tuple(heads), tuple(relations)), tuple(entities))


def plain(text: str, tag: str = "NN") -> Analysis:
    """Words without dependencies; `word/TAG` gives a word its tag."""
    return analysed(" ".join(token if "/" in token else f"{token}/{tag}" for token in text.split()))


def align(
    profile: str,
    source: Analysis,
    target: Analysis,
    pairs: Sequence[tuple[str, str]] = (),
    stages: Stages = ALL_STAGES,
    function: Callable[[str, str], bool] | None = None,
) -> set[tuple[int, int]]:
    """Links of one of the pipelines with a pair list of the test's."""
    simple = profile == "paper"
    sources = Sources(stem=not simple, veto=not simple, pairs=PairList(pairs), function=function)
    return set(WordAligner(AlignConfig(profile=profile), sources, stages).align(source, target).pairs)


def stages_of(
    profile: str, source: Analysis, target: Analysis, pairs: Sequence[tuple[str, str]] = ()
) -> dict[tuple[int, int], str]:
    """The stage of each link."""
    sources = Sources(pairs=PairList(pairs))
    links = WordAligner(AlignConfig(profile=profile), sources).align(source, target)
    return {(link.source, link.target): link.stage for link in links}
