"""Passes of two views and of signals: the same wherever and however the data lie."""

import itertools
import pickle
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from polyad.datasets.signals import make_ica
from polyad.datasets.views import make_discrete_cca, make_mixed_cca, make_nongaussian_cca
from polyad.engine import Source, count_blocks, signal_blocks, view_of
from polyad.engine import blocks as engine_blocks
from polyad.models.recipes.cross import paired
from polyad.models.signals.ica import ICA
from polyad.models.views.discrete import DiscreteCCA
from polyad.models.views.mixed import MixedCCA
from polyad.models.views.nongaussian import NonGaussianCCA
from polyad.models.views.polylingual import PolylingualLDA

# Three hundred rows do not tell all factors apart, least of all by real processing points or through noise: here only
# the bytes count that passes give, and tests of the models look at what they find.
pytestmark = [
    pytest.mark.filterwarnings("ignore::polyad.models.UndeterminedWarning"),
    pytest.mark.filterwarnings('ignore:noise="gaussian" cannot be trusted here:polyad.models.NoiseWarning'),
]

N = 300
COUNTS = make_discrete_cca(N, (20, 25), 3)
MIXED = make_mixed_cca(N, (6, 20), 2)
SIGNALS = make_nongaussian_cca(N, (6, 5), 2)
MIXTURES = make_ica(N, 4, sources="skewed")

CASES = {
    "poisson": (DiscreteCCA(3), COUNTS),
    "poisson-third": (DiscreteCCA(3, statistics="third", metric="scale"), COUNTS),
    "aligned": (PolylingualLDA(3, polish="off", concentration=2.0), COUNTS),
    "aligned-polished": (PolylingualLDA(3, polish=2), COUNTS),
    "aligned-private": (PolylingualLDA(3, polish=2, n_private=1), COUNTS),
    "mixed": (MixedCCA(2), MIXED),
    "mixed-scale": (MixedCCA(2, metric="scale"), MIXED),
    "nongaussian": (NonGaussianCCA(2), SIGNALS),
    "nongaussian-fourth": (NonGaussianCCA(2, statistics="fourth"), SIGNALS),
    "nongaussian-generalised": (NonGaussianCCA(2, statistics="generalised"), SIGNALS),
    "ica": (ICA(3), MIXTURES),
    "ica-noise": (ICA(3, noise="gaussian", statistics="third"), MIXTURES),
    "ica-noise-auto": (ICA(3, noise="gaussian"), MIXTURES),
    "ica-fourth": (ICA(3, statistics="fourth"), MIXTURES),
    "ica-generalised": (ICA(3, statistics="generalised", step=0.5), MIXTURES),
}


def views_of(model, sample):
    return (sample.X,) if isinstance(model, ICA) else (sample.X, sample.Y)


def found_by(model, *views):
    """Everything that a model learns from its views, and what it says of them, as arrays."""
    if isinstance(model, PolylingualLDA):
        model = clone(model).fit(views)
        shares = model.transform(views), model.transform([None, views[1]])
        return [*model.all_components_, *model.projections_, model.doc_topic_prior_, *shares, model.project(views[0])]
    model = clone(model).fit(*views)
    if isinstance(model, ICA):
        sources = model.transform(*views)
        return [model.components_, model.mixing_, sources, model.inverse_transform(sources)]
    found = [model.x_loadings_, model.y_loadings_, model.transform(*views), model.transform(None, views[1])]
    found.append(np.array(model.score(*views)))
    if isinstance(model, DiscreteCCA):
        found += [model.x_projection_, model.project(views[0]), model.project(None, views[1])]
    return found


@cache
def found_in_small_shards(case):
    """What :func:`found_by` gives for a case; for tests that cut rows in the same small shards."""
    model, sample = CASES[case]
    return found_by(model, *views_of(model, sample))


def same_bytes(one, other):
    return all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


class Stored(Source):
    """Shards that are read again each time they are asked for."""

    def __init__(self, source):
        self.stored = [pickle.dumps(source.shard(number)) for number in range(source.n_shards)]
        self.description = source.edges, source.widths, source.n_cells

    edges = property(lambda self: self.description[0])
    widths = property(lambda self: self.description[1])
    n_cells = property(lambda self: self.description[2])
    in_memory = False

    def shard(self, number, /):
        return pickle.loads(self.stored[number])


def source_of(view):
    return (count_blocks if sparse.issparse(view) else signal_blocks)(view)


def in_parts(view, *cuts):
    edges = [0, *cuts, view.shape[0]]
    return [view[first:last] for first, last in itertools.pairwise(edges)]


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr(engine_blocks, "SHARD_CELLS", 1500)
    monkeypatch.setattr(engine_blocks, "BLOCK_CELLS", 400)


@pytest.mark.parametrize("case", CASES)
def test_arrays_parts_and_sources_give_the_same_bytes(case, small_shards):
    model, sample = CASES[case]
    views = views_of(model, sample)
    whole = found_in_small_shards(case)
    parts = [in_parts(view, *cuts) for view, cuts in zip(views, ((100, 101, 200), (120,)))]
    assert same_bytes(found_by(model, *parts), whole)
    assert same_bytes(found_by(model, *(source_of(view) for view in views)), whole)
    assert same_bytes(found_by(model, *(Stored(source_of(view)) for view in views)), whole)


@pytest.mark.parametrize("case", CASES)
def test_threads_do_not_change_a_bit(case, small_shards):
    model, sample = CASES[case]
    for n_threads in (1, 3):
        found = found_by(clone(model).set_params(n_jobs=n_threads), *views_of(model, sample))
        assert same_bytes(found, found_in_small_shards(case))


# Polishing goes by halves of the documents, which are cut between shards where there are several.
@pytest.mark.parametrize("case", [case for case in CASES if case not in ("aligned-polished", "aligned-private")])
def test_shards_change_no_more_than_rounding(case, monkeypatch):
    model, sample = CASES[case]
    views = views_of(model, sample)
    one = found_by(model, *views)
    monkeypatch.setattr(engine_blocks, "SHARD_CELLS", 1500)
    tolerance = 1e-5 if case == "aligned" else 1e-7  # topic shares are of single precision
    for single, several in zip(one, found_by(model, *views), strict=True):
        assert np.allclose(several, single, atol=tolerance * np.abs(single).max())


def test_rows_of_two_views_are_cut_together(small_shards):
    views = paired(signal_blocks(MIXED.X), count_blocks(MIXED.Y))
    assert set(views.edges) == set(source_of(MIXED.X).edges) | set(source_of(MIXED.Y).edges)
    for block in views:
        assert {view.shape[0] for view in block.views} == {block.n_rows}
        assert block.lengths[0] is None
        assert np.array_equal(block.lengths[1], block.views[1].sum(axis=1))
    for number, view in enumerate((MIXED.X, MIXED.Y)):
        for single in (view_of(views, number), view_of(Stored(views), number)):
            assert single.shape == view.shape
            assert single.n_cells == source_of(view).n_cells
            rows = [block.rows.toarray() if sparse.issparse(view) else block.rows for block in single]
            assert np.array_equal(np.vstack(rows), view.toarray() if sparse.issparse(view) else view)


def test_a_failed_fit_leaves_a_model_as_it_was():
    model = NonGaussianCCA(2).fit(SIGNALS.X, SIGNALS.Y)
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match=r"X has 300 rows and Y has 299: .* The two views must have one row each"):
        model.fit(SIGNALS.X, SIGNALS.Y[:-1])
    assert model.__dict__ == before


def test_sources_of_the_wrong_width_and_too_few_rows_are_refused():
    model = ICA(3).fit(signal_blocks(MIXTURES.X))
    assert model.n_features_in_ == 4
    with pytest.raises(ValueError, match="X has 6 features, but ICA is expecting 4 features"):
        model.transform(signal_blocks(SIGNALS.X))
    with pytest.raises(ValueError, match="a minimum of 2 is required"):
        ICA().fit(signal_blocks(MIXTURES.X[:1]))
