"""The file in which people save what they corrected in the page: one line per pair, safe whatever happens.

The file is locked while it is served, replaced as a whole (a copy beside it is written, then renamed), and read again
where somebody else has changed it meanwhile. Lines that a save does not concern keep their bytes. One page at a time
may write; one that has not been heard of for some seconds was closed, and the next may. Annotators see their own
answers only, but share the trees of the file, so that they speak of the same nodes.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, Self

from forestalign.errors import AnnotationConflict, AnnotationError, ForestAlignError, UsageError, counted
from forestalign.evaluation.annotated_pairs import (
    AnnotatedPair,
    Annotation,
    annotated_pair,
    checked_name,
    format_annotated_pair,
    same_sentences,
)
from forestalign.evaluation.annotation_checks import check_pair
from forestalign.formats.codec import sentence_in
from forestalign.formats.fields import Fields
from forestalign.formats.lines import read_text_lines
from forestalign.outputs import follow_link, is_packed
from forestalign.own_files import open_alone, start_file
from forestalign.phrases.result.alignment import Alignment, PhraseAlignment
from forestalign.trees import format_brackets
from forestalign.view.page import scene_fields
from forestalign.view.scene import scene_of
from forestalign.words.alignment import NO_LINKS

_FATAL = frozenset({"E02", "E03", "E06", "E07", "E08"})  # findings after which nodes cannot be told
MOST_SILENCE = 10.0  # seconds after which a page counts as closed; pages tell every few seconds that they are open


class AnnotationStore:
    """An annotation file in use; answers the requests of a page."""

    def __init__(
        self, path: str | Path, results: Iterable[Alignment] = (), clock: Callable[[], float] = time.monotonic
    ):
        self.path = _check_path(path)
        self._trees = {result.id: _trees_of(result) for result in results}
        self._turn, self._page, self._heard, self._clock = Lock(), "", 0.0, clock
        holder = "another `forestalign serve --annotate` holds it"
        self._descriptor = open_alone(self.path, f"{self.path} is in use: {holder}")
        self._lines: dict[str, str] = {}
        self._pairs: dict[str, AnnotatedPair] = {}
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def close(self) -> None:
        """Unlock the file."""
        os.close(self._descriptor)

    @property
    def pairs(self) -> tuple[AnnotatedPair, ...]:
        """The pairs that the file holds, in their order."""
        return tuple(self._pairs.values())

    def __call__(self, request: bytes) -> str:
        """Answer `{"action": "open" | "save" | "alive" | "close", "page": ..., ...}` with JSON."""
        try:
            fields = Fields.parse(request.decode())
            action, page = fields.text("action"), fields.text("page")
            with self._turn:
                if action == "open":
                    return json.dumps(self._open(page, _name(fields), fields.flag("take_over")), ensure_ascii=False)
                if action == "save":
                    self._claim(page, take_over=False)
                    self._save(json.dumps(fields.child("pair").values), fields.flag("replace"))
                elif action == "alive":
                    return json.dumps({"holds": self._holds(page)})
                elif action == "close":
                    self._page = "" if self._page == page else self._page
                else:
                    raise ValueError(f"action is {action!r}; expected open, save, alive or close")
            return json.dumps({"saved": len(self._pairs)})
        except ForestAlignError:
            raise
        except ValueError as error:
            raise AnnotationError("request", None, str(error)) from error

    def _open(self, page: str, annotator: str, take_over: bool) -> dict[str, Any]:
        self._claim(page, take_over)
        self._read_again()
        return {"pairs": [self._item(pair, annotator) for pair in self._pairs.values()]}

    def _claim(self, page: str, take_over: bool) -> None:
        if take_over:
            self._page = page
        if not self._holds(page):
            raise AnnotationConflict("taken", f"{self.path.name} is open in another page, which may save to it")

    def _holds(self, page: str) -> bool:
        """Whether the page may save: no other has the file open. If so, it is the one that has."""
        now = self._clock()
        if self._page not in ("", page) and now - self._heard <= MOST_SILENCE:
            return False
        self._page, self._heard = page, now
        return True

    def _item(self, pair: AnnotatedPair, annotator: str) -> dict[str, Any]:
        """What a page has to know of a saved pair; a picture where the file has other trees than the page."""
        own = next((each for each in pair.annotations if each.annotator == annotator), None)
        result = result_of_annotation(pair)
        is_known = self._trees.get(pair.id) == _trees_of(result)
        return {
            "id": pair.id,
            "source": pair.source.tokens,
            "target": pair.target.tokens,
            "pairs": own and own.pairs,
            "marks": own.marks if own else (),
            "scattered": own.scattered if own else (),
            "view": None if is_known else scene_fields(scene_of(result)),
        }

    def _save(self, line: str, is_replacement: bool) -> None:
        new = annotated_pair(line)
        if len(new.annotations) != 1:
            raise ValueError(f"pair {new.id!r} has {counted(len(new.annotations), 'annotator')}; expected one")
        checked_name(new.annotations[0].annotator)
        _check(new)
        self._read_again()
        known = self._pairs.get(new.id)
        if known is not None:
            new = _join_answers(known, new, is_replacement)
        self._write({**self._lines, new.id: format_annotated_pair(new)})
        self._pairs[new.id] = new

    def _write(self, lines: Mapping[str, str]) -> None:
        """The new file is complete and locked before it takes the place of the old one."""
        try:
            descriptor = start_file(self.path, "".join(f"{line}\n" for line in lines.values()).encode())
        except OSError as error:
            raise UsageError(f"cannot write to {self.path}: {error.strerror or error}; nothing is lost") from error
        os.close(self._descriptor)
        self._descriptor, self._lines, self._seen = descriptor, dict(lines), _state(self.path)

    def _read_again(self) -> None:
        if _state(self.path) != self._seen:
            self._read()

    def _read(self) -> None:
        self._seen = _state(self.path)
        lines: dict[str, str] = {}
        pairs: dict[str, AnnotatedPair] = {}
        for number, text in read_text_lines(self.path) if self._seen else ():
            try:
                pair = annotated_pair(text, number)
                _check(pair)
                if pair.id in pairs:
                    raise ValueError(f"the id {pair.id!r} occurs twice; expected one line per pair")
            except ValueError as error:
                raise AnnotationError(self.path, number, str(error)) from error
            lines[pair.id], pairs[pair.id] = text, pair
        self._lines, self._pairs = lines, pairs


def result_of_annotation(pair: AnnotatedPair) -> Alignment:
    """The sentences and trees of an annotated pair as a result without pairs, to be drawn."""
    source, target = (sentence_in(side.text, side.tokens) for side in (pair.source, pair.target))
    nothing = PhraseAlignment((), (), (), pair.source.tree, pair.target.tree, 0.0, False)
    return Alignment(pair.id, source, target, NO_LINKS, nothing)


def _name(fields: Fields) -> str:
    name = fields.text("annotator")
    return checked_name(name) if name else ""


def _trees_of(result: Alignment) -> tuple[str, str]:
    return format_brackets(result.source_tree), format_brackets(result.target_tree)


def _check(pair: AnnotatedPair) -> None:
    """ValueError if the pair names nodes that are not there or aligns one twice."""
    found = next((found for found in check_pair(pair) if found[0] in _FATAL), None)
    if found is not None:
        raise ValueError(f"pair {pair.id!r}: {found[0]} {found[1]}")


def _join_answers(known: AnnotatedPair, new: AnnotatedPair, is_replacement: bool) -> AnnotatedPair:
    """The new answer beside those of other annotators, who have to speak of the same sentences and trees."""
    own: Annotation = new.annotations[0]
    others = tuple(each for each in known.annotations if each.annotator != own.annotator)
    if same_sentences(known, new):
        order = [each.annotator for each in known.annotations]
        at = order.index(own.annotator) if own.annotator in order else len(others)
        return replace(known, annotations=(*others[:at], own, *others[at:]))
    if others:
        names = ", ".join(each.annotator for each in others)
        raise ValueError(f"pair {new.id!r} was annotated by {names} on other sentences or trees; give it another id")
    if not is_replacement:
        raise AnnotationConflict(
            "changed", f"the sentences or trees of pair {new.id!r} have changed since it was saved"
        )
    return new


def _check_path(path: str | Path) -> Path:
    """The file itself where the name is a link to it; a device would be read without end."""
    found = follow_link(path)
    if found.exists() and not found.is_file():
        raise UsageError(f"cannot write to {path}: it is not a regular file; expected the name of a file")
    if is_packed(found):
        raise UsageError(f"cannot write to {path}: annotations are plain text; expected a name without .gz")
    return found


def _state(path: Path) -> tuple[int, int, int] | None:
    """What changes whenever the file does; None where it is gone."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
