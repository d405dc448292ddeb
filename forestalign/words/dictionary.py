"""The word links W of section 6.1 of Arase and Tsujii (2017): every pair that the dictionaries know, many to many.

Two words are linked if they have the same form or lemma, if WordNet knows them as synonyms or derivations, or if the
cosine of their vectors exceeds a threshold. The paper sets the threshold to the 100th highest similarity between
words of its training corpus; `similarity_threshold` computes it so. Function words and punctuation are linked by form
or lemma only: their vectors are all alike.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from forestalign.lexicon import WordNet, WordVectors
from forestalign.tokens import Sentence
from forestalign.words.alignment import WordAlignment, WordLink
from forestalign.words.sentence_scores import is_content

# Used when no threshold is given. The paper's rule gives 0.96 on the corpus of the shipped phrase model (its file holds
# the value), which is little more than spelling variants.
DEFAULT_THRESHOLD = 0.8


def dictionary_links(
    source: Sentence,
    target: Sentence,
    wordnet: WordNet,
    vectors: WordVectors | None = None,
    threshold: float = DEFAULT_THRESHOLD,
) -> WordAlignment:
    """All links that some dictionary gives; the stage of a link names it, and its score is 1 or the cosine."""
    cosines = None
    if vectors is not None:
        cosines = vectors.matrix(source.words) @ vectors.matrix(target.words).T
    links = []
    for i, left in enumerate(source.tokens):
        for j, right in enumerate(target.tokens):
            if left.form.lower() == right.form.lower():
                links.append(WordLink(i, j, 1.0, "form"))
            elif left.lemma and left.lemma == right.lemma:
                links.append(WordLink(i, j, 1.0, "lemma"))
            elif not (is_content(left.form) and is_content(right.form)):
                continue
            elif wordnet.are_synonyms(left.key, right.key):
                links.append(WordLink(i, j, 1.0, "synonym"))
            elif wordnet.are_derivations(left.key, right.key):
                links.append(WordLink(i, j, 1.0, "derivation"))
            elif cosines is not None and cosines[i, j] > threshold:
                links.append(WordLink(i, j, float(cosines[i, j]), "vectors"))
    return WordAlignment(tuple(links))


def similarity_threshold(vocabulary: Iterable[str], vectors: WordVectors, rank: int = 100) -> float:
    """The paper's rule: the `rank`-th highest cosine between two different words of a corpus."""
    words = sorted({word.lower() for word in vocabulary if is_content(word) and word in vectors})
    rows = vectors.matrix(words)
    best = np.zeros(0, dtype=np.float32)
    for begin in range(0, len(words), 512):
        block = rows[begin : begin + 512] @ rows.T
        upper = block[np.arange(len(block))[:, None] + begin < np.arange(len(words))[None, :]]
        best = np.sort(np.concatenate([best, upper]))[::-1][:rank]
    return float(best[-1]) if len(best) == rank else 1.0
