"""One array, the same rows in parts and the same rows on disk give the same bytes, with every estimator and preset."""

import warnings
from importlib import import_module

import numpy as np
import pytest
from scipy import sparse

from polyad import (
    ICA,
    LDA,
    DiscreteCCA,
    DiscreteICA,
    MixedCCA,
    NonGaussianCCA,
    PolylingualLDA,
    SingleTopic,
    select_n_components,
)
from polyad.datasets import make_discrete_cca, make_ica, make_lda, make_mixed_cca, make_nongaussian_cca
from polyad.engine import Shards, blocks, count_blocks, signal_blocks, write_shards
from purity import fingerprint

TEXTS = make_lda(300, 60, 4, length=40, prior=0.2, random_state=0).counts
SIGNALS = make_ica(900, 4, sources="skewed").X
COUNTS_AND_COUNTS = make_discrete_cca(400, (20, 30), 3, n_private=1, private_length=50.0)
SIGNALS_AND_SIGNALS = make_nongaussian_cca(400, (6, 5), 2)
SIGNALS_AND_COUNTS = make_mixed_cca(400, (6, 20), 2)


def topic_results(model):
    return model.components_, model.doc_topic_prior_, model.topic_shares_, model.transform(TEXTS)


def aligned_results(model):
    return *model.all_components_, *model.projections_, model.doc_topic_prior_


def loadings(model):
    return model.x_loadings_, model.y_loadings_


def of_selection(found):
    return found.spectrum, [row["bits"] for row in found.table]


CASES = {
    **{
        f"{model.__name__} {polish}": (lambda X, m=model, p=polish: topic_results(m(4, polish=p).fit(X)), [TEXTS])
        for model in (LDA, DiscreteICA, SingleTopic)
        for polish in ("off", "fast", "full", 3)
    },
    "select": (lambda X: of_selection(select_n_components(X, [2, 4])), [TEXTS]),
    "score": (lambda X: LDA(4, polish=1).fit(TEXTS).score(X), [TEXTS]),
    "ICA": (lambda X: ICA(4).fit(X).components_, [SIGNALS]),
    "ICA with noise": (lambda X: ICA(4, noise="gaussian").fit(X).transform(X), [SIGNALS]),
    "PolylingualLDA": (
        lambda X, Y: aligned_results(PolylingualLDA(3, n_private=1).fit([X, Y])),
        [COUNTS_AND_COUNTS.X, COUNTS_AND_COUNTS.Y],
    ),
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


@pytest.mark.parametrize("case", CASES)
def test_the_same_bytes_wherever_the_rows_lie(case, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "SHARD_CELLS", 2000)
    monkeypatch.setattr(blocks, "BLOCK_CELLS", 500)
    fit, views = CASES[case]
    with warnings.catch_warnings(action="ignore"):
        whole = fingerprint(fit(*views))
        assert fingerprint(fit(*map(in_parts, views))) == whole
        assert fingerprint(fit(*(on_disk(view, tmp_path / str(place)) for place, view in enumerate(views)))) == whole
        if case.startswith(("LDA", "ICA")) and "noise" not in case:
            assert fingerprint(fit(*map(once, views))) == whole
    assert count_blocks(TEXTS).n_shards > 2, "one shard would show nothing"


@pytest.mark.parametrize("case", ["LDA fast", "PolylingualLDA"])
def test_the_same_bytes_in_quarters(case, tmp_path, monkeypatch):
    """Topics of many documents are renewed after every quarter, which may be a part of a shard."""
    (fit, views), polish = CASES[case], import_module("polyad.inference.polish")
    monkeypatch.setattr(blocks, "SHARD_CELLS", 4000)
    monkeypatch.setattr(blocks, "BLOCK_CELLS", 500)
    monkeypatch.setattr(polish, "FEW_SHARDS", 100)
    assert count_blocks(views[0]).n_shards > 1
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
