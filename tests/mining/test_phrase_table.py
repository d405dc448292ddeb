"""Tables of paraphrases: what is counted, the probabilities, files that are read back, and input that is refused."""

from __future__ import annotations

import csv
import json
import resource
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign import PhrasePair
from forestalign.cli import main
from forestalign.errors import MissingExtraError
from forestalign.formats.codec import to_json
from forestalign.lexicon.findings import PHRASE_RELATIONS
from forestalign.lexicon.pair_lists import PPDB_RELATIONS, ListedPair, listed_pair, load_phrase_lists, load_ppdb
from forestalign.mining import pair_counts
from forestalign.mining.occurrences import patterns, read_line
from forestalign.mining.pair_counts import OccurrenceFilter
from forestalign.mining.phrase_table import PhraseTable, RowFilter, TableRow, is_telling
from forestalign.mining.table_files import TableForm, TableOptions, extract_table
from tests.builders.bad_files import with_field
from tests.builders.sample_results import pair, result, side

pytest.importorskip("duckdb")
EVERYTHING = OccurrenceFilter()


def entry(source: tuple[int, int], target: tuple[int, int], label: str = "NP", **others: Any) -> PhrasePair:
    return pair(source, target, label, **{"log_prob": -1.0, "confidence": 1.0, "evidence": ("links",)} | others)


def line(id: str, source: str, target: str, *phrases: PhrasePair, signature: str = "forestalign 0.2.0") -> str:
    trees = (" ".join(f"(NN {word})" for word in text.split()) for text in (source, target))
    sides = (side(f"(TOP {tree})", text) for tree, text in zip(trees, (source, target), strict=True))
    return to_json(result(id, *sides, signature=signature, pairs=phrases))


# couch -> sofa three times (once as NN), couch -> couch once; settee -> sofa once
CORPUS = (
    line("a", "the couch", "a sofa", entry((1, 2), (1, 2), confidence=0.9), entry((0, 2), (0, 2), confidence=0.8)),
    line("b", "Couch", "sofa", entry((0, 1), (0, 1), relation="similar", evidence=("lexicon",), confidence=0.7)),
    line("c", "couch", "sofa", entry((0, 1), (0, 1), "NN", relation="equal", confidence=0.4)),
    line("d", "couch", "couch", entry((0, 1), (0, 1), confidence=1.0)),
    line("e", "settee", "sofa", entry((0, 1), (0, 1), confidence=0.5, is_bar=True)),
)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "results.jsonl"
    path.write_text("\n".join(CORPUS) + "\n")
    return path


def extracted(paths: Sequence[Path], occurrences: OccurrenceFilter = EVERYTHING, **rows: Any) -> list[dict[str, Any]]:
    output = paths[0].with_name("table.jsonl")
    extract_table(paths, output, TableOptions(TableForm.JSONL, occurrences, RowFilter(**rows)))
    return [json.loads(text) for text in output.read_text().splitlines()]


def row_of(rows: list[dict[str, Any]], phrase: str, paraphrase: str, label: str = "NP") -> dict[str, Any]:
    (found,) = [
        row for row in rows if (row["phrase"], row["paraphrase"], row["source_label"]) == (phrase, paraphrase, label)
    ]
    return found


# ---- what is counted ----


def test_a_row_has_counts_sums_and_probabilities(results: Path) -> None:
    found = row_of(extracted([results]), "couch", "sofa")
    assert found == {
        "phrase": "couch",
        "paraphrase": "sofa",
        "source_label": "NP",
        "target_label": "NP",
        "slots": 0,
        "count": 2,
        "posterior_sum": 1.6,
        "forward": round(2.0 / 3.0, 5),  # .9 + .7 + .4 of these and 1 of couch = couch
        "backward": 0.8,  # 2.0 of 2.5
        "relation": "similar",
        "evidence": ["lexicon", "links"],
        "examples": ["a", "b"],
    }


def test_what_was_called_no_more_than_similar_comes_after_the_others(results: Path) -> None:
    found = [(row["paraphrase"], row["relation"]) for row in extracted([results]) if row["phrase"] == "couch"]
    assert found == [("sofa", "equal"), ("couch", ""), ("sofa", "similar")]


def test_the_most_frequent_come_first_and_digits_last(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    twice = [line(str(number), "ten cars", "10 cars", entry((0, 1), (0, 1))) for number in range(3)]
    often = [line(f"o{number}", "sofas", "couches", entry((0, 1), (0, 1))) for number in range(2)]
    path.write_text("\n".join([line("a", "boats", "ships", entry((0, 1), (0, 1))), *often, *twice]))
    assert [row["paraphrase"] for row in extracted([path])] == ["couches", "ships", "10"]


def test_rows_that_tell_nothing_about_words_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    pairs = [
        ("of the", "in a"),
        ("The car", "the car ,"),
        ("long-term", "long term"),
        ("1.5 cars", "15 cars"),
        ("of sofas", "of couches"),
    ]
    path.write_text(
        "\n".join(
            line(str(k), one, other, entry((0, len(one.split())), (0, len(other.split()))))
            for k, (one, other) in enumerate(pairs)
        )
    )
    assert [row["phrase"] for row in extracted([path], telling=True)] == ["of sofas", "1.5 cars"]
    assert len(extracted([path])) == 5


@pytest.mark.parametrize(
    ("phrase", "paraphrase", "label", "relation", "expected"),
    [
        ("the couch", "a sofa", "NP", "similar", True),
        ("said", "says", "VBD", "equal", False),
        ("the federal judge", "the judge", "NP", "more general", False),
        ("could", "would", "MD", "similar", False),
        ("rose", "fell", "VBD", "opposite", False),
        ("nine cars", "ten boats", "NP", "different value", False),
        ("tuesday", "monday", "NNP", "similar", False),
        ("nyc", "manhattan", "NNP", "equal", True),
    ],
)
def test_rows_that_tell_read_as_paraphrases(
    phrase: str, paraphrase: str, label: str, relation: str, expected: bool
) -> None:
    row = TableRow(phrase, paraphrase, label, label, 0, 1, 1.0, 1.0, 1.0, relation, ("links",), ("1",))
    assert is_telling(row) == expected


def test_a_table_with_commas_is_quoted_and_safe(tmp_path: Path) -> None:
    path, table = tmp_path / "results.jsonl", tmp_path / "table.csv"
    odd = line("a", 'x " y', "=1+1 , z", entry((0, 3), (0, 3)))
    path.write_text(odd)
    assert main(["extract", str(path), "-o", str(table), "-q"]) == 0
    written = table.read_bytes()
    assert written.count(b"\r\n") == 2
    assert b'"x "" y","\'=1+1 , z",NP,' in written
    with table.open(newline="") as file:
        header, row = csv.reader(file)
    assert dict(zip(header, row, strict=True))["phrase"] == 'x " y'


@pytest.mark.parametrize(
    ("occurrences", "rows", "expected"),
    [
        (
            OccurrenceFilter(keep_case=True, max_words=1),
            {},
            "Couch=sofa 1 couch=couch 1 couch=sofa 1 couch=sofa 1 settee=sofa 1",
        ),
        (OccurrenceFilter(min_posterior=0.7), {}, "couch=couch 1 couch=sofa 2 the couch=a sofa 1"),
        (OccurrenceFilter(min_posterior=0.8), {}, "couch=couch 1 couch=sofa 1 the couch=a sofa 1"),
        (OccurrenceFilter(max_words=1), {}, "couch=couch 1 couch=sofa 1 couch=sofa 2 settee=sofa 1"),
        (OccurrenceFilter(bars=False), {}, "couch=couch 1 couch=sofa 1 couch=sofa 2 the couch=a sofa 1"),
        (EVERYTHING, {"relations": ("equal",)}, "couch=sofa 1"),
        (EVERYTHING, {"min_count": 2}, "couch=sofa 2"),
    ],
    ids=["case", "posterior at the bound", "posterior below it", "long phrases", "bars", "relation", "rare rows"],
)
def test_what_counts_and_what_is_printed_can_be_chosen(
    results: Path, occurrences: OccurrenceFilter, rows: dict[str, Any], expected: str
) -> None:
    found = [f"{row['phrase']}={row['paraphrase']} {row['count']}" for row in extracted([results], occurrences, **rows)]
    assert " ".join(sorted(found)) == expected


def test_rows_of_different_phrases_keep_their_probabilities(results: Path) -> None:
    rows = extracted([results], different=True)
    assert {row["phrase"] for row in rows} == {"couch", "settee", "the couch"}
    assert row_of(rows, "couch", "sofa")["forward"] == round(2.0 / 3.0, 5)


def test_both_ways_turns_the_relation(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(line("a", "dog", "animal", entry((0, 1), (0, 1), relation="more general")))
    rows = extracted([path], OccurrenceFilter(both_ways=True))
    assert [(row["phrase"], row["relation"]) for row in rows] == [("animal", "more specific"), ("dog", "more general")]


def test_there_are_at_most_five_examples_and_they_are_the_first(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("\n".join(line(str(number), "a", "b", entry((0, 1), (0, 1))) for number in range(9)))
    assert extracted([path])[0]["examples"] == ["0", "1", "2", "3", "4"]


def test_examples_of_several_files_say_which(tmp_path: Path) -> None:
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for path in paths:
        path.write_text(line("1", "a", "b", entry((0, 1), (0, 1))))
    assert extracted(paths)[0]["examples"] == ["one:1", "two:1"]


def test_a_pair_without_a_posterior_counts_as_certain(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    judged, unjudged = (entry((0, 1), (0, 1), confidence=value) for value in (0.25, None))
    path.write_text(line("1", "a", "b", judged, unjudged))
    assert extracted([path])[0]["posterior_sum"] == 1.25


Word = st.sampled_from(["a", "b", "c d", "e\tf"])
Corpus = st.lists(st.tuples(Word, Word, st.sampled_from(["NP", "VP"]), st.integers(0, 100)), min_size=1, max_size=25)


@given(Corpus, st.integers(1, 2000))
@settings(max_examples=20)
def test_the_table_is_what_counting_by_hand_gives(
    tmp_path_factory: pytest.TempPathFactory, corpus: Any, size: int
) -> None:
    folder = tmp_path_factory.mktemp("table")
    path = folder / "results.jsonl"
    texts, masses, whole, turned = [], defaultdict(int), defaultdict(int), defaultdict(int)
    for number, (phrase, paraphrase, label, share) in enumerate(corpus):
        fields = json.loads(line(str(number), "x", "y", entry((0, 1), (0, 1), label, confidence=share / 100)))
        fields["source"]["tokens"], fields["target"]["tokens"] = [phrase], [paraphrase]
        texts.append(json.dumps(fields))
        key = " ".join(phrase.split()), " ".join(paraphrase.split())
        masses[(*key, label)] += share
        whole[key[0]] += share
        turned[key[1]] += share
    path.write_text("\n".join(texts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_counts, "_BATCH_CHARACTERS", size)
        rows = extracted([path])
    assert {
        (row["phrase"], row["paraphrase"], row["source_label"]): round(row["posterior_sum"] * 100) for row in rows
    } == masses
    for row in rows:
        both = sum(mass for key, mass in masses.items() if key[:2] == (row["phrase"], row["paraphrase"]))
        assert row["forward"] == pytest.approx(both / whole[row["phrase"]] if whole[row["phrase"]] else 0, abs=1e-5)
        total = turned[row["paraphrase"]]
        assert row["backward"] == pytest.approx(both / total if total else 0, abs=1e-5)


# ---- patterns ----

BOUGHT = line(
    "a",
    "Ann bought a car",
    "a car was bought by Ann",
    entry((0, 1), (5, 6), "NNP"),
    entry((1, 2), (3, 4), "VBD"),
    entry((2, 4), (0, 2), "NP"),
    entry((1, 4), (0, 4), "VP", supports=[1, 2], is_bar=True),
    entry((0, 4), (0, 6), "S", supports=[0, 3]),
)


def test_slots_that_overlap_make_no_pattern() -> None:
    nested = line(
        "a",
        "very old cars rust",
        "ancient cars rust",
        entry((2, 3), (1, 2), "NNS"),
        entry((0, 3), (0, 2), "NP", supports=[0]),
        entry((0, 4), (0, 3), "S", supports=[1]),
    )
    assert {(" ".join(each.source), each.slots) for each in patterns(read_line(nested, "x", 1), 2, 7)} == {
        ("very old [NP,1]", 1),
        ("very old [NP,1] rust", 1),
        ("[NP,1] rust", 1),
    }


def test_a_pattern_keeps_a_word_on_each_side() -> None:
    bare = line("a", "cars .", "cars !", entry((0, 1), (0, 1), "NNS"), entry((0, 2), (0, 2), "S", supports=[0]))
    assert list(patterns(read_line(bare, "x", 1), 2, 7)) == []


def test_slots_of_a_turned_pattern_count_in_its_own_order(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(BOUGHT)
    rows = extracted([path], OccurrenceFilter(both_ways=True, slots=2))
    assert ("[NP,1] was bought by [NP,2]", "[NP,2] bought [NP,1]") in {
        (row["phrase"], row["paraphrase"]) for row in rows
    }


# ---- files ----

KINDS = ("equal", "similar", "more specific", "more general", "opposite")


@pytest.mark.parametrize("relation", KINDS)
def test_our_own_list_reader_reads_the_ppdb_form(tmp_path: Path, relation: str) -> None:
    path, mined = tmp_path / "results.jsonl", tmp_path / "mined.ppdb"
    path.write_text(line("a", "in a hurry", "rushed", entry((0, 3), (0, 1), relation=relation)))
    assert main(["extract", str(path), "-o", str(mined), "-q"]) == 0
    assert listed_pair(mined.read_text().strip()) == ListedPair("in a hurry", "rushed", relation)
    assert len(load_phrase_lists(mined)) == 2


@pytest.mark.parametrize("relation", PHRASE_RELATIONS)
def test_every_relation_of_a_result_has_a_name_in_the_ppdb_form(tmp_path: Path, relation: str) -> None:
    path, mined = tmp_path / "results.jsonl", tmp_path / "mined.ppdb"
    path.write_text(line("a", "in a hurry", "rushed", entry((0, 3), (0, 1), relation=relation)))
    assert main(["extract", str(path), "-o", str(mined), "-q"]) == 0
    assert mined.read_text().strip().rpartition(" ||| ")[2] in PPDB_RELATIONS


def test_word_pairs_of_the_ppdb_form_are_read_too(results: Path, tmp_path: Path) -> None:
    mined = tmp_path / "mined.ppdb"
    assert main(["extract", str(results), "-o", str(mined), "-q"]) == 0
    found = load_ppdb(mined)
    assert ("couch", "sofa") in found
    assert ("couch", "couch") not in found


def test_different_values_do_not_become_paraphrases(tmp_path: Path) -> None:
    path, mined = tmp_path / "results.jsonl", tmp_path / "mined.ppdb"
    pair = entry((0, 1), (0, 1), relation="different value")
    path.write_text(line("a", "seven", "eight", pair))
    assert main(["extract", str(path), "-o", str(mined), "-q"]) == 0
    assert ("seven", "eight") not in load_ppdb(mined)


def test_what_a_list_cannot_hold_is_left_out_of_it(tmp_path: Path) -> None:
    path, mined = tmp_path / "results.jsonl", tmp_path / "mined.ppdb"
    pairs = [entry((0, 1), (0, 1)), entry((1, 2), (1, 2)), entry((2, 3), (2, 3))]
    path.write_text(line("a", ". a|||b fine", "! c good", *pairs))
    assert main(["extract", str(path), "-o", str(mined), "-q"]) == 0
    assert [text.split(" ||| ")[1] for text in mined.read_text().splitlines()] == ["fine"]


def test_parquet_and_json_lines_hold_the_same(results: Path, tmp_path: Path) -> None:
    import duckdb

    made = tmp_path / "it's.parquet"
    assert main(["extract", str(results), "-o", str(made), "-q", "--all"]) == 0
    read = duckdb.connect().execute("SELECT * FROM read_parquet(?)", [str(made)])
    names = [column[0] for column in read.description]
    assert [dict(zip(names, row, strict=True)) for row in read.fetchall()] == extracted([results])


def test_tab_separated_tables_have_a_heading(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["extract", str(results), "-o", "-", "--different", "--min-count", "2"]) == 0
    captured = capsys.readouterr()
    heading, row = captured.out.splitlines()
    assert dict(zip(heading.split("\t"), row.split("\t"), strict=True))["forward"] == "0.66667"
    assert captured.err == "-: 1 row from 6 phrase pairs in 5 results\n"


def test_the_number_of_processes_does_not_change_a_byte(results: Path, tmp_path: Path) -> None:
    tables = [tmp_path / "one.tsv", tmp_path / "two.tsv"]
    for jobs, table in zip("12", tables, strict=True):
        assert main(["extract", str(results), "-o", str(table), "--jobs", jobs, "-q"]) == 0
    assert tables[0].read_bytes() == tables[1].read_bytes()


# ---- bad input ----


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["extract", *arguments]) in (1, 2)
    return capsys.readouterr().err


def test_results_of_two_settings_are_not_mixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for path, signature in zip(paths, ("forestalign 0.1.0", "forestalign 0.2.0 beam=20"), strict=True):
        path.write_text(line("1", "a", "b", entry((0, 1), (0, 1)), signature=signature))
    table = tmp_path / "table.tsv"
    told = refused(capsys, *map(str, paths), "-o", str(table))
    assert f"{paths[0]}:1 has 'forestalign 0.1.0', {paths[1]}:1 has 'forestalign 0.2.0 beam=20'; --mixed" in told
    assert not table.exists()
    assert main(["extract", *map(str, paths), "-o", str(table), "--mixed", "-q"]) == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (CORPUS[0][:80], "invalid JSON"),
        ('{"id": "1", "source": "foreign"}', "no field 'version'"),
        (with_field(CORPUS[0], ["phrases", 0, "posterior"], "high"), "posterior"),
    ],
)
def test_a_bad_line_is_named_and_leaves_no_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, reason: str
) -> None:
    path, table = tmp_path / "results.jsonl", tmp_path / "table.tsv"
    path.write_text(CORPUS[0] + "\n" + text + "\n")
    told = refused(capsys, str(path), "-o", str(table))
    assert f"{path}:2: " in told
    assert reason in told
    assert [each.name for each in tmp_path.iterdir()] == ["results.jsonl"]


def test_a_disk_that_fills_is_told_and_nothing_is_lost(results: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.tsv"
    table.write_text("what was there\n")

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    command = [sys.executable, "-m", "forestalign", "extract", str(results), "-o", str(table), "--force"]
    run = subprocess.run(command, preexec_fn=small_files, capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.startswith("forestalign extract: the table cannot be put together in ")
    assert table.read_text() == "what was there\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["results.jsonl", "table.tsv"]


def test_the_engine_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=r"forestalign\[tables\]"):
        PhraseTable(tmp_path)


@given(st.lists(st.text("aB \u00a0\t", min_size=1, max_size=4), min_size=1, max_size=5), st.booleans())
def test_a_phrase_has_single_blanks_whatever_white_space_its_tokens_hold(tokens: list[str], keep_case: bool) -> None:
    fields = json.loads(line("a", " ".join("x" * len(tokens)), "x", entry((0, len(tokens)), (0, 1))))
    fields["source"]["tokens"] = tokens
    batch = pair_counts.LineBatch("f", "", 1, (json.dumps(fields),))
    counted = pair_counts.CountLines(OccurrenceFilter(keep_case=keep_case))(batch)
    text = " ".join(" ".join(tokens).split())
    assert [key.phrase for key in counted.counts] == [text if keep_case else text.lower()]


def test_long_work_shows_no_progress_bar_of_the_engine(tmp_path: Path) -> None:
    table = PhraseTable(tmp_path)
    try:
        assert not table._database.execute("SELECT current_setting('enable_progress_bar')").fetchone()[0]
    finally:
        table.close()


def test_a_slot_is_one_whatever_unary_chain_stands_above_its_words() -> None:
    john = [entry((0, 1), (0, 1), "NNP"), entry((0, 1), (0, 1), "NP", supports=[0])]
    text = line("a", "John slept", "John snored", *john, entry((0, 2), (0, 2), "S", supports=[1]))
    found = [(each.source, each.target) for each in patterns(read_line(text, "f", 1), 1, 7)]
    assert found == [(("[NP,1]", "slept"), ("[NP,1]", "snored"))]


def test_rows_of_a_list_are_counted_as_they_are_written(tmp_path: Path) -> None:
    results, listed = tmp_path / "results.jsonl", tmp_path / "mined.ppdb"
    marks = line("a", ", sofa", "; couch", entry((0, 1), (0, 1), ","), entry((1, 2), (1, 2)))
    results.write_text(marks + "\n", encoding="utf-8")
    summary = extract_table([results], listed, TableOptions(TableForm.PPDB))
    assert summary.row_count == len(listed.read_text(encoding="utf-8").splitlines()) == 1
