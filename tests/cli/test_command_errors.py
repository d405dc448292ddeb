"""Every command with bad options and bad files: the exit code, and the one line that names file, line and value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

import pytest

import forestalign
from forestalign.aligner import PairToAlign
from forestalign.batch.workers import Job
from forestalign.cli.options import watch_jobs
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


# exit code | command line | what it says
ERRORS = """
1 | align bad.tsv --model hand-set --links dictionary --trees trees.mrg | line 1: one column: "only one column"; expected source<TAB>target, source ||| target
1 | align pairs.tsv --links far.txt --trees trees.mrg --model hand-set | line 1: links: link 0-9: the target has 2 words; expected 0 to 1
1 | align pairs.tsv --links odd.txt --trees trees.mrg --model hand-set | line 1: links: 'a-b' is not a link; expected i-j or i-j:score, counted from 0
1 | align pairs.tsv --links empty --trees trees.mrg --model hand-set | line 1: empty has no line for this pair; expected as many lines of links as pairs
1 | align pairs.tsv --trees missing.mrg | missing.mrg: cannot be read: No such file or directory
1 | align pairs.tsv --trees broken.mrg --model hand-set --links dictionary | broken.mrg:1: 1 closing bracket missing at the end, in "(S (NP (NN a))"
2 | align pairs.tsv --trees trees.mrg --forests x | argument --forests: not allowed with argument --trees
2 | align pairs.tsv --set beam | --set takes NAME=VALUE, not 'beam'
2 | align pairs.tsv --set beam=many | beam takes a whole number, not 'many'
2 | align pairs.tsv --set bean=3 | no setting is called 'bean'; settings are: backend,
2 | align pairs.tsv --set scoring=worst | scoring is 'worst'; expected one of best, paper
2 | align pairs.tsv --set parse_weight=2 | parse_weight is 2.0; expected 0 to 1
2 | align pairs.tsv --beam -1 | beam is -1; expected at least 0
2 | align pairs.tsv --gap 0 | gap is 0; expected at least 1
2 | align pairs.tsv --jobs 0 | argument -j/--jobs: '0' is not a number of processes; expected a whole number of at least 1
2 | align pairs.tsv --time-limit -1 | argument --time-limit: '-1' is not a number of seconds; expected 0 to a million
2 | align pairs.tsv --json --tsv | argument --tsv: not allowed with argument --json
2 | align pairs.tsv --profile fast | argument --profile: invalid choice: 'fast'
2 | align pairs.tsv -o folder | cannot write to folder: it is a folder; expected the name of a file
2 | align pairs.tsv -o no/such.txt | cannot write to no/such.txt: the folder no does not exist
2 | align pairs.tsv -o old.txt | old.txt exists already; --resume continues it, --force replaces it
2 | align pairs.tsv -o pairs.tsv --force | the output pairs.tsv and the input pairs.tsv are the same file; expected an output of its own
2 | align pairs.tsv --resume | --resume needs an output file (-o FILE): it looks there for what is done
2 | align pairs.tsv --cluster nowhere | --cluster is 'nowhere'; expected the address of a scheduler, as tcp://10.0.0.1:8786
1 | align pairs.tsv --model missing.json.gz --trees trees.mrg --links dictionary | missing.json.gz: cannot be read: No such file or directory
1 | align pairs.tsv --model text.jsonl --trees trees.mrg --links dictionary | text.jsonl: is not a phrase model: Expecting value: line 1 column 1 (char 0)
1 | align pairs.tsv --set scores=text.jsonl --trees trees.mrg --links dictionary | text.jsonl: is not a file of phrase scores: Expecting value: line 1 column 1 (char 0)
1 | align pairs.tsv --ppdb table.ppdb --trees trees.mrg | table.ppdb:1: 'one column only' is not two words separated by a tab
1 | align pairs.tsv --vectors missing.bin --trees trees.mrg | missing.bin: the vector file does not exist
1 | align --chunks missing.wa | missing.wa: cannot be read: No such file or directory
1 | align --chunks text.jsonl | line 1: text.jsonl:1: invalid JSON: Expecting value at column 1
2 | align --chunks text.jsonl pairs.tsv | --chunks text.jsonl holds the pairs; expected no other file, not 'pairs.tsv'
2 | align --chunks text.jsonl --trees trees.mrg | --chunks takes no parses; expected no 'trees.mrg'
2 | align --chunks text.jsonl --links links.txt | --links is 'links.txt'; with --chunks expected one of sultan, dictionary
1 | words pairs.tsv --links crf --model text.jsonl | text.jsonl: is not a CRF model: Expecting value: line 1 column 1 (char 0)
1 | words bad.tsv --links dictionary | line 1: one column: "only one column"; expected source<TAB>target, source ||| target
2 | parse --backend trees | --backend trees needs a file of parses: --trees FILE
1 | parse --trees empty trees.mrg | empty: no tree in the file; expected Penn brackets, n-best lists or forests
2 | parse --nbest -1 empty | nbest is -1; expected at least 1
2 | parse --temperature 0 empty | temperature is 0.0; expected at least 1e-09
2 | parse --threads 0 empty | threads is 0; expected at least 1
2 | train pairs.tsv | the following arguments are required: -o/--output
1 | train missing.tsv -o m.json.gz --cache folder | missing.tsv: cannot be read: No such file or directory
2 | train pairs.tsv -o old.txt | old.txt exists already; --resume continues it, --force replaces it
2 | train pairs.tsv -o m.json.gz --extras nonsense --cache folder | --extras is 'nonsense'; expected some of coverage, link, cosine, length
1 | train --gold missing.jsonl -o s.json --cache folder | missing.jsonl: cannot be read: No such file or directory
1 | train --gold empty -o s.json --cache folder | empty: is empty; a development set needs at least one pair
1 | train --gold gold.jsonl:Z -o s.json --cache folder | gold.jsonl: pair a: no annotator is called 'Z'; expected one of gold
1 | train --gold gold.jsonl@x -o s.json --cache folder | gold.jsonl@x: cannot be read: No such file or directory
1 | tune missing.jsonl -o t.jsonl --cache folder | missing.jsonl: cannot be read: No such file or directory
2 | tune gold.jsonl -o t.jsonl --objective beauty --cache folder | 'beauty' cannot be maximised; expected some of phrase, recall, precision, several-links, uas, root
2 | tune gold.jsonl -o t.jsonl --param beam --cache folder | 'beam' is not a parameter; expected NAME=LOW:HIGH or NAME=VALUE,VALUE
2 | tune gold.jsonl -o t.jsonl --param beam=9:1 --cache folder | 'beam=9:1': the range is empty; expected the lower end first
2 | tune gold.jsonl -o t.jsonl --trials 0 --cache folder | --trials and --initial must be at least 1, not 0 and 10
2 | tune gold.jsonl -o old.txt --cache folder | old.txt exists already; --resume continues it, --force replaces it
1 | model show missing.json | missing.json: cannot be read: No such file or directory
1 | model show text.jsonl | text.jsonl: is not a phrase model or file of phrase scores: Expecting value: line 1 column 1 (char 0)
2 | model show hand-set | the hand-set model has no file and no card; name a model file, or none for the shipped one
1 | crf train missing.jsonl -o m.json --no-parser | missing.jsonl: cannot be read: No such file or directory
2 | crf train empty -o m.json --no-parser | no gold pairs in empty
2 | crf train gold.jsonl -o m.json --no-parser --sample 1 2 | --sample has [1, 2] for 1 gold file; expected one for each, 0 or more
2 | crf train gold.jsonl -o m.json --no-parser --weights 1 2 | --weights has [1.0, 2.0] for 1 gold file; expected one above 0 for each
2 | crf train gold.jsonl -o m.json --no-parser --without nonsense | argument --without: invalid choice: 'nonsense'
2 | crf train gold.jsonl -o old.txt --no-parser | old.txt exists already; --resume continues it, --force replaces it
2 | crf train gold.jsonl -o m.json --no-parser --longest 0 --phrase | span lengths are 1 to 9 words, not 0 and 0
1 | crf score pairs.tsv --no-parser --model text.jsonl | text.jsonl: is not a CRF model: Expecting value: line 1 column 1 (char 0)
2 | crf kbest pairs.tsv --no-parser --count 0 | 0 alignments were asked for; expected 1 or more
2 | crf | the following arguments are required: train|synthesise|score|kbest
2 | evaluate | the following arguments are required: words|phrases|chunks|parses|scores
1 | evaluate words gold.jsonl missing.txt | missing.txt: cannot be read: No such file or directory
1 | evaluate words gold.jsonl far.txt | far.txt:1: link 0-9: the target has 2 words; expected 0 to 1
1 | evaluate words gold.jsonl long.txt | long.txt:2: line 2 is one too many; expected 1 alignment
1 | evaluate words gold.jsonl links.txt --annotator Z | gold.jsonl: pair a: no annotator is called 'Z'; expected one of gold
2 | evaluate words gold.jsonl links.txt -B 0 | a test needs at least one sample, not 0
1 | evaluate phrases gold.jsonl | gold.jsonl:1: no field 'phenomena'; expected a list of strings
1 | evaluate parses trees.mrg broken.mrg | broken.mrg:1: 1 closing bracket missing at the end, in "(S (NP (NN a))"
1 | evaluate scores sts.jsonl numbers.txt | numbers.txt:2: 1 score; the gold standard has 2 pairs
1 | evaluate scores sts.jsonl links.txt | links.txt:1: found "0-0"; expected a number, last on its line
2 | evaluate phrases gold.jsonl text.jsonl --match guess | argument --match: invalid choice: 'guess'
1 | annotations check missing.jsonl | missing.jsonl: cannot be read: No such file or directory
2 | annotations agreement empty | no annotated pairs in empty
1 | annotations project text.jsonl | text.jsonl:1: 1 column in "not json"; expected 9 or more
1 | annotations pairs text.jsonl | text.jsonl:1: invalid JSON: Expecting value at column 1
1 | extract missing.jsonl -o - | missing.jsonl: cannot be read: No such file or directory
1 | extract text.jsonl -o t.tsv | line 1: one column: "not json"; expected source<TAB>target
2 | extract text.jsonl -o t.tsv --posterior 2 | argument --posterior: '2' is not a share; expected a number from 0 to 1
2 | extract text.jsonl -o t.tsv --max-words 0 | argument --max-words: '0' is not a count; expected a whole number of at least 1
2 | extract text.jsonl -o t.tsv --relation odd | argument --relation: invalid choice: 'odd'
2 | extract text.jsonl -o t.ppdb --patterns 1 | the form ppdb holds phrases, not patterns; expected tsv, jsonl or parquet for patterns
2 | extract text.jsonl -o t.tsv --patterns 9 | argument --patterns: invalid choice: 9
2 | edits | the following arguments are required: INPUT
1 | edits text.jsonl -o e.jsonl | line 1: one column: "not json"; expected source<TAB>target
1 | rerank pairs.tsv --trees missing.mrg | missing.mrg: cannot be read: No such file or directory
1 | similarity --results text.jsonl | text.jsonl:1: invalid JSON: Expecting value at column 1
2 | similarity --results text.jsonl pairs.tsv | --results and the pairs pairs.tsv; expected one of them
1 | view missing.jsonl | missing.jsonl: cannot be read: No such file or directory
1 | view text.jsonl -o v.html | line 1: one column: "not json"; expected source<TAB>target
2 | view empty -o old.txt | old.txt exists already; --force replaces it
2 | serve --port 99999 | port 99999 does not exist; ports go from 0 to 65535
2 | serve --port many | argument --port: invalid int value: 'many'
2 | serve --annotate folder | cannot write to folder: it is a folder
2 | completion tcsh | argument shell: invalid choice: 'tcsh'
2 | words pairs.tsv --conllu | --conllu takes two files
2 | words --scores --json pairs.tsv | not allowed with argument
1 | words --conllu missing.conllu missing.conllu | missing.conllu: cannot be read
1 | parse missing.txt | missing.txt: cannot be read
2 | parse --nbest 2 --forest empty | not allowed with argument
2 | parse --nbest many empty | invalid int value: 'many'
2 | parse --resume --trees trees.mrg empty | --resume needs an output file
2 | train pairs.tsv -o m.json.gz --passes two | invalid int value: 'two'
2 | tune gold.jsonl --param beem=1:8 | no setting is called 'beem'
2 | evaluate words gold.jsonl | the following arguments are required: SYSTEM
2 | annotations | the following arguments are required: action, FILE
2 | view | the following arguments are required: INPUT
2 | align pairs.tsv --null-penalty nan | null_penalty is nan; expected at least 0
2 | align pairs.tsv --json --kbest 0 | kbest is 0; expected at least 1
2 | align pairs.tsv --resume -o old.txt | old.txt has no journal
2 | align pairs.tsv --links sultana | 'sultana': neither sultan, dictionary, union, crf,
2 | crf train gold.jsonl -o m.json --no-parser --l2 -1 | the L2 weight is -1.0; expected 0 or more
2 | crf train gold.jsonl -o m.json --no-parser --iterations 0 | iterations is 0 and processes 1; expected 1 or more
2 | crf train gold.jsonl -o m.json --no-parser --weights 0 | expected one above 0 for each
2 | evaluate words gold.jsonl gold.jsonl gold.jsonl gold.jsonl | 3 systems; expected one, or two to compare
2 | evaluate words --anotator=A gold.jsonl links.txt | did you mean --annotator?
2 | align --jsno | did you mean --json?
2 | parse --forrest | did you mean --forest?
2 | words --links dictonary | did you mean dictionary?
2 | completion bsh | did you mean bash?
2 | align pairs.tsv --set ppdb=12 | ppdb takes a word, not 12
2 | compare a | 1 text; expected two, the old version and the new one
2 | compare - - | both texts are stdin (-)
2 | compare a b --git | --git with 2 arguments; expected the 7 that git gives
2 | compare a b --html x.html -o y | --html x.html and --output y; expected one of them
2 | train --gold gold.jsonl -o s.json --cache folder --folds=1 | expected a whole number of at least 2
2 | train --gold gold.jsonl -o s.json --cache folder --folds=many | expected a whole number of at least 2
"""  # noqa: E501


@pytest.mark.parametrize("row", ERRORS.strip().splitlines())
def test_every_command_says_in_one_line_what_it_cannot_use(run: Run, row: str) -> None:
    code, arguments, message = row.split(" | ", 2)
    answer = run(*arguments.split())
    assert (answer.code, answer.out.strip()) == (int(code), "")
    assert message in answer.err
    for name, text in FILES.items():
        assert Path(name).read_text(encoding="utf-8") == text, f"{name} was changed"


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
            list(watch_jobs([Job(k, str(k), pair) for k, pair in enumerate(pairs, start=1)], "pairs.tsv"))
            assert capsys.readouterr().err == said


def test_serve_says_that_it_loads_the_models(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(**settings: object) -> NoReturn:
        raise UsageError("there are no models")

    monkeypatch.setattr(forestalign, "load", load)
    assert run("serve", "--port", "0").err == "loading the models ...\nforestalign serve: there are no models\n"


def test_quiet_commands_say_nothing(run: Run) -> None:
    assert run("edits", "empty", "--quiet") == (0, "", "")
    assert run("view", "empty", "-o", "page.html", "--quiet") == (0, "", "")
