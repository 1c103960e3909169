"""Topics of two models, paired: against all pairings, and on the words that both have."""

from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest

from polyad.metrics import align
from polyad.metrics.names import suggested_names, topic_names

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("K", "L"), [(3, 3), (2, 4), (4, 3)])
def test_no_other_pairing_has_more_in_common(K, L):
    a, b = RNG.dirichlet(np.full(8, 0.3), K), RNG.dirichlet(np.full(8, 0.3), L)
    found = align(a, b)
    shared = np.array([[np.minimum(x, y).sum() for y in b] for x in a])
    small, large = min(K, L), max(K, L)
    best = max(
        sum(shared[i, j] if K <= L else shared[j, i] for i, j in zip(range(small), chosen))
        for chosen in permutations(range(large), small)
    )
    assert found.similarity.sum() == pytest.approx(best)
    assert [i for i, _ in found.pairs] == sorted(i for i, _ in found.pairs)
    assert np.allclose(found.similarity, [shared[i, j] for i, j in found.pairs])
    assert found.mean == pytest.approx(found.similarity.mean())
    assert found.n_words == 8


def test_a_model_is_aligned_with_itself_in_another_order():
    topics = RNG.dirichlet(np.ones(6), 4)
    order = [2, 0, 3, 1]
    found = align(topics, topics[order])
    assert [order[j] for _, j in found.pairs] == [0, 1, 2, 3]
    assert np.allclose(found.similarity, 1.0)


def model(topics, words, name="vocabulary_"):
    return SimpleNamespace(components_=topics, **{name: words})


def test_models_are_compared_on_the_words_that_they_share():
    a = model(np.array([[0.5, 0.5, 0.0], [0.0, 0.2, 0.8]]), ("sun", "rain", "tax"))
    b = model(np.array([[0.4, 0.6, 0.0], [0.3, 0.1, 0.6]]), np.array(["tax", "rain", "sun"]), "feature_names_in_")
    found = align(a, b)
    assert found.n_words == 3
    assert found.pairs == [(0, 1), (1, 0)]
    assert found.similarity == pytest.approx([0.1 + 0.5, 0.4 + 0.2])
    less = model(b.components_[:, 1:] / b.components_[:, 1:].sum(axis=1, keepdims=True), ("rain", "sun"))
    assert align(a, less).n_words == 2


def test_models_that_cannot_be_compared_are_told():
    topics = RNG.dirichlet(np.ones(3), 2)
    with pytest.raises(ValueError, match="have no word in common, so that their topics cannot be compared"):
        align(model(topics, ("a", "b", "c")), model(topics, ("d", "e", "f")))
    with pytest.raises(ValueError, match=r"shapes \(2, 3\) and \(2, 4\), and no names of words to compare them by"):
        align(topics, RNG.dirichlet(np.ones(4), 2))
    with pytest.raises(ValueError, match="no names of words"):
        align(model(topics, ("a", "b", "c")), RNG.dirichlet(np.ones(4), 2))


def test_names_are_those_given_or_the_most_relevant_words():
    components, words = np.array([[0.6, 0.3, 0.1, 0.0], [0.0, 0.1, 0.3, 0.6]]), ["a", "b", "c", "d"]
    unigram = components.mean(axis=0)
    assert suggested_names(components, unigram, words) == ["a, b, c", "d, c, b"]
    named = SimpleNamespace(names_={1: "Seas"}, topic_shares_=np.ones(2) / 2)
    assert topic_names(named, components, unigram, words) == ["a, b, c", "Seas"]
    assert suggested_names(components[:, :2], unigram[:2], words[:2]) == ["a, b", "b, a"]
