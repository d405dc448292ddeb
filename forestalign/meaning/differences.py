"""What one sentence says and the other does not: one list of differences, each with its words and a reason."""

from __future__ import annotations

from typing import NamedTuple

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
    NEGATION,
    OPPOSITE,
    ROLES,
    DIRECTION,
    COMPARISON,
    NUMBER,
    TIME,
    NAME,
    MODALITY,
    QUANTIFIER,
    FREQUENCY,
    DEGREE,
    OTHER,
    LEFT_OUT,
    ADDED,
)


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
