"""What the evidence for phrases finds, by kind and relation: annotated, word-linked or plain pairs, or chunks.

    python scripts/score_evidence.py annotations/dev.jsonl STSint.headlines.wa msrp.train.jsonl.gz --show 50
    python scripts/score_evidence.py edinburgh.train.jsonl.gz mtref.train.jsonl.gz --most 300

Annotated pairs (`.jsonl` with `annotators`): a proposal is right if two annotators aligned just these words. Chunks
(`.wa`): right if it lies inside two aligned chunks that are not said to be opposites, wrong if it joins words of chunks
that are not aligned with each other. Gold pairs without a word link are counted for annotated pairs alone.
Word links (`.jsonl.gz` with `sure` or `annotators`): right unless as many sure links leave the pair as lie inside it.
Other pairs have no gold: proposals are counted, and with `--show` some are printed, evenly spread, to be read.
With `--aligned` annotated pairs are aligned as well, and pairs of single words and of several words are scored, those
that hold no gold word link by themselves: recall of what two annotators aligned, precision by what any did. With
`--given` the aligner is given the gold trees and the gold word links. `--set evidence=...` takes evidence away.
With `--similarity` the sentences are parsed and linked, and the learned similarity of phrases is asked, too.
Proposals that speak against a pair (opposite, different value) are right where the gold does not align the two; the
chunk task aligns many of them (*a black dog*, *a white dog*), so there that share says little.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from forestalign.aligner import Aligner
from forestalign.cli.align_options import add_settings, config_of
from forestalign.config import DEFAULT_CONFIG, AlignConfig
from forestalign.errors import NoParseError
from forestalign.forest import pack
from forestalign.formats.ists import read_ists
from forestalign.formats.lines import read_text_lines
from forestalign.formats.word_links import read_gold_links
from forestalign.lexicon import load_phrases
from forestalign.lexicon.findings import AGAINST
from forestalign.parsers import Parser, load_parser
from forestalign.phrases.evidence.phrase_evidence import PhraseEvidence, find_evidence
from forestalign.phrases.prepared_pair import PreparedPair
from forestalign.phrases.result.alignment import PhraseAlignment
from forestalign.tokens import Sentence, analyse, tokenize
from forestalign.trees import ScoredTree, parse_brackets
from forestalign.words.alignment import WordAlignment, WordLink

Phrase = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Gold:
    """Aligned phrases of one pair; `is_exact`: a proposal has to be one of them, else it has to lie inside one."""

    aligned: frozenset[tuple[Phrase, Phrase]]
    is_exact: bool

    def has(self, evidence: PhraseEvidence) -> bool:
        if self.is_exact:
            return (evidence.source, evidence.target) in self.aligned
        own, other = set(evidence.source), set(evidence.target)
        return any(own <= set(source) and other <= set(target) for source, target in self.aligned)

    def unlinked(self) -> set[tuple[Phrase, Phrase]]:
        """Aligned phrases, one of several words, that hold no aligned word."""
        words = [(s[0], t[0]) for s, t in self.aligned if len(s) == len(t) == 1]
        several = {pair for pair in self.aligned if max(map(len, pair)) > 1}
        return {(s, t) for s, t in several if not any(i in s and j in t for i, j in words)}


@dataclass(frozen=True, slots=True)
class LinkGold:
    """Human word links of one pair."""

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]

    def has(self, evidence: PhraseEvidence) -> bool:
        own, other = set(evidence.source), set(evidence.target)
        inside = sum(i in own and j in other for i, j in self.sure | self.possible)
        if evidence.relation in AGAINST:
            return inside > 0
        leaving = sum((i in own) != (j in other) for i, j in self.sure)
        return leaving < max(inside, 1)


AnyGold = Gold | LinkGold | None
Item = tuple[Sentence, Sentence, AnyGold]
Find = Callable[[Sentence, Sentence], tuple[PhraseEvidence, ...]]


def read_items(path: Path, parser: Parser, most: int) -> Iterator[Item]:
    if path.suffix == ".wa":
        rows = list(islice(read_ists(path), most or None))
        sides = [Sentence.from_words(words) for row in rows for words in (row.source, row.target)]
        golds = [
            Gold(
                frozenset(
                    (p.source, p.target)
                    for p in row.pairs
                    if p.source and p.target and not p.relation.startswith("OPPO")
                ),
                False,
            )
            for row in rows
        ]
        yield from _parsed(sides, golds, parser)
        return
    if is_word_linked(path):
        linked = [pair.gold for pair in islice(read_gold_links(path), most or None)]
        sides = [Sentence.from_words(words) for each in linked for words in (each.source, each.target)]
        yield from _parsed(sides, [LinkGold(frozenset(each.sure), frozenset(each.possible)) for each in linked], parser)
        return
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in islice(file, most or None)]
    if "annotators" in records[0] and "tree" in records[0]["source"]:
        for record in records:
            yield _tagged(record["source"]), _tagged(record["target"]), _annotated(record)
        return
    sides = [tokenize(record[side]) for record in records for side in ("source", "target")]
    yield from _parsed(sides, [None] * len(records), parser)


def is_word_linked(path: Path) -> bool:
    """Whether the first pair has human word links; annotated pairs have trees beside their annotators."""
    _, text = next(iter(read_text_lines(path)))
    first = json.loads(text)
    return isinstance(first["source"], list) and bool({"sure", "annotators"} & first.keys())


def _parsed(sides: list[Sentence], golds: Sequence[AnyGold], parser: Parser) -> Iterator[Item]:
    sentences = [parse.sentence for parse in parser.parse(sides)]
    yield from zip(sentences[::2], sentences[1::2], golds, strict=True)


def _tagged(side: dict[str, object]) -> Sentence:
    leaves = list(parse_brackets(str(side["tree"])).leaves())
    return analyse(Sentence.from_words([str(leaf.word) for leaf in leaves]), [leaf.label for leaf in leaves])


def _votes(record: dict[str, dict[str, dict[str, list[list[list[int]]]]]]) -> Counter[tuple[Phrase, Phrase]]:
    """How many annotators aligned two phrases."""
    votes: Counter[tuple[Phrase, Phrase]] = Counter()
    for annotator in record["annotators"].values():
        votes.update({(tuple(range(*s[:2])), tuple(range(*t[:2]))) for s, t in annotator["pairs"]})
    return votes


def _annotated(record: dict[str, dict[str, dict[str, list[list[list[int]]]]]]) -> Gold:
    return Gold(frozenset(pair for pair, count in _votes(record).items() if count > 1), True)


def finder(similarity: bool) -> Find:
    """What finds the evidence of two tagged sentences."""
    if not similarity:
        phrases = load_phrases()
        return lambda source, target: find_evidence(source, target, phrases)
    aligner = Aligner(DEFAULT_CONFIG)

    def find(source: Sentence, target: Sentence) -> tuple[PhraseEvidence, ...]:
        (pair,) = aligner.prepare([("", source.words, target.words, None)])
        if isinstance(pair, NoParseError):
            raise pair
        return aligner.stage.evidence(pair.source, pair.target, pair.words)

    return find


def score(path: Path, parser: Parser, find: Find, most: int, show: int) -> None:
    counts: Counter[tuple[str, str, str]] = Counter()
    shown: list[str] = []
    found_count = unlinked_count = pair_count = proposed_count = 0
    seconds = 0.0
    for source, target, gold in read_items(path, parser, most):
        begin = time.process_time()
        evidence = find(source, target)
        seconds += time.process_time() - begin
        pair_count += 1
        for one in evidence:
            right = gold is not None and gold.has(one) != (one.relation in AGAINST)
            verdict = "" if gold is None else "right" if right else "wrong"
            counts[one.kind, one.relation, verdict] += 1
            if gold is None or not right:
                shown.append(_line(source, target, one))
        if isinstance(gold, Gold) and gold.is_exact:
            unlinked = gold.unlinked()
            unlinked_count += len(unlinked)
            proposed = {(one.source, one.target) for one in evidence if one.relation not in AGAINST}
            found_count += len(unlinked & proposed)
            proposed_count += len([each for each in proposed if each in unlinked or each not in gold.aligned])
    print(f"{path.name}: {pair_count} pairs, {1000 * seconds / max(1, pair_count):.2f} ms per pair")
    for kind, relation in sorted({key[:2] for key in counts}):
        good, wrong, unknown = (counts[kind, relation, verdict] for verdict in ("right", "wrong", ""))
        judged = good + wrong
        share = f"{good:5d} of {judged:5d}  {100 * good / judged:5.1f} %" if judged else str(unknown)
        print(f"  {kind:10s} {relation:15s} {share}")
    if unlinked_count:
        print(f"  gold pairs without a word link: {found_count} of {unlinked_count} found, ", end="")
        print(f"by {proposed_count} proposals that are not other gold pairs")
    step = max(1, len(shown) // show) if show else 1
    for line in shown[::step][:show]:
        print("   ", line)


# ---- aligned pairs ----


def score_aligned(path: Path, config: AlignConfig, given: bool) -> None:
    """Recall and precision of aligned words, of phrases of several words, and of those without a gold link inside."""
    aligner, counts = Aligner(config), Counter[str]()
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        gold, votes = _annotated(record), _votes(record)
        found = _spans(aligner.stage.align(given_pair(record, aligner)).phrases) if given else _own(record, aligner)
        unlinked = gold.unlinked()
        words = [(s[0], t[0]) for s, t in gold.aligned if len(s) == len(t) == 1]
        several = {pair for pair in found if max(map(len, pair)) > 1}
        for name, required, proposed in (
            ("words", set(filter(_is_word_pair, gold.aligned)), set(filter(_is_word_pair, found))),
            ("multiword", set(filter(_is_multiword, gold.aligned)), set(filter(_is_multiword, found))),
            ("no link", unlinked, {pair for pair in several if not _holds_link(pair, words)}),
        ):
            counts[f"{name} required"] += len(required)
            counts[f"{name} found"] += len(required & found)
            counts[f"{name} proposed"] += len(proposed)
            counts[f"{name} right"] += len([pair for pair in proposed if pair in votes])
    for name in ("words", "multiword", "no link"):
        asked, met, given_count, right = (counts[f"{name} {k}"] for k in ("required", "found", "proposed", "right"))
        recall, precision = 100 * met / max(1, asked), 100 * right / max(1, given_count)
        print(f"  {name}: recall {recall:.1f} ({met} of {asked}), precision {precision:.1f} ({right} of {given_count})")


def _is_word_pair(pair: tuple[Phrase, Phrase]) -> bool:
    return max(map(len, pair)) == 1


def _is_multiword(pair: tuple[Phrase, Phrase]) -> bool:
    return min(map(len, pair)) > 1


def _holds_link(pair: tuple[Phrase, Phrase], words: list[tuple[int, int]]) -> bool:
    return any(i in pair[0] and j in pair[1] for i, j in words)


def _spans(alignment: PhraseAlignment) -> set[tuple[Phrase, Phrase]]:
    return {(tuple(range(*pair.source)), tuple(range(*pair.target))) for pair in alignment.pairs}


def _own(record: dict[str, dict[str, list[str]]], aligner: Aligner) -> set[tuple[Phrase, Phrase]]:
    return _spans(aligner.align(record["source"]["tokens"], record["target"]["tokens"]).phrases)


def given_pair(record: dict[str, Any], aligner: Aligner) -> PreparedPair:
    """An annotated pair with the gold trees and the gold links; vectors are those of the parser."""
    forests = []
    for side in (record["source"], record["target"]):
        tree = parse_brackets(str(side["tree"]))
        tagged = _tagged(side)
        (parse,) = aligner.parser.parse([Sentence.from_words(tagged.words)])
        sentence = parse.sentence.with_analysis(tagged.tags, tagged.lemmas)
        forests.append(pack([ScoredTree(tree, 0.0)], sentence))
    aligned = sorted(_annotated(record).aligned)
    links = [WordLink(s[0], t[0], 1.0, "gold") for s, t in aligned if len(s) == len(t) == 1]
    return PreparedPair(forests[0], forests[1], WordAlignment(tuple(links)))


def _line(source: Sentence, target: Sentence, one: PhraseEvidence) -> str:
    left = " ".join(source.words[i] for i in one.source)
    right = " ".join(target.words[i] for i in one.target)
    return f"{one.kind}, {one.relation}, {one.strength:.2f}: {left} = {right}"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("files", nargs="+", type=Path, metavar="FILE")
    arguments.add_argument("--most", type=int, default=0, help="pairs of each file; 0: all")
    arguments.add_argument("--show", type=int, default=0, help="print so many proposals that are wrong or unknown")
    arguments.add_argument("--similarity", action="store_true", help="ask the learned similarity, too")
    arguments.add_argument("--aligned", action="store_true", help="align annotated pairs and score what comes out")
    arguments.add_argument("--given", action="store_true", help="as --aligned, with gold trees and gold word links")
    add_settings(arguments)
    args = arguments.parse_args()
    parser, find = load_parser(AlignConfig(nbest=1)), finder(args.similarity)
    for path in args.files:
        score(path, parser, find, args.most, args.show)
        if args.aligned or args.given:
            score_aligned(path, config_of(args), args.given)


if __name__ == "__main__":
    main()
