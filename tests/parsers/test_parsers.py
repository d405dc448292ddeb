"""The shipped parser, the user's own trees, forests from charts, and the command."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from forestalign.cli import main
from forestalign.config import AlignConfig
from forestalign.errors import GrammarError, MissingExtraError, NoParseError, UsageError
from forestalign.forest import Forest, best_tree, count_trees, enumerate_trees, inside, pack
from forestalign.formats.conll import read_conll
from forestalign.formats.tree_files import parse_forest, read_nbest, read_trees
from forestalign.grammar import grammar_root
from forestalign.parsers import Parser, load_parser
from forestalign.tokens import Sentence, tokenize
from forestalign.trees import ScoredTree, format_brackets, parse_brackets, preorder
from tests.builders.charts import brackets_of
from tests.builders.places import DATA, ROOT

pytestmark = pytest.mark.usefixtures("in_this_process")

ODD_LINES = {
    "one word": "Stop",
    "punctuation only": "?!...",
    "emoji": "What a day 😀👍🏽 !",
    "control characters": "The \x01\x02 cat \x07 sat.",
    "only a control character": "\x03",
    "brackets": "The cat (a {small} one) [sic] sat.",
    "address": "See http://www.example.org/a_b?c=d&e=f for more.",
    "lower case": "the man who sold the house left london",
    "no final punctuation": "The dog that chased the cat was tired",
    "typographic quotes": "“It’s late,” she said.",
    "Chinese": "The word 你好 means hello.",
    "combining marks": "Zoë ate cre\u0300me bru\u0302le\u0301e.",
}
SHORT = "The cat sat."
LONG = "The old man who lives near the river told us that the bridge will be closed until the end of the year."


@pytest.fixture(scope="module")
def parser() -> Parser:
    return load_parser(AlignConfig())


@pytest.mark.parametrize("name", ODD_LINES)
def test_whatever_people_paste_is_parsed(parser: Parser, name: str) -> None:
    sentence = tokenize(ODD_LINES[name])
    (parse,) = parser.parse([sentence])
    assert not parse.error
    assert parse.sentence.words == sentence.words
    assert all(tuple(leaf.word for leaf in scored.tree.leaves()) == sentence.words for scored in parse.trees)
    assert all(parse.sentence.tags)
    assert parse.sentence.vectors is not None
    assert parse.sentence.vectors.shape == (len(sentence), 384)
    assert np.isfinite(parse.sentence.vectors).all()
    assert parse.sentence.context_vectors is not None
    assert parse.sentence.context_vectors.shape == (len(sentence), 384)
    assert np.array_equal(parse.sentence.context_vectors, parse.sentence.context_vectors.astype(np.float16))


def test_parses_come_back_in_the_order_of_the_sentences(parser: Parser) -> None:
    texts = [LONG, SHORT, "Yes.", LONG.replace("man", "woman"), "", SHORT.replace("cat", "dog")] * 4
    parses = parser.parse([tokenize(text) for text in texts], forests=False)
    assert [parse.sentence.text for parse in parses] == texts
    assert [bool(parse.error) for parse in parses] == [not text for text in texts]


def test_a_sentence_has_the_same_parse_in_every_batch(parser: Parser) -> None:
    alone = parser.parse([tokenize(SHORT)], charts=True)[0]
    among_others = parser.parse([tokenize(text) for text in (LONG, "Yes.", SHORT, LONG.upper())], charts=True)[2]
    assert alone.chart is not None
    assert among_others.chart is not None
    np.testing.assert_array_equal(alone.chart.potentials, among_others.chart.potentials)
    assert alone == among_others


def test_case_hardly_matters(parser: Parser) -> None:
    """Capitals throughout say nothing, so trees and nearly all tags stay."""
    texts = (LONG, "The quick brown fox jumps over the lazy dog.", "The old man walks home because he likes the river.")
    plain, shouted = (parser.parse([tokenize(f(text)) for text in texts], forests=False) for f in (str, str.upper))
    for one, other in zip(plain, shouted, strict=True):
        assert brackets_of(one.trees[0].tree) == brackets_of(other.trees[0].tree)
    tags = [
        pair for a, b in zip(plain, shouted, strict=True) for pair in zip(a.sentence.tags, b.sentence.tags, strict=True)
    ]
    assert sum(a == b for a, b in tags) >= 0.95 * len(tags)


def test_a_plain_sentence_gets_its_plain_tree(parser: Parser) -> None:
    (parse,) = parser.parse([tokenize("The cat sat on the mat.")])
    expected = "(S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .))"
    assert parse.trees[0].tree == parse_brackets(expected)
    assert parse.sentence.lemmas == ("the", "cat", "sit", "on", "the", "mat", ".")


def test_nbest_lists_are_sorted_and_hold_each_tree_once(parser: Parser) -> None:
    (parse,) = parser.parse([tokenize(LONG)])
    log_probs = [scored.log_prob for scored in parse.trees]
    assert len(parse.trees) == 30
    assert log_probs == sorted(log_probs, reverse=True)
    assert math.fsum(map(math.exp, log_probs)) <= 1.0
    assert len({scored.tree for scored in parse.trees}) == 30


def test_the_forest_holds_the_nbest_trees_with_their_scores(parser: Parser) -> None:
    (parse,) = parser.parse([tokenize(LONG)], charts=True)
    assert best_tree(parse.forest) == parse.trees[0].tree
    best = max(inside(parse.forest)[root] for root in parse.forest.roots)
    assert best >= parse.trees[0].log_prob
    assert {scored.tree for scored in parse.trees} <= set(enumerate_trees(parse.forest, strict=True))
    assert count_trees(parse.forest) >= 30


def test_charts_are_kept_only_when_asked_for(parser: Parser) -> None:
    assert parser.parse([tokenize(SHORT)])[0].chart is None


def test_without_forests_there_are_trees_and_tags_alone(parser: Parser) -> None:
    (parse,) = parser.parse([tokenize(SHORT)], forests=False)
    assert parse.trees
    assert not parse.forest.nodes
    assert parse.sentence.tags == ("DT", "NN", "VBD", ".")


def test_empty_and_too_long_sentences_say_why_they_have_no_parse(parser: Parser) -> None:
    empty, long, fine = parser.parse([tokenize(" "), Sentence.from_words(["word"] * 511), tokenize(SHORT)])
    assert "empty" in empty.error
    assert "511 word pieces" in long.error
    assert "510" in long.error
    assert not long.trees
    assert not fine.error


def test_three_hundred_words_are_parsed() -> None:
    parser = load_parser(AlignConfig(nbest=2))
    sentence = Sentence.from_words(["The", "cat", "sat", ","] * 75)
    (parse,) = parser.parse([sentence], forests=False)
    assert [leaf.word for leaf in parse.trees[0].tree.leaves()] == list(sentence.words)


def test_a_high_temperature_brings_the_best_trees_nearer_together() -> None:
    cool, hot = (load_parser(AlignConfig(temperature=value)) for value in (1.0, 4.0))
    (sharp,), (flat,) = cool.parse([tokenize(LONG)], forests=False), hot.parse([tokenize(LONG)], forests=False)
    assert sharp.trees[0].tree == flat.trees[0].tree
    gap = [parse.trees[0].log_prob - parse.trees[1].log_prob for parse in (sharp, flat)]
    assert gap[1] == pytest.approx(gap[0] / 4, rel=1e-3)


# ---- given trees and the door ---------------------------------------------------------------------------------------

GIVEN = [
    ScoredTree(parse_brackets("(S (NP (PRP I)) (VP (VBP see) (S (NP (PRP her)) (VP (VB duck)))))"), math.log(0.4)),
    ScoredTree(parse_brackets("(S (NP (PRP I)) (VP (VBP see) (NP (PRP$ her) (NN duck))))"), math.log(0.6)),
]


def test_given_trees_are_found_by_their_words_best_first() -> None:
    parser = load_parser(AlignConfig(backend="trees"), [GIVEN])
    parse, unknown = parser.parse([tokenize("I see her duck"), tokenize("I see him")])
    assert parse.trees == (GIVEN[1], GIVEN[0])
    assert parse.sentence.tags == ("PRP", "VBP", "PRP$", "NN")
    assert best_tree(parse.forest) == GIVEN[1].tree
    assert "'I see him'" in unknown.error


def test_a_given_forest_is_used_as_it_is() -> None:
    forest = load_parser(AlignConfig(backend="trees"), [GIVEN]).parse([tokenize("I see her duck")])[0].forest
    (parse,) = load_parser(AlignConfig(backend="trees"), [forest]).parse([tokenize("I  see her duck")])
    assert parse.forest.nodes == forest.nodes
    assert parse.sentence.text == "I  see her duck"
    assert parse.trees[0].tree == GIVEN[1].tree
    assert parse.trees[0].log_prob == pytest.approx(math.log(0.6))


def test_an_empty_list_of_given_trees_is_refused() -> None:
    with pytest.raises(NoParseError, match="at least one tree"):
        load_parser(AlignConfig(backend="trees"), [[]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"backend": "stanford"}, "'stanford'; expected one of embedded, benepar, trees"),
        ({"backend": "trees"}, "needs the trees"),
        ({"nbest": 0}, "nbest is 0"),
        ({"temperature": 0.0}, "temperature is 0.0"),
    ],
)
def test_settings_that_cannot_work_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_parser(AlignConfig().replace(**changes))


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(GrammarError, match=r"parser\.onnx.*not found"):
        load_parser(AlignConfig(parser_model=str(tmp_path)))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("parser.onnx", b"not a graph", r"parser\.onnx.*onnxruntime"),
        ("labels.txt", b"\nS\nNP\n", r"labels\.txt.*3 lines; expected \d+"),
        ("tags.txt", b"UNK\nNN\n", r"tags\.txt.*2 lines; expected \d+"),
        ("tags.txt", b"UNK\n\xff\n", r"tags\.txt.*not UTF-8"),
        ("pieces.txt", b"[SEP]\n[UNK]\na\n", r"pieces\.txt.*\[CLS\]"),
    ],
)
def test_a_broken_file_of_a_model_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    for path in (grammar_root() / "parser").iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / name).unlink()
    (tmp_path / name).write_bytes(content)
    with pytest.raises(GrammarError, match=message):
        load_parser(AlignConfig(parser_model=str(tmp_path)))


def test_a_piece_that_the_graph_does_not_know_is_an_error_of_the_model(tmp_path: Path) -> None:
    for path in (grammar_root() / "parser").iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "pieces.txt").unlink()
    (tmp_path / "pieces.txt").write_bytes((grammar_root() / "parser" / "pieces.txt").read_bytes() + b"qwxz\n")
    parser = load_parser(AlignConfig(parser_model=str(tmp_path)))
    with pytest.raises(GrammarError, match=r"parser\.onnx.*do not belong together"):
        parser.parse([tokenize("A qwxz left.")])


@pytest.mark.skipif(importlib.util.find_spec("benepar") is not None, reason="benepar is installed")
def test_benepar_without_its_extra_says_what_to_install() -> None:
    with pytest.raises(MissingExtraError, match=r"forestalign\[benepar\]"):
        load_parser(AlignConfig(backend="benepar", parser_model="benepar_en3"))


# ---- the command ----------------------------------------------------------------------------------------------------


def run(tmp_path: Path, text: str | bytes, *options: str) -> tuple[int, list[str]]:
    source, output = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_bytes(text.encode() if isinstance(text, str) else text)
    code = main(["parse", str(source), "-o", str(output), "--force", *options])
    return code, output.read_text().splitlines()


def test_the_command_prints_one_tree_a_line(tmp_path: Path) -> None:
    code, lines = run(tmp_path, f"{SHORT}\nHe sat (there).\n")
    assert code == 0
    assert lines[0] == "(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .)))"
    assert "(-LRB- -LRB-)" in lines[1]
    trees = list(read_trees(tmp_path / "out.txt"))
    assert [leaf.word for leaf in trees[1].tree.leaves()] == ["He", "sat", "(", "there", ")", "."]


def test_bad_lines_are_reported_with_their_number_and_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = run(tmp_path, SHORT.encode() + b"\n\n\xff\xfe\n" + b"x " * 600 + b"\nYes.\n")
    assert code == 1
    assert len(lines) == 2
    errors = capsys.readouterr().err
    assert "line 2" in errors
    assert "line 3" in errors
    assert "line 4" in errors
    assert "510" in errors


def test_nbest_lines_carry_the_index_of_the_input_line(tmp_path: Path) -> None:
    code, lines = run(tmp_path, f"{SHORT}\n\nYes.\n", "--nbest", "3")
    assert code == 1
    assert [line.split("\t")[0] for line in lines] == ["0", "0", "0", "2", "2", "2"]
    first, second = read_nbest(tmp_path / "out.txt")
    assert [scored.log_prob for scored in first.trees] == sorted((s.log_prob for s in first.trees), reverse=True)
    assert second.index == 2


def test_forests_are_written_as_json_lines_and_serve_as_given_parses(tmp_path: Path) -> None:
    code, lines = run(tmp_path, f"{SHORT}\n{LONG}\n", "--forest")
    assert code == 0
    assert [json.loads(line)["id"] for line in lines] == ["1", "2"]
    forest: Forest = parse_forest(lines[0])[1]
    assert forest.sentence.lemmas == ("the", "cat", "sit", ".")
    (tmp_path / "given.jsonl").write_text("\n".join(lines) + "\n")
    code, trees = run(tmp_path, f"{SHORT}\n", "--trees", str(tmp_path / "given.jsonl"))
    assert code == 0
    assert trees == ["(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .)))"]


def test_dependencies_are_written_in_conllu(tmp_path: Path) -> None:
    code, _ = run(tmp_path, f"{SHORT}\n\nYes.\n", "--format", "conllu")
    assert code == 1
    first, second = read_conll(tmp_path / "out.txt")
    assert (first.id, second.id) == ("1", "3")
    assert first.sentence.lemmas == ("the", "cat", "sit", ".")
    assert first.dependencies.heads == (1, 2, -1, 2)
    assert first.categories == ("DET", "NOUN", "VERB", "PUNCT")


@pytest.mark.parametrize(("form", "boxes"), [("dot", 0), ("forest-dot", 10)])
def test_trees_and_forests_are_written_for_graphviz(tmp_path: Path, form: str, boxes: int) -> None:
    code, lines = run(tmp_path, f"{SHORT}\n", "--format", form)
    assert code == 0
    assert (lines[0], lines[-1]) == ("digraph {", "}")
    assert sum("shape=box" in line for line in lines) >= boxes
    assert any('label="NP' in line for line in lines)


def test_tokenized_text_keeps_its_tokens(tmp_path: Path) -> None:
    _, lines = run(tmp_path, "He can't -LRB- ever -RRB- go .\n", "--tokenized")
    assert [leaf.word for leaf in parse_brackets(lines[0]).leaves()] == ["He", "can't", "(", "ever", ")", "go", "."]


def test_parsing_writes_nothing_into_the_home_folder(tmp_path: Path) -> None:
    code = "from forestalign import *; load_parser(AlignConfig()).parse([tokenize('He left.')])"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ORT_"))}
    done = subprocess.run([sys.executable, "-c", code], env={**kept, "HOME": str(tmp_path)}, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(tmp_path.rglob("*")) == []


FINAL_ABBREVIATIONS = [
    ("They moved to the U.S.", "NNP"),
    ("The meeting starts at 5 p.m.", "NN"),
    ("The train leaves at 6 a.m.", "NN"),
    ("I saw him at 10 A.M.", "NN"),
    ("He lives in Washington, D.C.", "NNP"),
    ("They flew to the U.K.", "NNP"),
    ("The speech was at the U.N.", "NNP"),
    ("It happened in 300 B.C.", "NN NNP"),
    ("He earned an M.B.A.", "NN NNP"),
    ("She has a Ph.D.", "NN NNP"),
    ("They live in L.A.", "NN NNP"),
]


@pytest.mark.parametrize(("text", "expected"), FINAL_ABBREVIATIONS)
def test_a_final_abbreviation_is_tagged_as_the_word_that_it_is(parser: Parser, text: str, expected: str) -> None:
    (parse,) = parser.parse([tokenize(text)], forests=False)
    assert parse.sentence.words[-1] == text.split()[-1]
    assert parse.sentence.tags[-1] in expected.split()


ABBREVIATIONS = "Inc. Co. Corp. Ltd. Jr. St. Ave. Sept. Dec. etc. lbs. ft. Mo. Sr. Mrs."


@pytest.mark.parametrize("word", ABBREVIATIONS.split())
def test_the_stop_behind_a_final_abbreviation_is_a_stop(parser: Parser, word: str) -> None:
    (parse,) = parser.parse([tokenize(f"They named the firm Lee {word}")], forests=False)
    assert (parse.sentence.words[-1], parse.sentence.tags[-1]) == (".", ".")
    assert parse.sentence.tags[-2] not in (".", ",", ":")


@pytest.mark.parametrize("text", ["Is it 5 p.m.?", "He lives in the U.S.!", "They met (in the U.S.)", '"It is 5 p.m."'])
def test_marks_behind_a_final_abbreviation_stay_marks(parser: Parser, text: str) -> None:
    (parse,) = parser.parse([tokenize(text)], forests=False)
    for word, tag in zip(parse.sentence.words, parse.sentence.tags, strict=True):
        assert any(map(str.isalnum, word)) == tag.replace("$", "").isalpha(), (word, tag)


def test_the_sample_of_genres_is_read_and_written_without_a_change() -> None:
    path = DATA / "genres.mrg"
    lines = path.read_text(encoding="utf-8").splitlines()
    trees = [numbered.tree for numbered in read_trees(path)]
    assert [format_brackets(tree) for tree in trees] == lines
    assert len(set(lines)) == 60
    for tree in trees:
        sentence = Sentence.from_words([leaf.word or "" for leaf in tree.leaves()])
        assert list(enumerate_trees(pack([ScoredTree(tree, 0.0)], sentence))) == [tree]


def test_the_shipped_parser_knows_the_labels_and_tags_of_the_sample() -> None:
    folder = ROOT / "grammar" / "parser"
    labels = set("\n".join((folder / "labels.txt").read_text().split("::")).split())
    tags = set((folder / "tags.txt").read_text().split())
    for numbered in read_trees(DATA / "genres.mrg"):
        for node in preorder(numbered.tree):
            assert node.label in (tags if node.is_leaf else labels | {"TOP"}), node.label
