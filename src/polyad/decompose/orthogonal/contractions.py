"""Contractions of a symmetric tensor, or of a stack of matrices, with directions."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.base.fixed import fixed_directions
from polyad.engine import for_each, single_threaded_blas

THREADS_FROM = 40  # components: below, handing work to threads takes longer than the work
PARTS = 4  # of a tensor that threads work on
MATRICES = 8  # in a part, where there is something in between: more of it would not stay in the cache


def contract(tensor: FloatArray, columns: FloatArray) -> FloatArray:
    """Return T(., v, v) of a symmetric K x K x K tensor for every column v.

    Examples
    --------
    >>> contract(np.arange(8.0).reshape(2, 2, 2), np.eye(2))
    array([[0., 3.], [4., 7.]])
    """
    images = np.empty((tensor.shape[0], columns.shape[1]), tensor.dtype)

    def slices(rows: slice) -> None:
        once = tensor[rows] @ columns
        once *= columns
        images[rows] = once.sum(axis=1)

    each_part(slices, tensor.shape[0], tensor.shape[0])
    return images


def contraction(stack: FloatArray, direction: FloatArray) -> FloatArray:
    """Return the sum of the matrices of a stack, weighed by a direction."""
    return np.tensordot(direction, stack, axes=1)


def eigenvectors_of_one(stack: FloatArray, directions: FloatArray | None = None) -> FloatArray:
    """Eigenvectors of the stack's contraction with the first direction, or with a fixed one in general position."""
    direction = fixed_directions(stack.shape[0], 1)[0] if directions is None else directions[0]
    vectors: FloatArray = np.linalg.eigh(contraction(stack, direction))[1]
    return vectors


def each_part(function: Callable[[slice], None], size: int, K: int, longest: int | None = None) -> None:
    """Call a function on ranges that cover a size, in threads where the K components make that pay.

    Then no range is longer than ``longest``; without it there are four.
    """
    if K < THREADS_FROM:
        with single_threaded_blas():
            function(slice(0, size))
        return
    n_parts = PARTS if longest is None else -(-size // longest)
    edges = [size * part // n_parts for part in range(n_parts + 1)]
    for_each(function, [slice(first, last) for first, last in pairwise(edges)])
