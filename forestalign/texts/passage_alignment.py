"""Pairs of passages aligned in order, by this process and by others beside it.

This process has its models loaded already, since sentences were paired by their vectors: if it only waited for others,
it would take as much memory as each of them. So it aligns, too. Whoever is free takes the next chunk; a thread takes
what the others send, so that they never wait for this process.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Thread

from forestalign.aligner import Aligner
from forestalign.errors import ForestAlignError, NoParseError
from forestalign.phrases.result.alignment import Alignment

CHUNK = 4  # pairs whose sentences are parsed together: with 16 a process takes 80 MB more and is no faster
Texts = tuple[str, str]
Aligned = list[Alignment | ForestAlignError]


def align_passages(pairs: Sequence[Texts], aligner: Aligner, jobs: int = 1) -> Iterator[Alignment | ForestAlignError]:
    """Alignments in order, over `jobs` processes of which this is one; what could not be aligned is an error."""
    work = _SharedWork(pairs, aligner)
    if jobs > 1 and len(pairs) > CHUNK:
        work.share(jobs - 1)
    try:
        yield from work.results()
    finally:
        work.end()


class _SharedWork:
    """Chunks that nobody has taken yet, and those that are done."""

    def __init__(self, pairs: Sequence[Texts], aligner: Aligner):
        chunks = (pairs[begin : begin + CHUNK] for begin in range(0, len(pairs), CHUNK))
        self._waiting = deque(enumerate(chunks))  # taken from by two threads
        self._count = len(self._waiting)
        self._aligner = aligner
        self._done: dict[int, Aligned] = {}
        self._sent: SimpleQueue[tuple[int, Aligned] | Exception] = SimpleQueue()
        self._thread: Thread | None = None

    def share(self, processes: int) -> None:
        """Begin to give chunks to other processes."""
        self._thread = Thread(target=self._send, args=(processes,), daemon=True)
        self._thread.start()

    def results(self) -> Iterator[Alignment | ForestAlignError]:
        """All in order; meanwhile chunks are aligned here."""
        for number in range(self._count):
            while number not in self._done:
                mine = self._taken()
                if mine is not None:
                    self._done[mine[0]] = list(_aligned_chunk(mine[1], self._aligner))
                self._receive(is_patient=mine is None)
            yield from self._done.pop(number)

    def end(self) -> None:
        """Give out no more chunks, and wait for the others to end."""
        self._waiting.clear()
        if self._thread is not None:
            self._thread.join()

    def _taken(self) -> tuple[int, Sequence[Texts]] | None:
        try:
            return self._waiting.popleft()
        except IndexError:
            return None

    def _receive(self, is_patient: bool) -> None:
        """Take what was sent; a patient one waits for something."""
        while True:
            try:
                sent = self._sent.get(block=is_patient)
            except Empty:
                return
            if isinstance(sent, Exception):
                raise sent
            self._done[sent[0]] = sent[1]
            is_patient = False

    def _send(self, processes: int) -> None:
        """What the thread does: align elsewhere."""
        given: deque[tuple[int, int]] = deque()  # numbers and sizes of chunks

        def pairs() -> Iterator[Texts]:
            while (chunk := self._taken()) is not None:
                given.append((chunk[0], len(chunk[1])))
                yield from chunk[1]

        try:
            results = self._aligner.align_elsewhere(pairs(), processes, CHUNK)
            for first in results:
                number, size = given.popleft()
                self._sent.put((number, [first, *islice(results, size - 1)]))
        except Exception as error:
            self._sent.put(error)


def _aligned_chunk(chunk: Sequence[Texts], aligner: Aligner) -> Iterator[Alignment | ForestAlignError]:
    """What is refused before it is parsed (too long, control characters) is told apart by asking one by one."""
    try:
        prepared = aligner.prepare([("", source, target, None) for source, target in chunk])
    except ForestAlignError as error:
        if len(chunk) == 1:
            yield error
            return
        for pair in chunk:
            yield from _aligned_chunk([pair], aligner)
        return
    for each in prepared:
        yield each if isinstance(each, NoParseError) else aligner.align_prepared(each)
