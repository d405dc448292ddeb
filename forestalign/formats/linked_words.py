"""Linked pairs of sentences as JSON lines: tokens, links with the stage that made each, and sentence scores."""

from __future__ import annotations

import json
from dataclasses import asdict

from forestalign.lexicon import load_vectors
from forestalign.words import sentence_scores
from forestalign.words.linking import LinkedPair


def format_linked(pair: LinkedPair, id: str) -> str:
    """One line, as `forestalign words --json` prints it."""
    scores = sentence_scores(pair.source, pair.target, pair.words, load_vectors().idf)
    record = {
        "id": id,
        "source": pair.source.words,
        "target": pair.target.words,
        "links": [
            {"source": link.source, "target": link.target, "score": round(link.score, 4), "stage": link.stage}
            for link in pair.words
        ],
        "scores": {name: round(value, 4) for name, value in asdict(scores).items()},
    }
    if pair.words.reader:
        record["reader"] = pair.words.reader
    return json.dumps(record, ensure_ascii=False)
