"""One construction, one relation: trees by hand beside the relation that Universal Dependencies has for them."""

from __future__ import annotations

import pytest

from forestalign.dependencies import ROOT, to_dependencies
from forestalign.dependencies.convert import Graph
from forestalign.tokens import Sentence
from forestalign.trees import parse_brackets


def has(text: str, expected: str) -> bool:
    """Whether the tree has `relation(head, dependent)`."""
    tree = parse_brackets(text)
    words = [str(leaf.word) for leaf in tree.leaves()]
    found = to_dependencies(tree, Sentence.from_words(words))
    triples = [
        f"{name}({words[head] if head >= 0 else 'ROOT'}, {word})"
        for word, head, name in zip(words, found.heads, found.relations, strict=True)
    ]
    assert expected in triples, f"expected {expected}, found {' '.join(triples)}"
    return True


def he(verb: str, *rest: str) -> str:
    return f"(S (NP (PRP He)) (VP (VBD {verb}) {' '.join(rest)}))"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # noun phrases
        ("(NP (DT the) (NN dog))", "det(dog, the)"),
        ("(NP (PDT all) (DT the) (NNS dogs))", "det:predet(dogs, all)"),
        ("(NP (PRP$ her) (NN dog))", "nmod:poss(dog, her)"),
        ("(NP (NN dog) (NN food))", "compound(food, dog)"),
        ("(NP (JJ old) (NN dog))", "amod(dog, old)"),
        ("(NP (ADJP (RB very) (JJ old)) (NN dog))", "advmod(old, very)"),
        ("(NP (VBG sleeping) (NN dog))", "amod(dog, sleeping)"),
        ("(NP (CD three) (NNS dogs))", "nummod(dogs, three)"),
        ("(NP (QP (JJR more) (IN than) (CD ten)) (NNS dogs))", "nummod(dogs, ten)"),
        ("(NP (QP ($ $) (CD 5) (CD million)))", "nummod($, million)"),
        ("(NP (NN page) (CD 7))", "flat(page, 7)"),
        ("(NP (NNP Dr.) (NNP Jane) (NNP Park))", "flat(Jane, Park)"),
        ("(NP (NNP Dr.) (NNP Jane) (NNP Park))", "nmod:desc(Jane, Dr.)"),
        ("(NP (NNP J.) (NNP Berg))", "flat(J., Berg)"),
        ("(NP (NNP Bank) (NNP Street))", "compound(Street, Bank)"),
        ("(NP (CD 2:30) (NN pm))", "nmod:unmarked(2:30, pm)"),
        ("(NP (NP (NNP Ann)) (, ,) (NP (DT the) (NN baker)) (, ,))", "appos(Ann, baker)"),
        ("(NP (NP (NNP Ann)) (NP (PRP herself)))", "nmod:unmarked(Ann, herself)"),
        ("(NP (NP (DT a) (NN report)) (PP (IN about) (NP (NNS bees))))", "nmod:about(report, bees)"),
        ("(NP (NP (DT the) (NN idea)) (PP (IN of) (S (VP (VBG leaving)))))", "acl(idea, leaving)"),
        ("(NP (NP (DT a) (NN man)) (VP (VBN called) (S (NP (NNP Bob)))))", "acl(man, called)"),
        ("(NP (DT the) (NN plan) (S (VP (TO to) (VP (VB stay)))))", "acl(plan, stay)"),
        ("(NP (DT the) (NN fact) (SBAR (IN that) (S (NP (PRP he)) (VP (VBD left)))))", "acl(fact, left)"),
        ("(NP (NP (DT the) (NN day)) (SBAR (S (NP (PRP we)) (VP (VBD met)))))", "acl:relcl(day, met)"),
        ("(NP (NP (DT the) (NN town)) (SBAR (WHADVP (WRB where)) (S (NP (PRP he)) (VP (VBD lived)))))",
         "acl:relcl(town, lived)"),
        ("(NP (NP (NNP Oslo)) (PRN (-LRB- -LRB-) (NP (NNP Norway)) (-RRB- -RRB-)))", "appos(Oslo, Norway)"),
        ("(NP (NP (DT the) (NN dog) (POS 's)) (NN tail))", "nmod:poss(tail, dog)"),
        ("(NP (NP (DT the) (NN dog) (POS 's)) (NN tail))", "case(dog, 's)"),
        # verbs
        ("(S (NP (PRP He)) (VP (MD will) (VP (VB go))))", "aux(go, will)"),
        ("(S (NP (PRP He)) (VP (VBZ has) (VP (VBN gone))))", "aux(gone, has)"),
        ("(S (NP (PRP He)) (VP (VBD was) (VP (VBN seen))))", "aux:pass(seen, was)"),
        ("(S (NP (PRP He)) (VP (VBD got) (VP (VBN fired))))", "aux:pass(fired, got)"),
        ("(S (NP (PRP He)) (VP (VBD was) (VP (VBG running))))", "aux(running, was)"),
        ("(S (NP (PRP He)) (VP (VBD did) (RB not) (VP (VB go))))", "aux(go, did)"),
        ("(S (NP (PRP He)) (VP (VBD did) (RB not) (VP (VB go))))", "advmod(go, not)"),
        ("(S (NP (PRP He)) (VP (VBZ is) (ADJP (JJ tall))))", "cop(tall, is)"),
        ("(S (NP (PRP He)) (VP (VBZ is) (PP (IN at) (NP (NN home)))))", "cop(home, is)"),
        ("(S (NP (PRP He)) (VP (VBZ is) (ADJP (JJ tall))))", "nsubj(tall, He)"),
        ("(S (NP (PRP He)) (VP (VBZ has) (VP (VBN been) (VP (VBN seen)))))", "nsubj:pass(seen, He)"),
        ("(S (NP (PRP It)) (VP (VBD was) (VP (VBN made) (PP (IN by) (NP (NNS bees))))))", "obl:agent(made, bees)"),
        ("(S (NP (PRP He)) (VP (VBD slept) (PP (IN by) (NP (DT the) (NN door)))))", "obl:by(slept, door)"),
        ("(S (NP (PRP He)) (VP (VBZ has) (VP (VBN slept) (PP (IN by) (NP (DT the) (NN door))))))",
         "obl:by(slept, door)"),
        ("(S (NP (PRP He)) (VP (VBD slept) (NP (DT all) (NN night))))", "obl:unmarked(slept, night)"),
        ("(S (NP (NN Today)) (NP (PRP we)) (VP (VBP rest)))", "obl:unmarked(rest, Today)"),
        ("(S (NP (PRP He)) (VP (VBD gave) (NP (NNP Sue)) (NP (DT a) (NN pen))))", "iobj(gave, Sue)"),
        ("(S (NP (PRP He)) (VP (VBD told) (NP (NNP Sue)) (SBAR (IN that) (S (NP (PRP it)) (VP (VBD rained))))))",
         "iobj(told, Sue)"),
        ("(S (NP (PRP He)) (VP (VBD looked) (PRT (RP up))))", "compound:prt(looked, up)"),
        ("(S (NP (PRP He)) (VP (VBD wrote) (NP (PRP it)) (NP (PRP himself))))", "obl:unmarked(wrote, himself)"),
        ("(S (NP (PRP He)) (VP (VBD wrote) (NP (PRP it)) (NP (PRP himself))))", "obj(wrote, it)"),
        ("(S (VP (VB Go)) (NP (NNP Ann)))", "vocative(Go, Ann)"),
        ("(S (INTJ (UH Oh)) (, ,) (NP (PRP he)) (VP (VBD left)))", "discourse(left, Oh)"),
        ("(S (NP (EX There)) (VP (VBZ is) (NP (NN hope))))", "nsubj(is, hope)"),
        ("(S (NP-SBJ-1 (PRP He)) (VP (VBD slept)))", "nsubj(slept, He)"),
        # clauses
        (he("said", "(SBAR (IN that) (S (NP (PRP it)) (VP (VBD rained))))"), "ccomp(said, rained)"),
        (he("said", "(SBAR (S (NP (PRP it)) (VP (VBD rained))))"), "ccomp(said, rained)"),
        (he("left", "(SBAR (IN because) (S (NP (PRP it)) (VP (VBD rained))))"), "advcl:because(left, rained)"),
        (he("left", "(SBAR (WHADVP (WRB when)) (S (NP (PRP it)) (VP (VBD rained))))"), "advcl(left, rained)"),
        (he("asked", "(SBAR (IN if) (S (NP (PRP it)) (VP (VBD rained))))"), "ccomp(asked, rained)"),
        (he("left", "(SBAR (IN if) (S (NP (PRP it)) (VP (VBD rained))))"), "advcl:if(left, rained)"),
        (he("wanted", "(S (VP (TO to) (VP (VB sleep))))"), "xcomp(wanted, sleep)"),
        (he("wanted", "(S (VP (TO to) (VP (VB sleep))))"), "mark(sleep, to)"),
        (he("began", "(S (VP (VBG singing)))"), "xcomp(began, singing)"),
        (he("sat", "(, ,) (S (VP (VBG singing)))"), "advcl(sat, singing)"),
        (he("seemed", "(ADJP (JJ sad))"), "xcomp(seemed, sad)"),
        (he("saw", "(S (NP (PRP her)) (VP (VB leave)))"), "obj(saw, her)"),
        (he("saw", "(S (NP (PRP her)) (VP (VB leave)))"), "xcomp(saw, leave)"),
        (he("left", "(PP (IN after) (S (VP (VBG eating))))"), "advcl:after(left, eating)"),
        (he("left", "(PP (IN after) (S (VP (VBG eating))))"), "mark(eating, after)"),
        ("(S (S (VP (VBG Reading))) (VP (VBZ helps)))", "csubj(helps, Reading)"),
        ("(S (SBAR (IN That) (S (NP (PRP he)) (VP (VBD left)))) (VP (VBD hurt)))", "csubj(hurt, left)"),
        ("(S (S (NP (PRP It)) (VP (VBZ rains))) (, ,) (NP (PRP he)) (VP (VBD said)))", "ccomp(said, rains)"),
        ("(S (S (VP (VBG Smiling))) (, ,) (NP (PRP he)) (VP (VBD left)))", "advcl(left, Smiling)"),
        ("(S (S (NP (PRP I)) (VP (VBD came))) (: ;) (S (NP (PRP I)) (VP (VBD saw))))", "parataxis(came, saw)"),
        ("(SBARQ (WHNP (WP Who)) (SQ (VP (VBD left))))", "nsubj(left, Who)"),
        ("(SBARQ (WHNP (WP What)) (SQ (VBD did) (NP (PRP he)) (VP (VB eat))))", "obj(eat, What)"),
        ("(SBARQ (WHADVP (WRB Where)) (SQ (VBD did) (NP (PRP he)) (VP (VB eat))))", "advmod(eat, Where)"),
        ("(SQ (VBD Did) (NP (PRP he)) (VP (VB eat)))", "nsubj(eat, he)"),
        ("(SQ (VBZ Is) (NP (PRP he)) (ADJP (JJ well)))", "cop(well, Is)"),
        # adjectives, adverbs and prepositions
        ("(ADJP (RB too) (JJ cold))", "advmod(cold, too)"),
        ("(ADJP (NP (CD five) (NNS years)) (JJ old))", "obl:unmarked(old, years)"),
        ("(ADJP (JJ fond) (PP (IN of) (NP (NNS cats))))", "obl:of(fond, cats)"),
        ("(ADJP (JJ able) (S (VP (TO to) (VP (VB swim)))))", "xcomp(able, swim)"),
        ("(ADJP (JJ sure) (SBAR (IN that) (S (NP (PRP it)) (VP (VBZ rains)))))", "ccomp(sure, rains)"),
        ("(ADJP (RB so) (JJ cold) (SBAR (IN that) (S (NP (PRP it)) (VP (VBD froze)))))", "advcl:that(cold, froze)"),
        ("(ADVP (RB very) (RB slowly))", "advmod(slowly, very)"),
        ("(ADVP (NP (CD two) (NNS days)) (RB ago))", "obl:unmarked(ago, days)"),
        ("(PP (RB right) (IN after) (NP (NN lunch)))", "case(lunch, after)"),
        ("(PP (IN from) (PP (IN behind) (NP (NN lunch))))", "case(lunch, behind)"),
        ("(QP (RB almost) (CD ten))", "advmod(ten, almost)"),
        ("(QP (CD ten) (CD million))", "compound(million, ten)"),
        # coordinations
        ("(NP (NN tea) (CC or) (NN milk))", "conj:or(tea, milk)"),
        ("(NP (NN tea) (, ,) (NN milk) (CC and) (NN jam))", "conj:and(tea, jam)"),
        ("(NP (NN tea) (, ,) (NN milk) (CC and) (NN jam))", "cc(jam, and)"),
        ("(NP (DT both) (NN tea) (CC and) (NN milk))", "conj:and(tea, milk)"),
        ("(NP (CC either) (NN tea) (CC or) (NN milk))", "cc:preconj(tea, either)"),
        ("(VP (VP (VBD sat)) (CC and) (VP (VBD ate) (NP (NN jam))))", "obj(ate, jam)"),
        ("(VP (VP (VBD sat)) (CC but) (VP (VBD ate)))", "conj:but(sat, ate)"),
        ("(ADJP (JJ old) (CC and) (JJ grey))", "conj:and(old, grey)"),
        ("(S (S (NP (PRP I)) (VP (VBD sat))) (CC and) (S (NP (PRP she)) (VP (VBD ate))))", "conj:and(sat, ate)"),
        ("(S (S (NP (PRP I)) (VP (VBD sat))) (CC and) (S (NP (PRP she)) (VP (VBD ate))))", "nsubj(ate, she)"),
        ("(NP (NP (NN tea)) (CONJP (RB as) (RB well) (IN as)) (NP (NN milk)))", "fixed(as, well)"),
        ("(ADJP (ADJP (JJ old)) (, ,) (ADJP (JJ grey)))", "conj(old, grey)"),
        ("(NP (JJ hot) (CC and) (JJ cold) (NN milk))", "amod(milk, hot)"),
        ("(NP (JJ red) (, ,) (JJ hot) (CC and) (JJ cold) (NN milk))", "conj:and(red, cold)"),
        ("(NP (NP (NN tea)) (, ,) (NP (NN milk)) (, ,) (NP (NN jam)))", "conj(tea, jam)"),
        ("(VP (VP (VBD came)) (, ,) (VP (VBD saw)))", "conj(came, saw)"),
        ("(VP (VB read) (CC or) (VB hear) (PP (IN in) (NP (NN court))))", "obl:in(read, court)"),
    ],
)  # fmt: skip
def test_one_construction_has_one_relation(text: str, expected: str) -> None:
    assert has(text, expected)


@pytest.mark.parametrize(
    "brackets",
    [
        "(NP (DT the) (NN cat))",
        "(S (CC And) (NP (PRP he)) (VP (VBD left)))",
        "(NP (NP (NNS cats)) (, ,) (NP (NNS dogs)))",
        "(NP (NP (NNS cats)) (, ,) (PP (IN of) (NP (NNS dogs))) (, ,) (NP (NNS mice)))",
        "(NP (NNS cats) (CC and))",
    ],
)
def test_what_is_no_coordination_has_no_conjuncts(brackets: str) -> None:
    tree = parse_brackets(brackets)
    found = to_dependencies(tree, Sentence.from_words([str(leaf.word) for leaf in tree.leaves()]))
    assert not [name for name in found.relations if name.startswith("conj")]


def test_an_expression_that_governs_others_stays_apart() -> None:
    built = Graph(["because", "of", "rain"])
    for token, head, relation in ((0, ROOT, "root"), (1, 0, "case"), (2, 1, "obj")):
        built.attach(token, head, relation)
    built.finish()
    assert "fixed" not in built.relations


@pytest.mark.parametrize("mark", [".", ",", ":", "``", "''"])
def test_every_mark_of_punctuation_hangs_on_the_root_of_its_clause(mark: str) -> None:
    assert has(f"(S (NP (PRP He)) (VP (VBD left)) ({mark} x))", "punct(left, x)")


@pytest.mark.parametrize(
    ("mark", "expected"), [("=D", "discourse"), (";-P", "discourse"), ("***", "punct"), ("::", "punct")]
)
def test_a_face_is_discourse_and_other_signs_are_punctuation(mark: str, expected: str) -> None:
    assert has(f"(S (NP (PRP He)) (VP (VBD left)) (NFP {mark}))", f"{expected}(left, {mark})")
