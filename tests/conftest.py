"""Settings of all property tests: no time limits, since machines differ, and the same examples on every run.

`pytest --hypothesis-profile thorough` tries ten times as many.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from forestalign.batch.workers import ThisProcess

EXAMPLES = 50  # of a property test that does not say itself how many it needs

settings.register_profile("forestalign", deadline=None, derandomize=True, max_examples=EXAMPLES)
settings.register_profile("thorough", deadline=None, max_examples=10 * EXAMPLES)
settings.load_profile("forestalign")


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands work in this process, where models are loaded already; cli/test_outputs.py has tests of real workers."""
    monkeypatch.setattr("forestalign.batch.run.Processes", lambda count: ThisProcess())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples of a property."""
    return tmp_path_factory.mktemp("examples")
