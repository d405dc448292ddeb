"""What other programs are written against: the public names, the results, and what the README promises."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import nltk
import numpy as np
import pytest

import forestalign
from forestalign import AlignConfig, Aligner, Alignment, Forest, ForestAlignError, Sentence, WordAlignment, WordLink
from forestalign.cli import COMMANDS
from forestalign.errors import UsageError
from forestalign.formats import from_json, parse_forest, parse_pharaoh, to_json
from forestalign.model import PairScores, uniform_scores
from forestalign.parsers import Parse
from forestalign.trees import ScoredTree, parse_brackets

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
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
    "forestalign.alignment",
    "forestalign.config",
    "forestalign.forest.forest",
    "forestalign.parsers",
    "forestalign.tokens",
    "forestalign.trees.brackets",
)


def blocks(language: str) -> list[str]:
    """The code blocks of the README in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def table(heading: str) -> dict[str, list[str]]:
    """The first table below a heading of the README: the name in the first column, and the other columns."""
    section = README.partition(f"## {heading}\n")[2]
    rows = re.findall(r"^\| `([^`]+)` \|(.*)\|$", section.partition("\n## ")[0], re.MULTILINE)
    return {name: [cell.strip() for cell in rest.split(" | ")] for name, rest in rows}


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return forestalign.load(model="uniform", seed="dictionary", kbest=2)


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
        "Tree",
        "WordAlignment",
        "WordLink",
        "load",
        "load_parser",
        "tokenize",
    ]
    assert all(getattr(forestalign, name).__doc__ for name in forestalign.__all__)
    assert set(forestalign.__all__) <= set(dir(forestalign))
    with pytest.raises(AttributeError, match="no attribute 'alignment_of'"):
        _ = forestalign.alignment_of


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
    assert lines[0].startswith("plan  root aligned, log score -")
    assert lines[1:3] == [f"  source: {PAIRS[0][0]}", f"  target: {PAIRS[0][1]}"]
    assert any("the plan = The plan" in line for line in lines)
    assert repr(result).startswith(f"<Alignment of {PAIRS[0][0]!r} and {PAIRS[0][1]!r}: ")
    assert "\n" not in repr(result)


def test_json_survives_a_round_trip(result: Alignment) -> None:
    line = result.to_json()
    assert "\n" not in line
    assert to_json(from_json(line)) == line
    assert from_json(line) == result.record()
    assert len(result.alternatives) == len(from_json(line).alternatives) == 1


def test_pharaoh_has_the_word_links(result: Alignment) -> None:
    links = parse_pharaoh(result.to_pharaoh(), len(result.source), len(result.target))
    assert links.pairs == result.words.pairs
    assert (1, 6) in links.pairs  # committee


def test_unlikely_links_are_candidates_of_the_search_and_not_word_links(aligner: Aligner) -> None:
    sentences = (
        ["The", "old", "man", "slowly", "walked", "home", "."],
        ["The", "man", "was", "walking", "slowly", "towards", "his", "house", "."],
    )
    likely, all_of_them = (forestalign.load(link_threshold=t).align(*sentences) for t in (0.45, 0.02))
    assert not likely.candidates.pairs
    assert all_of_them.words.pairs == likely.words.pairs
    assert all_of_them.candidates.pairs
    assert all(link.score <= 0.45 for link in all_of_them.candidates)
    assert from_json(all_of_them.to_json()).candidates[0][:2] in all_of_them.candidates.pairs


def test_nltk_trees_have_the_words_of_the_sentences(result: Alignment) -> None:
    source, target = result.to_nltk()
    assert isinstance(source, nltk.Tree)
    assert tuple(source.leaves()) == result.source.words
    assert tuple(target.leaves()) == result.target.words
    assert source.label() == result.source_tree.label


def test_a_notebook_shows_a_drawing(result: Alignment) -> None:
    html = result._repr_html_()
    assert "<svg" in html
    assert "committee" in html


def test_two_processes_give_what_one_gives(aligner: Aligner) -> None:
    alone = list(aligner.align_many(PAIRS))
    assert [found.to_json() for found in aligner.align_many(PAIRS, jobs=2)] == [found.to_json() for found in alone]
    assert [found.id for found in alone] == ["1", "2"]


def test_a_pair_is_aligned_alone_as_among_others(aligner: Aligner, result: Alignment) -> None:
    first = next(iter(aligner.align_many(PAIRS)))
    assert first.phrases == result.phrases


def test_a_pair_that_fails_raises_in_its_turn(aligner: Aligner) -> None:
    many = aligner.align_many([PAIRS[1], ("", "He left.")])
    assert next(many).phrases.reached_root
    with pytest.raises(ForestAlignError, match=r"pair 2: the source cannot be parsed: .*empty"):
        next(many)


# ---- what users bring along ----


def given(*brackets: str) -> list[list[ScoredTree]]:
    return [[ScoredTree(parse_brackets(text), 0.0)] for text in brackets]


def test_trees_words_and_links_of_the_user_are_taken() -> None:
    aligner = Aligner(AlignConfig(backend="trees", model="uniform"), given=given(*TREES))
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
    config = AlignConfig(backend="trees", parse_weight=0.0, null_penalty=0.0, phrase_seeds=False, lifts=False)
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


def test_settings_are_checked_by_name_type_and_value() -> None:
    with pytest.raises(UsageError, match="no setting is called 'bean'"):
        forestalign.load(bean=3)
    with pytest.raises(UsageError, match=r"beam takes a whole number, not 3\.5"):
        forestalign.load(beam=3.5)
    with pytest.raises(UsageError, match="seed is 'magic'; expected one of sultan, dictionary, union, crf"):
        AlignConfig(seed="magic")
    assert AlignConfig().with_(null_penalty=2).differences() == {"null_penalty": 2.0}


# ---- what the README says ----


def test_the_library_example_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(blocks("python")[0], "README.md", "exec"), {})
    assert "The committee rejected the plan." in capsys.readouterr().out


@pytest.mark.parametrize("number", range(1, len(blocks("python"))))
def test_the_other_examples_of_the_readme_run(number: int) -> None:
    exec(compile(blocks("python")[number], "README.md", "exec"), {})


def test_the_json_examples_of_the_readme_are_valid() -> None:
    record, forest = blocks("json")
    assert from_json(record).id == "1"
    assert parse_forest(forest)[1].sentence.words == ("She", "left")


def test_the_readme_lists_exactly_the_commands_there_are() -> None:
    assert list(table("Commands")) == list(COMMANDS)


def test_the_readme_lists_every_setting_with_its_default() -> None:
    listed = {name: cells[0] for name, cells in table("Settings").items()}
    assert listed == {field.name: f"`{getattr(AlignConfig(), field.name)!r}`" for field in fields(AlignConfig)}


def test_the_readme_says_what_every_dependency_is_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.match(r"[\w-]+", requirement) for requirement in project["dependencies"]]
    assert sorted(table("Dependencies")) == sorted(name.group() for name in names if name)
