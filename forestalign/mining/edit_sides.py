"""One sentence of a result as edits look at it: words with their classes, passive verbs, the number of sentences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from forestalign.grammar import grammar_root, read_rows
from forestalign.lexicon.word_classes import WordClass, word_class
from forestalign.phrases.result.pair_relations import SMALL
from forestalign.tokens import Sentence, Span
from forestalign.trees import Tree, preorder

_BE = frozenset({"be", "am", "is", "are", "was", "were", "been", "being", "'s", "'re", "'m", "’s", "’re", "’m"})
_GET = frozenset({"get", "gets", "got", "gotten", "getting"})
_ENDS = frozenset({".", "!", "?"})
_PLURAL = {"NN": False, "NNP": False, "NNS": True, "NNPS": True}


@dataclass(frozen=True, slots=True)
class EditSide:
    """One sentence, and what its tree says about its words."""

    sentence: Sentence
    classes: tuple[WordClass, ...]
    passives: frozenset[int]  # participles with passive meaning
    sentence_count: int

    @classmethod
    def of(cls, sentence: Sentence, tree: Tree) -> EditSide:
        """The side of a result."""
        classes = tuple([word_class(token) for token in sentence.tokens])
        return cls(sentence, classes, passives_of(tree), _sentence_count(sentence.words))

    @property
    def words(self) -> tuple[str, ...]:
        """The words as they stand in the text."""
        return self.sentence.words

    @property
    def tags(self) -> tuple[str, ...]:
        """The tag of each word."""
        return self.sentence.tags

    def text(self, span: Span | None) -> str:
        """The words of a span as they stand in the text, on one line."""
        return "" if span is None else self.sentence.phrase(span)

    def lowered(self, span: Span) -> list[str]:
        """The words of a span in lower case."""
        return [word.lower() for word in self.words[span.begin : span.end]]

    def content_count(self, span: Span | None = None) -> int:
        """Words of a span, or of the sentence, that are not marks of punctuation."""
        classes = self.classes if span is None else self.classes[span.begin : span.end]
        return sum(each != WordClass.PUNCTUATION for each in classes)

    def has_content(self, span: Span) -> bool:
        """Whether a span has more than function words and marks."""
        return any(each not in SMALL for each in self.classes[span.begin : span.end])

    def lemma(self, word: int) -> str:
        """The lemma of a word under its tag."""
        return self.sentence.lemmas[word]

    def has_letter(self, span: Span) -> bool:
        """Whether a span has letters or digits, and not only signs."""
        return any(character.isalnum() for word in self.words[span.begin : span.end] for character in word)

    def is_verb(self, word: int) -> bool:
        """Whether a word is a verb that can have a voice."""
        return self.tags[word].startswith("VB") and self.words[word].lower() not in _BE


def passives_of(tree: Tree) -> frozenset[int]:
    """Participles below *be* or *get* in their verb phrase, and with *by* behind a noun (*the car bought by Ann*)."""
    found: set[int] = set()
    for node in preorder(tree):
        participles = [_participle(child) for child in node.children]
        if node.label == "NP":
            found.update(
                word
                for child, word in zip(node.children, participles, strict=True)
                if word >= 0 and any(each.word == "by" for each in child.leaves())
            )
        elif node.label.startswith(("VP", "S")):  # questions: (SQ (VBD was) (NP it) (VP (VBN sold)))
            auxiliaries = [child.word.lower() for child in node.children if child.word and child.label[:2] == "VB"]
            if any(word in _BE or word in _GET for word in auxiliaries):
                found.update(word for word in participles if word >= 0)
    return frozenset(found)


def _participle(node: Tree) -> int:
    """The participle that heads a verb phrase, or coordinated ones' first; -1 if there is none."""
    if node.label != "VP":
        return -1
    for child in node.children:
        if child.label == "VBN":
            return child.begin
        if child.label[:2] == "VB" or child.label in ("MD", "TO"):
            return -1
        if child.label == "VP":
            return _participle(child)
    return -1


def _sentence_count(words: tuple[str, ...]) -> int:
    """Marks that end a sentence with words before them; what follows the last is one more."""
    count, is_open = 0, False
    for word in words:
        if word in _ENDS:
            count += is_open
            is_open = False
        elif any(character.isalnum() for character in word):
            is_open = True
    return max(count + is_open, 1)


def is_other_number(source: tuple[str, str], target: tuple[str, str]) -> bool:
    """Whether two words with their tags are one noun in singular and plural."""
    (word, tag), (other, other_tag) = source, target
    if tag not in _PLURAL or other_tag not in _PLURAL or _PLURAL[tag] == _PLURAL[other_tag]:
        return False
    singular, plural = (other.lower(), word.lower()) if _PLURAL[tag] else (word.lower(), other.lower())
    if plural in (f"{singular}s", f"{singular}es") or (singular[-1:] == "y" and plural == f"{singular[:-1]}ies"):
        return True
    return any(
        singular.endswith(ending) and plural == singular.removesuffix(ending) + plural_ending
        for ending, plural_ending in _irregular_plurals()
    )


@cache
def _irregular_plurals() -> tuple[tuple[str, str], ...]:
    path = grammar_root() / "irregular_plurals.tsv"
    return tuple((singular, plural) for _, (singular, plural) in read_rows(path, 2))
