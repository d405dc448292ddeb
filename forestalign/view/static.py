"""A drawing without a script, for notebooks: the page's stacked picture as plain SVG.

Widths of text are estimated, since nobody can be asked to measure them here. Colours sit in a style sheet of classes
with a prefix of their own, so that nothing of the notebook's looks changes. They follow the notebook's theme where it
has one (Jupyter, VS Code, Colab) and the system's otherwise; what knows no style sheet draws the light ones.
"""

from __future__ import annotations

import html
import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from forestalign.errors import UsageError, WrongTypeError, shown
from forestalign.phrases.result.alignment import Alignment, DiscontinuousPair, PhrasePair
from forestalign.terminal import visible
from forestalign.tokens import Span
from forestalign.view.scene import BAR, WORD, Choice, Scene, SceneNode, SceneSide, scene_of, with_shown_pairs
from forestalign.view.text import CONTRADICTIONS, headline

PILL, WORD_PILL, STEP, GAP, MARGIN = 21, 26, 38, 74, 8
_TINT, _STROKE, _INK = (0.93, 0.055), (0.6, 0.14), (0.36, 0.1)  # lightness and chroma
_JOINER = "\u200d"  # makes one emoji of those on both sides
_NARROW, _WIDE = frozenset("iljtfrI.,;:'!|()[] "), frozenset("mwMWOQG@%")

# Lightness and chroma of tints, strokes and ink, as in the page. The theme of a notebook goes before the system's.
_LIGHT = "--fa-t:.93 .055;--fa-s:.6 .14;--fa-i:.36 .1"
_DARK = "--fa-t:.33 .065;--fa-s:.68 .13;--fa-i:.92 .05"
_THEMES = (
    f"div.fa-pic{{max-width:100%;overflow-x:auto}}@media(prefers-color-scheme:dark){{.fa-pic{{{_DARK}}}}}"
    f"[data-jp-theme-light=true] .fa-pic,.vscode-light .fa-pic,html[theme=light] .fa-pic{{{_LIGHT}}}"
    f"[data-jp-theme-light=false] .fa-pic,.vscode-dark .fa-pic,html[theme=dark] .fa-pic{{{_DARK}}}"
)
_LIGHT_STYLE = (  # as slides have it, whose background does not follow the system
    f".fa-pic{{{_LIGHT}}}"
    "@supports(color:oklch(0 0 0)){.fa-pic .f{fill:oklch(var(--fa-t) var(--fa-h))}"
    ".fa-pic .k,.fa-pic path[style]{stroke:oklch(var(--fa-s) var(--fa-h))}"
    ".fa-pic .i{fill:oklch(var(--fa-i) var(--fa-h))}}"
    ".fa-pic text{font:500 14px system-ui,sans-serif,emoji;text-anchor:middle;dominant-baseline:central}"
    ".fa-pic text:not(.i,.x){fill:currentColor}"
    ".fa-pic .l{font-size:12px;font-weight:600}.fa-pic .t{font-size:9.5px;opacity:.6}"
    ".fa-pic .e{fill:none;stroke:#9aa3b0;stroke-width:1.2}.fa-pic .p{font-weight:500;opacity:.7}"
    ".fa-pic .n{opacity:.5;font-style:italic}"
    ".fa-pic .z{fill:none;stroke:currentColor;stroke-dasharray:4 3;opacity:.5}"
    ".fa-pic .w{fill:none;stroke-width:1.6;opacity:.7}.fa-pic .s{fill:none;stroke-width:1.6;stroke-dasharray:6 3}"
    ".fa-pic .c{fill:#c2410c;stroke:none}.fa-pic .x{fill:#fff;font-size:10px;font-weight:700}"
)

_STYLE = _LIGHT_STYLE + _THEMES


@dataclass(frozen=True, slots=True)
class _Placed:
    """A node with its centre, measured along the sentence and away from the words."""

    node: SceneNode
    text: str
    width: float
    along: float
    level: int


FORMS = ("html", "svg", "page")


def render(result: Alignment, form: str = "html") -> str:
    """A drawing of a result: `html` for a notebook or a page of yours, `svg` for slides, `page` to open by itself.

    >>> import forestalign
    >>> forestalign.render(forestalign.align("He left.", "He went."), "svg")[:4]
    '<svg'
    """
    if not isinstance(result, Alignment):
        raise WrongTypeError(f"result is {shown(result)}; expected a result, as forestalign.align returns it")
    if form not in FORMS:
        raise UsageError(f"form is {shown(form)}; expected one of {', '.join(FORMS)}")
    if form == "svg":
        return _picture(result, _LIGHT_STYLE)
    fragment = result_html(result)
    if form == "html":
        return fragment
    head = f'<meta charset="utf-8"><title>{html.escape(visible(result.id or "forestalign"))}</title>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{fragment}</body></html>\n'


def result_html(alignment: Alignment) -> str:
    """The best alignment as an HTML fragment: the verdict, and two trees, partners in one colour."""
    return f'<div class="fa-pic"><p>{html.escape(headline(alignment))}</p>{_picture(alignment, _STYLE)}</div>'


def _picture(alignment: Alignment, style: str) -> str:
    """Two trees with the word links between them."""
    scene = scene_of(with_shown_pairs(alignment))
    choice = scene.choices[0]
    sides = _place(choice.source, scene.source.tokens), _place(choice.target, scene.target.tokens)
    length = max(side.length for side in sides)
    words = [_height(sides[0]) + MARGIN, _height(sides[0]) + MARGIN + WORD_PILL + GAP]
    height = words[1] + _height(sides[1]) + MARGIN
    parts: list[str] = [_links(scene, choice, sides, words, length)]
    for side, word_line, direction in zip(sides, words, (-1, 1), strict=True):
        shift = (length - side.length) / 2 + MARGIN
        parts.extend(_tree(side, choice, scene, shift, word_line, direction))
    label = html.escape(visible(f"{alignment.source.text} / {alignment.target.text}"), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="fa-pic" width="{length + 2 * MARGIN:.0f}"'
        f' height="{height:.0f}" role="img" aria-label="{label}"><style>{style}</style>{"".join(parts)}</svg>'
    )


@dataclass(frozen=True, slots=True)
class _DrawnTree:
    placed: tuple[_Placed, ...]
    begins: tuple[float, ...]

    @property
    def length(self) -> float:
        return self.begins[-1]


def _place(nodes: Sequence[SceneNode], tokens: Sequence[str]) -> _DrawnTree:
    """Slots as wide as the words and all labels over them; a node stands in the middle of its slots."""
    levels = [0] * len(nodes)
    for index, node in enumerate(nodes):  # children stand before their parents
        if node.parent >= 0:
            levels[node.parent] = max(levels[node.parent], levels[index] + 1)
    texts = [_text(node, tokens) for node in nodes]
    widths = [_width(text, 14 if node.kind == WORD else 12) + 16 for node, text in zip(nodes, texts, strict=True)]
    slots = [34.0] * len(tokens)
    for node, width in zip(nodes, widths, strict=True):
        missing = width + 9 - sum(slots[node.begin : node.end])
        for index in range(node.begin, node.end):
            slots[index] += max(0.0, missing) / (node.end - node.begin)
    begins = [0.0]
    for slot in slots:
        begins.append(begins[-1] + slot)
    middles = [(begins[node.begin] + begins[node.end]) / 2 for node in nodes]
    return _DrawnTree(tuple(map(_Placed, nodes, texts, widths, middles, levels)), tuple(begins))


def _text(node: SceneNode, tokens: Sequence[str]) -> str:
    if node.kind == WORD:
        return visible(tokens[node.begin])
    return visible(("\u2205 " if node.is_null else "") + node.label + ("\u2032" if node.kind == BAR else ""))


def _width(text: str, size: float) -> float:
    return sum(_units(letter) for before, letter in pairwise(f" {text}") if before != _JOINER) * size


def _units(letter: str) -> float:
    """The width of a letter; emoji and Chinese fill a square, and what joins or changes a letter has no width."""
    if not letter.isascii() and unicodedata.category(letter) in ("Mn", "Me", "Cf", "Sk"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.2
    return 0.34 if letter in _NARROW else 0.88 if letter in _WIDE else 0.66 if letter.isupper() else 0.56


def _height(side: _DrawnTree) -> float:
    """From the middle of the words to the far edge of the tree."""
    return _distance(max(placed.level for placed in side.placed)) + WORD_PILL / 2


def _distance(level: int) -> float:
    return level * STEP + (16 if level else 0)


def hue_of(pair: PhrasePair, scene: Scene) -> float:
    """The colour that the page gives to a pair: by place in the source, so that it says where the partner stands."""
    return _hue(pair.source, scene)


def _hue(span: Span, scene: Scene) -> float:
    begin, end = span
    return 18 + 290 * (begin + end) / (2 * len(scene.source.tokens)) + 14 * ((end - begin) % 3)


def _colour(hue: float, lightness: float, chroma: float) -> str:
    """OKLCH, the page's colour space, as sRGB: hues of the same lightness look equally light."""
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    return "#" + "".join(f"{round(255 * _gamma(part)):02x}" for part in linear)


def _hue_style(hue: float) -> str:
    """What the style sheet makes colours of, light or dark."""
    return f'style="--fa-h:{hue:.0f}"'


def _gamma(linear: float) -> float:
    inside = min(1.0, max(0.0, linear))
    return 12.92 * inside if inside <= 0.0031308 else 1.055 * inside ** (1 / 2.4) - 0.055


def _tree(
    side: _DrawnTree, choice: Choice, scene: Scene, shift: float, word_line: float, direction: int
) -> Iterator[str]:
    def place(placed: _Placed) -> tuple[float, float]:
        return placed.along + shift, word_line + direction * _distance(placed.level)

    for child in side.placed:
        if child.node.parent >= 0:
            yield _edge(place(side.placed[child.node.parent]), place(child), child.node.kind == WORD, direction)
    for placed in side.placed:
        x, y = place(placed)
        height = WORD_PILL if placed.node.kind == WORD else PILL
        yield from _box(placed, choice, scene, x, y, height)
        look = "" if placed.node.kind == WORD else "l" if placed.node.phrase >= 0 else "l p"
        hue = _node_hue(placed.node, choice, scene)
        ink = f' fill="{_colour(hue, *_INK)}" {_hue_style(hue)}' if hue is not None else ""
        look += (" n" if placed.node.in_null else "") + (" i" if ink else "")
        yield f'<text class="{look}" x="{x:.1f}" y="{y:.1f}"{ink}>{html.escape(placed.text)}</text>'
        if placed.node.kind == WORD:
            tag_y = y + direction * (height / 2 + 7)
            yield f'<text class="t" x="{x:.1f}" y="{tag_y:.1f}">{html.escape(visible(placed.node.label))}</text>'


def _box(placed: _Placed, choice: Choice, scene: Scene, x: float, y: float, height: float) -> Iterator[str]:
    """The box of a node: of a pair, of something beside the pairs, of a null phrase, or none."""
    node, width = placed.node, placed.width
    box = f'x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" height="{height}" rx="7"'
    hue = _node_hue(node, choice, scene)
    if hue is None:
        if node.is_null:
            yield f'<rect class="z" {box}/>'
        return
    title, relation = _title(node, choice, scene)
    yield f"<rect {box} {_looks(node, choice, hue)}><title>{html.escape(visible(title))}</title></rect>"
    if relation in CONTRADICTIONS:
        right, top = x + width / 2, y - height / 2
        yield f'<circle class="c" cx="{right:.1f}" cy="{top:.1f}" r="6.5"/>'
        yield f'<text class="x" x="{right:.1f}" y="{top:.1f}">\u2260</text>'


def _node_hue(node: SceneNode, choice: Choice, scene: Scene) -> float | None:
    """The colour of the pair that a node is in, belongs to or extends, or of its scattered words."""
    if node.phrase < 0 and node.joined >= 0:
        return _scattered_hue(choice.phrases.joined[node.joined], scene)
    pair = max(node.phrase, node.inner, node.whole)  # a node has one of them at most
    return hue_of(choice.phrases.pairs[pair], scene) if pair >= 0 else None


def _looks(node: SceneNode, choice: Choice, hue: float) -> str:
    """Fill and border: a part of a pair has no border, what only extends a pair has no fill and a dashed border."""
    fill, stroke = f'fill="{_colour(hue, *_TINT)}"', f'stroke="{_colour(hue, *_STROKE)}"'
    both = f'class="f k" {_hue_style(hue)} {fill} {stroke}'
    if node.phrase >= 0:
        dashes = ' stroke-dasharray="2 2.5"' if node.kind == BAR else ""
        width = 1.3 if choice.phrases.pairs[node.phrase].compositional else 3
        return f'{both} stroke-width="{width}"{dashes}'
    if node.inner >= 0:
        return f'class="k" {_hue_style(hue)} fill="none" {stroke} stroke-width="1.3" stroke-dasharray="4 3"'
    return f'{both} stroke-width="1.3"' if node.joined >= 0 else f'class="f" {_hue_style(hue)} {fill}'


def _title(node: SceneNode, choice: Choice, scene: Scene) -> tuple[str, str]:
    """What a reader sees who points at a node, and the relation that its own box is marked with."""
    if node.phrase < 0 and node.joined >= 0:
        one = choice.phrases.joined[node.joined]
        words = f"{_scattered_text(scene.source, one.source)} - {_scattered_text(scene.target, one.target)}"
        return f"{words} ({one.relation})" if one.relation else words, one.relation
    pair = choice.phrases.pairs[max(node.phrase, node.inner, node.whole)]
    words = f"{_words(scene.source, pair.source)} - {_words(scene.target, pair.target)}"
    if node.phrase < 0:
        return f"adds small words to {words}" if node.inner >= 0 else f"part of {words}", ""
    told = pair.reason or pair.relation
    return f"{words} ({told})" if told else words, pair.relation


def _scattered_hue(one: DiscontinuousPair, scene: Scene) -> float:
    """That of its first word, since other phrases stand between its words."""
    first = one.source[0]
    return _hue(Span(first, first + 1), scene)


def _scattered_text(side: SceneSide, words: Sequence[int]) -> str:
    return " \u2026 ".join(side.tokens[word] for word in words)


def _words(side: SceneSide, span: Span) -> str:
    """The words of a span, with spaces only where the original text has them."""
    return "".join(" " * (side.spaces[i] and i > span.begin) + side.tokens[i] for i in range(*span))


def _edge(parent: tuple[float, float], child: tuple[float, float], is_word: bool, direction: int) -> str:
    start = parent[1] - direction * PILL / 2
    bend = start - direction * 8
    end = child[1] + direction * (27 if is_word else PILL / 2)
    return f'<path class="e" d="M{parent[0]:.1f} {start:.1f}V{bend:.1f}H{child[0]:.1f}V{end:.1f}"/>'


def _links(
    scene: Scene, choice: Choice, sides: tuple[_DrawnTree, _DrawnTree], words: Sequence[float], length: float
) -> str:
    """Curves between linked words, in the colour of the pair where the two are one; dashed between scattered words."""
    top, bottom = words[0] + WORD_PILL / 2, words[1] - WORD_PILL / 2
    middle = (top + bottom) / 2

    def curve(i: int, j: int, look: str, hue: float | None) -> str:
        x, y = (
            (side.begins[at] + side.begins[at + 1]) / 2 + (length - side.length) / 2 + MARGIN
            for side, at in zip(sides, (i, j), strict=True)
        )
        way = f"M{x:.1f} {top:.1f}C{x:.1f} {middle:.1f} {y:.1f} {middle:.1f} {y:.1f} {bottom:.1f}"
        if hue is None:
            return f'<path class="{look}" stroke="#9aa3b0" d="{way}"/>'
        return f'<path class="{look}" {_hue_style(hue)} stroke="{_colour(hue, *_STROKE)}" d="{way}"/>'

    hues: dict[tuple[Span, Span], float] = {
        (pair.source, pair.target): hue_of(pair, scene) for pair in choice.phrases.pairs
    }
    dashed = {link: _scattered_hue(one, scene) for one in choice.phrases.joined for link in _star(one)}
    paths = [curve(*link, "s", hue) for link, hue in dashed.items()]
    for i, j in scene.words.pairs:
        if (i, j) not in dashed:
            paths.append(curve(i, j, "w", hues.get((Span(i, i + 1), Span(j, j + 1)))))
    return "".join(paths)


def _star(one: DiscontinuousPair) -> list[tuple[int, int]]:
    """Each word with the first of the other side."""
    return [(i, one.target[0]) for i in one.source] + [(one.source[0], j) for j in one.target[1:]]
