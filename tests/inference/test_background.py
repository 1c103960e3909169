"""Words that all documents share, and the rule that they do not lead a topic."""

import numpy as np
import pytest
from scipy import sparse

from polyad.engine import count_blocks
from polyad.inference import background
from polyad.inference.background import Restraint, background_words


def words_by_hand(counts, power=background.EVENNESS_POWER, least=background.FREQUENCY):
    """The same without a grid: the number of documents that a word is in, and the number that chance would give."""
    lengths, n_tokens = counts.sum(axis=1), counts.sum()
    found = []
    for column in counts.T:
        expected = sum(1 - np.exp(-column.sum() / n_tokens * length) for length in lengths)
        evenness = min(1.0, (column > 0).sum() / max(expected, 1e-300))
        steady = column.sum() / n_tokens * evenness**power
        found.append(steady >= least and evenness >= background.LEAST_EVENNESS)
    return np.array(found)


def test_shared_words_against_loops():
    rng = np.random.default_rng(0)
    rates = np.concatenate([np.full((60, 10), 5.0), rng.gamma(0.05, 20.0, (60, 40)), np.full((60, 50), 0.02)], axis=1)
    counts = rng.poisson(rates * rng.uniform(0.2, 3.0, (60, 1)))
    totals, documents = counts.sum(axis=0), (counts > 0).sum(axis=0)
    found = background_words(count_blocks(sparse.csr_array(counts)), totals.astype(float), documents)
    assert np.array_equal(found, words_by_hand(counts))
    assert found[:10].all()  # even and frequent
    assert 0 < found[10:50].sum() < 40  # bursts, of which some are frequent in most documents
    # Another power would tell other words apart: the comparison could fail.
    assert not np.array_equal(found, words_by_hand(counts, power=0))


@pytest.mark.parametrize("n_words", [30, 12])
def test_restraint_against_loops(n_words, monkeypatch):
    monkeypatch.setattr(background, "LEADING", 4)
    rng = np.random.default_rng(1)
    counts = rng.gamma(0.5, 10.0, (n_words, 8)).astype(np.float32)
    shared = np.array([0, 3, 5, 7, 11])
    totals = counts.sum(axis=1) * 1.5
    totals[3] = counts[3, 1] * 2  # half of its tokens are in topic 1
    wanted = counts.copy()
    for topic in range(5):
        own = [w for w in range(n_words) if w not in shared or counts[w, topic] >= totals[w] / 3]
        level = sorted(counts[own, topic])[-4]
        for word in set(shared) - set(own):
            wanted[word, topic] = min(counts[word, topic], level)
    Restraint(shared, 5, totals).apply(counts)
    assert np.array_equal(counts, wanted)
    assert (counts < 1e9).all()


def test_few_words_and_no_shared_ones():
    counts = np.arange(12, dtype=np.float32).reshape(4, 3)
    before = counts.copy()
    Restraint(np.array([], dtype=np.intp), 3, counts.sum(axis=1)).apply(counts)
    assert np.array_equal(counts, before)
    Restraint(np.arange(4), 3, 1e9 * np.ones(4)).apply(counts)  # no word of a topic's own: nothing to be led by
    assert (counts == 0).all()
