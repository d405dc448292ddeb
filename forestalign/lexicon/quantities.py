"""Quantities in a sentence, brought to a value with a dimension, and what those of two sentences are to each other.

Libraries were looked at first (grammar/README.md has the figures): none gives the words that a value stands for in a
tokenised sentence together with fractions, times of day, dates, ranges and comparators, so this is our own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from forestalign.lexicon.findings import DIFFERENT, EQUAL, MORE_GENERAL, MORE_SPECIFIC, SIMILAR, Finding
from forestalign.lexicon.numbers import ARTICLES, Number, number_words, read_number
from forestalign.lexicon.phrase_text import Parts
from forestalign.lexicon.times import MONTHS, NAMED_HOURS, Clock, Date, Years, read_clock, read_date, read_years
from forestalign.lexicon.units import CURRENCY_SIGNS, comparator_before, read_unit
from forestalign.tokens import KEPT_WORDS

# shares of the larger value by which measures may differ: 26 miles and 42 km, a month and 30 days, a third and 33 %
CLOSE, ROUGH = Fraction(1, 200), Fraction(3, 200)
MONTH = 28 * 86400
WIDEST = 20  # a range ends at most at so many times its beginning: `rose 1/16 to 100` is none
CONVERTED = frozenset({"duration", "length", "area", "mass", "volume", "speed", "temperature", "ratio"})
DATE, CLOCK, YEARS = "date", "clock", "years"
TimeReader = Callable[[Parts, int], tuple[Date | Clock | Years, int] | None]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value of a dimension at parts begin <= i < end; a range has low < high.

    `core` is where the comparator (*about*) ends. An implicit one (*an hour*) is never evidence against anything.
    """

    begin: int
    core: int
    end: int
    dimension: str
    low: Fraction
    high: Fraction
    comparator: str = "="
    is_implicit: bool = False
    time: Date | Clock | Years | None = None


def find_quantities(parts: Parts) -> tuple[Quantity, ...]:
    """All quantities, and the bare numbers inside them, by their place."""
    found: list[Quantity] = []
    index = 0
    while index < len(parts):
        quantities = _quantities_at(parts, index) if may_begin(parts.forms[index]) else []
        found += quantities
        index = max((quantity.end for quantity in quantities), default=index + 1)
    return tuple(found)


@lru_cache(maxsize=KEPT_WORDS)
def may_begin(form: str) -> bool:
    """Whether a quantity can begin with this word, asked of every word of a sentence."""
    if form in ARTICLES or form in MONTHS or form in NAMED_HOURS or form in CURRENCY_SIGNS:
        return True
    return any(map(str.isnumeric, form)) or any(form in words for words in number_words().values())


def _quantities_at(parts: Parts, begin: int) -> list[Quantity]:
    readers: tuple[tuple[str, TimeReader], ...] = ((CLOCK, read_clock), (DATE, read_date), (YEARS, read_years))
    for dimension, reader in readers:
        if (time := reader(parts, begin)) is not None:
            return [Quantity(begin, begin, time[1], dimension, Fraction(0), Fraction(0), time=time[0])]
    money = CURRENCY_SIGNS.get(parts.forms[begin])
    glued = CURRENCY_SIGNS.get(parts.forms[begin][:1]) if len(parts.forms[begin]) > 1 else None
    if glued or money:
        return _money(parts, begin, glued, money or "")
    number = read_number(parts, begin)
    if number is None:
        return _implicit(parts, begin)
    return _measured(parts, begin, number)


def _money(parts: Parts, begin: int, glued: str | None, dimension: str) -> list[Quantity]:
    """A sign before a number, glued to it or not."""
    if glued:
        stripped = replace(parts, forms=(*parts.forms[:begin], parts.forms[begin][1:], *parts.forms[begin + 1 :]))
        number = read_number(stripped, begin)
    else:
        number = read_number(parts, begin + 1) if begin + 1 < len(parts) else None
    if number is None or number.kind != "count":
        return []
    return [_compared(parts, Quantity(begin, begin, number.end, glued or dimension, number.value, number.value))]


def _implicit(parts: Parts, begin: int) -> list[Quantity]:
    """`an hour`, `a fortnight`; `an hour and a half` counts in full."""
    if parts.forms[begin] not in ARTICLES or (found := read_unit(parts, begin + 1)) is None:
        return []
    unit, end = found
    has_half = parts.forms[end : end + 3] == ("and", "a", "half")
    value = unit.base(Fraction(3, 2) if has_half else Fraction(1))
    end += 3 * has_half
    return [Quantity(begin, begin, end, unit.dimension, value, value, is_implicit=not has_half)]


def _measured(parts: Parts, begin: int, number: Number) -> list[Quantity]:
    """The number, and the number with its unit; both where there is a unit."""
    bare = Quantity(begin, begin, number.end, number.kind, number.value, number.value)
    bare = _ranged(parts, bare)
    at = bare.end + (number.kind == "ratio" and parts.forms[bare.end : bare.end + 1] in {("a",), ("an",)})
    at += 2 * (parts.forms[at : at + 2] in {("of", "a"), ("of", "an")})
    found = read_unit(parts, at)
    if found is None or number.kind in {"ordinal", "times"} or (number.kind == "ratio" and at == bare.end):
        return [_compared(parts, bare)]
    unit, end = found
    low, high = unit.base(bare.low), unit.base(bare.high)
    whole = replace(bare, end=end, dimension=unit.dimension, low=low, high=high)
    return [replace(bare, is_implicit=False), _compared(parts, _added(parts, whole))]


def _ranged(parts: Parts, bare: Quantity) -> Quantity:
    """`10 to 15`, `between 10 and 15`, `10-15` (the hyphen is gone already)."""
    forms, end = parts.forms, bare.end
    before = forms[bare.begin - 1] if bare.begin else ""
    is_range = forms[end : end + 1] == ("to",) or (before == "between" and forms[end : end + 1] == ("and",))
    is_joined = end < len(parts) and end == bare.begin + 1 and parts.tokens[end] == parts.tokens[bare.begin]
    at = end + is_range
    if bare.dimension != "count" or not (is_range or is_joined) or at >= len(parts):
        return bare
    second = read_number(parts, at)
    if second is None or second.kind != "count" or not bare.low < second.value <= WIDEST * bare.low:
        return bare
    begin = bare.begin - (before == "between")
    return replace(bare, begin=begin, core=begin, end=second.end, high=second.value)


def _added(parts: Parts, whole: Quantity) -> Quantity:
    """`5 feet 3 inches`, `two hours and 30 minutes`."""
    at = whole.end + (parts.forms[whole.end : whole.end + 1] == ("and",))
    number = read_number(parts, at) if at < len(parts) else None
    unit = read_unit(parts, number.end) if number and number.kind == "count" else None
    if number is None or unit is None or unit[0].dimension != whole.dimension or whole.dimension == "temperature":
        return whole
    more = unit[0].base(number.value)
    is_smaller = whole.low == whole.high and more < whole.low
    return replace(whole, end=unit[1], low=whole.low + more, high=whole.high + more) if is_smaller else whole


def _compared(parts: Parts, quantity: Quantity) -> Quantity:
    found = comparator_before(parts, quantity.begin)
    return replace(quantity, begin=found[1], comparator=found[0]) if found else quantity


# ---- two sentences ----


def quantity_findings(source: Parts, target: Parts) -> Iterator[Finding]:
    """Equal values, values of which one holds the other, and different values of one dimension.

    A value that has an equal on the other side has its partner: that others differ from it says nothing new.
    """
    others = find_quantities(target)
    quantities = find_quantities(source) if others else ()
    compared = [
        (left, right, relation) for left in quantities for right in others if (relation := compare(left, right))
    ]
    matched = {id(one) for left, right, relation in compared if relation == EQUAL for one in (left, right)}
    for left, right, relation in compared:
        if relation != DIFFERENT or not {id(left), id(right)} & matched:
            yield from _spans(source, target, left, right, relation)


def _spans(source: Parts, target: Parts, left: Quantity, right: Quantity, relation: str) -> Iterator[Finding]:
    """The quantities without their comparators, and with them where there are any; same words need no evidence."""
    begins = {(left.core, right.core), (left.begin, right.begin)}
    for own, other in sorted(begins):
        same = source.forms[own : left.end] == target.forms[other : right.end]
        tokens = source.whole_tokens(range(own, left.end)), target.whole_tokens(range(other, right.end))
        has_comparators = (own, other) != (left.core, right.core)
        if all(tokens) and not same:
            yield Finding(*tokens, with_comparators(left, right, relation) if has_comparators else relation)


def compare(left: Quantity, right: Quantity) -> str:
    """The relation of two values, comparators aside; empty where they cannot be compared."""
    if left.time is not None or right.time is not None:
        return _compare_times(left, right)
    if left.dimension != right.dimension:
        return ""
    if _is_near(left.low, right.low, left.dimension) and _is_near(left.high, right.high, left.dimension):
        return EQUAL
    if left.is_implicit or right.is_implicit:
        return ""
    if left.low <= right.low and right.high <= left.high:
        return MORE_GENERAL
    return MORE_SPECIFIC if right.low <= left.low and left.high <= right.high else DIFFERENT


def _is_near(left: Fraction, right: Fraction, dimension: str) -> bool:
    """Counts and money have to be equal; measures that were converted, and rounded shares, may differ a little."""
    if left == right or dimension not in CONVERTED:
        return left == right
    if dimension == "ratio":
        return _is_rounded(left, right) or _is_rounded(right, left)
    is_rough = dimension == "duration" and min(left, right) >= MONTH
    return abs(left - right) <= (ROUGH if is_rough else CLOSE) * max(abs(left), abs(right))


def _is_rounded(share: Fraction, figure: Fraction) -> bool:
    """A third has no end in figures, so 33 % is what it is called; 75 % and 76 % are two values."""
    has_no_end = (10**9) % share.denominator != 0
    return has_no_end and abs(share - figure) <= ROUGH * share


def with_comparators(left: Quantity, right: Quantity, relation: str) -> str:
    """`over 20` and `20` are similar, `over 20` and `under 20` differ."""
    signs = {left.comparator[:1], right.comparator[:1]}
    if relation != EQUAL:
        return relation
    if left.comparator == right.comparator:
        return EQUAL
    return DIFFERENT if signs == {"<", ">"} else SIMILAR


def _compare_times(left: Quantity, right: Quantity) -> str:
    match left.time, right.time:
        case Date() as own, Date() as other:
            return _compare_dates(own, other)
        case Clock() as own, Clock() as other:
            period = 720 if own.is_open or other.is_open else 1440
            return EQUAL if (own.minutes - other.minutes) % period == 0 else DIFFERENT
        case Years() as own, Years() as other:
            return EQUAL if own == other else _held(own, other)
        case Years() as own, None if right.dimension == "count":
            return MORE_GENERAL if own.begin <= right.low < own.end and right.low == right.high else ""
        case None, Years() as other if left.dimension == "count":
            return MORE_SPECIFIC if other.begin <= left.low < other.end and left.low == left.high else ""
    return ""


def _compare_dates(own: Date, other: Date) -> str:
    if any(mine and its and mine != its for mine, its in zip(own, other, strict=True)):
        return DIFFERENT
    if own == other:
        return EQUAL
    known, its = {i for i, value in enumerate(own) if value}, {i for i, value in enumerate(other) if value}
    return MORE_GENERAL if known < its else MORE_SPECIFIC if its < known else SIMILAR


def _held(own: Years, other: Years) -> str:
    if own.begin <= other.begin and other.end <= own.end:
        return MORE_GENERAL
    return MORE_SPECIFIC if other.begin <= own.begin and own.end <= other.end else DIFFERENT
