"""The file of analyses: what is kept comes back, nothing is parsed twice, and what is no such file is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forestalign.errors import InputError
from forestalign.learning import analyses
from forestalign.learning.analyses import analyse_all, read_analyses, write_analyses
from forestalign.words import Analysis, Entity
from tests.builders.word_pairs import analysed


@pytest.fixture(scope="module")
def known() -> dict[tuple[str, ...], Analysis]:
    names = [Entity(0, 2, "PERSON")]
    first = analysed("John/NNP/john/2/compound Smith/NNP/smith/3/nsubj sleeps/VBZ/sleep/0/root", names)
    second = analysed("\"/`` Ça/FW \"/''")
    vectors = np.arange(3 * 384, dtype=np.float32).reshape(3, 384) / 8  # of the shipped encoder's width
    first = replace(first, sentence=replace(first.sentence, vectors=vectors, context_vectors=-vectors))
    return {each.sentence.words: each for each in (first, second)}


def test_analyses_survive_the_file(tmp_path: Path, known: dict[tuple[str, ...], Analysis]) -> None:
    write_analyses(tmp_path / "analyses.npz", known)
    again = read_analyses(tmp_path / "analyses.npz")
    assert again == known
    for one, other in zip(known.values(), again.values(), strict=True):
        np.testing.assert_equal(other.sentence.vectors, one.sentence.vectors)
        np.testing.assert_equal(other.sentence.context_vectors, one.sentence.context_vectors)


def test_known_sentences_are_not_parsed_again_and_others_are_added(
    tmp_path: Path, known: dict[tuple[str, ...], Analysis], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "analyses.npz"
    write_analyses(path, known)
    fresh = analyse_all([*known, ("Yes", "."), ("Yes", ".")], path)
    assert fresh.keys() == known.keys() | {("Yes", ".")}
    monkeypatch.setattr(analyses, "load_parser", None)
    again = analyse_all(fresh, path)
    assert again == fresh
    vectors = [each["Yes", "."].sentence.context_vectors for each in (fresh, again)]
    np.testing.assert_array_equal(*vectors)


def test_analyses_by_another_parser_are_not_taken(
    tmp_path: Path, known: dict[tuple[str, ...], Analysis], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_analyses(tmp_path / "analyses.npz", known)
    monkeypatch.setattr(analyses, "parser_hash", lambda: "a newer one")
    assert read_analyses(tmp_path / "analyses.npz") == {}


@pytest.mark.parametrize("change", [b"nothing of the kind", b""])
def test_a_file_that_holds_no_analyses_is_named(tmp_path: Path, change: bytes) -> None:
    (tmp_path / "analyses.npz").write_bytes(change)
    with pytest.raises(InputError, match=r"analyses\.npz"):
        read_analyses(tmp_path / "analyses.npz")


def test_too_few_vectors_and_heads_are_noticed(tmp_path: Path, known: dict[tuple[str, ...], Analysis]) -> None:
    path = tmp_path / "analyses.npz"
    write_analyses(path, known)
    arrays = dict(np.load(path))
    np.savez(path, **arrays | {"vectors": arrays["vectors"][:2]})
    with pytest.raises(InputError, match="vectors of 2 words; expected more"):
        read_analyses(path)
    records = arrays["records"].tobytes().replace(b'"heads":[1,2,-1]', b'"heads":[1,2]')
    np.savez(path, **arrays | {"records": np.frombuffer(records, np.uint8)})
    with pytest.raises(InputError, match="2 heads for 3 tokens"):
        read_analyses(path)
