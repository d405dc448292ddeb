"""Tests, in the folders of what they test; `builders` has what several of them build upon."""
