"""The result: pairs of phrases over two chosen trees, and everything about one aligned pair of sentences.

There is one model of it. The stage makes an `Alignment`, JSON is a way to write it down (`formats.codec`), and whatever
shows, counts, judges or compares alignments takes it. Numbers have as many digits as are written, and what equality is
about is what a line says: neither forests nor vectors of words, and of a word link not its score.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, overload

from forestalign.errors import UsageError, counted, shown
from forestalign.forest import Forest, NodeId, tree_of
from forestalign.lexicon import load_wordnet
from forestalign.meaning.differences import Difference
from forestalign.meaning.matcher import Correspondence
from forestalign.meaning.readings import Reading
from forestalign.meaning.role_changes import AlignedPredicate, RoleComparison
from forestalign.phrases.result.pair_meaning import PairMeaning, compare_meaning, list_differences
from forestalign.phrases.result.shown_pairs import LoosePhrase, each_once, loose_phrases, shown_pairs
from forestalign.phrases.search.hypotheses import Derivation
from forestalign.tokens import Sentence, Span, TextSpan, Token
from forestalign.trees import Tree
from forestalign.words.alignment import NO_LINKS, WordAlignment, WordLink

if TYPE_CHECKING:
    from forestalign.mining.edits import PairEdits
    from forestalign.mining.verdicts import Similarity

SAME, CHANGED, RELATED, UNRELATED = VERDICTS = ("same meaning", "changed", "related", "unrelated")
HIGHEST_SCORE = 5
DIGITS = 5  # after the point: what processors of different kinds agree on, but for the luck of rounding


@dataclass(frozen=True, slots=True)
class PhrasePair:
    """One aligned pair of phrases. `supports` are indices into the alignment's list, children before parents."""

    source: TextSpan
    target: TextSpan
    source_label: str
    target_label: str
    is_bar: bool  # either side is a bar node of the binarisation
    compositional: bool
    inverted: bool
    log_prob: float  # log Pr of the pair
    supports: tuple[int, ...]
    confidence: float | None = None  # how likely it is right; with scoring="paper" its share of the beam's mass
    evidence: tuple[str, ...] = ("links",)  # what it rests on: links, lexicon, acronym, quantity, similarity
    relation: str = ""  # what the source is to the target; empty where nobody asked
    reason: str = ""  # why it is opposite, of a different value or with other roles, in words

    @property
    def is_multiword(self) -> bool:
        """Whether both phrases have several words."""
        return self.source.end - self.source.start > 1 and self.target.end - self.target.start > 1

    def __str__(self) -> str:
        return f"{self.source.text} = {self.target.text}"

    def __repr__(self) -> str:
        sure = "" if self.confidence is None else f" {self.confidence:.2f}"
        return f"<PhrasePair {self.source.text!r} = {self.target.text!r}{sure}>"


class DiscontinuousPair(NamedTuple):
    """Words that belong together and are not a phrase of the tree: *turned* and *down* with *rejected*."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    evidence: str
    relation: str
    confidence: float | None = None  # how strong the evidence is

    @property
    def is_likeness(self) -> bool:
        """Whether only the scores of `unit_pairs` speak for it."""
        return self.evidence == "similarity"


class ScatteredPair(NamedTuple):
    """Words of a pair that is no pair of phrases, each a `Token`, or one of spaCy where a document came in."""

    source: tuple[Token, ...]
    target: tuple[Token, ...]
    relation: str
    confidence: float | None


class Verdict(NamedTuple):
    """Whether two sentences mean the same: a name, the probability that they do, and a score from 0 to 5."""

    name: str  # one of VERDICTS
    probability: float
    score: float


@dataclass(frozen=True, slots=True)
class SearchStatistics:
    """What the search did, which bounds it hit, and how the words below it were read."""

    states: int = 0  # combinations and lifts looked at
    beam_cuts: int = 0  # hypotheses dropped by the beam, or left out because they could not have entered it
    trace_bounds: int = 0  # TRACE calls cut at the bound


@dataclass(frozen=True, slots=True)
class PhraseAlignment:
    """A legitimate set of phrase pairs with its support relations, over one tree of each forest.

    `derivation` is the same by the nodes of the forests, with all edges of the two trees; None where a line was read.
    """

    pairs: tuple[PhrasePair, ...]
    source_nulls: tuple[Span, ...]  # maximal null phrases; words of scattered pairs are not null
    target_nulls: tuple[Span, ...]
    source_tree: Tree
    target_tree: Tree
    log_score: float
    reached_root: bool
    completed: bool = False  # the root was reached by lifting one support to it
    scattered: tuple[DiscontinuousPair, ...] = ()  # beside the pairs
    derivation: Derivation | None = field(default=None, repr=False, compare=False)
    statistics: SearchStatistics = field(default=SearchStatistics(), repr=False, compare=False)
    meaning: PairMeaning | None = field(default=None, repr=False, compare=False)  # None where a line was read

    @property
    def extended(self) -> tuple[LoosePhrase, ...]:
        """Phrases in no pair that add only small words to an aligned one, as *by him* does to *him*."""
        trees, nulls = (self.source_tree, self.target_tree), (self.source_nulls, self.target_nulls)
        return loose_phrases(trees, self.pairs, nulls, self.joined)

    @property
    def joined(self) -> tuple[DiscontinuousPair, ...]:
        """The scattered pairs that evidence joins; nulls, differences, edits and the verdict know of no others."""
        return tuple(one for one in self.scattered if not one.is_likeness)


class ForestNode(NamedTuple):
    """A constituent of the forest that the chosen tree does not have."""

    begin: int
    end: int
    label: str
    marginal: float


class ForestNodes(NamedTuple):
    """The constituents of both forests that were not chosen."""

    source: tuple[ForestNode, ...]
    target: tuple[ForestNode, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Alignment:
    """An aligned pair of sentences: prints, shows itself in a notebook, and converts to what other programs read.

    `words` are the word links; `candidates` are less likely ones, which the search could choose from as well.
    `alternatives` are the further k-best alignments, best first. A result that was read from a line has no forests.
    """

    id: str
    source: Sentence
    target: Sentence
    words: WordAlignment
    phrases: PhraseAlignment
    alternatives: tuple[PhraseAlignment, ...] = ()
    candidates: WordAlignment = NO_LINKS
    signature: str = ""
    unchosen: ForestNodes | None = None  # where it was asked for
    forests: tuple[Forest, Forest] | None = field(default=None, compare=False)
    docs: tuple[Any, Any] = field(default=(None, None), compare=False)  # the spaCy documents that it was made of
    # what lines of the paraphrase grammar say; None where the result was read from a line
    correspondences: tuple[Correspondence, ...] | None = field(default=None, repr=False, compare=False)
    judged: Verdict | None = field(default=None, compare=False)  # read from a line, or found when it was asked for
    _differences: tuple[Difference, ...] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def verdict(self) -> str:
        """`same meaning`, `changed`, `related` or `unrelated`."""
        return self.judgement.name

    @property
    def probability(self) -> float:
        """How likely it is that both sentences mean the same."""
        return self.judgement.probability

    @property
    def score(self) -> float:
        """How similar the sentences are, from 0 (nothing in common) to 5 (the same meaning)."""
        return self.judgement.score

    @property
    def judgement(self) -> Verdict:
        """Verdict, probability and score together; they are found once."""
        if self.judged is None:
            from forestalign.mining.verdicts import load_verdicts

            object.__setattr__(self, "judged", load_verdicts().judge(self))
        assert self.judged is not None
        return self.judged

    @property
    def source_tree(self) -> Tree:
        """The tree that the best alignment chose for the source."""
        return self.phrases.source_tree

    @property
    def target_tree(self) -> Tree:
        """The tree that the best alignment chose for the target."""
        return self.phrases.target_tree

    @property
    def extended(self) -> tuple[LoosePhrase, ...]:
        """Phrases in no pair of the best alignment that add only small words to an aligned one."""
        return self.phrases.extended

    @property
    def roles(self) -> tuple[AlignedPredicate, ...]:
        """Aligned predicates of the chosen trees, and whether each argument is the same, swapped, other or missing."""
        meaning = self.meaning
        return RoleComparison.of(
            meaning.source, meaning.target, self.words, load_wordnet(), meaning.correspondences
        ).predicates()

    @property
    def meaning(self) -> PairMeaning:
        """Both sentences as they are read under the chosen trees, and what contradicts in them; found once."""
        found = self.phrases
        if found.meaning is None:
            readings = Reading(self.source, found.source_tree), Reading(self.target, found.target_tree)
            compared = compare_meaning(*readings, self.words, found, self.correspondences)
            object.__setattr__(found, "meaning", compared)
        assert found.meaning is not None
        return found.meaning

    @property
    def differences(self) -> tuple[Difference, ...]:
        """What the target says differently, leaves out and adds, found when first asked for."""
        if self._differences is None:
            object.__setattr__(self, "_differences", list_differences(self.meaning, self.phrases))
        return self._differences or ()

    @property
    def left_out(self) -> tuple[WordLink, ...]:
        """Word links that no pair carries, scattered or not: a word has another partner, or no tree allows it."""
        ends = [(range(*pair.source), range(*pair.target)) for pair in self.phrases.pairs if not pair.supports]
        joined = [(one.source, one.target) for one in self.phrases.joined]
        carried = {places for each in (*ends, *joined) for places in product(*each)}
        return tuple([link for link in self.words if (link.source, link.target) not in carried])

    @property
    def source_forest(self) -> Forest:
        """The forest that was searched on the source side."""
        return (self.forests or self._without_forests())[0]

    @property
    def target_forest(self) -> Forest:
        """The forest that was searched on the target side."""
        return (self.forests or self._without_forests())[1]

    @property
    def derivation(self) -> Derivation:
        """The best alignment by the nodes of the two forests."""
        return self.phrases.derivation or self._without_forests()

    def _without_forests(self) -> NoReturn:
        raise UsageError(f"the result {shown(self.id)} has no forests: a line of JSON holds trees alone")

    def with_unchosen(self) -> Alignment:
        """The result with the constituents of its forests that were not chosen, which are written and drawn then."""
        best = self.derivation
        source = unchosen_nodes(self.source_forest, best.source_edges)
        return replace(self, unchosen=ForestNodes(source, unchosen_nodes(self.target_forest, best.target_edges)))

    # ---- the pairs ----

    def __iter__(self) -> Iterator[PhrasePair]:
        """The pairs that are shown, each once, from the top down."""
        return iter(self.pairs())

    def __len__(self) -> int:
        return len(self.pairs())

    def __bool__(self) -> bool:
        return True  # a result without pairs is a result

    @overload
    def __getitem__(self, place: int) -> PhrasePair: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[PhrasePair, ...]: ...
    def __getitem__(self, place: int | slice) -> PhrasePair | tuple[PhrasePair, ...]:
        return self.pairs()[place]

    def pairs(
        self, min_confidence: float = 0.0, multiword: bool = False, bars: bool | None = None
    ) -> tuple[PhrasePair, ...]:
        """Phrase pairs from the top down: in the order of the source, each before those inside it.

        `min_confidence` is the least confidence, and `multiword` asks for several words on both sides. Phrases that
        exist in the binarised trees alone are there where they say something that their parts do not; `bars=False` asks
        for none of them. Words that are several phrases, one above the other, are there once, as the uppermost.
        `bars=True` asks for all pairs. Of sentences that came in as spaCy documents, the sides are spaCy spans.
        """
        return tuple(self._with_spans(pair) for pair in self.own_pairs(min_confidence, multiword, bars))

    def own_pairs(
        self, min_confidence: float = 0.0, multiword: bool = False, bars: bool | None = None
    ) -> tuple[PhrasePair, ...]:
        """As `pairs`, with places in our own tokens whatever came in."""
        if not isinstance(min_confidence, int | float) or not min_confidence >= 0.0:
            raise UsageError(f"min_confidence is {shown(min_confidence)}; expected a number of at least 0")
        are_shown = self.shown(bars) if bars else each_once(self.phrases.pairs, self.shown(bars))
        chosen = [
            pair
            for pair, is_shown in zip(self.phrases.pairs, are_shown, strict=True)
            if is_shown
            and (pair.is_multiword or not multiword)
            and (min_confidence <= 0.0 or (pair.confidence or 0.0) >= min_confidence)
        ]
        chosen.reverse()  # parts of a pair that have all its words on one side stand below it
        return tuple(sorted(chosen, key=lambda pair: (pair.source.begin, -pair.source.end)))

    @property
    def scattered(self) -> tuple[ScatteredPair, ...]:
        """Words that belong together and are no phrase, as *turned … down* with *refused*; tokens of spaCy documents.

        >>> import forestalign
        >>> pair, = forestalign.align("He turned the job down.", "He refused the job.").scattered
        >>> [token.text for token in pair.source], [token.text for token in pair.target]
        (['turned', 'down'], ['refused'])
        """
        sides = [_tokens(*side) for side in zip((self.source, self.target), self.docs, strict=True)]
        return tuple(
            ScatteredPair(
                tuple(sides[0][word] for word in one.source),
                tuple(sides[1][word] for word in one.target),
                one.relation,
                one.confidence,
            )
            for one in self.phrases.scattered
        )

    def _with_spans(self, pair: PhrasePair) -> PhrasePair:
        for name, doc in zip(("source", "target"), self.docs, strict=True):
            if doc is not None:
                span, places = getattr(pair, name), _word_places(doc)
                pair = replace(pair, **{name: doc[places[span.begin] : places[span.end - 1] + 1]})
        return pair

    def shown(self, bars: bool | None = None) -> tuple[bool, ...]:
        """Whether each of `phrases.pairs`, which has them all, is shown."""
        if bars is not None and not isinstance(bars, bool):
            raise UsageError(f"bars is {shown(bars)}; expected True, False or None")
        return shown_pairs(self.phrases.pairs, self.source.words, self.target.words, bars)

    # ---- what others make of it; folders above this one do the work, so they are imported when asked ----

    def __str__(self) -> str:
        from forestalign.view.text import render_text

        return render_text(self)

    def __repr__(self) -> str:
        """One line, since forests and trees would fill pages; `print` shows the phrases."""
        return (
            f"<Alignment of {self.source.text!r} and {self.target.text!r}: "
            f"{self.verdict} {self.probability:.2f}, {counted(len(self), 'phrase pair')}>"
        )

    def _repr_html_(self) -> str:
        from forestalign.view import result_html

        return result_html(self)

    def to_json(self) -> str:
        """One line of JSON, as `forestalign align --json` prints it."""
        from forestalign.formats.codec import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, line: str) -> Alignment:
        """The result that such a line was made of, without its forests."""
        from forestalign.formats.codec import from_json

        if not isinstance(line, str):
            raise UsageError(f"line is {shown(line)}; expected a string of JSON")
        return from_json(line)

    def to_dict(self) -> dict[str, Any]:
        """The record that `to_json` writes, as a dictionary; docs/formats.md describes its fields."""
        fields: dict[str, Any] = json.loads(self.to_json())
        return fields

    def to_dataframe(self) -> Any:
        """The pairs that are shown as a pandas DataFrame, as `pairs` has them; needs pandas."""
        from forestalign.formats.codec import to_dataframe

        return to_dataframe(self)

    def to_tsv(self, header: bool = False) -> str:
        """A row per phrase pair and per null phrase, as `forestalign align --tsv` prints them."""
        from forestalign.formats.codec import COLUMNS, to_tsv

        table = to_tsv(self)
        return "\n".join(["\t".join(COLUMNS), table]) if header else table

    def to_pharaoh(self) -> str:
        """The word links as `i-j i-j ...`."""
        from forestalign.formats.word_links import format_pharaoh

        return format_pharaoh(self.words)

    def to_nltk(self) -> tuple[Any, Any]:
        """The two chosen trees as NLTK trees."""
        return _nltk(self.source_tree), _nltk(self.target_tree)

    def edits(self, id: str = "") -> PairEdits:
        """How the target differs from the source: kept, replaced, moved, removed, added and so on."""
        from forestalign.formats.fields import check_id
        from forestalign.mining.edits import edits_of

        check_id(id)
        return edits_of(replace(self, id=id) if id else self)

    def similarity(self) -> Similarity:
        """The verdict with its probability and score, and the reasons in words."""
        from forestalign.mining.verdicts import similarity_of

        return similarity_of(self)


def unchosen_nodes(forest: Forest, edges: Sequence[tuple[NodeId, int]]) -> tuple[ForestNode, ...]:
    """Constituents outside the chosen tree, without bar nodes and words; nodes that differ in heads alone are one."""
    names = [(node.begin, node.end, node.label) for node in forest.nodes]
    chosen = {names[node] for node, _ in edges}
    marginals = forest.marginals or (0.0,) * len(forest)
    summed: dict[tuple[int, int, str], float] = {}
    for node, name, marginal in zip(forest.nodes, names, marginals, strict=True):
        if not node.is_bar and not node.is_leaf and name not in chosen:
            summed[name] = summed.get(name, 0.0) + float(marginal)
    return tuple(ForestNode(*name, marginal) for name, marginal in sorted(summed.items()))


def chosen_tree(forest: Forest, edges: Sequence[tuple[NodeId, int]]) -> Tree:
    """The n-ary tree that an alignment chose."""
    choice = [0] * len(forest)
    for node, index in edges:
        choice[node] = index
    root = max(node for node, _ in edges)  # parents come after children
    return tree_of(forest, root, choice)


def _word_places(doc: Any) -> list[int]:
    """The places of the tokens that are words; spaCy has tokens of white space as well."""
    return [place for place, token in enumerate(doc) if token.text.strip()]


def _tokens(sentence: Sentence, doc: Any) -> Sequence[Token]:
    return sentence.tokens if doc is None else [doc[place] for place in _word_places(doc)]


def _nltk(tree: Tree) -> Any:
    import nltk

    if tree.word is not None:
        return nltk.Tree(tree.label, [tree.word])
    return nltk.Tree(tree.label, [_nltk(child) for child in tree.children])
