"""Training runs: what is learned, resuming, processes, the cache on disk, the commands."""

from __future__ import annotations

import os
import pickle
import random
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forestalign import pair_cache
from forestalign.batch.workers import Processes
from forestalign.cli import main
from forestalign.config import AlignConfig
from forestalign.errors import InputError, NoParseError, UsageError
from forestalign.formats.pairs import PairRecord
from forestalign.learning.em import EmSettings, TrainingReport, train_model
from forestalign.learning.m_step import weights_of
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.own_files import NewFile
from forestalign.pair_cache import PairCache, cache_corpus, read_cached
from forestalign.phrases.scoring.model import PhraseModel, load_model
from forestalign.phrases.scoring.pair_features import CATEGORY_PAIRS, DENSE, FeatureExtractor, FeatureSet
from forestalign.phrases.search.directed_search import paper_search
from forestalign.phrases.stage import PreparedPair
from forestalign.tokens import Sentence
from tests.builders.hand_forests import hand_forest, hand_links
from tests.builders.synthetic_pairs import synthetic_corpus, synthetic_pair

CONFIG = AlignConfig(plain=True, lifts=False, beam=20, gap=2)
SHORT = EmSettings(batch_size=4, passes=2, l2=0.1, min_count=2, held_out=0.2)
WORDS = 5  # of the synthetic language


# ---- what is learned ----


def uniform_start() -> PhraseModel:
    """No preference at all, over all word pairs of the language."""
    numbers = range(WORDS)
    keys = tuple((f"a{i}", "N", f"b{j}", "N") for i in numbers for j in numbers)
    return PhraseModel(
        FeatureSet(extras=()), np.zeros(len(DENSE)), np.zeros(len(CATEGORY_PAIRS)), keys, np.zeros(len(keys))
    )


def aligned_words(model: PhraseModel, pair: PreparedPair) -> set[tuple[str, str]]:
    extractor = FeatureExtractor(load_wordnet(), load_vectors(), model.features, model.vocabulary)
    scores = model.score(extractor.extract(pair.source, pair.target, pair.words), CONFIG)
    best = paper_search(pair.source, pair.target, pair.words, scores, CONFIG).best().derivations[0]
    sources, targets = pair.source.sentence.words, pair.target.sentence.words
    return {
        (sources[pair.source.nodes[each.source].begin], targets[pair.target.nodes[each.target].begin])
        for each in best.pairs
        if pair.source.nodes[each.source].is_leaf
    }


def accuracy(model: PhraseModel) -> float:
    """Share of the words of new pairs that are aligned to their translation."""
    rng = random.Random(99)
    pairs = [synthetic_pair(rng, WORDS) for _ in range(12)]
    right = sum(len({(f"a{k}", f"b{k}") for k in range(WORDS)} & aligned_words(model, pair)) for pair in pairs)
    return right / sum(len(pair.source.sentence) for pair in pairs)


def test_em_recovers_the_correspondences_of_a_synthetic_language(tmp_path):
    paths = synthetic_corpus(tmp_path / "cache", 100, WORDS, CONFIG)
    settings = EmSettings(batch_size=100, passes=3, l2=0.01)
    report = train_model(paths, CONFIG, settings, tmp_path / "run.npz", start=uniform_start())
    weights = report.model.lexical.reshape(WORDS, WORDS)
    assert (weights.argmax(axis=1) == np.arange(WORDS)).all()
    assert (weights.argmax(axis=0) == np.arange(WORDS)).all()
    assert accuracy(uniform_start()) < 0.7
    assert accuracy(report.model) == 1.0
    assert max(value for _, value in report.history) > report.history[0][1]


# ---- resuming ----


class Stopped(Exception):
    """Stands for a killed run."""


def interrupt_after(pairs: int) -> Callable[[str, int], None]:
    done = 0

    def notify(message: str, count: int) -> None:
        nonlocal done
        done += count
        if done >= pairs:
            raise Stopped

    return notify


@pytest.fixture(scope="module")
def small_corpus(tmp_path_factory) -> list[Path]:
    return synthetic_corpus(tmp_path_factory.mktemp("cache"), 12, WORDS, CONFIG, seed=5)


@pytest.fixture(scope="module")
def whole_run(small_corpus, tmp_path_factory) -> TrainingReport:
    return train_model(small_corpus, CONFIG, SHORT, tmp_path_factory.mktemp("run") / "run.npz")


def assert_same(first: TrainingReport, second: TrainingReport) -> None:
    assert weights_of(first.model).tobytes() == weights_of(second.model).tobytes()
    assert replace(first, model=second.model) == second


@pytest.mark.parametrize("pairs", [1, 10, 15])
def test_a_run_that_was_stopped_goes_on_to_the_same_last_digit(pairs, small_corpus, whole_run, tmp_path):
    checkpoint = tmp_path / "run.npz"
    with pytest.raises(Stopped):
        train_model(small_corpus, CONFIG, SHORT, checkpoint, notify=interrupt_after(pairs))
    assert_same(train_model(small_corpus, CONFIG, SHORT, checkpoint, resume=True), whole_run)


@pytest.mark.parametrize("change", ["batch_size", "seed", "corpus", "config"])
def test_the_checkpoint_of_another_run_is_refused(change, small_corpus, tmp_path):
    train_model(small_corpus, CONFIG, replace(SHORT, passes=1), tmp_path / "run.npz")
    paths = small_corpus[:-1] if change == "corpus" else small_corpus
    config = CONFIG.replace(gap=3) if change == "config" else CONFIG
    settings = replace(SHORT, **{change: 3}) if change in ("batch_size", "seed") else SHORT
    with pytest.raises(UsageError, match="cannot be resumed"):
        train_model(paths, config, settings, tmp_path / "run.npz", resume=True)


def test_a_half_written_checkpoint_is_not_looked_at(small_corpus, whole_run, tmp_path):
    (tmp_path / "run.part").write_bytes(b"half")
    assert_same(train_model(small_corpus, CONFIG, SHORT, tmp_path / "run.npz", resume=True), whole_run)


def test_processes_give_the_same_weights_as_this_process(small_corpus, whole_run, tmp_path):
    with Processes(2) as workers:
        assert_same(train_model(small_corpus, CONFIG, SHORT, tmp_path / "run.npz", workers=workers), whole_run)


def test_a_start_model_gives_the_first_weights(small_corpus, whole_run, tmp_path):
    settings = replace(SHORT, passes=1, l2=1e6)  # a penalty that drives every weight to zero
    report = train_model(small_corpus, CONFIG, settings, tmp_path / "run.npz", start=whole_run.model)
    assert report.model.lexical_keys == whole_run.model.lexical_keys
    assert abs(weights_of(report.model)).max() < 0.01


# ---- the cache ----


def record(source: str, target: str, number: int = 1) -> PairRecord:
    return PairRecord(number, str(number), Sentence.from_words(source.split()), Sentence.from_words(target.split()))


@pytest.mark.parametrize("change", [{"nbest": 7}, {"links": "union"}, {"profile": "paper"}, {"ppdb": "x"}])
def test_settings_of_parsing_and_linking_have_files_of_their_own(change):
    pair = record("he ran", "he fled")
    assert PairCache(Path("c"), CONFIG).path(pair) != PairCache(Path("c"), CONFIG.replace(**change)).path(pair)


def test_another_grammar_has_files_of_its_own(monkeypatch):
    pair = record("he ran", "he fled")
    before = PairCache(Path("c"), CONFIG).path(pair)
    monkeypatch.setattr(pair_cache, "grammar_hash", lambda: "another")
    assert PairCache(Path("c"), CONFIG).path(pair) != before


def test_a_cached_pair_keeps_the_vectors_half_way_as_exact_as_the_parser_gives_them(tmp_path):
    middle = np.random.default_rng(1).normal(size=(2, 5)).astype(np.float16).astype(np.float32)
    source = hand_forest("(NP (DT a) (NN b))")
    source = source.over(replace(source.sentence, context_vectors=middle))
    pair = PreparedPair(source, hand_forest("(NP (NN b))"), hand_links((1, 0)))
    again = read_cached(PairCache(tmp_path, CONFIG).write(pair))
    assert np.array_equal(again.source.sentence.context_vectors, middle)
    assert again.source.sentence.context_vectors.dtype == np.float32
    assert again.target.sentence.context_vectors is None


def test_a_cached_pair_of_another_format_is_not_believed(tmp_path, monkeypatch):
    pair = PreparedPair(hand_forest("(N a)"), hand_forest("(N b)"), hand_links((0, 0)))
    before = PairCache(Path("c"), CONFIG).path(record("he ran", "he fled"))
    monkeypatch.setattr(pair_cache, "FORMAT", pair_cache.FORMAT + 1)
    path = PairCache(tmp_path, CONFIG).write(pair)
    assert PairCache(Path("c"), CONFIG).path(record("he ran", "he fled")) != before
    monkeypatch.undo()
    with pytest.raises(InputError, match=f"expected {pair_cache.FORMAT}"):
        read_cached(path)


class FakeAligner:
    """Parses nothing: every pair fails, and what was asked is remembered."""

    asked: list[str] = []  # noqa: RUF012 - one list for the test to look at

    def __init__(self, config: AlignConfig):
        self.config = config

    def prepare(self, pairs):
        FakeAligner.asked += [pair[0] for pair in pairs]
        return [NoParseError("no parse today") for _ in pairs]


def test_only_pairs_that_are_not_there_are_parsed_and_failures_say_why(tmp_path, monkeypatch):
    monkeypatch.setattr(pair_cache, "Aligner", FakeAligner)
    FakeAligner.asked.clear()
    cache, known, new = PairCache(tmp_path, CONFIG), record("he ran", "he fled", 1), record("a b", "c d", 2)
    cache.write(PreparedPair(hand_forest("(S (N he) (V ran))"), hand_forest("(S (N he) (V fled))"), hand_links()))
    assert list(cache_corpus([known, new], cache)) == [(known, cache.path(known)), (new, "no parse today")]
    assert FakeAligner.asked == ["2"]


def test_what_a_killed_run_left_is_removed_and_what_a_running_one_writes_is_not(tmp_path):
    (tmp_path / "ab").mkdir()
    left = tmp_path / "ab" / ".x.pair.0123456789abcdef.part"
    left.write_bytes(b"half")
    with NewFile(tmp_path / "ab" / "y.pair") as fresh:
        assert list(cache_corpus([], PairCache(tmp_path, CONFIG))) == []
        assert not left.exists()
        assert fresh.path.exists()


def test_a_planted_pickle_is_not_run_and_a_torn_file_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setattr(pair_cache, "Aligner", FakeAligner)
    cache, pair = PairCache(tmp_path, CONFIG), record("he ran", "he fled")
    cache.write(PreparedPair(hand_forest("(S (N he) (V ran))"), hand_forest("(S (N he) (V fled))"), hand_links()))
    data = cache.path(pair).read_bytes()
    planted = pickle.dumps(Planted(str(tmp_path / "ran")))
    for content in (planted, zlib.compress(planted), data[:-3], data[4:], b"", data[:4] + zlib.compress(b"{}")):
        cache.path(pair).write_bytes(content)
        with pytest.raises(InputError, match="is not a cached pair"):
            read_cached(cache.path(pair))
        FakeAligner.asked.clear()
        list(cache_corpus([pair], cache))
        assert FakeAligner.asked == ["1"]
    assert not (tmp_path / "ran").exists()


class Planted:
    """Leaves a trace when it is unpickled."""

    def __init__(self, path: str):
        self.path = path

    def __reduce__(self):
        return Path.touch, (Path(self.path),)


def test_the_folder_keeps_to_its_size_and_what_was_used_last_stays(tmp_path):
    cache = PairCache(tmp_path, CONFIG)
    pairs = [PreparedPair(hand_forest(f"(N {word})"), hand_forest("(N b)"), hand_links((0, 0))) for word in "xyz"]
    paths = [cache.write(pair) for pair in pairs]
    for age, path in enumerate(paths):
        os.utime(path, (1000 + age, 1000 + age))
    assert pair_cache.is_cached(paths[0])  # used now
    cache.sweep(largest=sum(paths[k].stat().st_size for k in (0, 2)))
    assert [path.exists() for path in paths] == [True, False, True]


def test_a_file_that_is_not_there_says_what_a_cluster_needs(tmp_path):
    with pytest.raises(InputError, match="shared file system"):
        read_cached(tmp_path / "none.pair")


def test_no_module_unpickles_a_file():
    """Pickles go between a run and its own workers, and nowhere else."""
    root = Path(pair_cache.__file__).parent
    found = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if "import pickle" in path.read_text()}
    assert found == {"batch/worker_program.py", "batch/workers.py"}
    loads = [path for path in root.rglob("*.py") if "allow_pickle=True" in path.read_text()]
    assert not loads


# ---- the commands ----


@pytest.mark.heavy
def test_a_model_is_trained_shown_and_used_from_the_command_line(tmp_path, capsys):
    pairs, model = tmp_path / "pairs.tsv", tmp_path / "model.json.gz"
    pairs.write_text("She bought a red car .\tA red car was bought by her .\nHe left early .\tHe went early .\n" * 2)
    options = ["--cache", str(tmp_path / "cache"), "--set", "plain=true", "--set", "nbest=2", "--tokenized", "--quiet"]
    options += ["--set", "links=dictionary"]
    assert main(["train", str(pairs), "-o", str(model), "--passes", "1", "--min-count", "1", *options]) == 0
    assert "3 pairs is too little to learn from; expected 1000 or more" in capsys.readouterr().err
    assert not list((tmp_path / "cache").glob("*/.*.part"))
    assert load_model(str(model)).features.extras == ("coverage", "link", "cosine", "length")
    assert main(["model", "show", str(model)]) == 0
    shown = capsys.readouterr().out
    assert "share of word links inside both phrases" in shown
    assert "pairs: 3" in shown
    assert "batch_size=" not in shown.split("signature")[1]  # that of EM is not a setting of the parser
