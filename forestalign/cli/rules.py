"""Show which lines of the paraphrase grammar sentences meet, and by which two sentences correspond; check your own.

    forestalign rules "The referee called the match off."
    forestalign rules "The referee called the match off." "The referee cancelled the match."
    forestalign rules "They axed it." "It was scrapped." --rules my-rules.txt
    forestalign rules --check my-rules.txt

One row for each instance: the words of the sentence, what fills the slots, and the line with its place.
docs/paraphrases.md describes the format. --check reads files of lines, says what is wrong with the first bad one, and
lists expressions that stand in several lines.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from forestalign.aligner import Aligner
from forestalign.config import AlignConfig
from forestalign.errors import NoParseError, UsageError, counted
from forestalign.meaning.matcher import Instance, find_instances
from forestalign.meaning.readings import Reading
from forestalign.meaning.rules import RuleTable, duplicates, load_rules, read_rules
from forestalign.phrases.evidence.phrase_evidence import match_rules, read_forest


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("sentences", nargs="*", metavar="SENTENCE", help="one sentence, or two to compare")
    parser.add_argument("--rules", default="", metavar="FILE", help="use the lines of FILE besides the shipped ones")
    parser.add_argument("--check", nargs="+", default=[], metavar="FILE", help="check these files of lines instead")


def run(args: argparse.Namespace) -> int:
    """Print the rows."""
    if args.check:
        rules = [rule for path in args.check for rule in read_rules(path)]
        for expression, places in duplicates(rules):
            print(f"{expression}: {', '.join(places)}")
        expressions = sum(len(rule.expressions) for rule in rules)
        print(f"{counted(len(rules), 'line')}, {counted(expressions, 'expression')}")
        return 0
    if not 1 <= len(args.sentences) <= 2:
        raise UsageError(f"{counted(len(args.sentences), 'sentence')}; expected one, or two to compare")
    tables = load_rules(args.rules)
    aligner = Aligner(AlignConfig(rules=args.rules))
    first, last = args.sentences[0], args.sentences[-1]
    (pair,) = aligner.parse_pairs([("", first, last, None)], charts=False)
    if isinstance(pair, NoParseError):
        raise pair
    source, target = read_forest(pair.source.forest), read_forest(pair.target.forest)
    if len(args.sentences) == 1:
        rows = _instance_rows(source, tables)
    else:
        rows = (
            f"{_words(source, each.source)} {_sign(each.is_opposite, bool(each.swapped))} {_words(target, each.target)}"
            f"{_fillers(source, each.source)}\t{' | '.join(each.rule.expressions)}\t{each.rule.place}"
            for each in match_rules(source, target, pair.words, args.rules)
        )
    for row in rows:
        print(row)
    return 0


def _instance_rows(reading: Reading, tables: tuple[RuleTable, ...]) -> Iterator[str]:
    for table in tables:
        for line, numbers in sorted(table.candidates(reading.parts_by_form.keys()).items()):
            rule = table.rules[line]
            for number in numbers:
                for instance in find_instances(reading, table.expression(number), number):
                    sign = "not " if instance.is_negative else ""
                    words = _words(reading, instance) + _fillers(reading, instance)
                    yield f"{sign}{words}\t{' | '.join(rule.expressions)}\t{rule.place}"


def _sign(is_opposite: bool, is_swapped: bool) -> str:
    return "!=" if is_opposite else "<>" if is_swapped else "="


def _words(reading: Reading, instance: Instance) -> str:
    return " ".join(reading.sentence.words[word] for word in instance.words)


def _fillers(reading: Reading, instance: Instance) -> str:
    filled = [f"{letter}: {reading.sentence.words[word]}" for letter, word in instance.fillers]
    return f" ({', '.join(filled)})" if filled else ""
