"""Contractions of a stack of matrices with directions."""

import numpy as np
from scipy import linalg

from polyad.engine.blocks import FloatArray


def random_directions(size: int, n_directions: int, random_state: int) -> FloatArray:
    """Return directions drawn uniformly from the unit sphere, F x size."""
    draws = np.random.default_rng(random_state).standard_normal((n_directions, size))
    return draws / np.linalg.norm(draws, axis=1, keepdims=True)


def eigenvectors_of_one(stack: FloatArray, directions: FloatArray | None, random_state: int) -> FloatArray:
    """Eigenvectors of the stack's contraction with the first direction, or with a random one."""
    direction = random_directions(stack.shape[0], 1, random_state)[0] if directions is None else directions[0]
    vectors: FloatArray = linalg.eigh(np.tensordot(direction, stack, axes=1))[1]
    return vectors
