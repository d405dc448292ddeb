"""The compiled modules: with them, without them, with the plain twins asked for, and what they take from these."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import IntEnum
from importlib import import_module
from pathlib import Path

import build_core
import pytest

from forestalign import compiled

ROOT = Path(__file__).resolve().parent.parent
TWINS = {"phrases.search._search": "phrases.search.search"}


@pytest.fixture
def _fresh() -> Iterator[None]:
    """What a test finds out about the modules must not stay with the tests after it."""
    compiled._loaded.cache_clear()
    compiled._tell.cache_clear()
    yield
    compiled._loaded.cache_clear()
    compiled._tell.cache_clear()


@pytest.mark.parametrize("name", TWINS)
def test_a_compiled_module_has_the_names_of_its_plain_twin(name: str) -> None:
    module = compiled.core(name)
    assert module is not None
    own = {name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__}
    names = {each for each in own if not each.startswith("_")}
    assert names
    assert names <= set(vars(import_module(f"forestalign.{TWINS[name]}")))


def test_the_plain_twins_are_taken_when_asked_for_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert compiled.core("phrases.search._search", plain=True) is None
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("_fresh")
def test_missing_modules_are_told_of_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("phrases.search._lca", "phrases.search._search"):
        monkeypatch.setitem(sys.modules, f"forestalign.{name}", None)
        assert compiled.core(name) is None
        assert compiled.core(name) is None
    assert capsys.readouterr().err == compiled.MISSING + "\n"


# ---- constants ----


def test_constants_are_declared_from_the_source_of_a_module() -> None:
    source = """
import math
ONE, OTHER = 0, 1
SIZE = 1 << 4
SHARE = 0.25
FALL = math.exp(-1)
NEAR = ("left", "right side")
LAYERS = ("first", *NEAR)
class Kind(IntEnum):
    WORD = 0
    PHRASE = 1
    @property
    def is_long(self): return self >= Kind.PHRASE
"""
    assert list(build_core.declarations(source, "a.b")) == [
        "cdef enum: ONE = 0",
        "cdef enum: OTHER = 1",
        "cdef enum: SIZE = 16",
        "cdef extern from *:",
        '    "static const double a_b_SHARE = 0.25;"',
        '    const double SHARE "a_b_SHARE"',
        "cdef enum: NEAR_LEFT = 0, NEAR_RIGHT_SIDE = 1, NEAR_COUNT = 2",
        "cdef enum: LAYERS_FIRST = 0, LAYERS_LEFT = 1, LAYERS_RIGHT_SIDE = 2, LAYERS_COUNT = 3",
        "cdef enum Kind: WORD = 0, PHRASE = 1, KIND_COUNT = 2",
    ]


@pytest.mark.parametrize("module", ["phrases.search.hypotheses", "phrases.scoring.score"])
def test_constants_read_from_a_source_are_those_of_the_module(module: str) -> None:
    found = build_core._constants((ROOT / "forestalign" / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
    assert found
    for name, value in found.items():
        actual = getattr(import_module(f"forestalign.{module}"), name)
        if isinstance(value, dict):
            assert issubclass(actual, IntEnum)
            actual = {member.name: member.value for member in actual}
        assert value == actual
