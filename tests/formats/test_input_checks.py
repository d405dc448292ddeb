"""What comes in is checked before any work is done: by the library and by the commands, with our own errors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import forestalign
from forestalign import Aligner, Alignment, ForestAlignError
from forestalign.errors import NoParseError, UsageError
from forestalign.formats.fields import LONGEST_TEXT, LONGEST_WORD, checked_sentence
from forestalign.tokens import Sentence
from tests.builders.work import count_calls

GOOD = ("She left early.", "She went away early.")
WRONG_TEXTS = {
    "nothing": (None, "source is None"),
    "bytes": (b"She left.", "source is b'She left.'"),
    "a number": (3, "source is 3"),
    "a dictionary": ({"text": "She left."}, "source is "),
    "an iterator": (iter(["She", "left"]), "source is <list_iterator"),
    "words that are none": (["She", 4], "word 1 of the source is 4"),
    "words with spaces": (["She", "has left"], "token 1 of the source is 'has left'"),
    "empty words": (["She", ""], "token 1 of the source is ''"),
    "a lone surrogate": ("She \ud800 left.", r"half of a surrogate pair, U\+D800 at character 5"),
    "NUL": ("She\0 left.", r"control character, U\+0000 at character 4"),
    "a surrogate in a word": (["She", "\udfff"], r"U\+DFFF"),
}


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return forestalign.load(model="hand-set", links="dictionary", nbest=2, beam=5)


@pytest.mark.parametrize(("text", "message"), WRONG_TEXTS.values(), ids=WRONG_TEXTS)
def test_what_is_no_sentence_is_refused_by_name_and_value(aligner: Aligner, text: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        aligner.align(text, GOOD[1])
    with pytest.raises(UsageError, match=message.replace("source", "target")):
        aligner.align(GOOD[0], text if not hasattr(text, "__next__") else iter(["She", "left"]))


@pytest.mark.parametrize("name", ["jobs", "batch_size"])
@pytest.mark.parametrize("value", [-3, 0, 1.5, None, "2", True])
def test_a_number_of_jobs_or_pairs_that_cannot_be_is_refused_at_once(aligner: Aligner, name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"{name} is {value!r}; expected a whole number of at least 1"):
        aligner.pipe([GOOD], **{name: value})


@pytest.mark.parametrize("pairs", [None, "two sentences", b"bytes", 7])
def test_pairs_that_are_no_pairs_are_refused_at_once(aligner: Aligner, pairs: Any) -> None:
    with pytest.raises(UsageError, match=r"pairs is .*; expected pairs of sentences"):
        aligner.pipe(pairs)


@pytest.mark.parametrize("pair", [("a", "b", "c"), ("a",), (), "ab", ["ab"], None, {"a": 1, "b": 2}])
def test_a_pair_is_a_source_and_a_target(aligner: Aligner, pair: Any) -> None:
    with pytest.raises(ForestAlignError, match=r"pair 2: .* is not a pair; expected a source and a target"):
        list(aligner.pipe([GOOD, pair]))


@pytest.mark.heavy
def test_errors_take_the_place_of_their_results_where_wanted(aligner: Aligner) -> None:
    pairs: list[Any] = [GOOD, (None, "b"), GOOD, ("", "b"), ("x " * 400, "b"), ("a", "b", "c")]
    for jobs in (1, 2):
        results = list(aligner.pipe(pairs, jobs=jobs, errors="yield"))
        kinds = [isinstance(result, Alignment) for result in results]
        assert kinds == [True, False, True, False, False, False]
        messages = [str(result) for result in results if isinstance(result, ForestAlignError)]
        assert [message.partition(":")[0] for message in messages] == ["pair 2", "pair 4", "pair 5", "pair 6"]
    with pytest.raises(UsageError, match="errors is 'ignore'; expected 'raise', 'skip' or 'yield'"):
        aligner.pipe(pairs, errors="ignore")  # type: ignore[call-overload]


@pytest.mark.parametrize(("name", "value"), [("id", 3), ("id", None), ("links", [(0, 0)]), ("links", "0-0")])
def test_the_other_arguments_are_checked_too(aligner: Aligner, name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"{name} is "):
        aligner.align(*GOOD, **{name: value})


@pytest.mark.parametrize("name", ["model", "ppdb", "vectors", "crf_model"])
def test_loading_fails_at_once_where_a_file_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=rf"{name} is '.*nothing\.gz'; there is no such file"):
        forestalign.load(**{name: str(tmp_path / "nothing.gz")})


# ---- every public function ----

WRONG: dict[str, Any] = {
    "nothing": None, "bytes": b"x", "a number": 3, "a fraction": 1.5, "no number": float("nan"), "a flag": True,
    "an empty list": [], "a list": ["ab"], "a triple": ("a", "b", "c"), "a dictionary": {"a": 1}, "an object": object(),
    "half a surrogate pair": "\ud800", "NUL": "a\0b", "a long text": "x" * 100_000, "below zero": -3, "empty": "",
    "an empty word": [""], "no word": [None], "a range": range(3),
}  # fmt: skip
RESULT = (
    '{"version": 1, "id": "", "source": {"text": "a", "tokens": ["a"], "tree": "(NN a)"}, "target": {"text": "a", '
    '"tokens": ["a"], "tree": "(NN a)"}, "words": [], "phrases": [], "nulls": {"source": [], "target": []}, '
    '"reached_root": false, "completed": false, "log_score": 0.0, "signature": ""}'
)


def linked(aligner: Aligner, *link: Any) -> Alignment:
    return aligner.align("a b", "a b", links=forestalign.WordAlignment((forestalign.WordLink(*link),)))


PUBLIC: dict[str, Callable[[Aligner, Any], object]] = {
    "align source": lambda aligner, value: aligner.align(value, "a b"),
    "align target": lambda aligner, value: aligner.align("a b", value),
    "align id": lambda aligner, value: aligner.align("a b", "a b", id=value),
    "align links": lambda aligner, value: aligner.align("a b", "a b", links=value),
    "links": lambda aligner, value: aligner.align("a b", "a b", links=forestalign.WordAlignment(value)),
    "link": lambda aligner, value: linked(aligner, value, 0),
    "score of a link": lambda aligner, value: linked(aligner, 0, 0, value),
    "pipe": lambda aligner, value: list(aligner.pipe(value)),
    "pipe pair": lambda aligner, value: list(aligner.pipe([value])),
    "pipe jobs": lambda aligner, value: aligner.pipe([], jobs=value),
    "pipe errors": lambda aligner, value: aligner.pipe([], errors=value),
    "prepare": lambda aligner, value: aligner.prepare(value),
    "load": lambda aligner, value: forestalign.load(value),
    "load beam": lambda aligner, value: forestalign.load(beam=value),
    "load model": lambda aligner, value: forestalign.load(model=value),
    "load one_best": lambda aligner, value: forestalign.load(one_best=value),
    "load null_penalty": lambda aligner, value: forestalign.load(null_penalty=value),
    "AlignConfig beam": lambda aligner, value: forestalign.AlignConfig(beam=value),
    "AlignConfig vectors": lambda aligner, value: forestalign.AlignConfig(vectors=value),
    "AlignConfig links": lambda aligner, value: forestalign.AlignConfig(links=value),
    "Aligner": lambda aligner, value: Aligner(value),
    "Aligner given": lambda aligner, value: Aligner(given=value),
    "load_parser": lambda aligner, value: forestalign.load_parser(value),
    "parse": lambda aligner, value: aligner.parser.parse(value),
    "parse one": lambda aligner, value: aligner.parser.parse([value]),
    "tokenize": lambda aligner, value: forestalign.tokenize(value),
    "from_words": lambda aligner, value: forestalign.Sentence.from_words(value),
    "from_json": lambda aligner, value: Alignment.from_json(value),
    "pairs": lambda aligner, value: Alignment.from_json(RESULT).pairs(value),
    "edits": lambda aligner, value: Alignment.from_json(RESULT).edits(value).to_json(),
    "edits of_kind": lambda aligner, value: Alignment.from_json(RESULT).edits().of_kind(value),
    "similarity": lambda aligner, value: Alignment.from_json(RESULT).similarity().to_json(value),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.heavy if name in ("pipe", "pipe pair") else ()) for name in PUBLIC],
)  # its values go to processes of their own
def test_no_value_gives_an_error_that_is_not_ours(aligner: Aligner, name: str) -> None:
    for value in WRONG.values():
        with suppress(ForestAlignError):
            PUBLIC[name](aligner, value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("tokenize", None, "text is None; expected a string"),
        ("from_words", "ab", "words is 'ab'; expected a list of words"),
        ("from_words", ["a", 3], "word 1 is 3; expected a string"),
        ("load", 3, "config is 3; expected an AlignConfig"),
        ("load_parser", None, "config is None; expected an AlignConfig"),
        ("Aligner", b"x", "config is b'x'; expected an AlignConfig"),
        ("AlignConfig beam", "7", "beam takes a whole number, not '7'"),
        ("parse", "ab", "sentences is 'ab'; expected a list of Sentence"),
        ("parse one", "ab", "sentence 0 is 'ab'; expected a Sentence"),
        ("from_json", b"{}", "line is b'{}'; expected a string of JSON"),
        ("pairs", -3, "min_confidence is -3; expected a number of at least 0"),
        ("edits", 3, "id is 3; expected a string"),
        ("edits", "\ud800", "the id has half of a surrogate pair"),
        ("edits of_kind", "new", "kind is 'new'; expected one of kept, replaced"),
        ("similarity", None, "id is None; expected a string"),
        ("prepare", [("a", "b")], r"\('a', 'b'\) is not a pair; expected \(id, source, target, links\)"),
        ("link", "0", "links has WordLink"),
        ("score of a link", float("nan"), "link 0-0 has the score nan; expected a number"),
    ],
)
def test_what_is_wrong_is_named_with_its_value(aligner: Aligner, name: str, value: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        PUBLIC[name](aligner, value)


# ---- lengths ----


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("word " * 400, "400 words; the limit is 300"),
        (["word"] * 400, "400 words; the limit is 300"),
        (Sentence.from_words(["word"] * 400), "400 words; the limit is 300"),
        ("(" * 400, "400 words; the limit is 300"),
        ("x" * 30_000_000, "30,000,000 characters; the limit is 50,000"),
        (["x" * 30_000_000], "a word of 30,000,000 characters; the limit is 1,000"),
        ("x" * (LONGEST_WORD + 1), "a word of 1,001 characters"),
        ("x " * LONGEST_TEXT, "100,000 characters"),
    ],
    ids=["text", "words", "sentence", "brackets", "a huge word", "a huge token", "a long word", "a long text"],
)
def test_the_library_refuses_what_is_too_long_before_it_costs_anything(
    aligner: Aligner, value: Any, message: str
) -> None:
    def refuse() -> None:
        with pytest.raises(NoParseError, match=f"the source has {message}"):
            aligner.align(value, GOOD[1])
        with pytest.raises(NoParseError, match=f"the target has {message}"):
            aligner.align(GOOD[0], value)

    refuse()  # whatever is loaded at the first call
    assert count_calls(refuse) < 10_000  # aligning these pairs takes some 100,000


def test_lengths_at_the_limit_pass() -> None:
    assert len(checked_sentence("source", "w " * 300, 300)) == 300
    assert len(checked_sentence("source", "x" * LONGEST_WORD, 300)) == 1
    with pytest.raises(ValueError, match="3 words; the limit is 2"):
        checked_sentence("source", "a b c", 2)


@pytest.mark.parametrize("text", ["((((" * 12_000, "a." * 24_000, '"' * 49_999, "'s" * 24_000, "...-" * 12_000])
def test_hostile_texts_below_the_limit_take_few_steps_for_each_character(text: str) -> None:
    def refuse() -> None:
        with pytest.raises(ValueError, match="the limit is"):
            checked_sentence("source", text, 300)

    assert count_calls(refuse) < 0.1 * len(text)


@pytest.mark.parametrize("command", ["align", "words", "parse"])
def test_the_commands_refuse_what_is_too_long(tmp_path: Path, command: str) -> None:
    file = tmp_path / "pairs.tsv"
    second = "" if command == "parse" else "\tShe left."
    file.write_text(f"{'x' * 3_000_000}{second}\n{'word ' * 600}{second}\nShe left.{second}\n")
    arguments = [sys.executable, "-m", "forestalign", command, str(file)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "3,000,000 characters; the limit is 50,000" in done.stderr
    assert "600 words; the limit is" in done.stderr
    assert done.stdout.strip()
    assert "Traceback" not in done.stderr
