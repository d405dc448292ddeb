"""Heads and relations of the tokens while they are being corrected."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from forestalign.dependencies.word_lists import word_lists

ROOT = -1
_MARKERS = {"nmod": "case", "obl": "case", "advcl": "mark", "conj": "cc"}


@cache
def _fixed_firsts() -> tuple[frozenset[str], int]:
    """The first words of the fixed expressions, and the length of the longest."""
    fixed = word_lists().fixed
    return frozenset(expression[0] for expression in fixed), max(len(expression) for expression in fixed)


class Graph:
    """A dependency for each token, set one by one and then put right as a whole."""

    def __init__(self, words: Sequence[str]):
        self.heads = [ROOT] * len(words)
        self.relations = [""] * len(words)
        self._words = words
        self._moved: dict[int, int] = {}

    def attach(self, token: int, head: int, relation: str) -> None:
        """Make one word depend on another by a relation."""
        self.heads[token], self.relations[token] = head, relation

    def move(self, copula: int, head: int) -> None:
        """All that hangs on a bare copula is to hang on the word that is the predicate."""
        self._moved[copula] = head

    def finish(self) -> None:
        """The dependencies, every word attached."""
        self._move_dependents()
        self._join_fixed_expressions()
        self._mark_passives()
        self._add_case_and_conjunction()

    def _move_dependents(self) -> None:
        for token, head in enumerate(self.heads):
            target = self._moved.get(head)
            if target is not None and target != token:
                self.heads[token] = target

    def _join_fixed_expressions(self) -> None:
        firsts, longest = _fixed_firsts()
        begin = 0
        while begin < len(self._words):
            if self._words[begin] not in firsts:
                begin += 1
                continue
            for end in range(min(begin + longest, len(self._words)), begin + 1, -1):
                if tuple(self._words[begin:end]) in word_lists().fixed and self._join(begin, end):
                    begin = end - 1
                    break
            begin += 1

    def _join(self, begin: int, end: int) -> bool:
        """Make the words of an expression hang on its first, if they all hang on one word or on each other."""
        inside = range(begin, end)
        outer = {self.heads[token] for token in inside if self.heads[token] not in inside}
        governed = [token for token, head in enumerate(self.heads) if head in inside and token not in inside]
        if len(outer) != 1 or ROOT in outer or governed:
            return False
        names = {self.relations[token] for token in inside if self.heads[token] in outer}
        name = next((name for name in ("case", "mark", "cc", "advmod") if name in names), "")
        self.attach(begin, outer.pop(), name or "advmod")
        for token in range(begin + 1, end):
            self.attach(token, begin, "fixed")
        return True

    def _mark_passives(self) -> None:
        passive = {self.heads[token] for token, name in enumerate(self.relations) if name == "aux:pass"}
        for token, name in enumerate(self.relations):
            if name in ("nsubj", "csubj") and self.heads[token] in passive:
                self.relations[token] = f"{name}:pass"

    def _add_case_and_conjunction(self) -> None:
        """nmod -> nmod:in, advcl -> advcl:if, conj -> conj:and."""
        markers: dict[tuple[int, str], int] = {}
        for token, name in enumerate(self.relations):
            markers.setdefault((self.heads[token], name), token)
        for token, name in enumerate(self.relations):
            marker = markers.get((token, _MARKERS.get(name, "")))
            if marker is not None:
                self.relations[token] = f"{name}:{self._expression(marker)}"

    def _expression(self, marker: int) -> str:
        parts = [self._words[marker]]
        for token in range(marker + 1, len(self._words)):
            if self.heads[token] != marker or self.relations[token] != "fixed":
                break
            parts.append(self._words[token])
        return "_".join(parts)
