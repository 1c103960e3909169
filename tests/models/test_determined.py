"""Topics depend on the data alone, and what the data do not determine is said."""

import warnings
from dataclasses import replace
from functools import partial
from types import ModuleType

import numpy as np
import pytest
import scipy
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.special
import scipy.stats
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

import polyad.base.fixed
from polyad import ICA, LDA, DiscreteCCA, DiscreteICA, MixedCCA, NonGaussianCCA, PolylingualLDA, SingleTopic, align
from polyad.datasets import (
    make_discrete_cca,
    make_gamma_poisson,
    make_ica,
    make_lda,
    make_mixed_cca,
    make_nongaussian_cca,
    make_single_topic,
)
from polyad.decompose import power
from polyad.decompose.certainty import certainty, gaussian_turning, leaving, turning
from polyad.engine import count_blocks, write_shards
from polyad.models import UndeterminedWarning
from polyad.models.recipes.moment_prior import start_at_usual_total
from polyad.models.recipes.moment_start import SummedCounts, start_from_moments
from polyad.models.recipes.standing_out import n_standing_out, whiteners_in
from polyad.moments import raw_moments, summarise_counts

LDA_SAMPLES = [
    make_lda(1500, 400, 6, length=80, prior=prior, random_state=seed) for seed, prior in ((0, 0.3), (1, 0.1))
]

TWO_VIEWS = make_discrete_cca, make_mixed_cca, make_nongaussian_cca


def samples():
    """Every estimator with data of its model, and what it has found."""
    texts = LDA_SAMPLES[0].counts
    for number, sample in enumerate(LDA_SAMPLES):
        yield f"LDA {number}", LDA(6), (sample.counts,), "components_"
    yield "DiscreteICA", DiscreteICA(6), (make_gamma_poisson(1500, 400, 6).counts,), "components_"
    yield "SingleTopic", SingleTopic(6), (make_single_topic(1500, 400, 6).counts,), "components_"
    yield "PolylingualLDA", PolylingualLDA(6), ([texts[:, :200], texts[:, 200:]],), "components_"
    discrete, mixed, continuous = (make(1000, n_components=3) for make in TWO_VIEWS)
    yield "DiscreteCCA", DiscreteCCA(3), (discrete.X, discrete.Y), "x_loadings_"
    yield "MixedCCA", MixedCCA(3), (mixed.X, mixed.Y), "x_loadings_"
    yield "NonGaussianCCA", NonGaussianCCA(3), (continuous.X, continuous.Y), "x_loadings_"
    yield "ICA", ICA(tol=1e-8, polish="full"), (make_ica(2000, 6).X,), "components_"
    yield "ICA by moments", ICA(polish="off"), (make_ica(2000, 6).X,), "components_"


CASES = {name: case for name, *case in samples()}


def found(model, data, attribute):
    value = getattr(model.fit(*data), attribute)
    return np.hstack(value) if isinstance(value, list) else value


def other_columns(size, n_columns):
    """Columns in general position that are others than the fixed ones."""
    return np.random.default_rng(size).standard_normal((size, n_columns))


@pytest.mark.parametrize("name", CASES)
def test_neither_the_seed_nor_the_start_matters(name, monkeypatch):
    model, data, attribute = CASES[name]
    first = found(model, data, attribute)
    for seed in range(1, 5):
        assert np.array_equal(first, found(model.set_params(random_state=seed), data, attribute))
    monkeypatch.setattr(polyad.base.fixed, "fixed_columns", other_columns)
    for module in ("polyad.decompose.whitening.lanczos",):
        monkeypatch.setattr(f"{module}.fixed_columns", other_columns)
    assert np.abs(first - found(model, data, attribute)).max() < 1e-6 * np.abs(first).max()


@pytest.fixture(scope="module")
def small_text():
    """Real text that every machine has: what NumPy and SciPy say of their functions."""
    modules = (np, np.linalg, np.random, scipy.special, scipy.stats, scipy.signal, scipy.ndimage, scipy.optimize)
    named = [getattr(module, name) for module in modules for name in dir(module) if not name.startswith("_")]
    texts = {one.__doc__ for one in named if not isinstance(one, ModuleType)}  # which modules are loaded is chance
    return CountVectorizer(stop_words="english", min_df=8).fit_transform(sorted(texts - {None}))


@pytest.mark.parametrize("polish", ["off", "fast"])
def test_real_text_from_any_start(small_text, polish, monkeypatch):
    first = LDA(8, polish=polish).fit(small_text)
    assert first.diagnostics_.undetermined == ()
    monkeypatch.setattr(polyad.base.fixed, "fixed_columns", other_columns)
    monkeypatch.setattr("polyad.decompose.whitening.lanczos.fixed_columns", other_columns)
    second = LDA(8, polish=polish, random_state=3).fit(small_text)
    assert np.abs(first.components_ - second.components_).max() < 1e-6
    assert np.mean(align(first, second).similarity) > 0.9999


def test_more_topics_than_there_are_is_called_undetermined():
    sample = make_lda(8000, 300, 5, length=100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LDA(5).fit(sample.counts).diagnostics_.certainty.min() > 0.98
    with pytest.warns(UndeterminedWarning, match=r"do not determine \d of the 8 components"):
        model = LDA(8).fit(sample.counts)
    diagnostics = model.diagnostics_
    assert diagnostics.certainty.shape == (8,)
    nearest = np.minimum(model.components_[:, None], sample.components).sum(axis=2).argmax(axis=1)
    halves_of_one = np.flatnonzero(np.bincount(nearest)[nearest] > 1)
    assert diagnostics.undetermined == tuple(halves_of_one), "three of the five topics are there twice"
    assert len(halves_of_one) == 6
    assert f"{8 - len(diagnostics.undetermined)} of 8 topics determined" in repr(diagnostics)
    told = model.topics(as_frame=True).groupby("topic")["certainty"].first()
    assert np.allclose(told, diagnostics.certainty)


SKEWED = np.array([0.5, 0.25, 0.15, 0.07, 0.03])


def gamma_poisson(n_documents, n_words):
    return make_gamma_poisson(n_documents, n_words, 5, mean_length=100.0, prior=SKEWED).counts


def single_topics(n_documents, n_words):
    return make_single_topic(n_documents, n_words, 5, length=40, weights=SKEWED).counts


def mixed_topics(n_documents, n_words):
    return make_lda(n_documents, n_words, 5, length=100).counts


def two_languages(n_documents, n_words):
    counts = make_lda(n_documents, n_words, 5, length=120).counts.toarray()
    return [counts[:, ::2], counts[:, 1::2]]


@pytest.mark.filterwarnings("ignore:These documents do not tell the total of the shapes")  # with topics of noise
@pytest.mark.parametrize(("n_documents", "n_words"), [(2000, 300), (2000, 3000), (8000, 300)])
@pytest.mark.parametrize(
    ("model", "draw"),
    [
        (LDA, mixed_topics),
        (DiscreteICA, gamma_poisson),
        (SingleTopic, single_topics),
        (PolylingualLDA, two_languages),
    ],
)
def test_every_model_of_topics_tells_of_more_than_there_are(model, draw, n_documents, n_words):
    """Long documents make noise of S that is larger than its most negative eigenvalue: nothing was told."""
    X = draw(n_documents, n_words)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UndeterminedWarning)
        assert model(5, polish="off").fit(X).diagnostics_.certainty.min() > 0.9
    with pytest.warns(UndeterminedWarning, match=r"do not determine \d of the 8 components"):
        diagnostics = model(8, polish="off").fit(X).diagnostics_
    assert 2 <= len(diagnostics.undetermined) <= 6


@pytest.mark.parametrize("as_shards", [False, True])
def test_directions_that_other_documents_have_stand_out(as_shards, tmp_path):
    sample = make_single_topic(1500, 200, 5, length=40)
    source = count_blocks(sample.counts)
    if as_shards:
        source = write_shards(source, tmp_path / "shards")

    def second_of(half):
        return raw_moments(half, "length").moments.second

    S = second_of(source) @ np.eye(200)
    spectrum, plainly = np.linalg.eigvalsh(S)[::-1], partial(whiteners_in, np.ones(200))
    for K in (3, 5, 6, 9):
        assert n_standing_out(second_of, plainly, source, spectrum, K) == min(K, 5)
    assert n_standing_out(second_of, plainly, source, np.linspace(2, 1, 200), 9) == 9, "no fall: not looked at"


def test_a_component_is_as_certain_as_what_stands_out_of_it():
    """Of a rotation's rows the last are noise: what a component has in them is taken off."""
    counts = make_single_topic(1500, 200, 3, length=40).counts
    corpus = SummedCounts(count_blocks(counts), summarise_counts(count_blocks(counts)))
    moments = raw_moments(corpus.source, "length").moments
    plain = start_from_moments(moments, corpus, 5, "power", keep=True)
    told = start_from_moments(
        moments, corpus, 5, "power", second_of=lambda half: raw_moments(half, "length").moments.second
    )
    assert plain.polyadic is not None
    noise = (plain.polyadic.diagonalisation.rotation[3:] ** 2).sum(axis=0)
    assert noise.max() > 0.4
    assert np.allclose(told.certainty, plain.certainty * (1 - noise), rtol=1e-12)


def test_topics_of_another_total_are_as_certain_as_what_stands_out_of_them():
    """All directions of noise are in some topics: what these lose adds up to their number."""
    counts = make_lda(2000, 200, 3, length=60, prior=0.3).counts
    corpus = SummedCounts(count_blocks(counts), summarise_counts(count_blocks(counts)))
    _, own = start_at_usual_total(raw_moments(corpus.source, "length"), corpus, 5, "power", 2.0)
    assert own is not None
    assert own._usual.n_noise == 2
    told, plain = own.start(1.2), replace(own, _usual=replace(own._usual, n_noise=0)).start(1.2)
    assert told is not None
    assert plain is not None
    kept = told.certainty / plain.certainty
    assert ((kept >= 0) & (kept <= 1)).all()
    assert np.isclose((1 - kept).sum(), 2, rtol=0.05)


@pytest.mark.parametrize(("n_gaussian", "n_unsure"), [(0, 0), (1, 0), (2, 2), (3, 3)])
def test_gaussian_sources_are_called_undetermined(n_gaussian, n_unsure):
    rng = np.random.default_rng(0)
    S = np.hstack([rng.laplace(size=(10_000, 3)), rng.standard_normal((10_000, n_gaussian))])
    X = S @ rng.standard_normal((S.shape[1], S.shape[1])).T
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = ICA().fit(X)
    assert len(model.diagnostics_.undetermined) == n_unsure
    assert any(issubclass(warning.category, UndeterminedWarning) for warning in said) == (n_unsure > 0)
    correlations = np.abs(np.corrcoef(model.transform(X).T, S.T)[: S.shape[1], S.shape[1] :])
    for unsure in model.diagnostics_.undetermined:
        assert correlations[unsure].argmax() >= 3, "it is a Gaussian one, or a mixture of these"


def test_one_document_moves_topics_by_no_more_than_the_gap_allows():
    """Davis and Kahan: the space turns by at most the change of S over the gap; unmixing makes some of that more."""
    sample = make_lda(3000, 120, 4, length=80, prior=0.3, random_state=2)
    X, identity = sparse.csr_array(sample.counts), np.eye(120)
    whole = LDA(4, polish="off", weights="length").fit(X)
    S = raw_moments(count_blocks(X), "length").at(2.0).second @ identity
    values = np.sort(np.linalg.eigvalsh(S))[::-1]
    longest = np.argsort(-np.asarray(X.sum(axis=1)).ravel(), kind="stable")[:5]
    for document in longest:
        rest = X[np.delete(np.arange(3000), document)]
        change = np.linalg.norm(raw_moments(count_blocks(rest), "length").at(2.0).second @ identity - S, 2)
        other = LDA(4, polish="off", weights="length").fit(rest)
        bound = change / (values[3] - values[4])
        moved = 1 - np.asarray(align(whole, other).similarity)
        assert moved.max() < 4 * bound < 0.1


def test_noise_turns_components_as_far_as_it_is_said_to():
    """Of many noisy copies of a tensor, the mean squared angle of each component is about the one estimated."""
    rng = np.random.default_rng(0)
    K, values = 5, np.array([4.0, 3.0, 2.0, 1.0, 0.6])
    tensor = np.zeros((K, K, K))
    tensor[range(K), range(K), range(K)] = values
    squares, estimates = [], []
    for _ in range(200):
        noise = 0.03 * rng.standard_normal((K, K, K))
        noise = (
            sum(noise.transpose(o) for o in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]) / 6**0.5
        )
        result = power(tensor + noise)
        order = np.abs(result.rotation).argmax(axis=1)
        squares.append(1 - result.rotation[np.arange(K), order] ** 2)
        estimates.append(result.turned[order])
    ratio = np.mean(estimates, axis=0) / np.mean(squares, axis=0)
    assert (ratio > 0.3).all()
    assert (ratio < 3).all()


def test_certainty_has_its_bounds():
    assert np.array_equal(turning(np.zeros((3, 2, 2))), [np.inf, np.inf])
    assert np.array_equal(turning(np.ones((3, 1, 1))), [0.0])
    assert np.array_equal(leaving(np.array([2.0, 1.0]), np.ones(2), 2, 0.1), [0.0, 0.0])
    assert leaving(np.array([2.0, 1.0, 1.0]), np.ones(2), 3, 0.1)[1] == np.inf
    assert np.array_equal(leaving(np.array([2.0, 1.0, 1.0]), np.ones(3), 3, 0.1), np.zeros(3))
    assert np.array_equal(certainty(np.array([0.0, np.inf])), [1.0, 0.0])
    assert gaussian_turning(np.array([5.0])) == 0
