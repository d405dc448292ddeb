"""CoNLL-X and CoNLL-U.

Enju's and SPADE's XML, on a pair written for this test.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.dependencies import Dependencies
from forestalign.errors import AnnotationError, InputError
from forestalign.formats.conll import DependencyRecord, format_conll, read_conll, universal_tags
from forestalign.formats.enju import aligned_ids, phrases_of, read_enju, words_of
from forestalign.formats.lines import write_lines
from forestalign.tokens import Sentence, Span, Token, analyse, tokenize

WORDS = st.lists(st.text(alphabet="aé'_.#", min_size=1, max_size=4), min_size=1, max_size=5)
COLUMNS = st.sampled_from(["", "NN", "x:y"])


@st.composite
def records(draw: st.DrawFn) -> DependencyRecord:
    text, tokens = "", []
    words = draw(WORDS)
    for index, word in enumerate(words):
        begin = len(text)
        text += word
        lemma = "_" if word == "_" else draw(COLUMNS)
        tokens.append(Token(word, begin, len(text), lemma, draw(COLUMNS)))
        text += draw(st.sampled_from(["", " "])) if index + 1 < len(words) else ""
    others = [sorted({*range(-1, len(words))} - {index}) for index in range(len(words))]
    heads = tuple(draw(st.sampled_from(choices)) for choices in others)
    columns = st.tuples(*[COLUMNS] * len(words))
    dependencies = Dependencies(heads, draw(columns))
    return DependencyRecord(
        draw(st.sampled_from(["", "s1"])), Sentence(text, tuple(tokens)), dependencies, draw(columns)
    )


@settings(max_examples=30)
@given(st.lists(records(), max_size=3))
def test_conllu_files_are_read_back(folder: Path, given_records: list[DependencyRecord]) -> None:
    write_lines(folder / "u", map(format_conll, given_records))
    assert list(read_conll(folder / "u")) == given_records


@settings(max_examples=30)
@given(st.lists(records(), max_size=3))
def test_conllx_files_give_back_all_but_id_and_spaces(folder: Path, given_records: list[DependencyRecord]) -> None:
    texts = (re.sub(r"^#.*\n", "", format_conll(record), flags=re.MULTILINE) for record in given_records)
    write_lines(folder / "x", [text.replace("SpaceAfter=No", "_") for text in texts])
    for record, again in zip(given_records, read_conll(folder / "x"), strict=True):
        sentence = Sentence.from_words(record.sentence.words).with_analysis(
            record.sentence.tags, record.sentence.lemmas
        )
        assert again == replace(record, id="", sentence=sentence)


def _row(*columns: str) -> str:
    return "\t".join(columns)


def test_ranges_empty_nodes_and_comments_are_passed_over(tmp_path: Path) -> None:
    lines = [
        "# sent_id = d-1",
        "# text = Don't",
        _row("1-2", "Don't", *"________"),
        _row("1", "Do", "do", "AUX", "VBP", "_", "0", "root", "_", "SpaceAfter=No|Other=1"),
        _row("1.1", "you", "you", "PRON", "PRP", "_", "_", "_", "_", "_"),
        _row("2", "n't", "not", "PART", "RB", "_", "1", "advmod", "_", "_"),
    ]
    write_lines(tmp_path / "u", lines)
    (record,) = read_conll(tmp_path / "u")
    assert (record.id, record.sentence.text, record.sentence.words) == ("d-1", "Don't", ("Do", "n't"))
    assert record.dependencies == Dependencies((-1, 0), ("root", "advmod"))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            ("1", "a", "_", "_", "_", "_", "3", "x", "_", "_"),
            "head '3'; expected 0 for the root or another",
        ),
        (("1", "a", "_", "_", "_", "_", "1", "x", "_", "_"), "head '1'; expected 0"),
        (("1", "a", "_", "_", "_", "_", "_", "x", "_", "_"), "head '_'; expected 0"),
        (("2", "a", "_", "_", "_", "_", "0", "x", "_", "_"), "token number 2; expected 1"),
        (("one", "a", "_", "_", "_", "_", "0", "x", "_", "_"), "token number 'one'; expected 1"),
        (("1", "a", "_"), "3 columns; expected 10"),
        (("1.1", "a", "_", "_", "_", "_", "0", "x", "_", "_"), "a sentence without tokens"),
    ],
)
def test_a_bad_row_is_refused_at_its_line(tmp_path: Path, columns: tuple[str, ...], message: str) -> None:
    write_lines(tmp_path / "u", [_row("1", "a", *"____", "0", "root", "_", "_"), "", _row(*columns)])
    with pytest.raises(InputError, match="u:3: ") as caught:
        list(read_conll(tmp_path / "u"))
    assert message in str(caught.value)


def test_universal_tags_follow_tag_and_relation() -> None:
    tags = ("PRP", "VBD", "RB", "VBN", "IN", "PRP", "VBZ", "IN", "NNP", ".")
    relations = ("nsubj:pass", "aux:pass", "advmod", "root", "mark", "nsubj", "cop", "case", "ccomp", "punct")
    sentence = analyse(tokenize("He was not told that it is from Rome."), tags)
    found = universal_tags(sentence, Dependencies((3, 3, 3, -1, 8, 8, 8, 8, 3, 3), relations))
    assert found == ("PRON", "AUX", "PART", "VERB", "SCONJ", "PRON", "AUX", "ADP", "PROPN", "PUNCT")


SOURCE = (
    '<sentence id="s0" parse_status="success" fom="3.5">'
    '<cons id="c0" cat="S" xcat="" head="c3" sem_head="c3" schema="subj_head" pa1="c0" pa2="c0">'
    '<cons id="c1" cat="NP" xcat="" head="c2" sem_head="c2" schema="empty_spec_head" pa1="c1" pa2="-1">'
    '<cons id="c2" cat="NX" xcat="" head="t0" sem_head="t0" pa1="c2 c1" pa2="-1">'
    '<tok id="t0" cat="N" pos="NNS" base="dog" lexentry="[&lt;N&gt;]" pred="noun_arg0">Dogs</tok></cons></cons> '
    '<cons id="c3" cat="VP" xcat="" head="t1" sem_head="t1" pa1="-1">'
    '<tok id="t1" cat="V" pos="VBP" base="bark" pred="verb_arg1">bark</tok></cons></cons>.</sentence>'
)
TARGET = (
    '<sentence id="t0" parse_status="success">'
    '<cons id="c0" cat="S" head="c3" sem_head="c3" pa1="c0" pa2="c0">'
    '<cons id="c1" cat="NP" head="c2" sem_head="c2" pa1="c1"><cons id="c2" cat="NX" head="t0" sem_head="t0">'
    '<tok id="t0" cat="N" pos="NNS">Hounds</tok></cons></cons> '
    '<cons id="c3" cat="VP" head="t1" sem_head="t1" pa2="c3"><tok id="t1" cat="V" pos="VBP">howl</tok></cons>'
    "</cons></sentence>"
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "s-001.xml").write_text(SOURCE)
    (tmp_path / "t-001.xml").write_text(f"<?xml version='1.0' encoding='UTF-8'?>\n{TARGET}")
    return tmp_path / "s-001.xml", tmp_path / "t-001.xml"


def test_phrases_have_spans(files: tuple[Path, Path]) -> None:
    sentence = read_enju(files[0])
    assert phrases_of(sentence) == (("c0", Span(0, 2)), ("c1", Span(0, 1)), ("c2", Span(0, 1)), ("c3", Span(1, 2)))
    assert words_of(sentence) == ("Dogs", "bark")


def test_pairs_marked_in_either_file_count_and_a_missing_mark_is_a_null(files: tuple[Path, Path]) -> None:
    source, target = map(read_enju, files)
    both = [("c0", "c0"), ("c1", "c1"), ("c2", "c1"), ("c2", "c2"), ("c3", "-1"), ("-1", "c2"), ("-1", "c3")]
    assert aligned_ids(source, target, 1) == tuple(sorted(both))
    second = [("c0", "c0"), ("c1", "-1"), ("c2", "-1"), ("c3", "-1"), ("c3", "c3"), ("-1", "c1"), ("-1", "c2")]
    assert aligned_ids(source, target, 2) == tuple(sorted(second))


def test_a_partner_that_is_no_phrase_is_refused(files: tuple[Path, Path]) -> None:
    files[0].write_text(SOURCE.replace('pa1="c2 c1"', 'pa1="c2 c77"'))
    source, target = map(read_enju, files)
    with pytest.raises(ValueError, match="c2 has pa1='c2 c77'; expected phrases of sentence t0, or -1"):
        aligned_ids(source, target, 1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('id="c3"', 'id="c1"', "<cons> has id 'c1'; expected one of its own"),
        ("</sentence>", "<b/></sentence>", "found <b>; expected <cons> or <tok>"),
        ('<tok id="t1" cat="V" pos="VBP" base="bark" pred="verb_arg1">bark</tok>', "", "phrase c3 is empty"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(files: tuple[Path, Path], old: str, new: str, message: str) -> None:
    files[0].write_text(SOURCE.replace(old, new, 1))
    with pytest.raises(AnnotationError, match=r"s-001\.xml") as caught:
        read_enju(files[0])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("<sentence>\n<cons>", 2, "no well-formed XML at column 7"),
        ("<tree/>", 1, "found <tree>; expected <sentence>"),
        ("<sentence>" + "<cons>" * 400 + "</cons>" * 400 + "</sentence>", 1, "nested 401 deep; expected at most 300"),
    ],
)
def test_what_is_no_sentence_is_refused_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    (tmp_path / "x.xml").write_text(text)
    with pytest.raises(InputError) as caught:
        read_enju(tmp_path / "x.xml")
    assert caught.value.line == line
    assert message in str(caught.value)
