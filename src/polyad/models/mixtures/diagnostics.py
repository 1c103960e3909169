"""What a fit of a mixture tells about itself."""

from dataclasses import dataclass

from polyad.base.arrays import FloatArray
from polyad.models.certain import Certain
from polyad.models.stopwatch import listed_seconds


@dataclass(frozen=True)
class MixtureDiagnostics(Certain):
    """How a mixture was fitted.

    Attributes
    ----------
    n_rows
        Samples, or observations of all sequences.
    spectrum
        Eigenvalues of the covariance, or singular values of the cross moments, largest first; empty where moments had
        nothing to start from.
    energy
        The share of the whitened moments that is off the diagonal after the diagonalisation; NaN without moments.
    start
        Where the likelihood passes began: "moments" or "seeds".
    note
        Why moments were not the start, in words; empty where they were.
    objective
        What each pass of likelihood found: the mean log-likelihood of a row, priors included.
    n_moves
        Components that were put together and parted again after EM had come to rest.
    converged
        Whether the passes ended by themselves.
    seconds
        Of every step, by name.
    certainty
        How well the data determine each component, class or state, from 0 (not at all) to 1, in their order: the
        squared cosine of the angle by which noise turns what tells it from those nearest to it. Components of the same
        parameters, components without rows, and components beyond those that there are have about 0. Empty where it is
        not known (files of older versions).
    """

    n_rows: int
    spectrum: FloatArray
    energy: float
    start: str
    note: str
    objective: tuple[float, ...]
    n_moves: int
    converged: bool
    seconds: dict[str, float]
    certainty: FloatArray

    @property
    def n_passes(self) -> int:
        """Passes of likelihood that led to the result."""
        return len(self.objective)

    def __repr__(self) -> str:
        steps = listed_seconds(self.seconds)
        likelihood = f", {self.objective[-1]:.4f} nats per row" if self.objective else ""
        rest = "" if self.converged else ", not converged"
        why = f" ({self.note})" if self.note else ""
        known = f"; {self.how_many_determined('components')}" if self.certainty.size else ""
        return (
            f"MixtureDiagnostics({self.n_rows:,} rows; start from {self.start}{why}; {self.n_passes} likelihood "
            f"passes{likelihood}{rest}{known}; {steps})"
        )
