"""A comparison as text for a terminal: a line that sums up, then what changed, words marked as `git diff` marks them.

Without colours, words that are gone stand in `[-` and `-]`, words that came in `{+` and `+}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from forestalign.errors import counted
from forestalign.terminal import BOLD, CYAN, DIM, GREEN, PLAIN, RED, YELLOW, visible
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
        _painted(BOLD, names, colour)
        + f": {counted(sizes[0], 'sentence')} → {counted(sizes[1], 'sentence')}"
        + (f"; {told}" if told else "")
    ]
    left = [parts.left_alone for parts in (comparison.old, comparison.new)]
    if any(left):
        is_same = (comparison.old.tables, comparison.old.code) == (comparison.new.tables, comparison.new.code)
        told = left[0] if left[0] == left[1] else " → ".join(part or "none" for part in left)
        state = "the same in both" if is_same else "not the same in both"
        lines.append(_painted(DIM, f"left alone, {state}: {told}", colour))
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
    yield _painted(CYAN, f"{lines}: {counted(len(changes), 'sentence')} moved{place}", colour)
    yield f"    {visible(_new_text(first))}"
    if len(changes) > 2:
        yield _painted(DIM, f"    … {counted(len(changes) - 2, 'sentence')} …", colour)
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
        yield f"  - {_marked(change.old, _OLD, colour)}"
    if change.new:
        yield f"  + {_marked(change.new, _NEW, colour)}"


def heading(change: Change, colour: bool = False) -> str:
    """Where it is, where it was, what became of it and why."""
    place = f"line {change.new.line}" if change.new else f"old line {change.old.line if change.old else 0}"
    told = _painted(CYAN, place, colour)
    if change.is_moved:
        told += _painted(CYAN, f", {moved_text(change)}", colour)
    kind = " ".join(part for part in (str(change.kind), _shape(change)) if part)
    told += ": " + _painted(_COLOURS.get(change.kind, BOLD), kind, colour)
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


def _marked(passage: Passage, marks: tuple[str, str, str], colour: bool) -> str:
    """The text with its changed words in colour or in brackets."""
    begin, end, code = marks
    return "".join(
        visible(text)
        if not is_marked
        else _painted(code, visible(text), True)
        if colour
        else begin + visible(text) + end
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


def _painted(code: str, text: str, colour: bool) -> str:
    return f"{code}{text}{PLAIN}" if colour else text
