"""What one sentence says and the other does not: one list of differences, each with its words and a reason."""

from __future__ import annotations

from typing import NamedTuple

from forestalign.lexicon.findings import DIFFERENT, OTHER_ROLES
from forestalign.lexicon.findings import OPPOSITE as OPPOSITE_RELATION
from forestalign.tokens import Sentence, Span

NEGATION = "negation"  # denied on one side only
OPPOSITE = "opposite"  # cheap, expensive
NUMBER = "number"  # another value
TIME = "time"  # another weekday, month, half of the day; before and after
NAME = "name"
MODALITY = "modality"  # must, may
QUANTIFIER = "quantifier"  # all, some
FREQUENCY = "frequency"  # always, usually
DIRECTION = "direction"  # from A to B, from B to A
ROLES = "roles"  # two words changed places
COMPARISON = "comparison"  # A better than B, B better than A; more, less
DEGREE = "degree"  # very, hardly
OTHER = "other word"  # tea, coffee
LEFT_OUT, ADDED = "left out", "added"
KINDS = (
    NEGATION, OPPOSITE, ROLES, DIRECTION, COMPARISON, NUMBER, TIME, NAME, MODALITY, QUANTIFIER, FREQUENCY, DEGREE,
    OTHER, LEFT_OUT, ADDED,
)  # fmt: skip


class Difference(NamedTuple):
    """One difference: its kind, the numbers of its words on both sides, and the reason, said of the target.

    Reasons read forwards: *must became may*, *negated in the target only: n't*, *dog and man changed places*.
    """

    kind: str  # of KINDS
    source: tuple[int, ...]
    target: tuple[int, ...]
    reason: str

    @property
    def contradicts(self) -> bool:
        """Whether the two sides cannot both hold; what is left out or added is more or less of the same."""
        return self.kind not in (LEFT_OUT, ADDED)

    @property
    def relation(self) -> str:
        """The relation that it gives to a pair of phrases around it."""
        if self.kind in (NEGATION, OPPOSITE):
            return OPPOSITE_RELATION
        return OTHER_ROLES if self.kind in (ROLES, DIRECTION, COMPARISON) else DIFFERENT

    def is_inside(self, source: Span, target: Span) -> bool:
        """Whether all of its words are in two spans."""
        return all(word in range(*source) for word in self.source) and all(
            word in range(*target) for word in self.target
        )


def describe(kind: str, own: tuple[int, ...], other: tuple[int, ...], source: Sentence, target: Sentence) -> Difference:
    """A difference of these words of two sentences, with its reason."""
    if kind == ROLES:
        names = {source.words[word].lower() for word in own}
        begin = int(len(names) == len(own)) - 1  # this year and last year: with the word before them
        reason = " and ".join(" ".join(source.words[max(0, k + begin) : k + 1]) for k in own) + " changed places"
    elif kind == NEGATION:
        side = "source" if own else "target"
        reason = f"negated in the {side} only: {_text(source, own) or _text(target, other)}"
    else:
        reason = f"{_text(source, own)} became {_text(target, other)}"
    return Difference(kind, own, other, reason)


def _text(sentence: Sentence, words: tuple[int, ...]) -> str:
    return sentence.phrase(Span(words[0], words[-1] + 1)) if words else ""
