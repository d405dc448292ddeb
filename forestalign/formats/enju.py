"""Enju's XML, and that of SPADE and ESPADA, which adds the partners of each phrase by annotator (pa1, pa2, pa3).

A file holds one `<sentence>`; `<cons>` are phrases, `<tok>` words. Text outside all words (often the final full stop)
belongs to no phrase and to no token.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from forestalign.errors import AnnotationError, InputError
from forestalign.formats.lines import read_text
from forestalign.tokens import Span

Attributes = tuple[tuple[str, str], ...]
NULL = "-1"
_DEEPEST = 300  # keeps recursion within Python's bound; parses are an order of magnitude flatter


@dataclass(frozen=True, slots=True)
class EnjuElement:
    """A sentence, phrase (cons) or word (tok), which has its text."""

    tag: str
    attributes: Attributes
    children: tuple[EnjuElement, ...] = ()
    text: str = ""

    def get(self, name: str) -> str:
        """An attribute; empty where it is missing."""
        return next((value for key, value in self.attributes if key == name), "")

    @property
    def id(self) -> str:
        """The attribute `id`; empty where there is none."""
        return self.get("id")

    def partners(self, annotator: int) -> tuple[str, ...]:
        """The ids in the other tree that annotator 1, 2 or 3 aligned to this phrase; none for a null phrase."""
        return tuple(part for part in self.get(f"pa{annotator}").split() if part != NULL)

    def walk(self) -> Iterator[EnjuElement]:
        """This element and all below, in document order."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))


def read_enju(path: str | Path) -> EnjuElement:
    """The sentence of one file."""
    try:
        root = ElementTree.fromstring(read_text(path))
    except ElementTree.ParseError as error:
        line, column = error.position
        raise InputError(path, line, f"no well-formed XML at column {column + 1}: {error}") from error
    if root.tag != "sentence":
        raise InputError(path, 1, f"found <{root.tag}>; expected <sentence>")
    if _depth(root) > _DEEPEST:
        raise InputError(path, 1, f"elements are nested {_depth(root)} deep; expected at most {_DEEPEST}")
    sentence = _element(root)
    try:
        _check_ids(sentence)
        phrases_of(sentence)
    except ValueError as error:
        raise AnnotationError(path, None, str(error)) from error
    return sentence


def words_of(sentence: EnjuElement) -> tuple[str, ...]:
    """The words, left to right."""
    return tuple(element.text for element in sentence.walk() if element.tag == "tok")


def phrases_of(sentence: EnjuElement) -> tuple[tuple[str, Span], ...]:
    """The id and the words of all phrases, parents before children; ValueError for a phrase without words."""
    spans: dict[str, Span] = {}
    count = len(words_of(sentence))
    for element in reversed(list(sentence.walk())):
        if element.tag == "tok":
            count -= 1
            spans[element.id] = Span(count, count + 1)
        elif element.children:
            spans[element.id] = Span(spans[element.children[0].id].begin, spans[element.children[-1].id].end)
        elif element.tag == "cons":
            raise ValueError(f"phrase {element.id} is empty; expected <cons> or <tok> in it")
    return tuple((element.id, spans[element.id]) for element in sentence.walk() if element.tag == "cons")


def aligned_ids(source: EnjuElement, target: EnjuElement, annotator: int) -> tuple[tuple[str, str], ...]:
    """The phrase pairs of one annotator by id, those marked in either file, sorted; `-1` stands for no phrase.

    ValueError if a partner is not a phrase of the other tree.
    """
    pairs = _marked(source, target, annotator)
    mirrored = _marked(target, source, annotator)
    return tuple(sorted(pairs | {(other, own) for own, other in mirrored}))


def _marked(own: EnjuElement, other: EnjuElement, annotator: int) -> set[tuple[str, str]]:
    known = {element.id for element in other.walk() if element.tag == "cons"}
    pairs = set()
    for element in own.walk():
        if element.tag != "cons":
            continue
        for partner in element.partners(annotator) or (NULL,):
            if partner != NULL and partner not in known:
                found = f"{element.id} has pa{annotator}={element.get(f'pa{annotator}')!r}"
                raise ValueError(f"{found}; expected phrases of sentence {other.id}, or {NULL}")
            pairs.add((element.id, partner))
    return pairs


def _depth(root: ElementTree.Element) -> int:
    depth, level = 0, [root]
    while level:
        depth, level = depth + 1, [child for element in level for child in element]
    return depth


def _element(element: ElementTree.Element) -> EnjuElement:
    children = tuple(_element(child) for child in element)
    return EnjuElement(element.tag, tuple(element.items()), children, element.text or "")


def _check_ids(sentence: EnjuElement) -> None:
    seen: set[str] = set()
    for element in sentence.walk():
        if element.tag not in ("sentence", "cons", "tok"):
            raise ValueError(f"found <{element.tag}>; expected <cons> or <tok>")
        if element.tag == "sentence":
            continue
        if not element.id or element.id in seen:
            raise ValueError(f"<{element.tag}> has id {element.id!r}; expected one of its own")
        seen.add(element.id)
