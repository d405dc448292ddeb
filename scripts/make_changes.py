"""Make pairs of sentences with a known verdict, by controlled change of sentences and paraphrases.

    python scripts/make_changes.py annotations/written.jsonl msrp.train.jsonl.gz \\
        grammar/paraphrases/{verbs,idioms,converses,light-verbs,modality,verb-opposites}.txt -o made.jsonl

A file of JSON lines gives pairs: paraphrases (`paraphrase` 1, `score` of at least 4.5, or `relation` same; of
annotations only the split `train`). A file of the paraphrase grammar gives sentences of two expressions of a line with
the same fillers. Second sentences are parsed. Of each base there is a sentence beside
    same meaning  its paraphrase
    changed       the paraphrase with one thing changed: two phrases swapped, a negation more or less, another
                  number, level of a scale, opposite, word of the same kind, fillers of an expression exchanged
    unrelated     another sentence
Lines have
`source`, `target`, `paraphrase`, `verdict`, `kind` (of the change) and `base`. The same input gives the same output.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from lemminflect import getInflection
from scoring.meaning import read_records

from forestalign.config import AlignConfig
from forestalign.formats.lines import write_lines
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.parsers import load_parser
from forestalign.tokens import lemmatize, tokenize
from forestalign.trees import Tree, preorder

Change = Callable[[str, random.Random], str | None]  # another text, or None if there is nothing to change
TreeChange = Callable[[Tree, random.Random], str | None]
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SCALES = [  # no two words of a row mean the same
    row.split()
    for row in re.split(
        r"\|",
        "must may|should might|all some few|every no|most few|always sometimes never|usually rarely|often seldom|"
        "certainly perhaps|more less|better worse|larger smaller|higher lower|before after|older younger|"
        "because although|Monday Tuesday Wednesday Thursday Friday Saturday Sunday|"
        "January February March April June July August September October November December",
    )
]
_OPEN = ("NN", "NNS", "VBD", "JJ")  # tags of words that another may stand for
_TURNABLE = ("NN", "JJ", "JJR", "RB", "VB", "VBP")  # tags of words whose antonyms stand as they are
_LIKE = (0.35, 0.65)  # cosines of words that could stand for each other and mean something else
_PEOPLE = [  # who fills the slots of expressions, with its pronoun
    (each.rpartition(" ")[0], each.rpartition(" ")[2])
    for each in re.split(
        r"\|",
        "Anna her|Mr Brown his|the council its|the new teacher her|his neighbour his|the old captain his|our firm its|"
        "the hospital its|Peter his|a young doctor her",
    )
]
_ACTS = ("selling the house", "sell the house")  # for V, behind prepositions and behind auxiliaries
_WHEN = ("", "", " last year", " on Friday", " in Leeds", " after the meeting", " for the second time")


class Base(NamedTuple):
    """A sentence, another way to say it with its tree where there is one, and what says something else."""

    name: str
    source: str
    target: str
    tree: Tree | None = None
    changed: Mapping[str, str] = MappingProxyType({})


def main(arguments: Sequence[str] | None = None) -> None:
    """Read, change, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="JSON lines, or lines of the grammar")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="change every Nth base only")
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args(arguments)
    rows = make_rows([base for path in args.files for base in read_bases(path)][:: args.every])
    write_lines(args.output, [json.dumps(row, ensure_ascii=False) for row in rows])
    for (verdict, kind), count in sorted(Counter((row["verdict"], row["kind"]) for row in rows).items()):
        print(f"{verdict:14} {kind:20} {count:6}")
    print(f"{len(rows)} pairs")


# ---- bases ----


def read_bases(path: Path) -> Iterator[Base]:
    """The paraphrases of a file, or pairs of sentences of lines of the grammar; second sentences are parsed."""
    stem = path.name.partition(".")[0]
    found = list(read_clauses(path)) if path.suffix == ".txt" else []
    for number, row in enumerate(read_records(path) if not found else ()):
        is_same = row.get("relation") == "same" or row.get("paraphrase") == 1 or row.get("score", 0) >= 4.5
        if is_same and row.get("split", "train") == "train":
            found.append(Base(row.get("id", f"{stem}-{number}"), _plain(row["source"]), _plain(row["target"])))
    parses = load_parser(AlignConfig(nbest=1)).parse([tokenize(base.target) for base in found], forests=False)
    for base, parse in zip(found, parses, strict=True):
        yield base._replace(tree=parse.trees[0].tree if parse.trees else None)


def _plain(text: str) -> str:
    """A text without the marks of its phrases."""
    return untokenised(re.sub(r"\[\S+ ", "", text).replace("]", "").split())


def untokenised(words: Sequence[str]) -> str:
    """Words with blanks where one writes them."""
    text = re.sub(r" (n't|'\w{1,2}|[.,;:?!%)])(?= |$)", r"\1", " ".join(words)).replace("( ", "(")
    return text[:1].upper() + text[1:]


# ---- sentences of the paraphrase grammar ----


def read_clauses(path: Path) -> Iterator[Base]:
    """Of each line two expressions with the same fillers; changed: others' fillers, its opposite, a negation."""
    previous = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        chance = random.Random(f"{path.stem}-{number}")
        people = dict(zip("XYZ_", chance.sample(_PEOPLE, 4), strict=True))
        others, when = people | {"X": people["Y"], "Y": people["X"]}, f"{chance.choice(_WHEN)}."
        sides = [side.strip().split(" | ") for side in line.split("#")[0].split(" ! ")]
        said = [each for each in sides[0] if clause(each, people)] if ">" not in line else []
        if len(said) < 2:
            continue
        one, two = chance.sample(said, 2)
        changed = {"negation": clause(two, people, is_denied=True), "other line": clause(previous or "sleep", people)}
        if "X" in two.split() and "Y" in two.split():
            changed["swap"] = clause(two, others)
        if len(sides) > 1:
            changed["opposite"] = clause(chance.choice(sides[1]), people)
        texts = {kind: f"{text}{when}" for kind, text in changed.items() if text}
        yield Base(f"{path.stem}-{number}", f"{clause(one, people)}{when}", f"{clause(two, people)}{when}", None, texts)
        previous = two


def clause(expression: str, people: Mapping[str, tuple[str, str]], is_denied: bool = False) -> str | None:
    """A sentence of an expression of the grammar, in the past; None if it begins with no verb.

    >>> clause("lay X off", {"X": ("Anna", "her"), "_": ("the firm", "its")})
    'The firm laid Anna off'
    """
    words = re.sub(r"[()]", "", expression).split()
    subject = people[words.pop(0) if words[:1] and words[0] in people else "_"]
    is_denied ^= words[:1] == ["not"]
    verb, *rest = words[words[:1] == ["not"] :] or [""]
    if verb in ("can", "could", "must", "may", "should", "be"):
        found = ["was" if verb == "be" else verb, *["not"] * is_denied]
    elif past := inflected(verb, "VBD"):
        found = ["did not", verb] if is_denied else [past]
    else:
        return None
    for before, word in pairwise(["", *rest] if not found[1:] else [found[-1], *rest]):
        slot = word.removesuffix("'s")
        if word in people:
            found.append(people[word][0])
        elif slot in people:
            found.append(subject[1] if people[slot] == subject else f"{people[slot][0]}'s")
        elif word == "V":
            found.append(_ACTS[before in ("to", "can", "could", "must", "may", "not")])
        elif len(word) == 1 and word.isupper():
            return None
        else:
            found.append(word)
    text = " ".join([subject[0], *found])
    return text[0].upper() + text[1:]


def inflected(lemma: str, tag: str) -> str:
    """The form of a verb for a tag, or nothing."""
    return next(iter(getInflection(lemma, tag, inflect_oov=False) if lemma else ()), "")


# ---- changes of meaning ----


def negate(tree: Tree, chance: random.Random) -> str | None:
    """With a negation more, or less."""
    leaves = [(str(leaf.word), leaf.label) for leaf in tree.leaves()]
    words = [word for word, _ in leaves]
    text = untokenised(words)
    less = re.sub(
        r"\b(?:do(?:n't| not)|(did|does|is|are|was|were|would|could|has|have|had)(?:n't| not)) ?", r"\1 ", text, count=1
    )
    if less != text:
        return less.replace("  ", " ").strip()
    places: list[tuple[int, str]] = []
    for k, ((word, tag), (_, after)) in enumerate(pairwise(leaves)):
        lemma = lemmatize([word], [tag])[0]
        if (
            tag == "MD"
            or (lemma == "be" and tag in ("VBD", "VBZ", "VBP"))
            or (lemma == "have" and after in ("VBN", "RB"))
        ):
            places.append((k, f"{word} not"))
        elif tag in ("VBD", "VBZ") and lemma not in ("have", "do"):
            places.append((k, f"{'did' if tag == 'VBD' else 'does'} not {lemma}"))
    if not places:
        return None
    at, new = chance.choice(places)
    return untokenised([*words[:at], *new.split(), *words[at + 1 :]]).replace("can not", "cannot")


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
        levels = next((each for each in _SCALES if word in each), [])
        return chance.choice([each for each in levels if each != word]) if levels else None

    return _replaced(text, chance, change)


def opposite(tree: Tree, chance: random.Random) -> str | None:
    """With an antonym of WordNet."""
    found = [
        (k, other)
        for k, leaf in enumerate(tree.leaves())
        if leaf.label in _TURNABLE and len(word := str(leaf.word).lower()) > 2
        for other in sorted(load_wordnet().entry(word).antonyms)
        if other.isalpha()
    ]
    if not found:
        return None
    at, new = chance.choice(found)
    words = [str(leaf.word) for leaf in tree.leaves()]
    return untokenised([*words[:at], new, *words[at + 1 :]])


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


# ---- pairs ----

CHANGES: dict[str, Change] = {"number": other_number, "scale": other_level}
TREE_CHANGES: dict[str, TreeChange] = {"negation": negate, "opposite": opposite, "swap": swap_phrases}


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

    changed = {name: change(base.target, chance) for name, change in CHANGES.items()} | dict(base.changed)
    if base.tree is not None:
        changed = {name: change(base.tree, chance) for name, change in TREE_CHANGES.items()} | changed
        changed["other word"] = other_word(base.tree, chance, pool)
    meant = {name: text for name, text in changed.items() if text and text not in (source, base.target)}
    if base.target != source:
        yield row(base.target, "same meaning", "paraphrase")
    for name in chance.sample(sorted(meant), min(len(meant), 2)):
        yield row(meant[name], "changed", name)
    if chance.random() < 0.15:
        yield row(other.source, "unrelated", "random")


if __name__ == "__main__":
    main()
