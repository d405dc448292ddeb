"""Numbers in words and digits, read from a place in a sentence, and the units and comparators beside them.

Values are exact fractions, so that *two thirds* and *2/3* are equal. What no text would hold
(`1e999`, *a zillion*, thirty digits) is not a number here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, read_rows
from forestalign.lexicon.findings import Parts

LISTS = (
    "unit", "tens", "scale", "group", "few", "ordinal", "part", "decade", "times", "month", "hour", "half",
    "daytime", "suffix",
)  # fmt: skip
DIGITS = re.compile(r"-?(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:\.\d{1,9})?|\.\d{1,9}")
SLASHED = re.compile(r"(\d{1,4})/(\d{1,4})")
ORDINAL = re.compile(r"(\d{1,4})(?:st|nd|rd|th)")
GLUED = re.compile(r"([-\d,./]*\d)([^\d,./-].*)")  # 20k, 5km, 2½
LEAST_CENTURY = 15  # of a year in words: fifteen ninety, twenty ten
VULGAR = {"½": Fraction(1, 2), "¼": Fraction(1, 4), "¾": Fraction(3, 4), "⅓": Fraction(1, 3), "⅔": Fraction(2, 3)}
ARTICLES = frozenset({"a", "an"})
NUMBER_TAGS = frozenset({"CD", "NN", "NNS", "NNP", "JJ", "DT", "PDT", "RB", ""})
NOUN_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS", "JJ"})
BEHIND = "…"  # begins an expression that follows its number
MOST_SIGN = 3  # letters of a sign, which has no plural: ms are no metres
COMPARATORS = ("~", ">", ">=", "<", "<=")


class Number(NamedTuple):
    """A value and where it ends; `kind` is count, ratio, ordinal, or times."""

    value: Fraction
    end: int
    kind: str = "count"


@cache
def number_words() -> dict[str, dict[str, int]]:
    """The lists of grammar/number_words.tsv: word -> value."""
    return read_number_words(grammar_root() / "number_words.tsv")


def read_number_words(path: Path) -> dict[str, dict[str, int]]:
    """Rows LIST, WORD, VALUE."""
    lists: dict[str, dict[str, int]] = {name: {} for name in LISTS}
    for number, (name, word, value) in read_rows(path, 3):
        if name not in lists or word in lists[name] or not value.isdecimal():
            raise GrammarError(path, number, f"{name!r}, {word!r}, {value!r}: expected a list, a new word and a number")
        lists[name][word] = int(value)
    return lists


def read_number(parts: Parts, begin: int) -> Number | None:
    """The longest number that begins here."""
    if parts.forms[begin] == "minus" and begin + 1 < len(parts):
        number = _cardinal(parts, begin + 1)
        return number._replace(value=-number.value) if number is not None and number.kind == "count" else None
    for reader in (_ratio_of_two, _fraction, _compound_ordinal, _cardinal, _ordinal):
        if (number := reader(parts, begin)) is not None:
            return number
    return None


def digits(text: str) -> Fraction | None:
    """The value of a number in figures."""
    if text in VULGAR:
        return VULGAR[text]
    if (match := SLASHED.fullmatch(text)) and int(match[2]):
        return Fraction(int(match[1]), int(match[2]))
    return Fraction(text.replace(",", "")) if DIGITS.fullmatch(text) else None


def _small(parts: Parts, index: int) -> tuple[int, int] | None:
    """Words below one hundred: value and end."""
    if index >= len(parts) or parts.tags[index] not in NUMBER_TAGS:
        return None
    words, form = number_words(), parts.forms[index]
    if form in words["unit"] and (form != "one" or parts.tags[index] in {"CD", ""}):
        return words["unit"][form], index + 1
    if form not in words["tens"]:
        return None
    following = parts.forms[index + 1] if index + 1 < len(parts) else ""
    unit = words["unit"].get(following, 0)
    return (words["tens"][form] + unit, index + 2) if 0 < unit < 10 else (words["tens"][form], index + 1)


def _leading(parts: Parts, begin: int) -> tuple[Fraction, int] | None:
    """What a number begins with: figures, small number words, or an article before a large word."""
    form = parts.forms[begin]
    value = digits(form)
    if value is not None:
        following = _below_one(parts, begin + 1) if value.denominator == 1 else None
        return (value + following, begin + 2) if following else (value, begin + 1)
    if (glued := _glued(form)) is not None:
        return glued, begin + 1
    if small := _year_in_words(parts, begin) or _small(parts, begin):
        return Fraction(small[0]), small[1]
    if form in ARTICLES or form in number_words()["scale"] or form in number_words()["group"]:
        at = begin + (form in ARTICLES)
        large = parts.forms[at] if at < len(parts) else ""
        if large in number_words()["scale"] or large in number_words()["group"]:
            return Fraction(1), at
    return None


def same_number(left: str, right: str) -> bool:
    """Whether two words, in figures or not, are one value; words that are not numbers are not."""
    one, other = word_value(left.lower()), word_value(right.lower())
    return one is not None and one == other


def word_value(form: str) -> Fraction | None:
    """The value of one lower-case word."""
    if (value := digits(form)) is not None:
        return value
    for name in ("unit", "tens", "scale", "group"):
        if form in number_words()[name]:
            return Fraction(number_words()[name][form])
    return _glued(form)


def split_glued(form: str) -> tuple[Fraction, str] | None:
    """Figures and what is glued to them: `20k`, `5km`."""
    match = GLUED.fullmatch(form)
    value = digits(match[1]) if match else None
    return (value, match[2]) if match and value is not None else None


def _glued(form: str) -> Fraction | None:
    """`20k`, `2½`."""
    found = split_glued(form)
    if found is None:
        return None
    value, rest = found
    if rest in VULGAR:
        return value + VULGAR[rest] if value.denominator == 1 else None
    scale = number_words()["suffix"].get(rest)
    return value * scale if scale else None


def _below_one(parts: Parts, index: int) -> Fraction | None:
    """The `1/2` of `2 1/2`, the `½` of `2 ½`."""
    form = parts.forms[index] if index < len(parts) else ""
    value = digits(form) if form in VULGAR or SLASHED.fullmatch(form) else None
    return value if value is not None and 0 < value < 1 else None


def _year_in_words(parts: Parts, begin: int) -> tuple[int, int] | None:
    """`nineteen ninety-five`, `twenty ten`; nobody counts so."""
    century = number_words()["unit"].get(parts.forms[begin]) or number_words()["tens"].get(parts.forms[begin], 0)
    rest = _small(parts, begin + 1) if LEAST_CENTURY <= century <= 20 else None
    return (100 * century + rest[0], rest[1]) if rest and rest[0] >= 10 else None


def _cardinal(parts: Parts, begin: int) -> Number | None:
    words, form = number_words(), parts.forms[begin]
    if form in words["times"]:
        return Number(Fraction(words["times"][form]), begin + 1, "times")
    if form in ARTICLES and begin + 1 < len(parts) and parts.forms[begin + 1] in words["few"]:
        return _with_of(parts, Number(Fraction(words["few"][parts.forms[begin + 1]]), begin + 2))
    start = _leading(parts, begin)
    if start is None:
        return None
    total, current, end = Fraction(0), start[0], start[1]
    while end < len(parts):
        word = parts.forms[end]
        if word in words["scale"]:
            scale = words["scale"][word]
            current, end = current * scale, end + 1
            if scale > 100:
                total, current = total + current, Fraction(0)
        elif word in words["group"]:
            return _with_of(parts, Number(total + current * words["group"][word], end + 1))
        elif (more := _continued(parts, begin, end, current)) is not None:
            current, end = current + more[0], more[1]
        else:
            break
    value, end = _and_a_half(parts, total + current, end)
    return Number(value, end)


def _continued(parts: Parts, begin: int, end: int, current: Fraction) -> tuple[Fraction, int] | None:
    """`two hundred (and) five`, `one thousand two hundred`: smaller words after a scale."""
    if parts.forms[end - 1] not in number_words()["scale"] or end == begin:
        return None
    at = end + 1 if parts.forms[end] == "and" and end + 1 < len(parts) else end
    small = _small(parts, at)
    after = parts.forms[small[1]] if small and small[1] < len(parts) else ""
    if small is None or (at > end and current == 0 and after in number_words()["scale"]):
        return None
    return Fraction(small[0]), small[1]


def _and_a_half(parts: Parts, value: Fraction, end: int) -> tuple[Fraction, int]:
    if parts.forms[end : end + 3] in {("and", "a", "half"), ("and", "one", "half")}:
        value, end = value + Fraction(1, 2), end + 3
        if end < len(parts) and parts.forms[end] in number_words()["scale"]:
            return value * number_words()["scale"][parts.forms[end]], end + 1
    return value, end


def _with_of(parts: Parts, number: Number) -> Number:
    """`a couple of`: the preposition belongs to the number."""
    has_of = number.end < len(parts) and parts.forms[number.end] == "of"
    return number._replace(end=number.end + 1) if has_of else number


def _fraction(parts: Parts, begin: int) -> Number | None:
    """`a quarter`, `two thirds`, `half`; `half a million` is a count."""
    words, form = number_words(), parts.forms[begin]
    if form == "half":
        if begin + 2 < len(parts) and parts.forms[begin + 1] in ARTICLES:
            large = words["scale"].get(parts.forms[begin + 2]) or words["group"].get(parts.forms[begin + 2])
            if large:
                return Number(Fraction(large, 2), begin + 3)
        return Number(Fraction(1, 2), begin + 1, "ratio")
    count = (1, begin + 1) if form in ARTICLES else _small(parts, begin)
    if count is None or count[1] >= len(parts):
        return None
    name, end = parts.forms[count[1]], count[1] + 1
    is_ordinal = name in words["ordinal"] and end < len(parts) and parts.tags[end] in NOUN_TAGS  # a third man
    if name not in words["part"] or is_ordinal or (name.endswith("s") == (count[0] == 1)):
        return None
    return Number(Fraction(count[0], words["part"][name]), end, "ratio")


def _ratio_of_two(parts: Parts, begin: int) -> Number | None:
    """`one in four`, `three out of ten`."""
    first = _small(parts, begin) or _figures(parts, begin)
    if first is None:
        return None
    for link in (("in",), ("out", "of")):
        at = first[1] + len(link)
        if parts.forms[first[1] : at] == link and at < len(parts):
            second = _small(parts, at) or _figures(parts, at)
            following = parts.forms[second[1]] if second and second[1] < len(parts) else ""
            if second and first[0] < second[0] < 1000 and following not in number_words()["scale"]:
                return Number(Fraction(first[0], second[0]), second[1], "ratio")
    return None


def _figures(parts: Parts, index: int) -> tuple[int, int] | None:
    form = parts.forms[index]
    return (int(form), index + 1) if form.isdecimal() and form.isascii() and len(form) <= 4 else None


def _ordinal(parts: Parts, begin: int) -> Number | None:
    words, form = number_words(), parts.forms[begin]
    if match := ORDINAL.fullmatch(form):
        return Number(Fraction(int(match[1])), begin + 1, "ordinal")
    if form in words["ordinal"] and parts.tags[begin] not in {"NN", "NNS"}:
        return Number(Fraction(words["ordinal"][form]), begin + 1, "ordinal")
    return None


def _compound_ordinal(parts: Parts, begin: int) -> Number | None:
    """`twenty-first`; but `a thirty-second film` lasts thirty seconds."""
    words, form = number_words(), parts.forms[begin]
    following = parts.forms[begin + 1] if begin + 1 < len(parts) else ""
    is_duration = following == "second" and begin > 0 and parts.forms[begin - 1] in ARTICLES
    if form in words["tens"] and 0 < words["ordinal"].get(following, 0) < 10 and not is_duration:
        return Number(Fraction(words["tens"][form] + words["ordinal"][following]), begin + 2, "ordinal")
    return None


# ---- units and comparators ----


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
