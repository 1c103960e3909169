"""Where polishing begins: topics of the moments, with the prior that the moments tell or with the usual one.

Samples of the model have a prior, and the moments tell it; passes of likelihood that suppose another one lead away from
the truth. Text has no Dirichlet prior: the third moment may fit one with a total of five, and words are predicted best
with a total of one half. So words decide. The tokens of one half of some documents are predicted from the other half,
by the topics and the prior of the moments and by the usual ones, before any pass is made.
"""

import logging
from dataclasses import dataclass, replace

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.base.caller import warn_caller
from polyad.base.determined import NoiseWarning
from polyad.decompose import Diagonaliser
from polyad.engine import Block, Source, first_rows, total
from polyad.inference.topic_prior import SMOOTHING
from polyad.models.recipes.dirichlet import JUDGED_DOCUMENTS, polish_prior, predicted_bits
from polyad.models.recipes.moment_prior import LARGEST, SMALLEST, OwnTotal, start_at_usual_total
from polyad.models.recipes.moment_start import FLOOR_SHARE, UNIGRAM_SHARE, MomentStart, SummedCounts, start_from_moments
from polyad.moments import RawMoments
from polyad.moments.counts.concentration import estimate_concentration, mean_shares, total_error
from polyad.moments.counts.weights import effective_documents

logger = logging.getLogger("polyad")

USUAL_CONCENTRATION = 2.0  # c0 of the moments of text: anything from .1 to 5 gives the same topics after polishing
AS_WELL = 0.01  # bits per token: samples of the model differ by half of that at most, and text by two to five times
FAR_WORSE = 0.02  # likewise: then no other total nearby can be right
AGREE = 1.35  # ratio of the largest to the smallest of three totals, up to which all may be right to a quarter
TELLS = 0.25  # standard error of the total, relative to it, up to which documents tell it
LEAST_SHARE = 1e-3  # of a topic, in parts of an even share: a prior of 0 would shut the topic out


@dataclass(frozen=True)
class PriorStart:
    """What polishing begins with."""

    start: MomentStart  # topics of the moments
    topics: FloatArray  # the same with some of the corpus' own word distribution in each, K x M
    prior: FloatArray  # Dirichlet parameters of the shares while topics are polished, K
    is_own: bool  # whether this is the prior that the moments tell, or the user: then topics are near the truth already
    concentration: float | None = None  # total that the moments were made for; None for models without one
    by_triples: float | None = None  # total of the third moment, where half or twice of it explain it nearly as well
    by_prediction: float | None = None  # total under which words are predicted best, likewise
    total_error: float = 0.0  # standard error of the total of the third moment, relative to it


def begin_with_total(
    raw: RawMoments, corpus: SummedCounts, n_components: int, method: str | Diagonaliser, c0: float
) -> PriorStart:
    """Begin with a total that the user gives; each topic has the part of it that documents have of the topic."""
    start = start_from_moments(raw.at(c0), corpus, n_components, method)
    return with_own_prior(start, corpus, c0, c0)


def begin_with_prior(
    raw: RawMoments, corpus: SummedCounts, n_components: int, method: str | Diagonaliser, prior: FloatArray
) -> PriorStart:
    """Begin with a prior that the user gives: its largest entry belongs to the topic with the largest share, and so on.

    Topics have no numbers before they are found. Their shares are those of the moments.
    """
    c0 = float(np.sort(prior).sum())  # the same for any order
    start = start_from_moments(raw.at(c0), corpus, n_components, method)
    return matched(with_own_prior(start, corpus, c0, c0), prior)


def matched(begun: PriorStart, prior: FloatArray) -> PriorStart:
    """Return a beginning with a given prior, its entries in the order of the topics' own ones."""
    own = np.empty_like(prior)
    own[np.argsort(-begun.prior, kind="stable")] = np.sort(prior)[::-1]
    return replace(begun, prior=own)


def begin(
    raw: RawMoments, corpus: SummedCounts, n_components: int, method: str | Diagonaliser, *, polished: bool
) -> PriorStart:
    """Begin with the total that the third moment tells, if it predicts words as well as the usual one.

    The log says where it tells none, or one that does not predict: a warning would come with every text.
    """
    start, own = start_at_usual_total(raw, corpus, n_components, method, USUAL_CONCENTRATION)
    usual = with_usual_prior(start, corpus, USUAL_CONCENTRATION, polished=polished)
    begun = None if own is None else _begin_at(own, corpus, own.total)
    if own is None or begun is None:
        logger.info(
            "No total of a Dirichlet prior explains the third moment: topics are polished with the usual prior."
        )
        return usual
    judged = first_rows(corpus.source, JUDGED_DOCUMENTS)
    usual_bits, own_bits = _predicted_bits(usual, judged), _predicted_bits(begun, judged)
    if own_bits <= usual_bits + FAR_WORSE:
        begun, own_bits = _refined(own, begun, own_bits, corpus, judged)
        if own_bits < usual_bits + AS_WELL:
            return begun
    logger.info(
        "The total of a Dirichlet prior nearest to the third moment, %.2g, predicts words worse than the usual prior.",
        own.total,
    )
    return usual


def _begin_at(own: OwnTotal, corpus: SummedCounts, c0: float) -> PriorStart | None:
    start = own.start(c0)
    return None if start is None else with_own_prior(start, corpus, c0, c0)


def _refined(
    own: OwnTotal, begun: PriorStart, bits: float, corpus: SummedCounts, judged: Source
) -> tuple[PriorStart, float]:
    """Return the start with the larger of the totals of the third moment and of prediction, and its bits.

    Where one topic makes up most documents the third moment is nearly the same for half its total and for twice as
    much, and words are not. The least bits per token of the judged documents are those of a parabola through three
    points: half the total, the total of the third moment, whose ``bits`` are given, and twice as much.

    Shares that are most probable predict best with a total below that of wide priors, and too small a total errs by far
    more than one too large: prediction raises the total, and where it would lower it, it says that it is in doubt. A
    sharp total stays, unless twice as much predicts better. That never was so on samples with a Dirichlet prior. Topics
    that go together have none, and the total nearest to their third moment is too small.
    """
    sides = own.sides()
    is_sharp, begun = sides.is_sharp, replace(begun, total_error=sides.error)
    if not is_sharp:
        begun = replace(begun, by_triples=own.total, by_prediction=own.total)
    above = _begin_at(own, corpus, float(np.clip(2 * own.total, SMALLEST, LARGEST)))
    if above is None:
        return begun, bits
    bits_above = _predicted_bits(above, judged)
    if is_sharp and bits_above >= bits:
        return begun, bits
    below = _begin_at(own, corpus, float(np.clip(own.total / 2, SMALLEST, LARGEST)))
    if below is None:
        return begun, bits
    bits_below = _predicted_bits(below, judged)
    curvature, slope = bits_below + bits_above - 2 * bits, (bits_above - bits_below) / 2
    step = float(np.clip(-slope / curvature, -1, 1)) if curvature > 0 else float(np.sign(bits_below - bits_above))
    step = round(2 * step) / 2  # in octaves; so that a document more or less hardly ever changes it
    if not is_sharp:
        begun = replace(begun, by_prediction=own.total * 2**step)
    found = _begin_at(own, corpus, float(np.clip(own.total * 2**step, SMALLEST, LARGEST))) if step > 0 else None
    if found is None:
        return begun, bits
    found = replace(begun, start=found.start, topics=found.topics, prior=found.prior, concentration=found.concentration)
    return found, _predicted_bits(found, judged)


def estimated_prior(
    raw: RawMoments, source: Source, begun: PriorStart, components: FloatArray, weights: str | float
) -> FloatArray:
    """Return the topics' shares of the mean document times the total that these documents tell, K.

    The total is that of the third moment if polishing has begun with it, or that of pairs of words. Where documents
    have hardly more than one topic, the third moment is nearly the same for every total below one.
    """
    by_pairs, shares = estimate_concentration(raw, components, mean_document(source))
    prior = by_pairs * at_least_some(shares)
    if not begun.is_own or begun.concentration is None:
        return prior
    told: dict[str, float] = {}
    if begun.concentration >= 1:
        prior = begun.concentration * document_shares(components, source)
        told = {
            "triples of words": begun.by_triples or begun.concentration,
            "prediction": begun.by_prediction or begun.concentration,
            "pairs": by_pairs,
        }
    known_shares = total_error(prior, effective_documents(source, weights))
    warn_of_total(prior, max(known_shares, begun.total_error if told else 0.0), told)
    return prior


def warn_of_total(prior: FloatArray, error: float, told: dict[str, float] | None = None) -> None:
    """Warn where documents cannot tell the total of their prior, or where several totals that they tell differ.

    Parameters
    ----------
    prior
        As it was found, K.
    error
        Standard error of the total, relative to it, at least.
    told
        Totals by what they were found from: triples of words, prediction (the same where triples leave no doubt) and
        pairs. Their errors have little in common: triples err upwards by as much as downwards, pairs downwards where
        topics are noisy, and prediction comes in steps of half an octave.
    """
    totals = (told or {}).values()
    if error <= TELLS and (not totals or max(totals) <= AGREE * min(totals)):
        return
    reason = f"its standard error is {100 * error:.0f}% or more"
    if told:
        reason += f", and it is {', '.join(f'{value:.2g} by {what}' for what, value in told.items())}"
    warn_caller(
        f"These documents do not tell the total of the prior well ({prior.sum():.2g}): {reason}. Give more documents, "
        "or concentration= if you know it.",
        NoiseWarning,
    )


def begin_gamma_poisson(
    start: MomentStart, corpus: SummedCounts, given: FloatArray | None, *, polished: bool
) -> PriorStart:
    """Begin with the shapes of the gamma-Poisson model: given, as :func:`begin_with_prior`, or those of the moments."""
    if given is not None:
        return matched(with_own_prior(start, corpus, float(given.sum()), None), given)
    own = with_own_prior(start, corpus, 1.0, None)
    totals = [total_of_shapes(start.values, own.prior)]
    excess = corpus.summary.length_variance - corpus.summary.mean_length
    if excess > 0:  # lengths vary as those of the model can: they tell its total as well (eq. 23)
        totals.append(float(np.clip(corpus.summary.mean_length**2 / excess, SMALLEST, LARGEST)))
    owns = [replace(own, prior=each * own.prior) for each in totals]
    if not polished:
        return owns[0]
    some = first_rows(corpus.source, JUDGED_DOCUMENTS)
    return better_of(owns, with_usual_prior(start, corpus, None, polished=polished), some)


def total_of_shapes(values: FloatArray, shares: FloatArray) -> float:
    """Return the total of gamma shapes with given shares that is nearest to the values of the whitened third cumulant.

    A shape c_k has the value 2 / sqrt(c_k) (eq. 55 of the discrete ICA paper): with the shares known there is one
    number to find, by least squares. The values one by one would give shapes (eq. 56) that are far noisier.

    Examples
    --------
    >>> shapes = np.array([3.0, 0.5, 0.5])
    >>> round(total_of_shapes(2 / np.sqrt(shapes), shapes / 4), 6)
    4.0
    """
    expected = 2 / np.sqrt(shares)  # with a total of 1
    factor = float(expected @ values) / float(expected @ expected)
    return float(np.clip(factor, LARGEST**-0.5, SMALLEST**-0.5) ** -2)


def with_usual_prior(start: MomentStart, corpus: SummedCounts, c0: float | None, *, polished: bool) -> PriorStart:
    """Return topics with the flat prior of text."""
    share = UNIGRAM_SHARE if polished else floor_share(corpus)
    topics = start.with_background(corpus, share)
    return PriorStart(start, topics, polish_prior(topics.shape[0]), False, c0)


def with_own_prior(start: MomentStart, corpus: SummedCounts, prior_total: float, c0: float | None) -> PriorStart:
    """Return topics with a prior of a given total, of which each has the share that it has in the mean document."""
    topics = start.with_background(corpus, floor_share(corpus))
    return PriorStart(start, topics, prior_total * document_shares(topics, corpus.source), True, c0)


def better_of(owns: list[PriorStart], usual: PriorStart, some: Source) -> PriorStart:
    """Return the best of the beginnings with a prior of their own, if it predicts words as well as the usual one."""
    *with_own, with_usual = (_predicted_bits(begun, some) for begun in (*owns, usual))
    best = int(np.argmin(with_own))
    return owns[best] if with_own[best] < with_usual + AS_WELL else usual


def _predicted_bits(begun: PriorStart, source: Source) -> float:
    return predicted_bits(begun.topics, begun.prior, source)


def floor_share(corpus: SummedCounts) -> float:
    """Return how much of the corpus' word distribution to have in topics near the truth: less, the more tokens it has.

    It is what the prior of topics adds to every word, and no more than a hundredth.
    """
    n_words = corpus.summary.word_totals.size
    return min(FLOOR_SHARE, SMOOTHING * n_words / max(corpus.n_tokens, 1))


def document_shares(topics: FloatArray, source: Source) -> FloatArray:
    """Return the shares in which topics make up the mean document, K; every document counts the same."""
    return at_least_some(mean_shares(topics, mean_document(source)))


def at_least_some(shares: FloatArray) -> FloatArray:
    """Return shares none of which is zero."""
    shares = np.maximum(shares, LEAST_SHARE / shares.size)
    return shares / shares.sum()


def mean_document(source: Source) -> FloatArray:
    """Return the mean over documents of their word proportions, M."""
    sums, n_documents = total(_mean_document, source)
    return sums / max(n_documents, 1)


def _mean_document(block: Block) -> tuple[FloatArray, int]:
    proportions = np.divide(1.0, block.tokens, out=np.zeros(block.tokens.size), where=block.tokens > 0)
    sums: FloatArray = block.rows.T @ proportions
    return sums, int((block.tokens > 0).sum())
