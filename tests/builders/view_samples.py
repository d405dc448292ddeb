"""Results to look at: trees and word links written by hand, phrase pairs read off them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from forestalign import Alignment, PhrasePair
from forestalign.phrases.result.alignment import DiscontinuousPair, ForestNode, ForestNodes
from forestalign.tokens import Span
from forestalign.trees import Tree, format_brackets, parse_brackets, postorder
from tests.builders.sample_results import links, pair, result, side, texted, with_phrases, with_sides

CAT_SOURCE = (
    "(TOP (S (NP (DT The) (JJ fat) (NN cat)) (VP (VBD sat) (ADVP (RB quietly)) (PP (IN on) (NP (DT the) (JJ"
    " old) (NN mat)))) (. .)))"
)
CAT_TARGET = (
    "(TOP (S (PP (IN On) (NP (DT the) (JJ old) (NN rug))) (, ,) (NP (DT the) (JJ plump) (NN cat)) (VP (VBD"
    " sat) (ADVP (RB silently))) (. .)))"
)
CAT_LINKS = {0: 5, 1: 6, 2: 7, 3: 8, 4: 9, 5: 0, 6: 1, 7: 2, 8: 3, 9: 10}

LONG_SOURCE = (
    "(TOP (S (SBAR (IN Although) (S (NP (DT the) (NN harbour)) (VP (VBD had) (VP (VBN been) (VP (VBN closed)"
    " (PP (IN for) (NP (NP (JJS most)) (PP (IN of) (NP (DT the) (NN winter)))))))))) (, ,) (NP (NP (DT the)"
    " (NNS fishermen)) (PP (IN from) (NP (DT the) (JJ northern) (NNS villages)))) (VP (VBD managed) (S (VP (TO"
    " to) (VP (VB repair) (NP (PRP$ their) (NNS boats)) (PP (IN before) (NP (NP (DT the) (JJ first) (NNS"
    " storms)) (PP (IN of) (NP (NN spring))))))))) (. .)))"
)
LONG_TARGET = (
    "(TOP (S (NP (NP (DT The) (NNS fishermen)) (PP (IN of) (NP (DT the) (NNS villages))) (PP (IN in) (NP (DT"
    " the) (NN north)))) (VP (VBD succeeded) (PP (IN in) (S (VP (VBG mending) (NP (PRP$ their) (NNS vessels))"
    " (SBAR (IN before) (S (NP (NP (DT the) (NN spring)) (POS 's) (JJ first) (NNS storms)) (VP (VBD"
    " arrived))))))) (, ,) (SBAR (IN even) (IN though) (S (NP (DT the) (NN port)) (VP (VBD was) (VP (VBN shut)"
    " (PP (IN during) (NP (NP (JJS most)) (PP (IN of) (NP (DT the) (NN winter)))))))))) (. .)))"
)
LONG_LINKS = {
    0: 22, 1: 23, 2: 24, 3: 25, 5: 26, 6: 27, 7: 28, 8: 29, 9: 30, 10: 31, 12: 0, 13: 1, 14: 2, 15: 3, 16: 7,
    17: 4, 18: 8, 20: 10, 21: 11, 22: 12, 23: 13, 24: 14, 25: 17, 26: 18, 28: 15, 29: 32,
}  # fmt: skip


BOUGHT_SOURCE = "(TOP (S (NP (PRP He)) (VP (VBD bought) (NP (DT a) (NN car))) (. .)))"
BOUGHT_TARGET = "(TOP (S (NP (DT A) (NN car)) (VP (VBD was) (VP (VBN bought) (PP (IN by) (NP (PRP him))))) (. .)))"
BOUGHT_LINKS = {0: 5, 1: 3, 2: 0, 3: 1, 4: 6}

TURNED_SOURCE = "(TOP (S (NP (PRP She)) (VP (VBD turned) (NP (DT the) (NN offer)) (PRT (RP down)))))"
TURNED_TARGET = "(TOP (S (NP (PRP She)) (VP (VBD refused) (NP (DT the) (NN offer)))))"
TURNED_LINKS = {0: 0, 2: 2, 3: 3}

BUCKET_SOURCE = "(TOP (S (NP (PRP He)) (VP (VBD kicked) (NP (DT the) (NN bucket)))))"
BUCKET_TARGET = "(TOP (S (NP (PRP He)) (VP (VBD died))))"


def record(
    identity: str, source: str, target: str, linked: dict[int, int], drop: frozenset[int] = frozenset()
) -> Alignment:
    """The result for two trees and one-to-one links; the links of source words in `drop` are left out."""
    kept = {i: j for i, j in linked.items() if i not in drop}
    sides = side(source), side(target)
    nulls = null_spans(sides[0].tree, set(kept)), null_spans(sides[1].tree, set(kept.values()))
    return result(
        identity,
        *sides,
        links(*((i, j, 0.9) for i, j in sorted(kept.items()))),
        "forestalign 0.1.0 sample",
        pairs=pairs_of(sides[0].tree, sides[1].tree, kept),
        source_nulls=nulls[0],
        target_nulls=nulls[1],
        log_score=-1.5 * len(sides[0].tree.label) - sum(len(range(*span)) for span in (*nulls[0], *nulls[1])),
    )


def pairs_of(source: Tree, target: Tree, links: dict[int, int]) -> tuple[PhrasePair, ...]:
    """Every two smallest nodes over the same links; supports are the largest pairs inside."""
    found: list[tuple[Tree, Tree]] = []
    for node in sorted(postorder(source), key=lambda node: node.end - node.begin):
        linked = {links[i] for i in range(node.begin, node.end) if i in links}
        over = [other for other in postorder(target) if linked and linked <= set(range(other.begin, other.end))]
        if not over:
            continue
        partner = min(over, key=lambda other: other.end - other.begin)
        back = {i for i, j in links.items() if partner.begin <= j < partner.end}
        if back <= set(range(node.begin, node.end)) and not any(pair[1] is partner for pair in found):
            found.append((node, partner))
    return tuple(_entry(found, index) for index in range(len(found)))


def _entry(found: list[tuple[Tree, Tree]], index: int) -> PhrasePair:
    node, partner = found[index]
    inside = [k for k in range(index) if node.begin <= found[k][0].begin and found[k][0].end <= node.end]
    tops = [k for k in inside if not any(k != m and _holds(found[m][0], found[k][0]) for m in inside)]
    straight = [found[k][1].begin for k in sorted(tops, key=lambda k: found[k][0].begin)]
    return pair(
        (node.begin, node.end),
        (partner.begin, partner.end),
        node.label,
        tops,
        target_label=partner.label,
        compositional=len(tops) <= 2,
        inverted=straight != sorted(straight),
        log_prob=-0.1 * (node.end - node.begin),
    )


def _holds(outer: Tree, inner: Tree) -> bool:
    return (
        outer.begin <= inner.begin and inner.end <= outer.end and (outer.end - outer.begin) > (inner.end - inner.begin)
    )


def null_spans(tree: Tree, linked: set[int]) -> tuple[Span, ...]:
    """The largest nodes without a link."""
    empty = [node for node in postorder(tree) if linked.isdisjoint(range(node.begin, node.end))]
    spans = {Span(node.begin, node.end) for node in empty}
    return tuple(
        sorted(span for span in spans if not any(o != span and o[0] <= span[0] and span[1] <= o[1] for o in spans))
    )


def with_extras(base: Alignment, other: Alignment) -> Alignment:
    """A result with a bar phrase, a second-best alignment and phrases of other parses."""
    bar = pair((1, 3), (6, 8), "NP", (1, 2), is_bar=True, log_prob=-0.2)
    second = replace(other.phrases, log_score=other.phrases.log_score - 2)
    unchosen = ForestNodes(
        (ForestNode(3, 5, "VP", 0.31), ForestNode(2, 9, "NP", 0.08)), (ForestNode(5, 10, "S", 0.12),)
    )
    pairs = (*base.phrases.pairs[:-1], bar, base.phrases.pairs[-1])
    second = texted(second, base.source, base.target)
    return replace(with_phrases(base, pairs=pairs), alternatives=(second,), unchosen=unchosen)


def cat(*drop: int, identity: str = "cat") -> Alignment:
    """The fat cat on the mat, and the plump one on the rug; without the links of source words in `drop`."""
    return record(identity, CAT_SOURCE, CAT_TARGET, CAT_LINKS, frozenset(drop))


def harbour(identity: str = "harbour") -> Alignment:
    """Two long sentences about fishermen."""
    return record(identity, LONG_SOURCE, LONG_TARGET, LONG_LINKS)


def bought(identity: str = "bought") -> Alignment:
    """Active and passive."""
    return record(identity, BOUGHT_SOURCE, BOUGHT_TARGET, BOUGHT_LINKS)


def turned_record(relation: str = "equal") -> Alignment:
    """*Turned* and *down* belong to *refused* and are not a phrase."""
    base = record("turned", TURNED_SOURCE, TURNED_TARGET, TURNED_LINKS)
    joined = DiscontinuousPair((1, 4), (1,), "lexicon", relation)
    return with_phrases(base, source_nulls=(), target_nulls=(), scattered=(joined,))


def bucket_record() -> Alignment:
    """An idiom: the verb phrases are aligned as wholes."""
    base = record("bucket", BUCKET_SOURCE, BUCKET_TARGET, {0: 0, 1: 1})
    he, top = base.phrases.pairs[0], base.phrases.pairs[-1]
    idiom = pair((1, 4), (1, 2), "VP", log_prob=-0.4, evidence=("lexicon",))
    pairs = (he, idiom, replace(top, supports=(0, 1)))
    return replace(with_phrases(base, pairs=pairs, source_nulls=(), target_nulls=()), words=links((0, 0, 0.9)))


def hostile_record() -> Alignment:
    """Words that would be markup if somebody let them."""
    words = ("</script><script>alert(1)</script>", "<img/src=x/onerror=alert(2)>", "\"'&amp;<!--", "\u2028]]>")
    source = "(TOP (S " + " ".join(f"(NN {word})" for word in ("a", "b", "c", "d")) + "))"
    base = record("<script>alert(3)</script>", source, source, {0: 0, 1: 1, 2: 2, 3: 3})
    tree = parse_brackets(source)
    renamed = replace(
        tree, children=tuple(replace(leaf, word=word) for leaf, word in zip(tree.children, words, strict=True))
    )
    hostile = side(format_brackets(renamed), " ".join(words), words)
    return replace(with_sides(base, hostile, hostile), signature="<b>signature</b>")


def data_of(page: str) -> Any:
    """What the scripts of a page are given."""
    return json.loads(page.partition('<script type="application/json" id="data">')[2].partition("</script>")[0])
