"""Exchanging the two sentences mirrors the result, with the shipped model: links, phrases, nulls and all scores."""

from __future__ import annotations

import random
from typing import Any

import pytest

import forestalign
from forestalign import AlignConfig, Aligner, Alignment
from forestalign.phrases.scoring.model import load_model
from forestalign.phrases.scoring.pair_features import lexical_key

PAIRS = (
    ("The committee rejected the plan.", "The plan was rejected by the committee."),
    ("He died in his sleep on Monday.", "He passed away on Monday while asleep."),
    ("She gave her brother a book.", "She gave a book to her brother."),
    ("Prices rose sharply last year.", "There was a sharp rise in prices last year."),
    ("The dog that bit the boy ran off.", "The dog bit the boy and ran off."),
    ("Nobody knows the answer.", "The answer is not known to anybody."),
    ("Despite the rain, they played football.", "They played football even though it rained."),
    ("The company, founded in 1998, sells shoes.", "The shoe seller was founded in 1998."),
    ("I can't come tomorrow.", "I am unable to come tomorrow."),
    ("Paris, the capital of France, is crowded.", "The French capital Paris is full of people."),
    ("Did you see the film?", "Have you seen the movie?"),
    ("Stop!", "Halt!"),
    ("Yes.", "The weather in the mountains was colder than anybody had expected it to be."),
    ("He bought a car.", "He bought a car."),
    ("Mary loves John.", "John loves Mary."),
    ("the the the cat", "the cat the the"),
    ("The minister said that taxes would fall.", "Taxes will fall, said the minister."),
    ("It took three hours to repair the bridge.", "The bridge was repaired in three hours."),
    ("The old man and the sea", "The sea and the old man"),
    ("Police arrested two men after a fight.", "Two men were arrested by the police following a brawl."),
    ("Her decision to leave surprised us.", "We were surprised that she decided to leave."),
    ("The glass is half full.", "The glass is half empty."),
    ("Sales fell by 5% in March.", "In March, sales dropped 5 percent."),
    ("He made up his mind quickly.", "He quickly decided."),
    ("The village has neither a school nor a shop.", "There is no school and no shop in the village."),
    ("They elected her president.", "She was elected president by them."),
    ("What he wrote was widely read.", "Many people read his writings."),
    ("The children were playing in the garden behind the house.", "Behind the house, kids played in the garden."),
    ("Unless it rains, we will walk.", "We will walk if it does not rain."),
    ("A fire destroyed the warehouse overnight.", "Overnight, the warehouse burned down."),
    ("The bank's new director resigned.", "The new director of the bank stepped down."),
    ("Few students passed the exam.", "Most students failed the test."),
    ("naïve café owners – “artists” all", "all are naive owners of cafés"),
    ("Она купила машину.", "Машину купила она."),
    ("The patients received the drug.", "The patients took the medicine."),  # each is above the other in WordNet
    ("A summary says that all is lost.", "In addition, he says that all is lost."),  # both sides add a small word
    ("I did not say that nobody came.", "Nobody said that I did not come, or not often."),
)

MOVES = (  # either of two phrases may be the one that moved
    (
        "No dates have been set for the civil or the criminal trial.",
        "No dates were set for the criminal or civil cases.",
    ),
    ("It is already the country's largest trading partner.", "It is the largest trading partner of the country."),
    ("The union is waiting until October to decide.", "The union will decide in October whether to wait."),
    ("Graves reported from Rome and Slover from Paris.", "Slover reported from Paris and Graves from Rome."),
    ("All of its million-plus workers were checked.", "All of its workers, more than 1 million, were checked."),
)
REPEATED = (
    "the cat",
    "a b",
    "dog bites man",
    "no , yes",
    "buffalo Buffalo",
    "old men and women",
    "1 2 one two",
    "! ? .",
    "x-LRB-y ( )",
    "é Ω 😀 \u200f",
    "to be or not",
    "police arrested by",
)
TIED = (  # equal words, of which either may be the one that moved
    ("no no yes he that yes said yes yes yes", "yes said he yes no yes that no yes yes"),
    ("é Ω \u200f Ω é Ω Ω Ω \u200f \u200f Ω Ω 😀 😀", "Ω Ω 😀 Ω Ω \u200f é \u200f \u200f 😀 Ω é Ω Ω"),
    ("yes yes yes yes yes , no yes , yes", "yes yes , , no yes yes yes yes yes"),
    ("2 2 home home big 1 two home home", "1 home big home home 2 home two 2"),
)
OTHER_WAY = {
    "removed": "added", "added": "removed", "split": "merged", "merged": "split",
    "more general": "more specific", "more specific": "more general",
}  # fmt: skip


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return forestalign.load(kbest=3)


def shape(alignment: Alignment, is_swapped: bool) -> tuple[object, ...]:
    """Everything a result says, seen from the first sentence."""

    def sided(source: object, target: object) -> tuple[object, object]:
        return (target, source) if is_swapped else (source, target)

    def turned(relation: str) -> str:
        return OTHER_WAY.get(relation, relation) if is_swapped else relation

    def of(found: forestalign.PhraseAlignment) -> tuple[object, ...]:
        pairs = frozenset(
            (
                sided((pair.source, pair.source_label), (pair.target, pair.target_label)),
                (pair.compositional, pair.inverted, pair.is_bar, pair.log_prob, pair.confidence),
                turned(pair.relation),
                pair.evidence,
            )
            for pair in found.pairs
        )
        nulls = sided(found.source_nulls, found.target_nulls)
        scattered = frozenset(
            (sided(each.source, each.target), each.evidence, turned(each.relation)) for each in found.scattered
        )
        return pairs, nulls, scattered, found.log_score, found.reached_root, found.completed

    links = frozenset(
        (sided(link.source, link.target), link.score, link.stage) for link in (*alignment.words, *alignment.candidates)
    )
    left_out = frozenset(sided(link.source, link.target) for link in alignment.left_out)
    trees = sided(alignment.source_tree, alignment.target_tree)
    extended = {"source": set(), "target": set()}
    for row in alignment.extended:
        extended[row.side].add((row.span, row.label, row.added))
    around = sided(extended["source"], extended["target"])
    return links, of(alignment.phrases), tuple(map(of, alignment.alternatives)), left_out, trees, around


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_exchanging_the_sentences_mirrors_the_whole_result(aligner: Aligner, source: str, target: str) -> None:
    forth, back = aligner.align(source, target), aligner.align(target, source)
    assert shape(forth, is_swapped=False) == shape(back, is_swapped=True)


@pytest.mark.parametrize(("source", "target"), [*PAIRS, *MOVES])
def test_exchanging_the_sentences_mirrors_edits_and_keeps_the_similarity(
    aligner: Aligner, source: str, target: str
) -> None:
    forth, back = aligner.align(source, target), aligner.align(target, source)
    assert edits(forth, is_swapped=False) == edits(back, is_swapped=True)
    one, other = forth.similarity(), back.similarity()
    assert (one.verdict, one.probability, one.score) == (other.verdict, other.probability, other.score)


def repeated_words() -> list[tuple[str, str]]:
    """Texts in which many alignments are equally good."""
    chance = random.Random(24)
    pairs = []
    for words in REPEATED * 4:
        one = chance.choices(words.split(), k=chance.randint(2, 12))
        other = chance.choices(words.split(), k=chance.randint(2, 12))
        pairs += [(" ".join(one), " ".join(chance.sample(one, len(one)))), (" ".join(one), " ".join(other))]
    return [*TIED, *((one, other) for one, other in pairs if one != other)]


@pytest.mark.heavy
def test_ties_fall_the_same_way_when_the_sentences_are_exchanged(aligner: Aligner) -> None:
    """Of one sentence with itself there is no second way round; all others come back mirrored, whatever is tied."""
    differing = []
    for source, target in repeated_words():
        forth, back = aligner.align(source, target), aligner.align(target, source)
        if (shape(forth, False), edits(forth, False)) != (shape(back, True), edits(back, True)):
            differing.append((source, target))
    assert differing == []


def edits(alignment: Alignment, is_swapped: bool) -> frozenset[tuple[Any, ...]]:
    """What the edits say, seen from the first sentence."""
    found = set()
    for edit in alignment.edits().edits:
        kind, relation, spans = str(edit.kind), edit.relation, (edit.source, edit.target)
        if is_swapped:
            kind, relation, spans = OTHER_WAY.get(kind, kind), OTHER_WAY.get(relation, relation), spans[::-1]
        found.add((kind, relation, spans))
    return frozenset(found)


@pytest.mark.parametrize(
    "settings",
    [
        {"one_best": True},
        {"scoring": "paper"},
        pytest.param({"kbest": 5}, marks=pytest.mark.heavy),
    ],
    ids=str,
)
def test_so_it_does_whatever_the_decoding(settings: dict[str, Any]) -> None:
    other = forestalign.load(**settings)
    for source, target in PAIRS[::3]:
        assert shape(other.align(source, target), False) == shape(other.align(target, source), True)


@pytest.mark.parametrize(
    "settings",
    [
        {"links": "dictionary"},
        {"links": "union"},
        {"model": "hand-set"},
        pytest.param({"plain": True}, marks=pytest.mark.heavy),
    ],
    ids=str,
)
def test_the_result_is_mirrored_with_other_settings_too(settings: dict[str, object]) -> None:
    other = forestalign.load(AlignConfig(beam=10), **settings)
    for source, target in PAIRS[:4]:
        assert shape(other.align(source, target), False) == shape(other.align(target, source), True)


def test_the_shipped_weights_have_no_order() -> None:
    keys = load_model().lexical_keys
    assert len(keys) > 1000
    assert all(key == lexical_key(key[:2], key[2:]) for key in keys)


def test_one_way_alignment_is_still_there_and_may_differ() -> None:
    """What the promise costs can be switched off; then the two directions are two alignments."""
    directional = forestalign.load(direction="directional")
    results = [(directional.align(s, t), directional.align(t, s)) for s, t in PAIRS[:8]]
    assert any(forth.phrases.log_score != back.phrases.log_score for forth, back in results)
