"""The door to the compiled core: with it, without it, and with the plain twins asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pytest

from forestalign import compiled


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """What a test finds out about the core must not stay with the tests after it."""
    compiled._loaded.cache_clear()
    yield
    compiled._loaded.cache_clear()


def test_the_core_counts_bits() -> None:
    core = compiled.core()
    assert core is not None
    assert core.bit_count(np.array([0b1011, 0, 1 << 63], np.uint64)) == 4


def test_the_plain_twins_are_taken_when_asked_for_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert compiled.core(plain=True) is None
    assert capsys.readouterr().err == ""


def test_a_missing_core_is_told_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "forestalign._core", None)
    monkeypatch.delattr("forestalign._core", raising=False)
    assert compiled.core() is None
    assert compiled.core() is None
    assert capsys.readouterr().err == compiled.MISSING + "\n"
