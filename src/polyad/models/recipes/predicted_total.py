"""The total of a Dirichlet prior under which words of documents are predicted best.

Half of the tokens of some thousand documents are predicted from the other half, with the topics that the moments give
for a total and with the prior of this total. A total too small or too large leads to topics that are mixtures of
others, and words know it: of one giant topic with dwarfs, whose triples of words tell the total to a third at best,
they tell it to a tenth. They err on one side. Shares are taken for what is most probable of them, and topics of the
moments are the noisier the larger the total is, so that wide priors seem narrower than they are.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.engine import Source, first_rows, rows
from polyad.engine.order.keys import row_cells
from polyad.engine.sources.repeated import weighted

PREDICTED_DOCUMENTS = 4096  # of which words are predicted: totals then err by two to ten per cent by chance
PARTS = 8  # of these documents, whose differences tell that
BY = "prediction"
AGREE = 1.35  # ratio of two totals up to which both may be right to a quarter
FURTHEST = 4.0  # octaves from the total of triples
STEP = 0.5  # octaves between totals, at the end
# What prediction errs by besides chance, relative to the total: measured on samples of five topics with totals from .1
# to 20 (docs/theory.md).
LEAST_BIAS, BIAS_OF_ONE = 0.1, 0.08
# Total from which the third moment has more to say where prediction would lower its total: half of it, in logarithms.
NARROW = 2.0

Bits = Callable[[float], FloatArray | None]  # of parts of documents, with a total; None where it has no topics


@dataclass(frozen=True)
class Opinion:
    """A total and its standard error, relative to it."""

    by: str  # what it was found from
    total: float
    error: float

    def contradicts(self, total: float) -> bool:
        """Tell whether another total is further away than two standard errors explain."""
        return abs(float(np.log(self.total / total))) > max(2 * self.error, float(np.log(AGREE)))


def predicted_parts(source: Source) -> list[Source]:
    """Return the documents whose words are predicted, in parts that are alike; documents without words are in none."""
    some = first_rows(source, PREDICTED_DOCUMENTS)
    has_words = rows(row_cells, some) > 0
    part_of = np.where(has_words, (np.cumsum(has_words) - 1) % PARTS, PARTS)
    return [weighted(some, part_of == number) for number in range(min(PARTS, int(has_words.sum())))]


def predicted_total(bits: Bits, first: float, furthest: float = FURTHEST) -> Opinion:
    """Return the total of the least bits per token, on a parabola through three totals, half an octave apart.

    Parameters
    ----------
    bits
        Bits per token of parts of the documents, given a total.
    first
        Where to look first; then an octave below and above, and so on.
    furthest
        How many octaves away from it to look at most.

    Examples
    --------
    >>> found = predicted_total(lambda total: 8 + np.arange(8) / 100 + np.log(total / 3) ** 2, 1.0)
    >>> round(found.total, 6), round(found.error, 2)
    (3.0, 0.34)
    """
    found: dict[float, FloatArray | None] = {0.0: bits(first)}
    best = 0.0
    for step in (1.0, STEP):
        before = None
        while best != before:
            for octave in (best - step, best + step):
                if octave not in found and abs(octave) <= furthest:
                    found[octave] = bits(first * 2.0**octave)
            known = {octave: float(each.mean()) for octave, each in found.items() if each is not None}
            best, before = min(known, key=lambda octave: (known[octave], abs(octave))), best
    around = [each for octave in (best - STEP, best, best + STEP) if (each := found.get(octave)) is not None]
    if len(around) < 3:  # the least is not between two others
        return Opinion(BY, first * 2.0**best, float(np.log(2)))
    parts = np.stack(around)
    n_parts = parts.shape[1]
    again = STEP * _least((parts.sum(axis=1, keepdims=True) - parts) / (n_parts - 1))
    chance = np.sqrt((n_parts - 1) * again.var()) * np.log(2)
    total = first * 2.0 ** (best + STEP * float(_least(parts.mean(axis=1, keepdims=True))[0]))
    return Opinion(BY, total, float(np.hypot(chance, LEAST_BIAS + BIAS_OF_ONE * total)))


def _least(bits: FloatArray) -> FloatArray:
    """Return where parabolas through three points, -1, 0 and 1, are lowest; between these."""
    below, middle, above = bits
    curvature = below + above - 2 * middle
    flat = curvature <= 0
    return np.where(flat, 0.0, np.clip((below - above) / 2 / np.where(flat, 1.0, curvature), -1, 1))


def agreed(by_triples: float, by_prediction: float) -> float:
    """Return the total that triples of words and prediction agree on.

    Prediction raises a total, and what it says of narrow priors is right: there it lowers totals, too. Of wide ones it
    says too little, and too small a total errs by far more than one too large.

    Examples
    --------
    >>> agreed(0.5, 1.0), round(agreed(0.4, 0.1), 3), round(agreed(20.0, 10.0), 1)
    (1.0, 0.1, 19.5)
    """
    if by_prediction >= by_triples:
        return by_prediction
    say = 1 / (1 + (by_prediction / NARROW) ** 2)
    return float(by_triples ** (1 - say) * by_prediction**say)


def on_the_safe_side(total: float, error: float) -> float:
    """Return the total that moments are made for, where it is in doubt: larger by half of its standard error.

    Topics of a total that is too small have a part of each other, which no data take away; those of one that is too
    large lack what they have in common, and where that would be less than nothing it is zero. So a total too large by a
    quarter errs by less than the true one while documents are few, and one too small by a quarter by up to three times
    as much. Half, because the errors of totals by triples are told as about twice of what they are.

    Examples
    --------
    >>> on_the_safe_side(4.0, 0.5)
    5.0
    """
    return total * (1 + error / 2)
