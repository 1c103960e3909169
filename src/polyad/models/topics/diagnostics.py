"""What a fitted model tells about its fit."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.models.certain import Certain
from polyad.models.recipes.moment_start import MomentStart, SummedCounts
from polyad.models.stopwatch import StopWatch, listed_seconds


@dataclass(frozen=True)
class Diagnostics(Certain):
    """How a topic model was fitted.

    Attributes
    ----------
    n_documents, n_words, n_tokens
        Size of the corpus.
    n_too_short
        Documents with fewer than three tokens: they carry no third moment, but get topic shares like all others.
    n_unseen_words
        Words of the vocabulary that occur in no document.
    spectrum
        Eigenvalues of the second moment, largest first.
    gap
        The K-th eigenvalue over the next one.
    noise
        Size of the most negative eigenvalue: what sampling alone makes of a zero.
    energy
        Share of the whitened third moment that is off the diagonal.
    certainty
        How well the data determine each topic, from 0 (not at all) to 1, in the order of ``components_``: the squared
        cosine of the angle by which the noise of the moments turns it. Topics of a low certainty change first when
        documents are left out. Empty where it is not known (private topics, files of older versions).
    concentration
        Total c0 that the moments were made for: given, that of the prior where they tell it, or the usual 2, and then
        the log says why; None for models without one.
    topic_word_prior
        Tokens that the prior adds to every word of each topic, in the order of ``components_``: given, told by the
        data, or where they do not tell it 2 in all, split by the topics' tokens. Empty where it is not known (aligned
        texts, files of older versions).
    objective
        Log-likelihood per token of each polishing pass.
    seconds
        Wall time of each step.
    memory_bytes
        Working memory that the fit was planned to need, beside X.
    """

    n_documents: int
    n_words: int
    n_tokens: int
    n_too_short: int
    n_unseen_words: int
    spectrum: FloatArray
    gap: float
    noise: float
    energy: float
    certainty: FloatArray
    concentration: float | None
    topic_word_prior: FloatArray
    objective: tuple[float, ...]
    seconds: dict[str, float]
    memory_bytes: int

    @property
    def n_passes(self) -> int:
        """Polishing passes done."""
        return len(self.objective)

    def __repr__(self) -> str:
        steps = listed_seconds(self.seconds)
        likelihood = f", {self.objective[-1]:.3f} nats per token" if self.objective else ""
        known = f", {self.how_many_determined('topics')}" if self.certainty.size else ""
        return (
            f"Diagnostics({self.n_documents:,} documents, {self.n_tokens:,} tokens, {self.n_words:,} words; "
            f"{self.n_too_short:,} documents too short, {self.n_unseen_words:,} words never seen; "
            f"gap {self.gap:.2f}, off-diagonal energy {self.energy:.3f}{known}; "
            f"{self.n_passes} polishing passes{likelihood}; {steps}; "
            f"{self.memory_bytes / 1e6:,.0f} MB of memory planned)"
        )


def diagnose(
    corpus: SummedCounts,
    start: MomentStart,
    objective: tuple[float, ...],
    watch: StopWatch,
    memory_bytes: int,
    order: NDArray[np.intp],
    *,
    topic_word_prior: FloatArray,
    concentration: float | None = None,
) -> Diagnostics:
    """Put together what the steps of a fit found."""
    n_documents, n_words = corpus.source.shape
    return Diagnostics(
        n_documents=n_documents,
        n_words=n_words,
        n_tokens=corpus.n_tokens,
        n_too_short=corpus.summary.n_too_short,
        n_unseen_words=corpus.summary.n_unseen_words,
        spectrum=start.spectrum,
        gap=start.gap,
        noise=start.noise,
        energy=start.energy,
        certainty=np.append(start.certainty, np.ones(order.size - start.certainty.size))[order],
        concentration=concentration,
        topic_word_prior=topic_word_prior[order],
        objective=objective,
        seconds=dict(watch.seconds),
        memory_bytes=memory_bytes,
    )
