"""A comparison as a page: both versions side by side, or one above the other where it is narrow; nothing to load.

The page has no program. Its boxes hide kinds of changes by style alone, so that it works wherever it is opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from forestalign.errors import counted
from forestalign.terminal import visible
from forestalign.texts.comparison import Change, ChangeKind, Passage, TextComparison
from forestalign.texts.comparison_text import moved_text, pieces, reasons_text, summary_lines

_CLASSES = {kind: str(kind).partition(" ")[0] for kind in ChangeKind} | {ChangeKind.UNREAD: "unread"}
STYLE = """
.compared { --ink: #1d2733; --soft: #55636f; --line: #d5dce3; --paper: #fff; --gone: #ffd7d5; --come: #ccf2d4;
  --same: #f4f6f8; --alarm: #b3261e; --warn: #8a5a00; --moved: #1f5f99; color-scheme: light dark; color: var(--ink);
  background: var(--paper); font: 16px/1.55 system-ui, sans-serif; }
@media (prefers-color-scheme: dark) {
  .compared { --ink: #e3e9ef; --soft: #a3b0bd; --line: #3a4652; --paper: #161c22; --gone: #6d2b2b; --come: #1f5a35;
    --same: #1e262e; --alarm: #ff9d94; --warn: #f0c060; --moved: #8cc1f2; } }
body.compared { max-width: 74rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
.compared h1 { font-size: 1.35rem; overflow-wrap: anywhere; }
.compared .soft { color: var(--soft); }
.compared .kinds { display: flex; flex-wrap: wrap; gap: .4rem 1rem; padding: .6rem 0; }
.compared .change { border-top: 1px solid var(--line); padding: .6rem 0; }
.compared .about { display: flex; flex-wrap: wrap; gap: .1rem .8rem; font-size: .9rem; color: var(--soft); }
.compared .kind { font-weight: 600; color: var(--ink); }
.compared .meaning .kind { color: var(--alarm); }
.compared .content .kind, .compared .unread .kind { color: var(--warn); }
.compared .moved { color: var(--moved); }
.compared .sides { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1.5rem; }
.compared .sides p { margin: .2rem 0; overflow-wrap: anywhere; }
.compared .same p { color: var(--soft); }
.compared del, .compared ins, .compared mark { text-decoration: none; border-radius: 3px; padding: 0 .15em; }
.compared del { background: var(--gone); text-decoration: line-through; text-decoration-thickness: 1px; }
.compared ins { background: var(--come); }
.compared mark { background: var(--gone); color: inherit; }
.compared .removed .whole { background: var(--gone); } .compared .added .whole { background: var(--come); }
@media (max-width: 44rem) {
  .compared .sides { grid-template-columns: 1fr; }
  .compared .sides .old:not(:empty)::before { content: "old  "; color: var(--soft); font-size: .8rem; }
  .compared .sides .new:not(:empty)::before { content: "new  "; color: var(--soft); font-size: .8rem; } }
""" + "\n".join(
    f".compared:has(#show-{name}:not(:checked)) .change.{name} {{ display: none; }}" for name in _CLASSES.values()
)


def comparison_page(comparison: TextComparison) -> str:
    """The page, whole in itself."""
    title = escape(" → ".join(map(visible, comparison.names)))
    return page(title, comparison_content(comparison))


def page(title: str, content: str) -> str:
    """A document with the style of comparisons; the title is markup already."""
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title}</title>\n<style>{STYLE}</style></head>\n<body class="compared">\n{content}\n</body>\n</html>\n'
    )


def comparison_body(comparison: TextComparison) -> str:
    """What a notebook shows."""
    return f'<style>{STYLE}</style><div class="compared">{comparison_content(comparison)}</div>'


def comparison_content(comparison: TextComparison) -> str:
    """The head, the boxes and the changes."""
    names = " → ".join(map(visible, comparison.names))
    summary = [line.removeprefix(names).removeprefix(": ") for line in summary_lines(comparison)]
    lines = [
        f"<h1>{escape(names)}</h1>",
        *(f'<p class="soft">{escape(line)}</p>' for line in summary),
        f'<div class="kinds">{"".join(_boxes(comparison))}</div>',
        *map(_change, comparison.changes),
    ]
    return "\n".join(lines)


def _boxes(comparison: TextComparison) -> Iterator[str]:
    """A box for each kind that there is; what is the same and did not move is hidden at first."""
    counts = comparison.counts
    for kind, name in _CLASSES.items():
        if counts[kind]:
            checked = "" if kind is ChangeKind.SAME else " checked"
            yield f'<label><input type="checkbox" id="show-{name}"{checked}> {escape(kind)} ({counts[kind]})</label>'


def _change(change: Change) -> str:
    is_still = change.kind is ChangeKind.SAME and not change.is_moved
    name = "same" if is_still else "displaced" if change.kind is ChangeKind.SAME else _CLASSES[change.kind]
    return (
        f'<section class="change {name}"><div class="about">{"".join(_about(change))}</div>'
        f'<div class="sides">{_side(change.old, "old", "del")}{_side(change.new, "new", "ins")}</div></section>'
    )


def _about(change: Change) -> Iterator[str]:
    places = dict.fromkeys(f"line {passage.line}" for passage in (change.old, change.new) if passage)
    yield f"<span>{'' if change.new else 'old '}{' → '.join(places)}</span>"
    if change.kind is not ChangeKind.SAME:
        yield f'<span class="kind">{escape(change.kind)}</span>'
    if change.is_moved:
        yield f'<span class="moved">{moved_text(change)}</span>'
    if change.shape and change.old and change.new:
        told = f"{change.shape}: {change.old.sentence_count} to {counted(change.new.sentence_count, 'sentence')}"
        yield f"<span>{told}</span>"
    if change.reasons:
        yield f'<span class="reasons">{escape(reasons_text(change))}</span>'
    if change.error:
        yield f"<span>{escape(visible(change.error))}</span>"


def _side(passage: Passage | None, name: str, tag: str) -> str:
    if passage is None:
        return f'<p class="{name}"></p>'
    text = "".join(
        f"<{tag}>{escape(visible(text))}</{tag}>" if is_marked else escape(visible(text))
        for text, is_marked in pieces(passage.text, passage.marks)
    )
    return f'<p class="{name}"><span class="whole">{text}</span></p>'
