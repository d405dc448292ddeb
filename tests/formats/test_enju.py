"""Enju's and SPADE's XML, on a pair written for this test."""

from __future__ import annotations

from pathlib import Path

import pytest

from forestalign.errors import AnnotationError, InputError
from forestalign.formats.enju import aligned_ids, phrases_of, read_enju, words_of
from forestalign.tokens import Span

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
