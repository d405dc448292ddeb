"""What one sentence claims: values on scales, what it denies, and what it compares.

**Scales** (grammar/scales.tsv): words that differ by level, as *must* and *may*, *all* and *some*, or by name, as
*Monday* and *Tuesday*. A value is about a word: *must pay* about *pay*, *most shops* about *shops*.

**Negations**: what is denied is a predicate, *come* in *did not come*, *came* in *no guest came*. A verb denies, too:
*failed* and *come* in *failed to come*. *Not only*, *no less than* and their like deny nothing.

**Comparisons**: what stands behind *than* or *as*.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, negation_words, read_rows
from forestalign.lexicon.word_classes import meaning_words
from forestalign.meaning.differences import KINDS
from forestalign.meaning.readings import Reading
from forestalign.tokens import Sentence, lemmatize

_FUNCTION = ("aux", "mark", "det", "advmod", "amod", "case", "nummod", "cc", "fixed")
_HIGHEST = 10
_WHETHER = ("or", "not")
_STANDARD = (":than", ":as")  # ends of relations of what something is compared with
_COMPARED = frozenset({"JJR", "RBR", "JJS", "RBS"})

# ---- scales ----


class ScaleValue(NamedTuple):
    """A row of the table: kind of difference, scale, level (-1 for a name), name."""

    kind: str
    scale: str
    level: int
    name: str


class Expression(NamedTuple):
    """Words of the table, and the values that they stand for."""

    words: tuple[str, ...]
    values: tuple[ScaleValue, ...]


class Value(NamedTuple):
    """A value met in a sentence: its words, and the word that it is about."""

    said: ScaleValue
    words: tuple[int, ...]
    about: int


@cache
def scales() -> dict[str, tuple[Expression, ...]]:
    """The expressions of grammar/scales.tsv by their first words, the longest first."""
    return read_scales(grammar_root() / "scales.tsv")


def read_scales(path: Path) -> dict[str, tuple[Expression, ...]]:
    """Rows KIND, SCALE, LEVEL or NAME, EXPRESSIONS separated by `|`."""
    found: dict[tuple[str, ...], tuple[ScaleValue, ...]] = {}
    for number, (kind, scale, level, row) in read_rows(path, 4):
        if kind not in KINDS:
            raise GrammarError(path, number, f"{kind!r}: expected one of {', '.join(KINDS)}")
        if level.isdigit() and not 0 <= int(level) <= _HIGHEST:
            raise GrammarError(path, number, f"level {level}: expected 0 to {_HIGHEST}, or a name")
        value = ScaleValue(kind, scale, int(level) if level.isdigit() else -1, "" if level.isdigit() else level)
        for expression in row.split("|"):
            words = tuple(expression.split())
            if not words or any(value.scale == other.scale for other in found.get(words, ())):
                raise GrammarError(path, number, f"{expression!r}: expected words that the scale has once")
            found[words] = (*found.get(words, ()), value)
    first: dict[str, list[Expression]] = {}
    for words, values in found.items():
        first.setdefault(words[0], []).append(Expression(words, values))
    return {word: tuple(sorted(each, key=lambda one: -len(one.words))) for word, each in first.items()}


def find_values(reading: Reading) -> list[Value]:
    """The values of a sentence, from left to right; of expressions inside each other the longest."""
    sentence, table = reading.sentence, scales()
    forms = list(zip(sentence.words, sentence.lower_words, sentence.keys, strict=True))
    values: list[Value] = []
    end = 0
    for at, words in enumerate(forms):
        if at < end or table.keys().isdisjoint(words):
            continue
        following = {(), *((word,) for word in (forms[at + 1] if at + 1 < len(forms) else ()))}
        expressions = [
            each for key in sorted(table.keys() & set(words)) for each in table[key] if each.words[1:2] in following
        ]
        met = next((each for each in expressions if _stands(each.words, reading, forms[at:], at)), None)
        if met is not None:
            end = at + len(met.words)
            own = tuple(range(at, end))
            values += [Value(said, own, _about(reading, own[-1])) for said in met.values]
    return values


def _stands(words: tuple[str, ...], reading: Reading, forms: list[tuple[str, str, str]], at: int) -> bool:
    is_met = len(words) <= len(forms) and all(word in own for word, own in zip(words, forms, strict=False))
    return is_met and _is_name(reading, at, words[0])


def _is_name(reading: Reading, word: int, key: str) -> bool:
    """Whether a word in capitals is a name where the table has one: *May*, not the *May* that begins a question."""
    return not key[0].isupper() or reading.sentence.tags[word][:2] in ("NN", "CD")


def _about(reading: Reading, word: int) -> int:
    """The verb, noun or adjective that a value is about; *most of the shops* is about shops."""
    heads, relations = reading.dependencies.heads, reading.dependencies.relations
    below = [k for k in reading.children[word] if relations[k] == "nmod:of"]
    if below:
        return below[0]
    seen = 0
    while heads[word] >= 0 and relations[word].split(":")[0] in _FUNCTION and seen < len(heads):
        word, seen = heads[word], seen + 1
    return word


# ---- negations ----


class Negation(NamedTuple):
    """The number of the negating word, and of the predicate that it denies."""

    cue: int
    predicate: int


def find_negations(reading: Reading) -> list[Negation]:
    """All negations of a sentence; *no ... nor* and *neither ... nor* are one."""
    words = [word.removeprefix("can ") for word in reading.standard_words]
    found, denied, tags = [], _denied_verbs(reading), reading.sentence.tags
    for cue, word in enumerate(words):
        if tags[cue] == "NNP" and reading.sentence.words[cue][0].isupper():  # the *Do Not Call* list
            continue
        if cue in denied:
            found.append(Negation(cue, denied[cue]))
        if (word not in negation_words() and word not in meaning_words().denying) or _is_harmless(words, cue):
            continue
        if word == "nor" and any(each in meaning_words().before_nor for each in words[:cue]):
            continue
        found.append(Negation(cue, reading.predicate_over(cue)))
    return found


def _denied_verbs(reading: Reading) -> dict[int, int]:
    """Verbs that deny, and the verbs that they deny: *answer* in *failed to answer*."""
    words, tags, denied = reading.sentence.words, reading.sentence.tags, dict[int, int]()
    for cue, lemma in enumerate(reading.lemmas[:-1]):
        if tags[cue][:2] == "VB":
            following, verb = (words[cue + 1].lower(), cue + 2) if tags[cue + 1] != "VBG" else ("-ing", cue + 1)
            is_verb = verb < len(tags) and tags[verb][:2] == "VB"
            if is_verb and frozenset((lemma, following)) in meaning_words().denying_verbs:
                denied[cue] = verb
    return denied


def _is_harmless(words: list[str], cue: int) -> bool:
    following = words[cue + 1] if cue + 1 < len(words) else ""
    lists = meaning_words()
    if words[cue] in lists.before_harmless and following in lists.harmless:
        return not (following in lists.harmless_with_than and "than" not in words[cue + 2 : cue + 4])
    if words[cue] in lists.before_exception and not lists.exception.isdisjoint(words[cue + 1 :]):
        return True  # nothing ... except: only
    is_whether = cue > 0 and (words[cue - 1], words[cue]) == _WHETHER
    return is_whether or (words[cue] == "no" and following in (",", ""))


# ---- comparisons ----


def standard_of(reading: Reading) -> frozenset[int]:
    """The words of what something is compared with."""
    heads, relations = reading.dependencies.heads, reading.dependencies.relations
    tops = {word for word, relation in enumerate(relations) if relation.endswith(_STANDARD)}
    return frozenset([word for word in range(len(heads)) if tops & set(path_up(heads, word))] if tops else ())


def path_up(heads: tuple[int, ...], word: int) -> list[int]:
    """A word and all above it."""
    path = [word]
    while heads[path[-1]] >= 0 and len(path) <= len(heads):
        path.append(heads[path[-1]])
    return path


def has_superlative(reading: Reading) -> bool:
    """*The fastest*, *first*, *faster than any other*."""
    words = set(reading.sentence.lower_words)
    is_most = any(tag in ("JJS", "RBS") for tag in reading.sentence.tags) or "first" in words
    return is_most or ("than" in words and not words.isdisjoint(meaning_words().all))


def forms_of(sentence: Sentence, word: int) -> set[str]:
    """A form, its lemma, and what an adjective is a form of where the tagger takes it for a word of its own."""
    form, tag = sentence.words[word].lower(), sentence.tags[word]
    others = ("VBN", "JJR") if tag == "JJ" and form.endswith(("ed", "en", "er")) else ()
    return {form, (sentence.lemmas[word] or form).lower(), *(lemmatize([form], [each])[0] for each in others)}


def is_compared(sentence: Sentence, word: int) -> bool:
    """Whether a word is a comparative or superlative, by its tag or by its form."""
    form, tag = sentence.words[word].lower(), sentence.tags[word]
    return tag in _COMPARED or (tag == "JJ" and form.endswith("er") and lemmatize([form], ["JJR"])[0] != form)


def less_of(reading: Reading, word: int) -> int:
    """The *less* of *less safe*, or -1."""
    return next((k for k in reading.children[word] if reading.lemmas[k] in meaning_words().less), -1)
