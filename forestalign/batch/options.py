"""What a run is told besides its jobs: where results go, and how much it may take."""

from __future__ import annotations

from dataclasses import dataclass

from forestalign.batch.jobs import Layout

CHUNK_SIZE = 16  # pairs: enough for the encoder's batches, small enough for an early first line


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """Where results go ("-": stdout), how they are laid out, and what becomes of a file that is there.

    `inputs` are files that must not be the output, whatever their names. An output that holds something is refused,
    unless `force` replaces it or `resume` continues it. `settings` are what results depend on besides the function
    that starts the workers, such as how the input was read: a run is resumed with the same ones or not at all.
    """

    path: str = "-"
    layout: Layout = Layout.JSON
    inputs: tuple[str, ...] = ()
    force: bool = False
    resume: bool = False
    settings: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How many processes, how many pairs at a time, and how many seconds for a pair (0: as long as it takes)."""

    processes: int = 1
    chunk_size: int = CHUNK_SIZE
    time_limit: float = 0.0


TO_STDOUT = OutputOptions()
NO_LIMITS = RunLimits()
