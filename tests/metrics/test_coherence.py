from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from polyad.datasets import make_lda
from polyad.metrics.coherence import npmi_coherence, umass_coherence
from strategies import corpora


def slow_top(topic, n):
    return sorted(range(len(topic)), key=lambda word: (-topic[word], word))[:n]


def slow_umass(components, X, n):
    result = []
    for topic in components:
        total = 0.0
        for first, second in combinations(slow_top(topic, n), 2):
            alone = sum(1 for row in X if row[first] > 0)
            together = sum(1 for row in X if row[first] > 0 and row[second] > 0)
            total += np.log((together + 1) / alone) if alone else np.log(1 / len(X))
        result.append(total)
    return result


def slow_npmi(components, X, n):
    result = []
    for topic in components:
        values = [0.0] if len(topic) == 1 else []
        for first, second in combinations(slow_top(topic, n), 2):
            share_first, share_second = np.mean(X[:, first] > 0), np.mean(X[:, second] > 0)
            share = np.mean((X[:, first] > 0) & (X[:, second] > 0))
            if share in (0, 1):
                values.append(1.0 if share else -1.0)
            else:
                values.append(np.log(share / (share_first * share_second)) / -np.log(share))
        result.append(np.mean(values))
    return result


@given(corpora(), st.integers(0, 100), st.integers(2, 7))
@settings(max_examples=80)
def test_coherence_equals_brute_force(X, seed, n_words):
    topics = np.random.default_rng(seed).integers(0, 3, (3, X.shape[1])) / 10  # ties among the words
    assert np.allclose(umass_coherence(topics, X, n_words=n_words), slow_umass(topics, X, n_words), atol=1e-10)
    npmi = npmi_coherence(topics, X, n_words=n_words)
    assert np.allclose(npmi, slow_npmi(topics, X, n_words), atol=1e-10)
    assert np.all(np.abs(npmi) <= 1 + 1e-12)


def test_by_hand():
    X = np.array([[2, 1, 0, 0], [1, 0, 1, 0], [5, 1, 1, 0], [0, 0, 1, 0]])
    topics = np.array([[0.5, 0.3, 0.2, 0.0]])
    # Documents: a 3, b 2, c 3; a with b 2, a with c 2, b with c 1.
    assert umass_coherence(topics, X, n_words=3) == pytest.approx(np.log(3 / 3) + np.log(3 / 3) + np.log(2 / 2))
    pairs = np.log((2 / 4) / (3 / 4 * 2 / 4)) / np.log(2), np.log((2 / 4) / (9 / 16)) / np.log(2)
    assert npmi_coherence(topics, X, n_words=2) == pytest.approx(pairs[0])
    third = np.log((1 / 4) / (2 / 4 * 3 / 4)) / np.log(4)
    assert npmi_coherence(topics, X, n_words=3) == pytest.approx(np.mean([*pairs, third]))


def test_words_that_never_occur_are_the_worst():
    X = np.array([[1, 1, 0, 0]] * 6 + [[0, 0, 0, 1]] * 2)
    topics = np.array([[0.6, 0.4, 0.0, 0.0], [0.0, 0.4, 0.6, 0.0], [0.6, 0.0, 0.4, 0.0], [0.6, 0.0, 0.0, 0.4]])
    umass = umass_coherence(topics, X, n_words=2)
    assert umass == pytest.approx([np.log(7 / 6), -np.log(8), -np.log(6), -np.log(6)])
    assert npmi_coherence(topics, X, n_words=2) == pytest.approx([1, -1, -1, -1])


def test_words_of_every_document_and_a_single_word():
    assert npmi_coherence([[0.5, 0.5]], [[1, 2], [3, 1]]) == pytest.approx([1.0])
    assert umass_coherence([[1.0]], [[3], [1]]) == npmi_coherence([[1.0]], [[3], [1]]) == 0


def test_true_topics_are_more_coherent_than_shuffled_ones():
    data = make_lda(400, 200, 5, length=60, random_state=0)
    shuffled = np.random.default_rng(0).permuted(data.components, axis=1)
    for coherence in (umass_coherence, npmi_coherence):
        assert coherence(data.components, data.counts).min() > coherence(shuffled, data.counts).max()


def test_containers_give_the_same():
    data = make_lda(60, 30, 3, length=12, random_state=0)
    X = data.counts
    for coherence in (umass_coherence, npmi_coherence):
        reference = coherence(data.components, X)
        for other in (X.toarray(), sparse.csc_matrix(X), [X[:7], X[7:]], 3 * X):  # counts themselves do not matter
            assert np.array_equal(reference, coherence(data.components, other))


def test_bad_arguments_are_refused_in_words():
    for coherence in (umass_coherence, npmi_coherence):
        with pytest.raises(ValueError, match="from 2 up"):
            coherence([[0.5, 0.5]], [[1, 1]], n_words=1)
        with pytest.raises(ValueError, match="topics have 2 words and the documents 3"):
            coherence([[0.5, 0.5]], [[1, 1, 0]])
        with pytest.raises(ValueError, match="NaN"):
            coherence([[0.5, np.nan]], [[1, 1]])
