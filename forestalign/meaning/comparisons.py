"""Comparisons: what stands behind *than* or *as*, and whether two sentences compare from opposite ends.

*More people live in the suburb than in the province* is *fewer people live in the province than in the suburb*: what
one has behind *than*, the other has before it. Only words count, so that it does not matter which roles they have.
"""

from __future__ import annotations

from forestalign.lexicon.word_classes import meaning_words
from forestalign.meaning.readings import Reading
from forestalign.meaning.role_changes import RoleComparison
from forestalign.tokens import Sentence, lemmatize

_STANDARD = (":than", ":as")  # ends of relations of what something is compared with
_NAMES = ("NN", "PRP", "CD", "JJ", "DT")  # beginnings of the tags of words that name it
_COMPARED = frozenset({"JJR", "RBR", "JJS", "RBS"})


def standard_of(frames: Reading) -> frozenset[int]:
    """The words of what something is compared with."""
    heads, relations = frames.dependencies.heads, frames.dependencies.relations
    tops = {word for word, relation in enumerate(relations) if relation.endswith(_STANDARD)}
    return frozenset(word for word in range(len(heads)) if tops & set(path_up(heads, word)))


def path_up(heads: tuple[int, ...], word: int) -> list[int]:
    """A word and all above it."""
    path = [word]
    while heads[path[-1]] >= 0 and len(path) <= len(heads):
        path.append(heads[path[-1]])
    return path


def is_turned(roles: RoleComparison) -> bool:
    """Whether both sides compare, and each has before *than* what the other has behind it."""
    own, other = standard_of(roles.source), standard_of(roles.target)
    return _crosses(roles.source, own, roles.partner, other) and _crosses(roles.target, other, roles.back, own)


def _crosses(frames: Reading, own: frozenset[int], partner: dict[int, int], other: frozenset[int]) -> bool:
    """Whether most of the names of one standard have partners outside the other."""
    named = [word for word in own if frames.sentence.tags[word].startswith(_NAMES) and word in partner]
    outside = sum(partner[word] not in other for word in named)
    return bool(other) and 2 * outside > len(named)


def has_superlative(frames: Reading) -> bool:
    """*The fastest*, *first*, *faster than any other*."""
    words = {word.lower() for word in frames.sentence.words}
    is_most = any(tag in ("JJS", "RBS") for tag in frames.sentence.tags) or "first" in words
    return is_most or ("than" in words and not words.isdisjoint(meaning_words().all))


def readings(sentence: Sentence, word: int) -> set[str]:
    """A form, its lemma, and what an adjective is a form of where the tagger takes it for a word of its own."""
    form, tag = sentence.words[word].lower(), sentence.tags[word]
    others = ("VBN", "JJR") if tag == "JJ" and form.endswith(("ed", "en", "er")) else ()
    return {form, (sentence.lemmas[word] or form).lower(), *(lemmatize([form], [each])[0] for each in others)}


def is_compared(sentence: Sentence, word: int) -> bool:
    """Whether a word is a comparative or superlative, by its tag or by its form."""
    form, tag = sentence.words[word].lower(), sentence.tags[word]
    return tag in _COMPARED or (tag == "JJ" and form.endswith("er") and lemmatize([form], ["JJR"])[0] != form)


def less_of(frames: Reading, word: int) -> int:
    """The *less* of *less safe*, or -1."""
    heads = frames.dependencies.heads
    return next((k for k in range(len(heads)) if heads[k] == word and frames.lemmas[k] in meaning_words().less), -1)
