"""Negations of a sentence and what they deny: *not* and *come* in *did not come*, *no* and *came* in *no guest came*.

A verb denies, too: *failed* and *come* in *failed to come*. *Not only*, *no less than* and their like deny nothing. One
sentence is looked at here; what two make of their negations is in `contradictions`.
"""

from __future__ import annotations

from typing import NamedTuple

from forestalign.grammar import negation_words
from forestalign.lexicon.meaning_words import meaning_words
from forestalign.lexicon.negations import denying_lemmas, verbs_that_deny
from forestalign.lexicon.phrase_text import take_apart
from forestalign.meaning.roles import RoleFrames
from forestalign.tokens import Sentence, standard_form

_WHETHER = ("or", "not")


class Negation(NamedTuple):
    """The number of the negating word, and of the predicate that it denies."""

    cue: int
    predicate: int


def negations_of(frames: RoleFrames) -> list[Negation]:
    """All negations of a sentence; *no ... nor* and *neither ... nor* are one."""
    words = [standard_form(word).lower().removeprefix("can ") for word in frames.sentence.words]
    found, denied = [], _denied_verbs(frames.sentence)
    for cue, word in enumerate(words):
        if cue in denied:
            found.append(Negation(cue, denied[cue]))
        if (word not in negation_words() and word not in meaning_words().denying) or _is_harmless(words, cue):
            continue
        if word == "nor" and any(each in meaning_words().before_nor for each in words[:cue]):
            continue
        found.append(Negation(cue, frames.predicate_over(cue)))
    return found


def _denied_verbs(sentence: Sentence) -> dict[int, int]:
    """Negative verbs, and the verbs that they deny: *answer* in *failed to answer*."""
    if not any(token.tag.startswith("VB") and token.lemma in denying_lemmas() for token in sentence.tokens):
        return {}
    parts = take_apart(sentence)
    found = [(begin, verb) for row, begin, _, verb in verbs_that_deny(parts) if row.negation == "not"]
    return {parts.tokens[begin]: parts.tokens[verb] for begin, verb in found}


def _is_harmless(words: list[str], cue: int) -> bool:
    following = words[cue + 1] if cue + 1 < len(words) else ""
    lists = meaning_words()
    if words[cue] in lists.before_harmless and following in lists.harmless:
        return not (following in lists.harmless_with_than and "than" not in words[cue + 2 : cue + 4])
    if words[cue] in lists.before_exception and not lists.exception.isdisjoint(words[cue + 1 :]):
        return True  # nothing ... except: only
    is_whether = cue > 0 and (words[cue - 1], words[cue]) == _WHETHER
    return is_whether or (words[cue] == "no" and following in (",", ""))
