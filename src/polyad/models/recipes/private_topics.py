"""Topics that one of several aligned texts has for itself."""

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.engine import view_of
from polyad.models.recipes.aligned_start import AlignedTexts
from polyad.models.recipes.moment_start import SummedCounts, add_unlike_documents
from polyad.moments import summarise_counts


def with_private_topics(texts: AlignedTexts, topics: FloatArray, n_private: int) -> FloatArray:
    """Add topics that only one view has, zeros in the others: documents of the view that are least like its topics.

    Those of the first view come first.
    """
    rows = [topics]
    for view in range(len(texts.order)):
        first, last = texts.edges[view : view + 2]
        source = view_of(texts.source, view)
        corpus = SummedCounts(source, summarise_counts(source))
        n_shared = topics.shape[0]
        found = add_unlike_documents(topics[:, first:last], corpus, n_shared + n_private)[n_shared:]
        own = np.zeros((n_private, topics.shape[1]))
        own[: len(found), first:last] = found
        own[len(found) :, first:last] = corpus.unigram  # where no further document differs from the topics
        rows.append(own)
    return np.vstack(rows)
