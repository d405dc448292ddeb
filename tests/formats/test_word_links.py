"""Word links and chunk alignments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.errors import AnnotationError
from forestalign.formats.chunk_files import ChunkAlignment, ChunkPair, format_ists, read_ists
from forestalign.formats.lines import write_lines
from forestalign.formats.word_links import (
    GoldPair,
    LinkAnnotation,
    format_link_line,
    format_pharaoh,
    parse_pharaoh,
    read_gold_links,
    read_pharaoh,
)
from forestalign.words.alignment import WordAlignment, WordLink

WORDS = st.lists(st.text(alphabet="abé,.'-:{[", min_size=1, max_size=4), min_size=1, max_size=5).map(tuple)


@st.composite
def links(draw: st.DrawFn, source_count: int, target_count: int) -> tuple[tuple[int, int], ...]:
    index = st.tuples(st.integers(0, source_count - 1), st.integers(0, target_count - 1))
    return tuple(sorted(draw(st.sets(index, max_size=6))))


@st.composite
def annotations(draw: st.DrawFn, name: str, source: tuple[str, ...], target: tuple[str, ...]) -> LinkAnnotation:
    counts = len(source), len(target)
    return LinkAnnotation(name, source, target, draw(links(*counts)), draw(links(*counts)))


@st.composite
def gold_pairs(draw: st.DrawFn) -> GoldPair:
    return GoldPair(
        draw(st.text("ab1:-", min_size=1, max_size=5)), (draw(annotations("gold", draw(WORDS), draw(WORDS))),)
    )


@st.composite
def voted_pairs(draw: st.DrawFn) -> GoldPair:
    source, target = draw(WORDS), draw(WORDS)
    voted_source, voted_target = (source, target) if draw(st.booleans()) else (draw(WORDS), draw(WORDS))
    voted = LinkAnnotation("majority", voted_source, voted_target, draw(links(len(voted_source), len(voted_target))))
    return GoldPair("1", (voted, draw(annotations("A", source, target)), draw(annotations("C", source, target))))


# ---- Pharaoh ----


@given(st.dictionaries(st.tuples(st.integers(0, 99), st.integers(0, 99)), st.floats(0, 1)), st.booleans())
def test_pharaoh_lines_are_read_back(scores: dict[tuple[int, int], float], with_scores: bool) -> None:
    alignment = WordAlignment(tuple(WordLink(i, j, score) for (i, j), score in sorted(scores.items())))
    again = parse_pharaoh(format_pharaoh(alignment, with_scores))
    assert again == alignment
    expected = [link.score if with_scores else 1.0 for link in alignment]
    assert [link.score for link in again] == expected


def test_pharaoh_links_come_out_sorted_and_once() -> None:
    alignment = parse_pharaoh(" 3-0 0-1:0.25  0-1:0.5 ")
    assert format_pharaoh(alignment, scores=True) == "0-1:0.5 3-0:1.0"


@pytest.mark.parametrize("text", ["0", "0-", "a-b", "0-1-2", "0-1:x", "-1-0", "0-1:", "٣-0"])
def test_what_is_no_link_is_refused_with_its_value(text: str) -> None:
    with pytest.raises(ValueError, match="is not a link; expected i-j or i-j:score"):
        parse_pharaoh(text)


def test_a_link_past_the_sentence_is_refused_with_file_and_line(tmp_path: Path) -> None:
    write_lines(tmp_path / "a", ["0-0", "1-1", ""])
    with pytest.raises(AnnotationError, match=r"a:2: link 1-1: the target has 1 word; expected 0"):
        list(read_pharaoh(tmp_path / "a", [(2, 2), (2, 1), (1, 1)]))
    with pytest.raises(AnnotationError, match=r"a:2: line 2 is one too many; expected 1"):
        list(read_pharaoh(tmp_path / "a", [(2, 2)]))
    assert [len(alignment) for alignment in read_pharaoh(tmp_path / "a")] == [1, 1, 0]


# ---- gold ----


def _columns(pair: GoldPair) -> tuple[str, str, str, str]:
    """Source, target, sure and possible links as the published files write them."""
    links = [" ".join(f"{i}-{j}" for i, j in sorted(each)) for each in (pair.gold.sure, pair.gold.possible)]
    return " ".join(pair.gold.source), " ".join(pair.gold.target), links[0], links[1]


@settings(max_examples=25)
@given(st.lists(gold_pairs() | voted_pairs(), max_size=3))
def test_gold_lines_are_read_back(folder: Path, pairs: list[GoldPair]) -> None:
    path = folder / "gold.jsonl.gz"
    write_lines(path, map(format_link_line, pairs))
    assert list(read_gold_links(path)) == pairs


@settings(max_examples=25)
@given(st.lists(gold_pairs(), max_size=3))
def test_jacana_and_multimwa_files_are_read_back(folder: Path, pairs: list[GoldPair]) -> None:
    columns = [(pair.id, *_columns(pair)) for pair in pairs]
    names = ("id", "source", "target", "sureAlign", "possibleAlign")
    write_lines(folder / "gold.json", [json.dumps([dict(zip(names, row, strict=True)) for row in columns])])
    rows = ["\t".join((key, one, "", other, "", "", "", sure, may)) for key, one, other, sure, may in columns]
    write_lines(folder / "gold.tsv", rows)
    assert list(read_gold_links(folder / "gold.json")) == list(read_gold_links(folder / "gold.tsv")) == pairs


def test_the_vote_is_the_gold_and_annotators_are_asked_by_name(tmp_path: Path) -> None:
    sure = {"sure": [[0, 0]], "possible": []}
    fields = {"id": 3, "source": ["a."], "target": ["b"], "annotators": {"A": sure, "C": sure}}
    fields |= {"majority_sure": [[1, 0]], "majority_source": ["a", "."], "majority_target": ["b"], "same_tokens": False}
    write_lines(tmp_path / "gold", [json.dumps(fields)])
    (pair,) = read_gold_links(tmp_path / "gold")
    assert (pair.id, pair.annotators) == ("3", ("majority", "A", "C"))
    assert (pair.gold.source, pair.gold.sure) == (("a", "."), ((1, 0),))
    assert pair.by("C").source == ("a.",)
    with pytest.raises(ValueError, match="no annotator is called 'B'; expected one of majority, A, C"):
        pair.by("B")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": 1, "source": ["a"], "target": ["b"], "sure": [[0, 1]]}', "sure: link 0-1: the target has 1 word"),
        ('{"id": 1, "source": ["a"], "target": ["b"], "sure": [[-1, 0]]}', "sure: link -1-0: the source has 1 word"),
        ('{"id": 1, "source": ["a"], "target": ["b"], "sure": [[0]]}', "expected a list of pairs of whole numbers"),
        ('{"id": 1, "source": "a", "target": ["b"], "sure": []}', 'source is "a"; expected a list of strings'),
        ('{"id": 1, "source": ["a"], "target": ["b"]}', "no field 'sure'"),
        ('{"id": 1, "source": ["a"], "target": ["b"], "annotators": {}}', "expected at least one annotator"),
        ('{"id": 1, "source": ["a"', "invalid JSON"),
        ("1\ta\tb", "3 columns"),
        ("1\ta\t\tb\t\t\t\t0-7\t", "link 0-7: the target has 1 word; expected 0"),
    ],
)
def test_bad_gold_is_refused_with_file_line_and_expectation(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "gold").write_text(text)
    with pytest.raises(AnnotationError, match="gold:1: ") as caught:
        list(read_gold_links(tmp_path / "gold"))
    assert message in str(caught.value)


# ---- interpretable similarity ----


CHUNKS = st.lists(st.integers(0, 2), unique=True, max_size=3).map(tuple)
PAIRS = st.lists(
    st.builds(
        ChunkPair,
        CHUNKS,
        CHUNKS,
        st.sampled_from(["EQUI", "SPE1_FACT", "NOALI", "SIMI_POL_FACT"]),
        st.none() | st.integers(0, 5).map(float),
    ),
    max_size=4,
).map(tuple)


@settings(max_examples=25)
@given(PAIRS, st.sampled_from(["a", ":", "//", "<==>", "1", "a:"]))
def test_chunk_files_are_read_back(folder: Path, pairs: tuple[ChunkPair, ...], word: str) -> None:
    path = folder / "gold.wa"
    alignment = ChunkAlignment("1", "", "a b c", "x y z", ("a", word, "c"), ("x", "y", "z"), pairs)
    write_lines(path, [format_ists(alignment), "", "", format_ists(alignment)])
    assert list(read_ists(path)) == [alignment, alignment]


CHUNK_FILE = """<sentence id="1" status="">
// a b
// x
<source>
1 a :
2 b :
</source>
<translation>
1 x :
</translation>
<alignment>
1 2 <==> 1 // EQUI // 5 // a b <==> x
</alignment>
</sentence>"""


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("1 2 <==>", "1 3 <==>", 12, "found '3'; expected a token from 1 to 2"),
        ("1 2 <==>", "0 1 <==>", 12, "found '0'; expected a token from 1 to 2"),
        ("EQUI", "SAME", 12, "found 'SAME'; expected one of ALIC"),
        ("// 5 //", "// 6 //", 12, "found '6'; expected a score from 0 to 5, or NIL"),
        ("// 5 //", "// 1e999 //", 12, "found '1e999'; expected a score from 0 to 5, or NIL"),
        ("<==> 1 //", "1 //", 12, "expected tokens <==> tokens"),
        ("2 b :", "3 b :", 6, "found '3 b :'; expected 2 token :"),
        ("<translation>", "<target>", 8, "expected <translation>"),
        ("// x", "x", 3, "expected // and a sentence"),
        ("</alignment>\n</sentence>", "", 12, "the pair ends where </alignment> was expected"),
        ('<sentence id="1" status="">', "<sentence>", 1, "expected <sentence id="),
    ],
)
def test_a_bad_chunk_file_is_refused_at_its_line(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    (tmp_path / "gold.wa").write_text(CHUNK_FILE.replace(old, new))
    with pytest.raises(AnnotationError) as caught:
        list(read_ists(tmp_path / "gold.wa"))
    assert caught.value.line == line
    assert message in str(caught.value)
