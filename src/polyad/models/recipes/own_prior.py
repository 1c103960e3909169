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
from polyad.models.recipes.predicted_total import (
    AGREE,
    FURTHEST,
    LEAST_BIAS,
    Opinion,
    agreed,
    on_the_safe_side,
    predicted_parts,
    predicted_total,
)
from polyad.moments import RawMoments
from polyad.moments.counts.concentration import estimate_concentration, mean_shares, total_error
from polyad.moments.counts.weights import effective_documents

logger = logging.getLogger("polyad")

USUAL_CONCENTRATION = 2.0  # c0 of the moments of text: anything from .1 to 5 gives the same topics after polishing
AS_WELL = 0.01  # bits per token: samples of the model differ by half of that at most, and text by two to five times
FAR_WORSE = 0.02  # likewise: then no other total nearby can be right
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
    total: float | None = None  # of the prior, where the data tell it
    opinions: tuple[Opinion, ...] = ()  # on it, where half or twice of it explain the third moment nearly as well
    total_error: float = 0.0  # standard error of the total, relative to it


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
    """Return the start with the total that the third moment and prediction agree on, and its bits.

    Where one topic makes up most documents the third moment is nearly the same for half its total and for twice as
    much, and words are not: see :mod:`.predicted_total`. A sharp total stays, unless twice as much predicts better.
    That never was so on samples with a Dirichlet prior. Topics that go together have none, and the total nearest to
    their third moment is too small.
    """
    sides = own.sides()
    begun = replace(begun, total=own.total, total_error=sides.error)
    if sides.is_sharp:
        above = _begin_at(own, corpus, _within(2 * own.total))
        if above is None or _predicted_bits(above, judged) >= bits:
            return begun, bits
        total = max(own.total, _predicted(own, corpus, furthest=1.0).total)
        return _made_for(total, own, replace(begun, total=total), bits, corpus, judged)
    by_prediction = _predicted(own, corpus)
    told = Opinion("triples of words", own.total, sides.error), by_prediction
    total, error = agreed(own.total, by_prediction.total), min(sides.error, by_prediction.error)
    begun = replace(begun, total=total, total_error=error, opinions=told)
    return _made_for(on_the_safe_side(total, error), own, begun, bits, corpus, judged)


def _predicted(own: OwnTotal, corpus: SummedCounts, furthest: float = FURTHEST) -> Opinion:
    """Return the total under which words of some thousand documents are predicted best."""
    parts = predicted_parts(corpus.source)

    def bits_of_parts(c0: float) -> FloatArray | None:
        start = _begin_at(own, corpus, c0) if _within(c0) == c0 else None
        return None if start is None else np.array([_predicted_bits(start, part) for part in parts])

    return predicted_total(bits_of_parts, own.total, furthest)


def _made_for(
    c0: float, own: OwnTotal, begun: PriorStart, bits: float, corpus: SummedCounts, judged: Source
) -> tuple[PriorStart, float]:
    """Return a start with moments that are made for a total, and its bits; as it is where there are none for it."""
    start = own.start(_within(c0))
    if start is None or begun.total is None:
        return begun, bits
    made = with_own_prior(start, corpus, begun.total, _within(c0))
    made = replace(made, total=begun.total, total_error=begun.total_error, opinions=begun.opinions)
    return made, _predicted_bits(made, judged)


def _within(c0: float) -> float:
    return float(np.clip(c0, SMALLEST, LARGEST))


def estimated_prior(
    raw: RawMoments, source: Source, begun: PriorStart, components: FloatArray, weights: str | float
) -> FloatArray:
    """Return the topics' shares of the mean document times the total that these documents tell, K.

    The total is the one that polishing has begun with, or, below one, that of pairs of words, if these do not tell it
    worse than words that are predicted: where documents have hardly more than one topic, the third moment is nearly the
    same for every total. Still, where the two are far from
    each other, the topics that the first led to are not right, and pairs are told by them.
    """
    by_pairs, shares = estimate_concentration(raw, components, mean_document(source))
    prior, c0 = by_pairs * at_least_some(shares), begun.total
    if not begun.is_own or c0 is None:
        return prior
    told = {opinion.by: opinion.total for opinion in begun.opinions if opinion.contradicts(c0)}
    told |= {"triples of words and prediction" if begun.opinions else "triples of words": c0, "pairs": by_pairs}
    error = 0.0  # of triples, which tell nothing where the total is found from pairs
    n_documents = effective_documents(source, weights)
    if c0 >= 1:
        prior, error = c0 * document_shares(components, source), begun.total_error
    elif begun.opinions and begun.total_error < total_error(prior, n_documents):
        prior = c0 / (1 + LEAST_BIAS) * document_shares(components, source)  # of narrow priors it says so much too much
    warn_of_total(prior, max(total_error(prior, n_documents), error), told)
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
        Totals by what they were found from: the one in use, that of pairs of words, and those of triples of words and
        of prediction that contradict it. Their errors have little in common: triples err upwards by as much as
        downwards, pairs downwards where topics are noisy, and prediction where priors are wide.
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
