"""Hostile little corpora for hypothesis."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst


def corpora(max_documents=8, max_words=6, largest=4):
    """Counts with empty rows, empty columns, one-word and duplicate documents among them."""
    shapes = st.tuples(st.integers(3, max_documents), st.integers(1, max_words))
    counts = st.integers(0, largest) | st.just(0)
    return shapes.flatmap(lambda shape: npst.arrays(np.float64, shape, elements=counts.map(float)))
