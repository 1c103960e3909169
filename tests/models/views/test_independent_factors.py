"""Independent factors: recovery from two views and more, conventions, bad input, order of rows and the file."""

import numpy as np
import pytest

import polyad
from polyad import IndependentFactors
from polyad.datasets import make_independent_factors
from polyad.engine import count_blocks, signal_blocks, write_shards
from polyad.metrics import amari_distance
from polyad.models import NoiseWarning
from polyad.moments.views.exchangeable import factor_population


def error(components, sample):
    return amari_distance(components @ np.linalg.pinv(sample.components), np.eye(len(components)))


@pytest.mark.parametrize("observation", ["gaussian", "poisson"])
@pytest.mark.parametrize("factors", ["skewed", "kurtotic", "binary"])
@pytest.mark.parametrize("n_views", [2, 4])
def test_errors_shrink_with_the_rows(observation, factors, n_views):
    errors = []
    for N in (1500, 24_000):
        sample = make_independent_factors(
            N, 12, 3, n_views=n_views, factors=factors, observation=observation, noise=0.5, random_state=2
        )
        model = IndependentFactors(3, factors="binary" if factors == "binary" else "any").fit(sample.views)
        errors.append(error(model.components_, sample))
    assert errors[1] < 0.7 * errors[0]
    assert errors[1] < 0.03
    assert error(np.random.default_rng(0).standard_normal((3, 12)), sample) > 0.1
    if factors != "binary":  # which are both
        assert model.diagnostics_.statistics == ("fourth" if factors == "kurtotic" else "third")


@pytest.mark.parametrize(
    ("observation", "factors", "at_most"),
    [
        ("gaussian", "skewed", 0.7),
        ("gaussian", "kurtotic", 0.8),
        ("gaussian", "binary", 0.7),
        pytest.param("poisson", "skewed", 0.9, marks=pytest.mark.slow),
        pytest.param("poisson", "kurtotic", 0.9, marks=pytest.mark.slow),
        pytest.param("poisson", "binary", 0.5, marks=pytest.mark.slow),
    ],
)
def test_likelihood_steps_are_closer_to_the_truth_and_get_closer_with_the_rows(observation, factors, at_most):
    errors = np.zeros((2, 2))
    options = {"observation": observation, "factors": "binary" if factors == "binary" else "any"}
    for n, N in enumerate((2000, 32_000)):
        for seed in range(6):
            sample = make_independent_factors(
                N, 10, 3, n_views=2, factors=factors, observation=observation, noise=0.5, random_state=seed
            )
            for p, polish in enumerate(("off", "fast")):
                model = IndependentFactors(3, polish=polish, **options).fit(sample.views)
                errors[n, p] += error(model.components_, sample)
    assert errors[1, 1] < 0.55 * errors[0, 1]
    assert (errors[:, 1] < 1.1 * errors[:, 0]).all()
    assert errors[:, 1].sum() < at_most * errors[:, 0].sum()


def test_likelihood_steps_stand_noise_of_any_law():
    rng = np.random.default_rng(3)
    sample = make_independent_factors(20_000, 8, 3, n_views=2, noise=0.05)
    between = sample.components[0] + sample.components[1]  # skewed noise along two factors at once
    views = [view + rng.exponential(1.0, (20_000, 1)) * between for view in sample.views]
    off, fast = (IndependentFactors(3, polish=polish).fit(views) for polish in ("off", "fast"))
    assert error(fast.components_, sample) < 0.7 * error(off.components_, sample)
    assert "polish" not in off.diagnostics_.seconds
    assert np.allclose(fast.whitener_ @ fast.components_.T, np.eye(3), atol=1e-8)


def test_scale_sign_and_order_follow_the_model():
    sample = make_independent_factors(40_000, 10, 3, factors="binary", n_views=3, noise=0.2)
    model = IndependentFactors(3, factors="binary").fit(sample.views)
    match = [int(np.abs(sample.components - row).sum(axis=1).argmin()) for row in model.components_]
    assert sorted(match) == [0, 1, 2]
    assert np.allclose(model.components_, sample.components[match], atol=0.12)
    assert np.allclose(model.factor_means_, sample.factors.mean(axis=0)[match], atol=0.02)
    assert np.allclose(model.factor_variances_, model.factor_means_ * (1 - model.factor_means_))
    found = model.transform(sample.views)
    truth = sample.factors[:, match]
    assert ((found - truth) ** 2).mean() < 0.5 * truth.var()
    assert (((found > 0.5) == truth).mean(axis=0) > 0.9).all()
    one = model.transform(sample.views[:1])
    assert ((one - truth) ** 2).mean() > ((found - truth) ** 2).mean()  # three views tell more than one


def test_binary_factors_are_scaled_by_kurtosis_as_well():
    sample = make_independent_factors(60_000, 10, 2, factors="binary", n_views=4, noise=0.1)
    model = IndependentFactors(2, factors="binary", statistics="fourth").fit(sample.views)
    assert np.allclose(np.sort(model.factor_means_), np.sort(sample.factors.mean(axis=0)), atol=0.04)


def test_components_of_counts_are_probabilities():
    sample = make_independent_factors(20_000, 15, 3, observation="poisson", n_views=2, length=60)
    model = IndependentFactors(3).fit(sample.views)
    assert np.allclose(model.components_.sum(axis=1), 1)
    assert (model.components_ >= 0).all()
    assert np.allclose(model.factor_means_, 20, rtol=0.1)
    assert np.allclose(model.factor_variances_, 400, rtol=0.2)
    assert np.allclose(model.cumulants_, 2, atol=0.5)  # the skewness of an exponential law


def test_any_noise_needs_more_views_and_stands_noise_that_depends_on_the_factors():
    rng = np.random.default_rng(1)
    sample = make_independent_factors(60_000, 8, 2, n_views=4, noise=1e-9)
    between = sample.components.sum(axis=0)
    size = np.sqrt(sample.factors[:, :1])  # noise between the two components, the more the larger the first factor is
    views = [view + size * rng.standard_normal((60_000, 1)) * between for view in sample.views]
    general = error(IndependentFactors(2, observation="any").fit(views).components_, sample)
    assert general < 0.03
    assert general < 0.5 * error(IndependentFactors(2, observation="gaussian").fit(views[:2]).components_, sample)
    with pytest.raises(ValueError, match='Statistics of third order need three views where observation is "any"'):
        IndependentFactors(2, observation="any").fit(views[:2])
    with pytest.raises(ValueError, match="fourth order need four views"):
        IndependentFactors(2, observation="any", statistics="fourth").fit(views[:3])


@pytest.mark.parametrize("observation", ["gaussian", "poisson"])
def test_rows_in_any_order_in_parts_and_from_shards_give_the_same_bytes(observation, tmp_path):
    views = make_independent_factors(3000, 8, 2, observation=observation, n_views=3).views
    model = IndependentFactors(2).fit(views)
    assert model.diagnostics_.n_iter > 0
    order = np.random.default_rng(0).permutation(3000)
    check = count_blocks if observation == "poisson" else signal_blocks
    for other in (
        IndependentFactors(2, n_jobs=1).fit([view[order] for view in views]),
        IndependentFactors(2).fit([[view[:1000], view[1000:]] for view in views]),
        IndependentFactors(2, observation=observation).fit(
            [write_shards(check(view), tmp_path / str(number), "given") for number, view in enumerate(views)]
        ),
    ):
        assert other.components_.tobytes() == model.components_.tobytes()
        assert other.noise_.tobytes() == model.noise_.tobytes()


def test_a_file_brings_the_model_back(tmp_path):
    views = make_independent_factors(2000, 6, 2).views
    model = IndependentFactors(2).fit(views)
    model.save(tmp_path / "factors.polyad")
    loaded = polyad.load(tmp_path / "factors.polyad")
    assert np.array_equal(loaded.transform(views), model.transform(views))
    assert loaded.diagnostics_.statistics == "third"


def test_names_of_columns_are_those_of_any_view_and_kept_in_the_file(tmp_path):
    frames = pytest.importorskip("pandas")
    first, second = make_independent_factors(2000, 3, 1, n_views=2).views
    tables = [frames.DataFrame(view, columns=["sun", "rain", "wind"]) for view in (first, second)]
    model = IndependentFactors(1).fit(tables)
    model.save(tmp_path / "factors.polyad")
    turned = tables[1][["rain", "sun", "wind"]]
    for fitted in (model, polyad.load(tmp_path / "factors.polyad")):
        assert list(fitted.feature_names_in_) == ["sun", "rain", "wind"]
        assert fitted.transform([tables[1]]).shape == (2000, 1)
        with pytest.raises(ValueError, match=r"The columns of view 1 have other feature names .*column 0 is 'rain'"):
            fitted.transform([tables[0], turned])
    own = [tables[0], tables[1].rename(columns="other {}".format)]
    model = IndependentFactors(1).fit(own)
    assert not hasattr(model, "feature_names_in_")
    assert np.allclose(model.transform(own), model.transform(own[::-1]))  # views are exchangeable, with their names
    with pytest.raises(ValueError, match="The columns of view 0 have other feature names"):
        model.transform([turned])


@pytest.mark.parametrize(
    ("views", "options", "message"),
    [
        ([np.eye(4)], {}, "There is 1 view, and 2 or more are needed"),
        (np.eye(4), {}, "The views are one ndarray"),
        ([np.eye(4), None, np.eye(4)], {}, "View 1 is None: views are exchangeable, leave out"),
        ([np.eye(4), np.eye(4)[:, :3]], {}, r"The views have \[4, 3\] columns"),
        ([np.eye(4), np.full((4, 4), np.nan)], {}, "View 1 has the value nan"),
        ([np.eye(4), -np.eye(4)], {"observation": "poisson"}, "Negative values in data: View 1 has the count"),
        ([np.eye(4), np.eye(4)], {"observation": "binomial"}, "observation"),
        ([np.eye(4), np.eye(4)], {"factors": "ternary"}, "factors"),
        ([np.eye(4), np.eye(4)], {"statistics": "fifth"}, "statistics"),
        ([np.eye(4), np.eye(4)], {"polish": "slow"}, "polish is 'slow'; give one of 'off', 'fast'"),
        ([np.eye(4), np.eye(4)], {"n_components": 5}, "only 4 columns"),
        ([np.ones((5, 3)), np.ones((5, 3))], {"observation": "gaussian"}, "directions"),
        ([np.arange(9.0)[:, None] * np.ones(3)] * 2, {"n_components": 2}, "only 1 direction with a variance above"),
    ],
)
def test_bad_input_is_a_sentence(views, options, message):
    with pytest.raises(ValueError, match=message):
        IndependentFactors(**options).fit(views)


def test_gaussian_factors_are_warned_of_and_other_columns_refused():
    rng = np.random.default_rng(0)
    h = rng.standard_normal((3000, 4))
    views = [h @ np.eye(4, 5) + rng.standard_normal((3000, 5)) for _ in range(2)]
    with pytest.warns(NoiseWarning, match="do not determine"):
        model = IndependentFactors(4).fit(views)
    with pytest.raises(ValueError, match="The views have 4 columns, and the model was fitted on 5"):
        model.transform([np.zeros((3, 4))])


def test_population_has_the_mean_of_the_model():
    components = np.array([[1.0, 2.0], [0.0, 1.0]])
    moments = factor_population(components, np.array([2.0, 3.0]), *np.ones((3, 2)))
    assert np.allclose(moments.mean, [2, 7])
