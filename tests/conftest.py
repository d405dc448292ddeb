"""Settings of all property tests: no time limits, since machines differ, and the same examples on every run."""

from __future__ import annotations

import pytest
from hypothesis import settings

from forestalign.batch import ThisProcess

settings.register_profile("forestalign", deadline=None, derandomize=True)
settings.load_profile("forestalign")


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands work in this process, where models are loaded already; cli/test_outputs.py has tests of real workers."""
    monkeypatch.setattr("forestalign.batch.run.Processes", lambda count: ThisProcess())
