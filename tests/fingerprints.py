"""What every estimator computes on a small sample, as fingerprints; run as a script, it prints them as JSON.

Everything is done once in the main thread and once in a worker thread. A new estimator needs one line in ``CASES``.
"""

import hashlib
import json
import re
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

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
    select_n_components,
)
from polyad.datasets import (
    make_hmm,
    make_ica,
    make_independent_factors,
    make_lda,
    make_mixed_cca,
    make_multiview_mixture,
    make_nongaussian_cca,
    make_spherical_mixture,
)
from polyad.engine import count_blocks
from polyad.inference.heldout import completion_bits
from polyad.inference.posterior import topic_shares

COUNTS = make_lda(120, 60, 3, length=40).counts
OTHER_COUNTS = make_lda(120, 50, 3, length=30, random_state=1).counts
SIGNALS = make_ica(500, 4, noise=0.1).X
VIEWS = make_nongaussian_cca(400, (6, 5), 2)
MIXED = make_mixed_cca(400, (6, 8), 2)
CHAIN = make_hmm(8, 60, 6, 3)
SIGNAL_CHAIN = make_hmm(8, 60, 2, 2, emission="gaussian")
FACTOR_VIEWS = make_independent_factors(300, 6, 2, observation="poisson", n_views=2).views
MIXED_VIEWS = make_multiview_mixture(300, (6, 5, 4), 3, missing=0.1).views
POINTS = make_spherical_mixture(300, 5, 3).X
TOPICS, PRIOR = np.full((3, 60), 1 / 60) + 0.01 * np.arange(3)[:, None] * np.eye(3, 60), np.full(3, 0.2)
PROBABILITIES = TOPICS / TOPICS.sum(axis=1, keepdims=True)


def topics(model: Any) -> list[Any]:
    model.fit(COUNTS)
    return [model.components_, model.transform(COUNTS), model.score(COUNTS)]


def intensities(model: Any) -> list[Any]:
    return [model.fit(COUNTS).components_, model.noise_variances_, model.transform(COUNTS)]


def aligned_topics(model: Any) -> list[Any]:
    model.fit([COUNTS, OTHER_COUNTS])
    return [*model.all_components_, model.transform([COUNTS, None]), model.project(OTHER_COUNTS, 1)]


def factors(model: Any, X: Any, Y: Any) -> list[Any]:
    model.fit(X, Y)
    return [model.x_loadings_, model.y_loadings_, *model.transform(X, Y)]


def sources(model: Any) -> list[Any]:
    return [model.fit(SIGNALS).components_, model.transform(SIGNALS)]


def mixture(model: Any) -> list[Any]:
    return [model.fit(POINTS).means_, model.covariances_, model.predict_proba(POINTS)]


def chain(model: Any, sample: Any) -> list[Any]:
    model.fit(sample.X, sample.lengths)
    return [
        model.transmat_,
        model.emission_rows_,
        model.predict_proba(sample.X, sample.lengths),
        model.predict(sample.X),
    ]


def classes(model: Any) -> list[Any]:
    model.fit(MIXED_VIEWS)
    return [model.weights_, model.parameter_rows_, model.predict_proba(MIXED_VIEWS)]


def independent_factors(model: Any) -> list[Any]:
    model.fit(FACTOR_VIEWS)
    return [model.components_, model.noise_, model.transform(FACTOR_VIEWS)]


def shares(method: str) -> list[Any]:
    return [topic_shares(PROBABILITIES, PRIOR, count_blocks(COUNTS), method=method, max_iter=5)]


CASES: dict[str, Callable[[], list[Any]]] = {
    "LDA, off": lambda: topics(LDA(3, polish="off")),
    "LDA, fast": lambda: topics(LDA(3)),
    "LDA, full": lambda: topics(LDA(3, polish="full")),
    "DiscreteICA": lambda: topics(DiscreteICA(3)),
    "SingleTopic": lambda: topics(SingleTopic(3)),
    "NoisyDiscreteICA": lambda: intensities(NoisyDiscreteICA(2)),
    "ICA": lambda: sources(ICA(3)),
    "ICA, noise": lambda: sources(ICA(3, noise="gaussian")),
    "PolylingualLDA": lambda: aligned_topics(PolylingualLDA(2)),
    "PolylingualLDA, private": lambda: aligned_topics(PolylingualLDA(2, n_private=1)),
    "DiscreteCCA": lambda: factors(DiscreteCCA(2), COUNTS, OTHER_COUNTS),
    "NonGaussianCCA": lambda: factors(NonGaussianCCA(2), VIEWS.X, VIEWS.Y),
    "MixedCCA": lambda: factors(MixedCCA(2), MIXED.X, MIXED.Y),
    "HiddenMarkov": lambda: chain(HiddenMarkov(3), CHAIN),
    "HiddenMarkov, gaussian": lambda: chain(HiddenMarkov(2, emission="gaussian"), SIGNAL_CHAIN),
    "IndependentFactors": lambda: independent_factors(IndependentFactors(2)),
    "MultiViewMixture": lambda: classes(MultiViewMixture(3)),
    "SphericalMixture": lambda: mixture(SphericalMixture(3)),
    "SphericalMixture, full": lambda: mixture(SphericalMixture(3, covariance_type="full")),
    "selection": lambda: [select_n_components(COUNTS, [2, 3]).spectrum],
    "completion": lambda: [completion_bits(PROBABILITIES, PRIOR, COUNTS)],
    "map": lambda: shares("map"),
    "variational": lambda: shares("variational"),
    "cvb0": lambda: shares("cvb0"),
}


def fingerprint(results: list[Any]) -> str:
    """Return a short hash of the bytes of some arrays, numbers or texts."""
    digest = hashlib.sha256()
    for result in results:
        digest.update(result.encode() if isinstance(result, str) else np.ascontiguousarray(result).tobytes())
    return digest.hexdigest()[:16]


def all_fingerprints() -> dict[str, str]:
    """Return the fingerprint of every case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so little data do not always converge
        return {name: fingerprint(case()) for name, case in CASES.items()}


def in_worker_thread(function: Callable[[], dict[str, str]]) -> dict[str, str]:
    """Call a function in a thread of its own and return its result."""
    found: dict[str, str] = {}
    thread = threading.Thread(target=lambda: found.update(function()))
    thread.start()
    thread.join()
    return found


def shared_fast_functions() -> list[str]:
    """Return functions with fast arithmetic of which several copies are there, in what this process has compiled.

    Which of the copies is called depends on what was loaded first, and they may round differently.
    """
    modules = [module for name, module in sys.modules.items() if name.startswith("polyad.")]
    kernels = {value for module in modules for value in vars(module).values() if isinstance(value, Dispatcher)}
    texts = [text for kernel in kernels if kernel.stats.cache_misses for text in kernel.inspect_llvm().values()]
    shared = [
        match for text in texts for match in re.finditer(r"^define linkonce_odr .*?@(\S+)\(.*?^}", text, re.M | re.S)
    ]
    return [match[1] for match in shared if re.search(r"= f\w+ fast ", match[0])]


if __name__ == "__main__":
    found = {
        "main": all_fingerprints(),
        "worker": in_worker_thread(all_fingerprints),
        "shared": shared_fast_functions(),
    }
    print(json.dumps(found))  # noqa: T201
