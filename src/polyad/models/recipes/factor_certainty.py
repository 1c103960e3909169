"""How well two views determine each of their factors: by how much the factors of parts of the rows differ."""

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.decompose.certainty import TIED, certainty
from polyad.decompose.similarity.sweeps import SimilarityDiagonalisation
from polyad.decompose.whitening.cross import CrossWhitening

NOISE_TAKEN = (
    4.0  # times the noise beside the diagonals that these must differ by: what noise chooses differs by up to that
)
ANOTHER = 2.0  # squared step from which a factor is another one: noise turns it no further


def factor_certainty(
    stack: FloatArray,
    taken_off: FloatArray,
    parts: list[tuple[FloatArray, FloatArray]],
    whitening: CrossWhitening,
    similarity: SimilarityDiagonalisation,
    n_columns: tuple[int, int],
) -> FloatArray:
    """Return the certainty of every factor, K numbers from 0 (not at all) to 1.

    Factors turn towards each other where their diagonals hardly differ (Gaussian sources), and out of the space of the
    K first directions where these do not stand out from noise (more factors than there are). It is the mean over both
    views of the squared cosine between the loadings and those of the whole population.

    Parameters
    ----------
    stack
        The target matrices of all rows, P x K x K.
    taken_off
        P: 1 where the whitened cross-covariance, the identity, was taken off a target, and 0 where it was not.
    parts
        Of each of a few parts of the rows, its whitened cross-covariance, K x K, and its targets.
    whitening, similarity
        What was found from all rows.
    n_columns
        M1 and M2.
    """
    K = stack.shape[1]
    if len(parts) < 2:
        return np.zeros(K)
    seconds, targets = (np.stack(items) for items in zip(*parts))
    # To first order a target B of a part, seen in the part's own whitening, is B - B_all (C - 1).
    whole = stack + taken_off[:, None, None] * np.eye(K)
    own = targets - np.einsum("pij,gjk->gpik", whole, seconds - np.eye(K), optimize=True)
    squares = squared_steps(similarity.inverse @ own @ similarity.rotation, similarity.diagonals)
    spectrum = whitening.spectrum
    noise = noise_of_views(spectrum, K, n_columns)
    if noise is None:
        roots = np.sqrt(spectrum[:K])
        noise = _standard_error(seconds * np.outer(roots, roots))
    inside = staying_of_views(spectrum, K, n_columns, noise)
    found = []
    # Along the singular directions loadings are sqrt(s) Q and sqrt(s) Q^-T; one turns towards another by its length.
    for columns, steps in ((similarity.rotation, squares), (similarity.inverse.T, squares.T)):
        loadings = spectrum[:K, None] * columns**2
        sizes = loadings.sum(axis=0)
        turned = np.where(np.eye(K, dtype=bool), 0.0, steps * sizes[:, None] / sizes).sum(axis=0)
        found.append(certainty(turned) * (inside @ loadings / sizes))
    return np.asarray(np.mean(found, axis=0), dtype=np.float64)


def squared_steps(similar: FloatArray, diagonals: FloatArray) -> FloatArray:
    """Return by how much of factor i noise adds to factor j, squared, K x K; at most 2, where nothing tells them apart.

    To first order it is <B_ij, d> / |d|^2, with B the matrices in the basis of the factors and d = diagonals_i -
    diagonals_j. Its spread over parts of the rows gives its error. From |d|^2 six times the noise of the entries
    beside the diagonals is taken off: a rotation that noise alone chooses makes diagonals differ as well,
    by up to that much.

    Parameters
    ----------
    similar
        G x P x K x K: the matrices of every part of the rows, in the basis of the factors.
    diagonals
        P x K, of all rows.

    Examples
    --------
    >>> matrices = np.diag([3.0, 1.0]) + 0.1 * np.array([[[0, 1], [-1, 0]], [[0, -1], [1, 0]]])
    >>> squared_steps(matrices[:, None], np.array([[3.0, 1.0]])).round(6)
    array([[0.      , 0.002603], [0.002603, 0.      ]])
    """
    n_parts = len(similar)
    differences = diagonals[:, :, None] - diagonals[:, None, :]
    varied = similar - similar.mean(axis=0)
    noise = (varied**2).sum(axis=(0, 1)) / (n_parts * (n_parts - 1))
    curvature = (differences**2).sum(axis=0) - NOISE_TAKEN * (noise + noise.T)
    sizes = (diagonals**2).sum(axis=0)
    flat = curvature <= TIED * (sizes[:, None] + sizes)
    steps = np.einsum("gpij,pij->gij", varied, differences)
    spread = (steps**2).sum(axis=0) / (n_parts * (n_parts - 1))
    found = np.where(flat, ANOTHER, np.minimum(spread / np.where(flat, 1.0, curvature) ** 2, ANOTHER))
    np.fill_diagonal(found, 0.0)
    return np.asarray(found, dtype=np.float64)


def noise_of_views(spectrum: FloatArray, n_components: int, n_columns: tuple[int, int]) -> float | None:
    """Return the standard deviation of the noise of an entry, from the singular values beyond the K-th.

    The median singular value of noise alone is a known multiple of it (Gavish and Donoho 2014). None where not all
    singular values are known, or none is left.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((60, 40))
    >>> round(noise_of_views(np.linalg.svd(noise)[1], 0, (60, 40)), 1)
    1.0
    """
    if spectrum.size < min(n_columns) or spectrum.size <= n_components:
        return None
    wide, narrow = max(n_columns) - n_components, min(n_columns) - n_components
    ratio = narrow / wide
    threshold = np.sqrt(2 * (ratio + 1) + 8 * ratio / (ratio + 1 + np.sqrt(ratio**2 + 14 * ratio + 1)))
    median = threshold / (0.56 * ratio**3 - 0.95 * ratio**2 + 1.82 * ratio + 1.43)
    return float(np.median(spectrum[n_components:]) / (np.sqrt(wide) * median))


def staying_of_views(spectrum: FloatArray, n_components: int, n_columns: tuple[int, int], noise: float) -> FloatArray:
    """Return the squared cosine of the angle by which noise turns each of the K first pairs of singular vectors, K.

    Noise of standard deviation ``noise`` in every entry turns the vectors of a singular value by an angle that
    random-matrix theory tells (Benaych-Georges and Nadakuditi 2012), all the way where the value is no larger than
    those of noise alone, noise (sqrt(M1) + sqrt(M2)). Values that stand out beyond the K-th turn them as well, the more
    the nearer they are.

    Examples
    --------
    >>> staying_of_views(np.array([1.0, 0.12]), 2, (20, 30), 0.01).round(3)
    array([0.997, 0.685])
    >>> float(staying_of_views(np.array([1.0, 0.12]), 2, (20, 30), 0.02)[1])
    0.0
    """
    if noise <= 0:
        return np.ones(n_components)
    wide, narrow = max(n_columns), min(n_columns)
    ratio = narrow / wide
    levels = (spectrum / (noise * np.sqrt(wide))) ** 2
    stands_out = levels > (1 + np.sqrt(ratio)) ** 2
    inner = np.where(stands_out, levels - 1 - ratio, 2 * np.sqrt(ratio))
    true = (inner + np.sqrt(np.maximum(inner**2 - 4 * ratio, 0.0))) / 2  # the squared value without noise
    cosines = np.where(stands_out, (true**2 - ratio) / (true**2 + true), 0.0)[:n_components]  # in the wider view
    beyond = spectrum[n_components:][stands_out[n_components:]]
    gaps = spectrum[:n_components, None] - beyond
    near = np.where(gaps > 0, (noise / np.where(gaps > 0, gaps, 1.0)) ** 2, np.inf).sum(axis=1)
    return np.asarray(cosines * certainty(near), dtype=np.float64)


def _standard_error(parts: FloatArray) -> float:
    """Return the standard deviation of an entry of the mean of some matrices, that of the median entry."""
    n_parts = len(parts)
    squares = ((parts - parts.mean(axis=0)) ** 2).sum(axis=0)
    return float(np.sqrt(np.median(squares) / (n_parts * (n_parts - 1))))
