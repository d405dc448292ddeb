"""The edits of a corpus on one page: counts, shares, the most frequent replacements; plots as SVG, nothing to load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from forestalign.errors import counted
from forestalign.mining.edits import Edit, EditKind, PairEdits

_MOST_REPLACEMENTS = 40
_EXAMPLES = 3  # ids of each replacement
_BINS = 10
_STYLE = """
:root { color-scheme: light dark; --ink: #1d2733; --soft: #5c6b7a; --line: #d5dce3; --bar: #2f6fab; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e9ef; --soft: #9aa8b6; --line: #3a4652; --bar: #6ba6dd; --paper: #161c22; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
p, caption { color: var(--soft); } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
svg { width: 100%; height: auto; } svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
svg rect { fill: var(--bar); } svg line { stroke: var(--line); } svg .soft { fill: var(--soft); }
.wide { overflow-x: auto; }
"""


@dataclass(slots=True)
class EditReport:
    """Counts of the edits of a corpus, added pair by pair."""

    title: str = "Edits"
    pair_count: int = 0
    kinds: Counter[str] = field(default_factory=Counter)  # edits
    pairs_with: Counter[str] = field(default_factory=Counter)  # pairs that have such an edit
    relations: Counter[str] = field(default_factory=Counter)
    replacements: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)
    shares: list[int] = field(default_factory=lambda: [0] * _BINS)

    def add(self, pair: PairEdits) -> None:
        """Count the edits of one pair."""
        self.pair_count += 1
        kinds = [edit.kind.value for edit in pair.edits if edit.kind is not EditKind.KEPT]
        self.kinds.update(kinds)
        self.pairs_with.update(set(kinds))
        self.shares[min(int(pair.kept_share * _BINS), _BINS - 1)] += 1
        for edit in pair.edits:
            if edit.kind is EditKind.REPLACED:
                self._add_replacement(edit, pair.id)

    def _add_replacement(self, edit: Edit, id: str) -> None:
        self.relations[edit.relation or "unknown"] += 1
        key = edit.source_text.lower(), edit.target_text.lower(), edit.relation
        self.replacements[key] += 1
        ids = self.examples.setdefault(key, [])
        if len(ids) < _EXAMPLES and id not in ids:
            ids.append(id)

    @property
    def edit_count(self) -> int:
        """All edits; what was kept is none."""
        return sum(self.kinds.values())

    def html(self) -> str:
        """The page, whole in itself."""
        kinds = [(kind.value, self.kinds[kind.value]) for kind in EditKind if kind is not EditKind.KEPT]
        parts = [
            f"<h1>{escape(self.title)}</h1>",
            f"<p>{counted(self.pair_count, 'pair')}, {counted(self.edit_count, 'edit')}.</p>",
            "<h2>Kinds of edits</h2>",
            bars(kinds, "Kinds of edits"),
            self._kind_table(),
            "<h2>Replacements by relation</h2>",
            bars(sorted(self.relations.items(), key=lambda item: (-item[1], item[0])), "Replacements by relation"),
            "<h2>Share of words kept</h2>",
            columns(self.shares, "Pairs by the share of their words that was kept"),
            "<h2>Most frequent replacements</h2>",
            self._replacement_table(),
        ]
        body = "\n".join(parts)
        return (
            f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title>\n<style>{_STYLE}</style></head>\n<body>\n{body}\n</body>\n</html>\n"
        )

    def _kind_table(self) -> str:
        rows = [
            (kind.value, self.kinds[kind.value], self.pairs_with[kind.value], self._share(self.pairs_with[kind.value]))
            for kind in EditKind
            if kind is not EditKind.KEPT
        ]
        return _table(("kind", "edits", "pairs with one", "share of pairs"), rows)

    def _replacement_table(self) -> str:
        most = sorted(self.replacements.items(), key=lambda item: (-item[1], item[0]))[:_MOST_REPLACEMENTS]
        rows = [
            (source, target, relation, count, " ".join(self.examples[source, target, relation]))
            for (source, target, relation), count in most
        ]
        return _table(("source", "target", "relation", "times", "examples"), rows)

    def _share(self, count: int) -> str:
        return f"{100 * count / self.pair_count:.0f} %" if self.pair_count else ""


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; numbers and shares stand to the right."""
    listed = list(rows)
    first: Sequence[object] = listed[0] if listed else heads
    right = [isinstance(cell, int) or str(cell).endswith(" %") for cell in first]
    marks = [' class="number"' if is_right else "" for is_right in right]
    head = "".join(f"<th{mark}>{escape(name)}</th>" for name, mark in zip(heads, marks, strict=True))
    body = "\n".join(
        "<tr>" + "".join(f"<td{mark}>{escape(str(cell))}</td>" for cell, mark in zip(row, marks, strict=True)) + "</tr>"
        for row in listed
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def bars(items: Sequence[tuple[str, int]], label: str) -> str:
    """A bar chart on its side, one bar for each item."""
    if not items:
        return "<p>None.</p>"
    most, height = max(max(count for _, count in items), 1), 24
    drawn = []
    for index, (name, count) in enumerate(items):
        y, width = index * height, 480 * count / most
        drawn.append(
            f'<text x="150" y="{y + 16}" text-anchor="end">{escape(name)}</text>'
            f'<rect x="160" y="{y + 4}" width="{width:.1f}" height="{height - 8}" rx="2"/>'
            f'<text class="soft" x="{168 + width:.1f}" y="{y + 16}">{count}</text>'
        )
    return _svg(720, height * len(items), label, drawn)


def columns(counts: Sequence[int], label: str) -> str:
    """A histogram of shares from 0 to 100 %."""
    most, width, floor = max(*counts, 1), 60, 160
    drawn = [f'<line x1="20" x2="{20 + width * len(counts)}" y1="{floor}" y2="{floor}"/>']
    for index, count in enumerate(counts):
        height, x = 130 * count / most, 20 + index * width
        drawn.append(
            f'<rect x="{x + 4}" y="{floor - height:.1f}" width="{width - 8}" height="{height:.1f}" rx="2"/>'
            f'<text class="soft" x="{x + width / 2}" y="{floor - height - 5:.1f}" text-anchor="middle">{count}</text>'
            f'<text x="{x}" y="{floor + 18}" text-anchor="middle">{100 * index // len(counts)}</text>'
        )
    drawn.append(f'<text x="{20 + width * len(counts)}" y="{floor + 18}" text-anchor="middle">100 %</text>')
    return _svg(40 + width * len(counts) + 20, floor + 28, label, drawn)


def _svg(width: int, height: int, label: str, drawn: Sequence[str]) -> str:
    content = "\n".join(drawn)
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">\n{content}\n</svg>'
