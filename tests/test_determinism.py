"""The same input gives the same bytes: for any number of jobs and of BLAS threads, alone or among other sentences."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import forestalign
from forestalign import Aligner
from forestalign.grammar import grammar_root
from forestalign.machine import with_one_thread
from forestalign.parsers.embedded import EmbeddedModel
from forestalign.tokens import tokenize
from tests.builders.plain_pairs import LONG, PAIRS


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return forestalign.load()


@pytest.mark.heavy
def test_any_number_of_jobs_gives_the_same_bytes(aligner: Aligner) -> None:
    one = [result.to_json() for result in aligner.pipe(PAIRS, jobs=1)]
    assert one == [result.to_json() for result in aligner.pipe(PAIRS, jobs=2)]
    assert one == [aligner.align(*pair, id=str(number)).to_json() for number, pair in enumerate(PAIRS, start=1)]


def test_the_library_gives_the_same_bytes_for_any_number_of_blas_threads(aligner: Aligner) -> None:
    results = []
    for count in (1, 2, 4):
        with threadpool_limits(limits=count, user_api="blas"):
            results.append(aligner.align(*LONG).to_json())
    assert results[0] == results[1] == results[2]


@pytest.mark.heavy
@pytest.mark.parametrize(
    "command",
    [["align", "--json"], ["words", "--scores"], ["words", "--links", "crf", "--scores"], ["similarity", "--json"]],
    ids=" ".join,
)
def test_a_command_gives_the_same_bytes_for_any_number_of_blas_threads(tmp_path: Path, command: list[str]) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS))
    outputs = []
    for options, threads in ((["-j", "1"], "1"), (["-j", "1"], "2"), (["-j", "2"], "2")):
        arguments = [sys.executable, "-m", "forestalign", *command, str(pairs), *options]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads}
        outputs.append(subprocess.run(arguments, capture_output=True, env=environment, check=True).stdout)
    assert outputs[0] == outputs[1] == outputs[2]
    assert outputs[0].count(b"\n") == len(PAIRS)


def test_a_sentence_has_the_same_chart_alone_and_in_any_batch() -> None:
    model = EmbeddedModel(grammar_root() / "parser")
    texts = [*LONG, "Stop!", "He left.", "It cost $ 3.50 (or less).", "Ünïcödé 東京 works, too; does it not?"]
    sentences = [tokenize(text) for text in texts]
    alone = [model.charts([sentence])[0] for sentence in sentences]
    for batch in ([0, 1, 2, 3, 4, 5], [5, 0, 2], [2, 2, 1]):
        for number, (sentence, chart) in zip(batch, model.charts([sentences[k] for k in batch]), strict=True):
            assert np.array_equal(chart.potentials, alone[number][1].potentials)
            assert np.array_equal(chart.tag_scores, alone[number][1].tag_scores)
            assert np.array_equal(sentence.vectors, alone[number][0].vectors)
            assert np.array_equal(sentence.context_vectors, alone[number][0].context_vectors)


def test_the_users_number_of_threads_comes_back_after_an_error() -> None:
    def fails() -> None:
        raise ValueError

    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ValueError):  # noqa: PT011
            with_one_thread(fails)()
        assert blas_threads() == before
