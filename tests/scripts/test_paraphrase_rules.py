"""The rules that make pairs with gold trees: where they fire, what they make, and where they must not fire.

The words that decide this are in `word_lists.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from make_pairs import RULES, is_plain_sentence, made_pair, made_pairs
from paraphrase_rules.dative import double_objects, prepositional_datives
from paraphrase_rules.nominals import (
    bare_relatives,
    full_relatives,
    marked_relatives,
    reduced_relatives,
    relatives_as_predicates,
    swapped_conjuncts,
)
from paraphrase_rules.order import (
    fronted_adjuncts,
    fronted_clauses,
    moved_back_adjuncts,
    moved_back_clauses,
    swapped_clauses,
)
from paraphrase_rules.tree_edits import finished
from paraphrase_rules.usage import Usage, usage_of
from paraphrase_rules.verbs import Agreement, agreement
from paraphrase_rules.voice import actives, passives

from forestalign.evaluation.annotation_checks import check_pair
from forestalign.evaluation.annotation_files import annotated_pair, format_annotated_pair
from forestalign.trees import Tree, format_brackets, parse_brackets

LOWER = frozenset({"the", "a", "he", "she", "we", "it", "they", "after", "because", "if", "in", "when", "call", "last"})
USAGE = Usage(
    LOWER,
    {("written", "VBN"): 5, ("bitten", "VBN"): 2},
    frozenset({"bite", "write", "sign", "see", "carry", "repair", "make", "take"}),
    frozenset({"travel", "help"}),
    {("repair", ""): 50, ("repair", "with"): 1, ("cover", ""): 50, ("cover", "with"): 20},
)
Apply = Callable[[Tree, Usage], Iterator[Tree]]


def sentences(apply: Apply, brackets: str) -> list[str]:
    made = [finished(tree, USAGE.lower_case).tree for tree in apply(parse_brackets(brackets), USAGE)]
    return [" ".join(str(leaf.word) for leaf in tree.leaves()) for tree in made]


def trees(apply: Apply, brackets: str) -> list[str]:
    made = apply(parse_brackets(brackets), USAGE)
    return [format_brackets(finished(tree, USAGE.lower_case).tree, "") for tree in made]


FIRES: list[tuple[Apply, str, str]] = [
    (
        passives,
        "(S (NP (DT The) (NNS dogs)) (VP (VBD bit) (NP (PRP him))) (. .))",
        "He was bitten by the dogs .",
    ),
    (
        passives,
        "(S (NP (PRP I)) (VP (VBP do) (RB n't) (VP (VB sign) (NP (NNS letters)) (PP (IN on) (NP "
        "(NNP Monday))))) (. .))",
        "Letters are n't signed by me on Monday .",
    ),
    (
        passives,
        "(S (NP (PRP We)) (VP (VBP 've) (VP (VBN written) (NP (DT a) (NN letter)))) (. .))",
        "A letter has been written by us .",
    ),
    (
        passives,
        "(S (NP (PRP He)) (VP (VBZ is) (VP (VBG repairing) (NP (DT the) (NNS cars)))) (. .))",
        "The cars are being repaired by him .",
    ),
    (
        passives,
        "(S (NP (PRP He)) (VP (VBD carried) (NP (DT the) (NN child)) (ADVP (RB home)) "
        "(PP (IN in) (NP (NNP May)))) (. .))",
        "The child was carried home by him in May .",
    ),
    (
        actives,
        "(S (NP (PRP He)) (VP (VBD was) (VP (VBN bitten) (PP (IN by) (NP (DT the) (NNS dogs))) (PP "
        "(IN in) (NP (NNP May))))) (. .))",
        "The dogs bit him in May .",
    ),
    (
        actives,
        "(S (NP (DT The) (NN letter)) (VP (VBD was) (RB not) (VP (VBN written) (PP (IN by) (NP (PRP her))))) (. .))",
        "She did not write the letter .",
    ),
    (
        actives,
        "(S (NP (PRP They)) (VP (VBP have) (VP (VBN been) (VP (VBN seen) (PP (IN by) (NP (NNP Ann)))))) (. .))",
        "Ann has seen them .",
    ),
    (
        prepositional_datives,
        "(S (NP (PRP She)) (VP (VBD gave) (NP (PRP him)) (NP (DT the) (NN book)) (PP (IN on) (NP "
        "(NNP Monday)))) (. .))",
        "She gave the book to him on Monday .",
    ),
    (
        prepositional_datives,
        "(S (NP (PRP She)) (VP (MD will) (VP (VB buy) (NP (NNP Ann)) (NP (DT a) (NN car)))) (. .))",
        "She will buy a car for Ann .",
    ),
    (
        double_objects,
        "(S (NP (PRP She)) (VP (VBD sent) (NP (DT a) (NN letter)) (PP (IN to) (NP (PRP me)))) (. .))",
        "She sent me a letter .",
    ),
    (
        double_objects,
        "(S (NP (PRP She)) (VP (VBD baked) (NP (DT a) (NN cake)) (PP (IN for) (NP (PRP them)))) (. .))",
        "She baked them a cake .",
    ),
    (
        reduced_relatives,
        "(S (NP (NP (DT The) (NN book)) (SBAR (WHNP (WDT that)) (S (VP (VBD was) (VP (VBN written) (PP "
        "(IN by) (NP (PRP him)))))))) (VP (VBD sold) (ADVP (RB well))) (. .))",
        "The book written by him sold well .",
    ),
    (
        reduced_relatives,
        "(S (NP (PRP We)) (VP (VBD met) (NP (NP (NNS people)) (SBAR (WHNP (WP who)) (S (VP (VBD were) "
        "(PP (IN in) (NP (NN charge)))))))) (. .))",
        "We met people in charge .",
    ),
    (
        full_relatives,
        "(S (NP (NP (DT The) (NNS books)) (VP (VBN written) (PP (IN by) (NP (PRP him))))) (VP "
        "(VBD sold) (ADVP (RB well))) (. .))",
        "The books that were written by him sold well .",
    ),
    (
        full_relatives,
        "(S (NP (NP (DT The) (NN girl)) (VP (VBG helping) (NP (PRP me)))) (VP (VBD left)) (. .))",
        "The girl that was helping me left .",
    ),
    (
        bare_relatives,
        "(S (NP (PRP I)) (VP (VBP like) (NP (NP (DT the) (NN book)) (SBAR (WHNP (WDT that)) (S (NP "
        "(PRP I)) (VP (VBD read)))))) (. .))",
        "I like the book I read .",
    ),
    (
        bare_relatives,
        "(S (NP (PRP I)) (VP (VBP like) (NP (NP (DT the) (NN man)) (SBAR (WHNP (WP whom)) (S (NP "
        "(PRP she)) (VP (VBD met)))))) (. .))",
        "I like the man she met .",
    ),
    (
        marked_relatives,
        "(S (NP (PRP I)) (VP (VBP like) (NP (NP (DT the) (NN book)) (SBAR (S (NP (PRP I)) (VP (VBD read)))))) (. .))",
        "I like the book that I read .",
    ),
    (
        relatives_as_predicates,
        "(S (NP (NP (NNP Ann)) (, ,) (SBAR (WHNP (WP who)) (S (VP (VBZ lives) (ADVP (RB here)))))) "
        "(, ,) (VP (VBZ works) (ADVP (RB there))) (. .))",
        "Ann lives here and works there .",
    ),
    (
        relatives_as_predicates,
        "(S (NP (NP (NNP Ann)) (, ,) (SBAR (WHNP (WP who)) (S (VP (VBZ lives) (ADVP (RB here))))) "
        "(, ,)) (VP (VBZ works) (ADVP (RB there))) (. .))",
        "Ann lives here and works there .",
    ),
    (
        swapped_clauses,
        "(S (S (NP (DT The) (NN dog)) (VP (VBD barked))) (CC and) (S (NP (DT the) (NN cat)) (VP (VBD ran))) (. .))",
        "The cat ran and the dog barked .",
    ),
    (
        swapped_conjuncts,
        "(S (NP (NP (DT The) (NN cat)) (CC and) (NP (DT the) (NN dog))) (VP (VBP sleep)) (. .))",
        "The dog and the cat sleep .",
    ),
    (
        swapped_conjuncts,
        "(S (NP (PRP I)) (VP (VBP like) (NP (NNS cats) (CC or) (NNS dogs))) (. .))",
        "I like dogs or cats .",
    ),
    (
        fronted_adjuncts,
        "(S (NP (PRP He)) (VP (VBD called) (NP (PRP me)) (PP (IN after) (NP (NN lunch)))) (. .))",
        "After lunch , he called me .",
    ),
    (
        fronted_adjuncts,
        "(S (NP (NNP Ann)) (VP (VBD called) (NP (PRP me)) (NP (DT last) (NN week))) (. .))",
        "Last week , Ann called me .",
    ),
    (
        fronted_adjuncts,
        "(S (NP (PRP He)) (VP (VBD repaired) (NP (DT the) (NN car)) (PP (IN with) (NP (DT a) (NN hammer)))) (. .))",
        "With a hammer , he repaired the car .",
    ),
    (
        moved_back_adjuncts,
        "(S (PP (IN After) (NP (NN lunch))) (, ,) (NP (PRP I)) (VP (MD will) (VP (VB call) (NP (NNP Ann)))) (. .))",
        "I will call Ann after lunch .",
    ),
    (
        moved_back_adjuncts,
        "(S (PP (IN In) (NP (CD 1999))) (NP (DT the) (NN school)) (VP (VBD had) (NP (NNS cats))) (. .))",
        "The school had cats in 1999 .",
    ),
    (
        fronted_clauses,
        "(S (NP (PRP He)) (VP (VBD left) (SBAR (IN because) (S (NP (PRP it)) (VP (VBD was) (ADJP (JJ late)))))) (. .))",
        "Because it was late , he left .",
    ),
    (
        fronted_clauses,
        "(S (VP (VB Call) (NP (PRP me)) (SBAR (WHADVP (WRB when)) (S (NP (PRP you)) (VP (VBP are) "
        "(ADVP (RB here)))))) (. .))",
        "When you are here , call me .",
    ),
    (
        moved_back_clauses,
        "(S (SBAR (IN If) (S (NP (PRP you)) (VP (VBP like) (NP (PRP it))))) (, ,) (NP (PRP I)) (VP "
        "(MD will) (VP (VB take) (NP (DT the) (NN car)))) (. .))",
        "I will take the car if you like it .",
    ),
]

STAYS: list[tuple[Apply, str, str]] = [
    (passives, "a verb without passive", "(S (NP (PRP He)) (VP (VBZ has) (NP (DT a) (NN car))) (. .))"),
    (passives, "a verb not seen in it", "(S (NP (PRP He)) (VP (VBD lacked) (NP (DT the) (NN will))) (. .))"),
    (passives, "a time", "(S (NP (PRP He)) (VP (VBD wrote) (NP (DT the) (NN day))) (. .))"),
    (passives, "its own possessive", "(S (NP (PRP He)) (VP (VBD wrote) (NP (PRP$ his) (NN name))) (. .))"),
    (passives, "two objects", "(S (NP (PRP He)) (VP (VBD wrote) (NP (PRP me)) (NP (DT a) (NN note))) (. .))"),
    (passives, "a bare noun", "(S (NP (PRP He)) (VP (VBD made) (NP (NN sense))) (. .))"),
    (passives, "a reflexive", "(S (NP (PRP He)) (VP (VBD saw) (NP (PRP himself))) (. .))"),
    (
        passives,
        "a clause with a gap",
        "(NP (NP (DT the) (NN day)) (SBAR (WHADVP (WRB when)) (S (NP (PRP he)) (VP (VBD saw) (NP (PRP me))))))",
    ),
    (passives, "two verbs", "(S (NP (PRP He)) (VP (VP (VBD saw) (NP (PRP me))) (CC and) (VP (VBD left))) (. .))"),
    (
        actives,
        "a time",
        "(S (NP (PRP It)) (VP (VBD was) (VP (VBN written) (PP (IN by) (NP (NNP Monday))))) (. .))",
    ),
    (actives, "a way", "(S (NP (PRP It)) (VP (VBD was) (VP (VBN written) (PP (IN by) (NP (NN hand))))) (. .))"),
    (actives, "no agent", "(S (NP (PRP It)) (VP (VBD was) (VP (VBN written) (PP (IN in) (NP (NN ink))))) (. .))"),
    (
        actives,
        "a second object",
        "(S (NP (PRP He)) (VP (VBD was) (VP (VBN given) (NP (DT a) (NN car)) (PP (IN by) (NP (NNP Ann))))) (. .))",
    ),
    (
        prepositional_datives,
        "an idiom",
        "(S (NP (PRP She)) (VP (VBD gave) (NP (PRP him)) (NP (DT a) (NN call))) (. .))",
    ),
    (
        prepositional_datives,
        "an amount",
        "(S (NP (PRP She)) (VP (VBD paid) (NP (CD 2) (NN k)) (NP (NN cash))) (. .))",
    ),
    (
        prepositional_datives,
        "another verb",
        "(S (NP (PRP They)) (VP (VBD called) (NP (PRP him)) (NP (DT a) (NN fool))) (. .))",
    ),
    (
        double_objects,
        "a place",
        "(S (NP (PRP She)) (VP (VBD sent) (NP (DT a) (NN letter)) (PP (IN to) (NP (NNP Paris)))) (. .))",
    ),
    (
        double_objects,
        "a pronoun as gift",
        "(S (NP (PRP She)) (VP (VBD sent) (NP (PRP it)) (PP (IN to) (NP (PRP me)))) (. .))",
    ),
    (
        reduced_relatives,
        "a relative with commas",
        "(S (NP (NP (NNP Ann)) (, ,) (SBAR (WHNP (WP who)) (S (VP (VBD was) (VP (VBN seen) (PP (IN by) "
        "(NP (PRP me)))))))) (VP (VBD left)) (. .))",
    ),
    (
        reduced_relatives,
        "a predicate noun",
        "(S (NP (NP (DT the) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBZ is) (NP (DT the) "
        "(NN king)))))) (VP (VBD left)) (. .))",
    ),
    (
        full_relatives,
        "a sentence in the present",
        "(S (NP (NP (DT The) (NNS books)) (VP (VBN written) (PP (IN by) (NP (PRP him))))) (VP "
        "(VBP sell) (ADVP (RB well))) (. .))",
    ),
    (
        full_relatives,
        "a state",
        "(S (NP (NP (DT The) (NN box)) (VP (VBG containing) (NP (NNS books)))) (VP (VBD fell)) (. .))",
    ),
    (
        bare_relatives,
        "a subject relative",
        "(S (NP (NP (DT the) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBD saw) (NP (PRP me)))))) (VP (VBD left)) (. .))",
    ),
    (
        bare_relatives,
        "a preposition before it",
        "(S (NP (NP (DT the) (NN day)) (SBAR (WHPP (IN on) (WHNP (WDT which))) (S (NP (PRP I)) (VP "
        "(VBD left))))) (VP (VBD ended)) (. .))",
    ),
    (
        marked_relatives,
        "a noun with a complement clause",
        "(S (NP (NP (DT The) (NN fact)) (SBAR (S (NP (PRP he)) (VP (VBD left))))) (VP (VBZ hurts)) (. .))",
    ),
    (
        marked_relatives,
        "an infinitive",
        "(S (NP (PRP It)) (VP (VBZ is) (NP (NP (DT a) (NN book)) (SBAR (S (VP (TO to) (VP (VB read))))))) (. .))",
    ),
    (
        relatives_as_predicates,
        "a relative without commas",
        "(S (NP (NP (NNS men)) (SBAR (WHNP (WP who)) (S (VP (VBP live) (ADVP (RB here)))))) (VP (VBP work)) (. .))",
    ),
    (
        relatives_as_predicates,
        "an object relative",
        "(S (NP (NP (NNP Ann)) (, ,) (SBAR (WHNP (WP whom)) (S (NP (PRP I)) (VP (VBP know))))) (, ,) "
        "(VP (VBZ works)) (. .))",
    ),
    (
        relatives_as_predicates,
        "a relative about another noun",
        "(S (NP (NP (NP (NN growth)) (PP (IN of) (NP (NNS trees)))) (, ,) "
        "(SBAR (WHNP (WDT which)) (S (VP (VBP are) (ADJP (JJ old)))))) (, ,) (VP (VBZ stops)) (. .))",
    ),
    (swapped_conjuncts, "pronouns", "(S (NP (NP (PRP He)) (CC and) (NP (PRP I))) (VP (VBP sleep)) (. .))"),
    (
        swapped_conjuncts,
        "a possessive that means the other",
        "(S (NP (NP (NNP Ann)) (CC and) (NP (PRP$ her) (NN dog))) (VP (VBP sleep)) (. .))",
    ),
    (
        swapped_conjuncts,
        "one shared determiner",
        "(S (NP (NP (DT The) (NN cat)) (CC and) (NP (NN dog))) (VP (VBP sleep)) (. .))",
    ),
    (
        swapped_conjuncts,
        "numbers",
        "(S (NP (PRP I)) (VP (VBP like) (NP (NP (NNP July) (CD 4)) (CC and) (NP (NNP May) (CD 2)))) (. .))",
    ),
    (
        swapped_clauses,
        "a pronoun that refers back",
        "(S (S (NP (DT The) (NN dog)) (VP (VBD barked))) (CC and) (S (NP (PRP it)) (VP (VBD ran) (RP off))) (. .))",
    ),
    (swapped_conjuncts, "verbs", "(S (NP (PRP He)) (VP (VP (VBD came)) (CC and) (VP (VBD saw))) (. .))"),
    (
        fronted_adjuncts,
        "a predicate",
        "(S (NP (DT The) (NN party)) (VP (VBZ is) (PP (IN on) (NP (NNP Monday)))) (. .))",
    ),
    (
        fronted_adjuncts,
        "an argument of the verb",
        "(S (NP (PRP He)) (VP (VBD covered) (NP (DT the) (NN car)) (PP (IN with) (NP (DT a) (NN sheet)))) (. .))",
    ),
    (
        fronted_adjuncts,
        "a PP in a noun phrase",
        "(S (NP (PRP He)) (VP (VBD saw) (NP (NP (DT the) (NN day)) (PP (IN after) (NP (NNP Easter))))) (. .))",
    ),
    (
        fronted_adjuncts,
        "what only is about",
        "(S (NP (PRP He)) (ADVP (RB only)) (VP (VBD called) (NP (PRP me)) (PP (IN after) (NP (NN lunch)))) (. .))",
    ),
    (
        fronted_adjuncts,
        "a clause that follows another without a mark",
        "(S (S (NP (PRP I)) (VP (VBD left))) "
        "(S (NP (PRP he)) (VP (VBD saw) (NP (PRP me)) (PP (IN after) (NP (NN tea))))) (. .))",
    ),
    (
        moved_back_adjuncts,
        "a noun that a pronoun means",
        "(S (PP (IN After) (NP (NNP Ann))) (, ,) (NP (PRP she)) (VP (VBD saw) (NP (PRP me))) (. .))",
    ),
    (
        moved_back_adjuncts,
        "a clause that could take it",
        "(S (PP (IN After) (NP (NN lunch))) (, ,) (NP (PRP I)) (VP (VBD said) (SBAR (S (NP (PRP I)) "
        "(VP (VBD slept))))) (. .))",
    ),
    (
        fronted_clauses,
        "a complement",
        "(S (NP (PRP I)) (VP (VBP wonder) (SBAR (IN if) (S (NP (PRP it)) (VP (VBD was) (ADJP (JJ late)))))) (. .))",
    ),
    (
        fronted_clauses,
        "a reason that may be denied",
        "(S (NP (PRP He)) (VP (VBD did) (RB n't) (VP (VB leave) (SBAR (IN because) (S (NP (PRP it)) "
        "(VP (VBD was) (ADJP (JJ late))))))) (. .))",
    ),
    (
        moved_back_clauses,
        "a noun that a pronoun means",
        "(S (SBAR (IN If) (S (NP (NNP Ann)) (VP (VBZ likes) (NP (PRP it))))) (, ,) (NP (PRP she)) (VP "
        "(VBZ buys) (NP (DT the) (NN car))) (. .))",
    ),
    (
        moved_back_clauses,
        "a clause in front of another",
        "(S (S (SBAR (IN If) (S (NP (PRP you)) (VP (VBP like) (NP (PRP it))))) (NP (PRP I)) (VP "
        "(VBP buy) (NP (PRP it)))) (CC and) (S (NP (PRP I)) (VP (VBP pay))) (. .))",
    ),
]


@pytest.mark.parametrize(("apply", "brackets", "expected"), FIRES, ids=[f"{a.__name__}: {e}" for a, _, e in FIRES])
def test_a_rule_says_the_sentence_again(apply: Apply, brackets: str, expected: str) -> None:
    assert expected in sentences(apply, brackets)


@pytest.mark.parametrize(("apply", "what", "brackets"), STAYS, ids=[f"{a.__name__}: {w}" for a, w, _ in STAYS])
def test_a_rule_in_doubt_does_not_fire(apply: Apply, what: str, brackets: str) -> None:
    assert not sentences(apply, brackets)


def test_every_rule_has_examples_and_counter_examples() -> None:
    names = {rule.apply for rule in RULES}
    assert {apply for apply, _, _ in FIRES} == names == {apply for apply, _, _ in STAYS}


def test_the_passive_has_its_tree() -> None:
    (made,) = trees(passives, "(S (NP (PRP I)) (VP (MD 'd) (VP (VB see) (NP (NNS dogs)) (ADVP (RB now)))) (. .))")
    assert made == (
        "(S (NP (NNS Dogs)) (VP (MD would) (VP (VB be) "
        "(VP (VBN seen) (ADVP (RB now)) (PP (IN by) (NP (PRP me)))))) (. .))"
    )


def test_a_fronted_phrase_hangs_in_the_clause() -> None:
    (made,) = trees(
        fronted_adjuncts, "(S (NP (DT The) (NN man)) (VP (VBD saw) (NP (PRP us)) (PP (IN after) (NP (NN tea)))) (. .))"
    )
    assert made == ("(S (PP (IN After) (NP (NN tea))) (, ,) (NP (DT the) (NN man)) (VP (VBD saw) (NP (PRP us))) (. .))")


@pytest.mark.parametrize(
    ("brackets", "expected"),
    [
        ("(NP (PRP I))", Agreement.FIRST),
        ("(NP (PRP you))", Agreement.PLURAL),
        ("(NP (NP (DT the) (NN dog)) (PP (IN of) (NP (NNS men))))", Agreement.SINGULAR),
        ("(NP (NP (NNP Ann) (POS 's)) (NNS dogs))", Agreement.PLURAL),
        ("(NP (NP (NNP Ann)) (CC and) (NP (NNP Bo)))", Agreement.PLURAL),
        ("(NP (NP (NNP Ann)) (CC or) (NP (NNP Bo)))", None),
        ("(NP (NP (DT a) (NN lot)) (PP (IN of) (NP (NNS men))))", None),
        ("(NP (DT the) (NNPS States))", None),
    ],
)
def test_agreement_is_known_or_left_open(brackets: str, expected: Agreement | None) -> None:
    assert agreement(parse_brackets(brackets)) is expected


def test_links_join_the_words_that_stayed() -> None:
    tree = parse_brackets("(S (NP (NNS Dogs)) (VP (VBD bit) (NP (PRP him))) (. .))")
    made = finished(next(passives(tree, USAGE)), USAGE.lower_case)
    assert made.links == ((0, 4), (1, 2), (2, 0), (3, 5))


def test_a_pair_stands_the_checks_of_annotations_and_the_round_trip() -> None:
    tree = parse_brackets(FIRES[0][1].replace("(PRP him)", "(DT the) (NN man)"))
    pair = made_pair(tree, USAGE, "x-1")
    assert pair is not None
    assert pair.id == "x-1-passive"
    assert pair.phenomena == ("voice",)
    assert annotated_pair(format_annotated_pair(pair)) == pair
    assert [found for found in check_pair(pair) if found[0].startswith("E")] == []


def test_a_sentence_is_used_once() -> None:
    tree = parse_brackets(FIRES[1][1])
    assert len(list(made_pairs([tree, tree], USAGE, "x"))) == 1


@pytest.mark.parametrize(
    "brackets",
    [
        "(FRAG (NP (DT The) (NN man)) (PP (IN in) (NP (DT the) (NN moon))) (. .))",
        "(S (NP (DT the) (NN man)) (VP (VBD saw) (NP (DT the) (NN moon))) (. .))",
        "(S (NP (DT THE) (NN man)) (VP (VBD saw) (NP (DT the) (NN moon))) (. .))",
        "(S (NP (DT The) (NN man)) (VP (VBD saw) (NP (DT the) (FW luna))) (. .))",
        "(S (NP (PRP I)) (VP (VBD left)) (. .))",
        "(S (NP (DT The) (NN man)) (VP (VBD saw) (NP (DT the) (NN moon))) (. ?))",
        "(S (NP (DT The) (NN man)) (VP (VBD saw) (NP (`` ``) (DT the) (NN moon))) (. .))",
    ],
)
def test_fragments_and_odd_sentences_are_left_out(brackets: str) -> None:
    assert not is_plain_sentence(parse_brackets(brackets))


def test_usage_counts_passives_progressives_and_prepositions() -> None:
    passive = parse_brackets("(S (NP (PRP It)) (VP (VBZ is) (VP (VBN seen) (PP (IN by) (NP (PRP me))))) (. .))")
    progressive = parse_brackets("(S (NP (PRP He)) (VP (VBD was) (VP (VBG helping) (NP (PRP us)))) (. .))")
    with_object = parse_brackets("(S (NP (PRP He)) (VP (VBD was) (VP (VBN given) (NP (NN tea)))) (. .))")
    usage = usage_of([passive, progressive, with_object] * 3)
    assert usage.passive_verbs == {"see"}
    assert usage.progressive_verbs == {"help"}
    assert usage.verb_prepositions["see", "by"] == 3
    assert usage.verb_prepositions["see", ""] == 3
