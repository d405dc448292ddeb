"""Chunks aligned many to many: from probabilities to groups, files in and out, scores, and the two commands."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.chunk_aligner import ChunkAligner
from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import AnnotationError, GrammarError, UsageError
from forestalign.evaluation.chunk_scores import chunk_baseline, read_chunk_gold, read_chunk_output, score_chunks
from forestalign.formats.chunk_files import (
    ChunkAlignment,
    ChunkedPair,
    ChunkPair,
    chunks_of,
    chunks_to_ists,
    chunks_to_json,
    format_ists,
    read_chunked,
)
from forestalign.formats.pairs import BadRecord
from forestalign.phrases.chunk_alignment import (
    TYPES,
    AlignedChunks,
    Group,
    around_features,
    best_groups,
    group_worth,
    load_chunk_model,
    model_record,
    read_chunk_model,
)
from forestalign.tokens import Sentence, Span
from tests.builders.commands import Run, runner


def alignment(*pairs: ChunkPair, id: str = "1") -> ChunkAlignment:
    """Four source words and three target words."""
    return ChunkAlignment(id, "", "a b c d", "w x y", ("a", "b", "c", "d"), ("w", "x", "y"), pairs)


GOLD = alignment(
    ChunkPair((0, 1), (0, 1), "EQUI", 5.0),
    ChunkPair((2,), (2,), "SPE1_FACT", 3.0),
    ChunkPair((3,), (), "NOALI", None),
)


# ---- scores ----


def test_scores_are_those_counted_by_hand() -> None:
    # system links a-w, b-w (1/2 each) and c-y; gold links a-w a-x b-w b-x (1/2 each) and c-y
    system = alignment(ChunkPair((0, 1), (0,), "EQUI", 4.0), ChunkPair((2,), (2,), "SPE1", 4.0))
    found = score_chunks([GOLD], [system])
    assert found["P"] == pytest.approx(1.0)
    assert found["R"] == pytest.approx(2 / 3)
    assert found["F1 alignment"] == pytest.approx(0.8)
    assert found["F1 type"] == pytest.approx(0.6)  # c-y has one of two types: 1.5 of 2, 1.5 of 3
    assert found["F1 score"] == pytest.approx(0.64)  # all scores are one off: 1.6 of 2, 1.6 of 3
    assert found["F1 type + score"] == pytest.approx(0.48)  # 1.2 of 2, 1.2 of 3


def test_a_pair_that_the_system_left_out_costs_recall_alone() -> None:
    found = score_chunks([GOLD, GOLD], [GOLD, None])
    assert (found["P"], found["R"]) == (1.0, 0.5)


def test_punctuation_does_not_count() -> None:
    gold = ChunkAlignment("1", "", "", "", ("a", "."), ("x", ","), (ChunkPair((0, 1), (0, 1), "EQUI", 5.0),))
    bare = ChunkAlignment("1", "", "", "", ("a", "."), ("x", ","), (ChunkPair((0,), (0,), "EQUI", 5.0),))
    marks = ChunkAlignment("1", "", "", "", ("a", "."), ("x", ","), (ChunkPair((1,), (1,), "EQUI", 5.0),))
    assert score_chunks([gold], [bare])["F1 alignment"] == 1.0
    assert score_chunks([gold], [marks])["F1 alignment"] == 0.0


def test_the_later_line_names_type_and_score_of_a_link_that_two_lines_hold() -> None:
    twice = alignment(ChunkPair((0,), (0,), "REL", 2.0), ChunkPair((0,), (0,), "EQUI", 5.0))
    once = alignment(ChunkPair((0,), (0,), "EQUI", 5.0))
    assert score_chunks([once], [twice])["F1 type + score"] == 1.0


def test_the_baseline_takes_chunks_that_share_most_words() -> None:
    words, others = ("The", "cat", "saw", "the", "dog"), ("the", "dog", "saw", "a", "cat")
    chunks = ((0, 1), (2,), (3, 4))
    gold = ChunkAlignment("1", "", "", "", words, others, tuple(ChunkPair(each, each, "REL", 1.0) for each in chunks))
    found = {(pair.source, pair.target) for pair in chunk_baseline(gold).pairs}
    assert found == {((3, 4), (0, 1)), ((2,), (2,)), ((0, 1), (3, 4))}
    assert {pair.relation for pair in chunk_baseline(gold).pairs} == {"EQUI"}


# ---- from probabilities to groups ----

SHARES = st.floats(0.0, 1.0).map(lambda value: round(value, 3))


@st.composite
def grids(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    p = np.array(draw(st.lists(SHARES, min_size=rows * columns, max_size=rows * columns))).reshape(rows, columns)
    sizes = [draw(st.lists(st.integers(1, 5), min_size=n, max_size=n)) for n in (rows, columns)]
    return p, np.array(sizes[0], np.float64), np.array(sizes[1], np.float64)


@given(grids())
def test_no_chunk_is_in_two_groups_and_no_group_is_worthless(grid: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    p, sizes, others = grid
    groups = best_groups(p, sizes, others, 0.4)
    rows = [i for group in groups for i in group.source]
    columns = [j for group in groups for j in group.target]
    assert len(set(rows)) == len(rows)
    assert len(set(columns)) == len(columns)
    assert all(group_worth(group, p - 0.4, sizes, others) > 0 for group in groups)


@settings(max_examples=60)
@given(grids())
def test_groups_are_worth_at_least_what_the_best_one_to_one_alignment_is(
    grid: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    p, sizes, others = grid
    gains = p - 0.4
    best = 0.0
    places = [*range(p.shape[1]), *[None] * p.shape[0]]
    for chosen in set(itertools.permutations(places, p.shape[0])):
        pairs = [Group((i,), (j,)) for i, j in enumerate(chosen) if j is not None]
        best = max(best, sum(group_worth(pair, gains, sizes, others) for pair in pairs))
    found = sum(group_worth(group, gains, sizes, others) for group in best_groups(p, sizes, others, 0.4))
    assert found >= best - 1e-9


def test_two_chunks_share_a_partner_as_long_as_both() -> None:
    p, sizes, others = np.array([[0.9], [0.9]]), np.array([2.0, 2.0]), np.array([4.0])
    assert best_groups(p, sizes, others, 0.4) == [Group((0, 1), (0,))]


def test_a_second_chunk_is_left_alone_where_the_first_fills_the_partner() -> None:
    p, sizes, others = np.array([[0.9], [0.6]]), np.array([4.0, 2.0]), np.array([2.0])
    assert best_groups(p, sizes, others, 0.4) == [Group((0,), (0,))]


def test_what_surrounds_a_pair_is_mirrored_with_it() -> None:
    odds = np.random.default_rng(5).normal(size=(4, 3))
    assert np.allclose(around_features(odds.T), around_features(odds).transpose(1, 0, 2))


# ---- whole pairs ----

EXAMPLES = (
    ("[ A black cat ] [ is sleeping ] [ on the sofa ] [ . ]", "[ On the couch ] [ , ] [ a cat ] [ sleeps ]"),
    ("[ Three people ] [ died ] [ in Peru ]", "[ 12 men ] [ were killed ] [ in northern Peru ]"),
    ("[ The bulb ] [ is not ] [ in a closed path ]", "[ The bulb ] [ is contained ] [ in an open path ]"),
)


def chunked(source: str, target: str, number: int = 1) -> ChunkedPair:
    sides, chunks = [], []
    for text in (source, target):
        words: list[str] = []
        spans = []
        for chunk in text.strip("[] ").split("] ["):
            spans.append(Span(len(words), len(words) + len(chunk.split())))
            words += chunk.split()
        sides.append(Sentence.from_words(words))
        chunks.append(tuple(spans))
    return ChunkedPair(number, str(number), sides[0], sides[1], chunks[0], chunks[1])


@pytest.fixture(scope="module")
def aligner() -> ChunkAligner:
    return ChunkAligner(DEFAULT_CONFIG)


def aligned(aligner: ChunkAligner, pair: ChunkedPair) -> tuple[AlignedChunks, ...]:
    (found,) = aligner.align([pair])
    assert isinstance(found, tuple)
    return found


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_chunk_is_in_exactly_one_row(aligner: ChunkAligner, example: tuple[str, str]) -> None:
    pair = chunked(*example)
    rows = aligned(aligner, pair)
    assert sorted(k for row in rows for k in row.source) == list(range(len(pair.source_chunks)))
    assert sorted(k for row in rows for k in row.target) == list(range(len(pair.target_chunks)))
    for row in rows:
        assert row.relation in (*TYPES, "NOALI")
        assert (row.relation == "NOALI") == (not row.source or not row.target)
        assert 0 <= row.score <= 5
        assert 0 <= row.posterior <= 1


@pytest.mark.parametrize("example", EXAMPLES)
def test_swapped_sentences_have_mirrored_chunks(aligner: ChunkAligner, example: tuple[str, str]) -> None:
    mirror = {"SPE1": "SPE2", "SPE2": "SPE1"}
    forth, back = aligned(aligner, chunked(*example)), aligned(aligner, chunked(*reversed(example)))
    turned = {(row.target, row.source, mirror.get(row.relation, row.relation), row.score) for row in back}
    assert {(row.source, row.target, row.relation, row.score) for row in forth} == turned


def test_plain_examples_come_out_right(aligner: ChunkAligner) -> None:
    rows = aligned(aligner, chunked(*EXAMPLES[0]))
    assert {(row.source, row.target) for row in rows if row.source and row.target} == {
        ((0,), (2,)),
        ((1,), (3,)),
        ((2,), (0,)),
    }
    assert next(row.relation for row in rows if row.source == (0,)) == "SPE1"


def test_chunks_may_be_numbered_in_any_order(aligner: ChunkAligner) -> None:
    pair = chunked(*EXAMPLES[0])
    turned = ChunkedPair(1, "1", pair.source, pair.target, pair.source_chunks[::-1], pair.target_chunks)
    last = len(pair.source_chunks) - 1
    expected = {(tuple(last - k for k in row.source), row.target, row.posterior) for row in aligned(aligner, pair)}
    assert {(row.source, row.target, row.posterior) for row in aligned(aligner, turned)} == expected


# ---- files ----


def as_json(**changes: object) -> str:
    fields: dict[str, object] = {
        "id": "p7",
        "source": ["a", "b", "c"],
        "target": ["x", "y"],
        "source_chunks": [[0, 1], [1, 3]],
        "target_chunks": [[0, 2]],
    }
    return json.dumps(fields | changes)


def read(path: Path, text: str) -> list[ChunkedPair | BadRecord]:
    path.write_text(text)
    return list(read_chunked(path))


def test_json_lines_are_read(tmp_path: Path) -> None:
    (pair,) = read(tmp_path / "in.jsonl", as_json() + "\n")
    assert isinstance(pair, ChunkedPair)
    assert (pair.id, pair.source.words, pair.source_chunks) == ("p7", ("a", "b", "c"), (Span(0, 1), Span(1, 3)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source_chunks": [[0, 2], [1, 3]]}, "source_chunks: [1, 3] overlaps the chunk before it"),
        ({"source_chunks": [[0, 1], [0, 1], [1, 3]]}, "source_chunks: [0, 1] overlaps the chunk before it"),
        ({"source_chunks": [[0, 1]]}, "source_chunks: word 1, 'b', is in no chunk"),
        ({"source_chunks": [[1, 3]]}, "source_chunks: word 0, 'a', is in no chunk"),
        ({"source_chunks": []}, "source_chunks: word 0, 'a', is in no chunk"),
        ({"target_chunks": [[0, 3]]}, "target_chunks is [0, 3]; expected a list of spans"),
        ({"target_chunks": [[-1, 2]]}, "target_chunks is [-1, 2]; expected a list of spans"),
        ({"target_chunks": [[0, 0], [0, 2]]}, "target_chunks is [0, 0]; expected a list of spans"),
        ({"target_chunks": [[0, 1e999]]}, "JSON does not know"),
        ({"target_chunks": [[0, 2.0]]}, "expected a list of spans"),
        ({"target_chunks": "all"}, 'target_chunks is "all"; expected a list of spans'),
        ({"source": "a b c"}, 'source is "a b c"; expected a list of strings'),
        ({"source": [], "source_chunks": []}, "the source is empty"),
        ({"source": ["a", "b b", "c"]}, "token 1 of the source is 'b b'"),
        ({"id": 1.5}, "id is 1.5; expected a string"),
    ],
)
def test_bad_chunks_are_named_and_the_other_lines_are_read(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    first, bad, last = read(tmp_path / "in.jsonl", "\n".join([as_json(), as_json(**changes), as_json()]) + "\n")
    assert isinstance(first, ChunkedPair)
    assert isinstance(last, ChunkedPair)
    assert isinstance(bad, BadRecord)
    assert bad.number == 2
    assert message in bad.message


CHUNK_FILE = format_ists(GOLD)


def test_the_chunks_of_a_wa_file_are_those_that_its_lines_name(tmp_path: Path) -> None:
    (pair,) = read(tmp_path / "in.wa", CHUNK_FILE)
    assert isinstance(pair, BadRecord) is False
    assert chunks_of(GOLD) == ((Span(0, 2), Span(2, 3), Span(3, 4)), (Span(0, 2), Span(2, 3)))


def test_a_line_that_joins_chunks_does_not_hide_them() -> None:
    joined = alignment(
        ChunkPair((0, 1, 3), (0,), "EQUI", 5.0),  # a gap: two chunks
        ChunkPair((2,), (1, 2), "REL", 2.0),
        ChunkPair((), (2,), "NOALI", None),  # a part of a line: two chunks
    )
    assert chunks_of(joined) == ((Span(0, 2), Span(2, 3), Span(3, 4)), (Span(0, 1), Span(1, 2), Span(2, 3)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("3 <==> 3 //", "2 3 <==> 3 //", "chunks of the source overlap: 'a b' and 'b c'"),
        ("3 <==> 3 //", "3 <==> 0 //", "word 3 of the target, 'y', is in no chunk"),
        ("3 <==> 3 //", "3 <==> 4 //", "in.wa:17: found '4'; expected a token from 1 to 3"),
    ],
)
def test_a_bad_pair_of_a_wa_file_is_named_and_the_others_are_read(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    bad_text = CHUNK_FILE.replace(old, new)
    assert bad_text != CHUNK_FILE
    bad, good = read(tmp_path / "in.wa", f"{bad_text}\n\n{CHUNK_FILE}\n")
    assert isinstance(good, ChunkedPair)
    assert isinstance(bad, BadRecord)
    assert bad.number == 1
    assert message in bad.message


def test_results_become_json_and_wa() -> None:
    pair = chunked("[ a b ] [ c ]", "[ x ] [ y ]")
    rows = (AlignedChunks((0, 1), (0,), "SIMI", 4.0, 0.75), AlignedChunks((), (1,), "NOALI", 0.0, 0.9))
    assert json.loads(chunks_to_json("1", rows)) == {
        "id": "1",
        "chunks": [
            {"source": [0, 1], "target": [0], "type": "SIMI", "score": 4, "posterior": 0.75},
            {"source": [], "target": [1], "type": "NOALI", "score": 0, "posterior": 0.9},
        ],
    }
    text = chunks_to_ists(pair, rows)
    assert "1 2 3 <==> 1 // SIMI // 4 // a b c <==> x \n" in text
    assert "0 <==> 2 // NOALI // NIL // -not aligned- <==> y \n" in text


def test_an_id_that_a_wa_file_cannot_hold_is_refused() -> None:
    pair = chunked("[ a ]", "[ x ]")
    named = ChunkedPair(1, 'the "first"', pair.source, pair.target, pair.source_chunks, pair.target_chunks)
    with pytest.raises(UsageError, match="cannot stand in a"):
        chunks_to_ists(named, ())


# ---- weights ----


def test_weights_are_read_back(tmp_path: Path) -> None:
    model = load_chunk_model()
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model_record(model)))
    assert model_record(read_chunk_model(path)) == model_record(model)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("threshold", 1.5, "threshold is 1.5; expected `float` < 1.0"),
        ("threshold", None, "threshold is None; expected `float`"),
        ("pair", {"bias": 0.0, "weights": {"taste": 1.0}}, "'taste' has a weight and is not a feature"),
        ("around", {"bias": "much", "weights": {}}, "around.bias is 'much'; expected `float`"),
        ("score", [], "score is .*expected `object`"),
        ("types", {"EQUI": {"bias": 0, "weights": {}}}, "types are EQUI; expected weights of EQUI, OPPO"),
    ],
)
def test_bad_weights_are_refused(tmp_path: Path, name: str, value: object, message: str) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model_record(load_chunk_model()) | {name: value}))
    with pytest.raises(GrammarError, match=message):
        read_chunk_model(path)


# ---- the commands ----


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], in_this_process: None
) -> Run:
    monkeypatch.chdir(tmp_path)
    return runner(capfd)


def test_align_keeps_the_order_and_does_the_lines_around_a_bad_one(run: Run) -> None:
    lines = [as_json(id="first"), as_json(id="bad", source_chunks=[[0, 2]]), as_json(id="last")]
    Path("in.jsonl").write_text("\n".join(lines) + "\n")
    answer = run("align", "--chunks", "in.jsonl", "--json")
    assert answer.code == 1
    assert [json.loads(line)["id"] for line in answer.out.splitlines()] == ["first", "last"]
    assert "line 2 (bad): in.jsonl:2: source_chunks: word 2, 'c', is in no chunk" in answer.err


def test_align_writes_a_wa_file_that_evaluate_scores(run: Run) -> None:
    words = ("The", "cat", "slept", "."), ("A", "cat", "was", "sleeping", ".")
    gold = ChunkAlignment(
        "1", "", " ".join(words[0]), " ".join(words[1]), *words,
        (ChunkPair((0, 1), (0, 1), "EQUI", 5.0), ChunkPair((2,), (2, 3), "EQUI", 5.0),
         ChunkPair((3,), (), "NOALI", None), ChunkPair((), (4,), "NOALI", None)),
    )  # fmt: skip
    Path("gold.wa").write_text(format_ists(gold) + "\n")
    assert run("align", "--chunks", "gold.wa", "-o", "out.wa").code == 0
    assert run("align", "--chunks", "gold.wa", "--json", "-o", "out.jsonl").code == 0
    answer = run("evaluate", "chunks", "gold.wa", "out.wa", "out.jsonl", "--json", "-B", "20")
    first, second, baseline = json.loads(answer.out)["columns"]
    assert first["scores"] == second["scores"]
    assert first["scores"][2] == {"name": "F1 alignment", "value": 1.0}
    assert baseline["name"] == "same words"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"id": "2", "chunks": []}, "found '2', which is not in the gold standard"),
        ({"id": "1", "chunks": [{"source": [3], "target": [0], "type": "REL", "score": 1}]}, "found chunk 3"),
        ({"id": "1", "chunks": [{"source": [0], "target": [0], "type": "SAME", "score": 1}]}, "found 'SAME'"),
        ({"id": "1", "chunks": [{"source": [0], "target": [0], "type": "REL", "score": 6}]}, "found 6.0"),
        ({"id": "1"}, "no field 'chunks'"),
    ],
)
def test_output_that_does_not_fit_the_gold_is_refused(tmp_path: Path, line: object, message: str) -> None:
    (tmp_path / "gold.wa").write_text(CHUNK_FILE)
    (tmp_path / "out.jsonl").write_text(json.dumps(line) + "\n")
    with pytest.raises(AnnotationError, match=message):
        read_chunk_output(tmp_path / "out.jsonl", read_chunk_gold(tmp_path / "gold.wa"))


def test_gold_with_one_id_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gold.wa").write_text(f"{CHUNK_FILE}\n{CHUNK_FILE}\n")
    with pytest.raises(AnnotationError, match="two pairs have the id '1'"):
        read_chunk_gold(tmp_path / "gold.wa")
