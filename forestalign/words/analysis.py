"""What the word aligner knows about one sentence: tagged tokens, dependencies, named entities.

An analysis comes from our own parse (`analyse_parse`), from a spaCy `Doc` as it is (`analyse_spacy`, which only asks
the object for its attributes and imports nothing), or from the user's columns, such as CoNLL-U (`analyse_given`).

The paper reads collapsed Stanford dependencies. `arcs` gives their like for Universal Dependencies: prepositions and
conjunctions disappear into the relation (`nmod:in`, `conj:and`), punctuation has no relation. A user who has a
dependency graph rather than a tree, such as collapsed dependencies, gives `graph`, and it is taken as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forestalign.dependencies import Dependencies, to_dependencies
from forestalign.errors import UsageError, counted
from forestalign.tokens import Sentence, Token, lemmatize
from forestalign.words.dependency_arcs import ROOT, Arc, canonical_label, collapse

if TYPE_CHECKING:
    from forestalign.parsers import Parse

NAME_TAGS = frozenset({"NNP", "NNPS"})
PENN_TAGS = {
    "ADJ": "JJ", "ADP": "IN", "ADV": "RB", "AUX": "VB", "CCONJ": "CC", "DET": "DT", "INTJ": "UH", "NOUN": "NN",
    "NUM": "CD", "PART": "RP", "PRON": "PRP", "PROPN": "NNP", "PUNCT": ".", "SCONJ": "IN", "SYM": "SYM",
    "VERB": "VB", "X": "FW",
}  # fmt: skip
NAME_CONNECTORS = (("of",), ("&",), ("the",), ("of", "the"))


@dataclass(frozen=True, slots=True)
class Entity:
    """A named entity: tokens begin <= i < end. The type may be unknown."""

    begin: int
    end: int
    type: str = ""


@dataclass(frozen=True, slots=True)
class Analysis:
    """A sentence with tags and lemmas, its dependency tree (or a graph of the user's) and its named entities."""

    sentence: Sentence
    dependencies: Dependencies
    entities: tuple[Entity, ...] = ()
    graph: tuple[Arc, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.sentence)
        if len(self.dependencies.heads) != count or len(self.dependencies.relations) != count:
            raise UsageError(
                f"{counted(len(self.dependencies.heads), 'head')} for {counted(count, 'token')}; expected one per token"
            )
        for entity in self.entities:
            if not 0 <= entity.begin < entity.end <= count:
                raise UsageError(
                    f"entity {entity.begin}-{entity.end} lies outside the sentence of {counted(count, 'token')}"
                )

    def __len__(self) -> int:
        return len(self.sentence)

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """Collapsed dependencies with canonical labels, in the order of their dependents."""
        if self.graph:
            return tuple(arc._replace(relation=canonical_label(arc.relation)) for arc in self.graph)
        return collapse(self.dependencies, self.sentence.words, self.sentence.tags)


def analyse_parse(parse: Parse, entities: Sequence[Entity] | None = None) -> Analysis:
    """The 1-best tree as dependencies; names by their tags unless the user has entities."""
    sentence = parse.sentence
    dependencies = to_dependencies(parse.trees[0].tree, sentence)
    return Analysis(sentence, dependencies, find_names(sentence) if entities is None else tuple(entities))


def analyse_given(
    sentence: Sentence,
    dependencies: Dependencies,
    categories: Sequence[str] = (),
    entities: Sequence[Entity] | None = None,
) -> Analysis:
    """The user's own analysis, such as CoNLL-U; `categories` (UPOS) stand in for missing Penn tags."""
    tags = [token.tag or PENN_TAGS.get(category, category) for token, category in _with(categories, sentence.tokens)]
    guessed = lemmatize(sentence.words, tags)
    lemmas = [(token.lemma or guess).lower() for token, guess in zip(sentence.tokens, guessed, strict=True)]
    sentence = sentence.with_analysis(tags, lemmas)
    dependencies = specific_labels(dependencies.heads, dependencies.relations, sentence.words)
    return Analysis(sentence, dependencies, find_names(sentence) if entities is None else tuple(entities))


def _with(categories: Sequence[str], tokens: Sequence[Token]) -> list[tuple[Token, str]]:
    return list(zip(tokens, categories or [""] * len(tokens), strict=True))


def analyse_spacy(doc: Any) -> Analysis:
    """A spaCy `Doc`, or anything whose tokens have text, idx, lemma_, tag_, pos_, dep_, i and head."""
    words = list(doc)
    tokens = tuple(Token(w.text, w.idx, w.idx + len(w.text), w.lemma_, w.tag_) for w in words)
    number = {w.i: position for position, w in enumerate(words)}
    heads = tuple(ROOT if w.head.i == w.i else number[w.head.i] for w in words)
    dependencies = Dependencies(heads, tuple(w.dep_ for w in words))
    entities = [Entity(e.start, e.end, e.label_) for e in getattr(doc, "ents", ())]
    return analyse_given(Sentence(doc.text, tokens), dependencies, [w.pos_ for w in words], entities or None)


def specific_labels(heads: Sequence[int], relations: Sequence[str], words: Sequence[str]) -> Dependencies:
    """Plain labels made specific: `nmod` with a `case` child "in" becomes `nmod:in`, `conj` becomes `conj:and`.

    spaCy's English models hang prepositions over their nouns (`prep`, `pobj`) and conjunctions under the first
    conjunct; both are first turned into the form of Universal Dependencies.
    """
    labels, above = [relation.lower() for relation in relations], list(heads)
    for index, label in enumerate(labels):
        over = above[index]
        if label == "pobj" and over != ROOT and labels[over] in {"prep", "agent", "dative"}:
            labels[index] = "obl:agent" if labels[over] == "agent" else "obl"
            above[index], above[over], labels[over] = above[over], index, "case"
        elif label == "cc" and over != ROOT and labels[over] != "conj":
            later = [n for n in range(index + 1, len(labels)) if labels[n] == "conj" and above[n] == over]
            above[index] = later[0] if later else over
    for index, label in enumerate(list(labels)):
        over = above[index]
        is_case = label == "case" and labels[over] in {"nmod", "obl"}
        if is_case or (label == "cc" and labels[over] == "conj"):
            labels[over] += f":{words[index].lower()}"
    return Dependencies(tuple(above), tuple(labels))


# ---- named entities ----


def find_names(sentence: Sentence) -> tuple[Entity, ...]:
    """Maximal runs of proper nouns, joined over "of", "&", "the" and "of the"; their type is unknown."""
    is_name = [tag in NAME_TAGS for tag in sentence.tags]
    words = [word.lower() for word in sentence.words]
    entities, begin = [], 0
    while begin < len(words):
        if not is_name[begin]:
            begin += 1
            continue
        end = begin + 1
        while (step := _name_step(is_name, words, end)) > 0:
            end += step
        entities.append(Entity(begin, end))
        begin = end
    return tuple(entities)


def _name_step(is_name: Sequence[bool], words: Sequence[str], end: int) -> int:
    """How many tokens the name that ends here goes on: 1 for a proper noun, more for a connector and a proper noun."""
    if end < len(words) and is_name[end]:
        return 1
    for connector in NAME_CONNECTORS:
        after = end + len(connector)
        if after < len(words) and tuple(words[end:after]) == connector and is_name[after]:
            return len(connector) + 1
    return 0
