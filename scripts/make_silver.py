#!/usr/bin/env python
"""Silver word links: sentences translated and back, or paraphrases that exist, linked where two unlike sources agree.

    pip install --no-deps ctranslate2 sentencepiece
    ct2-transformers-converter --model opus-mt-en-fr --output_dir runs/en-fr --quantization int8     # fr-en likewise
    python scripts/make_silver.py ewt.train.mrg.gz:2000 masc.mrg.gz:1000 paws.dev.jsonl.gz:500 msrp.train.jsonl.gz:500 \
        --there opus-mt-en-fr runs/en-fr --back opus-mt-fr-en runs/fr-en -o runs/silver.jsonl.gz
    python scripts/make_silver.py --pairs msrp.train.jsonl.gz:1200 stsb.train.jsonl.gz:500 --there opus-mt-en-fr \
        runs/en-fr -o runs/paraphrases.jsonl.gz
    python scripts/train_joint.py ... --gold mtref.train.jsonl.gz wiki.train.jsonl.gz runs/silver.jsonl.gz

A model is given by its folder (pieces, vocabulary, weights) and by what the converter made of it. One source is profile
`best`, the other the encoder of the translator: vectors of its words, centred, mutually nearest. The output has the
form of gold links: `sure` are the links of both sources; `possible`, which training passes over, is all that they do
not settle: what one source links alone, and the other cells of its words. A word that neither source links has no
partner; with `--open` nothing is said of it. Pairs are dropped that hardly differ, or in which few content words are
linked. FILE:N takes N sentences of a file, or N paraphrases of a file of pairs, drawn with a fixed seed.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from forestalign.arrays import BoolArray, Float32Array
from forestalign.config import AlignConfig
from forestalign.formats.lines import write_lines
from forestalign.formats.word_links import GOLD, GoldPair, LinkAnnotation, format_link_line
from forestalign.parsers import load_parser
from forestalign.tokens import Sentence, tokenize
from forestalign.words import WordAligner, analyse_parse
from forestalign.words.learned.sides import CONTENT, kind_of

LAYER = 5  # of the translator's encoder: the best of 3 to 5 on 60 pairs of mtref.train
LEAST_COSINE = 0.3
FEWEST_WORDS, MOST_WORDS = 6, 35
LEAST_LINKED = 0.5  # share of the content words of either side
MOST_SAME = 0.95  # share of the words of the longer side that are the same: such a pair teaches nothing
SAMPLED = 10  # pieces that a translation draws from
BATCH = 64
LEAST_ALIKE = 4.5  # human similarity, of 5, of pairs that count as paraphrases

Words = tuple[str, ...]
_GAPS = re.compile(r" (?=[.,;:!?%)\]]|n't\b|'(?:s|re|ve|ll|d|m)\b|'$)|(?<=[(\[$]) ")


class Translator:
    """One direction: text to text, drawn at random."""

    def __init__(self, folder: Path, converted: Path):
        import ctranslate2
        import sentencepiece

        self._cut = sentencepiece.SentencePieceProcessor(str(folder / "source.spm"))
        self._join = sentencepiece.SentencePieceProcessor(str(folder / "target.spm"))
        self._model = ctranslate2.Translator(str(converted), inter_threads=1, intra_threads=1)

    def __call__(self, texts: Sequence[str]) -> list[str]:
        pieces = [[*self._cut.encode(text, out_type=str), "</s>"] for text in texts]
        found = self._model.translate_batch(
            pieces, beam_size=1, sampling_topk=SAMPLED, sampling_temperature=0.8, max_batch_size=BATCH
        )
        return [self._join.decode(each.hypotheses[0]) for each in found]


class TranslatorVectors:
    """Words as the encoder of a translator sees them in their sentence."""

    def __init__(self, folder: Path):
        from transformers import MarianMTModel, MarianTokenizer

        self._pieces = MarianTokenizer.from_pretrained(folder)
        self._encoder = MarianMTModel.from_pretrained(folder).get_encoder().eval()

    def __call__(self, words: Words) -> Float32Array:
        """[words, hidden]: the mean of the pieces of each."""
        import torch

        cut = [self._pieces.convert_tokens_to_ids(self._pieces.tokenize(word)) or [0] for word in words]
        numbers = [number for each in cut for number in each]
        with torch.no_grad():
            given: Any = torch.tensor([[*numbers, self._pieces.eos_token_id]])
            states = self._encoder(given, output_hidden_states=True).hidden_states[LAYER][0].numpy()
        ends = np.cumsum([len(each) for each in cut])
        return np.stack([states[end - len(each) : end].mean(0) for each, end in zip(cut, ends, strict=True)])


def near_links(source: Float32Array, target: Float32Array) -> BoolArray:
    """Words that are nearest to each other, by the cosine of vectors centred over both sentences."""
    centre = np.concatenate([source, target]).mean(0)
    left, right = (side - centre for side in (source, target))
    left, right = (side / (np.linalg.norm(side, axis=1, keepdims=True) + 1e-6) for side in (left, right))
    cosines = left @ right.T
    best = (cosines == cosines.max(1, keepdims=True)) & (cosines == cosines.max(0, keepdims=True))
    return np.asarray(best & (cosines >= LEAST_COSINE))


class Agreed(NamedTuple):
    """What two sources say together."""

    sure: BoolArray
    is_open: BoolArray


def agreed(one: BoolArray, other: BoolArray, lonely_are_open: bool = False) -> Agreed:
    """Sure where both link; open where one source stands alone, and where either word has no sure link.

    All cells of a word that neither source links are closed, unless `lonely_are_open`.
    """
    sure, either = one & other, one | other
    closed = np.logical_and.outer(sure.max(1), sure.max(0)) & ~(one ^ other)
    if not lonely_are_open:
        closed |= np.logical_or.outer(~either.max(1), ~either.max(0))
    return Agreed(sure, ~sure & ~closed)


def is_useful(source: Words, target: Words, sure: BoolArray) -> bool:
    """Whether enough content words are linked for a true paraphrase, and words differ."""
    same = len(set(source) & set(target)) / max(len(set(source)), len(set(target)))
    shares = [
        np.mean([is_linked for word, is_linked in zip(words, linked, strict=True) if kind_of(word.lower()) == CONTENT])
        for words, linked in ((source, sure.max(1)), (target, sure.max(0)))
        if any(kind_of(word.lower()) == CONTENT for word in words)
    ]
    return same <= MOST_SAME and len(shares) == 2 and bool(min(shares) >= LEAST_LINKED)


def plain_text(words: Words) -> str:
    """Words as text, without the spaces that tokens have and text has not."""
    return _GAPS.sub("", " ".join(words))


def paraphrased(sentences: Sequence[Words], there: Translator, back: Translator) -> Iterator[tuple[Words, Words]]:
    """Each sentence beside what comes back; longer or shorter by far is no translation."""
    for begin in range(0, len(sentences), 8 * BATCH):
        part = sentences[begin : begin + 8 * BATCH]
        for source, text in zip(part, back(there([plain_text(words) for words in part])), strict=True):
            target = tuple(tokenize(text).words) if text.strip() else ()
            if len(target) >= FEWEST_WORDS and 0.6 <= len(target) / len(source) <= 1.7:
                yield source, target


def linked(
    pairs: Sequence[tuple[Words, Words]], vectors: TranslatorVectors, ppdb: str = "", lonely_are_open: bool = False
) -> Iterator[GoldPair]:
    """The pairs that are useful, with what both sources say; ppdb: a list of word pairs for profile `best`, if any."""
    config = AlignConfig(nbest=1, ppdb=ppdb)
    parser, aligner = load_parser(config), WordAligner(config)
    for number, (source, target) in enumerate(pairs):
        parses = parser.parse([Sentence.from_words(source), Sentence.from_words(target)])
        known = np.zeros((len(source), len(target)), dtype=bool)
        for i, j in aligner.align(*map(analyse_parse, parses)).pairs:
            known[i, j] = True
        found = agreed(known, near_links(vectors(source), vectors(target)), lonely_are_open)
        if is_useful(source, target, found.sure):
            cells = [tuple((int(i), int(j)) for i, j in np.argwhere(table)) for table in found]
            yield GoldPair(f"silver-{number}", (LinkAnnotation(GOLD, source, target, *cells),))


def drawn(text: str, seed: int) -> list[Words]:
    """Sentences of FILE or FILE:N, as long as a sentence should be."""
    from encoder_training.texts import Source, read_sentences  # needs benepar

    source = Source.parse(text)
    found = [words for words in read_sentences([Source(source.path)], MOST_WORDS) if len(words) >= FEWEST_WORDS]
    return random.Random(seed).sample(found, min(len(found), source.most or len(found)))


def paraphrases(text: str, seed: int) -> list[tuple[Words, Words]]:
    """Pairs of FILE or FILE:N of which people said that they mean the same, as long as sentences should be."""
    from encoder_training.texts import Source, read_pairs  # needs benepar

    source = Source.parse(text)
    pairs = read_pairs([Source(source.path)], MOST_WORDS, are_paraphrases)
    found = [pair for pair in pairs if min(map(len, pair)) >= FEWEST_WORDS]
    return random.Random(seed).sample(found, min(len(found), source.most or len(found)))


def are_paraphrases(record: dict[str, Any]) -> bool:
    """By the label or the score of the pair; one without either is taken as it is."""
    return bool(record.get("paraphrase", 1)) and float(record.get("score", LEAST_ALIKE)) >= LEAST_ALIKE


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="*", metavar="FILE[:N]", help="treebanks, or JSON lines of pairs: to translate")
    parser.add_argument("--pairs", nargs="*", default=[], metavar="FILE[:N]", help="JSON lines of paraphrases: to link")
    parser.add_argument("--there", nargs=2, type=Path, required=True, metavar=("MODEL", "CONVERTED"))
    parser.add_argument("--back", nargs=2, type=Path, metavar=("MODEL", "CONVERTED"), help="needed to translate")
    parser.add_argument("--ppdb", default="", metavar="FILE", help="word pairs that profile `best` knows besides")
    parser.add_argument("--open", action="store_true", help="say nothing of words that neither source links")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="links, as JSON lines")
    args = parser.parse_args(arguments)
    if args.texts and not args.back:
        parser.error("to translate, --back is needed")
    pairs = list(dict.fromkeys(pair for text in args.pairs for pair in paraphrases(text, args.seed)))
    pairs += translated(args) if args.texts else []
    links = linked(pairs, TranslatorVectors(args.there[0]), args.ppdb, args.open)
    write_lines(args.output, map(format_link_line, links))


def translated(args: argparse.Namespace) -> list[tuple[Words, Words]]:
    """The sentences of all texts with their paraphrases."""
    import ctranslate2

    ctranslate2.set_random_seed(args.seed)
    sentences = list(dict.fromkeys(words for text in args.texts for words in drawn(text, args.seed)))
    pairs = list(paraphrased(sentences, Translator(*args.there), Translator(*args.back)))
    print(f"{len(pairs)} paraphrases of {len(sentences)} sentences", flush=True)
    return pairs


if __name__ == "__main__":
    main()
