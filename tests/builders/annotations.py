"""An annotated pair, as a file has it, and how one is saved to a store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from forestalign.evaluation.annotation_store import AnnotationStore

SOURCE = (
    "(S (NP (DT The) (JJ old) (NN keeper)) "
    "(VP (VBD fed) (NP (DT the) (JJ hungry) (NNS seals)) (ADVP (RB twice))) (. .))"
)
TARGET = (
    "(S (NP (DT The) (JJ hungry) (NNS seals)) (VP (VBD were) (VP (VBN fed) (ADVP (RB twice)) "
    "(PP (IN by) (NP (DT the) (NN keeper))))) (. .))"
)
KEEPERS = [[0, 3, "NP", False], [7, 9, "NP", False]]
SEALS = [[4, 7, "NP", False], [0, 3, "NP", False]]
FED = [[3, 4, "VBD", False], [4, 5, "VBN", False]]
ROOTS = [[0, 9, "S", False], [0, 10, "S", False]]


def side(tree: str) -> dict[str, Any]:
    words = [part.split(")")[0].split(" ")[1] for part in tree.split("(") if ")" in part]
    return {"text": " ".join(words[:-1]) + words[-1], "tokens": words, "tree": tree}


def record(**changes: Any) -> dict[str, Any]:
    fields = {
        "id": "p1",
        "phenomena": ["voice"],
        "source": side(SOURCE),
        "target": side(TARGET),
        "annotators": {
            "pa1": {"pairs": [ROOTS, KEEPERS, SEALS]},
            "pa2": {"pairs": [ROOTS, KEEPERS, SEALS, FED]},
            "pa3": {"pairs": [ROOTS, SEALS]},
        },
    }
    return fields | changes


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in records))
    return path


def answer(name: str, *pairs: Any, **changes: Any) -> dict[str, Any]:
    return record(phenomena=[], annotators={name: {"pairs": list(pairs)}}, **changes)


def send(store: AnnotationStore, action: str, page: str = "one", **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(store(json.dumps({"action": action, "page": page, **fields}).encode()))
    return found


def save(store: AnnotationStore, pair: dict[str, Any], page: str = "one", replace: bool = False) -> None:
    send(store, "save", page, pair=pair, replace=replace)
