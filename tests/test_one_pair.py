"""What a program asks about one pair, or about a stream of pairs: links, edits, similarity, frames, spaCy documents."""

from __future__ import annotations

import pickle
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

import forestalign
from forestalign import Alignment, ForestAlignError, Span, Token
from forestalign.aligner import default_aligner
from forestalign.errors import MissingExtraError, UsageError
from forestalign.trees import parse_brackets

PAIR = "He bought a car.", "He purchased an automobile."


@pytest.fixture(scope="module")
def result() -> Alignment:
    return forestalign.align(*PAIR)


# ---- a result ----


def test_the_pairs_of_a_result_say_what_they_are_about(result: Alignment) -> None:
    found = {pair.source.text: (pair.target.text, pair.relation, pair.confidence) for pair in result}
    target, relation, confidence = found["bought"]
    assert (target, relation) == ("purchased", "equal")
    assert confidence is not None
    assert 0.5 < confidence <= 1.0


def test_a_side_of_a_pair_prints_its_text_and_is_a_span(result: Alignment) -> None:
    pair = next(pair for pair in result if pair.source.text == "a car")
    assert (str(pair.source), f"{pair.target}") == ("a car", "an automobile")
    assert isinstance(pair.source, Span)
    assert (pair.source, pair.source.size) == (Span(2, 4), 2)
    assert str(pickle.loads(pickle.dumps(pair)).source) == "a car"


def test_a_tree_prints_on_several_lines(result: Alignment) -> None:
    assert str(result.source_tree).splitlines() == [
        "(S",
        "  (NP (PRP He))",
        "  (VP",
        "    (VBD bought)",
        "    (NP (DT a) (NN car)))",
        "  (. .))",
    ]
    assert parse_brackets(str(result.source_tree)) == result.source_tree


def test_a_sentence_has_tokens_by_order_and_by_place(result: Alignment) -> None:
    assert [str(token) for token in result.source] == ["He", "bought", "a", "car", "."]
    assert result.source[1].lemma == "buy"
    assert result.source[-1] == result.source.tokens[-1]
    assert [token.text for token in result.source[2:4]] == ["a", "car"]
    assert str(result.source) == PAIR[0]
    assert isinstance(result.source[0], Token)


def test_a_result_as_a_dictionary_has_the_fields_of_its_line(result: Alignment) -> None:
    fields = result.to_dict()
    assert fields["source"]["text"] == PAIR[0]
    assert len(fields["phrases"]) == len(result.phrases.pairs)


def test_pandas_itself_takes_the_pairs_and_counts_with_them(result: Alignment) -> None:
    pandas = pytest.importorskip("pandas")
    frame = result.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["source"].tolist() == [pair.source.text for pair in result]
    assert frame["confidence"].tolist() == [pair.confidence for pair in result]
    assert str(frame["confidence"].dtype) == "float64"
    assert {str(frame[name].dtype) for name in ("source_start", "source_end")} == {"int64"}
    empty = replace(result, phrases=replace(result.phrases, pairs=())).to_dataframe()
    assert list(empty.columns) == list(frame.columns)
    assert len(empty) == 0


def test_without_pandas_a_frame_says_what_to_install(result: Alignment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="needs pandas, which is not installed: pip install pandas"):
        result.to_dataframe()


def test_two_columns_of_a_frame_are_aligned_row_by_row() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [PAIR[0], "Go!", 7.0], "b": [PAIR[1], "Leave!", "x"]}, index=["x", "y", "z"])
    found = forestalign.align_frame(frame, "a", "b", errors="skip")
    expected = [("x", pair.source.text) for pair in forestalign.align(*PAIR)]
    expected += [("y", pair.source.text) for pair in forestalign.align("Go!", "Leave!")]
    assert list(zip(found.index, found["source"], strict=True)) == expected
    assert frame.join(found).loc["x", "a"].tolist() == [PAIR[0]] * found.index.tolist().count("x")
    assert forestalign.align_frame(frame[:0], "a", "b").empty
    with pytest.raises(ForestAlignError, match=r"pair 3: the source is 7\.0; expected a string"):
        forestalign.align_frame(frame, "a", "b")
    with pytest.raises(UsageError, match="the frame has no column 'c'"):
        forestalign.align_frame(frame, "a", "c")


# ---- beside `align` ----


def test_words_of_a_pair_are_linked_without_an_aligner() -> None:
    linked = forestalign.words(*PAIR)
    assert [(link.source, link.target) for link in linked][1] == ("bought", "purchased")
    assert str(linked).splitlines()[3] == "car = automobile"
    assert linked.words.pairs == forestalign.align(*PAIR).words.pairs
    assert forestalign.words.WordAligner  # type: ignore[attr-defined]  # the folder is still a module


def test_edits_and_similarity_of_a_pair_are_those_of_its_result(result: Alignment) -> None:
    assert forestalign.edits(*PAIR) == result.edits()
    assert forestalign.similarity(*PAIR) == result.similarity()


# ---- streams ----


def test_a_stream_is_read_no_further_than_its_batches() -> None:
    read = []

    def pairs() -> Iterator[tuple[str, str]]:
        for number in range(100):
            read.append(number)
            yield f"Dog {number} barked.", f"Dog {number} was barking."

    results = default_aligner().pipe(pairs(), batch_size=2)
    assert read == []
    assert next(results).source.text == "Dog 0 barked."
    assert len(read) <= 4
    assert [next(results).source.text for _ in range(3)][-1] == "Dog 3 barked."
    assert len(read) <= 6


BAD: Any = ("", None)


@pytest.mark.parametrize(
    ("errors", "expected"), [("skip", ["1 a", "3 c"]), ("yield", ["1 a", "pair 2: the target is None b", "3 c"])]
)
def test_a_pair_that_fails_is_skipped_or_yielded_and_contexts_come_back(errors: Any, expected: list[str]) -> None:
    pairs = list(zip([PAIR, BAD, PAIR], "abc", strict=True))
    found = default_aligner().pipe(pairs, errors=errors, as_tuples=True)
    told = [
        (each.id if isinstance(each, Alignment) else str(each).partition(";")[0], context) for each, context in found
    ]
    assert [" ".join(each) for each in told] == expected
    plain = default_aligner().pipe([PAIR, BAD], errors="skip")
    assert [each.id for each in plain] == ["1"]


def test_wrong_types_and_values_are_errors_of_python_as_well() -> None:
    with pytest.raises(TypeError, match="the source is None; expected a string, a list of words"):
        forestalign.align(BAD[1], "He left.")
    for wrong in ("", ["a", 3]):
        with pytest.raises(ValueError, match=r"the source|of the source"):
            forestalign.align(wrong, "He left.")  # type: ignore[arg-type]
    with pytest.raises(ImportError):
        raise MissingExtraError("tuning", "tune")


class Lazy:
    """A parser that returns what it was made with."""

    def __init__(self, parses: Any):
        self.parses = parses

    def parse(self, sentences: Any, forests: bool = True, charts: bool = False) -> Any:
        return self.parses


@pytest.mark.parametrize(
    ("parses", "message"),
    [([], "returned 0 parses for 2 sentences"), (None, "None; expected a list of Parse"), ([1], "1")],
)
def test_a_parser_that_returns_too_little_is_named(parses: Any, message: str) -> None:
    with pytest.raises(UsageError, match=f"the parser returned .*{message}" if parses else "the parser returned"):
        forestalign.Aligner(parser=Lazy(parses)).align(*PAIR)


# ---- how answers look ----


def test_answers_are_short_when_named_and_lines_in_a_notebook(result: Alignment) -> None:
    answers = result, result[0], result.edits(), result.edits().edits[0], result.similarity(), forestalign.words(*PAIR)
    answers += (forestalign.compare("It rained. " * 30, "It rained. Nobody left."), result.words)
    assert all(len(repr(answer)) < 160 and "\n" not in repr(answer) for answer in answers)
    assert repr(result[1]) == f"<PhrasePair 'He' = 'He' {result[1].confidence:.2f}>"
    assert all("<" in answer._repr_html_() for answer in (result, *answers[2:7:2], answers[5]))


def test_a_drawing_for_slides_is_one_svg_and_a_page_stands_alone(result: Alignment) -> None:
    svg = ElementTree.fromstring(forestalign.render(result, "svg"))
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"
    assert "prefers-color-scheme" not in str(svg[0].text)
    assert forestalign.render(result) == result._repr_html_()
    assert result._repr_html_() in forestalign.render(result, "page")
    for wrong in ((result, "png"), (PAIR, "svg")):
        with pytest.raises(UsageError, match="expected"):
            forestalign.render(*wrong)  # type: ignore[arg-type]


# ---- spaCy ----


@dataclass
class Word:
    text: str
    idx: int


class Doc:
    """What a document of spaCy has: a text, tokens with their places, no notion of being a sequence."""

    def __init__(self, text: str, *words: str, begin: int = 0):
        self.text, self._words, place = text, [], 0
        for word in words:
            place = text.index(word, place)
            self._words.append(Word(word, begin + place))
            place += len(word)

    def __iter__(self) -> Iterator[Word]:
        return iter(self._words)


@pytest.mark.parametrize("begin", [0, 40])
def test_a_document_keeps_its_tokens(begin: int) -> None:
    doc = Doc("He  can't\nswim.", "He", " ", "can't", "\n", "swim", ".", begin=begin)
    result = forestalign.align(doc, "He cannot swim.")
    assert result.source.words == ("He", "can't", "swim", ".")
    assert result.source.text == "He  can't swim."
    assert [token.start for token in result.source] == [0, 4, 10, 14]
    assert [found.source.words for found in default_aligner().pipe([(doc, doc)])] == [result.source.words]
    assert forestalign.words(doc, doc).source.words == result.source.words


def test_pairs_of_spacy_documents_are_spans_of_them() -> None:
    english = pytest.importorskip("spacy").blank("en")
    doc, whole = english("He turned  the well-known job down."), english("Yes. He refused the famous job.")
    part = whole[2:]
    result = forestalign.align(doc, part)
    assert result.source.words == tuple(token.text for token in doc if not token.is_space)
    for pair in result:
        assert (pair.source.doc, pair.target.doc) == (doc, whole)
    texts = {pair.source.text: (pair.target.text, pair.target.start) for pair in result}
    assert texts["turned  the well-known job down"] == ("refused the famous job", 3)
    (scattered,) = result.scattered
    assert (list(scattered.source), list(scattered.target)) == ([doc[1], doc[8]], [whole[3]])
    assert [found[0].source.doc for found in default_aligner().pipe([(doc, "He refused.")])] == [doc]
    mixed = forestalign.align(doc, "He refused the famous job.")[0]
    assert (mixed.source.doc, mixed.target.text) == (doc, "He refused the famous job.")
    assert result.to_tsv().splitlines()[1].split("\t")[3:5] == ["0-1", "0-1"]  # files have places in the sentence


@pytest.mark.parametrize(
    ("doc", "message"),
    [
        (Doc("a b", "a"), ""),
        (type("Doc", (), {"text": "a", "__iter__": lambda self: iter(["a"])})(), "the source has the token .*a"),
        (
            type("Doc", (), {"text": "a", "__iter__": lambda self: iter([Word("b", 0)])})(),
            "token 0 of the source is 'b'",
        ),
    ],
)
def test_what_only_looks_like_a_document_is_refused(doc: Any, message: str) -> None:
    if not message:
        assert default_aligner().sentence("source", doc).words == ("a",)
        return
    with pytest.raises(UsageError, match=message):
        forestalign.align(doc, "a")
