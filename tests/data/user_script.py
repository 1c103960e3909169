"""A user's own script, which a strict type checker reads; it is not run."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import polyad
from polyad import ICA, LDA, DiscreteCCA, HiddenMarkov, PolylingualLDA, SphericalMixture, load, select_n_components


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


def views(X: NDArray[np.float64], Y: sparse.csr_array) -> float:
    model = DiscreteCCA(2, statistics="third", metric="scale").fit(Y, Y)
    both: NDArray[np.float64] = model.transform(Y, Y)
    several: list[list[list[str]]] = PolylingualLDA(3).fit([Y, Y]).topics(4)
    sources: NDArray[np.floating] = ICA(2, noise="gaussian").fit(X).transform(X)
    labels: NDArray[np.intp] = SphericalMixture(2, covariance_type="diag").fit(X).predict(X)
    states: NDArray[np.int64] = HiddenMarkov(2, emission="gaussian").fit(X).predict(X)
    print(both.shape, len(several), sources.shape, labels.sum(), states.sum(), polyad.__version__)
    return model.score(Y, Y) + float(select_n_components(Y, [2, 3]).recommended)
