"""Settings, errors, and the technical modules beside the folders: what is refused, and in which words."""

from __future__ import annotations

import math
import pickle
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest

from forestalign.config import CHOICES, DEFAULT_CONFIG, KINDS, PAPER_ONLY, RANGES, AlignConfig, Settings
from forestalign.errors import (
    AnnotationError,
    ForestAlignError,
    GrammarError,
    InputError,
    MissingExtraError,
    NoParseError,
    OutputError,
    UsageError,
)
from forestalign.machine import light_import
from forestalign.pair_cache import PairCache, read_cached
from forestalign.phrases.stage import PreparedPair
from forestalign.words.alignment import WordAlignment, WordLink
from tests.builders.hand_forests import hand_forest

# ---- settings ----


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_that_does_not_exist_is_refused_with_those_that_do(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        DEFAULT_CONFIG.replace(**{name: "nonsense"})
    assert str(caught.value) == f"{name} is 'nonsense'; expected one of {', '.join(CHOICES[name])}"


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_can_be_set(name: str) -> None:
    for choice in CHOICES[name]:
        assert getattr(DEFAULT_CONFIG.replace(**{name: choice}), name) == choice


@pytest.mark.parametrize("name", RANGES)
def test_a_number_out_of_its_range_is_refused_with_the_range(name: str) -> None:
    least, most = RANGES[name]
    kind = type(getattr(DEFAULT_CONFIG, name))
    with pytest.raises(UsageError, match=rf"{name} is .*; expected (at least )?{least:g}"):
        DEFAULT_CONFIG.replace(**{name: kind(least) - 1})
    if not math.isinf(most):
        with pytest.raises(UsageError, match=rf"expected {least:g} to {most:g}"):
            DEFAULT_CONFIG.replace(**{name: kind(most + 1)})


@pytest.mark.parametrize("name", [name for name in RANGES if isinstance(getattr(DEFAULT_CONFIG, name), float)])
@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_a_number_that_is_none_is_refused(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=rf"{name} is (inf|nan)"):
        DEFAULT_CONFIG.replace(**{name: value})


@pytest.mark.parametrize("field", fields(AlignConfig), ids=lambda field: field.name)
def test_a_value_of_another_type_is_refused_in_words(field: object) -> None:
    name = field.name  # type: ignore[attr-defined]
    default = getattr(DEFAULT_CONFIG, name)
    with pytest.raises(UsageError) as caught:
        DEFAULT_CONFIG.replace(**{name: None})
    assert str(caught.value) == f"{name} takes {KINDS[type(default)]}, not None"


def test_differences_are_what_was_changed() -> None:
    assert DEFAULT_CONFIG.differences() == {}
    assert DEFAULT_CONFIG.replace(beam=7, monotonic=True).differences() == {"beam": 7, "monotonic": True}


@pytest.mark.parametrize("name", PAPER_ONLY)
def test_prices_of_the_paper_have_no_effect_with_learned_scores(name: str) -> None:
    default = getattr(DEFAULT_CONFIG, name)
    other = default / 2 if isinstance(default, float) else next(each for each in CHOICES[name] if each != default)
    assert DEFAULT_CONFIG.replace(**{name: other}).without_effect() == (name,)
    assert DEFAULT_CONFIG.replace(scoring="paper", **{name: other}).without_effect() == ()


# ---- errors ----


@pytest.mark.parametrize(
    "error",
    [
        InputError("a.txt", 3, "bad"),
        GrammarError("g.tsv", None, "missing"),
        AnnotationError(Path("x.jsonl"), 1, "contradicts"),
        MissingExtraError("a plot", "tune"),
        UsageError("no"),
        NoParseError("no tree"),
        OutputError("full"),
    ],
)
def test_an_error_of_a_worker_process_arrives_as_it_was(error: ForestAlignError) -> None:
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is type(error)
    assert str(arrived) == str(error)


def test_an_error_of_a_file_names_file_and_line() -> None:
    assert str(InputError("a.txt", 3, "bad")) == "a.txt:3: bad"
    assert str(InputError("a.txt", None, "bad")) == "a.txt: bad"


# ---- imports ----


def package(folder: Path, name: str) -> None:
    """A package whose `__init__` must not run."""
    (folder / name / "inner").mkdir(parents=True)
    (folder / name / "__init__.py").write_text("raise AssertionError('was run')")
    (folder / name / "part.py").write_text("VALUE = 1")
    (folder / name / "inner" / "__init__.py").write_text("raise AssertionError('was run')")
    (folder / name / "inner" / "deep.py").write_text(f"from {name}.part import VALUE\nTWICE = 2 * VALUE")


def test_a_module_is_imported_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path, "heavy_package")
    monkeypatch.syspath_prepend(tmp_path)
    part, deep = light_import("heavy_package", ["part", "inner.deep"], bare=["inner"])
    assert (part.VALUE, deep.TWICE) == (1, 2)
    assert not [name for name in sys.modules if name.startswith("heavy_package")]


def test_a_package_that_is_not_there_is_told_as_always() -> None:
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_package'"):
        light_import("no_such_package", ["part"])
    assert "no_such_package" not in sys.modules


# ---- cached pairs ----


def prepared() -> PreparedPair:
    forest = hand_forest("(S (NP (NN dogs)) (VP (VB bark)))")
    return PreparedPair(forest, forest, WordAlignment((WordLink(0, 0, 0.75, "names"), WordLink(1, 1))))


def test_a_cached_pair_comes_back(tmp_path: Path) -> None:
    found = read_cached(PairCache(tmp_path, DEFAULT_CONFIG).write(prepared()))
    assert found.words.pairs == ((0, 0), (1, 1))
    assert [(link.score, link.stage) for link in found.words] == [(0.75, "names"), (1.0, "")]
    assert found.source.sentence.words == ("dogs", "bark")
    assert found.source.nodes == prepared().source.nodes


# ---- types ----


def test_keywords_have_the_names_and_types_of_the_settings() -> None:
    kinds = get_type_hints(AlignConfig)
    assert get_type_hints(Settings) == kinds
    assert list(Settings.__annotations__) == [field.name for field in fields(AlignConfig)]
    assert all(isinstance(getattr(DEFAULT_CONFIG, name), str if name in CHOICES else kinds[name]) for name in kinds)
