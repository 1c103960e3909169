"""What all documents share: the words of the background, and the rule that they do not lead a topic.

Stop words need no list where one more topic takes them. Left to itself the likelihood does not put them there: how
often a text says "we" or "shall" goes with what it is about, so that every topic would rather keep stop words of its
own. Here a word that is frequent and evenly spread over the documents is one of the background, and in a topic it may
not have more tokens than the topic's leading words have, unless a large part of all its tokens is in that one topic.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, total
from polyad.engine.spread import expected_documents
from polyad.inference.expectation import Table

# State of the Union (whole, and cut to 300 words), Canada's Acts in English and French, Dante: with these numbers 0 to
# 5% of the ten top words of topics are stop words, in place of 35 to 75%.
FREQUENCY = 5e-4  # of all tokens, times the evenness: what makes a word one of the background
EVENNESS_POWER = 3
LEAST_EVENNESS = 0.6  # of any word of the background, however frequent: no word of real text is so near the bound
LEADING = 20  # words of a topic that none of the background may overtake: more than a list shows
OWN_PART = 1 / 3  # of a word's tokens in one topic make it a word of that topic all the same
GRID = 128  # frequencies at which the number of documents is expected; in between it is interpolated


def background_words(
    source: Source, word_totals: FloatArray, document_frequency: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """Tell which words all documents share: frequent ones, in as many documents as chance alone would put them.

    The evenness of a word is the number of documents that it is in, over the number expected if its tokens fell on
    documents by their lengths alone (that is the residual inverse document frequency of Church and Gale, without the
    logarithm). One pass.
    """
    frequency = word_totals / max(float(word_totals.sum()), 1.0)
    grid = np.geomspace(FREQUENCY, 1.0, GRID)
    expected = np.interp(frequency, grid, total(_expected_documents, source, grid))
    evenness = np.minimum(document_frequency / np.maximum(expected, 1e-300), 1.0)
    steady = frequency * evenness**EVENNESS_POWER
    return (frequency >= FREQUENCY) & (steady >= FREQUENCY) & (evenness >= LEAST_EVENNESS)


def _expected_documents(block: Block, frequencies: FloatArray) -> FloatArray:
    return expected_documents(block.tokens, frequencies)


@dataclass(frozen=True)
class Restraint:
    """Keeps the words of the background from leading a topic."""

    words: NDArray[np.intp]  # the numbers of the words of the background, in increasing order
    n_topics: int  # the first topics, which are restrained; those after them are the background
    word_totals: FloatArray  # tokens of each word in the corpus

    def apply(self, counts: Table) -> None:
        """Take tokens of background words off the topics, words x K, in place: all above those of a leading word."""
        shared = counts[self.words, : self.n_topics]
        is_own = shared >= OWN_PART * self.word_totals[self.words, None]
        others = np.delete(counts[:, : self.n_topics], self.words, axis=0)
        leading = np.vstack([_largest(others), np.where(is_own, shared, 0)])
        level = _largest(leading).min(axis=0)
        counts[self.words, : self.n_topics] = np.where(is_own, shared, np.minimum(shared, level))


def _largest(counts: Table) -> Table:
    """Return the largest numbers of each column, in any order."""
    n_rows = min(LEADING, counts.shape[0])
    return counts if n_rows == counts.shape[0] else np.partition(counts, -n_rows, axis=0)[-n_rows:]
