"""Hidden Markov models: windows, recovery, Baum and Welch, conventions and bad input."""

import gzip
import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import polyad
from oracles import chain_by_enumeration, window_tensors
from polyad import HiddenMarkov
from polyad.datasets import make_hmm
from polyad.decompose.three_views import classes_of
from polyad.engine import Shards, blocks, count_blocks, signal_blocks, write_shards
from polyad.engine.sequences import sequences_of
from polyad.inference.kernels.chains import forward_backward, forward_likelihood
from polyad.inference.mixtures.chains import stationary
from polyad.inference.mixtures.emissions import Gaussian, Multinomial
from polyad.models.recipes.chains import shown_by, transitions_of
from polyad.moments.views import WindowFeatures, window_moments, window_population, windows
from purity import Checking, fingerprint

# Many samples here are small, and components are asked for that are not there: test_mixture_certainty.py is about that.
pytestmark = pytest.mark.filterwarnings("ignore::polyad.models.UndeterminedWarning")

SPEECHES = Path(__file__).parents[4] / "shared" / "data" / "state_union" / "state_union.jsonl.gz"
LETTERS = "abcdefghijklmnopqrstuvwxyz \n"
EMISSIONS = ("categorical", "multinomial", "poisson", "gaussian")


def matched(found, true):
    """The order of states that brings what they show closest to the truth."""
    distances = np.abs(found[:, None] - true[None]).sum(axis=2)
    return linear_sum_assignment(distances.T)[1]


def shown(model):
    return model.emission_rows_[:, : model.n_features]


@pytest.mark.parametrize(("K", "M", "size"), [(2, 3, 1), (3, 6, 1), (5, 9, 1), (3, 6, 2), (3, 2, 3), (4, 3, 2)])
def test_population_moments_of_windows_give_the_parameters_back(K, M, size):
    draw = make_hmm(1, 2, M, K, random_state=K + M)
    features = np.vstack([draw.emissions.T, np.ones(K)])
    moments = window_population(draw.start, draw.transitions, features, size)
    classes = classes_of(moments, K)
    found = shown_by(classes.views[2], WindowFeatures("shares"), Multinomial(draw.emissions[:1]), softening=0.0)
    order = matched(found.probabilities, draw.emissions)
    assert np.abs(found.probabilities[order] - draw.emissions).max() < 1e-8
    transitions = transitions_of(classes, moments)
    assert np.abs(transitions[np.ix_(order, order)] - draw.transitions).max() < 1e-8
    expected = draw.start @ np.linalg.matrix_power(draw.transitions, size)
    assert np.abs(classes.weights[order] - expected).max() < 1e-8


def test_population_moments_of_gaussian_columns_give_the_parameters_back():
    draw = make_hmm(1, 2, 4, 3, emission="gaussian", random_state=1, variances=[[1.0] * 4, [2.0] * 4, [0.5] * 4])
    centre, scale = np.full(4, 0.3), np.full(4, 1.7)
    z = (draw.emissions - centre) / scale
    means = np.vstack([z.T, (z**2 + draw.variances / scale**2 - 1).T, np.ones(3)])
    classes = classes_of(window_population(draw.start, draw.transitions, means), 3)
    blank = Gaussian(draw.emissions, draw.variances, centre, 0 * centre, 0 * centre)
    found = shown_by(classes.views[2], WindowFeatures("values", None, centre, scale), blank, softening=0.0)
    order = matched(found.means, draw.emissions)
    assert np.abs(found.means[order] - draw.emissions).max() < 1e-8
    assert np.abs(found.variances[order] - draw.variances).max() < 1e-8


@pytest.mark.parametrize("chunk", [2, 1 << 14])
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("emission", ["categorical", "gaussian"])
def test_moments_of_windows_equal_brute_force(emission, size, chunk, monkeypatch):
    monkeypatch.setattr(windows, "CHUNK_ROWS", chunk)
    draw = make_hmm(6, (1, 9), 3, 2, emission=emission, random_state=3)
    if emission == "categorical":
        rows, features = count_blocks(np.eye(3)[draw.X[:, 0]]), WindowFeatures("shares")
        brute = lambda row: np.append(np.eye(3)[int(row[0])], 1.0)
    else:
        rows, features = signal_blocks(draw.X), WindowFeatures("values", None, np.full(3, 0.2), np.full(3, 1.5))
        brute = lambda row: np.concatenate([(row - 0.2) / 1.5, ((row - 0.2) / 1.5) ** 2 - 1, [1.0]])
    second, third, n = window_tensors(np.split(draw.X, np.cumsum(draw.lengths)[:-1]), brute, size)
    moments = window_moments(sequences_of(rows, draw.lengths), features, size)
    rng = np.random.default_rng(0)
    W1, W2 = rng.standard_normal((2, 2, second.shape[0]))
    assert moments.n_rows == n
    assert np.abs(moments.second - second).max() < 1e-10
    assert np.abs(moments.third(W1, W2) - W1 @ third @ W2.T).max() < 1e-10


@pytest.mark.parametrize("emission", EMISSIONS)
def test_likelihood_posteriors_and_paths_are_those_of_all_paths(emission):
    draw = make_hmm(4, (1, 6), 3, 3, emission=emission, trials=4)
    model = HiddenMarkov(3, emission=emission, max_iter=3).fit(draw.X, draw.lengths)
    densities = np.exp(
        model._chain().emission.log_densities(np.eye(3)[draw.X[:, 0]] if emission == "categorical" else draw.X)
    )
    total, paths, begin = 0.0, 0.0, 0
    posterior, states = model.predict_proba(draw.X, draw.lengths), model.predict(draw.X, draw.lengths)
    for size in draw.lengths:
        at = slice(begin, begin + size)
        likelihood, shares, best, path = chain_by_enumeration(densities[at], model.startprob_, model.transmat_)
        assert np.abs(posterior[at] - shares).max() < 1e-10
        assert np.array_equal(states[at], path)
        total, paths, begin = total + np.log(likelihood), paths + np.log(best), begin + size
    assert abs(model.score(draw.X, draw.lengths) - total) < 1e-10 * abs(total)
    assert abs(model.decode(draw.X, draw.lengths)[0] - paths) < 1e-10 * abs(paths)


@pytest.mark.parametrize("emission", EMISSIONS)
@pytest.mark.parametrize("max_iter", [0, 50])
def test_errors_shrink_with_the_rows(emission, max_iter):
    errors = []
    for length in (100, 1500):
        found = []
        for seed in (1, 2):
            draw = make_hmm(10, length, 6, 3, emission=emission, random_state=seed)
            model = HiddenMarkov(3, emission=emission, max_iter=max_iter).fit(draw.X, draw.lengths)
            order = matched(shown(model), draw.emissions)
            size = np.abs(draw.emissions).mean()
            found.append(
                np.abs(model.transmat_[np.ix_(order, order)] - draw.transitions).mean()
                + np.abs(shown(model)[order] - draw.emissions).mean() / size
            )
        errors.append(np.mean(found))
    assert errors[1] < (0.3 if max_iter == 0 else 0.1)
    assert errors[1] < 0.7 * errors[0]


def test_random_parameters_do_not_pass():
    draw, other = (make_hmm(1, 2, 6, 3, random_state=seed) for seed in (0, 77))
    order = matched(other.emissions, draw.emissions)
    assert np.abs(other.emissions[order] - draw.emissions).mean() / draw.emissions.mean() > 0.3


def test_states_that_show_little_at_once_need_longer_windows():
    # Two symbols and three states: what a state shows has rank two, and only its neighbours tell the third.
    draw = make_hmm(
        40, 600, emission="categorical", emissions=[[0.95, 0.05], [0.5, 0.5], [0.05, 0.95]],
        transitions=[[0.8, 0.2, 0.0], [0.0, 0.8, 0.2], [0.2, 0.0, 0.8]], start=[1.0, 0.0, 0.0],
    )  # fmt: skip
    model = HiddenMarkov(3, start="moments").fit(draw.X, draw.lengths)
    order = matched(model.emissionprob_, draw.emissions)
    assert np.abs(model.emissionprob_[order] - draw.emissions).max() < 0.05
    assert np.abs(model.transmat_[np.ix_(order, order)] - draw.transitions).max() < 0.05


@pytest.mark.parametrize("emission", EMISSIONS)
def test_passes_never_lose_and_lists_are_as_good_as_lengths(emission):
    draw = make_hmm(12, (1, 60), 4, 2, emission=emission)
    model = HiddenMarkov(2, emission=emission, tol=0.0, max_iter=30).fit(draw.X, draw.lengths)
    assert (np.diff(model.diagnostics_.objective) > -1e-10).all()
    parts = np.split(draw.X, np.cumsum(draw.lengths)[:-1])
    listed = clone(model).fit(parts)
    assert listed.transmat_.tobytes() == model.transmat_.tobytes()
    assert np.array_equal(listed.predict(parts), model.predict(draw.X, draw.lengths))
    if emission == "categorical":
        assert clone(model).fit([part[:, 0].tolist() for part in parts]).score(parts) == model.score(parts)
        indicators = sparse.csr_array(np.eye(4)[draw.X[:, 0]])
        assert clone(model).fit(indicators, draw.lengths).transmat_.tobytes() == model.transmat_.tobytes()
    assert np.allclose(model.stationary_ @ model.transmat_, model.stationary_)
    assert (np.diff(model.stationary_) < 1e-9).all()
    rows, states = model.sample(4000, random_state=1)
    assert rows.shape == (4000, 1 if emission == "categorical" else 4)
    assert np.abs(np.bincount(states, minlength=2) / 4000 - model.stationary_).max() < 0.1


@pytest.mark.parametrize("emission", EMISSIONS)
def test_a_list_of_tables_is_a_list_of_sequences(emission):
    pandas = pytest.importorskip("pandas")
    draw = make_hmm(8, 30, 4, 2, emission=emission)
    tables = [pandas.DataFrame(part) for part in np.split(draw.X, 8)]
    model = HiddenMarkov(2, emission=emission, max_iter=5)
    expected = clone(model).fit(draw.X, draw.lengths)
    assert clone(model).fit(tables).transmat_.tobytes() == expected.transmat_.tobytes()
    assert np.array_equal(expected.predict(tables), expected.predict(draw.X, draw.lengths))


def test_a_stationary_distribution_of_a_cycle():
    assert np.allclose(stationary(np.array([[0.0, 1.0], [1.0, 0.0]])), 0.5)


def test_order_of_sequences_threads_and_disk_change_no_byte(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "SHARD_CELLS", 1200)
    draw = make_hmm(30, (1, 60), 3, 2, emission="gaussian")
    model = HiddenMarkov(2, emission="gaussian", max_iter=15)

    def found(*data, **parameters):
        fitted = clone(model).set_params(**parameters).fit(*data)
        return fingerprint((fitted.startprob_, fitted.transmat_, fitted.emission_rows_))

    whole = found(draw.X, draw.lengths)
    assert sequences_of(signal_blocks(draw.X), draw.lengths).n_shards > 2
    parts = np.split(draw.X, np.cumsum(draw.lengths)[:-1])
    assert found(parts[::-1]) == found(parts, None, n_jobs=1) == found(parts, None, n_jobs=3) == whole
    write_shards(signal_blocks(draw.X), tmp_path / "rows", order="given")
    stored = Shards(tmp_path / "rows")
    assert found(stored, draw.lengths) == whole
    fitted = clone(model).fit(parts)
    assert fitted.predict_proba(stored, draw.lengths).tobytes() == fitted.predict_proba(parts).tobytes()


def test_equal_sequences_may_come_in_any_place():
    draw = make_hmm(5, 40, 4, 2)
    parts = [*np.split(draw.X, np.cumsum(draw.lengths)[:-1]), draw.X[:40], draw.X[:40]]
    one, other = (HiddenMarkov(2, max_iter=5).fit(x).transmat_.tobytes() for x in (parts, parts[::-1]))
    assert one == other


@pytest.mark.parametrize("emission", EMISSIONS)
def test_passes_are_pure(emission):
    runner = Checking()
    draw = make_hmm(5, 30, 4, 2, emission=emission)
    with polyad.engine.use(runner):
        model = HiddenMarkov(2, emission=emission, max_iter=12).fit(draw.X, draw.lengths)
        model.predict_proba(draw.X, draw.lengths), model.decode(draw.X, draw.lengths), model.score(draw.X)
    names = {name.rpartition(".")[2] for name in runner.seen}
    assert {"_pair_sums", "_triple_sums", "_expected", "_smoothed", "_paths", "_likelihood"} <= names


@pytest.mark.parametrize("emission", EMISSIONS)
def test_a_saved_model_comes_back(tmp_path, emission):
    draw = make_hmm(5, 40, 4, 2, emission=emission)
    model = HiddenMarkov(2, emission=emission, max_iter=5).fit(draw.X, draw.lengths)
    model.save(tmp_path / "a.polyad")
    loaded = polyad.load(tmp_path / "a.polyad")
    assert loaded.predict_proba(draw.X).tobytes() == model.predict_proba(draw.X).tobytes()
    assert loaded.bic(draw.X) == model.bic(draw.X)
    assert loaded.aic(draw.X) == model.aic(draw.X)
    assert set(vars(loaded)) == set(vars(model))
    loaded.save(tmp_path / "b.polyad")
    assert (tmp_path / "a.polyad").read_bytes() == (tmp_path / "b.polyad").read_bytes()


@pytest.mark.parametrize("lengths", [[1] * 30, [2] * 15])
def test_sequences_too_short_for_windows_are_learned_from_groups(lengths):
    draw = make_hmm(1, 30, 4, 2)
    with warnings.catch_warnings(record=True, action="always") as told:
        model = HiddenMarkov(2, start="moments").fit(draw.X, lengths)
    said = " ".join(str(warning.message) for warning in told)
    assert "no sequence has as many rows as a window" in said
    assert ("No sequence has two rows: what comes after a state is not known" in said) == (lengths[0] == 1)
    assert np.allclose(model.transmat_, 0.5) == (lengths[0] == 1)
    assert model.diagnostics_.start == "seeds"
    assert np.isfinite(model.score(draw.X, lengths))


@pytest.mark.parametrize(
    ("X", "lengths", "options", "message"),
    [
        ([[0, 1], [1.5, 0]], None, {}, "symbol 1.5 at row 2; symbols are whole numbers"),
        (np.array([0, 1, -1]), None, {}, "symbol -1 at row 2"),
        (np.array([[0, 1], [1, 0]]), None, {}, "shape .2, 2.; symbols are one column"),
        (np.array(["a", "b"]), None, {}, "Number them first"),
        ([np.array([0, 1]), np.array([], int)], None, {}, "Sequence 1 is empty"),
        ([], None, {}, "X is empty: it has not one row"),
        (np.array([[0.0], [np.nan]]), None, {}, "symbol nan at row 1"),
        (np.array([0]), None, {"n_components": 2}, "X has 1 row, and 2 states were asked for"),
        (np.array([0, 1, 1]), [2, 2], {}, "lengths sum to 4, and X has 3 rows"),
        (np.array([0, 1, 1]), [3, 0], {}, r"lengths\[1\] is 0"),
        (np.array([0, 1, 1]), [1.5, 1.5], {}, "a list of whole numbers"),
        ("a text", None, {}, "X is 'a text', a text or a path; give the rows of sequences"),
        (Path("rows.csv"), None, {"emission": "gaussian"}, r"rows.csv'\), a text or a path"),
        (np.array([0, 1, 1]), 3, {}, "lengths is 3; give the number of rows of each sequence"),
        ([np.ones((2, 3)), np.ones((4, 3))], [2, 4], {"emission": "gaussian"}, "give the list alone"),
        (
            [np.ones((2, 3)), np.ones((4, 2))],
            None,
            {"emission": "gaussian"},
            "Sequence 1 has 2 columns, and sequence 0",
        ),
        (
            [sparse.eye_array(3).tocsr(), sparse.eye_array(2).tocsr()],
            None,
            {"emission": "poisson"},
            "has 2 columns, and",
        ),
        (np.array([0, 1, 1]), None, {"n_components": 4}, "3 rows, and 4 states"),
        (np.array([0, 1, 1]), None, {"emission": "beta"}, "emission is 'beta'"),
        (np.array([0, 1, 1]), None, {"window": 0}, "window is 0"),
        (np.array([[0.5], [np.nan]]), None, {"emission": "gaussian"}, "value nan at row 1"),
        (np.array([[1], [-1]]), None, {"emission": "poisson"}, "count -1 at row 1"),
    ],
)
def test_bad_input_is_a_sentence(X, lengths, options, message):
    with pytest.raises(ValueError, match=message):
        HiddenMarkov(**options).fit(X, lengths)


def test_unknown_symbols_other_columns_and_unfitted_models():
    with pytest.raises(NotFittedError):
        HiddenMarkov().predict([0, 1])
    model = HiddenMarkov(2).fit(make_hmm(2, 30, 3, 2).X)
    with pytest.raises(ValueError, match="symbol 7 at row 1, and the model knows the symbols 0 to 2"):
        model.predict(np.array([0, 7]))
    values = HiddenMarkov(2, emission="gaussian").fit(make_hmm(2, 30, 3, 2, emission="gaussian").X)
    with pytest.raises(ValueError, match="X has 2 columns, and the model was fitted on 3"):
        values.predict(np.zeros((4, 2)))
    constant = HiddenMarkov(2, emission="gaussian").fit(np.ones((20, 2)))
    assert np.isfinite(constant.transmat_).all()


@pytest.mark.parametrize("emission", EMISSIONS)
def test_the_shortest_sequences_and_constant_columns_have_models(emission):
    draw = make_hmm(12, (1, 3), 4, 2, emission=emission, random_state=1)
    assert {1, 2} <= set(draw.lengths.tolist())
    model = HiddenMarkov(2, emission=emission).fit(draw.X, draw.lengths)
    assert np.isfinite(model.score(draw.X, draw.lengths))
    for n_rows in (1, 2):
        assert model.predict(draw.X[:n_rows]).shape == (n_rows,)
        assert np.isfinite(model.score(draw.X[:n_rows]))
    constant = np.ones((20, draw.X.shape[1]), draw.X.dtype)
    same = HiddenMarkov(2, emission=emission).fit(constant)
    assert np.isfinite(same.transmat_).all()
    assert np.isfinite(same.score(constant))


@pytest.mark.parametrize(
    ("emission", "value", "message"),
    [
        ("categorical", np.nan, "symbol nan at row 1"),
        ("categorical", -1.0, "symbol -1.0 at row 1"),
        ("gaussian", np.nan, "value nan at row 1, column 0"),
        ("gaussian", np.inf, "value inf at row 1, column 0"),
        ("poisson", np.nan, r"missing count \(NaN\) at row 1, column 0"),
        ("multinomial", -2.0, "count -2 at row 1, column 0"),
    ],
)
def test_rows_that_cannot_be_are_told_at_predict_as_well(emission, value, message):
    X = make_hmm(2, 20, 4, 2, emission=emission).X.astype(float)
    model = HiddenMarkov(2, emission=emission, max_iter=2).fit(X)
    X[1, 0] = value
    with pytest.raises(ValueError, match=message):
        model.predict(X)
    with pytest.raises(ValueError, match="X is empty"):
        model.predict(X[:0])
    with pytest.raises(ValueError, match=r"lengths\[1\] is 0: every sequence has at least one row"):
        model.predict(np.delete(X, 1, axis=0), [len(X) - 1, 0])


@pytest.mark.skipif(not SPEECHES.exists(), reason="the texts of ../shared/data are not there")
def test_two_states_find_vowels_and_consonants():
    with gzip.open(SPEECHES, "rt") as file:
        texts = ["".join(c for c in json.loads(file.readline())["text"].lower() if c in LETTERS)]
    letters = [np.array([ord(c) - 97 if c.isalpha() else 26 for c in " ".join(t.split())]) for t in texts]
    model = HiddenMarkov(2).fit(letters)
    share = model.emissionprob_ * model.stationary_[:, None]
    state_of = (share / share.sum(axis=0)).argmax(axis=0)
    vowels, consonants = [state_of[ord(c) - 97] for c in "aeiou"], [state_of[ord(c) - 97] for c in "bcdflmnprstv"]
    assert len(set(vowels)) == len(set(consonants)) == 1
    assert vowels[0] != consonants[0]


def test_rows_that_no_reachable_state_can_show_do_no_harm():
    # Scales fall far below the smallest float, one row after the other.
    logs = np.array([[0.0, -600.0], [-600.0, 0.0], [-650.0, 0.0], [0.0, -640.0]])
    start, transitions = np.array([1.0, 0.0]), np.array([[1.0, 0.0], [0.0, 1.0]])
    posterior, _, _, likelihood = forward_backward(logs, np.array([0, 4]), start, transitions)
    assert likelihood == pytest.approx(-1250.0)
    assert np.allclose(posterior, [[1.0, 0.0]] * 4)
    assert forward_likelihood(logs, np.array([0, 4]), start, transitions) == pytest.approx(-1250.0)


def test_the_likelihood_alone_is_that_of_forward_and_backward():
    rng = np.random.default_rng(0)
    logs, transitions = rng.normal(scale=30, size=(200, 3)), rng.dirichlet(np.ones(3), 3)
    begins, start = np.array([0, 1, 7, 150, 200]), rng.dirichlet(np.ones(3))
    both = forward_backward(logs, begins, start, transitions)[3]
    assert forward_likelihood(logs, begins, start, transitions) == pytest.approx(both, rel=1e-12)


def test_moments_alone_are_consistent():
    """What Baum and Welch need at their start may not stay where no pass follows."""
    errors = []
    for n_sequences in (50, 1600):
        draw = make_hmm(n_sequences, 100, 6, 2, random_state=1)
        model = HiddenMarkov(2, max_iter=0).fit(draw.X, draw.lengths)
        order = matched(shown(model), draw.emissions)
        transitions = model.transmat_[np.ix_(order, order)]
        errors.append(
            max(np.abs(shown(model)[order] - draw.emissions).max(), np.abs(transitions - draw.transitions).max())
        )
        assert (shown(model) > 0).all()
    assert errors[1] < 0.4 * errors[0]
    assert errors[1] < 0.015


def test_points_that_states_are_given_keep_them_from_single_rows_and_are_free_to_leave_out():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((60, 2)), [[40.0, 40.0]], rng.standard_normal((60, 2))])
    with_points = HiddenMarkov(2, emission="gaussian").fit(X)
    without = HiddenMarkov(2, emission="gaussian", prior_points=0).fit(X)
    variance = X.var(axis=0).max()
    assert with_points.covars_.min() > 0.01 * variance > without.covars_.min()  # of one row
    assert without.score(X) > with_points.score(X)
    same = HiddenMarkov(2, emission="gaussian", prior_points=1).fit(X)
    assert np.array_equal(same.covars_, with_points.covars_)
    draw = make_hmm(10, 200, 3, 2, emission="gaussian", random_state=1)
    fits = [HiddenMarkov(2, emission="gaussian", prior_points=p).fit(draw.X, draw.lengths) for p in (1, 0)]
    scores = [fit.score(draw.X, draw.lengths) for fit in fits]
    assert 0 < scores[1] - scores[0] < 3  # nats in all: what the points cost
    with pytest.raises(ValueError, match="prior_points is -1"):
        HiddenMarkov(2, emission="gaussian", prior_points=-1).fit(X)
