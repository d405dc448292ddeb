"""Files of the CRF aligners: models, journals of training runs, analyses; and gold as the CRF needs it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.errors import InputError, UsageError
from forestalign.tokens import Sentence
from forestalign.words.crf import FAMILIES, feature_space, load_crf
from forestalign.words.crf.analysis_store import LARGEST, AnalysisStore
from forestalign.words.crf.crf_aligner import CrfModel, ModelCard, format_model, read_model, write_model
from forestalign.words.crf.loss import Costs, gold_of, gold_path
from forestalign.words.crf.training import Journal
from tests.builders.bad_files import with_field

SPACE = feature_space(("string", "distortion"), 1, 1)
SPANS = feature_space(("string", "distortion"), 3, 3)


def model(**changes: Any) -> CrfModel:
    weights = np.linspace(-1.0, 1.0, len(SPACE))
    card = ModelCard(("gold.jsonl",), 12, "l2 1.0", "a note")
    return replace(CrfModel(SPACE, weights, -weights, card=card), **changes)


# ---- models ----


def test_a_model_survives_its_file(tmp_path: Path) -> None:
    write_model(model(), tmp_path / "m.json")
    found = read_model(tmp_path / "m.json")
    assert found.space.names == SPACE.names
    assert found.card == model().card
    assert (found.combination, found.threshold) == (model().combination, model().threshold)
    np.testing.assert_allclose(found.forward, model().forward, rtol=1e-4)
    np.testing.assert_allclose(found.backward, model().backward, rtol=1e-4)


def test_writing_what_was_read_gives_the_same_bytes(tmp_path: Path) -> None:
    write_model(model(), tmp_path / "m.json")
    assert format_model(read_model(tmp_path / "m.json")) == (tmp_path / "m.json").read_text(encoding="utf-8")


def test_weights_of_nought_are_left_out() -> None:
    document = json.loads(format_model(model(backward=np.zeros(len(SPACE)))))
    assert document["weights"]["t2s"] == {}


def test_a_model_of_one_direction_is_written_as_one(tmp_path: Path) -> None:
    write_model(model(backward=None), tmp_path / "m.json")
    found = read_model(tmp_path / "m.json")
    assert found.backward is None
    assert found.allows("s2t")
    assert not found.allows("t2s")
    assert not found.allows("union")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"forward": None, "backward": None}, "a CRF model needs weights of at least one direction"),
        ({"combination": "guess"}, "combination is 'guess'; expected one of s2t, t2s, posterior"),
        ({"backward": None, "combination": "union"}, "union needs the direction t2s, which the model does not have"),
        ({"forward": None, "combination": "s2t"}, "s2t needs the direction s2t, which the model does not have"),
    ],
)
def test_models_that_cannot_align_are_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        model(**changes)
    assert str(caught.value).startswith(told)


def test_weights_move_to_another_space_by_name() -> None:
    larger = feature_space(("string", "tags", "distortion"), 1, 1)
    moved = model().weights_in(larger, "s2t")
    own = dict(zip(SPACE.names, model().forward, strict=True))
    assert all(weight == own.get(name, 0.0) for name, weight in zip(larger.names, moved, strict=True))
    kept = model().weights_in(larger, "s2t", np.full(len(larger), 7.0))
    assert {weight for name, weight in zip(larger.names, kept, strict=True) if name not in own} == {7.0}


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (["format"], "other", "is not a CRF model: expected an object whose format is 'forestalign-crf'"),
        (["version"], 99, "CRF model of version 99; expected"),
        (["families"], ["string", "smell"], "families are ['string', 'smell']; known are"),
        (["weights", "s2t"], {"no such feature": 1.0}, "no feature is called 'no such feature'"),
        (["weights"], {}, "a CRF model needs weights of at least one direction"),
        (["combination"], "guess", "combination is 'guess'"),
        (["threshold"], "high", "threshold is 'high'; expected a number from 0 to 1"),
        (["source_max"], 0, "source_max is 0; expected a whole number from 1 to 9"),
        (["card"], {}, "is not a CRF model: there is no field 'data'"),
    ],
)
def test_a_bad_model_file_is_refused_with_its_fault(
    tmp_path: Path, place: list[str | int], value: object, told: str
) -> None:
    path = tmp_path / "m.json"
    path.write_text(with_field(format_model(model()), place, value), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_model(path)
    assert told in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "not json"])
def test_another_file_is_no_model(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(InputError, match="is not a CRF model"):
        read_model(tmp_path / "m.json")


@pytest.mark.parametrize("name", ["token", "phrase"])
def test_a_model_without_the_family_does_not_look_at_the_encoder(tmp_path: Path, name: str) -> None:
    """Files of earlier versions, of which the family is unknown, align as before."""
    own = load_crf(name).model
    space = feature_space(
        tuple(family for family in FAMILIES if family != "encoder"), own.space.source_max, own.space.target_max, True
    )
    older = replace(own, space=space, forward=own.weights_in(space, "s2t"), backward=own.weights_in(space, "t2s"))
    write_model(older, tmp_path / "m.json")
    aligner = load_crf(str(tmp_path / "m.json"))
    assert not aligner.model.space.is_contextual
    texts = ["He", "bought", "a", "small", "car", "."], ["A", "little", "car", "was", "purchased", "by", "him", "."]
    plain = [Sentence.from_words(words) for words in texts]
    random = np.random.default_rng(0)
    encoded = [replace(each, context_vectors=random.normal(size=(len(each), 4)).astype(np.float32)) for each in plain]
    np.testing.assert_array_equal(aligner.posteriors(*plain), aligner.posteriors(*encoded))
    assert aligner.align(*plain).pairs


# ---- journals ----


POINTS = [np.array([float(k), 1.0]) for k in range(4)]


def test_a_journal_answers_what_was_asked_before(tmp_path: Path) -> None:
    path = tmp_path / "m.journal"
    with Journal(path, "run", 3, resume=False) as journal:
        for k, point in enumerate(POINTS):
            assert journal.recall(point) is None
            journal.record(point, float(k), 2 * point)
    with Journal(path, "run", 3, resume=True) as journal:
        assert journal.recalled == 4
        for k, point in enumerate(POINTS):
            answer = journal.recall(point)
            assert answer is not None
            assert answer[0] == float(k)
            np.testing.assert_array_equal(answer[1], 2 * point)
        assert journal.recall(POINTS[0]) is None


def test_a_record_that_was_cut_off_is_computed_again(tmp_path: Path) -> None:
    path = tmp_path / "m.journal"
    with Journal(path, "run", 2, resume=False) as journal:
        for point in POINTS:
            journal.record(point, 0.0, point)
    path.write_bytes(path.read_bytes()[:-5])
    with Journal(path, "run", 2, resume=True) as journal:
        assert journal.recalled == 3


def test_without_resume_a_journal_begins_anew(tmp_path: Path) -> None:
    for _ in range(2):
        with Journal(tmp_path / "m.journal", "run", 2, resume=False) as journal:
            assert journal.recalled == 0
            journal.record(POINTS[0], 0.0, POINTS[0])


def test_the_journal_of_another_run_is_refused(tmp_path: Path) -> None:
    with Journal(tmp_path / "m.journal", "run", 2, resume=False):
        pass
    with pytest.raises(UsageError, match="belongs to a run with other data or settings; this one is other"):
        Journal(tmp_path / "m.journal", "other", 2, resume=True)


def test_other_questions_are_noticed(tmp_path: Path) -> None:
    with Journal(tmp_path / "m.journal", "run", 2, resume=False) as journal:
        journal.record(POINTS[0], 0.0, POINTS[0])
    with (
        Journal(tmp_path / "m.journal", "run", 2, resume=True) as journal,
        pytest.raises(InputError, match="the journal holds another run"),
    ):
        journal.recall(POINTS[1])


# ---- analyses ----


class CapitalParser:
    """Tags words by their first letter, and counts what it was asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def parse(self, sentences: Sequence[Sentence]) -> list[Any]:
        self.asked += [len(sentence) for sentence in sentences]
        return [
            SimpleNamespace(
                sentence=sentence.with_analysis(
                    ["NNP" if word[0].isupper() else "NN" for word in sentence.words],
                    [word.lower() for word in sentence.words],
                )
            )
            for sentence in sentences
        ]


def test_no_sentence_is_parsed_twice(tmp_path: Path) -> None:
    path, sentences = tmp_path / "tags.jsonl", [("Rome", "is", "old"), ("yes",), ("yes",)]
    first = CapitalParser()
    AnalysisStore(path).analyse(sentences, first)
    assert first.asked == [1, 3]
    again, store = CapitalParser(), AnalysisStore(path)
    store.analyse([*sentences, ("no",)], again)
    assert again.asked == [1]
    assert store.sentence(("Rome", "is", "old")).tags == ("NNP", "NN", "NN")


class EncodingParser(CapitalParser):
    """Gives the words' lengths as vectors too; a sentence of one word has none."""

    def parse(self, sentences: Sequence[Sentence]) -> list[Any]:
        parses = super().parse(sentences)
        for parse in parses:
            if len(parse.sentence) > 1:
                rows = np.array([[len(word), 0.5] for word in parse.sentence.words], np.float32)
                parse.sentence = replace(parse.sentence, context_vectors=rows)
        return parses


def test_vectors_survive_the_file_and_are_not_made_twice(tmp_path: Path) -> None:
    path, sentences = tmp_path / "tags.jsonl", [("Rome", "is", "old"), ("yes",)]
    AnalysisStore(path, "one").analyse(sentences, EncodingParser())
    again, store = EncodingParser(), AnalysisStore(path, "one")
    store.analyse(sentences, again)
    assert not again.asked
    found = store.sentence(("Rome", "is", "old"))
    assert found.tags == ("NNP", "NN", "NN")
    assert found.context_vectors is not None
    assert found.context_vectors.tolist() == [[4.0, 0.5], [2.0, 0.5], [3.0, 0.5]]
    assert found.context_vectors.dtype == np.float32
    assert store.sentence(("yes",)).context_vectors is None


@pytest.mark.parametrize("former", ["", "other"])
def test_vectors_that_are_missing_or_of_another_encoder_are_made(tmp_path: Path, former: str) -> None:
    path, sentences = tmp_path / "tags.jsonl", [("Rome", "is", "old")]
    AnalysisStore(path, former).analyse(sentences, EncodingParser())
    for asked in ([3], []):
        parser, store = EncodingParser(), AnalysisStore(path, "one")
        store.analyse(sentences, parser)
        assert parser.asked == asked
        assert store.sentence(sentences[0]).context_vectors is not None


def test_where_vectors_are_not_asked_for_any_analysis_will_do(tmp_path: Path) -> None:
    path, sentences = tmp_path / "tags.jsonl", [("Rome", "is", "old")]
    AnalysisStore(path, "one").analyse(sentences, EncodingParser())
    content, parser, store = path.read_bytes(), EncodingParser(), AnalysisStore(path)
    store.analyse(sentences, parser)
    assert not parser.asked
    assert store.sentence(sentences[0]).context_vectors is None
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("middle", "told"),
    [
        ('"AAAA"', "buffer size must be a multiple of element size"),
        ('"AAAAAAAA"', "3 numbers are not the vectors of 2 words"),
        ('""', "0 numbers are not the vectors of 2 words"),
        ('"AHwAAA=="', "a number of the vectors is not finite"),
        ('"?"', ""),
        ("7", ""),
        (None, "'middle'"),
    ],
)
def test_bad_vectors_are_refused_by_line(tmp_path: Path, middle: str | None, told: str) -> None:
    path = tmp_path / "tags.jsonl"
    vectors = "" if middle is None else f', "middle": {middle}'
    path.write_text(f'{{"words": ["a", "b"], "tags": ["", ""], "lemmas": ["", ""], "encoder": "one"{vectors}}}\n')
    with pytest.raises(InputError) as caught:
        AnalysisStore(path, "one")
    assert str(caught.value).startswith(f"{path}:1: expected vectors of 2 words in 16 bits: {told}")
    AnalysisStore(path, "other")


def test_a_sentence_that_is_not_known_is_plain() -> None:
    assert AnalysisStore().sentence(("a", "b")) == Sentence.from_words(["a", "b"])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{}", "expected an object with words, tags and lemmas: 'words'"),
        ("oops", "expected an object with words, tags and lemmas"),
        ('{"words": ["a"], "tags": [], "lemmas": ["a"]}', "words: 1, tags: 0, lemmas: 1; expected as many of each"),
    ],
)
def test_bad_analyses_are_refused_by_line(tmp_path: Path, line: str, told: str) -> None:
    path = tmp_path / "tags.jsonl"
    path.write_text('{"words": ["a"], "tags": ["X"], "lemmas": ["a"]}\n' + line + "\n")
    with pytest.raises(InputError) as caught:
        AnalysisStore(path)
    assert str(caught.value).startswith(f"{path}:2: {told}")


# ---- gold ----


def test_a_word_with_several_links_may_take_any_of_them() -> None:
    gold = gold_of([(0, 0), (0, 2)], 2, 3, SPACE, Costs(miss=3.0, false=2.0, wrong=1.0))
    assert gold.right_segments[0, 0, :, 0].tolist() == [True, False, True]
    assert gold.right_nulls.tolist() == [False, True]
    assert gold.cost_segments[0, 0, :, 0].tolist() == [0.0, 1.0, 0.0]
    assert gold.cost_segments[1, 0, :, 0].tolist() == [2.0, 2.0, 2.0]
    assert gold.cost_nulls.tolist() == [3.0, 0.0]


def test_without_links_only_null_is_right() -> None:
    gold = gold_of([], 2, 2, SPACE, Costs())
    assert not gold.right_segments.any()
    assert gold.right_nulls.all()


def test_complete_blocks_are_one_segment() -> None:
    linked = np.zeros((3, 3), bool)
    linked[:2, 1:] = True
    path = gold_path(linked, 3, 3)
    assert tuple(path[0]) == (0, 2, 1, 2)
    gold = gold_of([(0, 1), (0, 2), (1, 1), (1, 2)], 3, 3, SPANS, Costs())
    assert gold.right_segments.sum() == 1
    assert gold.right_segments[0, 1, 1, 1]
    assert gold.right_nulls.tolist() == [False, False, True]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), unique=True))
def test_the_gold_path_covers_every_source_word_once_with_complete_blocks(links: list[tuple[int, int]]) -> None:
    linked = np.zeros((4, 4), bool)
    for link in links:
        linked[link] = True
    covered = 0
    for begin, length, target, target_length in gold_path(linked, 3, 3):
        assert begin == covered
        covered += max(length, 1)
        assert linked[begin : begin + length, target : target + target_length].all() or not target_length
    assert covered == 4


def test_a_file_of_analyses_beyond_all_measure_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "tags.jsonl"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)  # no block of it is on the disk
    with pytest.raises(InputError, match=r"tags\.jsonl: it has 4,294,967,297 bytes; expected analyses of at most"):
        AnalysisStore(path)
