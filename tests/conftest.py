"""Settings of all property tests: no time limits, since machines differ, and the same examples on every run."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("forestalign", deadline=None, derandomize=True)
settings.load_profile("forestalign")
