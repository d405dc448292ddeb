"""What teachers say about unlabelled text, on disk: folders of numbered parts, so that work broken off goes on.

`texts.json` names the sentences or pairs in order, with the labels and tags of the numbers in the parts. A part holds
some of them: the places and the probabilities that are not negligible, in 8 bits. A part is whole or not there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from forestalign.arrays import AnyArray, Float32Array

STEPS = 255  # of a probability
PART = 256  # sentences or pairs
TEXTS = "texts.json"

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sparse:
    """A table of probabilities: its size, the places [n, dimensions] and their probabilities [n]."""

    size: tuple[int, ...]
    places: AnyArray
    shares: AnyArray

    def dense(self) -> Float32Array:
        """The table, with nothing where nothing was kept."""
        table = np.zeros(self.size, dtype=np.float32)
        table[tuple(self.places.T)] = self.shares
        return table


def sparse(table: AnyArray) -> Sparse:
    """What a byte can hold of a table."""
    steps = np.rint(table * STEPS).astype(np.uint8)
    places = np.argwhere(steps)
    return Sparse(table.shape, places, steps[tuple(places.T)].astype(np.float32) / STEPS)


@dataclass(frozen=True, slots=True)
class Taught:
    """A sentence with span marginals [words, words, labels] and tags [words, tags], or a pair with its links."""

    texts: tuple[Words, ...]
    tables: tuple[Sparse, ...]


def write_parts(
    folder: Path, texts: Sequence[tuple[Words, ...]], names: dict[str, list[str]], teach: Callable[[Any], list[Any]]
) -> int:
    """Teach what is not there yet, part by part; gives the number of new parts.

    teach: from some of the texts to their tables, a tuple for each
    """
    folder.mkdir(parents=True, exist_ok=True)
    heading = json.dumps({"texts": texts, **names})
    known = folder / TEXTS
    if known.exists() and known.read_text(encoding="utf-8") != heading:
        raise SystemExit(f"{known}: made from other texts or by another teacher; expected the same, or a new folder")
    known.write_text(heading, encoding="utf-8")
    made = 0
    for number in range(-(-len(texts) // PART)):
        path = folder / f"{number:05d}.npz"
        if not path.exists():
            _write_part(path, teach(texts[number * PART : (number + 1) * PART]))
            made += 1
    return made


def _write_part(path: Path, tables: list[tuple[AnyArray, ...]]) -> None:
    arrays: dict[str, AnyArray] = {}
    for k, column in enumerate(zip(*tables, strict=True)):
        found = [sparse(table) for table in column]
        arrays[f"size_{k}"] = np.array([each.size for each in found], dtype=np.uint16)
        arrays[f"count_{k}"] = np.array([len(each.shares) for each in found], dtype=np.uint32)
        arrays[f"places_{k}"] = np.concatenate([each.places for each in found]).astype(np.uint16)
        arrays[f"shares_{k}"] = np.rint(np.concatenate([each.shares for each in found]) * STEPS).astype(np.uint8)
    temporary = path.with_suffix(".tmp")
    with temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    temporary.replace(path)


def read_names(folder: Path, name: str) -> list[str]:
    """The labels or tags of the numbers in the parts."""
    return list(json.loads((folder / TEXTS).read_text(encoding="utf-8"))[name])


def read_parts(folder: Path) -> Iterator[Taught]:
    """All that was taught so far."""
    texts = [tuple(map(tuple, each)) for each in json.loads((folder / TEXTS).read_text(encoding="utf-8"))["texts"]]
    for path in sorted(folder.glob("*.npz")):
        first = int(path.stem) * PART
        with np.load(path, allow_pickle=False) as arrays:
            columns = [_column(arrays, k) for k in range(sum(name.startswith("size_") for name in arrays.files))]
        for number, tables in enumerate(zip(*columns, strict=True)):
            yield Taught(texts[first + number], tables)


def _column(arrays: Any, k: int) -> list[Sparse]:
    ends = np.cumsum(arrays[f"count_{k}"])
    places, shares = arrays[f"places_{k}"], arrays[f"shares_{k}"].astype(np.float32) / STEPS
    begins = ends - arrays[f"count_{k}"]
    sizes = arrays[f"size_{k}"]
    return [
        Sparse(tuple(map(int, size)), places[begin:end], shares[begin:end])
        for size, begin, end in zip(sizes, begins, ends, strict=True)
    ]
