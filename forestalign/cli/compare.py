"""Compare two versions of a text: what was reworded, changed its meaning, moved, was added and removed.

    cut -f 1 pairs.tsv > draft.txt && cut -f 2 pairs.tsv > final.txt && forestalign compare draft.txt final.txt
    cut -f 1 pairs.tsv | forestalign compare - final.txt --html changes.html
    forestalign compare draft.md final.md
    forestalign compare draft.txt final.txt --json -o changes.jsonl --jobs 2
    forestalign compare --source article.txt summary.txt
    git show HEAD:notes.md | forestalign compare - notes.md --markdown

Sentences are paired wherever they moved, also one with several, and those that are not the same are aligned phrase by
phrase. Prints one block for each change: its line, where it moved from, what changed and the words. In Markdown files
(by their names, or with --markdown) tables and code are left alone and counted; with --lines each line is a sentence.
One of the two texts may be `-`, stdin; two sentences may stand in the place of the files.

--source shows instead, for each sentence of SECOND, a summary, which phrases of FIRST, an article, it rests on, and
what rests on nothing. This helps reading; it is no verdict on what is true.

As a driver of `git diff` for prose (docs/comparing.md):

    git config diff.prose.command "forestalign compare --git"
    echo "*.md diff=prose" >> .gitattributes
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence

from forestalign.cli.options import add_force_option, add_jobs_option, check_outputs
from forestalign.errors import UsageError, counted
from forestalign.formats.pairs import are_sentences
from forestalign.outputs import STDOUT, packed_file
from forestalign.terminal import harmless, wants_colour
from forestalign.texts.text_parts import TextParts, is_markdown, read_prose, take_text_apart

GIT_COUNTS = (7, 9)  # path, old file, hex, mode, new file, hex, mode; and for a renamed file its new name and a text


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_text_options(parser)
    parser.add_argument(
        "--source", action="store_true", help="show what a summary (second) takes from an article (first)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON lines, one for each passage")
    form.add_argument("--git", action="store_true", help="take the arguments that git gives to a diff driver")
    parser.add_argument("--html", default="", metavar="FILE", help="write a page to FILE instead")
    parser.add_argument("-o", "--output", default=STDOUT, metavar="FILE", help="write to FILE (default: stdout)")
    add_force_option(parser)


def add_text_options(parser: argparse.ArgumentParser) -> None:
    """Add the two texts and how they are read."""
    parser.add_argument("texts", nargs="+", metavar="TEXT", help="the old version and the new one, text or Markdown")
    parser.add_argument("--markdown", action="store_true", help="read both texts as Markdown, whatever their names are")
    parser.add_argument("--lines", action="store_true", help="take each line for a sentence")
    add_jobs_option(parser, "align")
    parser.add_argument("-q", "--quiet", action="store_true", help="print no warnings")


def run(args: argparse.Namespace) -> int:
    """Compare the texts and print or write what was found."""
    paths, names = _git_paths(args.texts) if args.git else two_paths(args.texts)
    if args.html and args.output != STDOUT:
        raise UsageError(f"--html {args.html} and --output {args.output}; expected one of them")
    check_outputs(args, "output", "html")
    old, new = read_texts(args, paths, names, may_be_empty=args.git)
    if args.source:
        return _show_sources(args, old, new, names)
    from forestalign.texts.comparison import TextComparison, find_changes

    changes = find_changes(old, new, jobs=args.jobs)
    if args.json:
        _write(args.output, (change.to_json() for change in changes))
        return 0
    comparison = TextComparison(old, new, tuple(changes), names)
    if args.html:
        _write(args.html, [comparison.to_html().rstrip("\n")])
        return 0
    from forestalign.texts.comparison_text import render_comparison

    _write(args.output, [render_comparison(comparison, _colour(args))])
    return 0


def two_paths(texts: Sequence[str]) -> tuple[tuple[str, str], tuple[str, str]]:
    """Two files, and their names."""
    if len(texts) != 2:
        raise UsageError(f"{counted(len(texts), 'text')}; expected two, the old version and the new one")
    if texts[0] == texts[1] == STDOUT:
        raise UsageError("both texts are stdin (-); expected a file for one of them")
    paths = texts[0], texts[1]
    return paths, ("first", "second") if are_sentences(*paths) else paths


def _git_paths(texts: Sequence[str]) -> tuple[tuple[str, str], tuple[str, str]]:
    """The two files that git made, and the names that they have in the repository."""
    if len(texts) not in GIT_COUNTS:
        raise UsageError(f"--git with {len(texts)} arguments; expected the {GIT_COUNTS[0]} that git gives to a driver")
    return (texts[1], texts[4]), (texts[0], texts[7] if len(texts) > 7 else texts[0])


def read_texts(
    args: argparse.Namespace, paths: tuple[str, str], names: tuple[str, str], may_be_empty: bool = False
) -> tuple[TextParts, TextParts]:
    """The two texts; each has a sentence, but for a file that git says is not there."""
    if are_sentences(*paths):
        return take_text_apart(paths[0]), take_text_apart(paths[1])
    found = []
    for path, name in zip(paths, names, strict=True):
        parts = take_text_apart(read_prose(path), args.markdown or (is_markdown(name) and not args.lines), args.lines)
        if not parts.sentences and not may_be_empty:
            told = f"{parts.left_alone} and no sentence" if parts.left_alone else "no sentence"
            raise UsageError(f"{path} has {told}; expected a text")
        if not args.quiet and not parts.looks_english:
            print(
                f"{name}: most of it does not look like English; what is said about its meaning may be wrong",
                file=sys.stderr,
            )
        found.append(parts)
    return found[0], found[1]


def _colour(args: argparse.Namespace) -> bool:
    """Whether colours can be shown; a pager that git started shows them, too."""
    to_pager = args.git and bool(os.environ.get("GIT_PAGER_IN_USE")) and not os.environ.get("NO_COLOR")
    return args.output == STDOUT and (to_pager or wants_colour(sys.stdout))


def _show_sources(args: argparse.Namespace, article: TextParts, summary: TextParts, names: tuple[str, str]) -> int:
    from forestalign.texts.summary_sources import find_sources, render_sources, sources_page

    found = find_sources(article, summary, jobs=args.jobs)
    if args.json:
        _write(args.output, (sentence.to_json() for sentence in found))
    elif args.html:
        _write(args.html, [sources_page(found, names).rstrip("\n")])
    else:
        _write(args.output, [render_sources(found, names, _colour(args))])
    return 0


def _write(path: str, lines: Iterator[str] | Sequence[str]) -> None:
    """Lines to a file as a whole, or to stdout, where a terminal gets our own colours and no other controls."""
    if path == STDOUT and sys.stdout.isatty():
        for line in lines:
            os.write(sys.stdout.fileno(), (harmless(line, colours=True) + "\n").encode())
        return
    with packed_file(path) as file:
        file.writelines(line.encode("utf-8", "surrogateescape") + b"\n" for line in lines)
