"""Build the compact lexicon grammar/lexicon/wordnet.tsv.gz from WordNet 3.0's own files.

Single-word lemmas only (the word aligner asks about single words), lower-cased, no glosses. One line per lemma:

    lemma <tab> synsets <tab> direct hypernym synsets <tab> derivations <tab> antonyms <tab> similar adjectives

Synsets are renumbered; lists are separated by spaces. Debian has the files in `wordnet-base`:

    python scripts/build_wordnet.py /usr/share/wordnet grammar/lexicon/wordnet.tsv.gz
"""

from __future__ import annotations

import argparse
import gzip
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
HYPERNYMS = {"@", "@i"}
DERIVATIONS = {"+", "\\", "<"}  # derivationally related form, pertainym, participle
ANTONYM = "!"
SIMILAR = "&"

SynsetKey = tuple[str, str]  # part of speech and byte offset, as pointers name a synset


@dataclass(frozen=True, slots=True)
class Pointer:
    """A relation from one synset, or from one of its words, to another; word number 0 stands for the whole synset."""

    symbol: str
    target: SynsetKey
    source_word: int
    target_word: int


@dataclass(frozen=True, slots=True)
class Synset:
    key: SynsetKey
    words: tuple[str, ...]
    pointers: tuple[Pointer, ...]


def read_synsets(folder: Path) -> Iterator[Synset]:
    """The data files: offset, lexicographer file, type, word count (hexadecimal), words, pointers, gloss."""
    for name, part in PARTS.items():
        with (folder / f"data.{name}").open(encoding="utf-8") as lines:
            for line in lines:
                if not line.startswith(" "):  # the licence notice is indented
                    yield parse_synset(line.split(" | ")[0].split(), part)


def parse_synset(fields: list[str], part: str) -> Synset:
    word_count = int(fields[3], 16)
    words = tuple(clean(word) for word in fields[4 : 4 + 2 * word_count : 2])
    position = 4 + 2 * word_count
    pointers = []
    for index in range(int(fields[position])):
        symbol, offset, target_part, words_field = fields[position + 1 + 4 * index : position + 5 + 4 * index]
        target = (part_of(target_part), offset)
        pointers.append(Pointer(symbol, target, int(words_field[:2], 16), int(words_field[2:], 16)))
    return Synset((part, fields[0]), words, tuple(pointers))


def part_of(letter: str) -> str:
    """Satellite adjectives live in the adjective file."""
    return "a" if letter == "s" else letter


def clean(word: str) -> str:
    """Lower case, without the syntactic marker that adjectives carry, such as `galore(ip)`."""
    return word.split("(")[0].lower()


def is_single(word: str) -> bool:
    return "_" not in word and " " not in word


def lexicon_lines(synsets: list[Synset]) -> Iterator[str]:
    by_key = {synset.key: synset for synset in synsets}
    number = {synset.key: index for index, synset in enumerate(synsets)}
    senses: dict[str, list[int]] = defaultdict(list)
    hypernyms: dict[str, set[int]] = defaultdict(set)
    related: dict[str, dict[str, set[str]]] = {kind: defaultdict(set) for kind in ("derived", "antonym", "similar")}
    for synset in synsets:
        for word in filter(is_single, synset.words):
            senses[word].append(number[synset.key])
            hypernyms[word].update(number[p.target] for p in synset.pointers if p.symbol in HYPERNYMS)
        for pointer in synset.pointers:
            add_pairs(related, synset, pointer, by_key[pointer.target])
    for word in sorted(senses):
        yield "\t".join(
            (
                word,
                " ".join(map(str, dict.fromkeys(senses[word]))),
                " ".join(map(str, sorted(hypernyms[word]))),
                *(" ".join(sorted(related[kind][word])) for kind in ("derived", "antonym", "similar")),
            )
        )


def add_pairs(related: dict[str, dict[str, set[str]]], synset: Synset, pointer: Pointer, target: Synset) -> None:
    """Lexical pointers join two words; `similar to` joins the head words of two adjective synsets."""
    if pointer.symbol in DERIVATIONS:
        kind = "derived"
    elif pointer.symbol == ANTONYM:
        kind = "antonym"
    elif pointer.symbol == SIMILAR:
        kind = "similar"
    else:
        return
    left_words = synset.words if pointer.source_word == 0 else synset.words[pointer.source_word - 1 :][:1]
    right_words = target.words if pointer.target_word == 0 else target.words[pointer.target_word - 1 :][:1]
    if kind == "similar":
        left_words, right_words = left_words[:1], right_words[:1]
    for left in filter(is_single, left_words):
        for right in filter(is_single, right_words):
            if left != right:
                related[kind][left].add(right)
                related[kind][right].add(left)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dict", type=Path, help="WordNet's folder with data.noun, data.verb, data.adj, data.adv")
    parser.add_argument("output", type=Path)
    args = parser.parse_args()
    text = "\n".join(lexicon_lines(list(read_synsets(args.dict)))) + "\n"
    with args.output.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(text.encode("utf-8"))
    print(f"{text.count(chr(10))} lemmas, {args.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
