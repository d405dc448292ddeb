"""The options that all batch commands share, and the way from them to `run_jobs`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from forestalign.batch import BadLine, Job, Layout, Processes, StartWorker, Workers, run_jobs
from forestalign.cli.compilation import announce_compilation


def add_batch_options(parser: argparse.ArgumentParser) -> None:
    """Add --output, --jobs, --cluster, --resume, --time-limit and --quiet."""
    group = parser.add_argument_group("long work")
    group.add_argument("-o", "--output", default="-", metavar="FILE", help="write results to FILE (default: stdout)")
    add_worker_options(group)
    group.add_argument(
        "--resume", action="store_true", help="keep what FILE holds already and do the rest (needs --output)"
    )
    group.add_argument(
        "--time-limit", type=_seconds, default=0.0, metavar="SECONDS", help="give up on a pair after so long"
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no progress line, no summary")


def add_worker_options(group: argparse._ActionsContainer) -> None:
    """Add --jobs and --cluster alone, for commands whose work is not one line a pair (training, tuning)."""
    group.add_argument("-j", "--jobs", type=_count, default=1, metavar="N", help="work in N processes (default: 1)")
    group.add_argument(
        "--cluster", default="", metavar="ADDRESS", help="work on a Dask cluster, e.g. tcp://10.0.0.1:8786"
    )


@contextmanager
def opened_workers(args: argparse.Namespace) -> Iterator[Workers | None]:
    """The workers that --cluster or --jobs ask for; None for one process, which needs none."""
    workers: Workers | None = None
    if args.cluster:
        from forestalign.cluster import Cluster  # an optional part

        workers = Cluster(args.cluster)
    elif args.jobs > 1:
        workers = Processes(args.jobs)
    try:
        yield workers
    finally:
        if workers is not None:
            workers.close()


def run_batch(
    args: argparse.Namespace,
    jobs: Iterable[Job | BadLine],
    start_worker: StartWorker[str],
    layout: Layout,
    count: Callable[[], int | None] = lambda: None,
    kernels: Sequence[str] = (),
) -> int:
    """Run the jobs as the options say; returns the exit code. `count` is asked only when progress is shown.

    `kernels` are the compiled modules that the work needs; the user is told when they have to be compiled first.
    """
    if not args.quiet and not args.cluster:
        announce_compilation(kernels)
    with opened_workers(args) as workers:
        tally = run_jobs(
            jobs,
            start_worker,
            output=args.output,
            layout=layout,
            resume=args.resume,
            workers=workers,
            time_limit=args.time_limit,
            total=count() if sys.stderr.isatty() and not args.quiet else None,
            quiet=args.quiet,
        )
    if not args.quiet and (tally.failed or tally.skipped):
        print(f"{tally.done} done, {tally.failed} failed, {tally.skipped} skipped", file=sys.stderr)
    return tally.exit_code


def line_count(path: str) -> int | None:
    """Lines of a plain file, quickly; None where that cannot be known without reading a stream."""
    if path == "-" or path.endswith(".gz") or not Path(path).is_file():
        return None
    with open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of processes; expected at least 1")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds; expected 0 to a million")
    return value
