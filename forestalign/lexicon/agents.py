"""Nouns for those who do something, and the same in more words: *applicants* are *those who applied*."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from forestalign.grammar import grammar_root, read_words
from forestalign.lexicon.findings import EQUAL, Finding
from forestalign.lexicon.phrase_text import Parts
from forestalign.lexicon.wordnet import WordNet

PRONOUNS = frozenset({"who", "that"})
ENDINGS = ("er", "or", "ar", "ant", "ent", "ist", "ee")
AUXILIARIES = frozenset({"be", "have", "do"})
GRADE = 7


@cache
def agent_heads() -> frozenset[str]:
    """The words of grammar/agent_heads.txt: *those*, *people*, *man*."""
    return read_words(grammar_root() / "agent_heads.txt")


def agent_findings(source: Parts, target: Parts, wordnet: WordNet) -> Iterator[Finding]:
    """A noun of one side and the clause of the other, both ways."""
    yield from _one_way(source, target, wordnet)
    yield from (finding.turned() for finding in _one_way(target, source, wordnet))


def _one_way(clauses: Parts, nouns: Parts, wordnet: WordNet) -> Iterator[Finding]:
    for begin, verb in _clauses(clauses):
        for index, tag in enumerate(nouns.tags):
            lemma = nouns.lemmas[index]
            is_agent = tag[:2] == "NN" and lemma.endswith(ENDINGS)
            if is_agent and clauses.lemmas[verb] in wordnet.entry(lemma).derivations:
                tokens = clauses.whole_tokens(range(begin, verb + 1)), nouns.whole_tokens((index,))
                if all(tokens):
                    yield Finding(*tokens, EQUAL, GRADE)


def _clauses(parts: Parts) -> Iterator[tuple[int, int]]:
    """Where a word for a person stands before *who*, and the verb of that clause."""
    for pronoun in (k for k in range(1, len(parts)) if parts.forms[k] in PRONOUNS):
        begin = pronoun - 1
        if parts.lemmas[begin] not in agent_heads() and parts.forms[begin] not in agent_heads():
            continue
        verb = pronoun + 1
        while verb < len(parts) - 1 and (parts.lemmas[verb] in AUXILIARIES or parts.tags[verb] in {"MD", "RB"}):
            verb += 1
        if verb < len(parts) and parts.tags[verb][:2] == "VB":
            yield begin, verb
