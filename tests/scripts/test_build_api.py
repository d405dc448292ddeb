"""The reference of the Python API."""

from __future__ import annotations

import build_api


def test_the_python_reference_is_that_of_the_code() -> None:
    """`python scripts/build_api.py` writes it anew."""
    assert build_api.PAGE.read_text(encoding="utf-8") == build_api.api_page()
