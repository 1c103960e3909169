"""A user's own script, which a strict type checker reads; it is not run."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import polyad
from polyad import (
    ICA,
    LDA,
    DiscreteCCA,
    DiscreteICA,
    HiddenMarkov,
    IndependentFactors,
    MixedCCA,
    MultiViewMixture,
    NoisyDiscreteICA,
    NonGaussianCCA,
    PolylingualLDA,
    SingleTopic,
    SphericalMixture,
    align,
    bootstrap,
    load,
    merge,
    select_n_components,
)


def topics_of(counts: sparse.csr_array, words: list[str], path: Path) -> list[list[str]]:
    model = LDA(20, polish="full", method="jacobi", inference="cvb0", random_state=np.random.default_rng(1))
    shares: NDArray[np.floating] = model.fit(counts).transform(counts)
    print(shares.sum(axis=1), model.score(counts), model.diagnostics_.n_passes)
    model.save(path, vocabulary={word: column for column, word in enumerate(words)})
    listed: list[list[str]] = model.topics(5, vocabulary=np.array(words))
    return listed


def again(path: Path) -> NDArray[np.floating]:
    model = load(path, LDA)
    components: NDArray[np.float64] = model.components_
    print(components.shape)
    return model.fit_transform([[1, 2], [3, 4], [0, 1]])


def other_topics(counts: sparse.csr_array) -> float:
    single = SingleTopic(3, weights="uniform").fit(counts)
    labels: NDArray[np.intp] = single.predict(counts)
    intensities: NDArray[np.floating] = DiscreteICA(3, normalize=False).fit(counts).transform(counts)
    noisy: NDArray[np.floating] = NoisyDiscreteICA(3).fit_transform(counts)
    first, second = LDA(3).fit(counts[:50]), LDA(3).partial_fit(counts[50:])
    print(labels.sum(), intensities.shape, noisy.shape, align(first, second), bootstrap(first, counts))
    return merge(first, second).score(counts) + single.perplexity(counts)


def views(X: NDArray[np.float64], Y: sparse.csr_array) -> float:
    model = DiscreteCCA(2, statistics="third", metric="scale").fit(Y, Y)
    both: NDArray[np.float64] = model.transform(Y, Y)
    mixed: NDArray[np.float64] = MixedCCA(2).fit(X, Y).predict(X)
    real: NDArray[np.float64] = NonGaussianCCA(2, method="sh-rt").fit_transform(X, X)
    several: list[list[list[str]]] = PolylingualLDA(3).fit([Y, Y]).topics(4)
    shared: NDArray[np.float64] = IndependentFactors(2).fit([X, X]).transform([X])
    print(both.shape, mixed.shape, real.shape, len(several), shared.shape, polyad.__version__)
    return model.score(Y, Y) + float(select_n_components(Y, [2, 3]).recommended)


def signals(X: NDArray[np.float64], Y: sparse.csr_array) -> float:
    sources: NDArray[np.floating] = ICA(2, noise="gaussian").fit(X).transform(X)
    mixture = SphericalMixture(2, covariance_type="diag").fit(X)
    labels: NDArray[np.intp] = mixture.predict(X)
    states: NDArray[np.int64] = HiddenMarkov(2, emission="gaussian").fit(X).predict(X)
    classes: NDArray[np.float64] = MultiViewMixture(2, route="symmetric").fit([X, Y, X]).predict_proba([X, Y, X])
    print(sources.shape, labels.sum(), states.sum(), classes.shape, mixture.bic(X))
    return mixture.score(X)
