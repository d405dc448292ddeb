"""What a trial measures: the development set, parsed and linked once, aligned again under other settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forestalign.aligner import Aligner
from forestalign.batch import Worker, Workers
from forestalign.config import AlignConfig
from forestalign.evaluation import Evaluation
from forestalign.evaluation.development import read_development
from forestalign.evaluation.development_answers import DevelopmentWorker, align_development, best_trees, prepared_pairs
from forestalign.evaluation.report import data_hash
from forestalign.formats import PairRecord
from forestalign.trees import Tree


class DevelopmentTrials:
    """Scores a development set under given settings; parses and links are kept in a folder."""

    def __init__(
        self,
        path: str,
        config: AlignConfig,
        folder: Path,
        annotators: Sequence[str] = (),
        limit: int = 0,
        workers: Workers | None = None,
    ):
        self._folder, self._workers = folder, workers
        self._worker = Worker(DevelopmentWorker)

        def trees(records: Sequence[PairRecord]) -> list[tuple[Tree, Tree]]:
            return best_trees(prepared_pairs(records, folder, config.replace(mutual=False), workers))

        self._development = read_development(path, trees, annotators, limit)

    def __call__(self, config: AlignConfig) -> Evaluation:
        """The scores under these settings."""
        # settings of the parser or the word aligner may be among the parameters: they have files of their own
        paths = prepared_pairs(self._development.records, self._folder, config, self._workers)
        return self._development.evaluate(align_development(self._worker, paths, config, self._workers))


def trial_signature(path: str, config: AlignConfig, limit: int = 0) -> str:
    """What trials depend on besides the plan: the aligner and the data."""
    first = f" first {limit} pairs" if limit else ""
    return f"{Aligner(config).signature} | {Path(path).name} {data_hash(path)}{first}"
