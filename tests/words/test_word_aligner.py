"""Word alignment: profiles `paper` and `best`, analyses, dictionary links."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.config import AlignConfig
from forestalign.dependencies import Dependencies
from forestalign.errors import GrammarError, UsageError
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.tokens import Sentence
from forestalign.words import (
    PROFILES,
    Analysis,
    Entity,
    WordAligner,
    analyse_given,
    analyse_spacy,
    dictionary_links,
    find_names,
    similarity_threshold,
)
from forestalign.words.learned.matching import VARIANTS, format_matching, read_matching
from forestalign.words.sultan.stages import Stages
from forestalign.words.word_vectors import load_metric
from tests.builders.word_pairs import align, analysed, plain, stages_of

# ---- profile paper ----


def test_a_sequence_needs_a_content_word() -> None:
    source, target = plain("of/IN the/DT dog"), plain("cat of/IN the/DT bird")
    assert align("paper", source, target) == set()
    assert align("paper", plain("the/DT dog x"), plain("y the/DT dog z")) == {(0, 1), (1, 2)}


def test_relatives_must_have_one_category() -> None:
    source = analysed("help/NN/help/2/obj matters/VBZ/matter/0/root")
    target = analysed("helping/VBG/help/2/obj matters/VBZ/matter/0/root x/NN/x/2/obl")
    assert "content dependency" not in stages_of("paper", source, target).values()


def test_an_object_and_the_noun_of_a_relative_clause_are_equivalent() -> None:
    source = analysed("He/PRP/he/2/nsubj wrote/VBD/write/0/root it/PRP/it/2/dep book/NN/book/2/obj")
    target = analysed("read/VBD/read/0/root book/NN/book/1/obj they/PRP/they/4/nsubj wrote/VBD/write/2/acl:relcl")
    stages = stages_of("paper", source, target)
    assert stages[1, 3] in {"content dependency", "dependency relative"}
    assert stages[3, 1] in {"content dependency", "dependency relative"}


def test_dissimilar_words_block_nothing_in_the_paper() -> None:
    target = plain("fish fish fish Y fish fish fish X")
    crowded = plain("fish fish fish X fish fish fish alpha beta gamma")
    assert (3, 7) in align("paper", crowded, target)


def test_stop_words_need_the_same_relation_in_the_paper() -> None:
    source = analysed("x/NN this/DT/this/4/det big/JJ dogs/NNS/dog/0/root")
    target = analysed("this/DT/this/4/nsubj y/NN big/JJ dogs/NNS/dog/0/root z/NN")
    assert (1, 0) not in stages_of("paper", source, target)
    same = analysed("this/DT/this/4/det y/NN big/JJ dogs/NNS/dog/0/root z/NN")
    assert stages_of("paper", source, same)[1, 0] == "stop dependency"


def test_a_partial_name_is_linked_with_all_words_of_the_full_one() -> None:
    source = analysed("George/NNP Marsh/NNP spoke/VBD", [Entity(0, 2, "PERSON")])
    target = analysed("then/RB Marsh/NNP resigned/VBD", [Entity(1, 2, "PERSON")])
    assert align("paper", source, target) == {(0, 1), (1, 1)}


def test_sentence_ends_are_neighbours_that_are_linked() -> None:
    assert align("paper", plain("dog ./."), plain("cat ./.")) == {(1, 1)}


@pytest.mark.parametrize("profile", ["paper", "published"])
def test_each_ablation_takes_its_links_away(profile: str) -> None:
    source = analysed("the/DT/the/4/det old/JJ/old/4/amod big/JJ dogs/NNS/dog/0/root q/NN")
    target = analysed("the/DT/the/4/det aged/JJ/aged/4/amod big/JJ dogs/NNS/dog/0/root p/NN the/DT r/NN")
    full = align(profile, source, target, [("old", "aged")])
    assert full == {(0, 0), (1, 1), (2, 2), (3, 3)}
    assert align(profile, source, target) == full - {(1, 1)}
    assert align(profile, source, target, [("old", "aged")], Stages(stop_words=False)) == full - {(0, 0)}
    without_evidence = Stages(text=False)
    assert align(profile, plain("x the/DT y"), plain("z q the/DT"), (), without_evidence) == {(1, 2)}
    assert align(profile, plain("x the/DT y"), plain("z q the/DT")) == set()


# ---- profile best ----

WORDS = st.sampled_from(
    ["the", "a", "dog", "cat", "hound", "saw", "sees", "of", ",", ".", "4", "four", "in", "room", "chamber", "Rome"]
)
TAGS = {
    "the": "DT",
    "a": "DT",
    "saw": "VBD",
    "sees": "VBZ",
    "of": "IN",
    "in": "IN",
    "4": "CD",
    "four": "CD",
    "Rome": "NNP",
}


@st.composite
def analyses(draw: st.DrawFn) -> Analysis:
    words = draw(st.lists(WORDS, min_size=1, max_size=7))
    heads = [draw(st.integers(-1, len(words) - 1)) for _ in words]
    heads = [-1 if head == index else head for index, head in enumerate(heads)]
    relations = [draw(st.sampled_from(["nsubj", "obj", "det", "nmod:in"])) for _ in words]
    tags = [TAGS.get(word, "NN" if word.isalnum() else word) for word in words]
    sentence = Sentence.from_words(words).with_analysis(tags, [word.lower() for word in words])
    if draw(st.booleans()):
        numbers = np.random.default_rng(draw(st.integers(0, 99)))
        size = len(load_metric().projection) - load_vectors().dimensions - 1
        last, middle = numbers.normal(size=(2, len(words), size)).astype(np.float32)
        sentence = replace(sentence, vectors=last, context_vectors=middle)
    return Analysis(sentence, Dependencies(tuple(heads), tuple(relations)), find_names(sentence))


@settings(max_examples=60)
@given(analyses(), analyses())
def test_best_gives_the_same_links_when_the_sentences_are_exchanged(source: Analysis, target: Analysis) -> None:
    aligner = WordAligner(AlignConfig(profile="best"))
    forth, back = aligner.align(source, target), aligner.align(target, source)
    assert {(link.source, link.target, link.score, link.stage) for link in forth} == {
        (link.target, link.source, link.score, link.stage) for link in back
    }


@settings(max_examples=30)
@given(analyses(), analyses())
@pytest.mark.parametrize("profile", PROFILES)
def test_links_are_sorted_and_lie_inside_the_sentences(profile: str, source: Analysis, target: Analysis) -> None:
    links = WordAligner(AlignConfig(profile=profile)).align(source, target).links
    assert list(links) == sorted(set(links))
    assert all(0 <= link.source < len(source) and 0 <= link.target < len(target) and link.stage for link in links)


def test_best_links_a_paraphrase() -> None:
    source = analysed("He/PRP/he/2/nsubj bought/VBD/buy/0/root a/DT/a/4/det car/NN/car/2/obj ././././2/punct")
    target = analysed("He/PRP/he/2/nsubj purchased/VBD/purchase/0/root a/DT/a/4/det car/NN/car/2/obj ././././2/punct")
    links = WordAligner(AlignConfig()).align(source, target)
    assert set(links.pairs) == {(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)}


def test_an_empty_sentence_has_no_links() -> None:
    empty = Analysis(Sentence("", ()), Dependencies((), ()))
    for profile in PROFILES:
        assert not WordAligner(AlignConfig(profile=profile)).align(empty, plain("dog")).links


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(UsageError, match="best, paper, published"):
        WordAligner(AlignConfig(profile="fancy"))


def test_weights_survive_the_file(tmp_path: Path) -> None:
    from forestalign.grammar import grammar_root

    models = read_matching(grammar_root() / "word_model.tsv")
    assert len(models) == len(VARIANTS)
    path = tmp_path / "model.tsv"
    path.write_text(format_matching(models), encoding="utf-8")
    for model, again in zip(models, read_matching(path), strict=True):
        assert all(np.array_equal(left, right) for left, right in zip(model.passes, again.passes, strict=True))
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(GrammarError, match="no weights"):
        read_matching(path)
    path.write_text("".join([*lines[:-1], lines[-1].rpartition("\t")[0] + "\tnan\n"]), encoding="utf-8")
    with pytest.raises(GrammarError, match=f"model.tsv:{len(lines)}: "):
        read_matching(path)


# ---- analyses ----


def test_names_are_runs_of_proper_nouns_over_connectors() -> None:
    sentence = plain("the/DT Bank/NNP of/IN the/DT Moon/NNP met/VBD Smith/NNP &/CC Sons/NNPS in/IN May/NNP").sentence
    assert find_names(sentence) == (Entity(1, 5), Entity(6, 9), Entity(10, 11))


def test_given_entities_win() -> None:
    sentence = plain("Bank/NNP of/IN Moon/NNP").sentence
    given_analysis = analyse_given(
        sentence, Dependencies((-1, 2, 0), ("root", "case", "nmod")), (), [Entity(0, 1, "ORG")]
    )
    assert given_analysis.entities == (Entity(0, 1, "ORG"),)
    assert given_analysis.dependencies.relations == ("root", "case", "nmod:of")


def test_missing_tags_and_lemmas_are_filled_in() -> None:
    sentence = Sentence.from_words(["dogs", "bark"])
    filled = analyse_given(sentence, Dependencies((1, -1), ("nsubj", "root")), ("NOUN", "VERB")).sentence
    assert filled.tags == ("NN", "VB")
    assert all(filled.lemmas)


def test_analyses_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="1 head for 2 tokens"):
        Analysis(plain("two words").sentence, Dependencies((-1,), ("root",)))
    with pytest.raises(UsageError, match="0-3"):
        Analysis(plain("two words").sentence, Dependencies((-1, 0), ("root", "dep")), (Entity(0, 3),))


class Doc(list):  # type: ignore[type-arg]
    """As much of a spaCy document as is asked for."""

    text = "Ann lives in Rome and Pisa"
    ents = (SimpleNamespace(start=3, end=4, label_="GPE"),)


def test_a_spacy_document_is_taken_as_it_is() -> None:
    rows = [
        ("Ann", "NNP", "nsubj", 1), ("lives", "VBZ", "ROOT", 1), ("in", "IN", "prep", 1), ("Rome", "NNP", "pobj", 2),
        ("and", "CC", "cc", 3), ("Pisa", "NNP", "conj", 3),
    ]  # fmt: skip
    doc, offset = Doc(), 0
    for i, (text, tag, relation, _) in enumerate(rows):
        doc.append(SimpleNamespace(text=text, idx=offset, i=i, lemma_=text.lower(), tag_=tag, pos_="", dep_=relation))
        offset += len(text) + 1
    for token, (_, _, _, head) in zip(doc, rows, strict=True):
        token.head = doc[head]
    analysis = analyse_spacy(doc)
    assert analysis.entities == (Entity(3, 4, "GPE"),)
    assert {(arc.head, arc.dependent, arc.relation) for arc in analysis.arcs} == {
        (1, 0, "nsubj"), (-1, 1, "root"), (1, 3, "nmod:in"), (3, 5, "conj:and"),
    }  # fmt: skip


# ---- dictionary links ----


def test_dictionary_links_are_many_to_many() -> None:
    source = plain("dog dog buys/VBZ").sentence
    target = plain("dog purchase xyzzy").sentence
    source = source.with_analysis(source.tags, ("dog", "dog", "buy"))
    links = dictionary_links(source, target, load_wordnet(), load_vectors())
    assert {(link.source, link.target): link.stage for link in links} == {
        (0, 0): "form", (1, 0): "form", (2, 1): "synonym",
    }  # fmt: skip


def test_vectors_extend_the_dictionary_over_a_threshold() -> None:
    source, target = plain("monday the/DT").sentence, plain("tuesday a/DT").sentence
    vectors = load_vectors()
    cosine = vectors.cosine("monday", "tuesday")
    assert dictionary_links(source, target, load_wordnet(), vectors, cosine - 0.01).pairs == ((0, 0),)
    assert dictionary_links(source, target, load_wordnet(), vectors, cosine + 0.01).pairs == ()


def test_the_threshold_is_a_rank_among_the_pairs_of_a_corpus() -> None:
    vectors = load_vectors()
    words = ["monday", "tuesday", "banana", "senator", "the"]
    content = words[:4]
    cosines = sorted((vectors.cosine(a, b) for a in content for b in content if a < b), reverse=True)
    assert similarity_threshold(words, vectors, rank=2) == pytest.approx(cosines[1], abs=1e-5)
