"""What the word aligner knows about one sentence: tagged tokens, dependencies, named entities.

An analysis comes from our own parse (`analyse_parse`), from a spaCy `Doc` as it is (`analyse_spacy`, which only asks
the object for its attributes and imports nothing), or from the user's columns, such as CoNLL-U (`analyse_given`).

The paper reads collapsed Stanford dependencies. `arcs` gives their like for Universal Dependencies: prepositions and
conjunctions disappear into the relation (`nmod:in`, `conj:and`), punctuation has no relation. A user who has a
dependency graph rather than a tree, such as collapsed dependencies, gives `graph`, and it is taken as it is.

Dependency labels and which of them are equivalent (Table 1), from two files of grammar/.

Labels of Universal Dependencies (1 and 2), of spaCy and of the old Stanford scheme are first brought to one canonical
name. An orientation says where the relatives of the two words hang: below or above each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from forestalign.dependencies import Dependencies, to_dependencies
from forestalign.errors import GrammarError, UsageError, counted
from forestalign.grammar import grammar_root, read_rows
from forestalign.tokens import Sentence, Token, lemmatize

ROOT = -1
REST = "*"
ANY = "*"


class Arc(NamedTuple):
    """One dependency; the head of the root is ROOT."""

    head: int
    dependent: int
    relation: str


class Orientation(StrEnum):
    """Figure 3: relatives below both words (a), above both (b), below in S and above in T (c), the mirror of it (d)."""

    CHILDREN = "children"
    PARENTS = "parents"
    CHILD_PARENT = "child-parent"
    PARENT_CHILD = "parent-child"


FLIPPED = {
    Orientation.CHILDREN: Orientation.PARENTS,
    Orientation.PARENTS: Orientation.CHILDREN,
    Orientation.CHILD_PARENT: Orientation.PARENT_CHILD,
    Orientation.PARENT_CHILD: Orientation.CHILD_PARENT,
}
CROSSED = {Orientation.CHILD_PARENT, Orientation.PARENT_CHILD}


class Equivalence(NamedTuple):
    """The relation to a relative in S stands for the relation to a relative in T. Categories are tag initials."""

    orientation: Orientation
    category: str
    relative_category: str
    source_relation: str
    target_relation: str


@dataclass(frozen=True, slots=True)
class Equivalences:
    """The equivalences of one profile."""

    rows: frozenset[Equivalence]

    def has(
        self,
        orientation: Orientation,
        category: str,
        relative_category: str,
        source_relation: str,
        target_relation: str,
    ) -> bool:
        """Whether two relations may be matched."""
        return (orientation, category, relative_category, source_relation, target_relation) in self.rows


@lru_cache(maxsize=4)
def load_equivalences(profile: str) -> Equivalences:
    """The shipped table of a profile."""
    return read_equivalences(grammar_root() / "relation_equivalences.tsv", profile)


def read_equivalences(path: Path, profile: str) -> Equivalences:
    """Rows PROFILE, ORIENTATION, CATEGORY, CATEGORY OF RELATIVES, LABELS IN S, LABELS IN T (`=`: the same labels).

    Crossed rows hold mirrored too. The paper's rows moreover hold seen from the relatives ("fundamentally redundant").
    """
    rows: set[Equivalence] = set()
    for number, (name, where, category, relative_category, source, target) in read_rows(path, 6):
        if where not in list(Orientation):
            raise GrammarError(path, number, f"{where!r}: expected one of {', '.join(Orientation)}")
        if name != profile:
            continue
        labels = (source.split(), source.split() if target == "=" else target.split())
        for source_label, target_label in product(*labels):
            row = Equivalence(Orientation(where), category, relative_category, source_label, target_label)
            rows.update(_mirrored(row))
            if profile == "paper":
                rows.update(_mirrored(_seen_from_relatives(row)))
    return Equivalences(frozenset(rows))


def _mirrored(row: Equivalence) -> tuple[Equivalence, ...]:
    """The row, and the row with the sentences exchanged."""
    orientation = FLIPPED[row.orientation] if row.orientation in CROSSED else row.orientation
    return row, row._replace(
        orientation=orientation, source_relation=row.target_relation, target_relation=row.source_relation
    )


def _seen_from_relatives(row: Equivalence) -> Equivalence:
    return row._replace(
        orientation=FLIPPED[row.orientation], category=row.relative_category, relative_category=row.category
    )


# ---- labels ----


@cache
def _label_table() -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """Whole labels, and prefixes that keep the rest of the label."""
    whole: dict[str, str] = {}
    prefixes: list[tuple[str, str]] = []
    for _, (label, canonical) in read_rows(grammar_root() / "relation_labels.tsv", 2):
        if label.endswith(REST):
            prefixes.append((label.removesuffix(REST), canonical.removesuffix(REST)))
        else:
            whole[label] = canonical
    return whole, tuple(prefixes)


@lru_cache(maxsize=4096)
def canonical_label(label: str) -> str:
    """The one name of a relation: `dobj` -> `obj`, `prep_in` and `obl:in` -> `nmod:in`."""
    label = label.lower()
    whole, prefixes = _label_table()
    if label in whole:
        return whole[label]
    for prefix, canonical in prefixes:
        if label.startswith(prefix):
            return canonical + label.removeprefix(prefix).replace("_", " ")
    return label


def collapse(dependencies: Dependencies, words: Sequence[str], tags: Sequence[str]) -> tuple[Arc, ...]:
    """The tree in canonical labels without its function-word leaves: the like of collapsed Stanford dependencies.

    A `case` or `cc` word is dropped where a relation carries it (`nmod:in`); punctuation always. Two relations that
    Universal Dependencies has given up are told by their looks: `acomp`, an adjective as `xcomp`, and `purpcl`, a
    to-infinitive as `advcl`.
    """
    heads, labels = dependencies.heads, [canonical_label(label) for label in dependencies.relations]
    for dependent, (head, label) in enumerate(zip(heads, list(labels), strict=True)):
        if label == "xcomp" and tags[dependent].startswith("J"):
            labels[dependent] = "acomp"
        elif label == "mark" and words[dependent].lower() == "to" and head != ROOT and labels[head].startswith("advcl"):
            labels[head] = "purpcl"
    arcs = []
    for dependent, (head, label) in enumerate(zip(heads, labels, strict=True)):
        is_carried = label in {"case", "cc"} and head != ROOT and ":" in labels[head]
        if label != "punct" and not is_carried:
            arcs.append(Arc(head, dependent, label))
    return tuple(arcs)


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
