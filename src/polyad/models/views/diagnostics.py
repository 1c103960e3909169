"""What a fit of signals or of two views tells about itself."""

from dataclasses import dataclass

from polyad.base.arrays import FloatArray
from polyad.base.plurals import how_many
from polyad.models.certain import Certain
from polyad.models.stopwatch import listed_seconds


@dataclass(frozen=True)
class FactorDiagnostics(Certain):
    """How a fit went.

    Attributes
    ----------
    spectrum
        Eigenvalues (one view) or singular values in the metric (two views), largest first.
    gap
        The K-th of them over the next one; near 1 the data do not single out K components.
    energy
        The share of the matrices' sum of squares that is off the diagonal after the diagonalisation; 0 is exact.
    statistics
        The statistics used, chosen by the user or from the data.
    reliability
        Correlation of third cumulants between the even and the odd samples: near 1 for skewed sources. NaN where
        it was not needed.
    n_iter
        Sweeps or iterations of the diagonaliser; of a fit with likelihood steps, these.
    converged
        Whether they met their own test of convergence.
    seconds
        Of every step, by name.
    certainty
        How well the data determine each source, from 0 (not at all) to 1, in their order: the squared cosine of the
        angle by which noise turns it towards the others. Two Gaussian sources, which no statistic tells apart, have
        about 0, and so have factors of two views that were asked for beyond those that there are. Empty where it is not
        known (files of older versions).
    """

    spectrum: FloatArray
    gap: float
    energy: float
    statistics: str
    reliability: float
    n_iter: int
    converged: bool
    seconds: dict[str, float]
    certainty: FloatArray

    def __repr__(self) -> str:
        known = f", {self.how_many_determined('components')}" if self.certainty.size else ""
        rest = "" if self.converged else ", not converged"
        return (
            f"FactorDiagnostics(statistics {self.statistics}; gap {self.gap:.2f}, off-diagonal energy "
            f"{self.energy:.3f}{known}; {how_many(self.n_iter, 'iterations')}{rest}; "
            f"{listed_seconds(self.seconds)})"
        )
