"""How far estimated moments are from others: Err2 and Err3 of the SVTD paper."""

import numpy as np

from polyad.moments.symmetric import SymmetricMoments

MOST_WORDS = 400  # of which all triples are held


def moment_errors(estimated: SymmetricMoments, true: SymmetricMoments) -> tuple[float, float]:
    """Return the Frobenius norms of the differences of the second and of the third moments, over all words.

    Parameters
    ----------
    estimated, true
        Moments over the same words, 400 at most: all triples of words are made.

    Examples
    --------
    >>> from polyad.moments import single_topic_population
    >>> one, other = (single_topic_population(np.eye(2), np.array([w, 1 - w])) for w in (0.5, 0.6))
    >>> np.round(moment_errors(one, other), 6)
    array([0.141421, 0.141421])
    """
    M = true.mean.size
    if estimated.mean.size != M:
        raise ValueError(f"The moments are over {estimated.mean.size} and {M} words: give moments over the same words.")
    if M > MOST_WORDS:
        raise ValueError(f"There are {M} words, and all triples of more than {MOST_WORDS} take too much memory.")
    eye = np.eye(M)
    second, third = (
        float(np.linalg.norm(found - wanted))
        for found, wanted in (
            (estimated.second @ eye, true.second @ eye),
            (estimated.third(eye), true.third(eye)),
        )
    )
    return second, third
