"""The precision of results is that of the data."""

import numpy as np
import pytest
from scipy import sparse

from polyad.base.arrays import in_precision_of


class Lazy:
    """A table that is computed only when it is asked for."""

    dtypes = ("float32",)

    def collect(self):
        raise AssertionError("a lazy table was computed")

    lazy = collect


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (np.zeros((2, 2), np.float32), "float32"),
        (np.zeros((2, 2), np.float64), "float64"),
        (np.zeros((2, 2), np.int32), "float64"),
        (sparse.csr_array(np.zeros((2, 2), np.float32)), "float32"),
        ([[1.0, 2.0]], "float64"),
        (Lazy(), "float64"),
        (iter([]), "float64"),
    ],
)
def test_the_precision_of_the_data(X, kind):
    found = in_precision_of(X, np.array([1 / 3]))
    assert found.dtype == kind
    assert found[0] == np.array(1 / 3, kind)


def test_a_table_is_single_where_all_columns_are():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": np.zeros(2, np.float32), "b": np.zeros(2, np.float32)})
    assert in_precision_of(table, np.zeros(1)).dtype == "float32"
    assert in_precision_of(table.assign(c=1.0), np.zeros(1)).dtype == "float64"
