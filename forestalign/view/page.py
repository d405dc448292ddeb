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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from forestalign.errors import InputError
from forestalign.formats.phrases import PhraseEntry, PhraseRecord, read_phrases
from forestalign.view.scene import Choice, Scene, SceneNode, SceneSide, scene_of


def write_page(results: Sequence[str | Path], output: str | Path) -> int:
    """Write the page for one file of results, or for two systems side by side; returns the number of pairs."""
    systems = [_records(path) for path in results]
    keys = dict.fromkeys(key for system in systems for key in system)
    pairs = [[system.get(key) for system in systems] for key in keys]
    page = page_html(pairs, system_names(results))
    Path(output).write_text(page, encoding="utf-8")
    return len(pairs)


def _records(path: str | Path) -> dict[str, PhraseRecord]:
    records: dict[str, PhraseRecord] = {}
    for number, record in enumerate(read_phrases(path), start=1):
        if record.id in records:
            raise InputError(path, number, f"the id {record.id!r} occurs twice; ids tell pairs apart")
        records[record.id] = record
    return records


def system_names(results: Sequence[str | Path]) -> tuple[str, ...]:
    """What tells the files apart: their stems, or their paths where the stems are equal."""
    stems = [Path(path).name.split(".")[0] for path in results]
    return tuple(stems if len(set(stems)) == len(stems) else (str(path) for path in results))


def page_html(pairs: Iterable[Sequence[PhraseRecord | None]], systems: Sequence[str], *, serves: bool = False) -> str:
    """The whole page. Each pair has one record a system, None where a system has none."""
    views = [[scene_fields(scene_of(record)) if record else None for record in pair] for pair in pairs]
    data = {
        "systems": list(systems),
        "serves": serves,
        "pairs": [{"id": _first_id(pair), "views": pair} for pair in views],
    }
    style = _asset("style.css")
    script = '"use strict";\n(() => {\n' + _asset("draw.js") + _asset("app.js") + "})();\n"
    return Template(_asset("page.html")).substitute(
        policy=html.escape(policy(script, style, serves=serves)),
        title=html.escape(" and ".join(systems) + " - forestalign" if systems else "forestalign"),
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


# ---- the page's data; the order of fields in lists is that of `assets/app.js` ----


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
    }


def _side_fields(side: SceneSide) -> dict[str, Any]:
    return {"text": side.text, "tokens": side.tokens, "spaces": [int(space) for space in side.spaces]}


def _choice_fields(choice: Choice) -> dict[str, Any]:
    return {
        "source": list(_node_fields(choice.source)),
        "target": list(_node_fields(choice.target)),
        "phrases": [_phrase_fields(entry) for entry in choice.phrases],
        "nulls": {"source": choice.nulls.source, "target": choice.nulls.target},
        "logScore": round(choice.log_score, 4),
        "reachedRoot": choice.reached_root,
        "completed": choice.completed,
    }


def _node_fields(nodes: Sequence[SceneNode]) -> Iterator[list[Any]]:
    for node in nodes:
        yield [*node[:6], int(node.is_null), int(node.in_null)]


def _phrase_fields(entry: PhraseEntry) -> list[Any]:
    return [
        entry.source,
        entry.target,
        entry.source_label,
        entry.target_label,
        int(entry.compositional),
        round(entry.score, 4),
        entry.supports,
        int(entry.bar),
        int(entry.inverted),
        entry.posterior,
    ]
