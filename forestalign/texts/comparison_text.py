"""A comparison as text for a terminal: a line that sums up, then what changed, words marked as `git diff` marks them.

Without colours, words that are gone stand in `[-` and `-]`, words that came in `{+` and `+}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby

from forestalign.errors import counted
from forestalign.terminal import BOLD, CYAN, DIM, GREEN, RED, YELLOW, Paint, visible
from forestalign.texts.comparison import Change, ChangeKind, Passage, TextComparison

_COLOURS = {ChangeKind.MEANING: RED, ChangeKind.CONTENT: YELLOW, ChangeKind.UNREAD: YELLOW}
_OLD, _NEW = ("[-", "-]", RED), ("{+", "+}", GREEN)
_SHOWN_REASONS = 6


def render_comparison(comparison: TextComparison, colour: bool = False) -> str:
    """The report: what stayed where it was is only counted."""
    return "\n".join([*summary_lines(comparison, colour), *change_lines(comparison.changes, colour)])


def summary_lines(comparison: TextComparison, colour: bool = False) -> list[str]:
    """How many sentences there are and what became of them, and what was left alone."""
    sizes = [len(parts.sentences) for parts in (comparison.old, comparison.new)]
    found = comparison.counts
    kinds = [*map(str, ChangeKind), "moved", "split", "merged"]
    told = ", ".join(f"{found[kind]} {kind}" for kind in kinds if found[kind])
    names = " → ".join(map(visible, comparison.names))
    lines = [
        Paint(colour)(BOLD, names)
        + f": {counted(sizes[0], 'sentence')} → {counted(sizes[1], 'sentence')}"
        + (f"; {told}" if told else "")
    ]
    left = [parts.left_alone for parts in (comparison.old, comparison.new)]
    if any(left):
        is_same = (comparison.old.tables, comparison.old.code) == (comparison.new.tables, comparison.new.code)
        told = left[0] if left[0] == left[1] else " → ".join(part or "none" for part in left)
        state = "the same in both" if is_same else "not the same in both"
        lines.append(Paint(colour)(DIM, f"left alone, {state}: {told}"))
    return lines


def change_lines(changes: Sequence[Change], colour: bool = False) -> Iterator[str]:
    """Some lines for each passage that changed or moved; passages that moved together unchanged are told together."""
    numbered = enumerate(changes)
    for key, group in groupby(numbered, key=lambda item: _block(*item)):
        listed = [change for _, change in group]
        if key is not None and len(listed) > 1:
            yield from _moved_block(listed, colour)
        else:
            for change in listed:
                yield from _change_lines(change, colour)


def _block(number: int, change: Change) -> tuple[int, int] | None:
    """A key that equal sentences share if they moved side by side; None for any other change."""
    if change.kind is not ChangeKind.SAME or not change.is_moved or change.old is None:
        return None
    return number - change.old.sentences[0], 0


def _moved_block(changes: Sequence[Change], colour: bool) -> Iterator[str]:
    first, last = changes[0], changes[-1]
    lines = _lines(*(change.new.line for change in (first, last) if change.new))
    olds = _lines(*(change.old.line for change in (first, last) if change.old))
    yield ""
    place = f" from {olds}" if olds != lines else ""
    yield Paint(colour)(CYAN, f"{lines}: {counted(len(changes), 'sentence')} moved{place}")
    yield f"    {visible(_new_text(first))}"
    if len(changes) > 2:
        yield Paint(colour)(DIM, f"    … {counted(len(changes) - 2, 'sentence')} …")
    yield f"    {visible(_new_text(last))}"


def _new_text(change: Change) -> str:
    return change.new.text if change.new else ""


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _change_lines(change: Change, colour: bool) -> Iterator[str]:
    if change.kind is ChangeKind.SAME and not change.is_moved:
        return
    yield ""
    yield heading(change, colour)
    if change.kind is ChangeKind.SAME and change.new:
        yield f"    {visible(change.new.text)}"
        return
    if change.old:
        yield f"  - {_mark_words(change.old, _OLD, colour)}"
    if change.new:
        yield f"  + {_mark_words(change.new, _NEW, colour)}"


def heading(change: Change, colour: bool = False) -> str:
    """Where it is, where it was, what became of it and why."""
    place = f"line {change.new.line}" if change.new else f"old line {change.old.line if change.old else 0}"
    told = Paint(colour)(CYAN, place)
    if change.is_moved:
        told += Paint(colour)(CYAN, f", {moved_text(change)}")
    kind = " ".join(part for part in (str(change.kind), _shape(change)) if part)
    told += ": " + Paint(colour)(_COLOURS.get(change.kind, BOLD), kind)
    if change.reasons:
        told += ": " + reasons_text(change)
    return told + (f" ({visible(change.error)})" if change.error else "")


def moved_text(change: Change) -> str:
    """From which line a passage moved, if it is another one."""
    is_elsewhere = change.old and change.new and change.old.line != change.new.line
    return f"moved from line {change.old.line}" if change.old and is_elsewhere else "moved"


def reasons_text(change: Change) -> str:
    """The reasons of a change, those that contradict first; of many only some."""
    shown = [each.reason for each in sorted(change.reasons, key=lambda reason: not reason.contradicts)]
    more = [f"{len(shown) - _SHOWN_REASONS} more"] if len(shown) > _SHOWN_REASONS else []
    return visible("; ".join([*shown[:_SHOWN_REASONS], *more]))


def _shape(change: Change) -> str:
    if not change.shape or change.old is None or change.new is None:
        return ""
    return f"({change.shape}: {change.old.sentence_count} to {counted(change.new.sentence_count, 'sentence')})"


def _mark_words(passage: Passage, marks: tuple[str, str, str], colour: bool) -> str:
    """The text with its changed words in colour or in brackets."""
    begin, end, code = marks
    return "".join(
        visible(text) if not is_marked else Paint(True)(code, visible(text)) if colour else begin + visible(text) + end
        for text, is_marked in pieces(passage.text, passage.marks)
    )


def pieces(text: str, marks: Iterable[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    """The text in pieces, each with whether it is marked."""
    at = 0
    for begin, end in marks:
        if at < begin:
            yield text[at:begin], False
        yield text[begin:end], True
        at = end
    if at < len(text):
        yield text[at:], False


# ---- as a page ----


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
