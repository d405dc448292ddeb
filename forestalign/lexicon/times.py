"""Dates, times of day and spans of years. A date that does not exist (31 February) is none."""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

from forestalign.lexicon.findings import Parts
from forestalign.lexicon.numbers import number_words, read_number

SMALL_HOURS = 300  # twelve at night begins a day, ten at night ends one; in minutes
LEAP_YEAR = 2000  # for a day and a month without a year
CLOCK = re.compile(r"([01]?\d|2[0-3])[:.]([0-5]\d)(am|pm)?")
HOUR = re.compile(r"(1[0-2]|0?[1-9])(am|pm)")
TIMES_OF_DAY = (("in", "the"), ("at",))  # before morning, afternoon, evening, night
DECADE = re.compile(r"'?((?:1\d|20)?\d0)'?s")
FIGURED_DATE = re.compile(r"(\d{1,2})([/.])(\d{1,2})\2(\d{4}|\d{2})")
SHORT_YEARS = 50  # 3/3/20 is of 2020, 3/3/71 of 1971
ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


class Date(NamedTuple):
    """Year and day are 0 where the text has none; an open one (3/4/2020) may have its month and day swapped."""

    year: int
    month: int
    day: int
    is_open: bool = False

    def readings(self) -> tuple[tuple[int, int, int], ...]:
        """Year, month and day, in all orders that are possible."""
        own = (self.year, self.month, self.day)
        return (own, (self.year, self.day, self.month)) if self.is_open else (own,)


class Clock(NamedTuple):
    """Minutes after midnight; without am or pm a time up to 12:59 may be either."""

    minutes: int
    is_open: bool


class Years(NamedTuple):
    """A decade or a century: half-open."""

    begin: int
    end: int


def date_of(year: int, month: int, day: int) -> Date | None:
    """The date, if the calendar has it."""
    try:
        date(year or LEAP_YEAR, month, day or 1)
    except ValueError:
        return None
    return Date(year, month, day)


def read_date(parts: Parts, begin: int) -> tuple[Date, int] | None:
    """`March 5, 2020`, `5 March`, `the 5th of March 2020`, `March 2020`, `3/15/2020`, `2020-03-15`."""
    if found := _figured_date(parts, begin):
        return found
    if parts.forms[begin] == "the":
        has_day = begin + 1 < len(parts) and not _month(parts, begin + 1)
        return read_date(parts, begin + 1) if has_day and _day(parts, begin + 1)[0] else None
    month = _month(parts, begin)
    if month and begin and _day(parts, begin - 1)[0]:
        return None  # of a date that does not exist
    if month and (parts.forms[begin] not in {"march", "may"} or parts.tags[begin] == "NNP"):
        day, end = _day(parts, begin + 1)
        year, end = _year(parts, end)
    else:
        day, at = _day(parts, begin)
        at += at < len(parts) and parts.forms[at] == "of"
        month, end = _month(parts, at), at + 1
        if not day:
            return None
        year, end = _year(parts, end)
    found_date = date_of(year, month, day) if month and (day or year) else None
    return (found_date, end) if found_date else None


def _figured_date(parts: Parts, begin: int) -> tuple[Date, int] | None:
    if match := ISO_DATE.fullmatch("-".join(parts.forms[begin : begin + 3])):
        found = date_of(int(match[1]), int(match[2]), int(match[3]))
        return (found, begin + 3) if found else None
    match = FIGURED_DATE.fullmatch(parts.forms[begin])
    if not match or (match[2] == "." and len(match[4]) == 2):  # 1.2.10 is a section
        return None
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    if len(match[4]) == 2:
        year += 2000 if year < SHORT_YEARS else 1900
    found = date_of(year, second, first) if first > 12 or match[2] == "." else date_of(year, first, second)
    is_open = match[2] == "/" and first != second and max(first, second) <= 12
    return (found._replace(is_open=is_open), begin + 1) if found else None


def _month(parts: Parts, index: int) -> int:
    return number_words()["month"].get(parts.forms[index], 0) if index < len(parts) else 0


def _day(parts: Parts, index: int) -> tuple[int, int]:
    """A day of the month and its end; 0 where there is none."""
    if index >= len(parts):
        return 0, index
    if day := number_words()["ordinal"].get(parts.forms[index]):  # a noun, too: the fifth of May
        return day, index + 1
    number = read_number(parts, index)
    if number and number.kind in {"count", "ordinal"} and number.value.denominator == 1 and 1 <= number.value <= 31:
        return int(number.value), number.end
    return 0, index


def _year(parts: Parts, index: int) -> tuple[int, int]:
    at = index + (index < len(parts) and parts.forms[index] == ",")
    form = parts.forms[at] if at < len(parts) else ""
    return (int(form), at + 1) if re.fullmatch(r"1\d{3}|20\d{2}", form) else (0, index)


def read_clock(parts: Parts, begin: int) -> tuple[Clock, int] | None:
    """`3:30 pm`, `15:30`, `3pm`, `half past three`, `a quarter to five`, `three o'clock`, `noon`."""
    form = parts.forms[begin]
    if form in number_words()["hour"]:
        return Clock(number_words()["hour"][form], False), begin + 1
    if (match := CLOCK.fullmatch(form)) and (":" in form or _half(parts, begin + 1)[0] is not None):
        return _choose_half(parts, 60 * int(match[1]) + int(match[2]), begin + 1, match[3] or "")
    if match := HOUR.fullmatch(form):
        return _choose_half(parts, 60 * int(match[1]), begin + 1, match[2])
    return _spoken(parts, begin) or _full_hour(parts, begin)


def _half(parts: Parts, index: int) -> tuple[int | None, int]:
    """Before or after noon, by `pm` or `in the evening`."""
    words, forms = number_words(), parts.forms
    if index < len(parts) and forms[index] in words["half"]:
        return words["half"][forms[index]], index + 1
    for link in TIMES_OF_DAY:
        at = index + len(link)
        if forms[index:at] == link and at < len(parts) and forms[at] in words["daytime"]:
            return words["daytime"][forms[at]], at + 1
    return None, index


def _choose_half(parts: Parts, minutes: int, end: int, glued: str = "") -> tuple[Clock, int]:
    half, end = (number_words()["half"][glued], end) if glued else _half(parts, end)
    if parts.forms[end - 1] == "night" and minutes % 720 < SMALL_HOURS:
        half = 0
    if half is None or minutes >= 780:
        return Clock(minutes, 0 < minutes < 780), end
    return Clock(minutes % 720 + half, False), end


def _full_hour(parts: Parts, begin: int) -> tuple[Clock, int] | None:
    """A number of an hour with o'clock, am or pm after it."""
    hour, end = _day(parts, begin)
    if not 1 <= hour <= 12 or end >= len(parts):
        return None
    if parts.forms[end] == "o'clock":
        return _choose_half(parts, 60 * hour, end + 1)
    return _choose_half(parts, 60 * hour, end) if _half(parts, end)[0] is not None else None


def _spoken(parts: Parts, begin: int) -> tuple[Clock, int] | None:
    """Minutes past or to an hour."""
    forms = parts.forms
    at = begin + (forms[begin] == "a")
    named = {"half": 30, "quarter": 15}.get(forms[at]) if at < len(parts) else None
    minutes, end = (named, at + 1) if named else _day(parts, begin)
    has_unit = bool(minutes) and not named and end < len(parts) and parts.lemmas[end] == "minute"
    end += has_unit
    if not minutes or end + 1 >= len(parts) or forms[end] not in {"past", "to"}:
        return None
    hour, after = _day(parts, end + 1)
    is_past = minutes % 5 == 0 and minutes <= 30 and forms[end] == "past"  # five to ten is a range
    is_clock = named or has_unit or is_past
    if not 1 <= hour <= 12 or not is_clock:
        return None
    return _choose_half(parts, 60 * hour + (minutes if forms[end] == "past" else -minutes), after)


def read_years(parts: Parts, begin: int) -> tuple[Years, int] | None:
    """`the 1990s`, `the nineties`, `the nineteenth century`."""
    form = parts.forms[begin]
    decade = number_words()["decade"].get(form)
    if (match := DECADE.fullmatch(form)) and int(match[1]) >= 10:
        decade = int(match[1])
    if decade is not None and not (begin and parts.tags[begin - 1] == "PRP$"):  # in her thirties: an age
        if decade >= 1000 and decade % 100 == 0 and decade < LEAP_YEAR:
            return Years(decade, decade + 100), begin + 1  # the 1700s
        first = decade if decade >= 1000 else 1900 + decade
        return Years(first, first + 10), begin + 1
    number = read_number(parts, begin)
    if number and number.kind == "ordinal" and number.end < len(parts) and parts.lemmas[number.end] == "century":
        century = int(number.value)
        return Years(100 * (century - 1), 100 * century), number.end + 1
    return None
