"""Dependencies from trees written for this purpose."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from forestalign.dependencies import Dependencies, to_dependencies, unlabelled_heads
from forestalign.errors import NoParseError
from forestalign.grammar import head_rules
from forestalign.tokens import Sentence
from forestalign.trees import Tree, head_tokens, parse_brackets
from tests.builders.grown_trees import trees


def convert(text: str) -> tuple[list[str], Dependencies]:
    tree = parse_brackets(text)
    words = [leaf.word or "" for leaf in tree.leaves()]
    return words, to_dependencies(tree, Sentence.from_words(words))


def triples(text: str) -> set[str]:
    """relation(head, dependent) for every token but punctuation."""
    words, found = convert(text)
    pairs = zip(found.heads, found.relations, range(len(words)), strict=True)
    return {
        f"{name}({words[head] if head >= 0 else 'ROOT'}, {words[token]})"
        for head, name, token in pairs
        if name != "punct"
    }


# ---- unlabelled ----


def test_unlabelled_heads_follow_the_head_rules() -> None:
    tree = parse_brackets("(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (NNS mats)))))")
    assert unlabelled_heads(tree) == (1, 2, -1, 2, 3)


@settings(max_examples=60, deadline=None)
@given(trees(most_words=9))
def test_unlabelled_heads_form_a_tree_below_the_head_of_the_root(tree: Tree) -> None:
    heads = unlabelled_heads(tree)
    assert heads.index(-1) == head_tokens(tree, head_rules())[-1]
    assert_is_tree(heads)


# ---- labelled ----


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "(S (NP (DT The) (NN cook)) (VP (VBD gave) (NP (PRP me)) (NP (JJ hot) (NN soup))) (. .))",
            "det(cook, The) nsubj(gave, cook) root(ROOT, gave) iobj(gave, me) obj(gave, soup) amod(soup, hot)",
        ),
        (
            "(S (NP (NNS Letters)) (VP (VBD were) (VP (VBN sent) (PP (IN by) (NP (NN hand))))))",
            "nsubj:pass(sent, Letters) aux:pass(sent, were) root(ROOT, sent) case(hand, by) obl:agent(sent, hand)",
        ),
        (
            "(S (NP (PRP She)) (VP (VBZ is) (RB n't) (NP (NP (DT a) (NN friend)) (PP (IN of) (NP (NNS cats))))))",
            "nsubj(friend, She) cop(friend, is) advmod(friend, n't) det(friend, a) root(ROOT, friend) "
            "case(cats, of) nmod:of(friend, cats)",
        ),
        (
            "(S (NP (NP (NNS tea)) (CC and) (NP (NN cake))) (VP (MD may) (VP (VB wait) (PP (IN because) (IN of) "
            "(NP (PRP$ our) (NN guest))))))",
            "nsubj(wait, tea) cc(cake, and) conj:and(tea, cake) aux(wait, may) root(ROOT, wait) case(guest, because) "
            "fixed(because, of) nmod:poss(guest, our) obl:because_of(wait, guest)",
        ),
        (
            "(S (SBAR (IN If) (S (NP (PRP it)) (VP (VBZ rains)))) (, ,) (NP (PRP we)) (VP (VBP stay) (ADVP (RB in))))",
            "mark(rains, If) nsubj(rains, it) advcl:if(stay, rains) nsubj(stay, we) root(ROOT, stay) advmod(stay, in)",
        ),
        (
            "(NP (NP (DT the) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBD sang)))))",
            "det(man, the) root(ROOT, man) nsubj(sang, who) acl:relcl(man, sang)",
        ),
        (
            "(SBARQ (WHNP (WP What)) (SQ (VBZ is) (NP (PRP$ your) (NN name))) (. ?))",
            "root(ROOT, What) cop(What, is) nmod:poss(name, your) nsubj(What, name)",
        ),
        (
            "(S (NP (EX There)) (VP (VBP are) (NP (QP (RB about) (CD ten)) (NNS birds))))",
            "expl(are, There) root(ROOT, are) advmod(ten, about) nummod(birds, ten) nsubj(are, birds)",
        ),
        (
            "(S (NP (NNP John) (NNP Miller)) (VP (VBD made) (S (NP (PRP us)) (VP (VB laugh)))))",
            "nsubj(made, John) flat(John, Miller) root(ROOT, made) obj(made, us) xcomp(made, laugh)",
        ),
        (
            "(S (NP (NP (PRP it))) (VP (VBZ is) (ADJP (JJ hard)) (S (VP (TO to) (VP (VB know))))))",
            "expl(hard, it) cop(hard, is) root(ROOT, hard) mark(know, to) csubj(hard, know)",
        ),
        (
            "(S (NP (PRP We)) (VP (VBD met) (PP (IN on) (NP (NNP May) (CD 5)))))",
            "nsubj(met, We) root(ROOT, met) case(5, on) nmod:unmarked(5, May) obl:on(met, 5)",
        ),
        (
            "(S (NP (JJ black) (CC and) (JJ white) (NNS cows)) (VP (VBP eat) (CC and) (VBP sleep) (ADVP (RB here))))",
            "amod(cows, black) cc(white, and) conj:and(black, white) nsubj(eat, cows) root(ROOT, eat) cc(sleep, and) "
            "conj:and(eat, sleep) advmod(eat, here)",
        ),
        (
            "(S (NP (NP (NNP Ann) (POS 's)) (NN dog)) (VP (VBD ran) (PRT (RP off)) (NP (NN yesterday))))",
            "case(Ann, 's) nmod:poss(dog, Ann) nsubj(ran, dog) root(ROOT, ran) compound:prt(ran, off) "
            "obl:unmarked(ran, yesterday)",
        ),
        (
            "(SBARQ (WHNP (WP Who)) (SQ (VBD did) (NP (PRP you)) (VP (VB talk) (PP (IN to)))))",
            "obl:to(talk, Who) aux(talk, did) nsubj(talk, you) root(ROOT, talk) case(Who, to)",
        ),
        (
            "(S (NP (PRP I)) (VP (VBP know) (SBAR (IN that) (S (NP (DT the) (NN point)) (VP (VBZ is) (SBAR (IN that) "
            "(S (NP (PRP he)) (VP (VBD left)))))))))",
            "nsubj(know, I) root(ROOT, know) mark(left, that) det(point, the) nsubj:outer(left, point) cop(left, is) "
            "nsubj(left, he) ccomp(know, left)",
        ),
        ("(NN Rain)", "root(ROOT, Rain)"),
    ],
)
def test_sentences_convert_as_expected(text: str, expected: str) -> None:
    assert triples(text) == set(expected.replace(") ", ")|").split("|"))


def test_lemmas_of_the_sentence_are_used_when_it_has_them() -> None:
    tree = parse_brackets(
        "(S (NP (PRP We)) (VP (VBD zorped) (NP (PRP him)) (SBAR (IN that) (S (NP (PRP it)) (VP (VBZ is))))))"
    )
    words = [leaf.word or "" for leaf in tree.leaves()]
    tags = [leaf.label for leaf in tree.leaves()]
    sentence = Sentence.from_words(words)
    assert to_dependencies(tree, sentence).relations[2] == "obj"
    told = sentence.with_analysis(tags, ["we", "tell", "he", "that", "it", "be"])
    assert to_dependencies(tree, told).relations[2] == "iobj"


def test_a_sentence_of_another_length_is_refused() -> None:
    with pytest.raises(NoParseError, match="the tree has 1 word, expected 2"):
        to_dependencies(parse_brackets("(NP (NN cat))"), Sentence.from_words(["cat", "dog"]))


@settings(max_examples=200, deadline=None)
@given(trees(most_words=10))
def test_any_tree_converts_to_a_dependency_tree(tree: Tree) -> None:
    found = to_dependencies(tree, Sentence.from_words([leaf.word or "" for leaf in tree.leaves()]))
    assert_is_tree(found.heads)
    assert [name for name, head in zip(found.relations, found.heads, strict=True) if head < 0] == ["root"]
    assert all(found.relations)


def assert_is_tree(heads: tuple[int, ...]) -> None:
    """One root, and every token reaches it."""
    assert heads.count(-1) == 1
    for token in range(len(heads)):
        seen, current = set(), token
        while current != -1:
            assert current not in seen
            seen.add(current)
            current = heads[current]
