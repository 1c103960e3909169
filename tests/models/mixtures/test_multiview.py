"""Mixtures with several views: cross moments, recovery, missing values, conventions and bad input."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import polyad
from oracles import class_log_likelihood, three_view_tensors
from polyad import MultiViewMixture
from polyad.datasets import make_multiview_mixture
from polyad.decompose.three_views import averaged_classes, classes_of, symmetric_classes
from polyad.decompose.whitening.symmetric import RankError
from polyad.engine import Shards, aligned, blocks, count_blocks, signal_blocks, write_shards
from polyad.engine.sources import arrays_of
from polyad.models.recipes.classes import features_of, mixture_of, summarise_views, three_groups
from polyad.moments.views import ViewFeatures, aligned_moments, three_views_population
from polyad.moments.views import aligned as aligned_module
from purity import Checking, fingerprint

# Many samples here are small, and components are asked for that are not there: test_mixture_certainty.py is about that.
pytestmark = pytest.mark.filterwarnings("ignore::polyad.models.UndeterminedWarning")

MIXED = ("counts", "binary", "gaussian")


def matched(found, true):
    """The order of classes that brings what they show closest to the truth."""
    distances = sum(np.abs(f[:, None] - t[None]).sum(axis=2) for f, t in zip(found, true))
    return linear_sum_assignment(distances.T)[1]


def population(K, widths, seed=0):
    rng = np.random.default_rng(seed)
    views = [np.vstack([rng.dirichlet(np.ones(F), K).T, np.ones(K)]) for F in widths]
    weights = rng.dirichlet(np.full(K, 5.0))
    orders = [(0, 1, 2), (0, 2, 1), (1, 2, 0)]
    return weights, views, {o: three_views_population(weights, *(views[v] for v in o)) for o in orders}


@pytest.mark.parametrize(("K", "widths"), [(2, (2, 3, 4)), (4, (5, 4, 7)), (6, (9, 9, 9))])
@pytest.mark.parametrize("route", ["pairing", "averaged", "symmetric"])
def test_population_moments_give_the_parameters_back(K, widths, route):
    weights, views, moments = population(K, widths)
    if route == "pairing":
        found = classes_of(moments[0, 1, 2], K)
    elif route == "averaged":
        pairings = {order: classes_of(one, K) for order, one in moments.items()}
        found = averaged_classes(pairings, list(moments[0, 1, 2].scales))
    else:
        found = symmetric_classes(moments, K)
    order = matched([view.T for view in found.views], [view.T for view in views])
    for one, true in zip(found.views, views):
        assert np.abs(one[:, order] - true).max() < 1e-8
    assert np.abs(found.weights[order] - weights).max() < 1e-8


def test_the_third_view_may_have_any_rank_and_a_pair_may_not():
    weights, (a, b, _), _ = population(4, (5, 6, 2))
    shares = np.array([0.1, 0.4, 0.7, 0.8])
    c = np.vstack([shares, 1 - shares, 2 * shares, 3 * shares + 1, np.ones(4)])
    found = classes_of(three_views_population(weights, a, b, c), 4)
    order = matched([found.views[0].T], [a.T])
    assert np.abs(found.views[2][:, order] - c).max() < 1e-8
    with pytest.raises(RankError, match="vary together in only 2 directions, and 4"):
        classes_of(three_views_population(weights, a, c, b), 4)
    views = a, b, c
    moments = {o: three_views_population(weights, *(views[v] for v in o)) for o in ((0, 1, 2), (0, 2, 1), (1, 2, 0))}
    with pytest.raises(RankError, match="4 classes were asked for"):
        symmetric_classes(moments, 4)


@pytest.mark.parametrize("dense_pairs", [0, 1 << 22])
def test_moments_equal_brute_force_with_values_left_out(dense_pairs, monkeypatch):
    monkeypatch.setattr(aligned_module, "DENSE_PAIRS", dense_pairs)
    draw = make_multiview_mixture(30, (4, 3, 2, 3), 2, kinds=(*MIXED, "categorical"), missing=0.2, length=3)
    draw.views[0] = sparse.csr_array(draw.views[0].toarray() * (np.arange(30) > 2)[:, None])
    codes = draw.views[3][:, 0]
    indicators = np.where(np.isnan(codes)[:, None], 0.0, np.eye(3)[np.nan_to_num(codes).astype(int)])
    source = aligned(
        count_blocks(draw.views[0]), arrays_of(draw.views[1:2]), arrays_of(draw.views[2:3]), count_blocks(indicators)
    )
    summaries = summarise_views(source, (*MIXED, "categorical"))
    features = features_of(summaries, 30)
    assert features[1].gaps == (0, 1, 2)
    groups = ((features[0],), (features[1], features[3]), (features[2],))

    def brute(n):
        counts = draw.views[0].toarray()[n]
        first = np.append(counts / max(counts.sum(), 1), 1.0)
        parts = []
        for view, one in ((draw.views[1], summaries[1]), (draw.views[2], summaries[2])):
            seen = ~np.isnan(view[n])
            mean = np.nanmean(view, axis=0)
            values = (view[n] - mean) / np.nanstd(view, axis=0)
            parts.append([*(v if s else 0.0 for v, s in zip(values, seen)), *seen.astype(float)])
            assert np.allclose(one.mean, mean)
        return first, np.array([*parts[0], *indicators[n], 1.0]), np.array([*parts[1], 1.0])

    moments = aligned_moments(source, groups)
    rng = np.random.default_rng(0)
    for order, found in moments.items():
        second, third = three_view_tensors([[brute(n)[v] for v in order] for n in range(30)])
        dense = found.second @ np.eye(second.shape[1])
        assert np.abs(dense - second).max() < 1e-10
        W1, W2 = (rng.standard_normal((2, size)) for size in second.shape)
        assert np.abs(found.third(W1, W2) - W1 @ third @ W2.T).max() < 1e-10
        assert np.abs(found.means[0] - second[:, -1]).max() < 1e-10


def test_likelihoods_and_posteriors_are_those_of_the_definition():
    kinds = (*MIXED, "categorical")
    draw = make_multiview_mixture(60, (4, 3, 2, 3), 3, kinds=kinds, missing=0.3, length=4)
    model = MultiViewMixture(3, kinds=kinds, max_iter=5).fit(draw.views)
    rows = list(zip(draw.views[0].toarray(), *draw.views[1:]))[:20]
    brute = [class_log_likelihood(row, model.weights_, model.components_, model.variances_, kinds) for row in rows]
    first = [view[:20] for view in draw.views]
    assert np.abs(model.score_samples(first) - brute).max() < 1e-10
    alone = [
        class_log_likelihood([row[2]], model.weights_, model.components_[2:3], model.variances_[2:3], kinds[2:3])
        for row in rows
    ]
    assert np.abs(model.score_samples([None, None, first[2], None]) - alone).max() < 1e-10
    assert np.allclose(model.predict_proba(first).sum(axis=1), 1.0)


def errors(N, seed, kinds, missing=0.0, **options):
    draw = make_multiview_mixture(N, (6, 6, 6), 3, kinds=kinds, missing=missing, random_state=seed)
    model = MultiViewMixture(3, kinds=kinds, **options).fit(draw.views)
    order = matched(model.components_, draw.components)
    return np.mean([np.abs(f[order] - t).mean() / np.abs(t).mean() for f, t in zip(model.components_, draw.components)])


@pytest.mark.parametrize("kinds", [MIXED, ("binary",) * 3, ("categorical",) * 3, ("gaussian",) * 3])
@pytest.mark.parametrize("options", [{"max_iter": 0}, {"max_iter": 0, "route": "symmetric"}, {}])
def test_errors_shrink_with_the_rows(kinds, options):
    few, many = (np.mean([errors(N, seed, kinds, **options) for seed in range(2)]) for N in (400, 6_000))
    assert many < (0.15 if options else 0.08)
    # what all classes show is mixed into a start, by a twentieth, whatever the number of rows
    assert many < (0.9 if options else 0.4) * few


@pytest.mark.parametrize("kinds", [MIXED, ("binary",) * 3, ("categorical",) * 3])
def test_missing_values_do_not_bias(kinds):
    assert errors(10_000, 0, kinds, missing=0.3) < 0.12


def test_values_missing_by_class_do_not_bias_the_moments():
    rng = np.random.default_rng(0)
    draw = make_multiview_mixture(60_000, (5, 5, 5), 2, kinds=("binary",) * 3)
    views = [np.where(rng.random(view.shape) < 0.1 + 0.4 * draw.labels[:, None], np.nan, view) for view in draw.views]
    source = aligned(*(arrays_of([view]) for view in views))
    summaries = summarise_views(source, ["binary"] * 3)
    groups = three_groups(features_of(summaries, source.n_rows))
    moments = aligned_moments(source, groups)
    classes = averaged_classes({o: classes_of(m, 2) for o, m in moments.items()}, list(moments[0, 1, 2].scales))
    found = mixture_of(classes, groups, summaries, smoothing=0.0, softening=0.0)
    shown = [emission.probabilities for emission in found.emissions]
    order = matched(shown, draw.components)
    assert max(np.abs(f[order] - t).max() for f, t in zip(shown, draw.components)) < 0.04


def test_random_parameters_do_not_pass():
    draw, other = (make_multiview_mixture(10, (6, 6, 6), 3, random_state=seed) for seed in (0, 77))
    order = matched(other.components, draw.components)
    found = [np.abs(f[order] - t).mean() / np.abs(t).mean() for f, t in zip(other.components, draw.components)]
    assert min(found) > 0.3


def test_em_never_loses_classes_are_found_and_samples_are_like_the_data():
    draw = make_multiview_mixture(1500, (8, 6, 4, 5), 3, kinds=(*MIXED, "categorical"), missing=0.1)
    model = MultiViewMixture(3, kinds=draw.kinds, tol=0.0, max_iter=30).fit(draw.views)
    assert (np.diff(model.diagnostics_.objective) > -1e-10).all()
    confusion = np.zeros((3, 3))
    np.add.at(confusion, (model.predict(draw.views), draw.labels), 1)
    rows, columns = linear_sum_assignment(-confusion)
    assert confusion[rows, columns].sum() > 0.97 * 1500
    assert (np.diff(model.weights_) <= 0).all()
    views, labels = model.sample(3000, length=20, random_state=1)
    assert np.abs(np.bincount(labels) / 3000 - model.weights_).max() < 0.04
    again = MultiViewMixture(3, kinds=draw.kinds).fit(views)
    order = matched(again.components_, model.components_)
    assert max(np.abs(a[order] - b).mean() for a, b in zip(again.components_, model.components_)) < 0.08


def test_kinds_are_told_from_the_values():
    draw = make_multiview_mixture(200, (4, 3, 2, 3), 2, kinds=(*MIXED, "categorical"))
    assert MultiViewMixture(2).fit(draw.views).kinds_ == [*MIXED, "categorical"]
    pandas = pytest.importorskip("pandas")
    named = [draw.views[0].toarray(), pandas.DataFrame(draw.views[1]).astype(bool), draw.views[2].tolist()]
    assert MultiViewMixture(2).fit(named).kinds_ == ["counts", "binary", "gaussian"]


def test_whole_numbers_with_gaps_are_categories():
    codes = [np.array([0.0, 1.0, 2.0, np.nan] * 10), np.array([[3], [0], [None], [1]] * 10, dtype=object)]
    rounded, values = np.array([1.0, 2.0, 3.0, 4.0] * 10), np.array([0.5, 1.0, 2.0, np.nan] * 10)
    model = MultiViewMixture(2).fit([*codes, rounded, values, np.array([0.0, 1.0, np.nan, 1.0] * 10)])
    assert model.kinds_ == ["categorical", "categorical", "gaussian", "gaussian", "binary"]
    assert [shown.shape[1] for shown in model.components_] == [3, 4, 1, 1, 1]


def test_bic_finds_the_number_of_classes():
    views = make_multiview_mixture(2000, (6, 6, 6), 3, kinds=("binary",) * 3, missing=0.1).views
    assert min(range(2, 6), key=lambda K: MultiViewMixture(K).fit(views).bic(views)) == 3


def test_order_of_rows_parts_threads_and_disk_change_no_byte(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "SHARD_CELLS", 1500)
    monkeypatch.setattr(blocks, "BLOCK_CELLS", 500)
    draw = make_multiview_mixture(600, (6, 4, 3), 3, missing=0.1)
    model = MultiViewMixture(3, max_iter=10)

    def found(views, **parameters):
        fitted = clone(model).set_params(**parameters).fit(views)
        return fingerprint((fitted.weights_, fitted.parameter_rows_))

    whole = found(draw.views)
    shuffled = np.random.default_rng(0).permutation(600)
    assert found([view[shuffled] for view in draw.views]) == whole
    assert found(draw.views, n_jobs=1) == found(draw.views, n_jobs=3) == whole
    assert found([[view[:100], view[100:]] for view in draw.views]) == whole
    complete = [make_multiview_mixture(600, (6, 4, 3), 3).views[v] for v in range(3)]
    stored = []
    for number, view in enumerate(complete):
        source = count_blocks(view) if sparse.issparse(view) else signal_blocks(view)
        write_shards(source, tmp_path / str(number), order="given")
        stored.append(Shards(tmp_path / str(number)))
    assert found(stored) == found(complete)


def test_values_left_out_come_from_disk_as_well(tmp_path):
    draw = make_multiview_mixture(300, (4, 3, 3), 2, kinds=("binary", "gaussian", "counts"), missing=0.1)
    sources = [arrays_of([draw.views[0]]), arrays_of([draw.views[1]]), count_blocks(draw.views[2])]
    stored = [write_shards(source, tmp_path / str(number), order="given") for number, source in enumerate(sources)]
    model, whole = (MultiViewMixture(2, max_iter=10).fit(views) for views in (stored, draw.views))
    assert model.kinds_ == whole.kinds_
    assert model.parameter_rows_.tobytes() == whole.parameter_rows_.tobytes()


def test_shards_of_another_kind_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.poisson(1.0, (50, 3))
    counts = write_shards(count_blocks(rows), tmp_path / "counts", order="given")
    values = write_shards(signal_blocks(rng.standard_normal((50, 3))), tmp_path / "values", order="given")
    endless = arrays_of([np.full((50, 3), np.inf)])
    for view, kind, message in (
        (counts, "categorical", f"View 0 has {(rows.sum(axis=1) > 1).sum()} rows that are not one category each"),
        (values, "binary", "View 0 has 50 rows that are not 0, 1, or NaN"),
        (endless, "gaussian", "View 0 has 50 rows that are not finite"),
    ):
        with pytest.raises(ValueError, match=message):
            MultiViewMixture(2, kinds=kind).fit([view] * 3)


def test_passes_are_pure():
    runner = Checking()
    draw = make_multiview_mixture(100, (6, 4, 3), 2, missing=0.1)
    with polyad.engine.use(runner):
        MultiViewMixture(2, max_iter=3).fit(draw.views).score(draw.views)
    names = {name.rpartition(".")[2] for name in runner.seen}
    assert {"_feature_sums", "_pair_products", "_triple_products", "_expected", "_evidence", "_group_rows"} <= names


def test_a_saved_model_comes_back(tmp_path):
    draw = make_multiview_mixture(200, (6, 4, 3), 2, missing=0.1)
    model = MultiViewMixture(2, kinds=MIXED, max_iter=5).fit(draw.views)
    model.save(tmp_path / "a.polyad")
    loaded = polyad.load(tmp_path / "a.polyad")
    assert loaded.predict_proba(draw.views).tobytes() == model.predict_proba(draw.views).tobytes()
    assert (loaded.bic(draw.views), loaded.aic(draw.views)) == (model.bic(draw.views), model.aic(draw.views))
    assert set(vars(loaded)) == set(vars(model))
    loaded.save(tmp_path / "b.polyad")
    assert (tmp_path / "a.polyad").read_bytes() == (tmp_path / "b.polyad").read_bytes()


def test_views_that_show_too_little_are_told_and_seeds_take_over():
    draw = make_multiview_mixture(400, (1, 1, 1), 4, kinds=("binary",) * 3)
    with pytest.warns(UserWarning, match="do not tell 4 classes apart"):
        model = MultiViewMixture(4, start="moments").fit(draw.views)
    assert model.diagnostics_.start == "seeds"
    few = make_multiview_mixture(2000, (1, 8, 8), 4, kinds=("binary",) * 3)  # a view of rank 2
    with pytest.warns(UserWarning, match="groups 0 and 2 of views do not tell 4 classes apart"):
        MultiViewMixture(4, start="moments").fit(few.views)
    constant = [np.ones((20, 2)), np.zeros((20, 2)), np.full((20, 1), 2.5)]
    assert np.isfinite(MultiViewMixture(2).fit(constant).score(constant))


GOOD = [np.eye(4), np.eye(4) * 0.5, np.eye(4)]


@pytest.mark.parametrize(
    ("views", "options", "message"),
    [
        (GOOD[:2], {}, "There are 2 views, and a mixture of classes is told by 3 or more"),
        (GOOD[:1], {}, "There is 1 view, and a mixture of classes is told by 3 or more"),
        (np.eye(4), {}, "The views are one ndarray; give a list of them"),
        ([*GOOD[:2], np.eye(5)], {}, "The views have 4, 4, 5 rows"),
        ([*GOOD[:2], None], {}, "A view is None"),
        ([*GOOD[:2], np.full((4, 2), np.inf)], {}, "View 2 has the value inf at row 0, column 0"),
        ([*GOOD[:2], np.full((4, 2), 3.0)], {"kinds": ["binary", "gaussian", "binary"]}, "values are 0, 1, or NaN"),
        ([*GOOD[:2], np.array([[-1]] * 4)], {"kinds": ["binary", "gaussian", "categorical"]}, "category -1 at row 0"),
        ([*GOOD[:2], sparse.csr_array(-np.eye(4))], {}, "Negative values in data: View 2 has"),
        (
            [*GOOD[:2], np.full((4, 2), np.nan)],
            {"kinds": ["binary", "gaussian", "counts"]},
            "View 2 has a missing count",
        ),
        ([*GOOD[:2], np.array([["a"]] * 4)], {"kinds": "gaussian"}, "expected numbers, NaN where"),
        (
            [*GOOD[:2], np.array([[1], ["b"]] * 2, dtype=object)],
            {},
            "View 2 has 'b' among its values; expected numbers",
        ),
        (
            [*GOOD[:2], np.array(["a", "b"] * 2)],
            {"kinds": ["binary", "gaussian", "categorical"]},
            r"View 2 has 'a' among its values; .* Number categories from 0 up first",
        ),
        ([*GOOD[:2], np.array(["a", "b"] * 2)], {}, "View 2 has 'a' among its values; .* OrdinalEncoder, and count"),
        ([*GOOD[:2], ["a", "b"] * 2], {}, "View 2 has 'a' among its values; .* OrdinalEncoder, and count"),
        (GOOD, {"kinds": "poisson"}, "kinds has 'poisson'"),
        (GOOD, {"kinds": ["binary"]}, "a list of 3, one for each view"),
        (GOOD, {"n_components": 0}, "n_components is 0"),
        (GOOD, {"n_components": 5}, "There are 4 rows, and 5 classes"),
        (GOOD, {"route": "round"}, "route is 'round'"),
    ],
)
def test_bad_input_is_a_sentence(views, options, message):
    with pytest.raises(ValueError, match=message):
        MultiViewMixture(**options).fit(views)


def test_unknown_categories_other_views_and_unfitted_models():
    with pytest.raises(NotFittedError):
        MultiViewMixture().predict(GOOD)
    draw = make_multiview_mixture(50, (3, 3, 3), 2, kinds=("categorical",) * 3)
    model = MultiViewMixture(2, kinds="categorical").fit(draw.views)
    with pytest.raises(ValueError, match="View 1 has the category 7 at row 0, and the model knows 0 to 2: put NaN"):
        model.predict([None, np.array([7.0, np.nan]), None])
    with pytest.raises(ValueError, match="There are 2 views, and the model was fitted on 3"):
        model.predict(draw.views[:2])
    with pytest.raises(ValueError, match="All views are None"):
        model.predict([None] * 3)
    with pytest.raises(ValueError, match="View 0 has 4 columns, and the model was fitted on 6"):
        MultiViewMixture(2).fit(make_multiview_mixture(50, (6, 4, 3), 2).views).predict([np.eye(4), None, None])


def test_one_view_of_features_has_the_form_of_its_docstring():
    features = ViewFeatures(0, "values", 2, np.zeros(2), np.ones(2), (1,))
    shown = features.shown(np.array([[0.2, 0.4], [0.3, 0.1], [0.5, 0.5]]))
    assert np.allclose(shown, [[0.2, 0.6], [0.4, 0.2]])


def test_moments_alone_are_consistent():
    """What EM needs at its start may not stay where no pass follows."""
    errors = []
    for n_samples in (4000, 64_000):
        draw = make_multiview_mixture(n_samples, (12, 12, 12), 3, separation=1.0, kinds=("counts",) * 3, random_state=0)
        model = MultiViewMixture(3, max_iter=0).fit(draw.views)
        order = matched(model.components_, draw.components)
        errors.append(max(np.abs(found[order] - true).max() for found, true in zip(model.components_, draw.components)))
        assert all((found > 0).all() for found in model.components_), "no category is impossible"
    assert errors[1] < 0.5 * errors[0]
    assert errors[1] < 0.005


@pytest.mark.parametrize(
    ("view", "value", "message"),
    [
        (0, 2.0, "View 0 has the value 2 at row 3, column 0; values are 0, 1, or NaN"),
        (1, np.inf, "View 1 has the value inf at row 3, column 0; values are finite, or NaN"),
        (2, 0.5, "View 2 has the category 0.5 at row 3; categories are whole numbers"),
        (2, 9.0, "View 2 has the category 9 at row 3, and the model knows 0 to 2"),
    ],
)
def test_values_that_a_view_cannot_have_are_told_at_predict_as_well(view, value, message):
    kinds = ("binary", "gaussian", "categorical")
    views = make_multiview_mixture(60, (3, 3, 3), 2, kinds=kinds).views
    model = MultiViewMixture(2, kinds=kinds, max_iter=3).fit(views)
    changed = [np.array(rows, float) for rows in views]
    changed[view][3, 0] = value
    with pytest.raises(ValueError, match=message):
        model.predict(changed)
