"""What every public estimator promises: scikit-learn's own checks, and the same demands in our form where they end.

Estimators are found by themselves; a new one is tested as soon as it is public.
"""

import inspect
import pickle
import re
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator
from sklearn.utils.validation import check_is_fitted

import polyad
import polyad.models
from polyad.datasets import make_lda
from polyad.io import model_file
from polyad.io.registry import STORED
from polyad.models.saving import SavedModel


def is_estimator(thing):
    return inspect.isclass(thing) and issubclass(thing, BaseEstimator)


ESTIMATORS = {name: getattr(polyad, name) for name in polyad.__all__ if is_estimator(getattr(polyad, name))}


def takes_a_matrix(estimator):
    return estimator().__sklearn_tags__().input_tags.two_d_array


ONE_VIEW = [model() for model in ESTIMATORS.values() if model.n_views == 1 and takes_a_matrix(model)]
# As scikit-learn tests its own CCA: the second view of its checks has one column.
TWO_VIEWS = [model(n_components=1) for model in ESTIMATORS.values() if model.n_views == 2]
OTHERS = [model() for model in ESTIMATORS.values() if not takes_a_matrix(model)]

QUIET = [
    pytest.mark.filterwarnings("ignore::polyad.models.NoiseWarning"),  # the checks' data are noise, and it says so
    pytest.mark.filterwarnings("ignore::polyad.models.FractionalCountsWarning"),
    pytest.mark.filterwarnings("ignore:. has .* constant column:UserWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.*is not supported.*:UserWarning"),
]


def quietly(test):
    for mark in QUIET:
        test = mark(test)
    return test


CHECKS = [pair for model in (*ONE_VIEW, *TWO_VIEWS) for pair in estimator_checks_generator(model)]


def named(value):
    return type(value).__name__ if isinstance(value, BaseEstimator) else value.func.__name__


@quietly
@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=named)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", OTHERS, ids=lambda estimator: type(estimator).__name__)
def test_scikit_learn_where_its_checks_know_no_such_input(estimator):
    with pytest.warns(SkipTestWarning, match="Can't test estimator"):
        check_estimator(estimator)


def test_every_estimator_is_found_and_stored():
    assert len(ESTIMATORS) >= 11
    assert {name for name, thing in vars(polyad.models).items() if is_estimator(thing)} == set(ESTIMATORS)
    assert set(STORED) == set(ESTIMATORS)
    assert set(re.findall(r"\bmodels\.(\w+)", inspect.getsource(model_file))) == set(ESTIMATORS), "what load returns"
    assert len(ONE_VIEW) + len(TWO_VIEWS) + len(OTHERS) == len(ESTIMATORS)


SAMPLE = make_lda(300, 36, 3, length=60, prior=0.2, random_state=1)
COUNTS = SAMPLE.counts.toarray()
# Every token in one of three views: they are exchangeable, as some of the models of a list take them to be.
THIRDS = list(np.moveaxis(np.random.default_rng(0).multinomial(COUNTS.astype(int), np.full(3, 1 / 3)), -1, 0))


def data_for(model):
    """Arguments of fit."""
    if model.n_views == 0:
        return (THIRDS,)
    if model.n_views == 2:
        return COUNTS[:, :18], COUNTS[:, 18:]
    return (COUNTS[:, :1].astype(int),) if not takes_a_matrix(model) else (COUNTS,)


def fitted(model, **parameters):
    with warnings.catch_warnings(action="ignore"):
        return model(2, **parameters).fit(*data_for(model))


def answer(model, data):
    """What a fitted model says of data: shares, sources or probabilities."""
    said = model.transform(*data) if hasattr(model, "transform") else model.predict_proba(*data)
    return np.asarray(said)


every = pytest.mark.parametrize("model", ESTIMATORS.values(), ids=ESTIMATORS)


@every
def test_parameters_are_those_of_the_constructor(model):
    names = list(inspect.signature(model).parameters)
    estimator = model()
    assert list(estimator.get_params()) == sorted(names)
    assert all(getattr(estimator, name) == value for name, value in estimator.get_params().items())
    assert clone(estimator.set_params(n_components=3)).n_components == 3
    assert estimator._repr_html_() if hasattr(estimator, "_repr_html_") else estimator._repr_mimebundle_()
    estimator.get_metadata_routing()


@every
def test_a_fit_is_returned_and_the_same_again(model):
    data, estimator = data_for(model), fitted(model)
    first = answer(estimator, data)
    assert first.shape[0] == np.shape(data[0] if model.n_views else data[0][0])[0]
    with warnings.catch_warnings(action="ignore"):
        assert estimator.fit(*data) is estimator
    assert answer(estimator, data).tobytes() == first.tobytes()
    assert answer(pickle.loads(pickle.dumps(estimator)), data).tobytes() == first.tobytes()


@every
def test_before_a_fit_there_is_nothing(model):
    with pytest.raises(NotFittedError):
        check_is_fitted(model())
    with pytest.raises(NotFittedError):
        answer(model(), data_for(model))


@every
def test_models_are_saved_once_and_load_the_same(model, tmp_path):
    assert model.save is SavedModel.save
    estimator, data = fitted(model), data_for(model)
    estimator.save(tmp_path / "a.polyad")
    loaded = polyad.load(tmp_path / "a.polyad")
    assert type(loaded) is model
    assert answer(loaded, data).tobytes() == answer(estimator, data).tobytes()
    assert loaded.has_topics is model.has_topics


@every
def test_every_component_has_a_certainty_and_a_warning_names_the_uncertain_ones(model):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        told = model(2).fit(*data_for(model)).diagnostics_
    assert told.certainty.shape == (2,)
    assert ((told.certainty >= 0) & (told.certainty <= 1)).all()
    assert told.undetermined == tuple(np.flatnonzero(told.certainty < 0.5))
    assert any(each.category is polyad.models.UndeterminedWarning for each in caught) == bool(told.undetermined)


@every
def test_every_kind_of_random_state(model, tmp_path):
    if "random_state" not in inspect.signature(model).parameters:
        pytest.skip("nothing is drawn")
    data = data_for(model)
    expected = answer(fitted(model), data)
    for number, state in enumerate((None, 3, np.random.RandomState(3), np.random.default_rng(3))):
        estimator = fitted(model, random_state=state)
        assert answer(estimator, data).tobytes() == expected.tobytes(), "nothing in a fit is drawn"
        if hasattr(estimator, "score"):
            assert np.isfinite(estimator.score(*data))
        estimator.save(tmp_path / f"{number}.polyad")
        assert polyad.load(tmp_path / f"{number}.polyad").random_state == (3 if state == 3 else None)


@every
@pytest.mark.parametrize("state", ["x", -1, 1.5])
def test_what_is_no_seed_is_refused_in_a_fit(model, state):
    if "random_state" not in inspect.signature(model).parameters:
        pytest.skip("nothing is drawn")
    with pytest.raises(ValueError, match=f"random_state is {state!r}; give None, a whole number"):
        fitted(model, random_state=state)


@every
def test_where_a_fit_runs_stands_in_its_signature(model):
    shown = set(inspect.signature(model.fit, follow_wrapped=True).parameters)
    assert {"checkpoint", "client"} <= shown
    assert ("memory_limit" in shown) == getattr(model, "plans_memory", False)


# Models of counts take weights; signals and sequences have none, as in scikit-learn's FastICA and GaussianMixture.
WITHOUT_WEIGHTS = {"ICA", "SphericalMixture", "HiddenMarkov"}
WEIGHTED = {name: model for name, model in ESTIMATORS.items() if name not in WITHOUT_WEIGHTS}
WEIGHTS = np.random.default_rng(0).integers(0, 4, len(COUNTS))


def test_which_models_take_weights():
    assert {n for n, model in ESTIMATORS.items() if "sample_weight" in inspect.signature(model.fit).parameters} == set(
        WEIGHTED
    )


@pytest.mark.parametrize("model", WEIGHTED.values(), ids=WEIGHTED)
def test_weights_are_repetitions(model):
    data = data_for(model)

    def said(views, **weights):
        """Return what a model says of all samples after a fit of these."""
        with warnings.catch_warnings(action="ignore"):
            return answer(model(2).fit(*views, **weights), data)

    def chosen(rows):
        return [[view[rows] for view in views] if isinstance(views, list) else views[rows] for views in data]

    repeated = said(chosen(np.repeat(np.arange(len(WEIGHTS)), WEIGHTS)))
    assert said(data, sample_weight=WEIGHTS).tobytes() == repeated.tobytes()
    assert said(data, sample_weight=WEIGHTS.astype(float)).tobytes() == repeated.tobytes()
    assert not np.allclose(said(data), repeated), "weights are not left out"
    if hasattr(model, "transform"):
        with warnings.catch_warnings(action="ignore"):
            both = np.asarray(model(2).fit_transform(*data, sample_weight=WEIGHTS))
            assert both.tobytes() == np.asarray(model(2).fit(*data, sample_weight=WEIGHTS).transform(data[0])).tobytes()
    for bad, message in (
        (WEIGHTS[:5], f"one number for each of the {len(WEIGHTS)}"),
        (WEIGHTS - 1, "whole number from 0 up"),
        (WEIGHTS / 2, "1.5 at row 0"),
        (np.zeros(len(WEIGHTS)), "zero for every row"),
    ):
        with pytest.raises(ValueError, match=message):
            said(data, sample_weight=bad)


SEVERAL = {name: model for name, model in ESTIMATORS.items() if model.n_views != 1}
TEXTS = ["sun and rain", "wind and rain"] * (len(COUNTS) // 2)


@pytest.mark.parametrize(
    "view",
    [TEXTS, np.array(TEXTS, dtype=object), COUNTS[:, :12].astype(complex), np.full((len(COUNTS), 12), np.inf)],
    ids=["texts", "array of texts", "complex", "infinite"],
)
@pytest.mark.parametrize("model", SEVERAL.values(), ids=SEVERAL)
def test_errors_name_the_view_that_they_are_about(model, view):
    data = (COUNTS[:, :12], view) if model.n_views == 2 else ([COUNTS[:, :12], COUNTS[:, 12:24], view],)
    name, others = ("Y", "X") if model.n_views == 2 else ("View 2", "View [01]|X")
    with pytest.raises(ValueError, match=rf"\b{name} (is|has) ") as error:
        model(2).fit(*data)
    assert re.search(rf"\b({others}) (is|has) ", str(error.value)) is None


@every
def test_scores_are_numbers_and_prefer_the_data(model):
    estimator = fitted(model)
    if not hasattr(estimator, "score"):
        pytest.skip("has no score")
    data = data_for(model)
    good = estimator.score(*data)
    assert isinstance(good, float)
    assert np.isfinite(good)
    # Columns, or the rows of one view, in another order are other data.
    rng = np.random.default_rng(0)
    if model.n_views == 1 and takes_a_matrix(model):
        assert good > estimator.score(rng.permuted(COUNTS, axis=1)) + 0.05
    elif model.n_views == 2:
        assert good > estimator.score(data[0], data[1][rng.permutation(len(data[1]))]) + 0.05
    elif model.n_views == 0:
        assert good > estimator.score([rng.permuted(view, axis=1) for view in THIRDS]) + 0.05


TRANSFORMERS = {name: model for name, model in ESTIMATORS.items() if hasattr(model, "transform")}
transformers = pytest.mark.parametrize("model", TRANSFORMERS.values(), ids=TRANSFORMERS)


@transformers
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_out(model, library):
    frames = pytest.importorskip(library)
    estimator, data = fitted(model), data_for(model)
    plain = answer(estimator, data)
    table = estimator.set_output(transform=library).transform(*data)
    assert isinstance(table, frames.DataFrame)
    assert list(table.columns) == list(estimator.get_feature_names_out())
    assert np.array_equal(np.asarray(table), plain)
    if model.n_views == 2:
        assert estimator.predict(data[0]).shape == data[1].shape


@transformers
def test_fit_transform_is_fit_and_then_transform(model):
    data = data_for(model)
    with warnings.catch_warnings(action="ignore"):
        both = np.asarray(model(2).fit_transform(*data))
    first = fitted(model).transform(data[0])
    assert both.tobytes() == np.asarray(first).tobytes()


@pytest.mark.parametrize("library", ["pandas", "polars"])
@every
def test_columns_of_tables_are_kept_and_compared(model, library):
    frames = pytest.importorskip(library)
    if not takes_a_matrix(model) and model.n_views:
        pytest.skip("sequences are no tables")

    def table(view, prefix):
        return frames.DataFrame({f"{prefix}{m}": view[:, m] for m in range(view.shape[1])})

    if model.n_views == 0:
        tables = [table(view, f"v{number}_") for number, view in enumerate(THIRDS)]
        data, turned = (tables,), ([*tables[:2], tables[2][tables[2].columns[::-1]]],)
    else:
        data = tuple(table(view, prefix) for view, prefix in zip(data_for(model), "xy"))
        turned = (*data[:-1], data[-1][data[-1].columns[::-1]])
    with warnings.catch_warnings(action="ignore"):
        estimator = model(2).fit(*data)
    assert answer(estimator, data).tobytes() == answer(fitted(model), data_for(model)).tobytes()
    with pytest.raises(ValueError, match=r"feature names|counted over other words"):
        answer(estimator, turned)
    if model.n_views:
        assert list(estimator.feature_names_in_) == list(data[0].columns)
        assert estimator.n_features_in_ == data[0].shape[1]
