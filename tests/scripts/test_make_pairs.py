"""Pairs made by rules over gold trees: where a rule fires, what it makes, and where it must not; samples of files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from make_pairs import RULES, is_plain_sentence, main, make_pair, make_pairs
from permutation_rules import Usage, count_usage, leaves_of, number_anew, swapped_clauses

from forestalign.evaluation.annotated_pairs import annotated_pair, format_annotated_pair
from forestalign.evaluation.annotation_checks import check_pair
from forestalign.trees import Tree, parse_brackets

LOWER = frozenset({"the", "a", "he", "she", "we", "it", "they", "after", "because", "if", "in", "when", "call", "last"})
USAGE = Usage(LOWER, {("repair", ""): 50, ("repair", "with"): 1, ("cover", ""): 50, ("cover", "with"): 20})
Apply = Callable[[Tree, Usage], Iterator[Tree]]


def apply_rule(apply: Apply, brackets: str) -> list[Tree]:
    return [number_anew(tree, USAGE.lower_case)[0] for tree in apply(parse_brackets(brackets), USAGE)]


# a rule and what it makes, then the tree
FIRES = """
swapped_clauses: The cat ran and the dog barked .
    (S (S (NP (DT The) (NN dog)) (VP (VBD barked))) (CC and) (S (NP (DT the) (NN cat)) (VP (VBD ran))) (. .))
swapped_conjuncts: The dog and the cat sleep .
    (S (NP (NP (DT The) (NN cat)) (CC and) (NP (DT the) (NN dog))) (VP (VBP sleep)) (. .))
swapped_conjuncts: I like dogs or cats .
    (S (NP (PRP I)) (VP (VBP like) (NP (NNS cats) (CC or) (NNS dogs))) (. .))
fronted_adjuncts: After lunch , he called me .
    (S (NP (PRP He)) (VP (VBD called) (NP (PRP me)) (PP (IN after) (NP (NN lunch)))) (. .))
fronted_adjuncts: Last week , Ann called me .
    (S (NP (NNP Ann)) (VP (VBD called) (NP (PRP me)) (NP (DT last) (NN week))) (. .))
fronted_adjuncts: With a hammer , he repaired the car .
    (S (NP (PRP He)) (VP (VBD repaired) (NP (DT the) (NN car)) (PP (IN with) (NP (DT a) (NN hammer)))) (. .))
moved_back_adjuncts: I will call Ann after lunch .
    (S (PP (IN After) (NP (NN lunch))) (, ,) (NP (PRP I)) (VP (MD will) (VP (VB call) (NP (NNP Ann)))) (. .))
moved_back_adjuncts: The school had cats in 1999 .
    (S (PP (IN In) (NP (CD 1999))) (NP (DT the) (NN school)) (VP (VBD had) (NP (NNS cats))) (. .))
fronted_clauses: Because it was late , he left .
    (S (NP (PRP He)) (VP (VBD left) (SBAR (IN because) (S (NP (PRP it)) (VP (VBD was) (ADJP (JJ late)))))) (. .))
fronted_clauses: When you are here , call me .
    (S (VP (VB Call) (NP (PRP me)) (SBAR (WHADVP (WRB when)) (S (NP (PRP you)) (VP (VBP are) (ADVP (RB here))))))
    (. .))
moved_back_clauses: I will take the car if you like it .
    (S (SBAR (IN If) (S (NP (PRP you)) (VP (VBP like) (NP (PRP it))))) (, ,) (NP (PRP I)) (VP (MD will) (VP (VB
    take) (NP (DT the) (NN car)))) (. .))
"""
# a rule and what keeps it from firing, then the tree
STAYS = """
swapped_conjuncts: pronouns
    (S (NP (NP (PRP He)) (CC and) (NP (PRP I))) (VP (VBP sleep)) (. .))
swapped_conjuncts: a possessive that means the other
    (S (NP (NP (NNP Ann)) (CC and) (NP (PRP$ her) (NN dog))) (VP (VBP sleep)) (. .))
swapped_conjuncts: one shared determiner
    (S (NP (NP (DT The) (NN cat)) (CC and) (NP (NN dog))) (VP (VBP sleep)) (. .))
swapped_conjuncts: numbers
    (S (NP (PRP I)) (VP (VBP like) (NP (NP (NNP July) (CD 4)) (CC and) (NP (NNP May) (CD 2)))) (. .))
swapped_clauses: a pronoun that refers back
    (S (S (NP (DT The) (NN dog)) (VP (VBD barked))) (CC and) (S (NP (PRP it)) (VP (VBD ran) (RP off))) (. .))
swapped_conjuncts: verbs
    (S (NP (PRP He)) (VP (VP (VBD came)) (CC and) (VP (VBD saw))) (. .))
fronted_adjuncts: a predicate
    (S (NP (DT The) (NN party)) (VP (VBZ is) (PP (IN on) (NP (NNP Monday)))) (. .))
fronted_adjuncts: an argument of the verb
    (S (NP (PRP He)) (VP (VBD covered) (NP (DT the) (NN car)) (PP (IN with) (NP (DT a) (NN sheet)))) (. .))
fronted_adjuncts: a PP in a noun phrase
    (S (NP (PRP He)) (VP (VBD saw) (NP (NP (DT the) (NN day)) (PP (IN after) (NP (NNP Easter))))) (. .))
fronted_adjuncts: what only is about
    (S (NP (PRP He)) (ADVP (RB only)) (VP (VBD called) (NP (PRP me)) (PP (IN after) (NP (NN lunch)))) (. .))
fronted_adjuncts: a clause that follows another without a mark
    (S (S (NP (PRP I)) (VP (VBD left))) (S (NP (PRP he)) (VP (VBD saw) (NP (PRP me)) (PP (IN after) (NP (NN
    tea))))) (. .))
moved_back_adjuncts: a noun that a pronoun means
    (S (PP (IN After) (NP (NNP Ann))) (, ,) (NP (PRP she)) (VP (VBD saw) (NP (PRP me))) (. .))
moved_back_adjuncts: a clause that could take it
    (S (PP (IN After) (NP (NN lunch))) (, ,) (NP (PRP I)) (VP (VBD said) (SBAR (S (NP (PRP I)) (VP (VBD slept)))))
    (. .))
fronted_clauses: a complement
    (S (NP (PRP I)) (VP (VBP wonder) (SBAR (IN if) (S (NP (PRP it)) (VP (VBD was) (ADJP (JJ late)))))) (. .))
fronted_clauses: a reason that may be denied
    (S (NP (PRP He)) (VP (VBD did) (RB n't) (VP (VB leave) (SBAR (IN because) (S (NP (PRP it)) (VP (VBD was) (ADJP
    (JJ late))))))) (. .))
moved_back_clauses: a noun that a pronoun means
    (S (SBAR (IN If) (S (NP (NNP Ann)) (VP (VBZ likes) (NP (PRP it))))) (, ,) (NP (PRP she)) (VP (VBZ buys) (NP (DT
    the) (NN car))) (. .))
moved_back_clauses: a clause in front of another
    (S (S (SBAR (IN If) (S (NP (PRP you)) (VP (VBP like) (NP (PRP it))))) (NP (PRP I)) (VP (VBP buy) (NP (PRP
    it)))) (CC and) (S (NP (PRP I)) (VP (VBP pay))) (. .))
"""
APPLY = {rule.apply.__name__: rule.apply for rule in RULES}


def read_rows(table: str) -> list[tuple[str, str, str]]:
    """Rule, sentence or reason, tree."""
    rows = re.findall(r"^(\w+): (.*)\n((?:    .*\n)+)", table, re.MULTILINE)
    return [(rule, what, " ".join(brackets.split())) for rule, what, brackets in rows]


@pytest.mark.parametrize(("rule", "expected", "brackets"), read_rows(FIRES))
def test_a_rule_says_the_sentence_again(rule: str, expected: str, brackets: str) -> None:
    made = apply_rule(APPLY[rule], brackets)
    assert expected in [" ".join(str(leaf.word) for leaf in leaves_of(tree)) for tree in made]


@pytest.mark.parametrize(("rule", "what", "brackets"), read_rows(STAYS))
def test_a_rule_in_doubt_does_not_fire(rule: str, what: str, brackets: str) -> None:
    assert not apply_rule(APPLY[rule], brackets)


def test_every_rule_has_examples_and_counter_examples() -> None:
    for table in (FIRES, STAYS):
        assert {rule for rule, _, _ in read_rows(table)} == set(APPLY)


CLAUSES = parse_brackets(
    "(S (S (NP (DT The) (NNS dogs)) (VP (VBP bark))) (CC and) (S (NP (DT the) (NNS cats)) (VP (VBP run))) (. .))"
)


def test_links_join_the_words_that_stayed() -> None:
    _, links = number_anew(next(swapped_clauses(CLAUSES, USAGE)), USAGE.lower_case)
    assert links == ((0, 4), (1, 5), (2, 6), (3, 3), (4, 0), (5, 1), (6, 2), (7, 7))


def test_a_pair_stands_the_checks_of_annotations_and_the_round_trip() -> None:
    pair = make_pair(CLAUSES, USAGE, "x-1")
    assert pair is not None
    assert (pair.id, pair.phenomena) == ("x-1-clause-swap", ("conjunct-order",))
    assert pair.target.text == "The cats run and the dogs bark ."
    assert annotated_pair(format_annotated_pair(pair)) == pair
    assert [found for found in check_pair(pair) if found[0].startswith("E")] == []


def test_a_sentence_is_used_once() -> None:
    assert len(list(make_pairs([CLAUSES, CLAUSES], USAGE, "x"))) == 1


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


def test_usage_counts_words_in_lower_case_and_prepositions_of_verbs() -> None:
    usage = count_usage([parse_brackets("(S (NP (PRP He)) (VP (VBD ran) (PP (IN by) (NP (PRP me)))) (. .))")] * 3)
    assert usage.lower_case == {"ran", "by", "me"}
    assert usage.verb_prepositions == {("run", "by"): 3, ("run", ""): 3}


def test_a_sample_names_its_origin_and_passes_over_what_is_no_paraphrase(tmp_path: Path) -> None:
    lines = [{"source": f"a {i}", "target": f"b {i}", "paraphrase": i % 2} for i in range(10)]
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    main(["sample", f"{tmp_path}/set.jsonl:3", "-o", str(tmp_path / "out.jsonl")])
    pairs = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert len(pairs) == 3
    assert all(pair["id"].startswith("set:") and int(pair["source"][2:]) % 2 for pair in pairs)
    with pytest.raises(SystemExit, match="expected at least 6"):
        main(["sample", f"{tmp_path}/set.jsonl:6", "-o", str(tmp_path / "out.jsonl")])
