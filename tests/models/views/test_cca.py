"""The two-view models: recovery, conventions, inference, invariants and bad input."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.cross_decomposition import CCA
from sklearn.exceptions import NotFittedError

from polyad import load
from polyad.datasets.views import make_discrete_cca, make_mixed_cca, make_nongaussian_cca
from polyad.decompose.whitening.symmetric import RankError
from polyad.models.views.discrete import DiscreteCCA
from polyad.models.views.mixed import MixedCCA
from polyad.models.views.nongaussian import NonGaussianCCA
from polyad.models.views.stability import matched_cosines

POISSON = DiscreteCCA(10)
CASES = {
    "discrete": (make_discrete_cca, POISSON),
    "nongaussian": (make_nongaussian_cca, NonGaussianCCA(10)),
    "mixed": (make_mixed_cca, MixedCCA(10)),
}


def loading_error(x_loadings, y_loadings, sample):
    """The paper's l1 error in [0, 1] over both views, whatever the order and the joint sign."""
    found = np.vstack([D / np.abs(D).sum(axis=0) for D in (x_loadings, y_loadings)]).T
    true = sample.loadings
    distances = np.minimum(np.abs(found[:, None] - true).sum(axis=2), np.abs(found[:, None] + true).sum(axis=2))
    rows, columns = linear_sum_assignment(distances)
    return distances[rows, columns].mean() / 4


@pytest.mark.filterwarnings("ignore::polyad.models.UndeterminedWarning")  # a thousand rows: some factors are weak
@pytest.mark.parametrize("case", CASES)
def test_errors_shrink_with_the_samples(case):
    make, model = CASES[case]
    errors = []
    for N in (1000, 10_000):
        draws = [make(N, random_state=seed) for seed in range(3)]
        fits = [clone(model).fit(draw.X, draw.Y) for draw in draws]
        errors.append(np.mean([loading_error(f.x_loadings_, f.y_loadings_, d) for f, d in zip(fits, draws)]))
    assert errors[1] < 0.045
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.parametrize("case", CASES)
def test_random_and_classical_loadings_do_not_pass(case):
    make, _ = CASES[case]
    draw = make(2000)
    rng = np.random.default_rng(0)
    assert loading_error(rng.uniform(size=(20, 10)), rng.uniform(size=(20, 10)), draw) > 0.1
    X, Y = (view.toarray() if sparse.issparse(view) else view for view in (draw.X, draw.Y))
    classical = CCA(10, max_iter=5000).fit(X, Y)
    assert loading_error(classical.x_loadings_, classical.y_loadings_, draw) > 0.1


@pytest.mark.parametrize("statistics", ["third", "characteristic", "generalised"])
def test_every_statistic_of_counts_recovers(statistics):
    draw = make_discrete_cca(10_000)
    model = DiscreteCCA(10, statistics=statistics).fit(draw.X, draw.Y)
    assert loading_error(model.x_loadings_, model.y_loadings_, draw) < 0.045


@pytest.mark.parametrize(("statistics", "sources"), [("third", "skewed"), ("fourth", "super"), ("fourth", "sub")])
def test_every_statistic_of_measurements_recovers(statistics, sources):
    draw = make_nongaussian_cca(20_000, (8, 7), 3, sources=sources, private_sources="gaussian")
    model = NonGaussianCCA(3, statistics=statistics).fit(draw.X, draw.Y)
    assert loading_error(model.x_loadings_, model.y_loadings_, draw) < 0.06


@pytest.mark.parametrize("metric", ["cca", "scale", "none"])
@pytest.mark.parametrize("method", ["exact", "first_order"])
def test_metrics_and_methods(metric, method):
    draw = make_mixed_cca(10_000, (8, 9), 3)
    model = MixedCCA(3, metric=metric, method=method).fit(draw.X, draw.Y)
    assert loading_error(model.x_loadings_, model.y_loadings_, draw) < 0.04


def test_statistics_follow_the_skewness_of_the_sources():
    for sources, chosen in (("skewed", "characteristic"), ("super", "characteristic (real part)")):
        draw = make_nongaussian_cca(5000, (6, 6), 3, sources=sources, private_sources="gaussian")
        assert NonGaussianCCA(3).fit(draw.X, draw.Y).diagnostics_.statistics == chosen


@pytest.mark.parametrize("case", CASES)
def test_conventions_and_inference(case):
    make, model = CASES[case]
    train = make(4000, (8, 9), 3)
    model = clone(model).set_params(n_components=3).fit(train.X, train.Y)
    assert (np.diff(model.correlations_) <= 1e-12).all()
    assert (model.correlations_ > 0).all()
    if case == "nongaussian":
        largest = np.abs(model.x_loadings_).argmax(axis=0)
        assert (model.x_loadings_[largest, np.arange(3)] > 0).all()
    else:
        assert (model.y_loadings_ >= 0).all()
    if case == "discrete":
        assert np.allclose(model.x_loadings_.sum(axis=0), 1)
        assert np.allclose(model.y_loadings_.sum(axis=0), 1)
    sources = model.transform(train.X)
    assert sources.shape == (4000, 3)
    assert np.allclose(sources.mean(axis=0), 0, atol=1e-8)
    Y = train.Y.toarray() if sparse.issparse(train.Y) else train.Y
    residual = ((model.predict(train.X) - Y) ** 2).sum() / ((Y - Y.mean(axis=0)) ** 2).sum()
    assert residual < 1 - 0.05
    true = train.sources - train.sources.mean(axis=0)

    def explained(found):
        coefficients = np.linalg.lstsq(found, true, rcond=None)[0]
        return 1 - ((found @ coefficients - true) ** 2).sum() / (true**2).sum()

    both = explained(model.transform(train.X, train.Y))
    assert both >= max(explained(sources), explained(model.transform(None, train.Y))) - 0.01


def test_hardly_more_rows_than_columns():
    """Classical CCA finds perfect agreement in any two such samples; what is learned must hold for new rows."""
    rng = np.random.default_rng(0)
    sources = rng.exponential(size=(500, 2)) - 1
    X, Y = (sources @ rng.standard_normal((2, size)) + rng.standard_normal((500, size)) for size in (10, 120))
    model = NonGaussianCCA(2).fit(X[:130], Y[:130])
    estimates = model.transform(X[130:], Y[130:])
    found = np.corrcoef(estimates.T, sources[130:].T)[:2, 2:]
    # The two may be mixed with so few rows, but what the views share must be there.
    assert (np.linalg.svd(found)[1] > 0.8).all()


def test_units_of_a_view_change_its_loadings_alone():
    draw = make_nongaussian_cca(3000, (6, 5), 2)
    plain = NonGaussianCCA(2).fit(draw.X, draw.Y)
    scaled = NonGaussianCCA(2).fit(1000 * draw.X + 7, draw.Y)
    assert np.allclose(scaled.x_loadings_, 1000 * plain.x_loadings_, rtol=1e-4)
    assert np.allclose(scaled.y_loadings_, plain.y_loadings_, rtol=1e-4)
    assert np.allclose(scaled.transform(1000 * draw.X + 7), plain.transform(draw.X), atol=1e-4)


@pytest.mark.parametrize("case", CASES)
def test_threads_blocks_and_formats_do_not_matter(case):
    make, model = CASES[case]
    draw = make(2000)
    whole = clone(model).fit(draw.X, draw.Y)
    one = clone(model).set_params(n_jobs=1).fit(draw.X, draw.Y)
    assert np.array_equal(one.x_loadings_, whole.x_loadings_)
    assert np.array_equal(one.transform(draw.X), whole.transform(draw.X))
    parts = clone(model).fit([draw.X[:700], draw.X[700:]], [draw.Y[:900], draw.Y[900:]])
    assert np.allclose(parts.y_loadings_, whole.y_loadings_, atol=1e-6)
    Y = draw.Y.toarray() if sparse.issparse(draw.Y) else draw.Y
    assert np.allclose(clone(model).fit(draw.X, Y).y_loadings_, whole.y_loadings_, atol=1e-6)


@pytest.mark.filterwarnings("ignore::polyad.models.UndeterminedWarning")  # of noise it is said
def test_stability_tells_real_factors_from_noise():
    draw = make_nongaussian_cca(4000, (6, 6), 2)
    model = NonGaussianCCA(2).fit(draw.X, draw.Y)
    assert (model.stability(draw.X, draw.Y, n_resamples=2) > 0.9).all()
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((2, 500, 6))
    noise = NonGaussianCCA(3, statistics="fourth").fit(X, Y)
    assert noise.stability(X, Y, n_resamples=2).mean() < 0.9
    assert np.allclose(matched_cosines(model, model), 1)
    counts = make_discrete_cca(3000, (8, 8), 2)
    found = DiscreteCCA(2).fit(counts.X, counts.Y)
    assert (found.stability(counts.X, counts.Y, n_resamples=1) > 0.9).all()


GOOD = np.random.default_rng(0).standard_normal((30, 4))
COUNTS = np.random.default_rng(0).poisson(3.0, (30, 4))


@pytest.mark.parametrize(
    ("model", "X", "Y", "message"),
    [
        (NonGaussianCCA(2), GOOD, GOOD[:20], "X has 30 rows and Y has 20"),
        (NonGaussianCCA(9), GOOD, GOOD, "X has 4 columns and Y has 4"),
        (NonGaussianCCA(2), GOOD, np.where(GOOD > 2, np.nan, GOOD), "Y has the value nan at row"),
        (NonGaussianCCA(2), np.ones((30, 4)), GOOD, "constant"),
        (NonGaussianCCA(2), GOOD[:, :1] * np.ones((1, 4)), GOOD[:, :1] * np.ones((1, 4)), "only 1 direction"),
        (NonGaussianCCA(2, statistics="odd"), GOOD, GOOD, "statistics is 'odd'"),
        (NonGaussianCCA(2, metric="odd"), GOOD, GOOD, "metric is 'odd'"),
        (NonGaussianCCA(2, method="odd"), GOOD, GOOD, "method is 'odd'"),
        (NonGaussianCCA(1.5), GOOD, GOOD, "n_components is 1.5"),
        (NonGaussianCCA(1), GOOD[:1], GOOD[:1], "at least 2 samples"),
        (MixedCCA(2), GOOD, GOOD, "Y has the (fractional )?count"),
        (MixedCCA(2, statistics="fourth"), GOOD, COUNTS, 'statistics is "fourth"'),
        (DiscreteCCA(2), COUNTS, -COUNTS, "Y has the count -"),
    ],
)
def test_bad_input_is_a_sentence(model, X, Y, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)


@pytest.mark.filterwarnings("ignore::polyad.models.UndeterminedWarning")  # of noise it is said
def test_constant_columns_are_named():
    X = GOOD.copy()
    X[:, 2] = 5.0
    with pytest.warns(UserWarning, match=r"X has 1 constant column \(2\)") as caught:
        model = NonGaussianCCA(2).fit(X, GOOD)
    assert caught[0].filename == __file__, "the warning points at the caller"
    assert np.allclose(model.x_loadings_[2], 0, atol=1e-8)
    with pytest.warns(UserWarning, match="Y has 1 constant column"):
        NonGaussianCCA(2).fit(GOOD, X)
    scaled = NonGaussianCCA(2, metric="scale").fit(X, GOOD)
    assert np.allclose(scaled.x_loadings_[2], 0, atol=1e-8)


def test_overflow_of_real_exponentials_is_a_sentence():
    with pytest.raises(ValueError, match="nearly all the weight to one sample"):
        NonGaussianCCA(2, statistics="generalised").fit(1e-5 * GOOD, 1e-5 * GOOD[:, ::-1] ** 3)


@pytest.mark.filterwarnings("ignore::polyad.models.UndeterminedWarning")  # of noise it is said
def test_what_cannot_be_inferred_is_refused():
    model = NonGaussianCCA(2)
    with pytest.raises(NotFittedError):
        model.transform(GOOD)
    model.fit(GOOD, GOOD @ np.ones((4, 3)) + GOOD[:, :3])
    with pytest.raises(ValueError, match="Both views are None"):
        model.transform(None)
    with pytest.raises(ValueError, match="X has 3 features, but NonGaussianCCA is expecting 4 features"):
        model.transform(GOOD[:, :3])
    with pytest.raises(ValueError, match="Y has 4 columns"):
        model.transform(None, GOOD)
    with pytest.raises(ValueError, match="X has 30 rows and Y has 20"):
        model.transform(GOOD, GOOD[:20, :3])


def test_rank_errors_tell_what_is_supported():
    with pytest.raises(RankError) as raised:
        NonGaussianCCA(2).fit(GOOD[:, :1] * np.ones((1, 4)), GOOD[:, :1] * np.ones((1, 3)))
    assert raised.value.supported == 1


def test_estimators_keep_their_parameters():
    for model in (NonGaussianCCA(3, step=0.5), MixedCCA(3, metric="none"), DiscreteCCA(3, step=0.4)):
        assert clone(model).get_params() == model.get_params()


def test_a_file_keeps_every_bit(tmp_path):
    sample = make_discrete_cca(800, random_state=0)
    model = DiscreteCCA(10).fit(sample.X, sample.Y)
    model.save(tmp_path / "m.polyad")
    loaded = load(tmp_path / "m.polyad")
    assert loaded.x_loadings_.tobytes() == model.x_loadings_.tobytes()
    assert loaded.y_loadings_.tobytes() == model.y_loadings_.tobytes()
