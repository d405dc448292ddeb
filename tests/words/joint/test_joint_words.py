"""Word links with the joint reader: its layers, its weights, and the shipped one from text to links."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import forestalign
from forestalign.arrays import Float32Array
from forestalign.config import AlignConfig
from forestalign.errors import GrammarError
from forestalign.learning.joint_weights import JointExample, fit_joint, joint_probabilities
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.words import WordAligner
from forestalign.words.joint.joint_layers import LAYERS, beside, joint_layers
from forestalign.words.joint.joint_reader import JointScores
from forestalign.words.joint.joint_weighing import format_joint_weights, read_joint_weights
from forestalign.words.learned.matching import KINDS, MatchingModel, align_best
from forestalign.words.learned.sides import Lexicon
from forestalign.words.learned.word_evidence import Evidence, gather
from tests.builders.commands import runner
from tests.builders.word_pairs import plain

SOURCE = plain("they/PRP gave/VBD up/RP smoking/NN ./.")
TARGET = plain("they/PRP quit/VBD smoking/NN cigars/NNS ./.")


def lexicon() -> Lexicon:
    return Lexicon(load_wordnet(), load_vectors())


def random_scores(rows: int, columns: int) -> JointScores:
    draw = np.random.default_rng(rows * 31 + columns)
    links, source, target = (draw.normal(0, 3, size) for size in ((rows, columns), rows, columns))
    return JointScores(links.astype(np.float32), source.astype(np.float32), target.astype(np.float32))


def test_layers_of_the_swapped_pair_are_transposed() -> None:
    known = np.random.default_rng(4).random((5, 7)).astype(np.float32)
    scores = random_scores(5, 7)
    layers = joint_layers(known, scores)
    other = joint_layers(known.T.copy(), scores.mirrored())
    assert len(layers) == len(LAYERS)
    np.testing.assert_allclose(layers, other.transpose(0, 2, 1), atol=1e-5)


def test_a_second_partner_beside_the_first_is_seen() -> None:
    belief = np.zeros((3, 4), dtype=np.float32)
    belief[1, 2] = 0.9
    more, less = beside(belief)
    assert more[1, 1] == more[1, 3] == more[0, 2] == more[2, 2] == np.float32(0.9)
    assert more[1, 2] == 0.0
    assert less.max() == 0.0
    belief[0, 1] = 0.5
    assert beside(belief)[1][1, 1] == np.float32(0.5)


def test_weights_survive_their_file(tmp_path: Path) -> None:
    weights = np.random.default_rng(2).normal(size=(len(KINDS), len(LAYERS) + 1)).astype(np.float32).round(3)
    path = tmp_path / "weights.tsv"
    path.write_text(format_joint_weights(MatchingModel((weights,))))
    np.testing.assert_allclose(read_joint_weights(path).passes[0], weights, atol=1e-4)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:-1]))
    with pytest.raises(GrammarError, match="no weight for"):
        read_joint_weights(path)
    path.write_text("\n".join([*lines, lines[-1]]))
    with pytest.raises(GrammarError, match=f"weights.tsv:{len(lines) + 1}.*once"):
        read_joint_weights(path)
    path.write_text("\n".join([*lines[:-1], lines[-1].rpartition("\t")[0] + "\tinf"]))
    with pytest.raises(GrammarError, match=f"weights.tsv:{len(lines)}.*inf"):
        read_joint_weights(path)


def test_fitted_weights_follow_the_reader() -> None:
    """Gold is what the reader says and the aligner does not know: the weights must go with the reader."""
    evidence, draw = gather(SOURCE, TARGET, lexicon()), np.random.default_rng(6)
    items = []
    for _ in range(30):
        gold = (draw.random((5, 5)) < 0.2).astype(np.float32)
        scores = JointScores(8 * gold - 4, np.zeros(5, np.float32), np.zeros(5, np.float32))
        known = np.full((5, 5), 0.3, dtype=np.float32)
        items.append(JointExample(joint_layers(known, scores), evidence, gold, 1.0))
    model = fit_joint(items[:20])
    found = [(joint_probabilities(item, model) > 0.5) == (item.gold > 0) for item in items[20:]]
    assert np.mean(found) > 0.97


@pytest.mark.parametrize("swapped", [False, True])
def test_the_weigher_has_the_last_word_and_is_asked_in_one_order(swapped: bool) -> None:
    seen: list[tuple[tuple[str, ...], tuple[str, ...]]] = []

    def weigh(
        source: tuple[str, ...], target: tuple[str, ...], evidence: Evidence, known: Float32Array
    ) -> Float32Array:
        seen.append((tuple(source), tuple(target)))
        table = np.zeros_like(known)
        table[1, 2] = 0.9
        return table

    pair = (TARGET, SOURCE) if swapped else (SOURCE, TARGET)
    found = align_best(*pair, lexicon(), weigh=weigh)
    assert seen == [(SOURCE.sentence.words, TARGET.sentence.words)]  # in the order of the words
    assert ((2, 1) if swapped else (1, 2)) in found.pairs
    assert found.reader == "joint"


def test_without_a_joint_reading_all_stays_as_it_was() -> None:
    alone = align_best(SOURCE, TARGET, lexicon())
    fallen_back = align_best(SOURCE, TARGET, lexicon(), weigh=lambda *_: None)
    assert [(link, link.score) for link in alone] == [(link, link.score) for link in fallen_back]
    assert (alone.reader, fallen_back.reader) == ("", "single")
    assert fallen_back.mirrored().reader == "single"


# ---- the shipped reader ----


def test_the_shipped_reader_is_mirrored_to_the_last_bit() -> None:
    aligner = WordAligner(AlignConfig(reader="joint"))
    one, other = aligner.candidates(SOURCE, TARGET), aligner.candidates(TARGET, SOURCE).mirrored()
    assert [(link, link.score) for link in one] == [(link, link.score) for link in other]
    assert one.reader == "joint"
    assert one.pairs != WordAligner(AlignConfig()).candidates(SOURCE, TARGET).pairs


@pytest.mark.heavy
def test_a_pair_that_is_too_long_is_read_alone_and_says_so() -> None:
    aligner = forestalign.load(reader="joint", nbest=1)
    words = ["antidisestablishmentarianism"] * 45
    short = aligner.align("They gave up.", "They quit.")
    long = aligner.align(words, words)
    assert short.phrases.statistics.reader == short.words.reader == "joint"
    assert long.phrases.statistics.reader == long.words.reader == "single"


@pytest.mark.heavy
def test_links_are_the_same_bytes_for_any_number_of_jobs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pairs = tmp_path / "pairs.tsv"
    texts = ("They gave up smoking.\tThey quit smoking.", "He is crazy about her.\tHe loves her.", "No.\tA longer one.")
    pairs.write_text("\n".join(texts * 4) + "\n")
    run = runner(capfd)
    one, two = (run("words", str(pairs), "--reader", "joint", "--json", "--jobs", jobs).out for jobs in ("1", "2"))
    assert one == two
    assert [json.loads(line)["reader"] for line in one.splitlines()] == ["joint"] * 12


@pytest.mark.heavy
def test_profile_fast_never_reads_jointly_and_says_that_the_option_does_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fast = WordAligner(AlignConfig(profile="fast", reader="joint")).candidates(SOURCE, TARGET)
    best = WordAligner(AlignConfig(profile="best")).candidates(SOURCE, TARGET)
    assert [(link, link.score) for link in fast] == [(link, link.score) for link in best]
    assert fast.reader == best.reader == ""
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("They quit.\tThey gave up.\n")
    run = runner(capfd)
    for command in ("words", "align"):
        found = run(command, str(pairs), "--profile", "fast", "--reader", "joint")
        assert "--reader does nothing with --profile fast" in found.err
