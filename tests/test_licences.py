"""Whatever data the wheel holds has a licence, which the metadata name and whose text goes along."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

from tests.builders.places import ROOT

PAGE = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
GIVEN = ("README.md", "LICENSE.txt")  # how files end that say something about data


@pytest.fixture(scope="module")
def metadata() -> ProjectMetadata[PluginManager]:
    return ProjectMetadata(str(ROOT), PluginManager())


def data_names() -> list[str]:
    """The names in the first column of the table of data."""
    rows = [line for line in PAGE.partition("## Licences")[2].splitlines() if line.startswith("|")]
    return [name for row in rows for name in re.findall(r"`(grammar/[^`]*)`", row.split("|")[1])]


def test_every_file_of_the_grammar_stands_in_the_table_of_licences() -> None:
    names = data_names()
    for path in (ROOT / "grammar").rglob("*"):
        if path.is_file() and not path.name.endswith(GIVEN):
            place = PurePosixPath(path.relative_to(ROOT).as_posix())
            held = [name for name in names if place.match(name) or (name[-1] == "/" and str(place).startswith(name))]
            assert held, f"docs/dependencies.md does not say under which licence {place} is"


def test_the_texts_that_the_page_names_go_into_the_wheel(metadata: ProjectMetadata[PluginManager]) -> None:
    named = set(re.findall(r"`((?:licences|grammar)/[^`]*\.txt|LICENSE)`", PAGE)) - set(data_names())
    assert {name for name in named if name.endswith(("LICENSE", "LICENSE.txt", "NOTICES.txt"))} == set(
        metadata.core.license_files
    )
    assert len(metadata.core.license_files) == 6


def test_the_metadata_say_what_the_wheel_holds(metadata: ProjectMetadata[PluginManager]) -> None:
    expression = metadata.core.license_expression
    assert f"`{expression}`" in PAGE
    texts = "".join((ROOT / name).read_text(encoding="utf-8") for name in metadata.core.license_files)
    told = {
        "MIT": "MIT License",
        "CC-BY-SA-4.0": "creativecommons.org/licenses/by-sa/4.0",
        "Apache-2.0": "Apache License",
        "PDDL-1.0": "opendatacommons.org/licenses/pddl/1-0",
        "LicenseRef-WordNet": "WordNet 3.0 licence",
    }
    assert expression.split(" AND ") == list(told)
    assert all(text in texts for text in told.values())


def test_wordnet_and_the_encoder_are_named_with_what_was_made_of_them() -> None:
    wordnet = (ROOT / "grammar" / "lexicon" / "WORDNET-LICENSE.txt").read_text(encoding="utf-8")
    assert all(name in wordnet for name in ("wordnet.tsv.gz", "Princeton University"))
    encoder = (ROOT / "licences" / "E5-SMALL-LICENSE.txt").read_text(encoding="utf-8")
    assert all(name in encoder for name in ("grammar/parser/parser.onnx", "Microsoft"))
    treebank = (ROOT / "licences" / "TRAINING-DATA-NOTICES.txt").read_text(encoding="utf-8")
    assert all(name in treebank for name in ("English Web Treebank", "SHARE-ALIKE", "by-sa/4.0", "MASC"))
