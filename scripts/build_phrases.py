"""Build the phrase lexicon grammar/lexicon/phrases.tsv.gz from WordNet 3.0's own files.

Every lemma of several words (or with a hyphen, which is the same thing in another spelling) with the lemmas it is
related to: synonyms, hypernyms and hyponyms one step away, similar adjectives, derivations, pertainyms, antonyms.
Phrases that begin with the same two words share a line, so that two words of a sentence find them all:

    turn down <tab> ENTRY <tab> ENTRY ...        ENTRY = other words | part of speech | relations, separated by blanks

A relation is a sign (= synonym, > the related lemma is more general, < more specific, ~ similar, ! opposite), a grade,
the part of speech and the related lemma, `=8v:reject`. The grade, up to 9, is the chance that both lemmas are meant in
the sense they share: the geometric mean of the shares that the sense has among the occurrences of each lemma in
WordNet's tagged texts, times ten. Below 1 only synonyms are kept, with grade 0 (*break down*, *fail*). Two phrases are
stated once, at the one that sorts first.

    python scripts/build_phrases.py /usr/share/wordnet grammar/lexicon/phrases.tsv.gz
"""

from __future__ import annotations

import argparse
import gzip
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from build_wordnet import DERIVATIONS, HYPERNYMS, PARTS, Pointer, Synset, SynsetKey, part_of, read_synsets

HYPONYMS = {"~", "~i"}
SIGNS = {**dict.fromkeys(HYPERNYMS, ">"), **dict.fromkeys(HYPONYMS, "<"), "&": "~", "!": "!"}
SIGNS |= dict.fromkeys(DERIVATIONS, "~")
ORDER = "=!><~"  # of two relations between two lemmas the first is kept
TAXA = ("genus", "family", "order", "class", "phylum", "subfamily", "superfamily", "suborder", "subclass")
MOST_HYPONYMS = 60  # of one phrase, the best first: "plant part" has hundreds, which nobody calls so
SENSE_TYPES = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}

Lemma = tuple[str, str]  # part of speech and words, hyphens turned to blanks
Shares = dict[tuple[SynsetKey, str], float]  # of a synset among the senses of a lemma as WordNet writes it


def spaced(word: str) -> str:
    """Words separated by blanks: `take_a_hard-line` -> `take a hard line`."""
    return " ".join(word.replace("_", " ").replace("-", " ").split())


def read_counts(folder: Path) -> dict[tuple[str, str, int], int]:
    """Part of speech, lemma and number of a sense -> occurrences in the tagged texts."""
    counts = {}
    for line in (folder / "cntlist.rev").read_text(encoding="utf-8").splitlines():
        key, number, count = line.split()
        lemma, _, rest = key.partition("%")
        counts[SENSE_TYPES[rest[0]], lemma, int(number)] = int(count)
    return counts


def read_shares(folder: Path) -> Shares:
    """How often each lemma is meant in each of its senses; a sense that never occurs counts by its rank."""
    counts, shares = read_counts(folder), {}
    for name, part in PARTS.items():
        for line in (folder / f"index.{name}").read_text(encoding="utf-8").splitlines():
            if line.startswith(" "):
                continue
            fields = line.split()
            lemma, offsets = fields[0], fields[-int(fields[2]) :]
            weights = [counts.get((part, lemma, rank), 0) + 1 / rank for rank in range(1, len(offsets) + 1)]
            for offset, weight in zip(offsets, weights, strict=True):
                shares[(part, offset), lemma] = weight / sum(weights)
    return shares


def joined_words(synset: Synset, number: int) -> tuple[str, ...]:
    return synset.words if number == 0 else synset.words[number - 1 :][:1]


def related(synset: Synset, by_key: dict[SynsetKey, Synset]) -> Iterator[tuple[str, str, str, Synset]]:
    """Sign, own lemma, other lemma, and the other's synset."""
    for word in synset.words:
        yield from (("=", word, other, synset) for other in synset.words)
    for pointer in synset.pointers:
        if pointer.symbol in SIGNS and not _is_loose(pointer):
            target = by_key[pointer.target]
            for word in joined_words(synset, pointer.source_word):
                for other in joined_words(target, pointer.target_word):
                    yield SIGNS[pointer.symbol], word, other, target


def _is_loose(pointer: Pointer) -> bool:
    """Symbols that mean something else between other parts of speech: `\\` of an adverb is its adjective."""
    return pointer.symbol == "<" and part_of(pointer.target[0]) != "v"


def relations(synsets: list[Synset], shares: Shares) -> dict[Lemma, dict[Lemma, tuple[str, int]]]:
    """For each phrase its related lemmas with sign and grade."""
    by_key = {synset.key: synset for synset in synsets}
    found: dict[Lemma, dict[Lemma, tuple[str, int]]] = defaultdict(dict)
    for synset in synsets:
        for sign, word, other, target in related(synset, by_key):
            phrase, partner = (synset.key[0], spaced(word)), (target.key[0], spaced(other))
            if " " not in phrase[1] or phrase[1] == partner[1] or phrase[1].startswith(TAXA):
                continue
            if " " in partner[1] and partner[1] < phrase[1]:
                continue  # stated at the other phrase
            share = shares.get((synset.key, word), 0.0) * shares.get((target.key, other), 0.0)
            grade = min(9, int(10 * share**0.5))
            if grade or sign == "=":
                known = found[phrase].get(partner, (ORDER[-1], 0))
                best = min((sign, -grade), (known[0], -known[1]), key=lambda one: (ORDER.index(one[0]), one[1]))
                found[phrase][partner] = (best[0], -best[1])
    return found


def entry_text(rest: str, part: str, partners: dict[Lemma, tuple[str, int]]) -> str:
    rows = sorted((ORDER.index(sign), -grade, other) for other, (sign, grade) in partners.items())
    hyponyms = [row for row in rows if ORDER[row[0]] == "<"][MOST_HYPONYMS:]
    kept = [
        f"{ORDER[sign]}{-grade}{p}:{word.replace(' ', '_')}"
        for sign, grade, (p, word) in rows
        if (sign, grade, (p, word)) not in hyponyms
    ]
    return f"{rest}|{part}|{' '.join(kept)}"


def lexicon_lines(synsets: list[Synset], shares: Shares) -> Iterator[str]:
    found = relations(synsets, shares)
    for partners in list(found.values()):
        for partner in partners:
            if " " in partner[1] and partner not in found:
                found[partner] = {}  # stated at its partner alone, and to be found in sentences all the same
    lines: dict[str, list[str]] = defaultdict(list)
    for (part, words), partners in sorted(found.items(), key=lambda item: (item[0][1], item[0][0])):
        first, second, *others = words.split()
        lines[f"{first} {second}"].append(entry_text(" ".join(others), part, partners))
    for begin in sorted(lines):
        yield "\t".join((begin, *lines[begin]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dict", type=Path, help="WordNet's folder with data.*, index.* and cntlist.rev")
    parser.add_argument("output", type=Path)
    args = parser.parse_args()
    lines = list(lexicon_lines(list(read_synsets(args.dict)), read_shares(args.dict)))
    with args.output.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(("\n".join(lines) + "\n").encode("utf-8"))
    count = sum(line.count("\t") for line in lines)
    print(f"{count} phrases, {args.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
