"""All settings, in one frozen object. Beside each default stands where it comes from."""

from __future__ import annotations

import math
import warnings
from dataclasses import InitVar, dataclass, fields, replace
from typing import Any

from forestalign.errors import RenamedWarning, UsageError, shown

CHOICES = {
    "backend": ("embedded", "benepar", "trees"),
    "forest": ("nbest", "pruned"),
    "links": ("sultan", "dictionary", "union", "crf", "meteor", "ted", "similarity"),
    "matching": ("argmax", "itermax", "match"),
    "profile": ("best", "paper", "published"),
    "search": ("forest", "ted"),
    "parse_score": ("tree", "local"),
    "penalty": ("rank", "literal"),
    "normaliser": ("distinct", "node"),
    "null_normaliser": ("own", "literal"),
    "direction": ("directional", "symmetric"),
    "scoring": ("best", "paper"),
    "decode": ("best", "risk"),
}
# The smallest and the largest value of a number; counts of which 0 means "all" begin there.
PAPER_ONLY = (
    "null_penalty",
    "noncompositional_penalty",
    "link_weight",
    "parse_weight",
    "parse_score",
    "penalty",
)  # what `scoring="best"` has learned weights for
RANGES = {
    "nbest": (1, math.inf),
    "prune": (1e-9, 1.0),
    "temperature": (1e-9, math.inf),
    "link_threshold": (0.0, 1.0),
    "threads": (1, math.inf),
    "batch_size": (1, math.inf),
    "beam": (0, math.inf),
    "gap": (1, math.inf),
    "null_penalty": (0.0, math.inf),
    "noncompositional_penalty": (0.0, math.inf),
    "parse_weight": (0.0, 1.0),
    "link_weight": (0.0, math.inf),
    "trace_states": (0, math.inf),
    "paths": (0, math.inf),
    "variants": (0, math.inf),
    "cube": (0, math.inf),
    "max_words": (1, math.inf),
    "kbest": (1, math.inf),
}
RENAMED = {"seed": "links"}  # settings by the names that they had before
HAND_SET = "hand-set"  # the name of the phrase model without learned weights
OLD_HAND_SET = "uniform"  # what it was called, though its weights are not uniform
KINDS = {int: "a whole number", float: "a number", str: "a word", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class AlignConfig:
    """Settings of the whole way from text to phrases. Symbols of the paper: µb beam, µg gap, µn, µc, µp below."""

    # ---- parser ----
    backend: str = "embedded"  # the parser in the wheel; "benepar" and "trees" are the others
    parser_model: str = ""  # folder or name for the benepar backend; empty: the shipped one
    nbest: int = 30  # trees in a forest; the paper leaves it open
    forest: str = "nbest"  # "nbest" (the paper's way) or "pruned" (the chart, by marginal)
    prune: float = 0.01  # smallest span-label marginal in a pruned forest
    strict: bool = False  # only derivations that lie in one of the n-best trees
    temperature: float = 1.0  # divides the chart scores; for margin-trained benepar models
    threads: int = 1  # passes of the encoder side by side; processes are the better way to use more cores
    batch_size: int = 16  # sentences in one encoder pass

    # ---- word links ----
    links: str = "sultan"  # where links come from: "sultan", "dictionary", "union", "crf", or a baseline
    profile: str = "best"  # "paper", "published", "best"
    ppdb: str = ""  # path of a PPDB-format pair list
    link_threshold: float = 0.1  # least probability of a link in the seed W (profile best); tuned on annotations/dev
    vectors: str = ""  # path of word vectors that gensim reads; empty: the shipped ones
    crf_model: str = ""  # path of a CRF model; empty: the shipped one
    matching: str = "argmax"  # of links "similarity": "argmax", "itermax" or "match"; the best on msr-rte2.dev

    # ---- search ----
    search: str = (
        "forest"  # the paper's, over forests; "ted": a baseline, constrained tree edit distance of 1-best trees
    )
    model: str = ""  # path of a phrase model; empty: the shipped one, "hand-set": no learned weights
    scoring: str = "best"  # weights of local parts learned on gold; "paper": log Pr, penalties and parse scores
    scores: str = ""  # path of learned phrase scores; empty: the shipped ones
    evidence: str = "all"  # kinds of evidence for phrases, separated by commas: "all", "none", or names; for ablations
    beam: int = 50  # µb; section 6.4 trains with 50
    gap: int = 6  # µg: generations between a pair and its support; tuned on annotations/dev
    null_penalty: float = 4.0  # µn: per null word; tuned on annotations/dev, about half of link_weight
    noncompositional_penalty: float = 2.0  # µc: in units of µn, per non-compositional pair; tuned on annotations/dev
    link_weight: float = 8.0  # of log p(link) in the score of linked words; tuned on annotations/dev
    parse_weight: float = 0.75  # µp: share of the parse score; tuned on annotations/dev
    monotonic: bool = False  # ablation: no non-compositional steps
    one_best: bool = False  # ablation: 1-best trees only
    parse_score: str = "tree"  # log p of the trees, or "local" marginals; 5.4 adds numbers of very different size
    penalty: str = "rank"  # each null word once, as 5.3 ranks; "literal": again at every pair above it
    normaliser: str = "distinct"  # "distinct" feature vectors, or "node"
    null_normaliser: str = "own"  # "own" side, or "literal"
    direction: str = "symmetric"  # or "directional"; symmetric gains 0.7 F1 on annotations/dev
    lifts: bool = True  # one support, both paths null; gold of the paper's kind has such pairs
    trace_states: int = 50  # most states of one TRACE call; as many as the beam
    paths: int = 2  # best paths kept between two nodes of a forest; 0: all
    variants: int = 3  # hypotheses of one beam with the same target phrase and target words; 0: all
    cube: int = 100  # cube pruning: combinations (a, b) of two pools with (a+1)(b+1) at most this; 0: all; no loss seen
    plain: bool = False  # the plain Python search instead of the compiled one
    max_words: int = 300  # longer sentences are refused
    kbest: int = 1  # alignments to return
    decode: str = "best"  # the best-scored alignment; "risk": that of highest expected F1 over the k best

    seed: InitVar[str] = ""  # the old name of `links`

    def __post_init__(self, seed: str) -> None:
        """Take old names for new ones, and refuse values that cannot work."""
        if seed:
            object.__setattr__(self, current_name("seed"), seed)
        if self.model == OLD_HAND_SET:
            _warn_renamed(f"the phrase model {OLD_HAND_SET!r}", repr(HAND_SET))
            object.__setattr__(self, "model", HAND_SET)
        for field in fields(self):
            self._check_kind(field.name, field.default)
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise UsageError(f"{name} is {getattr(self, name)!r}; expected one of {', '.join(choices)}")
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if not least <= value <= most or math.isinf(value):
                wanted = f"at least {least:g}" if math.isinf(most) else f"{least:g} to {most:g}"
                raise UsageError(f"{name} is {value}; expected {wanted}")

    def _check_kind(self, name: str, default: object) -> None:
        """Refuse a value of another type than the default; a whole number will do for any number."""
        value = getattr(self, name)
        if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
            object.__setattr__(self, name, float(value))
        elif type(value) is not type(default):
            raise UsageError(f"{name} takes {KINDS[type(default)]}, not {shown(value)}")

    def with_(self, **changes: Any) -> AlignConfig:
        """A copy with some settings changed; unknown names, wrong types and impossible values are refused.

        >>> AlignConfig().with_(beam=20).differences()
        {'beam': 20}
        """
        known = {field.name: field for field in fields(self)}
        changes = {current_name(name): value for name, value in changes.items()}
        for name in changes:
            if name not in known:
                raise UsageError(f"no setting is called {name!r}; settings are: {', '.join(known)}")
        return replace(self, **changes)

    def without_effect(self) -> tuple[str, ...]:
        """Settings that were changed but do nothing beside the others: prices that only the paper's scoring has.

        >>> AlignConfig(null_penalty=7.0).without_effect()
        ('null_penalty',)
        """
        return () if self.scoring == "paper" else tuple(name for name in self.differences() if name in PAPER_ONLY)

    def differences(self) -> dict[str, Any]:
        """The settings that differ from the defaults, for signatures."""
        plain = AlignConfig()
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != getattr(plain, field.name)
        }


def checked_config(value: object) -> AlignConfig:
    """The settings that a user gave, if they are some."""
    if not isinstance(value, AlignConfig):
        raise UsageError(f"config is {shown(value)}; expected an AlignConfig")
    return value


def current_name(setting: str) -> str:
    """The name of a setting today; says so where the user knows it by an old one."""
    if setting not in RENAMED:
        return setting
    _warn_renamed(f"the setting {setting!r}", repr(RENAMED[setting]))
    return RENAMED[setting]


def _warn_renamed(old: str, new: str) -> None:
    warnings.warn(f"{old} is now called {new}; the old name still works", RenamedWarning, stacklevel=4)


DEFAULT_CONFIG = AlignConfig()
