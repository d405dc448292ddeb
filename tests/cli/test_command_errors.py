"""Every command with bad options and bad files: the exit code, and the one line that names file, line and value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

import pytest

import forestalign
from forestalign.aligner import PairToAlign
from forestalign.batch import Job
from forestalign.cli.batch_options import watched
from forestalign.errors import UsageError
from forestalign.tokens import tokenize
from tests.builders.commands import Run, runner

pytestmark = pytest.mark.usefixtures("in_this_process")

FILES = {
    "trees.mrg": "(S (NP (NNS Dogs)) (VP (VBP bark)))\n(S (NP (NNS Cats)) (VP (VBP sleep)))\n",
    "broken.mrg": "(S (NP (NN a))\n",
    "pairs.tsv": "Dogs bark\tCats sleep\n",
    "bad.tsv": 'only one column\n\na\tb\tc\n{"source": 1}\n',
    "gold.jsonl": json.dumps(
        {"id": "a", "source": ["Dogs", "bark"], "target": ["Hounds", "bark"], "sure": [[0, 0], [1, 1]]}
    )
    + "\n",
    "links.txt": "0-0\n",
    "long.txt": "0-0\n0-0\n",
    "far.txt": "0-9\n",
    "odd.txt": "a-b\n",
    "numbers.txt": "0.5\n",
    "sts.jsonl": '{"score": 1}\n{"score": 2}\n',
    "table.ppdb": "one column only\n",
    "text.jsonl": "not json\n",
    "old.txt": "old\n",
    "empty": "",
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in a folder with good and bad files."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    Path("folder").mkdir()
    return runner(capfd)


def check(run: Run, arguments: str, code: int, message: str) -> None:
    answer = run(*arguments.split())
    assert (answer.code, answer.out.strip()) == (code, "")
    assert message in answer.err
    for name, text in FILES.items():
        assert Path(name).read_text(encoding="utf-8") == text, f"{name} was changed"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            "align bad.tsv --model hand-set --links dictionary --trees trees.mrg",
            1,
            'line 1: one column: "only one column"; expected source<TAB>target, source ||| target',
        ),
        (
            "align pairs.tsv --links far.txt --trees trees.mrg --model hand-set",
            1,
            "line 1: links: link 0-9: the target has 2 words; expected 0 to 1",
        ),
        (
            "align pairs.tsv --links odd.txt --trees trees.mrg --model hand-set",
            1,
            "line 1: links: 'a-b' is not a link; expected i-j or i-j:score, counted from 0",
        ),
        (
            "align pairs.tsv --links empty --trees trees.mrg --model hand-set",
            1,
            "line 1: empty has no line for this pair; expected as many lines of links as pairs",
        ),
        (
            "align pairs.tsv --links missing.txt --trees trees.mrg",
            2,
            "--links is 'missing.txt': neither sultan, dictionary, union",
        ),
        ("align pairs.tsv --trees missing.mrg", 1, "missing.mrg: cannot be read: No such file or directory"),
        (
            "align pairs.tsv --trees broken.mrg --model hand-set --links dictionary",
            1,
            'broken.mrg:1: 1 closing bracket missing at the end, in "(S (NP (NN a))"',
        ),
        ("align pairs.tsv --trees trees.mrg --forests x", 2, "argument --forests: not allowed with argument --trees"),
        ("align pairs.tsv --set beam", 2, "--set takes NAME=VALUE, not 'beam'"),
        ("align pairs.tsv --set beam=many", 2, "beam takes a whole number, not 'many'"),
        ("align pairs.tsv --set bean=3", 2, "no setting is called 'bean'; settings are: backend, "),
        ("align pairs.tsv --set scoring=worst", 2, "scoring is 'worst'; expected one of best, paper"),
        ("align pairs.tsv --set parse_weight=2", 2, "parse_weight is 2.0; expected 0 to 1"),
        ("align pairs.tsv --beam -1", 2, "beam is -1; expected at least 0"),
        ("align pairs.tsv --gap 0", 2, "gap is 0; expected at least 1"),
        (
            "align pairs.tsv --jobs 0",
            2,
            "argument -j/--jobs: '0' is not a number of processes; expected a whole number of at least 1",
        ),
        (
            "align pairs.tsv --jobs two",
            2,
            "argument -j/--jobs: 'two' is not a number of processes; expected a whole number of at least 1",
        ),
        (
            "align pairs.tsv --time-limit -1",
            2,
            "argument --time-limit: '-1' is not a number of seconds; expected 0 to a million",
        ),
        (
            "align pairs.tsv --time-limit long",
            2,
            "argument --time-limit: 'long' is not a number of seconds; expected 0 to a million",
        ),
        ("align pairs.tsv --json --tsv", 2, "argument --tsv: not allowed with argument --json"),
        (
            "align pairs.tsv --search fast",
            2,
            "argument --search: invalid choice: 'fast'",
        ),
        (
            "align pairs.tsv --profile worst",
            2,
            "argument --profile: invalid choice: 'worst'",
        ),
        ("align pairs.tsv -o folder", 2, "cannot write to folder: it is a folder; expected the name of a file"),
        ("align pairs.tsv -o no/such.txt", 2, "cannot write to no/such.txt: the folder no does not exist"),
        ("align pairs.tsv -o old.txt", 2, "old.txt exists already; --resume continues it, --force replaces it"),
        (
            "align pairs.tsv -o pairs.tsv --force",
            2,
            "the output pairs.tsv and the input pairs.tsv are the same file; expected an output of its own",
        ),
        ("align pairs.tsv --resume", 2, "--resume needs an output file (-o FILE): it looks there for what is done"),
        (
            "align pairs.tsv --cluster nowhere",
            2,
            "--cluster is 'nowhere'; expected the address of a scheduler, as tcp://10.0.0.1:8786",
        ),
        (
            "align pairs.tsv --model missing.json.gz --trees trees.mrg --links dictionary",
            1,
            "missing.json.gz: cannot be read: No such file or directory",
        ),
        (
            "align pairs.tsv --model text.jsonl --trees trees.mrg --links dictionary",
            1,
            "text.jsonl: is not a phrase model: Expecting value: line 1 column 1 (char 0)",
        ),
        (
            "align pairs.tsv --set scores=text.jsonl --trees trees.mrg --links dictionary",
            1,
            "text.jsonl: is not a file of phrase scores: Expecting value: line 1 column 1 (char 0)",
        ),
        (
            "align pairs.tsv --ppdb table.ppdb --trees trees.mrg",
            1,
            "table.ppdb:1: 'one column only' is not two words separated by a tab",
        ),
        ("align pairs.tsv --vectors missing.bin --trees trees.mrg", 1, "missing.bin: the vector file does not exist"),
        ("align --chunks missing.wa", 1, "missing.wa: cannot be read: No such file or directory"),
        ("align --chunks text.jsonl", 1, "line 1: text.jsonl:1: invalid JSON: Expecting value at column 1"),
        (
            "align --chunks text.jsonl pairs.tsv",
            2,
            "--chunks text.jsonl holds the pairs; expected no other file, not 'pairs.tsv'",
        ),
        ("align --chunks text.jsonl --trees trees.mrg", 2, "--chunks takes no parses; expected no 'trees.mrg'"),
        (
            "align --chunks text.jsonl --links links.txt",
            2,
            "--links is 'links.txt'; with --chunks expected one of sultan, dictionary",
        ),
    ],
)
def test_align_refuses_what_it_cannot_use(run: Run, arguments: str, code: int, message: str) -> None:
    check(run, arguments, code, message)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            "words pairs.tsv --links crf --model text.jsonl",
            1,
            "text.jsonl: is not a CRF model: Expecting value: line 1 column 1 (char 0)",
        ),
        (
            "words pairs.tsv --matching best",
            2,
            "argument --matching: invalid choice: 'best'",
        ),
        (
            "words bad.tsv --links dictionary",
            1,
            'line 1: one column: "only one column"; expected source<TAB>target, source ||| target',
        ),
    ],
)
def test_words_refuses_what_it_cannot_use(run: Run, arguments: str, code: int, message: str) -> None:
    check(run, arguments, code, message)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("parse --backend trees", 2, "--backend trees needs a file of parses: --trees FILE"),
        (
            "parse --trees empty trees.mrg",
            1,
            "empty: no tree in the file; expected Penn brackets, n-best lists or forests",
        ),
        ("parse --nbest -1 empty", 2, "nbest is -1; expected at least 1"),
        ("parse --temperature 0 empty", 2, "temperature is 0.0; expected at least 1e-09"),
        ("parse --threads 0 empty", 2, "threads is 0; expected at least 1"),
    ],
)
def test_parse_refuses_what_it_cannot_use(run: Run, arguments: str, code: int, message: str) -> None:
    check(run, arguments, code, message)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("train pairs.tsv", 2, "the following arguments are required: -o/--output"),
        ("train missing.tsv -o m.json.gz --cache folder", 1, "missing.tsv: cannot be read: No such file or directory"),
        ("train pairs.tsv -o old.txt", 2, "old.txt exists already; --resume continues it, --force replaces it"),
        (
            "train pairs.tsv -o m.json.gz --extras nonsense --cache folder",
            2,
            "--extras is 'nonsense'; expected some of coverage, link, cosine, length",
        ),
        (
            "train --gold missing.jsonl -o s.json --cache folder",
            1,
            "missing.jsonl: cannot be read: No such file or directory",
        ),
        (
            "train --gold empty -o s.json --cache folder",
            1,
            "empty: is empty; a development set needs at least one pair",
        ),
        (
            "train --gold gold.jsonl:Z -o s.json --cache folder",
            1,
            "gold.jsonl: pair a: no annotator is called 'Z'; expected one of gold",
        ),
        (
            "train --gold gold.jsonl@x -o s.json --cache folder",
            1,
            "gold.jsonl@x: cannot be read: No such file or directory",
        ),
    ],
)
def test_train_refuses_what_it_cannot_use(run: Run, arguments: str, code: int, message: str) -> None:
    check(run, arguments, code, message)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("tune missing.jsonl -o t.jsonl --cache folder", 1, "missing.jsonl: cannot be read: No such file or directory"),
        (
            "tune gold.jsonl -o t.jsonl --objective beauty --cache folder",
            2,
            "'beauty' cannot be maximised; expected some of phrase, recall, precision, several-links, uas, root",
        ),
        (
            "tune gold.jsonl -o t.jsonl --param beam --cache folder",
            2,
            "'beam' is not a parameter; expected NAME=LOW:HIGH or NAME=VALUE,VALUE",
        ),
        (
            "tune gold.jsonl -o t.jsonl --param beam=9:1 --cache folder",
            2,
            "'beam=9:1': the range is empty; expected the lower end first",
        ),
        (
            "tune gold.jsonl -o t.jsonl --trials 0 --cache folder",
            2,
            "--trials and --initial must be at least 1, not 0 and 10",
        ),
        (
            "tune gold.jsonl -o old.txt --cache folder",
            2,
            "old.txt exists already; --resume continues it, --force replaces it",
        ),
    ],
)
def test_tune_refuses_what_it_cannot_use(run: Run, arguments: str, code: int, message: str) -> None:
    check(run, arguments, code, message)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("model show missing.json", 1, "missing.json: cannot be read: No such file or directory"),
        (
            "model show text.jsonl",
            1,
            "text.jsonl: is not a phrase model or file of phrase scores: Expecting value: line 1 column 1 (char 0)",
        ),
        (
            "model show hand-set",
            2,
            "the hand-set model has no file and no card; name a model file, or none for the shipped one",
        ),
        ("model hide", 2, "argument action: invalid choice: 'hide'"),
    ],
)
def test_model_refuses_what_is_no_model(run: Run, arguments: str, code: int, message: str) -> None:
    check(run, arguments, code, message)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            "crf train missing.jsonl -o m.json --no-parser",
            1,
            "missing.jsonl: cannot be read: No such file or directory",
        ),
        ("crf train empty -o m.json --no-parser", 2, "no gold pairs in empty"),
        (
            "crf train gold.jsonl -o m.json --no-parser --sample 1 2",
            2,
            "--sample has [1, 2] for 1 gold file; expected one for each, 0 or more",
        ),
        (
            "crf train gold.jsonl -o m.json --no-parser --weights 1 2",
            2,
            "--weights has [1.0, 2.0] for 1 gold file; expected one above 0 for each",
        ),
        (
            "crf train gold.jsonl -o m.json --no-parser --without nonsense",
            2,
            "argument --without: invalid choice: 'nonsense'",
        ),
        (
            "crf train gold.jsonl -o m.json --no-parser --held-out 2",
            2,
            "--held-out is 2.0; expected a share from 0 to below 1",
        ),
        (
            "crf train gold.jsonl -o old.txt --no-parser",
            2,
            "old.txt exists already; --resume continues it, --force replaces it",
        ),
        (
            "crf train gold.jsonl -o m.json --no-parser --longest 0 --phrase",
            2,
            "span lengths are 1 to 9 words, not 0 and 0",
        ),
        (
            "crf train gold.jsonl -o m.json --no-parser --jobs 0",
            2,
            "argument -j/--jobs: '0' is not a number of processes; expected a whole number of at least 1",
        ),
        ("crf synthesise missing.jsonl --no-parser", 1, "missing.jsonl: cannot be read: No such file or directory"),
        ("crf score missing.tsv --no-parser", 1, "missing.tsv: cannot be read: No such file or directory"),
        (
            "crf score pairs.tsv --no-parser --model text.jsonl",
            1,
            "text.jsonl: is not a CRF model: Expecting value: line 1 column 1 (char 0)",
        ),
        ("crf kbest pairs.tsv --no-parser --count 0", 2, "0 alignments were asked for; expected 1 or more"),
        ("crf", 2, "the following arguments are required: train|synthesise|score|kbest"),
    ],
)
def test_crf_refuses_what_it_cannot_use(run: Run, arguments: str, code: int, message: str) -> None:
    check(run, arguments, code, message)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("evaluate", 2, "the following arguments are required: words|phrases|chunks|parses|scores"),
        ("evaluate words gold.jsonl missing.txt", 1, "missing.txt: cannot be read: No such file or directory"),
        ("evaluate words gold.jsonl far.txt", 1, "far.txt:1: link 0-9: the target has 2 words; expected 0 to 1"),
        ("evaluate words gold.jsonl long.txt", 1, "long.txt:2: line 2 is one too many; expected 1 alignment"),
        (
            "evaluate words gold.jsonl links.txt --annotator Z",
            1,
            "gold.jsonl: pair a: no annotator is called 'Z'; expected one of gold",
        ),
        ("evaluate words gold.jsonl links.txt -B 0", 2, "a test needs at least one sample, not 0"),
        ("evaluate words text.jsonl links.txt", 1, 'text.jsonl:1: 1 column in "not json"; expected 9 or more'),
        ("evaluate phrases gold.jsonl", 1, "gold.jsonl:1: no field 'phenomena'; expected a list of strings"),
        ("evaluate phrases missing.jsonl", 1, "missing.jsonl: cannot be read: No such file or directory"),
        ("evaluate chunks missing.wa missing.wa", 1, "missing.wa: cannot be read: No such file or directory"),
        (
            "evaluate parses trees.mrg broken.mrg",
            1,
            'broken.mrg:1: 1 closing bracket missing at the end, in "(S (NP (NN a))"',
        ),
        ("evaluate scores sts.jsonl numbers.txt", 1, "numbers.txt:2: 1 score; the gold standard has 2 pairs"),
        ("evaluate scores sts.jsonl links.txt", 1, 'links.txt:1: found "0-0"; expected a number, last on its line'),
        (
            "evaluate phrases gold.jsonl text.jsonl --match guess",
            2,
            "argument --match: invalid choice: 'guess'",
        ),
    ],
)
def test_evaluate_refuses_what_does_not_fit(run: Run, arguments: str, code: int, message: str) -> None:
    check(run, arguments, code, message)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("annotations check missing.jsonl", 1, "missing.jsonl: cannot be read: No such file or directory"),
        ("annotations agreement empty", 2, "no annotated pairs in empty"),
        ("annotations statistics empty", 2, "no annotated pairs in empty"),
        ("annotations project text.jsonl", 1, 'text.jsonl:1: 1 column in "not json"; expected 9 or more'),
        ("annotations pairs text.jsonl", 1, "text.jsonl:1: invalid JSON: Expecting value at column 1"),
        (
            "annotations hug text.jsonl",
            2,
            "argument action: invalid choice: 'hug'",
        ),
    ],
)
def test_annotations_refuses_what_it_cannot_use(run: Run, arguments: str, code: int, message: str) -> None:
    check(run, arguments, code, message)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("extract missing.jsonl -o -", 1, "missing.jsonl: cannot be read: No such file or directory"),
        ("extract text.jsonl -o t.tsv", 1, 'line 1: one column: "not json"; expected source<TAB>target'),
        (
            "extract text.jsonl -o t.tsv --posterior 2",
            2,
            "argument --posterior: '2' is not a share; expected a number from 0 to 1",
        ),
        (
            "extract text.jsonl -o t.tsv --max-words 0",
            2,
            "argument --max-words: '0' is not a count; expected a whole number of at least 1",
        ),
        (
            "extract text.jsonl -o t.tsv --relation odd",
            2,
            "argument --relation: invalid choice: 'odd'",
        ),
        (
            "extract text.jsonl -o t.ppdb --patterns 1",
            2,
            "the form ppdb holds phrases, not patterns; expected tsv, jsonl or parquet for patterns",
        ),
        ("extract text.jsonl -o t.tsv --patterns 9", 2, "argument --patterns: invalid choice: 9"),
    ],
)
def test_extract_refuses_what_it_cannot_use(run: Run, arguments: str, code: int, message: str) -> None:
    check(run, arguments, code, message)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("edits", 2, "the following arguments are required: INPUT"),
        ("edits text.jsonl -o e.jsonl", 1, 'line 1: one column: "not json"; expected source<TAB>target'),
        ("edits missing.jsonl", 1, "missing.jsonl: cannot be read: No such file or directory"),
    ],
)
def test_edits_refuses_what_it_cannot_use(run: Run, arguments: str, code: int, message: str) -> None:
    check(run, arguments, code, message)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("rerank pairs.tsv --trees missing.mrg", 1, "missing.mrg: cannot be read: No such file or directory"),
        ("similarity --results missing.jsonl", 1, "missing.jsonl: cannot be read: No such file or directory"),
        ("similarity --results text.jsonl", 1, "text.jsonl:1: invalid JSON: Expecting value at column 1"),
        ("similarity --results text.jsonl pairs.tsv", 2, "--results and the pairs pairs.tsv; expected one of them"),
        ("view missing.jsonl", 1, "missing.jsonl: cannot be read: No such file or directory"),
        ("view text.jsonl -o v.html", 1, 'line 1: one column: "not json"; expected source<TAB>target'),
        ("view empty -o old.txt", 2, "old.txt exists already; --force replaces it"),
        ("serve --port 99999", 2, "port 99999 does not exist; ports go from 0 to 65535"),
        ("serve --port many", 2, "argument --port: invalid int value: 'many'"),
        ("serve missing.jsonl", 1, "missing.jsonl: cannot be read: No such file or directory"),
        ("serve --annotate folder", 2, "cannot write to folder: it is a folder"),
        ("completion tcsh", 2, "argument shell: invalid choice: 'tcsh'"),
    ],
)
def test_the_other_commands_refuse_what_they_cannot_use(run: Run, arguments: str, code: int, message: str) -> None:
    check(run, arguments, code, message)


@pytest.mark.parametrize("command", ["align", "words"])
def test_every_bad_line_is_told_by_its_number(run: Run, command: str) -> None:
    given = ("--trees", "trees.mrg", "--model", "hand-set", "--links", "dictionary") if command == "align" else ()
    answer = run(command, "bad.tsv", *given)
    assert answer.code == 1
    lines = answer.err.splitlines()
    assert [line.partition(":")[0] for line in lines[:4]] == ["line 1", "line 2", "line 3", "line 4"]
    assert lines[1] == "line 2: the line is empty; expected a pair of sentences"
    assert lines[3] == "line 4: source is 1; expected a string"
    assert lines[4] == "0 done, 4 failed, 0 skipped"


@pytest.mark.parametrize("command", ["align", "words"])
def test_quiet_keeps_the_complaints_and_drops_the_summary(run: Run, command: str) -> None:
    answer = run(command, "bad.tsv", "--quiet", *(("--trees", "trees.mrg") if command == "align" else ()))
    assert answer.code == 1
    assert "line 1: one column" in answer.err
    assert "failed" not in answer.err


def test_an_annotated_file_that_cannot_be_read_is_a_finding(run: Run) -> None:
    answer = run("annotations", "check", "text.jsonl")
    assert answer.code == 1
    assert answer.out == "text.jsonl:1: E01 invalid JSON: Expecting value at column 1\n"
    assert answer.err == "0 pairs: E01 1\n"


def test_findings_are_json_on_demand(run: Run) -> None:
    (finding,) = json.loads(run("annotations", "check", "text.jsonl", "--json").out)
    assert (finding["code"], finding["line"]) == ("E01", 1)


def test_nothing_in_is_nothing_out(run: Run) -> None:
    said = "empty is empty; nothing to do\n"
    assert run("edits", "empty").err == f"{said}0 pairs, 0 edits\n"
    assert run("view", "empty", "-o", "page.html").err == f"{said}page.html: 0 pairs\n"
    table = run("extract", "empty", "-o", "-")
    assert table.out.startswith("phrase\tparaphrase\t")
    assert table.err == f"{said}-: 0 rows from 0 phrase pairs in 0 results\n"
    assert run("similarity", "empty") == (0, "", said)
    assert run("parse", "empty", "--trees", "trees.mrg") == (0, "", said)


def test_sentences_in_another_language_are_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    english, german = "The dog sleeps in the garden today.", "Der Hund schläft heute im Garten."
    message = "pair 1: this does not look like English, the only language that forestalign knows\n"
    for count in (1, 30):
        for text, said in ((english, ""), (german, message)):
            pairs = [PairToAlign(tokenize(text), tokenize(text))] * count
            list(watched([Job(k, str(k), pair) for k, pair in enumerate(pairs, start=1)], "pairs.tsv"))
            assert capsys.readouterr().err == said


def test_serve_says_that_it_loads_the_models(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(**settings: object) -> NoReturn:
        raise UsageError("there are no models")

    monkeypatch.setattr(forestalign, "load", load)
    assert run("serve", "--port", "0").err == "loading the models ...\nforestalign serve: there are no models\n"


def test_quiet_commands_say_nothing(run: Run) -> None:
    assert run("edits", "empty", "--quiet") == (0, "", "")
    assert run("view", "empty", "-o", "page.html", "--quiet") == (0, "", "")
