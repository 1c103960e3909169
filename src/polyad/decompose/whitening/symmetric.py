"""Whitening: the K directions in which the second moment has the most variance, scaled to unit variance."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from polyad.base.arrays import FloatArray
from polyad.base.plurals import how_many
from polyad.decompose.certainty import leaving
from polyad.decompose.whitening.edge import LEAST_WEIGHT, WIDEST, edge_weights
from polyad.decompose.whitening.lanczos import BLOCK, largest_eigenpairs

SHARP = 1e-6  # angle to which a space with a sharp edge is known, by a bound
SOFT = 5e-6  # residual of one with a soft edge; its angle is a fifth of that
DENSE_SIZE = 256  # up to here a dense eigendecomposition costs less than a Krylov basis


class RankError(ValueError):
    """The second moment does not have as many positive directions as components were asked for.

    Attributes
    ----------
    supported
        How many components the data support.
    spectrum
        The eigenvalues found, largest first.
    """

    def __init__(self, message: str, supported: int, spectrum: FloatArray) -> None:
        super().__init__(message)
        self.supported = supported
        self.spectrum = spectrum

    def __reduce__(self) -> tuple[type["RankError"], tuple[str, int, FloatArray]]:
        """Keep all three parts when the error travels from another process."""
        return type(self), (str(self), self.supported, self.spectrum)


@dataclass(frozen=True)
class Whitening:
    """A whitener of a second moment S.

    Attributes
    ----------
    whitener
        W, K x M, with W S W' = I. With a soft edge the rows are multiplied by weights, and there may be more than K.
    n_components
        K.
    weights
        Of the rows: see :mod:`polyad.decompose.whitening.edge`. All are 1 where the edge is sharp.
    spectrum
        Eigenvalues of S in the metric, largest first; more than K of them where they were found on the way.
    noise
        Size of the most negative eigenvalue found: S has none in expectation, so this is sampling noise.
    residual
        Largest relative residual of the K eigenpairs.
    subspace_error
        Bound of the sine of the angle between the space of the K directions and that of the sample.
    left
        For each row: the squared angle by which noise turns its direction out of the space of all.
    """

    whitener: FloatArray
    n_components: int
    weights: FloatArray
    spectrum: FloatArray
    noise: float
    residual: float
    subspace_error: float
    left: FloatArray

    @property
    def gap(self) -> float:
        """The K-th eigenvalue over the next one; near 1 the data do not single out K components."""
        K = self.n_components
        if self.spectrum.size <= K or self.spectrum[K] <= 0:
            return float("inf")
        return float(self.spectrum[K - 1] / self.spectrum[K])


def whiten(
    second: LinearOperator,
    n_components: int,
    *,
    metric: FloatArray | None = None,
    strict: bool = True,
    few_products: bool = False,
    soft_edge: bool = False,
) -> Whitening:
    """Return a whitener W with W S W' = I.

    Eigenvectors are found until the space that they span is known to an angle of 1e-6, or, where the gap after the last
    of them is too small for that, until ``krylov_columns`` are used up. A soft edge needs no gap.

    Parameters
    ----------
    second
        S, an M x M symmetric operator.
    n_components
        K.
    metric
        A non-negative scale a for each coordinate: eigenvectors of ``diag(a) S diag(a)`` are used. Coordinates
        with scale 0 are left out, and the work is done in the others alone. None is a scale of 1 for all.
    strict
        Refuse components in the noise, too: those whose eigenvalue is not larger than that of the most negative
        one, which S has from sampling alone. False refuses only what is not above zero and rounding.
    few_products
        Multiply S with many columns a few times, rather than with a few columns many times: for data that must be read
        again for every product.
    soft_edge
        Let directions near the K-th count with weights that fall with their eigenvalue: W S W' is then the diagonal of
        the squares of the weights. See :mod:`polyad.decompose.whitening.edge`.

    Raises
    ------
    RankError
        Where the K-th eigenvalue is not above zero and the noise; it tells how many are.

    Examples
    --------
    >>> from scipy.sparse.linalg import aslinearoperator
    >>> S = np.diag([4.0, 1.0, 0.0])
    >>> whitening = whiten(aslinearoperator(S), 2)
    >>> np.allclose(whitening.whitener @ S @ whitening.whitener.T, np.eye(2))
    True
    """
    M = second.shape[0]
    scale = np.ones(M) if metric is None else np.asarray(metric, dtype=np.float64)
    used = np.flatnonzero(scale > 0)
    scale = scale[used]
    _refuse_impossible(n_components, M, used.size)

    def restricted(columns: FloatArray) -> FloatArray:
        if used.size == M:
            return scale[:, None] * (second @ (scale[:, None] * columns))
        full = np.zeros((M, columns.shape[1]))
        full[used] = scale[:, None] * columns
        return scale[:, None] * (second @ full)[used]

    edge = max(min(WIDEST, used.size - n_components - 1), 0) if soft_edge else 0

    def weigh(values: FloatArray) -> FloatArray:
        return edge_weights(values, n_components, edge)

    if used.size <= max(DENSE_SIZE, 4 * n_components):
        S = restricted(np.eye(used.size))
        values, vectors = linalg.eigh((S + S.T) / 2)
        values, vectors = values[::-1], vectors[:, : -n_components - edge - 1 : -1]
        residuals, subspace_error = np.zeros(n_components), 0.0
    else:
        operator = LinearOperator(
            (used.size, used.size),
            matvec=lambda vector: restricted(vector.reshape(-1, 1)).ravel(),
            matmat=restricted,
            dtype=np.float64,
        )
        pairs = largest_eigenpairs(
            operator,
            n_components + edge,
            most_columns=krylov_columns(n_components + edge, few_products),
            block_columns=block_columns(n_components, few_products),
            weigh=weigh if edge else None,
            tol=SOFT if edge else SHARP,
        )
        values, vectors, residuals = pairs.values, pairs.vectors, pairs.residuals[:n_components]
        subspace_error = pairs.subspace_error
    _refuse_low_rank(values, n_components, used.size, strict)
    weights = weigh(values)
    weights = weights[: max(n_components, int((weights >= LEAST_WEIGHT).sum()))]
    kept = values[: weights.size]
    columns = np.zeros((M, kept.size))  # in the order of memory in which passes use it
    columns[used] = _fix_signs(vectors[:, : kept.size]) * scale[:, None] * (weights / np.sqrt(kept))
    noise = float(max(-values[-1], 0.0))
    residual = float((residuals / kept[:n_components]).max())
    left = leaving(values, weights, used.size, noise)
    return Whitening(columns.T, n_components, weights, values, noise, residual, subspace_error, left)


def krylov_columns(n_components: int, few_products: bool = False) -> int:
    """Return the most columns of the basis that K eigenvectors are looked for in; text needs two thirds of them."""
    block = block_columns(n_components, few_products)
    return -(-(6 * n_components + 16 * block) // block) * block


def block_columns(n_components: int, few_products: bool = False) -> int:
    """Return the columns that Lanczos multiplies at a time: small blocks need fewer columns, large ones fewer reads.

    170,374 speeches with 50 components take 37 products with 8 columns each, 26 with 16 and some 19 with 32, in 7, 9
    and 13 seconds where they lie in memory.
    """
    return (2 if few_products and n_components > BLOCK else 1) * BLOCK


def _fix_signs(vectors: FloatArray) -> FloatArray:
    """Make the entry of largest size in each column positive, whatever sign LAPACK chose."""
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)


def _refuse_impossible(n_components: int, n_features: int, n_used: int) -> None:
    if not isinstance(n_components, int | np.integer) or isinstance(n_components, bool) or n_components < 1:
        raise ValueError(f"n_components is {n_components!r}; give a whole number from 1 up.")
    if n_components > n_features:
        raise ValueError(
            f"n_components is {n_components}, but X has only {how_many(n_features, 'columns')}: "
            f"ask for at most {how_many(n_features, 'components')}."
        )
    if n_components > n_used:
        raise RankError(
            f"n_components is {n_components}, but only {n_used} of the {n_features} columns carry information: "
            f"ask for at most {how_many(n_used, 'components')}.",
            supported=n_used,
            spectrum=np.empty(0),
        )


def _refuse_low_rank(values: FloatArray, n_components: int, n_used: int, strict: bool) -> None:
    floor = 1e-13 * n_used * max(float(np.abs(values).max(initial=0.0)), 1e-300)
    limit, what = (floor, "rounding") if not strict or -values[-1] <= floor else (-values[-1], "the noise")
    supported = int((values > limit).sum())
    if supported < n_components:
        raise RankError(
            f"The second moment has only {how_many(supported, 'directions')} with a variance above {what} "
            f"({limit:.2g}), and {n_components} components were asked for: the data support at most {supported}. "
            "Ask for fewer components, or give more (or longer) documents.",
            supported=supported,
            spectrum=values,
        )
