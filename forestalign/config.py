"""All settings, in one frozen object. Beside each default stands where it comes from."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypedDict, Unpack, get_args, get_origin, get_type_hints

from forestalign.errors import UsageError, shown

Backend = Literal["embedded", "benepar", "trees"]
Links = Literal["sultan", "dictionary", "union", "crf", "meteor", "similarity"]
Profile = Literal["best", "paper", "published"]
Direction = Literal["directional", "symmetric"]
Scoring = Literal["best", "paper"]
# The smallest and the largest value of a number; counts of which 0 means "all" begin there.
PAPER_ONLY = (
    "null_penalty",
    "noncompositional_penalty",
    "link_weight",
    "parse_weight",
)  # what `scoring="best"` has learned weights for
RANGES = {
    "nbest": (1, math.inf),
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
    "prospect_share": (0.0, 1.0),
    "prospect_links": (0.0, math.inf),
    "paths": (0, math.inf),
    "variants": (0, math.inf),
    "cube": (0, math.inf),
    "max_words": (1, math.inf),
    "kbest": (1, math.inf),
}
FILES = ("model", "scores", "ppdb", "rules", "vectors", "crf_model")  # settings that name a file
PLACES = (*FILES, "parser_model")  # which may be a folder
HAND_SET = "hand-set"  # the name of the phrase model without learned weights
KINDS = {int: "a whole number", float: "a number", str: "a word", bool: "true or false"}


class Settings(TypedDict, total=False):
    """The settings as keywords, for editors and type checkers; `AlignConfig` says what they mean."""

    backend: Backend
    parser_model: str
    nbest: int
    mutual: bool
    temperature: float
    threads: int
    batch_size: int
    links: Links
    profile: Profile
    ppdb: str
    link_threshold: float
    vectors: str
    crf_model: str
    rules: str
    model: str
    scoring: Scoring
    scores: str
    beam: int
    gap: int
    null_penalty: float
    noncompositional_penalty: float
    link_weight: float
    parse_weight: float
    trace_states: int
    paths: int
    variants: int
    cube: int
    prospect_share: float
    prospect_links: float
    max_words: int
    kbest: int
    evidence: str
    rivals: bool
    monotonic: bool
    one_best: bool
    direction: Direction
    lifts: bool
    plain: bool


@dataclass(frozen=True, slots=True)
class AlignConfig:
    """Settings of the whole way from text to phrases. Symbols of the paper: µb beam, µg gap, µn, µc, µp below."""

    # ---- parser ----
    backend: Backend = "embedded"  # the parser in the wheel; "benepar" and "trees" are the others
    parser_model: str = ""  # folder or name for the benepar backend; empty: the shipped one
    nbest: int = 30  # trees in a forest; the paper leaves it open
    mutual: bool = True  # scoring best: the other sentence has a say in the weights of a forest
    temperature: float = 1.0  # divides the chart scores; for margin-trained benepar models
    threads: int = 1  # passes of the encoder side by side; processes are the better way to use more cores
    batch_size: int = 6  # sentences in one encoder pass; 16 take 70 MB more, and as long for each

    # ---- word links ----
    links: Links = "sultan"  # where links come from: "sultan", "dictionary", "union", "crf", or a baseline
    profile: Profile = "best"  # or "paper", "published"
    ppdb: str = ""  # path of a PPDB-format pair list
    link_threshold: float = 0.1  # least probability of a link in the seed W (profile best); tuned on annotations/dev
    vectors: str = ""  # path of word vectors that gensim reads; empty: the shipped ones
    crf_model: str = ""  # path of a CRF model; empty: the shipped one

    rules: str = ""  # path of the user's own lines of the paraphrase grammar

    # ---- search ----
    model: str = ""  # path of a phrase model; empty: the shipped one, "hand-set": no learned weights
    scoring: Scoring = "best"  # weights of local parts learned on gold; "paper": log Pr, penalties and parse scores
    scores: str = ""  # path of learned phrase scores; empty: the shipped ones
    beam: int = 30  # µb; the paper trains with 50; with prospects 30 find as much (`score.py search` of commit bacc42d)
    gap: int = 20  # µg: generations between a pair and its support; chosen by `score.py search` of commit bacc42d
    null_penalty: float = 4.0  # µn: per null word; tuned on annotations/dev, about half of link_weight
    noncompositional_penalty: float = 2.0  # µc: in units of µn, per non-compositional pair; tuned on annotations/dev
    link_weight: float = 8.0  # of log p(link) in the score of linked words; tuned on annotations/dev
    parse_weight: float = 0.75  # µp: share of the parse score; tuned on annotations/dev
    trace_states: int = 50  # most states of one TRACE call
    paths: int = 2  # best paths kept between two nodes of a forest; 0: all
    variants: int = 2  # hypotheses of one beam with the same target phrase and target words; 0: all
    cube: int = 60  # cube pruning: combinations (a, b) of two pools with (a+1)(b+1) at most this; 0: all; likewise
    prospect_share: float = 0.5  # of beams and pools that goes by prospect, not by gain; likewise
    prospect_links: float = 0.1  # ω: share of open links in a prospect; likewise
    max_words: int = 300  # longer sentences are refused
    kbest: int = 1  # alignments to return

    # ---- experimental: switches of ablations ----
    evidence: str = "all"  # kinds of evidence for phrases, separated by commas: "all", "none", or names
    rivals: bool = True  # word links compete with each other (`CompetingLinks`)
    monotonic: bool = False  # no non-compositional steps
    one_best: bool = False  # 1-best trees only
    direction: Direction = "symmetric"  # or "directional"; symmetric gains 0.7 F1 on annotations/dev
    lifts: bool = True  # one support, both paths null; gold of the paper's kind has such pairs
    plain: bool = False  # the plain Python search instead of the compiled one

    def __post_init__(self) -> None:
        """Refuse values that cannot work."""
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

    def replace(self, **changes: Unpack[Settings]) -> AlignConfig:
        """A copy with some settings changed; unknown names, wrong types and impossible values are refused.

        >>> AlignConfig().replace(beam=20).differences()
        {'beam': 20}
        """
        known = {field.name: field for field in fields(self)}
        for name in changes:
            if name not in known:
                raise UsageError(f"no setting is called {name!r}; settings are: {', '.join(known)}")
        return replace(self, **changes)

    @property
    def has_mutual_forests(self) -> bool:
        """Whether each sentence has a say in the forest of the other; the paper's scores take forests as parsed."""
        return self.mutual and self.scoring == "best"

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


CHOICES: dict[str, tuple[str, ...]] = {
    name: get_args(kind) for name, kind in get_type_hints(AlignConfig).items() if get_origin(kind) is Literal
}
DEFAULT_CONFIG = AlignConfig()
