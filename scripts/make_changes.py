"""Make pairs of sentences with a known verdict, by controlled change of sentences and paraphrases.

    python scripts/make_changes.py ewt.train.mrg.gz msrp.train.jsonl.gz annotations/written.jsonl -o made.jsonl

A treebank gives sentences with trees, a file of JSON lines gives pairs: paraphrases (`paraphrase` 1, `score` of at
least 4.5, or `relation` same; of annotations only the split `train`). Of each base there is a sentence beside
    same meaning  its paraphrase; clauses, adjuncts or conjuncts in another order, passive, synonyms, other spelling
    changed       the same once more with one thing changed: two phrases swapped, a negation more or less, another
                  number, level of a scale, name, opposite, word of the same kind
    related       half of it with half of another sentence
    unrelated     another sentence
A changed sentence is often said in another form too, so that the form says nothing about the meaning. Lines have
`source`, `target`, `paraphrase`, `verdict`, `kind` (of the change) and `base`. The same input gives the same output.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from make_pairs import RULES, is_plain_sentence, read_plain_trees
from permutation_rules import Usage, count_usage, number_anew
from scoring.meaning import read_records

from forestalign.formats.lines import write_lines
from forestalign.grammar import grammar_root
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.trees import Tree, preorder

Change = Callable[[str, random.Random], str | None]  # another text, or None if there is nothing to change
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NOT = {"is", "are", "was", "were", "will", "can", "could", "should", "would", "has", "had", "must", "may", "might"}
_TURNED = {
    "more": "less",
    "better": "worse",
    "larger": "smaller",
    "higher": "lower",
    "before": "after",
    "older": "younger",
}
_TURNED |= {each: one for one, each in _TURNED.items()}
_SHORT = {"is not": "isn't", "are not": "aren't", "did not": "didn't", "does not": "doesn't", "do not": "don't"}
_SHORT |= {"was not": "wasn't", "will not": "won't", "cannot": "can't", "would not": "wouldn't", "it is": "it's"}
_SCALES = (  # no two words of a row mean the same
    ("must", "may"),
    ("should", "might"),
    ("all", "some", "few"),
    ("every", "no"),
    ("most", "few"),
    ("always", "sometimes", "never"),
    ("usually", "rarely"),
    ("often", "seldom"),
    ("certainly", "perhaps"),
    ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    ("January", "February", "March", "April", "June", "July", "August", "September", "October", "November", "December"),
)
_OPEN = ("NN", "NNS", "VBD", "JJ")  # tags of words that another may stand for
_LIKE = (0.35, 0.65)  # cosines of words that could stand for each other and mean something else


class Base(NamedTuple):
    """A sentence, another way to say it, and its tree where there is one."""

    name: str
    source: str
    target: str
    tree: Tree | None = None


def main(arguments: Sequence[str] | None = None) -> None:
    """Read, change, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="treebanks (.mrg.gz) and pairs (JSON lines)"
    )
    parser.add_argument("--most", type=int, default=0, metavar="N", help="pairs that are written, evenly taken")
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args(arguments)
    rows = make_rows([base for path in args.files for base in read_bases(path)])
    rows = rows[:: max(1, len(rows) // args.most)] if args.most else rows
    write_lines(args.output, [json.dumps(row, ensure_ascii=False) for row in rows])
    for (verdict, kind), count in sorted(Counter((row["verdict"], row["kind"]) for row in rows).items()):
        print(f"{verdict:14} {kind:20} {count:6}")
    print(f"{len(rows)} pairs")


# ---- bases ----


def read_bases(path: Path) -> Iterator[Base]:
    """The sentences of a treebank with another order of their parts, or the paraphrases of a file."""
    stem = path.name.partition(".")[0]
    if ".mrg" in path.name:
        trees = [tree for tree in read_plain_trees(str(path)) if is_plain_sentence(tree)]
        usage = count_usage(trees)
        for number, tree in enumerate(trees):
            source = text_of(tree)
            yield Base(f"{stem}-{number}", source, reordered(tree, usage) or source, tree)
        return
    for number, row in enumerate(read_records(path)):
        is_same = row.get("relation") == "same" or row.get("paraphrase") == 1 or row.get("score", 0) >= 4.5
        if is_same and row.get("split", "train") == "train":
            yield Base(f"{stem}-{number}", _plain(row["source"]), _plain(row["target"]))


def _plain(text: str) -> str:
    """A text without the marks of its phrases."""
    return untokenised(re.sub(r"\[\S+ ", "", text).replace("]", "").split())


def reordered(tree: Tree, usage: Usage) -> str | None:
    """The sentence with its clauses, adjuncts or conjuncts in another order."""
    found = next((other for rule in RULES for other in rule.apply(tree, usage)), None)
    return None if found is None else text_of(number_anew(found, usage.lower_case)[0])


def text_of(tree: Tree) -> str:
    """The words as one writes them."""
    return untokenised([str(leaf.word) for leaf in tree.leaves()])


def untokenised(words: Sequence[str]) -> str:
    """Words with blanks where one writes them."""
    text = re.sub(r" (n't|'\w{1,2}|[.,;:?!%)])(?= |$)", r"\1", " ".join(words)).replace("( ", "(")
    return text[:1].upper() + text[1:]


# ---- changes of meaning ----


def negate(text: str, chance: random.Random) -> str | None:
    """With a negation more, or less."""
    less = re.sub(r"\b(do|does|did|is|are|was|were|would|could|has|have|had)(n't| not)\b", r"\1", text, count=1)
    if less != text:
        return less
    return _replaced(text, chance, lambda word: f"{word} not" if word in _NOT else None)


def other_number(text: str, chance: random.Random) -> str | None:
    """With another number."""

    def change(word: str) -> str | None:
        if word in _NUMBERS:
            return chance.choice([each for each in _NUMBERS if each != word])
        return str(int(word) + chance.choice((1, 2, 3, 10))) if re.fullmatch(r"[1-9]\d{0,3}", word) else None

    return _replaced(text, chance, change)


def other_level(text: str, chance: random.Random) -> str | None:
    """With another level of the same scale: *must*, *may*; *all*, *some*; Monday, Tuesday."""

    def change(word: str) -> str | None:
        levels = next((each for each in _SCALES if word in each), ())
        return chance.choice([each for each in levels if each != word]) if levels else None

    return _replaced(text, chance, change)


def turn(text: str, chance: random.Random) -> str | None:
    """With a comparison or an order turned, or with from and to exchanged."""
    both = re.search(r"\bfrom ([\w$%]+) to ([\w$%]+)", text)
    if both and both[1] != both[2]:
        return f"{text[: both.start(1)]}{both[2]} to {both[1]}{text[both.end(2) :]}"
    return _replaced(text, chance, _TURNED.get)


def opposite(text: str, chance: random.Random) -> str | None:
    """With an antonym of WordNet."""
    wordnet = load_wordnet()

    def change(word: str) -> str | None:
        found = sorted(each for each in wordnet.entry(word).antonyms if each.isalpha()) if word in wordnet else []
        return found[0] if found and len(word) > 2 else None

    return _replaced(text, chance, change)


def other_name(text: str, chance: random.Random) -> str | None:
    """With another name, or with two names exchanged."""
    names = list(dict.fromkeys(re.findall(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b(?! [A-Z])", text)))
    if len(names) > 1 and chance.random() < 0.5:
        one, other = chance.sample(names, 2)
        return re.sub(rf"\b({one}|{other})\b", lambda found: other if found[0] == one else one, text)
    others = [each for each in ("Peter", "Clara", "Morgan", "Lisbon", "Canada", "Halifax") if each not in names]
    return re.sub(rf"\b{chance.choice(names)}\b", chance.choice(others), text) if names else None


def swap_phrases(tree: Tree, chance: random.Random) -> str | None:
    """With two noun phrases of one kind exchanged, unless they are conjuncts."""
    phrases = [node for node in preorder(tree) if node.label == "NP" and 1 <= node.end - node.begin <= 4]
    pairs = [
        (one, other)
        for one in phrases
        for other in phrases
        if one.end < other.begin and _kind(one) == _kind(other) != "PRP" and not _are_conjoined(tree, one, other)
    ]
    if not pairs:
        return None
    one, other = chance.choice(pairs)
    leaves = [str(leaf.word) for leaf in tree.leaves()]
    first, second = leaves[one.begin : one.end], leaves[other.begin : other.end]
    if one.begin == 0 and one.leaves()[0].label not in ("NNP", "NNPS"):
        first = [first[0].lower(), *first[1:]]
    if [each.lower() for each in first] == [each.lower() for each in second]:
        return None
    return untokenised([*leaves[: one.begin], *second, *leaves[one.end : other.begin], *first, *leaves[other.end :]])


def _kind(phrase: Tree) -> str:
    return [leaf.label for leaf in phrase.leaves()][-1]


def _are_conjoined(tree: Tree, one: Tree, other: Tree) -> bool:
    return any(one in node.children and other in node.children and node.label != "S" for node in preorder(tree))


def other_word(tree: Tree, chance: random.Random, pool: dict[str, list[str]]) -> str | None:
    """With a noun, verb or adjective in the place of one that is like it and means something else."""
    leaves, (low, high) = list(tree.leaves()), _LIKE
    places = [k for k, leaf in enumerate(leaves) if leaf.label in _OPEN and str(leaf.word).isalpha()]
    if not places:
        return None
    at = chance.choice(places)
    own = str(leaves[at].word).lower()
    like = [
        (load_vectors().cosine(own, each), each)
        for each in chance.sample(pool[leaves[at].label], 80)
        if not _mean_alike(own, each)
    ]
    best = max((each for each in like if low < each[0] < high), default=None)
    words = [str(leaf.word) for leaf in leaves]
    return untokenised([*words[:at], best[1], *words[at + 1 :]]) if best else None


def _mean_alike(one: str, other: str) -> bool:
    wordnet = load_wordnet()
    is_near = wordnet.are_synonyms(one, other) or wordnet.is_hypernym(one, other) or wordnet.is_hypernym(other, one)
    return one[:4] == other[:4].lower() or is_near


def _replaced(text: str, chance: random.Random, change: Callable[[str], str | None]) -> str | None:
    """The text with one of the words that `change` knows replaced."""
    words = text.split(" ")
    found = [(k, new) for k, word in enumerate(words) if (new := change(word))]
    if not found:
        return None
    at, new = chance.choice(found)
    return " ".join([*words[:at], new, *words[at + 1 :]])


# ---- changes of form ----


def spell(text: str, chance: random.Random) -> str | None:
    """With contractions written out or the other way, numbers in digits or words."""
    for long, short in _SHORT.items():
        if re.search(rf"\b{long}\b", text):
            return re.sub(rf"\b{long}\b", short, text, count=1)
        if short in text:
            return text.replace(short, long, 1)
    digits = {word: str(k) for k, word in enumerate(_NUMBERS, start=2)}
    return _replaced(text, chance, (digits | {each: word for word, each in digits.items()}).get)


def synonym(text: str, chance: random.Random) -> str | None:
    """With a fixed expression of the paraphrase grammar in the place of another of its line."""
    found = [(one, other) for one, others in equals().items() if f" {one} " in text for other in others]
    one, other = chance.choice(found) if found else ("", "")
    return text.replace(f" {one} ", f" {other} ", 1) if found else None


@cache
def equals() -> dict[str, list[str]]:
    """What can be said instead of an expression: adverbs and connectives, which stand as they are."""
    found: dict[str, list[str]] = {}
    for name in ("adverbials", "connectives", "time"):
        for line in (grammar_root() / "paraphrases" / f"{name}.txt").read_text(encoding="utf-8").splitlines():
            members = [each.strip() for each in line.split("|")]
            if not re.search(r"[#>!()\[]|\b[A-Z]\b|\b(be|have)\b|'", line):
                for one in members:
                    found[one] = [each for each in members if each != one]
    return {one: others for one, others in found.items() if others and len(one) > 4}


def passive(tree: Tree, _: random.Random) -> str | None:
    """*The storm damaged the roof* in the passive; verbs in -ed alone, whose participle is the same."""
    if [child.label for child in tree.children[:2]] != ["NP", "VP"]:
        return None
    subject, predicate = tree.children[:2]
    if [child.label for child in predicate.children[:2]] != ["VBD", "NP"] or _kind(subject).startswith("PRP"):
        return None
    verb, thing = predicate.children[:2]
    if not str(verb.word).endswith("ed") or _kind(thing).startswith("PRP") or tree.begin != subject.begin:
        return None
    words = [str(leaf.word) for leaf in tree.leaves()]
    is_name = subject.leaves()[0].label.startswith("NNP")
    agent = words[: subject.end] if is_name else [words[0].lower(), *words[1 : subject.end]]
    be = "were" if _kind(thing) in ("NNS", "NNPS") else "was"
    return untokenised([*words[thing.begin : thing.end], be, str(verb.word), "by", *agent, *words[thing.end :]])


# ---- pairs ----

CHANGES: dict[str, Change] = {
    "negation": negate,
    "number": other_number,
    "scale": other_level,
    "turned": turn,
    "opposite": opposite,
    "name": other_name,
}


def make_rows(bases: Sequence[Base]) -> list[dict[str, object]]:
    """All pairs of all bases, in their order."""
    pool: dict[str, list[str]] = {tag: [] for tag in _OPEN}
    for base in bases:
        for leaf in base.tree.leaves() if base.tree else ():
            if leaf.label in pool and str(leaf.word).isalpha():
                pool[leaf.label].append(str(leaf.word))
    chance = random.Random(1)
    return [row for number, base in enumerate(bases) for row in _rows(base, bases[number - 1], chance, pool)]


def _rows(base: Base, other: Base, chance: random.Random, pool: dict[str, list[str]]) -> Iterator[dict[str, object]]:
    source = base.source

    def row(target: str, verdict: str, kind: str) -> dict[str, object]:
        sides = (source, target) if chance.random() < 0.5 else (target, source)
        return {
            **dict(zip(("source", "target"), sides, strict=True)),
            "paraphrase": int(verdict == "same meaning"),
            "verdict": verdict,
            "kind": kind,
            "base": base.name,
        }

    forms = {"paraphrase": base.target if base.target != source else None}
    forms |= {"spelling": spell(base.target, chance), "synonym": synonym(base.target, chance)}
    changed = {name: change(chance.choice((source, base.target)), chance) for name, change in CHANGES.items()}
    if base.tree is not None:
        forms["passive"] = passive(base.tree, chance)
        changed["swap"] = swap_phrases(base.tree, chance)
        changed["other word"] = other_word(base.tree, chance, pool)
    told = {name: text for name, text in forms.items() if text and text != source}
    meant = {name: text for name, text in changed.items() if text and text not in (source, base.target)}
    yield from (row(text, "same meaning", name) for name, text in told.items())
    for name in chance.sample(sorted(meant), min(len(meant), max(1, len(told)) + 1)):
        text = meant[name]
        yield row((chance.random() < 0.3 and spell(text, chance)) or text, "changed", name)
    if chance.random() < 0.15:
        words = source.split(), other.source.split()
        yield row(" ".join([*words[0][: len(words[0]) // 2], *words[1][len(words[1]) // 2 :]]), "related", "half")
        yield row(other.source, "unrelated", "random")


if __name__ == "__main__":
    main()
