"""What other programs are written against: the public names and the results."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version

import nltk
import numpy as np
import pytest

import forestalign
from forestalign import (
    AlignConfig,
    Aligner,
    Alignment,
    Forest,
    Sentence,
    WordAlignment,
    WordLink,
)
from forestalign.aligner import default_aligner
from forestalign.errors import UsageError
from forestalign.formats.codec import from_json
from forestalign.formats.word_links import parse_pharaoh
from forestalign.parsers import Parse
from forestalign.phrases.scoring.model import PairScores, uniform_scores
from forestalign.trees import ScoredTree, parse_brackets
from forestalign.words.learned.matching import THRESHOLD
from tests.builders.places import DATA

PAIRS = [
    ("The committee rejected the plan.", "The plan was rejected by the committee."),
    ("She left early.", "She went away early."),
]
TREES = (
    "(S (NP (PRP She)) (VP (VBD left) (ADVP (RB early))))",
    "(S (ADVP (RB Early)) (, ,) (NP (PRP she)) (VP (VBD departed)))",
)
DOCUMENTED = (
    "forestalign.aligner",
    "forestalign.words.alignment",
    "forestalign.config",
    "forestalign.errors",
    "forestalign.forest.forest",
    "forestalign.parsers",
    "forestalign.phrases.result.alignment",
    "forestalign.tokens",
    "forestalign.trees.tree",
    "forestalign.view.static",
    "forestalign.view.text",
)


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return forestalign.load(model="hand-set", kbest=2)


@pytest.fixture(scope="module")
def result(aligner: Aligner) -> Alignment:
    return aligner.align(*PAIRS[0], id="plan")


# ---- names ----


def test_the_public_names_are_these() -> None:
    assert forestalign.__all__ == [
        "AlignConfig",
        "Aligner",
        "Alignment",
        "Forest",
        "ForestAlignError",
        "PhraseAlignment",
        "PhrasePair",
        "Sentence",
        "Span",
        "Token",
        "Tree",
        "WordAlignment",
        "WordLink",
        "align",
        "align_frame",
        "compare",
        "edits",
        "load",
        "load_parser",
        "render",
        "similarity",
        "tokenize",
        "words",
    ]
    assert all(getattr(forestalign, name).__doc__ for name in forestalign.__all__)
    assert dir(forestalign) == sorted([*forestalign.__all__, "__version__"])
    with pytest.raises(AttributeError, match="no attribute 'alignment_of'"):
        _ = forestalign.alignment_of


def test_the_version_is_that_of_the_installation() -> None:
    assert forestalign.__version__ == version("forestalign")


@pytest.mark.parametrize("statement", ["import forestalign", "import forestalign.cli"])
def test_importing_loads_nothing_heavy(statement: str) -> None:
    program = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    heavy = {"numpy", "scipy", "numba", "nltk", "gensim", "onnxruntime", "tokenizers", "lemminflect", "tqdm"}
    assert not heavy & set(done.stdout.split())


@pytest.mark.parametrize("module", DOCUMENTED)
def test_the_examples_in_docstrings_are_right(module: str) -> None:
    found = doctest.testmod(import_module(module))
    assert found.attempted > 0
    assert found.failed == 0


# ---- results ----


def test_a_result_prints_its_sentences_and_phrases(result: Alignment) -> None:
    lines = str(result).splitlines()
    assert re.fullmatch(r"plan  same meaning \.\d\d", lines[0])
    assert lines[1:3] == [f"  source: {PAIRS[0][0]}", f"  target: {PAIRS[0][1]}"]
    assert any("the plan = The plan" in line for line in lines)
    assert repr(result).startswith(f"<Alignment of {PAIRS[0][0]!r} and {PAIRS[0][1]!r}: ")
    assert "\n" not in repr(result)


def test_all_sample_results_come_back_from_their_json() -> None:
    aligner = forestalign.load(kbest=3)
    for line in (DATA / "pairs.tsv").read_text(encoding="utf-8").splitlines():
        result = aligner.align(*line.split("\t")[:2])
        again = Alignment.from_json(result.to_json())
        assert again == result
        assert (again.to_json(), str(again)) == (result.to_json(), str(result))
        assert (again.extended, again.left_out, again.edits()) == (result.extended, result.left_out, result.edits())


def test_tags_that_the_chosen_tree_has_are_those_of_the_sentence() -> None:
    """The trees of a forest may disagree about a tag; a line holds those of the chosen tree alone."""
    rows = [
        ["(S (NP (NNS flies)) (VP (VBP like) (NP (NN honey))))", "(S (NP (NNS flies)) (PP (IN like) (NP (NN honey))))"],
        ["(S (NP (NNS flies)) (PP (IN like) (NP (NN honey))))"],
    ]
    given = [[ScoredTree(parse_brackets(text), -k / 9) for k, text in enumerate(row)] for row in rows]
    aligner = Aligner(AlignConfig(backend="trees", nbest=2), given=given)
    result = aligner.align(["flies", "like", "honey"], Sentence.from_words(["flies", "like", "honey"]))
    assert result.source.tags == tuple(leaf.label for leaf in result.source_tree.leaves())
    assert Alignment.from_json(result.to_json()) == result


def test_pairs_have_their_texts_as_they_stand() -> None:
    found = forestalign.align("We can't stop.", "We cannot stop.")
    assert ("can't stop", "cannot stop") in [(pair.source.text, pair.target.text) for pair in found]
    mirrored = forestalign.align("We cannot stop.", "We can't stop.")
    assert ("cannot stop", "can't stop") in [(pair.source.text, pair.target.text) for pair in mirrored]


def test_a_result_is_a_sequence_of_pairs_from_the_top_down(result: Alignment) -> None:
    pairs = list(result)
    assert len(result) == len(pairs)
    assert (result[0], result[-1], result[1:3]) == (pairs[0], pairs[-1], tuple(pairs[1:3]))
    assert (result[0].source.text, result.source[1].text) == (PAIRS[0][0], "committee")
    assert [pair.source.start for pair in pairs] == sorted(pair.source.start for pair in pairs)
    for number, pair in enumerate(pairs):
        assert not any(pair.source != other.source and other.source.covers(pair.source) for other in pairs[number:])


def test_pairs_are_chosen_by_confidence_size_and_kind(result: Alignment) -> None:
    assert list(result) == list(result.pairs())
    assert all(not pair.is_bar for pair in result.pairs(bars=False))
    assert sorted(result.pairs(bars=True), key=repr) == sorted(result.phrases.pairs, key=repr)
    multiword = result.pairs(multiword=True)
    assert {(pair.source.text, pair.target.text) for pair in multiword} >= {("the plan", "The plan")}
    assert all(" " in pair.source.text and " " in pair.target.text for pair in multiword)
    confidences = [pair.confidence for pair in result.pairs()]
    middle = sorted(value for value in confidences if value is not None)[len(confidences) // 2]
    likely = result.pairs(min_confidence=middle)
    assert len(likely) == sum(value is not None and value >= middle for value in confidences)
    assert not result.pairs(min_confidence=1.1)


def test_a_table_has_a_row_for_each_pair_and_each_null(result: Alignment) -> None:
    header, *rows = [line.split("\t") for line in result.to_tsv(header=True).split("\n")]
    assert header[:3] == ["id", "source", "target"]
    nulls = len(result.phrases.source_nulls) + len(result.phrases.target_nulls)
    assert nulls > 0
    assert len(rows) == len(result.pairs()) + nulls
    assert {len(row) for row in rows} == {len(header)}
    assert rows[0][:3] == ["plan", *PAIRS[0]]
    assert sum(row[1] == "" or row[2] == "" for row in rows) == nulls


def test_thedefault_aligner_is_loaded_once() -> None:
    first, second = (forestalign.align(*PAIRS[1]) for _ in range(2))
    assert first.to_json() == second.to_json()
    assert default_aligner() is default_aligner()


def test_pharaoh_has_the_word_links(result: Alignment) -> None:
    links = parse_pharaoh(result.to_pharaoh(), len(result.source), len(result.target))
    assert links.pairs == result.words.pairs
    assert (1, 6) in links.pairs  # committee


def test_unlikely_links_are_candidates_of_the_search_and_not_word_links(aligner: Aligner) -> None:
    sentences = (
        ["The", "old", "man", "slowly", "walked", "home", "."],
        ["The", "man", "was", "walking", "slowly", "towards", "his", "house", "."],
    )
    likely, all_of_them = (forestalign.load(link_threshold=t).align(*sentences) for t in (THRESHOLD, 0.02))
    assert not likely.candidates.pairs
    assert all_of_them.words.pairs == likely.words.pairs
    assert all_of_them.candidates.pairs
    assert all(link.score <= THRESHOLD for link in all_of_them.candidates)
    assert from_json(all_of_them.to_json()).candidates == all_of_them.candidates


def test_nltk_trees_have_the_words_of_the_sentences(result: Alignment) -> None:
    source, target = result.to_nltk()
    assert isinstance(source, nltk.Tree)
    assert tuple(source.leaves()) == result.source.words
    assert tuple(target.leaves()) == result.target.words
    assert source.label() == result.source_tree.label


@pytest.mark.heavy
def test_two_processes_give_what_one_gives(aligner: Aligner) -> None:
    alone = list(aligner.pipe(PAIRS))
    assert [found.to_json() for found in aligner.pipe(PAIRS, jobs=2)] == [found.to_json() for found in alone]
    assert [found.id for found in alone] == ["1", "2"]


def test_a_pair_is_aligned_alone_as_among_others(aligner: Aligner, result: Alignment) -> None:
    first = next(iter(aligner.pipe(PAIRS)))
    assert first.phrases == result.phrases


def test_a_pair_that_fails_raises_in_its_turn(aligner: Aligner) -> None:
    many = aligner.pipe([PAIRS[1], ("", "He left.")])
    assert next(many).phrases.reached_root
    with pytest.raises(ValueError, match=r"pair 2: the source cannot be parsed: .*empty"):
        next(many)


# ---- what users bring along ----


def given(*brackets: str) -> list[list[ScoredTree]]:
    return [[ScoredTree(parse_brackets(text), 0.0)] for text in brackets]


def test_trees_words_and_links_of_the_user_are_taken() -> None:
    aligner = Aligner(AlignConfig(backend="trees", model="hand-set"), given=given(*TREES))
    links = WordAlignment((WordLink(0, 2), WordLink(1, 3), WordLink(2, 0)))
    found = aligner.align(["She", "left", "early"], "Early, she departed", links=links)
    assert found.words == links
    assert found.phrases.reached_root
    assert ((2, 3), (0, 1)) in {(tuple(pair.source), tuple(pair.target)) for pair in found.phrases.pairs}
    with pytest.raises(UsageError, match="link 0-9 runs past the sentences of 3 and 4 words"):
        aligner.align(["She", "left", "early"], "Early, she departed", links=WordAlignment((WordLink(0, 9),)))


class RecordingParser:
    """A parser of the user's own."""

    def __init__(self, parser: forestalign.aligner.Parser):
        self.parser, self.seen = parser, list[str]()

    def parse(self, sentences: list[Sentence], forests: bool = True, charts: bool = False) -> list[Parse]:
        self.seen += [sentence.text for sentence in sentences]
        return self.parser.parse(sentences, forests, charts)


def test_a_parser_and_scores_of_the_user_are_taken() -> None:
    config = AlignConfig(backend="trees", parse_weight=0.0, null_penalty=0.0, lifts=False)
    parser = RecordingParser(forestalign.load_parser(config, given(*TREES)))

    def scorer(source: Forest, target: Forest, words: WordAlignment) -> PairScores:
        plain = uniform_scores(len(source), len(target))
        return PairScores(np.full_like(plain.pair, -1.0), plain.source_null - 20.0, plain.target_null - 20.0)

    links = WordAlignment((WordLink(0, 2), WordLink(1, 3), WordLink(2, 0)))
    found = Aligner(config, parser=parser, scorer=scorer).align(
        ["She", "left", "early"], "Early, she departed", links=links
    )
    assert parser.seen == ["She left early", "Early, she departed"]
    assert all(pair.log_prob == -1.0 for pair in found.phrases.pairs)
