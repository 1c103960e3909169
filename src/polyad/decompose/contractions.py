"""Contractions of a symmetric tensor, or of a stack of matrices, with directions."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg

from polyad.engine.blocks import FloatArray


class Contractions(Protocol):
    """A symmetric K x K x K tensor that is known by its contractions alone."""

    @property
    def n_components(self) -> int:
        """K."""
        ...

    def contract(self, columns: FloatArray, /) -> FloatArray:
        """Return T(., v, v) for every column v."""
        ...

    def along(self, direction: FloatArray, /) -> FloatArray:
        """Return the matrix T(., ., u)."""
        ...


@dataclass(frozen=True)
class FormedTensor:
    """A symmetric tensor that lies in memory.

    Attributes
    ----------
    tensor
        K x K x K.

    Examples
    --------
    >>> tensor = FormedTensor(np.arange(8.0).reshape(2, 2, 2))
    >>> tensor.contract(np.eye(2))
    array([[0., 3.], [4., 7.]])
    """

    tensor: FloatArray

    @property
    def n_components(self) -> int:
        """K."""
        return self.tensor.shape[0]

    def contract(self, columns: FloatArray) -> FloatArray:
        """Return T(., v, v) for every column v."""
        K = self.n_components
        once = (self.tensor.reshape(K * K, K) @ columns).reshape(K, K, -1)
        return np.einsum("ijs,js->is", once, columns)

    def along(self, direction: FloatArray) -> FloatArray:
        """Return the matrix T(., ., u)."""
        return contraction(self.tensor, direction)


def contraction(stack: FloatArray, direction: FloatArray) -> FloatArray:
    """Return the sum of the matrices of a stack, weighed by a direction."""
    return np.tensordot(direction, stack, axes=1)


def random_directions(size: int, n_directions: int, random_state: int) -> FloatArray:
    """Return directions drawn uniformly from the unit sphere, F x size."""
    draws = np.random.default_rng(random_state).standard_normal((n_directions, size))
    return draws / np.linalg.norm(draws, axis=1, keepdims=True)


def one_direction(size: int, directions: FloatArray | None, random_state: int) -> FloatArray:
    """Return the first of the given directions, or a random one."""
    return random_directions(size, 1, random_state)[0] if directions is None else directions[0]


def eigenvectors_of_one(stack: FloatArray, directions: FloatArray | None, random_state: int) -> FloatArray:
    """Eigenvectors of the stack's contraction with the first direction, or with a random one."""
    direction = one_direction(stack.shape[0], directions, random_state)
    vectors: FloatArray = linalg.eigh(contraction(stack, direction))[1]
    return vectors
