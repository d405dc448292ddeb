"""The compiled core: one extension module, put together from parts that stand beside their plain twins.

Each part has the functions of its twin, under the same names. What all parts share stands in `core.pxi`.
"""

include "core.pxi"
include "chart/chart.pxi"
include "chart/kbest.pxi"
include "forest/packing.pxi"
include "forest/inside_outside.pxi"
include "words/crf/lattice.pxi"
include "words/crf/span_potentials.pxi"
include "words/best/context_layers.pxi"
include "words/best/lexical_layers.pxi"
include "phrases/lca.pxi"
include "phrases/hypotheses.pxi"
include "phrases/trace.pxi"
include "phrases/beams.pxi"
include "phrases/search.pxi"
include "phrases/derivations.pxi"
