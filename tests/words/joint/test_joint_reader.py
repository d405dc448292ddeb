"""The joint reader: a tiny one, trained here for seconds, is symmetric, the same in every batch, and mirrored."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forestalign.errors import GrammarError
from forestalign.words.joint.joint_reader import GRAPH, JointReader, JointScores
from tests.builders.places import ROOT

pytestmark = pytest.mark.heavy

NOUNS = ("cat", "dog", "house", "river", "song", "tree")
VERBS = {"saw": "spotted", "left": "quit", "made": "built"}
MARKS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")
PIECES = (*MARKS, "the", "a", ".", *NOUNS, *VERBS, *VERBS.values())

Pair = tuple[tuple[str, ...], tuple[str, ...]]


def made_pair(rng: random.Random) -> tuple[Pair, frozenset[tuple[int, int]]]:
    """`the cat saw a dog .` beside `a dog the cat spotted .`: each article goes with its noun."""
    (one, other), verb = rng.sample(NOUNS, 2), rng.choice(sorted(VERBS))
    source = ("the", one, verb, rng.choice(("the", "a")), other, ".")
    target = (source[3], other, "the", one, VERBS[verb], ".")
    return (source, target), frozenset({(0, 2), (1, 3), (2, 4), (3, 0), (4, 1), (5, 5)})


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path, Path]:
    """A reader, and its folders in 8 and in 32 bits."""
    import torch
    from encoder_training.gold_links import gold_pair
    from encoder_training.joint_reader import JointReader as Trained
    from encoder_training.joint_reader import ReaderSize, joint_loss, read_pairs
    from export_joint import export

    from forestalign.parsers.word_pieces import WordPieces

    folder = tmp_path_factory.mktemp("joint")
    (folder / "pieces.txt").write_text("".join(f"{piece}\n" for piece in PIECES))
    pieces, rng = WordPieces(folder / "pieces.txt"), random.Random(1)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    reader = Trained(ReaderSize(len(PIECES), 32, 2, 2, 64, 512, 13))
    optimizer = torch.optim.Adam(reader.parameters(), 3e-3)
    for _ in range(100):
        batch = [made_pair(rng) for _ in range(16)]
        linked = [gold_pair(*pair, links, frozenset()) for pair, links in batch]
        loss = joint_loss(read_pairs(reader, pieces, [pair for pair, _ in batch]), linked, "both")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    export(reader.eval(), folder / "pieces.txt", folder / "small", folder / "float")
    return reader, folder / "small", folder / "float"


def logits(scores: JointScores) -> np.ndarray:
    return np.concatenate([scores.links.ravel(), scores.source_none, scores.target_none])


def pairs_of_unlike_length() -> list[Pair]:
    rng = random.Random(5)
    found = [made_pair(rng)[0] for _ in range(3)]
    return [*found, (("the", "cat"), found[0][1] * 4), (found[1][0] * 7, ("Dog",)), (("song",), ("song",))]


def test_it_learns_links_that_need_both_sentences(trained: tuple[Any, Path, Path]) -> None:
    reader, rng = JointReader(trained[1]), random.Random(77)
    wrong = 0
    for _ in range(40):
        pair, links = made_pair(rng)
        found = {(int(i), int(j)) for i, j in np.argwhere(reader.read([pair])[0].links > 0)}
        wrong += len(found ^ links)
    assert wrong <= 12  # of 240: two articles in another order are told apart by their nouns alone


def test_swapped_sentences_give_the_mirrored_bits(trained: tuple[Any, Path, Path]) -> None:
    reader = JointReader(trained[1])
    for source, target in pairs_of_unlike_length():
        one, other = reader.read([(source, target)])[0], reader.read([(target, source)])[0].mirrored()
        assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in JointScores.__slots__)


def test_the_graph_itself_knows_no_order(trained: tuple[Any, Path, Path]) -> None:
    """Without the order in which pairs are read, the same comes out but for the rounding of sums."""
    import torch
    from encoder_training.joint_reader import read_pairs

    from forestalign.parsers.word_pieces import WordPieces

    pieces = WordPieces(trained[1] / "pieces.txt")
    for source, target in pairs_of_unlike_length():
        with torch.no_grad():
            one, left, right = read_pairs(trained[0], pieces, [(source, target)])
            other, below, above = read_pairs(trained[0], pieces, [(target, source)])
        assert torch.allclose(one, other.mT, atol=1e-4)
        assert torch.allclose(left, above, atol=1e-4)
        assert torch.allclose(right, below, atol=1e-4)


def test_a_pair_is_the_same_among_pairs_of_other_lengths(trained: tuple[Any, Path, Path]) -> None:
    reader, pairs = JointReader(trained[1]), pairs_of_unlike_length()
    together = reader.read(pairs)
    for pair, scores in zip(pairs, together, strict=True):
        assert scores.links.shape == (len(pair[0]), len(pair[1]))
        assert np.allclose(logits(reader.read([pair])[0]), logits(scores), atol=0.01)
    assert reader.read([]) == []


def test_eight_bits_are_near_32(trained: tuple[Any, Path, Path]) -> None:
    small, exact = JointReader(trained[1]), JointReader(trained[2])
    assert (trained[1] / GRAPH).stat().st_size < (trained[2] / GRAPH).stat().st_size
    for pair in pairs_of_unlike_length():
        one, other = small.read([pair])[0], exact.read([pair])[0]
        assert np.abs(logits(one) - logits(other)).mean() < 0.2


def test_the_exported_graph_is_the_trained_model(trained: tuple[Any, Path, Path]) -> None:
    import torch
    from encoder_training.joint_reader import read_pairs

    from forestalign.parsers.word_pieces import WordPieces

    pair = made_pair(random.Random(3))[0]
    ordered = (min(pair), max(pair))
    with torch.no_grad():
        links, _, _ = read_pairs(trained[0], WordPieces(trained[1] / "pieces.txt"), [ordered])
    found = JointReader(trained[2]).read([ordered])[0].links
    assert np.allclose(links[0].numpy(), found, atol=0.02)  # 16 bits


def test_what_is_too_long_or_empty_does_not_fit(trained: tuple[Any, Path, Path]) -> None:
    reader = JointReader(trained[1])
    assert reader.fits(("cat",) * 255, ("dog",) * 255)
    assert not reader.fits(("cat",) * 255, ("dog",) * 256)
    assert not reader.fits((), ("dog",))


def test_a_folder_without_a_reader_is_refused(trained: tuple[Any, Path, Path], tmp_path: Path) -> None:
    with pytest.raises(GrammarError, match="export_joint"):
        JointReader(tmp_path)
    (tmp_path / "pieces.txt").write_text("\n".join(PIECES))
    (tmp_path / GRAPH).write_bytes((ROOT / "grammar/parser/parser.onnx").read_bytes())
    with pytest.raises(GrammarError, match="expected links"):
        JointReader(tmp_path)


def test_a_graph_comes_back_as_the_weights_that_it_was_made_of(trained: tuple[Any, Path, Path], tmp_path: Path) -> None:
    import torch
    from encoder_training.exported_reader import load_exported_reader
    from export_joint import export

    back = load_exported_reader(trained[2] / GRAPH).state_dict()
    for name, value in trained[0].state_dict().items():
        shift = (back[name] - value).mean() if name == "mix" else 0.0  # only differences of shares count
        assert torch.allclose(back[name] - shift, value, atol=1e-5), name
    export(load_exported_reader(trained[1] / GRAPH).eval(), trained[1] / "pieces.txt", tmp_path)
    for pair in pairs_of_unlike_length():
        one, other = (JointReader(folder).read([pair])[0] for folder in (trained[1], tmp_path))
        assert np.allclose(logits(one), logits(other), atol=0.02)
    with pytest.raises(GrammarError, match="not the graph of a joint reader"):
        load_exported_reader(ROOT / "grammar/parser/parser.onnx")


def test_an_open_cell_says_nothing_and_a_row_without_another_link_neither() -> None:
    import torch
    from encoder_training.gold_links import gold_pair
    from encoder_training.joint_reader import joint_loss

    pair = gold_pair(("a", "b"), ("c", "d"), frozenset({(0, 0)}), frozenset({(1, 1)}))
    for kind in ("binary", "softmax", "both"):
        losses = []
        for cell, none in ((-9.0, 0.0), (9.0, 0.0), (9.0, 7.0)):
            nones = torch.zeros(1, 2), torch.tensor([[0.0, none]])
            losses.append(joint_loss((torch.tensor([[[3.0, -3.0], [-3.0, cell]]]), *nones), [pair], kind).item())
        assert losses[0] == losses[1] == losses[2]


def test_a_reader_is_scored_as_it_was_trained_and_as_it_was_exported(
    trained: tuple[Any, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import score_joint
    from encoder_training.joint_reader import save_reader

    from forestalign.formats.word_links import GOLD, GoldPair, LinkAnnotation, format_link_line

    rng = random.Random(3)
    made = [made_pair(rng) for _ in range(8)]
    golds = [GoldPair("1", (LinkAnnotation(GOLD, *pair, tuple(sorted(links))),)) for pair, links in made]
    (tmp_path / "gold.jsonl").write_text("".join(format_link_line(gold) + "\n" for gold in golds))
    save_reader(trained[0], tmp_path / "model")
    shutil.copy(trained[1] / "pieces.txt", tmp_path / "model")
    given = ["--whole", str(tmp_path / "gold.jsonl"), "--every", str(tmp_path / "gold.jsonl")]
    score_joint.main([str(tmp_path / "model"), str(trained[1]), *given])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [name for _, name, *_ in lines] == ["gold"] * 4
    assert all(float(value) > 90 for _, _, *values in lines for value in values)
