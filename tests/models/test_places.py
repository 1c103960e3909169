"""One array, the same rows in parts and the same rows on disk give the same bytes, with every estimator and preset."""

import inspect
import warnings
from importlib import import_module

import numpy as np
import pytest
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
    select_n_components,
)
from polyad.datasets import (
    make_discrete_cca,
    make_hmm,
    make_ica,
    make_independent_factors,
    make_lda,
    make_mixed_cca,
    make_multiview_mixture,
    make_nongaussian_cca,
    make_spherical_mixture,
)
from polyad.engine import Shards, blocks, count_blocks, signal_blocks, write_shards
from polyad.inference.presets import PRESETS
from purity import fingerprint

TEXTS = make_lda(160, 60, 4, length=40, prior=0.2, random_state=0).counts
SIGNALS = make_ica(600, 4, sources="skewed").X
COUNTS_AND_COUNTS = make_discrete_cca(120, (20, 30), 3, n_private=1, private_length=50.0)
SIGNALS_AND_SIGNALS = make_nongaussian_cca(250, (6, 5), 2)
SIGNALS_AND_COUNTS = make_mixed_cca(250, (6, 20), 2)
POINTS = make_spherical_mixture(600, 5, 3).X
SEQUENCES = make_hmm(20, 60, 2, 2, emission="gaussian")
CLASSES = make_multiview_mixture(500, (6, 5, 4), 3).views
FACTORS = make_independent_factors(500, 6, 2, n_views=2).views


def topic_results(model):
    return model.components_, model.doc_topic_prior_, model.topic_shares_, model.transform(TEXTS)


def aligned_results(model):
    return *model.all_components_, *model.projections_, model.doc_topic_prior_


def loadings(model):
    return model.x_loadings_, model.y_loadings_


def as_source(rows):
    """Return parts as a source: of sequences, and of views that come in a list, a list is something else."""
    if not isinstance(rows, list):
        return rows
    return (count_blocks if sparse.issparse(rows[0]) else signal_blocks)(rows)


def noise_results(model):
    return model.components_, model.noise_variances_, model.variances_


def chain_results(model):
    return model.transmat_, model.emission_rows_, model.startprob_, model.diagnostics_.certainty


def point_results(model):
    return model.weights_, model.means_, model.covariances_, model.diagnostics_.certainty


def class_results(model):
    return model.weights_, model.parameter_rows_, model.diagnostics_.certainty


def factor_results(model):
    return model.components_, model.noise_


def of_selection(found):
    return found.spectrum, [row["bits"] for row in found.table]


CASES = {
    **{
        f"{model.__name__} {polish}": (lambda X, m=model, p=polish: topic_results(m(4, polish=p).fit(X)), [TEXTS])
        for model in (LDA, DiscreteICA, SingleTopic)
        for polish in (*PRESETS, 3)
    },
    "select": (lambda X: of_selection(select_n_components(X, [2, 4])), [TEXTS]),
    "score": (lambda X: LDA(4, polish=1).fit(TEXTS).score(X), [TEXTS]),
    **{f"ICA {polish}": (lambda X, p=polish: ICA(4, polish=p).fit(X).components_, [SIGNALS]) for polish in PRESETS},
    "ICA with noise": (lambda X: ICA(4, noise="gaussian").fit(X).transform(X), [SIGNALS]),
    **{
        f"PolylingualLDA {polish}": (
            lambda X, Y, p=polish: aligned_results(PolylingualLDA(3, n_private=int(p != "off"), polish=p).fit([X, Y])),
            [view.tocsr()[:80] if polish == "full" else view for view in (COUNTS_AND_COUNTS.X, COUNTS_AND_COUNTS.Y)],
        )
        for polish in PRESETS
    },
    "NoisyDiscreteICA": (lambda X: noise_results(NoisyDiscreteICA(2).fit(X)), [TEXTS]),
    **{
        f"SphericalMixture {kind}": (
            lambda X, k=kind: point_results(SphericalMixture(3, covariance_type=k, max_iter=20).fit(X)),
            [POINTS],
        )
        for kind in ("spherical", "full")
    },
    "HiddenMarkov": (
        lambda X: chain_results(HiddenMarkov(2, emission="gaussian", max_iter=10).fit(as_source(X), SEQUENCES.lengths)),
        [SEQUENCES.X],
    ),
    "MultiViewMixture": (
        lambda *views: class_results(MultiViewMixture(3, max_iter=10).fit([*map(as_source, views)])),
        CLASSES,
    ),
    **{
        f"IndependentFactors {polish}": (
            lambda *views, p=polish: factor_results(IndependentFactors(2, polish=p).fit([*map(as_source, views)])),
            FACTORS,
        )
        for polish in ("off", "fast")
    },
    "DiscreteCCA": (
        lambda X, Y: loadings(DiscreteCCA(3).fit(X, Y)),
        [COUNTS_AND_COUNTS.X, COUNTS_AND_COUNTS.Y],
    ),
    "NonGaussianCCA": (
        lambda X, Y: loadings(NonGaussianCCA(2).fit(X, Y)),
        [SIGNALS_AND_SIGNALS.X, SIGNALS_AND_SIGNALS.Y],
    ),
    "MixedCCA": (lambda X, Y: loadings(MixedCCA(2).fit(X, Y)), [SIGNALS_AND_COUNTS.X, SIGNALS_AND_COUNTS.Y]),
}


def in_parts(view):
    third = view.shape[0] // 3
    return [view[:third], view[third : third + 5], view[third + 5 :]]


def on_disk(view, path):
    checked = (count_blocks if sparse.issparse(view) else signal_blocks)(in_parts(view))
    write_shards(checked, path, order="given")
    return Shards(path)


def once(view):
    """Return a generator, which can be read a single time."""
    yield from in_parts(view)


def test_every_estimator_and_preset_has_a_case():
    models = {name: getattr(polyad, name) for name in polyad.__all__ if hasattr(getattr(polyad, name), "get_params")}
    polished = {name for name, model in models.items() if "polish" in inspect.signature(model).parameters}
    presets = {f"{name} {polish}" for name in polished for polish in PRESETS} - {"IndependentFactors full"}
    assert presets <= set(CASES)
    assert {case.split()[0] for case in CASES} >= set(models)


@pytest.mark.parametrize("case", CASES)
def test_the_same_bytes_wherever_the_rows_lie(case, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "SHARD_CELLS", 1200)
    monkeypatch.setattr(blocks, "BLOCK_CELLS", 500)
    fit, views = CASES[case]
    with warnings.catch_warnings(action="ignore"):
        whole = fingerprint(fit(*views))
        assert fingerprint(fit(*map(in_parts, views))) == whole
        assert fingerprint(fit(*(on_disk(view, tmp_path / str(place)) for place, view in enumerate(views)))) == whole
        if case.startswith(("LDA", "ICA")) and "noise" not in case:
            assert fingerprint(fit(*map(once, views))) == whole
    assert count_blocks(TEXTS).n_shards > 2, "one shard would show nothing"


@pytest.mark.parametrize("case", ["LDA fast", "PolylingualLDA fast"])
def test_the_same_bytes_in_quarters(case, tmp_path, monkeypatch):
    """Topics of many documents in one shard are renewed after every quarter of it."""
    (fit, views), polish = CASES[case], import_module("polyad.inference.polish")
    monkeypatch.setattr(blocks, "BLOCK_CELLS", 500)
    with warnings.catch_warnings(action="ignore"):
        halves = fingerprint(fit(*views))
        monkeypatch.setattr(polish, "MANY_DOCUMENTS", 1)
        whole = fingerprint(fit(*views))
        assert fingerprint(fit(*(on_disk(view, tmp_path / str(place)) for place, view in enumerate(views)))) == whole
    assert whole != halves


@pytest.mark.parametrize("model", [LDA, DiscreteICA, SingleTopic])
def test_shards_in_the_canonical_order_are_taken_as_they_are(model, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "SHARD_CELLS", 2000)
    write_shards(count_blocks(TEXTS[::-1]), tmp_path / "ordered", order="content")
    with warnings.catch_warnings(action="ignore"):
        one, other = (model(4).fit(X).components_ for X in (TEXTS, Shards(tmp_path / "ordered")))
    assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("polish", ["off", "fast", "full"])
def test_more_shards_give_the_same_topics(polish, monkeypatch):
    """Sums are taken in another order and halves of shards are other halves: the topics are the same but for that."""
    one = LDA(4, polish=polish).fit(TEXTS)
    monkeypatch.setattr(blocks, "SHARD_CELLS", 2000)
    several = LDA(4, polish=polish).fit(TEXTS)
    assert np.abs(one.components_ - several.components_).sum(axis=1).max() < 0.05
