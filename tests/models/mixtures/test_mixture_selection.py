"""The number of components of a mixture, chosen, and views as columns of one table."""

import numpy as np
import pandas
import pytest

import polyad
from polyad import HiddenMarkov, MultiViewMixture, SphericalMixture, select_n_components
from polyad.datasets import make_hmm, make_multiview_mixture, make_spherical_mixture


def test_numbers_of_components_are_found():
    points = make_spherical_mixture(1500, 8, 4, separation=6).X
    found = select_n_components(points, estimator=SphericalMixture(), n_min=1)
    assert found.recommended == 4
    assert [row["n_components"] for row in found.table] == list(range(1, 8))  # three worse ones, and no more
    best = SphericalMixture(4).fit(points)
    assert found.table[3]["bic"] == best.bic(points)
    assert "the lowest BIC" in str(found)
    answers = make_multiview_mixture(3000, (6, 6, 6), 3, kinds=("binary",) * 3).views
    assert select_n_components(answers, [1, 2, 3, 4], estimator=MultiViewMixture()).recommended == 3
    chain = make_hmm(20, 150, 8, 2, random_state=1)
    sequences = np.split(chain.X, np.cumsum(chain.lengths)[:-1])
    assert select_n_components(sequences, [1, 2, 3], estimator=HiddenMarkov()).recommended == 2


def test_a_single_number_and_nonsense():
    points = make_spherical_mixture(200, 4, 2).X
    seen = []
    found = select_n_components(points, [2], estimator=SphericalMixture(), progress=lambda *at: seen.append(at))
    assert found.reason == "2 components: the only number that was judged."
    assert seen == [(1, 1)]
    with pytest.raises(ValueError, match="give a SphericalMixture, a HiddenMarkov or a MultiViewMixture"):
        select_n_components(points, [2], estimator=polyad.ICA())
    with pytest.raises(ValueError, match="give whole numbers from 1 up"):
        select_n_components(points, [0, 2], estimator=SphericalMixture())


def _table(views, names):
    parts = [pandas.DataFrame(view).add_prefix(f"{name}.") for name, view in zip(names, views)]
    return pandas.concat(parts, axis=1)


def test_one_table_with_columns_named_by_view(tmp_path):
    views = make_multiview_mixture(800, (4, 3, 3), 2, kinds=("binary", "gaussian", "binary"), missing=0.1).views
    model = MultiViewMixture(2).fit(views)
    table = _table(views, "abc")
    named = MultiViewMixture(2).fit(table)
    assert named.view_names_ == ("a", "b", "c")
    assert np.array_equal(named.parameter_rows_, model.parameter_rows_)
    assert np.array_equal(named.predict_proba(table), model.predict_proba(views))
    turned = _table(views[::-1], "cba")
    assert np.array_equal(named.predict_proba(turned), model.predict_proba(views))  # found by name
    mapped = MultiViewMixture(2).fit(dict(zip("abc", views)))
    assert mapped.view_names_ == named.view_names_
    assert np.array_equal(mapped.parameter_rows_, model.parameter_rows_)
    assert np.array_equal(
        mapped.predict_proba({"c": views[2], "a": views[0]}), model.predict_proba([views[0], None, views[2]])
    )
    part = _table(views[:1], "a")
    assert np.array_equal(named.predict_proba(part), model.predict_proba([views[0], None, None]))
    levels = table.copy()
    levels.columns = pandas.MultiIndex.from_tuples([tuple(name.split(".")) for name in table.columns])
    assert np.array_equal(MultiViewMixture(2).fit(levels).parameter_rows_, model.parameter_rows_)
    named.save(tmp_path / "m.polyad")
    assert np.array_equal(polyad.load(tmp_path / "m.polyad").predict_proba(part), named.predict_proba(part))
    with pytest.raises(ValueError, match="There is a view 'd'; the model knows 'a', 'b', 'c'"):
        named.predict(_table(views[:1], "d"))
    with pytest.raises(ValueError, match="fitted on a list of views"):
        model.predict(table)


def test_columns_of_a_table_in_another_order_are_refused():
    """Found in a table by name, a view must still have the columns of the fit, in their order."""
    views = make_multiview_mixture(300, (4, 3, 3), 2, kinds=("binary", "gaussian", "binary")).views
    table = _table(views, "abc")
    levels = table.copy()
    levels.columns = pandas.MultiIndex.from_tuples([tuple(name.split(".")) for name in table.columns])
    mapped = {name: table[[column for column in table if column[0] == name]] for name in "abc"}
    for data in (table, levels, mapped):
        model = MultiViewMixture(2).fit(data)
        turned = {"b": data["b"].iloc[:, ::-1]} if data is mapped else data.iloc[:, ::-1]
        with pytest.raises(ValueError, match=r"have other feature names .* The columns are the same in another order"):
            model.predict(turned)
        assert model.predict(data).shape == (300,)
    assert np.array_equal(model.predict_proba(levels), model.predict_proba(table))  # "a.0" and ("a", "0") are one name


def test_one_table_of_polars_does_as_well():
    polars = pytest.importorskip("polars")
    views = make_multiview_mixture(300, (4, 3, 3), 2, kinds=("binary", "gaussian", "binary")).views
    table = polars.DataFrame({str(name): column.to_numpy() for name, column in _table(views, "abc").items()})
    model = MultiViewMixture(2).fit(views)
    for data in (table, table.lazy()):
        named = MultiViewMixture(2).fit(data)
        assert named.view_names_ == ("a", "b", "c")
        assert np.array_equal(named.predict_proba(data), model.predict_proba(views))


def test_rows_of_all_sequences_are_judged_with_their_lengths():
    chain = make_hmm(20, 150, 8, 2, random_state=1)
    sequences = np.split(chain.X, np.cumsum(chain.lengths)[:-1])
    listed = select_n_components(sequences, [1, 2], estimator=HiddenMarkov())
    found = select_n_components(chain.X, [1, 2], estimator=HiddenMarkov(), lengths=chain.lengths)
    assert [row["bic"] for row in found.table] == [row["bic"] for row in listed.table]
    with pytest.raises(ValueError, match="SphericalMixture knows no sequences"):
        select_n_components(chain.X, [1, 2], estimator=SphericalMixture(), lengths=chain.lengths)
    with pytest.raises(ValueError, match="lengths is given without an estimator"):
        select_n_components(np.eye(4), [2], lengths=[2, 2])


def test_a_view_without_a_value_is_refused():
    views = make_multiview_mixture(100, (4, 3, 3), 2, kinds=("binary", "gaussian", "binary")).views
    with pytest.raises(ValueError, match="View 1 has not one value that was seen"):
        MultiViewMixture(2).fit([views[0], np.full((100, 3), np.nan), views[2]])
