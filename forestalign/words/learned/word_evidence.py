"""Profile `best`, first half: the evidence of all stages as one array, a value for each pair of words.

The stages of the paper ask in turn whether two words are alike and whether their surroundings are. Here every such
question is a layer of an array [layer, source token, target token], and one model (`matching`) weighs them together.
All layers are symmetric: exchanging the sentences transposes them. Four groups:

    lexical     the two words alone: form, lemma, stem, spelling, lexicon relations, vectors, tags
    context     the similarity of what surrounds them: sequences, neighbours, parents and children, and whether the
                published pipeline links them
    learned     how well their vectors fit each other, by a learned metric (`metric`)
    belief      the same surroundings once more, with the model's own first guess in place of similarity
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forestalign.arrays import Float32Array, Int8Array
from forestalign.words.alignment import WordAlignment
from forestalign.words.analysis import Analysis
from forestalign.words.dependency_arcs import load_equivalences
from forestalign.words.learned.context_layers import CONTEXT, belief_layers, context_layers
from forestalign.words.learned.lexical_layers import LEXICAL, lexical_layers, pipeline_similarity, similarity_of
from forestalign.words.learned.metric import LEARNED, learned_layers
from forestalign.words.learned.sides import Lexicon, WordSide, pair_kinds, prepare
from forestalign.words.similarity import PPDB_SIM
from forestalign.words.sultan.candidates import WEIGHT, Pair
from forestalign.words.sultan.published import align_published

# where each group stands among the layers of the first pass
LEXICAL_PART = slice(0, len(LEXICAL))
CONTEXT_PART = slice(LEXICAL_PART.stop, LEXICAL_PART.stop + len(CONTEXT))
LEARNED_PART = slice(CONTEXT_PART.stop, CONTEXT_PART.stop + len(LEARNED))
SAME_FORM = LEXICAL.index("same form")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that is asked about one pair of sentences before the model."""

    left: WordSide
    right: WordSide
    kinds: Int8Array
    layers: Float32Array  # lexical, context, learned
    pipeline: WordAlignment  # links of the published pipeline

    @property
    def lexical(self) -> Float32Array:
        """What the words are to each other: the layers of LEXICAL."""
        return self.layers[LEXICAL_PART]

    @property
    def is_contextual(self) -> bool:
        """Whether the sentences had contextual vectors."""
        return self.left.contextual is not None and self.right.contextual is not None

    def with_belief(self, belief: Float32Array) -> Float32Array:
        """The layers of the second pass, which sees the belief of the first."""
        return np.concatenate([self.layers, belief_layers(self.left, self.right, belief)])


def gather(source: Analysis, target: Analysis, lexicon: Lexicon) -> Evidence:
    """Lexical layers, the published pipeline on their similarities, context layers."""
    left, right = prepare(source, lexicon), prepare(target, lexicon)
    lexical = lexical_layers(source, target, left, right, lexicon)
    similarity = pipeline_similarity(lexical)
    pair = Pair(source, target, similarity, WEIGHT, PPDB_SIM)
    pipeline = align_published(pair, similarity, load_equivalences("published"))
    marks = np.zeros(similarity.shape, dtype=np.float32)
    for link in pipeline:
        marks[link.source, link.target] = 1.0
    context = context_layers(left, right, lexical[SAME_FORM], similarity_of(lexical), marks)
    if left.projected is None or right.projected is None:
        learned = np.zeros((len(LEARNED), *similarity.shape), dtype=np.float32)
    else:
        learned = learned_layers(left.projected, right.projected)
    return Evidence(left, right, pair_kinds(left, right), np.concatenate([lexical, context, learned]), pipeline)
