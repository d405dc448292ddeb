"""The viewer's page: one HTML file that needs no network and runs nothing but its own script.

Sentences come from anywhere, so they are data to the page and never markup: they sit in a JSON block in which no tag
can end or begin, the script writes them as text only, and the content policy admits the one script and the one style
sheet by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from forestalign.errors import InputError
from forestalign.formats.codec import read_phrases
from forestalign.outputs import packed_file
from forestalign.phrases.result.alignment import Alignment, PhrasePair
from forestalign.terminal import visible
from forestalign.view.scene import Choice, DrawnTree, Scene, SceneNode, SceneSide, scene_of

SCRIPTS = (
    "base.js",
    "beside.js",
    "draw.js",
    "minimap.js",
    "compact.js",
    "list.js",
    "edit.js",
    "save.js",
    "statistics.js",
    "app.js",
)  # in the order in which they build


def write_page(results: Sequence[str | Path], output: str | Path) -> int:
    """Write the page for one file of results, or for two systems side by side; returns the number of pairs."""
    systems = [read_results(path) for path in results]
    keys = dict.fromkeys(key for system in systems for key in system)
    pairs = [[system.get(key) for system in systems] for key in keys]
    page = page_html(pairs, system_names(results))
    with packed_file(output) as file:
        file.write(page.encode())
    return len(pairs)


def read_results(path: str | Path) -> dict[str, Alignment]:
    """The results of a file by id; an id that occurs twice raises InputError."""
    results: dict[str, Alignment] = {}
    for number, result in enumerate(read_phrases(path), start=1):
        if result.id in results:
            raise InputError(path, number, f"the id {result.id!r} occurs twice; ids tell pairs apart")
        results[result.id] = result
    return results


def system_names(results: Sequence[str | Path]) -> tuple[str, ...]:
    """What tells the files apart: their stems, or their paths where the stems are equal."""
    stems = [Path(path).name.split(".")[0] for path in results]
    return tuple(stems if len(set(stems)) == len(stems) else (str(path) for path in results))


class Service(NamedTuple):
    """The server behind a page; with a token the page may save annotations there."""

    token: str = ""


def page_html(
    pairs: Iterable[Sequence[Alignment | None]], systems: Sequence[str], *, service: Service | None = None
) -> str:
    """The whole page. Each pair has one result per system, None where a system has none."""
    views = [[scene_fields(scene_of(result)) if result else None for result in pair] for pair in pairs]
    listed = [{"id": _first_id(pair), "views": pair} for pair in views]
    data = {
        "systems": list(systems),
        "serves": service is not None,
        "token": service.token if service else "",
        "key": hashlib.sha256(json.dumps([each["id"] for each in listed]).encode()).hexdigest()[:16],
        "pairs": listed,
    }
    style = _asset("style.css")
    script = '"use strict";\n(() => {\n' + "".join(map(_asset, SCRIPTS)) + "})();\n"
    return Template(_asset("page.html")).substitute(
        policy=html.escape(policy(script, style, serves=service is not None)),
        title=html.escape(visible(" and ".join(systems)) + " - forestalign" if systems else "forestalign"),
        style=style,
        script=script,
        data=safe_json(data),
    )


def _first_id(views: Sequence[Mapping[str, Any] | None]) -> str:
    return next((str(view["id"]) for view in views if view), "")


def policy(script: str, style: str, *, serves: bool) -> str:
    """The content policy: this script, this style, and for a served page its own server."""
    parts = [
        "default-src 'none'",
        f"script-src '{_hash(script)}'",
        f"style-src '{_hash(style)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join([*parts, "connect-src 'self'"] if serves else parts)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def safe_json(data: Any) -> str:
    """JSON that holds no character which could begin or end anything in HTML."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "backslashreplace").decode()


def _asset(name: str) -> str:
    return resources.files("forestalign.view").joinpath("assets", name).read_text(encoding="utf-8")


# ---- the page's data; the order of fields in lists is that of `assets/base.js` ----


def scene_fields(scene: Scene) -> dict[str, Any]:
    """A scene as the page's script reads it."""
    return {
        "id": scene.id,
        "source": _side_fields(scene.source),
        "target": _side_fields(scene.target),
        "words": [[word.source, word.target, round(word.score, 4)] for word in scene.words],
        "choices": [_choice_fields(choice) for choice in scene.choices],
        "forest": {"source": scene.source_other, "target": scene.target_other},
        "signature": scene.signature,
        "verdict": scene.verdict,
        "headline": scene.headline,
    }


def _side_fields(side: SceneSide) -> dict[str, Any]:
    return {"text": side.text, "tokens": side.tokens, "spaces": [int(space) for space in side.spaces]}


def _choice_fields(choice: Choice) -> dict[str, Any]:
    found = choice.phrases
    return {
        "source": list(_node_fields(choice.source)),
        "target": list(_node_fields(choice.target)),
        "trees": {"source": _tree_fields(choice.source_tree), "target": _tree_fields(choice.target_tree)},
        "phrases": [_phrase_fields(*each) for each in zip(found.pairs, choice.shown, strict=True)],
        "nulls": {"source": found.source_nulls, "target": found.target_nulls},
        "scattered": found.joined,
        "extended": choice.extended,
        "logScore": _round(found.log_score),
        "reachedRoot": found.reached_root,
        "completed": found.completed,
    }


def _tree_fields(tree: DrawnTree) -> dict[str, Any]:
    return {"brackets": tree.brackets, "bars": tree.bars}


def _node_fields(nodes: Sequence[SceneNode]) -> Iterator[list[Any]]:
    for node in nodes:
        yield [*node[:6], int(node.is_null), int(node.in_null), *node[8:]]


def _round(value: float) -> float | None:
    """JSON knows no infinity; the page shows null as one."""
    return round(value, 4) if math.isfinite(value) else None


def _phrase_fields(pair: PhrasePair, is_shown: bool) -> list[Any]:
    return [
        pair.source,
        pair.target,
        pair.source_label,
        pair.target_label,
        int(pair.compositional),
        _round(pair.log_prob),
        pair.supports,
        int(pair.is_bar),
        int(pair.inverted),
        pair.confidence if pair.confidence is None else _round(pair.confidence),
        pair.relation,
        pair.evidence,
        pair.reason,
        int(is_shown),
    ]
