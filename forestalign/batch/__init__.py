"""Batches: many jobs over processes or machines, ordered, resumable, and safe against whatever dies.

A command turns its input into `Job`s (readers' bad lines go along as they are), names a picklable function that
loads the models and returns a handler of chunks, and calls `run_jobs`:

    @dataclass(frozen=True, slots=True)
    class StartLengths:
        config: AlignConfig

        def __call__(self) -> Handler[str]:
            parser = load_parser(self.config)  # once a process
            def handle(jobs: Sequence[Job]) -> Iterator[Outcome[str]]:
                for job, parse in zip(jobs, parser.parse([job.payload for job in jobs])):
                    yield Outcome.of(job, str(len(parse.trees)))
            return handle

    tally = run_jobs(jobs, StartLengths(config), output="lengths.txt", layout=Layout.LINES, processes=2)

A handler need not catch anything: what it raises is reported for the job that caused it.
"""

from forestalign.batch.jobs import BadLine, Handler, Job, Layout, Outcome, StartWorker, Tally
from forestalign.batch.ordered import map_ordered
from forestalign.batch.run import outcomes, run_jobs
from forestalign.batch.workers import Processes, ThisProcess, Workers

__all__ = [
    "BadLine",
    "Handler",
    "Job",
    "Layout",
    "Outcome",
    "Processes",
    "StartWorker",
    "Tally",
    "ThisProcess",
    "Workers",
    "map_ordered",
    "outcomes",
    "run_jobs",
]
