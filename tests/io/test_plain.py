"""Plain values and arrays of a model file: what goes in comes out, and sentences about all that cannot be."""

import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib import format as npy
from sklearn.base import BaseEstimator

from polyad.decompose import jacobi
from polyad.io import ModelFileError
from polyad.io.arrays import array_pieces, check_values, checked_array
from polyad.io.header import checksum_of, digest_of, fingerprint_of, section, view_named_in
from polyad.io.plain import (
    diagnostics_from,
    diagnostics_to,
    parameters_from,
    parameters_to,
    parse_json,
    scalars_from,
    to_json,
)
from polyad.io.registry import STORED, ArrayRule, StoredClass
from polyad.models import MixtureDiagnostics

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("abé\"\\\n", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(JSON)
@settings(max_examples=40, deadline=None)
def test_json_comes_back_and_has_one_form(value):
    data = to_json(value)
    assert parse_json(data) == value
    assert to_json(parse_json(data)) == data
    assert b" " not in data.replace(b"\\n", b"")


def test_keys_are_sorted_and_characters_stay():
    assert to_json({"b": 1, "a": "é"}) == '{"a":"é","b":1}'.encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a":1,"a":2}', "a key is there twice"),
        (b"NaN", "NaN is no number of JSON"),
        (b"[-Infinity]", "-Infinity is no number"),
        (b"\xff", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"", "not valid JSON"),
    ],
)
def test_json_that_is_none_is_told(data, message):
    with pytest.raises(ModelFileError, match=message):
        parse_json(data)


def test_texts_that_have_no_bytes_are_told():
    with pytest.raises(ModelFileError, match=r"the text '\\ud800' cannot be written as UTF-8"):
        to_json(["a\ud800"])


class Model(BaseEstimator):
    def __init__(self, value=None, n_jobs=None, verbose=0, random_state=0):
        self.value, self.n_jobs, self.verbose, self.random_state = value, n_jobs, verbose, random_state


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (0.5, 0.5),
        ("auto", "auto"),
        (np.float64(0.25), 0.25),
        (np.int64(7), 7),
        (np.array([1.0, 2.0]), [1.0, 2.0]),
        ((1, 2), [1, 2]),
        (["a", "b"], ["a", "b"]),
        ([], []),
        (jacobi, "jacobi"),
    ],
)
def test_parameters_are_plain(value, plain):
    found = parameters_to(Model(value, n_jobs=4, verbose=1))
    assert found == {"value": plain, "random_state": 0}
    assert parameters_from(found, Model) == found


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda tensor: tensor, "the parameter value is the function '<lambda>', and a model file holds no code"),
        ({"a": 1}, "the parameter value is {'a': 1}, and a model file holds numbers, texts and lists of them only"),
        ([1, "a"], "holds numbers, texts and lists"),
        (math.inf, "the parameter value is inf"),
        (math.nan, "the parameter value is nan"),
        (10**400, "the parameter value is 1000"),
        (b"bytes", "the parameter value is b'bytes'"),
    ],
)
def test_parameters_that_are_not_plain_are_told(value, message):
    with pytest.raises(ModelFileError, match=message):
        parameters_to(Model(value))


def test_generators_are_not_stored():
    for generator in (np.random.default_rng(0), np.random.RandomState(0)):
        assert parameters_to(Model(random_state=generator))["random_state"] is None


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ({"other": 1}, "it has a parameter 'other' that Model does not have here"),
        ({"n_jobs": 2}, "it has a parameter 'n_jobs'"),
        ({"value": {"a": 1}}, "its parameter value is neither a number, a text nor a list of such"),
        ({"value": [[1]]}, "its parameter value is neither"),
        ({"random_state": -1}, "random_state is -1, and a seed is a whole number from 0 on"),
        ({"random_state": True}, "random_state is True"),
        ({"random_state": "0"}, "random_state is '0'"),
        ({"random_state": 0.0}, r"random_state is 0\.0"),
    ],
)
def test_stored_parameters_that_cannot_be_are_told(plain, message):
    with pytest.raises(ModelFileError, match=message):
        parameters_from(plain, Model)


ICA_FILE = STORED["DiscreteICA"]


@pytest.mark.parametrize(
    "plain",
    [{}, {"rate_": 1.0}, {"rate_": 1.0, "n_features_in_": 3, "more": 1}],
)
def test_numbers_that_are_not_those_of_the_class_are_told(plain):
    with pytest.raises(ModelFileError, match="its numbers are not n_features_in_, rate_"):
        scalars_from(plain, ICA_FILE, {"M": 3})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rate_", 0.0),
        ("rate_", -1.0),
        ("rate_", True),
        ("rate_", "1"),
        ("n_features_in_", 4),
        ("n_features_in_", 3.0),
    ],
)
def test_numbers_that_cannot_be_are_told(name, value):
    sound = {"rate_": 2.0, "n_features_in_": 3}
    assert scalars_from(sound, ICA_FILE, {"M": 3}) == sound
    with pytest.raises(ModelFileError, match=f"its number {name} is .*which cannot be"):
        scalars_from({**sound, name: value}, ICA_FILE, {"M": 3})


MIXTURE = STORED["MultiViewMixture"]
DIAGNOSTICS = MixtureDiagnostics(
    9,
    np.array([2.0, np.inf]),
    math.nan,
    "seeds",
    "a note",
    (-1.0, -0.5),
    2,
    True,
    {"read": 1.0},
    np.array([0.9, 0.2]),
)


def test_diagnostics_come_back_without_their_seconds():
    plain = diagnostics_to(DIAGNOSTICS, MIXTURE)
    assert plain["spectrum"] == [2.0, "Infinity"]
    assert plain["energy"] == "NaN"
    assert "seconds" not in plain
    found = diagnostics_from(parse_json(to_json(plain)), MIXTURE)
    assert isinstance(found, MixtureDiagnostics)
    assert found.spectrum.tolist() == [2.0, np.inf]
    assert math.isnan(found.energy)
    assert (found.start, found.note, found.objective, found.converged) == ("seeds", "a note", (-1.0, -0.5), True)
    assert found.seconds == {}
    assert found.certainty.tolist() == [0.9, 0.2]
    assert found.undetermined == (1,)
    del plain["certainty"]  # a file of a version that did not know it
    assert diagnostics_from(plain, MIXTURE).undetermined == ()
    bare = diagnostics_from(plain, MIXTURE, bare=True)
    assert not isinstance(bare, MixtureDiagnostics)
    assert bare.n_rows == 9
    assert diagnostics_to(None, MIXTURE) is None
    assert diagnostics_from(None, MIXTURE) is None


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_rows", 2.0, "its diagnostic n_rows is not a whole number"),
        ("n_rows", True, "not a whole number"),
        ("start", 3, "its diagnostic start is not a text"),
        ("converged", 1, "its diagnostic converged is not true or false"),
        ("spectrum", 1.0, "its diagnostic spectrum is not a list of numbers"),
        ("spectrum", ["huge"], "its diagnostic spectrum is not a number"),
        ("energy", None, "its diagnostic energy is not a number"),
        ("more", 1, "its diagnostics are not those of its class"),
    ],
)
def test_diagnostics_that_cannot_be_are_told(name, value, message):
    plain = {**diagnostics_to(DIAGNOSTICS, MIXTURE), name: value}
    with pytest.raises(ModelFileError, match=message):
        diagnostics_from(plain, MIXTURE)


def entry(array, dtype="<f8", version=(1, 0), order="C"):
    out = io.BytesIO()
    npy.write_array(out, np.asarray(array, dtype=dtype, order=order), version=version)
    return out.getvalue()


ANY = ArrayRule(("K", "M"))


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (2, 5)])
def test_arrays_come_back(shape):
    values = np.random.default_rng(0).standard_normal(shape)
    for given_array in (values, np.asfortranarray(values), values.astype(">f8"), values[::-1][::-1]):
        found, pieces = array_pieces(given_array)
        assert found == shape
        axes = {}
        back = checked_array(b"".join(pieces), "a", list(shape), ANY, axes)
        assert np.array_equal(back, values)
        assert axes == {"K": shape[0], "M": shape[1]}
    assert b"".join(array_pieces(values)[1]) == entry(values)


@pytest.mark.parametrize(
    ("data", "shape", "message"),
    [
        (entry([[1.0]]), [2, 1], "its array a is float64 of shape"),
        (entry([[1.0]], "<f4"), [1, 1], "is float32 of shape"),
        (entry([[1.0]], ">f8"), [1, 1], "is >f8 of shape"),
        (entry(np.ones((2, 3)), order="F"), [2, 3], "its header declares float64"),
        (entry([[1.0]], version=(2, 0)), [1, 1], r"no readable npy header \(npy version \(2, 0\)\)"),
        (b"junk", [1, 1], "no readable npy header"),
        (entry([[1.0]]) + b"x", [1, 1], r"its array a has 9 bytes, which is not what \[1, 1\] needs"),
        (entry([[1.0]])[:-1], [1, 1], "has 7 bytes"),
        (entry([[1.0]]), [1], r"has the shape \[1\]; wanted is K x M"),
        (entry([[1.0]]), [True, 1], r"has the shape \[True, 1\]"),
        (entry([[1.0]]), [0, 1], "wanted is K x M"),
        (entry([[1.0]]), "11", "wanted is K x M"),
    ],
)
def test_arrays_that_cannot_be_are_told(data, shape, message):
    with pytest.raises(ModelFileError, match=message):
        checked_array(data, "a", shape, ANY, {})


def test_axes_of_one_name_have_one_length():
    axes = {"K": 2}
    with pytest.raises(ModelFileError, match=r"its array a has the shape \[1, 1\], but K is 2 elsewhere"):
        checked_array(entry([[1.0]]), "a", [1, 1], ANY, axes)


@pytest.mark.parametrize(
    ("rule", "values", "message"),
    [
        ("", [[np.nan, 1.0]], "numbers that are not finite"),
        ("probabilities", [[0.5, 0.6]], "the probabilities of its array a do not sum to 1"),
        ("probabilities", [[-0.5, 1.5]], "negative probabilities"),
        ("topics", [[0.0, 0.0], [0.5, 0.4]], "do not sum to 1"),
        ("positive", [[0.0, 1.0]], "not between 1e-35 and 1e"),
        ("not negative", [[0.0, -1.0]], "not between 1e-35 and 1e"),
        ("covariance", [[1.0, 0.0], [0.0, -1.0]], "not between"),
    ],
)
def test_values_that_cannot_be_are_told(rule, values, message):
    with pytest.raises(ModelFileError, match=message):
        check_values("a", np.array(values), ArrayRule(("K", "M"), rule))


def test_values_that_can_be():
    check_values("a", np.array([[0.0, 0.0], [0.5, 0.5]]), ArrayRule(("K", "M"), "topics"))
    check_values("a", np.array([[0.25, 0.75 + 1e-8]]), ArrayRule(("K", "M"), "probabilities"))
    check_values("a", np.array([[0.0, 1.0]]), ArrayRule(("K", "M"), "not negative"))
    check_values("a", np.array([[1.0, -5.0], [-5.0, 2.0]]), ArrayRule(("K", "K"), "covariance"))


def test_sums_of_a_header_see_what_they_are_about():
    header = {"format": "f", "version": 1, "class": "LDA", "diagnostics": None}
    other = {**header, "diagnostics": {}}
    assert fingerprint_of(header) == fingerprint_of(other) != fingerprint_of({**header, "class": "ICA"})
    assert checksum_of(header) != checksum_of(other)
    assert checksum_of({**header, "checksum": "x"}) == checksum_of(header)
    assert digest_of([b"ab", b"c"]) == digest_of([b"abc"])
    with pytest.raises(ModelFileError, match="its header has no arrays"):
        section({"arrays": []}, "arrays")


@pytest.mark.parametrize(("key", "view"), [("x_text_options_", "x"), ("y_vocabulary_", "y"), ("text_options_.3", "3")])
def test_the_view_that_an_attribute_is_about(key, view):
    assert view_named_in(key) == view


def test_models_of_views_have_an_entry_for_each():
    stored = STORED["PolylingualLDA"].of_views(3)
    assert {"all_components_.0", "all_components_.2", "centres_.1"} <= set(stored.arrays)
    assert stored.arrays["all_components_.1"].shape == ("L", "M1")
    assert stored.names == {"view_names_": "V", **{f"vocabularies_.{n}": f"M{n}" for n in range(3)}}
    assert stored.text_options == ("text_options_.0", "text_options_.1", "text_options_.2")
    assert STORED["PolylingualLDA"].count_views(stored.arrays) == 3
    assert STORED["LDA"].of_views(3) is STORED["LDA"]
    assert isinstance(STORED["LDA"].with_extra_row(True), StoredClass)
    assert "background_" in STORED["LDA"].with_extra_row(True).arrays
    assert STORED["LDA"].with_extra_row(False).extra_row == {}
