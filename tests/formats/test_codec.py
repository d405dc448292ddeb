"""The JSON lines of phrase alignments: what a result becomes, round trips, refusals."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign import Alignment, PhraseAlignment, PhrasePair
from forestalign.errors import AnnotationError, UsageError
from forestalign.forest import Forest, ForestDerivation, NodeId, derivations, tree_of
from forestalign.formats.codec import from_json, read_phrases, sentence_in, to_json
from forestalign.formats.lines import write_lines
from forestalign.formats.tree_files import fit_tree, forest_of
from forestalign.phrases.result.alignment import DiscontinuousPair, ForestNode, ForestNodes, Verdict
from forestalign.phrases.scoring.score import Step
from forestalign.phrases.search.hypotheses import AlignedNodes, Derivation
from forestalign.phrases.search.lca import EdgeId
from forestalign.tokens import Sentence, Span, Token, analyse, tokenize
from forestalign.trees import ScoredTree, Tree, parse_brackets
from forestalign.words.alignment import WordAlignment, WordLink
from tests.builders.bad_files import with_field

HIGH = "(TOP (S (NP (PRP She)) (VP (VBD saw) (NP (NNS men)) (PP (IN with) (NP (NNS dogs))))))"
LOW = "(TOP (S (NP (PRP She)) (VP (VBD saw) (NP (NP (NNS men)) (PP (IN with) (NP (NNS dogs)))))))"
TEXT = "She saw men with dogs"


def _forest() -> Forest:
    sentence = analyse(tokenize(TEXT), ["PRP", "VBD", "NNS", "IN", "NNS"])
    return forest_of([ScoredTree(fit_tree(parse_brackets(text), sentence), 0.0) for text in (HIGH, LOW)], sentence)


def _aligned() -> Alignment:
    """The sentence with itself: the first alignment over the first tree of the forest, the other over another."""
    forest = _forest()
    found = {str(tree_of(forest, derivation.root, derivation.choice)): derivation for derivation in derivations(forest)}
    high, low = (found[str(fit_tree(parse_brackets(text), forest.sentence))] for text in (HIGH, LOW))

    def alignment(derivation: ForestDerivation, log_score: float) -> PhraseAlignment:
        root, tree = derivation.root, tree_of(forest, derivation.root, derivation.choice)
        edges = tuple(EdgeId(NodeId(node), edge) for node, edge in enumerate(derivation.choice) if edge >= 0)
        nodes = AlignedNodes(NodeId(0), NodeId(0), Step.SEED, (), 0.75), AlignedNodes(root, root, Step.LIFT, (0,), 1.0)
        one, whole = forest.sentence.span(0, 1), forest.sentence.span(0, len(forest.sentence))
        word = PhrasePair(one, one, "PRP", "PRP", False, True, False, -0.5, (), 0.75)
        return PhraseAlignment(
            pairs=(
                word,
                PhrasePair(whole, whole, "S", "S", False, False, True, -1.5, (0,)),
            ),
            source_nulls=(Span(2, 3),),
            target_nulls=(Span(2, 3), Span(4, 5)),
            source_tree=tree,
            target_tree=tree,
            log_score=log_score,
            reached_root=True,
            derivation=Derivation(log_score, nodes, edges, edges, (), ()),
        )

    links = WordAlignment((WordLink(0, 0, 1.0), WordLink(1, 1, 0.5)))
    first, second = alignment(high, -7.25), alignment(low, -math.inf)
    sides = forest.sentence, forest.sentence
    return Alignment(
        "p1",
        *sides,
        links,
        first,
        (second,),
        signature="signed",
        forests=(forest, forest),
        judged=Verdict("changed", 0.25, 3.5),
    )


def test_a_result_becomes_the_documented_line() -> None:
    fields = json.loads(to_json(_aligned()))
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
        "verdict": "changed",
        "probability": 0.25,
        "similarity": 3.5,
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
    unchosen = _aligned().with_unchosen().unchosen
    assert unchosen is not None
    assert [(node.begin, node.end, node.label) for node in unchosen.source] == [(2, 5, "NP")]
    assert unchosen.source[0].marginal == pytest.approx(0.5)


def test_a_result_is_read_back_to_the_byte(tmp_path: Path) -> None:
    results = [_aligned(), _aligned().with_unchosen()]
    lines = [to_json(result) for result in results]
    write_lines(tmp_path / "out.jsonl.gz", lines)
    again = list(read_phrases(tmp_path / "out.jsonl.gz"))
    assert again == results
    assert [to_json(result) for result in again] == lines


def test_a_result_that_was_read_has_no_forests() -> None:
    again = from_json(to_json(_aligned()))
    assert again.forests is None
    for ask in (lambda: again.source_forest, lambda: again.target_forest, again.with_unchosen):
        with pytest.raises(UsageError, match="the result 'p1' has no forests: a line of JSON holds trees alone"):
            ask()


# ---- random results ----

SCORES = st.floats(-1e6, 0) | st.just(-math.inf)
WORDS = st.sampled_from(["a", "can", "n't", '"', "(", ")", "“", "-LRB-", "``", "’", "é", "1/2"])
SHARES = st.floats(0, 1)
LABELS = st.sampled_from(["NP", "S", "TOP", "-LRB-", "ß"])


@st.composite
def _sides(draw: st.DrawFn) -> tuple[Sentence, tuple[Tree, Tree]]:
    """A sentence with gaps of any width between its words, and two trees over it with the same tags."""
    words = draw(st.lists(WORDS, min_size=1, max_size=5))
    text, places = "", []
    for word in words:
        text += draw(st.sampled_from(["", " ", "  ", "\n"]))
        places.append(len(text))
        text += word
    tokens = [Token(word, begin, begin + len(word)) for word, begin in zip(words, places, strict=True)]
    leaves = [Tree(draw(LABELS), k, k + 1, (), token.form) for k, token in enumerate(tokens)]
    trees = draw(_tree(leaves)), draw(_tree(leaves))
    return analyse(Sentence(text, tuple(tokens)), [leaf.label for leaf in leaves]), trees


@st.composite
def _tree(draw: st.DrawFn, leaves: list[Tree]) -> Tree:
    """Neighbours are joined until one tree is left; chains of phrases over one span may be among them."""
    parts = list(leaves)
    while len(parts) > 1 or parts[0].word is not None or draw(st.integers(0, 3)) == 3:
        begin = draw(st.integers(0, len(parts) - 1))
        end = len(parts) - draw(st.integers(0, len(parts) - begin - 1))
        joined = tuple(parts[begin:end])
        parts[begin:end] = [Tree(draw(LABELS), joined[0].begin, joined[-1].end, joined)]
    return parts[0]


def _spans(count: int) -> st.SearchStrategy[Span]:
    return st.integers(0, count - 1).flatmap(
        lambda begin: st.builds(Span, st.just(begin), st.integers(begin + 1, count))
    )


@st.composite
def _pairs(draw: st.DrawFn, source: Sentence, target: Sentence) -> tuple[PhrasePair, ...]:
    pairs: list[PhrasePair] = []
    for index in range(draw(st.integers(0, 3))):
        spans = draw(_spans(len(source))), draw(_spans(len(target)))
        supports = draw(st.lists(st.integers(0, index - 1), max_size=2, unique=True)) if index else []
        pairs.append(
            PhrasePair(
                source.span(*spans[0]),
                target.span(*spans[1]),
                draw(LABELS),
                draw(LABELS),
                *(draw(st.booleans()) for _ in range(3)),
                draw(SCORES),
                tuple(supports),
                draw(st.none() | SHARES),
                draw(st.sampled_from([("links",), ("acronym", "lexicon"), ()])),
                draw(st.sampled_from(["", "equal", "opposite"])),
            )
        )
    return tuple(pairs)


@st.composite
def _phrases(draw: st.DrawFn, source: Sentence, target: Sentence, trees: tuple[Tree, Tree]) -> PhraseAlignment:
    places = [
        st.sets(st.integers(0, len(each) - 1), min_size=1).map(lambda found: tuple(sorted(found)))
        for each in (source, target)
    ]
    kind = st.just("lexicon"), st.sampled_from(["equal", "opposite"])
    joined = st.builds(DiscontinuousPair, *places, *kind, st.none() | SHARES)
    return PhraseAlignment(
        draw(_pairs(source, target)),
        tuple(draw(st.lists(_spans(len(source)), max_size=2))),
        tuple(draw(st.lists(_spans(len(target)), max_size=2))),
        *trees,
        draw(SCORES),
        draw(st.booleans()),
        draw(st.booleans()),
        tuple(draw(st.lists(joined, max_size=2))),
    )


@st.composite
def _results(draw: st.DrawFn) -> Alignment:
    (source, sources), (target, targets) = draw(_sides()), draw(_sides())
    ends = st.integers(0, len(source) - 1), st.integers(0, len(target) - 1)
    link, node = st.builds(WordLink, *ends, SHARES), st.builds(ForestNode, st.just(0), st.just(1), LABELS, SHARES)
    links = st.lists(link, max_size=3).map(lambda rows: WordAlignment(tuple(rows)))
    nodes = st.lists(node, max_size=2).map(tuple)
    best, *others = (
        draw(_phrases(source, target, trees))
        for trees in ((sources[0], targets[0]), (sources[1], targets[0]), (sources[0], targets[1]))
    )
    return Alignment(
        draw(st.text(max_size=3)),
        source,
        target,
        draw(links),
        best,
        tuple(others[: draw(st.integers(0, 2))]),
        draw(links),
        draw(st.text(max_size=3)),
        draw(st.none() | st.builds(ForestNodes, nodes, nodes)),
    )


def _scores(alignment: Alignment) -> list[float]:
    """Scores of links, which are no part of what a link is, and so not of what a result is."""
    return [link.score for link in (*alignment.words, *alignment.candidates)]


@settings(max_examples=60)
@given(_results())
def test_every_result_survives_its_line_and_every_line_its_result(result: Alignment) -> None:
    line = to_json(result)
    again = from_json(line)
    assert "\n" not in line
    assert again == result
    assert hash(again) == hash(result)
    assert _scores(again) == _scores(result)
    assert to_json(again) == line


@given(_results(), st.data())
def test_results_that_differ_in_anything_that_is_written_are_not_equal(result: Alignment, data: st.DataObject) -> None:
    changes = {
        "id": result.id + "x",
        "signature": result.signature + "x",
        "words": WordAlignment((*result.words, WordLink(0, 0))),
        "source": replace(result.source, text=result.source.text + " "),
        "phrases": replace(result.phrases, completed=not result.phrases.completed),
        "alternatives": (*result.alternatives, result.phrases),
    }
    name = data.draw(st.sampled_from(sorted(changes)))
    assert replace(result, **{name: changes[name]}) != result  # type: ignore[arg-type]


def test_lines_of_the_first_version_have_neither_evidence_nor_relation() -> None:
    fields = json.loads(to_json(_aligned()))
    for phrase in (*fields["phrases"], *fields["alternatives"][0]["phrases"]):
        del phrase["evidence"], phrase["relation"]
    assert from_json(json.dumps(fields)) == _aligned()


def test_trees_that_write_quotes_in_the_treebank_s_way_have_the_words_of_the_text() -> None:
    fields = json.loads(to_json(_aligned()))
    fields["source"] |= {"text": 'She saw "it" (', "tokens": ["She", "saw", '"', "it", '"', "("]}
    fields["source"]["tree"] = "(S (PRP She) (VBD saw) (`` ``) (PRP it) ('' '') (-LRB- -LRB-))"
    again = from_json(json.dumps(fields | {"alternatives": []}))
    assert [leaf.word for leaf in again.source_tree.leaves()] == list(again.source.words)
    assert again.source.tags == ("PRP", "VBD", "``", "PRP", "''", "-LRB-")
    assert from_json(to_json(again)) == again


def test_tokens_are_found_again_in_the_text() -> None:
    sentence = sentence_in("I can't, no.", ("I", "ca", "n't", ",", "no", "."))
    assert [(token.start, token.end) for token in sentence.tokens] == [
        (0, 1),
        (2, 4),
        (4, 7),
        (7, 8),
        (9, 11),
        (11, 12),
    ]


def _changed(path: list[str | int], value: object) -> str:
    return with_field(to_json(_aligned().with_unchosen()), path, value)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["version"], 2, "version: found 2; this program reads version 1"),
        (["id"], 7, "id is 7; expected a string"),
        (["source", "tokens"], ["She", "sees", "men", "with", "dogs"], "token 1, 'sees', does not follow in the text"),
        (["source", "text"], "She really saw men with dogs", "token 1, 'saw', does not follow in the text"),
        (["target", "tree"], HIGH.replace("men", "hens"), "target.tree: word 2 of the tree is 'hens'; expected 'men'"),
        (["target", "tree"], HIGH[:-1], "closing bracket"),
        (["words", 0], [True, 0, 1.0], "words: found [true, 0, 1.0]; expected [i, j, score]"),
        (["words", 0], [0, False, 1.0], "words: found [0, false, 1.0]; expected [i, j, score]"),
        (["words", 0], [0, 0, 1e308], "words: found [0, 0, 1e+308]; expected [i, j, score]"),
        (["words", 0], [5, 0, 1.0], "words: found [5, 0, 1.0]; expected [i, j, score] with i below 5 and j below 5"),
        (["candidates"], [[0, 5, 0.2]], "candidates: found [0, 5, 0.2]; expected [i, j, score] with i below 5"),
        (["words", 0], [0, 0], "words: found [0, 0]; expected [i, j, score]"),
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
    write_lines(tmp_path / "r", [to_json(_aligned()), _changed(path, value)])
    with pytest.raises(AnnotationError, match="r:2: ") as caught:
        list(read_phrases(tmp_path / "r"))
    assert message in str(caught.value)
