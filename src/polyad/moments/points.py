"""Processing points of generalised covariances: what their exponentials do to the weights of samples."""

from polyad.base.arrays import FloatArray


def refuse_lopsided(totals: FloatArray, squares: FloatArray, n_rows: int, advice: str) -> None:
    """Refuse points whose exponentials leave fewer than two samples with a noticeable weight.

    Parameters
    ----------
    totals, squares
        For each point the sum of the weights of all samples, and that of their squares.
    n_rows
        How many samples there are.
    advice
        What to do about it.
    """
    effective = totals**2 / squares
    if effective.min() < 2:
        worst = int(effective.argmin())
        raise ValueError(
            f"The exponentials of processing point {worst} give nearly all the weight to one sample (effective "
            f"sample size {effective[worst]:.2f} of {n_rows}). {advice}"
        )
