"""Units and comparators: the tables by which a number becomes a quantity."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, read_rows
from forestalign.lexicon.phrase_text import Parts

BEHIND = "…"  # begins an expression that follows its number
MOST_SIGN = 3  # letters of a sign, which has no plural: ms are no metres
COMPARATORS = ("~", ">", ">=", "<", "<=")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of a dimension: base value = number * factor + offset."""

    dimension: str
    factor: Fraction
    offset: Fraction = Fraction(0)

    def base(self, value: Fraction) -> Fraction:
        """A number of this unit in the base unit of its dimension."""
        return value * self.factor + self.offset

    def number(self, base: Fraction) -> Fraction:
        """How many of this unit a value in the base unit is."""
        return (base - self.offset) / self.factor


Names = dict[tuple[str, ...], tuple[Unit, ...]]


@cache
def units() -> Names:
    """The units of grammar/units.tsv by their names, word by word."""
    return read_units(grammar_root() / "units.tsv")


def read_units(path: Path) -> Names:
    """Rows DIMENSION, FACTOR or FACTOR,OFFSET, NAMES separated by `|`; a name may be a unit of several dimensions."""
    names: Names = {}
    for number, (dimension, text, row) in read_rows(path, 3):
        try:
            values = [Fraction(value) for value in text.split(",")]
        except (ValueError, ZeroDivisionError):
            values = []
        if len(values) not in (1, 2) or values[0] <= 0:
            raise GrammarError(path, number, f"{text!r}: expected a positive factor, or factor,offset")
        for name in row.split("|"):
            words = tuple(name.split())
            if not words or any(unit.dimension == dimension for unit in names.get(words, ())):
                raise GrammarError(
                    path, number, f"{name.strip()!r}: expected names separated by |, each once in a dimension"
                )
            names[words] = (*names.get(words, ()), Unit(dimension, *values))
    return names


@cache
def currency_signs() -> dict[str, str]:
    """The dimensions of grammar/currency_signs.tsv by their signs."""
    return read_currency_signs(grammar_root() / "currency_signs.tsv")


def read_currency_signs(path: Path) -> dict[str, str]:
    """Rows SIGN, DIMENSION."""
    table: dict[str, str] = {}
    for number, (sign, dimension) in read_rows(path, 2):
        if sign in table or sign != sign.lower() or " " in sign:
            raise GrammarError(path, number, f"{sign!r}: expected a new sign in lower case")
        table[sign] = dimension
    return table


def read_unit(parts: Parts, begin: int) -> tuple[tuple[Unit, ...], int] | None:
    """The longest unit that stands here, in all its dimensions (*pound*), and its end."""
    for length in (3, 2, 1):
        end = begin + length
        if end > len(parts):
            continue
        forms = parts.forms[begin:end]
        single = forms[-1].removesuffix("s") if len(forms[-1]) > MOST_SIGN else forms[-1]  # where a tag hid the plural
        lasts = (parts.lemmas[end - 1], single)
        for words in (forms, (parts.lemmas[begin], *forms[1:]), *((*forms[:-1], last) for last in lasts)):
            if (found := units().get(words)) is not None:
                return found, end
    return None


@cache
def comparators() -> dict[tuple[str, ...], str]:
    """The signs of grammar/comparators.tsv by their expressions, word by word."""
    return read_comparators(grammar_root() / "comparators.tsv")


def read_comparators(path: Path) -> dict[tuple[str, ...], str]:
    """Rows SIGN, EXPRESSIONS separated by `|`."""
    table: dict[tuple[str, ...], str] = {}
    for number, (sign, row) in read_rows(path, 2):
        expressions = [tuple(expression.split()) for expression in row.split("|")]
        if sign not in COMPARATORS or not all(expressions) or table.keys() & set(expressions):
            raise GrammarError(path, number, f"{sign!r}, {row!r}: expected a sign and expressions, each once")
        table |= dict.fromkeys(expressions, sign)
    return table


def comparator_behind(parts: Parts, begin: int) -> tuple[str, int] | None:
    """The longest comparator that begins here (*or more*), and its end."""
    for length in (3, 2, 1):
        end = begin + length
        if end <= len(parts) and (sign := comparators().get((BEHIND, *parts.forms[begin:end]))) is not None:
            return sign, end
    return None


def comparator_before(parts: Parts, end: int) -> tuple[str, int] | None:
    """The longest comparator that ends here, and its beginning."""
    for length in (4, 3, 2, 1):
        begin = end - length
        if begin >= 0 and (sign := comparators().get(parts.forms[begin:end])) is not None:
            return sign, begin
    return None
