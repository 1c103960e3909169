import numpy as np
import pytest

from polyad.decompose import off_diagonal_energy


def test_off_diagonal_energy():
    assert off_diagonal_energy(np.array([[[1.0, 1.0], [1.0, 1.0]]])) == pytest.approx(0.5)
    tiny = np.eye(3)[None] + 1e-9
    assert off_diagonal_energy(tiny) == pytest.approx(2e-18, rel=1e-3)
    assert off_diagonal_energy(np.zeros((2, 3, 3))) == 0
