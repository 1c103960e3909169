"""Mixtures of Gaussians: moments, recovery, EM, conventions and bad input."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture

import polyad
from oracles import gaussian_mixture_log_likelihoods, spherical_tensors
from polyad import SphericalMixture
from polyad.datasets import make_spherical_mixture
from polyad.engine import Shards, blocks, signal_blocks, write_shards
from polyad.inference.mixtures.gaussian import CovarianceRule, GaussianMixtureParameters, polish_gaussian
from polyad.inference.mixtures.moves import best_moves
from polyad.inference.mixtures.seeds import seeded_groups
from polyad.models.recipes import gaussian as gaussian_recipe
from polyad.models.recipes.gaussian import spherical_parameters
from polyad.moments.signals.spherical import spherical_moments, spherical_population
from purity import Checking, fingerprint

# Many samples here are small, and components are asked for that are not there: test_mixture_certainty.py is about that.
pytestmark = pytest.mark.filterwarnings("ignore::polyad.models.UndeterminedWarning")


def matched(found, true):
    """The order of rows that brings them closest to the true ones."""
    distances = ((found[:, None] - true[None]) ** 2).sum(axis=2)
    return linear_sum_assignment(distances.T)[1]


@pytest.mark.parametrize(("K", "M"), [(2, 2), (3, 5), (4, 4), (6, 9)])
def test_population_moments_give_the_parameters_back(K, M):
    sample = make_spherical_mixture(5, M, K, separation=5.0, random_state=K)
    means = sample.means + 3.0  # the origin does not matter
    found = spherical_parameters(spherical_population(sample.weights, means, sample.variances), strict=True)
    order = matched(found.mixture.means, means)
    assert found.energy < 1e-16
    assert np.abs(found.mixture.means[order] - means).max() < 1e-8
    assert np.abs(found.mixture.weights[order] - sample.weights).max() < 1e-8
    assert np.abs(found.mixture.covariances[order] - sample.variances).max() < 1e-8


def test_moments_equal_brute_force():
    X = make_spherical_mixture(40, 4, 3).X
    moments = spherical_moments(signal_blocks(X), 3)
    covariance = np.cov(X.T, bias=True)
    values, vectors = np.linalg.eigh(covariance)
    assert abs(moments.variance - values[:2].mean()) < 1e-12
    second, third = spherical_tensors(X, moments.variance, vectors[:, :2].T)
    W = np.zeros((3, 5))
    W[:2, :4], W[2, 4] = moments.whitener, 1.0
    assert np.abs(W @ second @ W.T - np.eye(3)).max() < 1e-10
    assert np.abs(np.einsum("abc,ia,jb,kc->ijk", third, W, W, W) - moments.third).max() < 1e-10


def errors(N, seed, **options):
    draw = make_spherical_mixture(N, 8, means=3.5 * np.eye(4, 8), random_state=seed)
    model = SphericalMixture(4, **options).fit(draw.X)
    order = matched(model.means_, draw.means)
    return np.sqrt(((model.means_[order] - draw.means) ** 2).sum(axis=1).mean())


@pytest.mark.parametrize("options", [{"max_iter": 0, "start": "moments"}, {}])
def test_errors_shrink_with_the_points(options):
    few, many = (np.mean([errors(N, seed, **options) for seed in range(3)]) for N in (2_000, 20_000))
    assert many < 0.15
    assert many < 0.5 * few


def test_random_means_do_not_pass():
    rng = np.random.default_rng(99)
    draw = make_spherical_mixture(10, 8, 4, separation=5.0)
    found = draw.means.std() * rng.standard_normal((4, 8))
    order = matched(found, draw.means)
    assert np.sqrt(((found[order] - draw.means) ** 2).sum(axis=1).mean()) > 1.0


@pytest.mark.parametrize("covariance_type", ["spherical", "diag", "full"])
@pytest.mark.parametrize("shared", [False, True])
def test_densities_are_those_of_the_definition_and_em_never_loses(covariance_type, shared):
    draw = make_spherical_mixture(300, 3, 3, separation=4.0)
    model = SphericalMixture(3, covariance_type=covariance_type, shared=shared).fit(draw.X)
    full = {
        1: lambda C: C[:, None, None] * np.eye(3),
        2: lambda C: C[:, :, None] * np.eye(3),
        3: lambda C: C,
    }[model.covariances_.ndim](model.covariances_)
    brute = gaussian_mixture_log_likelihoods(draw.X[:20], model.weights_, model.means_, full)
    assert np.abs(model.score_samples(draw.X[:20]) - brute).max() < 1e-10
    assert (np.diff(model.diagnostics_.objective) > -1e-10).all()
    assert shared == (np.ptp(model.covariances_, axis=0).max() < 1e-12)
    points, labels = model.sample(4000, random_state=1)
    assert np.abs(np.bincount(labels) / 4000 - model.weights_).max() < 0.04
    for k in range(3):
        assert np.abs(np.cov(points[labels == k].T) - full[k]).max() < 0.25


@pytest.mark.parametrize("covariance_type", ["spherical", "diag", "full"])
def test_em_is_that_of_scikit_learn(covariance_type):
    draw = make_spherical_mixture(500, 4, 3, separation=3.0)
    covariances = {"spherical": np.ones(3), "diag": np.ones((3, 4)), "full": np.ones((3, 4, 4)) * np.eye(4)}
    start = GaussianMixtureParameters(np.full(3, 1 / 3), draw.X[:3], covariances[covariance_type])
    ours = polish_gaussian(
        signal_blocks(draw.X), start, CovarianceRule(covariance_type, False, 1e-6), max_iter=5, tol=0.0
    ).mixture
    peer = GaussianMixture(
        3, covariance_type=covariance_type, weights_init=start.weights, means_init=start.means,
        precisions_init=start.covariances, max_iter=5, tol=0.0,
    )  # fmt: skip
    with pytest.warns(UserWarning, match="did not converge"):
        peer.fit(draw.X)
    assert np.allclose(ours.means, peer.means_, atol=1e-8)
    assert np.allclose(ours.covariances, peer.covariances_, atol=1e-8)


@pytest.mark.parametrize("covariance_type", ["spherical", "diag", "full"])
def test_names_and_meaning_are_those_of_scikit_learn(covariance_type):
    X = make_spherical_mixture(300, 4, 3, separation=4.0).X
    model = SphericalMixture(3, covariance_type=covariance_type, prior_points=0).fit(X)
    peer = GaussianMixture(3, covariance_type=covariance_type, means_init=model.means_, tol=1e-9).fit(X)
    peer.weights_, peer.means_, peer.covariances_ = model.weights_, model.means_, model.covariances_
    peer.precisions_cholesky_ = (
        np.linalg.cholesky(model.precisions_) if covariance_type == "full" else model.precisions_**0.5
    )
    assert np.allclose(model.precisions_.shape, peer.precisions_.shape)
    identity = np.broadcast_to(np.eye(4), (3, 4, 4)) if covariance_type == "full" else 1.0
    product = (
        model.precisions_ @ model.covariances_ if covariance_type == "full" else model.precisions_ * model.covariances_
    )
    assert np.allclose(product, identity)
    for name in ("score_samples", "predict_proba", "predict", "score", "bic", "aic"):
        assert np.allclose(getattr(model, name)(X), getattr(peer, name)(X)), name
    assert len(model.lower_bounds_) == model.n_iter_
    assert model.lower_bounds_[-1] == model.lower_bound_
    assert abs(model.lower_bound_ - model.score(X)) < 1e-4  # without prior points it is the likelihood


@pytest.mark.parametrize("covariance_type", ["spherical", "diag", "full"])
def test_components_without_points_are_no_noise_of_numpy(covariance_type):
    """Three places and five components: two of them have no point, and what their merger loses was 0 / 0."""
    X = np.repeat(np.random.default_rng(0).standard_normal((3, 2)), 20, axis=0)
    with np.errstate(divide="raise", invalid="raise"):
        model = SphericalMixture(5, covariance_type=covariance_type).fit(X)
    assert np.isfinite(model.means_).all()
    assert (model.diagnostics_.certainty[model.weights_ < 1e-6] == 0).all()


def test_separated_components_are_all_found_where_restarts_miss_some():
    draw = make_spherical_mixture(4000, 30, 20, separation=9.0, random_state=3)
    model = SphericalMixture(20).fit(draw.X)
    truth = GaussianMixtureParameters(draw.weights, draw.means, draw.variances)
    best = polish_gaussian(
        signal_blocks(draw.X), truth, CovarianceRule("spherical", False, 1e-6), max_iter=20, tol=1e-5
    )
    assert model.score(draw.X) > best.objective[-1] - 0.01
    order = matched(model.means_, draw.means)
    assert np.sqrt(((model.means_[order] - draw.means) ** 2).sum(axis=1)).max() < 0.8


def test_moves_part_what_em_cannot():
    draw = make_spherical_mixture(2000, 5, 4, separation=14.0, shared=True, weights=np.full(4, 0.25), random_state=1)
    mean = draw.means[:2].mean(axis=0)
    stuck = np.stack([mean, draw.means[2], draw.means[3], draw.means[3] + 0.5])
    rule = CovarianceRule("spherical", False, 1e-6)
    source = signal_blocks(draw.X)
    rest = polish_gaussian(
        source, GaussianMixtureParameters(np.full(4, 0.25), stuck, np.ones(4)), rule, max_iter=50, tol=1e-6
    )
    (move, *_) = best_moves(draw.X, rest.mixture, rule, 1)
    freed = polish_gaussian(source, move.mixture, rule, max_iter=50, tol=1e-6)
    assert freed.objective[-1] > rest.objective[-1] + 0.5
    assert best_moves(draw.X, freed.mixture, rule, 3) == []


@pytest.mark.parametrize("seed", [1, 3])
def test_a_start_that_a_sample_chooses_is_as_good_as_one_of_all_points(seed):
    draw = make_spherical_mixture(6000, 20, 8, separation=4.0, random_state=seed)
    model = SphericalMixture(8).fit(draw.X)
    truth = GaussianMixtureParameters(draw.weights, draw.means, draw.variances)
    rule = CovarianceRule("spherical", False, 1e-6)
    best = polish_gaussian(signal_blocks(draw.X), truth, rule, max_iter=200, tol=1e-6)
    assert model.score(draw.X) > best.objective[-1] - 1e-3
    assert model.converged_


def test_too_few_directions_are_told_and_seeds_take_over():
    rng = np.random.default_rng(0)
    corners = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0], [4.5, 20.0]])
    plane = corners[rng.integers(0, 5, 2000)] + rng.standard_normal((2000, 2))
    model = SphericalMixture(5).fit(plane)
    assert model.diagnostics_.start == "seeds"
    assert "up to 2 components in 2 columns" in repr(model.diagnostics_)
    assert np.abs(model.means_[matched(model.means_, corners)] - corners).max() < 0.3
    space = np.hstack([plane, rng.standard_normal((2000, 6))])
    with pytest.warns(UserWarning, match="means of 5 components span 2 of 4 directions"):
        wide = SphericalMixture(5, start="moments").fit(space)
    assert np.abs(wide.means_[matched(wide.means_[:, :2], corners)][:, :2] - corners).max() < 0.3


def test_a_component_of_one_point_has_no_unbounded_likelihood():
    X = np.vstack([make_spherical_mixture(200, 20, 2).X, np.full((1, 20), 3.0)])
    assert SphericalMixture(3).fit(X).covariances_.min() > 0.1
    assert SphericalMixture(3, prior_points=0).fit(X).covariances_.min() < 0.1


def test_order_of_rows_parts_threads_and_disk_change_no_byte(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "SHARD_CELLS", 1500)
    monkeypatch.setattr(blocks, "BLOCK_CELLS", 500)
    X = make_spherical_mixture(600, 6, 3).X
    model = SphericalMixture(3)

    def found(X, **parameters):
        fitted = clone(model).set_params(**parameters).fit(X)
        return fingerprint((fitted.weights_, fitted.means_, fitted.covariances_))

    whole = found(X)
    assert signal_blocks(X).n_shards > 2
    assert found(X, n_jobs=1) == found(X, n_jobs=3) == whole
    assert found(X[np.random.default_rng(0).permutation(600)]) == whole
    assert found([X[:100], X[100:101], X[101:]]) == whole
    write_shards(signal_blocks(X[::-1]), tmp_path / "rows", order="given")
    assert found(Shards(tmp_path / "rows")) == whole
    write_shards(signal_blocks(X), tmp_path / "ordered")
    assert found(Shards(tmp_path / "ordered")) == whole


@pytest.mark.parametrize("covariance_type", ["spherical", "diag", "full"])
def test_passes_are_pure(covariance_type):
    runner = Checking()
    X = make_spherical_mixture(200, 4, 3).X
    with polyad.engine.use(runner):
        SphericalMixture(3, covariance_type=covariance_type).fit(X).score(X)
    passes = {"polyad.inference.mixtures.gaussian._expected_sums", "polyad.moments.signals.spherical._third_sums"}
    assert passes <= runner.seen


@pytest.mark.parametrize("covariance_type", ["spherical", "diag", "full"])
def test_a_saved_model_comes_back(tmp_path, covariance_type):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(make_spherical_mixture(200, 3, 2).X, columns=list("abc"))
    model = SphericalMixture(2, covariance_type=covariance_type).fit(X)
    model.save(tmp_path / "a.polyad")
    loaded = polyad.load(tmp_path / "a.polyad")
    assert loaded.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert (loaded.bic(X), loaded.aic(X)) == (model.bic(X), model.aic(X))
    assert loaded.diagnostics_.start == model.diagnostics_.start
    loaded.save(tmp_path / "b.polyad")
    assert (tmp_path / "a.polyad").read_bytes() == (tmp_path / "b.polyad").read_bytes()


def test_bic_finds_the_number_of_components():
    X = make_spherical_mixture(2000, 6, 4, separation=6.0).X
    assert min(range(2, 7), key=lambda K: SphericalMixture(K).fit(X).bic(X)) == 4


def test_seeds_are_spread_out_and_copies_do_no_harm():
    groups = seeded_groups(np.repeat([[0.0], [10.0], [20.0]], 5, axis=0), 3)
    assert len(set(groups[::5])) == 3
    assert set(seeded_groups(np.zeros((4, 2)), 3)) <= {0, 1, 2}
    constant = SphericalMixture(3).fit(np.ones((10, 2)))
    assert np.isfinite(constant.score(np.ones((10, 2))))


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.eye(5), {"n_components": 0}, "n_components is 0"),
        (np.eye(5), {"n_components": 6}, "X has 5 rows, and 6 components"),
        (np.eye(5), {"covariance_type": "round"}, "covariance_type is 'round'; give one of 'spherical'"),
        (np.eye(5), {"covariance_type": "tied"}, "give 'full', shared=True"),
        (np.eye(5), {"start": "random"}, "start is 'random'"),
        (np.eye(5), {"tol": -1}, "tol is -1; give a number from 0 up"),
        (np.full((5, 2), np.nan), {}, "value nan at row 0, column 0"),
        (np.eye(5)[:1], {}, "minimum of 2"),
    ],
)
def test_bad_input_is_a_sentence(X, options, message):
    with pytest.raises(ValueError, match=message):
        SphericalMixture(**options).fit(X)


@pytest.mark.parametrize("covariance_type", ["spherical", "diag", "full"])
def test_constant_columns_have_a_model(covariance_type):
    rows = np.random.default_rng(0).standard_normal((50, 3))
    for X in (np.ones((20, 3)), rows * [1.0, 1.0, 0.0]):
        model = SphericalMixture(2, covariance_type=covariance_type).fit(X)
        assert np.isfinite(model.means_).all()
        assert np.isfinite(model.score(X))


def test_unfitted_and_other_columns():
    with pytest.raises(NotFittedError):
        SphericalMixture().predict(np.eye(3))
    model = SphericalMixture(2).fit(make_spherical_mixture(50, 3, 2).X)
    with pytest.raises(ValueError, match="X has 2 features, but SphericalMixture is expecting 3 features"):
        model.predict([np.ones((2, 2)), np.ones((1, 2))])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 3])
def test_components_that_overlap_are_found_as_from_the_truth(seed):
    draw = make_spherical_mixture(10_000, 50, 20, separation=4.0, random_state=seed)
    truth = GaussianMixture(20, covariance_type="spherical", means_init=draw.means, max_iter=300).fit(draw.X)
    model = SphericalMixture(20).fit(draw.X)
    assert model.score(draw.X) > truth.score(draw.X) - 2e-3
    one = GaussianMixture(20, covariance_type="spherical", random_state=seed, max_iter=300).fit(draw.X)
    assert model.score(draw.X) > one.score(draw.X)


def test_moments_that_em_rests_at_need_no_other_start(monkeypatch):
    """Groups that lie apart: seeds are not even made, and all groups are found."""
    draw = make_spherical_mixture(4000, 12, 5, separation=8.0, random_state=2)

    def never(*args, **options):
        raise AssertionError("seeds were made")

    monkeypatch.setattr("polyad.models.mixtures.spherical.seed_start", never)
    model = SphericalMixture(5).fit(draw.X)
    assert model.diagnostics_.start == "moments"
    assert np.abs(model.means_[matched(model.means_, draw.means)] - draw.means).max() < 0.3
    overlapping = make_spherical_mixture(4000, 12, 5, separation=1.0, random_state=2)
    with pytest.raises(AssertionError, match="seeds were made"):
        SphericalMixture(5).fit(overlapping.X)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 3])
def test_no_component_is_left_to_one_point_in_many_columns(seed):
    """A group that all components share gets one of its own: all fifty means are found, and no point has its own."""
    draw = make_spherical_mixture(20_000, 200, 50, separation=6.0, random_state=seed)
    model = SphericalMixture(50).fit(draw.X)
    assert model.weights_.min() * 20_000 > 50
    means = model.means_[matched(model.means_, draw.means)]
    assert np.sqrt(((means - draw.means) ** 2).sum(axis=1)).max() < 2


def test_moves_are_not_tried_twice_from_the_same_place(monkeypatch):
    """Where points are few, the ends of all starts are moved on all of them: nothing is left to do from the best."""
    asked = []

    def recorded(points, mixture, rule, n_moves):
        asked.append(mixture.means.tobytes())
        return best_moves(points, mixture, rule, n_moves)

    monkeypatch.setattr(gaussian_recipe, "best_moves", recorded)
    X = make_spherical_mixture(1500, 10, 8, separation=2.5, random_state=3).X
    model = SphericalMixture(8).fit(X)
    assert model.converged_
    assert model.n_iter_ > 1
    assert len(asked) > 1
    assert len(set(asked)) == len(asked)
