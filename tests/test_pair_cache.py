"""Entries of the cache are those of the files that settings name now, and nothing made up is believed."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forestalign.aligner import Aligner
from forestalign.config import AlignConfig
from forestalign.errors import InputError
from forestalign.formats.pairs import PairRecord
from forestalign.pair_cache import FORMAT, PairCache, cache_corpus, is_cached, read_cached
from forestalign.phrases.stage import PreparedPair
from forestalign.tokens import Sentence
from tests.builders.hand_forests import hand_forest, hand_links

CONFIG = AlignConfig()
BEYOND = 10**400


def record(source: str, target: str) -> PairRecord:
    return PairRecord(1, "1", Sentence.from_words(source.split()), Sentence.from_words(target.split()))


def entry(folder: Path, *links: tuple[int, int]) -> Path:
    pair = PreparedPair(hand_forest("(NP (DT a) (NN b))"), hand_forest("(NP (DT c) (NN d))"), hand_links(*links))
    return PairCache(folder, CONFIG).write(pair)


def rewrite(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change an entry as somebody would who knows its format."""
    content = json.loads(zlib.decompress(path.read_bytes()[4:]))
    change(content)
    data = json.dumps(content).encode()
    path.write_bytes(zlib.crc32(data).to_bytes(4, "big") + zlib.compress(data))


@pytest.mark.parametrize("setting", ["ppdb", "vectors", "crf_model", "parser_model"])
def test_a_file_of_the_same_name_and_other_contents_has_entries_of_its_own(tmp_path: Path, setting: str) -> None:
    named = tmp_path / "named"
    file = named / "weights" if setting == "parser_model" else named
    file.parent.mkdir(exist_ok=True)
    config, pair = CONFIG.replace(**{setting: str(named)}), record("he ran", "he fled")
    file.write_text("one")
    before = PairCache(tmp_path, config).path(pair)
    file.write_text("two")
    assert PairCache(tmp_path, config).path(pair) != before
    file.write_text("one")
    assert PairCache(tmp_path, config).path(pair) == before


def test_another_list_of_the_same_name_gives_its_own_links(tmp_path: Path) -> None:
    path, pair = tmp_path / "list.txt", record("the zorp slept", "the blick slept")
    config = CONFIG.replace(ppdb=str(path), links="meteor")
    found = []
    for text in ("zorp\tblick\n", "dog\thound\n"):
        path.write_text(text)
        ((_, entry),) = cache_corpus([pair], PairCache(tmp_path, config))
        assert isinstance(entry, Path)
        found.append(read_cached(entry).words.pairs)
    assert found == [((0, 0), (1, 1), (2, 2)), ((0, 0), (2, 2))]


def test_the_content_of_another_pair_is_not_believed(tmp_path: Path) -> None:
    path, other = entry(tmp_path), PairCache(tmp_path, CONFIG).path(record("he ran", "he fled"))
    other.parent.mkdir(exist_ok=True)
    other.write_bytes(path.read_bytes())
    assert is_cached(path)
    assert not is_cached(other)
    with pytest.raises(InputError, match=f"{other.name}: is not a cached pair: it holds another pair"):
        read_cached(other)


def test_an_entry_of_other_settings_is_not_believed(tmp_path: Path) -> None:
    path = entry(tmp_path)
    rewrite(path, lambda content: content.update(settings="0" * 64))
    with pytest.raises(InputError, match="of other settings"):
        read_cached(path)


@pytest.mark.parametrize(
    "link",
    [
        [0.0, 0, 0.5, ""],
        [0, 0.5, 0.5, ""],
        [-1, 0, 0.5, ""],
        [2, 0, 0.5, ""],
        [BEYOND, 0, 0.5, ""],
        [True, 0, 0.5, ""],
        [0, 0, -0.5, ""],
        [0, 0, 1e7, ""],
        [0, 0, math.nan, ""],
        [0, 0, math.inf, ""],
        [0, 0, BEYOND, ""],
        [0, 0, "0.5", ""],
        [0, 0, None, ""],
        [0, 0, 0.5, 7],
        [0, 0, 0.5, "x" * 1000],
        [0, 0, 0.5],
        5,
    ],
    ids=lambda link: str(link)[:40],
)
def test_a_link_that_cannot_be_is_not_believed(tmp_path: Path, link: object) -> None:
    path = entry(tmp_path, (0, 0))
    rewrite(path, lambda content: content.update(words=[link]))
    assert not is_cached(path)
    with pytest.raises(InputError, match=f"{path.name}: is not a cached pair"):
        read_cached(path)


def test_links_out_of_order_are_not_believed(tmp_path: Path) -> None:
    path = entry(tmp_path, (0, 0), (1, 1))
    rewrite(path, lambda content: content["words"].reverse())
    with pytest.raises(InputError, match="out of order"):
        read_cached(path)


def changed_forest(content: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> None:
    forest = json.loads(content["source"])
    change(forest)
    content["source"] = json.dumps(forest)


@pytest.mark.parametrize(
    "change",
    [
        lambda forest: forest["nodes"][0].update(head=BEYOND),
        lambda forest: forest["nodes"][0].update(head=0.0),
        lambda forest: forest["nodes"][0].update(log_prob=1e308),
        lambda forest: forest["nodes"][0].update(log_prob=BEYOND),
        lambda forest: forest["nodes"][0].update(trees=[10**9]),
        lambda forest: forest["nodes"][0].update(trees=[-1]),
        lambda forest: [node.update(marginal=-0.5) for node in forest["nodes"]],
        lambda forest: [node.update(marginal=7.0) for node in forest["nodes"]],
        lambda forest: forest["edges"][0].update(tails=[BEYOND]),
        lambda forest: forest.update(roots=[BEYOND]),
        lambda forest: forest.update(offsets=[[-3, -2], [2, 3]]),
    ],
)
def test_a_forest_that_cannot_be_is_not_believed(tmp_path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = entry(tmp_path)
    rewrite(path, lambda content: changed_forest(content, change))
    with pytest.raises(InputError, match=f"{path.name}: is not a cached pair"):
        read_cached(path)


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 200_000,
        json.dumps({"format": FORMAT, "source": "[" * 100_000, "target": "", "middle": [None, None]}).encode(),
        b'{"format": NaN}',
        b"[]",
        b" " * (1 << 27),
    ],
    ids=["depth", "depth inside", "nan", "list", "size"],
)
def test_bombs_are_not_believed(tmp_path: Path, data: bytes) -> None:
    path = entry(tmp_path)
    path.write_bytes(zlib.crc32(data).to_bytes(4, "big") + zlib.compress(data))
    assert not is_cached(path)
    with pytest.raises(InputError, match=f"{path.name}: is not a cached pair"):
        read_cached(path)


def test_the_signature_says_what_the_files_hold(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    weights = tmp_path / "model" / "weights"
    weights.write_text("one")
    config = CONFIG.replace(parser_model=str(tmp_path / "model"))
    before = Aligner(config).signature
    weights.write_text("two")
    assert Aligner(config).signature != before
    assert Aligner(CONFIG).signature.count(" ") == 2
