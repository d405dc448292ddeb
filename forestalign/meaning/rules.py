"""The paraphrase grammar: sets of expressions that say the same, with slots, one set a line.

    lay X off | make X redundant | dismiss X | X lose X's job
    X be taller than Y | Y be shorter than X
    fail X | not pass X
    succeed ! fail                      opposites
    poodle > dog                        the left says more than the right

`X Y Z` are noun phrases, `V` verb phrases, `S` clauses, `N` noun phrases that stand for clauses, `A` adjectives, `T`
times, `Q` numbers; `X's` is the possessive of X or a pronoun for it; `(word)` may be missing; `not` turns the sign.
Words are lemmas; words in capitals are met only as they stand (*US* is not *us*). `[kind]` alone on a line names the
kind of the lines below it, `#` begins a comment.

`read_rules` reads and checks such a file. A `RuleTable` holds many lines and finds those that two sentences may both
meet: every expression has a key, its rarest word, and an expression is taken apart when its key is first met in a
sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain
from pathlib import Path
from typing import NamedTuple

import msgspec

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, stop_words
from forestalign.inputs import read_lines, read_plain, reading

SLOTS = frozenset("XYZVSNATQ")
EQUAL, OPPOSITE, MORE_SPECIFIC = "|", "!", ">"
COPULA = "be"
NOT = "not"
LONGEST = 12  # words of an expression
_CHANGED = (COPULA, NOT, "cannot")  # what may be missing or is taken apart
MOST_EXPRESSIONS = 40  # of a line
LARGEST_RULES = 64 << 20  # bytes of a file
COMPILED = "paraphrases.idx"
_KIND = re.compile(r"\[([a-z][a-z-]*)\]")
_SIGNS = re.compile(r"\s+([!>])\s+")
_ODD = re.compile(r"[^\w|!>()'’&./$€£%+\- ]")
_POSSESSIVE = re.compile(r"[XYZ]'s")
_TOKEN_BOUNDARY = re.compile(r"(?<=\w)-(?=\w)|(?<=\w)(?='(?:s|re|ll|ve|d|m)?$)")


class Rule(NamedTuple):
    """A line: its expressions as written, those on the left and on the right of its sign, and where it stands."""

    left: tuple[str, ...]
    right: tuple[str, ...]  # empty where all say the same
    sign: str  # EQUAL, OPPOSITE or MORE_SPECIFIC
    kind: str
    place: str  # file:line

    @property
    def expressions(self) -> tuple[str, ...]:
        """All of them, left before right."""
        return self.left + self.right


@dataclass(frozen=True, slots=True)
class ExpressionPattern:
    """An expression taken apart. `slots[k]` are the slots that stand before word k, the last those behind all words."""

    words: tuple[str, ...]
    is_optional: tuple[bool, ...]
    slots: tuple[tuple[str, ...], ...]
    is_negated: bool  # it has a `not`, which is no word of it but turns its sign

    @property
    def key_words(self) -> list[str]:
        """The words that any match has, without the copula; `be` alone is better than nothing."""
        required = [word for word, optional in zip(self.words, self.is_optional, strict=True) if not optional]
        return [word for word in required if word != COPULA] or required

    @property
    def has_content(self) -> bool:
        """Whether any match has more than function words."""
        return any(word not in stop_words() and len(word) > 1 for word in self.key_words if word != COPULA)


def take_apart(expression: str) -> ExpressionPattern:
    """The words and slots of an expression; ValueError says what is wrong with it.

    >>> take_apart("X (just) let Y know").words
    ('just', 'let', 'know')
    >>> take_apart("X not lose X's job").slots
    (('X',), ("X's",), ())
    """
    words: list[str] = []
    optional: list[bool] = []
    slots: list[tuple[str, ...]] = [()]
    is_negated = False
    for item in expression.replace("’", "'").split():
        if item in SLOTS or _POSSESSIVE.fullmatch(item):
            slots[-1] += (item,)
            continue
        may_miss = item.startswith("(") and item.endswith(")")
        word = item[1:-1] if may_miss else item
        if not word or "(" in word or ")" in word:
            raise ValueError(f"{item!r}: brackets stand around one word that may be missing")
        for part in _split(word):
            if part == NOT:
                is_negated = not is_negated
                continue
            words.append(part if part.isupper() and len(part) > 1 else part.lower())
            optional.append(may_miss)
            slots.append(())
    if not words and is_negated:  # `not V` says no more than that
        words, optional, slots, is_negated = [NOT], [False], [(), slots[0]], False
    if not words:
        raise ValueError(f"{expression!r} has no word beside its slots")
    if len(words) > LONGEST:
        raise ValueError(f"{expression!r} has {len(words)} words; expected at most {LONGEST}")
    if all(optional):
        raise ValueError(f"{expression!r} has no word that must be there")
    return ExpressionPattern(tuple(words), tuple(optional), tuple(slots), is_negated)


def _split(word: str) -> list[str]:
    """A word of an expression as sentences have it: *can not* for *cannot*, *snail 's*, and apart at hyphens."""
    if word.lower() in ("cannot", "can't"):
        return ["can", NOT]
    if word.endswith("n't") and len(word) > 3:
        return [word[:-3], NOT]
    return _TOKEN_BOUNDARY.split(word)


def read_rules(path: str | Path) -> list[Rule]:
    """The lines of a file of rules; GrammarError names file, line and what is wrong."""
    rules: list[Rule] = []
    kind = Path(path).name.partition(".")[0]
    with reading(path, "file of paraphrase rules", GrammarError):
        for number, raw in read_lines(path, LARGEST_RULES):
            try:
                line = raw.decode("utf-8").split(" #")[0].strip()
            except UnicodeDecodeError:
                raise GrammarError(path, number, "is not UTF-8 text") from None
            if not line or line.startswith("#"):
                continue
            if header := _KIND.fullmatch(line):
                kind = header.group(1)
                continue
            try:
                rules.append(parse_rule(line, kind, f"{Path(path).name}:{number}"))
            except ValueError as error:
                raise GrammarError(path, number, str(error)) from None
    return rules


def parse_rule(line: str, kind: str = "", place: str = "") -> Rule:
    """A line as a rule; ValueError says what is wrong with it."""
    if odd := _ODD.search(line):
        raise ValueError(f"{odd.group()!r} cannot stand in an expression: {line!r}")
    parts = _SIGNS.split(line)
    if len(parts) > 3:
        raise ValueError(f"more than one ! or > in {line!r}; expected one sign between two sets of expressions")
    sides = [tuple(" ".join(each.split()) for each in part.split("|")) for part in parts[::2]]
    both = [each for side in sides for each in side]
    if "" in both:
        raise ValueError(f"an empty expression in {line!r}")
    if not 2 <= len(both) <= MOST_EXPRESSIONS:
        raise ValueError(f"{len(both)} expressions in {line!r}; expected 2 to {MOST_EXPRESSIONS}, separated by |")
    if len(set(both)) < len(both):
        raise ValueError(f"an expression twice in {line!r}")
    for expression in both:
        take_apart(expression)
    return Rule(sides[0], sides[1] if len(sides) > 1 else (), parts[1] if len(parts) > 1 else EQUAL, kind, place)


class Expression(NamedTuple):
    """An expression of a table: its line, whether it stands on the right of the sign, and what any match of it has."""

    line: int
    is_right: bool
    pattern: ExpressionPattern
    required: frozenset[str]


class CompiledRules(msgspec.Struct, frozen=True, array_like=True):
    """What a table holds, as it is kept in one file."""

    rules: list[Rule]
    keys: dict[str, list[int]]  # word -> numbers of the expressions with this key, all lines counted through


def compile_rules(rules: Sequence[Rule]) -> CompiledRules:
    """The table of some lines: each expression under the rarest word that any match of it has."""
    expressions = [expression for rule in rules for expression in rule.expressions]
    patterns = [take_apart(expression) for expression in expressions]
    counts = Counter(word for pattern in patterns for word in pattern.key_words)
    counts.update(dict.fromkeys(stop_words(), 1_000_000))
    keys: dict[str, list[int]] = {}
    for number, pattern in enumerate(patterns):
        key = min(pattern.key_words, key=lambda word: (counts[word], word))
        keys.setdefault(key, []).append(number)
    return CompiledRules(list(rules), keys)


class RuleTable:
    """Lines of rules, ready to be asked which of them two sentences may meet."""

    def __init__(self, compiled: CompiledRules):
        self.rules = compiled.rules
        self._keys = compiled.keys
        self._patterns: dict[int, Expression] = {}
        self._plain: dict[int, frozenset[str]] = {}
        sizes = [len(rule.left) + len(rule.right) for rule in compiled.rules]
        self._starts = [0, *accumulate(sizes)]  # the number of the first expression of each line
        self._lines = [line for line, size in enumerate(sizes) for _ in range(size)]  # of each expression

    def __len__(self) -> int:
        return len(self.rules)

    def candidates(self, words: Set[str], lines: Container[int] | None = None) -> dict[int, list[int]]:
        """The expressions, of these lines or all, whose words are all among these, by their lines."""
        found: dict[int, list[int]] = {}
        for number in self._keyed(words):
            line = self._lines[number]
            is_asked = lines is None or line in lines
            if is_asked and self._may_be_met(number, words) and words >= self.expression(number).required:
                found.setdefault(line, []).append(number)
        return found

    def lines_of(self, words: Set[str]) -> set[int]:
        """The lines with an expression whose key is among these words."""
        return {self._lines[number] for number in self._keyed(words)}

    def _keyed(self, words: Set[str]) -> Iterable[int]:
        return chain.from_iterable([self._keys[word] for word in words if word in self._keys])

    def _may_be_met(self, number: int, words: Set[str]) -> bool:
        """Whether words that stand for themselves are all there; to take the expression apart costs far more."""
        plain = self._plain.get(number)
        if plain is None:
            line = self._lines[number]
            items = self.rules[line].expressions[number - self._starts[line]].split()
            kept = [item for item in items if item.isalpha() and item.islower() and item not in _CHANGED]
            plain = self._plain[number] = frozenset(kept)
        return words >= plain

    def expression(self, number: int) -> Expression:
        """One expression, taken apart when it is first asked for."""
        known = self._patterns.get(number)
        if known is None:
            line = self._lines[number]
            rule, place = self.rules[line], number - self._starts[line]
            pattern = take_apart(rule.expressions[place])
            known = Expression(line, place >= len(rule.left), pattern, frozenset(pattern.key_words))
            self._patterns[number] = known
        return known


def shipped_rule_files() -> list[Path]:
    """The files of the paraphrase grammar, in the order of their names."""
    return sorted((grammar_root() / "paraphrases").glob("*.txt"))


def compiled_bytes(rules: Sequence[Rule]) -> bytes:
    """The table of some lines as it is kept in one file."""
    return msgspec.msgpack.encode(compile_rules(rules))


@lru_cache(maxsize=4)
def load_rules(path: str = "") -> tuple[RuleTable, ...]:
    """The shipped table, and that of a user's file."""
    compiled = grammar_root() / COMPILED
    with reading(compiled, "compiled paraphrase grammar", GrammarError):
        shipped = msgspec.msgpack.decode(read_plain(compiled, LARGEST_RULES), type=CompiledRules)
    tables = [RuleTable(shipped)]
    if path:
        tables.append(RuleTable(compile_rules(read_rules(path))))
    return tuple(tables)


def duplicates(rules: Iterable[Rule]) -> Iterator[tuple[str, list[str]]]:
    """Expressions that stand in several lines, with the places of these."""
    places: dict[str, list[str]] = {}
    for rule in rules:
        for expression in rule.expressions:
            places.setdefault(expression, []).append(rule.place)
    yield from ((expression, lines) for expression, lines in sorted(places.items()) if len(lines) > 1)
