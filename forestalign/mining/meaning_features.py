"""What an alignment shows of who does what to whom, as numbers that do not change when the sentences are exchanged.

Same words in another order can mean the same or not. If they do, constituents stay together, words stay below the words
that governed them, and arguments keep their roles; if not, links scatter.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from forestalign.lexicon import load_wordnet
from forestalign.lexicon.findings import DIFFERENT, EQUAL, OPPOSITE, OTHER_ROLES
from forestalign.meaning.differences import NEGATION, Difference
from forestalign.phrases.result.alignment import Alignment
from forestalign.phrases.result.pair_relations import SMALL
from forestalign.phrases.result.rising import compare_roles
from forestalign.phrases.result.role_changes import ArgumentKind, RoleComparison
from forestalign.phrases.scoring.schema import word_class
from forestalign.tokens import Sentence
from forestalign.trees import Tree, preorder
from forestalign.words.alignment import WordAlignment

# reasons against, which may never raise a score: up to three of each kind, as a share of three
REASONS = {
    "contradiction: roles": OTHER_ROLES,
    "contradiction: negation": NEGATION,
    "contradiction: opposite": OPPOSITE,
    "contradiction: value": DIFFERENT,
}
ANY_REASON = "contradiction"
MOST_REASONS = 3  # that are counted


def meaning_features(alignment: Alignment, contradictions: Sequence[Difference]) -> dict[str, float]:
    """What contradictions and roles say about the likeness of two sentences: name of each feature, and its value."""
    roles = compare_roles(alignment.phrases, alignment.source, alignment.target, alignment.words)
    turned = RoleComparison.of(roles.target, roles.source, alignment.words.mirrored(), load_wordnet())
    found = {
        name: min(
            sum(
                kind in (each.kind, each.relation) and (kind == OPPOSITE) <= (each.kind != NEGATION)
                for each in contradictions
            ),
            MOST_REASONS,
        )
        / MOST_REASONS
        for name, kind in REASONS.items()
    }
    found[ANY_REASON] = float(bool(contradictions))
    found |= _mean(_argument_shares(roles), _argument_shares(turned))
    found |= _mean(_kept_edges(roles), _kept_edges(turned))
    found |= _mean(*_scatters(alignment))
    found |= _order(alignment)
    found |= _phrases(alignment)
    return found


def _mean(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    """The mean and the lesser of both directions."""
    means = {name: (value + other[name]) / 2 for name, value in one.items()}
    return means | {f"least {name}": min(value, other[name]) for name, value in one.items()}


def _argument_shares(roles: RoleComparison) -> dict[str, float]:
    """Of the arguments of aligned predicates, those that are the same, other and missing."""
    kinds = [argument.kind for predicate in roles.predicates() for argument in predicate.arguments]
    count = len(kinds) or 1
    return {
        "same arguments": (kinds.count(ArgumentKind.SAME) + (not kinds)) / count,
        "other arguments": kinds.count(ArgumentKind.OTHER) / count,
        "missing arguments": kinds.count(ArgumentKind.MISSING) / count,
    }


def _kept_edges(roles: RoleComparison) -> dict[str, float]:
    """Of the dependencies between words with partners, those that hold between the partners, in whatever direction."""
    heads, others = roles.source.dependencies.heads, roles.target.dependencies.heads
    own = [word_class(token) not in SMALL for token in roles.source.sentence.tokens]
    edges = [(word, heads[word]) for word in roles.partner if heads[word] >= 0 and own[word]]
    linked = [(roles.partner[word], roles.partner[head]) for word, head in edges if head in roles.partner]
    kept = sum(others[word] == head for word, head in linked)
    near = sum(_is_near(others, word, head) for word, head in linked)
    count = len(linked) or 1
    return {"kept heads": (kept + (not linked)) / count, "near heads": (near + (not linked)) / count}


def _is_near(heads: Sequence[int], word: int, head: int) -> bool:
    """Whether two words are head and dependent, or have a head in common, or one between them."""
    if heads[word] in (head, heads[head]) or heads[head] == word:
        return True
    above, below = heads[word], heads[head]
    return (above >= 0 and heads[above] == head) or (below >= 0 and heads[below] == word)


def _scatters(alignment: Alignment) -> tuple[dict[str, float], dict[str, float]]:
    source = _scatter(alignment.source_tree, alignment.source, alignment.words)
    return source, _scatter(alignment.target_tree, alignment.target, alignment.words.mirrored())


def _scatter(tree: Tree, sentence: Sentence, links: WordAlignment) -> dict[str, float]:
    """Of the constituents with several linked words, those whose partners stand together, apart from small words."""
    matters = [word_class(token) not in SMALL for token in sentence.tokens]
    pairs = [(link.source, link.target) for link in links if matters[link.source]]
    together = whole = 0
    for node in preorder(tree):
        inside = [target for source, target in pairs if node.begin <= source < node.end]
        if node.word is not None or len(inside) < 2 or len(inside) == len(pairs):
            continue
        low, high = min(inside), max(inside)
        whole += 1
        together += not any(low < target < high and not node.begin <= source < node.end for source, target in pairs)
    return {"constituents together": (together + (not whole)) / (whole or 1)}


def _order(alignment: Alignment) -> dict[str, float]:
    """Of all pairs of linked content words, those in the same order on both sides."""
    matters = [
        [word_class(token) not in SMALL for token in each.tokens] for each in (alignment.source, alignment.target)
    ]
    places = [
        (link.source, link.target) for link in alignment.words if matters[0][link.source] and matters[1][link.target]
    ]
    pairs = [(one, two) for one, two in combinations(places, 2) if one[0] != two[0] and one[1] != two[1]]
    kept = sum((one[0] < two[0]) == (one[1] < two[1]) for one, two in pairs)
    return {"kept order": kept / len(pairs) if pairs else 1.0}


def _phrases(alignment: Alignment) -> dict[str, float]:
    """Shares of pairs that are not composed, turned round, discontinuous or loose, and values in other units."""
    found = alignment.phrases
    inner = [pair for pair in found.pairs if pair.supports] or list(found.pairs)
    count = len(inner) or 1
    units = [pair for pair in found.pairs if "quantity" in pair.evidence and pair.relation == EQUAL]
    length = len(alignment.source) + len(alignment.target)
    left_out = len(alignment.left_out)
    return {
        "composed phrases": sum(pair.compositional for pair in inner) / count,
        "inverted phrases": sum(pair.inverted for pair in inner) / count,
        "phrases per word": 2 * len(found.pairs) / length,
        "discontinuous pairs": min(len(found.scattered), MOST_REASONS) / MOST_REASONS,
        "loose pairs": min(len(found.extended), MOST_REASONS) / MOST_REASONS,
        "links in no pair": 2 * left_out / length,
        "equal values in other words": min(len(units), MOST_REASONS) / MOST_REASONS,
        "reached root": float(found.reached_root and not found.completed),
    }
