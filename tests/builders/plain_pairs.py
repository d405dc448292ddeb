"""A few pairs of sentences, for tests that compare whole runs."""

from __future__ import annotations

LONG = (
    "Although the board of the company had promised that none of its factories in the north would be closed "
    "before the end of the decade, two of them were sold in autumn to a rival, which plans to move the work",
    "The directors said that no factory in the north would close before the decade was over, but in autumn two "
    "were sold to a foreign competitor who takes the work elsewhere, and hundreds of people may lose their jobs",
)
PAIRS = [
    LONG,
    ("The committee rejected the plan.", "The plan was rejected by the committee."),
    ("She left early.", "She went away early, because the last train to the coast leaves at nine o'clock."),
    LONG[::-1],
]
