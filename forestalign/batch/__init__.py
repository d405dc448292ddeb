"""Batches: many jobs over processes or machines, ordered, resumable, and safe against whatever dies.

A command turns its input into `Job`s (readers' bad lines go along as they are), names a picklable function that
loads the models and one that writes a result, and calls `run_jobs`:

    @dataclass(frozen=True, slots=True)
    class Parsing:
        config: AlignConfig

        def __call__(self) -> Work[Parse]:
            parser = load_parser(self.config)  # once per process
            return lambda jobs: parser.parse([job.payload for job in jobs])

    def tree_count(job: Job, parse: Parse) -> str:
        return str(len(parse.trees))

    start = StartWork(Parsing(config), tree_count)
    tally = run_jobs(jobs, start, output=OutputOptions("counts.txt", Layout.LINES), limits=RunLimits(processes=2))

A handler need not catch anything: what it raises is reported for the job that caused it.

- `workers`, `cluster`, `worker_program`: where tasks run: in this process, in others, on other machines
- `run_journal`, `output`: what is written, so that a run can be resumed, and only with the same settings and files
- `run`: all of it together, with limits and with a line that shows how far it is
"""
