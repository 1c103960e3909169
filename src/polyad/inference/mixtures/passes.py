"""What passes of EM tell of themselves, whatever they improve."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Passes:
    """How passes went that improved the parameters of a mixture."""

    # Mean log-likelihood of a row, and the logarithm of the prior, that each pass found for the parameters it started
    # from: it never falls.
    objective: tuple[float, ...]
    converged: bool  # whether the last pass gained less than the tolerance
