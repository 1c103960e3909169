"""The four steps in one call: from the moments of any one-view model to its components."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from polyad.base.arrays import FloatArray
from polyad.decompose.certainty import certainty
from polyad.decompose.diagonalisation import Diagonalisation, Diagonaliser
from polyad.decompose.methods import Words, rotation_method
from polyad.decompose.orthogonal.registry import diagonaliser
from polyad.decompose.whitening.symmetric import Whitening, whiten
from polyad.engine import for_each, single_threaded_blas, sum_over
from polyad.moments.chunks import chunks
from polyad.moments.symmetric import SINGLE_FROM, SymmetricMoments

FREQUENT_WORDS = 256  # among which SVTD chooses
SOLVED, SOLVED_OF_SEVEN_DIGITS = 1e-10, 1e-8  # tolerances of a diagonaliser, by the precision of a third moment
PARTIAL_SUMS = 16  # that a pass holds: in flight in a few threads, and one for each level of the sum


@dataclass(frozen=True)
class Polyadic:
    """Components of a model, before they are put on the simplex.

    Attributes
    ----------
    components
        K x M, each with the scale that gives it unit variance in S: S = components' components for exact moments.
        The sign makes its value positive.
    values
        The values of the whitened tensor, all positive.
    certainty
        How well the data determine each component, from 0 (not at all) to 1: the squared cosine of the angle by which
        their noise turns it.
    whitening, diagonalisation
        What the two steps found.
    images
        Of the directions that were whitened: second moment times whitener, M x K, or more with a soft edge.
    """

    components: FloatArray
    values: FloatArray
    certainty: FloatArray
    whitening: Whitening
    diagonalisation: Diagonalisation
    images: FloatArray


def polyadic_decomposition(
    moments: SymmetricMoments,
    n_components: int,
    *,
    method: str | Diagonaliser = "jacobi",
    metric: FloatArray | None = None,
    strict: bool = True,
    max_iter: int | None = None,
) -> Polyadic:
    """Whiten, diagonalise and turn back.

    Parameters
    ----------
    moments
        Of any model of :mod:`polyad.moments`.
    n_components
        K.
    method
        A diagonaliser: see :data:`polyad.decompose.METHODS`. With "svtd" the contractions are those of the most
        frequent words, with "svtd_all" and "jd_f" those of all words; "svtd" and "svtd_all" read components off the
        word rows of the third moment.
    metric, strict
        Of the whitening: see :func:`polyad.decompose.whiten`.
    max_iter
        Of the diagonaliser.

    Examples
    --------
    >>> from polyad.moments import single_topic_population
    >>> topics = np.array([[0.7, 0.2, 0.1, 0.0], [0.0, 0.1, 0.3, 0.6]])
    >>> found = polyadic_decomposition(single_topic_population(topics, np.array([0.3, 0.7])), 2)
    >>> np.sort(np.abs(found.components / found.components.sum(axis=1, keepdims=True)).round(8), axis=0)
    array([[0. , 0.1, 0.1, 0. ], [0.7, 0.2, 0.3, 0.6]])
    """
    with single_threaded_blas():
        scale = np.ones(moments.mean.size) if metric is None else np.asarray(metric, dtype=np.float64)
        own, used = _of_used_words(moments, scale, n_components)
        whitening = whiten(
            own.second,
            n_components,
            metric=scale[used],
            strict=strict,
            few_products=moments.passes_are_dear,
            soft_edge=True,
        )
        own_whitener = whitening.whitener
        whitening = replace(whitening, whitener=_among_all_words(own_whitener, used, moments.mean.size))
        images = moments.second @ whitening.whitener.T
        known = rotation_method(method)
        directions = _word_directions(moments, images, known.words)
        diagonalisation = diagonaliser(method)(
            own.third(own_whitener, images[used]),
            directions=directions,
            max_iter=max_iter,
            tol=SOLVED if len(own_whitener) < SINGLE_FROM else SOLVED_OF_SEVEN_DIGITS,
        )
        diagonalisation = _largest(diagonalisation, images, n_components)
        values = diagonalisation.values
        if known.reads_rows:
            unwhitened = diagonalisation.rotation.T @ whitening.whitener
            components = _singular_value_rows(moments, unwhitened, values)
        else:
            signs = np.where(values < 0, -1.0, 1.0)
            components = _turned_back(images, signs * diagonalisation.rotation)
    sure = certainty(diagonalisation.turned, whitening.left @ diagonalisation.rotation**2)
    return Polyadic(components, np.abs(values), sure, whitening, diagonalisation, images)


def _largest(found: Diagonalisation, images: FloatArray, n_components: int) -> Diagonalisation:
    """Return the K components with the largest loadings, where a soft edge has let in more.

    In a model they are the most frequent ones, and the others consist of directions with small weights.
    """
    if found.rotation.shape[1] <= n_components:
        return found
    sizes = sum_over(lambda words: np.abs(images[words] @ found.rotation).sum(axis=0), chunks(images.shape[0]))
    kept = np.sort(np.argsort(-sizes, kind="stable")[:n_components])
    return replace(
        found, rotation=found.rotation[:, kept], diagonals=found.diagonals[:, kept], turned=found.turned[kept]
    )


def _turned_back(images: FloatArray, rotation: FloatArray) -> FloatArray:
    """Return the components, K x M; they lie word by word in memory, as they are used next."""
    columns = np.empty((images.shape[0], rotation.shape[1]))

    def multiply(words: slice) -> None:
        np.matmul(images[words], rotation, out=columns[words])

    for_each(multiply, chunks(images.shape[0]))
    return columns.T


def copies_used_words(n_components: int, n_words: int, n_cells: int) -> bool:
    """Tell whether the counts of the words used are copied: where they take no more than a pass's partial sums."""
    return (8 + 4) * n_cells <= 8 * PARTIAL_SUMS * n_words * n_components


def _of_used_words(
    moments: SymmetricMoments, scale: FloatArray, n_components: int
) -> tuple[SymmetricMoments, NDArray[np.intp]]:
    """Return the moments of the words that the whitening looks at, and these words: the others are only carried along.

    Where there are fewer words than components, :func:`whiten` says so, in terms of all of them; and where the copy
    would be large, all words are carried along.
    """
    used = np.flatnonzero(scale > 0)
    enough = isinstance(n_components, int | np.integer) and used.size >= n_components
    small = not moments.passes_are_dear and copies_used_words(n_components, scale.size, moments.n_cells)
    if enough and used.size < scale.size and small:
        return moments.within(used), used
    return moments, np.arange(scale.size)


def _among_all_words(whitener: FloatArray, used: NDArray[np.intp], n_words: int) -> FloatArray:
    columns = np.zeros((n_words, whitener.shape[0]))
    columns[used] = whitener.T
    return columns.T


def _word_directions(moments: SymmetricMoments, images: FloatArray, words: Words) -> FloatArray | None:
    """Whitened directions of words, for methods that contract the third moment with words.

    Contractions with many directions have sums of squares that depend on the directions' inner products alone, so that
    all words, "summed", are as good as K directions with the same: those of a root of the K x K matrix of products.
    """
    if words == "none":
        return None
    if words == "summed":
        values, vectors = linalg.eigh(images.T @ images)
        return np.ascontiguousarray((vectors * np.sqrt(np.maximum(values, 0.0))).T)
    if words == "all":
        return images
    return images[np.argsort(-moments.mean, kind="stable")[:FREQUENT_WORDS]]


def _singular_value_rows(moments: SymmetricMoments, directions: FloatArray, values: FloatArray) -> FloatArray:
    """Components as T(v_k, v_k, e_m) / value_k: SVTD's reading of the rows, brought to the common scale."""
    return moments.third_rows(directions) / values[:, None]
