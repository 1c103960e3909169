"""The prior that aligned texts share: the largest of them tells its total, as in a fit to this text alone.

Cross moments of two texts agree with every total, as the moments of one do, and a wrong one leads to wrong topics
however many texts there are. The shares of a row are the same in all its texts, so that each of them could tell it.
"""

import warnings
from dataclasses import dataclass

from polyad.base.arrays import FloatArray
from polyad.base.determined import NoiseWarning
from polyad.decompose import RankError
from polyad.engine import view_of
from polyad.models.recipes.aligned_start import AlignedTexts
from polyad.models.recipes.moment_start import LENGTH_POWER, SummedCounts, first_sample
from polyad.models.recipes.own_prior import PriorStart, begin, document_shares, estimated_prior
from polyad.moments import RawMoments, raw_moments, summarise_counts


@dataclass(frozen=True)
class LargestText:
    """The largest of aligned texts, with the prior that its own moments tell."""

    corpus: SummedCounts
    raw: RawMoments
    begun: PriorStart

    @property
    def total(self) -> float | None:
        """The total of the prior that words agree with; None where they are those of text, without such a prior."""
        return self.begun.total if self.begun.is_own else None

    @property
    def concentration(self) -> float | None:
        """The total that moments are made for: where it is in doubt, larger by half of its standard error."""
        return self.begun.concentration if self.begun.is_own else None

    def prior(self, topics: FloatArray) -> FloatArray:
        """Return the Dirichlet parameters of the shares, given the topics of this text, K x M."""
        return estimated_prior(self.raw, self.corpus.source, self.begun, topics, LENGTH_POWER)


def largest_text(texts: AlignedTexts, n_components: int, n_passes: int) -> LargestText | None:
    """Return what the largest text tells; None where it has fewer words or directions than there are topics."""
    corpus = largest_corpus(texts)
    if n_components == 1 or corpus.source.n_columns <= n_components:
        return None
    raw = raw_moments(first_sample(corpus.source, n_passes), LENGTH_POWER)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoiseWarning)  # of this text alone: all of them together tell more
            begun = begin(raw, corpus, n_components, "power", polished=n_passes > 0)
    except RankError:
        return None
    return LargestText(corpus, raw, begun)


def largest_corpus(texts: AlignedTexts) -> SummedCounts:
    """Return the counts of the largest text, which comes first."""
    source = view_of(texts.source, 0)
    return SummedCounts(source, summarise_counts(source))


def shares_of_documents(texts: AlignedTexts, topics: FloatArray) -> FloatArray:
    """Return the shares in which topics over the words of all texts make up the mean document, by the largest text."""
    return document_shares(topics[:, texts.words_of((0,))], view_of(texts.source, 0))
