"""ICA: recovery, noise, conventions, bad input and the checks of scikit-learn."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from polyad.datasets.signals import make_ica
from polyad.decompose.whitening.symmetric import RankError
from polyad.engine import ordered_by_content, signal_blocks, write_shards
from polyad.metrics import amari_distance
from polyad.models import NoiseWarning
from polyad.models.recipes.ica_start import rows_for_start
from polyad.models.signals.ica import ICA


@pytest.mark.parametrize(
    ("sources", "statistics"),
    [
        ("super", "fourth"),
        ("sub", "fourth"),
        ("skewed", "third"),
        ("skewed", "characteristic"),
        ("skewed", "generalised"),
        ("super", "characteristic"),
    ],
)
def test_errors_shrink_with_the_samples(sources, statistics):
    errors = []
    for N in (2_000, 50_000):
        draws = [make_ica(N, 4, sources=sources, random_state=seed) for seed in range(3)]
        model = ICA(4, statistics=statistics, step=0.5 if statistics == "generalised" else 1.0)
        errors.append(np.mean([amari_distance(model.fit(draw.X).components_, draw.mixing) for draw in draws]))
    assert errors[1] < 0.02
    assert errors[1] < 0.6 * errors[0]


@pytest.mark.parametrize("statistics", ["third", "fourth", "characteristic", "generalised"])
@pytest.mark.parametrize("noise", ["none", "gaussian"])
def test_moments_without_an_error_give_the_mixing_back(statistics, noise):
    """All combinations of the values of each source, once each: their moments are those of independent sources."""
    values = [[-1.0, 0.0, 0.0, 4.0], [-2.0, -1.0, 0.0, 0.0, 0.0, 5.0], [-3.0, 1.0, 1.0, 1.0, 7.0]]
    sources = np.stack([grid.ravel() for grid in np.meshgrid(*values, indexing="ij")], axis=1)
    mixing = np.random.default_rng(1).standard_normal((3, 3))
    options = {"statistics": statistics, "noise": noise, "polish": "off", "step": 0.5}
    with warnings.catch_warnings(action="ignore", category=NoiseWarning):  # halves of a grid are no samples
        found = ICA(3, **options).fit(sources @ mixing.T).components_
    assert amari_distance(found, mixing) < 1e-8
    assert amari_distance(np.random.default_rng(0).standard_normal((3, 3)), mixing) > 0.1


def test_a_random_unmixing_does_not_pass():
    rng = np.random.default_rng(0)
    errors = [amari_distance(rng.standard_normal((4, 4)), make_ica(10, 4, random_state=s).mixing) for s in range(5)]
    assert min(errors) > 0.1


@pytest.mark.parametrize("sources", ["super", "sub", "skewed"])
def test_statistics_are_chosen_by_what_they_predict(sources):
    errors = {"auto": [], "fourth": [], "characteristic": []}
    for seed in range(4):
        draw = make_ica(5000, 4, sources=sources, random_state=seed)
        for statistics, found in errors.items():
            model = ICA(statistics=statistics, polish="off").fit(draw.X)
            found.append(amari_distance(model.components_, draw.mixing))
            assert model.diagnostics_.converged
            assert model.diagnostics_.energy < 0.1
            assert set(model.diagnostics_.seconds) == {"whiten", "moments"}
    worst = max(np.mean(errors["fourth"]), np.mean(errors["characteristic"]))
    best = min(np.mean(errors["fourth"]), np.mean(errors["characteristic"]))
    assert np.mean(errors["auto"]) < 0.1 * worst + 0.9 * best


@pytest.mark.parametrize(
    ("sources", "gain"), [("super", 0.9), ("sub", 0.9), ("skewed", 0.5), (("super", "sub", "skewed"), 0.6)]
)
def test_likelihood_steps_are_better_than_fastica_and_than_moments(sources, gain):
    errors = {"ours": [], "moments": [], "peer": []}
    for seed in range(4):
        draw = make_ica(4000, 5, sources=sources, random_state=seed)
        errors["ours"].append(amari_distance(ICA().fit(draw.X).components_, draw.mixing))
        errors["moments"].append(amari_distance(ICA(polish="off").fit(draw.X).components_, draw.mixing))
        peer = FastICA(whiten="unit-variance", random_state=0, max_iter=500, tol=1e-6).fit(draw.X)
        errors["peer"].append(amari_distance(peer.components_, draw.mixing))
    ours, moments, peer = (np.mean(errors[name]) for name in ("ours", "moments", "peer"))
    assert ours < gain * peer
    assert ours < moments


@pytest.mark.parametrize("options", [{"polish": "full"}, {"fun": "logcosh"}, {"fun": "exp"}, {"fun": "cube"}])
def test_other_likelihood_steps_separate_as_well(options):
    draw = make_ica(20_000, 5, sources=("super", "sub"), random_state=1)
    model = ICA(**options).fit(draw.X)
    assert amari_distance(model.components_, draw.mixing) < 0.012
    assert model.diagnostics_.converged


@pytest.mark.parametrize(("n_samples", "K"), [(2000, 3), (4000, 4)])
def test_steps_with_a_tolerance_go_on_until_it_is_reached(n_samples, K):
    """The gradient of one score may point where the likelihood of the next one falls: that is no rest yet."""
    X = make_ica(n_samples, K).X
    model = ICA(tol=1e-6, polish="full").fit(X)  # a warning would tell that it was not
    again = ICA(tol=1e-6, polish="full", w_init=model.components_ + 0.02).fit(X)
    assert model.diagnostics_.converged
    assert np.allclose(again.components_, model.components_, atol=1e-4)


def test_names_of_fastica_and_picard_mean_what_they_mean_there():
    X = make_ica(2000, 3).X
    for one, same in (({}, {"whiten": "unit-variance"}), ({"fun": "logcosh"}, {"fun": "tanh"})):
        assert np.array_equal(ICA(**one).fit(X).components_, ICA(**same).fit(X).components_)
    assert ICA(tol=np.float32(1e-3)).fit(X).diagnostics_.converged


def test_more_channels_than_statistics_are_made_of():
    draw = make_ica(8000, 24, sources=("super", "sub", "skewed"), random_state=1)
    assert amari_distance(ICA().fit(draw.X).components_, draw.mixing) < 0.012


def test_a_start_of_the_user_and_white_signals():
    draw = make_ica(4000, 4, sources=("super", "sub"))
    model = ICA(tol=1e-8, polish="full").fit(draw.X)
    other = model.components_ + 0.1 * np.random.default_rng(0).standard_normal((4, 4))
    again = ICA(tol=1e-8, polish="full", w_init=other).fit(draw.X)
    assert np.allclose(again.components_, model.components_, atol=1e-6)
    assert again.diagnostics_.converged
    near = ICA(w_init=model.components_).fit(draw.X)
    assert near.n_iter_ < again.n_iter_
    assert np.abs(near.components_ - model.components_).max() > 1e-6  # without tol steps end at a share of the noise
    values, vectors = np.linalg.eigh(np.cov(draw.X.T, bias=True))
    whitener = (vectors / np.sqrt(values)).T
    white = (draw.X - draw.X.mean(axis=0)) @ whitener.T
    unwhitened = ICA(whiten=False).fit(white)
    assert amari_distance(unwhitened.components_ @ whitener, draw.mixing) < 0.02
    assert (unwhitened.mean_ == 0).all()


def test_single_precision_is_kept():
    X = make_ica(500, 3).X
    model = ICA().fit(X.astype(np.float32))
    sources = model.transform(X.astype(np.float32))
    assert sources.dtype == np.float32
    assert model.inverse_transform(sources).dtype == np.float32
    assert model.transform(X).dtype == np.float64
    assert np.allclose(model.transform(X), sources, atol=1e-4)


@pytest.mark.filterwarnings("ignore::polyad.models.UndeterminedWarning")
def test_a_fit_in_noise_says_when_it_cannot_be_trusted():
    few = make_ica(600, 6, sources=("super", "sub"), noise=0.3, random_state=2)
    with pytest.warns(NoiseWarning, match="an error of about 0.[0-9]+"):
        ICA(noise="gaussian").fit(few.X)
    many = make_ica(60_000, 3, sources="skewed", noise=0.1)
    assert amari_distance(ICA(noise="gaussian").fit(many.X).components_, many.mixing) < 0.02  # and no warning


@pytest.mark.parametrize("sources", ["super", "skewed", ("super", "sub", "skewed")])
def test_gaussian_noise_is_seen_through(sources):
    draw = make_ica(60_000, 5, sources=sources, noise=0.3)
    ours = amari_distance(ICA(5, noise="gaussian").fit(draw.X).components_, draw.mixing)
    peer = FastICA(5, whiten="unit-variance", random_state=0, max_iter=1000).fit(draw.X)
    assert ours < 0.5 * amari_distance(peer.components_, draw.mixing)


def test_order_sign_and_scale_are_canonical():
    draw = make_ica(5000, 5, 3, sources="skewed")
    model = ICA(3).fit(draw.X)
    strengths = (model.mixing_**2).sum(axis=0)
    assert (np.diff(strengths) <= 0).all()
    largest = np.abs(model.mixing_).argmax(axis=0)
    assert (model.mixing_[largest, np.arange(3)] > 0).all()
    S = model.transform(draw.X)
    assert np.allclose(S.mean(axis=0), 0, atol=1e-10)
    assert np.allclose(S.std(axis=0), 1)
    assert np.allclose(model.components_ @ model.mixing_, np.eye(3), atol=1e-8)
    assert np.allclose(model.inverse_transform(S), draw.X, atol=1e-8)
    assert list(model.get_feature_names_out()) == ["ica0", "ica1", "ica2"]


@pytest.mark.parametrize("options", [{}, {"polish": "off"}, {"noise": "gaussian"}, {"statistics": "fourth"}])
def test_blocks_threads_disk_and_order_of_samples_change_no_byte(options, tmp_path):
    X = make_ica(6000, 4, sources="skewed").X
    model = ICA(4, **options)
    whole = clone(model).fit(X).components_
    order = np.random.default_rng(0).permutation(6000)
    shards = write_shards(signal_blocks(X), tmp_path / "shards")
    for other in (X, X[order], X[::-1], [X[:1000], X[1000:]], shards):
        assert np.array_equal(clone(model).set_params(n_jobs=1).fit(other).components_, whole)


def test_rows_of_the_start_are_chosen_by_what_is_in_them():
    X = make_ica(9000, 3).X
    chosen = rows_for_start(signal_blocks(X), 3).shard(0).rows
    assert 1800 < len(chosen) < 2300
    other = rows_for_start(signal_blocks(X[::-1]), 3).shard(0).rows
    assert np.array_equal(chosen, other[::-1])
    assert np.abs(np.cov(chosen.T) - np.cov(X.T)).max() < 0.2
    ordered = ordered_by_content(signal_blocks(X))
    first = rows_for_start(ordered, 3, ordered=True).shard(0).rows
    assert np.array_equal(first, ordered.shard(0).rows[: len(first)])
    assert len(first) == 2048
    same = signal_blocks(np.ones((9000, 3)))
    assert rows_for_start(same, 3) is same or rows_for_start(same, 3).n_rows == 9000


def test_blocks_are_transformed_as_one_matrix_and_names_are_forgotten():
    X = make_ica(500, 3).X
    pandas = pytest.importorskip("pandas")
    model = ICA().fit(pandas.DataFrame(X, columns=["a", "b", "c"]))
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    model.fit([X[:200], X[200:]])
    assert not hasattr(model, "feature_names_in_")
    model.fit(pandas.DataFrame(X, columns=["a", "b", "c"]))
    assert not hasattr(model.fit(X), "feature_names_in_")
    assert np.array_equal(model.transform([X[:7], X[7:20]]), model.transform(X[:20]))
    sources = model.transform(X[:20])
    assert np.allclose(model.inverse_transform([sources[:7], sources[7:]]), X[:20])
    with pytest.raises(ValueError, match="a minimum of 2 is required"):
        ICA().fit([X[:1]])
    with pytest.raises(ValueError, match="X has 2 features, but ICA is expecting 3 features"):
        model.transform([X[:5, :2], X[5:9, :2]])


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.ones((20, 3)), {"n_components": 1}, "vary in only 0 directions"),
        (np.random.default_rng(0).standard_normal((20, 2)) @ np.ones((2, 3)), {"n_components": 2}, "at most 1"),
        (np.full((20, 3), np.nan), {}, "value nan at row 0, column 0"),
        (np.eye(5), {"statistics": "fifth"}, "statistics is 'fifth'"),
        (np.eye(5), {"noise": "pink"}, "noise is 'pink'"),
        (np.eye(5), {"n_components": 0}, "n_components is 0"),
        (np.eye(5), {"n_components": 1.5}, "n_components is 1.5"),
        (np.eye(5), {"method": "jacoby"}, "method is 'jacoby'"),
        (np.eye(5), {"polish": "slow"}, "polish is 'slow'; give one of 'off', 'fast', 'full'"),
        (np.eye(5), {"fun": "sinh"}, "fun is 'sinh'; give one of 'adaptive', 'logcosh', 'exp', 'cube'"),
        (np.eye(5), {"tol": 0}, "tol is 0"),
        (np.eye(5), {"tol": True}, "tol is True"),
        (np.eye(5), {"w_init": np.eye(5), "polish": "off"}, "polish='off' with noise='none' makes none"),
        (np.eye(5), {"w_init": np.eye(5), "noise": "gaussian"}, "w_init is where likelihood steps begin"),
        (np.random.default_rng(0).laplace(size=(20, 3)), {"w_init": "rows"}, "w_init is 'rows'; give K x M numbers"),
        (np.eye(5), {"whiten": False}, "these are not"),
        (np.random.default_rng(0).laplace(size=(20, 3)), {"w_init": np.eye(2)}, "w_init must be K x M, here 3 x 3"),
        (np.random.default_rng(0).laplace(size=(20, 3)), {"w_init": np.ones((3, 3))}, "rows that depend on each other"),
    ],
)
def test_bad_input_is_a_sentence(X, options, message):
    with pytest.raises(ValueError, match=message):
        ICA(**options).fit(X)


def test_gaussian_sources_and_unfitted_models():
    with pytest.raises(NotFittedError):
        ICA().transform(np.eye(3))
    draw = make_ica(500, 3, sources="skewed")
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iterations"):
        ICA(max_iter=1).fit(draw.X)
    with pytest.raises(RankError, match="look Gaussian"):
        ICA(1, noise="gaussian", statistics="third").fit(np.array([[-1.0], [1.0], [-1.0], [1.0]]))
