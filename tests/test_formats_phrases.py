"""The JSON lines of phrase alignments: what a result becomes, round trips, refusals."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from bad_files import with_field
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.errors import AnnotationError
from forestalign.forest import Forest, ForestDerivation, NodeId, derivations, tree_of
from forestalign.formats import (
    AlternativeRecord,
    ForestNode,
    ForestNodes,
    NullSpans,
    PhrasePairEntry,
    PhraseRecord,
    SideRecord,
    WordEntry,
    fit_tree,
    forest_of,
    from_json,
    read_phrases,
    record_of,
    to_json,
    write_lines,
)
from forestalign.formats.phrase_records import ScatteredEntry
from forestalign.phrases.result import AlignedPair, PhraseAlignment, PhrasePair
from forestalign.tokens import Span, tokenize
from forestalign.trees import ScoredTree, parse_brackets
from forestalign.words.alignment import WordAlignment, WordLink

HIGH = "(TOP (S (NP (PRP She)) (VP (VBD saw) (NP (NNS men)) (PP (IN with) (NP (NNS dogs))))))"
LOW = "(TOP (S (NP (PRP She)) (VP (VBD saw) (NP (NP (NNS men)) (PP (IN with) (NP (NNS dogs)))))))"
TEXT = "She saw men with dogs"


def _forest() -> Forest:
    sentence = tokenize(TEXT)
    return forest_of([ScoredTree(fit_tree(parse_brackets(text), sentence), 0.0) for text in (HIGH, LOW)], sentence)


def _edges(derivation: ForestDerivation) -> tuple[tuple[NodeId, int], ...]:
    return tuple((NodeId(node), edge) for node, edge in enumerate(derivation.choice) if edge >= 0)


def _aligned() -> AlignedPair:
    """The sentence with itself: the first alignment over the first tree of the forest, the other over another."""
    forest = _forest()
    found = {str(tree_of(forest, derivation.root, derivation.choice)): derivation for derivation in derivations(forest)}
    high, low = (found[str(fit_tree(parse_brackets(text), forest.sentence))] for text in (HIGH, LOW))

    def alignment(derivation: ForestDerivation, log_score: float) -> PhraseAlignment:
        root = derivation.root
        whole = Span(0, len(forest.sentence))
        word = PhrasePair(
            NodeId(0), NodeId(0), Span(0, 1), Span(0, 1), "PRP", "PRP", False, True, False, -0.5, (), posterior=0.75
        )
        top = PhrasePair(root, root, whole, whole, "S", "S", False, False, True, -1.5, (0,))
        edges = _edges(derivation)
        return PhraseAlignment(
            pairs=(word, top),
            source_nulls=(Span(2, 3),),
            target_nulls=(Span(2, 3), Span(4, 5)),
            source_null_nodes=(),
            target_null_nodes=(),
            source_edges=edges,
            target_edges=edges,
            log_score=log_score,
            reached_root=True,
        )

    tree = tree_of(forest, high.root, high.choice)
    links = WordAlignment((WordLink(0, 0, 1.0), WordLink(1, 1, 0.5)))
    first, second = alignment(high, -7.25), alignment(low, -math.inf)
    return AlignedPair(
        "p1", forest.sentence, forest.sentence, tree, tree, links, first, forest, forest, (second,), "signed"
    )


def test_a_result_becomes_the_documented_line() -> None:
    fields = json.loads(to_json(record_of(_aligned())))
    side = {"text": TEXT, "tokens": TEXT.split(), "tree": HIGH}
    word = {
        "source": [0, 1],
        "target": [0, 1],
        "source_label": "PRP",
        "target_label": "PRP",
        "compositional": True,
        "score": -0.5,
        "supports": [],
        "bar": False,
        "inverted": False,
        "evidence": ["links"],
        "relation": "",
        "posterior": 0.75,
    }
    top = {
        "source": [0, 5],
        "target": [0, 5],
        "source_label": "S",
        "target_label": "S",
        "compositional": False,
        "score": -1.5,
        "supports": [0],
        "bar": False,
        "inverted": True,
        "evidence": ["links"],
        "relation": "",
    }
    nulls = {"source": [[2, 3]], "target": [[2, 3], [4, 5]]}
    assert fields == {
        "version": 1,
        "id": "p1",
        "source": side,
        "target": side,
        "words": [[0, 0, 1.0], [1, 1, 0.5]],
        "phrases": [word, top],
        "nulls": nulls,
        "reached_root": True,
        "completed": False,
        "log_score": -7.25,
        "signature": "signed",
        "left_out": [[1, 1]],
        "alternatives": [
            {
                "phrases": [word, top],
                "nulls": nulls,
                "log_score": None,
                "reached_root": True,
                "completed": False,
                "source_tree": LOW,
                "target_tree": LOW,
            }
        ],
    }


def test_the_nodes_outside_the_chosen_tree_are_told_with_their_marginals() -> None:
    forests = record_of(_aligned(), forests=True).forests
    assert forests is not None
    assert [(node.begin, node.end, node.label) for node in forests.source] == [(2, 5, "NP")]
    assert forests.source[0].marginal == pytest.approx(0.5)


def test_a_result_is_read_back_to_the_byte(tmp_path: Path) -> None:
    lines = [to_json(record_of(_aligned(), forests=forests)) for forests in (False, True)]
    write_lines(tmp_path / "out.jsonl.gz", lines)
    records = list(read_phrases(tmp_path / "out.jsonl.gz"))
    assert records == [record_of(_aligned(), forests=forests) for forests in (False, True)]
    assert [to_json(record) for record in records] == lines


# ---- random records ----

SCORES = st.floats(-1e6, 0) | st.just(-math.inf)
COUNT = 3


def _spans(count: int = COUNT) -> st.SearchStrategy[Span]:
    return st.integers(0, count - 1).flatmap(
        lambda begin: st.builds(Span, st.just(begin), st.integers(begin + 1, count))
    )


@st.composite
def _entries(draw: st.DrawFn) -> tuple[PhrasePairEntry, ...]:
    entries: list[PhrasePairEntry] = []
    for index in range(draw(st.integers(0, 3))):
        supports = draw(st.lists(st.integers(0, index - 1), max_size=2, unique=True)) if index else []
        labels = draw(st.sampled_from(["NP", "S+VP", "-LRB-"])), draw(st.sampled_from(["NP", "ß"]))
        flags = draw(st.booleans()), draw(SCORES), tuple(supports), draw(st.booleans()), draw(st.booleans())
        posterior = draw(st.none() | st.floats(0, 1))
        entries.append(PhrasePairEntry(draw(_spans()), draw(_spans()), *labels, *flags, posterior))
    return tuple(entries)


NULLS = st.builds(NullSpans, st.lists(_spans(), max_size=2).map(tuple), st.lists(_spans(), max_size=2).map(tuple))
TREE = "(TOP (NP (DT a) (`` ``) (NN -LRB-))" + ")"
SIDES = st.sampled_from(
    [
        SideRecord('a "(', ("a", '"', "("), TREE),
        SideRecord("a  “-LRB-", ("a", "“", "-LRB-"), TREE),
    ]
)
FOREST_NODES = st.lists(st.builds(ForestNode, st.just(0), st.just(2), st.just("NP"), st.floats(0, 1)), max_size=2).map(
    tuple
)


@st.composite
def _records(draw: st.DrawFn) -> PhraseRecord:
    index = st.integers(0, COUNT - 1)
    words = st.lists(st.builds(WordEntry, index, index, st.floats(0, 1)), max_size=3).map(tuple)
    places = st.sets(index, min_size=1).map(lambda found: tuple(sorted(found)))
    entry = st.builds(ScatteredEntry, places, places, st.just("lexicon"), st.sampled_from(["equal", "opposite"]))
    scattered, tree = st.lists(entry, max_size=2).map(tuple), st.just(TREE)
    alternatives = st.builds(
        AlternativeRecord, _entries(), NULLS, SCORES, st.booleans(), st.booleans(), tree, tree, scattered
    )
    return PhraseRecord(
        draw(st.text(max_size=3)),
        draw(SIDES),
        draw(SIDES),
        draw(words),
        draw(_entries()),
        draw(NULLS),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(SCORES),
        draw(st.text(max_size=3)),
        alternatives=tuple(draw(st.lists(alternatives, max_size=2))),
        forests=draw(st.none() | st.builds(ForestNodes, FOREST_NODES, FOREST_NODES)),
        candidates=draw(words),
        scattered=draw(scattered),
    )


@settings(max_examples=30)
@given(_records())
def test_every_record_survives_its_line_and_every_line_its_record(record: PhraseRecord) -> None:
    line = to_json(record)
    assert "\n" not in line
    assert from_json(line) == record
    assert to_json(from_json(line)) == line


def test_unknown_fields_are_passed_over() -> None:
    fields = json.loads(to_json(record_of(_aligned())))
    assert from_json(json.dumps(fields | {"later": 1})) == record_of(_aligned())


def test_tokens_are_found_again_in_the_text() -> None:
    sentence = SideRecord("I can't, no.", ("I", "ca", "n't", ",", "no", "."), "").sentence()
    assert [(token.begin, token.end) for token in sentence.tokens] == [
        (0, 1),
        (2, 4),
        (4, 7),
        (7, 8),
        (9, 11),
        (11, 12),
    ]


def _changed(path: list[str | int], value: object) -> str:
    return with_field(to_json(record_of(_aligned(), forests=True)), path, value)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["version"], 2, "version: found 2; this program reads version 1"),
        (["id"], 7, "id is 7; expected a string"),
        (["source", "tokens"], ["She", "sees", "men", "with", "dogs"], "token 1, 'sees', does not follow in the text"),
        (["source", "text"], "She really saw men with dogs", "token 1, 'saw', does not follow in the text"),
        (["target", "tree"], HIGH.replace("men", "hens"), "target.tree: word 2 of the tree is 'hens'; expected 'men'"),
        (["target", "tree"], HIGH[:-1], "closing bracket"),
        (["words", 0], [5, 0, 1.0], "words: found [5, 0, 1.0]; expected [i, j, score] with i below 5 and j below 5"),
        (["candidates"], [[0, 5, 0.2]], "candidates: found [0, 5, 0.2]; expected [i, j, score] with i below 5"),
        (["words", 0], [0, 0], "words is [0, 0]; expected a list of [i, j, score]"),
        (["phrases", 0, "source"], [0, 6], "phrases[0].source is [0, 6]; expected a span [begin, end] with 0 <= begin"),
        (["phrases", 0, "target"], [1, 1], "phrases[0].target is [1, 1]"),
        (["phrases", 1, "supports"], [1], "found [1]; expected numbers of phrases before this one, below 1"),
        (["phrases", 0, "supports"], [0], "found [0]; expected none, as no phrase is before this one"),
        (["phrases", 0, "score"], "high", 'phrases[0].score is "high"; expected a number'),
        (["nulls", "source"], [[3, 2]], "nulls.source is [3, 2]; expected a list of spans"),
        (["reached_root"], 1, "reached_root is 1; expected true or false"),
        (["alternatives", 0, "phrases", 0, "source"], [0, 9], "alternatives[0].phrases[0].source is [0, 9]"),
        (["alternatives", 0, "target_tree"], "(S)", "alternatives[0].target_tree: "),
        (["forests", "source", 0, 1], 9, "forests.source: found [2, 9,"),
    ],
)
def test_a_record_that_contradicts_itself_is_refused(
    tmp_path: Path, path: list[str | int], value: object, message: str
) -> None:
    write_lines(tmp_path / "r", [to_json(record_of(_aligned())), _changed(path, value)])
    with pytest.raises(AnnotationError, match="r:2: ") as caught:
        list(read_phrases(tmp_path / "r"))
    assert message in str(caught.value)


def test_a_missing_field_is_named() -> None:
    fields = json.loads(to_json(record_of(_aligned())))
    del fields["nulls"]
    with pytest.raises(AnnotationError, match="no field 'nulls'; expected an object"):
        from_json(json.dumps(fields))


def test_a_number_that_json_does_not_know_is_refused() -> None:
    line = to_json(record_of(_aligned())).replace("-7.25", "NaN")
    with pytest.raises(AnnotationError, match="found NaN, which JSON does not know"):
        from_json(line)
