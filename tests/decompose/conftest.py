"""The algebra runs on one thread of BLAS, as it does inside of a fit: two on busy cores are many times slower."""

import pytest

from polyad.engine import single_threaded_blas


@pytest.fixture(autouse=True)
def one_thread_of_blas():
    with single_threaded_blas():
        yield
