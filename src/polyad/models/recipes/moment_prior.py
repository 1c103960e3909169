"""The prior that the moments of LDA tell: its total from the third moment, and each topic's part of it.

First and second moments agree with every total c0: for each there are topics that explain them. What tells the right
one are triples of words. With the topics of a total c0, and the shares that first and second moments then give them,
the third moment of the model is known; the total is the one under which it is nearest to that of the data. A change of
c0 changes the second moment by a matrix of rank one, so that all of it happens among K x K x K numbers: no pass.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg, optimize
from scipy.sparse.linalg import LinearOperator

from polyad.base.arrays import FloatArray
from polyad.decompose import Diagonalisation, Diagonaliser, diagonaliser
from polyad.decompose.certainty import certainty, leaving
from polyad.decompose.methods import rotation_method
from polyad.decompose.orthogonal.contractions import contract
from polyad.decompose.orthogonal.newton import newton_rotation
from polyad.decompose.polyadic import Polyadic
from polyad.decompose.unmixing import simplex_rows
from polyad.engine import Source, single_threaded_blas
from polyad.models.recipes.moment_start import MomentStart, SummedCounts, start_from_moments
from polyad.moments import RawMoments
from polyad.moments.symmetric import multilinear, outer_cube, symmetrise

SMALLEST, LARGEST = 0.05, 100.0  # totals that are looked at: beyond them documents have one topic, or all the same
HOLDS = 0.16  # of the third moment that the model may leave unexplained
HOPELESS = 0.5  # likewise, with topics that are only near those of the third moment: where it holds, they leave .13
TRIED = np.geomspace(SMALLEST, LARGEST, 12)  # totals, with topics that do not change with them
RESOLUTION = 0.1  # of the logarithm of the total, to which it is found
SHARP = 3.0  # times what is left unexplained, that is left with half or twice the total
SURE = 0.15  # standard error of a total, relative to it, up to which triples of words are asked alone
NOISY_ENTRIES = 1.0  # of the third moment that what is left amounts to: errors of the totals of samples are no larger
NEAR = 1e-4  # slope to which the topics of a total that is only tried are found
MOST_STEPS = 20  # of Newton, likewise


@dataclass(frozen=True)
class WhitenedMoments:
    """Moments of LDA along K directions in which the second one, for some total c0, is the unit matrix."""

    concentration: float  # the total c0 that they are made for
    mean: FloatArray  # the first moment along the directions, K
    sums: FloatArray  # what the images of the directions, second moment times direction, sum to over all words, K
    third: FloatArray  # K x K x K

    @property
    def _raw_second(self) -> FloatArray:
        return np.eye(self.mean.size) + _factors(self.concentration).pair * np.outer(self.mean, self.mean)

    @cached_property
    def _pairs(self) -> FloatArray:
        return symmetrise(self._raw_second[:, :, None] * self.mean)

    @cached_property
    def _cube(self) -> FloatArray:
        return outer_cube(self.mean)

    def products(self) -> FloatArray:
        """Return the inner products of the third moment and the tensors of the two terms of the mean, 3 x 3.

        Those two are the raw second moment times the mean, in all three places, and the mean to the third.
        """
        m, S = self.mean, self._raw_second
        along, image, size = self.third @ m, S @ m, float(m @ m)
        third_pairs, third_cube = 3 * float(np.vdot(along, S)), float(m @ along @ m)
        pairs = 3 * float(np.vdot(S, S)) * size + 6 * float(image @ image)
        pairs_cube = 3 * float(m @ image) * size
        third = float(np.vdot(self.third, self.third))
        return np.array(
            [[third, third_pairs, third_cube], [third_pairs, pairs, pairs_cube], [third_cube, pairs_cube, size**3]]
        )

    def third_at(self, c0: float) -> FloatArray:
        """Return the third moment for another total, along the same directions."""
        own, other = _factors(self.concentration), _factors(c0)
        return self.third + (own.square - other.square) * self._pairs - (own.cube - other.cube) * self._cube

    def sums_at(self, c0: float) -> FloatArray:
        """Return the sums of the images for another total."""
        return self.sums + (_factors(self.concentration).pair - _factors(c0).pair) * self.mean

    def whitening_at(self, c0: float, power: float = -0.5) -> FloatArray | None:
        """Return the symmetric K x K matrix that whitens the second moment for another total, or another power of it.

        It is None where a direction has no variance left.
        """
        size = float(self.mean @ self.mean)
        value = 1 + (_factors(self.concentration).pair - _factors(c0).pair) * size
        if value <= 1e-9:
            return None
        along = (value**power - 1) / max(size, 1e-300)
        return np.eye(self.mean.size) + along * np.outer(self.mean, self.mean)

    def left_by_model(self, c0: float, rotation: FloatArray) -> float:
        """Return the squared distance of the third moment from that of the model, for a total and its rotation.

        A topic scaled to unit variance that sums to q over the words has the share q^2 (c0 + 1) of the mean document,
        and with this share of a Dirichlet prior the value 2 / ((c0 + 2) q) of the whitened third moment. Distances are
        measured along the same directions for every total.
        """
        third, whitening, back = self.third_at(c0), self.whitening_at(c0), self.whitening_at(c0, 0.5)
        if whitening is None or back is None:
            return np.inf
        values = 2 / ((c0 + 2) * _away_from_zero(self.sums_at(c0) @ whitening @ rotation))
        topics = back @ rotation
        found = (contract(third, topics) * topics).sum(axis=0)
        model = float(values @ (topics.T @ topics) ** 3 @ values)
        return float((third**2).sum()) - 2 * float(values @ found) + model


def _away_from_zero(values: FloatArray) -> FloatArray:
    return np.where(np.abs(values) > 1e-6, values, 1e-6)


@dataclass(frozen=True)
class _Factors:
    """What the lower moments are multiplied by in the second and the third moment of LDA (eqs 39 and 40)."""

    pair: float
    square: float
    cube: float


def _factors(c0: float) -> _Factors:
    return _Factors(c0 / (c0 + 1), c0 / (c0 + 2), 2 * c0**2 / ((c0 + 1) * (c0 + 2)))


def total_of_moments(moments: WhitenedMoments, rotation: FloatArray) -> tuple[float, FloatArray] | None:
    """Return the total of the prior under which the model explains most of the third moment, and its rotation.

    Parameters
    ----------
    moments
        For any total.
    rotation
        The rotation that diagonalises their third moment.

    Returns
    -------
    tuple or None
        None where the model is far from the third moment whatever the total, as it is on text with many topics.
    """
    with single_threaded_blas():
        if _left_by_these_topics(moments, rotation, TRIED).min() > HOLDS:
            return None
        rotations = {moments.concentration: rotation}

        def left_by_own_topics(logarithm: float) -> float:
            return _left_by_own_topics(moments, rotations, float(np.exp(logarithm)))

        ends = np.log(SMALLEST), np.log(LARGEST)
        found = optimize.minimize_scalar(
            left_by_own_topics, bounds=ends, method="bounded", options={"xatol": RESOLUTION}
        )
    total = float(np.exp(found.x))
    return total, rotations[total]


@dataclass(frozen=True)
class HalfAndTwice:
    """What half of a total and twice as much leave of the third moment, over what the total itself leaves.

    Examples
    --------
    >>> HalfAndTwice(45.0, 45.0).is_sharp, HalfAndTwice(45.0, 45.0).error < 0.15, HalfAndTwice(1.2, 1.4).error > 0.5
    (True, True, True)
    """

    half: float
    twice: float

    @property
    def is_sharp(self) -> bool:
        """Whether both explain clearly less, so that the total is told by triples of words alone."""
        return min(self.half, self.twice) > SHARP and self.error <= SURE

    @property
    def error(self) -> float:
        """Standard error of the total, relative to it, by least squares: from the bend over what is left.

        What is left is the noise of few entries of the third moment: those of the topics with the smallest shares.
        """
        bend = max(self.half + self.twice - 2, 1e-12) / (2 * np.log(2) ** 2)
        return float((NOISY_ENTRIES * bend) ** -0.5)


def sides_of(moments: WhitenedMoments, rotation: FloatArray, total: float) -> HalfAndTwice:
    """Return how much worse half of a total and twice as much explain the third moment."""
    rotations = {total: rotation}
    with single_threaded_blas():
        left, *sides = (_left_by_own_topics(moments, rotations, c0) for c0 in (total, total / 2, 2 * total))
    return HalfAndTwice(*(each / max(left, 1e-300) for each in sides))


def _left_by_these_topics(moments: WhitenedMoments, rotation: FloatArray, totals: FloatArray) -> FloatArray:
    """Return the part of the third moment that the model leaves with topics that do not change with the total.

    Their shares are those that make up the mean. All sums are quadratic in the factors of the lower moments.
    """
    q = _away_from_zero(moments.sums @ rotation)
    along = moments.mean @ rotation
    products = moments.products()
    own = _factors(moments.concentration)
    on_diagonal = [
        (contract(moments.third, rotation) * rotation).sum(axis=0),
        3 * (1 + own.pair * along**2) * along,
        along**3,
    ]
    left = []
    for c0 in totals:
        other = _factors(c0)
        mix = np.array([1.0, own.square - other.square, other.cube - own.cube])
        values = 2 * along / ((c0 + 1) * (c0 + 2) * q**2)
        size = max(float(mix @ products @ mix), 1e-300)
        left.append((size - 2 * float(mix @ on_diagonal @ values) + float(values @ values)) / size)
    return np.array(left)


def _left_by_own_topics(moments: WhitenedMoments, rotations: dict[float, FloatArray], c0: float) -> float:
    """Return what the model leaves with the topics of a total, found from those of the nearest total tried."""
    whitening = moments.whitening_at(c0)
    if whitening is None:
        return np.inf
    nearest = min(rotations, key=lambda other: abs(np.log(other / c0)))
    third = multilinear(moments.third_at(c0), whitening)
    rotations[c0], *_ = newton_rotation(third, rotations[nearest], max_iter=MOST_STEPS, tol=NEAR)
    return moments.left_by_model(c0, rotations[c0])


class _Recording:
    """A diagonaliser that keeps the tensor it was given."""

    def __init__(self, method: str | Diagonaliser) -> None:
        self.method, self.tensor = diagonaliser(method), np.empty((0, 0, 0))

    def __call__(self, tensor: FloatArray, **options: Any) -> Diagonalisation:
        self.tensor = tensor
        return self.method(tensor, **options)


@dataclass(frozen=True)
class OwnTotal:
    """The total that the third moment tells, and the topics for it or for any other."""

    total: float  # see :func:`total_of_moments`
    _rotation: FloatArray
    _usual: MomentStart
    _moments: WhitenedMoments
    _method: Diagonaliser
    _images: FloatArray
    _mean: FloatArray
    _left: FloatArray

    def _kept(self, parts: FloatArray) -> FloatArray:
        """Return what of each component is in directions that are no noise, from the squares of its coordinates."""
        return np.asarray(1 - parts[len(parts) - self._usual.n_noise :].sum(axis=0))

    def sides(self) -> HalfAndTwice:
        """Return how much doubt the third moment leaves of the total."""
        return sides_of(self._moments, self._rotation, self.total)

    def start(self, c0: float) -> MomentStart | None:
        """Return the topics for a total; None where the second moment has too few directions for it."""
        moments, whitening = self._moments, self._moments.whitening_at(c0)
        if whitening is None:
            return None
        with single_threaded_blas():
            found = self._method(multilinear(moments.third_at(c0), whitening))
            images = self._images + np.outer(self._mean, moments.sums_at(c0) - moments.sums) / self._mean.sum()
            directions = whitening @ (np.where(found.values < 0, -1.0, 1.0) * found.rotation)
            components = (images @ directions).T
        parts = (directions / np.linalg.norm(directions, axis=0)) ** 2
        return replace(
            self._usual,
            topics=simplex_rows(components),
            values=np.abs(found.values),
            certainty=certainty(found.turned, self._left @ parts) * self._kept(parts),
            energy=found.energy,
        )


def start_at_usual_total(
    raw: RawMoments, corpus: SummedCounts, n_components: int, method: str | Diagonaliser, usual: float
) -> tuple[MomentStart, OwnTotal | None]:
    """Return the topics for the usual total, and the total that the third moment tells, if it does."""
    recording = _Recording(method)
    # Of words, such as those that SVTD reads its components off, other totals know nothing.
    wants_words = rotation_method(method).words != "none"

    def second_of(half: Source) -> LinearOperator:
        assert raw.of is not None
        return raw.of(half).at(usual).second

    start = start_from_moments(
        raw.at(usual),
        corpus,
        n_components,
        method if wants_words else recording,
        keep=True,
        second_of=None if raw.of is None else second_of,
    )
    found, start = start.polyadic, replace(start, polyadic=None)
    if found is None or wants_words or n_components == 1:
        return start, None
    edge = _sharp(found, recording)
    mean = raw.moments.mean
    moments = WhitenedMoments(usual, edge.whitener @ mean, edge.images.sum(axis=0), edge.third)
    rotation = edge.rotation
    if not edge.is_diagonal:
        with single_threaded_blas():
            if _left_by_these_topics(moments, rotation, TRIED).min() > HOPELESS:
                return start, None  # a second diagonalisation would be a third of the fit of 200 topics
            rotation = recording.method(edge.third).rotation
    total = total_of_moments(moments, rotation)
    if total is None:
        return start, None
    return start, OwnTotal(*total, start, moments, recording.method, edge.images, mean, edge.left)


@dataclass(frozen=True)
class _SharpEdge:
    """A decomposition in the space of the first K eigenvectors, all of which count the same.

    The rotation diagonalises its third moment, or is the nearest one to that of a soft edge.
    """

    whitener: FloatArray
    images: FloatArray
    third: FloatArray
    rotation: FloatArray
    left: FloatArray
    is_diagonal: bool


def _sharp(found: Polyadic, recording: _Recording) -> _SharpEdge:
    """Return a decomposition as it is with a sharp edge: what the model leaves unexplained is told for K topics.

    A soft edge has multiplied the directions by weights and let in some more; the first K are there without a pass.
    """
    whitening, K = found.whitening, found.whitening.n_components
    weights, rotation = whitening.weights[:K], found.diagonalisation.rotation
    if whitening.weights.size == K and (weights == 1).all():
        return _SharpEdge(whitening.whitener, found.images, recording.tensor, rotation, whitening.left, True)
    whitener = whitening.whitener[:K] / weights[:, None]
    third = recording.tensor[:K, :K, :K] / weights[:, None, None]
    third /= np.outer(weights, weights)
    with single_threaded_blas():
        nearest, _ = linalg.polar(rotation[:K])
    left = leaving(whitening.spectrum, np.ones(K), int(whitener.any(axis=0).sum()), whitening.noise)
    return _SharpEdge(whitener, found.images[:, :K] / weights, third, nearest, left, False)
