"""Every pass of every estimator is a pure function that can be sent to another process."""

import ast
import multiprocessing
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np

import fingerprints
import polyad
from polyad import (
    ICA,
    LDA,
    DiscreteCCA,
    DiscreteICA,
    HiddenMarkov,
    IndependentFactors,
    MultiViewMixture,
    NoisyDiscreteICA,
    NonGaussianCCA,
    SingleTopic,
    SphericalMixture,
    bootstrap,
    select_n_components,
)
from polyad.datasets import make_gamma_poisson, make_ica, make_independent_factors, make_lda, make_nongaussian_cca
from polyad.engine import count_blocks, signal_blocks, use
from polyad.inference import chib, completion_bits, left_to_right, variational_passes
from polyad.inference.gibbs import gibbs_shares
from polyad.metrics import npmi_coherence
from polyad.models import source_shapes
from polyad.moments.signals import ica as signal_moments
from polyad.moments.views import aligned
from polyad.report.exchange import to_pyldavis
from purity import Checking, run_task
from sharded import tiny_cuts

ROOT = Path(polyad.__file__).parent

SAMPLE = make_lda(60, 40, 3, length=30, prior=0.2, random_state=0)
X = SAMPLE.counts
GAMMA = make_gamma_poisson(200, 40, 2, prior=1.0)
EVEN = np.full(3, 0.2)
FACTORS = make_independent_factors(300)
SIGNALS = make_ica(400, 4, sources="skewed").X
VIEWS = make_nongaussian_cca(300, (6, 5), 2)
POINTS, CHAIN, MIXED = fingerprints.POINTS, fingerprints.CHAIN, fingerprints.MIXED_VIEWS


def of_several_shards():
    """Rows of several shards stay in their order, and those of the start are chosen by content."""
    with tiny_cuts(shard=4000, block=1000, rows=500):
        return ICA(3).fit(make_ica(3000, 4).X)


def of_signals(**options):
    return ICA(3, **options).fit(SIGNALS)


def of_views(**options):
    return NonGaussianCCA(2, **options).fit(VIEWS.X, VIEWS.Y)


def of_many_signals():
    with mock.patch.object(signal_moments, "ALL_PAIRS", 0):
        return of_signals(statistics="fourth", noise="gaussian")


def of_wide_views():
    with mock.patch.object(aligned, "DENSE_PAIRS", 0):
        return MultiViewMixture(3).fit(MIXED)


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
    "sampled shares": lambda: gibbs_shares(SAMPLE.components, EVEN, count_blocks(X), n_iter=5, burn_in=1),
    "variational passes": lambda: variational_passes(
        count_blocks(X), SAMPLE.components, EVEN, n_passes=2, smoothing=EVEN
    ),
    "partial fit": lambda: LDA(3).partial_fit(X[:30]).partial_fit(X[30:]),
    "independent factors of anything": lambda: IndependentFactors(1, observation="any").fit([X, X, X]),
    "ica, mixtures": lambda: of_signals().inverse_transform(np.eye(3)),
    "ica of many rows": lambda: ICA(3).fit(make_ica(3000, 4).X),
    "ica of several shards": of_several_shards,
    "ica of many sources": of_many_signals,
    **{
        f"ica with noise, {name}": (lambda n=name: of_signals(statistics=n, noise="gaussian"))
        for name in ("third", "fourth", "generalised", "characteristic")
    },
    **{f"cca, {name}": (lambda n=name: of_views(statistics=n)) for name in ("third", "fourth", "generalised")},
    "cca, score": lambda: of_views().score(VIEWS.X, VIEWS.Y),
    "discrete cca, third": lambda: DiscreteCCA(2, statistics="third").fit(X, X[:, :30]),
    "hidden markov, score": lambda: HiddenMarkov(3, max_iter=2).fit(CHAIN.X, CHAIN.lengths).score(CHAIN.X),
    "views of a mixture": lambda: MultiViewMixture(3).fit([signal_blocks(POINTS)] * 3).score([POINTS] * 3),
    "wide views of a mixture": of_wide_views,
    "spherical mixture, score": lambda: SphericalMixture(3).fit(POINTS).score(POINTS),
    "pyLDAvis": lambda: to_pyldavis(LDA(3, polish="off").fit(X), X),
}


def run_all(jobs):
    """Run jobs with a runner that checks them, and return it."""
    runner = Checking()
    with use(runner), warnings.catch_warnings(action="ignore"):
        for job in jobs.values():
            job()
    return runner


def pass_functions():
    """Return the functions that stand in the source where a pass is asked for."""
    found = set()
    for path in ROOT.rglob("*.py"):
        name = ".".join(("polyad", *path.relative_to(ROOT).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) in ("total", "step", "rows"):
                first, *rest = ast.unparse(node.args[0]).split(".")
                function = reduce(
                    lambda owner, part: getattr(owner, part, None), rest, getattr(import_module(name), first, None)
                )
                if function is not None:  # not the name of a variable
                    found.add(f"{function.__module__}.{function.__qualname__}")
    return found


def test_every_pass_is_pure_and_runs_anywhere():
    """Twice here, and once in another process that was started afresh."""
    runner = run_all({**fingerprints.CASES, **JOBS})
    asked_for = pass_functions()
    assert len(asked_for) > 100
    assert asked_for - runner.seen == set(), "no job here runs these"
    names = list(runner.tasks)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(run_task, [runner.tasks[name][0] for name in names]))
    others = [name for name, digest in zip(names, found) if digest != runner.tasks[name][1]]
    assert not others, "they give another result in another process"
