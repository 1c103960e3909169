"""Every pass of every estimator is a pure function that can be sent to another process."""

import multiprocessing
import warnings
from concurrent.futures import ProcessPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from polyad import LDA, DiscreteICA, IndependentFactors, NoisyDiscreteICA, SingleTopic, bootstrap, select_n_components
from polyad.datasets import make_gamma_poisson, make_independent_factors, make_lda
from polyad.engine import count_blocks, use
from polyad.inference import chib, completion_bits, left_to_right
from polyad.inference.gibbs import gibbs_shares
from polyad.metrics import npmi_coherence
from polyad.models import source_shapes
from purity import Checking, run_task

SAMPLE = make_lda(60, 40, 3, length=30, prior=0.2, random_state=0)
X = SAMPLE.counts
GAMMA = make_gamma_poisson(200, 40, 2, prior=1.0)
EVEN = np.full(3, 0.2)
FACTORS = make_independent_factors(300)
JOBS = {
    "lda off": lambda: LDA(3, polish="off").fit(X),
    "lda fast": lambda: LDA(3).fit(X).transform(X),
    "lda full": lambda: LDA(3, polish="full").fit(X).score(X),
    "lda background": lambda: LDA(3, background=True).fit(X).transform(X),
    "lda svtd": lambda: LDA(3, method="svtd", polish="off").fit(X),
    "more topics than directions": lambda: LDA(8).fit(X[:10]),
    "discrete ica": lambda: DiscreteICA(3, normalize=False).fit(X).transform(X),
    "discrete ica, other options": lambda: DiscreteICA(2, statistics="generalised", rates="own").fit(X).score(X),
    "noisy discrete ica": lambda: NoisyDiscreteICA(2).fit(X).transform(X),
    "independent factors": lambda: IndependentFactors(2).fit(FACTORS.views).transform(FACTORS.views),
    "independent factors of counts": lambda: IndependentFactors(1, statistics="fourth").fit([X, X]),
    "intensities": lambda: source_shapes(SimpleNamespace(components_=GAMMA.components), GAMMA.counts),
    "single topic": lambda: SingleTopic(3).fit(X).score(X),
    "single topic shares": lambda: SingleTopic(3).fit(X).transform(X),
    "selection": lambda: select_n_components(X, [2, 3]),
    "bootstrap": lambda: bootstrap(LDA(3).fit(X), X, n_groups=4),
    "coherence": lambda: npmi_coherence(SAMPLE.components, X),
    "completion": lambda: completion_bits(SAMPLE.components, 0.1, X),
    "left to right": lambda: left_to_right(SAMPLE.components, 0.1, X, n_particles=2),
    "chib": lambda: chib(SAMPLE.components, 0.1, X, n_iter=5),
}


@pytest.fixture(scope="module")
def elsewhere():
    """Another process, started afresh."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.mark.parametrize("job", JOBS)
def test_passes_are_pure_and_run_anywhere(job, elsewhere):
    runner = Checking()
    with use(runner), warnings.catch_warnings(action="ignore"):
        JOBS[job]()
    assert runner.seen
    for name, (task, found) in runner.tasks.items():
        assert elsewhere.submit(run_task, task).result() == found, f"{name} gives another result in another process"


def test_sampled_shares_are_pure():
    with use(Checking()):
        gibbs_shares(SAMPLE.components, EVEN, count_blocks(X), n_iter=5, burn_in=1)
