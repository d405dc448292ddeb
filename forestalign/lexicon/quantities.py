"""Quantities in a sentence, brought to a value with a dimension, and what those of two sentences are to each other.

Libraries were looked at first (grammar/README.md has the figures): none gives the words that a value stands for in a
tokenised sentence together with fractions, times of day, dates, ranges and comparators, so this is our own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from forestalign.lexicon.findings import DIFFERENT, EQUAL, MORE_GENERAL, MORE_SPECIFIC, SIMILAR, Finding, Parts
from forestalign.lexicon.numbers import (
    ARTICLES,
    Number,
    Unit,
    comparator_before,
    comparator_behind,
    currency_signs,
    number_words,
    read_number,
    read_unit,
    split_glued,
    units,
    word_value,
)
from forestalign.lexicon.times import Clock, Date, Years, read_clock, read_date, read_years
from forestalign.tokens import KEPT_WORDS

# shares of the larger value by which measures may differ: 26 miles and 42 km, a month and 30 days, a third and 33 %
CLOSE, ROUGH = Fraction(1, 200), Fraction(3, 200)
ROUNDED = Fraction(1, 25)  # the same for what is rounded from another unit: 32 miles from 52 km, which are 32.3
MONTH = 28 * 86400
WIDEST = 20  # a range ends at most at so many times its beginning: `rose 1/16 to 100` is none
DEGREES = frozenset({"temperature", "angle"})
AGES = frozenset({"aged", "age"})
MEASURES = frozenset({"length", "area", "mass", "volume", "speed", "temperature"})
CONVERTED = MEASURES | {"duration", "ratio"}
FINEST = Fraction(1, 10**6)  # digits of a figure that are looked at
UNMEASURED = frozenset({"count", "ordinal", "times"})
ALIKE = {"share": ("ratio", "points"), "degrees": ("temperature", "angle")}  # kinds that are said alike
DATE, CLOCK, YEARS = "date", "clock", "years"
TimeReader = Callable[[Parts, int], tuple[Date | Clock | Years, int] | None]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value of a dimension at parts begin <= i < end; a range has low < high.

    `core` is where the comparator (*about*) ends, `shell` the end of one that follows (*or more*).
    An implicit one (*an hour*) is never evidence against anything.
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
    shell: int = 0
    unit: Unit | None = None

    @property
    def whole(self) -> tuple[int, int]:
        """Begin and end with the comparators."""
        return self.begin, max(self.end, self.shell)


@lru_cache(maxsize=16)  # evidence, contradictions and measures of a pair ask for the same two sentences
def find_quantities(parts: Parts) -> tuple[Quantity, ...]:
    """All quantities, and the bare numbers inside them, by their place."""
    found: list[Quantity] = []
    index = 0
    while index < len(parts):
        quantities = _quantities_at(parts, index) if _may_begin(parts, index) else []
        found += quantities
        index = max((quantity.end for quantity in quantities), default=index + 1)
    return tuple(found)


def _may_begin(parts: Parts, index: int) -> bool:
    """Whether a quantity can begin with this word, asked of every word of a sentence; an article needs another."""
    form = parts.forms[index]
    if form not in ARTICLES and form != "the":
        return _is_of_quantity(form)
    return any(map(_is_of_quantity, (*parts.forms[index + 1 : index + 2], *parts.lemmas[index + 1 : index + 2])))


@lru_cache(maxsize=KEPT_WORDS)
def _is_of_quantity(form: str) -> bool:
    """Whether a word counts or measures."""
    if form in AGES or form in {"minus", "'"} or form in currency_signs() or any(map(str.isnumeric, form)):
        return True
    firsts = {name[0] for name in units()}
    return any(form in words for words in number_words().values()) or form in firsts or form.removesuffix("s") in firsts


def _quantities_at(parts: Parts, begin: int) -> list[Quantity]:
    readers: tuple[tuple[str, TimeReader], ...] = ((CLOCK, read_clock), (DATE, read_date), (YEARS, read_years))
    for dimension, reader in readers:
        if (time := reader(parts, begin)) is not None:
            return [Quantity(begin, begin, time[1], dimension, Fraction(0), Fraction(0), time=time[0])]
    if (sign := _sign(parts.forms[begin])) is not None:
        return _money(parts, begin, sign)
    if parts.forms[begin] in AGES:
        return _age(parts, begin)
    number = read_number(parts, begin)
    measured = _glued(parts, begin)
    if number is not None:
        return measured + _measured(parts, begin, number)
    return measured or _implicit(parts, begin)


def _sign(form: str) -> str | None:
    """The sign of money that a word is, or begins with before a figure."""
    if form in currency_signs():
        return form
    at = next((k for k, letter in enumerate(form[:5]) if letter.isdigit()), 0)
    return form[:at] if at and form[:at] in currency_signs() else None


def _money(parts: Parts, begin: int, sign: str) -> list[Quantity]:
    """A sign before a number, glued to it or not."""
    if parts.forms[begin] == sign:
        number = read_number(parts, begin + 1) if begin + 1 < len(parts) else None
    else:
        bare = parts.forms[begin][len(sign) :]
        number = read_number(replace(parts, forms=(*parts.forms[:begin], bare, *parts.forms[begin + 1 :])), begin)
    if number is None or number.kind != "count":
        return []
    return [_compared(parts, Quantity(begin, begin, number.end, currency_signs()[sign], number.value, number.value))]


def _age(parts: Parts, begin: int) -> list[Quantity]:
    """`aged 25`: as long as `25 years old`."""
    number = read_number(parts, begin + 1) if begin + 1 < len(parts) else None
    following = parts.lemmas[number.end] if number is not None and number.end < len(parts) else ""
    if number is None or number.kind != "count" or (following,) in units():
        return []
    bare = Quantity(begin + 1, begin + 1, number.end, "count", number.value, number.value)
    value = units()["year",][0].base(number.value)
    return [bare, replace(bare, begin=begin, core=begin, dimension="duration", low=value, high=value)]


def _glued(parts: Parts, begin: int) -> list[Quantity]:
    """`5km`, `80%`: a unit that is part of the word."""
    found = split_glued(parts.forms[begin])
    if found is None or (found[1],) not in units():
        return []
    values = [(unit, unit.base(found[0])) for unit in units()[found[1],]]
    return [
        _compared(parts, Quantity(begin, begin, begin + 1, unit.dimension, value, value, unit=unit))
        for unit, value in values
    ]


def _implicit(parts: Parts, begin: int) -> list[Quantity]:
    """`an hour`, `a fortnight`; `an hour and a half` counts in full."""
    if parts.forms[begin] not in ARTICLES or (found := read_unit(parts, begin + 1)) is None:
        return []
    (unit, *_), end = found
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
    is_share = number.kind == "ratio" and at == bare.end and parts.forms[begin] != "half"
    if found is None or number.kind in {"ordinal", "times"} or is_share:
        return [_compared(parts, bare)]
    kinds, end = found
    return [
        _compared(parts, bare),
        *(_compared(parts, _added(parts, _in_unit(parts, bare, unit, end))) for unit in kinds),
    ]


def _in_unit(parts: Parts, bare: Quantity, unit: Unit, end: int) -> Quantity:
    """`25 years`, and `25 years old`, which is as long."""
    is_age = unit.dimension == "duration" and parts.forms[end : end + 1] == ("old",)
    is_below = unit.dimension in DEGREES and parts.forms[end : end + 2] == ("below", "zero")
    low, high = (
        sorted((unit.base(-bare.low), unit.base(-bare.high))) if is_below else map(unit.base, (bare.low, bare.high))
    )
    return replace(bare, end=end + is_age + 2 * is_below, dimension=unit.dimension, low=low, high=high, unit=unit)


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
    found = read_unit(parts, number.end) if number and number.kind == "count" else None
    unit = next((each for each in found[0] if each.dimension == whole.dimension), None) if found else None
    if number is None or found is None or unit is None or whole.dimension == "temperature":
        return whole
    more = unit.base(number.value)
    is_smaller = whole.low == whole.high and more < whole.low
    total = replace(whole, end=found[1], low=whole.low + more, high=whole.high + more, unit=None)
    return total if is_smaller else whole


def _compared(parts: Parts, quantity: Quantity) -> Quantity:
    if found := comparator_before(parts, quantity.begin):
        return replace(quantity, begin=found[1], comparator=found[0])
    if found := comparator_behind(parts, quantity.end):
        return replace(quantity, comparator=found[0], shell=found[1])
    return quantity


# ---- two sentences ----


def quantity_findings(source: Parts, target: Parts) -> Iterator[Finding]:
    """Equal values, values of which one holds the other, and different values of one dimension.

    A value that has an equal on the other side has its partner, and so has the number in it (the *three* of
    *three days*, which are *72 hours*): that others differ from it says nothing new.
    """
    others = find_quantities(target)
    quantities = find_quantities(source) if others else ()
    compared = [
        (left, right, relation) for left in quantities for right in others if (relation := compare(left, right))
    ]
    own = [left for left, _, relation in compared if relation == EQUAL]
    other = [right for _, right, relation in compared if relation == EQUAL]
    for left, right, relation in compared:
        if relation != DIFFERENT or not (_is_held(left, own) or _is_held(right, other)):
            yield from _spans(source, target, left, right, relation)
            yield from _digits_apart(source, target, left, right, relation)


def _is_held(one: Quantity, matched: Sequence[Quantity]) -> bool:
    return any(each.core <= one.core and one.end <= each.end for each in matched)


def _spans(source: Parts, target: Parts, left: Quantity, right: Quantity, relation: str) -> Iterator[Finding]:
    """The quantities without their comparators, and with them where there are any; same words need no evidence."""
    bare, whole = ((left.core, left.end), (right.core, right.end)), (left.whole, right.whole)
    for own, other in sorted({bare, whole}):
        same = source.forms[slice(*own)] == target.forms[slice(*other)]
        tokens = source.whole_tokens(range(*own)), target.whole_tokens(range(*other))
        if all(tokens) and not same:
            yield Finding(*tokens, relation if (own, other) == bare else with_comparators(left, right, relation))


def _digits_apart(source: Parts, target: Parts, left: Quantity, right: Quantity, relation: str) -> Iterator[Finding]:
    """Of two different counts no word is the other's: the *three* of *three hundred* is not *3*."""
    if relation != DIFFERENT or left.dimension != "count" or left.end - left.core + right.end - right.core == 2:
        return
    for i in range(left.core, left.end):
        for j in range(right.core, right.end):
            tokens = source.whole_tokens((i,)), target.whole_tokens((j,))
            is_number = word_value(source.forms[i]) is not None and word_value(target.forms[j]) is not None
            if all(tokens) and is_number and source.forms[i] != target.forms[j]:
                yield Finding(*tokens, DIFFERENT)


def compare(left: Quantity, right: Quantity) -> str:
    """The relation of two values, comparators aside; empty where they cannot be compared."""
    if left.time is not None or right.time is not None:
        return _compare_times(left, right)
    if left.dimension != right.dimension:
        return ""
    if _is_near(left.low, right.low, left.dimension) and _is_near(left.high, right.high, left.dimension):
        return EQUAL
    if _is_rounded_from(left, right) or _is_rounded_from(right, left):
        return EQUAL
    if left.is_implicit or right.is_implicit:
        return ""
    if left.low <= right.low and right.high <= left.high:
        return MORE_SPECIFIC
    return MORE_GENERAL if right.low <= left.low and left.high <= right.high else DIFFERENT


def _is_near(left: Fraction, right: Fraction, dimension: str) -> bool:
    """Counts and money have to be equal; measures that were converted, and rounded shares, may differ a little."""
    if left == right or dimension not in CONVERTED:
        return left == right
    if dimension == "ratio":
        return _is_rounded(left, right) or _is_rounded(right, left)
    is_rough = dimension == "duration" and min(left, right) >= MONTH
    return abs(left - right) <= (ROUGH if is_rough else CLOSE) * max(abs(left), abs(right))


def _is_rounded_from(figure: Quantity, exact: Quantity) -> bool:
    """Whether a measure is the other one in its own unit, rounded: 32 miles of 52 km, 100 km of 60 miles."""
    if figure.unit is None or exact.unit is None or figure.unit == exact.unit or figure.dimension not in MEASURES:
        return False
    return all(
        abs(own - other) <= ROUNDED * max(abs(own), abs(other)) and _rounds_to(figure.unit, own, other)
        for own, other in ((figure.low, exact.low), (figure.high, exact.high))
    )


def _rounds_to(unit: Unit, figure: Fraction, exact: Fraction) -> bool:
    """Whether a value is another one, rounded to as many digits as the figure shows; noughts at its end show none."""
    shown, step = unit.number(figure), Fraction(1)
    while (shown / step).denominator != 1 and step > FINEST:
        step /= 10
    while shown and (shown / step / 10).denominator == 1:
        step *= 10
    return 2 * abs(shown - unit.number(exact)) <= step


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
            return EQUAL if own == other else _compare_years(own, other)
        case Years() as own, None if right.dimension == "count":
            return MORE_SPECIFIC if own.begin <= right.low < own.end and right.low == right.high else ""
        case None, Years() as other if left.dimension == "count":
            return MORE_GENERAL if other.begin <= left.low < other.end and left.low == left.high else ""
    return ""


def _compare_dates(own: Date, other: Date) -> str:
    """The best of all readings: 3/4/2020 may be a day in March or in April."""
    order = (EQUAL, MORE_SPECIFIC, MORE_GENERAL, SIMILAR, DIFFERENT)
    found = {_compare_days(mine, its) for mine in own.readings() for its in other.readings()}
    return min(found, key=order.index)


def _compare_days(own: tuple[int, int, int], other: tuple[int, int, int]) -> str:
    if any(mine and its and mine != its for mine, its in zip(own, other, strict=True)):
        return DIFFERENT
    if own == other:
        return EQUAL
    known, its = {i for i, value in enumerate(own) if value}, {i for i, value in enumerate(other) if value}
    return MORE_SPECIFIC if known < its else MORE_GENERAL if its < known else SIMILAR


def _compare_years(own: Years, other: Years) -> str:
    if own.begin <= other.begin and other.end <= own.end:
        return MORE_SPECIFIC
    return MORE_GENERAL if other.begin <= own.begin and own.end <= other.end else DIFFERENT


# ---- measures ----


def find_measures(parts: Parts) -> dict[tuple[int, ...], set[str]]:
    """The tokens of each number with its unit, and all that it may measure: a pound is weight or money.

    Counts, dates and what measures nothing (*three times*) are none.
    """
    found: dict[tuple[int, ...], set[str]] = defaultdict(set)
    for each in find_quantities(parts):
        if each.time is None and each.dimension not in UNMEASURED:
            kind = next((name for name, kinds in ALIKE.items() if each.dimension in kinds), each.dimension)
            found[tuple(sorted({parts.tokens[index] for index in range(each.core, each.end)}))].add(kind)
    return found
