"""Memory does not grow with the input: every cache has a bound, and what is forgotten is found again, the same."""

from __future__ import annotations

import ctypes
import gc
import importlib
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import forestalign
from forestalign import aligner as aligner_module
from forestalign import grammar
from forestalign.aligner import Aligner
from forestalign.batch import run as batch_run
from forestalign.batch.workers import Job, Outcome
from forestalign.config import AlignConfig
from forestalign.grammar import head_rules, read_head_rules
from forestalign.lexicon import wordnet
from forestalign.words import similarity
from forestalign.words.crf.feature_space import transition_features
from forestalign.words.similarity import Sources, WordSimilarity


def caching_functions() -> Iterator[tuple[str, Any]]:
    for module in pkgutil.walk_packages(forestalign.__path__, "forestalign."):
        if module.name.endswith("__main__") or ".parsers.benepar" in module.name:
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if hasattr(value, "cache_parameters") and value.__module__ == module.name:
                yield f"{module.name}.{name}", value


def is_bounded(function: Callable[..., object]) -> bool:
    """A bound on the number of results, or arguments that have few values."""
    if function.cache_parameters()["maxsize"] is not None:  # type: ignore[attr-defined]
        return True
    return all(parameter.annotation == "bool" for parameter in inspect.signature(function).parameters.values())


def test_every_cache_of_a_function_is_bounded() -> None:
    found = dict(caching_functions())
    assert len(found) > 20
    unbounded = [name for name, function in found.items() if not is_bounded(function)]
    assert unbounded == []


def test_heads_of_productions_are_kept_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "MOST_PRODUCTIONS", 10)
    table = read_head_rules(grammar.grammar_root() / "head_rules.tsv")
    asked = [("NP", ("DT", *["JJ"] * k, "NN", *["PP"] * (k % 3))) for k in range(50)]
    first = [table.child(*production) for production in asked]
    assert len(table._known) <= 10
    assert first == [head_rules().child(*production) for production in asked] == [k + 1 for k in range(50)]


def test_similarities_of_words_are_kept_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "CACHE_SIZE", 10)
    words = WordSimilarity(Sources())
    assert [words.words(f"w{k}", f"w{k}") for k in range(50)] == [1.0] * 50
    assert len(words._known) <= 10


def test_tables_of_transitions_are_few_and_the_same_when_made_again() -> None:
    before = transition_features(5).copy()
    for count in range(1, 60):
        transition_features(count)
    assert transition_features.cache_info().currsize <= 8
    assert np.array_equal(transition_features(5), before)


@pytest.mark.parametrize("lemma", ["dog", "run", "zzz"])
def test_entries_of_the_lexicon_are_the_same_when_read_again(monkeypatch: pytest.MonkeyPatch, lemma: str) -> None:
    from forestalign.lexicon import load_wordnet, wordnet

    monkeypatch.setattr(wordnet, "MOST_ENTRIES", 5)
    known = load_wordnet()
    before = known.entry(lemma)
    for other in ("cat", "tree", "house", "go", "be", "large", "small", "king"):
        known.entry(other)
    assert known.entry(lemma) == before


class MallocUse(ctypes.Structure):
    """`struct mallinfo2` of the GNU C library."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"
    )]  # fmt: skip


def bytes_in_use() -> int:
    """Bytes that compiled code holds; Python's own small objects come from elsewhere."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallinfo2"):
        pytest.skip("needs mallinfo2 of the GNU C library")
    library.mallinfo2.restype = MallocUse
    gc.collect()
    use = library.mallinfo2()
    return int(use.uordblks + use.hblkhd)


def bytes_kept_by(work: Callable[[], object], rounds: int = 20) -> float:
    """How much each round leaves behind, once everything that is kept on purpose is there."""
    for _ in range(5):
        work()
    before = bytes_in_use()
    for _ in range(rounds):
        work()
    return (bytes_in_use() - before) / rounds


@pytest.mark.heavy
def test_memory_that_is_not_given_back_is_seen() -> None:
    kept: list[np.ndarray[Any, Any]] = []
    assert bytes_kept_by(lambda: kept.append(np.zeros(2000))) > 10_000
    assert bytes_kept_by(lambda: np.zeros(2000)) < 500


@pytest.mark.parametrize("links", ["sultan", "crf"])
@pytest.mark.heavy
def test_a_pair_leaves_no_memory_behind(links: str) -> None:
    aligner = Aligner(AlignConfig(links=links))
    source = "The old man bought a red car near the river , and his wife sold the house in the village before spring ."
    target = "The elderly man purchased a red automobile by the river , and his wife sold the village house in winter ."
    assert bytes_kept_by(lambda: aligner.align(source, target).to_json()) < 3000  # a table over all spans has more


def test_caches_are_full_after_some_hundred_pairs() -> None:
    """A cache that is still filling after thousands of pairs looks like memory that leaks."""
    sizes = {name: function.cache_parameters()["maxsize"] or 0 for name, function in caching_functions()}
    assert {name: size for name, size in sizes.items() if size > 1 << 13} == {}
    assert max(wordnet.MOST_ENTRIES, grammar.MOST_PRODUCTIONS) <= 1 << 13


HOLES = """
import numpy as np
from pathlib import Path
from forestalign import machine

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))

rows = [(np.ones(12_000), bytearray(600)) for _ in range(2000)]  # 96 KB each, from the heap, and a piece between
kept = [piece for _, piece in rows]
del rows
full = resident()
machine.give_back()
print(bool(machine.free_bytes()), full - resident())
"""


def test_memory_with_holes_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, check=True)
    is_known, kilobytes = done.stdout.split()
    if is_known == "False":
        pytest.skip("needs mallinfo2 of the GNU C library")
    assert int(kilobytes) > 150_000


def test_every_chunk_of_every_command_gives_memory_back(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(batch_run, "give_back", lambda: calls.append("asked"))
    handle = batch_run.LoadGuarded(lambda: lambda jobs: [Outcome.of(job, "x") for job in jobs], 0.0)()
    handle([Job(1, "1", "a"), Job(2, "2", "b")])
    assert calls == ["asked"]


def test_every_batch_gives_memory_back(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(aligner_module, "give_back", lambda: calls.append("asked"))
    Aligner(AlignConfig()).align("She left.", "She went.")
    assert calls == ["asked"]
