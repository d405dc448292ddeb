"""A batch worker that does nothing, so that a benchmark measures the machinery alone. Worker processes import it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from forestalign.batch import Handler, Job, Outcome


def start_echo() -> Handler[str]:
    return echo


def echo(jobs: Sequence[Job]) -> Iterator[Outcome[str]]:
    for job in jobs:
        yield Outcome.of(job, json.dumps({"id": job.key}))
